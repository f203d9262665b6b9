//! Events of the feed themselves: their numbers, and how long the next one has been waiting.

use db::{Database, outbox};
use types::{Clock, Result};

use super::follow::EVENTS_AT_ONCE;
use crate::current::Facts;

/// Gives numbers to the events that wait for theirs. The records are read after that, so nobody
/// needs to read them once more because of events that come with a number later: after a large
/// import those tell of every record.
pub(super) fn number_all(store: &Database, facts: &Facts) -> Result<()> {
    while !facts.is_stopping() && store.read_blocking(outbox::has_unsequenced)? {
        store.write_in_turn_blocking(|conn| outbox::sequence(conn, EVENTS_AT_ONCE))?;
    }
    Ok(())
}

/// Looks how long the first event that is not in the facts has been waiting.
pub(super) fn look_at_lag(store: &Database, facts: &Facts) -> Result<()> {
    let Some(position) = facts.position() else { return Ok(()) };
    let next = store.read_blocking(move |conn| outbox::after(conn, position, 1))?;
    let now = Clock::System.now();
    facts.set_lag(next.first().map(|event| now.since(event.created)).unwrap_or_default());
    Ok(())
}
