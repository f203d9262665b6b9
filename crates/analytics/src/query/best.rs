//! The first orders by date, id or a column, found without reading those that cannot be among them.
//!
//! Chunks are read in the order of the best that they can have. When as many rows as are wanted are
//! better than the best of the next chunk, nothing better is left anywhere.

use super::listing::{OrderPage, OrderSort, Paging};
use super::plan::{Plan, date_bounds};
use super::select::Block;
use super::{DateColumn, Filter, IdSet, Query, Scope, Span, Table};
use crate::facts::chunk::{Bounds, Chunk, order};
use crate::facts::column::NOTHING;
use crate::facts::{OrderFact, Snapshot};

/// Rows that are kept beyond those that are wanted, before the worst are thrown away.
const SPARE_MIN: usize = 1_024;

impl Snapshot {
    /// A page of the orders and refunds that pass, by the date and within the span.
    pub fn list_orders(
        &self,
        scope: &Scope,
        (date, span): (DateColumn, Span),
        filter: &Filter,
        sort: OrderSort,
        paging: Paging,
    ) -> OrderPage {
        let query = Query { filter: filter.clone(), ..Query::of(Table::Orders, date, span) };
        let total = self.count(scope, &query);
        let limit = paging.limit.min(total.saturating_sub(paging.offset));
        let after = total.saturating_sub(paging.offset.saturating_add(limit));
        let plan = Plan::new(self, scope, &query);
        if after >= paging.offset {
            return OrderPage { orders: self.best(&plan, sort, Paging { limit, ..paging }), total };
        }
        // The page is nearer to the end, so it is looked for from there.
        let paging = Paging { descending: !paging.descending, offset: after, limit };
        let mut orders = self.best(&plan, sort, paging);
        orders.reverse();
        OrderPage { orders, total }
    }

    /// The orders and refunds with these ids, by id.
    pub fn orders_with_ids(&self, scope: &Scope, ids: IdSet) -> Vec<OrderFact> {
        let all = Paging { descending: false, offset: 0, limit: ids.len() };
        let query = Query {
            filter: Filter::Orders(ids),
            ..Query::of(Table::Orders, DateColumn::Created, Span::ALWAYS)
        };
        self.best(&Plan::new(self, scope, &query), OrderSort::Id, all)
    }

    /// The orders that the refunds which pass are about.
    pub fn refunded_orders(
        &self,
        scope: &Scope,
        (date, span): (DateColumn, Span),
        filter: &Filter,
    ) -> IdSet {
        let query = Query { filter: filter.clone(), ..Query::of(Table::Orders, date, span) };
        let plan = Plan::new(self, scope, &query);
        let (mut found, mut ids, mut distances) = (Vec::new(), Vec::new(), Vec::new());
        let chunks = self.chunks.iter().enumerate().filter(|(_, chunk)| !plan.skips(chunk));
        for (number, chunk) in chunks {
            for index in 0..chunk.blocks() {
                let block = Block { facts: self, chunk, number, index };
                let Some((passes, _)) = passing(&block, &plan) else { continue };
                block.orders(order::ID, &mut ids);
                block.orders(order::PARENT, &mut distances);
                let rows = ids.iter().zip(&distances).zip(passes);
                let refunds =
                    rows.filter(|((_, distance), passes)| *passes && **distance != NOTHING);
                found.extend(refunds.map(|((id, distance), _)| id.wrapping_sub(*distance)));
            }
        }
        found.into_iter().collect()
    }

    fn best(&self, plan: &Plan<'_>, sort: OrderSort, paging: Paging) -> Vec<OrderFact> {
        let mut best = Best::new(sort, paging);
        if paging.limit == 0 {
            return Vec::new();
        }
        let chunks = self.chunks.iter().enumerate().filter(|(_, chunk)| !plan.skips(chunk));
        let mut chunks: Vec<(i64, usize, &Chunk)> = chunks
            .filter_map(|(number, chunk)| Some((best.promise(chunk, plan.date)?, number, &**chunk)))
            .collect();
        chunks.sort_unstable_by_key(|(promise, number, _)| (*promise, *number));
        for (promise, number, chunk) in chunks {
            if best.is_beyond(promise) {
                break;
            }
            for index in 0..chunk.blocks() {
                best.read(number, &Block { facts: self, chunk, number, index }, plan);
            }
            best.trim();
        }
        let row = |entry: Entry| {
            let chunk = self.chunks.get(entry.chunk)?;
            Some(self.order_fact(&chunk.row(entry.row)))
        };
        best.page().into_iter().filter_map(row).collect()
    }
}

/// Which orders of the block pass, with their dates; nothing if none does.
fn passing(block: &Block<'_>, plan: &Plan<'_>) -> Option<(Vec<bool>, Vec<i64>)> {
    let mut passes = block.rows(&plan.filter.row);
    if !passes.contains(&true) {
        return None;
    }
    let (mut dates, mut other) = (Vec::new(), Vec::new());
    block.dates(plan.date, &mut dates, &mut other);
    if let Some(test) = &plan.filter.unit {
        let mut rows = Vec::new();
        block.unit_rows(Table::Orders, &mut rows);
        let others = block.units(Table::Orders, &rows, test);
        passes.iter_mut().zip(others).for_each(|(passes, other)| *passes &= other);
    }
    for (passes, date) in passes.iter_mut().zip(&dates) {
        *passes &= plan.from <= *date && *date < plan.until;
    }
    Some((passes, dates))
}

/// Where a row is, and what it is sorted by: whatever the direction, the least come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    key: i64,
    order_id: i64,
    chunk: usize,
    row: usize,
}

/// The rows that can still be on the page.
struct Best {
    sort: OrderSort,
    paging: Paging,
    kept: Vec<Entry>,
    /// The last of the rows that are wanted, once there were enough; what comes after it is out.
    last: Option<Entry>,
}

impl Best {
    fn new(sort: OrderSort, paging: Paging) -> Self {
        Self { sort, paging, kept: Vec::new(), last: None }
    }

    /// A number so that what comes first has the least.
    fn ranked(&self, value: i64) -> i64 {
        // Negated, without the one number that has no opposite.
        if self.paging.descending { !value } else { value }
    }

    fn wanted(&self) -> usize {
        self.paging.offset.saturating_add(self.paging.limit)
    }

    /// The key that no row of the chunk is before. None when no row can count.
    fn promise(&self, chunk: &Chunk, date: DateColumn) -> Option<i64> {
        let of_column = |column: usize| -> Bounds { chunk.orders.get(column)?.bounds() };
        let (least, greatest) = match self.sort {
            OrderSort::Date => date_bounds(chunk, date),
            OrderSort::Number(number) => of_column(order::number(number)),
            OrderSort::Id => chunk.ids,
        }?;
        Some(self.ranked(if self.paging.descending { greatest } else { least }))
    }

    /// Whether no row with such a key, or a later one, can be on the page.
    fn is_beyond(&self, key: i64) -> bool {
        self.last.is_some_and(|last| key > last.key)
    }

    fn read(&mut self, chunk: usize, block: &Block<'_>, plan: &Plan<'_>) {
        let Some((passes, dates)) = passing(block, plan) else { return };
        let (mut keys, mut ids) = (Vec::new(), Vec::new());
        block.orders(order::ID, &mut ids);
        match self.sort {
            OrderSort::Date => keys = dates,
            OrderSort::Number(number) => block.orders(order::number(number), &mut keys),
            OrderSort::Id => keys.clone_from(&ids),
        }
        for (row, (passes, (key, order_id))) in passes.iter().zip(keys.iter().zip(&ids)).enumerate()
        {
            let key = self.ranked(*key);
            if *passes && !self.is_beyond(key) {
                let (order_id, row) = (self.ranked(*order_id), block.start() + row);
                self.kept.push(Entry { key, order_id, chunk, row });
            }
        }
    }

    /// Throws away what cannot be on the page, when that is much or becomes known for the first
    /// time.
    fn trim(&mut self) {
        let wanted = self.wanted();
        let Some(last) = wanted.checked_sub(1).filter(|last| *last < self.kept.len()) else {
            return;
        };
        let spare = (wanted / 4).max(SPARE_MIN);
        if self.last.is_none() || self.kept.len() > wanted.saturating_add(spare) {
            let (_, worst, _) = self.kept.select_nth_unstable(last);
            self.last = Some(*worst);
            self.kept.truncate(wanted);
        }
    }

    fn page(mut self) -> Vec<Entry> {
        self.kept.sort_unstable();
        self.kept.into_iter().skip(self.paging.offset).take(self.paging.limit).collect()
    }
}
