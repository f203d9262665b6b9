//! The lines of orders and refunds: what was sold, taxes, shipping, fees and coupons.

use std::collections::HashMap;
use std::sync::LazyLock;

use db::bulk::{self, BATCH_ROWS};
use db::filter::{Clause, Direction, Filter, LIST_MAX, PAGE_MAX, Page};
use db::{Conn, Row, SITE, Val, counter, named, statements};
use types::{Amount, Error, Result};

use super::{Order, OrderRow, assigned};

/// Lines that one call reads, of all its orders together.
pub const ITEMS_MAX: usize = 200_000;

const ITEM_ID: &str = "order_item.id";

named! {
    ItemKind {
        #[default]
        Line = "line",
        Tax = "tax",
        Shipping = "shipping",
        Fee = "fee",
        Coupon = "coupon",
    }
}

/// A line. Its place among the lines of its order is its place in the list that was written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OrderItemRow {
    /// Whatever it says when the line is written, it becomes the id of the order.
    pub order_id: i64,
    /// A line with the id 0 gets the next one.
    pub item_id: i64,
    pub kind: ItemKind,
    pub name: String,
    /// Of a line about a product; else 0.
    pub product_id: i64,
    pub variation_id: i64,
    pub quantity: Amount,
    pub subtotal: Amount,
    pub subtotal_tax: Amount,
    pub total: Amount,
    pub total_tax: Amount,
    /// Of a tax; else 0.
    pub rate_id: i64,
    /// A JSON object.
    pub details: String,
}

/// What [`OrderItemRow::read`] reads, in its order.
macro_rules! item_columns {
    () => {
        "order_id, item_id, kind, name, product_id, variation_id, quantity, subtotal,
         subtotal_tax, total, total_tax, rate_id, details"
    };
}

const COLUMNS: usize = 15;

macro_rules! item_insert {
    () => {
        "INSERT INTO order_items
           (site_id, order_id, item_id, position, kind, name, product_id, variation_id, quantity,
            subtotal, subtotal_tax, total, total_tax, rate_id, details)
         VALUES"
    };
}

statements! {
    ORDER_ITEM_INSERT = concat!(
        item_insert!(),
        " ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)"
    );
    ORDER_ITEMS_DELETE = "DELETE FROM order_items WHERE site_id = $1 AND order_id = $2";
    ORDER_ITEMS_GET = concat!(
        "SELECT ",
        item_columns!(),
        " FROM order_items WHERE site_id = $1 AND order_id = $2 ORDER BY position, item_id"
    );
}

static INSERT_BATCH: LazyLock<String> = LazyLock::new(|| bulk::text(item_insert!(), COLUMNS));

/// Lets the order have these lines and no others, in this order.
pub fn replace_items(conn: &mut dyn Conn, order_id: i64, items: &[OrderItemRow]) -> Result<()> {
    delete_of(conn, order_id)?;
    insert(conn, &[(order_id, items)])
}

/// Lets the order have these lines, all of which have an id, and no others, in this order. Lines
/// that are as they were are not written again.
pub fn change_items(conn: &mut dyn Conn, order_id: i64, items: &[OrderItemRow]) -> Result<()> {
    if of_order(conn, order_id)? == items {
        return Ok(());
    }
    delete_of(conn, order_id)?;
    insert_numbered(conn, order_id, items)
}

/// The lines of these orders, by order and then by place, in one query for up to [`LIST_MAX`]
/// orders.
pub fn items_of(conn: &mut dyn Conn, order_ids: &[i64]) -> Result<Vec<OrderItemRow>> {
    let mut ids = order_ids.to_vec();
    ids.sort_unstable();
    columns_of(conn, &ids, item_columns!(), OrderItemRow::read)
}

/// [`items_of`] orders whose ids are ascending, with other columns.
pub(super) fn columns_of<T>(
    conn: &mut dyn Conn,
    order_ids: &[i64],
    columns: &'static str,
    read: fn(&dyn Row) -> Result<T>,
) -> Result<Vec<T>> {
    let mut items = Vec::new();
    for ids in order_ids.chunks(LIST_MAX) {
        let mut offset = 0;
        // Every page but the last is full. A list of orders seldom has a second one.
        loop {
            let rows = page_of(conn, (ids, offset), columns, read)?;
            let found = i64::try_from(rows.len()).unwrap_or(i64::MAX);
            items.extend(rows);
            if found < PAGE_MAX {
                break;
            }
            offset += found;
            if items.len() >= ITEMS_MAX {
                let told = "the orders have too many lines; ask for fewer orders";
                return Err(Error::invalid(told));
            }
        }
    }
    Ok(items)
}

fn page_of<T>(
    conn: &mut dyn Conn,
    (order_ids, offset): (&[i64], i64),
    columns: &'static str,
    read: fn(&dyn Row) -> Result<T>,
) -> Result<Vec<T>> {
    let mut filter = Filter::new("site_id = ?", SITE);
    filter.and_list("order_id IN (?)", order_ids)?;
    let keys = ["order_id", "position", "item_id"];
    let order = keys.map(|key| (Clause::fixed(key), Direction::Ascending)).into();
    let page = Page { offset, limit: PAGE_MAX };
    Ok(filter.page(conn, (columns, "order_items"), order, page, read)?.0)
}

/// The orders with their lines, which [`items_of`] reads for all of them together.
pub fn with_items(conn: &mut dyn Conn, rows: Vec<OrderRow>) -> Result<Vec<Order>> {
    let order_ids: Vec<i64> = rows.iter().map(|row| row.order_id).collect();
    let mut by_order: HashMap<i64, Vec<OrderItemRow>> = HashMap::new();
    for item in items_of(conn, &order_ids)? {
        by_order.entry(item.order_id).or_default().push(item);
    }
    let orders = rows.into_iter().map(|row| {
        let items = by_order.remove(&row.order_id).unwrap_or_default();
        Order { row, items }
    });
    Ok(orders.collect())
}

pub(super) fn of_order(conn: &mut dyn Conn, order_id: i64) -> Result<Vec<OrderItemRow>> {
    conn.rows(&ORDER_ITEMS_GET, &[SITE.into(), order_id.into()], OrderItemRow::read)
}

pub(super) fn delete_of(conn: &mut dyn Conn, order_id: i64) -> Result<()> {
    conn.execute(&ORDER_ITEMS_DELETE, &[SITE.into(), order_id.into()]).map(drop)
}

/// The id that the next line gets if nobody else makes one meanwhile.
pub(super) fn next_id(conn: &mut dyn Conn) -> Result<i64> {
    Ok(counter::read(conn, ITEM_ID)? + 1)
}

/// So many ids for new lines: the first of them.
pub fn take_item_ids(conn: &mut dyn Conn, count: i64) -> Result<i64> {
    Ok(counter::take(conn, ITEM_ID, count)? + 1)
}

/// Inserts the lines of an order with the ids that they have.
pub(super) fn insert_numbered(
    conn: &mut dyn Conn,
    order_id: i64,
    items: &[OrderItemRow],
) -> Result<()> {
    let places = (0..).zip(items).map(|(place, item)| (item.item_id, (order_id, place, item)));
    write_all(conn, &places.collect::<Vec<_>>())
}

/// Inserts the lines of several orders.
pub(super) fn insert(conn: &mut dyn Conn, orders: &[(i64, &[OrderItemRow])]) -> Result<()> {
    let mut items: Vec<(i64, i64, &OrderItemRow)> = Vec::new();
    for (order_id, lines) in orders {
        items.extend((0..).zip(*lines).map(|(position, item)| (*order_id, position, item)));
    }
    let given: Vec<i64> = items.iter().map(|(_, _, item)| item.item_id).collect();
    let reserve = |conn: &mut dyn Conn, id: i64| counter::raise(conn, ITEM_ID, id);
    let item_ids = assigned(conn, &given, take_item_ids, reserve)?;
    write_all(conn, &item_ids.into_iter().zip(items).collect::<Vec<_>>())
}

/// A line with its id, that of its order, and its place among the lines of the order.
type Numbered<'a> = (i64, (i64, i64, &'a OrderItemRow));

fn write_all(conn: &mut dyn Conn, numbered: &[Numbered<'_>]) -> Result<()> {
    for batch in numbered.chunks(BATCH_ROWS) {
        let rows =
            batch.iter().map(|(id, (order_id, place, item))| item.params([*order_id, *id, *place]));
        let rows: Vec<[Val<'_>; COLUMNS]> = rows.collect();
        bulk::insert(conn, (&ORDER_ITEM_INSERT, &INSERT_BATCH), &rows)?;
    }
    Ok(())
}

impl OrderItemRow {
    fn params(&self, [order_id, item_id, position]: [i64; 3]) -> [Val<'_>; COLUMNS] {
        [
            SITE.into(),
            order_id.into(),
            item_id.into(),
            position.into(),
            self.kind.into(),
            (&self.name).into(),
            self.product_id.into(),
            self.variation_id.into(),
            self.quantity.into(),
            self.subtotal.into(),
            self.subtotal_tax.into(),
            self.total.into(),
            self.total_tax.into(),
            self.rate_id.into(),
            (&self.details).into(),
        ]
    }

    fn read(row: &dyn Row) -> Result<Self> {
        Ok(Self {
            order_id: row.get(0)?,
            item_id: row.get(1)?,
            kind: row.get(2)?,
            name: row.get(3)?,
            product_id: row.get(4)?,
            variation_id: row.get(5)?,
            quantity: row.get(6)?,
            subtotal: row.get(7)?,
            subtotal_tax: row.get(8)?,
            total: row.get(9)?,
            total_tax: row.get(10)?,
            rate_id: row.get(11)?,
            details: row.get(12)?,
        })
    }
}
