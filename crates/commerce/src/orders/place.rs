//! Orders that buyers make themselves: a draft while something is missing, then the order.

use contract::rest::Stop;
use frame::Call;
use serde_json::json;
use shop_rows::order::OrderKind;

use super::effects::{self, Before};
use super::record::Order;
use super::{status, write};
use crate::common::{meta, moments};

/// Where orders of the shop window say they come from.
const CREATED_VIA: &str = "store-api";

/// The draft of this id, if it is one still.
pub fn draft(call: &mut Call<'_>, order_id: i64) -> Result<Option<Order>, Stop> {
    if order_id == 0 {
        return Ok(None);
    }
    let found = Order::get(call.conn()?, order_id, OrderKind::Order)?;
    Ok(found.filter(|order| order.row.status == status::CHECKOUT_DRAFT))
}

/// Writes the order as a draft, in place of the former one. Nobody is notified of it.
pub fn save_draft(call: &mut Call<'_>, order: Order, former: Option<Order>) -> Result<Order, Stop> {
    let mut order = prepared(call, order, former.as_ref())?;
    status::CHECKOUT_DRAFT.clone_into(&mut order.row.status);
    Ok(match former {
        Some(_) => order.update(call.conn()?)?,
        None => order.insert(call.conn()?)?,
    })
}

/// Makes the order, of the former draft if there is one, and lets everything follow.
pub fn place(
    call: &mut Call<'_>,
    order: Order,
    former: Option<Order>,
    to: &str,
) -> Result<Order, Stop> {
    let mut order = prepared(call, order, former.as_ref())?;
    status::PENDING.clone_into(&mut order.row.status);
    order.assign_ids(call.conn()?)?;
    effects::set_status(call, &mut order, to)?;
    effects::settle(call, &mut order, &Before::nothing())?;
    let order = match former {
        Some(_) => order.update(call.conn()?)?,
        None => order.insert(call.conn()?)?,
    };
    effects::append_event(call, "order.created", &order)?;
    Ok(order)
}

/// Takes a payment of an order that is there already.
pub fn pay(call: &mut Call<'_>, mut order: Order, to: &str) -> Result<Order, Stop> {
    let before = Before::same(&order);
    order.row.modified = moments::now(call);
    effects::set_status(call, &mut order, to)?;
    effects::settle(call, &mut order, &before)?;
    let order = order.update(call.conn()?)?;
    effects::append_event(call, "order.updated", &order)?;
    Ok(order)
}

/// Whether the order waits for a payment. **A draft does not**: it becomes an order by a checkout,
/// which looks at prices, coupons, shipping and stock again.
pub fn is_payable(order: &Order) -> bool {
    status::needs_payment(order) && order.row.status != status::CHECKOUT_DRAFT
}

/// Whether a payment that arrives by itself pays the order: nobody has paid it yet, or it was given
/// up for that.
pub fn takes_payment(order: &Order) -> bool {
    status::can_be_paid(&order.row.status) && order.row.status != status::CHECKOUT_DRAFT
}

/// Writes a note for the shop's people about an order that is stored.
pub fn note(call: &mut Call<'_>, order_id: i64, text: String) -> Result<(), Stop> {
    Ok(effects::note(call, order_id, text)?)
}

/// The status of an order once it is paid.
pub fn paid_status(call: &mut Call<'_>, order: &Order) -> Result<&'static str, Stop> {
    Ok(effects::paid_status(call, order)?)
}

/// The order with what every order has, and the number and key of its draft.
fn prepared(call: &mut Call<'_>, mut order: Order, former: Option<&Order>) -> Result<Order, Stop> {
    let now = moments::now(call);
    CREATED_VIA.clone_into(&mut order.row.created_via);
    order.row.created = now;
    order.row.modified = now;
    order.details.customer_ip_address = call.visit.client.address.to_string();
    let agent = call.visit.header("user-agent").unwrap_or_default();
    order.details.customer_user_agent = agent.chars().take(AGENT_LENGTH_MAX).collect();
    match former {
        Some(former) => {
            order.row.order_id = former.row.order_id;
            order.row.number.clone_from(&former.row.number);
            order.row.order_key.clone_from(&former.row.order_key);
        }
        None => order.row.order_key = write::order_key()?,
    }
    for line in &mut order.items {
        for entry in &mut line.details.meta_data {
            if entry["id"] == 0 {
                entry["id"] = json!(meta::number(call.conn()?)?);
            }
        }
    }
    Ok(order)
}

/// Characters of what a browser calls itself that are kept.
const AGENT_LENGTH_MAX: usize = 500;
