//! Orders and refunds in the shape of the first version: fewer fields, fewer dates, and entries of
//! lines by their labels.

use serde_json::{Map, Value, json};
use shop_rows::order::ItemKind;

use super::goods::Goods;
use super::record::Order;
use super::view::Manner;

const ORDER: &[&str] = &[
    "id",
    "parent_id",
    "status",
    "order_key",
    "number",
    "currency",
    "version",
    "prices_include_tax",
    "date_created",
    "date_modified",
    "customer_id",
    "discount_total",
    "discount_tax",
    "shipping_total",
    "shipping_tax",
    "cart_tax",
    "total",
    "total_tax",
    "billing",
    "shipping",
    "payment_method",
    "payment_method_title",
    "transaction_id",
    "customer_ip_address",
    "customer_user_agent",
    "created_via",
    "customer_note",
    "date_completed",
    "date_paid",
    "cart_hash",
    "merchant_id",
    "store_id",
    "tpn",
];
const REFUND: &[&str] = &["id", "date_created", "amount", "reason"];
const TAX: &[&str] =
    &["id", "rate_code", "rate_id", "label", "compound", "tax_total", "shipping_tax_total"];
const SHIPPING: &[&str] = &["id", "method_title", "method_id", "total", "total_tax"];
const FEE: &[&str] = &["id", "name", "tax_class", "tax_status", "total", "total_tax", "taxes"];
const COUPON: &[&str] = &["id", "code", "discount", "discount_tax"];
const LINE: &[&str] = &[
    "id",
    "name",
    "sku",
    "product_id",
    "variation_id",
    "quantity",
    "tax_class",
    "subtotal",
    "subtotal_tax",
    "total",
    "total_tax",
    "taxes",
];

/// Makes the body of an order, as newer versions show it, that of the first.
pub(super) fn order(manner: &Manner<'_>, body: &Value, order: &Order, goods: &Goods) -> Value {
    let mut members = kept(body, ORDER);
    members.insert(String::from("line_items"), json!(lines(manner, body, order, goods)));
    for (name, fields) in [("tax_lines", TAX), ("fee_lines", FEE)] {
        members.insert(name.to_owned(), json!(each(&body[name], fields)));
    }
    members.insert(String::from("shipping_lines"), json!(shipping(body)));
    let coupons =
        each(&body["coupon_lines"], COUPON).into_iter().zip(order.lines(ItemKind::Coupon));
    let coupons = coupons.map(|(mut members, line)| {
        members.insert(String::from("discount"), manner.amount(line.row.total));
        members.insert(String::from("discount_tax"), manner.amount(line.row.total_tax));
        members
    });
    members.insert(String::from("coupon_lines"), json!(coupons.collect::<Vec<_>>()));
    let refunds = body["refunds"].as_array().into_iter().flatten().map(|refund| {
        json!({ "id": refund["id"], "refund": refund["reason"], "total": refund["total"] })
    });
    members.insert(String::from("refunds"), json!(refunds.collect::<Vec<_>>()));
    Value::Object(members)
}

/// Makes the body of a refund that of the first version.
pub(super) fn refund(manner: &Manner<'_>, body: &Value, refund: &Order, goods: &Goods) -> Value {
    let mut members = kept(body, REFUND);
    members.insert(String::from("line_items"), json!(lines(manner, body, refund, goods)));
    Value::Object(members)
}

fn kept(body: &Value, names: &[&str]) -> Map<String, Value> {
    let fields = names.iter().filter_map(|name| {
        let value = body.get(name)?;
        Some(((*name).to_owned(), value.clone()))
    });
    fields.collect()
}

fn each(list: &Value, names: &[&str]) -> Vec<Map<String, Value>> {
    list.as_array().into_iter().flatten().map(|item| kept(item, names)).collect()
}

fn shipping(body: &Value) -> Vec<Map<String, Value>> {
    let list = body["shipping_lines"].as_array().into_iter().flatten();
    let lines = list.map(|line| {
        let mut members = kept(line, SHIPPING);
        members.insert(String::from("taxes"), json!(each(&line["taxes"], &["id", "total"])));
        members
    });
    lines.collect()
}

fn lines(
    manner: &Manner<'_>,
    body: &Value,
    order: &Order,
    goods: &Goods,
) -> Vec<Map<String, Value>> {
    let shown = each(&body["line_items"], LINE);
    let lines = shown.into_iter().zip(order.lines(ItemKind::Line)).map(|(mut members, line)| {
        let price = line.row.total.divided_by(line.row.quantity).unwrap_or_default();
        members.insert(String::from("price"), manner.amount(price));
        let entries = line.details.meta_data.iter().filter_map(|entry| {
            let key = entry["key"].as_str().filter(|key| !key.starts_with('_'))?;
            let (label, value) = goods.display(line, key, entry["value"].as_str()?);
            Some(json!({ "key": key, "label": label, "value": value }))
        });
        members.insert(String::from("meta"), json!(entries.collect::<Vec<_>>()));
        members
    });
    lines.collect()
}
