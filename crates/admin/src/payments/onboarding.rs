//! How far the owner got with an account of the payment service, step by step and by country. What
//! was filled in is kept; **the account itself is the payment service's**, which is reached through
//! onboarding, so that nobody verifies a business here.

use contract::rest::route::{CREATE, Route};
use contract::rest::{Args, Refusal, Reply, Schema, Stop, clean};
use frame::action::{memory, read, write};
use frame::{Action, Call, Names, Options, options};
use serde_json::{Map, Value, json};
use types::Environment;

use super::{country_of, location, may_manage};
use crate::answers::success;

const PROFILE: &str = "woocommerce_woopayments_nox_profile";
/// The steps in their order, and those that must be done before each.
const STEPS: &[(&str, &[&str])] = &[
    ("payment_methods", &[]),
    ("wpcom_connection", &[]),
    ("test_account", &[]),
    ("business_verification", &["payment_methods"]),
];
const STARTED: &str = "started";
const COMPLETED: &str = "completed";
const NOT_STARTED: &str = "not_started";
/// Bytes of everything that is kept.
const PROFILE_BYTES_MAX: usize = 32 * 1024;
const SOURCE_CHARS_MAX: usize = 100;
/// What a call says about itself, which is no answer of the owner.
const NO_ANSWERS: [&str; 4] = ["location", "source", "from", "step"];

pub(super) fn routes(names: &Names) -> Vec<Route<Action>> {
    let base = "/settings/payments/woopayments/onboarding";
    let at = |path: &str| Route::at(&names.admin, &format!("{base}{path}"));
    let on_step = |name: &str| at(&format!("/step/(?P<step>[a-zA-Z0-9_-]+)/{name}"));
    let text = |about: &str| Schema::text().about(about);
    let place = || Args::new().arg("location", location());
    let source = || place().arg("source", text("Where the user came from."));
    let from = || {
        let args = place().arg("from", text("Previous page."));
        args.arg("source", text("Where the user came from."))
    };
    let eligibility = Route::at(&names.admin, "/settings/payments/woopayments/woopay-eligibility");
    let is_eligible = Schema::boolean().about("Whether customers can pay with one touch.");
    vec![
        at("").on(CREATE, source(), read(may_manage, show)).shows(progress_schema()),
        on_step("start")
            .on(CREATE, source(), write(may_manage, |call| step(call, Move::Start)))
            .shows(moved()),
        on_step("save")
            .on(CREATE, source(), write(may_manage, |call| step(call, Move::Save)))
            .shows(moved()),
        on_step("check").on(CREATE, place(), read(may_manage, check)).shows(checked()),
        on_step("finish")
            .on(CREATE, source(), write(may_manage, |call| step(call, Move::Finish)))
            .shows(moved()),
        on_step("clean")
            .on(CREATE, place(), write(may_manage, |call| step(call, Move::Clean)))
            .shows(moved()),
        at("/step/test_account/init")
            .on(CREATE, source(), write(may_manage, init_test))
            .shows(moved()),
        at("/step/test_account/reset")
            .on(CREATE, source(), write(may_manage, reset_test))
            .shows(moved()),
        at("/step/business_verification/kyc_session")
            .on(CREATE, source(), memory(may_manage, |_| Err(no_verification())))
            .only_refuses(),
        at("/step/business_verification/kyc_session/finish")
            .on(CREATE, source(), memory(may_manage, |_| Err(no_verification())))
            .only_refuses(),
        at("/step/business_verification/test_account/disable")
            .on(CREATE, from(), write(may_manage, reset_test))
            .shows(moved()),
        at("/preload").on(CREATE, place(), read(may_manage, show)).shows(progress_schema()),
        at("/reset").on(CREATE, from(), write(may_manage, reset)).shows(success("Always true.")),
        eligibility
            .on(CREATE, Args::new(), read(may_manage, eligible))
            .shows(Schema::object([("is_eligible", is_eligible)])),
        at("/test_account/disable")
            .on(CREATE, from(), write(may_manage, reset_test))
            .shows(moved()),
    ]
}

fn status_schema(about: &str) -> Schema {
    Schema::text().choices(&[NOT_STARTED, STARTED, COMPLETED]).about(about)
}

/// What [`show`] tells.
fn progress_schema() -> Schema {
    let text = |about: &str| Schema::text().about(about);
    let flag = |about: &str| Schema::boolean().about(about);
    let state = Schema::object([
        ("supported", flag("Whether accounts can be had.")),
        ("started", flag("Whether any step was started.")),
        ("completed", flag("Whether all steps are completed.")),
        ("test_mode", flag("Whether there is a test account.")),
    ]);
    let step = Schema::object([
        ("id", text("Step ID.")),
        ("status", status_schema("State of the step.")),
        ("dependencies", Schema::list(Schema::text()).about("Steps to complete first.")),
        ("context", Schema::map().about("What was filled in.")),
    ]);
    Schema::object([
        ("state", state.about("State of the whole.")),
        ("location", text("Country of the business.")),
        ("source", text("Where the user came from.").or_null()),
        ("steps", Schema::list(step).about("All steps in their order.")),
    ])
}

/// What [`check`] tells.
fn checked() -> Schema {
    Schema::object([
        ("status", status_schema("State of the step.")),
        ("error", Schema::typed("null").about("No step has an error.")),
    ])
}

/// What is told after a step.
fn moved() -> Schema {
    Schema::object([
        ("success", Schema::boolean().about("Always true.")),
        ("status", status_schema("State of the step.")),
        ("previous_status", status_schema("State of the step before, if it was in the path.")),
    ])
}

#[derive(Clone, Copy, Debug)]
enum Move {
    Start,
    Save,
    Finish,
    Clean,
}

/// What is kept for the country of the call, and the country.
fn progress(call: &mut Call<'_>) -> Result<(String, Map<String, Value>), Stop> {
    let country = country_of(call)?;
    let stored = Options::read(call.conn()?)?.get(PROFILE);
    let kept = stored.get(&country).and_then(Value::as_object).cloned();
    Ok((country, kept.unwrap_or_default()))
}

fn keep(call: &mut Call<'_>, country: &str, kept: Map<String, Value>) -> Result<(), Stop> {
    let stored = Options::read(call.conn()?)?.get(PROFILE);
    let mut all = stored.as_object().cloned().unwrap_or_default();
    all.insert(country.to_owned(), Value::Object(kept));
    let all = Value::Object(all);
    if all.to_string().len() > PROFILE_BYTES_MAX {
        let message = "The data is too long; shorten it.";
        let code = "woocommerce_woopayments_onboarding_too_long";
        return Err(Refusal::new(400, code, message).into());
    }
    Ok(options::set(call.conn()?, PROFILE, &all)?)
}

fn status_of<'k>(kept: &'k Map<String, Value>, step: &str) -> &'k str {
    let status = kept.get(step).and_then(|kept| kept.get("status")?.as_str());
    status.unwrap_or(NOT_STARTED)
}

fn show(call: &mut Call<'_>) -> Result<Reply, Stop> {
    let (country, kept) = progress(call)?;
    let steps = STEPS.iter().map(|(id, before)| {
        let data = kept.get(*id).and_then(|step| step.get("data")).cloned();
        json!({
            "id": id,
            "status": status_of(&kept, id),
            "dependencies": before,
            "context": data.unwrap_or_else(|| json!({})),
        })
    });
    let is_done = |id: &str| status_of(&kept, id) == COMPLETED;
    Ok(Reply::new(json!({
        "state": {
            "supported": true,
            "started": kept.values().any(|step| step.get("status").is_some()),
            "completed": STEPS.iter().all(|(id, _)| is_done(id)),
            "test_mode": is_done("test_account"),
        },
        "location": country,
        "source": kept.get("source"),
        "steps": steps.collect::<Vec<_>>(),
    })))
}

/// The step in the path, if it is one, and what must be done before it.
fn step_of(call: &Call<'_>) -> Result<(&'static str, &'static [&'static str]), Stop> {
    let name = super::path_text(call, "step");
    let found = STEPS.iter().find(|(id, _)| *id == name).copied();
    found.ok_or_else(|| {
        let message = "Step not found.";
        Refusal::new(404, "woocommerce_woopayments_onboarding_invalid_step", message).into()
    })
}

fn check(call: &mut Call<'_>) -> Result<Reply, Stop> {
    let (step, _) = step_of(call)?;
    let (_, kept) = progress(call)?;
    Ok(Reply::new(json!({ "status": status_of(&kept, step), "error": null })))
}

fn step(call: &mut Call<'_>, wanted: Move) -> Result<Reply, Stop> {
    let (step, before) = step_of(call)?;
    let (country, mut kept) = progress(call)?;
    if let Some(missing) = before.iter().find(|id| status_of(&kept, id) != COMPLETED) {
        let message = format!("Complete the step {missing} first.");
        let code = "woocommerce_woopayments_onboarding_step_requirements_not_met";
        return Err(Refusal::new(409, code, message).into());
    }
    let previous = status_of(&kept, step).to_owned();
    let mut data = kept.get(step).and_then(|kept| kept.get("data")?.as_object()).cloned();
    let status = match wanted {
        Move::Start if previous == COMPLETED => COMPLETED,
        Move::Finish => COMPLETED,
        Move::Clean => NOT_STARTED,
        Move::Start | Move::Save => STARTED,
    };
    match wanted {
        Move::Save => data.get_or_insert_default().extend(answers(call)),
        Move::Clean => data = None,
        Move::Start | Move::Finish => {}
    }
    if let Some(source) = call.params.text("source") {
        let source: String = clean::text_field(source).chars().take(SOURCE_CHARS_MAX).collect();
        kept.insert(String::from("source"), json!(source));
    }
    let data = data.map_or_else(|| json!({}), Value::Object);
    kept.insert(step.to_owned(), json!({ "status": status, "data": data }));
    keep(call, &country, kept)?;
    Ok(Reply::new(json!({ "success": true, "status": status, "previous_status": previous })))
}

/// What the owner filled in.
fn answers(call: &Call<'_>) -> Map<String, Value> {
    let given = call.params.json().and_then(Value::as_object).cloned().unwrap_or_default();
    given.into_iter().filter(|(name, _)| !NO_ANSWERS.contains(&name.as_str())).collect()
}

/// Play money is for the sandbox: there the account to try things with is this environment.
fn init_test(call: &mut Call<'_>) -> Result<Reply, Stop> {
    if call.site.environment() != Environment::Sandbox {
        let message =
            "Test accounts are available only in the sandbox; production takes live payments.";
        let code = "woocommerce_woopayments_test_account_not_here";
        return Err(Refusal::new(409, code, message).into());
    }
    set_test(call, COMPLETED)
}

fn reset_test(call: &mut Call<'_>) -> Result<Reply, Stop> {
    set_test(call, NOT_STARTED)
}

fn set_test(call: &mut Call<'_>, status: &str) -> Result<Reply, Stop> {
    let (country, mut kept) = progress(call)?;
    kept.insert(String::from("test_account"), json!({ "status": status, "data": {} }));
    keep(call, &country, kept)?;
    Ok(Reply::new(json!({ "success": true, "status": status })))
}

fn reset(call: &mut Call<'_>) -> Result<Reply, Stop> {
    let (country, _) = progress(call)?;
    keep(call, &country, Map::new())?;
    Ok(Reply::new(json!({ "success": true })))
}

fn no_verification() -> Stop {
    let message = "Businesses are verified in onboarding: onboard the merchant there.";
    Refusal::new(409, "woocommerce_woopayments_onboarding_kyc_elsewhere", message).into()
}

/// Paying with one touch needs an account that takes real money.
fn eligible(call: &mut Call<'_>) -> Result<Reply, Stop> {
    let (_, kept) = progress(call)?;
    let is_verified = status_of(&kept, "business_verification") == COMPLETED;
    Ok(Reply::new(json!({ "is_eligible": is_verified })))
}
