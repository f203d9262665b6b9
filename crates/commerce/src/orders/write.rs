//! Creating and changing orders: first the fields and lines, then what they come to, then the
//! status with all that follows from it.

use std::collections::HashSet;

use contract::rest::{Refusal, Stop, clean, loose};
use frame::Call;
use serde_json::Value;
use site_rows::user::{self, UserRow};
use types::Error;

use super::effects::{self, Before, Known};
use super::goods::Goods;
use super::lines;
use super::record::{Address, Line, Order};
use super::totals::{self, Shop};
use super::{coupons, status};
use crate::common::{meta, moments};

/// What asks for the sums to be calculated again.
const PRICED: [&str; 6] =
    ["billing", "shipping", "line_items", "shipping_lines", "fee_lines", "coupon_lines"];
/// Letters and digits of the secret by which a guest sees an order.
pub(super) const KEY_LENGTH: usize = 13;
const KEY_LETTERS: &[u8; 62] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
/// Characters at most of the id of a merchant, store or terminal.
const OWNER_MAX: usize = 64;

/// Makes an order of the request, and returns it with what its lines are about.
pub(super) fn create(call: &mut Call<'_>) -> Result<(Order, Goods), Stop> {
    let now = moments::now(call);
    let mut order = Order::default();
    status::PENDING.clone_into(&mut order.row.status);
    "rest-api".clone_into(&mut order.row.created_via);
    order.row.created = now;
    order.row.currency = call.options().text("woocommerce_currency");
    order.row.prices_include_tax = call.options().is_on("woocommerce_prices_include_tax");
    order.row.order_key = order_key()?;
    let buyer = apply(call, &mut order)?;
    let shop = shop(call)?;
    let mut goods = lines::apply(call, &mut order, &shop)?;
    goods.complete(call.conn()?, [&order].into_iter())?;
    totals::calculate(&mut order, &goods, &shop);
    lines::check_sums(&order)?;
    coupons::replace(call, &mut order, &goods, &shop)?;
    order.row.modified = now;
    // What follows from the order names it, and it is written once all of that is known.
    order.assign_ids(call.conn()?)?;
    let known = Known { is_new: true, goods: Some(&goods), buyer: buyer.as_ref() };
    let order = finish(call, order, (&Before::nothing(), known), "order.created")?;
    Ok((order, goods))
}

/// Changes an order as the request says.
pub(super) fn update(call: &mut Call<'_>, mut order: Order) -> Result<Order, Stop> {
    let before = Before {
        items: order.items.iter().map(|line| line.row.item_id).collect(),
        removed: Vec::new(),
    };
    let old: Vec<Line> = order.items.clone();
    let buyer = apply(call, &mut order)?;
    let shop = shop(call)?;
    let mut goods = lines::apply(call, &mut order, &shop)?;
    goods.complete(call.conn()?, [&order].into_iter())?;
    if PRICED.iter().any(|name| call.params.get(name).is_some()) {
        totals::calculate(&mut order, &goods, &shop);
        lines::check_sums(&order)?;
    }
    coupons::replace(call, &mut order, &goods, &shop)?;
    order.row.modified = moments::now(call);
    let left: HashSet<i64> = order.items.iter().map(|line| line.row.item_id).collect();
    let removed = old.into_iter().filter(|line| !left.contains(&line.row.item_id));
    let before = Before { removed: removed.collect(), ..before };
    let was_trashed = order.row.status == status::TRASH;
    let known = Known { is_new: false, goods: Some(&goods), buyer: buyer.as_ref() };
    let order = finish(call, order, (&before, known), "order.updated")?;
    if was_trashed && order.row.status != status::TRASH {
        effects::append_event(call, "order.restored", &order)?;
    }
    Ok(order)
}

/// Sets the status, takes a payment, and lets everything follow.
fn finish(
    call: &mut Call<'_>,
    mut order: Order,
    (before, known): (&Before, Known<'_>),
    event: &'static str,
) -> Result<Order, Stop> {
    let status_text = call.params.text("status").filter(|status| !status.is_empty());
    if let Some(status_text) = status_text.map(str::to_owned) {
        effects::set_status_knowing(call, &mut order, &status_text, known.goods)?;
    }
    let is_new = known.is_new;
    let is_paid = call.params.flag("set_paid");
    let can_be_paid = status::can_be_paid(&order.row.status);
    if is_paid && (is_new || status::needs_payment(&order)) && can_be_paid {
        order.row.paid = order.row.paid.or_else(|| Some(moments::now(call)));
        let next = effects::paid_status_knowing(call, &order, known.goods)?;
        effects::set_status_knowing(call, &mut order, next, known.goods)?;
    }
    effects::settle_knowing(call, &mut order, before, known)?;
    let order = if is_new { order.insert(call.conn()?)? } else { order.update(call.conn()?)? };
    effects::append_event(call, event, &order)?;
    if order.row.status == status::REFUNDED {
        super::refunds::refund_rest(call, &order)?;
    }
    Ok(order)
}

fn shop(call: &mut Call<'_>) -> Result<Shop, Error> {
    let options = std::sync::Arc::clone(&call.visit.options);
    Shop::load(call.conn()?, &options)
}

pub(super) fn order_key() -> Result<String, Error> {
    let mut bytes = [0; KEY_LENGTH];
    vault::fill_random(&mut bytes)?;
    Ok(key_of(bytes))
}

/// The secret that so many bytes stand for.
pub(super) fn key_of(bytes: [u8; KEY_LENGTH]) -> String {
    let letter = |byte: &u8| {
        let place = usize::from(*byte) % KEY_LETTERS.len();
        KEY_LETTERS.get(place).map_or('0', |letter| char::from(*letter))
    };
    let letters: String = bytes.iter().map(letter).collect();
    format!("wc_order_{letters}")
}

/// Takes over the fields that are no lines, and returns the user who bought if they were looked up.
fn apply(call: &mut Call<'_>, order: &mut Order) -> Result<Option<UserRow>, Stop> {
    let buyer = customer(call, order)?;
    let params = &call.params;
    let is_new = order.row.order_id == 0;
    if let Some(parent_id) = params.int("parent_id") {
        order.row.parent_id = parent_id.max(0);
    }
    // A default is what the shop has chosen, not what the description says.
    if !is_new || params.given("currency") {
        set(params.text("currency"), &mut order.row.currency);
    }
    set(params.text("created_via").filter(|text| !text.is_empty()), &mut order.row.created_via);
    set(params.text("payment_method"), &mut order.row.payment_method);
    set(params.text("payment_method_title"), &mut order.details.payment_method_title);
    set(params.text("transaction_id"), &mut order.details.transaction_id);
    if let Some(note) = params.text("customer_note") {
        order.details.customer_note = clean::textarea_field(note);
    }
    address(params.get("billing"), &mut order.details.billing, true);
    address(params.get("shipping"), &mut order.details.shipping, false);
    for name in ["merchant_id", "store_id", "tpn"] {
        if let Some(owner) = owner(params.get(name), name)? {
            let slot = match name {
                "merchant_id" => &mut order.row.merchant_id,
                "store_id" => &mut order.row.store_id,
                _ => &mut order.row.tpn,
            };
            *slot = Some(owner).filter(|owner| !owner.is_empty());
        }
    }
    if let Some(Value::Array(entries)) = params.get("meta_data").cloned() {
        meta::merge(call.conn()?, &mut order.details.meta_data, &entries)?;
    }
    Ok(buyer)
}

fn set(text: Option<&str>, field: &mut String) {
    if let Some(text) = text {
        *field = clean::text_field(text);
    }
}

pub(super) fn address(given: Option<&Value>, address: &mut Address, is_billing: bool) {
    for (name, value) in given.and_then(Value::as_object).into_iter().flatten() {
        if name == "email" && !is_billing {
            continue;
        }
        let Some(field) = address.field_mut(name) else { continue };
        *field = clean::text_field(&loose::scalar_text(value).unwrap_or_default());
    }
}

/// Whose sale it was. These fields are ours, so their descriptions are not published.
pub(super) fn owner(value: Option<&Value>, name: &str) -> Result<Option<String>, Refusal> {
    let Some(value) = value else { return Ok(None) };
    let fits = |text: &&str| {
        text.len() <= OWNER_MAX && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
    };
    let Some(text) = value.as_str().filter(fits) else {
        let message = format!("{name} must contain only letters and digits.");
        return Err(Refusal::new(400, "rest_invalid_param", message));
    };
    Ok(Some(text.to_owned()))
}

/// The buyer must be a user of the site, or nobody.
fn customer(call: &mut Call<'_>, order: &mut Order) -> Result<Option<UserRow>, Stop> {
    let Some(customer_id) = call.params.int("customer_id") else { return Ok(None) };
    let buyer = if customer_id == 0 { None } else { user::get(call.conn()?, customer_id)? };
    if customer_id != 0 && buyer.is_none() {
        let message = "Customer not found.";
        return Err(Refusal::new(400, "woocommerce_rest_invalid_customer_id", message).into());
    }
    order.row.customer_id = customer_id;
    Ok(buyer)
}
