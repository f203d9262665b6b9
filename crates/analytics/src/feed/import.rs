//! Imports: facts made from the records on demand, of all times or of the last days, a batch at a
//! time between two looks at the feed, so that live changes do not wait for an import.

use std::collections::BTreeSet;
use std::sync::Arc;

use store::order;
use types::{Result, Timestamp};

use super::command::Command;
use super::{Feed, load};
use crate::facts::Writer;

/// Records of one batch.
const BATCH: i64 = 500;

/// What to import.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Import {
    /// Only what was made since then.
    pub since: Option<Timestamp>,
    /// Whether records whose facts are there are left alone.
    pub skips_existing: bool,
    /// How many records it is about, as they were counted when it was asked for.
    pub total: i64,
}

/// How far an import got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImportStatus {
    pub import: Import,
    /// Records that were dealt with.
    pub done: i64,
    pub is_running: bool,
}

/// An import that is under way.
#[derive(Debug)]
pub(super) struct Task {
    import: Import,
    /// The last record that was looked at.
    after: i64,
    /// Records that are left alone.
    existing: Arc<BTreeSet<i64>>,
}

impl Feed {
    pub(super) fn obey(&mut self, command: Command) {
        match command {
            Command::Wake | Command::Stop => {}
            Command::Import(import) => {
                let facts = self.writer.snapshot();
                let existing = if import.skips_existing {
                    facts.order_facts().map(|fact| fact.order_id).collect()
                } else {
                    BTreeSet::new()
                };
                let existing = Arc::new(existing);
                self.task = Some(Task { import, after: 0, existing });
            }
            Command::Cancel => self.end_task(),
            Command::Clear => {
                self.end_task();
                self.clear();
            }
        }
    }

    fn end_task(&mut self) {
        self.task = None;
        self.facts.change_import(|status| status.is_running = false);
    }

    /// Forgets all facts about orders. What is dealt with in the feed stays dealt with.
    fn clear(&mut self) {
        let (position, catalog) = (self.writer.position(), self.writer.catalog_mut().clone());
        self.writer = Writer::new(self.writer.excluded());
        self.writer.set_position(position);
        *self.writer.catalog_mut() = catalog;
        self.facts.forget_import();
        self.publish();
        // The file must not bring back what was forgotten.
        self.saved = None;
        self.save();
    }

    /// Carries out a batch of an import. Returns whether there was one.
    pub(super) fn work(&mut self) -> Result<bool> {
        let Some(task) = &self.task else { return Ok(false) };
        let (after, since) = (task.after, task.import.since);
        let existing = Arc::clone(&task.existing);
        let (records, change) = self.store.read_blocking(move |conn| {
            let records = order::stamps_after(conn, after, BATCH)?;
            let wanted = records.iter().filter(|record| {
                since.is_none_or(|since| record.created >= since)
                    && !existing.contains(&record.order_id)
            });
            let wanted: BTreeSet<i64> = wanted.map(|record| record.order_id).collect();
            let mut change = load::orders(conn, &wanted)?;
            // The order of a refund is read with it, and may be none of those that are wanted.
            change.gone.retain(|order_id| wanted.contains(order_id));
            change.facts.retain(|fact| wanted.contains(&fact.order_id));
            Ok((records, change))
        })?;
        let done = i64::try_from(change.gone.len()).unwrap_or(i64::MAX);
        self.writer.replace(&change.gone, &change.facts);
        self.facts.change_import(|status| {
            status.done = status.done.saturating_add(done).min(status.import.total);
        });
        match (records.last(), &mut self.task) {
            (Some(last), Some(task)) => task.after = last.order_id,
            _ => self.end_task(),
        }
        Ok(true)
    }
}
