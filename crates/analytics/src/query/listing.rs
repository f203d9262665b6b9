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
}
