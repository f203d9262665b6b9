//! The facts of one site as the rest of the house holds them: those of now, in memory or in
//! `ClickHouse`, how far they go, and how to wait for more.

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU8, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::thread;
use std::time::{Duration, Instant};

use tokio::sync::watch;

use crate::clickhouse::Cluster;
use crate::facts::{Catalog, Directory, Snapshot};
use crate::view::View;

/// What the thread that keeps the facts up to date can be asked for.
#[derive(Debug)]
pub(crate) enum Command {
    /// To look for changes at once.
    Wake,
    Stop,
}

/// The facts of one site as everybody sees them now.
#[derive(Debug)]
pub struct Facts {
    /// Locked only to take or replace the pointer, never while anything is read.
    current: RwLock<Arc<Snapshot>>,
    /// Grows with every snapshot.
    version: AtomicU64,
    /// The last event that is in the facts; nothing until they were loaded.
    position: watch::Sender<Option<i64>>,
    /// How much of the records was read, in percent, while facts are made of all of them.
    percent_read: AtomicU8,
    /// To the thread that keeps the facts up to date.
    commands: Sender<Command>,
    /// Of that thread, until it starts.
    inbox: Mutex<Option<Receiver<Command>>>,
    /// Whether that thread shall end.
    is_stopping: AtomicBool,
    /// Customers by their texts.
    customers: Directory,
    /// Where the facts are, if they are not in memory.
    elsewhere: Option<Elsewhere>,
}

/// What is known here of facts that are in `ClickHouse`: as much as does not grow with orders.
#[derive(Debug)]
struct Elsewhere {
    cluster: Arc<Cluster>,
    catalog: RwLock<Arc<Catalog>>,
    /// By how many microseconds the facts are behind the records.
    lag_us: AtomicI64,
}

impl Default for Facts {
    fn default() -> Self {
        let (commands, inbox) = channel();
        Self {
            current: RwLock::default(),
            version: AtomicU64::new(0),
            position: watch::Sender::new(None),
            percent_read: AtomicU8::new(0),
            commands,
            inbox: Mutex::new(Some(inbox)),
            is_stopping: AtomicBool::new(false),
            customers: Directory::default(),
            elsewhere: None,
        }
    }
}

impl Facts {
    /// Facts that are in `ClickHouse`.
    pub fn on(cluster: Arc<Cluster>) -> Self {
        let (catalog, lag_us) = (RwLock::default(), AtomicI64::new(0));
        Self { elsewhere: Some(Elsewhere { cluster, catalog, lag_us }), ..Self::default() }
    }

    /// Where the facts are, if they are not in memory.
    pub fn cluster(&self) -> Option<&Arc<Cluster>> {
        self.elsewhere.as_ref().map(|elsewhere| &elsewhere.cluster)
    }

    /// What reports read: of facts in memory the state of now, for as long as somebody holds it.
    /// Orders with the excluded statuses do not make somebody a customer who returns.
    pub fn view(&self, excluded: Vec<String>) -> View {
        match &self.elsewhere {
            None => View::of_snapshot(self.snapshot()),
            Some(Elsewhere { cluster, catalog, .. }) => {
                let catalog = catalog.read().unwrap_or_else(PoisonError::into_inner);
                View::of_cluster(Arc::clone(cluster), Arc::clone(&catalog), excluded)
            }
        }
    }

    /// By how much facts that are not in memory are behind the records; nothing until there are
    /// any.
    pub fn lag(&self) -> Option<Duration> {
        let elsewhere = self.elsewhere.as_ref().filter(|_| self.are_ready())?;
        let lag_us = elsewhere.lag_us.load(Ordering::Relaxed);
        Some(Duration::from_micros(u64::try_from(lag_us).unwrap_or_default()))
    }

    pub(crate) fn set_lag(&self, lag: Duration) {
        if let Some(elsewhere) = &self.elsewhere {
            let lag_us = i64::try_from(lag.as_micros()).unwrap_or(i64::MAX);
            elsewhere.lag_us.store(lag_us, Ordering::Relaxed);
        }
    }

    pub(crate) fn set_catalog(&self, catalog: Catalog) {
        if let Some(elsewhere) = &self.elsewhere {
            let mut own = elsewhere.catalog.write().unwrap_or_else(PoisonError::into_inner);
            *own = Arc::new(catalog);
        }
    }

    /// Says how far facts that are not in memory go, when they are others than before.
    pub(crate) fn reach(&self, position: i64) {
        self.version.fetch_add(1, Ordering::AcqRel);
        self.position.send_replace(Some(position));
    }

    /// Says that facts that are not in memory are gone.
    pub(crate) fn withdraw(&self) {
        self.version.fetch_add(1, Ordering::AcqRel);
        self.position.send_replace(None);
    }

    /// The facts of now. They stay as they are for as long as somebody holds them.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Customers by their texts.
    pub fn customers(&self) -> &Directory {
        &self.customers
    }

    /// Whether the facts were loaded.
    pub fn are_ready(&self) -> bool {
        self.position.borrow().is_some()
    }

    /// How much of the records was read, in percent, while facts are made of all of them.
    pub fn percent_read(&self) -> u8 {
        self.percent_read.load(Ordering::Relaxed)
    }

    pub(crate) fn note_percent_read(&self, percent: u8) {
        self.percent_read.store(percent, Ordering::Relaxed);
    }

    /// The last event that is in the facts; nothing until they were loaded.
    pub fn position(&self) -> Option<i64> {
        *self.position.borrow()
    }

    /// The same, for those who want to be told when it moves.
    pub fn positions(&self) -> watch::Receiver<Option<i64>> {
        self.position.subscribe()
    }

    /// Shows everybody the next snapshot.
    pub fn publish(&self, snapshot: Snapshot) {
        let position = snapshot.position();
        let next = Arc::new(snapshot);
        let last = std::mem::replace(
            &mut *self.current.write().unwrap_or_else(PoisonError::into_inner),
            next,
        );
        // What nobody reads any more is freed here and not under the lock.
        drop(last);
        self.version.fetch_add(1, Ordering::AcqRel);
        self.position.send_replace(Some(position));
    }

    /// How many snapshots were shown so far: as long as it is the same, so are the facts.
    pub fn version(&self) -> u64 {
        self.version.load(Ordering::Acquire)
    }

    /// Waits until the event with this number is in the facts. Returns whether it is; after
    /// `patience` that may be no.
    pub async fn wait_until(&self, position: i64, patience: Duration) -> bool {
        let mut positions = self.position.subscribe();
        let reached = positions.wait_for(|now| now.is_some_and(|now| now >= position));
        matches!(tokio::time::timeout(patience, reached).await, Ok(Ok(_)))
    }

    /// [`Facts::wait_until`] for callers without an async runtime.
    pub fn wait_until_blocking(&self, position: i64, patience: Duration) -> bool {
        let start = Instant::now();
        loop {
            if self.position.borrow().is_some_and(|now| now >= position) {
                return true;
            }
            if start.elapsed() >= patience {
                return false;
            }
            thread::sleep(LOOK_AGAIN);
        }
    }

    /// Lets the thread that keeps the facts look for changes now.
    pub fn wake(&self) {
        self.send(Command::Wake);
    }

    pub(crate) fn send(&self, command: Command) {
        // A thread that has ended has nothing to do.
        let _ = self.commands.send(command);
    }

    /// Tells the thread to end, in the midst of what it does.
    pub fn stop(&self) {
        self.is_stopping.store(true, Ordering::Relaxed);
        self.send(Command::Stop);
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.is_stopping.load(Ordering::Relaxed)
    }

    /// The inbox of the thread; there is one thread.
    pub(crate) fn take_inbox(&self) -> Option<Receiver<Command>> {
        self.inbox.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// How often somebody who waits looks again.
const LOOK_AGAIN: Duration = Duration::from_millis(2);
