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
    buckets: Vec<u32>,
    rows: Rows,
    buffer: Vec<i64>,
    other: Vec<i64>,
    codes: Vec<u32>,
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
        self.orders.get(index).map_or(usize::MAX, |row| place(*row))
    }

    fn unit(&self, index: usize) -> usize {
        if self.units.is_empty() {
            return index;
        }
        self.units.get(index).map_or(usize::MAX, |unit| place(*unit))
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
            codes: Vec::new(),
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
        let narrow = |bucket: usize| u32::try_from(bucket).unwrap_or(u32::MAX);
        let first = narrow(reach.first);
        let between = plan.bounds.get(reach.first + 1..=reach.last).unwrap_or_default();
        self.buckets.clear();
        if between.len() < WHOLE_BUCKETS_MAX {
            self.buckets.resize(self.buffer.len(), first);
            for bound in between {
                let rows = self.buckets.iter_mut().zip(&self.buffer);
                rows.for_each(|(bucket, time)| *bucket += u32::from(time >= bound));
            }
            return;
        }
        let mut hint = reach.first;
        self.buckets.extend(self.buffer.iter().zip(passes).map(|(time, passes)| {
            if *passes {
                hint = plan.bucket(*time, hint);
            }
            narrow(hint)
        }));
    }

    /// Adds a block cell by cell.
    fn whole(&mut self, block: &Block<'_>, passes: &[bool], first: usize, last: usize) {
        let keys = match self.keys(block, None) {
            Keys::Each(keys) => Some(keys),
            Keys::Same | Keys::Lists(_) => None,
        };
        for bucket in first..=last {
            let mut in_bucket: Vec<i32> = passes.iter().map(|passes| -i32::from(*passes)).collect();
            if first != last {
                let bucket = u32::try_from(bucket).unwrap_or(u32::MAX);
                let rows = in_bucket.iter_mut().zip(&self.buckets);
                rows.for_each(|(mask, own)| *mask &= -i32::from(*own == bucket));
            }
            let Some(keys) = &keys else {
                self.whole_cell(block, bucket, 0, in_bucket);
                continue;
            };
            for key in (0..).take(self.plan.keys) {
                let rows = in_bucket.iter().zip(keys);
                let in_cell = rows.map(|(mask, own)| mask & -i32::from(*own == key)).collect();
                self.whole_cell(block, bucket, key, in_cell);
            }
        }
    }

    /// Adds the orders of a block whose mask is -1, all of which go into one cell.
    fn whole_cell(&mut self, block: &Block<'_>, bucket: usize, key: u32, orders: Vec<i32>) {
        let whole = Whole::new(self.plan, block, orders);
        if whole.count > 0 {
            self.totals.add_whole(bucket, key, &whole);
        }
    }

    /// Finds the cell of each row.
    fn cells(&mut self, block: &Block<'_>, passes: &[bool], common: Option<usize>) {
        let plan = self.plan;
        let mut rows = std::mem::take(&mut self.rows);
        rows.units.clear();
        rows.cells.clear();
        block.unit_rows(plan.table, &mut rows.orders);
        let of_order = |order: &u32| passes.get(place(*order)) == Some(&true);
        let mut counted: Vec<bool> = rows.orders.iter().map(of_order).collect();
        if let Some(test) = &plan.filter.unit {
            let passes = block.units(plan.table, &rows.orders, test);
            counted.iter_mut().zip(passes).for_each(|(counted, passes)| *counted &= passes);
        }
        let keys = self.keys(block, (plan.table != Table::Orders).then_some(&rows.orders));
        let in_common = common.and_then(|bucket| self.totals.dense(bucket));
        match (keys, in_common) {
            (Keys::Lists(lists), _) => self.cells_of_lists(&mut rows, &counted, &lists, common),
            (Keys::Each(keys), Some(first)) => {
                let cell = |(counted, key): (&bool, u32)| {
                    let is_in = *counted && key != u32::MAX;
                    if is_in { first.wrapping_add(key) } else { NOWHERE }
                };
                rows.cells.extend(counted.iter().zip(keys).map(cell));
            }
            (keys, _) => {
                for (unit, (order, counted)) in rows.orders.iter().zip(&counted).enumerate() {
                    let key = match &keys {
                        Keys::Each(keys) => keys.get(unit).copied().unwrap_or(u32::MAX),
                        Keys::Same | Keys::Lists(_) => 0,
                    };
                    let is_in = *counted && key != u32::MAX;
                    let bucket = self.bucket(common, *order);
                    rows.cells.push(if is_in { self.totals.cell(bucket, key) } else { NOWHERE });
                }
            }
        }
        if plan.table == Table::Orders {
            rows.orders.clear();
        }
        self.rows = rows;
    }

    /// Finds the cells of rows that can be in several groups.
    fn cells_of_lists(
        &mut self,
        rows: &mut Rows,
        counted: &[bool],
        lists: &[&[u32]],
        common: Option<usize>,
    ) {
        let orders = std::mem::take(&mut rows.orders);
        let units = (0_u32..).zip(&orders).zip(counted).zip(lists);
        for (((unit, order), _), list) in units.filter(|((_, counted), _)| **counted) {
            let bucket = self.bucket(common, *order);
            for key in *list {
                rows.units.push(unit);
                rows.orders.push(*order);
                rows.cells.push(self.totals.cell(bucket, *key));
            }
        }
    }

    fn bucket(&self, common: Option<usize>, order: u32) -> usize {
        common.unwrap_or_else(|| self.buckets.get(place(order)).map_or(0, |own| place(*own)))
    }

    /// The groups of each row of the table; `orders` are the places of their orders, if the rows
    /// are not the orders.
    fn keys(&mut self, block: &Block<'_>, orders: Option<&Vec<u32>>) -> Keys<'a> {
        let of_orders = |codes: Vec<u32>| match orders {
            None => codes,
            Some(orders) => {
                let code = |order: &u32| codes.get(place(*order)).copied().unwrap_or(u32::MAX);
                orders.iter().map(code).collect()
            }
        };
        if !matches!(*self.plan.grouping, Grouping::None | Grouping::Row(_) | Grouping::Returning) {
            block.codes(self.plan.table, &mut self.codes);
        }
        match &*self.plan.grouping {
            Grouping::None => Keys::Same,
            Grouping::Nowhere => Keys::Lists(Vec::new()),
            Grouping::Row(column) => {
                let mut codes = Vec::new();
                block.order_codes(*column, &mut codes);
                Keys::Each(of_orders(codes))
            }
            Grouping::Returning => Keys::Each(of_orders(block.customer_types())),
            Grouping::Unit => Keys::Each(self.codes.clone()),
            Grouping::Kind(kinds) => {
                let kind = |own: &u32| kinds.get(place(*own)).copied().unwrap_or(u32::MAX);
                Keys::Each(self.codes.iter().map(kind).collect())
            }
            Grouping::Lists(starts, codes) => {
                let list = |own: &u32| {
                    let at = |index: usize| starts.get(index).copied().unwrap_or_default();
                    let own = place(*own);
                    codes.get(at(own)..at(own.saturating_add(1))).unwrap_or_default()
                };
                Keys::Lists(self.codes.iter().map(list).collect())
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
        let first_of = |when: usize| match firsts.get(when) {
            Some(Some(cells)) => cells.as_slice(),
            _ => cells_of(when),
        };
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
        block.child_rows(&block.chunk.coupons, &mut self.codes);
        block.children(&block.chunk.coupons, coupon::DISCOUNT, &mut self.other);
        for (row, discount) in self.codes.iter().zip(&self.other) {
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
            if let Some(latest) = latest.get_mut(place(*cell)) {
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
            When::NotNegative if block.is_never_negative(self.plan.sign()) => None,
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
    /// order in their cell for which the condition holds. None when every row is.
    fn firsts(
        &mut self,
        number: usize,
        start: usize,
        by_condition: &[Option<Vec<u32>>],
    ) -> Vec<Option<Vec<u32>>> {
        let (rows, totals) = (&self.rows, &mut self.totals);
        if rows.orders.is_empty() {
            return Vec::new();
        }
        // No two orders have the same number here, and none has 0.
        let base = (u64::try_from(number).unwrap_or_default() << 32)
            + u64::try_from(start).unwrap_or_default()
            + 1;
        let conditions = by_condition.iter().zip(&mut totals.seen).zip(&self.plan.firsts);
        let firsts = conditions.map(|((cells, seen), needed)| {
            let cells = needed.then(|| cells.as_ref().unwrap_or(&rows.cells))?;
            let first = |(cell, order): (&u32, &u32)| {
                let order = base.wrapping_add((*order).into());
                let Some(last) = seen.get_mut(place(*cell)) else { return NOWHERE };
                let is_seen = *last == order;
                *last = order;
                if is_seen { NOWHERE } else { *cell }
            };
            Some(cells.iter().zip(&rows.orders).map(first).collect())
        });
        firsts.collect()
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
            let Some(set) = sets.get_mut(place(*cell)) else { continue };
            for code in subjects.of(self.rows.unit(index), self.rows.order(index)) {
                set.insert(code, size);
            }
        }
    }
}

/// Adds the value of each row to the sum of its cell.
fn add(sums: &mut [i64], cells: &[u32], value: impl Fn(usize) -> i64) {
    for (index, cell) in cells.iter().enumerate() {
        if let Some(sum) = sums.get_mut(place(*cell)) {
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
