//! Jobs: work that goes on after the answer that started it, kept until well after its end.
//!
//! [`enqueue`] runs in the transaction of the change that wants the work. A worker takes jobs with
//! [`claim_due`] for the time of a lease, writes down how far it is with [`progress`], and says
//! with [`finish`], [`retry`] or [`release`] what came of it; a lease that ends without that makes
//! the job due again, for any worker of any process. **The number of its claim is the proof of a
//! lease**: who lost it can change nothing of the job any more, and since progress is written in
//! the transaction of the work, neither can the work be done twice.

use std::time::Duration;

use types::{Error, Result, Timestamp};

use crate::filter::{Clause, Direction, Filter, Page};
use crate::{Conn, Row, SITE, named, statements};

/// Jobs that one claim takes.
pub const CLAIM_MAX: i64 = 100;
/// Bytes of a job's arguments, of its checkpoint and of its result. What is larger belongs into a
/// table or a file of its own.
pub const TEXT_BYTES_MAX: usize = 1024 * 1024;

named! {
    JobState {
        /// Waits for a worker, or for its time.
        #[default]
        Queued = "queued",
        Running = "running",
        Done = "done",
        Failed = "failed",
        Cancelled = "cancelled",
    }
}

/// How far a job is, in units of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    pub done: i64,
    /// None while nobody knows.
    pub total: Option<i64>,
}

/// Work to be done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewJob {
    pub kind: String,
    /// Of the jobs of a kind with this key, one at most is not finished.
    pub key: Option<String>,
    /// A JSON value.
    pub arguments: String,
    /// Not before this moment.
    pub due: Timestamp,
    pub created: Timestamp,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JobRow {
    pub job_id: i64,
    pub kind: String,
    pub key: Option<String>,
    pub state: JobState,
    /// A JSON value, as are the checkpoint and the result.
    pub arguments: String,
    pub progress: Progress,
    /// What the job needs to know to go on after its last progress.
    pub checkpoint: Option<String>,
    pub result: Option<String>,
    /// Why it failed, or why it is tried again.
    pub error: Option<String>,
    pub cancel_wanted: bool,
    /// How often it was claimed.
    pub claim: i64,
    /// Claims that count: those that a stopping worker gave back do not.
    pub attempt: i64,
    /// When to run it; while it is claimed, when the lease ends.
    pub due: Timestamp,
    pub created: Timestamp,
    pub started: Option<Timestamp>,
    pub finished: Option<Timestamp>,
}

/// A job that was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Enqueued {
    pub job_id: i64,
    /// Whether it is new; else one with its key was there already.
    pub is_new: bool,
}

/// How a job ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// With a result, which is a JSON value.
    Done(String),
    Failed(String),
    Cancelled,
}

/// What became of a wish to end a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cancelled {
    /// It waited, and will never run.
    AtOnce(Box<JobRow>),
    /// It runs, and its worker will notice.
    Asked,
    /// It is finished, or there is none.
    Not,
}

/// What [`JobRow::read`] reads, in its order.
macro_rules! job_columns {
    () => {
        "job_id, kind, job_key, state, arguments, progress_done, progress_total, checkpoint,
         result, error, cancel_wanted, claim, attempt, due_us, created_us, started_us, finished_us"
    };
}

statements! {
    JOB_INSERT =
        "INSERT INTO background_jobs
           (site_id, kind, job_key, state, arguments, progress_done, cancel_wanted, claim, attempt,
            due_us, created_us)
         VALUES ($1, $2, $3, 'queued', $4, 0, 0, 0, 0, $5, $6)
         ON CONFLICT (kind, job_key, site_id) WHERE finished_us IS NULL DO NOTHING
         RETURNING job_id";
    JOB_GET = concat!(
        "SELECT ",
        job_columns!(),
        " FROM background_jobs WHERE site_id = $1 AND job_id = $2"
    );
    JOB_FIND = concat!(
        "SELECT ",
        job_columns!(),
        " FROM background_jobs WHERE site_id = $1 AND kind = $2 AND job_key = $3
         ORDER BY job_id DESC LIMIT 1"
    );
    JOB_LAST_DONE = concat!(
        "SELECT ",
        job_columns!(),
        " FROM background_jobs
         WHERE site_id = $1 AND kind = $2 AND state = 'done' AND finished_us IS NOT NULL
         ORDER BY finished_us DESC LIMIT 1"
    );
    JOB_NEXT_DUE =
        "SELECT MIN(due_us) FROM background_jobs
         WHERE site_id = $1 AND kind = $2 AND finished_us IS NULL";
    JOB_CLAIM = concat!(
        "UPDATE background_jobs SET
           state = 'running', due_us = $1, claim = claim + 1, attempt = attempt + 1,
           started_us = COALESCE(started_us, $2)
         WHERE job_id IN (
           SELECT due.job_id FROM background_jobs AS due
           WHERE due.site_id = $3 AND due.kind = $4 AND due.finished_us IS NULL
             AND due.due_us <= $5
           ORDER BY due.due_us, due.job_id LIMIT $6)
         RETURNING ",
        job_columns!()
    );
    JOB_RENEW =
        "UPDATE background_jobs SET due_us = $1
         WHERE site_id = $2 AND job_id = $3 AND claim = $4 AND state = 'running'
         RETURNING cancel_wanted";
    JOB_PROGRESS =
        "UPDATE background_jobs SET
           due_us = $1, progress_done = $2, progress_total = $3, checkpoint = $4
         WHERE site_id = $5 AND job_id = $6 AND claim = $7 AND state = 'running'
         RETURNING cancel_wanted";
    JOB_FINISH = concat!(
        "UPDATE background_jobs SET
           state = $1, result = $2, error = $3, due_us = $4, finished_us = $5
         WHERE site_id = $6 AND job_id = $7 AND claim = $8 AND state = 'running'
         RETURNING ",
        job_columns!()
    );
    JOB_PUT_BACK =
        "UPDATE background_jobs SET
           state = 'queued', due_us = $1, error = COALESCE($2, error), attempt = attempt - $3
         WHERE site_id = $4 AND job_id = $5 AND claim = $6 AND state = 'running'";
    JOB_CANCEL_QUEUED = concat!(
        "UPDATE background_jobs SET
           state = 'cancelled', cancel_wanted = 1, due_us = $1, finished_us = $2
         WHERE site_id = $3 AND job_id = $4 AND state = 'queued'
         RETURNING ",
        job_columns!()
    );
    JOB_CANCEL_RUNNING =
        "UPDATE background_jobs SET cancel_wanted = 1
         WHERE site_id = $1 AND job_id = $2 AND state = 'running'";
    JOBS_END_LEASES =
        "UPDATE background_jobs SET due_us = $1
         WHERE site_id = $2 AND state = 'running' AND finished_us IS NULL AND due_us > $3";
    JOBS_PRUNE =
        "DELETE FROM background_jobs WHERE job_id IN (
           SELECT old.job_id FROM background_jobs AS old
           WHERE old.site_id = $1 AND old.kind = $2 AND old.finished_us < $3
             AND old.finished_us IS NOT NULL
           ORDER BY old.finished_us LIMIT $4)";
}

/// Adds a job, or finds the unfinished one that has its key. Call it in the transaction of what
/// wants the work.
pub fn enqueue(conn: &mut dyn Conn, job: &NewJob) -> Result<Enqueued> {
    check_length(&job.arguments)?;
    let params = [
        SITE.into(),
        (&job.kind).into(),
        job.key.as_ref().into(),
        (&job.arguments).into(),
        job.due.into(),
        job.created.into(),
    ];
    if let Some(job_id) = conn.row(&JOB_INSERT, &params, |row| row.get(0))? {
        return Ok(Enqueued { job_id, is_new: true });
    }
    let key = job.key.as_deref().unwrap_or_default();
    let found = find(conn, &job.kind, key)?;
    let found = found.ok_or_else(|| Error::internal("a job was refused without a reason"))?;
    Ok(Enqueued { job_id: found.job_id, is_new: false })
}

pub fn get(conn: &mut dyn Conn, job_id: i64) -> Result<Option<JobRow>> {
    conn.row(&JOB_GET, &[SITE.into(), job_id.into()], JobRow::read)
}

/// The newest job of the kind with this key.
pub fn find(conn: &mut dyn Conn, kind: &str, key: &str) -> Result<Option<JobRow>> {
    conn.row(&JOB_FIND, &[SITE.into(), kind.into(), key.into()], JobRow::read)
}

/// The job of the kind that was done last.
pub fn last_done(conn: &mut dyn Conn, kind: &str) -> Result<Option<JobRow>> {
    conn.row(&JOB_LAST_DONE, &[SITE.into(), kind.into()], JobRow::read)
}

/// A page of the jobs of a kind, the newest first, and how many there are. No states means all.
pub fn list(
    conn: &mut dyn Conn,
    kind: &str,
    states: &[JobState],
    page: Page,
) -> Result<(Vec<JobRow>, i64)> {
    let mut filter = Filter::new("site_id = ?", SITE);
    filter.and_value("kind = ?", Some(kind.to_owned()));
    filter.and_list("state IN (?)", states)?;
    let order = vec![(Clause::fixed("job_id"), Direction::Descending)];
    filter.page(conn, (job_columns!(), "background_jobs"), order, page, JobRow::read)
}

/// When the next job of the kind will be due, or was: until then there is nothing to claim.
pub fn next_due(conn: &mut dyn Conn, kind: &str) -> Result<Option<Timestamp>> {
    let due = conn.row(&JOB_NEXT_DUE, &[SITE.into(), kind.into()], |row| row.get(0))?;
    Ok(due.flatten())
}

/// Takes up to `limit` jobs of the kind that are due, the longest due first. They are the caller's
/// until the lease ends.
pub fn claim_due(
    conn: &mut dyn Conn,
    kind: &str,
    now: Timestamp,
    limit: i64,
    lease: Duration,
) -> Result<Vec<JobRow>> {
    let limit = limit.clamp(0, CLAIM_MAX);
    let until = now.plus(lease);
    let params = [until.into(), now.into(), SITE.into(), kind.into(), now.into(), limit.into()];
    let mut claimed = conn.rows(&JOB_CLAIM, &params, JobRow::read)?;
    claimed.sort_by_key(|job| job.job_id);
    Ok(claimed)
}

/// Extends the lease, and tells whether the job is to be cancelled. None when the lease was lost.
pub fn renew(conn: &mut dyn Conn, claimed: &JobRow, until: Timestamp) -> Result<Option<bool>> {
    let params = [until.into(), SITE.into(), claimed.job_id.into(), claimed.claim.into()];
    conn.row(&JOB_RENEW, &params, |row| row.get(0))
}

/// Writes down how far the job is and how to go on from there, and extends the lease. Call it in
/// the transaction of the work. Answers as [`renew`] does; what must not count then is the caller's
/// to undo.
pub fn progress(
    conn: &mut dyn Conn,
    claimed: &JobRow,
    until: Timestamp,
    progress: Progress,
    checkpoint: Option<&str>,
) -> Result<Option<bool>> {
    checkpoint.map_or(Ok(()), check_length)?;
    let params = [
        until.into(),
        progress.done.into(),
        progress.total.into(),
        checkpoint.into(),
        SITE.into(),
        claimed.job_id.into(),
        claimed.claim.into(),
    ];
    conn.row(&JOB_PROGRESS, &params, |row| row.get(0))
}

/// Ends the job, and returns it as it is then. None, and nothing is changed, when the lease was
/// lost.
pub fn finish(
    conn: &mut dyn Conn,
    claimed: &JobRow,
    now: Timestamp,
    ending: &Ending,
) -> Result<Option<JobRow>> {
    let (state, result, error) = match ending {
        Ending::Done(result) => (JobState::Done, Some(result), None),
        Ending::Failed(error) => (JobState::Failed, None, Some(error)),
        Ending::Cancelled => (JobState::Cancelled, None, None),
    };
    result.map_or(Ok(()), |result| check_length(result))?;
    let params = [
        state.into(),
        result.into(),
        error.into(),
        now.into(),
        now.into(),
        SITE.into(),
        claimed.job_id.into(),
        claimed.claim.into(),
    ];
    conn.row(&JOB_FINISH, &params, JobRow::read)
}

/// Gives the job back to be tried again at `due`, with why. `false` when the lease was lost.
pub fn retry(conn: &mut dyn Conn, claimed: &JobRow, due: Timestamp, error: &str) -> Result<bool> {
    put_back(conn, claimed, due, Some(error), 0)
}

/// Gives the job back as if it had not been claimed. `false` when the lease was lost.
pub fn release(conn: &mut dyn Conn, claimed: &JobRow, now: Timestamp) -> Result<bool> {
    put_back(conn, claimed, now, None, 1)
}

fn put_back(
    conn: &mut dyn Conn,
    claimed: &JobRow,
    due: Timestamp,
    error: Option<&str>,
    uncounted: i64,
) -> Result<bool> {
    let params = [
        due.into(),
        error.into(),
        uncounted.into(),
        SITE.into(),
        claimed.job_id.into(),
        claimed.claim.into(),
    ];
    Ok(conn.execute(&JOB_PUT_BACK, &params)? == 1)
}

/// Ends a job that waits, and asks the worker of one that runs to end it.
pub fn cancel(conn: &mut dyn Conn, job_id: i64, now: Timestamp) -> Result<Cancelled> {
    let params = [now.into(), now.into(), SITE.into(), job_id.into()];
    if let Some(job) = conn.row(&JOB_CANCEL_QUEUED, &params, JobRow::read)? {
        return Ok(Cancelled::AtOnce(Box::new(job)));
    }
    let asked = conn.execute(&JOB_CANCEL_RUNNING, &[SITE.into(), job_id.into()])?;
    Ok(if asked == 1 { Cancelled::Asked } else { Cancelled::Not })
}

/// Ends all leases, and returns how many. For the one process that has the database to itself, when
/// it starts: whoever held them is gone.
pub fn end_leases(conn: &mut dyn Conn, now: Timestamp) -> Result<u64> {
    conn.execute(&JOBS_END_LEASES, &[now.into(), SITE.into(), now.into()])
}

/// Deletes up to `limit` jobs of the kind that were finished before that moment, and returns how
/// many.
pub fn prune(conn: &mut dyn Conn, kind: &str, before: Timestamp, limit: i64) -> Result<u64> {
    conn.execute(&JOBS_PRUNE, &[SITE.into(), kind.into(), before.into(), limit.into()])
}

fn check_length(text: &str) -> Result<()> {
    if text.len() <= TEXT_BYTES_MAX {
        return Ok(());
    }
    let message = format!("what a job keeps has at most {TEXT_BYTES_MAX} bytes; keep it elsewhere");
    Err(Error::invalid(message))
}

impl JobRow {
    fn read(row: &dyn Row) -> Result<Self> {
        Ok(Self {
            job_id: row.get(0)?,
            kind: row.get(1)?,
            key: row.get(2)?,
            state: row.get(3)?,
            arguments: row.get(4)?,
            progress: Progress { done: row.get(5)?, total: row.get(6)? },
            checkpoint: row.get(7)?,
            result: row.get(8)?,
            error: row.get(9)?,
            cancel_wanted: row.get(10)?,
            claim: row.get(11)?,
            attempt: row.get(12)?,
            due: row.get(13)?,
            created: row.get(14)?,
            started: row.get(15)?,
            finished: row.get(16)?,
        })
    }
}
