//! What runs of chunks came to, kept for the next question of the same kind.
//!
//! A chunk never changes, so what a question comes to in it does not change either. Chunks are cut
//! into runs of about [`RUN_CHUNKS`]; one that lies wholly within the span of a question has a part
//! of its answer, and so has each single chunk that does in a run that does not. Such a part
//! depends on the question without the span, and on the bounds between the buckets that it reaches
//! into. So whoever asks the same of another span, or asks again after some orders came in, reads
//! the small chunks at the end and those that the edges cut: two by the date of creation, and more
//! by others if some orders were paid long after they were made. **A part is never patched**: when
//! one of its chunks is replaced, nobody finds it any more.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use super::plan::{Grouping, Plan, date_bounds};
use super::totals::{Part, Totals};
use super::work::Work;
use super::{DateColumn, Filter, Group, Measure, Query, Scope, Table};
use crate::facts::Snapshot;
use crate::facts::chunk::Chunk;

/// Chunks of a run, on average. Longer ones make fewer parts to add up, and more at the edges.
const RUN_CHUNKS: u64 = 8;
/// Chunks of a run at most.
const RUN_CHUNKS_MAX: usize = 16;
/// Cells of a part for each of its chunks. With more of them, adding it up is hardly faster than
/// reading the rows.
const CELLS_PER_CHUNK: usize = 1 << 12;
/// Memory that parts may take: so much for each order, and a little for small sites.
const BYTES_PER_ORDER: usize = 16;
const BYTES_MIN: usize = 4 << 20;
/// What a part takes besides its numbers: its place in the table, its key, its share of the
/// question, and what tells its chunks.
const BYTES_PER_PART: usize = 512;

/// Bytes that may be kept in a site of so many orders.
pub(super) fn bytes_max(orders: usize) -> usize {
    BYTES_MIN + orders.saturating_mul(BYTES_PER_ORDER)
}

/// A question without its span and buckets, and with what else its parts depend on.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Question {
    table: Table,
    date: DateColumn,
    filter: Filter,
    group: Group,
    measures: Vec<Measure>,
    scope: Scope,
    /// Which state of first orders decides who returns, if that matters.
    firsts: Option<u64>,
    /// Which state of the catalogue says what belongs to a category, and how categories are
    /// numbered, if that matters.
    catalog: Option<(u64, Arc<Vec<i64>>)>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Key {
    question: Arc<Question>,
    /// Where the first chunk lies in memory. The entry holds on to the place.
    first: usize,
    chunks: usize,
    /// Bounds between the buckets that the run reaches into. Where the first begins and the last
    /// ends is all the same, for no row of the run is outside.
    bounds: Box<[i64]>,
}

#[derive(Debug)]
struct Entry {
    /// The chunks, which may be gone; their places are not used again as long as this is kept.
    chunks: Vec<Weak<Chunk>>,
    part: Arc<Part>,
}

impl Entry {
    fn is_of(&self, chunks: &[Arc<Chunk>]) -> bool {
        let is_same = |(own, other): (&Weak<Chunk>, &Arc<Chunk>)| {
            std::ptr::eq(Weak::as_ptr(own), Arc::as_ptr(other))
        };
        self.chunks.len() == chunks.len() && self.chunks.iter().zip(chunks).all(is_same)
    }
}

/// The parts that all snapshots of one writer share.
#[derive(Debug, Default)]
pub(super) struct Kept(Mutex<Generations>);

/// What nobody asked for while as much was asked for as may be kept is forgotten.
#[derive(Debug, Default)]
struct Generations {
    young: HashMap<Key, Entry>,
    old: HashMap<Key, Entry>,
    /// Of the young.
    bytes: usize,
}

/// A run of one question.
pub(super) struct Run<'a> {
    chunks: &'a [Arc<Chunk>],
    /// The place of the first chunk among all.
    number: usize,
    /// The first bucket that it reaches into.
    pub(super) bucket: usize,
    /// Bounds of the buckets that it reaches into.
    bounds: Vec<i64>,
    key: Key,
}

impl Run<'_> {
    /// Orders and refunds.
    pub(super) fn rows(&self) -> usize {
        self.chunks.iter().map(|chunk| chunk.len()).sum()
    }

    /// How many chunks it has.
    pub(super) fn len(&self) -> usize {
        self.chunks.len()
    }

    /// Reads the rows of some of its chunks.
    pub(super) fn carry_out(&self, plan: &Plan<'_>, chunks: Range<usize>) -> Part {
        let plan = plan.within(&self.bounds);
        let first = self.number + chunks.start;
        let chunks = self.chunks.get(chunks).unwrap_or_default();
        let rows = chunks.iter().map(|chunk| chunk.len()).sum();
        let mut work = Work::new(&plan, Totals::new(&plan, rows));
        for (number, chunk) in (first..).zip(chunks) {
            work.chunk(number, chunk);
        }
        work.totals.into_part()
    }

    /// What all its chunks came to, of what some of them did.
    pub(super) fn put_together(&self, plan: &Plan<'_>, mut parts: Vec<Part>) -> Part {
        if parts.len() == 1
            && let Some(part) = parts.pop()
        {
            return part;
        }
        let plan = plan.within(&self.bounds);
        let mut totals = Totals::new(&plan, self.rows());
        for part in &parts {
            totals.absorb(part, 0);
        }
        totals.into_part()
    }
}

/// What a question is made of: runs, and single chunks between and behind them.
pub(super) struct Pieces<'a> {
    pub(super) runs: Vec<Run<'a>>,
    pub(super) chunks: Vec<(usize, &'a Arc<Chunk>)>,
}

impl<'a> Pieces<'a> {
    pub(super) fn new(facts: &'a Snapshot, plan: &Plan<'_>, scope: &Scope, query: &Query) -> Self {
        let question = Arc::new(Question::new(facts, plan, scope, query));
        let mut pieces = Self { runs: Vec::new(), chunks: Vec::new() };
        // Others are about to change; a run that they are part of is not worth keeping.
        let settled = facts.settled;
        let run = |number: usize, chunks: &'a [Arc<Chunk>]| {
            let is_settled = number + chunks.len() <= settled;
            if is_settled { Run::new(plan, &question, number, chunks) } else { None }
        };
        for (number, chunks) in cut(&facts.chunks) {
            if chunks.iter().all(|chunk| plan.skips(chunk)) {
                continue;
            }
            if let Some(whole) = run(number, chunks) {
                pieces.runs.push(whole);
                continue;
            }
            for (number, chunk) in (number..).zip(chunks).filter(|(_, chunk)| !plan.skips(chunk)) {
                match run(number, std::slice::from_ref(chunk)) {
                    Some(single) => pieces.runs.push(single),
                    None => pieces.chunks.push((number, chunk)),
                }
            }
        }
        pieces
    }
}

/// Cuts the chunks into runs, each with the place of its first chunk. **A chunk tells by itself
/// whether a run begins with it**, so that rows which come in late change the runs around them and
/// no others.
fn cut(chunks: &[Arc<Chunk>]) -> impl Iterator<Item = (usize, &[Arc<Chunk>])> {
    let mut next = 0;
    std::iter::from_fn(move || {
        let (number, rest) = (next, chunks.get(next..)?);
        let others = rest.get(1..)?.iter().take(RUN_CHUNKS_MAX - 1);
        let run = rest.get(..1 + others.take_while(|chunk| !is_head(chunk)).count())?;
        next += run.len();
        Some((number, run))
    })
}

/// Whether a run begins with the chunk: one in [`RUN_CHUNKS`] does, by the look of its date.
fn is_head(chunk: &Chunk) -> bool {
    let first = chunk.created.map_or(0, |(first, _)| first);
    let mixed = first.cast_unsigned().wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(7);
    mixed.is_multiple_of(RUN_CHUNKS)
}

impl<'a> Run<'a> {
    /// The chunks as a run, if they lie wholly within the span and there are so few cells that
    /// keeping them is worth while.
    fn new(
        plan: &Plan<'_>,
        question: &Arc<Question>,
        number: usize,
        chunks: &'a [Arc<Chunk>],
    ) -> Option<Self> {
        let buckets = buckets(plan, chunks)?;
        let bounds = plan.bounds.get(buckets.start..=buckets.end).unwrap_or_default();
        let between = bounds.get(1..bounds.len().saturating_sub(1)).unwrap_or_default();
        let key = Key {
            question: Arc::clone(question),
            first: Arc::as_ptr(chunks.first()?).addr(),
            chunks: chunks.len(),
            bounds: between.into(),
        };
        Some(Self { chunks, number, bucket: buckets.start, bounds: bounds.to_vec(), key })
    }
}

/// The buckets that the chunks reach into.
fn buckets(plan: &Plan<'_>, chunks: &[Arc<Chunk>]) -> Option<Range<usize>> {
    let dated = || chunks.iter().filter_map(|chunk| date_bounds(chunk, plan.date));
    let first = dated().map(|(first, _)| first).min()?;
    let last = dated().map(|(_, last)| last).max()?;
    if first < plan.from || last >= plan.until {
        return None;
    }
    let start = plan.bucket(first, 0);
    let buckets = start..plan.bucket(last, start) + 1;
    let cells_max = CELLS_PER_CHUNK.saturating_mul(chunks.len());
    (buckets.len().saturating_mul(plan.keys) <= cells_max).then_some(buckets)
}

impl Question {
    fn new(facts: &Snapshot, plan: &Plan<'_>, scope: &Scope, query: &Query) -> Self {
        let asks_returning = matches!(*plan.grouping, Grouping::Returning)
            || query
                .filter
                .has(&|filter| matches!(filter, Filter::Returning(_) | Filter::CustomerType(_)));
        let is_by_category = matches!(query.group, Group::Category(_));
        Self {
            table: query.table,
            date: query.date,
            filter: query.filter.clone(),
            group: query.group,
            measures: query.measures.clone(),
            scope: scope.clone(),
            firsts: asks_returning.then_some(facts.versions.firsts),
            catalog: is_by_category.then(|| (facts.versions.catalog, Arc::clone(&plan.categories))),
        }
    }
}

impl Kept {
    /// What the run came to, if somebody asked before.
    pub(super) fn find(&self, run: &Run<'_>) -> Option<Arc<Part>> {
        let mut generations = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(entry) = generations.young.get(&run.key).filter(|own| own.is_of(run.chunks)) {
            return Some(Arc::clone(&entry.part));
        }
        let (key, entry) = generations.old.remove_entry(&run.key)?;
        let part = entry.is_of(run.chunks).then(|| Arc::clone(&entry.part))?;
        generations.bytes += BYTES_PER_PART + part.bytes();
        generations.young.insert(key, entry);
        Some(part)
    }

    /// Keeps what the run came to, in a site of so many orders.
    pub(super) fn keep(&self, run: &Run<'_>, part: Arc<Part>, orders: usize) {
        let bytes_max = bytes_max(orders);
        let chunks = run.chunks.iter().map(Arc::downgrade).collect();
        let bytes = BYTES_PER_PART + part.bytes();
        let mut generations = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if generations.bytes.saturating_add(bytes) > bytes_max / 2 {
            generations.old = std::mem::take(&mut generations.young);
            generations.bytes = 0;
        }
        generations.bytes += bytes;
        generations.young.insert(run.key.clone(), Entry { chunks, part });
    }

    /// Bytes that are kept. What is old was young when it was counted.
    pub(super) fn bytes(&self) -> usize {
        let generations = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let old = generations.old.values().map(|entry| BYTES_PER_PART + entry.part.bytes());
        generations.bytes + old.sum::<usize>()
    }

    pub(super) fn clear(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Generations::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::chunk::{Row, order};

    fn chunks(count: i64) -> Vec<Arc<Chunk>> {
        let chunk = |number: i64| {
            let mut row = Row::default();
            row.order[order::CREATED] = number * 90_000_000_000;
            Arc::new(Chunk::of_rows(&[row]))
        };
        (0..count).map(chunk).collect()
    }

    #[test]
    fn runs_are_all_chunks_in_their_order() {
        for count in [0, 1, 2, 500] {
            let chunks = chunks(count);
            let mut expected = 0;
            for (number, run) in cut(&chunks) {
                assert_eq!(number, expected);
                assert!((1..=RUN_CHUNKS_MAX).contains(&run.len()));
                expected += run.len();
            }
            assert_eq!(expected, chunks.len());
        }
        let runs = cut(&chunks(500)).count();
        assert!((40..=100).contains(&runs), "{runs} runs are not of eight chunks each");
    }

    #[test]
    fn one_chunk_more_changes_the_runs_around_it_only() {
        let all = chunks(500);
        let fewer = [all.get(..250).unwrap(), all.get(251..).unwrap()].concat();
        let starts = |chunks: &[Arc<Chunk>]| -> Vec<i64> {
            let runs = cut(chunks);
            runs.filter_map(|(_, run)| Some(run.first()?.created?.0)).collect()
        };
        let (before, after) = (starts(&all), starts(&fewer));
        let lost = before.iter().filter(|start| !after.contains(start)).count();
        assert!(lost <= 4, "{lost} runs of {} begin elsewhere", before.len());
    }
}
