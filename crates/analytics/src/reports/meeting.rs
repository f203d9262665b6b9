//! In which order the reference's database meets orders.
//!
//! It chooses between walking an index and reading everything by what it expects either to cost,
//! and by how few groups it was asked for. Orders that the first table decides about are sorted
//! before the others are looked at; where a short list of orders comes first, they are taken in the
//! order of that list. What that costs is in hundredths of a read.

use std::collections::BTreeSet;

use crate::arrival;
use crate::calendar::Range;
use crate::context::{QueryContext, seconds, span};
use crate::facts::OrderFact;
use crate::query::{DateColumn, Filter, LineTest, OrderSort, Paging, Query, Span, Table};

/// Orders of a shop up to which its database is followed.
const SHOP_MAX: usize = 10_000;

/// A read of a row by an index, with the check whether it counts.
const ROW_BY_INDEX: usize = 120;
/// The check of a row that is read with all others.
const ROW_OF_ALL: usize = 20;
const READ: usize = 100;
/// Rows that are read at once.
const ROWS_OF_PAGE: usize = 70;
/// What reading everything costs more than its rows.
const ALL_MORE: usize = 210;
/// Rows of a list of orders that may come first, in percent of all orders; one that follows from a
/// single number always comes first.
const SHORT_LIST: usize = 8;
/// The same where the orders are neither few nor most of all, so that no index helps much.
const MIDDLING_LIST: usize = 20;
/// What is more than so many percent of all orders is most of them.
const MOST: usize = 75;
const PERCENT: usize = 100;

/// By what the database meets orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Index {
    /// The date that the report is about, and then the status.
    Date,
    /// Their status, and then their number.
    Status,
    /// Their number.
    Number,
}

impl Index {
    /// The index that promises the fewest of all rows, by date and by status, where that is better
    /// than reading everything. **Where fewer are wanted than there may be, any index is.**
    fn chosen(
        (dated, of_statuses): (Option<usize>, Option<usize>),
        all: usize,
        limit: usize,
    ) -> Self {
        let by_date = dated.map(|rows| (rows, Self::Date));
        let by_status = of_statuses.map(|rows| (rows, Self::Status));
        let promised = by_date.into_iter().chain(by_status).min_by_key(|promised| promised.0);
        let Some((rows, index)) = promised else { return Self::Number };
        let (dated, of_statuses) = (dated.unwrap_or(all), of_statuses.unwrap_or(all));
        let expected = dated.saturating_mul(of_statuses) / all.max(1);
        if by_index(rows) < by_all(all) || limit < expected { index } else { Self::Number }
    }

    /// Sorts orders that are by date.
    fn arrange(self, orders: &mut [OrderFact]) {
        match self {
            Self::Date => {}
            Self::Status => orders.sort_by(|one, other| {
                (&one.status, one.order_id).cmp(&(&other.status, other.order_id))
            }),
            Self::Number => orders.sort_by_key(|order| order.order_id),
        }
    }
}

/// What the database is asked about orders.
#[derive(Debug)]
pub(super) struct Meeting<'a> {
    pub(super) date: DateColumn,
    pub(super) range: Range,
    pub(super) filter: &'a Filter,
    /// The groups that it is to give, with those to be skipped.
    pub(super) limit: usize,
    /// Whether it groups downwards.
    pub(super) is_reversed: bool,
}

/// A list of orders that the database may look through first.
#[derive(Clone, Debug, PartialEq, Eq)]
enum List<'a> {
    Products(&'a [i64]),
    Coupons(&'a [i64]),
    Rates(&'a [i64]),
    /// Of orders with certain goods, which it never looks through first.
    Others,
}

impl Meeting<'_> {
    /// Whether the database of such a shop is followed; there are no records of greater ones.
    pub(super) fn is_followed(context: &QueryContext) -> bool {
        context.snapshot.orders() <= SHOP_MAX
    }

    /// The orders that count, so that the first of each group is the one whose columns are shown.
    /// Nothing if there are more than the database sorts in this way.
    pub(super) fn orders(
        &self,
        group: impl Fn(&OrderFact) -> i64,
        context: &QueryContext,
    ) -> Option<Vec<OrderFact>> {
        let demands = demands(self.filter);
        let (lists, own): (Vec<_>, Vec<_>) =
            demands.into_iter().partition(|filter| list(filter).is_some());
        let lists: Vec<List<'_>> = lists.into_iter().filter_map(list).collect();
        let counted = self.listed(self.filter, context)?;
        let dated = self.count(&Filter::everything(), context);
        if let Some(leading) = leading(&lists, dated, context) {
            let mut met = counted;
            met.sort_by_key(|order| (leading.place(order), order.order_id));
            return Some(self.grouped(&met, group));
        }
        let own = Filter::All(own.into_iter().cloned().collect());
        let mut met = if lists.is_empty() { counted.clone() } else { self.listed(&own, context)? };
        self.index(&own, dated, context).arrange(&mut met);
        let counted: BTreeSet<i64> = counted.iter().map(|order| order.order_id).collect();
        let mut sorted = self.grouped(&met, group);
        sorted.retain(|order| counted.contains(&order.order_id));
        Some(sorted)
    }

    /// Puts the orders of a list, which are by date, into the order in which they are met.
    pub(super) fn arrange(&self, orders: &mut [OrderFact], context: &QueryContext) {
        let demands = demands(self.filter);
        let is_of_orders = |filter: &&Filter| {
            matches!(filter, Filter::Returning(_) | Filter::Kind(_) | Filter::Orders(_))
                || matches!(filter, Filter::Not(inner) if matches!(**inner, Filter::Orders(_)))
                || is_of_status(filter)
        };
        if !Self::is_followed(context) || !demands.iter().all(is_of_orders) {
            return;
        }
        if demands.iter().any(|filter| matches!(filter, Filter::Orders(_))) {
            Index::Number.arrange(orders);
        } else {
            let dated = self.count(&Filter::everything(), context);
            self.index(self.filter, dated, context).arrange(orders);
        }
    }

    /// The orders as the database sorts them by group.
    fn grouped(&self, met: &[OrderFact], group: impl Fn(&OrderFact) -> i64) -> Vec<OrderFact> {
        let sign = if self.is_reversed { -1 } else { 1 };
        let keys: Vec<i64> = met.iter().map(|order| group(order).saturating_mul(sign)).collect();
        arrival::grouped(&keys).into_iter().filter_map(|place| met.get(place).cloned()).collect()
    }

    /// Orders of the range by date.
    fn listed(&self, filter: &Filter, context: &QueryContext) -> Option<Vec<OrderFact>> {
        let paging = Paging { descending: false, offset: 0, limit: arrival::ROWS_MAX };
        let when = (self.date, span(self.range));
        let page =
            context.snapshot.list_orders(context.scope(), when, filter, OrderSort::Date, paging);
        (page.total <= arrival::ROWS_MAX).then_some(page.orders)
    }

    fn count(&self, filter: &Filter, context: &QueryContext) -> usize {
        rows((self.date, span(self.range)), filter, context)
    }

    fn index(&self, own: &Filter, dated: usize, context: &QueryContext) -> Index {
        let all = context.snapshot.orders();
        let statuses: Vec<Filter> =
            demands(own).into_iter().filter(|filter| is_of_status(filter)).cloned().collect();
        let is_by_status = !statuses.is_empty();
        let statuses = Filter::All(statuses);
        let of_statuses =
            is_by_status.then(|| rows((DateColumn::Created, Span::ALWAYS), &statuses, context));
        // There is no index of the date of completion, so that nobody knows how many there are.
        let dated = (self.date != DateColumn::Completed).then_some(dated);
        Index::chosen((dated, of_statuses), all, self.limit)
    }
}

impl List<'_> {
    /// How many rows the database expects there.
    fn rows(&self, context: &QueryContext) -> usize {
        let of = |table: Table, filter: Filter| {
            let query = Query { filter, ..Query::of(table, DateColumn::Created, Span::ALWAYS) };
            context.snapshot.count(context.scope(), &query)
        };
        let ids = |ids: &[i64]| ids.iter().copied().collect();
        match self {
            Self::Products(own) => of(Table::Lines, Filter::Line(LineTest::Product(ids(own)))),
            Self::Coupons(own) => of(Table::Coupons, Filter::Coupon(ids(own))),
            Self::Rates(own) => of(Table::Taxes, Filter::TaxRate(ids(own))),
            Self::Others => usize::MAX,
        }
    }

    /// By which number of the list the order is found first.
    fn place(&self, order: &OrderFact) -> i64 {
        let least = |own: &[i64], found: &mut dyn Iterator<Item = i64>| {
            found.filter(|id| own.contains(id)).min().unwrap_or_default()
        };
        match self {
            Self::Products(own) => least(own, &mut order.lines.iter().map(|line| line.product_id)),
            Self::Coupons(own) => {
                least(own, &mut order.coupons.iter().map(|coupon| coupon.coupon_id))
            }
            Self::Rates(own) => least(own, &mut order.taxes.iter().map(|tax| tax.rate_id)),
            Self::Others => 0,
        }
    }
}

/// The list that comes before the orders of the range: the shortest, if it is short.
fn leading<'l>(lists: &[List<'l>], dated: usize, context: &QueryContext) -> Option<List<'l>> {
    let all = context.snapshot.orders();
    let is_most = dated.saturating_mul(PERCENT) > all.saturating_mul(MOST);
    let share = if is_most || by_index(dated) < by_all(all) { SHORT_LIST } else { MIDDLING_LIST };
    let is_short = |list: &List<'_>| match list {
        List::Coupons(_) | List::Products([_]) | List::Rates([_]) => true,
        List::Products(_) | List::Rates(_) => {
            list.rows(context).saturating_mul(PERCENT) <= all.saturating_mul(share)
        }
        List::Others => false,
    };
    let short = lists.iter().filter(|list| is_short(list));
    short.min_by_key(|list| list.rows(context)).cloned()
}

/// What so many rows by an index cost.
fn by_index(rows: usize) -> usize {
    rows.saturating_mul(ROW_BY_INDEX).saturating_add(READ)
}

/// What reading so many rows, which are all, costs.
fn by_all(rows: usize) -> usize {
    let pages = (rows / ROWS_OF_PAGE).saturating_add(1);
    let checks = rows.saturating_mul(ROW_OF_ALL).saturating_add(ALL_MORE);
    checks.saturating_add(pages.saturating_mul(READ))
}

/// All that must hold, each by itself.
fn demands(filter: &Filter) -> Vec<&Filter> {
    match filter {
        Filter::All(all) => all.iter().flat_map(demands).collect(),
        Filter::Any(any) => match any.as_slice() {
            [only] => demands(only),
            _ => vec![filter],
        },
        other => vec![other],
    }
}

/// The list of orders that the condition asks for.
fn list(filter: &Filter) -> Option<List<'_>> {
    match filter {
        Filter::HasLine(LineTest::Product(products)) => Some(List::Products(products.ids())),
        Filter::HasLine(_) => Some(List::Others),
        Filter::HasCoupon(coupons) => Some(List::Coupons(coupons.ids())),
        Filter::HasTaxRate(rates) => Some(List::Rates(rates.ids())),
        _ => None,
    }
}

fn is_of_status(filter: &Filter) -> bool {
    match filter {
        Filter::Status(_) => true,
        Filter::Not(inner) => matches!(**inner, Filter::Status(_)),
        _ => false,
    }
}

fn rows((date, span): (DateColumn, Span), filter: &Filter, context: &QueryContext) -> usize {
    let query = Query { filter: filter.clone(), ..Query::of(Table::Orders, date, span) };
    context.snapshot.count(context.scope(), &query)
}

/// The place of an order in time.
pub(super) fn second_of(order: &OrderFact, date: DateColumn) -> Option<i64> {
    let at = match date {
        DateColumn::Created => Some(order.created),
        DateColumn::Paid => order.paid,
        DateColumn::Completed => order.completed,
    };
    at.map(seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As the database of the recorded shop, which has 346 orders, explains itself.
    #[test]
    fn indexes_are_chosen_by_what_they_promise_and_by_how_much_is_wanted() {
        for (dated, of_statuses, limit, expected) in [
            (Some(17), Some(306), 100, Index::Date),
            (Some(64), Some(306), 100, Index::Number),
            (Some(64), Some(306), 4, Index::Date),
            (Some(118), Some(306), 100, Index::Date),
            (Some(285), Some(306), 10, Index::Date),
            (Some(285), Some(163), 10, Index::Status),
            (Some(285), Some(111), 100, Index::Number),
            (Some(346), Some(306), 10, Index::Status),
            (None, Some(306), 100, Index::Status),
            (None, Some(306), 400, Index::Number),
            (Some(285), None, 10, Index::Date),
            (None, None, 10, Index::Number),
        ] {
            let chosen = Index::chosen((dated, of_statuses), 346, limit);
            assert_eq!(chosen, expected, "{dated:?} {of_statuses:?} {limit}");
        }
    }

    #[test]
    fn demands_are_all_that_must_hold() {
        let orders = || Filter::Orders([1].into_iter().collect());
        let either = Filter::Any(vec![orders(), orders()]);
        let only = Filter::Any(vec![orders().and(orders())]);
        let all = either.clone().and(only);
        assert_eq!(demands(&all), [&either, &orders(), &orders()]);
    }
}
