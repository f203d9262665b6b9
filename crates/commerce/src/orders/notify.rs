//! E-mails that follow from what happens to an order: to the store and to the customer.
//! **Each is queued in the transaction of the change that it is about**, and once.

use std::sync::Arc;

use frame::{Call, Options, mail};
use types::Error;

use super::record::Order;
use super::{receipt, status};
use crate::emails::{self, Audience, Content, EmailKind};

/// Statuses that an order has before the store takes it up.
const UNPLACED: &[&str] = &[
    status::PENDING,
    status::FAILED,
    status::CANCELLED,
    status::CHECKOUT_DRAFT,
    status::AUTO_DRAFT,
];
const ANY: &[&str] = &[];
const NEW_ORDER: &str = "new_order";

/// Which e-mails follow from a change of status: the e-mail, from where, to where. An empty list is
/// any status.
static TRIGGERS: &[(&str, &[&str], &[&str])] = &[
    (NEW_ORDER, UNPLACED, &[status::PROCESSING, status::COMPLETED, status::ON_HOLD]),
    ("cancelled_order", &[status::PROCESSING, status::ON_HOLD], &[status::CANCELLED]),
    ("customer_cancelled_order", &[status::PROCESSING, status::ON_HOLD], &[status::CANCELLED]),
    ("failed_order", &[status::PENDING, status::ON_HOLD], &[status::FAILED]),
    ("customer_failed_order", &[status::PENDING, status::ON_HOLD], &[status::FAILED]),
    ("customer_on_hold_order", UNPLACED, &[status::ON_HOLD]),
    (
        "customer_processing_order",
        &[
            status::PENDING,
            status::FAILED,
            status::CANCELLED,
            status::ON_HOLD,
            status::CHECKOUT_DRAFT,
            status::AUTO_DRAFT,
        ],
        &[status::PROCESSING],
    ),
    ("customer_completed_order", ANY, &[status::COMPLETED]),
];

/// Sends what follows from the order's changes of status; called before the order is written.
pub(super) fn follow_status(call: &mut Call<'_>, order: &mut Order) -> Result<(), Error> {
    for (from, to) in std::mem::take(&mut order.transitions) {
        let fits =
            |statuses: &[&str], status: &str| statuses.is_empty() || statuses.contains(&status);
        let due = TRIGGERS.iter().filter(|(_, old, new)| fits(old, &from) && fits(new, &to));
        for kind in due.filter_map(|(id, ..)| emails::find(id)) {
            // The store hears of an order once, however often it comes and goes.
            if kind.id == NEW_ORDER && std::mem::replace(&mut order.details.is_announced, true) {
                continue;
            }
            queue(call, order, kind, "", Vec::new())?;
        }
    }
    Ok(())
}

/// Tells the customer of a refund.
pub(super) fn tell_refund(call: &mut Call<'_>, order: &Order, is_full: bool) -> Result<(), Error> {
    let case = if is_full { "_full" } else { "_partial" };
    match emails::find("customer_refunded_order") {
        Some(kind) => queue(call, order, kind, case, Vec::new()).map(drop),
        None => Ok(()),
    }
}

/// Tells the customer what was noted for them.
pub(super) fn tell_note(call: &mut Call<'_>, order: &Order, note: &str) -> Result<(), Error> {
    let note = frame::text::render::plain_text(note);
    match emails::find("customer_note") {
        Some(kind) => queue(call, order, kind, "", vec![note]).map(drop),
        None => Ok(()),
    }
}

/// Queues an e-mail about the order, with what the order consists of.
pub(super) fn queue(
    call: &mut Call<'_>,
    order: &Order,
    kind: &EmailKind,
    case: &str,
    first: Vec<String>,
) -> Result<usize, Error> {
    if !mail::is_on(call.site) {
        return Ok(0);
    }
    let options = Arc::clone(&call.visit.options);
    let mut paragraphs = first;
    let is_open = matches!(&*order.row.status, status::ON_HOLD | status::PENDING);
    if kind.audience == Audience::Customer && is_open {
        paragraphs.extend(instructions(&options, &order.row.payment_method));
    }
    paragraphs.push(format!("Order {}", order.row.number));
    let rows = receipt::rows(&options, order).into_iter();
    paragraphs.extend(rows.map(|(name, amount)| format!("{name}: {amount}")));
    if kind.audience == Audience::Shop && !order.details.customer_note.is_empty() {
        paragraphs.push(format!("Note: {}", order.details.customer_note));
    }
    let content = Content {
        to: &order.details.billing.email,
        case,
        words: words(&options, order),
        paragraphs,
        link: None,
    };
    emails::queue(call, kind, &content)
}

/// What buyers who chose this way to pay are to do, if the shop says so.
fn instructions(options: &Options, payment_method: &str) -> Option<String> {
    let settings = options.get(&format!("woocommerce_{payment_method}_settings"));
    let text = settings.get("instructions")?.as_str()?.to_owned();
    Some(text).filter(|text| !text.is_empty())
}

/// What names in braces stand for.
fn words(options: &Options, order: &Order) -> Vec<(&'static str, String)> {
    let billing = &order.details.billing;
    let name = format!("{} {}", billing.first_name, billing.last_name).trim().to_owned();
    let name = if name.is_empty() { billing.email.clone() } else { name };
    let name = if name.is_empty() { String::from("a guest") } else { name };
    vec![
        ("order_number", order.row.number.clone()),
        ("order_date", receipt::day_of(options, order.row.created)),
        ("order_billing_full_name", name.clone()),
        ("customer_name", name),
    ]
}
