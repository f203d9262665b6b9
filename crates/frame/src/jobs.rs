//! Background jobs: work that goes on after the answer, and survives whoever does it.
//!
//! A crate that has such work implements [`JobKind`] and hands it to the site when that is made
//! ([`crate::Site::with_job`]). To start a job, [`enqueue`] it **in the transaction of the change
//! that wants it**; [`db::background_job`] tells how it is going, and [`cancel`] ends it.
//! Whoever runs the site runs the jobs, in this process or another on the same database.
//!
//! A job works in steps. [`JobCx::step`] is one transaction with the step's changes, its progress
//! and a checkpoint, and counts only while this worker holds the job: **a job that was cut off at
//! any moment, even by `kill -9`, goes on after its last step, and no step counts twice.** What a
//! step does outside of the store, such as writing a file or sending a message, may be done again;
//! let the checkpoint name the file, so that the next attempt finds it.
//!
//! ```
//! # use serde_json::{Value, json};
//! use frame::jobs::{Halt, JobCx, JobKind, Progress, Running};
//!
//! /// Counts to the number in its arguments.
//! #[derive(Debug)]
//! struct Count;
//!
//! impl JobKind for Count {
//!     fn name(&self) -> &'static str {
//!         "count"
//!     }
//!
//!     fn run<'a>(&'a self, cx: &'a JobCx) -> Running<'a> {
//!         Box::pin(async move {
//!             let total: i64 = cx.arguments()?;
//!             let from: i64 = cx.checkpoint()?.unwrap_or(0);
//!             for done in from + 1..=total {
//!                 let progress = Progress { done, total: Some(total) };
//!                 cx.step(progress, &done, |_conn| Ok(())).await?;
//!             }
//!             Ok(json!({ "counted": total }))
//!         })
//!     }
//! }
//! ```

use db::Conn;
use db::background_job::{self, Cancelled, Ending, Enqueued, JobRow, JobState, NewJob};
use db::outbox::{self, Event};
use serde::Serialize;
use serde_json::json;
use types::{Result, Timestamp};

pub use crate::site::job::{Halt, JobCx, JobKind, Limits, Running};
pub use db::background_job::Progress;

use crate::Site;
use crate::site::job::written;

/// The job that makes the reports' figures from the records again, and the one that writes a report
/// into a file. Their names stand here because those who tell people of their end know neither.
pub const REPORT_IMPORT: &str = "report.import";
pub const REPORT_EXPORT: &str = "report.export";

/// Adds a job in the transaction of the change that wants it. With a key, an unfinished job of the
/// same kind and key is returned instead of a second one.
pub fn enqueue(
    conn: &mut dyn Conn,
    kind: &'static str,
    key: Option<&str>,
    arguments: &impl Serialize,
    now: Timestamp,
) -> Result<Enqueued> {
    enqueue_for(conn, kind, key, arguments, (now, now))
}

/// [`enqueue`], for work that is to begin at a later moment than `now`.
pub fn enqueue_for(
    conn: &mut dyn Conn,
    kind: &'static str,
    key: Option<&str>,
    arguments: &impl Serialize,
    (now, due): (Timestamp, Timestamp),
) -> Result<Enqueued> {
    let job = NewJob {
        kind: kind.to_owned(),
        key: key.map(str::to_owned),
        arguments: written(arguments)?,
        due,
        created: now,
    };
    background_job::enqueue(conn, &job)
}

/// Ends a job that waits, or asks the one who runs it to end it. `false` when it is finished
/// already, or never was.
pub fn cancel(site: &Site, conn: &mut dyn Conn, job_id: i64, now: Timestamp) -> Result<bool> {
    match background_job::cancel(conn, job_id, now)? {
        Cancelled::AtOnce(job) => {
            tell_end(site, conn, &job)?;
            Ok(true)
        }
        Cancelled::Asked => Ok(true),
        Cancelled::Not => Ok(false),
    }
}

/// Ends a claimed job with everything that follows from it. `false` when it is not the caller's any
/// more.
pub fn finish(
    site: &Site,
    conn: &mut dyn Conn,
    claimed: &JobRow,
    ending: &Ending,
    now: Timestamp,
) -> Result<bool> {
    let Some(ended) = background_job::finish(conn, claimed, now, ending)? else {
        return Ok(false);
    };
    tell_end(site, conn, &ended)?;
    Ok(true)
}

fn tell_end(site: &Site, conn: &mut dyn Conn, ended: &JobRow) -> Result<()> {
    let Some(kind) = site.job_kind(&ended.kind) else { return Ok(()) };
    kind.ended(site, conn, ended)?;
    let told = match ended.state {
        JobState::Done => "background_job.done",
        JobState::Failed => "background_job.failed",
        JobState::Cancelled => "background_job.cancelled",
        JobState::Queued | JobState::Running => return Ok(()),
    };
    if !kind.is_told() {
        return Ok(());
    }
    let payload = json!({ "kind": ended.kind, "key": ended.key }).to_string();
    let now = ended.finished.unwrap_or(ended.created);
    outbox::append(conn, &Event::of_site(told, ended.job_id, payload, now))
}
