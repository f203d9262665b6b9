//! Queries carried out: what is known of earlier ones is added up, the other chunks are dealt out
//! to threads, and what they found is added to it.

use std::num::NonZero;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use super::downloads;
use super::kept::{Kept, Pieces, Run, bytes_max};
use super::plan::Plan;
use super::shares::Shares;
use super::totals::Totals;
use super::work::Work;
use super::{Answer, Measure, Query, Scope, Table, When};
use crate::facts::Snapshot;

/// Orders for which one more thread is worth its start.
const ROWS_PER_THREAD: usize = 50_000;
/// Threads of one query.
const THREADS_MAX: usize = 16;

impl Snapshot {
    /// Carries the query out on what the scope shows.
    pub fn answer(&self, scope: &Scope, query: &Query) -> Answer {
        if query.table == Table::Downloads {
            return downloads::answer(self, scope, query);
        }
        let plan = Plan::new(self, scope, query);
        let kept: &Kept = self.memo.get();
        let Pieces { mut runs, chunks } = Pieces::new(self, &plan, scope, query);
        let pieces = runs.iter().map(Run::rows).chain(chunks.iter().map(|(_, chunk)| chunk.len()));
        let mut totals = Totals::new(&plan, pieces.sum());
        runs.retain(|run| match kept.find(run) {
            Some(part) => {
                totals.absorb(&part, run.bucket);
                false
            }
            None => true,
        });
        let rows = runs.iter().map(Run::rows).sum::<usize>()
            + chunks.iter().map(|(_, chunk)| chunk.len()).sum::<usize>();
        let orders = self.orders();
        let threads = threads(rows);
        let shares = Shares::new(&runs, threads);
        let next_chunk = AtomicUsize::new(0);
        let read = |totals| {
            let mut work = Work::new(&plan, totals);
            while shares.read_next(&plan, |run, part| {
                let part = Arc::new(part);
                work.totals.absorb(&part, run.bucket);
                kept.keep(run, part, orders);
            }) {}
            while let Some((number, chunk)) = chunks.get(next_chunk.fetch_add(1, Ordering::Relaxed))
            {
                work.chunk(*number, chunk);
            }
            work.totals
        };
        let found = thread::scope(|scope| {
            let start = || scope.spawn(|| read(Totals::new(&plan, rows / threads)));
            let helpers: Vec<_> = (1..threads).map(|_| start()).collect();
            let mut own = read(totals);
            for helper in helpers {
                match helper.join() {
                    Ok(other) => own.merge(other),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
            own
        });
        found.finish()
    }

    /// How many rows the query finds, whatever it measures.
    pub fn count(&self, scope: &Scope, query: &Query) -> usize {
        let query = Query { measures: vec![Measure::Rows(When::Always)], ..query.clone() };
        let found = self.answer(scope, &query).totals(0).first().copied().unwrap_or_default();
        usize::try_from(found).unwrap_or_default()
    }

    /// Bytes that are kept of what earlier queries came to, and how many that may be.
    pub fn kept_bytes(&self) -> (usize, usize) {
        (self.memo.get::<Kept>().bytes(), bytes_max(self.orders()))
    }

    /// Forgets what earlier queries came to, so that the next one reads every row again. For
    /// measuring just that.
    pub fn forget(&self) {
        self.memo.get::<Kept>().clear();
    }
}

/// How many threads so many rows are worth.
fn threads(rows: usize) -> usize {
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    (rows / ROWS_PER_THREAD).clamp(1, cores.min(THREADS_MAX))
}
