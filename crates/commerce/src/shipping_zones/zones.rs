//! The zones themselves: their names and their order.

use contract::rest::route::{CREATE, DELETE, EDIT, READ, Route};
use contract::rest::{Args, Item, Refusal, Reply, Schema, Stop, clean};
use frame::action::{read, write};
use frame::{Action, Call};
use serde_json::Value;
use shop_rows::shipping::{self, ZoneRow};

use super::bodies::{zone_body, zone_links};
use super::{
    REST_OF_WORLD, append_event, may_create, may_delete, may_edit, may_view, need_force,
    rest_of_world, zone_of,
};
use crate::managers::{linked, with_total};

const BOTH: &[&str] = &["view", "edit"];
/// Zones of a shop at most.
const ZONES_MAX: usize = 1_000;

pub(super) fn routes(namespace: &str) -> Vec<Route<Action>> {
    let item = item();
    let base = format!("/{namespace}/shipping/zones");
    macro_rules! at_base {
        ($operation:path) => {{
            let base = base.clone();
            move |call: &mut Call<'_>| $operation(call, &base)
        }};
    }
    let id = || Args::new().arg("id", Schema::integer().about("Shipping zone ID."));
    let force = Schema::boolean()
        .default(false)
        .about("Required to be true, as zones cannot be moved to the trash.");
    let create_args = item.create_args().revise("name", Schema::required);
    vec![
        Route::at(namespace, "/shipping/zones")
            .on(READ, Args::new(), read(may_view, at_base!(list)))
            .lists()
            .on(CREATE, create_args, write(may_create, at_base!(create)))
            .creates()
            .schema(item.document()),
        Route::at(namespace, r"/shipping/zones/(?P<id>[\d]+)")
            .on(READ, id(), read(may_view, at_base!(get)))
            .on(EDIT, id().with(item.update_args()), write(may_edit, at_base!(update)))
            .on(DELETE, id().arg("force", force), write(may_delete, at_base!(delete)))
            .schema(item.document()),
    ]
}

fn item() -> Item {
    let id = Schema::integer().about("Shipping zone ID.").context(BOTH).readonly();
    let fields = [
        ("id", id),
        ("name", Schema::text().about("Shipping zone name.").context(BOTH)),
        ("order", Schema::integer().about("Sort order.").context(BOTH)),
    ];
    Item::new("shipping_zone", Schema::object(fields))
}

fn list(call: &mut Call<'_>, base: &str) -> Result<Reply, Stop> {
    let zones = shipping::zone_list(call.conn()?)?;
    let zones = [rest_of_world()].into_iter().chain(zones);
    let item = |zone: ZoneRow| linked(zone_body(&zone), zone_links(call, base, zone.zone_id));
    Ok(with_total(zones.map(item).collect::<Vec<Value>>()))
}

fn reply(call: &Call<'_>, base: &str, zone: &ZoneRow) -> Reply {
    Reply::new(zone_body(zone)).links(zone_links(call, base, zone.zone_id))
}

fn get(call: &mut Call<'_>, base: &str) -> Result<Reply, Stop> {
    let zone = zone_of(call, "id")?;
    Ok(reply(call, base, &zone))
}

/// Takes over what the request names.
fn apply(call: &Call<'_>, zone: &mut ZoneRow) {
    if let Some(name) = call.params.text("name") {
        zone.name = clean::text_field(name);
    }
    if let Some(order) = call.params.int("order") {
        zone.position = order;
    }
}

fn create(call: &mut Call<'_>, base: &str) -> Result<Reply, Stop> {
    if shipping::zone_list(call.conn()?)?.len() >= ZONES_MAX {
        let message = "A store must have at most 1000 shipping zones.";
        let code = "woocommerce_rest_shipping_zone_not_created";
        return Err(Refusal::new(400, code, message).into());
    }
    let mut zone = ZoneRow { zone_id: 0, name: String::new(), position: 0 };
    apply(call, &mut zone);
    zone.zone_id = shipping::zone_insert(call.conn()?, &zone)?;
    append_event(call, "shipping_zone.created", zone.zone_id)?;
    let location = call.visit.rest(&format!("{base}/{}", zone.zone_id));
    Ok(Reply { status: 201, ..reply(call, base, &zone) }.header("location", location))
}

fn update(call: &mut Call<'_>, base: &str) -> Result<Reply, Stop> {
    let mut zone = zone_of(call, "id")?;
    if zone.zone_id == REST_OF_WORLD {
        let message = "This zone cannot be changed.";
        let code = "woocommerce_rest_shipping_zone_invalid_zone";
        return Err(Refusal::new(403, code, message).into());
    }
    apply(call, &mut zone);
    shipping::zone_update(call.conn()?, &zone)?;
    append_event(call, "shipping_zone.updated", zone.zone_id)?;
    Ok(reply(call, base, &zone))
}

/// Deleting the rest of the world does nothing.
fn delete(call: &mut Call<'_>, base: &str) -> Result<Reply, Stop> {
    let zone = zone_of(call, "id")?;
    need_force(call)?;
    let reply = reply(call, base, &zone);
    if zone.zone_id != REST_OF_WORLD {
        shipping::zone_delete(call.conn()?, zone.zone_id)?;
        append_event(call, "shipping_zone.deleted", zone.zone_id)?;
    }
    Ok(reply)
}
