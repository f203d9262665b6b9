//! The date by which lists of goods are sorted: that of one sale of each.
//!
//! Clients know goods sorted by the date of the sale that their database met first, see
//! [`arrival`]; strict answers sort by the newest.

use std::collections::BTreeMap;

use crate::arrival;
use crate::context::QueryContext;
use crate::query::{Filter, Group, LineRow, LineTest, Measure, Query, Table, When};

/// Lines are met by date if a range has at most one in so many of all.
const PART_BY_DATE: usize = 2;
/// Lines of some products are met by product if they are at most one in so many of all.
const PART_BY_PRODUCT: usize = 6;

/// Product and variation; the latter is 0 where goods are told by their products alone.
pub(super) type Goods = (i64, i64);

/// In which order the database meets lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Index {
    Created,
    Product,
    /// As they were stored.
    Line,
    /// By the status of their orders.
    Status,
}

/// When the sale of each of the goods was that clients know them by, in microseconds. Nothing if
/// there are too many sales to tell.
pub(super) fn dates(context: &QueryContext, query: &Query) -> Option<BTreeMap<Goods, i64>> {
    let (snapshot, scope, counted) = (&context.snapshot, context.scope(), context.counted());
    let of_any_status = query.filter.without(&counted);
    let mut lines = snapshot.list_lines(scope, query.span, &of_any_status, arrival::ROWS_MAX)?;
    let is_few = |count: usize, part: usize| count.saturating_mul(part) <= snapshot.lines();
    let names_products = |filter: &Filter| matches!(filter, Filter::Line(LineTest::Product(_)));
    let index = match query.filter.demands(&names_products) {
        true if is_few(lines.len(), PART_BY_PRODUCT) => Index::Product,
        true => Index::Line,
        false if is_few(in_range(context, query), PART_BY_DATE) => Index::Created,
        false => Index::Status,
    };
    match index {
        Index::Line => {}
        Index::Created => lines.sort_by_key(|line| line.created),
        Index::Product => lines.sort_by_key(|line| line.product_id),
        // Here orders are met first, so that others than these are not met at all.
        Index::Status => {
            lines.retain(|line| context.counts(&line.status));
            lines.sort_by(|one, other| one.status.cmp(&other.status));
        }
    }
    let goods: Vec<Goods> = lines.iter().map(|line| goods_of(line, query.group)).collect();
    let mut kinds = goods.clone();
    kinds.sort_unstable();
    kinds.dedup();
    let rank = |goods: &Goods| i64::try_from(kinds.partition_point(|kind| kind < goods));
    let keys: Vec<i64> = goods.iter().map(|goods| rank(goods).unwrap_or_default()).collect();
    let mut dates = BTreeMap::new();
    for place in arrival::grouped(&keys) {
        if let (Some(goods), Some(line)) = (goods.get(place), lines.get(place))
            && context.counts(&line.status)
        {
            dates.entry(*goods).or_insert(line.created);
        }
    }
    Some(dates)
}

/// How many lines there are in the range, whatever else is asked of them.
fn in_range(context: &QueryContext, query: &Query) -> usize {
    let measures = vec![Measure::Rows(When::Always)];
    let all = Query { measures, ..Query::of(Table::Lines, query.date, query.span) };
    let count = context.answer(&all).totals(0).first().copied();
    usize::try_from(count.unwrap_or_default()).unwrap_or(usize::MAX)
}

fn goods_of(line: &LineRow, group: Group) -> Goods {
    match group {
        Group::Variation => (line.product_id, line.variation_id),
        _ => (line.product_id, 0),
    }
}
