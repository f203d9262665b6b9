//! What one thread does: blocks in, sums out.
//!
//! Of each block the rows that count are selected first, then each row gets the number of its cell
//! (bucket and group), and then each measure goes over its column once. Cells are numbered densely
//! while there are few, and as they appear when there could be very many.

use std::collections::HashMap;

use super::answer::{Answer, Key};
use super::distinct::Distinct;
use super::plan::{Grouping, Plan, Step};
use super::select::{Block, place};
use super::subjects::Subjects;
use super::{Column, Per, Subject, Table, When};
use crate::facts::chunk::{BLOCK_ROWS, Chunk, coupon, line, order, tax};
use crate::facts::column::NOTHING;

/// Numbers that dense cells may take in one thread.
const DENSE_MAX: usize = 1 << 23;

/// The cells, by bucket and group.
#[derive(Debug)]
enum Cells {
    Dense,
    Sparse(HashMap<(u32, u32), u32>),
}

/// What one measure has come to, by cell.
#[derive(Debug)]
enum Total {
    Sum(Vec<i64>),
    Distinct(Vec<Distinct>, usize),
}

#[derive(Debug)]
pub(super) struct Work<'a> {
    plan: &'a Plan<'a>,
    cells: Cells,
    totals: Vec<Total>,
    /// How many rows each cell has.
    counts: Vec<u64>,
    /// For each of the plan's conditions, the order that each cell saw last.
    seen: Vec<Vec<u64>>,
    chosen: Chosen,
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
}

impl<'a> Work<'a> {
    pub(super) fn new(plan: &'a Plan<'a>) -> Self {
        let cells = plan.buckets.saturating_mul(plan.keys);
        let is_dense = cells.saturating_mul(plan.steps.len() + 1) <= DENSE_MAX;
        let totals = plan.steps.iter().map(|step| match step {
            Step::Distinct { subject, .. } if *subject != Subject::Order => {
                Total::Distinct(Vec::new(), plan.subjects(*subject))
            }
            _ => Total::Sum(Vec::new()),
        });
        let mut work = Self {
            plan,
            cells: if is_dense { Cells::Dense } else { Cells::Sparse(HashMap::new()) },
            totals: totals.collect(),
            counts: Vec::new(),
            seen: plan.whens.iter().map(|_| Vec::new()).collect(),
            chosen: Chosen::default(),
            buffer: Vec::new(),
            other: Vec::new(),
        };
        work.grow(if is_dense { cells } else { 0 });
        work
    }

    /// Adds what another thread found.
    pub(super) fn merge(&mut self, other: Self) {
        let mut places: Vec<usize> = (0..other.counts.len()).collect();
        if let Cells::Sparse(cells) = other.cells {
            for ((bucket, key), cell) in cells {
                let own = self.cell(place(bucket.into()), key);
                if let Some(place) = places.get_mut(place(cell.into())) {
                    *place = own;
                }
            }
        }
        for (place, count) in places.iter().zip(other.counts) {
            if let Some(own) = self.counts.get_mut(*place) {
                *own += count;
            }
        }
        let steps = &self.plan.steps;
        for ((own, other), step) in self.totals.iter_mut().zip(other.totals).zip(steps) {
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
        let mut push = |bucket: usize, key: usize, cell: usize, count: u64| {
            if count > 0 || shows_all {
                rows.push((bucket, self.plan.key(key), cell));
            }
        };
        match &self.cells {
            Cells::Sparse(cells) => {
                for ((bucket, key), cell) in cells {
                    push(place((*bucket).into()), place((*key).into()), place((*cell).into()), 1);
                }
            }
            Cells::Dense => {
                for (cell, count) in self.counts.iter().enumerate() {
                    push(cell / keys, cell % keys, cell, *count);
                }
            }
        }
        if !(is_dense && shows_all) {
            rows.sort_unstable();
        }
        let mut answer = Answer::new(self.totals.len());
        for (bucket, key, cell) in rows {
            let values = self.totals.iter_mut().map(|total| match total {
                Total::Sum(sums) => sums.get(cell).copied().unwrap_or_default(),
                Total::Distinct(sets, _) => sets.get_mut(cell).map_or(0, Distinct::count),
            });
            answer.push(bucket, key, values);
        }
        answer
    }

    fn grow(&mut self, cells: usize) {
        for total in &mut self.totals {
            match total {
                Total::Sum(sums) => sums.resize(cells, 0),
                Total::Distinct(sets, _) => sets.resize_with(cells, Distinct::default),
            }
        }
        self.counts.resize(cells, 0);
        for (seen, needed) in self.seen.iter_mut().zip(&self.plan.firsts) {
            if *needed {
                seen.resize(cells, 0);
            }
        }
    }

    /// Goes through a chunk; `number` tells it from all others.
    pub(super) fn chunk(&mut self, number: usize, chunk: &Chunk) {
        for index in 0..chunk.blocks() {
            let block = Block { facts: self.plan.facts, chunk, index };
            let buckets = self.buckets(&block);
            if buckets.iter().all(Option::is_none) {
                continue;
            }
            self.choose(&block, &buckets);
            if !self.chosen.units.is_empty() {
                self.measure(number, &block);
            }
        }
    }

    /// The bucket of each order; nothing for those that do not count.
    fn buckets(&mut self, block: &Block<'_>) -> Vec<Option<usize>> {
        let plan = self.plan;
        block.dates(plan.date, &mut self.buffer, &mut self.other);
        let passes = block.rows(&plan.filter.row);
        let mut last = 0;
        let bucket = |(time, passes): (&i64, bool)| {
            (passes && plan.from <= *time && *time < plan.until).then(|| {
                last = plan.bucket(*time, last);
                last
            })
        };
        self.buffer.iter().zip(passes).map(bucket).collect()
    }

    fn choose(&mut self, block: &Block<'_>, buckets: &[Option<usize>]) {
        let plan = self.plan;
        let mut rows = Vec::new();
        match plan.table {
            Table::Orders => rows.extend((0..).take(buckets.len())),
            Table::Lines => block.child_rows(&block.chunk.lines, &mut rows),
            Table::Coupons => block.child_rows(&block.chunk.coupons, &mut rows),
            Table::Taxes => block.child_rows(&block.chunk.taxes, &mut rows),
            Table::Downloads => {}
        }
        let passes = plan.filter.unit.as_ref().map(|test| block.units(plan.table, &rows, test));
        let keys = self.keys(block, &rows);
        let mut chosen = std::mem::take(&mut self.chosen);
        chosen.units.clear();
        chosen.rows.clear();
        chosen.cells.clear();
        for (unit, row) in rows.iter().map(|row| place(*row)).enumerate() {
            let Some(Some(bucket)) = buckets.get(row) else { continue };
            if passes.as_ref().is_some_and(|passes| passes.get(unit) != Some(&true)) {
                continue;
            }
            for key in keys.of(unit) {
                chosen.units.push(unit);
                chosen.rows.push(row);
                chosen.cells.push(self.cell(*bucket, *key));
            }
        }
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

    fn cell(&mut self, bucket: usize, key: u32) -> usize {
        let Cells::Sparse(cells) = &mut self.cells else {
            return bucket * self.plan.keys + place(key.into());
        };
        let bucket = u32::try_from(bucket).unwrap_or(u32::MAX);
        let next = cells.len();
        let cell = *cells.entry((bucket, key)).or_insert(u32::try_from(next).unwrap_or(u32::MAX));
        let cell = place(cell.into());
        if cell == next {
            self.grow(next + 1);
        }
        cell
    }

    fn measure(&mut self, number: usize, block: &Block<'_>) {
        for cell in &self.chosen.cells {
            if let Some(count) = self.counts.get_mut(*cell) {
                *count += 1;
            }
        }
        let sources: Vec<Vec<i64>> =
            self.plan.sources.iter().map(|column| self.source(block, *column)).collect();
        let conditions: Vec<Vec<bool>> =
            self.plan.whens.iter().map(|when| self.condition(block, *when, &sources)).collect();
        let firsts = self.firsts(number, block.start(), &conditions);
        let weights = self.plan.weighs_coupons.then(|| self.weights(block));
        let mut totals = std::mem::take(&mut self.totals);
        for (step, total) in self.plan.steps.iter().zip(&mut totals) {
            match (step, total) {
                (Step::Rows { when }, Total::Sum(sums)) => {
                    self.add(sums, conditions.get(*when), |_| 1);
                }
                (Step::Sum { source, when, per }, Total::Sum(sums)) => {
                    let values = sources.get(*source).map(Vec::as_slice).unwrap_or_default();
                    let value = |index: usize| values.get(index).copied().unwrap_or_default();
                    match per {
                        Per::Row => self.add(sums, conditions.get(*when), value),
                        Per::Order => self.add(sums, firsts.get(*when), value),
                        Per::Coupon => self.add(sums, conditions.get(*when), |index| {
                            let weight = weights.as_ref().and_then(|weights| weights.get(index));
                            value(index).saturating_mul(weight.copied().unwrap_or(1))
                        }),
                    }
                }
                (Step::Distinct { when, .. }, Total::Sum(sums)) => {
                    self.add(sums, firsts.get(*when), |_| 1);
                }
                (Step::Distinct { subject, when }, Total::Distinct(sets, size)) => {
                    let condition = conditions.get(*when).map(Vec::as_slice).unwrap_or_default();
                    self.collect(block, *subject, condition, sets, *size);
                }
                (Step::Latest { date }, Total::Sum(latest)) => {
                    let mut times = Vec::new();
                    block.dates(*date, &mut times, &mut Vec::new());
                    for (row, cell) in self.chosen.rows.iter().zip(&self.chosen.cells) {
                        let time = times.get(*row).copied().unwrap_or(NOTHING);
                        if let Some(latest) = latest.get_mut(*cell) {
                            *latest = time.max(*latest);
                        }
                    }
                }
                _ => {}
            }
        }
        self.totals = totals;
    }

    /// Adds the value of each chosen row for which the condition holds to its cell.
    fn add(&self, sums: &mut [i64], passes: Option<&Vec<bool>>, value: impl Fn(usize) -> i64) {
        let passes = passes.map(Vec::as_slice).unwrap_or_default();
        for ((index, cell), passes) in self.chosen.cells.iter().enumerate().zip(passes) {
            if *passes && let Some(sum) = sums.get_mut(*cell) {
                *sum = sum.saturating_add(value(index));
            }
        }
    }

    /// A column, by chosen row.
    fn source(&mut self, block: &Block<'_>, column: Column) -> Vec<i64> {
        let of_units = match (column, self.plan.table) {
            (Column::Quantity, Table::Lines) => Some(line::QUANTITY),
            (Column::LineNet, Table::Lines) => Some(line::NET),
            (Column::LineGross, Table::Lines) => Some(line::GROSS),
            (Column::LineDiscount, Table::Lines) => Some(line::DISCOUNT),
            (Column::LineTax, Table::Lines) => Some(line::TAX),
            (Column::LineShipping, Table::Lines) => Some(line::SHIPPING),
            (Column::LineShippingTax, Table::Lines) => Some(line::SHIPPING_TAX),
            (Column::CouponDiscount, Table::Coupons) => Some(coupon::DISCOUNT),
            (Column::TaxOfGoods | Column::TaxOfBoth, Table::Taxes) => Some(tax::GOODS),
            (Column::TaxOfShipping, Table::Taxes) => Some(tax::SHIPPING),
            _ => None,
        };
        let picked = |values: &[i64], places: &[usize]| -> Vec<i64> {
            places.iter().map(|place| values.get(*place).copied().unwrap_or_default()).collect()
        };
        let Some(of_units) = of_units else {
            self.order_column(block, column);
            return picked(&self.buffer, &self.chosen.rows);
        };
        match self.plan.table {
            Table::Lines => block.children(&block.chunk.lines, of_units, &mut self.buffer),
            Table::Coupons => block.children(&block.chunk.coupons, of_units, &mut self.buffer),
            _ => block.children(&block.chunk.taxes, of_units, &mut self.buffer),
        }
        if column == Column::TaxOfBoth {
            block.children(&block.chunk.taxes, tax::SHIPPING, &mut self.other);
            add_to(&mut self.buffer, &self.other);
        }
        picked(&self.buffer, &self.chosen.units)
    }

    /// Reads a column of the orders into the buffer; zeros for one that they do not have.
    fn order_column(&mut self, block: &Block<'_>, column: Column) {
        let simple = match column {
            Column::Items => Some(order::ITEMS),
            Column::Total => Some(order::TOTAL),
            Column::Tax => Some(order::TAX),
            Column::Shipping => Some(order::SHIPPING),
            Column::Net | Column::Gross => Some(order::NET),
            _ => None,
        };
        self.buffer.clear();
        self.buffer.resize(block.len(), 0);
        if let Some(simple) = simple {
            block.orders(simple, &mut self.buffer);
        }
        if column == Column::Gross {
            for part in [order::TAX, order::SHIPPING] {
                block.orders(part, &mut self.other);
                add_to(&mut self.buffer, &self.other);
            }
        }
        if column == Column::Discounts {
            let mut rows = Vec::new();
            block.child_rows(&block.chunk.coupons, &mut rows);
            block.children(&block.chunk.coupons, coupon::DISCOUNT, &mut self.other);
            for (row, discount) in rows.iter().zip(&self.other) {
                if let Some(sum) = self.buffer.get_mut(place(*row)) {
                    *sum = sum.saturating_add(*discount);
                }
            }
        }
    }

    /// Whether the condition holds, by chosen row.
    fn condition(&mut self, block: &Block<'_>, when: When, sources: &[Vec<i64>]) -> Vec<bool> {
        match when {
            When::Always => vec![true; self.chosen.rows.len()],
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
            conditions.iter().zip(&mut self.seen).zip(&self.plan.firsts)
        {
            let mut list = Vec::new();
            if *needed {
                let chosen = self.chosen.rows.iter().zip(&self.chosen.cells);
                for ((row, cell), passes) in chosen.zip(condition) {
                    let order = base + u64::try_from(*row).unwrap_or_default();
                    let last = seen.get_mut(*cell);
                    let is_first = *passes && last.as_deref() != Some(&order);
                    if let Some(last) = last.filter(|_| is_first) {
                        *last = order;
                    }
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
        let Chosen { units, rows, cells } = &self.chosen;
        let chosen = units.iter().zip(rows).zip(cells).zip(condition);
        for (((unit, row), cell), _) in chosen.filter(|(_, passes)| **passes) {
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
