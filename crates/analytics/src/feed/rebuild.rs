//! All facts in memory made anew from the records.

use std::collections::BTreeSet;

use db::outbox;
use frame::Options;
use types::Result;

use super::{Feed, all_orders, events};
use crate::facts::Writer;
use crate::settings;

/// Rows that are put into chunks together: some four chunks full. They come in the order of their
/// ids, so few chunks are made twice.
const ROWS_AT_ONCE: usize = 32_768;

impl Feed {
    /// Makes all facts anew from the records.
    pub fn rebuild(&mut self) -> Result<()> {
        let follower = &mut self.follower;
        events::number_all(&follower.store, &self.facts)?;
        // What changes from here on is in the feed behind this position.
        let (position, options) =
            follower.store.read_blocking(|conn| Ok((outbox::head(conn)?, Options::read(conn)?)))?;
        let rules = settings::rules(&options);
        let mut writer = Writer::new(settings::excluded_statuses(&options));
        writer.set_position(position);
        let mut rows = Vec::new();
        all_orders::read(&follower.store, &self.facts, rules, 0, |portion| {
            rows.extend(portion.facts);
            if rows.len() >= ROWS_AT_ONCE {
                writer.apply(&BTreeSet::new(), &rows);
                rows.clear();
            }
            Ok(())
        })?;
        writer.apply(&BTreeSet::new(), &rows);
        follower.target = writer;
        follower.rules = Some(rules);
        follower.last_download = 0;
        follower.read_catalog()?;
        follower.is_stale = false;
        self.rebuilds += 1;
        let follower = &mut self.follower;
        let snapshot = follower.target.snapshot();
        tracing::info!(orders = snapshot.orders(), "facts were rebuilt from the records");
        Ok(())
    }
}
