//! The catalogue that a node keeps beside facts in `ClickHouse`: its filters name products by their
//! categories. It follows the feed by itself, whoever brings the facts there.

use std::collections::BTreeSet;

use db::outbox::{self, SequencedEvent};
use db::{Conn, Database};
use serde_json::Value;
use types::Result;

use super::follow::{EVENTS_AT_ONCE, read_catalog};
use super::load;
use crate::current::Facts;
use crate::facts::Catalog;

#[derive(Debug, Default)]
pub(super) struct CatalogFeed {
    catalog: Catalog,
    /// The last event that is dealt with; nothing before the catalogue was read.
    position: Option<i64>,
}

/// What some events tell of the catalogue.
#[derive(Debug, Default)]
struct News {
    position: i64,
    /// Whether all of it is to be read again.
    is_new: bool,
    /// Products with the categories that they are in now.
    products: Vec<(i64, Vec<i64>)>,
}

impl CatalogFeed {
    /// Reads what has changed, and shows it to those who read reports.
    pub(super) fn follow(&mut self, store: &Database, facts: &Facts) -> Result<()> {
        loop {
            let Some(position) = self.position else {
                self.position = Some(store.read_blocking(outbox::head)?);
                self.catalog = read_catalog(store)?;
                facts.set_catalog(self.catalog.clone());
                continue;
            };
            let News { position: reached, is_new, products } =
                store.read_blocking(move |conn| news(conn, position))?;
            if is_new {
                self.position = None;
                continue;
            }
            self.position = Some(reached);
            if !products.is_empty() {
                for (product_id, categories) in products {
                    self.catalog.put(product_id, categories);
                }
                facts.set_catalog(self.catalog.clone());
            }
            if reached == position || facts.is_stopping() {
                return Ok(());
            }
        }
    }
}

fn news(conn: &mut dyn Conn, position: i64) -> Result<News> {
    let events = outbox::after(conn, position, EVENTS_AT_ONCE)?;
    let is_missing = events.first().is_some_and(|first| first.seq != position + 1);
    let mut news = News { position, is_new: is_missing, products: Vec::new() };
    let mut touched = BTreeSet::new();
    for event in &events {
        news.position = event.seq;
        news.is_new |= is_about_categories(event) || event.kind == outbox::IMPORTED;
        if event.kind.starts_with("product.")
            && let Ok(id) = event.object_id.parse::<i64>()
        {
            touched.insert(id);
        }
    }
    let products: Vec<i64> = touched.into_iter().collect();
    if !news.is_new {
        news.products = load::categories(conn, &products)?;
    }
    Ok(news)
}

fn is_about_categories(event: &SequencedEvent) -> bool {
    let payload = || serde_json::from_str::<Value>(&event.payload).unwrap_or_default();
    event.kind.starts_with("term.")
        && payload().get("taxonomy").is_some_and(|it| it == load::CATEGORY)
}
