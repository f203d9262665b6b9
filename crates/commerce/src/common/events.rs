//! Tells the followers of the feed what happened to a record, in the transaction of the change.

use db::outbox::{self, Event};
use frame::Call;
use serde_json::Value;
use types::Result;

/// Appends an event such as `coupon.created`. `payload` is an object.
pub fn append(call: &mut Call<'_>, kind: &'static str, id: i64, payload: &Value) -> Result<()> {
    let kind = if call.visit.is_import { imported(kind) } else { kind };
    let event = Event::of_site(kind, id, payload.to_string(), call.now());
    outbox::append(call.conn()?, &event)
}

/// Creations with what they are called when the record was made elsewhere, long ago perhaps:
/// reports follow both, and webhooks are not told of a past that is not news.
const IMPORTED: &[(&str, &str)] = &[
    ("attribute.created", "attribute.imported"),
    ("coupon.created", "coupon.imported"),
    ("customer.created", "customer.imported"),
    ("order.created", "order.imported"),
    ("product.created", "product.imported"),
    ("refund.created", "refund.imported"),
    ("review.created", "review.imported"),
    ("tax_class.created", "tax_class.imported"),
    ("tax_rate.created", "tax_rate.imported"),
    ("term.created", "term.imported"),
];

/// The name of the event when the record comes from elsewhere.
pub fn imported(kind: &'static str) -> &'static str {
    IMPORTED.iter().find(|(made, _)| *made == kind).map_or(kind, |(_, imported)| imported)
}
