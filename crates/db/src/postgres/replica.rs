//! Lists from replicas: standbys that are read, so that the primary has more time for changes.
//!
//! **A list shows everything that was acknowledged before it was asked for**, whoever wrote it and
//! through whichever node: the primary is asked how far it is, and a replica is read as soon as it
//! is as far. One that does not get there within a moment, is away, or is no standby of this
//! primary, is passed over, and the primary is read as if there were no replicas.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use types::{Error, Result};

use super::connection::PgConn;
use super::target::{Purpose, Target};
use super::{Attempt, Mode, attempt_once, end_read, transact};
use crate::job::Job;
use crate::queue::Queue;

/// How long a list waits for a replica that is behind. Reading the primary takes about as long.
const PATIENCE: Duration = Duration::from_millis(20);
const LOOK_EVERY: Duration = Duration::from_millis(1);
/// How long a replica that was behind is not asked again.
const PASSED_OVER: Duration = Duration::from_secs(1);
/// How often replicas that are away are looked for.
const CONNECT_EVERY: Duration = Duration::from_secs(2);
/// For one answer of a replica. Statements end before, unless the server itself stands still.
const ANSWER_MAX: Duration = Duration::from_secs(35);

/// Which cluster and which database of it a server has; a standby has those of its primary.
const IDENTITY: &str =
    "SELECT system_identifier || ' ' || current_database() FROM pg_control_system()";
/// Up to where the primary's log is on disk. Standbys are sent no more than that.
const WRITTEN: &str = "SELECT pg_current_wal_flush_lsn()";
/// Up to where a standby shows the log; nothing from a server that is no standby.
const SHOWN: &str = "SELECT CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() END";

/// How many lists were read where, and whether replicas can be reached.
#[derive(Debug, Default)]
pub(crate) struct ListReads {
    replica: AtomicU64,
    primary: AtomicU64,
    /// When replicas that are away were last looked for. Whoever looks holds it: one thread may
    /// wait for a host that does not answer while the others serve lists.
    away: Mutex<Option<Instant>>,
}

impl ListReads {
    /// From replicas, and from the primary although there are replicas.
    pub(crate) fn counts(&self) -> (u64, u64) {
        (self.replica.load(Ordering::Relaxed), self.primary.load(Ordering::Relaxed))
    }
}

/// A thread's life: take a list, read it from a replica or else from the primary, answer.
pub(super) fn serve(
    primary: &Target,
    (replicas, place): (&Target, usize),
    queue: &Queue,
    reads: &ListReads,
) {
    let (at_primary, at_replica, passed_over) = (None, None, None);
    let mut reader =
        ListReader { primary, at_primary, replicas, place, at_replica, passed_over, reads };
    reader.connect_if_due();
    while let Some((mut job, turn)) = queue.pop() {
        let is_read = reader.may_read_replica(&*job) && reader.read_replica(job.as_mut());
        let ended = if is_read {
            reads.replica.fetch_add(1, Ordering::Relaxed);
            Ok(())
        } else {
            reads.primary.fetch_add(1, Ordering::Relaxed);
            transact(primary, &mut reader.at_primary, job.as_mut(), Mode::Read)
        };
        if let Err(error) = &ended {
            tracing::error!(error = %error.report(), "database transaction failed");
        }
        drop(turn);
        job.finish(ended);
        end_read(if is_read { &mut reader.at_replica } else { &mut reader.at_primary });
        reader.connect_if_due();
    }
}

/// The connections of a thread.
struct ListReader<'t> {
    primary: &'t Target,
    at_primary: Option<PgConn>,
    replicas: &'t Target,
    /// Of the replicas' hosts, which to try first: threads spread over them.
    place: usize,
    at_replica: Option<PgConn>,
    /// When the replica was found to be behind.
    passed_over: Option<Instant>,
    reads: &'t ListReads,
}

impl ListReader<'_> {
    fn connect_if_due(&mut self) {
        if self.at_replica.as_ref().is_some_and(|replica| !replica.session.is_closed()) {
            return;
        }
        let Ok(mut away) = self.reads.away.try_lock() else { return };
        if away.is_some_and(|looked| looked.elapsed() < CONNECT_EVERY) {
            return;
        }
        match self.connect() {
            Ok(replica) => {
                self.at_replica = Some(replica);
                if away.take().is_some() {
                    tracing::info!("reading lists from replicas again");
                }
            }
            Err(error) => {
                self.at_replica = None;
                if away.replace(Instant::now()).is_none() {
                    let error = error.report();
                    tracing::warn!(error, "no replica can be read; reading lists from the primary");
                }
            }
        }
    }

    /// A connection to a standby of the primary, and to nothing else.
    fn connect(&mut self) -> Result<PgConn> {
        let identity = self.ask_primary(IDENTITY)?;
        let mut replica = self.replicas.connect_from(self.place, Purpose::Reading)?;
        replica.session.answer_within(ANSWER_MAX);
        let mut second = self.replicas.connect_from(self.place, Purpose::Reading)?;
        Target::check_sessions_of(&mut replica, &mut second)?;
        if replica.value(IDENTITY)? != identity {
            let message = "database.replicas is no standby of the database, or another database";
            return Err(Error::invalid(message));
        }
        if replica.value(SHOWN)?.is_none() {
            return Err(Error::invalid("database.replicas is no standby"));
        }
        Ok(replica)
    }

    fn ask_primary(&mut self, question: &str) -> Result<Option<String>> {
        let primary = match &mut self.at_primary {
            Some(primary) if !primary.session.is_closed() => primary,
            at_primary => at_primary.insert(self.primary.connect(Purpose::Reading)?),
        };
        let answer = primary.value(question);
        if answer.is_err() {
            self.at_primary = None;
        }
        answer
    }

    fn may_read_replica(&mut self, job: &dyn Job) -> bool {
        let is_awaited = job.interest().is_none_or(|interest| !interest.is_lost());
        let is_passed_over = self.passed_over.is_some_and(|since| since.elapsed() < PASSED_OVER);
        if !is_awaited || is_passed_over || self.at_replica.is_none() {
            return false;
        }
        match self.is_current() {
            Ok(true) => return true,
            Ok(false) => self.passed_over = Some(Instant::now()),
            // Nobody knows where in the conversation it is.
            Err(_) => self.at_replica = None,
        }
        false
    }

    /// Whether the replica shows everything that the primary has made durable by now. It is asked
    /// outside of the transaction of the read, whose snapshot would be older than the answer.
    fn is_current(&mut self) -> Result<bool> {
        let wanted = self.written()?;
        let given_up = Instant::now() + PATIENCE;
        let shown = loop {
            let shown = self.shown(given_up)?;
            if shown >= wanted {
                break shown;
            }
            if Instant::now() >= given_up {
                return Ok(false);
            }
            thread::sleep(LOOK_EVERY);
        };
        // A standby is never ahead. One that has parted from the primary may be, after a failover.
        if shown > wanted && shown > self.written()? {
            return Err(Error::invalid("the replica does not follow the primary"));
        }
        Ok(true)
    }

    fn written(&mut self) -> Result<u64> {
        self.ask_primary(WRITTEN)?.as_deref().and_then(position).ok_or_else(unreadable)
    }

    /// Fails if there is no answer by then: a server that stands still would be waited for.
    fn shown(&mut self, by: Instant) -> Result<u64> {
        let replica = self.at_replica.as_mut().ok_or_else(unreadable)?;
        let at_most = by.saturating_duration_since(Instant::now()).max(LOOK_EVERY);
        replica.value_within(SHOWN, at_most)?.as_deref().and_then(position).ok_or_else(unreadable)
    }

    /// Runs the job. False if it has to be run on the primary: the connection was lost, what the
    /// replica replays got into the way, or a statement failed, which may be the replica's fault.
    fn read_replica(&mut self, job: &mut dyn Job) -> bool {
        let Some(replica) = &mut self.at_replica else { return false };
        match attempt_once(self.replicas, replica, job, Mode::Read, 0) {
            Attempt::Ended(Ok(())) if !replica.failed => true,
            Attempt::LostRace => false,
            Attempt::Ended(_) | Attempt::NotBegun(_) | Attempt::Lost(_) => {
                self.at_replica = None;
                false
            }
        }
    }
}

fn unreadable() -> Error {
    Error::unavailable("a database server does not tell how far it is")
}

/// A place in the log: two hexadecimal numbers.
fn position(text: &str) -> Option<u64> {
    let (high, low) = text.split_once('/')?;
    let part = |part: &str| u32::from_str_radix(part, 16).ok().map(u64::from);
    Some(part(high)? << 32 | part(low)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_in_the_log_are_in_order() {
        let places = ["0/0", "0/3000148", "0/FFFFFFFF", "1/0", "16/B374D848"].map(position);
        assert!(places.is_sorted() && places.iter().all(Option::is_some), "{places:?}");
        assert_eq!(places.last(), Some(&Some(0x16_B374_D848)));
        assert_eq!(position("none"), None);
    }
}
