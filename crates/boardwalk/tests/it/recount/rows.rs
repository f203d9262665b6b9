//! Orders and refunds as reports count them, made from the records of the interface alone.
//!
//! A refund is a row of its own, on the day it was made and with the status and the customer of its
//! order. One that pays back everything that was left counts for what was left of money, tax,
//! shipping and goods, so that an order that was paid back in whole comes to nothing.

use std::collections::BTreeMap;

use serde_json::Value;

use super::clock::{self, Second};
use super::money::{self, Millionths, amount};
use super::shop::Choices;

/// An order or a refund.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) id: i64,
    /// The order of a refund; 0 for an order.
    pub(super) parent: i64,
    pub(super) created: Second,
    pub(super) paid: Option<Second>,
    pub(super) completed: Option<Second>,
    pub(super) status: String,
    pub(super) currency: String,
    /// The user, or the address of a guest.
    pub(super) buyer: Buyer,
    /// Whether the buyer had bought before; of a refund, before its order.
    pub(super) returning: bool,
    pub(super) items: i64,
    pub(super) total: Millionths,
    pub(super) tax: Millionths,
    pub(super) shipping: Millionths,
    pub(super) net: Millionths,
    pub(super) lines: Vec<Line>,
    /// By their codes, with what they took off.
    pub(super) coupons: Vec<(String, Millionths)>,
    pub(super) taxes: Vec<Tax>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Buyer {
    User(i64),
    Guest(String),
}

/// A line about goods.
#[derive(Clone, Debug, Default)]
pub(super) struct Line {
    id: i64,
    pub(super) product: i64,
    pub(super) variation: i64,
    pub(super) quantity: i64,
    pub(super) net: Millionths,
    pub(super) discount: Millionths,
    pub(super) tax: Millionths,
    pub(super) shipping: Millionths,
    pub(super) gross: Millionths,
    pub(super) attributes: Vec<(String, String)>,
}

#[derive(Clone, Debug)]
pub(super) struct Tax {
    pub(super) rate: i64,
    pub(super) code: String,
    pub(super) of_goods: Millionths,
    pub(super) of_shipping: Millionths,
}

impl Row {
    pub(super) fn is_order(&self) -> bool {
        self.parent == 0
    }

    /// The order itself, or that of a refund.
    pub(super) fn sale(&self) -> i64 {
        if self.is_order() { self.id } else { self.parent }
    }

    pub(super) fn date(&self, date_type: &str) -> Option<Second> {
        match date_type {
            "date_created" => Some(self.created),
            "date_completed" => self.completed,
            _ => self.paid,
        }
    }

    pub(super) fn discounts(&self) -> Millionths {
        self.coupons.iter().map(|(_, discount)| discount).sum()
    }
}

fn list<'v>(record: &'v Value, name: &str) -> &'v Vec<Value> {
    record[name].as_array().unwrap_or_else(|| panic!("{name} of {record}"))
}

fn moment(record: &Value, name: &str) -> Option<Second> {
    record[name].as_str().map(clock::read)
}

fn entry<'v>(record: &'v Value, key: &str) -> Option<&'v Value> {
    list(record, "meta_data").iter().find(|entry| entry["key"] == key).map(|entry| &entry["value"])
}

/// All rows of these records, refunds behind their orders.
pub(super) fn rows(choices: &Choices, orders: &[Value], refunds: &[Value]) -> Vec<Row> {
    let mut rows = Vec::new();
    for order in orders {
        let own: Vec<&Value> =
            refunds.iter().filter(|refund| refund["parent_id"] == order["id"]).collect();
        let row = order_row(choices, order);
        let parts: Vec<Part> = own.iter().map(|refund| Part::read(choices, refund)).collect();
        for (place, refund) in own.iter().enumerate() {
            rows.push(refund_row((order, &row), (refund, place), &parts));
        }
        rows.push(row);
    }
    mark_returning(choices, &mut rows);
    rows.sort_by_key(|row| row.id);
    rows
}

fn order_row(choices: &Choices, order: &Value) -> Row {
    let (total, tax) = (amount(&order["total"]), amount(&order["total_tax"]));
    let shipping = amount(&order["shipping_total"]);
    let user = order["customer_id"].as_i64().unwrap();
    let email = order["billing"]["email"].as_str().unwrap().to_lowercase();
    let coupon =
        |line: &Value| (line["code"].as_str().unwrap().to_lowercase(), amount(&line["discount"]));
    Row {
        id: order["id"].as_i64().unwrap(),
        parent: 0,
        created: moment(order, "date_created_gmt").unwrap(),
        paid: moment(order, "date_paid_gmt"),
        completed: moment(order, "date_completed_gmt"),
        status: order["status"].as_str().unwrap().to_owned(),
        currency: order["currency"].as_str().unwrap().to_owned(),
        buyer: if user == 0 { Buyer::Guest(email) } else { Buyer::User(user) },
        returning: false,
        items: pieces(order),
        total,
        tax,
        shipping,
        net: total - tax - shipping,
        lines: lines(choices, order, shipping),
        coupons: list(order, "coupon_lines").iter().map(coupon).collect(),
        taxes: taxes(order),
    }
}

fn pieces(record: &Value) -> i64 {
    list(record, "line_items").iter().map(|line| line["quantity"].as_i64().unwrap()).sum()
}

/// What the rates of a record take of one of its lines.
fn tax_of(record: &Value, line: &Value) -> Millionths {
    let rates = list(record, "tax_lines");
    let counts = |tax: &&Value| rates.iter().any(|rate| rate["rate_id"] == tax["id"]);
    list(line, "taxes").iter().filter(counts).map(|tax| amount(&tax["total"])).sum()
}

/// Lines with their shares of the shipping, which go by pieces.
fn lines(choices: &Choices, record: &Value, shipping: Millionths) -> Vec<Line> {
    let all = pieces(record);
    let shipping_tax: Millionths =
        list(record, "shipping_lines").iter().map(|line| tax_of(record, line)).sum();
    let mut lines = Vec::new();
    for line in list(record, "line_items") {
        let quantity = line["quantity"].as_i64().unwrap();
        let net = money::rounded(amount(&line["total"]), choices.decimals);
        if quantity == 0 && net >= 0 {
            continue;
        }
        let tax = money::rounded(tax_of(record, line), choices.decimals);
        let of_shipping = money::share(shipping, all, quantity);
        let is_chosen = |entry: &&Value| !entry["key"].as_str().unwrap().starts_with('_');
        let chosen = list(line, "meta_data").iter().filter(is_chosen).filter_map(|entry| {
            Some((entry["key"].as_str()?.to_owned(), entry["value"].as_str()?.to_owned()))
        });
        lines.push(Line {
            id: line["id"].as_i64().unwrap(),
            product: line["product_id"].as_i64().unwrap(),
            variation: line["variation_id"].as_i64().unwrap(),
            quantity,
            net,
            discount: amount(&line["subtotal"]) - amount(&line["total"]),
            tax,
            shipping: of_shipping,
            gross: net + tax + of_shipping + money::share(shipping_tax, all, quantity),
            attributes: chosen.collect(),
        });
    }
    lines
}

fn taxes(record: &Value) -> Vec<Tax> {
    let tax = |line: &Value| Tax {
        rate: line["rate_id"].as_i64().unwrap(),
        code: line["rate_code"].as_str().unwrap().to_owned(),
        of_goods: amount(&line["tax_total"]),
        of_shipping: amount(&line["shipping_tax_total"]),
    };
    list(record, "tax_lines").iter().map(tax).collect()
}

/// What a refund says by itself. All of it is negative.
struct Part {
    pieces: i64,
    total: Millionths,
    tax: Millionths,
    shipping: Millionths,
    shipping_tax: Millionths,
    lines: Vec<(Option<i64>, Line)>,
}

impl Part {
    fn read(choices: &Choices, refund: &Value) -> Self {
        let sum = |group: &str, name: &str| -> Millionths {
            list(refund, group).iter().map(|line| amount(&line[name])).sum()
        };
        let shipping = sum("shipping_lines", "total");
        let refunded = |id: i64| {
            let line = list(refund, "line_items").iter().find(|line| line["id"] == id)?;
            let value = entry(line, "_refunded_item_id")?;
            value.as_i64().or_else(|| value.as_str()?.parse().ok())
        };
        let lines = lines(choices, refund, shipping).into_iter();
        let shipping_tax = sum("tax_lines", "shipping_tax_total");
        Self {
            pieces: pieces(refund),
            total: -amount(&refund["amount"]),
            tax: sum("tax_lines", "tax_total") + shipping_tax,
            shipping,
            shipping_tax,
            lines: lines.map(|line| (refunded(line.id), line)).collect(),
        }
    }

    fn net(&self) -> Millionths {
        self.total - self.tax - self.shipping
    }
}

fn refund_row(
    (order, of_order): (&Value, &Row),
    (refund, place): (&Value, usize),
    parts: &[Part],
) -> Row {
    let part = &parts[place];
    let created = moment(refund, "date_created_gmt").unwrap();
    let mut row = Row {
        id: refund["id"].as_i64().unwrap(),
        parent: of_order.id,
        created,
        paid: Some(created),
        completed: Some(created),
        items: part.pieces,
        total: part.total,
        tax: part.tax,
        shipping: part.shipping,
        net: part.net(),
        lines: part.lines.iter().map(|(_, line)| line.clone()).collect(),
        coupons: Vec::new(),
        taxes: taxes(refund),
        ..of_order.clone()
    };
    let is_full = entry(refund, "_refund_type").is_some_and(|kind| kind == "full");
    let pays_all = parts.len() == 1 && part.pieces <= 0 && part.total == -of_order.total;
    if !is_full && !pays_all {
        return row;
    }
    let others: Vec<&Part> =
        parts.iter().enumerate().filter(|(at, _)| *at != place).map(|(_, part)| part).collect();
    let left =
        |own: i64, of: fn(&Part) -> i64| own + others.iter().map(|part| of(part)).sum::<i64>();
    row.items = -left(of_order.items, |part| part.pieces);
    row.tax = -left(of_order.tax, |part| part.tax);
    row.shipping = -left(of_order.shipping, |part| part.shipping);
    row.net = -left(of_order.net, Part::net);
    if is_full && row.lines.is_empty() {
        let shipping_tax = left(amount(&order["shipping_tax"]), |part| part.shipping_tax);
        let rest = (-row.items, -row.shipping, shipping_tax);
        row.lines = left_lines(of_order, &others, rest);
    }
    row
}

/// The lines that a refund of everything that was left stands for.
fn left_lines(
    order: &Row,
    others: &[&Part],
    (pieces, shipping, shipping_tax): (i64, Millionths, Millionths),
) -> Vec<Line> {
    let mut lines = Vec::new();
    for line in &order.lines {
        let mut rest = line.clone();
        for (about, other) in others.iter().flat_map(|part| &part.lines) {
            let same = (other.product, other.variation) == (line.product, line.variation);
            if about.map_or(same, |id| id == line.id) {
                rest.quantity += other.quantity;
                rest.net += other.net;
                rest.tax += other.tax;
            }
        }
        if rest.net == 0 {
            continue;
        }
        let share = |sum: Millionths| money::share(sum.max(0), pieces, rest.quantity.abs());
        let of_shipping = share(shipping);
        let gross = rest.net.abs() + rest.tax.abs() + of_shipping + share(shipping_tax);
        lines.push(Line {
            quantity: -rest.quantity.abs(),
            net: -rest.net.abs(),
            tax: -rest.tax.abs(),
            discount: 0,
            shipping: -of_shipping,
            gross: -gross,
            ..rest
        });
    }
    lines
}

/// Whoever had an earlier order that counts has bought before. A refund is with its order.
fn mark_returning(choices: &Choices, rows: &mut [Row]) {
    let mut firsts: BTreeMap<Buyer, (Second, i64)> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.is_order()) {
        if choices.excluded.contains(&&*row.status) {
            continue;
        }
        let place = (row.created, row.id);
        let first = firsts.entry(row.buyer.clone()).or_insert(place);
        *first = place.min(*first);
    }
    let places: BTreeMap<i64, (Second, i64)> = rows
        .iter()
        .filter(|row| row.is_order())
        .map(|row| (row.id, (row.created, row.id)))
        .collect();
    for row in rows {
        let place = places[&row.sale()];
        row.returning = firsts.get(&row.buyer).is_some_and(|first| place > *first);
    }
}
