//! What a report reads: the facts in memory as they are at one moment, or those in `ClickHouse` as
//! they are when each question is asked. **Who asks cannot tell which**, but for the time it takes
//! and for an error when a server is away.

use std::sync::Arc;

use types::{Result, Timestamp};

use crate::clickhouse::{Cluster, Wanted};
use crate::facts::{Catalog, OrderFact, Snapshot};
use crate::query::{
    Answer, DateColumn, DownloadPage, DownloadSort, Filter, IdSet, OrderPage, OrderSort, Paging,
    Query, Scope, Span,
};

#[derive(Clone, Debug)]
pub struct View(Place);

#[derive(Clone, Debug)]
enum Place {
    Memory(Arc<Snapshot>),
    Cluster {
        cluster: Arc<Cluster>,
        catalog: Arc<Catalog>,
        /// Statuses of orders that do not make somebody a customer who returns.
        excluded: Vec<String>,
    },
}

impl View {
    pub(crate) fn of_snapshot(snapshot: Arc<Snapshot>) -> Self {
        Self(Place::Memory(snapshot))
    }

    pub(crate) fn of_cluster(
        cluster: Arc<Cluster>,
        catalog: Arc<Catalog>,
        excluded: Vec<String>,
    ) -> Self {
        Self(Place::Cluster { cluster, catalog, excluded })
    }

    /// Carries the query out on what the scope shows.
    pub fn answer(&self, scope: &Scope, query: &Query) -> Result<Answer> {
        match &self.0 {
            Place::Memory(snapshot) => Ok(snapshot.answer(scope, query)),
            Place::Cluster { cluster, excluded, .. } => cluster.answer(scope, query, excluded),
        }
    }

    /// A page of the orders and refunds that pass, by the date and within the span.
    pub fn list_orders(
        &self,
        scope: &Scope,
        (date, span): (DateColumn, Span),
        filter: &Filter,
        sort: OrderSort,
        paging: Paging,
    ) -> Result<OrderPage> {
        match &self.0 {
            Place::Memory(snapshot) => {
                Ok(snapshot.list_orders(scope, (date, span), filter, sort, paging))
            }
            Place::Cluster { cluster, excluded, .. } => {
                cluster.list_orders(Wanted { scope, date, span, filter, excluded }, sort, paging)
            }
        }
    }

    /// The orders and refunds with these ids, by id.
    pub fn orders_with_ids(&self, scope: &Scope, ids: IdSet) -> Result<Vec<OrderFact>> {
        match &self.0 {
            Place::Memory(snapshot) => Ok(snapshot.orders_with_ids(scope, ids)),
            Place::Cluster { cluster, excluded, .. } => {
                cluster.orders_with_ids(scope, ids, excluded)
            }
        }
    }

    /// The orders that the refunds which pass are about.
    pub fn refunded_orders(
        &self,
        scope: &Scope,
        (date, span): (DateColumn, Span),
        filter: &Filter,
    ) -> Result<IdSet> {
        match &self.0 {
            Place::Memory(snapshot) => Ok(snapshot.refunded_orders(scope, (date, span), filter)),
            Place::Cluster { cluster, excluded, .. } => {
                cluster.refunded_orders(Wanted { scope, date, span, filter, excluded })
            }
        }
    }

    /// A page of the downloads that pass.
    pub fn list_downloads(
        &self,
        scope: &Scope,
        span: Span,
        filter: &Filter,
        sort: DownloadSort,
        paging: Paging,
    ) -> Result<DownloadPage> {
        match &self.0 {
            Place::Memory(snapshot) => {
                Ok(snapshot.list_downloads(scope, span, filter, sort, paging))
            }
            Place::Cluster { cluster, .. } => {
                cluster.list_downloads(scope, span, filter, sort, paging)
            }
        }
    }

    /// Whether orders are in these currencies only.
    pub(crate) fn are_currencies_among(&self, codes: &[String]) -> Result<bool> {
        match &self.0 {
            Place::Memory(snapshot) => Ok(snapshot.are_currencies_among(codes)),
            Place::Cluster { cluster, .. } => {
                let known = cluster.currencies()?;
                Ok(known.iter().all(|known| known.is_empty() || codes.contains(known)))
            }
        }
    }

    /// When the first order was made.
    pub fn first_created(&self) -> Result<Option<Timestamp>> {
        match &self.0 {
            Place::Memory(snapshot) => Ok(snapshot.first_created()),
            Place::Cluster { cluster, .. } => cluster.first_created(),
        }
    }

    /// Orders and refunds that were made since then.
    pub fn orders_since(&self, since: Timestamp) -> Result<usize> {
        match &self.0 {
            Place::Memory(snapshot) => Ok(snapshot.orders_since(since)),
            Place::Cluster { cluster, .. } => cluster.orders_since(since),
        }
    }

    /// The ids of the orders and refunds after the one and up to the other.
    pub(crate) fn ids_between(
        &self,
        after: i64,
        through: i64,
    ) -> Result<std::collections::BTreeSet<i64>> {
        match &self.0 {
            Place::Memory(snapshot) => Ok(snapshot.ids_between(after, through)),
            Place::Cluster { cluster, .. } => cluster.ids_between(after, through),
        }
    }

    pub fn catalog(&self) -> &Catalog {
        match &self.0 {
            Place::Memory(snapshot) => snapshot.catalog(),
            Place::Cluster { catalog, .. } => catalog,
        }
    }
}
