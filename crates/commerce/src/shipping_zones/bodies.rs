//! How zones and their lists look.

use contract::rest::{Links, Reply};
use serde_json::{Value, json};
use site::Call;
use store::shipping::ZoneRow;

pub(super) fn zone_body(zone: &ZoneRow) -> Value {
    json!({ "id": zone.zone_id, "name": zone.name, "order": zone.position })
}

pub(super) fn zone_links(call: &Call<'_>, base: &str, zone_id: i64) -> Links {
    Links::new()
        .to("self", call.visit.rest(&format!("{base}/{zone_id}")))
        .to("collection", call.visit.rest(base))
        .to("describedby", call.visit.rest(&format!("{base}/{zone_id}/locations")))
}

/// A list that is whole.
pub(super) fn with_total(items: Vec<Value>) -> Reply {
    let total = items.len().to_string();
    Reply::new(items).header("x-wp-total", total).header("x-wp-totalpages", "1")
}
