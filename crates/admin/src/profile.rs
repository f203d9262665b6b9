//! The profile of the store: what its owner told while setting it up, how far they got, and how the
//! store writes amounts and measures things.
//!
//! The fields are written down once, in [`fields`]. A null never takes a value away, and **only the
//! JSON body is kept**, as clients know it.

use contract::rest::args::Checker;
use contract::rest::route::{CREATE, EDIT, READ, Route, Verb};
use contract::rest::{
    Args, Item, ParamError, Refusal, Reply, Schema, Stop, Treatment, clean, params,
};
use contract::rest::{formats, loose};
use frame::action::{memory, read, write};
use frame::managers::may_view;
use frame::{Action, Call, Names, Options, moments, options};
use serde_json::{Map, Value, json};

use crate::answers::members_or_list;
use crate::marketplace::client;

const PROFILE: &str = "woocommerce_onboarding_profile";
const PROGRESS: &str = "woocommerce_onboarding_profile_progress";
const STEPS: &[&str] = &[
    "intro-opt-in",
    "skip-guided-setup",
    "user-profile",
    "business-info",
    "plugins",
    "intro-builder",
];
/// Clients know the list with its second step named again at the end.
const STEPS_AGAIN: &str = "skip-guided-setup";
/// Bytes of the profile.
const PROFILE_BYTES_MAX: usize = 16 * 1024;
/// Territories that write amounts as another does.
const LIKE: &[(&str, &str)] = &[("DG", "IO"), ("EA", "ES"), ("IC", "ES")];
/// What a country decides: the option, and the country's own word for it.
const MEASURES: [(&str, &str); 7] = [
    ("woocommerce_currency", "currency_code"),
    ("woocommerce_currency_pos", "currency_pos"),
    ("woocommerce_price_thousand_sep", "thousand_sep"),
    ("woocommerce_price_decimal_sep", "decimal_sep"),
    ("woocommerce_price_num_decimals", "num_decimals"),
    ("woocommerce_weight_unit", "weight_unit"),
    ("woocommerce_dimension_unit", "dimension_unit"),
];

pub(crate) fn routes(names: &Names) -> Vec<Route<Action>> {
    let at = |path: &str| Route::at(&names.admin, &format!("/onboarding/profile{path}"));
    let mut steps = STEPS.to_vec();
    steps.push(STEPS_AGAIN);
    let step = Schema::text().choices(&steps).required().about("The completed step.");
    let country = Schema::text().required().about("Two-letter country code.");
    let continents = format!("/{}/data/continents", names.commerce_v3);
    let measure = move |call: &mut Call<'_>| measure(call, &continents);
    let document = Item::new("onboarding_profile", Schema::object(fields())).document();
    vec![
        at("")
            .on(READ, Args::new(), read(may_view, show))
            .on(EDIT, profile_args(), write(may_view, update))
            .shows(Schema::object([
                ("status", Schema::text().about("Result of the request.")),
                ("message", Schema::text().about("Result message.")),
            ]))
            .schema(document),
        at("/experimental_get_email_prefill")
            .on(READ, Args::new(), memory(may_view, |call| Ok(email(call))))
            .shows(Schema::object([("email", Schema::text().about("The user's e-mail address."))])),
        at("/progress").on(READ, Args::new(), read(may_view, progress)).shows(progress_schema()),
        at("/progress/core-profiler/complete")
            .on(EDIT, Args::new().arg("step", step), write(may_view, complete))
            .shows(Schema::object([
                ("results", progress_schema()),
                ("status", Schema::text().about("Result of the request.")),
            ])),
        at("/update-store-currency-and-measurement-units")
            .on(CREATE, Args::new().arg("country_code", country), write(may_view, measure))
            .succeeds_with(&[204]),
    ]
}

/// How far the owner got, as [`complete`] keeps it.
fn progress_schema() -> Schema {
    let at = Schema::text().about("When the step was completed.");
    let step = Schema::object([("completed_at", at)]);
    members_or_list(Schema::map().additional(step).about("Completed steps."))
        .about("Completed steps, by the form that they belong to.")
}

fn fields() -> Vec<(&'static str, Schema)> {
    let flag = |about: &str| Schema::boolean().about(about).or_null();
    let text = |about: &str| Schema::text().about(about).or_null();
    let texts = |about: &str| Schema::list(Schema::text()).about(about).or_null();
    let platforms = Schema::types(&["array", "null"])
        .keyword("items", Schema::types(&["string", "null"]))
        .about("Other sales channels.");
    vec![
        ("completed", flag("Whether the profile is complete.")),
        ("skipped", flag("Whether the profile was skipped.")),
        ("industry", texts("What the store sells.")),
        ("business_extensions", texts("Selected extensions.")),
        ("is_agree_marketing", flag("Whether the owner wants to receive e-mail.")),
        ("store_email", text("The owner's e-mail address.")),
        ("is_store_country_set", flag("Whether the country was set.")),
        ("is_plugins_page_skipped", flag("Whether selecting extensions was skipped.")),
        ("business_choice", text("Stage of the business.")),
        ("selling_online_answer", text("Whether the owner already sells online.")),
        ("selling_platforms", platforms),
    ]
}

fn profile_args() -> Args {
    let context = Schema::text().choices(&["view"]).default("view").about("Fields to return.");
    let args = fields().into_iter().fold(Args::new(), |args, (name, schema)| {
        let treatment = if name == "store_email" { Treatment::Checked(IS_EMAIL) } else { KEPT };
        args.treated(name, schema, treatment)
    });
    args.arg("context", context)
}

/// A null is as good as nothing.
const KEPT: Treatment = Treatment::Nullable;
const IS_EMAIL: Checker = |value, _| match value.as_str() {
    None | Some("") => Ok(()),
    Some(text) if formats::is_email(text) => Ok(()),
    Some(_) => Err(Some(no_email())),
};

fn no_email() -> ParamError {
    ParamError::new("rest_invalid_email", "Enter an e-mail address such as shop@example.com.")
}

fn stored(call: &mut Call<'_>, option: &str) -> Result<Map<String, Value>, Stop> {
    let value = Options::read(call.conn()?)?.get(option);
    Ok(value.as_object().cloned().unwrap_or_default())
}

fn show(call: &mut Call<'_>) -> Result<Reply, Stop> {
    let stored = stored(call, PROFILE)?;
    let value = |name: &str| stored.get(name).cloned().unwrap_or_default();
    let mut body: Map<String, Value> =
        fields().into_iter().map(|(name, _)| (name.to_owned(), value(name))).collect();
    let connection = crate::rows::marketplace::connection(call.conn()?, client::SERVICE)?;
    let is_connected = connection.is_some();
    body.insert(String::from("wccom_connected"), json!(is_connected));
    Ok(Reply::new(body))
}

fn update(call: &mut Call<'_>) -> Result<Reply, Stop> {
    let given = call.params.json().and_then(Value::as_object).cloned().unwrap_or_default();
    let agrees = given.get("is_agree_marketing").is_some_and(loose::to_bool);
    let is_empty = given.get("store_email").and_then(Value::as_str).is_some_and(str::is_empty);
    if agrees && is_empty {
        let errors = vec![(String::from("store_email"), Some(no_email()))];
        return Err(params::invalid_params(errors).into());
    }
    let mut profile = stored(call, PROFILE)?;
    for (name, _) in fields() {
        let Some(value) = given.get(name).filter(|value| !value.is_null()) else { continue };
        let value = if name == "business_extensions" { slugs(value) } else { value.clone() };
        profile.insert(name.to_owned(), value);
    }
    let profile = Value::Object(profile);
    if profile.to_string().len() > PROFILE_BYTES_MAX {
        let message = "The profile is too long; shorten it.";
        return Err(Refusal::new(400, "woocommerce_rest_profile_too_long", message).into());
    }
    options::set(call.conn()?, PROFILE, &profile)?;
    let message = "The profile was saved.";
    Ok(Reply::new(json!({ "status": "success", "message": message })))
}

/// The names as slugs, each once.
fn slugs(value: &Value) -> Value {
    let mut slugs: Vec<String> = Vec::new();
    for name in value.as_array().into_iter().flatten().filter_map(Value::as_str) {
        let slug = clean::key(&name.trim().replace(' ', "-"));
        if !slug.is_empty() && !slugs.contains(&slug) {
            slugs.push(slug);
        }
    }
    json!(slugs)
}

/// Whoever has been told nothing else writes to the site's administrator.
/// The address of whoever fills in the form.
fn email(call: &Call<'_>) -> Reply {
    let email = call.user().map(|user| user.row.email.clone()).unwrap_or_default();
    Reply::new(json!({ "email": email }))
}

/// An object without members is a list to clients.
fn progress(call: &mut Call<'_>) -> Result<Reply, Stop> {
    let progress = stored(call, PROGRESS)?;
    let is_empty = progress.is_empty();
    Ok(Reply::new(if is_empty { json!([]) } else { Value::Object(progress) }))
}

fn complete(call: &mut Call<'_>) -> Result<Reply, Stop> {
    const DONE: &str = "core_profiler_completed_steps";
    let given = call.params.json().and_then(|body| body.get("step")?.as_str());
    let Some(step) = given.map(str::to_owned) else {
        let message = "Name the step in the JSON body.";
        return Err(Refusal::new(400, "woocommerce_rest_step_required", message).into());
    };
    let [_, now] = moments::pair(call.options(), Some(call.now()));
    let now = format!("{}Z", now.as_str().unwrap_or_default());
    let mut progress = stored(call, PROGRESS)?;
    let mut done = progress.get(DONE).and_then(Value::as_object).cloned().unwrap_or_default();
    done.insert(step, json!({ "completed_at": now }));
    progress.insert(DONE.to_owned(), Value::Object(done));
    let progress = Value::Object(progress);
    options::set(call.conn()?, PROGRESS, &progress)?;
    Ok(Reply::new(json!({ "results": progress, "status": "success" })))
}

/// Writes amounts and measures as the country does. Where the store is, stays as it was.
fn measure(call: &mut Call<'_>, continents: &str) -> Result<Reply, Stop> {
    let code = call.params.text("country_code").unwrap_or_default().to_owned();
    let like = LIKE.iter().find(|(territory, _)| *territory == code).map(|(_, like)| *like);
    let world = call.ask(Verb::Get, continents, Map::new())?;
    let continents = world.as_array().into_iter().flatten();
    let mut countries = continents.filter_map(|one| one.get("countries")?.as_array()).flatten();
    let wanted = like.unwrap_or(&code);
    let is_wanted = |country: &&Value| country.get("code").is_some_and(|code| code == wanted);
    let found = countries.find(is_wanted).filter(|country| country.get("currency_code").is_some());
    let Some(country) = found else {
        let message = "Enter a two-letter country code such as US.";
        return Err(Refusal::new(400, "woocommerce_rest_invalid_country_code", message).into());
    };
    for (option, word) in MEASURES {
        // The places of amounts are kept as text, like everything that a form can set.
        let value = country.get(word).and_then(loose::scalar_text).unwrap_or_default();
        let value = json!(value);
        options::set(call.conn()?, option, &value)?;
    }
    Ok(Reply::of(204, contract::rest::Body::Nothing))
}
