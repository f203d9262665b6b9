//! What events mean for facts, wherever those are: reads the next events and the records that they
//! tell of, and brings what became of them to the [`Target`].

use std::collections::BTreeSet;

use db::Database;
use types::Result;

use super::load::{self, Change};
use super::target::Target;
use super::update::{Decisions, Update};
use crate::facts::Catalog;
use crate::record::Rules;

/// Events that are read together.
pub(super) const EVENTS_AT_ONCE: i64 = 2_000;

/// What came of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// There were no more events.
    Done,
    /// There may be more.
    More,
    /// All facts have to be made anew.
    Rebuild,
}

#[derive(Debug)]
pub(super) struct Follower<T> {
    pub(super) store: Database,
    pub(super) target: T,
    /// The version of the options that the target knows.
    pub(super) options: i64,
    /// By which the target's facts were made; nothing until there are any.
    pub(super) rules: Option<Rules>,
    pub(super) last_download: i64,
    /// All facts have to be made anew. It stays so until that has succeeded: events do not ask
    /// again.
    pub(super) is_stale: bool,
}

impl<T: Target> Follower<T> {
    pub(super) fn new(store: Database, target: T) -> Self {
        Self { store, target, options: -1, rules: None, last_download: 0, is_stale: false }
    }

    /// Reads the next events and what they tell of.
    pub(super) fn step(&mut self) -> Result<Step> {
        if self.is_stale {
            return Ok(Step::Rebuild);
        }
        let (position, options, download) =
            (self.target.position(), self.options, self.last_download);
        let update = self.store.read_blocking(move |conn| {
            Update::read(conn, position, EVENTS_AT_ONCE, options, download)
        })?;
        let Some(update) = update else {
            tracing::warn!(position, "events are missing; rebuilding facts from the records");
            self.is_stale = true;
            return Ok(Step::Rebuild);
        };
        let next = if update.position > position { Step::More } else { Step::Done };
        self.apply(update)?;
        Ok(if self.is_stale { Step::Rebuild } else { next })
    }

    fn apply(&mut self, update: Update) -> Result<()> {
        self.is_stale = update.is_new_site;
        self.target.begin(update.position);
        if let Some(Decisions { version, excluded, rules }) = update.options {
            self.options = version;
            self.target.set_excluded(excluded);
            // A file of facts is not read unless it was made by the rules of now.
            self.is_stale |= *self.rules.get_or_insert(rules) != rules;
        }
        if update.is_cleared {
            self.target.clear()?;
        }
        let Change { deleted, facts } = update.change;
        let new_customers = self.target.new_customers(&facts)?;
        if !deleted.is_empty() {
            self.target.apply(&deleted, &facts)?;
            self.target.replace_downloads(&deleted, update.downloads_again)?;
        }
        self.number_again(&update.customers, &new_customers, &deleted)?;
        if update.is_new_catalog {
            self.read_catalog()?;
        }
        self.target.put_categories(update.categories)?;
        if let Some(last) = update.downloads.last() {
            self.last_download = last.log_id;
            self.target.add_downloads(update.downloads)?;
        }
        for portion in update.portions {
            self.make(portion)?;
        }
        self.target.set_position(update.position);
        Ok(())
    }

    /// Reads the orders of these customers again: who registers, goes or has another address takes
    /// over the orders of a guest, or leaves theirs to one. Somebody who is new may have orders
    /// that were nobody's until now. Those that were just `read` are known already.
    fn number_again(
        &mut self,
        customers: &BTreeSet<i64>,
        new: &BTreeSet<i64>,
        read: &BTreeSet<i64>,
    ) -> Result<()> {
        let mut orders = self.target.orders_of(customers)?;
        if self.target.has_nobodys_orders() {
            let named = customers | new;
            let named = self.store.read_blocking(move |conn| load::orders_naming(conn, &named))?;
            // Only those that are among the facts: what was cleared stays so.
            let (named, nobodys) = (&named - read, BTreeSet::from([0]));
            if !named.is_empty() {
                orders.extend(&named & &self.target.orders_of(&nobodys)?);
            }
        }
        if orders.is_empty() {
            return Ok(());
        }
        let change = self.store.read_blocking(move |conn| load::orders(conn, &orders))?;
        self.target.apply(&change.deleted, &change.facts)
    }

    pub(super) fn read_catalog(&mut self) -> Result<()> {
        let catalog = read_catalog(&self.store)?;
        self.target.put_catalog(catalog)
    }
}

/// The catalogue with all its products.
pub(super) fn read_catalog(store: &Database) -> Result<Catalog> {
    let (mut catalog, products) =
        store.read_blocking(|conn| Ok((load::catalog(conn)?, load::all_categories(conn)?)))?;
    for (product_id, categories) in products {
        catalog.put(product_id, categories);
    }
    Ok(catalog)
}
