//! Orders that buyers make themselves: a draft while something is missing, then the order.

use std::collections::HashMap;

use contract::rest::Stop;
use frame::{Call, Options};
use serde_json::json;
use shop_rows::order::{self, ItemKind, OrderKind};
use types::{Amount, Timestamp};

use super::effects::{self, Before, SHORT};
use super::record::Order;
use super::{status, write};
use crate::common::{meta, moments};
use crate::products::stock;

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

/// Gives an order that is there already the status that follows from a payment, or from none.
pub fn pay(call: &mut Call<'_>, mut order: Order, to: &str) -> Result<Order, Stop> {
    let before = Before::same(&order);
    order.row.modified = moments::now(call);
    effects::set_status(call, &mut order, to)?;
    effects::settle(call, &mut order, &before)?;
    let order = order.update(call.conn()?)?;
    effects::append_event(call, "order.updated", &order)?;
    Ok(order)
}

/// The name of a product of which there is not enough left for the order; nothing if all of it is
/// there, or was taken from the stock for this order before.
pub fn short_of(call: &mut Call<'_>, order: &Order) -> Result<Option<String>, Stop> {
    Ok(short_lines(call, order)?.into_iter().next().map(|(_, name)| name))
}

/// Lets the order wait for the stock of the lines that there is not enough left for, and names one
/// of them: nothing is taken for them until there is.
pub(crate) fn mark_short(call: &mut Call<'_>, order: &mut Order) -> Result<Option<String>, Stop> {
    let short = short_lines(call, order)?;
    for (item_id, _) in &short {
        let line = order.items.iter_mut().find(|line| line.row.item_id == *item_id);
        let Some(line) = line.filter(|line| line.meta(SHORT).is_none()) else { continue };
        let entry = json!({ "key": SHORT, "value": "yes" });
        meta::merge(call.conn()?, &mut line.details.meta_data, &[entry])?;
    }
    Ok(short.into_iter().next().map(|(_, name)| name))
}

/// The lines for which there is not enough left, with the names of their products.
fn short_lines(call: &mut Call<'_>, order: &Order) -> Result<Vec<(i64, String)>, Stop> {
    let mut needed: HashMap<i64, Amount> = HashMap::new();
    let mut short = Vec::new();
    for line in order.lines(ItemKind::Line) {
        // Of what was taken already, only lines that had to wait are left.
        if order.details.stock_reduced && line.meta(SHORT).is_none() {
            continue;
        }
        let Some(counted) = stock::scarce(call, line.sold_id())? else { continue };
        let sum = needed.entry(counted.id()).or_default();
        *sum += line.row.quantity;
        if stock::left_for(call, &counted, order.id())? < *sum {
            short.push((line.row.item_id, counted.row.name.clone()));
        }
    }
    Ok(short)
}

/// The next orders of the checkout that nobody paid for as long as the shop holds their stock, with
/// when they were made; those behind `after`, which is one of them. A shop that does not count its
/// stock, or holds it without an end, keeps them; so it does with those of times long past.
pub fn unpaid(
    call: &mut Call<'_>,
    after: Option<(Timestamp, i64)>,
) -> Result<Vec<(Timestamp, i64)>, Stop> {
    let Some(until) = unpaid_until(call) else { return Ok(Vec::new()) };
    let after = after.unwrap_or((ago(call, 2 * HOLD_MINUTES_MAX), i64::MAX));
    Ok(order::unpaid(call.conn()?, after, until, UNPAID_BATCH)?)
}

/// Cancels an order that nobody paid, unless somebody has changed it meanwhile. Returns whether it
/// was cancelled.
pub fn cancel_unpaid(call: &mut Call<'_>, order_id: i64) -> Result<bool, Stop> {
    let Some(until) = unpaid_until(call) else { return Ok(false) };
    let found = Order::get(call.conn()?, order_id, OrderKind::Order)?;
    let is_due = |order: &Order| order.row.status == status::PENDING && order.row.modified <= until;
    let Some(order) = found.filter(is_due) else { return Ok(false) };
    effects::note(call, order_id, String::from(NOT_PAID_IN_TIME))?;
    pay(call, order, status::CANCELLED)?;
    Ok(true)
}

/// Who ordered before and has not paid is too late; nothing if nobody is.
fn unpaid_until(call: &Call<'_>) -> Option<Timestamp> {
    let minutes = hold_minutes(call.options());
    let holds = minutes > 0 && call.options().is_on("woocommerce_manage_stock");
    holds.then(|| ago(call, minutes))
}

fn ago(call: &Call<'_>, minutes: u64) -> Timestamp {
    let micros = i64::try_from(minutes).unwrap_or(i64::MAX).saturating_mul(60_000_000);
    Timestamp::from_micros(call.now().as_micros().saturating_sub(micros))
}

/// Orders that are looked up at once.
const UNPAID_BATCH: i64 = 50;
const NOT_PAID_IN_TIME: &str =
    "The order was not paid in time. It was cancelled, and its stock is for sale again.";

/// How long the stock of an unpaid order is held, in minutes; 0 for no end.
pub fn hold_minutes(options: &Options) -> u64 {
    let minutes = options.text("woocommerce_hold_stock_minutes").parse::<u64>();
    minutes.unwrap_or_default().min(HOLD_MINUTES_MAX)
}

/// How long an unpaid order holds its stock at most.
const HOLD_MINUTES_MAX: u64 = 60 * 24 * 31;

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
