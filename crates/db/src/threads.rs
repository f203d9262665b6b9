//! The threads of an open database, how they end, and how many closures they commit together.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::queue::Queue;

/// Closures committed together at most.
pub(crate) const GROUP_MAX: usize = 256;
/// After this time a group takes no further closure: who is in it waits for all of it.
pub(crate) const GROUP_TIME_MAX: Duration = Duration::from_millis(20);

/// The threads of a database and the queues that they take from.
pub(crate) struct Threads {
    pub(crate) writes: Arc<Queue>,
    pub(crate) reads: Arc<Queue>,
    /// Reads that a replica may answer. Without replicas these are reads like others.
    pub(crate) lists: Arc<Queue>,
    pub(crate) writers: Vec<JoinHandle<()>>,
    pub(crate) readers: Vec<JoinHandle<()>>,
}

impl Threads {
    /// The queues for so many writers and readers, before any thread has started.
    pub(crate) fn new(writers: usize, readers: usize) -> Self {
        let reads = Arc::new(Queue::new(readers));
        Self {
            writes: Arc::new(Queue::new(writers)),
            lists: Arc::clone(&reads),
            reads,
            writers: Vec::new(),
            readers: Vec::new(),
        }
    }
}

impl Drop for Threads {
    /// Lets everything that waits be run. The readers end first: only a writer that closes a SQLite
    /// file last can tidy up after it.
    fn drop(&mut self) {
        self.reads.close();
        self.lists.close();
        join(&mut self.readers);
        self.writes.close();
        join(&mut self.writers);
    }
}

fn join(handles: &mut Vec<JoinHandle<()>>) {
    let this_thread = thread::current().id();
    for handle in handles.drain(..) {
        // A closure may have held the last handle; its thread cannot wait for itself.
        if handle.thread().id() != this_thread {
            let _ = handle.join();
        }
    }
}

/// A count of commit groups by their size.
#[derive(Debug)]
pub struct GroupSizes {
    by_size: Vec<AtomicU64>,
}

impl Default for GroupSizes {
    fn default() -> Self {
        Self { by_size: (0..=GROUP_MAX).map(|_| AtomicU64::new(0)).collect() }
    }
}

impl GroupSizes {
    pub(crate) fn count(&self, size: usize) {
        if let Some(counter) = self.by_size.get(size) {
            counter.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Sizes that occurred, with how often.
    pub fn snapshot(&self) -> Vec<(usize, u64)> {
        let counts = self.by_size.iter().map(|counter| counter.load(Ordering::Relaxed));
        counts.enumerate().filter(|(_, count)| *count > 0).collect()
    }
}
