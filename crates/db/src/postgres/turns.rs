//! How writes begin: beside others, in turn with those that lose races, or alone.
//!
//! Writes share a lock on a table that is otherwise left alone, so that one of them can keep the
//! others out. Unlike an advisory lock it is waited for before the snapshot is taken.
//!
//! **Losers take turns**, by a mode of that lock that only excludes its like: what loses once, such
//! as one of many orders of a product that sells well, would lose to the other losers again. A turn
//! is not waited for long: whoever has it may be slow, or cut off.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use types::Result;

use super::connection::PgConn;
use crate::Conn as _;
use crate::job::Isolation;

/// A write that lost so many races runs alone.
const RACES_MAX: u32 = 4;
/// So long after a race was lost, writes that contend with each other begin in turn.
const CONTENDED_FOR: Duration = Duration::from_millis(100);

const READ_COMMITTED: &str = "BEGIN ISOLATION LEVEL READ COMMITTED;
     LOCK TABLE schema_migrations IN ROW EXCLUSIVE MODE";
const BESIDE_OTHERS: &str = "BEGIN ISOLATION LEVEL SERIALIZABLE;
     LOCK TABLE schema_migrations IN ROW EXCLUSIVE MODE";
const IN_TURN: &str = "BEGIN ISOLATION LEVEL SERIALIZABLE;
     SET LOCAL lock_timeout TO '1s';
     LOCK TABLE schema_migrations IN SHARE UPDATE EXCLUSIVE MODE;
     SET LOCAL lock_timeout TO 0";
const ALONE: &str = "BEGIN ISOLATION LEVEL SERIALIZABLE;
     LOCK TABLE schema_migrations IN SHARE ROW EXCLUSIVE MODE";

/// What the writers of a node know of each other.
#[derive(Debug)]
pub(super) struct Turns {
    since: Instant,
    /// When the last race among writes that contend was lost, in microseconds.
    lost_us: AtomicU64,
}

impl Default for Turns {
    fn default() -> Self {
        Self { since: Instant::now(), lost_us: AtomicU64::new(0) }
    }
}

impl Turns {
    /// Begins the transaction of a write that lost so many races before.
    pub(super) fn begin(&self, conn: &mut PgConn, isolation: Isolation, races: u32) -> Result<()> {
        match isolation {
            Isolation::ReadCommitted => conn.script(READ_COMMITTED),
            _ if races >= RACES_MAX => conn.script(ALONE),
            Isolation::Contended if races == 0 && self.is_contended() => in_turn(conn),
            _ if races == 0 => conn.script(BESIDE_OTHERS),
            _ => in_turn(conn),
        }
    }

    /// Notes that a write has lost a race.
    pub(super) fn lost(&self, isolation: Isolation) {
        if isolation == Isolation::Contended {
            self.lost_us.store(self.now_us(), Ordering::Relaxed);
        }
    }

    fn is_contended(&self) -> bool {
        let lost_us = self.lost_us.load(Ordering::Relaxed);
        lost_us > 0 && Duration::from_micros(self.now_us() - lost_us) < CONTENDED_FOR
    }

    /// Never zero.
    fn now_us(&self) -> u64 {
        u64::try_from(self.since.elapsed().as_micros()).unwrap_or(u64::MAX).saturating_add(1)
    }
}

fn in_turn(conn: &mut PgConn) -> Result<()> {
    let begun = conn.script(IN_TURN);
    if begun.is_ok() || conn.lost {
        return begun;
    }
    // The turn did not come. If it is something else, it is told here.
    conn.script("ROLLBACK")?;
    (conn.failed, conn.lost_race) = (false, false);
    conn.script(BESIDE_OTHERS)
}
