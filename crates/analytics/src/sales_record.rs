//! The best days of the shop: what the last whole day came to, and the best of all days before it.

use frame::Options;
use types::{Amount, Result, Timestamp};

use crate::calendar::{Range, Unit};
use crate::context::{QueryContext, date_of_orders, seconds, span, timestamp};
use crate::current::Facts;
use crate::facts::OrderNumber;
use crate::query::{Column, Measure, Per, Query, Table, When};

/// Total sales less refunds, as the revenue report has them.
const TOTAL_SALES: Measure =
    Measure::Sum(Column::Order(OrderNumber::Total), When::Always, Per::Row);

/// What the last whole day of the site's calendar came to, beside all others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastDay {
    /// Such as `2026-11-15`.
    pub day: String,
    pub sold: Amount,
    /// What the best day before it came to; zero where there is none.
    pub best_before: Amount,
}

/// The last whole day; nothing while the facts are being loaded, or when it was before the first
/// sale.
pub fn last_day(facts: &Facts, options: &Options, now: Timestamp) -> Result<Option<LastDay>> {
    let Some(context) = QueryContext::of_shop(facts, options) else { return Ok(None) };
    let Some(first) = context.view.first_created()? else { return Ok(None) };
    let first = context.calendar.start_of_day(seconds(first));
    let today = context.calendar.start_of_day(seconds(now));
    if first >= today {
        return Ok(None);
    }
    let range = Range { first, last: today - 1 };
    let Some(days) = context.calendar.intervals(Unit::Day, range) else { return Ok(None) };
    let starts = days.iter().map(|day| day.range.first).chain([today]);
    let query = Query {
        bounds: starts.map(timestamp).collect(),
        filter: context.counted(),
        measures: vec![TOTAL_SALES],
        ..Query::of(Table::Orders, date_of_orders(options), span(range))
    };
    let answer = context.answer(&query)?;
    let sold = |day: usize| {
        let value = answer.totals(day).first().copied().unwrap_or_default();
        Amount::from_millionths(value)
    };
    let Some((last_day, before)) = days.split_last() else { return Ok(None) };
    let last = before.len();
    let best_before = (0..last).map(sold).max().unwrap_or_default().max(Amount::ZERO);
    Ok(Some(LastDay { day: last_day.id.clone(), sold: sold(last), best_before }))
}
