//! Queries carried out: chunks are dealt out to threads, and what they found is added up.

use std::num::NonZero;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use super::downloads;
use super::plan::Plan;
use super::work::Work;
use super::{Answer, Query, Scope, Table};
use crate::facts::Snapshot;
use crate::facts::chunk::Chunk;

/// Orders for which one more thread is worth its start.
const ROWS_PER_THREAD: usize = 100_000;
/// Threads of one query.
const THREADS_MAX: usize = 16;

impl Snapshot {
    /// Carries the query out on what the scope shows.
    pub fn answer(&self, scope: &Scope, query: &Query) -> Answer {
        if query.table == Table::Downloads {
            return downloads::answer(self, scope, query);
        }
        let plan = Plan::new(self, scope, query);
        let chunks: Vec<(usize, &Arc<Chunk>)> =
            self.chunks.iter().enumerate().filter(|(_, chunk)| !plan.skips(chunk)).collect();
        let next = AtomicUsize::new(0);
        let run = || {
            let mut work = Work::new(&plan);
            while let Some((number, chunk)) = chunks.get(next.fetch_add(1, Ordering::Relaxed)) {
                work.chunk(*number, chunk);
            }
            work.totals
        };
        let found = thread::scope(|scope| {
            let helpers: Vec<_> = (1..threads(&chunks)).map(|_| scope.spawn(run)).collect();
            let mut own = run();
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
}

/// How many threads the chunks are worth.
pub(super) fn threads(chunks: &[(usize, &Arc<Chunk>)]) -> usize {
    let rows: usize = chunks.iter().map(|(_, chunk)| chunk.len()).sum();
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    (rows / ROWS_PER_THREAD).clamp(1, cores.min(THREADS_MAX))
}
