//! What one thread does: blocks in, sums out.
//!
//! Of each block the rows that count are found first, then each row gets the number of its cell
//! (bucket and group), and then each measure goes over its column once. **What does not count goes
//! into a cell of its own that nobody reads**, so that no row has to be moved. A block with few
//! buckets, and without groups or with few of them, has a shorter way, [`whole`].

use super::distinct::Distinct;
use super::plan::{Grouping, Plan, Reach, Step};
use super::select::{Block, place};
use super::subjects::Subjects;
use super::totals::{NOWHERE, Total, Totals};
use super::whole::{self, Whole};
use super::{Column, DateColumn, Per, Subject, Table, When};
use crate::facts::chunk::{Chunk, coupon, order};
use crate::facts::column::NOTHING;

/// Buckets of a block up to which it is gone through once for each.
const WHOLE_BUCKETS_MAX: usize = 4;

#[derive(Debug)]
pub(super) struct Work<'a> {
    plan: &'a Plan<'a>,
    pub(super) totals: Totals<'a>,
    /// Whether blocks can go the short way.
    is_simple: bool,
    /// The bucket of each order of a block.
    buckets: Vec<usize>,
    rows: Rows,
    buffer: Vec<i64>,
    other: Vec<i64>,
}

/// The rows of a block. Where a row can be in several groups, it is here once for each.
#[derive(Debug, Default)]
struct Rows {
    /// Places in the table's columns; empty when each row is in its own place.
    units: Vec<u32>,
    /// Places of their orders; empty when the rows are the orders.
    orders: Vec<u32>,
    cells: Vec<u32>,
}

impl Rows {
    fn order(&self, index: usize) -> usize {
        if self.orders.is_empty() {
            return index;
        }
        self.orders.get(index).map_or(usize::MAX, |row| place((*row).into()))
    }

    fn unit(&self, index: usize) -> usize {
        if self.units.is_empty() {
            return index;
        }
        self.units.get(index).map_or(usize::MAX, |unit| place((*unit).into()))
    }
}

impl<'a> Work<'a> {
    /// Goes on from what was found before.
    pub(super) fn new(plan: &'a Plan<'a>, totals: Totals<'a>) -> Self {
        Self {
            plan,
            is_simple: totals.is_dense() && whole::suits(plan),
            totals,
            buckets: Vec::new(),
            rows: Rows::default(),
            buffer: Vec::new(),
            other: Vec::new(),
        }
    }

    /// Goes through a chunk; `number` tells it from all others.
    pub(super) fn chunk(&mut self, number: usize, chunk: &Chunk) {
        for index in 0..chunk.blocks() {
            let Some(reach) = self.plan.reach(chunk, index) else { continue };
            let block = Block { facts: self.plan.facts, chunk, number, index };
            let mut passes = block.rows(&self.plan.filter.row);
            if !passes.contains(&true) {
                continue;
            }
            self.find_buckets(&block, reach, &mut passes);
            let Reach { first, last, .. } = reach;
            if self.is_simple && last - first < WHOLE_BUCKETS_MAX {
                self.whole(&block, &passes, first, last);
            } else {
                self.cells(&block, &passes, (first == last).then_some(first));
                self.measure(number, &block);
            }
        }
    }

    /// Leaves out orders outside the span, and notes the bucket of each other one if there are
    /// several.
    fn find_buckets(&mut self, block: &Block<'_>, reach: Reach, passes: &mut [bool]) {
        let plan = self.plan;
        if reach.is_within {
            block.keep_dated(plan.date, passes);
        }
        if reach.is_within && reach.first == reach.last {
            return;
        }
        block.dates(plan.date, &mut self.buffer, &mut self.other);
        if !reach.is_within {
            for (passes, time) in passes.iter_mut().zip(&self.buffer) {
                *passes &= plan.from <= *time && *time < plan.until;
            }
        }
        if reach.first == reach.last {
            return;
        }
        let between = plan.bounds.get(reach.first + 1..=reach.last).unwrap_or_default();
        self.buckets.clear();
        if between.len() < WHOLE_BUCKETS_MAX {
            self.buckets.resize(self.buffer.len(), reach.first);
            for bound in between {
                let rows = self.buckets.iter_mut().zip(&self.buffer);
                rows.for_each(|(bucket, time)| *bucket += usize::from(time >= bound));
            }
            return;
        }
        let mut hint = reach.first;
        self.buckets.extend(self.buffer.iter().zip(passes).map(|(time, passes)| {
            if *passes {
                hint = plan.bucket(*time, hint);
            }
            hint
        }));
    }

    /// Adds a block cell by cell.
    fn whole(&mut self, block: &Block<'_>, passes: &[bool], first: usize, last: usize) {
        let mut orders = Vec::new();
        block.unit_rows(Table::Orders, &mut orders);
        let keys = match self.keys(block, &orders) {
            Keys::Each(keys) => keys,
            Keys::Same | Keys::Lists(_) => Vec::new(),
        };
        for bucket in first..=last {
            let mut in_bucket = passes.to_vec();
            if first != last {
                let rows = in_bucket.iter_mut().zip(&self.buckets);
                rows.for_each(|(passes, own)| *passes &= *own == bucket);
            }
            for key in (0..).take(self.plan.keys) {
                let mut in_cell = in_bucket.clone();
                in_cell.iter_mut().zip(&keys).for_each(|(passes, own)| *passes &= *own == key);
                let whole = Whole::new(self.plan, block, &in_cell);
                if whole.count > 0 {
                    self.totals.add_whole(bucket, key, &whole);
                }
            }
        }
    }

    /// Finds the cell of each row.
    fn cells(&mut self, block: &Block<'_>, passes: &[bool], common: Option<usize>) {
        let plan = self.plan;
        let mut orders = Vec::new();
        block.unit_rows(plan.table, &mut orders);
        let tests = plan.filter.unit.as_ref().map(|test| block.units(plan.table, &orders, test));
        let keys = self.keys(block, &orders);
        let mut rows = std::mem::take(&mut self.rows);
        rows.units.clear();
        rows.orders.clear();
        rows.cells.clear();
        for (unit, order) in orders.iter().map(|order| place(*order)).enumerate() {
            let passes = passes.get(order) == Some(&true)
                && tests.as_ref().is_none_or(|tests| tests.get(unit) == Some(&true));
            let bucket = common.or_else(|| self.buckets.get(order).copied()).unwrap_or_default();
            match &keys {
                Keys::Lists(lists) => {
                    let list = lists.get(unit).copied().filter(|_| passes).unwrap_or_default();
                    for key in list {
                        rows.units.push(u32::try_from(unit).unwrap_or(u32::MAX));
                        rows.orders.push(u32::try_from(order).unwrap_or(u32::MAX));
                        rows.cells.push(self.totals.cell(bucket, *key));
                    }
                }
                Keys::Same => {
                    rows.cells.push(if passes { self.totals.cell(bucket, 0) } else { NOWHERE });
                }
                Keys::Each(list) => {
                    let key = list.get(unit).copied().filter(|key| passes && *key != u32::MAX);
                    rows.cells.push(key.map_or(NOWHERE, |key| self.totals.cell(bucket, key)));
                }
            }
        }
        if plan.table != Table::Orders && !matches!(keys, Keys::Lists(_)) {
            let narrow = |order: &i64| u32::try_from(*order).unwrap_or(u32::MAX);
            rows.orders.extend(orders.iter().map(narrow));
        }
        self.rows = rows;
    }

    /// The groups of each row of the table.
    fn keys(&mut self, block: &Block<'_>, orders: &[i64]) -> Keys<'a> {
        let code = |code: i64| u32::try_from(code).unwrap_or(u32::MAX);
        match &*self.plan.grouping {
            Grouping::None => Keys::Same,
            Grouping::Nowhere => Keys::Lists(Vec::new()),
            Grouping::Row(column) => {
                block.orders(*column, &mut self.buffer);
                let of_order = |order: &i64| self.buffer.get(place(*order)).map_or(-1, |own| *own);
                Keys::Each(orders.iter().map(|order| code(of_order(order))).collect())
            }
            Grouping::Returning => {
                let flags = block.returning_with_refunds();
                let of_order = |order: &i64| flags.get(place(*order)).copied().flatten();
                let key = |order: &i64| of_order(order).map_or(u32::MAX, u32::from);
                Keys::Each(orders.iter().map(key).collect())
            }
            Grouping::Unit => {
                block.codes(self.plan.table, &mut self.buffer);
                Keys::Each(self.buffer.iter().map(|own| code(*own)).collect())
            }
            Grouping::Kind(kinds) => {
                block.codes(self.plan.table, &mut self.buffer);
                let kind = |own: &i64| kinds.get(place(*own)).copied().unwrap_or(u32::MAX);
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
        self.totals.note(&self.rows.cells);
        let by_condition: Vec<Option<Vec<u32>>> =
            self.plan.whens.iter().map(|when| self.condition(block, *when)).collect();
        let firsts = self.firsts(number, block.start(), &by_condition);
        let mut totals = std::mem::take(&mut self.totals.by_step);
        let all = std::mem::take(&mut self.rows.cells);
        let cells_of = |when: usize| {
            by_condition.get(when).and_then(Option::as_ref).unwrap_or(&all).as_slice()
        };
        let first_of = |when: usize| firsts.get(when).map(Vec::as_slice).unwrap_or_default();
        for (step, total) in self.plan.steps.iter().zip(&mut totals) {
            match (*step, total) {
                (Step::Rows { when }, Total::Sum(sums)) => add(sums, cells_of(when), |_| 1),
                (Step::Distinct { when, .. }, Total::Sum(sums)) => add(sums, first_of(when), |_| 1),
                (Step::Sum { source, when, per }, Total::Sum(sums)) => {
                    let column = self.plan.sources.get(source).copied();
                    let Some(column) = column else { continue };
                    let cells = match per {
                        Per::Row => cells_of(when),
                        Per::Order => first_of(when),
                    };
                    self.sum(block, column, cells, sums);
                }
                (Step::Distinct { subject, when }, Total::Distinct(sets, size)) => {
                    self.collect(block, subject, cells_of(when), (sets, *size));
                }
                (Step::Latest { date }, Total::Sum(latest)) => {
                    self.latest(block, date, &all, latest);
                }
                (_, Total::Distinct(..)) => {}
            }
        }
        self.totals.by_step = totals;
        self.rows.cells = all;
    }

    /// Adds a column to the sums of its cells.
    fn sum(&mut self, block: &Block<'_>, column: Column, cells: &[u32], sums: &mut [i64]) {
        let parts = Block::parts(&column);
        let is_in_place = self.rows.units.is_empty()
            && parts.iter().all(|part| block.native(self.plan.table, *part).is_some());
        if !is_in_place {
            let values = self.values(block, column);
            add(sums, cells, |index| values.get(index).copied().unwrap_or_default());
            return;
        }
        for part in parts {
            if let Some((column, start)) = block.native(self.plan.table, *part) {
                column.scatter(start, cells, sums);
            }
        }
    }

    /// A column, by row; zeros for one that the table does not have.
    fn values(&mut self, block: &Block<'_>, column: Column) -> Vec<i64> {
        let table = self.plan.table;
        let parts = Block::parts(&column);
        let is_native = parts.iter().any(|part| block.native(table, *part).is_some());
        let of = if is_native { table } else { Table::Orders };
        let mut values = vec![0; block.rows_of(of)];
        for (place, part) in parts.iter().enumerate() {
            let Some((column, start)) = block.native(of, *part) else { continue };
            if place == 0 {
                column.decode(start, &mut values);
            } else {
                self.buffer.resize(values.len(), 0);
                column.decode(start, &mut self.buffer);
                let pairs = values.iter_mut().zip(&self.buffer);
                pairs.for_each(|(value, part)| *value = value.saturating_add(*part));
            }
        }
        if column == Column::Discounts {
            self.discounts(block, &mut values);
        }
        let rows = &self.rows;
        let value = |index: usize| {
            let place = if of == table { rows.unit(index) } else { rows.order(index) };
            values.get(place).copied().unwrap_or_default()
        };
        let is_in_place = if of == table { rows.units.is_empty() } else { rows.orders.is_empty() };
        if is_in_place {
            return values;
        }
        (0..rows.orders.len()).map(value).collect()
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

    fn latest(&self, block: &Block<'_>, date: DateColumn, cells: &[u32], latest: &mut [i64]) {
        let (mut times, mut other) = (Vec::new(), Vec::new());
        block.dates(date, &mut times, &mut other);
        for (index, cell) in cells.iter().enumerate() {
            let time = times.get(self.rows.order(index)).copied().unwrap_or(NOTHING);
            if let Some(latest) = latest.get_mut(place((*cell).into())) {
                *latest = time.max(*latest);
            }
        }
    }

    /// The cells of rows for which the condition holds; none when it always does.
    fn condition(&mut self, block: &Block<'_>, when: When) -> Option<Vec<u32>> {
        let chosen = |rows: &Rows, holds: &dyn Fn(usize) -> bool| {
            let cells = rows.cells.iter().enumerate();
            cells.map(|(index, cell)| if holds(index) { *cell } else { NOWHERE }).collect()
        };
        match when {
            When::Always => None,
            When::Order if block.chunk.parents.is_none() => None,
            When::Order | When::Refund => {
                block.orders(order::PARENT, &mut self.buffer);
                let (rows, parents) = (&self.rows, &self.buffer);
                let wanted = when == When::Refund;
                Some(chosen(rows, &|index| {
                    let is_refund =
                        parents.get(rows.order(index)).is_some_and(|parent| *parent != NOTHING);
                    is_refund == wanted
                }))
            }
            When::Negative | When::NotNegative => {
                let signs = self.values(block, self.plan.sign());
                let wanted = when == When::Negative;
                let cells = self.rows.cells.iter().zip(&signs);
                let cell = |(cell, sign): (&u32, &i64)| {
                    if (*sign < 0) == wanted { *cell } else { NOWHERE }
                };
                Some(cells.map(cell).collect())
            }
        }
    }

    /// For each condition that somebody asks it for: the cells of rows that are the first of their
    /// order in their cell for which the condition holds.
    fn firsts(
        &mut self,
        number: usize,
        start: usize,
        by_condition: &[Option<Vec<u32>>],
    ) -> Vec<Vec<u32>> {
        // No two orders have the same number here, and none has 0.
        let base = (u64::try_from(number).unwrap_or_default() << 32)
            + u64::try_from(start).unwrap_or_default()
            + 1;
        let (rows, totals) = (&self.rows, &mut self.totals);
        let mut firsts = Vec::with_capacity(by_condition.len());
        for ((cells, seen), needed) in
            by_condition.iter().zip(&mut totals.seen).zip(&self.plan.firsts)
        {
            let mut list = Vec::new();
            if *needed {
                let cells = cells.as_ref().unwrap_or(&rows.cells);
                list.reserve(cells.len());
                for (index, cell) in cells.iter().enumerate() {
                    let order = base + u64::try_from(rows.order(index)).unwrap_or_default();
                    let Some(last) = seen.get_mut(place((*cell).into())) else { continue };
                    list.push(if *last == order { NOWHERE } else { *cell });
                    *last = order;
                }
            }
            firsts.push(list);
        }
        firsts
    }

    /// Adds the subjects of the rows to the sets of their cells.
    fn collect(
        &self,
        block: &Block<'_>,
        subject: Subject,
        cells: &[u32],
        (sets, size): (&mut [Distinct], usize),
    ) {
        let subjects = Subjects::read(block, self.plan, subject);
        let counted = cells.iter().enumerate().filter(|(_, cell)| **cell != NOWHERE);
        for (index, cell) in counted {
            let Some(set) = sets.get_mut(place((*cell).into())) else { continue };
            for code in subjects.of(self.rows.unit(index), self.rows.order(index)) {
                set.insert(code, size);
            }
        }
    }
}

/// Adds the value of each row to the sum of its cell.
fn add(sums: &mut [i64], cells: &[u32], value: impl Fn(usize) -> i64) {
    for (index, cell) in cells.iter().enumerate() {
        if let Some(sum) = sums.get_mut(place((*cell).into())) {
            *sum = sum.saturating_add(value(index));
        }
    }
}

/// The groups of each row of a table. A group beyond all numbers is none.
enum Keys<'a> {
    /// All rows are in the first.
    Same,
    Each(Vec<u32>),
    Lists(Vec<&'a [u32]>),
}
