//! What some events of the feed tell: which records to read again, and these records.

use std::collections::BTreeSet;
use std::sync::Arc;

use db::Conn;
use db::outbox::{self, SequencedEvent};
use frame::Options;
use serde_json::Value;
use site_rows::option;
use types::Result;

use super::import::{self, Portion, Wish};
use super::load::{self, Change};
use crate::facts::DownloadFact;
use crate::record::Rules;
use crate::settings;

#[derive(Debug, Default)]
pub(super) struct Update {
    /// The last event that was read.
    pub(super) position: i64,
    pub(super) change: Change,
    /// Products with the categories that they are in now.
    pub(super) categories: Vec<(i64, Vec<i64>)>,
    /// Whether categories themselves changed.
    pub(super) is_new_catalog: bool,
    /// Whether everything may have changed.
    pub(super) is_new_site: bool,
    /// Whether all facts about orders are to be forgotten before anything else.
    pub(super) is_cleared: bool,
    /// Records whose facts are to be made anew.
    pub(super) portions: Vec<Portion>,
    /// Downloads that are new.
    pub(super) downloads: Vec<Arc<DownloadFact>>,
    /// Those of the orders that changed, as they are now.
    pub(super) downloads_again: Vec<Arc<DownloadFact>>,
    /// Customers whose orders may be somebody else's now, as reports number them.
    pub(super) customers: BTreeSet<i64>,
    /// What the shop has decided, if it may have decided otherwise.
    pub(super) options: Option<Decisions>,
}

/// What the shop has decided that facts depend on.
#[derive(Debug)]
pub(super) struct Decisions {
    /// Of the options.
    pub(super) version: i64,
    /// Statuses that do not count.
    pub(super) excluded: Vec<String>,
    pub(super) rules: Rules,
}

/// Records that events tell of.
#[derive(Debug, Default)]
struct Touched {
    orders: BTreeSet<i64>,
    products: BTreeSet<i64>,
    users: BTreeSet<i64>,
}

impl Update {
    /// Reads the events after the position, all in one state of the database. None when events are
    /// missing.
    pub(super) fn read(
        conn: &mut dyn Conn,
        position: i64,
        limit: i64,
        options: i64,
        last_download: i64,
    ) -> Result<Option<Self>> {
        let events = outbox::after(conn, position, limit)?;
        let is_next = |event: &SequencedEvent| event.seq == position + 1;
        let is_complete = match events.first() {
            Some(first) => is_next(first),
            None => outbox::head(conn)? <= position,
        };
        if !is_complete {
            return Ok(None);
        }
        let mut update = Self { position, ..Self::default() };
        let mut touched = Touched::default();
        for event in &events {
            update.position = event.seq;
            update.note(event, &mut touched);
        }
        update.change = load::orders(conn, &touched.orders)?;
        update.customers = load::customers_of(conn, &touched.users)?;
        let products: Vec<i64> = touched.products.into_iter().collect();
        update.categories = load::categories(conn, &products)?;
        update.downloads_again = load::downloads_of(conn, &update.change.deleted, last_download)?;
        update.downloads = load::downloads_after(conn, last_download)?;
        let version = option::version(conn)?;
        if version != options {
            let options = Options::read(conn)?;
            let excluded = settings::excluded_statuses(&options);
            update.options =
                Some(Decisions { version, excluded, rules: settings::rules(&options) });
        }
        Ok(Some(update))
    }

    fn note(&mut self, event: &SequencedEvent, touched: &mut Touched) {
        let payload: Value = serde_json::from_str(&event.payload).unwrap_or_default();
        let (noun, _) = event.kind.split_once('.').unwrap_or_default();
        let Ok(id) = event.object_id.parse::<i64>() else { return };
        let parent_id = payload.get("parent_id").and_then(Value::as_i64);
        let taxonomy = payload.get("taxonomy").and_then(Value::as_str);
        match noun {
            "order" | "refund" => {
                touched.orders.insert(id);
                touched.orders.extend(parent_id.filter(|parent| *parent != 0));
            }
            "customer" => drop(touched.users.insert(id)),
            "product" => drop(touched.products.insert(id)),
            "term" => self.is_new_catalog |= taxonomy == Some(load::CATEGORY),
            import::NOUN => match Wish::read(&event.kind, &payload) {
                Some(Wish::Make(portion)) => self.portions.push(portion),
                Some(Wish::Clear) => {
                    // What came before is forgotten as well.
                    self.is_cleared = true;
                    self.is_new_site = false;
                    self.portions.clear();
                    touched.orders.clear();
                }
                None => {}
            },
            _ => self.is_new_site |= event.kind == outbox::IMPORTED,
        }
    }
}

/// Which orders the events after the position tell of, and which customers whose orders may be
/// somebody else's now.
pub(super) fn touched_after(
    conn: &mut dyn Conn,
    position: i64,
    limit: i64,
) -> Result<(BTreeSet<i64>, BTreeSet<i64>)> {
    let (mut update, mut touched) = (Update::default(), Touched::default());
    for event in outbox::after(conn, position, limit)? {
        update.note(&event, &mut touched);
    }
    Ok((touched.orders, load::customers_of(conn, &touched.users)?))
}

/// What tells facts at this position from those of another database, or of a shop that had decided
/// otherwise. None when the event is not kept.
pub(super) fn mark(conn: &mut dyn Conn, position: i64) -> Result<Option<String>> {
    let events = outbox::after(conn, position - 1, 1)?;
    let Some(event) = events.into_iter().find(|event| event.seq == position) else {
        return Ok(None);
    };
    let Rules { decimals, rounds_taxes_late } = settings::rules(&Options::read(conn)?);
    let SequencedEvent { kind, object_id, created, .. } = event;
    let created = created.as_micros();
    Ok(Some(format!("{kind} {object_id} {created} {decimals} {rounds_taxes_late}")))
}
