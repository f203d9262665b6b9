//! Shipping zones: places of the world, and the ways of shipping that are offered there. The zone 0
//! is what no other zone covers; it has methods, but neither places nor a name to change.

mod bodies;
mod fields;
mod locations;
mod methods;
mod zones;

use contract::rest::route::Route;
use contract::rest::{Refusal, Stop};
use frame::{Action, Call, Names};
use shop_rows::shipping::{self, ZoneRow};
use types::Capability;

use crate::common::events;

/// The zone that is always there.
const REST_OF_WORLD: i64 = 0;
const REST_OF_WORLD_NAME: &str = "Locations not covered by your other zones";

pub(crate) fn routes(names: &Names) -> Vec<Route<Action>> {
    let of = |namespace: &str| {
        let mut routes = zones::routes(namespace);
        routes.push(locations::route(namespace));
        routes.extend(methods::routes(namespace));
        routes
    };
    [&names.commerce_v3, &names.commerce_v2].into_iter().flat_map(|name| of(name)).collect()
}

/// A shop that ships nothing has no zones to speak of.
fn check_shipping(call: &Call<'_>) -> Result<(), Stop> {
    if call.options().text("woocommerce_ship_to_countries") == "disabled" {
        let message = "Shipping is disabled.";
        return Err(Refusal::new(404, "rest_no_route", message).into());
    }
    Ok(())
}

fn need(call: &Call<'_>, code: &'static str, message: &'static str) -> Result<(), Stop> {
    check_shipping(call)?;
    call.need(Capability::ManageWoocommerce, code, message)
}

fn may_view(call: &mut Call<'_>) -> Result<(), Stop> {
    need(call, "woocommerce_rest_cannot_view", "You are not allowed to view shipping zones.")
}

fn may_create(call: &mut Call<'_>) -> Result<(), Stop> {
    need(call, "woocommerce_rest_cannot_create", "You are not allowed to create shipping zones.")
}

fn may_edit(call: &mut Call<'_>) -> Result<(), Stop> {
    need(call, "woocommerce_rest_cannot_edit", "You are not allowed to edit shipping zones.")
}

fn may_delete(call: &mut Call<'_>) -> Result<(), Stop> {
    need(call, "woocommerce_rest_cannot_delete", "You are not allowed to delete shipping zones.")
}

/// The zone that a variable of the path names.
fn zone_of(call: &mut Call<'_>, variable: &str) -> Result<ZoneRow, Stop> {
    let zone_id = call.params.path().get(variable).map(contract::rest::loose::to_int);
    let zone = match zone_id.unwrap_or_default() {
        REST_OF_WORLD => Some(rest_of_world()),
        zone_id => shipping::zone_get(call.conn()?, zone_id)?,
    };
    let message = "Shipping zone not found.";
    let unknown = || Refusal::new(404, "woocommerce_rest_shipping_zone_invalid", message);
    Ok(zone.ok_or_else(unknown)?)
}

fn rest_of_world() -> ZoneRow {
    ZoneRow { zone_id: REST_OF_WORLD, name: REST_OF_WORLD_NAME.to_owned(), position: 0 }
}

/// Tells followers that a zone, its places or its methods are not what they were.
fn append_event(call: &mut Call<'_>, kind: &'static str, zone_id: i64) -> Result<(), Stop> {
    Ok(events::append(call, kind, zone_id, &serde_json::json!({}))?)
}

/// What has no trash is deleted only by who says so.
fn need_force(call: &Call<'_>) -> Result<(), Stop> {
    if call.params.flag("force") {
        return Ok(());
    }
    let message = "This resource cannot be moved to the trash; set force to delete it.";
    // No answer of ours is a 5xx: those are for failures.
    Err(Refusal::new(400, "rest_trash_not_supported", message).into())
}
