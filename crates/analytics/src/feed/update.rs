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
    pub(super) downloads: Vec<Arc<DownloadFact>>,
    /// The version of the options with the statuses that do not count, if it is a new one.
    pub(super) options: Option<(i64, Vec<String>)>,
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
        let (mut orders, mut products) = (BTreeSet::new(), BTreeSet::new());
        for event in &events {
            update.position = event.seq;
            update.note(event, &mut orders, &mut products);
        }
        update.change = load::orders(conn, &orders)?;
        let products: Vec<i64> = products.into_iter().collect();
        update.categories = load::categories(conn, &products)?;
        update.downloads = load::downloads_after(conn, last_download)?;
        let version = option::version(conn)?;
        if version != options {
            let excluded = settings::excluded_statuses(&Options::read(conn)?);
            update.options = Some((version, excluded));
        }
        Ok(Some(update))
    }

    fn note(
        &mut self,
        event: &SequencedEvent,
        orders: &mut BTreeSet<i64>,
        products: &mut BTreeSet<i64>,
    ) {
        let payload: Value = serde_json::from_str(&event.payload).unwrap_or_default();
        let (noun, _) = event.kind.split_once('.').unwrap_or_default();
        let Ok(id) = event.object_id.parse::<i64>() else { return };
        let parent_id = payload.get("parent_id").and_then(Value::as_i64);
        let taxonomy = payload.get("taxonomy").and_then(Value::as_str);
        match noun {
            "order" | "refund" => {
                orders.insert(id);
                orders.extend(parent_id.filter(|parent| *parent != 0));
            }
            "product" => drop(products.insert(id)),
            "term" => self.is_new_catalog |= taxonomy == Some(load::CATEGORY),
            import::NOUN => match Wish::read(&event.kind, &payload) {
                Some(Wish::Make(portion)) => self.portions.push(portion),
                Some(Wish::Clear) => {
                    // What came before is forgotten as well.
                    self.is_cleared = true;
                    self.is_new_site = false;
                    self.portions.clear();
                    orders.clear();
                }
                None => {}
            },
            _ => self.is_new_site |= event.kind == outbox::IMPORTED,
        }
    }
}

/// What tells the event at this position from that of another database. None when it is not kept.
pub(super) fn mark(conn: &mut dyn Conn, position: i64) -> Result<Option<String>> {
    let events = outbox::after(conn, position - 1, 1)?;
    let event = events.into_iter().find(|event| event.seq == position);
    Ok(event
        .map(|event| format!("{} {} {}", event.kind, event.object_id, event.created.as_micros())))
}
