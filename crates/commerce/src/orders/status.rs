//! The statuses of orders, and what each of them means.

use contract::rest::route::{READ, Route};
use contract::rest::{Args, Reply, Stop};
use serde_json::{Value, json};
use site::action::memory;
use site::{Action, Call};
use types::Capability;

use super::record::Order;

/// Statuses with how people read them, in their order.
pub(crate) const STATUSES: &[(&str, &str)] = &[
    ("pending", "Pending payment"),
    ("processing", "Processing"),
    ("on-hold", "On hold"),
    ("completed", "Completed"),
    ("cancelled", "Cancelled"),
    ("refunded", "Refunded"),
    ("failed", "Failed"),
    ("checkout-draft", "Draft"),
];

pub(super) fn route(namespace: &str) -> Route<Action> {
    Route::at(namespace, "/orders/statuses").on(READ, Args::new(), memory(may_list, |_| Ok(list())))
}

fn may_list(call: &mut Call<'_>) -> Result<(), Stop> {
    let message = "You are not allowed to list resources.";
    call.need(Capability::ReadPrivateShopOrders, "woocommerce_rest_cannot_view", message)
}

fn list() -> Reply {
    let status = |(slug, name): &(&str, &str)| json!({ "slug": slug, "name": name });
    Reply::new(STATUSES.iter().map(status).collect::<Vec<Value>>())
}

/// How people read a status.
pub(super) fn name(status: &str) -> &str {
    let known = STATUSES.iter().find(|(slug, _)| *slug == status);
    known.map_or(status, |(_, name)| name)
}

/// Statuses for which the stock falls and sales are counted.
pub(super) fn is_sale(status: &str) -> bool {
    matches!(status, "processing" | "completed" | "on-hold")
}

/// Statuses that take back what was counted for the order.
pub(super) fn is_void(status: &str) -> bool {
    matches!(status, "cancelled" | "trash")
}

/// Statuses in which an order can be paid.
pub(super) fn can_be_paid(status: &str) -> bool {
    matches!(status, "on-hold" | "pending" | "failed" | "cancelled" | "checkout-draft")
}

pub(super) fn needs_payment(order: &Order) -> bool {
    let waits = matches!(&*order.row.status, "pending" | "failed" | "checkout-draft");
    waits && order.row.total > types::Amount::ZERO
}
