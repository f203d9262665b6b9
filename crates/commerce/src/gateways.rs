//! Ways to pay that need no provider: bank transfer, cheque, cash on delivery. Each keeps its
//! settings in an option of its own.

mod item;
mod table;

use contract::rest::args::absint;
use contract::rest::route::{EDIT, READ, Route};
use contract::rest::{Args, CompiledItem, Refusal, Reply, Schema, Stop, Treatment};
use frame::action::{read, write};
use frame::{Action, Call, Names, Options, options};
use serde_json::{Map, Value, json};

use self::table::{GATEWAYS, Gateway};
use crate::managers::{linked, may_edit, may_view, with_total};
use crate::settings::kind::{self, accept};

/// Option with the positions of the payment methods.
const ORDER: &str = "woocommerce_gateway_order";

/// A namespace that serves payment methods.
struct Endpoint {
    namespace: String,
    /// Whether items list the features that a payment method supports.
    shows_supports: bool,
    item: CompiledItem,
}

pub(crate) fn routes(names: &Names) -> Vec<Route<Action>> {
    let versions = [(&names.commerce_v2, false), (&names.commerce_v3, true)];
    versions.into_iter().flat_map(|(namespace, supports)| routes_of(namespace, supports)).collect()
}

fn routes_of(namespace: &str, shows_supports: bool) -> [Route<Action>; 2] {
    let item = item::item(shows_supports);
    let compiled = || item.compile().expect("the schema is well formed");
    let endpoint =
        || Endpoint { namespace: namespace.to_owned(), shows_supports, item: compiled() };
    macro_rules! on_endpoint {
        ($operation:path) => {{
            let endpoint = endpoint();
            move |call: &mut Call<'_>| $operation(&endpoint, call)
        }};
    }
    let document = item.document();
    let context = || Args::new().arg("context", item.context_arg());
    let id = || Args::new().arg("id", Schema::text().about("Payment method ID."));
    let update = id().with(item.update_args()).treat("order", Treatment::Own(absint));
    [
        Route::at(namespace, "/payment_gateways")
            .on(READ, context(), read(may_view, on_endpoint!(list)))
            .lists()
            .schema(document.clone()),
        Route::at(namespace, r"/payment_gateways/(?P<id>[\w-]+)")
            .on(READ, id().with(context()), read(may_view, on_endpoint!(get)))
            .on(EDIT, update, write(may_edit, on_endpoint!(edit)))
            .schema(document),
    ]
}

fn list(endpoint: &Endpoint, call: &mut Call<'_>) -> Result<Reply, Stop> {
    let options = Options::read(call.conn()?)?;
    let items = GATEWAYS.iter().map(|gateway| {
        let body = item::body(call, &options, gateway, endpoint.shows_supports);
        let body = endpoint.item.filter_by_context(body, &call.context());
        linked(body, item::links(call, &endpoint.namespace, gateway))
    });
    Ok(with_total(items.collect()))
}

fn get(endpoint: &Endpoint, call: &mut Call<'_>) -> Result<Reply, Stop> {
    let gateway = find(call)?;
    let context = call.context();
    reply(endpoint, call, gateway, &context)
}

fn edit(endpoint: &Endpoint, call: &mut Call<'_>) -> Result<Reply, Stop> {
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
            let text = accept(kind::SettingType::Textarea, &json!(text), &[], None)?;
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
    reply(endpoint, call, gateway, "view")
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
    endpoint: &Endpoint,
    call: &mut Call<'_>,
    gateway: &Gateway,
    context: &str,
) -> Result<Reply, Stop> {
    let options = Options::read(call.conn()?)?;
    let body = item::body(call, &options, gateway, endpoint.shows_supports);
    let body = endpoint.item.filter_by_context(body, context);
    Ok(Reply::new(body).links(item::links(call, &endpoint.namespace, gateway)))
}

fn find(call: &Call<'_>) -> Result<&'static Gateway, Refusal> {
    let id = call.params.path().get("id").and_then(Value::as_str).unwrap_or_default();
    GATEWAYS.iter().find(|gateway| gateway.id == id).ok_or_else(|| {
        let message = "Payment method not found.";
        Refusal::new(404, "woocommerce_rest_payment_gateway_invalid", message)
    })
}
