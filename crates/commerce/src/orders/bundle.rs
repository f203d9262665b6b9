//! Orders and refunds of a bundle.
//!
//! **A bundle does not number the entries of `meta_data`**, yet clients may have kept the numbers.
//! They follow from the order in which the shop it comes from wrote its records down, which
//! [`Entries`] counts again.

mod deleted_products;

use db::filter::Page;
use db::{Conn, counter};
use frame::Options;
use frame::bundle::records;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use shop_rows::order::{self, ItemKind, OrderFilter, OrderKind, OrderSort};
use types::{Amount, Error, Result, Timestamp};

use deleted_products::DeletedProducts;

use super::record::{Address, Line, Order, TaxShare};
use super::status;
use crate::common::{amounts, moments};

#[derive(Debug, Deserialize)]
struct BundleOrder {
    id: i64,
    parent_id: i64,
    status: String,
    currency: String,
    date_created: String,
    date_modified: String,
    date_paid: Option<String>,
    date_completed: Option<String>,
    total: Amount,
    total_tax: Amount,
    cart_tax: Amount,
    shipping_total: Amount,
    shipping_tax: Amount,
    discount_total: Amount,
    discount_tax: Amount,
    #[serde(default)]
    prices_include_tax: bool,
    #[serde(default)]
    number: String,
    #[serde(default)]
    customer_user_id: i64,
    #[serde(default)]
    billing: Address,
    #[serde(default)]
    shipping: Address,
    #[serde(default)]
    payment_method: String,
    #[serde(default)]
    payment_method_title: String,
    #[serde(default)]
    created_via: String,
    #[serde(default)]
    customer_note: String,
    #[serde(default)]
    customer_ip_address: String,
    #[serde(default)]
    order_key: String,
    #[serde(default)]
    cart_hash: String,
    #[serde(default)]
    amount: Amount,
    #[serde(default)]
    reason: String,
    #[serde(default)]
    refunded_by: i64,
    meta: Vec<Entry>,
    line_items: Vec<Value>,
    shipping_lines: Vec<Value>,
    fee_lines: Vec<Value>,
    tax_lines: Vec<Value>,
    coupon_lines: Vec<Value>,
}

#[derive(Clone, Debug, Deserialize)]
struct Entry {
    key: String,
    value: Value,
}

/// Orders whose stock fell, whatever became of them.
const STOCK_KEY: &str = "_reduced_stock";

pub(crate) fn import_orders(conn: &mut dyn Conn, section: &Value) -> Result<usize> {
    import(conn, section, OrderKind::Order)
}

pub(crate) fn import_refunds(conn: &mut dyn Conn, section: &Value) -> Result<usize> {
    import(conn, section, OrderKind::Refund)
}

/// Imports the records, their ids kept. One that is there already becomes what the bundle says.
fn import(conn: &mut dyn Conn, section: &Value, kind: OrderKind) -> Result<usize> {
    let mut orders: Vec<BundleOrder> = records(section)?;
    orders.sort_by_key(|order| order.id);
    let options = Options::read(conn)?;
    let count = orders.len();
    let mut deleted_products = DeletedProducts::default();
    let mut greatest_rate = 0;
    for order in orders {
        let id = order.id;
        let at = |error: Error| {
            let message = format!("order {id}: {error}");
            Error::new(error.kind(), message).because(error)
        };
        let mut order = order.record(&options, kind).map_err(at)?;
        deleted_products.number(conn, &mut order).map_err(at)?;
        let rates = order.items.iter().map(|item| item.row.rate_id);
        greatest_rate = rates.fold(greatest_rate, i64::max);
        order.put(conn).map_err(at)?;
    }
    shop_rows::tax_rate::keep_free(conn, greatest_rate)?;
    Ok(count)
}

impl BundleOrder {
    fn record(self, options: &Options, kind: OrderKind) -> Result<Order> {
        let mut order = Order::default();
        let row = &mut order.row;
        row.order_id = self.id;
        row.kind = kind;
        row.parent_id = self.parent_id;
        row.created = time(options, &self.date_created)?;
        row.modified = time(options, &self.date_modified)?;
        row.paid = self.date_paid.as_deref().map(|text| time(options, text)).transpose()?;
        row.completed =
            self.date_completed.as_deref().map(|text| time(options, text)).transpose()?;
        row.currency = self.currency;
        row.customer_id = self.customer_user_id;
        row.number = self.number;
        row.order_key = self.order_key;
        row.payment_method = self.payment_method;
        row.created_via = self.created_via;
        row.total = self.total;
        row.total_tax = self.total_tax;
        row.cart_tax = self.cart_tax;
        row.shipping_total = self.shipping_total;
        row.shipping_tax = self.shipping_tax;
        row.discount_total = self.discount_total;
        row.discount_tax = self.discount_tax;
        row.prices_include_tax = self.prices_include_tax;
        row.refund_amount = self.amount;
        row.refunded_by = self.refunded_by;
        row.reason = self.reason;
        if self.status == status::TRASH {
            let before = self.meta.iter().find(|entry| entry.key == super::TRASH_STATUS);
            let before = before.and_then(|entry| entry.value.as_str());
            row.trashed_status = before.map(|text| text.trim_start_matches("wc-").to_owned());
        }
        row.status = self.status;
        for (kind, lines) in [
            (ItemKind::Line, &self.line_items),
            (ItemKind::Shipping, &self.shipping_lines),
            (ItemKind::Fee, &self.fee_lines),
            (ItemKind::Tax, &self.tax_lines),
            (ItemKind::Coupon, &self.coupon_lines),
        ] {
            let read = lines.iter().map(|value| line(kind, value));
            order.items.extend(read.collect::<Result<Vec<Line>>>()?);
        }
        order.items.sort_by_key(|line| line.row.item_id);
        let details = &mut order.details;
        details.billing = self.billing;
        details.shipping = self.shipping;
        details.payment_method_title = self.payment_method_title;
        details.customer_note = self.customer_note;
        details.customer_ip_address = self.customer_ip_address;
        details.cart_hash = self.cart_hash;
        details.meta_data = entries(&self.meta);
        finish(&mut order);
        Ok(order)
    }
}

/// What the shop had already counted for the order, by its status and its lines.
fn finish(order: &mut Order) {
    if order.row.kind == OrderKind::Refund {
        return;
    }
    let stock_reduced = order.items.iter().any(|line| line.meta(STOCK_KEY).is_some());
    order.details.stock_reduced = stock_reduced;
    let who = super::effects::buyer(order);
    let used = order.lines(ItemKind::Coupon).map(|line| (line.row.product_id, who.clone()));
    let used: Vec<(i64, String)> = used.collect();
    for line in order.lines_mut(ItemKind::Coupon) {
        line.row.product_id = 0;
    }
    let is_sale = status::is_sale(&order.row.status) || order.row.status == status::REFUNDED;
    if is_sale || order.row.status == status::PENDING {
        order.details.counted_coupons = Some(used);
    }
    if is_sale {
        order.details.stock_reduced = true;
        let sold = order.lines(ItemKind::Line).filter(|line| line.row.product_id != 0);
        let sold = sold.map(|line| (line.row.product_id, line.row.quantity.to_whole()));
        order.details.counted_sales = Some(sold.collect());
    }
}

fn time(options: &Options, text: &str) -> Result<Timestamp> {
    let read = moments::read(options, &json!(text));
    read.ok_or_else(|| Error::invalid(format!("`{text}` is not a time")))
}

fn entries(list: &[Entry]) -> Vec<Value> {
    let entry = |entry: &Entry| json!({ "id": 0, "key": entry.key, "value": entry.value });
    list.iter().map(entry).collect()
}

fn line(kind: ItemKind, value: &Value) -> Result<Line> {
    let text = |name: &str| value[name].as_str().unwrap_or_default().to_owned();
    let whole = |name: &str| value[name].as_i64().unwrap_or_default();
    let amount = |name: &str| amounts::read(&value[name]).unwrap_or_default();
    let mut line = Line::of_kind(kind);
    line.row.item_id = whole("id");
    if line.row.item_id == 0 {
        return Err(Error::invalid("a line has no id"));
    }
    line.row.name = text("name");
    line.row.total = amount("total");
    line.row.total_tax = amount("total_tax");
    line.details.tax_class = text("tax_class");
    line.details.taxes = shares(&value["taxes"], kind == ItemKind::Line);
    let meta: Vec<Entry> = records(&value["meta"])?;
    line.details.meta_data = entries(&meta);
    match kind {
        ItemKind::Line => {
            line.row.product_id = whole("product_id");
            line.row.variation_id = whole("variation_id");
            line.row.quantity = amount("quantity");
            line.row.subtotal = amount("subtotal");
            line.row.subtotal_tax = amount("subtotal_tax");
        }
        ItemKind::Shipping => {
            line.row.name = text("method_title");
            line.details.method_id = text("method_id");
            line.details.instance_id = text("instance_id");
        }
        ItemKind::Fee => line.details.tax_status = text("tax_status"),
        ItemKind::Tax => {
            line.row.rate_id = whole("rate_id");
            line.row.total_tax = amount("tax_total");
            line.details.shipping_tax = Some(amount("shipping_tax_total"));
            line.details.label = text("label");
            line.details.compound = value["compound"].as_bool().unwrap_or_default();
            line.details.rate_percent = amounts::read(&value["rate_percent"]);
        }
        ItemKind::Coupon => {
            line.row.name = text("code");
            line.row.total = amount("discount");
            line.row.total_tax = amount("discount_tax");
            line.row.product_id = whole("coupon_id");
        }
    }
    Ok(line)
}

fn shares(taxes: &Value, has_subtotals: bool) -> Vec<TaxShare> {
    let empty = Map::new();
    let of = |name: &str| taxes[name].as_object().unwrap_or(&empty).clone();
    let (totals, subtotals) = (of("total"), of("subtotal"));
    let share = |(id, total): (&String, &Value)| {
        let subtotal = subtotals.get(id).and_then(amounts::read);
        Some(TaxShare {
            rate_id: id.parse().ok()?,
            total: amounts::read(total).unwrap_or_default(),
            subtotal: has_subtotals.then(|| subtotal.unwrap_or_default()),
        })
    };
    totals.iter().filter_map(share).collect()
}

/// Counts the entries of orders, and those of lines, as a shop of that kind does.
#[derive(Debug, Default)]
struct Entries {
    of_orders: i64,
    of_lines: i64,
}

/// Entries that a refund has before the first that is shown.
const REFUND_HIDDEN: i64 = 4;
/// Orders that are numbered together.
const CHUNK: i64 = 200;

/// Gives the entries of imported orders and refunds their numbers. It runs when all are there, and
/// leaves those alone that have a number.
pub(crate) fn number_entries(conn: &mut dyn Conn) -> Result<()> {
    let mut entries = Entries::default();
    let mut page = Page { offset: 0, limit: CHUNK };
    loop {
        let sort = OrderSort::Id;
        let filter = OrderFilter { sort, page, ..OrderFilter::default() };
        let (rows, _) = order::list(conn, &filter)?;
        if rows.is_empty() {
            break;
        }
        for stored in order::with_items(conn, rows)? {
            let before = Order::read(stored)?;
            let mut order = before.clone();
            entries.number(&mut order);
            if order != before {
                order.put(conn)?;
            }
        }
        page.offset += CHUNK;
    }
    let greatest = entries.of_orders.max(entries.of_lines);
    if greatest > 0 {
        counter::take(conn, crate::common::meta::ENTRY_ID, greatest)?;
    }
    Ok(())
}

impl Entries {
    fn number(&mut self, order: &mut Order) {
        if order.row.kind == OrderKind::Refund {
            self.of_orders += REFUND_HIDDEN;
        }
        let rank = |entry: &Value| match entry["key"].as_str().unwrap_or_default() {
            key if key.ends_with("_address_index") => 1,
            key if key.starts_with("_wp_trash_meta_") => 2,
            _ => 0,
        };
        let list = &mut order.details.meta_data;
        let mut places: Vec<usize> = (0..list.len()).collect();
        places.sort_by_key(|place| list.get(*place).map(rank));
        for place in places {
            self.of_orders += 1;
            give(list.get_mut(place), self.of_orders);
        }
        for line in &mut order.items {
            self.of_lines += rows(line.row.kind);
            for entry in &mut line.details.meta_data {
                if entry["key"] != STOCK_KEY {
                    self.of_lines += 1;
                    give(Some(entry), self.of_lines);
                }
            }
        }
        // The stock falls when all lines are written.
        for line in &mut order.items {
            for entry in line.details.meta_data.iter_mut().filter(|e| e["key"] == STOCK_KEY) {
                self.of_lines += 1;
                give(Some(entry), self.of_lines);
            }
        }
    }
}

fn give(entry: Option<&mut Value>, number: i64) {
    let id = entry.and_then(|entry| entry.get_mut("id"));
    if let Some(id) = id.filter(|id| **id == json!(0)) {
        *id = json!(number);
    }
}

/// Entries that a line has before the first that is shown.
fn rows(kind: ItemKind) -> i64 {
    match kind {
        ItemKind::Line => 9,
        ItemKind::Shipping => 5,
        ItemKind::Fee | ItemKind::Tax => 6,
        ItemKind::Coupon => 2,
    }
}
