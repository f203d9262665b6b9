//! What a kind of job is, and what the work of a job gets ([`JobCx`]), as [`crate::jobs`] tells.

use std::fmt::Debug;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use db::Conn;
use db::background_job::{self, JobRow, Progress};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use types::{Error, Kind as ErrorKind, Result, Timestamp};

use crate::{Site, Visit};

/// What a job comes to, later: a result for those who ask, which is kept with the job.
pub type Running<'a> = Pin<Box<dyn Future<Output = Result<Value, Halt>> + Send + 'a>>;

/// A kind of job.
pub trait JobKind: Send + Sync + Debug {
    /// What its jobs are called in the store, such as `report.export`. Never changes.
    fn name(&self) -> &'static str;

    /// Does the work, from the checkpoint on if there is one. Work that keeps a processor busy
    /// belongs on a thread of its own (`tokio::task::spawn_blocking`).
    fn run<'a>(&'a self, cx: &'a JobCx) -> Running<'a>;

    /// Called in the transaction that ends a job, however it ends: to put back what a job that
    /// failed or was cancelled has left, or to tell somebody of the result.
    fn ended(&self, _site: &Site, _conn: &mut dyn Conn, _ended: &JobRow) -> Result<()> {
        Ok(())
    }

    /// Where the visitor finds what a job made, if it made something that they may have.
    fn result_address(&self, _site: &Site, _visit: &Visit, _job: &JobRow) -> Option<String> {
        None
    }

    fn limits(&self) -> Limits {
        Limits::USUAL
    }

    /// Whether the feed of changes tells how its jobs end, as `background_job.done`, `.failed` and
    /// `.cancelled` with the kind and the key.
    fn is_told(&self) -> bool {
        true
    }
}

/// The bounds of a kind of job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Jobs of the kind that one process runs at once.
    pub at_once: usize,
    /// Attempts at one job before it is given up, those that were cut off included.
    pub attempts: i64,
    /// Between the first attempt and the second; each further one waits four times as long.
    pub first_wait: Duration,
    pub longest_wait: Duration,
    /// For how long one can look up what became of a job.
    pub kept: Duration,
}

impl Limits {
    pub const USUAL: Self = Self {
        at_once: 2,
        attempts: 5,
        first_wait: Duration::from_secs(5),
        longest_wait: Duration::from_hours(1),
        kept: Duration::from_hours(24 * 30),
    };
}

/// Why a job does not go on.
#[derive(Debug)]
pub enum Halt {
    /// It was cancelled, or is not this worker's any more. What to do about it is the worker's
    /// matter: pass it on.
    Stopped,
    /// Try again later, until the attempts are used up.
    Retry(Error),
    /// It would fail again.
    Failed(Error),
}

impl From<Error> for Halt {
    /// What a busy or broken world refuses is tried again; what the job itself asked for wrongly is
    /// not.
    fn from(error: Error) -> Self {
        match error.kind() {
            ErrorKind::Invalid | ErrorKind::NotFound => Self::Failed(error),
            ErrorKind::Conflict
            | ErrorKind::Unavailable
            | ErrorKind::Uncertain
            | ErrorKind::Internal => Self::Retry(error),
        }
    }
}

/// A job under way, as it is seen by its own work.
#[derive(Debug)]
pub struct JobCx {
    site: Arc<Site>,
    claimed: JobRow,
    lease: Duration,
    stopped: AtomicBool,
}

impl JobCx {
    /// For who runs jobs: a job as it was claimed, for the time of a lease.
    pub fn new(site: Arc<Site>, claimed: JobRow, lease: Duration) -> Self {
        let stopped = AtomicBool::new(claimed.cancel_wanted);
        Self { site, claimed, lease, stopped }
    }

    pub fn site(&self) -> &Arc<Site> {
        &self.site
    }

    /// The job as it was when this attempt began.
    pub fn job(&self) -> &JobRow {
        &self.claimed
    }

    pub fn now(&self) -> Timestamp {
        self.site.clock().now()
    }

    /// What was asked for.
    pub fn arguments<T: DeserializeOwned>(&self) -> Result<T, Halt> {
        read(&self.claimed.arguments).map_err(Halt::Failed)
    }

    /// What the last step of an earlier attempt left; nothing when this is the beginning.
    pub fn checkpoint<T: DeserializeOwned>(&self) -> Result<Option<T>, Halt> {
        self.claimed.checkpoint.as_deref().map(read).transpose().map_err(Halt::Failed)
    }

    /// Whether the job may go on. Costs nothing: ask it as often as you like between steps.
    pub fn check(&self) -> Result<(), Halt> {
        if self.stopped.load(Ordering::Relaxed) { Err(Halt::Stopped) } else { Ok(()) }
    }

    /// Runs the changes of a step, and writes down how far the job is afterwards and how to go on
    /// from there: all of it, or nothing when the job was cancelled or is not this worker's any
    /// more.
    pub async fn step<T: Send + 'static>(
        &self,
        progress: Progress,
        checkpoint: &impl Serialize,
        changes: impl Fn(&mut dyn Conn) -> Result<T> + Send + 'static,
    ) -> Result<T, Halt> {
        self.check()?;
        let (claimed, until) = (self.claimed.clone(), self.now().plus(self.lease));
        let checkpoint = written(checkpoint)?;
        let step = move |conn: &mut dyn Conn| {
            let goes_on =
                background_job::progress(conn, &claimed, until, progress, Some(&checkpoint))?;
            if goes_on != Some(false) {
                return Ok(Err(Halt::Stopped));
            }
            changes(conn).map(Ok)
        };
        let stepped = self.site.store().attempt(step).await?;
        if matches!(stepped, Err(Halt::Stopped)) {
            self.stop();
        }
        stepped
    }

    /// For who runs jobs: extends the lease. `false` when the job is not this worker's any more.
    pub async fn renew(&self) -> Result<bool> {
        let (claimed, until) = (self.claimed.clone(), self.now().plus(self.lease));
        let renew = move |conn: &mut dyn Conn| background_job::renew(conn, &claimed, until);
        let cancelled = self.site.store().write(renew).await?;
        if cancelled != Some(false) {
            self.stop();
        }
        Ok(cancelled.is_some())
    }

    /// For who runs jobs: lets the job end at its next step.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }
}

pub(crate) fn written(value: &impl Serialize) -> Result<String> {
    serde_json::to_string(value)
        .map_err(|error| Error::internal("what a job keeps cannot be written").because(error))
}

fn read<T: DeserializeOwned>(text: &str) -> Result<T> {
    serde_json::from_str(text).map_err(|error| {
        Error::invalid("a job's arguments are not what its kind expects").because(error)
    })
}
