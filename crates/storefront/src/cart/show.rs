//! A cart as it is shown: its goods, coupons, rates, totals and what is wrong with it.

use std::sync::Arc;

use commerce::coupons::Coupon;
use commerce::gateways;
use commerce::orders::{Line, Order, Rate};
use commerce::products::address as product_address;
use commerce::products::loaded::Words;
use contract::rest::{Links, Refusal, Stop};
use frame::{Call, Options, Visit};
use serde_json::{Map, Value, json};
use shop_rows::order::ItemKind;
use types::Amount;

use super::pricing::{Priced, goods_of};
use super::state::{Cart, Item};
use crate::address::{self, Side};
use crate::images;
use crate::products::shelf::Shown;
use crate::products::show as product;

/// Decimals of the prices before rounding.
const PRECISION: u32 = 6;
/// Products that go with the items at most.
const CROSS_SELLS_MAX: usize = 20;
/// Grams of a unit of weight.
const GRAMS: &[(&str, f64)] = &[("kg", 1_000.0), ("g", 1.0), ("lbs", 453.592), ("oz", 28.349_5)];

pub(crate) fn body(call: &mut Call<'_>, cart: &Cart, priced: &Priced) -> Result<Value, Stop> {
    let options = Arc::clone(&call.visit.options);
    let order = priced.quote.order();
    let items = items(call.visit, cart, priced);
    let offered = gateways::offered(&options).into_iter().map(|gateway| gateway.id);
    let count: i64 = cart.state.items.iter().map(|item| item.quantity).sum();
    let errors = priced.errors.iter().map(error).collect::<Vec<_>>();
    Ok(json!({
        "items": items,
        "coupons": priced.coupons.iter().map(|own| coupon(priced, own)).collect::<Vec<_>>(),
        "fees": [],
        "totals": totals(priced),
        "shipping_address": address::shown(cart.shipping(), Side::Shipping),
        "billing_address": address::shown(cart.billing(), Side::Billing),
        "needs_payment": order.row.total > Amount::ZERO,
        "needs_shipping": priced.needs_shipping,
        "payment_requirements": ["products"],
        "has_calculated_shipping": priced.needs_shipping,
        "shipping_rates": packages(cart, priced),
        "items_count": count,
        "items_weight": weight(&options, cart, priced),
        "cross_sells": cross_sells(call, cart, priced)?,
        "errors": errors,
        "payment_methods": offered.collect::<Vec<_>>(),
        "extensions": {},
    }))
}

fn error(refusal: &Refusal) -> Value {
    json!({ "code": refusal.code, "message": refusal.message })
}

/// All items, in their order.
pub(crate) fn items(visit: &Visit, cart: &Cart, priced: &Priced) -> Vec<Value> {
    let lines = priced.quote.order().lines(ItemKind::Line);
    let parts = cart.state.items.iter().zip(&priced.goods).zip(&priced.limits).zip(lines);
    parts
        .map(|(((item, one), limit), line)| item_body(visit, priced, item, one, *limit, line))
        .collect()
}

fn item_body(
    visit: &Visit,
    priced: &Priced,
    item: &Item,
    one: &Shown,
    limit: i64,
    line: &Line,
) -> Value {
    let limits = json!({
        "minimum": 1,
        "maximum": limit,
        "multiple_of": 1,
        "editable": !one.loaded.is_sold_individually(),
    });
    let mut body = goods_body(visit, &priced.manner, one, line);
    let counted = one.loaded.counted();
    let notifies = counted.row.manage_stock && counted.row.backorders == "notify";
    let left = counted.row.stock_quantity.unwrap_or_default();
    let is_short = notifies && Amount::from_whole(item.quantity) > left;
    let mut chosen = item.chosen.clone();
    chosen.sort();
    let head = [
        ("key", json!(item.key)),
        ("id", json!(item.sold_id())),
        ("type", json!(one.loaded.product.row.kind)),
        ("quantity", json!(item.quantity)),
        ("quantity_limits", limits),
        ("show_backorder_badge", json!(is_short)),
        ("variation", variation(one, &chosen, &priced.words)),
        ("extensions", json!({})),
    ];
    body.extend(head.map(|(name, value)| (name.to_owned(), value)));
    Value::Object(body)
}

/// What the items of carts and of orders have in common.
pub(crate) fn goods_body(
    visit: &Visit,
    manner: &product::Manner,
    one: &Shown,
    line: &Line,
) -> Map<String, Value> {
    let row = &one.loaded.product.row;
    let money = &manner.money;
    let prices = product::price_values(manner, one);
    let [price, regular, sale] = prices.map(|price| money.minor(price));
    let [raw, raw_regular, raw_sale] = prices.map(|price| price.as_millionths().to_string());
    let counted = one.loaded.counted();
    let backorders = counted.row.manage_stock && counted.allows_backorders();
    let pictures = one.loaded.pictures();
    let pictures: Vec<Value> = pictures.iter().map(|one| images::shown(visit, one)).collect();
    let fields = [
        ("name", json!(one.loaded.name())),
        ("short_description", json!(product::rendered(&row.short_description))),
        ("description", json!(product::rendered(&row.description))),
        ("sku", json!(one.loaded.sku())),
        ("low_stock_remaining", product::low_stock(manner, one)),
        ("backorders_allowed", json!(backorders)),
        ("show_backorder_badge", json!(false)),
        ("sold_individually", json!(one.loaded.is_sold_individually())),
        ("permalink", json!(product_address::permalink(visit, &one.loaded))),
        ("images", json!(pictures)),
        ("variation", json!([])),
        ("item_data", json!([])),
        (
            "prices",
            money.with(json!({
                "price": price,
                "regular_price": regular,
                "sale_price": sale,
                "price_range": null,
                "raw_prices": {
                    "precision": PRECISION,
                    "price": raw,
                    "regular_price": raw_regular,
                    "sale_price": raw_sale,
                },
            })),
        ),
        (
            "totals",
            money.with(json!({
                "line_subtotal": money.minor(line.row.subtotal),
                "line_subtotal_tax": money.minor(line.row.subtotal_tax),
                "line_total": money.minor(line.row.total),
                "line_total_tax": money.minor(line.row.total_tax),
            })),
        ),
        ("catalog_visibility", json!(visibility(one))),
    ];
    fields.map(|(name, value)| (name.to_owned(), value)).into_iter().collect()
}

fn visibility(one: &Shown) -> &str {
    let parent = one.loaded.parent.as_ref().map(|parent| &parent.product);
    &parent.unwrap_or(&one.loaded.product).row.catalog_visibility
}

/// What was chosen of a variation, in words.
pub(crate) fn variation(one: &Shown, chosen: &[(String, String)], words: &Words) -> Value {
    let shown = chosen.iter().map(|pair| {
        let (name, value) = pair;
        let word = words.terms.get(pair).unwrap_or(value);
        let (_, label) = one.loaded.attribute_named(name);
        json!({ "raw_attribute": format!("attribute_{name}"), "attribute": label, "value": word })
    });
    shown.collect::<Vec<_>>().into()
}

/// A coupon with what it takes off.
pub(crate) fn coupon(priced: &Priced, coupon: &Coupon) -> Value {
    let order = priced.quote.order();
    let line = order.lines(ItemKind::Coupon).find(|line| line.row.name == coupon.row.code);
    let (total, tax) = line.map(|line| (line.row.total, line.row.total_tax)).unwrap_or_default();
    let money = &priced.manner.money;
    json!({
        "code": coupon.row.code,
        "discount_type": coupon.row.discount_kind,
        "totals": money.with(json!({
            "total_discount": money.minor(total),
            "total_discount_tax": money.minor(tax),
        })),
    })
}

/// The links of a coupon in a list.
pub(crate) fn coupon_links(visit: &Visit, base: &str, code: &str) -> Links {
    Links::new()
        .to("self", visit.rest(&format!("{base}/{code}")))
        .to("collection", visit.rest(base))
}

/// Taxes by rate, those of shipping first.
pub(crate) fn tax_amounts(order: &Order) -> Vec<(&Line, Amount)> {
    let shipped = order.lines(ItemKind::Shipping).flat_map(|line| &line.details.taxes);
    let sold = order.lines(ItemKind::Line).flat_map(|line| &line.details.taxes);
    let mut ids: Vec<i64> = Vec::new();
    for share in shipped.chain(sold) {
        if !ids.contains(&share.rate_id) {
            ids.push(share.rate_id);
        }
    }
    let lines = ids.into_iter().filter_map(|id| {
        let line = order.lines(ItemKind::Tax).find(|line| line.row.rate_id == id)?;
        Some((line, line.row.total_tax + line.details.shipping_tax.unwrap_or_default()))
    });
    lines.filter(|(_, amount)| !amount.is_zero()).collect()
}

fn totals(priced: &Priced) -> Value {
    let order = priced.quote.order();
    let money = &priced.manner.money;
    let minor = |amount: Amount| money.minor(amount);
    let sum = |of: fn(&Line) -> Amount| order.lines(ItemKind::Line).map(of).sum::<Amount>();
    let rounded = |amount: Amount| amount.rounded(money.decimals);
    let shipping = |amount: Amount| priced.needs_shipping.then(|| minor(amount));
    let taxes = tax_amounts(order).into_iter().map(|(line, amount)| {
        let percent = line.details.rate_percent.unwrap_or_default();
        json!({ "name": line.details.label, "price": minor(amount), "rate": format!("{percent}%") })
    });
    money.with(json!({
        "total_items": minor(sum(|line| line.row.subtotal)),
        "total_items_tax": minor(sum(|line| line.row.subtotal_tax)),
        "total_fees": "0",
        "total_fees_tax": "0",
        "total_discount": minor(order.row.discount_total),
        "total_discount_tax": minor(order.row.discount_tax),
        "total_shipping": shipping(order.row.shipping_total),
        "total_shipping_tax": shipping(order.row.shipping_tax),
        "total_price": minor(order.row.total),
        "total_tax": minor(rounded(order.row.cart_tax) + rounded(order.row.shipping_tax)),
        "tax_lines": taxes.collect::<Vec<_>>(),
    }))
}

/// All that is shipped goes in one package.
fn packages(cart: &Cart, priced: &Priced) -> Vec<Value> {
    if !priced.needs_shipping {
        return Vec::new();
    }
    let to = cart.shipping();
    let shipped = cart.state.items.iter().zip(&priced.goods);
    let shipped = shipped.filter(|(_, one)| !one.loaded.product.row.is_virtual);
    let items = shipped.map(|(item, one)| {
        json!({ "key": item.key, "name": package_name(one), "quantity": item.quantity })
    });
    let rates = priced.rates.iter().map(|rate| rate_body(cart, priced, rate));
    vec![json!({
        "package_id": 0,
        "name": "Shipment",
        "destination": {
            "address_1": to.address_1,
            "address_2": to.address_2,
            "city": to.city,
            "state": to.state,
            "postcode": to.postcode,
            "country": to.country,
        },
        "items": items.collect::<Vec<_>>(),
        "shipping_rates": rates.collect::<Vec<_>>(),
    })]
}

fn package_name(one: &Shown) -> String {
    let name = one.loaded.name();
    match one.loaded.variation_summary() {
        summary if summary.is_empty() => name.to_owned(),
        summary => format!("{name} - {summary}"),
    }
}

fn rate_body(cart: &Cart, priced: &Priced, rate: &Rate) -> Value {
    let money = &priced.manner.money;
    money.with(json!({
        "rate_id": rate.id(),
        "name": rate.title,
        "description": "",
        "delivery_time": "",
        "price": money.minor(rate.cost),
        "taxes": money.minor(priced.quote.shipping_tax(rate)),
        "instance_id": rate.instance_id,
        "method_id": rate.method_id,
        "meta_data": [{ "key": "Items", "value": rate.items }],
        "selected": rate.id() == cart.state.rate,
    }))
}

/// The weight of all items in grams.
fn weight(options: &Options, cart: &Cart, priced: &Priced) -> Value {
    let unit = options.text("woocommerce_weight_unit");
    let grams = GRAMS.iter().find(|(name, _)| *name == unit).map_or(1.0, |(_, grams)| *grams);
    let weights = cart.state.items.iter().zip(&priced.goods).map(|(item, one)| {
        let one = one.loaded.measure(|details| &details.weight);
        let one = Amount::parse(one).unwrap_or_default();
        one.times(Amount::from_whole(item.quantity))
    });
    let all = weights.sum::<Amount>().to_f64() * grams;
    // Products of decimals are not exact.
    let rounded = (all * 1e6).round() / 1e6;
    if rounded.fract() == 0.0 {
        let whole = format!("{rounded:.0}").parse::<i64>().unwrap_or_default();
        return json!(whole);
    }
    json!(rounded)
}

/// What the shop sells beside the items.
fn cross_sells(call: &mut Call<'_>, cart: &Cart, priced: &Priced) -> Result<Vec<Value>, Stop> {
    let is_in_cart = |id: &i64| cart.state.items.iter().any(|item| item.product_id == *id);
    let mut ids: Vec<i64> = Vec::new();
    for one in &priced.goods {
        for id in &one.loaded.product.details.plain.cross_sell_ids {
            if !ids.contains(id) && !is_in_cart(id) && ids.len() < CROSS_SELLS_MAX {
                ids.push(*id);
            }
        }
    }
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let mut found = goods_of(call, &ids)?;
    let shown = ids.iter().filter_map(|id| found.remove(id));
    Ok(shown.map(|one| product::body(call.visit, &priced.manner, &one)).collect())
}
