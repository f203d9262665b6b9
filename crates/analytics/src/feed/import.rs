//! Facts made anew on demand. Who wants that says so in the feed of changes itself, so that **every
//! process that follows it makes the same facts**, and one that was away makes them when it is
//! back.
//!
//! An import is a run of such events, each about some hundreds of records; between two of them
//! other changes have their turn. [`crate::imports`] appends them.

use std::collections::BTreeSet;
use std::sync::Arc;

use db::Conn;
use db::outbox::{self, Event};
use serde::{Deserialize, Serialize};
use serde_json::json;
use shop_rows::order;
use types::{Result, Timestamp};

use super::{Feed, load};
use crate::facts::Writer;

/// The first word of both kinds of event.
pub(super) const NOUN: &str = "report_facts";
const CLEARED: &str = "report_facts.cleared";
const WANTED: &str = "report_facts.wanted";

/// Records whose facts are to be made anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Portion {
    /// The ids that are meant come after this one.
    pub after: i64,
    /// The last of them.
    pub through: i64,
    /// Only what was made since then, in microseconds.
    pub since_us: Option<i64>,
    /// Whether records whose facts are there are left alone.
    pub skips_existing: bool,
}

impl Portion {
    fn since(&self) -> Option<Timestamp> {
        self.since_us.map(Timestamp::from_micros)
    }
}

/// Has the facts of these records made anew, by everybody who follows the feed.
pub fn ask(conn: &mut dyn Conn, portion: &Portion, now: Timestamp) -> Result<()> {
    outbox::append(conn, &Event::of_site(WANTED, portion.through, json!(portion).to_string(), now))
}

/// Has all facts about orders forgotten, by everybody who follows the feed. Changes from then on
/// are followed as ever.
pub fn ask_to_clear(conn: &mut dyn Conn, now: Timestamp) -> Result<()> {
    outbox::append(conn, &Event::of_site(CLEARED, 0, String::from("{}"), now))
}

/// What an event of the noun asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wish {
    Clear,
    Make(Portion),
}

impl Wish {
    pub(super) fn read(kind: &str, payload: &serde_json::Value) -> Option<Self> {
        match kind {
            CLEARED => Some(Self::Clear),
            WANTED => Portion::deserialize(payload).ok().map(Self::Make),
            _ => None,
        }
    }
}

impl Feed {
    /// Forgets all facts about orders. What is dealt with in the feed stays dealt with.
    pub(super) fn clear(&mut self) {
        let mut empty = Writer::new(self.writer.excluded());
        empty.set_position(self.writer.position());
        *empty.catalog_mut() = self.writer.catalog_mut().clone();
        empty.add_downloads(self.writer.downloads());
        self.writer = empty;
    }

    /// Makes the facts of some records anew. Facts of records that are gone go as well, unless only
    /// a part of the records was asked for.
    pub(super) fn make(&mut self, portion: Portion) -> Result<()> {
        let Portion { after, through, skips_existing, .. } = portion;
        let present = Arc::new(self.writer.ids_between(after, through));
        let mut seen = BTreeSet::new();
        let mut after = after;
        loop {
            let known = if skips_existing { Arc::clone(&present) } else { Arc::default() };
            let (records, change) =
                self.store.read_blocking(move |conn| read(conn, after, portion, &known))?;
            self.writer.replace(&change.deleted, &change.facts);
            let Some(last) = records.last() else { break };
            after = *last;
            seen.extend(records);
        }
        if !skips_existing && portion.since_us.is_none() {
            let deleted: BTreeSet<i64> = present.difference(&seen).copied().collect();
            self.writer.replace(&deleted, &[]);
        }
        Ok(())
    }
}

/// The next records of the portion, and the facts of those of them that are wanted.
fn read(
    conn: &mut dyn Conn,
    after: i64,
    portion: Portion,
    known: &BTreeSet<i64>,
) -> Result<(Vec<i64>, load::Change)> {
    let limit = i64::try_from(load::ORDERS_AT_ONCE).unwrap_or(i64::MAX);
    let mut records = order::stamps_after(conn, after, limit)?;
    records.retain(|record| record.order_id <= portion.through);
    let is_wanted = |record: &&order::OrderStamp| {
        portion.since().is_none_or(|since| record.created >= since)
            && !known.contains(&record.order_id)
    };
    let wanted: BTreeSet<i64> =
        records.iter().filter(is_wanted).map(|record| record.order_id).collect();
    let mut change = load::orders(conn, &wanted)?;
    // The order of a refund is read with it, and may be none of those that are wanted.
    change.deleted.retain(|order_id| wanted.contains(order_id));
    change.facts.retain(|fact| wanted.contains(&fact.order_id));
    Ok((records.into_iter().map(|record| record.order_id).collect(), change))
}
