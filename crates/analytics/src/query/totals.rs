//! What the measures have come to so far, by cell: a bucket and a group. Cells are numbered densely
//! while there are few, and as they appear when there could be very many.

use std::collections::HashMap;

use super::Subject;
use super::answer::{Answer, Key};
use super::distinct::Distinct;
use super::plan::{Grouping, Plan, Step};
use super::select::place;
use super::whole::Whole;

/// Numbers that dense cells may take in one thread.
const DENSE_MAX: usize = 1 << 23;

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

#[derive(Debug)]
pub(super) struct Totals<'a> {
    plan: &'a Plan<'a>,
    cells: Cells,
    pub(super) by_step: Vec<Total>,
    /// Whether a cell has any row.
    is_used: Vec<bool>,
    /// For each of the plan's conditions, the order that each cell saw last.
    pub(super) seen: Vec<Vec<u64>>,
}

impl<'a> Totals<'a> {
    pub(super) fn new(plan: &'a Plan<'a>) -> Self {
        let cells = plan.buckets.saturating_mul(plan.keys);
        let is_dense = cells.saturating_mul(plan.steps.len() + 1) <= DENSE_MAX;
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
            if let Some(is_used) = self.is_used.get_mut(place((*cell).into())) {
                *is_used = true;
            }
        }
    }

    /// Adds a block whose rows all go into one cell, of a plan without groups.
    pub(super) fn add_whole(&mut self, bucket: usize, whole: &Whole<'_, '_>) {
        let cell = self.cell(bucket, 0);
        self.note(&[cell]);
        let cell = place(cell.into());
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
                    *sum = match step {
                        Step::Latest { .. } => value.max(*sum),
                        _ => sum.saturating_add(value),
                    };
                }
                (Total::Distinct(..), _) => {}
            }
        }
    }

    /// The number of the cell, which gets one if it has none.
    pub(super) fn cell(&mut self, bucket: usize, key: u32) -> u32 {
        let narrow = |number: usize| u32::try_from(number).unwrap_or(NOWHERE);
        let Cells::Sparse(cells) = &mut self.cells else {
            return narrow(1 + bucket * self.plan.keys + place(key.into()));
        };
        let next = narrow(cells.len() + 1);
        let cell = *cells.entry((narrow(bucket), key)).or_insert(next);
        if cell == next {
            self.grow(place(next.into()) + 1);
        }
        cell
    }

    /// Adds what another thread found.
    pub(super) fn merge(&mut self, other: Self) {
        let mut places: Vec<usize> = (0..other.is_used.len()).collect();
        if let Cells::Sparse(cells) = other.cells {
            for ((bucket, key), cell) in cells {
                let own_place = place(self.cell(place(bucket.into()), key).into());
                if let Some(place) = places.get_mut(place(cell.into())) {
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
                        *own = match step {
                            Step::Latest { .. } => value.max(*own),
                            _ => own.saturating_add(value),
                        };
                    }
                }
                (Total::Distinct(own, size), Total::Distinct(other, _)) => {
                    for (place, set) in places.iter().zip(other) {
                        if let Some(own) = own.get_mut(*place) {
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
        let is_dense = matches!(self.cells, Cells::Dense);
        let keys = self.plan.keys.max(1);
        let shows_all = matches!(self.plan.grouping, Grouping::None);
        let mut rows: Vec<(usize, Key, usize)> = Vec::new();
        let mut push = |bucket: usize, key: usize, cell: usize, is_used: bool| {
            if is_used || shows_all {
                rows.push((bucket, self.plan.key(key), cell));
            }
        };
        match &self.cells {
            Cells::Sparse(cells) => {
                for ((bucket, key), cell) in cells {
                    push(
                        place((*bucket).into()),
                        place((*key).into()),
                        place((*cell).into()),
                        true,
                    );
                }
            }
            Cells::Dense => {
                for (cell, is_used) in self.is_used.iter().enumerate().skip(1) {
                    push((cell - 1) / keys, (cell - 1) % keys, cell, *is_used);
                }
            }
        }
        if !(is_dense && shows_all) {
            rows.sort_unstable();
        }
        let mut answer = Answer::new(self.by_step.len());
        for (bucket, key, cell) in rows {
            let values = self.by_step.iter_mut().map(|total| match total {
                Total::Sum(sums) => sums.get(cell).copied().unwrap_or_default(),
                Total::Distinct(sets, _) => sets.get_mut(cell).map_or(0, Distinct::count),
            });
            answer.push(bucket, key, values);
        }
        answer
    }

    fn grow(&mut self, cells: usize) {
        for total in &mut self.by_step {
            match total {
                Total::Sum(sums) => sums.resize(cells, 0),
                Total::Distinct(sets, _) => sets.resize_with(cells, Distinct::default),
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
