//! Orders and refunds, with their lines. Both are rows of one table, since both have lines, amounts
//! and dates, and take their numbers from the counter of posts.
//!
//! **An order is written together with its lines**, and lists are read in two queries however long
//! they are: [`list()`] and [`with_items`]. [`insert_many`] is the way in for imports. What an
//! order must add up to, and what else changes with it, is not decided here.

pub mod figures;
pub(crate) mod item;
mod list;
pub(crate) mod marked;
pub(crate) mod sums;
mod wide;

use std::sync::LazyLock;

use db::bulk::{self, BATCH_ROWS};
use db::filter::fold;
use db::{Conn, Row, SITE, Sql, Val, named, statements, text_index};
use site_rows::post;
use types::{Amount, Result, Timestamp};

pub use item::{
    ITEMS_MAX, ItemKind, OrderItemRow, change_items, items_of, replace_items, take_item_ids,
    with_items,
};
pub use list::{OrderFilter, OrderSort, TEXT_INDEX, list, refunds_of};
pub use marked::{count_marked, marked};
pub use sums::{CustomerSum, count, count_by_status, first, ids_naming, sums_of_customers};

named! {
    OrderKind {
        #[default]
        Order = "order",
        Refund = "refund",
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OrderRow {
    pub order_id: i64,
    pub kind: OrderKind,
    /// The order of a refund; else 0.
    pub parent_id: i64,
    pub status: String,
    pub currency: String,
    /// A user, or 0 for a guest.
    pub customer_id: i64,
    pub billing_email: String,
    /// What people call the order. When it is empty, the id is written.
    pub number: String,
    pub order_key: String,
    pub payment_method: String,
    pub created_via: String,
    pub total: Amount,
    pub total_tax: Amount,
    pub cart_tax: Amount,
    pub shipping_total: Amount,
    pub shipping_tax: Amount,
    pub discount_total: Amount,
    pub discount_tax: Amount,
    pub prices_include_tax: bool,
    pub created: Timestamp,
    pub modified: Timestamp,
    pub paid: Option<Timestamp>,
    pub completed: Option<Timestamp>,
    /// What the status was before the order went to the trash.
    pub trashed_status: Option<String>,
    /// Whose sale it was, if it was taken by somebody who was onboarded.
    pub merchant_id: Option<String>,
    pub store_id: Option<String>,
    pub tpn: Option<String>,
    /// What a refund gives back. Its total is the negative of it.
    pub refund_amount: Amount,
    /// The user who made the refund, or 0.
    pub refunded_by: i64,
    pub reason: String,
    /// All that a search shall find the order by. Folded when it is written.
    pub search: String,
    /// A JSON object.
    pub details: String,
}

/// An order or refund with its lines, in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Order {
    pub row: OrderRow,
    pub items: Vec<OrderItemRow>,
}

/// What [`OrderRow::read`] reads, in its order.
macro_rules! order_columns {
    () => {
        "order_id, kind, parent_id, status, currency, customer_id, billing_email, number, order_key,
         payment_method, created_via, total, total_tax, cart_tax, shipping_total, shipping_tax,
         discount_total, discount_tax, prices_include_tax, created_us, modified_us, paid_us,
         completed_us, trashed_status, merchant_id, store_id, tpn, refund_amount, refunded_by,
         reason, search, details"
    };
}
use order_columns;

const COLUMNS: usize = 33;

macro_rules! order_insert {
    () => {
        "INSERT INTO orders
           (kind, parent_id, status, currency, customer_id, billing_email, number, order_key,
            payment_method, created_via, total, total_tax, cart_tax, shipping_total, shipping_tax,
            discount_total, discount_tax, prices_include_tax, created_us, modified_us, paid_us,
            completed_us, trashed_status, merchant_id, store_id, tpn, refund_amount, refunded_by,
            reason, search, details, site_id, order_id)
         VALUES"
    };
}

statements! {
    ORDER_INSERT = concat!(
        order_insert!(),
        " ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19,
           $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30, $31, $32, $33)"
    );
    ORDER_UPDATE =
        "UPDATE orders SET
           kind = $1, parent_id = $2, status = $3, currency = $4, customer_id = $5,
           billing_email = $6, number = $7, order_key = $8, payment_method = $9, created_via = $10,
           total = $11, total_tax = $12, cart_tax = $13, shipping_total = $14, shipping_tax = $15,
           discount_total = $16, discount_tax = $17, prices_include_tax = $18, created_us = $19,
           modified_us = $20, paid_us = $21, completed_us = $22, trashed_status = $23,
           merchant_id = $24, store_id = $25, tpn = $26, refund_amount = $27, refunded_by = $28,
           reason = $29, search = $30, details = $31
         WHERE site_id = $32 AND order_id = $33";
    ORDER_DELETE = "DELETE FROM orders WHERE site_id = $1 AND order_id = $2";
    ORDER_GET =
        concat!("SELECT ", order_columns!(), " FROM orders WHERE site_id = $1 AND order_id = $2");
    ORDER_STAMPS_AFTER =
        "SELECT order_id, created_us FROM orders
         WHERE site_id = $1 AND order_id > $2 AND status NOT IN ('auto-draft', 'trash')
         ORDER BY order_id LIMIT $3";
    ORDERS_COUNT_SINCE =
        "SELECT COUNT(*) FROM orders
         WHERE site_id = $1 AND created_us >= $2 AND status NOT IN ('auto-draft', 'trash')";
    ORDERS_UNPAID =
        "SELECT created_us, order_id FROM orders
         WHERE site_id = $1 AND kind = 'order' AND status = 'pending' AND created_us >= $2
           AND NOT (created_us = $2 AND order_id <= $3) AND created_us <= $4
           AND modified_us <= $4 AND created_via IN ('checkout', 'store-api')
         ORDER BY created_us, order_id LIMIT $5";
    ORDERS_DETACH_CUSTOMER =
        "UPDATE orders SET customer_id = 0
         WHERE site_id = $1 AND customer_id = $2 AND customer_id <> 0";
}

static INSERT_BATCH: LazyLock<String> = LazyLock::new(|| bulk::text(order_insert!(), COLUMNS));

/// Inserts the order with the next id, whatever `order_id` says, and its lines as
/// [`replace_items`] does. Returns the id.
pub fn insert(conn: &mut dyn Conn, order: &Order) -> Result<i64> {
    let order_id = take_id(conn)?;
    add(conn, &order.row, order_id)?;
    item::insert(conn, &[(order_id, &order.items)])?;
    Ok(order_id)
}

/// An id for an order that [`insert_numbered`] will write.
pub fn take_id(conn: &mut dyn Conn) -> Result<i64> {
    post::take_id(conn)
}

/// Inserts the order with the ids that it and its lines were given by [`take_id`] and
/// [`take_item_ids`].
pub fn insert_numbered(conn: &mut dyn Conn, order: &Order) -> Result<()> {
    let order_id = order.row.order_id;
    add(conn, &order.row, order_id)?;
    item::insert_numbered(conn, order_id, &order.items)
}

/// Inserts the order with the id that it comes with, and sees to it that the id is not given again.
pub fn insert_with_id(conn: &mut dyn Conn, order: &Order) -> Result<()> {
    let order_id = order.row.order_id;
    post::reserve_id(conn, order_id)?;
    add(conn, &order.row, order_id)?;
    item::insert(conn, &[(order_id, &order.items)])
}

/// Inserts many orders by few statements. An order or line with the id 0 gets the next one, others
/// keep theirs. Returns the ids of the orders.
pub fn insert_many(conn: &mut dyn Conn, orders: &[Order]) -> Result<Vec<i64>> {
    let given: Vec<i64> = orders.iter().map(|order| order.row.order_id).collect();
    let order_ids = assigned(conn, &given, post::take_ids, post::reserve_id)?;
    let numbered: Vec<(i64, &Order)> = order_ids.iter().copied().zip(orders).collect();
    for batch in numbered.chunks(BATCH_ROWS) {
        let derived: Vec<Derived> =
            batch.iter().map(|(id, order)| order.row.derived(*id)).collect();
        let pairs = batch.iter().zip(&derived);
        let rows: Vec<_> = pairs.map(|((id, order), own)| order.row.params(*id, own)).collect();
        bulk::insert(conn, (&ORDER_INSERT, &INSERT_BATCH), &rows)?;
    }
    text_index::note(conn, &TEXT_INDEX, &order_ids)?;
    let items: Vec<_> =
        numbered.into_iter().map(|(id, order)| (id, order.items.as_slice())).collect();
    item::insert(conn, &items)?;
    Ok(order_ids)
}

/// The ids that the next order and the next line get if nobody else makes one meanwhile.
pub fn next_ids(conn: &mut dyn Conn) -> Result<(i64, i64)> {
    Ok((post::next_id(conn)?, item::next_id(conn)?))
}

/// Changes the order but not its lines. Returns whether there is such an order.
pub fn update(conn: &mut dyn Conn, order: &OrderRow) -> Result<bool> {
    text_index::note_change(conn, &TEXT_INDEX, order.order_id, &fold(&order.search))?;
    write(conn, &ORDER_UPDATE, order, order.order_id)
}

/// Deletes the order for good, with its lines and notes, but not its refunds. Returns whether there
/// was one.
pub fn delete(conn: &mut dyn Conn, order_id: i64) -> Result<bool> {
    item::delete_of(conn, order_id)?;
    text_index::note(conn, &TEXT_INDEX, &[order_id])?;
    Ok(conn.execute(&ORDER_DELETE, &[SITE.into(), order_id.into()])? == 1)
}

/// Orders that a checkout made until then, that wait for their payment, and that nobody has changed
/// since; the oldest first, with when they were made. Those up to `after` are left out, which is
/// such a pair itself.
pub fn unpaid(
    conn: &mut dyn Conn,
    after: (Timestamp, i64),
    until: Timestamp,
    limit: i64,
) -> Result<Vec<(Timestamp, i64)>> {
    let params = [SITE.into(), after.0.into(), after.1.into(), until.into(), limit.into()];
    conn.rows(&ORDERS_UNPAID, &params, |row| Ok((row.get(0)?, row.get(1)?)))
}

/// The order or refund without its lines.
pub fn get(conn: &mut dyn Conn, order_id: i64) -> Result<Option<OrderRow>> {
    conn.row(&ORDER_GET, &[SITE.into(), order_id.into()], OrderRow::read)
}

pub fn get_with_items(conn: &mut dyn Conn, order_id: i64) -> Result<Option<Order>> {
    let Some(row) = get(conn, order_id)? else { return Ok(None) };
    let items = item::of_order(conn, order_id)?;
    Ok(Some(Order { row, items }))
}

/// Those of the orders that there are, by their ids, in two queries.
pub fn get_many(conn: &mut dyn Conn, order_ids: &[i64]) -> Result<Vec<Order>> {
    if order_ids.is_empty() {
        return Ok(Vec::new());
    }
    let include = order_ids.to_vec();
    let wanted = OrderFilter { include, sort: OrderSort::Id, ..OrderFilter::default() };
    let (rows, _) = list(conn, &wanted)?;
    with_items(conn, rows)
}

/// When an order or refund was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OrderStamp {
    pub order_id: i64,
    pub created: Timestamp,
}

/// Up to `limit` orders and refunds whose ids are greater than `order_id`, by their ids, without
/// drafts and what is in the trash.
pub fn stamps_after(conn: &mut dyn Conn, order_id: i64, limit: i64) -> Result<Vec<OrderStamp>> {
    let read = |row: &dyn Row| Ok(OrderStamp { order_id: row.get(0)?, created: row.get(1)? });
    conn.rows(&ORDER_STAMPS_AFTER, &[SITE.into(), order_id.into(), limit.into()], read)
}

/// How many orders and refunds were made since then, without drafts and what is in the trash.
pub fn count_since(conn: &mut dyn Conn, since: Timestamp) -> Result<i64> {
    let count = conn.row(&ORDERS_COUNT_SINCE, &[SITE.into(), since.into()], |row| row.get(0))?;
    Ok(count.unwrap_or_default())
}

/// Makes the orders of a user who goes away those of a guest. Returns how many there were.
pub fn detach_customer(conn: &mut dyn Conn, user_id: i64) -> Result<u64> {
    conn.execute(&ORDERS_DETACH_CUSTOMER, &[SITE.into(), user_id.into()])
}

/// The ids, with the next free ones in place of zeros. Ids that were given are not given again.
fn assigned(
    conn: &mut dyn Conn,
    given: &[i64],
    take: fn(&mut dyn Conn, i64) -> Result<i64>,
    reserve: fn(&mut dyn Conn, i64) -> Result<()>,
) -> Result<Vec<i64>> {
    if let Some(greatest) = given.iter().copied().max().filter(|id| *id > 0) {
        reserve(conn, greatest)?;
    }
    let missing = given.iter().filter(|id| **id == 0).count();
    let mut next = match i64::try_from(missing) {
        Ok(count) if count > 0 => take(conn, count)?,
        _ => 0,
    };
    let mut ids = Vec::with_capacity(given.len());
    for id in given {
        ids.push(if *id == 0 { next } else { *id });
        next += i64::from(*id == 0);
    }
    Ok(ids)
}

fn add(conn: &mut dyn Conn, order: &OrderRow, order_id: i64) -> Result<()> {
    text_index::note(conn, &TEXT_INDEX, &[order_id])?;
    write(conn, &ORDER_INSERT, order, order_id).map(drop)
}

fn write(conn: &mut dyn Conn, sql: &Sql, order: &OrderRow, order_id: i64) -> Result<bool> {
    let derived = order.derived(order_id);
    Ok(conn.execute(sql, &order.params(order_id, &derived))? == 1)
}

/// What is written besides the fields as they are.
struct Derived {
    /// In place of an empty one.
    number: Option<String>,
    search: String,
}

impl OrderRow {
    fn derived(&self, order_id: i64) -> Derived {
        let number = self.number.is_empty().then(|| order_id.to_string());
        Derived { number, search: fold(&self.search) }
    }

    fn params<'a>(&'a self, order_id: i64, derived: &'a Derived) -> [Val<'a>; COLUMNS] {
        [
            self.kind.into(),
            self.parent_id.into(),
            (&self.status).into(),
            (&self.currency).into(),
            self.customer_id.into(),
            (&self.billing_email).into(),
            derived.number.as_ref().unwrap_or(&self.number).into(),
            (&self.order_key).into(),
            (&self.payment_method).into(),
            (&self.created_via).into(),
            self.total.into(),
            self.total_tax.into(),
            self.cart_tax.into(),
            self.shipping_total.into(),
            self.shipping_tax.into(),
            self.discount_total.into(),
            self.discount_tax.into(),
            self.prices_include_tax.into(),
            self.created.into(),
            self.modified.into(),
            self.paid.into(),
            self.completed.into(),
            self.trashed_status.as_deref().into(),
            self.merchant_id.as_deref().into(),
            self.store_id.as_deref().into(),
            self.tpn.as_deref().into(),
            self.refund_amount.into(),
            self.refunded_by.into(),
            (&self.reason).into(),
            (&derived.search).into(),
            (&self.details).into(),
            SITE.into(),
            order_id.into(),
        ]
    }

    fn read(row: &dyn Row) -> Result<Self> {
        Ok(Self {
            order_id: row.get(0)?,
            kind: row.get(1)?,
            parent_id: row.get(2)?,
            status: row.get(3)?,
            currency: row.get(4)?,
            customer_id: row.get(5)?,
            billing_email: row.get(6)?,
            number: row.get(7)?,
            order_key: row.get(8)?,
            payment_method: row.get(9)?,
            created_via: row.get(10)?,
            total: row.get(11)?,
            total_tax: row.get(12)?,
            cart_tax: row.get(13)?,
            shipping_total: row.get(14)?,
            shipping_tax: row.get(15)?,
            discount_total: row.get(16)?,
            discount_tax: row.get(17)?,
            prices_include_tax: row.get(18)?,
            created: row.get(19)?,
            modified: row.get(20)?,
            paid: row.get(21)?,
            completed: row.get(22)?,
            trashed_status: row.get(23)?,
            merchant_id: row.get(24)?,
            store_id: row.get(25)?,
            tpn: row.get(26)?,
            refund_amount: row.get(27)?,
            refunded_by: row.get(28)?,
            reason: row.get(29)?,
            search: row.get(30)?,
            details: row.get(31)?,
        })
    }
}
