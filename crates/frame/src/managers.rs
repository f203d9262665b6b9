//! What the shop's managers administer, such as settings: who may, and how its lists look.

use contract::rest::{Links, Reply, Stop};
use serde_json::Value;
use types::Capability;

use crate::Call;

pub fn may_view(call: &mut Call<'_>) -> Result<(), Stop> {
    need_manager(call, "cannot_view", "You are not allowed to view this resource.")
}

pub fn may_edit(call: &mut Call<'_>) -> Result<(), Stop> {
    need_manager(call, "cannot_edit", "You are not allowed to edit this resource.")
}

fn need_manager(call: &Call<'_>, code: &str, message: &'static str) -> Result<(), Stop> {
    if call.can(Capability::ManageWoocommerce) {
        return Ok(());
    }
    Err(call.deny(call.site.shop_code(code), message).into())
}

/// An item of a list, which carries its links in its body.
pub fn linked(mut body: Value, links: Links) -> Value {
    if let (Value::Object(members), Some(links)) = (&mut body, links.into_value()) {
        members.insert(String::from("_links"), links);
    }
    body
}

/// A list that is whole, with its number.
pub fn with_total(items: Vec<Value>) -> Reply {
    let total = items.len().to_string();
    Reply::new(items).header("x-wp-total", total).header("x-wp-totalpages", "1")
}
