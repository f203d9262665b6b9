//! What one thread does: blocks in, sums out.
//!
//! Of each block the rows that count are selected first, then each row gets the number of its cell
//! (bucket and group), and then each measure goes over its column once. A block whose rows all go
//! into one cell has a shorter way, [`whole`].

use super::distinct::Distinct;
use super::plan::{Grouping, Plan, Step};
use super::select::{Block, place};
use super::subjects::Subjects;
use super::totals::{Total, Totals};
use super::whole::{self, Whole};
use super::{Column, DateColumn, Per, Subject, Table, When};
use crate::facts::chunk::{BLOCK_ROWS, Chunk, coupon, order};
use crate::facts::column::NOTHING;

#[derive(Debug)]
pub(super) struct Work<'a> {
    plan: &'a Plan<'a>,
    pub(super) totals: Totals<'a>,
    chosen: Chosen,
    /// The bucket of each order of a block, when they are in several.
    places: Vec<usize>,
    /// Whether blocks of one cell can go the short way.
    is_simple: bool,
    buffer: Vec<i64>,
    other: Vec<i64>,
}

/// The rows of a block that count. A row is here once for each group that it is in.
#[derive(Debug, Default)]
struct Chosen {
    /// Places in the table's columns.
    units: Vec<usize>,
    /// Places of their orders.
    rows: Vec<usize>,
    cells: Vec<usize>,
    /// Whether every row is there once, in its place.
    is_all: bool,
}

impl Chosen {
    fn clear(&mut self) {
        self.units.clear();
        self.rows.clear();
        self.cells.clear();
    }
}

impl<'a> Work<'a> {
    pub(super) fn new(plan: &'a Plan<'a>) -> Self {
        let totals = Totals::new(plan);
        Self {
            plan,
            is_simple: totals.is_dense() && whole::suits(plan),
            totals,
            chosen: Chosen::default(),
            places: Vec::new(),
            buffer: Vec::new(),
            other: Vec::new(),
        }
    }

    /// Goes through a chunk; `number` tells it from all others.
    pub(super) fn chunk(&mut self, number: usize, chunk: &Chunk) {
        let common = self.plan.common_bucket(chunk);
        for index in 0..chunk.blocks() {
            let block = Block { facts: self.plan.facts, chunk, index };
            let mut passes = block.rows(&self.plan.filter.row);
            let common = match common {
                Some(bucket) => {
                    self.with_date(&block, &mut passes);
                    Some(bucket)
                }
                None => self.buckets(&block, &mut passes),
            };
            match common {
                Some(bucket) if self.is_simple => self.whole(&block, bucket, &passes),
                _ => {
                    self.choose(&block, common, &passes);
                    if !self.chosen.cells.is_empty() {
                        self.measure(number, &block);
                    }
                }
            }
        }
    }

    /// Leaves out what has no date.
    fn with_date(&mut self, block: &Block<'_>, passes: &mut [bool]) {
        let column = match self.plan.date {
            DateColumn::Created => return,
            DateColumn::Paid => order::PAID,
            DateColumn::Completed => order::COMPLETED,
        };
        block.orders(column, &mut self.buffer);
        for (passes, after) in passes.iter_mut().zip(&self.buffer) {
            *passes &= *after != NOTHING;
        }
    }

    /// Leaves out what lies outside the span. Returns the bucket of all others if it is one;
    /// else `places` says which is whose.
    fn buckets(&mut self, block: &Block<'_>, passes: &mut [bool]) -> Option<usize> {
        let plan = self.plan;
        block.dates(plan.date, &mut self.buffer, &mut self.other);
        let (mut first, mut last) = (i64::MAX, i64::MIN);
        for (passes, time) in passes.iter_mut().zip(&self.buffer) {
            *passes &= plan.from <= *time && *time < plan.until;
            first = if *passes { first.min(*time) } else { first };
            last = if *passes { last.max(*time) } else { last };
        }
        if first > last {
            return Some(0);
        }
        let mut hint = plan.bucket(first, 0);
        if plan.bucket(last, hint) == hint {
            return Some(hint);
        }
        self.places.clear();
        self.places.extend(self.buffer.iter().zip(passes).map(|(time, passes)| {
            if *passes {
                hint = plan.bucket(*time, hint);
            }
            hint
        }));
        None
    }

    /// Adds a block whose rows all go into one cell.
    fn whole(&mut self, block: &Block<'_>, bucket: usize, passes: &[bool]) {
        let whole = Whole::new(self.plan, block, passes);
        if whole.count > 0 {
            self.totals.add_whole(bucket, &whole);
        }
    }

    fn choose(&mut self, block: &Block<'_>, common: Option<usize>, passes: &[bool]) {
        let plan = self.plan;
        let mut rows = Vec::new();
        block.unit_rows(plan.table, &mut rows);
        let tests = plan.filter.unit.as_ref().map(|test| block.units(plan.table, &rows, test));
        let keys = self.keys(block, &rows);
        let mut chosen = std::mem::take(&mut self.chosen);
        chosen.clear();
        let places = std::mem::take(&mut self.places);
        for (unit, row) in rows.iter().map(|row| place(*row)).enumerate() {
            if passes.get(row) != Some(&true) {
                continue;
            }
            if tests.as_ref().is_some_and(|tests| tests.get(unit) != Some(&true)) {
                continue;
            }
            let bucket = common.or_else(|| places.get(row).copied()).unwrap_or_default();
            for key in keys.of(unit) {
                chosen.units.push(unit);
                chosen.rows.push(row);
                chosen.cells.push(self.totals.cell(bucket, *key));
            }
        }
        chosen.is_all = chosen.units.len() == rows.len() && !matches!(keys, Keys::Lists(_));
        self.places = places;
        self.chosen = chosen;
    }

    /// The groups of each row of the table.
    fn keys(&mut self, block: &Block<'_>, rows: &[i64]) -> Keys<'a> {
        let code = |code: i64| u32::try_from(code).unwrap_or_default();
        match &self.plan.grouping {
            Grouping::None => Keys::Same([0]),
            Grouping::Nowhere => Keys::None,
            Grouping::Row(column) => {
                block.orders(*column, &mut self.buffer);
                let of_row = |row: &i64| self.buffer.get(place(*row)).copied().unwrap_or_default();
                Keys::Each(rows.iter().map(|row| code(of_row(row))).collect())
            }
            Grouping::Returning => {
                let flags = block.returning();
                let of_row = |row: &i64| flags.get(place(*row)).copied().flatten();
                Keys::Some(rows.iter().map(|row| of_row(row).map(u32::from)).collect())
            }
            Grouping::Unit => {
                block.codes(self.plan.table, &mut self.buffer);
                Keys::Each(self.buffer.iter().map(|own| code(*own)).collect())
            }
            Grouping::Kind(kinds) => {
                block.codes(self.plan.table, &mut self.buffer);
                let kind = |own: &i64| kinds.get(place(*own)).copied().unwrap_or_default();
                Keys::Each(self.buffer.iter().map(kind).collect())
            }
            Grouping::Lists(starts, codes) => {
                block.codes(self.plan.table, &mut self.buffer);
                let list = |own: &i64| {
                    let at = |index: usize| starts.get(index).copied().unwrap_or_default();
                    let own = place(*own);
                    codes.get(at(own)..at(own.saturating_add(1))).unwrap_or_default()
                };
                Keys::Lists(self.buffer.iter().map(list).collect())
            }
        }
    }

    fn measure(&mut self, number: usize, block: &Block<'_>) {
        self.totals.count(&self.chosen.cells);
        let sources: Vec<Vec<i64>> =
            self.plan.sources.iter().map(|column| self.source(block, *column)).collect();
        let conditions: Vec<Vec<bool>> =
            self.plan.whens.iter().map(|when| self.condition(block, *when, &sources)).collect();
        let firsts = self.firsts(number, block.start(), &conditions);
        let weights = self.plan.weighs_coupons.then(|| self.weights(block));
        let mut totals = std::mem::take(&mut self.totals.by_step);
        for (step, total) in self.plan.steps.iter().zip(&mut totals) {
            match (step, total) {
                (Step::Rows { when }, Total::Sum(sums)) => {
                    self.add(sums, conditions.get(*when), std::iter::repeat(1));
                }
                (Step::Sum { source, when, per }, Total::Sum(sums)) => {
                    let values = sources.get(*source).into_iter().flatten().copied();
                    match per {
                        Per::Row => self.add(sums, conditions.get(*when), values),
                        Per::Order => self.add(sums, firsts.get(*when), values),
                        Per::Coupon => {
                            let weights = weights.iter().flatten();
                            let values = values
                                .zip(weights)
                                .map(|(value, times)| value.saturating_mul(*times));
                            self.add(sums, conditions.get(*when), values);
                        }
                    }
                }
                (Step::Distinct { when, .. }, Total::Sum(sums)) => {
                    self.add(sums, firsts.get(*when), std::iter::repeat(1));
                }
                (Step::Distinct { subject, when }, Total::Distinct(sets, size)) => {
                    let condition = conditions.get(*when).map(Vec::as_slice).unwrap_or_default();
                    self.collect(block, *subject, condition, sets, *size);
                }
                (Step::Latest { date }, Total::Sum(latest)) => self.latest(block, *date, latest),
                (_, Total::Distinct(..)) => {}
            }
        }
        self.totals.by_step = totals;
    }

    /// Adds the value of each chosen row for which the condition holds to its cell. An empty list
    /// of conditions holds always.
    fn add(&self, sums: &mut [i64], passes: Option<&Vec<bool>>, values: impl Iterator<Item = i64>) {
        let cells = self.chosen.cells.iter().zip(values);
        match passes.filter(|passes| !passes.is_empty()) {
            None => {
                for (cell, value) in cells {
                    if let Some(sum) = sums.get_mut(*cell) {
                        *sum = sum.saturating_add(value);
                    }
                }
            }
            Some(passes) => {
                for ((cell, value), passes) in cells.zip(passes) {
                    let value = if *passes { value } else { 0 };
                    if let Some(sum) = sums.get_mut(*cell) {
                        *sum = sum.saturating_add(value);
                    }
                }
            }
        }
    }

    fn latest(&self, block: &Block<'_>, date: DateColumn, latest: &mut [i64]) {
        let (mut times, mut other) = (Vec::new(), Vec::new());
        block.dates(date, &mut times, &mut other);
        for (row, cell) in self.chosen.rows.iter().zip(&self.chosen.cells) {
            let time = times.get(*row).copied().unwrap_or(NOTHING);
            if let Some(latest) = latest.get_mut(*cell) {
                *latest = time.max(*latest);
            }
        }
    }

    /// A column, by chosen row; zeros for one that the table does not have.
    fn source(&mut self, block: &Block<'_>, column: Column) -> Vec<i64> {
        let table = self.plan.table;
        let is_native =
            Block::parts(column).iter().any(|part| block.native(table, *part).is_some());
        let (of, len) = match (is_native, table) {
            (true, Table::Lines) => (table, block.chunk.lines.of_block(block.index).len()),
            (true, Table::Coupons) => (table, block.chunk.coupons.of_block(block.index).len()),
            (true, Table::Taxes) => (table, block.chunk.taxes.of_block(block.index).len()),
            _ => (Table::Orders, block.len()),
        };
        let mut values = vec![0; len];
        for (place, part) in Block::parts(column).iter().enumerate() {
            let Some((column, start)) = block.native(of, *part) else { continue };
            if place == 0 {
                column.decode(start, &mut values);
            } else {
                self.buffer.resize(len, 0);
                column.decode(start, &mut self.buffer);
                add_to(&mut values, &self.buffer);
            }
        }
        if column == Column::Discounts {
            self.discounts(block, &mut values);
        }
        let is_own = of == table;
        if is_own && self.chosen.is_all {
            return values;
        }
        let places = if is_own { &self.chosen.units } else { &self.chosen.rows };
        places.iter().map(|place| values.get(*place).copied().unwrap_or_default()).collect()
    }

    /// Sums up the coupons of each order.
    fn discounts(&mut self, block: &Block<'_>, sums: &mut [i64]) {
        block.child_rows(&block.chunk.coupons, &mut self.buffer);
        block.children(&block.chunk.coupons, coupon::DISCOUNT, &mut self.other);
        for (row, discount) in self.buffer.iter().zip(&self.other) {
            if let Some(sum) = sums.get_mut(place(*row)) {
                *sum = sum.saturating_add(*discount);
            }
        }
    }

    /// Whether the condition holds, by chosen row; an empty list when it always does.
    fn condition(&mut self, block: &Block<'_>, when: When, sources: &[Vec<i64>]) -> Vec<bool> {
        match when {
            When::Always => Vec::new(),
            When::Order | When::Refund => {
                block.orders(order::PARENT, &mut self.buffer);
                let is_refund =
                    |row: &usize| self.buffer.get(*row).is_some_and(|parent| *parent != NOTHING);
                let wanted = when == When::Refund;
                self.chosen.rows.iter().map(|row| is_refund(row) == wanted).collect()
            }
            When::Negative | When::NotNegative => {
                let sign = self.plan.sign();
                let source = self.plan.sources.iter().position(|column| *column == sign);
                let values = source.and_then(|source| sources.get(source));
                let wanted = when == When::Negative;
                values.into_iter().flatten().map(|value| (*value < 0) == wanted).collect()
            }
        }
    }

    /// For each condition that somebody asks it for: whether a chosen row is the first of its order
    /// in its cell for which the condition holds.
    fn firsts(&mut self, number: usize, start: usize, conditions: &[Vec<bool>]) -> Vec<Vec<bool>> {
        // No two orders have the same number here, and none has 0.
        let base = (u64::try_from(number).unwrap_or_default() << 32)
            + u64::try_from(start).unwrap_or_default()
            + 1;
        let mut firsts = Vec::with_capacity(conditions.len());
        for ((condition, seen), needed) in
            conditions.iter().zip(&mut self.totals.seen).zip(&self.plan.firsts)
        {
            let mut list = Vec::new();
            if *needed {
                let chosen = self.chosen.rows.iter().zip(&self.chosen.cells);
                let passes = condition.iter().copied().chain(std::iter::repeat(true));
                for ((row, cell), passes) in chosen.zip(passes) {
                    let order = base + u64::try_from(*row).unwrap_or_default();
                    let Some(last) = seen.get_mut(*cell) else { continue };
                    let is_first = passes && *last != order;
                    *last = if is_first { order } else { *last };
                    list.push(is_first);
                }
            }
            firsts.push(list);
        }
        firsts
    }

    /// How many coupons the order of each chosen row has, and at least one.
    fn weights(&mut self, block: &Block<'_>) -> Vec<i64> {
        let mut counts = vec![0; BLOCK_ROWS];
        block.child_rows(&block.chunk.coupons, &mut self.buffer);
        for row in &self.buffer {
            if let Some(count) = counts.get_mut(place(*row)) {
                *count += 1;
            }
        }
        let weight = |row: &usize| counts.get(*row).copied().unwrap_or_default().max(1);
        self.chosen.rows.iter().map(weight).collect()
    }

    /// Adds the subjects of the chosen rows to the sets of their cells.
    fn collect(
        &self,
        block: &Block<'_>,
        subject: Subject,
        condition: &[bool],
        sets: &mut [Distinct],
        size: usize,
    ) {
        let subjects = Subjects::read(block, self.plan, subject);
        let Chosen { units, rows, cells, .. } = &self.chosen;
        let passes = condition.iter().copied().chain(std::iter::repeat(true));
        let chosen = units.iter().zip(rows).zip(cells).zip(passes);
        for (((unit, row), cell), _) in chosen.filter(|(_, passes)| *passes) {
            let Some(set) = sets.get_mut(*cell) else { continue };
            for code in subjects.of(*unit, *row) {
                set.insert(*code, size);
            }
        }
    }
}

/// The groups of each row of a table.
enum Keys<'a> {
    None,
    Same([u32; 1]),
    Each(Vec<u32>),
    Some(Vec<Option<u32>>),
    Lists(Vec<&'a [u32]>),
}

impl Keys<'_> {
    fn of(&self, unit: usize) -> &[u32] {
        match self {
            Self::None => &[],
            Self::Same(key) => key,
            Self::Each(keys) => keys.get(unit..=unit).unwrap_or_default(),
            Self::Some(keys) => {
                keys.get(unit).and_then(Option::as_ref).map_or(&[], |key| std::slice::from_ref(key))
            }
            Self::Lists(lists) => lists.get(unit).copied().unwrap_or_default(),
        }
    }
}

fn add_to(values: &mut [i64], others: &[i64]) {
    values.iter_mut().zip(others).for_each(|(value, other)| *value = value.saturating_add(*other));
}
