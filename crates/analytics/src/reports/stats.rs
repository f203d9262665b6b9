//! Reports over time: totals of a range, and the same numbers for each of its intervals.
//!
//! A report is a [`Stats`]: its columns, where its rows come from, and how it can be split. One
//! function makes all of them. **No report has a loop of its own.**

mod body;
pub mod coupons;
pub mod downloads;
pub mod orders;
pub mod products;
mod query_args;
pub mod segments;
pub mod taxes;
pub mod variations;

use std::sync::Arc;

use contract::rest::route::{READ, Route};
use contract::rest::{Args, Body, Refusal, Reply, Stop};
use frame::action::{Computation, computed};
use frame::paging::with_totals;
use frame::{Action, Call};
use serde_json::{Map, Value, json};

use crate::calendar::{Interval, Range, Unit};
use crate::columns::{Column, Plan};
use crate::compat::{self, Rule};
use crate::context::{QueryContext, ReportContext, may_view, span, timestamp};
use crate::intervals::{IntervalPage, Slot};
use crate::query::{DateColumn, Filter, Group, Measure, Query, Table, When};
use segments::{Dimension, Segments};

/// Whether anything happened in an interval.
const PRESENCE: Measure = Measure::Rows(When::Always);

/// Segments in all intervals of a range at most: they are all counted, whatever page is shown.
const CELLS_MAX: usize = 4_000_000;
/// Segments in one answer at most.
const CELLS_SHOWN_MAX: usize = 100_000;

/// A report over time.
pub struct Stats {
    /// After `/reports`, such as `/orders/stats`.
    pub path: &'static str,
    /// What its description is called.
    pub title: &'static str,
    pub table: Table,
    pub columns: &'static [Column],
    /// Columns that only the totals have.
    pub of_totals: &'static [Column],
    /// Columns that are shown whatever `fields` names.
    pub always: &'static [&'static str],
    /// Whether numbers can be split; else nothing is said about segments.
    pub dimensions: &'static [Dimension],
    /// What intervals can be sorted by besides the columns, without being shown.
    pub sorts: &'static [Column],
    /// The parameters that choose products: by themselves, and by their categories.
    pub product_params: (&'static str, &'static str),
    /// The parameter that chooses variations.
    pub variations_param: &'static str,
    /// Whether it is about variations only, so that nothing is sold without one.
    pub is_of_variations: bool,
    /// The parameter that chooses coupons to split by.
    pub coupons_param: &'static str,
    pub args: fn() -> Args,
    /// What an envelope tells of the arguments, besides those of all reports.
    pub query_args: &'static [query_args::QueryArg],
    pub date: fn(&Call<'_>) -> DateColumn,
    pub filter: fn(&mut Call<'_>, &QueryContext) -> Result<Filter, Stop>,
    /// How the numbers come out when they are split.
    pub split: fn(Dimension, &Call<'_>, &QueryContext) -> Option<segments::Split>,
}

impl std::fmt::Debug for Stats {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(self.path)
    }
}

/// All reports over time.
pub static ALL: &[&Stats] = &[
    &products::STATS,
    &variations::STATS,
    &orders::REVENUE,
    &orders::STATS,
    &taxes::STATS,
    &coupons::STATS,
    &downloads::STATS,
];

impl Stats {
    pub fn route(&'static self, namespace: &str, reports: &Arc<ReportContext>) -> Route<Action> {
        let (reports, waiting) = (Arc::clone(reports), Arc::clone(reports));
        let run = computed(may_view, move |call: &mut Call<'_>| self.prepare(&reports, call))
            .after(move |site, visit, params| waiting.fresh(site, visit, params))
            .in_turns();
        Route::at(namespace, &format!("/reports{}", self.path))
            .on(READ, (self.args)(), run)
            .shows_item()
            .schema(body::document(self))
    }

    /// The answer to a request, at once.
    pub fn run(&'static self, reports: &ReportContext, call: &mut Call<'_>) -> Result<Reply, Stop> {
        self.prepare(reports, call)?()
    }

    /// Reads what the answer to a request needs of the storage; the rest is in memory.
    pub fn prepare(
        &'static self,
        reports: &ReportContext,
        call: &mut Call<'_>,
    ) -> Result<Computation, Stop> {
        let context = reports.query_context(call)?;
        let (range, unit) = (context.range(call), unit(call));
        let segments = Segments::requested(self, call, &context)?;
        let count = context.calendar.count(unit, range);
        let path = format!("{}/reports{}", reports.base, self.path);
        let wanted = self.wanted(call, &context);
        let head = with_totals(Reply::new(Value::Null), call, &path, count);
        let pages = count.div_euclid(wanted.per_page_count())
            + i64::from(count % wanted.per_page_count() > 0);
        if wanted.page_number() > pages {
            let body = json!({ "totals": null, "intervals": [] });
            return Ok(Box::new(move || Ok(with_body(head, body))));
        }
        let Some(intervals) = context.calendar.intervals(unit, range) else {
            return Err(too_many().into());
        };
        let request = StatsRequest::new(self, call, &context, range)?;
        let debug = query_args::of_cache(self, call, &context, range);
        Ok(Box::new(move || {
            let body = request.compute(segments, &intervals, &wanted, &context)?;
            Ok(context.with_notes(with_body(head, body)).beside("debug_cache", debug))
        }))
    }

    /// A question for some of the totals alone, over a range. For indicators.
    pub fn totals_request(
        &'static self,
        context: &QueryContext,
        call: &mut Call<'_>,
        is_wanted: impl Fn(&str) -> bool,
    ) -> Result<TotalsRequest, Stop> {
        let range = context.range(call);
        let mut request = StatsRequest::new(self, call, context, range)?;
        request.columns.retain(|column| is_wanted(column.name));
        request.of_totals.clear();
        Ok(TotalsRequest(request))
    }

    fn wanted(&self, call: &Call<'_>, context: &QueryContext) -> IntervalPage {
        let number = |name: &str, usual: i64| {
            usize::try_from(call.params.int(name).unwrap_or(usual).max(1)).unwrap_or(1)
        };
        IntervalPage {
            by_date: self.sort(call, context).is_none(),
            descending: call.params.text("order") != Some("asc"),
            page: number("page", 1),
            per_page: number("per_page", super::args::PER_PAGE),
        }
    }

    /// The columns of totals and intervals.
    fn columns_for(&self, context: &QueryContext) -> Vec<Column> {
        let mut columns = self.columns.to_vec();
        if context.follows(Rule::NoVariationIsOne) {
            let counts = columns.iter_mut().filter(|own| own.name == "variations_count");
            counts.for_each(|own| *own = products::VARIATIONS_OR_NONE);
        }
        columns
    }

    /// The column that intervals are sorted by; none for the date.
    fn sort(&self, call: &Call<'_>, context: &QueryContext) -> Option<&'static Column> {
        let name = call.params.text("orderby")?;
        let others = if context.follows(Rule::SortsByColumnsOnly) { &[] } else { self.sorts };
        self.columns.iter().chain(others).find(|column| column.name == name)
    }
}

impl IntervalPage {
    fn per_page_count(&self) -> i64 {
        i64::try_from(self.per_page).unwrap_or(i64::MAX)
    }

    fn page_number(&self) -> i64 {
        i64::try_from(self.page).unwrap_or(i64::MAX)
    }
}

/// The reply with its headers and this body.
fn with_body(head: Reply, body: Value) -> Reply {
    Reply { body: Body::Json(body), ..head }
}

fn unit(call: &Call<'_>) -> Unit {
    call.params.text("interval").and_then(Unit::named).unwrap_or(Unit::Week)
}

/// Refuses what would keep everybody else waiting: too many segments of too many intervals.
fn check_cells(segments: usize, intervals: usize, shown: usize) -> Result<(), Refusal> {
    let message = if segments.saturating_mul(intervals) > CELLS_MAX {
        "Too many intervals to segment; choose longer intervals or a shorter date range."
    } else if segments.saturating_mul(shown) > CELLS_SHOWN_MAX {
        "Too many segments for one page; reduce per_page or filter the segments."
    } else {
        return Ok(());
    };
    Err(Refusal::new(400, "woocommerce_rest_too_many_segments", message))
}

fn too_many() -> Refusal {
    let message = "Too many intervals; choose longer intervals or a shorter date range.";
    Refusal::new(400, "woocommerce_rest_too_many_intervals", message)
}

/// A question for totals.
#[derive(Debug)]
pub struct TotalsRequest(StatsRequest);

impl TotalsRequest {
    pub fn compute(&self, context: &QueryContext) -> types::Result<Map<String, Value>> {
        self.0.totals(None, context)
    }
}

/// A report with everything that one request says about it.
#[derive(Debug)]
struct StatsRequest {
    report: &'static Stats,
    query: Query,
    /// The columns that are shown, and those of the totals alone.
    columns: Vec<Column>,
    of_totals: Vec<Column>,
    sort: Option<&'static Column>,
}

impl StatsRequest {
    /// The totals, and the intervals on the page.
    fn compute(
        &self,
        mut segments: Option<Segments>,
        intervals: &[Interval],
        wanted: &IntervalPage,
        context: &QueryContext,
    ) -> Result<Value, Stop> {
        if let Some(segments) = &mut segments {
            segments.settle(&self.query, context)?;
            let shown = wanted.per_page.min(intervals.len());
            check_cells(segments.count(), intervals.len(), shown)?;
        }
        let totals = self.totals(segments.as_ref(), context)?;
        let places = self.page(intervals, wanted, context)?;
        let shown: Vec<&Interval> = places.iter().filter_map(|at| intervals.get(*at)).collect();
        let bodies = self.intervals(&shown, segments.as_ref(), context)?;
        Ok(json!({ "totals": totals, "intervals": bodies }))
    }

    fn new(
        report: &'static Stats,
        call: &mut Call<'_>,
        context: &QueryContext,
        range: Range,
    ) -> Result<Self, Stop> {
        let filter = (report.filter)(call, context)?;
        let query = Query { filter, ..Query::of(report.table, (report.date)(call), span(range)) };
        let fields = body::fields(call, context);
        let shown = |columns: &[Column]| -> Vec<Column> {
            let Some(fields) = &fields else { return columns.to_vec() };
            let is_shown = |column: &&Column| {
                fields.iter().any(|name| name == column.name)
                    || report.always.contains(&column.name)
            };
            columns.iter().filter(is_shown).copied().collect()
        };
        Ok(Self {
            report,
            query,
            columns: shown(&report.columns_for(context)),
            of_totals: shown(report.of_totals),
            sort: report.sort(call, context),
        })
    }

    fn totals(
        &self,
        segments: Option<&Segments>,
        context: &QueryContext,
    ) -> types::Result<Map<String, Value>> {
        let plan = Plan::of(self.columns.iter().chain(&self.of_totals).copied());
        let query = Query { measures: plan.measures.clone(), ..self.query.clone() };
        let mut totals = plan.members(context.answer(&query)?.totals(0));
        if self.report.has_segments() {
            let found = segments.map(|segments| segments.of(&self.query, context)).transpose()?;
            let found = found.map(|found| found.of_bucket(0)).unwrap_or_default();
            totals.insert(String::from("segments"), json!(found));
        }
        Ok(totals)
    }

    /// The places of the intervals on the page.
    fn page(
        &self,
        intervals: &[Interval],
        wanted: &IntervalPage,
        context: &QueryContext,
    ) -> types::Result<Vec<usize>> {
        let rank = |index: usize| crate::columns::float(i64::try_from(index).unwrap_or(i64::MAX));
        let is_compat = context.follows(Rule::IntervalsUnsorted);
        if wanted.by_date && !is_compat {
            let slot = |index: usize| Slot { index, is_present: true, rank: rank(index) };
            return Ok(wanted.cut((0..intervals.len()).map(slot).collect()));
        }
        let mut plan = Plan::of(self.sort.copied());
        plan.need(PRESENCE);
        let (query, buckets) = self.bucketed(intervals.iter(), plan.measures.clone());
        let answer = context.answer(&query)?;
        let slots = buckets.iter().enumerate().map(|(index, bucket)| {
            let values = answer.totals(*bucket);
            let column = self.sort.and_then(|column| plan.number(column.name, values));
            let by_column = column.and_then(|value| value.as_f64()).unwrap_or_default();
            let is_present = plan.raw(PRESENCE, values) > 0;
            Slot { index, is_present, rank: if wanted.by_date { rank(index) } else { by_column } }
        });
        let slots: Vec<Slot> = slots.collect();
        if is_compat {
            return Ok(compat::page(self.report.path, slots, wanted));
        }
        Ok(wanted.cut(slots))
    }

    fn intervals(
        &self,
        shown: &[&Interval],
        segments: Option<&Segments>,
        context: &QueryContext,
    ) -> types::Result<Vec<Value>> {
        let plan = Plan::of(self.columns.iter().copied());
        let (query, buckets) = self.bucketed(shown.iter().copied(), plan.measures.clone());
        let answer = context.answer(&query)?;
        let split = segments.map(|segments| segments.of(&query, context)).transpose()?;
        let bodies = shown.iter().zip(&buckets).map(|(interval, bucket)| {
            let mut subtotals = plan.members(answer.totals(*bucket));
            if self.report.has_segments() {
                let found = split.as_ref().map(|split| split.of_bucket(*bucket));
                subtotals.insert(String::from("segments"), json!(found.unwrap_or_default()));
            }
            body::interval(interval, subtotals, context)
        });
        Ok(bodies.collect())
    }

    /// The query over these intervals, and the bucket of each. Between intervals that do not follow
    /// each other lies a bucket that nobody looks at.
    fn bucketed<'i>(
        &self,
        intervals: impl Iterator<Item = &'i Interval>,
        measures: Vec<Measure>,
    ) -> (Query, Vec<usize>) {
        let ranges: Vec<Range> = intervals.map(|interval| interval.range).collect();
        let mut bounds: Vec<i64> =
            ranges.iter().flat_map(|range| [range.first, range.last + 1]).collect();
        bounds.sort_unstable();
        bounds.dedup();
        let bucket = |range: &Range| bounds.binary_search(&range.first).unwrap_or_default();
        let buckets = ranges.iter().map(bucket).collect();
        let bounds = bounds.iter().map(|second| timestamp(*second)).collect();
        (Query { bounds, measures, group: Group::None, ..self.query.clone() }, buckets)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_of_very_many_intervals_are_refused() {
        for (segments, intervals, shown, is_refused) in [
            (1_000, 730, 100, false),
            (2, 95_689, 100, false),
            (160, 95_689, 100, true),
            (1_001, 100, 100, true),
            (1_001, 100, 10, false),
            (usize::MAX, 2, 1, true),
        ] {
            let refused = check_cells(segments, intervals, shown).err();
            assert_eq!(refused.is_some(), is_refused, "{segments} {intervals} {shown}");
        }
    }
}
