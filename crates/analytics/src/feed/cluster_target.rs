//! The tables of `ClickHouse` as what the feed brings facts to. What it must know of the facts that
//! are there, it asks.

use std::collections::BTreeSet;
use std::sync::Arc;

use types::Result;

use super::target::Target;
use crate::clickhouse::{Cluster, ClusterWriter, State};
use crate::facts::{Catalog, DownloadFact, OrderFact};

/// The tables of `ClickHouse` that the feed brings facts to.
#[derive(Debug)]
pub(super) struct ClusterTarget {
    cluster: Arc<Cluster>,
    pub(super) writer: ClusterWriter,
    catalog: Catalog,
    pub(super) position: i64,
    has_nobodys_orders: bool,
    /// Nothing was written yet. Somebody may have been interrupted in the same step.
    is_first_step: bool,
}

impl ClusterTarget {
    pub(super) fn open(cluster: &Arc<Cluster>, state: &State, catalog: Catalog) -> Result<Self> {
        let nobody = BTreeSet::from([0]);
        Ok(Self {
            writer: ClusterWriter::open(cluster, state.generation)?,
            has_nobodys_orders: cluster.known_customers(&nobody)?.contains(&0),
            cluster: Arc::clone(cluster),
            catalog,
            position: state.position,
            is_first_step: true,
        })
    }

    /// Lets the next changes prevail over all that anybody has made up to now.
    pub(super) fn begin_again(&mut self) {
        self.writer.begin_again(self.position);
    }

    /// Those of the ids that orders and refunds have.
    pub(super) fn ids_among(&self, ids: &BTreeSet<i64>) -> Result<BTreeSet<i64>> {
        self.cluster.ids_among(ids)
    }

    fn note(&mut self, facts: &[OrderFact]) {
        self.has_nobodys_orders |= facts.iter().any(|fact| fact.customer_id == 0);
    }
}

impl Target for ClusterTarget {
    fn position(&self) -> i64 {
        self.position
    }

    fn begin(&mut self, position: i64) {
        self.writer.begin(position);
    }

    fn set_position(&mut self, position: i64) {
        self.position = position;
        self.is_first_step = false;
    }

    /// Who reads knows them.
    fn set_excluded(&mut self, _: Vec<String>) {}

    fn apply(&mut self, deleted: &BTreeSet<i64>, facts: &[OrderFact]) -> Result<()> {
        self.note(facts);
        self.writer.apply(deleted, facts)
    }

    fn replace(&mut self, deleted: &BTreeSet<i64>, facts: &[OrderFact]) -> Result<()> {
        self.note(facts);
        self.writer.replace(deleted, facts)
    }

    fn clear(&mut self) -> Result<()> {
        self.writer.clear()
    }

    fn add_downloads(&mut self, downloads: Vec<Arc<DownloadFact>>) -> Result<()> {
        self.writer.add_downloads(&downloads)
    }

    fn replace_downloads(
        &mut self,
        orders: &BTreeSet<i64>,
        downloads: Vec<Arc<DownloadFact>>,
    ) -> Result<()> {
        self.writer.replace_downloads(orders, &downloads)
    }

    fn put_catalog(&mut self, catalog: Catalog) -> Result<()> {
        self.catalog = catalog;
        self.writer.put_products(&self.catalog, &self.catalog.products(), true)
    }

    fn put_categories(&mut self, products: Vec<(i64, Vec<i64>)>) -> Result<()> {
        let is_new = |(id, categories): &(i64, Vec<i64>)| self.catalog.direct(*id) != *categories;
        // Most changes of products leave them where they are.
        let moved: Vec<(i64, Vec<i64>)> = products.into_iter().filter(is_new).collect();
        if moved.is_empty() {
            return Ok(());
        }
        let ids = moved.iter().map(|(product_id, _)| *product_id).collect();
        for (product_id, categories) in moved {
            self.catalog.put(product_id, categories);
        }
        self.writer.put_products(&self.catalog, &ids, false)
    }

    fn new_customers(&self, facts: &[OrderFact]) -> Result<BTreeSet<i64>> {
        let customers = facts.iter().map(|fact| fact.customer_id).filter(|id| *id != 0);
        let customers: BTreeSet<i64> = customers.collect();
        // They matter only to those who may have had orders that were nobody's.
        if !self.has_nobodys_orders || customers.is_empty() {
            return Ok(BTreeSet::new());
        }
        // Who was interrupted may have made them known, and not have come to their orders.
        if self.is_first_step {
            return Ok(customers);
        }
        let known = self.cluster.known_customers(&customers)?;
        Ok(&customers - &known)
    }

    fn has_nobodys_orders(&self) -> bool {
        self.has_nobodys_orders
    }

    fn orders_of(&self, customers: &BTreeSet<i64>) -> Result<BTreeSet<i64>> {
        self.cluster.orders_of(customers)
    }

    fn ids_between(&self, after: i64, through: i64) -> Result<BTreeSet<i64>> {
        self.cluster.ids_between(after, through)
    }
}
