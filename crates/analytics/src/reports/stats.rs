//! Reports over time: totals of a range, and the same numbers for each of its intervals.
//!
//! A report is a [`Stats`]: its columns, where its rows come from, and how it can be split. One
//! function makes all of them. **No report has a loop of its own.**

mod body;
pub mod coupons;
pub mod downloads;
pub mod orders;
mod page;
pub mod products;
mod query_args;
pub mod segments;
mod shown_coupons;
pub mod taxes;
pub mod variations;

use std::sync::Arc;

use contract::rest::route::{READ, Route};
use contract::rest::{Args, Refusal, Reply, Stop};
use serde_json::{Map, Value, json};
use site::action::read;
use site::paging::with_totals;
use site::{Action, Call};

use crate::calendar::{Interval, Range, Unit};
use crate::columns::{Column, Plan};
use crate::context::{QueryContext, ReportContext, may_view, span, timestamp};
use crate::intervals::{Habit, IntervalPage, Place, Slot, strict_page, usual_page};
use crate::query::{DateColumn, Filter, Group, Measure, Query, Table, When};
use page::Page;
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
    pub habit: Habit,
    /// The parameters that choose products: by themselves, and by their categories.
    pub product_params: (&'static str, &'static str),
    /// The parameter that chooses variations.
    pub variations_param: &'static str,
    /// Whether it splits by all variations there are, and not just by those of one product.
    pub splits_all_variations: bool,
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
        let run = read(may_view, move |call: &mut Call<'_>| self.run(&reports, call))
            .after(move |site, visit, params| waiting.fresh(site, visit, params))
            .in_turns();
        Route::at(namespace, &format!("/reports{}", self.path))
            .on(READ, (self.args)(), run)
            .schema(body::document(self))
    }

    /// The answer to a request.
    pub fn run(&self, reports: &ReportContext, call: &mut Call<'_>) -> Result<Reply, Stop> {
        let context = reports.query_context(call)?;
        let (range, unit) = (context.range(call), unit(call));
        let mut segments = Segments::asked(self, call, &context)?;
        let count = context.calendar.count(unit, range);
        let path = format!("{}/reports{}", reports.base, self.path);
        let wanted = self.wanted(call);
        let pages = count.div_euclid(wanted.per_page_count())
            + i64::from(count % wanted.per_page_count() > 0);
        if wanted.page_number() > pages {
            let body = json!({ "totals": null, "intervals": [] });
            return Ok(with_totals(Reply::new(body), call, &path, count));
        }
        let Some(intervals) = context.calendar.intervals(unit, range) else {
            return Err(too_many().into());
        };
        let asked = StatsRequest::new(self, call, &context, range)?;
        if let Some(segments) = &mut segments {
            if context.is_bound() {
                segments.keep_found(&asked.query, &context);
            }
            let shown = wanted.per_page.min(intervals.len());
            check_cells(segments.count(), intervals.len(), shown)?;
        }
        let totals = asked.totals(segments.as_ref(), &context);
        let places = asked.page(&intervals, &wanted, &context);
        let known = places.iter().filter_map(|at| Some((intervals.get(at.index)?, at.is_blank)));
        let (shown, blank): (Vec<&Interval>, Vec<bool>) = known.unzip();
        let page = Page { all: &intervals, shown, blank, wanted };
        let mut bodies = asked.intervals(&page, segments.as_ref(), &context);
        if !context.is_strict && self.table == Table::Orders {
            asked.show_coupons_as_known(&mut bodies, &page, &totals, &context);
        }
        let body = json!({ "totals": totals, "intervals": bodies });
        let debug = query_args::of_cache(self, call, &context, range);
        let reply = Reply::new(body).beside("debug_cache", debug);
        Ok(with_totals(reply, call, &path, count))
    }

    /// Some of the totals alone, over a range. For indicators.
    pub fn totals(
        &self,
        reports: &ReportContext,
        call: &mut Call<'_>,
        is_wanted: impl Fn(&str) -> bool,
    ) -> Result<Map<String, Value>, Stop> {
        let context = reports.query_context(call)?;
        let range = context.range(call);
        let mut asked = StatsRequest::new(self, call, &context, range)?;
        asked.columns.retain(|column| is_wanted(column.name));
        asked.of_totals.clear();
        Ok(asked.totals(None, &context))
    }

    fn wanted(&self, call: &Call<'_>) -> IntervalPage {
        let number = |name: &str, usual: i64| {
            usize::try_from(call.params.int(name).unwrap_or(usual).max(1)).unwrap_or(1)
        };
        IntervalPage {
            by_date: matches!(self.sort(call), Sort::Date),
            descending: call.params.text("order") != Some("asc"),
            page: number("page", 1),
            per_page: number("per_page", super::args::PER_PAGE),
        }
    }

    /// A name that is no column sorts by date where the database would fail, and by nothing where
    /// it does not sort at all.
    fn sort(&self, call: &Call<'_>) -> Sort {
        let name = call.params.text("orderby").unwrap_or_default();
        match self.columns.iter().find(|column| column.name == name) {
            Some(column) => Sort::Column(column),
            None if name == "date" || name.is_empty() => Sort::Date,
            None if self.habit == Habit::Sorted => Sort::Date,
            None => Sort::Nothing,
        }
    }
}

/// What intervals are sorted by.
#[derive(Clone, Copy, Debug)]
enum Sort {
    Date,
    Column(&'static Column),
    Nothing,
}

impl IntervalPage {
    fn per_page_count(&self) -> i64 {
        i64::try_from(self.per_page).unwrap_or(i64::MAX)
    }

    fn page_number(&self) -> i64 {
        i64::try_from(self.page).unwrap_or(i64::MAX)
    }
}

fn unit(call: &Call<'_>) -> Unit {
    call.params.text("interval").and_then(Unit::named).unwrap_or(Unit::Week)
}

/// Refuses what would keep everybody else waiting: too many segments of too many intervals.
fn check_cells(segments: usize, intervals: usize, shown: usize) -> Result<(), Refusal> {
    let message = if segments.saturating_mul(intervals) > CELLS_MAX {
        "Too many intervals to be split; ask for longer intervals or a shorter range."
    } else if segments.saturating_mul(shown) > CELLS_SHOWN_MAX {
        "These are too many segments for one page; ask for fewer per_page, or choose what to split."
    } else {
        return Ok(());
    };
    Err(Refusal::new(400, "woocommerce_rest_too_many_segments", message))
}

fn too_many() -> Refusal {
    let message = "This range has too many intervals; ask for longer intervals or a shorter range.";
    Refusal::new(400, "woocommerce_rest_too_many_intervals", message)
}

/// A report with everything that one request says about it.
struct StatsRequest<'r> {
    report: &'r Stats,
    query: Query,
    /// The columns that are shown, and those of the totals alone.
    columns: Vec<Column>,
    of_totals: Vec<Column>,
    sort: Sort,
}

impl<'r> StatsRequest<'r> {
    fn new(
        report: &'r Stats,
        call: &mut Call<'_>,
        context: &QueryContext,
        range: Range,
    ) -> Result<Self, Stop> {
        let filter = (report.filter)(call, context)?;
        let query = Query { filter, ..Query::of(report.table, (report.date)(call), span(range)) };
        let fields = body::fields(call);
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
            columns: shown(report.columns),
            of_totals: shown(report.of_totals),
            sort: report.sort(call),
        })
    }

    fn totals(&self, segments: Option<&Segments>, context: &QueryContext) -> Map<String, Value> {
        let plan = Plan::of(self.columns.iter().chain(&self.of_totals).copied());
        let query = Query { measures: plan.measures.clone(), ..self.query.clone() };
        let mut totals = plan.members(context.answer(&query).totals(0));
        if self.report.has_segments() {
            let found = segments.map(|segments| segments.of(&self.query, context));
            let found = found.map(|found| found.of_bucket(0)).unwrap_or_default();
            totals.insert(String::from("segments"), json!(found));
        }
        totals
    }

    /// The intervals on the page.
    fn page(
        &self,
        intervals: &[Interval],
        wanted: &IntervalPage,
        context: &QueryContext,
    ) -> Vec<Place> {
        let is_plain = wanted.by_date && (context.is_strict || self.report.habit == Habit::Sorted);
        let rank = |index: usize| crate::columns::float(i64::try_from(index).unwrap_or(i64::MAX));
        if is_plain {
            let slots = (0..intervals.len()).map(|index| Slot {
                index,
                is_present: true,
                rank: rank(index),
            });
            return strict_page(slots.collect(), wanted);
        }
        let sort = match self.sort {
            Sort::Column(column) => Some(column),
            Sort::Date | Sort::Nothing => None,
        };
        let mut plan = Plan::of(sort.copied());
        plan.need(PRESENCE);
        let query = self.bucketed(intervals.iter(), plan.measures.clone());
        let answer = context.answer(&query.0);
        let slots = query.1.iter().enumerate().map(|(index, bucket)| {
            let values = answer.totals(*bucket);
            let column = sort.and_then(|column| plan.number(column.name, values));
            let by_column = column.and_then(|value| value.as_f64()).unwrap_or_default();
            let is_present = plan.raw(PRESENCE, values) > 0;
            Slot { index, is_present, rank: if wanted.by_date { rank(index) } else { by_column } }
        });
        let slots: Vec<Slot> = slots.collect();
        if context.is_strict {
            strict_page(slots, wanted)
        } else {
            usual_page(&slots, wanted, self.report.habit)
        }
    }

    fn intervals(
        &self,
        page: &Page<'_>,
        segments: Option<&Segments>,
        context: &QueryContext,
    ) -> Vec<Value> {
        let plan = Plan::of(self.columns.iter().copied());
        let (query, buckets) = self.bucketed(page.shown.iter().copied(), plan.measures.clone());
        let answer = context.answer(&query);
        let split = segments.map(|segments| self.split(page, segments, context));
        let shown = page.shown.iter().zip(&buckets).enumerate();
        let bodies = shown.map(|(place, (interval, bucket))| {
            let is_blank = page.blank.get(place) == Some(&true);
            let numbers = if is_blank { &[] } else { answer.totals(*bucket) };
            let mut subtotals = plan.members(numbers);
            if self.report.has_segments() {
                let found = split.as_ref().and_then(|split| split.get(place)).cloned();
                subtotals.insert(String::from("segments"), json!(found.unwrap_or_default()));
            }
            body::interval(interval, subtotals, context)
        });
        bodies.collect()
    }

    /// The segments of each interval on the page. Clients know that their database gives as many
    /// rows as there are places for on the page, by time, and loses the rest.
    fn split(
        &self,
        page: &Page<'_>,
        segments: &Segments,
        context: &QueryContext,
    ) -> Vec<Vec<Value>> {
        if context.is_strict || self.report.table != Table::Orders {
            let (query, buckets) = self.bucketed(page.shown.iter().copied(), Vec::new());
            let found = segments.of(&query, context);
            return buckets.iter().map(|bucket| found.of_bucket(*bucket)).collect();
        }
        let question = page.question(self, context);
        let (query, buckets) = self.bucketed(question.intervals.iter().copied(), Vec::new());
        let found = segments.of(&query, context).cut(page.wanted.database_rows(question.missing));
        let bucket_of = |interval: &Interval| {
            question.place(interval).and_then(|place| buckets.get(place)).copied()
        };
        let of = |interval: &&Interval| {
            bucket_of(interval).map(|bucket| found.of_bucket(bucket)).unwrap_or_default()
        };
        page.shown.iter().map(of).collect()
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
