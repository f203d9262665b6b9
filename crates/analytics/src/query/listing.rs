//! Rows one by one, in order and by pages: the lists of orders, of lines and of downloads.

use std::sync::Arc;

use super::filter::Filter;
use super::plan::Plan;
use super::select::{Block, place};
use super::{DateColumn, Query, Scope, Span, Table};
use crate::facts::chunk::order;
use crate::facts::{DownloadFact, OrderFact, Snapshot};

/// Which of the rows that match to return. How many match is counted in any case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Paging {
    pub descending: bool,
    pub offset: usize,
    pub limit: usize,
}

/// What orders are sorted by; among equals, by their ids in the same direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OrderSort {
    /// The date column of the query.
    Date,
    Items,
    Net,
    Total,
    Id,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct OrderPage {
    /// With their lines, coupons and taxes.
    pub orders: Vec<OrderFact>,
    pub total: usize,
}

/// What downloads are sorted by; among equals, by their ids in the same direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DownloadSort {
    Date,
    Product,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct DownloadPage {
    pub downloads: Vec<Arc<DownloadFact>>,
    pub total: usize,
}

/// A line with what its order says about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineRow {
    pub order_id: i64,
    /// When the order was made, in microseconds.
    pub created: i64,
    pub status: Arc<str>,
    pub product_id: i64,
    pub variation_id: i64,
}

impl Snapshot {
    /// The lines that pass, of orders that were made within the span: by order, and in each as the
    /// order has them. Nothing when there are more than so many.
    pub fn list_lines(
        &self,
        scope: &Scope,
        span: Span,
        filter: &Filter,
        rows_max: usize,
    ) -> Option<Vec<LineRow>> {
        let query =
            Query { filter: filter.clone(), ..Query::of(Table::Lines, DateColumn::Created, span) };
        let plan = Plan::new(self, scope, &query);
        let mut found = Vec::new();
        for chunk in self.chunks.iter().filter(|chunk| !plan.skips(chunk)) {
            for index in 0..chunk.blocks() {
                self.lines_of(&Block { facts: self, chunk, index }, &plan, &mut found);
                if found.len() > rows_max {
                    return None;
                }
            }
        }
        found.sort_by_key(|line| line.order_id);
        Some(found)
    }

    fn lines_of(&self, block: &Block<'_>, plan: &Plan<'_>, found: &mut Vec<LineRow>) {
        let passes = block.rows(&plan.filter.row);
        let (mut rows, mut goods, mut created) = (Vec::new(), Vec::new(), Vec::new());
        let (mut ids, mut statuses) = (Vec::new(), Vec::new());
        block.unit_rows(Table::Lines, &mut rows);
        block.codes(Table::Lines, &mut goods);
        block.orders(order::CREATED, &mut created);
        block.orders(order::ID, &mut ids);
        block.orders(order::STATUS, &mut statuses);
        let tests = plan.filter.unit.as_ref().map(|test| block.units(Table::Lines, &rows, test));
        for (unit, (row, code)) in rows.iter().map(|row| place(*row)).zip(&goods).enumerate() {
            let passes = passes.get(row) == Some(&true)
                && tests.as_ref().is_none_or(|tests| tests.get(unit) == Some(&true));
            let at = created.get(row).copied().unwrap_or_default();
            if !passes || at < plan.from || at >= plan.until {
                continue;
            }
            let pair = self.names.goods.get(place(*code)).copied().unwrap_or_default();
            let status = statuses.get(row).and_then(|code| self.names.statuses.get(place(*code)));
            found.push(LineRow {
                order_id: ids.get(row).copied().unwrap_or_default(),
                created: at,
                status: status.cloned().unwrap_or_default(),
                product_id: pair.0,
                variation_id: pair.1,
            });
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
    ) -> OrderPage {
        let query = Query { filter: filter.clone(), ..Query::of(Table::Orders, date, span) };
        let plan = Plan::new(self, scope, &query);
        let mut found = Found::new(paging);
        for (number, chunk) in self.chunks.iter().enumerate() {
            if plan.skips(chunk) {
                continue;
            }
            for index in 0..chunk.blocks() {
                let block = Block { facts: self, chunk, index };
                found.block(number, &block, &plan, sort);
            }
        }
        let total = found.total;
        let row = |entry: Entry| {
            let chunk = self.chunks.get(entry.chunk)?;
            Some(self.order_fact(&chunk.row(entry.row)))
        };
        OrderPage { orders: found.page().into_iter().filter_map(row).collect(), total }
    }
}

/// Where a row is, and what it is sorted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    key: i64,
    order_id: i64,
    chunk: usize,
    row: usize,
}

/// The rows that can still be on the page: no more than twice as many as there are up to its end.
struct Found {
    paging: Paging,
    kept: Vec<Entry>,
    total: usize,
}

impl Found {
    fn new(paging: Paging) -> Self {
        Self { paging, kept: Vec::new(), total: 0 }
    }

    fn block(&mut self, chunk: usize, block: &Block<'_>, plan: &Plan<'_>, sort: OrderSort) {
        let (mut dates, mut keys, mut ids) = (Vec::new(), Vec::new(), Vec::new());
        block.dates(plan.date, &mut dates, &mut keys);
        let mut passes = block.rows(&plan.filter.row);
        if let Some(test) = &plan.filter.unit {
            block.unit_rows(Table::Orders, &mut keys);
            let others = block.units(Table::Orders, &keys, test);
            passes.iter_mut().zip(others).for_each(|(passes, other)| *passes &= other);
        }
        block.orders(order::ID, &mut ids);
        match sort {
            OrderSort::Date => keys.clone_from(&dates),
            OrderSort::Items => block.orders(order::ITEMS, &mut keys),
            OrderSort::Net => block.orders(order::NET, &mut keys),
            OrderSort::Total => block.orders(order::TOTAL, &mut keys),
            OrderSort::Id => keys.clone_from(&ids),
        }
        let rows = dates.iter().zip(passes).zip(keys.iter().zip(&ids)).enumerate();
        for (row, ((date, passes), (key, order_id))) in rows {
            if passes && plan.from <= *date && *date < plan.until {
                let row = block.start() + row;
                self.push(Entry { key: *key, order_id: *order_id, chunk, row });
            }
        }
    }

    fn push(&mut self, entry: Entry) {
        self.total += 1;
        let wanted = self.paging.offset.saturating_add(self.paging.limit);
        if self.paging.limit == 0 {
            return;
        }
        self.kept.push(entry);
        if self.kept.len() > wanted.saturating_mul(2).saturating_add(KEPT_MIN) {
            self.sort();
            self.kept.truncate(wanted);
        }
    }

    fn sort(&mut self) {
        self.kept.sort_unstable();
        if self.paging.descending {
            self.kept.reverse();
        }
    }

    fn page(mut self) -> Vec<Entry> {
        self.sort();
        self.kept.into_iter().skip(self.paging.offset).take(self.paging.limit).collect()
    }
}

/// Rows that are kept, however short the page is.
const KEPT_MIN: usize = 1_024;
