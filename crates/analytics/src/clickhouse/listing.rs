//! Rows one by one: pages of orders and downloads, and what else is asked of facts besides the
//! questions of the algebra.
//!
//! For a page, each shard names the keys of as many rows as there are up to its end; the rows
//! themselves are read once it is known which they are.

use std::collections::BTreeSet;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use types::{Result, Timestamp};

use super::binary::Decoder;
use super::cluster::Cluster;
use super::downloads;
use super::source::{Draft, Rows, date_column};
use super::sql::is_number_among;
use super::tables::{DOWNLOADS, ORDERS};
use crate::facts::{DownloadFact, IdSet, OrderFact, OrderText};
use crate::query::{
    DateColumn, DownloadPage, DownloadSort, Filter, OrderPage, OrderSort, Paging, RowKind, Scope,
    Span, Table,
};

const CURRENCIES_KEPT_FOR: Duration = Duration::from_secs(5);

/// Which orders are listed: by this date, within the span, that pass the filter.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    pub scope: &'a Scope,
    pub date: DateColumn,
    pub span: Span,
    pub filter: &'a Filter,
    /// Statuses of orders that do not make somebody a customer who returns.
    pub excluded: &'a [String],
}

impl Cluster {
    /// A page of the orders and refunds that are wanted.
    pub fn list_orders(
        &self,
        wanted: Wanted<'_>,
        sort: OrderSort,
        paging: Paging,
    ) -> Result<OrderPage> {
        let total = self.count(wanted)?;
        let limit = paging.limit.min(total.saturating_sub(paging.offset));
        let after = total.saturating_sub(paging.offset.saturating_add(limit));
        if after >= paging.offset {
            let orders = self.page(wanted, sort, Paging { limit, ..paging })?;
            return Ok(OrderPage { orders, total });
        }
        // The page is nearer to the end, so it is looked for from there.
        let paging = Paging { descending: !paging.descending, offset: after, limit };
        let mut orders = self.page(wanted, sort, paging)?;
        orders.reverse();
        Ok(OrderPage { orders, total })
    }

    /// The orders and refunds with these ids, by id.
    pub fn orders_with_ids(
        &self,
        scope: &Scope,
        ids: IdSet,
        excluded: &[String],
    ) -> Result<Vec<OrderFact>> {
        self.orders_made_within(Span::ALWAYS, scope, ids, excluded)
    }

    /// The same of orders and refunds that were made within the span.
    fn orders_made_within(
        &self,
        span: Span,
        scope: &Scope,
        ids: IdSet,
        excluded: &[String],
    ) -> Result<Vec<OrderFact>> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let (filter, date) = (Filter::Orders(ids), DateColumn::Created);
        let wanted = Wanted { scope, date, span, filter: &filter, excluded };
        let mut draft = Draft::of(Table::Orders);
        for name in ORDERS.names() {
            let column = draft.printer.column(&name);
            draft.add(&column);
        }
        let returning = draft.printer.returning();
        draft.add(&returning);
        let mut orders = self.read(&self.selected(wanted, draft), |decoder| {
            let mut order = ORDERS.decode(decoder)?;
            let is_returning = decoder.flag()?;
            order.returning = (!order.is_refund()).then_some(is_returning);
            Ok(order)
        })?;
        orders.sort_by_key(|order| order.order_id);
        Ok(orders)
    }

    /// The orders that the refunds which are wanted are about.
    pub fn refunded_orders(&self, wanted: Wanted<'_>) -> Result<IdSet> {
        let filter = wanted.filter.clone().and(Filter::Kind(RowKind::Refund));
        let mut draft = Draft::of(Table::Orders);
        let parent = draft.printer.column("parent_id");
        draft.add(&parent);
        let rows = self.selected(Wanted { filter: &filter, ..wanted }, draft);
        let parents = self.read(&format!("SELECT DISTINCT e0 FROM ({rows})"), number)?;
        Ok(parents.into_iter().collect())
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
        let rows = downloads::selected(&self.table("downloads"), scope, span, filter);
        let counted = format!("SELECT toInt64(count()) FROM ({rows})");
        let total = length(self.read(&counted, number)?.into_iter().sum());
        let key = match sort {
            DownloadSort::Date => "at",
            DownloadSort::Product => "product_id",
        };
        let order = ordered(&[key, "log_id"], paging);
        let read = |decoder: &mut Decoder<'_>| DOWNLOADS.decode(decoder);
        let mut found: Vec<DownloadFact> = self.read(&format!("{rows} {order}"), read)?;
        found.sort_by_key(|download| sort.key(download));
        if paging.descending {
            found.reverse();
        }
        let page = found.into_iter().skip(paging.offset).take(paging.limit);
        Ok(DownloadPage { downloads: page.map(Arc::new).collect(), total })
    }

    /// The currencies that orders are in, or were in.
    pub fn read_currencies(&self) -> Result<BTreeSet<String>> {
        let (currency, orders) = (OrderText::Currency.name(), self.table("orders"));
        let rows = format!("SELECT DISTINCT {currency} FROM {orders} WHERE deleted = 0");
        let read = |decoder: &mut Decoder<'_>| Ok(decoder.text()?.to_owned());
        Ok(self.read(&rows, read)?.into_iter().collect())
    }

    /// The same as of a moment ago: every report asks.
    pub fn currencies(&self) -> Result<Arc<BTreeSet<String>>> {
        let known = || self.currencies.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((at, found)) = &*known()
            && at.elapsed() < CURRENCIES_KEPT_FOR
        {
            return Ok(Arc::clone(found));
        }
        let found = Arc::new(self.read_currencies()?);
        *known() = Some((Instant::now(), Arc::clone(&found)));
        Ok(found)
    }

    /// When the first order was made.
    pub fn first_created(&self) -> Result<Option<Timestamp>> {
        let rows = self.alive("created", "1");
        let first = self.read(&format!("{rows} ORDER BY created LIMIT 1"), number)?;
        Ok(first.into_iter().min().map(Timestamp::from_micros))
    }

    /// Orders and refunds that were made since then.
    pub fn orders_since(&self, since: Timestamp) -> Result<usize> {
        let since = since.as_micros().max(i64::MIN + 1);
        let rows = self.alive("toInt64(count())", &format!("created >= {since}"));
        Ok(length(self.read(&rows, number)?.into_iter().sum()))
    }

    /// The ids of the orders and refunds after the one and up to the other.
    pub fn ids_between(&self, after: i64, through: i64) -> Result<BTreeSet<i64>> {
        let test = format!("order_id > {after} AND order_id <= {through}");
        Ok(self.read(&self.alive("order_id", &test), number)?.into_iter().collect())
    }

    /// Those of the ids that orders and refunds have.
    pub fn ids_among(&self, ids: &BTreeSet<i64>) -> Result<BTreeSet<i64>> {
        if ids.is_empty() {
            return Ok(BTreeSet::new());
        }
        let test = among("order_id", ids);
        Ok(self.read(&self.alive("order_id", &test), number)?.into_iter().collect())
    }

    /// The ids of the orders and refunds of these customers.
    pub fn orders_of(&self, customers: &BTreeSet<i64>) -> Result<BTreeSet<i64>> {
        if customers.is_empty() {
            return Ok(BTreeSet::new());
        }
        let test = among("customer_id", customers);
        Ok(self.read(&self.alive("order_id", &test), number)?.into_iter().collect())
    }

    /// Those of the customers who have, or had, an order.
    pub fn known_customers(&self, customers: &BTreeSet<i64>) -> Result<BTreeSet<i64>> {
        let test = among("customer_id", customers);
        let orders = self.table("orders");
        let rows =
            format!("SELECT DISTINCT customer_id FROM {orders} WHERE deleted = 0 AND {test}");
        Ok(self.read(&rows, number)?.into_iter().collect())
    }

    fn count(&self, wanted: Wanted<'_>) -> Result<usize> {
        let mut draft = Draft::of(Table::Orders);
        let date = draft.printer.column(date_column(wanted.date));
        draft.add(&date);
        let rows = self.selected(wanted, draft);
        let counted = format!("SELECT toInt64(count()) FROM ({rows})");
        Ok(length(self.read(&counted, number)?.into_iter().sum()))
    }

    fn page(&self, wanted: Wanted<'_>, sort: OrderSort, paging: Paging) -> Result<Vec<OrderFact>> {
        if paging.limit == 0 {
            return Ok(Vec::new());
        }
        let mut draft = Draft::of(Table::Orders);
        let key = match sort {
            OrderSort::Date => date_column(wanted.date),
            OrderSort::Number(field) => field.name(),
            OrderSort::Id => "order_id",
        };
        for column in [key, "order_id", "created"] {
            let column = draft.printer.column(column);
            draft.add(&column);
        }
        let rows = self.selected(wanted, draft);
        let order = ordered(&["e0", "e1"], paging);
        let read = |decoder: &mut Decoder<'_>| {
            Ok((decoder.number()?, decoder.number()?, decoder.number()?))
        };
        let mut keys: Vec<(i64, i64, i64)> = self.read(&format!("{rows} {order}"), read)?;
        keys.sort_unstable();
        if paging.descending {
            keys.reverse();
        }
        let page = keys.into_iter().skip(paging.offset).take(paging.limit);
        let (ids, made): (Vec<i64>, Vec<i64>) = page.map(|(_, id, made)| (id, made)).unzip();
        let some = ids.iter().copied().collect();
        let span = Span {
            from: Timestamp::from_micros(made.iter().min().copied().unwrap_or_default()),
            until: Timestamp::from_micros(made.iter().max().map_or(0, |last| last + 1)),
        };
        let orders = self.orders_made_within(span, wanted.scope, some, wanted.excluded)?;
        let find = |id: i64| {
            let place = orders.binary_search_by_key(&id, |order| order.order_id).ok()?;
            orders.get(place).cloned()
        };
        Ok(ids.into_iter().filter_map(find).collect())
    }

    fn selected(&self, wanted: Wanted<'_>, draft: Draft) -> String {
        let Wanted { scope, date, span, filter, excluded } = wanted;
        let orders = self.table("orders");
        Rows { orders: &orders, excluded, scope, date, span, filter }.select(draft)
    }

    /// Something of all orders for which the test holds.
    fn alive(&self, what: &str, test: &str) -> String {
        let orders = self.table("orders");
        format!("SELECT {what} FROM {orders} FINAL WHERE deleted = 0 AND ({test})")
    }

    /// The rows of all shards, one shard after the other.
    pub(super) fn read<T>(
        &self,
        statement: &str,
        row: impl Fn(&mut Decoder<'_>) -> Result<T>,
    ) -> Result<Vec<T>> {
        let mut rows = Vec::new();
        for bytes in self.ask(&format!("{statement} FORMAT RowBinary"))? {
            let mut decoder = Decoder::new(&bytes);
            while !decoder.is_at_end() {
                rows.push(row(&mut decoder)?);
            }
        }
        Ok(rows)
    }
}

/// A row of one number.
pub(super) fn number(decoder: &mut Decoder<'_>) -> Result<i64> {
    decoder.number()
}

fn among(column: &str, ids: &BTreeSet<i64>) -> String {
    is_number_among(column, &ids.iter().copied().collect::<Vec<i64>>())
}

/// The order of rows, and how many of them can be on the page.
fn ordered(columns: &[&str], paging: Paging) -> String {
    let direction = if paging.descending { "DESC" } else { "ASC" };
    let columns = columns.iter().map(|column| format!("{column} {direction}"));
    let limit = paging.offset.saturating_add(paging.limit);
    format!("ORDER BY {} LIMIT {limit}", super::sql::joined(columns, ", "))
}

fn length(count: i64) -> usize {
    usize::try_from(count).unwrap_or_default()
}
