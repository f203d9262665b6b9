//! What a payment means for its order. **Only what is new counts**: a report that changes nothing
//! about the payment changes nothing about the order, whatever people have made of it meanwhile.

use contract::rest::Stop;
use frame::Call;
use shop_rows::order::OrderKind;
use shop_rows::payment::{self, PaymentRow};

use super::refund;
use super::state::{self, State};
use super::words::{because, money, title};
use crate::orders::{Order, place, status};

/// Lets the order follow a payment that was `before` and is `after`.
pub(super) fn follow(
    call: &mut Call<'_>,
    before: &PaymentRow,
    after: &PaymentRow,
    reason: &str,
) -> Result<(), Stop> {
    let found = Order::get(call.conn()?, after.order_id, OrderKind::Order)?;
    // An order that was deleted meanwhile has nothing to follow with.
    let Some(order) = found else { return Ok(()) };
    let is_captured = state::is_captured(after) && !state::is_captured(before);
    let (was, is) = (state::of(before), state::of(after));
    let order = if is_captured { captured(call, order, after)? } else { order };
    match is {
        State::Disputed if was != is || is_captured => disputed(call, order, after, reason)?,
        State::Authorised if was != is => authorised(call, order, after)?,
        State::Declined if was != is => declined(call, order, after, reason)?,
        State::PartlyCaptured if was != is => partly_captured(call, order, after)?,
        _ => order,
    };
    if after.captured > before.captured {
        refund::settle_early(call, before, after)?;
    }
    Ok(())
}

fn paid_with(order: &mut Order, payment: &PaymentRow) {
    order.row.payment_method.clone_from(&payment.gateway);
    let reference =
        if payment.reference.is_empty() { &payment.payment_id } else { &payment.reference };
    order.details.transaction_id.clone_from(reference);
}

/// Whether another payment of the order came to something.
fn has_other_money(call: &mut Call<'_>, payment: &PaymentRow) -> Result<bool, Stop> {
    let payments = payment::of_order(call.conn()?, payment.order_id)?;
    let mut others = payments.iter().filter(|other| other.payment_id != payment.payment_id);
    Ok(others.any(|other| !matches!(state::of(other), State::Open | State::Declined)))
}

fn captured(call: &mut Call<'_>, mut order: Order, payment: &PaymentRow) -> Result<Order, Stop> {
    let (id, title) = (order.id(), title(call, payment)?);
    let sum = money(call.options(), payment.captured, &payment.currency);
    if !place::takes_payment(&order) {
        let name = status::name(&order.row.status).to_lowercase();
        let text = format!(
            "{title} took {sum} (payment {}), although the order is {name}. Check whether it was \
             paid twice, and refund it if so.",
            payment.payment_id
        );
        place::note(call, id, text)?;
        return Ok(order);
    }
    paid_with(&mut order, payment);
    let is_whole = payment.captured == order.row.total && payment.currency == order.row.currency;
    if !is_whole {
        let total = money(call.options(), order.row.total, &order.row.currency);
        let text = format!(
            "{title} took {sum}, but the order is for {total} by now. Settle the difference with \
             the customer."
        );
        place::note(call, id, text)?;
        return accept(call, order, status::ON_HOLD);
    }
    place::note(call, id, format!("{title} took the payment of {sum}."))?;
    let to = place::paid_status(call, &order)?;
    accept(call, order, to)
}

/// Takes the payment for an order that waits, or that was given up. **What was sold to somebody
/// else meanwhile is not sold again**: people decide.
fn accept(call: &mut Call<'_>, mut order: Order, to: &str) -> Result<Order, Stop> {
    let short = place::mark_short(call, &mut order)?;
    let Some(name) = short else { return place::pay(call, order, to) };
    let text = format!(
        "The payment came too late: {name} is sold out, and was not taken from the stock. Restock \
         it and update the order, or refund the payment."
    );
    place::note(call, order.id(), text)?;
    place::pay(call, order, status::ON_HOLD)
}

fn disputed(
    call: &mut Call<'_>,
    order: Order,
    payment: &PaymentRow,
    reason: &str,
) -> Result<Order, Stop> {
    let title = title(call, payment)?;
    let sum = money(call.options(), payment.amount, &payment.currency);
    let text = format!(
        "The customer disputes the payment of {sum} at {title}{} Answer there before you ship \
         anything.",
        because(reason)
    );
    place::note(call, order.id(), text)?;
    if matches!(&*order.row.status, status::REFUNDED | status::TRASH | status::ON_HOLD) {
        return Ok(order);
    }
    place::pay(call, order, status::ON_HOLD)
}

fn authorised(call: &mut Call<'_>, mut order: Order, payment: &PaymentRow) -> Result<Order, Stop> {
    let title = title(call, payment)?;
    let sum = money(call.options(), payment.amount, &payment.currency);
    let text = format!("{title} authorised the payment of {sum}; it is not captured yet.");
    place::note(call, order.id(), text)?;
    if !place::takes_payment(&order) {
        return Ok(order);
    }
    paid_with(&mut order, payment);
    accept(call, order, status::ON_HOLD)
}

fn declined(
    call: &mut Call<'_>,
    order: Order,
    payment: &PaymentRow,
    reason: &str,
) -> Result<Order, Stop> {
    let title = title(call, payment)?;
    let sum = money(call.options(), payment.amount, &payment.currency);
    let text = format!("{title} declined the payment of {sum}{}", because(reason));
    place::note(call, order.id(), text)?;
    // Another payment may have succeeded, and people may have taken the order up.
    let waits = match &*order.row.status {
        status::PENDING => true,
        status::ON_HOLD => order.row.payment_method == payment.gateway,
        _ => false,
    };
    let fails = waits && !has_other_money(call, payment)?;
    if fails { place::pay(call, order, status::FAILED) } else { Ok(order) }
}

fn partly_captured(
    call: &mut Call<'_>,
    mut order: Order,
    payment: &PaymentRow,
) -> Result<Order, Stop> {
    let title = title(call, payment)?;
    let sum = money(call.options(), payment.captured, &payment.currency);
    let whole = money(call.options(), payment.amount, &payment.currency);
    place::note(call, order.id(), format!("{title} took {sum} of {whole}; the rest is missing."))?;
    if !place::takes_payment(&order) {
        return Ok(order);
    }
    paid_with(&mut order, payment);
    accept(call, order, status::ON_HOLD)
}
