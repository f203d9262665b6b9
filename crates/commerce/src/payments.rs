//! Payments of orders at gateways with a payment page of their own.
//!
//! A checkout opens a payment with the order, in its transaction. Afterwards the gateway is asked
//! for a page ([`page`]), and reports what became of the payment by signed messages ([`callback`]).
//! What it reports is kept as facts ([`state`]), and the order follows what the facts come to
//! ([`follow`]): **messages may come late, twice and in any order, and the order ends up the
//! same.** Refunds go to the gateway by a job ([`refund`]).
//!
//! **Nothing is asked of a gateway inside a transaction**, and nothing it says is believed without
//! its signature.

mod callback;
mod follow;
mod page;
mod refund;
mod request;
mod state;
mod words;

use std::time::Duration;

use contract::rest::Stop;
use contract::rest::route::Route;
use frame::jobs::JobKind;
use frame::{Action, Call, Names};
use shop_rows::payment::{self, PaymentRow};
use types::Result;

pub use self::page::{PaymentPage, page_of};
pub use self::request::{Unanswered, ask};

use crate::orders::Order;

/// A page of a gateway is offered again for this long; afterwards another payment is opened.
const PAGE_LIFE: Duration = Duration::from_mins(30);
/// Random bytes in the id of a payment.
const ID_BYTES: usize = 16;

pub(crate) fn routes(names: &Names) -> Vec<Route<Action>> {
    vec![callback::route(&names.docs)]
}

/// The kinds of jobs that payments need.
pub fn jobs() -> Vec<Box<dyn JobKind>> {
    vec![Box::new(refund::RefundJob)]
}

/// Opens a payment of the order, which is written already; one that waits for the same is taken.
pub fn open(call: &mut Call<'_>, order: &Order, gateway: &str) -> Result<PaymentRow, Stop> {
    let (now, row) = (call.now(), &order.row);
    for known in payment::of_order(call.conn()?, order.id())? {
        let waits = state::of(&known) == state::State::Open && now < known.created.plus(PAGE_LIFE);
        let is_same =
            known.gateway == gateway && known.currency == row.currency && known.amount == row.total;
        if waits && is_same {
            return Ok(known);
        }
    }
    let opened = PaymentRow {
        payment_id: new_id("pay_")?,
        order_id: order.id(),
        gateway: gateway.to_owned(),
        currency: row.currency.clone(),
        amount: row.total,
        created: now,
        modified: now,
        ..PaymentRow::default()
    };
    payment::insert(call.conn()?, &opened)?;
    Ok(opened)
}

/// A name that nobody can guess.
fn new_id(prefix: &str) -> Result<String> {
    let mut bytes = [0; ID_BYTES];
    vault::fill_random(&mut bytes)?;
    Ok(format!("{prefix}{:032x}", u128::from_be_bytes(bytes)))
}
