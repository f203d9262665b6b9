//! Closures that are committed together.
//!
//! They run one after the other in one transaction, **without savepoints**: for each page that is
//! changed within one SQLite keeps a copy, and looks through these copies after every statement
//! that has triggers. A closure that fails loses its own changes all the same: everything is rolled
//! back, and those before it run again, from then on each in a savepoint, so that a second failure
//! of the group costs no more than itself. Most that fail have changed nothing yet.

use std::time::Instant;

use types::{Error, Result};

use super::SqliteConn;
use crate::job::Job;
use crate::queue::{Queue, Turn};
use crate::threads::{GROUP_MAX, GROUP_TIME_MAX, GroupSizes};

/// Runs `first` and what waits behind it, commits, and answers all of them.
pub(super) fn write<'q>(
    writer: &mut SqliteConn,
    queue: &'q Queue,
    first: (Box<dyn Job>, Turn<'q>),
    groups: &GroupSizes,
) {
    let started = Instant::now();
    let mut group = Group::default();
    let mut next = Some(first);
    let mut outcome = writer.control("BEGIN IMMEDIATE");
    while let Some((job, turn)) = next.take() {
        group.members.push(Member { job, stays: false });
        if outcome.is_ok() {
            outcome = group.run_last(writer);
        }
        drop(turn);
        let has_room = group.members.len() < GROUP_MAX && started.elapsed() < GROUP_TIME_MAX;
        if outcome.is_ok() && has_room {
            next = queue.try_pop();
        }
    }
    if outcome.is_ok() {
        outcome = writer.control("COMMIT");
    }
    let jobs = group.members.len();
    if let Err(error) = &outcome {
        tracing::error!(error = %error.report(), jobs, "group commit failed");
        let _ = writer.control("ROLLBACK");
    }
    writer.written.publish();
    groups.count(jobs);
    for member in group.members {
        member.job.finish(match &outcome {
            Ok(()) => Ok(()),
            Err(error) => Err(Error::new(error.kind(), error.to_string())),
        });
    }
}

/// In the order in which they run.
#[derive(Default)]
struct Group {
    members: Vec<Member>,
    in_savepoints: bool,
}

struct Member {
    job: Box<dyn Job>,
    /// Whether it was run and its changes shall stay.
    stays: bool,
}

impl Group {
    /// An error here and below is about the whole group; a closure that failed only loses its own
    /// changes.
    fn run_last(&mut self, writer: &mut SqliteConn) -> Result<()> {
        let Some((last, earlier)) = self.members.split_last_mut() else { return Ok(()) };
        if self.in_savepoints {
            return last.run_in_savepoint(writer);
        }
        let changes = writer.inner.total_changes();
        last.run(writer)?;
        if last.stays || writer.inner.total_changes() == changes {
            return Ok(());
        }
        writer.control("ROLLBACK")?;
        writer.control("BEGIN IMMEDIATE")?;
        // One may have failed because of what somebody did who has left meanwhile.
        let mut is_as_before = true;
        for member in earlier.iter_mut() {
            if member.stays || !is_as_before {
                self.in_savepoints = true;
                let stayed = member.stays;
                member.run_in_savepoint(writer)?;
                is_as_before &= member.stays == stayed;
            }
        }
        if is_as_before { Ok(()) } else { last.run_in_savepoint(writer) }
    }
}

impl Member {
    fn run(&mut self, writer: &mut SqliteConn) -> Result<()> {
        self.stays = self.job.run(writer);
        if writer.inner.is_autocommit() {
            // A full disk or an IO error makes SQLite roll back everything by itself, also if the
            // closure did not mind.
            return Err(Error::unavailable("the storage refused the change; nothing was stored"));
        }
        Ok(())
    }

    fn run_in_savepoint(&mut self, writer: &mut SqliteConn) -> Result<()> {
        writer.control("SAVEPOINT job")?;
        self.run(writer)?;
        if !self.stays {
            writer.control("ROLLBACK TO job")?;
        }
        writer.control("RELEASE job")
    }
}
