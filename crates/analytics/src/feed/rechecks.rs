//! What two writers at once may leave behind, put right. A node that stood still may finish a
//! statement after another has taken its work over, and a server may carry out late what nobody
//! waits for any more: **an order that has gone since, or has moved, would be there again.**
//!
//! Such a statement belongs to a step that was under way. So the orders of that step, and of those
//! before it, are read once more when no statement of theirs can be under way any longer.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use db::Conn;
use types::Result;

use super::cluster_target::ClusterTarget;
use super::follow::{EVENTS_AT_ONCE, Follower};
use super::target::Target;
use super::{load, update};

/// A statement is given up after half of this.
const AFTER: Duration = Duration::from_mins(1);
/// Events before and after the place where somebody took over.
const EVENTS_AROUND: i64 = EVENTS_AT_ONCE;

/// Positions from which somebody took over, and when to look at what is around them.
#[derive(Debug, Default)]
pub(super) struct Rechecks(BTreeMap<i64, Instant>);

impl Rechecks {
    /// Somebody takes over from this position.
    pub(super) fn note(&mut self, position: i64) {
        self.0.insert(position, Instant::now() + AFTER);
    }

    pub(super) fn due(&self, now: Instant) -> Option<i64> {
        self.0.iter().find(|(_, due)| **due <= now).map(|(position, _)| *position)
    }

    pub(super) fn done(&mut self, position: i64) {
        self.0.remove(&position);
    }
}

impl Follower<ClusterTarget> {
    /// Reads the orders once more that events around this position tell of. What has been cleared
    /// stays so. Returns whether there were any.
    pub(super) fn recheck(&mut self, position: i64) -> Result<bool> {
        let after = position.saturating_sub(EVENTS_AROUND);
        let touched =
            move |conn: &mut dyn Conn| update::touched_after(conn, after, EVENTS_AROUND * 2);
        let (orders, customers) = self.store.read_blocking(touched)?;
        let mut there = self.target.ids_among(&orders)?;
        there.extend(self.target.orders_of(&customers)?);
        if there.is_empty() {
            return Ok(false);
        }
        self.target.begin_again();
        let change = self.store.read_blocking(move |conn| load::orders(conn, &there))?;
        self.target.apply(&change.deleted, &change.facts)?;
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_looked_at_again_after_a_while() {
        let (mut rechecks, now) = (Rechecks::default(), Instant::now());
        rechecks.note(7);
        assert_eq!(rechecks.due(now), None);
        assert_eq!(rechecks.due(now + AFTER * 2), Some(7));
        rechecks.done(7);
        assert_eq!(rechecks.due(now + AFTER * 2), None);
    }
}
