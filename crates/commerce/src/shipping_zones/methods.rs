//! The ways of shipping that a zone offers, each with its own settings there.

use contract::rest::route::{CREATE, DELETE, EDIT, READ, Route};
use contract::rest::{Args, Item, Links, Refusal, Reply, Schema, Stop, loose};
use frame::action::{read, write};
use frame::{Action, Call};
use serde_json::{Map, Value, json};
use shop_rows::shipping::{self, MethodRow, ZoneRow};
use types::Error;

use super::{
    append_event, fields, may_create, may_delete, may_edit, may_view, need_force, zone_of,
};
use crate::managers::{linked, with_total};
use crate::setting_types::TYPES;
use crate::setting_types::{accept, choices_body};
use crate::shipping_methods::METHODS;

const BOTH: &[&str] = &["view", "edit"];
/// Methods of a zone at most.
const METHODS_MAX: usize = 100;
const CHANGED: &str = "shipping_zone.updated";
/// Types that only settings of ways of shipping have.
const MORE_TYPES: &[&str] = &["class", "order"];

pub(super) fn routes(namespace: &str) -> Vec<Route<Action>> {
    let item = item();
    let base = format!("/{namespace}/shipping/zones");
    macro_rules! at_base {
        ($operation:path) => {{
            let base = base.clone();
            move |call: &mut Call<'_>| $operation(call, &base)
        }};
    }
    let zone = || Args::new().arg("zone_id", Schema::integer().about("Shipping zone ID."));
    let instance = Schema::integer().about("Shipping method instance ID.");
    let with_id = || zone().arg("instance_id", instance.clone());
    let method = Schema::any().about("Shipping method ID.").required();
    let create_args = zone().with(item.create_args()).arg("method_id", method);
    let force = Schema::boolean()
        .default(false)
        .about("Required to be true, as methods cannot be moved to the trash.");
    vec![
        Route::at(namespace, r"/shipping/zones/(?P<zone_id>[\d]+)/methods")
            .on(READ, zone(), read(may_view, at_base!(list)))
            .lists()
            .on(CREATE, create_args, write(may_create, at_base!(create)))
            .schema(item.document()),
        Route::at(namespace, r"/shipping/zones/(?P<zone_id>[\d]+)/methods/(?P<instance_id>[\d]+)")
            .on(READ, with_id(), read(may_view, at_base!(get)))
            .on(EDIT, with_id().with(item.update_args()), write(may_edit, at_base!(update)))
            .on(DELETE, with_id().arg("force", force), write(may_delete, at_base!(delete)))
            .schema(item.document()),
    ]
}

fn item() -> Item {
    let text = |about: &str| Schema::text().about(about).context(BOTH);
    let shown = |about: &str| text(about).readonly();
    let whole = |about: &str| Schema::integer().about(about).context(BOTH);
    let setting = Schema::object([
        ("id", shown("Setting ID.")),
        ("label", shown("Setting name.")),
        ("description", shown("Setting description.")),
        ("type", text("Setting type.").choices(&[TYPES, MORE_TYPES].concat()).readonly()),
        ("value", text("Setting value.")),
        ("default", shown("Default value.")),
        ("tip", shown("Help text.")),
        ("placeholder", shown("Placeholder.")),
    ]);
    let settings = setting.clone().shown_as(Schema::map().additional(setting));
    let enabled = Schema::boolean().about("Whether the shipping method is enabled.").context(BOTH);
    let fields = [
        ("id", whole("Shipping method instance ID.").readonly()),
        ("instance_id", whole("Shipping method instance ID.").readonly()),
        ("title", shown("Title shown at checkout.")),
        ("order", whole("Sort order.")),
        ("enabled", enabled),
        ("method_id", shown("Shipping method ID.")),
        ("method_title", shown("Shipping method name.")),
        ("method_description", shown("Shipping method description.")),
        ("settings", settings.about("Shipping method settings.").context(BOTH)),
    ];
    Item::new("shipping_zone_method", Schema::object(fields))
}

fn list(call: &mut Call<'_>, base: &str) -> Result<Reply, Stop> {
    let zone = zone_of(call, "zone_id")?;
    let mut items = Vec::new();
    for method in shipping::methods_of(call.conn()?, zone.zone_id)? {
        items.push(linked(body(&method)?, links(call, base, &method)));
    }
    Ok(with_total(items))
}

fn get(call: &mut Call<'_>, base: &str) -> Result<Reply, Stop> {
    let method = method_of(call)?;
    reply(call, base, &method)
}

fn create(call: &mut Call<'_>, base: &str) -> Result<Reply, Stop> {
    let zone = zone_of(call, "zone_id")?;
    let method_id = call.params.get("method_id").and_then(loose::scalar_text);
    let method_id = method_id.unwrap_or_default().into_owned();
    let others = shipping::methods_of(call.conn()?, zone.zone_id)?;
    if fields::of(&method_id).is_none() || others.len() >= METHODS_MAX {
        let message = "This shipping method cannot be added to the zone.";
        let code = "woocommerce_rest_shipping_zone_not_created";
        return Err(Refusal::new(400, code, message).into());
    }
    let last = others.iter().map(|method| method.position).max().unwrap_or_default();
    let mut method = new_method(&zone, method_id, last.saturating_add(1));
    apply(call, &mut method)?;
    method.instance_id = shipping::method_insert(call.conn()?, &method)?;
    append_event(call, CHANGED, method.zone_id)?;
    reply(call, base, &method)
}

fn new_method(zone: &ZoneRow, method_id: String, position: i64) -> MethodRow {
    MethodRow {
        instance_id: 0,
        zone_id: zone.zone_id,
        method_id,
        position,
        enabled: true,
        settings: String::from("{}"),
    }
}

fn update(call: &mut Call<'_>, base: &str) -> Result<Reply, Stop> {
    let mut method = method_of(call)?;
    apply(call, &mut method)?;
    shipping::method_update(call.conn()?, &method)?;
    append_event(call, CHANGED, method.zone_id)?;
    reply(call, base, &method)
}

fn delete(call: &mut Call<'_>, base: &str) -> Result<Reply, Stop> {
    let method = method_of(call)?;
    need_force(call)?;
    let reply = reply(call, base, &method)?;
    shipping::method_delete(call.conn()?, method.instance_id)?;
    append_event(call, CHANGED, method.zone_id)?;
    Ok(reply)
}

fn method_of(call: &mut Call<'_>) -> Result<MethodRow, Stop> {
    let zone = zone_of(call, "zone_id")?;
    let instance_id = call.params.path().get("instance_id").map(loose::to_int);
    let method = shipping::method_get(call.conn()?, instance_id.unwrap_or_default())?;
    let message = "Shipping method not found in this zone.";
    let unknown = || Refusal::new(404, "woocommerce_rest_shipping_zone_method_invalid", message);
    let method = method.filter(|method| method.zone_id == zone.zone_id);
    Ok(method.ok_or_else(unknown)?)
}

/// Takes over what the request names; one setting that does not fit refuses all of it.
fn apply(call: &Call<'_>, method: &mut MethodRow) -> Result<(), Stop> {
    if let Some(Value::Object(given)) = call.params.get("settings") {
        let mut settings = stored(method)?;
        for field in fields::of(&method.method_id).unwrap_or_default() {
            let Some(value) = given.get(field.id).filter(|value| !value.is_null()) else {
                continue;
            };
            let default = json!(field.default);
            let value = accept(field.kind, value, &field.choices(), Some(&default))?;
            settings.insert(field.id.to_owned(), value);
        }
        method.settings = Value::Object(settings).to_string();
    }
    if let Some(order) = call.params.int("order") {
        method.position = order;
    }
    if call.params.get("enabled").is_some() {
        method.enabled = call.params.flag("enabled");
    }
    Ok(())
}

fn stored(method: &MethodRow) -> Result<Map<String, Value>, Error> {
    serde_json::from_str(&method.settings)
        .map_err(|error| Error::internal("cannot read a shipping method's settings").because(error))
}

fn reply(call: &Call<'_>, base: &str, method: &MethodRow) -> Result<Reply, Stop> {
    Ok(Reply::new(body(method)?).links(links(call, base, method)))
}

fn links(call: &Call<'_>, base: &str, method: &MethodRow) -> Links {
    let zone = format!("{base}/{}", method.zone_id);
    let collection = format!("{zone}/methods");
    Links::new()
        .to("self", call.visit.rest(&format!("{collection}/{}", method.instance_id)))
        .to("collection", call.visit.rest(&collection))
        .to("describes", call.visit.rest(&zone))
}

fn body(method: &MethodRow) -> Result<Value, Error> {
    let stored = stored(method)?;
    let known = METHODS.iter().find(|known| known.id == method.method_id);
    let name = known.map_or("", |known| known.title);
    let mut settings = Map::new();
    let mut title = json!(name);
    for field in fields::of(&method.method_id).unwrap_or_default() {
        let value = stored.get(field.id).cloned().unwrap_or_else(|| json!(field.default));
        if field.id == "title" {
            title = value.clone();
        }
        settings.insert(field.id.to_owned(), setting(field, &value));
    }
    Ok(json!({
        "id": method.instance_id,
        "instance_id": method.instance_id,
        "title": title,
        "order": method.position,
        "enabled": method.enabled,
        "method_id": method.method_id,
        "method_title": name,
        "method_description": format!("<p>{}</p>\n", known.map_or("", |known| known.about)),
        "settings": settings,
    }))
}

fn setting(field: &fields::Field, value: &Value) -> Value {
    let mut body = json!({
        "id": field.id,
        "label": field.label,
        "description": field.about,
        "type": field.kind.name(),
        "value": value,
        "default": field.default,
        "tip": field.about,
        "placeholder": field.placeholder,
    });
    if let (Some(offered), Value::Object(members)) = (choices_body(&field.choices()), &mut body) {
        members.insert(String::from("options"), offered);
    }
    body
}
