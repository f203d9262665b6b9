//! An order as its buyer sees it.

use std::collections::HashMap;

use commerce::orders::{Line, Order, ShownPrices, place};
use commerce::products::loaded::Words;
use contract::rest::route::{READ, Route};
use contract::rest::{Args, Reply, Stop};
use frame::action::read;
use frame::text::render;
use frame::{Action, Call};
use serde_json::{Value, json};
use shop_rows::order::ItemKind;
use shop_rows::product::{self, ProductFilter};
use types::Amount;

use crate::address::{self, Side};
use crate::cart::pricing::words_of;
use crate::cart::show::{goods_body, tax_amounts, variation};
use crate::checkout::pay::{may_pay, order_of};
use crate::money::Money;
use crate::products::context;
use crate::products::shelf::{self, Shown};
use crate::products::show::Manner;
use crate::schemas;

pub(crate) fn route(namespace: &str) -> Route<Action> {
    let item = schemas::item("order", include_str!("schemas/order.txt"));
    let args = Args::new().arg("context", context(&["view", "edit"]));
    Route::at(namespace, r"/order/(?P<id>[\d]+)")
        .on(READ, args, read(may_pay, run))
        .schema(item.document())
        .batchable()
}

fn run(call: &mut Call<'_>) -> Result<Reply, Stop> {
    let order = order_of(call)?;
    Ok(Reply::new(body(call, &order)?))
}

/// The order as its buyer sees it.
pub(crate) fn body(call: &mut Call<'_>, order: &Order) -> Result<Value, Stop> {
    let goods = goods(call, order)?;
    let options = std::sync::Arc::clone(&call.visit.options);
    let prices = ShownPrices::in_cart(call.conn()?, &options, &order.details.shipping)?;
    let mut manner = Manner::with_prices(call.visit, &options, prices);
    manner.money = Money::in_currency(&options, &order.row.currency);
    let chosen: Vec<(String, String)> = order.lines(ItemKind::Line).flat_map(entries_of).collect();
    let words = words_of(call, chosen.iter())?;
    let lines = order.lines(ItemKind::Line);
    let items = lines.filter_map(|line| item_body(call, &manner, order, line, (&goods, &words)));
    let items: Vec<Value> = items.collect();
    let needs_shipping = order.lines(ItemKind::Shipping).next().is_some();
    let refunds = shop_rows::order::refunds_of(call.conn()?, &[order.id()])?;
    let refunded: Amount = refunds.iter().map(|refund| refund.refund_amount).sum();
    Ok(json!({
        "id": order.id(),
        "status": order.row.status,
        "items": items,
        "coupons": coupons(&manner.money, order),
        "fees": fees(&manner.money, order),
        "totals": totals(&manner.money, order, refunded),
        "shipping_address": address::shown(&order.details.shipping, Side::Shipping),
        "billing_address": address::shown(&order.details.billing, Side::Billing),
        "needs_payment": place::is_payable(order),
        "needs_shipping": needs_shipping,
        "payment_requirements": ["products"],
        "errors": [],
    }))
}

/// What the lines are about, as far as it is still there.
fn goods(call: &mut Call<'_>, order: &Order) -> Result<HashMap<i64, Shown>, Stop> {
    let include: Vec<i64> = order.lines(ItemKind::Line).map(Line::sold_id).collect();
    if include.is_empty() {
        return Ok(HashMap::new());
    }
    let wanted = ProductFilter { include, ..ProductFilter::default() };
    let (rows, _) = product::list(call.conn()?, &wanted)?;
    let shown = shelf::of_rows(call, rows)?.into_iter();
    Ok(shown.map(|one| (one.loaded.product.id(), one)).collect())
}

fn item_body(
    call: &Call<'_>,
    manner: &Manner,
    order: &Order,
    line: &Line,
    (goods, words): (&HashMap<i64, Shown>, &Words),
) -> Option<Value> {
    let one = goods.get(&line.sold_id())?;
    let mut body = goods_body(call.visit, manner, one, line);
    let quantity = line.row.quantity.to_whole();
    let is_variation = line.row.variation_id != 0;
    let chosen = if is_variation { entries_of(line) } else { Vec::new() };
    let data = item_data(one, line, words);
    let limits = json!({
        "minimum": quantity, "maximum": quantity, "multiple_of": 1, "editable": false,
    });
    let fields = [
        ("key", json!(order.row.order_key)),
        ("id", json!(line.row.item_id)),
        ("quantity", json!(quantity)),
        ("quantity_limits", limits),
        ("name", json!(line.row.name)),
        ("variation", variation(one, &chosen, words)),
        ("item_data", json!(data)),
    ];
    body.extend(fields.map(|(name, value)| (name.to_owned(), value)));
    Some(Value::Object(body))
}

/// The names and values of a line's entries that people read.
fn entries_of(line: &Line) -> Vec<(String, String)> {
    let entries = line.details.meta_data.iter().filter_map(|entry| {
        let (key, value) = (entry["key"].as_str()?, entry["value"].as_str()?);
        (!key.starts_with('_')).then(|| (key.to_owned(), value.to_owned()))
    });
    entries.collect()
}

/// The entries of a line that people read.
fn item_data(one: &Shown, line: &Line, words: &Words) -> Vec<Value> {
    let mut shown = Vec::new();
    for entry in &line.details.meta_data {
        let (Some(key), Some(value)) = (entry["key"].as_str(), entry["value"].as_str()) else {
            continue;
        };
        if key.starts_with('_') {
            continue;
        }
        let pair = (key.to_owned(), value.to_owned());
        let word = words.terms.get(&pair).map_or(value, String::as_str);
        let (_, label) = one.loaded.attribute_named(key);
        shown.push(json!({
            "key": key,
            "value": value,
            "display_key": label,
            "display_value": format!("<p>{}</p>\n", render::title(word)),
        }));
    }
    shown
}

fn coupons(money: &Money, order: &Order) -> Vec<Value> {
    let shown = order.lines(ItemKind::Coupon).map(|line| {
        let info = line.meta("coupon_info").and_then(|text| serde_json::from_str(text).ok());
        let info: Vec<Value> = info.unwrap_or_default();
        let kind = info.get(2).and_then(Value::as_str).unwrap_or("fixed_cart").to_owned();
        json!({
            "code": line.row.name,
            "discount_type": kind,
            "totals": money.with(json!({
                "total_discount": money.minor(line.row.total),
                "total_discount_tax": money.minor(line.row.total_tax),
            })),
        })
    });
    shown.collect()
}

fn fees(money: &Money, order: &Order) -> Vec<Value> {
    let shown = order.lines(ItemKind::Fee).map(|line| {
        json!({
            "id": line.row.item_id.to_string(),
            "name": line.row.name,
            "totals": money.with(json!({
                "total": money.minor(line.row.total),
                "total_tax": money.minor(line.row.total_tax),
            })),
        })
    });
    shown.collect()
}

fn totals(money: &Money, order: &Order, refunded: Amount) -> Value {
    let row = &order.row;
    let minor = |amount: Amount| money.minor(amount);
    let sum = |kind: ItemKind, of: fn(&Line) -> Amount| order.lines(kind).map(of).sum::<Amount>();
    let taxes = tax_amounts(order).into_iter().map(|(line, _)| {
        let percent = line.details.rate_percent.unwrap_or_default();
        let (name, price) = (&line.details.label, minor(line.row.total_tax));
        json!({ "name": name, "price": price, "rate": percent.to_string() })
    });
    money.with(json!({
        "subtotal": minor(sum(ItemKind::Line, |line| line.row.subtotal)),
        "total_discount": minor(row.discount_total),
        "total_shipping": minor(row.shipping_total),
        "total_fees": minor(sum(ItemKind::Fee, |line| line.row.total)),
        "total_tax": minor(row.total_tax),
        "total_refund": minor(refunded),
        "total_price": minor(row.total),
        "total_items": minor(sum(ItemKind::Line, |line| line.row.total)),
        "total_items_tax": minor(sum(ItemKind::Line, |line| line.row.total_tax)),
        "total_fees_tax": minor(sum(ItemKind::Fee, |line| line.row.total_tax)),
        "total_discount_tax": minor(row.discount_tax),
        "total_shipping_tax": minor(row.shipping_tax),
        "tax_lines": taxes.collect::<Vec<_>>(),
    }))
}
