//! Asking the gateway that took a payment to pay back: which payment it is, the job that asks, and
//! what becomes of it if the refund is deleted.
//! **The job is queued in the transaction of the refund**, so that none is forgotten.

use contract::rest::{Refusal, Stop};
use frame::{Call, jobs};
use serde_json::json;
use shop_rows::payment::{self, PaymentRefundRow, PaymentRow};
use types::Amount;

use super::effects;
use super::record::Order;
use crate::gateways::hosted::REFUND_JOB;

/// The state of a refund that the gateway has not answered yet.
pub(crate) const REQUESTED: &str = "requested";
/// States of refunds that move no money.
const VOID: &[&str] = &["declined", "failed", payment::WITHDRAWN];
/// States of refunds whose money is on its way or there.
const UNDER_WAY: &[&str] = &["accepted", "paid"];

/// No answer of ours is a 5xx: those are for failures.
pub(super) fn cannot(message: &'static str) -> Refusal {
    Refusal::new(400, "woocommerce_rest_cannot_create_order_refund", message)
}

/// The payment that so much of an order can be paid back from.
pub(super) fn payment_of(
    call: &mut Call<'_>,
    order: &Order,
    amount: Amount,
) -> Result<PaymentRow, Stop> {
    let taken = payment::of_order(call.conn()?, order.id())?;
    let mut taken = taken.into_iter().filter(|found| found.captured > Amount::ZERO).peekable();
    if taken.peek().is_none() {
        let message = "No payment provider can process this refund; set api_refund to false.";
        return Err(cannot(message).into());
    }
    for found in taken {
        let refunds = payment::refunds_of(call.conn()?, &found.payment_id)?;
        let counted = refunds.iter().filter(|refund| !VOID.contains(&&*refund.state));
        let refunded: Amount = counted.map(|refund| refund.amount).sum();
        if amount > Amount::ZERO && amount <= found.captured - refunded {
            return Ok(found);
        }
    }
    let message = "The payment provider took less than this amount; refund less, or set \
                   api_refund to false.";
    Err(cannot(message).into())
}

/// Lets the gateway be asked for the refund, which is written already.
pub(super) fn request(
    call: &mut Call<'_>,
    payment: &PaymentRow,
    refund: &Order,
    status_before: &str,
) -> Result<(), Stop> {
    let now = call.now();
    let key = format!("refund-{}", refund.id());
    let wanted = PaymentRefundRow {
        payment_id: payment.payment_id.clone(),
        refund_key: key.clone(),
        order_refund_id: refund.id(),
        amount: refund.row.refund_amount,
        state: REQUESTED.to_owned(),
        reason: refund.row.reason.clone(),
        status_before: status_before.to_owned(),
        created: now,
    };
    payment::refund_put(call.conn()?, &wanted)?;
    let arguments = json!({ "payment_id": payment.payment_id, "refund_key": key });
    jobs::enqueue(call.conn()?, REFUND_JOB, Some(&key), &arguments, now)?;
    let text = String::from("The payment provider was asked to pay the refund back.");
    Ok(effects::note(call, payment.order_id, text)?)
}

/// Lets nobody be asked any more for a refund that is about to be deleted. Refused if the gateway
/// has paid back already, or will: the order would say that the shop still has the money.
pub(super) fn withdraw(call: &mut Call<'_>, refund: &Order) -> Result<(), Stop> {
    for found in payment::of_order(call.conn()?, refund.row.parent_id)? {
        let wanted = payment::refunds_of(call.conn()?, &found.payment_id)?;
        let wanted = wanted.into_iter().find(|wanted| wanted.order_refund_id == refund.id());
        let Some(mut wanted) = wanted else { continue };
        if UNDER_WAY.contains(&&*wanted.state) {
            let message = "The payment provider has accepted or paid this refund, so it cannot be \
                           deleted.";
            return Err(Refusal::new(400, "woocommerce_rest_cannot_delete", message).into());
        }
        // Should the gateway report it all the same, the order gets another refund.
        wanted.order_refund_id = 0;
        let is_asked_for = wanted.state == REQUESTED;
        if is_asked_for {
            payment::WITHDRAWN.clone_into(&mut wanted.state);
        }
        payment::refund_put(call.conn()?, &wanted)?;
        if is_asked_for {
            let text = "The refund was deleted; the payment provider is not asked to pay it back.";
            effects::note(call, found.order_id, text.to_owned())?;
        }
        return Ok(());
    }
    Ok(())
}
