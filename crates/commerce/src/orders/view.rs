//! Orders and refunds as they are shown.

use contract::object;
use frame::{Call, Options, Visit};
use serde_json::{Map, Value, json};
use shop_rows::order::{ItemKind, OrderRow};
use types::Amount;

use super::goods::Goods;
use super::pay_page;
use super::record::{Address, Line, Order};
use super::{money, status};
use crate::common::version::Version;
use crate::common::{amounts, moments};
use crate::pictures;

/// Decimals at most that a request can ask for.
const DECIMALS_MAX: i64 = 20;
/// Entries that the shop keeps for itself.
const INDEXES: [&str; 2] = ["_billing_address_index", "_shipping_address_index"];

/// How amounts and entries are to be shown.
#[derive(Debug)]
pub(super) struct Manner<'a> {
    pub(super) version: Version,
    pub(super) options: &'a Options,
    visit: &'a Visit,
    decimals: i64,
    /// Only the entries of lines that people are meant to read.
    only_readable: bool,
    include_meta: Vec<String>,
    exclude_meta: Vec<String>,
}

impl<'a> Manner<'a> {
    pub(super) fn of(version: Version, call: &'a Call<'_>) -> Self {
        let options = call.options();
        Self {
            version,
            options,
            visit: call.visit,
            decimals: decimals(call),
            only_readable: call.params.flag("order_item_display_meta"),
            include_meta: call.params.texts("include_meta"),
            exclude_meta: call.params.texts("exclude_meta"),
        }
    }

    pub(super) fn amount(&self, amount: Amount) -> Value {
        let wanted = u32::try_from(self.decimals).unwrap_or_default();
        let mut text = amount.to_text(wanted);
        for _ in 6..self.decimals {
            text.push('0');
        }
        Value::String(text)
    }

    fn entries(&self, entries: &[Value]) -> Vec<Value> {
        let is_shown = |entry: &&Value| {
            let key = entry["key"].as_str().unwrap_or_default();
            let chosen = if self.include_meta.is_empty() {
                !self.exclude_meta.iter().any(|name| name == key)
            } else {
                self.include_meta.iter().any(|name| name == key)
            };
            chosen && (self.version == Version::Analytics || !INDEXES.contains(&key))
        };
        entries.iter().filter(is_shown).cloned().collect()
    }
}

/// The decimals that the call asks for.
pub(super) fn decimals(call: &Call<'_>) -> i64 {
    let usual = || i64::from(amounts::decimals(call.options()));
    call.params.int("dp").map_or_else(usual, |dp| dp.saturating_abs().min(DECIMALS_MAX))
}

/// All fields of an order.
pub(super) fn body(
    manner: &Manner<'_>,
    home: &str,
    order: &Order,
    refunds: &[OrderRow],
    goods: &Goods,
) -> Value {
    let Order { row, details, .. } = order;
    let amount = |value: Amount| manner.amount(value);
    let mut body = object! {
        "id": row.order_id,
        "parent_id": row.parent_id,
        "status": row.status.as_str(),
        "currency": row.currency.as_str(),
        "version": env!("CARGO_PKG_VERSION"),
        "prices_include_tax": row.prices_include_tax,
        "discount_total": amount(row.discount_total),
        "discount_tax": amount(row.discount_tax),
        "shipping_total": amount(row.shipping_total),
        "shipping_tax": amount(row.shipping_tax),
        "cart_tax": amount(row.cart_tax),
        "total": amount(row.total),
        "total_tax": amount(row.total_tax),
        "customer_id": row.customer_id,
        "order_key": row.order_key.as_str(),
        "billing": billing(&details.billing),
        "shipping": shipping(&details.shipping),
        "payment_method": row.payment_method.as_str(),
        "payment_method_title": details.payment_method_title.as_str(),
        "transaction_id": details.transaction_id.as_str(),
        "customer_ip_address": details.customer_ip_address.as_str(),
        "customer_user_agent": details.customer_user_agent.as_str(),
        "created_via": row.created_via.as_str(),
        "customer_note": details.customer_note.as_str(),
        "cart_hash": details.cart_hash.as_str(),
        "number": row.number.as_str(),
        "meta_data": manner.entries(&details.meta_data),
        "line_items": lines(manner, order, ItemKind::Line, goods),
        "tax_lines": lines(manner, order, ItemKind::Tax, goods),
        "shipping_lines": lines(manner, order, ItemKind::Shipping, goods),
        "fee_lines": lines(manner, order, ItemKind::Fee, goods),
        "coupon_lines": lines(manner, order, ItemKind::Coupon, goods),
        "refunds": refunds.iter().map(|refund| refund_note(manner, refund)).collect::<Vec<_>>(),
        "currency_symbol": money::symbol(&row.currency),
    };
    let Value::Object(members) = &mut body else { return body };
    for (name, time) in [
        ("date_created", Some(row.created)),
        ("date_modified", Some(row.modified)),
        ("date_completed", row.completed),
        ("date_paid", row.paid),
    ] {
        let [local, gmt] = moments::pair(manner.options, time);
        members.insert(name.to_owned(), local);
        members.insert(format!("{name}_gmt"), gmt);
    }
    add_owners(members, row);
    if manner.version == Version::Analytics {
        let total = total_formatted(manner.options, row, refunds);
        members.insert(String::from("total_formatted"), json!(total));
    } else {
        add_duties(members, manner.options, home, order, goods);
    }
    body
}

/// Whose sale it was, as far as anybody said so.
fn add_owners(members: &mut Map<String, Value>, row: &OrderRow) {
    for (name, owner) in
        [("merchant_id", &row.merchant_id), ("store_id", &row.store_id), ("tpn", &row.tpn)]
    {
        if let Some(owner) = owner {
            members.insert(name.to_owned(), json!(owner));
        }
    }
}

/// What is still to be done with the order.
fn add_duties(
    members: &mut Map<String, Value>,
    options: &Options,
    home: &str,
    order: &Order,
    goods: &Goods,
) {
    let row = &order.row;
    let url = format!("{home}{}", pay_page::path(options, (row.order_id, &row.order_key)));
    members.insert(String::from("payment_url"), json!(url));
    for (name, flag) in [
        (
            "is_editable",
            matches!(&*row.status, status::PENDING | status::ON_HOLD | status::AUTO_DRAFT),
        ),
        ("needs_payment", status::needs_payment(order)),
        ("needs_processing", needs_processing(order, goods)),
    ] {
        members.insert(name.to_owned(), json!(flag));
    }
}

/// Whether something of the order is not just to be downloaded.
pub(super) fn needs_processing(order: &Order, goods: &Goods) -> bool {
    let goods = order.lines(ItemKind::Line).filter_map(|line| goods.of_line(line));
    goods.into_iter().any(|good| good.needs_processing())
}

pub(crate) fn total_formatted(options: &Options, row: &OrderRow, refunds: &[OrderRow]) -> String {
    let total = money::formatted(options, row.total, &row.currency);
    let refunded: Amount = refunds.iter().map(|refund| refund.refund_amount).sum();
    if refunded.is_zero() {
        return total;
    }
    let rest = money::formatted(options, row.total - refunded, &row.currency);
    format!("{total} {rest}")
}

fn refund_note(manner: &Manner<'_>, refund: &OrderRow) -> Value {
    object! {
        "id": refund.order_id,
        "reason": refund.reason.as_str(),
        "total": manner.amount(-refund.refund_amount),
    }
}

pub(super) fn billing(address: &Address) -> Value {
    let mut body = json!(address);
    if let Value::Object(members) = &mut body {
        members.insert(String::from("email"), json!(address.email));
    }
    body
}

pub(super) fn shipping(address: &Address) -> Value {
    let mut body = json!(address);
    if let Value::Object(members) = &mut body {
        members.remove("email");
    }
    body
}

/// All fields of a refund.
pub(super) fn refund_body(
    manner: &Manner<'_>,
    refund: &Order,
    goods: &Goods,
    tells_order: bool,
) -> Value {
    let Order { row, details, .. } = refund;
    let [created, created_gmt] = moments::pair(manner.options, Some(row.created));
    let mut body = object! {
        "id": row.order_id,
        "date_created": created,
        "date_created_gmt": created_gmt,
        "amount": manner.amount(row.refund_amount),
        "reason": row.reason.as_str(),
        "refunded_by": row.refunded_by,
        "refunded_payment": details.refunded_payment,
        "meta_data": manner.entries(&details.meta_data),
        "line_items": lines(manner, refund, ItemKind::Line, goods),
        "shipping_lines": lines(manner, refund, ItemKind::Shipping, goods),
        "tax_lines": lines(manner, refund, ItemKind::Tax, goods),
        "fee_lines": lines(manner, refund, ItemKind::Fee, goods),
    };
    if let (true, Value::Object(members)) = (tells_order, &mut body) {
        members.insert(String::from("parent_id"), json!(row.parent_id));
    }
    body
}

fn lines(manner: &Manner<'_>, order: &Order, kind: ItemKind, goods: &Goods) -> Vec<Value> {
    order.lines(kind).map(|line| line_body(manner, line, goods)).collect()
}

fn line_body(manner: &Manner<'_>, line: &Line, goods: &Goods) -> Value {
    let Line { row, details } = line;
    let amount = |value: Amount| manner.amount(value);
    let entries = line_entries(manner, line, goods);
    let mut body = match row.kind {
        ItemKind::Line => return product_body(manner, line, goods, entries),
        ItemKind::Tax => object! {
            "id": row.item_id,
            "rate_code": row.name.as_str(),
            "rate_id": row.rate_id,
            "label": details.label.as_str(),
            "compound": details.compound,
            "tax_total": amount(row.total_tax),
            "shipping_tax_total": amount(details.shipping_tax.unwrap_or_default()),
            "rate_percent": details.rate_percent.map(amounts::number),
        },
        ItemKind::Shipping => object! {
            "id": row.item_id,
            "method_title": row.name.as_str(),
            "method_id": details.method_id.as_str(),
            "instance_id": details.instance_id.as_str(),
            "total": amount(row.total),
            "total_tax": amount(row.total_tax),
            "taxes": taxes(manner, line),
            "tax_status": details.tax_status.as_str(),
        },
        ItemKind::Fee => object! {
            "id": row.item_id,
            "name": row.name.as_str(),
            "tax_class": details.tax_class.as_str(),
            "tax_status": details.tax_status.as_str(),
            "amount": "",
            "total": amount(row.total),
            "total_tax": amount(row.total_tax),
            "taxes": taxes(manner, line),
        },
        ItemKind::Coupon => coupon_body(line),
    };
    if let Value::Object(members) = &mut body {
        members.insert(String::from("meta_data"), Value::Array(entries));
    }
    body
}

fn coupon_body(line: &Line) -> Value {
    let info = line.meta(super::COUPON_INFO).and_then(|text| serde_json::from_str(text).ok());
    let info: Vec<Value> = info.unwrap_or_default();
    let kind = info.get(2).and_then(Value::as_str).unwrap_or("fixed_cart");
    object! {
        "id": line.row.item_id,
        "code": line.row.name.as_str(),
        "discount": line.row.total.to_string(),
        "discount_tax": line.row.total_tax.to_string(),
        "discount_type": kind,
        "nominal_amount": info.get(3).and_then(amounts::read).map_or(json!(0), amounts::number),
        "free_shipping": info.get(4).and_then(Value::as_bool).unwrap_or_default(),
    }
}

fn product_body(manner: &Manner<'_>, line: &Line, goods: &Goods, entries: Vec<Value>) -> Value {
    let Line { row, details } = line;
    let amount = |value: Amount| manner.amount(value);
    let good = goods.of_line(line);
    let on_this_site = |(id, src): (i64, String)| (id, pictures::address(manner.visit, &src));
    let image = match good {
        // A product without a picture has no id of one; a variation has the id 0.
        Some(good) => match (good.image().map(on_this_site), good.parent) {
            (Some((id, src)), None) => json!({ "id": id.to_string(), "src": src }),
            (Some((id, src)), Some(_)) => json!({ "id": id, "src": src }),
            (None, None) => json!({ "id": "", "src": "" }),
            (None, Some(_)) => json!({ "id": 0, "src": "" }),
        },
        None => json!({ "id": 0, "src": "" }),
    };
    let price = if row.quantity.is_zero() {
        json!(0)
    } else {
        json!(row.total.to_f64() / row.quantity.to_f64())
    };
    // What is gone is not named, though reports still count it.
    let named = |id: i64| if goods.get(id).is_some() { id } else { 0 };
    object! {
        "id": row.item_id,
        "name": row.name.as_str(),
        "product_id": named(row.product_id),
        "variation_id": named(row.variation_id),
        "quantity": amounts::number(row.quantity),
        "tax_class": details.tax_class.as_str(),
        "subtotal": amount(row.subtotal),
        "subtotal_tax": amount(row.subtotal_tax),
        "total": amount(row.total),
        "total_tax": amount(row.total_tax),
        "taxes": taxes(manner, line),
        "meta_data": entries,
        "sku": good.map(|good| good.row.sku.as_str()),
        "global_unique_id": good.map(|good| good.row.global_unique_id.as_str()),
        "price": price,
        "image": image,
        "parent_name": good.and_then(|good| good.parent).map(|parent| parent.name.as_str()),
    }
}

/// The entries of a line, with how people read them.
fn line_entries(manner: &Manner<'_>, line: &Line, goods: &Goods) -> Vec<Value> {
    let mut entries = Vec::new();
    for entry in &line.details.meta_data {
        let key = entry["key"].as_str().unwrap_or_default();
        if manner.only_readable && key.starts_with('_') {
            continue;
        }
        let value = &entry["value"];
        let (display_key, display_value) = match value {
            Value::String(text) => {
                let (key, text) = goods.display(line, key, text);
                (key, json!(text))
            }
            other => (goods.display(line, key, "").0, other.clone()),
        };
        entries.push(object! {
            "id": entry["id"].clone(), "key": key, "value": value.clone(),
            "display_key": display_key, "display_value": display_value,
        });
    }
    entries
}

fn taxes(manner: &Manner<'_>, line: &Line) -> Vec<Value> {
    let shares = line.details.taxes.iter().map(|share| {
        let subtotal = share.subtotal.map_or(json!(""), |subtotal| manner.amount(subtotal));
        object! { "id": share.rate_id, "total": manner.amount(share.total), "subtotal": subtotal }
    });
    shares.collect()
}
