//! A checkout as it is shown, before there is an order and after.

use commerce::gateways;
use commerce::orders::{Address, Order, place, status};
use contract::rest::Stop;
use frame::Call;
use serde_json::{Value, json};

use crate::address::{self, Side};
use crate::cart;
use crate::cart::state::Cart;

/// The checkout of a cart; of a draft, what it has by now.
pub(super) fn of_cart(call: &mut Call<'_>, cart: &mut Cart) -> Result<Value, Stop> {
    let mut body = cart::shown(call, cart)?;
    if !call.params.flag("__experimental_calc_totals") {
        leave_out_shipping(&mut body);
    }
    let draft = place::draft(call, cart.state.order_id)?;
    // Of a draft the order is shown, and not the cart beside it.
    let (result, body) = match &draft {
        Some(_) => {
            let nothing = json!({
                "payment_status": "", "payment_details": [], "redirect_url": "",
            });
            (nothing, Value::Null)
        }
        None => (Value::Null, body),
    };
    let row = draft.as_ref().map(|draft| &draft.row);
    let (id, key) = row.map_or((0, ""), |row| (row.order_id, &row.order_key));
    let offered = gateways::offered(call.options());
    let first = offered.first().map_or("", |gateway| &*gateway.id);
    let method = match cart.state.payment_method.as_str() {
        "" => first,
        method => method,
    };
    Ok(json!({
        "order_id": id,
        "status": status::CHECKOUT_DRAFT,
        "order_key": key,
        "order_number": id.to_string(),
        "customer_note": cart.state.note,
        "customer_id": call.user_id(),
        "billing_address": address::shown(cart.billing(), Side::Billing),
        "shipping_address": address::shown(cart.shipping(), Side::Shipping),
        "payment_method": method,
        "payment_result": result,
        "additional_fields": {},
        "__experimentalCart": body,
        "extensions": {},
    }))
}

/// Clients know the cart of a checkout with its total, but without the ways of shipping, unless
/// they ask for them.
fn leave_out_shipping(body: &mut Value) {
    if let Some(totals) = body.get_mut("totals").and_then(Value::as_object_mut) {
        for name in ["total_shipping", "total_shipping_tax"] {
            totals.insert(name.to_owned(), Value::Null);
        }
    }
    if let Some(members) = body.as_object_mut() {
        members.insert(String::from("shipping_rates"), json!([]));
        members.insert(String::from("has_calculated_shipping"), json!(false));
    }
}

/// The order that came of a checkout, and where its buyer goes. `uses_method` tells whether a way
/// to pay was used.
pub(super) fn of_order(order: &Order, uses_method: bool, url: &str) -> Value {
    let (row, details) = (&order.row, &order.details);
    let result = json!([
        { "key": "result", "value": "success" },
        { "key": "redirect", "value": url },
    ]);
    let address = |address: &Address, side| address::shown(address, side);
    json!({
        "order_id": row.order_id,
        "status": row.status,
        "order_key": row.order_key,
        "order_number": row.number,
        "customer_note": details.customer_note,
        "customer_id": row.customer_id,
        "billing_address": address(&details.billing, Side::Billing),
        "shipping_address": address(&details.shipping, Side::Shipping),
        "payment_method": row.payment_method,
        "payment_result": {
            "payment_status": "success",
            "payment_details": if uses_method { result } else { json!([]) },
            "redirect_url": url,
        },
        "additional_fields": {},
        "__experimentalCart": null,
        "extensions": {},
    })
}
