//! Orders and refunds as reports read them: only what figures follow from. Who makes facts of all
//! orders reads half of each, and reads what belongs together in the order in which it is stored.

use std::collections::HashMap;

use db::filter::{Clause, Direction, Filter, Page};
use db::{Conn, Record as _, SITE, record, select, statements};
use types::{Amount, Result, Timestamp};

use super::OrderKind;
use super::item::{self, ItemKind};
use super::list::NOT_BY_ID;

record! {
    /// An order or refund, as [`OrderRow`](super::OrderRow) has it.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct OrderFigures in "orders", fixed(site_id = SITE), key(order_id: i64) {
        kind: OrderKind,
        parent_id: i64,
        status: String,
        currency: String,
        customer_id: i64,
        billing_email: String,
        total: Amount,
        total_tax: Amount,
        shipping_total: Amount,
        shipping_tax: Amount,
        created: Timestamp,
        paid: Option<Timestamp>,
        completed: Option<Timestamp>,
        merchant_id: Option<String>,
        store_id: Option<String>,
        tpn: Option<String>,
        details: String,
    }
}

record! {
    /// A line, as [`OrderItemRow`](super::OrderItemRow) has it.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct ItemFigures in "order_items", fixed(site_id = SITE),
        key(order_id: i64, item_id: i64)
    {
        position: i64,
        kind: ItemKind,
        name: String,
        product_id: i64,
        variation_id: i64,
        quantity: Amount,
        subtotal: Amount,
        total: Amount,
        total_tax: Amount,
        rate_id: i64,
        details: String,
    }
}

/// An order or refund with its lines, in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    pub row: OrderFigures,
    pub items: Vec<ItemFigures>,
}

/// So many orders stay within [`ITEMS_MAX`](super::ITEMS_MAX), whatever lines each has.
const ORDERS_WITH_MOST_LINES: usize = 32;

statements! {
    FIGURES_END =
        "SELECT order_id FROM orders WHERE site_id = $1 AND order_id > $2
         ORDER BY order_id LIMIT 1 OFFSET $3";
    FIGURES_BETWEEN = select!(
        OrderFigures,
        "WHERE site_id = $1 AND order_id > $2 AND order_id <= $3 AND kind = 'order'
         ORDER BY order_id"
    );
    ITEM_FIGURES_BETWEEN = select!(
        ItemFigures,
        "WHERE site_id = $1 AND order_id > $2 AND order_id <= $3 ORDER BY order_id, item_id
         LIMIT $4"
    );
}

/// The id up to which there are so many orders and refunds after that one; nothing where there are
/// fewer.
pub fn end_of(conn: &mut dyn Conn, after: i64, count: i64) -> Result<Option<i64>> {
    let params = [SITE.into(), after.into(), count.saturating_sub(1).max(0).into()];
    conn.row(&FIGURES_END, &params, |row| row.get(0))
}

/// The orders, not refunds, whose ids are greater than the one and at most the other, by their ids.
/// Nothing where they have `items_max` lines, or more.
pub fn between(
    conn: &mut dyn Conn,
    (after, through): (i64, i64),
    items_max: usize,
) -> Result<Option<Vec<Figures>>> {
    let limit = i64::try_from(items_max).unwrap_or(i64::MAX);
    let bounds = [SITE.into(), after.into(), through.into(), limit.into()];
    // In the order in which they are stored: the engine would copy them all to sort them.
    let mut items = conn.rows(&ITEM_FIGURES_BETWEEN, &bounds, ItemFigures::read)?;
    if items.len() >= items_max {
        return Ok(None);
    }
    items.sort_by_key(|item| (item.order_id, item.position));
    let [site, after, through, _] = bounds;
    let rows = conn.rows(&FIGURES_BETWEEN, &[site, after, through], OrderFigures::read)?;
    Ok(Some(with_items(rows, items)))
}

/// Those of these orders and refunds that there are, by their ids.
pub fn get_many(conn: &mut dyn Conn, order_ids: &[i64]) -> Result<Vec<Figures>> {
    if order_ids.is_empty() {
        return Ok(Vec::new());
    }
    let mut filter = Filter::new("site_id = ?", SITE);
    filter.and_list("order_id IN (?)", order_ids)?;
    let rows = filter.records_uncounted(conn, ascending(["order_id"]), Page::default())?;
    read_items(conn, rows)
}

/// The refunds of these orders, by order and then by age.
pub fn refunds_of(conn: &mut dyn Conn, order_ids: &[i64]) -> Result<Vec<Figures>> {
    let mut refunds = Vec::new();
    let mut page = Page::default();
    while !order_ids.is_empty() {
        let mut filter = Filter::new(NOT_BY_ID, SITE);
        filter.and(Clause::fixed("kind = 'refund'"));
        filter.and_list("(parent_id <> 0 AND parent_id IN (?))", order_ids)?;
        let order = ascending(["parent_id", "created_us", "order_id"]);
        let rows: Vec<OrderFigures> = filter.records_uncounted(conn, order, page)?;
        let found = i64::try_from(rows.len()).unwrap_or(i64::MAX);
        refunds.extend(read_items(conn, rows)?);
        page.offset += found;
        if found < page.limit {
            break;
        }
    }
    Ok(refunds)
}

/// The orders with their lines, which are read for some of them together.
fn read_items(conn: &mut dyn Conn, rows: Vec<OrderFigures>) -> Result<Vec<Figures>> {
    let mut ids: Vec<i64> = rows.iter().map(|row| row.order_id).collect();
    ids.sort_unstable();
    let mut items = Vec::new();
    for ids in ids.chunks(ORDERS_WITH_MOST_LINES) {
        items.extend(item::columns_of(conn, ids, ItemFigures::COLUMNS, ItemFigures::read)?);
    }
    Ok(with_items(rows, items))
}

/// The orders, each with those of the lines that are its own.
fn with_items(rows: Vec<OrderFigures>, items: Vec<ItemFigures>) -> Vec<Figures> {
    let mut by_order: HashMap<i64, Vec<ItemFigures>> = HashMap::with_capacity(rows.len());
    for item in items {
        by_order.entry(item.order_id).or_default().push(item);
    }
    let orders = rows.into_iter().map(|row| {
        let items = by_order.remove(&row.order_id).unwrap_or_default();
        Figures { row, items }
    });
    orders.collect()
}

fn ascending<const KEYS: usize>(keys: [&'static str; KEYS]) -> Vec<(Clause, Direction)> {
    keys.map(|key| (Clause::fixed(key), Direction::Ascending)).into()
}
