//! Coupons of an order: which may be used, and what they take off.

use std::collections::HashMap;

use contract::rest::{Refusal, Stop, clean, loose};
use db::Conn;
use frame::Call;
use serde_json::{Value, json};
use shop_rows::coupon as coupon_store;
use shop_rows::order::ItemKind;
use types::{Amount, Result, Timestamp};

use super::COUPON_INFO;
use super::discounts::{DiscountType, Discounts, Offer, Priced};
use super::goods::{Goods, categories};
use super::record::{Line, Order};
use super::taxes;
use super::totals::{self, Shop, is_taxed};
use crate::common::{amounts, meta};
use crate::coupons::Coupon;

/// The categories of products, each with those above it.
pub(super) type Categories = HashMap<i64, Vec<i64>>;

/// Lets the order have the coupons of the request and no others.
pub(super) fn replace(
    call: &mut Call<'_>,
    order: &mut Order,
    goods: &Goods,
    shop: &Shop,
) -> std::result::Result<(), Stop> {
    let Some(Value::Array(requested)) = call.params.get("coupon_lines").cloned() else {
        return Ok(());
    };
    let known: Vec<String> =
        order.lines(ItemKind::Coupon).map(|line| line.row.name.clone()).collect();
    let categories = load_categories(call.conn()?, order)?;
    let mut coupons = Vec::new();
    for line in &requested {
        let coupon = requested_coupon(call, line)?;
        let coupon = coupon.with_uses_by(call.conn()?, &super::effects::buyer(order))?;
        if !known.contains(&coupon.row.code) {
            check(call.now(), &coupon, order, goods, &categories)?;
        }
        if coupons.iter().any(|other: &Coupon| other.row.code == coupon.row.code) {
            return Err(invalid("This coupon has already been applied.").into());
        }
        coupons.push(coupon);
    }
    if known.is_empty() && coupons.is_empty() {
        return Ok(());
    }
    let mut old: Vec<Line> = Vec::new();
    let mut index = 0;
    while index < order.items.len() {
        if order.items.get(index).is_some_and(|line| line.row.kind == ItemKind::Coupon) {
            old.push(order.items.remove(index));
        } else {
            index += 1;
        }
    }
    for coupon in &coupons {
        let kept = old.iter().position(|line| line.row.name == coupon.row.code);
        let line = match kept {
            Some(index) => old.remove(index),
            None => new_line(coupon, meta::number(call.conn()?)?),
        };
        order.items.push(line);
    }
    Ok(recalculate(call.conn()?, order, goods, shop)?)
}

/// The line of a coupon; `number` is that of the entry which says what the coupon was.
pub(super) fn new_line(coupon: &Coupon, number: i64) -> Line {
    let mut line = Line::of_kind(ItemKind::Coupon);
    line.row.name.clone_from(&coupon.row.code);
    let kind = Some(&*coupon.row.discount_kind).filter(|kind| *kind != "fixed_cart");
    let amount = amounts::number(coupon.row.amount);
    let mut info = vec![json!(coupon.row.coupon_id), json!(coupon.row.code), json!(kind), amount];
    if coupon.details.free_shipping {
        info.push(json!(true));
    }
    let text = Value::Array(info).to_string();
    line.details.meta_data.push(meta::entry(number, COUPON_INFO, text));
    line
}

fn invalid(message: &'static str) -> Refusal {
    Refusal::new(400, "woocommerce_rest_invalid_coupon", message)
}

/// The coupon that a line of the request names.
fn requested_coupon(call: &mut Call<'_>, line: &Value) -> std::result::Result<Coupon, Stop> {
    if line.get("id").is_some_and(|id| loose::to_int(id) != 0) {
        let code = "woocommerce_rest_coupon_item_id_readonly";
        let message = "The ID of a coupon line cannot be set.";
        return Err(Refusal::new(400, code, message).into());
    }
    let code = line.get("code").and_then(loose::scalar_text).unwrap_or_default();
    let code = clean::code(&code);
    if code.is_empty() {
        return Err(invalid("A coupon code is required.").into());
    }
    let found = coupon_store::find_by_code(call.conn()?, &code)?;
    let found = found.filter(|row| row.status == "publish");
    let row = found.ok_or_else(|| invalid("Coupon not found."))?;
    Ok(Coupon::read(row)?)
}

fn load_categories(conn: &mut dyn Conn, order: &Order) -> Result<Categories> {
    let mut ids: Vec<i64> = order.lines(ItemKind::Line).map(|line| line.row.product_id).collect();
    ids.retain(|id| *id != 0);
    ids.sort_unstable();
    ids.dedup();
    categories(conn, &ids)
}

/// Whether the coupon may be used for the order.
pub(super) fn check(
    now: Timestamp,
    coupon: &Coupon,
    order: &Order,
    goods: &Goods,
    categories: &Categories,
) -> std::result::Result<(), Refusal> {
    let Coupon { row, details, uses } = coupon;
    let no = |message: &'static str| Err(invalid(message));
    if row.usage_limit.is_some_and(|limit| limit > 0 && row.usage_count >= limit) {
        return no("The coupon's usage limit has been reached.");
    }
    let who = super::effects::buyer(order);
    let uses = details.used_by.iter().chain(uses).filter(|name| **name == who).count();
    let uses = i64::try_from(uses).unwrap_or(i64::MAX);
    let limit = row.usage_limit_per_user.filter(|limit| *limit > 0);
    if !who.is_empty() && limit.is_some_and(|limit| uses >= limit) {
        return no("This customer has reached the coupon's usage limit.");
    }
    if row.expires.is_some_and(|expires| now > expires) {
        return no("The coupon has expired.");
    }
    let subtotal = |line: &Line| {
        let tax = if order.row.prices_include_tax { line.row.subtotal_tax } else { Amount::ZERO };
        line.row.subtotal + tax
    };
    let subtotal: Amount = order.lines(ItemKind::Line).map(subtotal).sum();
    if details.minimum_amount > Amount::ZERO && subtotal < details.minimum_amount {
        return no("The order is below the coupon's minimum amount.");
    }
    if details.maximum_amount > Amount::ZERO && subtotal > details.maximum_amount {
        return no("The order is above the coupon's maximum amount.");
    }
    if !is_for_email(coupon, &order.details.billing.email) {
        return no("The coupon is not valid for this customer.");
    }
    let lines = || order.lines(ItemKind::Line);
    let fits = |line: &Line| suits(coupon, line, goods, categories);
    if lines().next().is_some() && !lines().any(fits) {
        return no("The coupon is not valid for any of these products.");
    }
    if DiscountType::of_name(&row.discount_kind) == DiscountType::FixedCart
        && lines().any(|line| is_excluded(coupon, line, goods, categories))
    {
        return no("The coupon is not valid for one of these products.");
    }
    Ok(())
}

/// Whether the coupon is for everybody, or for whoever has this e-mail address.
pub(super) fn is_for_email(coupon: &Coupon, email: &str) -> bool {
    let email = email.to_lowercase();
    let allowed = |pattern: &String| match pattern.strip_prefix('*') {
        Some(end) => email.ends_with(end),
        None => *pattern == email,
    };
    let restrictions = &coupon.details.email_restrictions;
    restrictions.is_empty() || restrictions.iter().any(allowed)
}

fn ids_of(line: &Line) -> [i64; 2] {
    [line.row.product_id, line.row.variation_id]
}

fn meets(ids: &[i64], own: &[i64]) -> bool {
    own.iter().any(|id| *id != 0 && ids.contains(id))
}

fn is_excluded(coupon: &Coupon, line: &Line, goods: &Goods, categories: &Categories) -> bool {
    let details = &coupon.details;
    let own = categories.get(&line.row.product_id).map_or(&[][..], Vec::as_slice);
    meets(&details.excluded_product_ids, &ids_of(line))
        || meets(&details.excluded_product_categories, own)
        || (details.exclude_sale_items && goods.of_line(line).is_some_and(|good| good.row.on_sale))
}

/// Whether the coupon is meant for what the line is about.
fn suits(coupon: &Coupon, line: &Line, goods: &Goods, categories: &Categories) -> bool {
    let details = &coupon.details;
    let (products, kinds) = (&details.product_ids, &details.product_categories);
    let own = categories.get(&line.row.product_id).map_or(&[][..], Vec::as_slice);
    let named = meets(products, &ids_of(line)) || meets(kinds, own);
    let all = products.is_empty() && kinds.is_empty();
    (named || all) && !is_excluded(coupon, line, goods, categories)
}

/// A coupon that is gone, as far as its line tells.
fn remembered(line: &Line, includes_tax: bool) -> Coupon {
    let info = line.meta(COUPON_INFO).and_then(|text| serde_json::from_str(text).ok());
    let info: Vec<Value> = info.unwrap_or_default();
    let mut coupon = Coupon::new(Timestamp::from_micros(0));
    coupon.row.code.clone_from(&line.row.name);
    let kind = info.get(2).and_then(Value::as_str).unwrap_or("fixed_cart");
    kind.clone_into(&mut coupon.row.discount_kind);
    coupon.row.amount = info.get(3).and_then(amounts::read).unwrap_or_default();
    if coupon.row.amount.is_zero() {
        "fixed_cart".clone_into(&mut coupon.row.discount_kind);
        let tax = if includes_tax { line.row.total_tax } else { Amount::ZERO };
        coupon.row.amount = line.row.total + tax;
    }
    coupon
}

/// The coupons of the order, with the places of their lines.
fn coupons_of(conn: &mut dyn Conn, order: &Order) -> Result<Vec<(usize, Coupon)>> {
    let mut coupons = Vec::new();
    for (index, line) in order.items.iter().enumerate() {
        if line.row.kind != ItemKind::Coupon {
            continue;
        }
        let coupon = match coupon_store::find_by_code(conn, &line.row.name)? {
            Some(row) => Coupon::read(row)?,
            None => remembered(line, order.row.prices_include_tax),
        };
        coupons.push((index, coupon));
    }
    Ok(coupons)
}

/// Takes off the lines what the order's coupons take, and brings the sums up to date.
pub(super) fn recalculate(
    conn: &mut dyn Conn,
    order: &mut Order,
    goods: &Goods,
    shop: &Shop,
) -> Result<()> {
    let categories = load_categories(conn, order)?;
    let coupons = coupons_of(conn, order)?;
    redeem(order, &coupons, goods, &categories, shop);
    Ok(())
}

/// Takes off the lines what the coupons take, whose own lines are at these places, and brings the
/// sums up to date.
pub(super) fn redeem(
    order: &mut Order,
    coupons: &[(usize, Coupon)],
    goods: &Goods,
    categories: &Categories,
    shop: &Shop,
) {
    let includes_tax = order.row.prices_include_tax;
    let mut priced = Vec::new();
    for (index, line) in order.items.iter_mut().enumerate() {
        if line.row.kind != ItemKind::Line {
            continue;
        }
        line.row.total = line.row.subtotal;
        line.row.total_tax = line.row.subtotal_tax;
        let tax = if includes_tax { line.row.subtotal_tax } else { Amount::ZERO };
        let quantity = line.row.quantity.to_whole();
        priced.push(Priced { index, price: line.row.subtotal + tax, quantity });
    }
    let mut discounts = Discounts::new(priced, shop.decimals, shop.discounts_sequentially);
    let mut off: HashMap<usize, Amount> = HashMap::new();
    for (coupon_place, coupon) in coupons {
        let offer = Offer {
            kind: DiscountType::of_name(&coupon.row.discount_kind),
            amount: coupon.row.amount,
            items_limit: coupon.details.items_limit,
        };
        let indexes: Vec<usize> = (0..order.items.len())
            .filter(|index| {
                order.items.get(*index).is_some_and(|line| {
                    line.row.kind == ItemKind::Line
                        && (offer.kind == DiscountType::FixedCart
                            || suits(coupon, line, goods, categories))
                })
            })
            .collect();
        let (mut amount, mut tax) = (Amount::ZERO, Amount::ZERO);
        for (index, taken) in discounts.apply(&offer, &indexes) {
            *off.entry(index).or_default() += taken;
            amount += taken;
            let taxed = tax_of(order, index, taken, goods, shop);
            let is_kept = shop.rounds_sums || shop.is_quote;
            let taxed = if is_kept { taxed } else { shop.round_tax(taxed) };
            tax += taxed;
            if includes_tax {
                amount -= taxed;
            }
        }
        if let Some(line) = order.items.get_mut(*coupon_place) {
            let is_rounded = shop.is_quote && !shop.rounds_sums;
            line.row.total = amount;
            line.row.total_tax = if is_rounded { shop.round_tax(tax) } else { tax };
        }
    }
    for (index, amount) in off {
        let tax = tax_of(order, index, amount, goods, shop);
        let net = if includes_tax { amount - tax } else { amount };
        if let Some(line) = order.items.get_mut(index) {
            line.row.total = (line.row.total - net).max(Amount::ZERO);
        }
    }
    totals::calculate(order, goods, shop);
}

/// The taxes on what is taken off a line.
fn tax_of(order: &Order, index: usize, amount: Amount, goods: &Goods, shop: &Shop) -> Amount {
    let Some(line) = order.items.get(index) else { return Amount::ZERO };
    if !shop.calculates_taxes || !is_taxed(line, goods) {
        return Amount::ZERO;
    }
    let rates = shop.rates.at(&shop.location(order), &line.details.tax_class);
    let taken = if order.row.prices_include_tax {
        taxes::within(amount, &rates)
    } else {
        taxes::on_top(amount, &rates)
    };
    taxes::sum(&taken)
}
