//! What the shop's administration can do on this site, by the names that clients know, and which
//! side of an experiment a user is on.
//!
//! **A feature is listed while it works**: each follows the option or the setting that turns it on.

use std::sync::Arc;

use contract::rest::route::{READ, Route};
use contract::rest::{Args, Refusal, Reply, Schema, Stop};
use frame::action::{memory, read};
use frame::managers::may_view;
use frame::{Action, Call, Names, Options, mail};
use serde_json::{Value, json};

/// When a feature works.
#[derive(Clone, Copy, Debug)]
enum While {
    Always,
    /// As long as the option does not say no.
    NotOff(&'static str),
    /// As long as the option says yes.
    On(&'static str),
    /// As long as the operator named a relay for mail.
    MailIsOn,
}

const SUGGESTIONS: While = While::NotOff("woocommerce_show_marketplace_suggestions");

const FEATURES: &[(&str, While)] = &[
    ("activity-panels", While::Always),
    ("analytics", While::NotOff("woocommerce_analytics_enabled")),
    ("analytics-scheduled-import", While::On("woocommerce_analytics_scheduled_import")),
    ("blueprint", While::Always),
    ("core-profiler", While::Always),
    ("coupons", While::NotOff("woocommerce_enable_coupons")),
    ("customize-store", While::Always),
    ("homescreen", While::Always),
    ("launch-your-store", While::Always),
    ("marketing", While::Always),
    ("mobile-app-banner", While::MailIsOn),
    ("onboarding", While::Always),
    ("onboarding-tasks", While::Always),
    ("payment-gateway-suggestions", SUGGESTIONS),
    ("product-reviews", While::NotOff("woocommerce_enable_reviews")),
    ("remote-free-extensions", SUGGESTIONS),
    ("remote-inbox-notifications", SUGGESTIONS),
    ("shipping-label-banner", SUGGESTIONS),
    ("transient-notices", While::Always),
];

/// Seconds for which a client may keep its side of an experiment.
const EXPERIMENT_LIFE_SECS: u32 = 3_600;
const EXPERIMENT_NAME_CHARS_MAX: usize = 100;
const SIDES: [&str; 2] = ["control", "treatment"];

pub(crate) fn routes(names: &Names, experiments: &Arc<[String]>) -> Vec<Route<Action>> {
    let at = |path: &str| Route::at(&names.admin, path);
    let experiments = Arc::clone(experiments);
    let assign = move |call: &mut Call<'_>| assign(call, &experiments);
    vec![
        at("/features")
            .on(READ, Args::new(), read(may_view, list))
            .shows(Schema::list(Schema::text().about("Name of a feature that works."))),
        at("/experiments/assignment")
            .on(READ, Args::new(), memory(may_view, assign))
            .shows(assignment()),
    ]
}

fn assignment() -> Schema {
    let side = Schema::text().choices(&SIDES).or_null();
    let about = "The user's side by experiment; null if the experiment is not run.";
    Schema::object([
        ("variations", Schema::map().additional(side).about(about)),
        ("ttl", Schema::integer().about("Seconds for which the answer can be kept.")),
    ])
}

fn list(call: &mut Call<'_>) -> Result<Reply, Stop> {
    let options = Options::read(call.conn()?)?;
    let has_mail = mail::is_on(call.site);
    let works = |condition: While| match condition {
        While::Always => true,
        While::NotOff(option) => options.text(option) != "no",
        While::On(option) => options.is_on(option),
        While::MailIsOn => has_mail,
    };
    let names = FEATURES.iter().filter(|(_, condition)| works(*condition));
    Ok(Reply::new(names.map(|(name, _)| json!(name)).collect::<Vec<Value>>()))
}

/// The same user is on the same side whenever they ask, and half of all users are on either. Of an
/// experiment that the operator does not run, nobody is on any side.
fn assign(call: &mut Call<'_>, experiments: &[String]) -> Result<Reply, Stop> {
    let name = call.params.text("experiment_name").unwrap_or_default();
    if name.is_empty() {
        let message = "experiment_name is required.";
        let code = "woocommerce_rest_experiment_name_required";
        return Err(Refusal::new(400, code, message).into());
    }
    if name.chars().count() > EXPERIMENT_NAME_CHARS_MAX {
        let message = "experiment_name must have at most 100 characters.";
        return Err(Refusal::new(400, "woocommerce_rest_experiment_name_too_long", message).into());
    }
    let user = call.user_id().to_string();
    let hash = call.site.vault().site_hash("experiment", name, &user);
    let odd = hash.first().is_some_and(|byte| byte % 2 == 1);
    let [control, treatment] = SIDES;
    let side = if odd { treatment } else { control };
    let side = experiments.iter().any(|known| known == name).then_some(side);
    Ok(Reply::new(json!({ "variations": { name: side }, "ttl": EXPERIMENT_LIFE_SECS })))
}
