//! Ways to pay: those that need no provider, such as bank transfer, and those of providers with a
//! payment page of their own ([`hosted`]), which need no code here.

pub mod hosted;
mod item;
mod table;

use contract::rest::args::absint;
use contract::rest::route::{EDIT, READ, Route};
use contract::rest::{Args, CompiledItem, Refusal, Reply, Schema, Stop, Treatment};
use frame::action::{read, write};
use frame::{Action, Call, Names, Options, options};
use serde_json::{Map, Value, json};

use self::table::{GATEWAYS, Gateway, Kept};
use crate::emails::{self, Content};
use crate::managers::{linked, may_edit, may_view, with_total};
use crate::setting_types::{Choices, SettingType, accept};

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
    let published = versions.into_iter();
    let published = published.flat_map(|(namespace, supports)| routes_of(namespace, supports));
    published.chain(hosted::routes(names)).collect()
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

/// A way to pay that the shop offers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offered {
    pub id: String,
    /// What buyers read.
    pub title: String,
    pub description: String,
    /// What they read once they have ordered; may be empty.
    pub instructions: String,
}

/// The ids of all ways to pay that are part of the program, be they offered or not.
pub fn ids() -> Vec<&'static str> {
    GATEWAYS.iter().map(|gateway| &*gateway.id).collect()
}

/// All ways to pay, be they offered or not.
fn all(options: &Options) -> Vec<Gateway> {
    GATEWAYS.iter().cloned().chain(hosted::all(options)).collect()
}

/// The ways to pay that the shop offers, in the order in which it offers them.
pub fn offered(options: &Options) -> Vec<Offered> {
    let places = options.get(ORDER);
    let mut offered = Vec::new();
    for gateway in all(options) {
        let stored = item::stored(options, &gateway);
        if stored.get("enabled").and_then(Value::as_str) != Some("yes") {
            continue;
        }
        let text = |name: &str, usual: &str| {
            stored.get(name).and_then(Value::as_str).unwrap_or(usual).to_owned()
        };
        let title = text("title", &gateway.title);
        let description = text("description", &gateway.description);
        let instructions = text("instructions", "");
        let place = places.get(&*gateway.id).and_then(Value::as_i64).unwrap_or(gateway.order);
        offered.push((
            place,
            Offered { id: gateway.id.into_owned(), title, description, instructions },
        ));
    }
    offered.sort_by_key(|(place, _)| *place);
    offered.into_iter().map(|(_, gateway)| gateway).collect()
}

fn list(endpoint: &Endpoint, call: &mut Call<'_>) -> Result<Reply, Stop> {
    let options = Options::read(call.conn()?)?;
    let mut items = Vec::new();
    for gateway in all(&options) {
        let body = item::body(call, &options, &gateway, endpoint.shows_supports)?;
        let body = endpoint.item.filter_by_context(body, &call.context());
        items.push(linked(body, item::links(call, &endpoint.namespace, &gateway)));
    }
    Ok(with_total(items))
}

fn get(endpoint: &Endpoint, call: &mut Call<'_>) -> Result<Reply, Stop> {
    let gateway = find(call)?;
    let context = call.context();
    reply(endpoint, call, &gateway, &context)
}

fn edit(endpoint: &Endpoint, call: &mut Call<'_>) -> Result<Reply, Stop> {
    let gateway = find(call)?;
    let stored = Options::read(call.conn()?)?;
    let mut settings = item::stored(&stored, &gateway);
    if let Some(Value::Object(given)) = call.params.get("settings") {
        let given = given.clone();
        change(call, &gateway, &mut settings, &given)?;
    }
    let was_enabled = item::is_enabled(&settings);
    if call.params.get("enabled").is_some() {
        let enabled = if call.params.flag("enabled") { "yes" } else { "no" };
        settings.insert(String::from("enabled"), json!(enabled));
    }
    for name in ["title", "description"] {
        if let Some(text) = call.params.text(name) {
            let text = accept(SettingType::Textarea, &json!(text), &[], None)?;
            settings.insert(name.to_owned(), text);
        }
    }
    if item::is_enabled(&settings) && !was_enabled {
        tell_enabled(call, &gateway)?;
    }
    match gateway.kept {
        Kept::Option(name) => options::set(call.conn()?, name, &Value::Object(settings))?,
        Kept::Hosted => hosted::keep(call.conn()?, &gateway.id, Some(settings))?,
    }
    if let Some(order) = call.params.int("order") {
        let mut places = match stored.get(ORDER) {
            Value::Object(places) => places,
            _ => Map::new(),
        };
        places.insert(gateway.id.clone().into_owned(), json!(order));
        options::set(call.conn()?, ORDER, &Value::Object(places))?;
    }
    reply(endpoint, call, &gateway, "view")
}

/// Takes over the settings that the way to pay has; one that does not fit refuses all of them.
fn change(
    call: &mut Call<'_>,
    gateway: &Gateway,
    settings: &mut Map<String, Value>,
    given: &Map<String, Value>,
) -> Result<(), Stop> {
    for field in gateway.fields {
        let Some(value) = given.get(field.id).filter(|value| !value.is_null()) else { continue };
        let offered: Choices =
            item::offered(call, field)?.into_iter().flat_map(|(_, methods)| methods).collect();
        let value = accept(field.kind, value, &offered, Some(&json!(field.default)))?;
        settings.insert(field.id.to_owned(), value);
    }
    Ok(())
}

/// Lets the store know that somebody changed how it is paid.
fn tell_enabled(call: &mut Call<'_>, gateway: &Gateway) -> Result<(), Stop> {
    let Some(kind) = emails::find("admin_payment_gateway_enabled") else { return Ok(()) };
    let who = call.user().map(|user| user.row.login.clone()).unwrap_or_default();
    let words = vec![("gateway_title", gateway.name.clone().into_owned()), ("username", who)];
    emails::queue(call, kind, &Content { words, ..Content::default() })?;
    Ok(())
}

fn reply(
    endpoint: &Endpoint,
    call: &mut Call<'_>,
    gateway: &Gateway,
    context: &str,
) -> Result<Reply, Stop> {
    let options = Options::read(call.conn()?)?;
    let body = item::body(call, &options, gateway, endpoint.shows_supports)?;
    let body = endpoint.item.filter_by_context(body, context);
    Ok(Reply::new(body).links(item::links(call, &endpoint.namespace, gateway)))
}

fn find(call: &mut Call<'_>) -> Result<Gateway, Stop> {
    let id = call.params.path().get("id").and_then(Value::as_str).unwrap_or_default().to_owned();
    let options = Options::read(call.conn()?)?;
    let found = all(&options).into_iter().find(|gateway| gateway.id == id);
    Ok(found.ok_or_else(|| {
        let message = "Payment method not found.";
        Refusal::new(404, "woocommerce_rest_payment_gateway_invalid", message)
    })?)
}
