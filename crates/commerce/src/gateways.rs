//! Ways to pay that need no provider: bank transfer, cheque, cash on delivery. Each keeps its
//! settings in an option of its own.

mod item;
mod table;

use contract::rest::args::absint;
use contract::rest::route::{EDIT, READ, Route};
use contract::rest::{Args, CompiledItem, Refusal, Reply, Schema, Stop, Treatment};
use serde_json::{Map, Value, json};
use site::action::{read, write};
use site::{Action, Call, Names, Options, options};

use self::table::{GATEWAYS, Gateway};
use crate::managers::{linked, may_edit, may_view, with_total};
use crate::settings::kind::{self, accept};

/// Where the places of the ways to pay are kept.
const ORDER: &str = "woocommerce_gateway_order";

/// A namespace in which the ways to pay appear.
struct Place {
    namespace: String,
    /// Tells what a way to pay can do.
    tells_supports: bool,
    item: CompiledItem,
}

pub(crate) fn routes(names: &Names) -> Vec<Route<Action>> {
    let versions = [(&names.commerce_v2, false), (&names.commerce_v3, true)];
    versions.into_iter().flat_map(|(namespace, supports)| routes_of(namespace, supports)).collect()
}

fn routes_of(namespace: &str, tells_supports: bool) -> [Route<Action>; 2] {
    let item = item::item(tells_supports);
    let compiled = || item.compile().expect("the schema is written down right");
    let place = || Place { namespace: namespace.to_owned(), tells_supports, item: compiled() };
    macro_rules! of_place {
        ($operation:path) => {{
            let place = place();
            move |call: &mut Call<'_>| $operation(&place, call)
        }};
    }
    let document = item.document();
    let context = || Args::new().arg("context", item.context_arg());
    let id = || Args::new().arg("id", Schema::text().about("Payment method ID."));
    let update = id().with(item.update_args()).treat("order", Treatment::Own(absint));
    [
        Route::at(namespace, "/payment_gateways")
            .on(READ, context(), read(may_view, of_place!(list)))
            .schema(document.clone()),
        Route::at(namespace, r"/payment_gateways/(?P<id>[\w-]+)")
            .on(READ, id().with(context()), read(may_view, of_place!(get)))
            .on(EDIT, update, write(may_edit, of_place!(edit)))
            .schema(document),
    ]
}

fn list(place: &Place, call: &mut Call<'_>) -> Result<Reply, Stop> {
    let options = Options::read(call.conn()?)?;
    let items = GATEWAYS.iter().map(|gateway| {
        let body = item::body(call, &options, gateway, place.tells_supports);
        let body = place.item.filter_by_context(body, &call.context());
        linked(body, item::links(call, &place.namespace, gateway))
    });
    Ok(with_total(items.collect()))
}

fn get(place: &Place, call: &mut Call<'_>) -> Result<Reply, Stop> {
    let gateway = find(call)?;
    let context = call.context();
    reply(place, call, gateway, &context)
}

fn edit(place: &Place, call: &mut Call<'_>) -> Result<Reply, Stop> {
    let gateway = find(call)?;
    let stored = Options::read(call.conn()?)?;
    let mut settings = item::stored(&stored, gateway);
    if let Some(Value::Object(given)) = call.params.get("settings") {
        change(gateway, &mut settings, given)?;
    }
    if call.params.get("enabled").is_some() {
        let enabled = if call.params.flag("enabled") { "yes" } else { "no" };
        settings.insert(String::from("enabled"), json!(enabled));
    }
    for name in ["title", "description"] {
        if let Some(text) = call.params.text(name) {
            let text = accept(kind::Kind::Textarea, &json!(text), &[], None)?;
            settings.insert(name.to_owned(), text);
        }
    }
    options::set(call.conn()?, gateway.option, &Value::Object(settings))?;
    if let Some(order) = call.params.int("order") {
        let mut places = match stored.get(ORDER) {
            Value::Object(places) => places,
            _ => Map::new(),
        };
        places.insert(gateway.id.to_owned(), json!(order));
        options::set(call.conn()?, ORDER, &Value::Object(places))?;
    }
    reply(place, call, gateway, "view")
}

/// Takes over the settings that the way to pay has; one that does not fit refuses all of them.
fn change(
    gateway: &Gateway,
    settings: &mut Map<String, Value>,
    given: &Map<String, Value>,
) -> Result<(), Refusal> {
    for field in gateway.fields {
        let Some(value) = given.get(field.id).filter(|value| !value.is_null()) else { continue };
        let value = accept(field.kind, value, &item::choices(field), Some(&json!(field.default)))?;
        settings.insert(field.id.to_owned(), value);
    }
    Ok(())
}

fn reply(
    place: &Place,
    call: &mut Call<'_>,
    gateway: &Gateway,
    context: &str,
) -> Result<Reply, Stop> {
    let options = Options::read(call.conn()?)?;
    let body = item::body(call, &options, gateway, place.tells_supports);
    let body = place.item.filter_by_context(body, context);
    Ok(Reply::new(body).links(item::links(call, &place.namespace, gateway)))
}

fn find(call: &Call<'_>) -> Result<&'static Gateway, Refusal> {
    let id = call.params.path().get("id").and_then(Value::as_str).unwrap_or_default();
    GATEWAYS.iter().find(|gateway| gateway.id == id).ok_or_else(|| {
        let message = "Payment method not found.";
        Refusal::new(404, "woocommerce_rest_payment_gateway_invalid", message)
    })
}
