//! The short way: rows of a block that all go into one cell. No row is moved anywhere; each measure
//! is one pass over a column, with a mask for the rows that count.
//!
//! Most blocks have few cells when there are no groups, or few: rows lie in the order of their
//! dates, and an interval holds many blocks.

use super::distinct::Distinct;
use super::plan::{Grouping, Plan, Step};
use super::select::{Block, place};
use super::subjects::Subjects;
use super::{Per, Subject, Table, When};
use crate::facts::chunk::order;
use crate::facts::column::NOTHING;
use crate::query;

/// Groups up to which a block is gone through once for each.
const GROUPS_MAX: usize = 4;

/// Whether all measures of the plan can go this way.
pub(super) fn suits(plan: &Plan<'_>) -> bool {
    let of_table = |source: usize| {
        let column = plan.sources.get(source).copied();
        column.is_some_and(|column| match column {
            query::Column::Order(_) | query::Column::Gross | query::Column::Discounts => {
                plan.table == Table::Orders
            }
            // A column that the table does not have is 0 everywhere.
            _ => true,
        })
    };
    let is_simple = |step: &Step| match step {
        Step::Sum { source, per, .. } => {
            let is_once = *per == Per::Row || (plan.table == Table::Orders && *per == Per::Order);
            is_once && of_table(*source)
        }
        Step::Rows { .. } | Step::Distinct { .. } | Step::Latest { .. } => true,
    };
    let has_few_groups = match *plan.grouping {
        Grouping::None => true,
        Grouping::Row(_) | Grouping::Returning => {
            plan.table == Table::Orders && plan.keys <= GROUPS_MAX
        }
        _ => false,
    };
    has_few_groups && plan.steps.iter().all(is_simple)
}

/// The rows of a block that count.
pub(super) struct Whole<'a, 'b> {
    pub(super) plan: &'a Plan<'a>,
    pub(super) block: &'b Block<'b>,
    /// The place of each row's order, unless the rows are the orders.
    rows: Vec<u32>,
    /// -1 for rows that count, 0 for others.
    counted: Vec<i32>,
    /// How many rows count.
    pub(super) count: i64,
    /// The same for each of the plan's conditions; none for one that always holds here.
    masks: Vec<Option<(Vec<i32>, i64)>>,
}

impl<'a, 'b> Whole<'a, 'b> {
    /// `orders` is -1 for orders that count, 0 for others.
    pub(super) fn new(plan: &'a Plan<'a>, block: &'b Block<'b>, orders: Vec<i32>) -> Self {
        let mut rows = Vec::new();
        let mut mask = if plan.table == Table::Orders {
            orders
        } else {
            block.unit_rows(plan.table, &mut rows);
            let of_order = |row: &u32| orders.get(place(*row)).copied().unwrap_or_default();
            rows.iter().map(of_order).collect()
        };
        if let Some(test) = &plan.filter.unit {
            if plan.table == Table::Orders {
                block.unit_rows(plan.table, &mut rows);
            }
            for (mask, passes) in mask.iter_mut().zip(block.units(plan.table, &rows, test)) {
                *mask &= -i32::from(passes);
            }
        }
        let count = number(&mask);
        let mut whole = Self { plan, block, rows, counted: mask, masks: Vec::new(), count };
        if count > 0 {
            let masks = plan.whens.iter().map(|when| {
                let mask = whole.masked(*when)?;
                let count = number(&mask);
                Some((mask, count))
            });
            whole.masks = masks.collect();
        }
        whole
    }

    fn masked(&self, when: When) -> Option<Vec<i32>> {
        let is_refund = match when {
            When::Always => return None,
            When::Order if self.block.chunk.parents.is_none() => return None,
            When::NotNegative if self.block.is_never_negative(self.plan.sign()) => return None,
            When::Order | When::Refund => when == When::Refund,
            When::Negative | When::NotNegative => {
                let signs = self.signs();
                let is_wanted = |sign: i64| -i32::from((sign < 0) == (when == When::Negative));
                let mask = self.counted.iter().zip(signs);
                return Some(mask.map(|(mask, sign)| mask & is_wanted(sign)).collect());
            }
        };
        let mut values = Vec::new();
        self.block.orders(order::PARENT, &mut values);
        let is_wanted = |parent: &i64| -i32::from((*parent != NOTHING) == is_refund);
        let mut mask = self.counted.clone();
        if self.plan.table == Table::Orders {
            mask.iter_mut().zip(&values).for_each(|(mask, own)| *mask &= is_wanted(own));
        } else {
            for (mask, row) in mask.iter_mut().zip(&self.rows) {
                *mask &= values.get(place(*row)).map_or(0, is_wanted);
            }
        }
        Some(mask)
    }

    /// By which each row takes money back or does not.
    fn signs(&self) -> Vec<i64> {
        let is_line = self.plan.table == Table::Lines;
        let (table, sign) = if is_line {
            (Table::Lines, self.plan.sign())
        } else {
            (Table::Orders, query::Column::Gross)
        };
        let len = if is_line { self.rows.len() } else { self.block.len() };
        let mut signs = vec![0_i64; len];
        let mut part_values = vec![0; len];
        for part in Block::parts(&sign) {
            if let Some((column, start)) = self.block.native(table, *part) {
                column.decode(start, &mut part_values);
                for (sign, part) in signs.iter_mut().zip(&part_values) {
                    *sign = sign.saturating_add(*part);
                }
            }
        }
        if is_line || self.plan.table == Table::Orders {
            return signs;
        }
        self.rows.iter().map(|row| signs.get(place(*row)).copied().unwrap_or_default()).collect()
    }

    /// The mask of a condition, and how many rows it lets through.
    fn mask(&self, when: usize) -> (&[i32], i64) {
        match self.masks.get(when) {
            Some(Some((mask, count))) => (mask, *count),
            _ => (&self.counted, self.count),
        }
    }

    /// What a measure comes to in this block, if that is a number.
    pub(super) fn value(&self, step: Step) -> i64 {
        match step {
            Step::Rows { when } => self.mask(when).1,
            Step::Sum { source, when, .. } => self.sum(source, when),
            Step::Distinct { when, .. } => self.orders(when),
            Step::Latest { date } => {
                let (mut times, mut other) = (Vec::new(), Vec::new());
                self.block.dates(date, &mut times, &mut other);
                let places = self.chosen(&self.counted);
                let times = places.map(|(_, row)| times.get(row).copied().unwrap_or_default());
                times.max().unwrap_or_default()
            }
        }
    }

    fn sum(&self, source: usize, when: usize) -> i64 {
        let Some(column) = self.plan.sources.get(source).copied() else { return 0 };
        let (mask, count) = self.mask(when);
        if column == query::Column::Discounts {
            return self.discounts(mask);
        }
        let parts = Block::parts(&column).iter();
        let parts = parts.filter_map(|part| self.block.native(self.plan.table, *part));
        parts.fold(0, |sum: i64, (column, start)| {
            sum.saturating_add(column.masked_sum(start, mask, count))
        })
    }

    /// The discounts of the orders that count.
    fn discounts(&self, mask: &[i32]) -> i64 {
        let coupons = &self.block.chunk.coupons;
        let (mut rows, mut values) = (Vec::new(), Vec::new());
        self.block.child_rows(coupons, &mut rows);
        self.block.children(coupons, crate::facts::chunk::coupon::DISCOUNT, &mut values);
        let own = rows
            .iter()
            .zip(&values)
            .map(|(row, value)| value & mask.get(place(*row)).map_or(0, |mask| i64::from(*mask)));
        own.fold(0, i64::saturating_add)
    }

    /// How many orders have a row that counts. Rows of one order lie together.
    fn orders(&self, when: usize) -> i64 {
        let (mask, count) = self.mask(when);
        if self.plan.table == Table::Orders {
            return count;
        }
        if self.plan.filter.unit.is_none() && matches!(self.masks.get(when), Some(None)) {
            // All rows of an order count or none does, so its first row tells.
            let is_first = self.rows.windows(2).zip(mask.get(1..).unwrap_or_default());
            let first = mask.first().copied().unwrap_or_default();
            return -i64::from(is_first.fold(first, |sum, (rows, mask)| {
                let is_new = matches!(rows, [last, row] if last != row);
                sum.wrapping_add(mask & -i32::from(is_new))
            }));
        }
        let mut last = u32::MAX;
        let mut count = 0;
        for (row, mask) in self.rows.iter().zip(mask) {
            let is_new = *mask != 0 && *row != last;
            count += i64::from(is_new);
            last = if is_new { *row } else { last };
        }
        count
    }

    /// Places of rows that count, with those of their orders.
    fn chosen<'c>(&'c self, mask: &'c [i32]) -> impl Iterator<Item = (usize, usize)> + 'c {
        let is_orders = self.plan.table == Table::Orders;
        let wanted = mask.iter().enumerate().filter(|(_, mask)| **mask != 0);
        wanted.map(move |(unit, _)| {
            let row =
                if is_orders { unit } else { self.rows.get(unit).map_or(0, |row| place(*row)) };
            (unit, row)
        })
    }

    /// Adds the subjects of the rows that count to a set.
    pub(super) fn collect(&self, subject: Subject, when: usize, set: &mut Distinct, size: usize) {
        let subjects = Subjects::read(self.block, self.plan, subject);
        let (mask, _) = self.mask(when);
        if let Subjects::Units(codes) = &subjects
            && subject == Subject::Customer
        {
            return set.extend(codes, mask, size);
        }
        for (unit, row) in self.chosen(mask) {
            subjects.of(unit, row).for_each(|code| set.insert(code, size));
        }
    }
}

/// How many rows a mask lets through.
fn number(mask: &[i32]) -> i64 {
    -i64::from(mask.iter().fold(0_i32, |sum, mask| sum.wrapping_add(*mask)))
}
