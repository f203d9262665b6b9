//! Makes the facts of some records anew, as an event of the feed has asked for
//! ([`import`](super::import)).

use std::collections::BTreeSet;
use std::sync::Arc;

use db::Conn;
use shop_rows::order;
use types::Result;

use super::follow::Follower;
use super::import::Portion;
use super::load;
use super::target::Target;

impl<T: Target> Follower<T> {
    /// Makes the facts of some records anew. Facts of records that are gone go as well, unless only
    /// a part of the records was asked for.
    pub(super) fn make(&mut self, portion: Portion) -> Result<()> {
        let Portion { after, through, skips_existing, .. } = portion;
        let present = Arc::new(self.target.ids_between(after, through)?);
        let mut seen = BTreeSet::new();
        let mut after = after;
        loop {
            let known = if skips_existing { Arc::clone(&present) } else { Arc::default() };
            let (records, change) =
                self.store.read_blocking(move |conn| read(conn, after, portion, &known))?;
            self.target.replace(&change.deleted, &change.facts)?;
            let Some(last) = records.last() else { break };
            after = *last;
            seen.extend(records);
        }
        if !skips_existing && portion.since_us.is_none() {
            let deleted: BTreeSet<i64> = present.difference(&seen).copied().collect();
            self.target.replace(&deleted, &[])?;
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
    let limit = load::at_once();
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
