//! The statuses of orders, and what each of them means. **A status is written here and nowhere
//! else**. An imported order may have a status that an extension of its shop defined, so a status
//! is text and not an enum.

use contract::rest::route::{READ, Route};
use contract::rest::{Args, Reply, Schema, Stop};
use frame::action::memory;
use frame::{Action, Call};
use serde_json::{Value, json};
use shop_rows::order::OrderRow;
use types::Capability;

use super::record::Order;

pub const PENDING: &str = "pending";
pub const PROCESSING: &str = "processing";
pub const ON_HOLD: &str = "on-hold";
pub const COMPLETED: &str = "completed";
pub const CANCELLED: &str = "cancelled";
pub const REFUNDED: &str = "refunded";
pub const FAILED: &str = "failed";
pub const CHECKOUT_DRAFT: &str = "checkout-draft";
/// An order that somebody began to enter by hand; like the trash, it is not offered as a choice.
pub const AUTO_DRAFT: &str = "auto-draft";
pub const TRASH: &str = "trash";

/// The statuses that an order can be given, with their display names, in their order.
pub const STATUSES: &[(&str, &str)] = &[
    (PENDING, "Pending payment"),
    (PROCESSING, "Processing"),
    (ON_HOLD, "On hold"),
    (COMPLETED, "Completed"),
    (CANCELLED, "Cancelled"),
    (REFUNDED, "Refunded"),
    (FAILED, "Failed"),
    (CHECKOUT_DRAFT, "Draft"),
];

pub(super) fn route(namespace: &str) -> Route<Action> {
    let status = Schema::object([
        ("slug", Schema::text().about("Order status.")),
        ("name", Schema::text().about("Name of the status.")),
    ]);
    Route::at(namespace, "/orders/statuses")
        .on(READ, Args::new(), memory(may_list, |_| Ok(list())))
        .shows(Schema::list(status))
}

fn may_list(call: &mut Call<'_>) -> Result<(), Stop> {
    let message = "You are not allowed to list resources.";
    call.need(Capability::ReadPrivateShopOrders, "woocommerce_rest_cannot_view", message)
}

fn list() -> Reply {
    let status = |(slug, name): &(&str, &str)| json!({ "slug": slug, "name": name });
    Reply::new(STATUSES.iter().map(status).collect::<Vec<Value>>())
}

/// The display name of a status.
pub fn name(status: &str) -> &str {
    let known = STATUSES.iter().find(|(slug, _)| *slug == status);
    known.map_or(status, |(_, name)| name)
}

/// Statuses for which the stock falls and sales are counted.
pub(super) fn is_sale(status: &str) -> bool {
    matches!(status, PROCESSING | COMPLETED | ON_HOLD)
}

/// Statuses that take back what was counted for the order.
pub(super) fn is_void(status: &str) -> bool {
    matches!(status, CANCELLED | TRASH)
}

/// Statuses in which an order can be paid.
pub(super) fn can_be_paid(status: &str) -> bool {
    matches!(status, ON_HOLD | PENDING | FAILED | CANCELLED | CHECKOUT_DRAFT)
}

pub(super) fn needs_payment(order: &Order) -> bool {
    awaits_payment(&order.row)
}

/// Whether there is something to pay, and nobody has said how.
pub fn awaits_payment(row: &OrderRow) -> bool {
    let waits = matches!(&*row.status, PENDING | FAILED | CHECKOUT_DRAFT);
    waits && row.total > types::Amount::ZERO
}
