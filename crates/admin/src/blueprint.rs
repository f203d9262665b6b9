//! How a store is set up, as a file: written from one store, and carried out step by step in
//! another. **Only a store that is not open yet takes such steps**, and only options that the
//! shop's people may set. What is secret never goes into the file.

use std::collections::BTreeMap;

use contract::rest::route::{CREATE, READ, Route, Verb};
use contract::rest::{Args, Reply, Schema, Stop};
use frame::action::{read, write};
use frame::{Action, Call, Names, Options, options};
use serde_json::{Map, Value, json};
use types::Capability;

/// Groups of settings that go into the file.
const GROUPS: [&str; 5] = ["general", "products", "tax", "account", "advanced"];
/// Parts of the file, by the names that clients know.
const SETTINGS: &str = "setWCSettings";
const PROFILE: &str = "setWCCoreProfilerOptions";
const PAYMENTS: &str = "setWCPaymentGateways";
const TAX_RATES: &str = "setWCTaxRates";
const PARTS: [&str; 4] = [SETTINGS, PROFILE, PAYMENTS, TAX_RATES];
/// Options, rates or ways to pay in one step.
const ITEMS_MAX: usize = 500;
/// Rates that go into the file.
const RATES_MAX: usize = 100;
const PROFILE_OPTION: &str = "woocommerce_onboarding_profile";

/// The routes that steps go through.
#[derive(Clone, Debug)]
struct Paths {
    commerce: String,
    options: String,
}

pub(crate) fn routes(names: &Names) -> Vec<Route<Action>> {
    let at = |path: &str| Route::at(&names.admin, &format!("/blueprint/{path}"));
    let paths = Paths {
        commerce: format!("/{}", names.commerce_v3),
        options: format!("/{}/options", names.admin),
    };
    let own = paths.clone();
    let export = move |call: &mut Call<'_>| export(call, &own);
    let import = move |call: &mut Call<'_>| import(call, &paths);
    let texts = || Schema::list(Schema::text());
    let steps = Schema::object([("settings", texts()), ("plugins", texts()), ("themes", texts())]);
    let steps = steps.default(json!([])).required().about("What to include in the file.");
    let step = Schema::map().required().about("The step to run.");
    let allowed = Schema::boolean().about("Whether blueprints can be imported.").context(&["view"]);
    let allowed = Schema::object([("import_allowed", allowed.readonly())]);
    let allowed = contract::rest::Item::new("blueprint-import-allowed", allowed);
    vec![
        at("export")
            .on(CREATE, Args::new().arg("steps", steps), read(may_export, export))
            .shows(exported()),
        at("import-step")
            .on(CREATE, Args::new().arg("step_definition", step), write(may_import, import))
            .shows(imported()),
        at("import-allowed")
            .on(READ, Args::new(), read(may_import, is_allowed))
            .schema(allowed.document()),
    ]
}

/// What [`export`] answers: the file.
fn exported() -> Schema {
    let values = Schema::object([("rates", Schema::list(Schema::map()).about("Tax rates."))]);
    let step = Schema::object([
        ("step", Schema::text().about("Name of the step.")),
        ("options", Schema::map().about("Options by name.")),
        ("payment_gateways", Schema::map().about("Payment methods by ID.")),
        ("values", values.about("What the step adds.")),
    ]);
    let data = Schema::object([
        ("landingPage", Schema::text().about("Page to open after the import.")),
        ("steps", Schema::list(step).about("Steps in their order.")),
    ]);
    Schema::object([
        ("data", data.about("The file.")),
        ("type", Schema::text().about("Format of the file.")),
    ])
}

/// What [`outcome`] tells.
fn imported() -> Schema {
    let message = Schema::object([
        ("message", Schema::text().about("What was done or why not.")),
        ("type", Schema::text().choices(&["success", "error"]).about("How it came out.")),
    ]);
    Schema::object([
        ("success", Schema::boolean().about("Whether all of it was done.")),
        ("messages", Schema::list(message).about("A message for each item.")),
    ])
}

fn may_export(call: &mut Call<'_>) -> Result<(), Stop> {
    let message = "You are not allowed to export the store's settings.";
    call.need(Capability::ManageWoocommerce, "woocommerce_rest_cannot_view", message)
}

fn may_import(call: &mut Call<'_>) -> Result<(), Stop> {
    let message = "You are not allowed to import store settings.";
    call.need(Capability::ManageWoocommerce, "rest_forbidden", message)
}

/// A store that is open is not changed behind its owner's back.
fn takes_steps(call: &mut Call<'_>) -> Result<bool, Stop> {
    Ok(Options::read(call.conn()?)?.is_on("woocommerce_coming_soon"))
}

fn is_allowed(call: &mut Call<'_>) -> Result<Reply, Stop> {
    let is_allowed = takes_steps(call)?;
    Ok(Reply::new(json!({ "import_allowed": is_allowed })))
}

fn export(call: &mut Call<'_>, paths: &Paths) -> Result<Reply, Stop> {
    let wanted = call.params.get("steps").and_then(|steps| steps.get("settings")).cloned();
    let wanted: Vec<String> = match wanted.as_ref().and_then(Value::as_array) {
        Some(names) => names.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        None => PARTS.map(str::to_owned).to_vec(),
    };
    let mut steps = Vec::new();
    for part in PARTS.into_iter().filter(|part| wanted.iter().any(|name| name == part)) {
        steps.push(match part {
            SETTINGS => json!({ "step": "setSiteOptions", "options": settings(call, paths)? }),
            PROFILE => {
                let profile = Options::read(call.conn()?)?.get(PROFILE_OPTION);
                let profile = profile.as_object().cloned().unwrap_or_default();
                json!({ "step": "setSiteOptions", "options": { PROFILE_OPTION: profile } })
            }
            PAYMENTS => {
                json!({ "step": PAYMENTS, "payment_gateways": gateways(call, paths)? })
            }
            _ => json!({ "step": TAX_RATES, "values": { "rates": rates(call, paths)? } }),
        });
    }
    let data = json!({ "landingPage": "/wp-admin/", "steps": steps });
    Ok(Reply::new(json!({ "data": data, "type": "json" })))
}

fn settings(call: &mut Call<'_>, paths: &Paths) -> Result<Map<String, Value>, Stop> {
    let mut all = Map::new();
    for group in GROUPS {
        let path = format!("{}/settings/{group}", paths.commerce);
        let settings = call.ask(Verb::Get, &path, Map::new())?;
        for setting in settings.as_array().into_iter().flatten() {
            let id = setting.get("id").and_then(Value::as_str);
            if let Some(id) = id.filter(|id| !is_secret(id, setting)) {
                all.insert(id.to_owned(), setting.get("value").cloned().unwrap_or_default());
            }
        }
    }
    Ok(all)
}

/// Whether a setting stays in the shop: an option that is secret, or a field for a password.
fn is_secret(id: &str, setting: &Value) -> bool {
    let is_password = setting.get("type").is_some_and(|kind| kind == "password");
    is_password || options::definition(id).is_some_and(|option| option.is_secret)
}

fn gateways(call: &mut Call<'_>, paths: &Paths) -> Result<Map<String, Value>, Stop> {
    let path = format!("{}/payment_gateways", paths.commerce);
    let ways = call.ask(Verb::Get, &path, Map::new())?;
    let ways = ways.as_array().into_iter().flatten();
    let shown = ways.filter_map(|way| {
        let id = way.get("id")?.as_str()?.to_owned();
        let member = |name: &str| way.get(name).cloned().unwrap_or_default();
        let [title, about] = ["title", "description"].map(member);
        let body = json!({ "title": title, "description": about, "enabled": member("enabled") });
        Some((id, body))
    });
    Ok(shown.collect())
}

fn rates(call: &mut Call<'_>, paths: &Paths) -> Result<Vec<Value>, Stop> {
    const FIELDS: [&str; 9] =
        ["country", "state", "rate", "name", "priority", "compound", "shipping", "order", "class"];
    let path = format!("{}/taxes?per_page={RATES_MAX}", paths.commerce);
    let rates = call.ask(Verb::Get, &path, Map::new())?;
    let rates = rates.as_array().into_iter().flatten();
    let shown = rates.map(|rate| {
        let member = |name: &str| (name.to_owned(), rate.get(name).cloned().unwrap_or_default());
        Value::Object(FIELDS.into_iter().map(member).collect())
    });
    Ok(shown.collect())
}

fn import(call: &mut Call<'_>, paths: &Paths) -> Result<Reply, Stop> {
    if !takes_steps(call)? {
        let message = "The store is live; turn on coming-soon mode first.";
        return Ok(outcome(&[("error", message.to_owned())]));
    }
    let step = call.params.get("step_definition").cloned().unwrap_or_default();
    let name = step.get("step").and_then(Value::as_str).unwrap_or_default();
    let empty = Map::new();
    let members = |place: &str| step.pointer(place).and_then(Value::as_object).unwrap_or(&empty);
    let asks: Vec<(Verb, String, Value)> = match name {
        "setSiteOptions" => option_asks(call, paths, members("/options"))?,
        PAYMENTS => {
            let ways = members("/payment_gateways").iter();
            let path = |id: &str| format!("{}/payment_gateways/{id}", paths.commerce);
            ways.map(|(id, body)| (Verb::Put, path(id), body.clone())).collect()
        }
        TAX_RATES => {
            let rates = step.pointer("/values/rates").and_then(Value::as_array);
            let path = format!("{}/taxes", paths.commerce);
            let rates = rates.into_iter().flatten();
            rates.map(|rate| (Verb::Post, path.clone(), rate.clone())).collect()
        }
        _ => Vec::new(),
    };
    if asks.is_empty() || asks.len() > ITEMS_MAX {
        let message = format!("A step needs a known name and 1 to {ITEMS_MAX} items.");
        return Ok(outcome(&[("error", message)]));
    }
    let mut messages = Vec::new();
    for (verb, path, body) in asks {
        messages.push(carry_out(call, verb, &path, body)?);
    }
    Ok(outcome(&messages))
}

/// Settings go to their own route, all else to that of options.
fn option_asks(
    call: &mut Call<'_>,
    paths: &Paths,
    given: &Map<String, Value>,
) -> Result<Vec<(Verb, String, Value)>, Stop> {
    let mut places = BTreeMap::new();
    for group in GROUPS {
        let path = format!("{}/settings/{group}", paths.commerce);
        let settings = call.ask(Verb::Get, &path, Map::new())?;
        for setting in settings.as_array().into_iter().flatten() {
            if let Some(id) = setting.get("id").and_then(Value::as_str) {
                places.insert(id.to_owned(), format!("{path}/{id}"));
            }
        }
    }
    let ask = |(name, value): (&String, &Value)| match places.get(name) {
        Some(path) => (Verb::Put, path.clone(), json!({ "value": value })),
        None => (Verb::Put, paths.options.clone(), json!({ name: value })),
    };
    Ok(given.iter().map(ask).collect())
}

/// One thing; what is refused leaves no trace, and the rest goes on.
fn carry_out(
    call: &mut Call<'_>,
    verb: Verb,
    path: &str,
    body: Value,
) -> Result<(&'static str, String), Stop> {
    let body = body.as_object().cloned().unwrap_or_default();
    let mut reply = ("success", format!("{path} is set."));
    let params = contract::rest::Params::default();
    call.nested(params, &mut |inner| match inner.ask(verb, path, body.clone()) {
        Ok(_) => Ok(true),
        Err(Stop::Refused(refusal)) => {
            reply = ("error", format!("{path}: {}", refusal.message));
            Ok(false)
        }
        Err(Stop::Failed(error)) => Err(error),
    })?;
    Ok(reply)
}

fn outcome(messages: &[(&'static str, String)]) -> Reply {
    let is_fine = messages.iter().all(|(kind, _)| *kind != "error");
    let shown = messages.iter().map(|(kind, text)| json!({ "message": text, "type": kind }));
    Reply::new(json!({ "success": is_fine, "messages": shown.collect::<Vec<_>>() }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_stay_in_the_shop() {
        options::declare(&[crate::OPTIONS]);
        for (id, kind, expected) in [
            ("woocommerce_currency", "select", false),
            ("woocommerce_stripe_settings", "text", true),
            ("woocommerce_bacs_accounts", "text", true),
            ("made_up_license", "password", true),
        ] {
            assert_eq!(is_secret(id, &json!({ "type": kind })), expected, "{id}");
        }
    }
}
