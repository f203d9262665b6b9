//! Paying an order that waits for it, and who may see or pay an order: its owner, or whoever knows
//! its key and, of a guest's, the e-mail address.

use commerce::orders::{Address, Order, place};
use contract::rest::params::invalid_params;
use contract::rest::{Refusal, Reply, Stop, loose};
use frame::Call;
use serde_json::Value;
use shop_rows::order::{ItemKind, OrderKind};
use subtle::ConstantTimeEq as _;

use super::attempt::{chosen_method, status_after};
use super::{hand_over, show};
use crate::address::{self, Email, Side};
use crate::session::{Session, reply_of};

/// The order of the path, for those who may know of it.
pub(crate) fn order_of(call: &mut Call<'_>) -> Result<Order, Stop> {
    let id = call.params.path().get("id").map(loose::to_int).unwrap_or_default();
    let refused = |status, code: &'static str, message: &'static str| {
        Stop::from(Refusal::new(status, code, message))
    };
    let found = Order::get(call.conn()?, id, OrderKind::Order)?;
    let Some(order) = found else {
        return Err(refused(404, "woocommerce_rest_invalid_order", "Order not found."));
    };
    if order.row.customer_id != 0 {
        if order.row.customer_id == call.user_id() {
            return Ok(order);
        }
        return Err(refused(403, "woocommerce_rest_invalid_user", "The order is another user's."));
    }
    let key = call.params.text("key").unwrap_or_default();
    let known = order.row.order_key.as_bytes();
    if known.is_empty() || !bool::from(known.ct_eq(key.as_bytes())) {
        return Err(refused(401, "woocommerce_rest_invalid_order", "The key is invalid."));
    }
    let email = call.params.text("billing_email").unwrap_or_default();
    if !email.eq_ignore_ascii_case(&order.details.billing.email) {
        let message = "The e-mail address is not that of the order.";
        return Err(refused(401, "woocommerce_rest_invalid_billing_email", message));
    }
    Ok(order)
}

pub(crate) fn may_pay(call: &mut Call<'_>) -> Result<(), Stop> {
    order_of(call).map(drop)
}

pub(crate) fn run(call: &mut Call<'_>) -> Result<Reply, Stop> {
    let session = Session::of(call)?;
    let outcome = match session.prove(call) {
        Ok(()) => pay(call),
        Err(refusal) => Err(refusal.into()),
    };
    let reply = reply_of(outcome)?;
    Ok(session.with_headers(call, reply, "")?)
}

fn pay(call: &mut Call<'_>) -> Result<Reply, Stop> {
    let mut order = order_of(call)?;
    if !place::is_payable(&order) {
        let message = "The order cannot be paid.";
        let refusal = Refusal::new(400, "invalid_order_update_status", message);
        return Err(refusal.with_data(Value::Null).into());
    }
    let sides = [
        (Side::Billing, order.details.billing.clone()),
        (Side::Shipping, order.details.shipping.clone()),
    ];
    let mut errors = Vec::new();
    let [billing, shipping] = sides.map(|(side, known)| {
        let given = call.params.get(side.param());
        address::merged(&known, given, side, Email::Strict).unwrap_or_else(|error| {
            errors.push((side.param().to_owned(), Some(error)));
            known
        })
    });
    if !errors.is_empty() {
        return Err(invalid_params(errors).into());
    }
    check_addresses(&order, &billing, &shipping)?;
    let method = chosen_method(call, order.row.total)?;
    check_stock(call, &order)?;
    order.details.billing = billing;
    order.details.shipping = shipping;
    if let Some(method) = &method {
        method.id.clone_into(&mut order.row.payment_method);
        order.details.payment_method_title.clone_from(&method.title);
    }
    let has_downloads = has_downloads(call, &order)?;
    let to = status_after(call, &order, method.as_ref(), has_downloads)?;
    let order = place::pay(call, order, to)?;
    let address = hand_over::address(call, &order, method.as_ref())?;
    Ok(Reply::new(show::of_order(&order, method.is_some(), &address)))
}

/// Refuses what would make the order another one: it was taxed and its shipping was charged for the
/// place that it names, and it belongs to the address that it is confirmed to.
fn check_addresses(order: &Order, billing: &Address, shipping: &Address) -> Result<(), Stop> {
    if billing.email.is_empty() && !order.details.billing.email.is_empty() {
        let (code, message) =
            ("woocommerce_rest_missing_email_address", "Enter an e-mail address.");
        return Err(Refusal::new(400, code, message).into());
    }
    let place = |address: &Address| {
        [&address.country, &address.state, &address.postcode].map(|part| part.to_lowercase())
    };
    let is_moved = |known: &Address, given: &Address| {
        !known.country.is_empty() && place(known) != place(given)
    };
    let details = &order.details;
    if is_moved(&details.billing, billing) || is_moved(&details.shipping, shipping) {
        let message = "The country, state and postcode of this order cannot be changed any more; \
                       contact the shop.";
        return Err(Refusal::new(400, "woocommerce_rest_invalid_address", message).into());
    }
    Ok(())
}

fn has_downloads(call: &mut Call<'_>, order: &Order) -> Result<bool, Stop> {
    for line in order.lines(ItemKind::Line) {
        let row = shop_rows::product::get(call.conn()?, line.sold_id())?;
        if row.is_some_and(|row| row.downloadable) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Refuses to sell what is not there any more, unless it was taken from the stock for this order
/// before.
fn check_stock(call: &mut Call<'_>, order: &Order) -> Result<(), Stop> {
    let Some(name) = place::short_of(call, order)? else { return Ok(()) };
    let message = format!("{name} is out of stock.");
    Err(Refusal::new(409, "woocommerce_rest_product_out_of_stock", message).into())
}
