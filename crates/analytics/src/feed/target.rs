//! Where the feed brings facts: the columns in memory, or the tables in `ClickHouse`.

use std::collections::BTreeSet;
use std::sync::Arc;

use types::Result;

use crate::facts::{Catalog, DownloadFact, OrderFact, Writer};

/// What the feed does with facts, and asks of them.
pub(super) trait Target {
    /// The last event that is dealt with.
    fn position(&self) -> i64;

    /// Says up to which event the changes go that follow.
    fn begin(&mut self, _: i64) {}

    /// All events up to this one are dealt with.
    fn set_position(&mut self, position: i64);

    /// Says which statuses do not make somebody a customer who returns.
    fn set_excluded(&mut self, excluded: Vec<String>);

    /// Takes out all rows of these orders and of their refunds, and puts these rows in.
    fn apply(&mut self, deleted: &BTreeSet<i64>, facts: &[OrderFact]) -> Result<()>;

    /// Takes out the rows with these ids and no others, and puts these rows in.
    fn replace(&mut self, deleted: &BTreeSet<i64>, facts: &[OrderFact]) -> Result<()>;

    /// Forgets all facts about orders. What is dealt with in the feed stays dealt with.
    fn clear(&mut self) -> Result<()>;

    fn add_downloads(&mut self, downloads: Vec<Arc<DownloadFact>>) -> Result<()>;

    /// Lets these orders have these downloads and no others.
    fn replace_downloads(
        &mut self,
        orders: &BTreeSet<i64>,
        downloads: Vec<Arc<DownloadFact>>,
    ) -> Result<()>;

    /// The catalogue, with all its products.
    fn put_catalog(&mut self, catalog: Catalog) -> Result<()>;

    /// Products with the categories that they are in now.
    fn put_categories(&mut self, products: Vec<(i64, Vec<i64>)>) -> Result<()>;

    /// The customers of these facts of whom nothing was known.
    fn new_customers(&self, facts: &[OrderFact]) -> Result<BTreeSet<i64>>;

    /// Whether there are, or were, orders of nobody who is known.
    fn has_nobodys_orders(&self) -> bool;

    /// The ids of the orders and refunds of these customers.
    fn orders_of(&self, customers: &BTreeSet<i64>) -> Result<BTreeSet<i64>>;

    /// The ids of the rows after the one and up to the other.
    fn ids_between(&self, after: i64, through: i64) -> Result<BTreeSet<i64>>;
}

impl Target for Writer {
    fn position(&self) -> i64 {
        Self::position(self)
    }

    fn set_position(&mut self, position: i64) {
        Self::set_position(self, position);
    }

    fn set_excluded(&mut self, excluded: Vec<String>) {
        Self::set_excluded(self, excluded);
    }

    fn apply(&mut self, deleted: &BTreeSet<i64>, facts: &[OrderFact]) -> Result<()> {
        Self::apply(self, deleted, facts);
        Ok(())
    }

    fn replace(&mut self, deleted: &BTreeSet<i64>, facts: &[OrderFact]) -> Result<()> {
        Self::replace(self, deleted, facts);
        Ok(())
    }

    fn clear(&mut self) -> Result<()> {
        let mut empty = Self::new(self.excluded());
        empty.set_position(Self::position(self));
        *empty.catalog_mut() = self.catalog_mut().clone();
        empty.add_downloads(self.downloads());
        *self = empty;
        Ok(())
    }

    fn add_downloads(&mut self, downloads: Vec<Arc<DownloadFact>>) -> Result<()> {
        Self::add_downloads(self, downloads);
        Ok(())
    }

    fn replace_downloads(
        &mut self,
        orders: &BTreeSet<i64>,
        downloads: Vec<Arc<DownloadFact>>,
    ) -> Result<()> {
        Self::replace_downloads(self, orders, downloads);
        Ok(())
    }

    fn put_catalog(&mut self, catalog: Catalog) -> Result<()> {
        *self.catalog_mut() = catalog;
        Ok(())
    }

    fn put_categories(&mut self, products: Vec<(i64, Vec<i64>)>) -> Result<()> {
        for (product_id, categories) in products {
            self.catalog_mut().put(product_id, categories);
        }
        Ok(())
    }

    fn new_customers(&self, facts: &[OrderFact]) -> Result<BTreeSet<i64>> {
        Ok(Self::new_customers(self, facts))
    }

    fn has_nobodys_orders(&self) -> bool {
        Self::has_nobodys_orders(self)
    }

    fn orders_of(&self, customers: &BTreeSet<i64>) -> Result<BTreeSet<i64>> {
        Ok(Self::orders_of(self, customers))
    }

    fn ids_between(&self, after: i64, through: i64) -> Result<BTreeSet<i64>> {
        Ok(Self::ids_between(self, after, through))
    }
}
