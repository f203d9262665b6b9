//! What the measures have come to so far, by cell: a bucket and a group. Cells are numbered densely
//! while there are few, and as they appear when there could be very many.

use std::collections::HashMap;

use super::Subject;
use super::answer::Answer;
use super::distinct::Distinct;
use super::plan::{Grouping, Plan, Step};
use super::select::place;
use super::whole::Whole;

/// Numbers that dense cells may take in one thread.
const DENSE_MAX: usize = 1 << 23;

/// Bytes that sets may take in one thread when they begin as bits: so many together, or for each
/// row that is read.
const SETS_BYTES_MAX: usize = 4 << 20;
const SETS_BYTES_PER_ROW: usize = 8;

/// Places for ids that are worth it to sort one, instead of comparing it.
const PLACES_PER_ID: usize = 4;

/// The cell of rows that do not count. Nobody reads it.
pub(super) const NOWHERE: u32 = 0;

/// The cells, by bucket and group.
#[derive(Debug)]
enum Cells {
    Dense,
    Sparse(HashMap<(u32, u32), u32>),
}

/// What one measure has come to, by cell.
#[derive(Debug)]
pub(super) enum Total {
    Sum(Vec<i64>),
    Distinct(Vec<Distinct>, usize),
}

/// What some chunks came to, by the cells that have rows at all.
#[derive(Debug)]
pub(super) struct Part {
    /// Bucket and group.
    cells: Vec<(u32, u32)>,
    /// As long as the list of cells, each.
    by_step: Vec<Total>,
}

impl Part {
    /// About how much memory it takes.
    pub(super) fn bytes(&self) -> usize {
        let of_step = |total: &Total| match total {
            Total::Sum(sums) => size_of_val(sums.as_slice()),
            Total::Distinct(sets, _) => sets.iter().map(Distinct::bytes).sum(),
        };
        size_of_val(self.cells.as_slice()) + self.by_step.iter().map(of_step).sum::<usize>()
    }
}

#[derive(Debug)]
pub(super) struct Totals<'a> {
    plan: &'a Plan<'a>,
    cells: Cells,
    pub(super) by_step: Vec<Total>,
    /// How many numbers a set may get. 0 when it begins as a list, however many.
    expected: usize,
    /// Whether a cell has any row.
    is_used: Vec<bool>,
    /// For each of the plan's conditions, the order that each cell saw last.
    pub(super) seen: Vec<Vec<u64>>,
}

impl<'a> Totals<'a> {
    /// For reading so many orders.
    pub(super) fn new(plan: &'a Plan<'a>, rows: usize) -> Self {
        let cells = plan.buckets.saturating_mul(plan.keys);
        let is_dense = cells.saturating_mul(plan.steps.len() + 1) <= DENSE_MAX;
        let is_dense = is_dense && !plan.has_few_groups();
        let by_step = plan.steps.iter().map(|step| match step {
            Step::Distinct { subject, .. } if *subject != Subject::Order => {
                Total::Distinct(Vec::new(), plan.subjects(*subject))
            }
            _ => Total::Sum(Vec::new()),
        });
        let mut totals = Self {
            plan,
            cells: if is_dense { Cells::Dense } else { Cells::Sparse(HashMap::new()) },
            by_step: by_step.collect(),
            expected: if is_dense { expected(plan, rows, cells) } else { 0 },
            is_used: Vec::new(),
            seen: plan.whens.iter().map(|_| Vec::new()).collect(),
        };
        totals.grow(1 + if is_dense { cells } else { 0 });
        totals
    }

    pub(super) fn is_dense(&self) -> bool {
        matches!(self.cells, Cells::Dense)
    }

    /// Notes that the cells have rows.
    pub(super) fn note(&mut self, cells: &[u32]) {
        for cell in cells {
            if let Some(is_used) = self.is_used.get_mut(place(*cell)) {
                *is_used = true;
            }
        }
    }

    /// Adds rows of a block that all go into one cell.
    pub(super) fn add_whole(&mut self, bucket: usize, key: u32, whole: &Whole<'_, '_>) {
        let cell = self.cell(bucket, key);
        self.note(&[cell]);
        let cell = place(cell);
        for (step, total) in self.plan.steps.iter().zip(&mut self.by_step) {
            match (total, *step) {
                (Total::Distinct(sets, size), Step::Distinct { subject, when }) => {
                    if let Some(set) = sets.get_mut(cell) {
                        whole.collect(subject, when, set, *size);
                    }
                }
                (Total::Sum(sums), step) => {
                    let value = whole.value(step);
                    let Some(sum) = sums.get_mut(cell) else { continue };
                    *sum = both(step, *sum, value);
                }
                (Total::Distinct(..), _) => {}
            }
        }
    }

    /// The cell of the first group, from which the others are counted, if cells are dense.
    pub(super) fn dense(&self, bucket: usize) -> Option<u32> {
        self.is_dense().then(|| u32::try_from(1 + bucket * self.plan.keys).unwrap_or(NOWHERE))
    }

    /// The number of the cell, which gets one if it has none.
    pub(super) fn cell(&mut self, bucket: usize, key: u32) -> u32 {
        let narrow = |number: usize| u32::try_from(number).unwrap_or(NOWHERE);
        let Cells::Sparse(cells) = &mut self.cells else {
            return narrow(1 + bucket * self.plan.keys + place(key));
        };
        let next = narrow(cells.len() + 1);
        let cell = *cells.entry((narrow(bucket), key)).or_insert(next);
        if cell == next {
            self.grow(place(next) + 1);
        }
        cell
    }

    /// Adds what another thread found.
    pub(super) fn merge(&mut self, other: Self) {
        let mut places: Vec<usize> = (0..other.is_used.len()).collect();
        if let Cells::Sparse(cells) = other.cells {
            for ((bucket, key), cell) in cells {
                let own_place = place(self.cell(place(bucket), key));
                if let Some(place) = places.get_mut(place(cell)) {
                    *place = own_place;
                }
            }
        }
        for (place, is_used) in places.iter().zip(other.is_used) {
            if let Some(own) = self.is_used.get_mut(*place) {
                *own |= is_used;
            }
        }
        let steps = &self.plan.steps;
        for ((own, other), step) in self.by_step.iter_mut().zip(other.by_step).zip(steps) {
            match (own, other) {
                (Total::Sum(own), Total::Sum(other)) => {
                    for (place, value) in places.iter().zip(other) {
                        let Some(own) = own.get_mut(*place) else { continue };
                        *own = both(*step, *own, value);
                    }
                }
                (Total::Distinct(own, size), Total::Distinct(other, _)) => {
                    for (place, set) in places.iter().zip(other) {
                        if let Some(own) = own.get_mut(*place) {
                            own.merge(&set, *size);
                        }
                    }
                }
                _ => {}
            }
        }
    }

    /// What it came to, without the question.
    pub(super) fn into_part(self) -> Part {
        let mut cells = Vec::new();
        match &self.cells {
            Cells::Sparse(own) => {
                cells.extend(own.iter().map(|((bucket, key), cell)| (*bucket, *key, *cell)));
            }
            Cells::Dense => {
                let keys = self.plan.keys.max(1);
                let narrow = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
                let used = self.is_used.iter().enumerate().skip(1).filter(|(_, is_used)| **is_used);
                cells.extend(used.map(|(cell, _)| {
                    (narrow((cell - 1) / keys), narrow((cell - 1) % keys), narrow(cell))
                }));
            }
        }
        let by_step = self.by_step.into_iter().map(|total| match total {
            Total::Sum(sums) => {
                let sum = |cell: u32| sums.get(place(cell)).copied().unwrap_or_default();
                Total::Sum(cells.iter().map(|(_, _, cell)| sum(*cell)).collect())
            }
            Total::Distinct(mut sets, size) => {
                let mut set = |cell: u32| {
                    let mut set = sets.get_mut(place(cell)).map(std::mem::take);
                    set.iter_mut().for_each(Distinct::shrink);
                    set.unwrap_or_default()
                };
                Total::Distinct(cells.iter().map(|(_, _, cell)| set(*cell)).collect(), size)
            }
        });
        let by_step = by_step.collect();
        Part { cells: cells.iter().map(|(bucket, key, _)| (*bucket, *key)).collect(), by_step }
    }

    /// Adds a part whose first bucket is this one.
    pub(super) fn absorb(&mut self, part: &Part, first: usize) {
        let cell = |(bucket, key): &(u32, u32)| self.cell(first + place(*bucket), *key);
        let cells: Vec<u32> = part.cells.iter().map(cell).collect();
        self.note(&cells);
        let steps = &self.plan.steps;
        for ((own, other), step) in self.by_step.iter_mut().zip(&part.by_step).zip(steps) {
            match (own, other) {
                (Total::Sum(own), Total::Sum(other)) => {
                    for (cell, value) in cells.iter().zip(other) {
                        let Some(own) = own.get_mut(place(*cell)) else { continue };
                        *own = both(*step, *own, *value);
                    }
                }
                (Total::Distinct(own, size), Total::Distinct(other, _)) => {
                    for (cell, set) in cells.iter().zip(other) {
                        if let Some(own) = own.get_mut(place(*cell)) {
                            own.merge(set, *size);
                        }
                    }
                }
                _ => {}
            }
        }
    }

    /// The rows of the answer.
    pub(super) fn finish(mut self) -> Answer {
        let mut answer = Answer::new(self.by_step.len());
        for Cell { bucket, code, slot } in self.in_order() {
            let cell = place(slot);
            let values = self.by_step.iter_mut().map(|total| match total {
                Total::Sum(sums) => sums.get(cell).copied().unwrap_or_default(),
                Total::Distinct(sets, _) => sets.get_mut(cell).map_or(0, Distinct::count),
            });
            answer.push(place(bucket), self.plan.key(place(code)), values);
        }
        answer
    }

    /// The cells that are shown, by bucket and then by what their groups stand for.
    fn in_order(&self) -> Vec<Cell> {
        let shows_all = matches!(*self.plan.grouping, Grouping::None);
        let mut shown: Vec<Cell> = match &self.cells {
            Cells::Sparse(cells) => cells
                .iter()
                .map(|((bucket, code), slot)| Cell { bucket: *bucket, code: *code, slot: *slot })
                .collect(),
            Cells::Dense => {
                let keys = self.plan.keys.max(1);
                let narrow = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
                let all = self.is_used.iter().enumerate().skip(1);
                let shown = all.filter(|(_, is_used)| **is_used || shows_all);
                let cell = |(cell, _)| Cell {
                    bucket: narrow((cell - 1) / keys),
                    code: narrow((cell - 1) % keys),
                    slot: narrow(cell),
                };
                shown.map(cell).collect()
            }
        };
        match self.plan.ids() {
            _ if self.is_dense() && shows_all => {}
            Some(ids) => {
                if !self.is_dense() {
                    shown.sort_unstable_by_key(|cell| cell.bucket);
                }
                let buckets = shown.chunk_by_mut(|one, other| one.bucket == other.bucket);
                buckets.for_each(|bucket| sort_by_id(bucket, ids));
            }
            None => {
                let key = |cell: &Cell| (cell.bucket, self.plan.key(place(cell.code)));
                shown.sort_by_cached_key(key);
            }
        }
        shown
    }

    fn grow(&mut self, cells: usize) {
        for total in &mut self.by_step {
            match total {
                Total::Sum(sums) => sums.resize(cells, 0),
                Total::Distinct(sets, size) => {
                    sets.resize_with(cells, || Distinct::expecting(self.expected, *size));
                }
            }
        }
        self.is_used.resize(cells, false);
        for (seen, needed) in self.seen.iter_mut().zip(&self.plan.firsts) {
            if *needed {
                seen.resize(cells, 0);
            }
        }
    }
}

/// How many numbers each set may get from so many orders, if bits for all are worth their memory.
fn expected(plan: &Plan<'_>, rows: usize, cells: usize) -> usize {
    let bytes = |step: &Step| match step {
        Step::Distinct { subject, .. } => plan.subjects(*subject) / 8,
        _ => 0,
    };
    let bytes = plan.steps.iter().map(bytes).sum::<usize>().saturating_mul(cells);
    let bytes_max = SETS_BYTES_MAX.max(rows.saturating_mul(SETS_BYTES_PER_ROW));
    if bytes > bytes_max { 0 } else { rows / cells.max(1) }
}

/// A cell that is shown.
#[derive(Clone, Copy, Debug)]
struct Cell {
    bucket: u32,
    /// The number of its group.
    code: u32,
    slot: u32,
}

/// Sorts cells by the ids of their groups, of which no two are the same. Most ids are taken from
/// one counter and lie close together: then each finds its place without being compared.
fn sort_by_id(cells: &mut [Cell], ids: &[i64]) {
    let id = |cell: &Cell| ids.get(place(cell.code)).copied().unwrap_or_default();
    let bounds = cells.iter().map(id).min().zip(cells.iter().map(id).max());
    let Some((least, greatest)) = bounds else { return };
    let places = usize::try_from(greatest.abs_diff(least)).unwrap_or(usize::MAX).saturating_add(1);
    if places / PLACES_PER_ID > cells.len() {
        cells.sort_unstable_by_key(id);
        return;
    }
    // How far down the cell of an id is in what there was; 0 for an id that has none.
    let mut by_id = vec![0_u32; places];
    for (cell, number) in cells.iter().zip(1..) {
        let distance = usize::try_from(id(cell).abs_diff(least)).unwrap_or(usize::MAX);
        if let Some(own) = by_id.get_mut(distance) {
            *own = number;
        }
    }
    let unsorted = cells.to_vec();
    let sorted = by_id.into_iter().filter_map(|number| unsorted.get(place(number).checked_sub(1)?));
    cells.iter_mut().zip(sorted).for_each(|(cell, next)| *cell = *next);
}

/// Two values of one measure together.
fn both(step: Step, one: i64, other: i64) -> i64 {
    match step {
        Step::Latest { .. } => one.max(other),
        _ => one.saturating_add(other),
    }
}
