//! Refunds of payments: those that the shop asks a gateway for, by a job that tries again, and
//! those that the gateway reports by itself.
//!
//! **A refund of an order whose money the gateway does not pay back is taken back**, so that the
//! books say what happened.

use std::sync::Arc;
use std::time::Duration;

use contract::rest::{Params, Sources, Stop, clean};
use db::Conn;
use db::background_job::{JobRow, JobState, Progress};
use frame::jobs::{Halt, JobCx, JobKind, Limits, Running};
use frame::{Call, Options, Site};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use shop_rows::order::OrderKind;
use shop_rows::payment::{self, PaymentRefundRow, PaymentRow};
use site_rows::user::UserRow;
use types::{Amount, Error, Result};

use super::request::{Unanswered, ask};
use super::state;
use super::words::{because, decimal, money, title};
use crate::gateways::hosted::{self, Hosted, REFUND_JOB};
use crate::orders::{Order, REFUND_REQUESTED, ReportedRefund, place, record_refund, undo_refund};

const PAID: &str = "paid";
const ACCEPTED: &str = "accepted";
const DECLINED: &str = "declined";
const FAILED: &str = "failed";
/// Characters of a reason that are kept.
const REASON_LENGTH_MAX: usize = 200;

/// Which refund a job is about.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct RefundArguments {
    payment_id: String,
    refund_key: String,
}

/// Asks a gateway to pay back.
#[derive(Debug)]
pub(super) struct RefundJob;

impl JobKind for RefundJob {
    fn name(&self) -> &'static str {
        REFUND_JOB
    }

    fn run<'a>(&'a self, cx: &'a JobCx) -> Running<'a> {
        Box::pin(run(cx))
    }

    fn limits(&self) -> Limits {
        Limits {
            attempts: 8,
            first_wait: Duration::from_secs(15),
            longest_wait: Duration::from_hours(6),
            ..Limits::USUAL
        }
    }

    /// Tells people what they have to do themselves.
    fn ended(&self, site: &Site, conn: &mut dyn Conn, ended: &JobRow) -> Result<()> {
        if ended.state == JobState::Done {
            return Ok(());
        }
        let Ok(wanted) = serde_json::from_str::<RefundArguments>(&ended.arguments) else {
            return Ok(());
        };
        let now = ended.finished.unwrap_or(ended.created);
        in_call(site, conn, now, |call| {
            let Some((payment, mut refund)) = find(call.conn()?, &wanted)? else { return Ok(()) };
            // The gateway may have reported it by itself, and people may have deleted it.
            if refund.state != REFUND_REQUESTED {
                return Ok(());
            }
            FAILED.clone_into(&mut refund.state);
            payment::refund_put(call.conn()?, &refund)?;
            let title = title(call, &payment)?;
            let sum = money(call.options(), refund.amount, &payment.currency);
            let text = format!(
                "The refund of {sum} could not be sent to {title}. Make it there, or delete it \
                 here."
            );
            place::note(call, payment.order_id, text)
        })
    }
}

fn find(
    conn: &mut dyn Conn,
    wanted: &RefundArguments,
) -> Result<Option<(PaymentRow, PaymentRefundRow)>> {
    let Some(payment) = payment::get(conn, &wanted.payment_id)? else { return Ok(None) };
    let refund = payment::refund_get(conn, &wanted.payment_id, &wanted.refund_key)?;
    Ok(refund.map(|refund| (payment, refund)))
}

/// Runs a part of a request in nobody's name.
fn in_call(
    site: &Site,
    conn: &mut dyn Conn,
    now: types::Timestamp,
    run: impl FnOnce(&mut Call<'_>) -> Result<(), Stop>,
) -> Result<()> {
    let params = Params::unchecked(Sources::default());
    let done = site.call_by(conn, UserRow::default(), params, now, run)?;
    done.map_err(|refusal| Error::internal(format!("a refund was refused: {}", refusal.message)))
}

async fn run(cx: &JobCx) -> Result<Value, Halt> {
    let wanted: RefundArguments = cx.arguments()?;
    let (site, asked) = (Arc::clone(cx.site()), wanted.clone());
    let found = cx.site().store().read(move |conn| {
        let Some((payment, refund)) = find(conn, &asked)? else { return Ok(None) };
        // Refunds go with their order, and then nobody wants the money paid back any more.
        if shop_rows::order::get(conn, refund.order_refund_id)?.is_none() {
            return Ok(None);
        }
        let options = Options::read(conn)?;
        let gateway = hosted::find(site.vault(), &options, &payment.gateway)?;
        Ok(Some((payment, refund, gateway, options)))
    });
    let Some((payment, refund, gateway, options)) = found.await? else {
        return Ok(json!({ "state": "gone" }));
    };
    if refund.state != REFUND_REQUESTED {
        return Ok(json!({ "state": refund.state }));
    }
    let Some(gateway) = gateway else {
        return Err(Halt::Failed(Error::not_found("the payment gateway was removed")));
    };
    let (state, reason) = answer_of(cx, &gateway, &payment, &refund, &options).await?;
    let site = Arc::clone(cx.site());
    let (now, amount, result) = (cx.now(), refund.amount, json!({ "state": state }));
    let settle = move |conn: &mut dyn Conn| {
        let (payment, wanted, reason) = (payment.clone(), wanted.clone(), reason.clone());
        in_call(&site, conn, now, move |call| {
            let key = wanted.refund_key.as_str();
            match state {
                DECLINED => declined(call, &payment, key, &reason),
                PAID => reported(call, &payment, (key, amount), &reason),
                _ => accepted(call, &payment, key),
            }
        })
    };
    cx.step(Progress { done: 1, total: Some(1) }, &state, settle).await?;
    Ok(result)
}

/// What the gateway says to a refund: its new state, and a reason.
async fn answer_of(
    cx: &JobCx,
    gateway: &Hosted,
    payment: &PaymentRow,
    refund: &PaymentRefundRow,
    options: &Options,
) -> Result<(&'static str, String), Halt> {
    let body = json!({
        "type": "refund",
        "refund": refund.refund_key,
        "payment": payment.payment_id,
        "reference": payment.reference,
        "amount": decimal(options, refund.amount),
        "currency": payment.currency,
        "reason": refund.reason,
    });
    match ask(cx.site(), gateway, &refund.refund_key, &body).await {
        Ok(answer) => {
            let text = |name: &str| answer.get(name).and_then(Value::as_str).unwrap_or_default();
            let reason = clean::text_field(text("reason"));
            let reason: String = reason.chars().take(REASON_LENGTH_MAX).collect();
            match text("status") {
                "succeeded" => Ok((PAID, reason)),
                "pending" => Ok((ACCEPTED, reason)),
                "declined" => Ok((DECLINED, reason)),
                _ => Err(Halt::Retry(Error::unavailable("the answer has no known status"))),
            }
        }
        Err(Unanswered::Refused(cause)) => Ok((DECLINED, cause)),
        Err(Unanswered::Unreachable(cause)) => Err(Halt::Retry(Error::unavailable(cause))),
        Err(Unanswered::Failed(error)) => Err(error.into()),
    }
}

/// The gateway will pay back, and says so once it did.
fn accepted(call: &mut Call<'_>, payment: &PaymentRow, key: &str) -> Result<(), Stop> {
    let found = payment::refund_get(call.conn()?, &payment.payment_id, key)?;
    let Some(mut refund) = found else { return Ok(()) };
    // One that was deleted while the gateway was asked is paid back all the same.
    if refund.state != REFUND_REQUESTED && refund.state != payment::WITHDRAWN {
        return Ok(());
    }
    ACCEPTED.clone_into(&mut refund.state);
    payment::refund_put(call.conn()?, &refund)?;
    let title = title(call, payment)?;
    let sum = money(call.options(), refund.amount, &payment.currency);
    let text = format!("{title} accepted the refund of {sum} and has yet to confirm it.");
    place::note(call, payment.order_id, text)
}

/// The gateway has paid back: a refund of ours, or one that was made there.
pub(super) fn reported(
    call: &mut Call<'_>,
    payment: &PaymentRow,
    (key, amount): (&str, Amount),
    reason: &str,
) -> Result<(), Stop> {
    let known = payment::refund_get(call.conn()?, &payment.payment_id, key)?;
    let Some(mut refund) = known else {
        let made = PaymentRefundRow {
            payment_id: payment.payment_id.clone(),
            refund_key: key.to_owned(),
            amount,
            state: PAID.to_owned(),
            reason: reason.to_owned(),
            created: call.now(),
            ..PaymentRefundRow::default()
        };
        payment::refund_put(call.conn()?, &made)?;
        return settle_or_wait(call, payment, made);
    };
    let was_paid = refund.state == PAID;
    if refund.state == DECLINED || (was_paid && refund.amount == amount) {
        return Ok(());
    }
    PAID.clone_into(&mut refund.state);
    // The order has no refund of it any more, but the money is gone: it gets another.
    if refund.order_refund_id == 0 && !was_paid {
        refund.amount = amount;
        payment::refund_put(call.conn()?, &refund)?;
        return settle_or_wait(call, payment, refund);
    }
    payment::refund_put(call.conn()?, &refund)?;
    let title = title(call, payment)?;
    let sum = money(call.options(), amount, &payment.currency);
    let text = if refund.amount == amount {
        format!("{title} paid back {sum}.")
    } else {
        let wanted = money(call.options(), refund.amount, &payment.currency);
        format!(
            "{title} reports that it paid back {sum}, but the refund is of {wanted}. Check it \
             there."
        )
    };
    place::note(call, payment.order_id, text)
}

/// Gives the order its refund, unless the gateway has yet to report that it took as much: **a
/// refund that is reported before its payment waits for it**.
fn settle_or_wait(
    call: &mut Call<'_>,
    payment: &PaymentRow,
    refund: PaymentRefundRow,
) -> Result<(), Stop> {
    if refund.amount <= payment.captured {
        return settle_one(call, payment, refund);
    }
    if payment.captured.is_zero() {
        return Ok(());
    }
    let title = title(call, payment)?;
    let sum = money(call.options(), refund.amount, &payment.currency);
    let taken = money(call.options(), payment.captured, &payment.currency);
    let text = format!(
        "{title} reports that it paid back {sum}, but so far only that it took {taken}. Check it \
         there."
    );
    place::note(call, payment.order_id, text)
}

/// The gateway does not pay back: the refund of the order is taken back.
pub(super) fn declined(
    call: &mut Call<'_>,
    payment: &PaymentRow,
    key: &str,
    reason: &str,
) -> Result<(), Stop> {
    let known = payment::refund_get(call.conn()?, &payment.payment_id, key)?;
    let Some(mut refund) = known else { return Ok(()) };
    if refund.state == PAID || refund.state == DECLINED {
        return Ok(());
    }
    DECLINED.clone_into(&mut refund.state);
    payment::refund_put(call.conn()?, &refund)?;
    undo_refund(call, refund.order_refund_id, &refund.status_before)?;
    let title = title(call, payment)?;
    let sum = money(call.options(), refund.amount, &payment.currency);
    let text = format!(
        "{title} declined the refund of {sum}{} The refund was removed from the order.",
        because(reason)
    );
    place::note(call, payment.order_id, text)
}

/// Refunds that were reported before their payment, which was `before` and is `after`.
pub(super) fn settle_early(
    call: &mut Call<'_>,
    before: &PaymentRow,
    after: &PaymentRow,
) -> Result<(), Stop> {
    for refund in payment::refunds_of(call.conn()?, &after.payment_id)? {
        // Those that less was enough for did not wait.
        let waited = refund.amount > before.captured && refund.amount <= after.captured;
        if refund.order_refund_id == 0 && refund.state == PAID && waited {
            settle_one(call, after, refund)?;
        }
    }
    Ok(())
}

/// Whether another payment is known to have paid the order. One that nothing is known of counts as
/// that of the order, as people may have changed what the order says.
fn is_superfluous(call: &mut Call<'_>, order: &Order, payment: &PaymentRow) -> Result<bool, Stop> {
    if state::is_paid_with(order, payment) {
        return Ok(false);
    }
    let payments = payment::of_order(call.conn()?, order.id())?;
    let mut taken = payments.iter().filter(|other| other.captured > Amount::ZERO);
    Ok(taken.any(|other| state::is_paid_with(order, other)))
}

/// Gives the order a refund of what the gateway paid back by itself.
fn settle_one(
    call: &mut Call<'_>,
    payment: &PaymentRow,
    mut refund: PaymentRefundRow,
) -> Result<(), Stop> {
    let found = Order::get(call.conn()?, payment.order_id, OrderKind::Order)?;
    let Some(order) = found else { return Ok(()) };
    let title = title(call, payment)?;
    let sum = money(call.options(), refund.amount, &payment.currency);
    if is_superfluous(call, &order, payment)? {
        let text = format!(
            "{title} paid back {sum} of the payment {}; another one paid the order, which stays \
             as it is.",
            payment.payment_id
        );
        return place::note(call, order.id(), text);
    }
    order.row.status.clone_into(&mut refund.status_before);
    let (id, reason) = (order.id(), refund.reason.clone());
    let wanted = ReportedRefund { amount: refund.amount, reason };
    let text = match record_refund(call, order, wanted)? {
        Some(refund_id) => {
            refund.order_refund_id = refund_id;
            format!("{title} paid back {sum}; the refund was made there.")
        }
        None => format!(
            "{title} reports that it paid back {sum}, which is more than was left of the order. \
             Check it there."
        ),
    };
    payment::refund_put(call.conn()?, &refund)?;
    place::note(call, id, text)
}
