//! The sandbox's own payment gateway: the other side of [`commerce::payments`], for those who try
//! the shop out. **It has no way in but the published one**: it is asked by signed requests, shows
//! a payment page of its own (`pages::sandbox`), and reports by signed messages, which a job sends.
//! Production has none of it.

use std::sync::Arc;
use std::time::Duration;

use commerce::gateways::hosted;
use commerce::payments::{Unanswered, ask};
use contract::rest::route::{CREATE, Route};
use contract::rest::{Args, Refusal, Reply, Schema, Stop};
use db::Conn;
use frame::action::write;
use frame::jobs::{self, Halt, JobCx, JobKind, Limits, Running};
use frame::{Action, Call, Options};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use shop_rows::sandbox_payment::{self, SandboxPaymentRow};
use types::{Environment, Error, Result, Timestamp};

/// What the paths of its pages begin with.
pub(crate) const PAGES: &str = "/sandbox-gateway/";
pub(crate) const OPEN: &str = "open";
/// The buyer has to confirm in a second step.
pub(crate) const ACTION: &str = "action";
pub(crate) const DONE: &str = "done";

const REPORT_JOB: &str = "sandbox.gateway_report";
/// How long it takes to capture a delayed payment, to dispute one, to pay a slow refund back.
const DELAY: Duration = Duration::from_secs(5);
const SESSION_BYTES: usize = 16;
const TEXT_LENGTH_MAX: usize = 2_000;

pub(crate) fn route(namespace: &str) -> Route<Action> {
    let text = |about: &str| Schema::text().keyword("maxLength", TEXT_LENGTH_MAX).about(about);
    let kinds = Schema::text().choices(&["payment", "refund"]).required();
    let args = Args::new()
        .arg("id", text("Gateway ID."))
        .arg("type", kinds.about("What is asked for."))
        .arg("payment", text("Payment ID.").required())
        .arg("refund", text("Refund ID."))
        .arg("amount", text("Amount, as a decimal number.").required())
        .arg("currency", text("Currency of the amount.").required())
        .arg("description", text("What is paid for."))
        .arg("reason", text("Why it is refunded."))
        .arg("return_url", text("Where the buyer goes afterwards."))
        .arg("cancel_url", text("Where the buyer goes who does not pay."))
        .arg("callback_url", text("Where reports go."));
    Route::at(namespace, r"/sandbox/gateways/(?P<id>[a-z0-9-]+)")
        .on(CREATE, args, write(may_ask, answer))
        .shows(Schema::object([
            ("url", text("Where the buyer pays.")),
            ("reference", text("What the gateway calls the payment.")),
            ("status", text("What becomes of a refund.")),
            ("reason", text("Why a refund is declined.")),
        ]))
}

fn may_ask(call: &mut Call<'_>) -> Result<(), Stop> {
    if call.site.environment() != Environment::Sandbox {
        let message = "No route matches this path and method.";
        return Err(Refusal::new(404, "rest_no_route", message).into());
    }
    let id = call.params.text("id").unwrap_or_default().to_owned();
    hosted::check_signature(call, &id)
}

fn answer(call: &mut Call<'_>) -> Result<Reply, Stop> {
    match call.params.text("type") {
        Some("refund") => refund(call),
        _ => payment(call),
    }
}

/// Opens a session; the one that there is when the same is asked for again.
fn payment(call: &mut Call<'_>) -> Result<Reply, Stop> {
    let text = |call: &Call<'_>, name: &str| call.params.text(name).unwrap_or_default().to_owned();
    let payment_id = text(call, "payment");
    let known = sandbox_payment::of_payment(call.conn()?, &payment_id)?;
    let session = if let Some(known) = known {
        known
    } else {
        let mut bytes = [0; SESSION_BYTES];
        vault::fill_random(&mut bytes)?;
        let made = SandboxPaymentRow {
            session_id: format!("{:032x}", u128::from_be_bytes(bytes)),
            gateway: text(call, "id"),
            payment_id,
            description: text(call, "description"),
            currency: text(call, "currency"),
            amount: text(call, "amount"),
            callback_url: text(call, "callback_url"),
            return_url: text(call, "return_url"),
            cancel_url: text(call, "cancel_url"),
            state: OPEN.to_owned(),
            created: call.now(),
        };
        sandbox_payment::insert(call.conn()?, &made)?;
        made
    };
    let home = call.site.address_for_emails(call.options());
    Ok(Reply::new(json!({
        "url": format!("{home}{PAGES}{}/", session.session_id),
        "reference": reference(&session),
    })))
}

fn reference(session: &SandboxPaymentRow) -> String {
    let start: String = session.session_id.chars().take(12).collect();
    format!("sandbox_{start}")
}

/// Pays back; the reason tells what to simulate.
fn refund(call: &mut Call<'_>) -> Result<Reply, Stop> {
    let text = |name: &str| call.params.text(name).unwrap_or_default().to_owned();
    let (payment_id, refund, amount) = (text("payment"), text("refund"), text("amount"));
    let reason = text("reason").to_lowercase();
    let found = sandbox_payment::of_payment(call.conn()?, &payment_id)?;
    let Some(session) = found else {
        let message = "The sandbox's gateway knows no such payment.";
        return Err(Refusal::new(404, "sandbox_payment_not_found", message).into());
    };
    if reason.contains("decline") {
        let reason = "The sandbox declines refunds with this reason";
        return Ok(Reply::new(json!({ "status": "declined", "reason": reason })));
    }
    if !reason.contains("slow") {
        return Ok(Reply::new(json!({ "status": "succeeded" })));
    }
    let report = Report { kind: "refunded", refund: &refund, amount: &amount };
    let now = call.now();
    let due = now.plus(DELAY);
    enqueue(call.conn()?, &session, &report, (now, due))?;
    Ok(Reply::new(json!({ "status": "pending" })))
}

/// What the buyer answers on the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Choice {
    Approve,
    Decline,
    NeedsAction,
    Delay,
    Dispute,
}

impl Choice {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        Some(match text {
            "approve" => Self::Approve,
            "decline" => Self::Decline,
            "action" => Self::NeedsAction,
            "delay" => Self::Delay,
            "dispute" => Self::Dispute,
            _ => return None,
        })
    }

    /// What approving a payment comes to by the cents of its amount, so that whole runs can be
    /// tried out by prices alone.
    pub(crate) fn of_amount(amount: &str) -> Option<Self> {
        let (_, cents) = amount.rsplit_once('.')?;
        Some(match cents {
            "01" => Self::Decline,
            "02" => Self::NeedsAction,
            "03" => Self::Delay,
            "04" => Self::Dispute,
            _ => return None,
        })
    }

    /// What is done, in a sentence's words.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Approve => "approved",
            Self::Decline => "declined",
            Self::NeedsAction => "confirmed in a second step",
            Self::Delay => "captured some seconds later",
            Self::Dispute => "disputed some seconds later",
        }
    }

    /// What is reported, and whether only after a while.
    fn reports(self) -> &'static [(&'static str, bool)] {
        match self {
            Self::Approve => &[("authorised", false), ("captured", false)],
            Self::Decline => &[("declined", false)],
            Self::NeedsAction => &[],
            Self::Delay => &[("authorised", false), ("captured", true)],
            Self::Dispute => &[("authorised", false), ("captured", false), ("disputed", true)],
        }
    }
}

/// Takes the buyer's answer, once. Returns the session as it is then, and what was chosen.
pub(crate) fn choose(
    conn: &mut dyn Conn,
    session_id: &str,
    choice: Choice,
    now: Timestamp,
) -> Result<Option<(SandboxPaymentRow, Choice)>> {
    let Some(mut session) = sandbox_payment::get(conn, session_id)? else { return Ok(None) };
    if session.state == DONE {
        return Ok(Some((session, choice)));
    }
    // Who confirms in the second step has been through this.
    let by_amount = Choice::of_amount(&session.amount);
    let choice = match by_amount {
        Some(by_amount) if choice == Choice::Approve && session.state == OPEN => by_amount,
        _ => choice,
    };
    let state = if choice == Choice::NeedsAction { ACTION } else { DONE };
    state.clone_into(&mut session.state);
    sandbox_payment::update(conn, &session)?;
    for (kind, is_late) in choice.reports() {
        let due = if *is_late { now.plus(DELAY) } else { now };
        let report = Report { kind, refund: "", amount: &session.amount };
        enqueue(conn, &session, &report, (now, due))?;
    }
    Ok(Some((session, choice)))
}

/// Something to report.
struct Report<'a> {
    kind: &'a str,
    refund: &'a str,
    amount: &'a str,
}

/// The arguments of a job.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Kept {
    session_id: String,
    kind: String,
    refund: String,
    amount: String,
    occurred: String,
}

fn enqueue(
    conn: &mut dyn Conn,
    session: &SandboxPaymentRow,
    report: &Report<'_>,
    (now, due): (Timestamp, Timestamp),
) -> Result<()> {
    let kept = Kept {
        session_id: session.session_id.clone(),
        kind: report.kind.to_owned(),
        refund: report.refund.to_owned(),
        amount: report.amount.to_owned(),
        occurred: due.to_string(),
    };
    jobs::enqueue_for(conn, REPORT_JOB, None, &kept, (now, due)).map(drop)
}

/// Sends a report to the shop.
#[derive(Debug)]
pub(crate) struct ReportJob;

impl JobKind for ReportJob {
    fn name(&self) -> &'static str {
        REPORT_JOB
    }

    fn run<'a>(&'a self, cx: &'a JobCx) -> Running<'a> {
        Box::pin(report(cx))
    }

    fn limits(&self) -> Limits {
        Limits { first_wait: Duration::from_secs(1), ..Limits::USUAL }
    }

    fn is_told(&self) -> bool {
        false
    }
}

async fn report(cx: &JobCx) -> Result<Value, Halt> {
    let kept: Kept = cx.arguments()?;
    let (site, id) = (Arc::clone(cx.site()), kept.session_id.clone());
    let found = cx.site().store().read(move |conn| {
        let Some(session) = sandbox_payment::get(conn, &id)? else { return Ok(None) };
        let gateway = hosted::find(site.vault(), &Options::read(conn)?, &session.gateway)?;
        Ok(gateway.map(|gateway| (session, gateway)))
    });
    let Some((session, gateway)) = found.await? else {
        return Ok(json!({ "state": "gone" }));
    };
    let Some(shop) = gateway.at(&session.callback_url) else {
        return Err(Halt::Failed(Error::invalid("the callback_url is no address")));
    };
    let body = json!({
        "type": kept.kind,
        "payment": session.payment_id,
        "amount": kept.amount,
        "currency": session.currency,
        "occurred": kept.occurred,
        "reference": reference(&session),
        "refund": kept.refund,
    });
    let message_id = format!("sandbox-{}", cx.job().job_id);
    match ask(cx.site(), &shop, &message_id, &body).await {
        Ok(answer) => Ok(answer),
        Err(Unanswered::Unreachable(cause)) => Err(Halt::Retry(Error::unavailable(cause))),
        Err(Unanswered::Refused(cause)) => Err(Halt::Failed(Error::invalid(cause))),
        Err(Unanswered::Failed(error)) => Err(error.into()),
    }
}
