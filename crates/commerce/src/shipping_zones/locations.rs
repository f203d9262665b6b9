//! The places of a zone, which are changed all at once.

use contract::rest::route::{EDIT, READ, Route};
use contract::rest::{Args, Item, Links, Refusal, Reply, Schema, Stop, clean};
use frame::action::{read, write};
use frame::{Action, Call};
use serde_json::{Value, json};
use shop_rows::shipping::{self, LocationRow};

use super::{REST_OF_WORLD, append_event, may_edit, may_view, zone_of};
use crate::managers::{linked, with_total};

const BOTH: &[&str] = &["view", "edit"];
const KINDS: &[&str] = &["postcode", "state", "country", "continent"];
const DEFAULT_KIND: &str = "country";
/// Places of a zone at most.
const PLACES_MAX: usize = 10_000;

pub(super) fn route(namespace: &str) -> Route<Action> {
    let kind = Schema::text().choices(KINDS).about("Location type.").context(BOTH);
    let fields = [("code", Schema::text().about("Location code.").context(BOTH)), ("type", kind)];
    let item = Item::new("shipping_zone_location", Schema::object(fields));
    let id = || Args::new().arg("id", Schema::integer().about("Shipping zone ID."));
    let base = format!("/{namespace}/shipping/zones");
    let base_of_edit = base.clone();
    let list = move |call: &mut Call<'_>| list(call, &base);
    let edit = move |call: &mut Call<'_>| update(call, &base_of_edit);
    Route::at(namespace, r"/shipping/zones/(?P<id>[\d]+)/locations")
        .on(READ, id(), read(may_view, list))
        .lists()
        .on(EDIT, id().with(item.update_args()), write(may_edit, edit))
        .lists()
        .schema(item.document())
}

fn list(call: &mut Call<'_>, base: &str) -> Result<Reply, Stop> {
    let zone = zone_of(call, "id")?;
    let locations = match zone.zone_id {
        REST_OF_WORLD => Vec::new(),
        zone_id => shipping::locations_of(call.conn()?, zone_id)?,
    };
    let zone_path = format!("{base}/{}", zone.zone_id);
    let items = locations.iter().map(|location| {
        let links = Links::new()
            .to("collection", call.visit.rest(&format!("{zone_path}/locations")))
            .to("describes", call.visit.rest(&zone_path));
        linked(json!({ "code": location.code, "type": location.kind }), links)
    });
    Ok(with_total(items.collect()))
}

/// The body is a list of places. Those without a code, or of a kind that there is not, are passed
/// over.
fn update(call: &mut Call<'_>, base: &str) -> Result<Reply, Stop> {
    let zone = zone_of(call, "id")?;
    if zone.zone_id == REST_OF_WORLD {
        let message = "The locations of this zone cannot be changed.";
        let code = "woocommerce_rest_shipping_zone_locations_invalid_zone";
        return Err(Refusal::new(403, code, message).into());
    }
    let given = call.params.json().and_then(Value::as_array).cloned().unwrap_or_default();
    if given.len() > PLACES_MAX {
        let message = "A zone must have at most 10000 locations.";
        return Err(Refusal::new(400, "rest_invalid_param", message).into());
    }
    let locations: Vec<LocationRow> = given.iter().filter_map(location).collect();
    shipping::locations_set(call.conn()?, zone.zone_id, &locations)?;
    append_event(call, "shipping_zone.updated", zone.zone_id)?;
    list(call, base)
}

fn location(given: &Value) -> Option<LocationRow> {
    let text = |name: &str| given.get(name).and_then(Value::as_str).map(clean::text_field);
    let code = text("code").filter(|code| !code.is_empty())?;
    let kind = text("type").filter(|kind| !kind.is_empty());
    let kind = kind.unwrap_or_else(|| DEFAULT_KIND.to_owned());
    KINDS.contains(&kind.as_str()).then_some(LocationRow { kind, code })
}
