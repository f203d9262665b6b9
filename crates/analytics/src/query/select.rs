//! Tests carried out on a block of rows: for each row, whether it passes.

use std::ops::Range;

use super::compile::{Flags, LineFlags, RowTest, UnitTest};
use super::{DateColumn, Table};
use crate::facts::chunk::{BLOCK_ROWS, Children, Chunk, coupon, line, order, tax};
use crate::facts::column::{Column, NOTHING};
use crate::facts::returning::Seniority;
use crate::facts::{OrderNumber, Snapshot};
use crate::query;

/// Rows of a chunk that are read together, with all their children.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block<'a> {
    pub(super) facts: &'a Snapshot,
    pub(super) chunk: &'a Chunk,
    /// The place of the chunk among all.
    pub(super) number: usize,
    pub(super) index: usize,
}

/// A place in an array of codes; what is none lies beyond all arrays.
pub(super) fn place(code: u32) -> usize {
    usize::try_from(code).unwrap_or(usize::MAX)
}

impl<'a> Block<'a> {
    pub(super) fn start(&self) -> usize {
        self.index * BLOCK_ROWS
    }

    pub(super) fn len(&self) -> usize {
        self.chunk.len().saturating_sub(self.start()).min(BLOCK_ROWS)
    }

    /// Reads a column of the orders into the buffer, which gets the block's length.
    pub(super) fn orders(&self, column: usize, buffer: &mut Vec<i64>) {
        if let Some(column) = self.chunk.orders.get(column) {
            read(column, self.start()..self.start() + self.len(), buffer);
        }
    }

    /// Reads a date; [`NOTHING`] stays what it is.
    pub(super) fn dates(&self, date: DateColumn, buffer: &mut Vec<i64>, other: &mut Vec<i64>) {
        self.orders(order::CREATED, buffer);
        let column = match date {
            DateColumn::Created => return,
            DateColumn::Paid => order::PAID,
            DateColumn::Completed => order::COMPLETED,
        };
        self.orders(column, other);
        for (time, after) in buffer.iter_mut().zip(other) {
            *time = if *after == NOTHING { NOTHING } else { time.wrapping_add(*after) };
        }
    }

    /// Reads a column of the block's children.
    pub(super) fn children<const COLUMNS: usize>(
        &self,
        of: &Children<COLUMNS>,
        column: usize,
        buffer: &mut Vec<i64>,
    ) {
        if let Some(column) = of.columns.get(column) {
            read(column, of.of_block(self.index), buffer);
        }
    }

    /// Reads a column of the orders that holds numbers of a dictionary.
    pub(super) fn order_codes(&self, column: usize, buffer: &mut Vec<u32>) {
        buffer.resize(self.len(), 0);
        if let Some(column) = self.chunk.orders.get(column) {
            column.codes(self.start(), 0, buffer);
        }
    }

    /// The same of a column of the block's children.
    pub(super) fn child_codes<const COLUMNS: usize>(
        &self,
        of: &Children<COLUMNS>,
        column: usize,
        buffer: &mut Vec<u32>,
    ) {
        let range = of.of_block(self.index);
        buffer.resize(range.len(), 0);
        if let Some(column) = of.columns.get(column) {
            column.codes(range.start, 0, buffer);
        }
    }

    /// Reads, for each child, the place of its order in the block.
    pub(super) fn child_rows<const COLUMNS: usize>(
        &self,
        of: &Children<COLUMNS>,
        buffer: &mut Vec<u32>,
    ) {
        let range = of.of_block(self.index);
        buffer.resize(range.len(), 0);
        if let Some(column) = of.columns.first() {
            let start = i64::try_from(self.start()).unwrap_or(i64::MAX);
            column.codes(range.start, start, buffer);
        }
    }

    /// Whether each order passes.
    pub(super) fn rows(&self, test: &RowTest) -> Vec<bool> {
        match test {
            RowTest::All(list) => {
                combined(self.len(), true, list.iter().map(|test| self.rows(test)))
            }
            RowTest::Any(list) => {
                combined(self.len(), false, list.iter().map(|test| self.rows(test)))
            }
            RowTest::Not(inner) => negated(self.rows(inner)),
            RowTest::Code(column, flags) => {
                let mut found = vec![false; self.len()];
                if let Some(column) = self.chunk.orders.get(*column) {
                    column.flags(self.start(), flags, &mut found);
                }
                found
            }
            RowTest::Buyers(codes) => {
                let mut customers = Vec::new();
                self.orders(order::CUSTOMER, &mut customers);
                let is_wanted =
                    |code: &i64| u32::try_from(*code).is_ok_and(|code| codes.contains(&code));
                customers.iter().map(is_wanted).collect()
            }
            RowTest::Refund(refund) => {
                let mut parents = Vec::new();
                self.orders(order::PARENT, &mut parents);
                parents.iter().map(|parent| (*parent != NOTHING) == *refund).collect()
            }
            RowTest::Returning(wanted) => {
                self.returning().iter().map(|is| *is == Some(*wanted)).collect()
            }
            RowTest::CustomerType(wanted) => {
                self.customer_types().iter().map(|own| *own == u32::from(*wanted)).collect()
            }
            RowTest::Ids(ids) => {
                let mut own = Vec::new();
                self.orders(order::ID, &mut own);
                own.iter().map(|id| ids.contains(*id)).collect()
            }
            RowTest::HasLine(test) => self.with_child(&self.chunk.lines, self.lines(test)),
            RowTest::HasCoupon(flags) => {
                let mut codes = Vec::new();
                self.child_codes(&self.chunk.coupons, coupon::COUPON, &mut codes);
                self.with_child(&self.chunk.coupons, flagged(&codes, flags))
            }
            RowTest::HasRate(flags) => {
                let mut codes = Vec::new();
                self.child_codes(&self.chunk.taxes, tax::RATE, &mut codes);
                self.with_child(&self.chunk.taxes, flagged(&codes, flags))
            }
        }
    }

    /// Which orders have a child that passes.
    fn with_child<const COLUMNS: usize>(
        &self,
        of: &Children<COLUMNS>,
        passes: Vec<bool>,
    ) -> Vec<bool> {
        let mut rows = Vec::new();
        self.child_rows(of, &mut rows);
        let mut found = vec![false; self.len()];
        for (row, _) in rows.iter().zip(passes).filter(|(_, passes)| *passes) {
            if let Some(found) = found.get_mut(place(*row)) {
                *found = true;
            }
        }
        found
    }

    /// Of each order, whether its customer had bought before; nothing for refunds.
    pub(super) fn returning(&self) -> Vec<Option<bool>> {
        let is_after = |row: &Seniority| (!row.is_refund()).then(|| row.is_after());
        self.seniorities().iter().map(is_after).collect()
    }

    /// The same as a group, where a refund is of a new customer if its order is the customer's
    /// first one, or if there was none yet when it was refunded.
    pub(super) fn customer_types(&self) -> Vec<u32> {
        let kind = |row: &Seniority| u32::from(row.is_after() && !row.is_of_first());
        self.seniorities().iter().map(kind).collect()
    }

    fn seniorities(&self) -> &'a [Seniority] {
        let rows = self.start()..self.start() + self.len();
        self.facts.returning(self.number).get(rows).unwrap_or_default()
    }

    /// Whether each line passes.
    pub(super) fn lines(&self, test: &LineFlags) -> Vec<bool> {
        let count = self.chunk.lines.of_block(self.index).len();
        match test {
            LineFlags::All(list) => combined(count, true, list.iter().map(|test| self.lines(test))),
            LineFlags::Any(list) => {
                combined(count, false, list.iter().map(|test| self.lines(test)))
            }
            LineFlags::Not(inner) => negated(self.lines(inner)),
            LineFlags::Goods(flags) => self.line_flags(line::GOODS, flags),
            LineFlags::Attributes(flags) => self.line_flags(line::ATTRIBUTES, flags),
        }
    }

    fn line_flags(&self, column: usize, flags: &Flags) -> Vec<bool> {
        let range = self.chunk.lines.of_block(self.index);
        let mut found = vec![false; range.len()];
        if let Some(column) = self.chunk.lines.columns.get(column) {
            column.flags(range.start, flags, &mut found);
        }
        found
    }

    /// Whether each row of the table passes; `rows` are the places of their orders.
    pub(super) fn units(&self, table: Table, rows: &[u32], test: &UnitTest) -> Vec<bool> {
        let all = |list: &[UnitTest], start| {
            combined(rows.len(), start, list.iter().map(|test| self.units(table, rows, test)))
        };
        match test {
            UnitTest::All(list) => all(list, true),
            UnitTest::Any(list) => all(list, false),
            UnitTest::Not(inner) => negated(self.units(table, rows, inner)),
            UnitTest::Row(test) => {
                let passes = self.rows(test);
                let of_order = |row: &u32| passes.get(place(*row)).copied().unwrap_or_default();
                rows.iter().map(of_order).collect()
            }
            UnitTest::Line(test) => self.lines(test),
            UnitTest::Code(flags) => {
                let mut codes = Vec::new();
                self.codes(table, &mut codes);
                flagged(&codes, flags)
            }
            UnitTest::Never => vec![false; rows.len()],
        }
    }

    /// The column of the table itself, and where the block begins in it. None for columns that the
    /// table does not have, or that are made of several.
    pub(super) fn native(
        &self,
        table: Table,
        column: query::Column,
    ) -> Option<(&'a Column, usize)> {
        let of_orders = |place: usize| Some((self.chunk.orders.get(place)?, self.start()));
        let lines = self.chunk.lines.of_block(self.index).start;
        let of_lines = |place: usize| Some((self.chunk.lines.columns.get(place)?, lines));
        let coupons = self.chunk.coupons.of_block(self.index).start;
        let taxes = self.chunk.taxes.of_block(self.index).start;
        match (table, column) {
            (Table::Orders, query::Column::Order(number)) => of_orders(order::number(number)),
            (Table::Lines, query::Column::Line(number)) => of_lines(line::number(number)),
            (Table::Coupons, query::Column::CouponDiscount) => {
                Some((&self.chunk.coupons.columns[coupon::DISCOUNT], coupons))
            }
            (Table::Taxes, query::Column::TaxOfGoods) => {
                Some((&self.chunk.taxes.columns[tax::GOODS], taxes))
            }
            (Table::Taxes, query::Column::TaxOfShipping) => {
                Some((&self.chunk.taxes.columns[tax::SHIPPING], taxes))
            }
            _ => None,
        }
    }

    /// The parts that a column is the sum of; itself for most.
    pub(super) fn parts(column: &query::Column) -> &[query::Column] {
        use query::Column::{Order, TaxOfGoods, TaxOfShipping};
        match column {
            query::Column::Gross => {
                &[Order(OrderNumber::Net), Order(OrderNumber::Tax), Order(OrderNumber::Shipping)]
            }
            query::Column::TaxOfBoth => &[TaxOfGoods, TaxOfShipping],
            own => std::slice::from_ref(own),
        }
    }

    /// Whether the column, which is of lines or of orders, is below 0 nowhere in the block, as far
    /// as its parts tell.
    pub(super) fn is_never_negative(&self, column: query::Column) -> bool {
        let is_of_lines = matches!(column, query::Column::Line(_));
        let table = if is_of_lines { Table::Lines } else { Table::Orders };
        let mut parts = Self::parts(&column).iter().filter_map(|part| self.native(table, *part));
        parts.all(|(column, start)| column.is_never_negative(start, self.rows_of(table)))
    }

    /// Reads, for each row of the table, the place of its order in the block.
    pub(super) fn unit_rows(&self, table: Table, buffer: &mut Vec<u32>) {
        match table {
            Table::Orders => {
                buffer.clear();
                buffer.extend((0_u32..).take(self.len()));
            }
            Table::Lines => self.child_rows(&self.chunk.lines, buffer),
            Table::Coupons => self.child_rows(&self.chunk.coupons, buffer),
            Table::Taxes => self.child_rows(&self.chunk.taxes, buffer),
            Table::Downloads => buffer.clear(),
        }
    }

    /// How many rows of the table the block has.
    pub(super) fn rows_of(&self, table: Table) -> usize {
        match table {
            Table::Orders => self.len(),
            Table::Lines => self.chunk.lines.of_block(self.index).len(),
            Table::Coupons => self.chunk.coupons.of_block(self.index).len(),
            Table::Taxes => self.chunk.taxes.of_block(self.index).len(),
            Table::Downloads => 0,
        }
    }

    /// Leaves out orders that do not have the date.
    pub(super) fn keep_dated(&self, date: DateColumn, passes: &mut [bool]) {
        let column = match date {
            DateColumn::Created => return,
            DateColumn::Paid => &self.chunk.orders[order::PAID],
            DateColumn::Completed => &self.chunk.orders[order::COMPLETED],
        };
        column.keep_known(self.start(), passes);
    }

    /// Reads the number that a row of the table is about.
    pub(super) fn codes(&self, table: Table, buffer: &mut Vec<u32>) {
        match table {
            Table::Lines => self.child_codes(&self.chunk.lines, line::GOODS, buffer),
            Table::Coupons => self.child_codes(&self.chunk.coupons, coupon::COUPON, buffer),
            Table::Taxes => self.child_codes(&self.chunk.taxes, tax::RATE, buffer),
            Table::Orders | Table::Downloads => buffer.clear(),
        }
    }
}

fn read(column: &Column, range: Range<usize>, buffer: &mut Vec<i64>) {
    buffer.resize(range.len(), 0);
    column.decode(range.start, buffer);
}

fn flagged(codes: &[u32], flags: &Flags) -> Vec<bool> {
    codes.iter().map(|code| flags.get(place(*code)).copied().unwrap_or_default()).collect()
}

fn negated(mut passes: Vec<bool>) -> Vec<bool> {
    for passes in &mut passes {
        *passes = !*passes;
    }
    passes
}

/// All of the lists, when `start` is true, or any of them.
fn combined(len: usize, start: bool, mut lists: impl Iterator<Item = Vec<bool>>) -> Vec<bool> {
    let mut whole = lists.next().unwrap_or_else(|| vec![start; len]);
    for list in lists {
        for (whole, passes) in whole.iter_mut().zip(list) {
            *whole = if start { *whole & passes } else { *whole | passes };
        }
    }
    whole
}
