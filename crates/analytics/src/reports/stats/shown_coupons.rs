//! How many coupons an interval shows: those of the whole range, or of one of its orders.
//!
//! Clients know the first interval in which anything happened with the coupons of the whole range,
//! and each other one with those of a single order: the one that their database met first, see
//! [`arrival`]. Strict answers count the different coupons of each interval, and so does every
//! answer about more orders than that can be followed for.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::Asked;
use super::page::{Page, Question};
use crate::arrival;
use crate::calendar::Range;
use crate::desk::{Inquiry, seconds, span};
use crate::facts::OrderFact;
use crate::intervals::Wanted;
use crate::query::{DateColumn, Filter, LineTest, OrderSort, Paging, Query};

/// By which index the database meets orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Index {
    /// The date by which they were paid.
    Paid,
    /// Their status, and then their number.
    Status,
}

impl Asked<'_> {
    /// Replaces the number of coupons of each interval on the page by the known one.
    pub(super) fn show_coupons_as_known(
        &self,
        bodies: &mut [Value],
        page: &Page<'_>,
        totals: &Map<String, Value>,
        inquiry: &Inquiry,
    ) {
        let Some(of_range) = totals.get("coupons_count") else { return };
        let question = page.question(self, inquiry);
        if question.rows() > arrival::ROWS_MAX {
            return;
        }
        let first = self.first_met(&question, &page.wanted, inquiry);
        let pairs = bodies.iter_mut().zip(&page.shown);
        let pairs = pairs.filter(|(_, interval)| question.meets_any_in(interval));
        for (place, (body, interval)) in pairs.enumerate() {
            let Some(count) = body.pointer_mut("/subtotals/coupons_count") else { return };
            *count = if place == 0 {
                of_range.clone()
            } else {
                json!(first.get(&interval.range.first).copied().unwrap_or_default())
            };
        }
    }

    /// The coupons of the order that is met first in each interval, by the interval's start.
    fn first_met(
        &self,
        question: &Question<'_>,
        wanted: &Wanted,
        inquiry: &Inquiry,
    ) -> BTreeMap<i64, usize> {
        let starts: Vec<i64> =
            question.intervals.iter().map(|interval| interval.range.first).collect();
        let ends = question.intervals.last().map(|interval| interval.range.last);
        let (Some(first), Some(last)) = (starts.first(), ends) else { return BTreeMap::new() };
        let Query { date, filter, .. } = &self.query;
        let paging = Paging { descending: false, offset: 0, limit: arrival::ROWS_MAX };
        let (when, sort) = ((*date, span(Range { first: *first, last })), OrderSort::Date);
        let page = inquiry.snapshot.list_orders(inquiry.scope(), when, filter, sort, paging);
        let mut orders = page.orders;
        if index(*date, filter, inquiry) == Index::Status {
            orders.sort_by(|one, other| {
                (&one.status, one.order_id).cmp(&(&other.status, other.order_id))
            });
        }
        let start_of = |order: &OrderFact| {
            let at = seconds(date_of(order, *date)?);
            let place = starts.partition_point(|start| *start <= at);
            starts.get(place.checked_sub(1)?).copied()
        };
        let of_orders: Vec<i64> =
            orders.iter().map(|order| start_of(order).unwrap_or_default()).collect();
        let is_reversed = wanted.by_date && wanted.descending;
        let key = |start: &i64| if is_reversed { start.saturating_neg() } else { *start };
        let keys: Vec<i64> = of_orders.iter().map(key).collect();
        let mut coupons = BTreeMap::new();
        for place in arrival::grouped(&keys) {
            if let (Some(start), Some(order)) = (of_orders.get(place), orders.get(place)) {
                coupons.entry(*start).or_insert(order.coupons.len());
            }
        }
        coupons
    }
}

fn date_of(order: &OrderFact, date: DateColumn) -> Option<types::Timestamp> {
    match date {
        DateColumn::Created => Some(order.created),
        DateColumn::Paid => order.paid,
        DateColumn::Completed => order.completed,
    }
}

/// Orders are met by the date they were paid, unless the question is about another date, about
/// statuses, or about several goods.
fn index(date: DateColumn, filter: &Filter, inquiry: &Inquiry) -> Index {
    let is_narrower = |filter: &Filter| match filter {
        Filter::Not(inner) => matches!(**inner, Filter::Status(_)) && *filter != inquiry.counted(),
        Filter::HasLine(LineTest::Product(products)) => products.len() != 1,
        Filter::Status(_) | Filter::HasLine(LineTest::Variation(_)) => true,
        _ => false,
    };
    if date != DateColumn::Paid || filter.demands(&is_narrower) {
        return Index::Status;
    }
    Index::Paid
}
