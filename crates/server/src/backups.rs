//! Backups on a schedule, with their number bounded.
//!
//! A backup is a background job, so that one server of several takes it and the others know of it.
//! The job copies a snapshot into a file, hands the file to the [`Target`], reads back what is
//! stored there, and only then deletes what is too old: **a backup that cannot be read back costs
//! none of those before it.** [`keep_schedule`] adds the next job when one is due.
//!
//! The job's row is in the snapshot, as all rows are. Its checkpoint names the backup only after
//! the snapshot was taken, or a restored database would know of a backup that is not finished, and
//! delete what it was restored from.

mod target;

use std::fs::{self, File};
use std::io::{self, BufReader, Read};
use std::num::NonZeroU32;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use db::Conn;
use db::background_job::{self, JobRow, JobState};
use db::backup::{self, Summary};
use frame::Site;
use frame::jobs::{self, Halt, JobCx, JobKind, Limits, Progress, Running};
use frame::library::LibraryFiles;
use frame::media::FileStorage;
use schema::MIGRATIONS;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::sync::watch;
use types::{Environment, Error, Period, Result, Timestamp};

use crate::bucket::S3Settings;

use target::{WorkFile, blocking};

pub use target::{Stored, Target};

/// The kind of the job, and the key that lets one of them wait at a time.
const JOB: &str = "backup";
const KEY: &str = "scheduled";
/// After a job that failed for good, another is added at the latest so long after.
const AFTER_FAILURE: Duration = Duration::from_mins(15);
const FIRST_WAIT: Duration = Duration::from_mins(1);
/// How often somebody looks whether one is due.
const LOOK_MIN: Duration = Duration::from_millis(250);
const LOOK_MAX: Duration = Duration::from_secs(30);
const KEPT: Duration = Duration::from_hours(24 * 90);
/// The last backup is too old after so many periods.
const PERIODS_MAX: u32 = 2;

/// Scheduled backups.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BackupSettings {
    /// Where backups of every served environment go: the absolute path of a folder, or
    /// `s3://bucket/prefix`. Empty: none are taken.
    pub to: Option<String>,
    /// Time between two backups: a number followed by d, h, m or s.
    pub every: Period,
    /// Backups kept per environment; older ones are deleted once a new one was verified.
    pub keep: NonZeroU32,
    /// The service that has the bucket.
    pub s3: S3Settings,
    /// Folder for files on their way to a bucket: the data folder.
    #[serde(skip)]
    pub work_folder: PathBuf,
}

impl Default for BackupSettings {
    fn default() -> Self {
        Self {
            to: None,
            every: Period::new(Duration::from_hours(24)),
            keep: NonZeroU32::new(14).unwrap_or(NonZeroU32::MIN),
            s3: S3Settings::default(),
            work_folder: PathBuf::new(),
        }
    }
}

impl BackupSettings {
    /// Where scheduled backups go; nothing where they are off.
    pub fn place(&self) -> Option<&str> {
        self.to.as_deref().filter(|place| !place.is_empty())
    }

    fn period(&self) -> Duration {
        self.every.duration()
    }
}

/// A backup that a job took.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Taken {
    name: String,
    bytes: u64,
    rows: u64,
    files: u64,
    checksum: String,
}

/// The last backup that was taken, as its job tells.
#[derive(Clone, Debug, Default)]
pub struct LastBackup {
    pub at: Timestamp,
    pub name: String,
    pub bytes: u64,
}

impl LastBackup {
    pub fn read(conn: &mut dyn Conn) -> Result<Option<Self>> {
        let Some(job) = background_job::last_done(conn, JOB)? else { return Ok(None) };
        let result = job.result.as_deref().unwrap_or_default();
        let taken: Taken = serde_json::from_str(result).map_err(|error| {
            Error::internal("the last backup's job says nothing of it").because(error)
        })?;
        let Taken { name, bytes, .. } = taken;
        Ok(Some(Self { at: job.finished.unwrap_or(job.created), name, bytes }))
    }

    /// When it was taken, in seconds since 1970.
    pub(crate) fn at_seconds(&self) -> u64 {
        u64::try_from(self.at.as_micros() / 1_000_000).unwrap_or(0)
    }

    pub fn is_old(&self, settings: &BackupSettings, now: Timestamp) -> bool {
        now.since(self.at) > settings.period().saturating_mul(PERIODS_MAX)
    }
}

/// Copies the snapshot that the connection sees into a new file that is its owner's only. Call it
/// inside a read, which may be run again.
pub fn write_file(
    conn: &mut dyn Conn,
    (environment, now): (Environment, Timestamp),
    library: &LibraryFiles,
    path: &Path,
) -> Result<Summary> {
    let failed =
        |error| Error::unavailable(format!("cannot write {}", path.display())).because(error);
    // Never one that somebody put there.
    let _ = fs::remove_file(path);
    let mut options = File::options();
    let mut out = options.write(true).create_new(true).mode(0o600).open(path).map_err(failed)?;
    let summary = backup::write(conn, MIGRATIONS, environment, now, library, &mut out)?;
    out.sync_all().map_err(failed)?;
    Ok(summary)
}

/// Reads a backup to its end, and fails unless it is the one with this checksum.
pub fn check(input: impl Read, checksum: &str) -> Result<()> {
    let unlike = || Error::unavailable("what was stored is not the backup that was written");
    let read = backup::verify(&mut BufReader::new(input), MIGRATIONS);
    let read = read.map_err(|error| unlike().because(error))?;
    if read.checksum == checksum { Ok(()) } else { Err(unlike()) }
}

/// The backups of an environment in the place of scheduled ones, the oldest first; nothing where
/// there is none. Blocks; never call it from async code.
pub fn list(settings: &BackupSettings, environment: Environment) -> Result<Option<Vec<Stored>>> {
    let Some(target) = Target::of(settings)? else { return Ok(None) };
    block_on(target.list(environment)).map(Some)
}

/// Copies a backup from its target into a new file. Blocks; never call it from async code.
pub fn fetch(target: &Target, name: &str, path: &Path) -> Result<()> {
    let failed =
        |error| Error::unavailable(format!("cannot write {}", path.display())).because(error);
    let mut options = File::options();
    let mut out = options.write(true).create_new(true).mode(0o600).open(path).map_err(failed)?;
    let (target, name) = (target.clone(), name.to_owned());
    block_on(async move {
        let none = || Error::not_found(format!("there is no backup {name} in {target}"));
        let mut stored = target.open(&name).await?.ok_or_else(none)?;
        blocking(move || {
            let copied = io::copy(&mut stored, &mut out);
            let failed = |error| Error::unavailable("cannot fetch the backup").because(error);
            copied.map(drop).map_err(failed)
        })
        .await
    })
}

fn block_on<T>(work: impl Future<Output = Result<T>>) -> Result<T> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Error::internal("no runtime").because(error))?;
    runtime.block_on(work)
}

/// The kind of job that takes a backup.
#[derive(Debug)]
pub(crate) struct BackupJob {
    /// None where backups are off; a job may be left from when they were not.
    target: Option<Target>,
    settings: BackupSettings,
    /// Of the media library of the environment.
    files: Arc<dyn FileStorage>,
}

impl BackupJob {
    pub(crate) fn new(settings: &BackupSettings, files: Arc<dyn FileStorage>) -> Result<Self> {
        if settings.period().is_zero() {
            return Err(Error::invalid("backup.every must be longer than nothing, such as 24h"));
        }
        Ok(Self { target: Target::of(settings)?, settings: settings.clone(), files })
    }

    async fn take(&self, cx: &JobCx, target: &Target) -> Result<Taken, Halt> {
        let (environment, now) = (cx.site().environment(), cx.now());
        let folder = target.work_folder(&self.settings.work_folder)?;
        target::remove_partial(folder, environment).map_err(|error| {
            let message = format!("cannot work in {}", folder.display());
            Halt::Retry(Error::unavailable(message).because(error))
        })?;
        let name = target::name_of(environment, now);
        let work = Arc::new(WorkFile::new(folder, &name));
        let (file, files) = (Arc::clone(&work), Arc::clone(&self.files));
        let copy = move |conn: &mut dyn Conn| {
            let library = LibraryFiles::new(Arc::clone(&files));
            write_file(conn, (environment, now), &library, file.path())
        };
        let written = cx.site().store().read(copy).await?;
        let taken = Taken {
            name,
            bytes: fs::metadata(work.path()).map_or(0, |file| file.len()),
            rows: written.rows_total(),
            files: written.files,
            checksum: written.checksum,
        };
        // From here on the next attempt can find it.
        cx.step(Progress { done: 1, total: Some(2) }, &taken, |_| Ok(())).await?;
        let ended = Ended::default();
        target.take_in(work.path(), &taken.name, ended.check(&taken)).await?;
        Ok(taken)
    }

    /// What an attempt left that was cut off: the backup, if it is whole.
    async fn take_over(&self, cx: &JobCx, target: &Target) -> Result<Option<Taken>, Halt> {
        let Some(left) = cx.checkpoint::<Taken>()? else { return Ok(None) };
        let Some(stored) = target.open(&left.name).await? else { return Ok(None) };
        let ended = Ended::default();
        let check = ended.check(&left);
        if blocking(move || check(stored)).await.is_ok() {
            return Ok(Some(left));
        }
        target.remove(&left.name).await?;
        Ok(None)
    }

    /// Deletes the oldest beyond those to keep, **never the newest one**: a clock that was once
    /// ahead has left names that look newer.
    async fn delete_old(
        &self,
        target: &Target,
        environment: Environment,
        newest: &str,
    ) -> Result<()> {
        let mut all = target.list(environment).await?;
        all.retain(|stored| stored.name != newest);
        let kept = usize::try_from(self.settings.keep.get() - 1).unwrap_or(usize::MAX);
        let old = all.len().saturating_sub(kept);
        for stored in all.into_iter().take(old) {
            target.remove(&stored.name).await?;
            tracing::info!(name = stored.name, "an old backup was deleted");
        }
        Ok(())
    }
}

impl JobKind for BackupJob {
    fn name(&self) -> &'static str {
        JOB
    }

    fn run<'a>(&'a self, cx: &'a JobCx) -> Running<'a> {
        Box::pin(async move {
            let Some(target) = &self.target else {
                let message = "backups are off: backup.to is not set";
                return Err(Halt::Failed(Error::invalid(message)));
            };
            let taken = match self.take_over(cx, target).await? {
                Some(taken) => taken,
                None => self.take(cx, target).await?,
            };
            let environment = cx.site().environment();
            let Taken { name, bytes, rows, files, .. } = &taken;
            tracing::info!(environment = environment.name(), name, bytes, rows, files, "backed up");
            if let Err(error) = self.delete_old(target, environment, name).await {
                tracing::warn!(error = error.report(), "old backups could not be deleted");
            }
            serde_json::to_value(taken).map_err(|error| {
                Halt::Failed(Error::internal("a backup cannot be told of").because(error))
            })
        })
    }

    fn limits(&self) -> Limits {
        let first_wait = FIRST_WAIT.min(self.settings.period());
        Limits {
            at_once: 1,
            attempts: 3,
            first_wait,
            longest_wait: AFTER_FAILURE.min(self.settings.period()),
            // Until well after the next, which is due by the one before.
            kept: KEPT.max(self.settings.period().saturating_mul(2 * PERIODS_MAX)),
        }
    }

    /// Backups are the operator's, who has metrics and the log.
    fn is_told(&self) -> bool {
        false
    }
}

/// Ends the reading of a backup when nobody waits for it any more, as when the server stops.
#[derive(Debug, Default)]
struct Ended(Arc<AtomicBool>);

impl Ended {
    fn check(&self, taken: &Taken) -> Box<dyn FnOnce(Box<dyn Read + Send>) -> Result<()> + Send> {
        let (ended, checksum) = (Arc::clone(&self.0), taken.checksum.clone());
        Box::new(move |input| check(Interruptible { input, ended }, &checksum))
    }
}

impl Drop for Ended {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

struct Interruptible {
    input: Box<dyn Read + Send>,
    ended: Arc<AtomicBool>,
}

impl Read for Interruptible {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.ended.load(Ordering::Relaxed) {
            // Not `Interrupted`, which is tried again.
            return Err(io::Error::other("nobody waits for it any more"));
        }
        self.input.read(out)
    }
}

/// Adds jobs when they are due, until it is told to stop.
pub(crate) async fn keep_schedule(
    site: Arc<Site>,
    settings: BackupSettings,
    mut stop: watch::Receiver<bool>,
) {
    if settings.place().is_none() {
        return;
    }
    let period = settings.period();
    let pause = (period / 4).clamp(LOOK_MIN, LOOK_MAX);
    while !*stop.borrow() {
        if let Err(error) = add_if_due(&site, period).await {
            tracing::warn!(error = error.report(), "a backup could not be scheduled; trying again");
        }
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            _ = stop.changed() => break,
        }
    }
}

/// Looking costs a read; only then is written.
async fn add_if_due(site: &Site, period: Duration) -> Result<()> {
    let now = site.clock().now();
    let due = move |conn: &mut dyn Conn| {
        let last = background_job::find(conn, JOB, KEY)?;
        Ok(is_due(last.as_ref(), period, now))
    };
    if site.store().read(due).await? {
        // Another server may have looked at the same moment.
        let add = move |conn: &mut dyn Conn| {
            if due(conn)? {
                jobs::enqueue(conn, JOB, Some(KEY), &(), now)?;
            }
            Ok(())
        };
        site.store().write(add).await?;
    }
    Ok(())
}

fn is_due(last: Option<&JobRow>, period: Duration, now: Timestamp) -> bool {
    let Some(last) = last else { return true };
    let (since, wait) = match (last.state, last.finished) {
        (JobState::Done, Some(_)) => (last.created, period),
        (_, Some(finished)) => (finished, period.min(AFTER_FAILURE)),
        (_, None) => return false,
    };
    // A clock that was ahead by more than a period must not keep the next one waiting.
    now >= since.plus(wait) || since > now.plus(period)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_is_due_a_period_after_the_last_and_sooner_after_a_failure() {
        const DAY: Duration = Duration::from_hours(24);
        let at = |hour: u64| Timestamp::from_micros(0).plus(Duration::from_hours(hour));
        let job = |state: JobState, finished: Option<u64>| JobRow {
            state,
            created: at(100),
            finished: finished.map(at),
            ..JobRow::default()
        };
        let check = |last: Option<JobRow>, hour: u64, expected: bool| {
            assert_eq!(is_due(last.as_ref(), DAY, at(hour)), expected, "{last:?} at {hour}");
        };
        check(None, 0, true);
        check(Some(job(JobState::Queued, None)), 500, false);
        check(Some(job(JobState::Running, None)), 500, false);
        check(Some(job(JobState::Done, Some(103))), 123, false);
        check(Some(job(JobState::Done, Some(103))), 124, true);
        check(Some(job(JobState::Failed, Some(103))), 103, false);
        check(Some(job(JobState::Failed, Some(103))), 104, true);
        // The clock was set back by a little, and by a lot.
        check(Some(job(JobState::Done, Some(103))), 90, false);
        check(Some(job(JobState::Done, Some(103))), 50, true);
    }
}
