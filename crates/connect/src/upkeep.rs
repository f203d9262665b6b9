//! What a copy needs so that it neither grows without an end nor becomes slow: its old events are
//! forgotten, its texts are indexed and its totals drawn together. **A little at the end of each
//! turn**, since nobody else does it for copies.

use std::time::{Duration, Instant};

use db::{Conn, outbox, text_index};
use shop_rows::order;
use types::{Result, Timestamp};

use crate::follow::has_hints;
use crate::work::{Halt, Work};

/// For so long at the end of a turn, and for so long where webhooks tell of something meanwhile:
/// who always has something to tell has a small copy as well.
const TIME_MAX: Duration = Duration::from_secs(3);
const TIME_MAX_IN_HASTE: Duration = Duration::from_millis(200);
/// Events and texts of one transaction.
const EVENTS_AT_ONCE: i64 = 5_000;
const TEXTS_AT_ONCE: usize = 500;
/// Whoever keeps facts of a copy is not behind by more than that. Facts that are older are made
/// again from the records.
const EVENTS_KEPT: i64 = 1_000;
const EVENTS_KEPT_US: i64 = 3_600 * 1_000_000;
/// Who follows the events of a copy, as far as its database knows.
const FOLLOWER: &str = "copy";

/// Does what there is to do, for a while.
pub(crate) async fn run(work: &Work) -> std::result::Result<(), Halt> {
    let (database, started) = (work.store.site.store(), Instant::now());
    let before = Timestamp::from_micros(work.now().as_micros() - EVENTS_KEPT_US);
    while has_time(work, started).await? {
        if !database.read(move |conn| has_old(conn, before)).await? {
            break;
        }
        database.write(move |conn| forget(conn, before)).await?;
    }
    let index = order::TEXT_INDEX;
    while has_time(work, started).await? {
        if !database.read(move |conn| text_index::is_due(conn, &index)).await? {
            break;
        }
        database.write(move |conn| text_index::index_due(conn, &index, TEXTS_AT_ONCE)).await?;
    }
    Ok(database.settle_tallies().await?)
}

async fn has_time(work: &Work, started: Instant) -> std::result::Result<bool, Halt> {
    let spent = started.elapsed();
    Ok(spent < TIME_MAX_IN_HASTE || (spent < TIME_MAX && !has_hints(work).await?))
}

/// Whether there are events to be forgotten.
fn has_old(conn: &mut dyn Conn, before: Timestamp) -> Result<bool> {
    let kept = outbox::head(conn)? - EVENTS_KEPT;
    let oldest = outbox::after(conn, 0, 1)?;
    Ok(oldest.first().is_some_and(|event| event.seq <= kept && event.created < before))
}

fn forget(conn: &mut dyn Conn, before: Timestamp) -> Result<u64> {
    let from = outbox::position(conn, FOLLOWER)?;
    let to = (outbox::head(conn)? - EVENTS_KEPT).max(from);
    outbox::advance(conn, FOLLOWER, from, to)?;
    outbox::prune(conn, before, EVENTS_AT_ONCE)
}
