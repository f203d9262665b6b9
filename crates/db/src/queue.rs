//! Jobs that wait for the database threads: a line for each caller, and the lines take turns.
//!
//! **One caller cannot keep the others waiting.** However many jobs somebody hands over, the next
//! job of somebody else is at most one turn away; and where several threads serve, nobody gets a
//! second one while half of them are busy, so that a few greedy callers leave some free.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use types::{Error, Result};

use crate::job::Job;

/// Jobs of one caller that may wait. Beyond that the caller is told to come back later.
const WAITING_MAX: usize = 8192;

pub(crate) struct Queue {
    /// How many threads serve it.
    threads: usize,
    state: Mutex<State>,
    arrived: Condvar,
}

#[derive(Default)]
struct State {
    lines: HashMap<Arc<str>, Line>,
    /// Callers with waiting jobs, who is next first.
    turns: VecDeque<Arc<str>>,
    /// Jobs that have been taken and have not ended.
    running: usize,
    closed: bool,
}

/// What one caller has handed over.
#[derive(Default)]
struct Line {
    waiting: VecDeque<Box<dyn Job>>,
    running: usize,
}

/// A job that was taken. It counts as running until this is dropped.
pub(crate) struct Turn<'q> {
    queue: &'q Queue,
    caller: Arc<str>,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut state = self.queue.lock();
        state.running -= 1;
        if let Some(line) = state.lines.get_mut(&self.caller) {
            line.running -= 1;
            if line.running == 0 && line.waiting.is_empty() {
                state.lines.remove(&self.caller);
            }
        }
        drop(state);
        // A thread that was kept back may go on now.
        self.queue.arrived.notify_one();
    }
}

impl Queue {
    pub(crate) fn new(threads: usize) -> Self {
        Self { threads, state: Mutex::default(), arrived: Condvar::new() }
    }

    pub(crate) fn push(&self, caller: Arc<str>, job: Box<dyn Job>) -> Result<()> {
        let mut state = self.lock();
        if state.closed {
            return Err(Error::unavailable("the storage is shutting down"));
        }
        let State { lines, turns, .. } = &mut *state;
        let line = lines.entry(Arc::clone(&caller)).or_default();
        if line.waiting.len() >= WAITING_MAX {
            return Err(Error::unavailable("too many requests are waiting for the storage"));
        }
        if line.waiting.is_empty() {
            turns.push_back(caller);
        }
        line.waiting.push_back(job);
        drop(state);
        self.arrived.notify_one();
        Ok(())
    }

    /// The next job; waits for one. `None` when the queue is closed and empty.
    pub(crate) fn pop(&self) -> Option<(Box<dyn Job>, Turn<'_>)> {
        let mut state = self.lock();
        loop {
            if let Some((job, caller)) = state.take(self.threads) {
                return Some((job, Turn { queue: self, caller }));
            }
            if state.closed && state.turns.is_empty() {
                return None;
            }
            state = self.arrived.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// The next job if one is waiting, for a thread that runs several as one.
    pub(crate) fn try_pop(&self) -> Option<(Box<dyn Job>, Turn<'_>)> {
        let (job, caller) = self.lock().take(usize::MAX)?;
        Some((job, Turn { queue: self, caller }))
    }

    /// Lets the threads finish what is waiting and then end.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.arrived.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // No job runs while the lock is held, so a poisoned lock still guards a whole queue.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// The first job of whoever is next and may have another one running.
    fn take(&mut self, threads: usize) -> Option<(Box<dyn Job>, Arc<str>)> {
        let has_more_threads = self.closed || self.running < threads.div_ceil(2);
        let may_go = |caller: &Arc<str>| {
            has_more_threads || self.lines.get(caller).is_some_and(|line| line.running == 0)
        };
        let place = self.turns.iter().position(may_go)?;
        let caller = self.turns.remove(place)?;
        let line = self.lines.get_mut(&caller)?;
        let job = line.waiting.pop_front()?;
        line.running += 1;
        self.running += 1;
        if !line.waiting.is_empty() {
            self.turns.push_back(Arc::clone(&caller));
        }
        Some((job, caller))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Conn;
    use crate::caller::Interest;
    use crate::job::Isolation;

    struct Named;

    impl Job for Named {
        fn run(&mut self, _: &mut dyn Conn) -> bool {
            true
        }

        fn finish(self: Box<Self>, _: Result<()>) {}

        fn interest(&self) -> Option<&Arc<Interest>> {
            None
        }

        fn isolation(&self) -> Isolation {
            Isolation::Serialisable
        }
    }

    fn push(queue: &Queue, caller: &str, jobs: usize) {
        for _ in 0..jobs {
            queue.push(Arc::from(caller), Box::new(Named)).unwrap();
        }
    }

    fn callers(turns: &[Turn<'_>]) -> Vec<String> {
        turns.iter().map(|turn| turn.caller.to_string()).collect()
    }

    #[test]
    fn callers_take_turns_however_many_jobs_each_has() {
        let queue = Queue::new(1);
        push(&queue, "greedy", 100);
        push(&queue, "one", 1);
        push(&queue, "two", 2);
        let turns: Vec<_> = (0..6).map(|_| queue.try_pop().unwrap().1).collect();
        assert_eq!(callers(&turns), ["greedy", "one", "two", "greedy", "two", "greedy"]);
    }

    #[test]
    fn half_of_the_threads_are_for_who_has_nothing_running() {
        let queue = Queue::new(3);
        push(&queue, "greedy", 100);
        let mut turns: Vec<_> = (0..2).map(|_| queue.pop().unwrap().1).collect();
        assert!(queue.lock().take(queue.threads).is_none(), "a thread is kept free");
        push(&queue, "other", 2);
        turns.push(queue.pop().unwrap().1);
        assert_eq!(callers(&turns), ["greedy", "greedy", "other"]);
        assert!(queue.lock().take(queue.threads).is_none());
        turns.remove(0);
        assert!(queue.lock().take(queue.threads).is_none(), "both have one running");
        turns.pop();
        assert_eq!(callers(&[queue.pop().unwrap().1]), ["greedy"]);
        assert_eq!(callers(&[queue.pop().unwrap().1]), ["other"]);
    }

    #[test]
    fn a_closed_queue_is_emptied_and_callers_are_forgotten() {
        let queue = Queue::new(2);
        push(&queue, "any", 5);
        queue.close();
        let turns: Vec<_> = std::iter::from_fn(|| queue.pop()).map(|(_, turn)| turn).collect();
        assert_eq!(turns.len(), 5);
        drop(turns);
        assert!(queue.lock().lines.is_empty());
    }
}
