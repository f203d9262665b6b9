//! What gateways report, at `payments/{gateway}`. **The signature is the permission**: whoever can
//! sign with the gateway's secret is the gateway. A message that was received before changes
//! nothing, and is answered as if it were the first.

use contract::rest::route::{CREATE, Route};
use contract::rest::{Args, Refusal, Reply, Schema, Stop, clean};
use frame::action::write;
use frame::{Action, Call, signing};
use serde_json::{Value, json};
use shop_rows::payment::{self, PaymentRow};
use types::{Amount, Timestamp};

use super::state::{self, Report};
use super::{follow, refund};
use crate::common::moments;
use crate::gateways::hosted;

const KINDS: &[&str] =
    &["authorised", "captured", "declined", "refunded", "refund_declined", "disputed"];
const TEXT_LENGTH_MAX: usize = 200;

pub(super) fn route(namespace: &str) -> Route<Action> {
    let text = |about: &str| Schema::text().keyword("maxLength", TEXT_LENGTH_MAX).about(about);
    let args = Args::new()
        .arg("gateway", Schema::text().about("Gateway ID."))
        .arg("type", Schema::text().choices(KINDS).required().about("What happened."))
        .arg("payment", text("Payment ID, as the shop gave it.").required())
        .arg("amount", text("Amount, as a decimal number.").required())
        .arg("currency", text("Currency of the amount.").required())
        .arg("occurred", text("When it happened, such as 2026-11-16T10:00:00Z.").required())
        .arg("reference", text("What the gateway calls the payment."))
        .arg("refund", text("Refund ID: the shop's, or the gateway's own."))
        .arg("reason", text("Why, in words for the shop's staff."));
    Route::at(namespace, r"/payments/(?P<gateway>[a-z0-9-]+)")
        .on(CREATE, args, write(is_signed, receive))
        .shows(Schema::object([
            ("payment", Schema::text().about("Payment ID.")),
            ("order", Schema::integer().about("Order ID.")),
            ("state", Schema::text().about("What the payment comes to.")),
        ]))
}

fn is_signed(call: &mut Call<'_>) -> Result<(), Stop> {
    let gateway = call.params.text("gateway").unwrap_or_default().to_owned();
    hosted::check_signature(call, &gateway)
}

/// What a message says, once it fits the payment.
struct Message {
    kind: String,
    amount: Amount,
    occurred: Timestamp,
    refund: String,
    reason: String,
}

fn mismatch(message: &'static str) -> Stop {
    Refusal::new(400, "payment_mismatch", message).into()
}

impl Message {
    fn read(call: &Call<'_>, payment: &PaymentRow) -> Result<Self, Stop> {
        let text = |name: &str| call.params.text(name).unwrap_or_default();
        let amount = Amount::parse(text("amount")).filter(|amount| *amount > Amount::ZERO);
        let amount = amount.ok_or_else(|| mismatch("amount must be a positive number."))?;
        if text("currency") != payment.currency {
            return Err(mismatch("The payment is in another currency."));
        }
        if amount > payment.amount {
            return Err(mismatch("The payment is for less than this amount."));
        }
        let occurred = Timestamp::parse(text("occurred"));
        let occurred =
            occurred.ok_or_else(|| mismatch("occurred must be such as 2026-11-16T10:00:00Z."))?;
        let kind = text("type").to_owned();
        let refund = text("refund").to_owned();
        if kind.starts_with("refund") && refund.is_empty() {
            return Err(mismatch("refund must name the refund."));
        }
        let reason = clean::text_field(text("reason"));
        Ok(Self { kind, amount, occurred, refund, reason })
    }
}

fn receive(call: &mut Call<'_>) -> Result<Reply, Stop> {
    let gateway = call.params.text("gateway").unwrap_or_default().to_owned();
    let id = call.params.text("payment").unwrap_or_default().to_owned();
    let found = payment::get(call.conn()?, &id)?.filter(|found| found.gateway == gateway);
    let Some(payment) = found else {
        let message = "There is no such payment at this gateway.";
        return Err(Refusal::new(404, "payment_not_found", message).into());
    };
    let message = Message::read(call, &payment)?;
    let name = call.visit.header(signing::MESSAGE_ID).unwrap_or_default().to_owned();
    let now = call.now();
    if !payment::take_message(call.conn()?, (&gateway, &name), &id, now)? {
        return Ok(reply(&payment));
    }
    let report = match &*message.kind {
        "refunded" => {
            refund::reported(call, &payment, (&message.refund, message.amount), &message.reason)?;
            return Ok(reply(&payment));
        }
        "refund_declined" => {
            refund::declined(call, &payment, &message.refund, &message.reason)?;
            return Ok(reply(&payment));
        }
        "authorised" => Report::Authorised,
        "captured" => Report::Captured(message.amount),
        "disputed" => Report::Disputed,
        _ => Report::Declined,
    };
    let mut after = payment.clone();
    state::add(&mut after, report, message.occurred);
    if let Some(reference) = call.params.text("reference").filter(|text| !text.is_empty()) {
        after.reference = clean::text_field(reference);
    }
    after.modified = moments::now(call);
    payment::update(call.conn()?, &after)?;
    follow::follow(call, &payment, &after, &message.reason)?;
    Ok(reply(&after))
}

fn reply(payment: &PaymentRow) -> Reply {
    let body: Value = json!({
        "payment": payment.payment_id,
        "order": payment.order_id,
        "state": state::of(payment).name(),
    });
    Reply::new(body)
}
