//! How zones and their lists look.

use contract::rest::Links;
use frame::Call;
use serde_json::{Value, json};
use shop_rows::shipping::ZoneRow;

pub(super) fn zone_body(zone: &ZoneRow) -> Value {
    json!({ "id": zone.zone_id, "name": zone.name, "order": zone.position })
}

pub(super) fn zone_links(call: &Call<'_>, base: &str, zone_id: i64) -> Links {
    Links::new()
        .to("self", call.visit.rest(&format!("{base}/{zone_id}")))
        .to("collection", call.visit.rest(base))
        .to("describedby", call.visit.rest(&format!("{base}/{zone_id}/locations")))
}
