//! How many coupons an interval shows: those of the whole range, or of one of its orders.
//!
//! Clients know the first interval in which anything happened with the coupons of the whole range,
//! and each other one with those of a single order: the one that their database met first, see
//! [`Meeting`]. Strict answers count the different coupons of each interval, and so does every
//! answer about more orders than that can be followed for.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::StatsRequest;
use super::page::{Page, Question};
use crate::calendar::Range;
use crate::context::QueryContext;
use crate::facts::OrderFact;
use crate::intervals::IntervalPage;
use crate::query::Query;
use crate::reports::meeting::{Meeting, second_of};

impl StatsRequest<'_> {
    /// Replaces the number of coupons of each interval on the page by the known one.
    pub(super) fn show_coupons_as_known(
        &self,
        bodies: &mut [Value],
        page: &Page<'_>,
        totals: &Map<String, Value>,
        context: &QueryContext,
    ) {
        let of_range = totals.get("coupons_count").filter(|_| Meeting::is_followed(context));
        let Some(of_range) = of_range else { return };
        let question = page.question(self, context);
        let Some(first) = self.first_met(&question, &page.wanted, context) else { return };
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
        wanted: &IntervalPage,
        context: &QueryContext,
    ) -> Option<BTreeMap<i64, usize>> {
        let starts: Vec<i64> =
            question.intervals.iter().map(|interval| interval.range.first).collect();
        let ends = question.intervals.last().map(|interval| interval.range.last);
        let (Some(first), Some(last)) = (starts.first(), ends) else { return None };
        let Query { date, filter, .. } = &self.query;
        let start_of = |order: &OrderFact| {
            let at = second_of(order, *date)?;
            let place = starts.partition_point(|start| *start <= at);
            starts.get(place.checked_sub(1)?).copied()
        };
        let (skipped, taken) = wanted.database_rows(question.missing);
        let meeting = Meeting {
            date: *date,
            range: Range { first: *first, last },
            filter,
            limit: skipped.saturating_add(taken),
            is_reversed: wanted.by_date && wanted.descending,
        };
        let group = |order: &OrderFact| start_of(order).unwrap_or_default();
        let mut coupons = BTreeMap::new();
        for order in meeting.orders(group, context)? {
            coupons.entry(group(&order)).or_insert(order.coupons.len());
        }
        Some(coupons)
    }
}
