//! The page of intervals that an answer shows, and which of them the reference's database is asked
//! about.

use super::{PRESENCE, StatsRequest};
use crate::calendar::Interval;
use crate::columns::Plan;
use crate::context::QueryContext;
use crate::intervals::IntervalPage;

pub(super) struct Page<'a> {
    /// All of the range, by time.
    pub(super) all: &'a [Interval],
    /// Those of the answer, in its order.
    pub(super) shown: Vec<&'a Interval>,
    /// Of each of those, whether it is shown with zeros.
    pub(super) blank: Vec<bool>,
    pub(super) wanted: IntervalPage,
}

/// What the database is asked, and what it meets there.
pub(super) struct Question<'a> {
    /// By time.
    pub(super) intervals: Vec<&'a Interval>,
    /// How many rows each of them has.
    pub(super) counts: Vec<i64>,
    /// In how many intervals of the range there are none.
    pub(super) missing: usize,
}

impl<'a> Page<'a> {
    /// The intervals that the database is asked about: those on the page if it is one by date and
    /// nothing happened in some of the range, else all.
    pub(super) fn question(
        &self,
        asked: &StatsRequest<'_>,
        context: &QueryContext,
    ) -> Question<'a> {
        let mut plan = Plan::default();
        plan.need(PRESENCE);
        let (query, buckets) = asked.bucketed(self.all.iter(), plan.measures.clone());
        let answer = context.answer(&query);
        let count = |bucket: usize| plan.raw(PRESENCE, answer.totals(bucket));
        let all = self.all.iter().zip(buckets.into_iter().map(count));
        let missing = all.clone().filter(|(_, count)| *count == 0).count();
        let is_page_only = missing > 0 && self.wanted.by_date;
        let starts = || self.shown.iter().map(|shown| shown.range.first);
        // By date, intervals on a page follow each other.
        let bounds = (starts().min(), starts().max());
        let is_asked = |interval: &Interval| {
            let start = Some(interval.range.first);
            !is_page_only || (bounds.0 <= start && start <= bounds.1)
        };
        let (intervals, counts) = all.filter(|(interval, _)| is_asked(interval)).unzip();
        Question { intervals, counts, missing }
    }
}

impl Question<'_> {
    /// The place of the interval among those that are asked about.
    pub(super) fn place(&self, interval: &Interval) -> Option<usize> {
        self.intervals.binary_search_by_key(&interval.range.first, |own| own.range.first).ok()
    }

    /// Whether anything happened in the interval.
    pub(super) fn meets_any_in(&self, interval: &Interval) -> bool {
        let count = self.place(interval).and_then(|place| self.counts.get(place));
        count.is_some_and(|count| *count > 0)
    }
}
