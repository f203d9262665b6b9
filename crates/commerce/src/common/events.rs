//! Tells the followers of the feed what happened to a record, in the transaction of the change.

use serde_json::Value;
use site::Call;
use store::outbox::{self, Event};
use types::Result;

/// Appends an event such as `coupon.created`. `payload` is an object.
pub fn append(call: &mut Call<'_>, kind: &'static str, id: i64, payload: &Value) -> Result<()> {
    let event = Event::of_site(kind, id, payload.to_string(), call.now());
    outbox::append(call.conn()?, &event)
}
