//! How the store is paid: its ways to pay in their order, the country they are for, and what was
//! said about suggestions. The ways to pay themselves belong to the shop; [`onboarding`] keeps how
//! far its owner got with an account of the payment service.

mod onboarding;

use std::sync::Arc;

use contract::rest::route::{CREATE, EDIT, Route, Verb};
use contract::rest::{Args, Refusal, Reply, Schema, Stop, loose};
use frame::action::{Outcome, read, write};
use frame::{Action, Call, Names, Options, options};
use serde_json::{Map, Value, json};
use types::Capability;

use crate::answers::success;
use crate::catalogue::{Catalogue, Offer};
use crate::suggestions::{self, gateway_schema};

const COUNTRY: &str = "woocommerce_payments_country";
const ORDER: &str = "woocommerce_gateway_order";
const HIDDEN: &str = "woocommerce_payment_suggestions_hidden";
const ATTACHED: &str = "woocommerce_payment_suggestions_attached";
const DISMISSED: &str = "woocommerce_payment_incentives_dismissed";
/// Where an incentive of a suggestion is put away.
const INCENTIVE: &str = concat!(
    r"/suggestion/(?P<suggestion_id>[\w\d\-]+)",
    r"/incentive/(?P<incentive_id>[\w\d\-]+)/dismiss"
);
/// What success means where something is remembered.
const IS_NEW: &str = "False if it was so already.";
/// Ways to pay that one call puts in order.
const ORDERED_MAX: usize = 200;
/// Names that one option keeps; the oldest go first.
const NAMES_MAX: usize = 200;

pub(crate) fn routes(names: &Names, catalogue: &Arc<Catalogue>) -> Vec<Route<Action>> {
    let at = |path: &str| Route::at(&names.admin, &format!("/settings/payments{path}"));
    let gateways = format!("/{}/payment_gateways", names.commerce_v3);
    let (own, offered) = (gateways.clone(), Arc::clone(catalogue));
    let order = move |call: &mut Call<'_>| set_order(call, &own);
    let providers = move |call: &mut Call<'_>| providers(call, &gateways, &offered.known());
    let map = Schema::map().required().about("Payment methods and their positions.");
    let context = Schema::text().about("Where it was dismissed.");
    let untracked = Schema::boolean().default(false).about("Whether to opt out of tracking.");
    let mut routes = vec![
        at("/country")
            .on(
                EDIT,
                Args::new().arg("location", location().required()),
                write(may_manage, set_country),
            )
            .shows(success("Always true.")),
        at("/providers")
            .on(CREATE, Args::new().arg("location", location()), read(may_manage, providers))
            .shows(providers_schema()),
        at("/providers/order")
            .on(EDIT, Args::new().arg("order_map", map), write(may_manage, order))
            .shows(success("Always true.")),
        at(r"/suggestion/(?P<id>[\w\d\-]+)/attach")
            .on(EDIT, Args::new(), write(may_manage, |call| remember(call, ATTACHED, "id")))
            .shows(success(IS_NEW)),
        at(r"/suggestion/(?P<id>[\w\d\-]+)/hide")
            .on(EDIT, Args::new(), write(may_manage, |call| remember(call, HIDDEN, "id")))
            .shows(success(IS_NEW)),
        at(INCENTIVE)
            .on(
                EDIT,
                Args::new().arg("context", context).arg("do_not_track", untracked),
                write(may_manage, dismiss),
            )
            .shows(success(IS_NEW)),
    ];
    routes.extend(onboarding::routes(names));
    routes
}

/// What [`providers`] shows.
fn providers_schema() -> Schema {
    let text = |about: &str| Schema::text().about(about);
    let texts = |about: &str| Schema::list(Schema::text()).about(about);
    let state = Schema::object([
        ("enabled", Schema::boolean().about("Whether customers can choose it.")),
        ("needs_setup", Schema::boolean().about("Whether something is missing.")),
    ]);
    let link = Schema::object([("href", text("Address."))]);
    let links = Schema::object([("settings", link.about("Where it is set up."))]);
    let provider = Schema::object([
        ("id", text("Payment method ID.")),
        ("_order", Schema::integer().about("Position at checkout.")),
        ("_type", text("Kind of provider.")),
        ("title", text("Name of the payment method.")),
        ("description", text("What the payment method does.")),
        ("supports", texts("Supported features.")),
        ("state", state.about("Whether it is in use.")),
        ("management", Schema::object([("_links", links)]).about("Where it is managed.")),
    ]);
    let providers = |about: &str| Schema::list(provider.clone()).about(about);
    Schema::object([
        ("country", text("Country of the business.")),
        ("providers", providers("All providers in their order.")),
        ("offline_payment_methods", providers("Those that need no service.")),
        ("suggestions", Schema::list(gateway_schema()).about("What could be added.")),
        ("suggestion_categories", texts("Groups of suggestions.")),
        ("attached_suggestions", texts("Suggestions that were attached.")),
        ("hidden_suggestions", texts("Suggestions that were hidden.")),
        ("dismissed_incentives", texts("Incentives that were dismissed.")),
    ])
}

/// A country of two letters.
fn location() -> Schema {
    Schema::text().keyword("pattern", "[a-zA-Z]{2}").about("Country of the business.")
}

fn may_manage(call: &mut Call<'_>) -> Result<(), Stop> {
    let message = "You are not allowed to change payment settings.";
    call.need(Capability::ManageWoocommerce, "woocommerce_rest_cannot_create", message)
}

/// The country that the call names, else the one that was chosen, else the store's.
fn country_of(call: &mut Call<'_>) -> Result<String, Stop> {
    let stored = Options::read(call.conn()?)?;
    let given = call.params.text("location").map(str::to_ascii_uppercase);
    let chosen = Some(stored.text(COUNTRY)).filter(|country| !country.is_empty());
    let place = stored.text("woocommerce_default_country");
    let own = place.split(':').next().unwrap_or_default().to_owned();
    Ok(given.or(chosen).unwrap_or(own).chars().take(2).collect())
}

fn set_country(call: &mut Call<'_>) -> Result<Reply, Stop> {
    let country = country_of(call)?;
    options::set(call.conn()?, COUNTRY, &json!(country))?;
    Ok(Reply::new(json!({ "success": true })))
}

fn names_in(stored: &Options, option: &str) -> Vec<String> {
    let value = stored.get(option);
    let names = value.as_array().into_iter().flatten();
    names.filter_map(Value::as_str).map(str::to_owned).collect()
}

/// The ways to pay in their order, and what is suggested beside them.
fn providers(call: &mut Call<'_>, gateways: &str, offers: &[Offer]) -> Outcome {
    let country = country_of(call)?;
    let stored = Options::read(call.conn()?)?;
    let gateways = call.ask(Verb::Get, gateways, Map::new())?;
    let mut ways: Vec<Value> = gateways.as_array().cloned().unwrap_or_default();
    let place = |way: &Value| way.get("order").map(loose::to_int).unwrap_or_default();
    ways.sort_by_key(place);
    let provider = |way: &Value| {
        let member = |name: &str| way.get(name).cloned().unwrap_or_default();
        json!({
            "id": member("id"),
            "_order": place(way),
            "_type": "offline_pm",
            "title": member("method_title"),
            "description": member("method_description"),
            "supports": member("method_supports"),
            "state": { "enabled": member("enabled"), "needs_setup": member("needs_setup") },
            "management": { "_links": { "settings": { "href": member("settings_url") } } },
        })
    };
    let offline: Vec<Value> = ways.iter().map(provider).collect();
    let hidden = names_in(&stored, HIDDEN);
    let attached = names_in(&stored, ATTACHED);
    let visit = call.visit;
    let suggested = suggestions::suggested(call.conn()?, (visit, offers), &country, false)?;
    let is_open = |one: &&Value| {
        let id = one.get("id").and_then(Value::as_str).unwrap_or_default();
        !hidden.iter().chain(&attached).any(|name| name == id)
    };
    let suggested: Vec<&Value> = suggested.iter().filter(is_open).collect();
    Ok(Reply::new(json!({
        "country": country,
        "providers": offline,
        "offline_payment_methods": offline,
        "suggestions": suggested,
        "suggestion_categories": [],
        "attached_suggestions": attached,
        "hidden_suggestions": hidden,
        "dismissed_incentives": names_in(&stored, DISMISSED),
    })))
}

/// Puts ways to pay in their places; those that the shop does not have are passed over.
fn set_order(call: &mut Call<'_>, gateways: &str) -> Result<Reply, Stop> {
    let wanted = call.params.get("order_map").and_then(Value::as_object).cloned();
    let wanted = wanted.unwrap_or_default();
    let is_place = |place: &Value| loose::is_whole(place) && loose::to_int(place) >= 0;
    if wanted.len() > ORDERED_MAX || !wanted.values().all(is_place) {
        let message = "The position of each payment method must be an integer.";
        return Err(Refusal::new(400, "woocommerce_rest_invalid_order_map", message).into());
    }
    let known = call.ask(Verb::Get, gateways, Map::new())?;
    let known = known.as_array().into_iter().flatten();
    let known: Vec<&str> = known.filter_map(|one| one.get("id")?.as_str()).collect();
    let stored = Options::read(call.conn()?)?.get(ORDER);
    let mut places = stored.as_object().cloned().unwrap_or_default();
    for (id, place) in wanted.iter().filter(|(id, _)| known.contains(&id.as_str())) {
        places.insert(id.clone(), json!(loose::to_int(place)));
    }
    options::set(call.conn()?, ORDER, &Value::Object(places))?;
    Ok(Reply::new(json!({ "success": true })))
}

/// Keeps the name in the path in the option, and says whether it is new there.
fn remember(call: &mut Call<'_>, option: &str, variable: &str) -> Result<Reply, Stop> {
    let name = path_text(call, variable);
    let is_new = keep(call, option, &name)?;
    Ok(Reply::new(json!({ "success": is_new })))
}

fn dismiss(call: &mut Call<'_>) -> Result<Reply, Stop> {
    let suggestion = path_text(call, "suggestion_id");
    let incentive = path_text(call, "incentive_id");
    let place = call.params.text("context").filter(|place| !place.is_empty());
    let name = match place {
        Some(place) => format!("{suggestion}/{incentive}/{place}"),
        None => format!("{suggestion}/{incentive}"),
    };
    let is_new = keep(call, DISMISSED, &name)?;
    Ok(Reply::new(json!({ "success": is_new })))
}

fn path_text(call: &Call<'_>, name: &str) -> String {
    let text = call.params.path().get(name).and_then(Value::as_str);
    text.unwrap_or_default().to_owned()
}

fn keep(call: &mut Call<'_>, option: &str, name: &str) -> Result<bool, Stop> {
    let mut names = names_in(&Options::read(call.conn()?)?, option);
    if names.iter().any(|known| known == name) {
        return Ok(false);
    }
    names.push(name.chars().take(NAMES_MAX).collect());
    let excess = names.len().saturating_sub(NAMES_MAX);
    options::set(call.conn()?, option, &json!(names.split_off(excess)))?;
    Ok(true)
}
