//! A chunk: some thousand orders and refunds in the order of their creation, with their lines,
//! coupons and taxes, as columns. **A chunk never changes**; a change makes another one.
//!
//! Rows are read in blocks of [`BLOCK_ROWS`]. A child row knows the place of its order in the
//! chunk, and children are in the order of their orders, so those of a block lie together.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use super::bytes::{Decoder, Encoder};
use super::column::{Column, NOTHING};

/// Orders of a chunk. A change costs as much as a chunk has rows; a chunk costs some hundred bytes.
pub(crate) const CHUNK_ROWS: usize = 8_192;
/// Rows that are read together. A buffer of a block fits the processor's nearest cache.
pub(crate) const BLOCK_ROWS: usize = 1_024;

/// Columns of orders. Names of things are numbers of a dictionary.
pub(crate) mod order {
    use crate::facts::{OrderNumber, OrderText};

    pub(crate) const ID: usize = 0;
    /// How far the id of a refund is from that of its order; nothing for orders.
    pub(crate) const PARENT: usize = 1;
    pub(crate) const CREATED: usize = 2;
    /// How long after the creation; nothing if it never was.
    pub(crate) const PAID: usize = 3;
    pub(crate) const COMPLETED: usize = 4;
    pub(crate) const CUSTOMER: usize = 5;
    const TEXTS: usize = 6;
    const NUMBERS: usize = TEXTS + OrderText::COUNT;
    pub(crate) const COUNT: usize = NUMBERS + OrderNumber::COUNT;

    pub(crate) fn text(field: OrderText) -> usize {
        TEXTS + field.index()
    }

    pub(crate) fn number(field: OrderNumber) -> usize {
        NUMBERS + field.index()
    }
}

/// Columns of lines.
pub(crate) mod line {
    use crate::facts::LineNumber;

    pub(crate) const ROW: usize = 0;
    /// Product and variation.
    pub(crate) const GOODS: usize = 1;
    pub(crate) const ATTRIBUTES: usize = 2;
    const NUMBERS: usize = 3;
    pub(crate) const COUNT: usize = NUMBERS + LineNumber::COUNT;

    pub(crate) fn number(field: LineNumber) -> usize {
        NUMBERS + field.index()
    }
}

/// Columns of coupons.
pub(crate) mod coupon {
    pub(crate) const ROW: usize = 0;
    pub(crate) const COUPON: usize = 1;
    pub(crate) const DISCOUNT: usize = 2;
    pub(crate) const COUNT: usize = 3;
}

/// Columns of taxes.
pub(crate) mod tax {
    pub(crate) const ROW: usize = 0;
    pub(crate) const RATE: usize = 1;
    pub(crate) const GOODS: usize = 2;
    pub(crate) const SHIPPING: usize = 3;
    pub(crate) const COUNT: usize = 4;
}

/// An order with its children in the form in which chunks are made. The first column of a child,
/// its row, is filled in by the chunk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) order: [i64; order::COUNT],
    pub(crate) lines: Vec<[i64; line::COUNT]>,
    pub(crate) coupons: Vec<[i64; coupon::COUNT]>,
    pub(crate) taxes: Vec<[i64; tax::COUNT]>,
}

impl Row {
    pub(crate) fn id(&self) -> i64 {
        self.order[order::ID]
    }

    /// The order of a refund; else 0.
    pub(crate) fn parent_id(&self) -> i64 {
        match self.order[order::PARENT] {
            NOTHING => 0,
            distance => self.id().wrapping_sub(distance),
        }
    }

    /// What rows are sorted by.
    pub(crate) fn place(&self) -> (i64, i64) {
        (self.order[order::CREATED], self.id())
    }
}

/// The columns of one kind of child, and where those of each block begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Children<const COLUMNS: usize> {
    pub(crate) columns: [Column; COLUMNS],
    /// One more than there are blocks.
    starts: Vec<usize>,
}

impl<const COLUMNS: usize> Children<COLUMNS> {
    /// None when a file's columns do not belong together.
    pub(super) fn of_columns(columns: [Column; COLUMNS], orders: usize) -> Option<Self> {
        let rows = columns.first()?.to_vec();
        let is_place = |row: &i64| usize::try_from(*row).is_ok_and(|row| row < orders);
        if !rows.is_sorted()
            || !rows.iter().all(is_place)
            || columns.iter().any(|column| column.len() != rows.len())
        {
            return None;
        }
        let bound = |block: usize| i64::try_from(block * BLOCK_ROWS).unwrap_or(i64::MAX);
        let start = |block: usize| rows.partition_point(|row| *row < bound(block));
        let starts = (0..=orders.div_ceil(BLOCK_ROWS)).map(start).collect();
        Some(Self { columns, starts })
    }

    pub(crate) fn len(&self) -> usize {
        self.columns.first().map_or(0, Column::len)
    }

    /// The children of a block's orders.
    pub(crate) fn of_block(&self, block: usize) -> Range<usize> {
        let at = |index: usize| self.starts.get(index).copied().unwrap_or_default();
        at(block)..at(block + 1).max(at(block))
    }
}

/// Bounds of a column that may have nothing in it.
pub(crate) type Bounds = Option<(i64, i64)>;

/// The first and the last of each date that some rows have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Dates {
    pub(crate) created: Bounds,
    pub(crate) paid: Bounds,
    pub(crate) completed: Bounds,
}

impl Dates {
    /// Of rows that were created then, and paid and completed so long after it.
    fn new(created: &[i64], paid: &[i64], completed: &[i64]) -> Self {
        let later = |after: &[i64]| {
            let pairs = created.iter().zip(after).filter(|(_, after)| **after != NOTHING);
            let times: Vec<i64> = pairs.map(|(at, after)| at.wrapping_add(*after)).collect();
            bounds(&times)
        };
        Self { created: bounds(created), paid: later(paid), completed: later(completed) }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Chunk {
    pub(crate) orders: [Column; order::COUNT],
    pub(crate) lines: Children<{ line::COUNT }>,
    pub(crate) coupons: Children<{ coupon::COUNT }>,
    pub(crate) taxes: Children<{ tax::COUNT }>,
    pub(crate) ids: Bounds,
    /// The orders of its refunds.
    pub(crate) parents: Bounds,
    pub(crate) created: Bounds,
    pub(crate) paid: Bounds,
    pub(crate) completed: Bounds,
    /// The same three of each block, which tell its bucket without reading its dates.
    dates: Box<[Dates]>,
    buyers: Buyers,
}

/// Whose orders a chunk has, ascending. Made when somebody asks for the first time.
#[derive(Clone, Debug, Default)]
struct Buyers(OnceLock<Box<[u32]>>);

impl PartialEq for Buyers {
    /// It follows from the columns.
    fn eq(&self, _other: &Self) -> bool {
        true
    }
}

impl Eq for Buyers {}

impl Chunk {
    /// Of rows in their order.
    pub(crate) fn of_rows(rows: &[Row]) -> Self {
        let orders = columns(rows.iter().map(|row| row.order));
        let parts = (
            columns(numbered(rows, |row| &row.lines)),
            columns(numbered(rows, |row| &row.coupons)),
            columns(numbered(rows, |row| &row.taxes)),
        );
        Self::of_columns(orders, parts.0, parts.1, parts.2)
            .expect("columns that were made of rows belong together")
    }

    /// None when a file's columns do not belong together.
    pub(super) fn of_columns(
        orders: [Column; order::COUNT],
        lines: [Column; line::COUNT],
        coupons: [Column; coupon::COUNT],
        taxes: [Column; tax::COUNT],
    ) -> Option<Self> {
        let rows = orders[order::ID].len();
        if orders.iter().any(|column| column.len() != rows) {
            return None;
        }
        let ids = orders[order::ID].to_vec();
        let distances = orders[order::PARENT].to_vec();
        let created = orders[order::CREATED].to_vec();
        let pairs = ids.iter().zip(&distances);
        let parents = pairs.filter(|(_, distance)| **distance != NOTHING);
        let parents: Vec<i64> = parents.map(|(id, distance)| id.wrapping_sub(*distance)).collect();
        let (paid, completed) = (orders[order::PAID].to_vec(), orders[order::COMPLETED].to_vec());
        let later = paid.chunks(BLOCK_ROWS).zip(completed.chunks(BLOCK_ROWS));
        let dates = created.chunks(BLOCK_ROWS).zip(later);
        let dates: Box<[Dates]> = dates
            .map(|(created, (paid, completed))| Dates::new(created, paid, completed))
            .collect();
        let of_all = |date: fn(&Dates) -> Bounds| {
            let both =
                |one: (i64, i64), other: (i64, i64)| (one.0.min(other.0), one.1.max(other.1));
            dates.iter().filter_map(date).reduce(both)
        };
        Some(Self {
            lines: Children::of_columns(lines, rows)?,
            coupons: Children::of_columns(coupons, rows)?,
            taxes: Children::of_columns(taxes, rows)?,
            ids: bounds(&ids),
            parents: bounds(&parents),
            created: of_all(|dates| dates.created),
            paid: of_all(|dates| dates.paid),
            completed: of_all(|dates| dates.completed),
            dates,
            buyers: Buyers::default(),
            orders,
        })
    }

    /// Orders and refunds.
    pub(crate) fn len(&self) -> usize {
        self.orders[order::ID].len()
    }

    pub(crate) fn blocks(&self) -> usize {
        self.len().div_ceil(BLOCK_ROWS)
    }

    /// The dates of a block's orders.
    pub(crate) fn dates(&self, block: usize) -> Dates {
        self.dates.get(block).copied().unwrap_or_default()
    }

    /// The rows of the chunk, to be changed and made into another.
    pub(crate) fn rows(&self) -> Vec<Row> {
        let mut rows: Vec<Row> =
            transposed(&self.orders).map(|order| Row { order, ..Row::default() }).collect();
        for line in transposed(&self.lines.columns) {
            with_row(&mut rows, line[line::ROW], |row| row.lines.push(line));
        }
        for coupon in transposed(&self.coupons.columns) {
            with_row(&mut rows, coupon[coupon::ROW], |row| row.coupons.push(coupon));
        }
        for tax in transposed(&self.taxes.columns) {
            with_row(&mut rows, tax[tax::ROW], |row| row.taxes.push(tax));
        }
        rows
    }

    /// One row with its children.
    pub(crate) fn row(&self, index: usize) -> Row {
        fn children<const COLUMNS: usize>(
            of: &Children<COLUMNS>,
            index: usize,
        ) -> Vec<[i64; COLUMNS]> {
            let place = i64::try_from(index).unwrap_or(i64::MAX);
            let Some(rows) = of.columns.first() else { return Vec::new() };
            let own = rows.run_of(place, of.of_block(index / BLOCK_ROWS));
            own.map(|child| of.columns.each_ref().map(|column| column.get(child))).collect()
        }
        Row {
            order: self.orders.each_ref().map(|column| column.get(index)),
            lines: children(&self.lines, index),
            coupons: children(&self.coupons, index),
            taxes: children(&self.taxes, index),
        }
    }

    /// Whether an order is of one of these customers, who are numbers of the dictionary.
    pub(crate) fn has_buyer(&self, customers: &[u32]) -> bool {
        let buyers = self.buyers.0.get_or_init(|| {
            let codes = self.orders[order::CUSTOMER].to_vec().into_iter();
            let mut codes: Vec<u32> = codes.filter_map(|code| u32::try_from(code).ok()).collect();
            codes.sort_unstable();
            codes.dedup();
            codes.into()
        });
        customers.iter().any(|customer| buyers.binary_search(customer).is_ok())
    }

    /// Bytes of all its columns, and of what was made of them.
    pub(crate) fn bytes(&self) -> usize {
        let buyers = self.buyers.0.get().map_or(0, |buyers| size_of_val::<[u32]>(buyers));
        buyers + self.columns().map(Column::bytes).sum::<usize>()
    }

    fn columns(&self) -> impl Iterator<Item = &Column> {
        let all = self.orders.iter().chain(&self.lines.columns);
        all.chain(&self.coupons.columns).chain(&self.taxes.columns)
    }

    pub(super) fn encode(&self, encoder: &mut Encoder) {
        self.columns().for_each(|column| encoder.column(column));
    }

    pub(super) fn decode(decoder: &mut Decoder<'_>) -> Option<Self> {
        let orders = decoder.columns::<{ order::COUNT }>()?;
        let lines = decoder.columns::<{ line::COUNT }>()?;
        let coupons = decoder.columns::<{ coupon::COUNT }>()?;
        let taxes = decoder.columns::<{ tax::COUNT }>()?;
        Self::of_columns(orders, lines, coupons, taxes)
    }
}

/// The ids of the rows after the one and up to the other.
pub(super) fn ids_between(chunks: &[Arc<Chunk>], after: i64, through: i64) -> BTreeSet<i64> {
    let is_meant = |id: &i64| (after.saturating_add(1)..=through).contains(id);
    let touches = |chunk: &&Arc<Chunk>| {
        chunk.ids.is_some_and(|(least, greatest)| least <= through && greatest > after)
    };
    let chunks = chunks.iter().filter(touches);
    chunks.flat_map(|chunk| chunk.orders[order::ID].to_vec()).filter(is_meant).collect()
}

fn with_row(rows: &mut [Row], place: i64, change: impl FnOnce(&mut Row)) {
    let place = usize::try_from(place).ok();
    if let Some(row) = place.and_then(|place| rows.get_mut(place)) {
        change(row);
    }
}

fn bounds(values: &[i64]) -> Bounds {
    Some((*values.iter().min()?, *values.iter().max()?))
}

/// The children of all rows, each with the place of its row.
fn numbered<const COLUMNS: usize>(
    rows: &[Row],
    of: fn(&Row) -> &Vec<[i64; COLUMNS]>,
) -> impl Iterator<Item = [i64; COLUMNS]> {
    (0..).zip(rows).flat_map(move |(place, row)| {
        of(row).iter().map(move |child| {
            let mut child = *child;
            if let Some(first) = child.first_mut() {
                *first = place;
            }
            child
        })
    })
}

fn columns<const COLUMNS: usize>(rows: impl Iterator<Item = [i64; COLUMNS]>) -> [Column; COLUMNS] {
    let mut values: [Vec<i64>; COLUMNS] = std::array::from_fn(|_| Vec::new());
    for row in rows {
        for (list, value) in values.iter_mut().zip(row) {
            list.push(value);
        }
    }
    values.map(|values| Column::new(&values))
}

fn transposed<const COLUMNS: usize>(
    columns: &[Column; COLUMNS],
) -> impl Iterator<Item = [i64; COLUMNS]> {
    let values = columns.each_ref().map(Column::to_vec);
    let rows = values.first().map_or(0, Vec::len);
    (0..rows).map(move |row| {
        values.each_ref().map(|column| column.get(row).copied().unwrap_or_default())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::{LineNumber, OrderNumber};

    fn rows(count: i64) -> Vec<Row> {
        let row = |id: i64| {
            let mut order = [0; order::COUNT];
            order[order::ID] = id;
            order[order::PARENT] = if id % 7 == 3 { 2 } else { NOTHING };
            order[order::CREATED] = id * 60_000_000;
            order[order::PAID] = if id % 3 == 0 { NOTHING } else { 5_000_000 };
            order[order::COMPLETED] = NOTHING;
            order[order::number(OrderNumber::Net)] = id * 10_000;
            let child = |place: i64| [0, place, id, 4, 5, 6, 7, 8, 9, 1];
            Row {
                order,
                lines: (0..id % 4).map(child).collect(),
                coupons: (0..id % 2).map(|coupon| [0, coupon, 3]).collect(),
                taxes: vec![[0, id % 5, 2, 1]],
            }
        };
        (1..=count).map(row).collect()
    }

    /// Rows as a chunk gives them back: children know their row.
    fn placed(rows: &[Row]) -> Vec<Row> {
        let mut rows = rows.to_vec();
        for (place, row) in (0..).zip(&mut rows) {
            row.lines.iter_mut().for_each(|line| line[line::ROW] = place);
            row.coupons.iter_mut().for_each(|coupon| coupon[coupon::ROW] = place);
            row.taxes.iter_mut().for_each(|tax| tax[tax::ROW] = place);
        }
        rows
    }

    #[test]
    fn rows_come_back_as_they_were() {
        for count in [0, 1, 1_023, 1_024, 1_025, 3_000] {
            let rows = rows(count);
            let chunk = Chunk::of_rows(&rows);
            let placed = placed(&rows);
            assert_eq!(chunk.rows(), placed);
            for index in [0, 1_022, 1_024, 2_999] {
                if let Some(row) = placed.get(index) {
                    assert_eq!(chunk.row(index), *row);
                }
            }
        }
    }

    #[test]
    fn a_chunk_knows_its_buyers() {
        let mut rows = rows(20);
        for (row, customer) in rows.iter_mut().zip([7, 3, 7, 9].into_iter().cycle()) {
            row.order[order::CUSTOMER] = customer;
        }
        let chunk = Chunk::of_rows(&rows);
        let before = chunk.bytes();
        assert!(chunk.has_buyer(&[1, 9]) && chunk.has_buyer(&[3]));
        assert!(!chunk.has_buyer(&[1, 8]) && !chunk.has_buyer(&[]));
        assert_eq!(chunk.bytes(), before + 12, "each is there once");
    }

    #[test]
    fn a_chunk_knows_its_bounds_and_blocks() {
        let chunk = Chunk::of_rows(&rows(2_000));
        assert_eq!(chunk.ids, Some((1, 2_000)));
        assert_eq!(chunk.parents, Some((1, 1_996)));
        assert_eq!(chunk.created, Some((60_000_000, 2_000 * 60_000_000)));
        assert_eq!(chunk.paid, Some((65_000_000, 2_000 * 60_000_000 + 5_000_000)));
        assert_eq!(chunk.completed, None);
        let first = chunk.dates(0);
        assert_eq!(first.created, Some((60_000_000, 1_024 * 60_000_000)));
        assert_eq!(first.paid, Some((65_000_000, 1_024 * 60_000_000 + 5_000_000)));
        assert_eq!(first.completed, None);
        assert_eq!(chunk.dates(1).created, Some((1_025 * 60_000_000, 2_000 * 60_000_000)));
        assert_eq!(chunk.dates(2), Dates::default(), "there is no third block");
        assert_eq!(chunk.blocks(), 2);
        assert_eq!(chunk.taxes.of_block(0), 0..1_024);
        assert_eq!(chunk.taxes.of_block(1), 1_024..2_000);
        assert!(chunk.lines.of_block(2).is_empty(), "there is no third block");
    }

    #[test]
    fn columns_that_do_not_belong_together_are_no_chunk() {
        let chunk = Chunk::of_rows(&rows(10));
        let of = |lines| {
            let Chunk { orders, coupons, taxes, .. } = chunk.clone();
            Chunk::of_columns(orders, lines, coupons.columns, taxes.columns)
        };
        assert_eq!(of(chunk.lines.columns.clone()).as_ref(), Some(&chunk));
        let mut shorter = chunk.lines.columns.clone();
        shorter[line::number(LineNumber::Net)] = Column::new(&[1]);
        assert_eq!(of(shorter), None);
        for rows in [vec![10], vec![-1], vec![1, 0]] {
            let columns = std::array::from_fn(|_| Column::new(&rows));
            assert_eq!(of(columns), None, "{rows:?}");
        }
    }
}
