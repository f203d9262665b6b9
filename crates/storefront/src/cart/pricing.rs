//! What a cart comes to at this moment. What has changed since it was filled is followed here:
//! goods that are gone, stock that has fallen, coupons that hold no longer, ways of shipping.

use std::collections::HashMap;
use std::sync::Arc;

use commerce::coupons::Coupon;
use commerce::orders::{Buyer, Quote, QuoteItem, Rate, ShownPrices};
use commerce::products::loaded::{self, Words};
use commerce::shipping_rates::{self, FREE_SHIPPING, Parcel};
use contract::rest::{Refusal, Stop, clean};
use db::filter::LIST_MAX;
use frame::Call;
use shop_rows::order::ItemKind;
use shop_rows::product::{self, ProductFilter, VariationAttribute};
use shop_rows::{coupon as coupon_rows, stock_hold};
use types::Amount;

use super::state::{Cart, Item};
use crate::products::shelf::{self, Shown};
use crate::products::show::{Manner, QUANTITY_MAX};

/// The status of coupons that can be used.
const PUBLISHED: &str = "publish";

/// A cart with all that its items cost.
pub(crate) struct Priced {
    pub(crate) quote: Quote,
    /// What the items are, in their order.
    pub(crate) goods: Vec<Shown>,
    pub(crate) coupons: Vec<Coupon>,
    pub(crate) rates: Vec<Rate>,
    pub(crate) needs_shipping: bool,
    pub(crate) manner: Manner,
    /// What the buyer has to be told, each a code and a message.
    pub(crate) errors: Vec<Refusal>,
    /// Items whose quantity is lower than the buyer asked for.
    pub(crate) is_reduced: bool,
    /// How many the buyer may have of each item.
    pub(crate) limits: Vec<i64>,
    /// The names of what was chosen of variations.
    pub(crate) words: Words,
}

/// How carefully coupons are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Strictness {
    /// Limits of uses by guests do not count yet: their address is not known for certain.
    Browsing,
    Ordering,
}

pub(crate) fn price(
    call: &mut Call<'_>,
    cart: &mut Cart,
    strictness: Strictness,
) -> Result<Priced, Stop> {
    let mut errors = Vec::new();
    let (goods, limits, is_reduced) = available(call, cart, &mut errors)?;
    let options = Arc::clone(&call.visit.options);
    let buyer = Buyer {
        customer_id: call.user_id(),
        billing: cart.billing().clone(),
        shipping: cart.shipping().clone(),
    };
    let wanted: Vec<QuoteItem> = cart.state.items.iter().map(wanted).collect();
    let mut quote = Quote::of(call.conn()?, &options, buyer, &wanted)?;
    quote.check_sums()?;
    let coupons = usable_coupons(call, cart, &mut quote, strictness, &mut errors)?;
    if !coupons.is_empty() {
        quote.redeem(&coupons);
    }
    let needs_shipping = goods.iter().any(|one| !one.loaded.product.row.is_virtual)
        && shipping_rates::ships(call.conn()?, &options)?;
    let mut rates = Vec::new();
    if needs_shipping {
        let parcel = parcel(cart, &quote, &coupons, &goods, &options);
        rates = shipping_rates::rates(call.conn()?, &options, cart.shipping(), &parcel)?;
        let is_free = coupons.iter().any(|coupon| coupon.details.free_shipping);
        choose_rate(cart, &rates, is_free);
        if let Some(rate) = rates.iter().find(|rate| rate.id() == cart.state.rate) {
            quote.ship(rate);
        }
    }
    if cart.state.items.is_empty() {
        cart.state.rate.clear();
        cart.state.rates.clear();
    }
    let prices = ShownPrices::in_cart(call.conn()?, &options, cart.shipping())?;
    let manner = Manner::with_prices(call.visit, &options, prices);
    let chosen = cart.state.items.iter().flat_map(|item| &item.chosen);
    let words = words_of(call, chosen)?;
    Ok(Priced {
        quote,
        goods,
        coupons,
        rates,
        needs_shipping,
        manner,
        errors,
        is_reduced,
        limits,
        words,
    })
}

/// The names of values of attributes.
pub(crate) fn words_of<'a>(
    call: &mut Call<'_>,
    chosen: impl Iterator<Item = &'a (String, String)>,
) -> Result<Words, Stop> {
    let chosen =
        chosen.map(|(name, value)| VariationAttribute { name: name.clone(), value: value.clone() });
    let chosen: Vec<VariationAttribute> = chosen.collect();
    if chosen.is_empty() {
        return Ok(Words::default());
    }
    Ok(loaded::words(call.conn()?, chosen.iter())?)
}

fn wanted(item: &Item) -> QuoteItem {
    QuoteItem { sold_id: item.sold_id(), quantity: item.quantity, chosen: item.chosen.clone() }
}

/// Products of these ids that can be bought, by id.
pub(crate) fn goods_of(call: &mut Call<'_>, ids: &[i64]) -> Result<HashMap<i64, Shown>, Stop> {
    let mut goods = HashMap::new();
    for chunk in ids.chunks(LIST_MAX) {
        let wanted = ProductFilter { include: chunk.to_vec(), ..crate::products::published() };
        let (rows, _) = product::list(call.conn()?, &wanted)?;
        for one in shelf::of_rows(call, rows)? {
            goods.insert(one.loaded.product.id(), one);
        }
    }
    Ok(goods)
}

/// How many pieces of it this buyer may have, were it not for what is in the cart already; nothing
/// where nobody counts.
pub(crate) fn stock_left(
    call: &mut Call<'_>,
    one: &Shown,
    order_id: i64,
) -> Result<Option<i64>, Stop> {
    let counted = one.loaded.counted();
    let counts = call.options().is_on("woocommerce_manage_stock") && counted.row.manage_stock;
    if !counts || counted.allows_backorders() {
        return Ok(None);
    }
    let now = call.now();
    let held = stock_hold::held_by_others(call.conn()?, counted.id(), order_id, now)?;
    let left = counted.row.stock_quantity.unwrap_or_default() - held;
    Ok(Some(left.to_whole().max(0)))
}

/// Drops the items that can no longer be bought and lowers the quantities of those of which there
/// is less. Several variations may share the stock of their product.
fn available(
    call: &mut Call<'_>,
    cart: &mut Cart,
    errors: &mut Vec<Refusal>,
) -> Result<(Vec<Shown>, Vec<i64>, bool), Stop> {
    let ids: Vec<i64> = cart.state.items.iter().map(Item::sold_id).collect();
    let known = goods_of(call, &ids)?;
    let (mut goods, mut limits, mut items) = (Vec::new(), Vec::new(), Vec::new());
    let mut left_of: HashMap<i64, i64> = HashMap::new();
    let mut is_reduced = false;
    for mut item in std::mem::take(&mut cart.state.items) {
        let found = known.get(&item.sold_id()).filter(|one| one.loaded.is_purchasable()).cloned();
        let Some(one) = found else { continue };
        let most = if one.loaded.is_sold_individually() { 1 } else { QUANTITY_MAX };
        item.quantity = item.quantity.clamp(1, most);
        let mut limit = most;
        let counted = one.loaded.counted().id();
        if let Some(left) = stock_left(call, &one, cart.state.order_id)? {
            let left = *left_of.entry(counted).or_insert(left);
            if left == 0 {
                errors.push(out_of_stock(&one));
            } else {
                is_reduced |= item.quantity > left;
                item.quantity = item.quantity.min(left);
            }
            let stock = one.loaded.counted().row.stock_quantity.unwrap_or_default().to_whole();
            limit = if stock > 0 { stock.min(most) } else { most };
            left_of.insert(counted, (left - item.quantity).max(0));
        } else if !one.loaded.product.is_in_stock() {
            errors.push(out_of_stock(&one));
        }
        limits.push(limit);
        goods.push(one);
        items.push(item);
    }
    cart.state.items = items;
    Ok((goods, limits, is_reduced))
}

pub(crate) fn out_of_stock(one: &Shown) -> Refusal {
    let name = one.loaded.name();
    let message = format!("{name} is out of stock.");
    Refusal::new(400, "woocommerce_rest_product_out_of_stock", message)
}

/// The coupon of a code, if it can be used at all.
pub(crate) fn coupon_of(call: &mut Call<'_>, code: &str) -> Result<Option<Coupon>, Stop> {
    let code = clean::code(code);
    if code.is_empty() {
        return Ok(None);
    }
    let found = coupon_rows::find_by_code(call.conn()?, &code)?;
    let found = found.filter(|row| row.status == PUBLISHED);
    Ok(found.map(Coupon::read).transpose()?)
}

/// Drops the coupons that hold no longer, and says why.
fn usable_coupons(
    call: &mut Call<'_>,
    cart: &mut Cart,
    quote: &mut Quote,
    strictness: Strictness,
    errors: &mut Vec<Refusal>,
) -> Result<Vec<Coupon>, Stop> {
    if cart.state.coupons.is_empty() || !call.options().is_on("woocommerce_enable_coupons") {
        return Ok(Vec::new());
    }
    quote.prepare_coupons(call.conn()?)?;
    let mut usable = Vec::new();
    for code in std::mem::take(&mut cart.state.coupons) {
        let found = coupon_of(call, &code)?;
        let checked = match found {
            Some(coupon) => checked(call, quote, coupon, strictness)?,
            None => Err(Refusal::new(400, COUPON_ERROR, "The coupon no longer exists.")),
        };
        match checked {
            Ok(coupon) => {
                cart.state.coupons.push(code);
                usable.push(coupon);
            }
            Err(refusal) => errors.push(Refusal {
                code: COUPON_ERROR.into(),
                message: format!("The coupon {code} was removed: {}", refusal.message).into(),
                ..refusal
            }),
        }
    }
    Ok(usable)
}

pub(crate) const COUPON_ERROR: &str = "woocommerce_rest_cart_coupon_error";

/// The coupon, if it may be used for what the quote is about.
pub(crate) fn checked(
    call: &mut Call<'_>,
    quote: &Quote,
    coupon: Coupon,
    strictness: Strictness,
) -> Result<Result<Coupon, Refusal>, Stop> {
    let mut coupon = coupon;
    if call.user_id() != 0 || strictness == Strictness::Ordering {
        coupon = coupon.with_uses_by(call.conn()?, &quote.buyer())?;
    } else {
        coupon.details.used_by.clear();
    }
    Ok(match quote.check_coupon(&coupon, call.now()) {
        Ok(()) => Ok(coupon),
        Err(refusal) => Err(refusal),
    })
}

fn parcel(
    cart: &Cart,
    quote: &Quote,
    coupons: &[Coupon],
    goods: &[Shown],
    options: &frame::Options,
) -> Parcel {
    let with_taxes = options.text("woocommerce_tax_display_cart") == "incl";
    let lines = || quote.order().lines(ItemKind::Line);
    let before: Amount = lines()
        .map(|line| {
            line.row.subtotal + if with_taxes { line.row.subtotal_tax } else { Amount::ZERO }
        })
        .sum();
    let after: Amount = lines()
        .map(|line| line.row.total + if with_taxes { line.row.total_tax } else { Amount::ZERO })
        .sum();
    let shipped = || {
        let pairs = cart.state.items.iter().zip(goods);
        pairs.filter(|(_, one)| !one.loaded.product.row.is_virtual)
    };
    let words =
        shipped().map(|(item, one)| format!("{} &times; {}", one.loaded.name(), item.quantity));
    Parcel {
        quantity: shipped().map(|(item, _)| item.quantity).sum(),
        cost: lines().map(|line| line.row.total).sum(),
        shown_before: before,
        shown_after: after,
        has_free_coupon: coupons.iter().any(|coupon| coupon.details.free_shipping),
        items: words.collect::<Vec<_>>().join(", "),
    }
}

/// Keeps the chosen way of shipping as long as it is offered. When others are offered than before,
/// a coupon that gives free shipping chooses that.
fn choose_rate(cart: &mut Cart, rates: &[Rate], is_free: bool) {
    let ids: Vec<String> = rates.iter().map(Rate::id).collect();
    let is_offered = ids.contains(&cart.state.rate);
    if is_offered && ids == cart.state.rates {
        return;
    }
    if !is_offered {
        cart.state.rate = ids.first().cloned().unwrap_or_default();
    }
    let free = rates.iter().find(|rate| rate.method_id == FREE_SHIPPING).map(Rate::id);
    if let Some(free) = free.filter(|_| is_free) {
        cart.state.rate = free;
    }
    cart.state.rates = ids;
}
