//! How runs are dealt out to the threads of a query. **A thread takes a share of a run**, not all
//! of it: a short span has so few runs that whole ones would keep one thread busy while others
//! wait. Who reads the last share of a run puts the parts of all together.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use super::kept::Run;
use super::plan::Plan;
use super::totals::Part;

/// Shares that each thread gets about. With more of them threads wait less for the last one, and
/// more parts are put together.
const SHARES_PER_THREAD: usize = 4;

pub(super) struct Shares<'a> {
    runs: &'a [Run<'a>],
    /// Places of runs, with some chunks of each.
    list: Vec<(usize, Range<usize>)>,
    next: AtomicUsize,
    /// By the run: how many shares are not read yet, and what the others came to.
    found: Vec<Mutex<(usize, Vec<Part>)>>,
}

impl<'a> Shares<'a> {
    pub(super) fn new(runs: &'a [Run<'a>], threads: usize) -> Self {
        let chunks = runs.iter().map(Run::len).sum::<usize>();
        let largest = if threads > 1 { chunks / (threads * SHARES_PER_THREAD) } else { chunks };
        let mut shares =
            Self { runs, list: Vec::new(), next: AtomicUsize::new(0), found: Vec::new() };
        for (place, run) in runs.iter().enumerate() {
            let count = run.len().div_ceil(largest.max(1));
            let bound = |share: usize| share * run.len() / count.max(1);
            let own = (0..count).map(|share| (place, bound(share)..bound(share + 1)));
            shares.list.extend(own);
            shares.found.push(Mutex::new((count, Vec::with_capacity(count))));
        }
        shares
    }

    /// Reads the next share, and gives its run to `whole` if it was the last one of that. False
    /// when none is left.
    pub(super) fn read_next(&self, plan: &Plan<'_>, whole: impl FnOnce(&Run<'_>, Part)) -> bool {
        let next = self.list.get(self.next.fetch_add(1, Ordering::Relaxed));
        let Some((place, chunks)) = next else { return false };
        let Some((run, found)) = self.runs.get(*place).zip(self.found.get(*place)) else {
            return true;
        };
        let part = run.carry_out(plan, chunks.clone());
        let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
        let (left, parts) = &mut *found;
        *left -= 1;
        parts.push(part);
        if *left > 0 {
            return true;
        }
        let parts = std::mem::take(parts);
        drop(found);
        whole(run, run.put_together(plan, parts));
        true
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use types::Timestamp;

    use super::*;
    use crate::facts::{OrderFact, OrderNumber, Writer};
    use crate::query::kept::Pieces;
    use crate::query::totals::Totals;
    use crate::query::{
        Column, DateColumn, Group, Measure, Per, Query, Scope, Span, Subject, Table, When,
    };

    #[test]
    fn shares_come_to_what_whole_runs_do() {
        let order = |order_id: i64| OrderFact {
            order_id,
            created: Timestamp::from_micros(order_id * 3_600_000_000),
            customer_id: order_id % 17,
            items: order_id,
            ..OrderFact::default()
        };
        let mut writer = Writer::new([]).with_chunks_of(2);
        writer.apply(&BTreeSet::new(), &(1..=120).map(order).collect::<Vec<_>>());
        let (facts, scope) = (writer.snapshot(), Scope::everything());
        let items = Column::Order(OrderNumber::Items);
        for group in [Group::None, Group::Customer] {
            let query = Query {
                group,
                measures: vec![
                    Measure::Sum(items, When::Always, Per::Row),
                    Measure::Distinct(Subject::Customer, When::Always),
                    Measure::Latest(DateColumn::Created),
                ],
                ..Query::of(Table::Orders, DateColumn::Created, Span::ALWAYS)
            };
            let plan = Plan::new(&facts, &scope, &query);
            let runs = Pieces::new(&facts, &plan, &scope, &query).runs;
            let answers = [1, 2, 5, 100].map(|threads| {
                let shares = Shares::new(&runs, threads);
                let chunks: usize = shares.list.iter().map(|(_, chunks)| chunks.len()).sum();
                assert_eq!(chunks, runs.iter().map(Run::len).sum::<usize>());
                let mut totals = Totals::new(&plan, 0);
                let mut whole = 0;
                while shares.read_next(&plan, |run, part| {
                    totals.absorb(&part, run.bucket);
                    whole += 1;
                }) {}
                assert_eq!(whole, runs.len(), "each run is put together once");
                (shares.list.len(), totals.finish())
            });
            let [(one, first), .., (many, _)] = &answers;
            assert!(one == &runs.len() && many > one);
            assert!(answers.iter().all(|(_, answer)| answer == first));
            assert!(!first.is_empty());
        }
    }
}
