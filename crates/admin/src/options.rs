//! The site's options by name, for the pages of the shop's administration.
//!
//! There are three kinds of names. Those in [`SHOP`] are read and written by everybody who runs the
//! shop, and have types. Other options of the site are read by administrators alone, and written
//! where they belong. **Names that the site does not list are refused**, whoever asks: nobody can
//! park data here, or look for what is not theirs. One name that is refused refuses the request.
//! Those who run the shop set secrets and see whether they are set; **only administrators read
//! them**.

use contract::rest::route::{EDIT, READ, Route, Verb};
use contract::rest::{Args, ParamError, Refusal, Reply, Schema, Stop, clean, loose, params};
use frame::action::{read, write};
use frame::options::{self, Kind};
use frame::{Action, Call, Names, Options, Via};
use serde_json::{Map, Value, json};
use types::Capability;

use crate::answers::members_or_list;
use crate::tasks;

const CANNOT_VIEW: &str = "woocommerce_rest_cannot_view";
const CANNOT_UPDATE: &str = "woocommerce_rest_cannot_update";
/// Names in one request.
const NAMES_MAX: usize = 100;
/// Bytes of one value.
const VALUE_BYTES_MAX: usize = 16 * 1024;

/// What stands for a secret that has a value.
const MASK: &str = "••••••••";
/// What the names of our own options begin with; their secrets are shown to nobody.
const OWN_PREFIX: &str = "boardwalk_";

/// How a value gets to where it is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Access {
    /// It is kept as it is, if it fits the type of the option.
    Own,
    /// It is a setting of this group, which checks it.
    Setting(&'static str),
    /// It holds the settings of this way to pay.
    Gateway(&'static str),
    /// It says whether a list of tasks is hidden.
    HiddenList(&'static str),
    /// It is only read.
    Shut,
}

/// What everybody who runs the shop may use.
const SHOP: &[(&str, Access)] = &[
    ("woocommerce_task_list_hidden", Access::HiddenList("setup")),
    ("woocommerce_extended_task_list_hidden", Access::HiddenList("extended")),
    ("woocommerce_task_list_keep_completed", Access::Own),
    ("woocommerce_task_list_prompt_shown", Access::Own),
    ("woocommerce_task_list_welcome_modal_dismissed", Access::Own),
    ("woocommerce_task_list_hidden_lists", Access::Own),
    ("woocommerce_task_list_completed_lists", Access::Own),
    ("woocommerce_task_list_dismissed_tasks", Access::Own),
    ("woocommerce_task_list_remind_me_later_tasks", Access::Own),
    ("woocommerce_task_list_tracked_completed_tasks", Access::Own),
    ("woocommerce_task_list_tracked_completed_actions", Access::Own),
    ("woocommerce_onboarding_profile", Access::Own),
    ("woocommerce_allow_tracking", Access::Own),
    ("woocommerce_demo_store", Access::Own),
    ("woocommerce_demo_store_notice", Access::Own),
    ("woocommerce_default_homepage_layout", Access::Own),
    ("woocommerce_no_sales_tax", Access::Own),
    ("woocommerce_show_marketplace_suggestions", Access::Own),
    ("woocommerce_setting_payments_recommendations_hidden", Access::Own),
    ("woocommerce_settings_shipping_recommendations_hidden", Access::Own),
    ("woocommerce_admin_created_default_shipping_zones", Access::Own),
    ("woocommerce_admin_reviewed_default_shipping_zones", Access::Own),
    ("woocommerce_coming_soon", Access::Own),
    ("woocommerce_store_pages_only", Access::Own),
    ("woocommerce_private_link", Access::Own),
    ("woocommerce_share_key", Access::Own),
    ("woocommerce_show_lys_tour", Access::Own),
    ("woocommerce_admin_customize_store_completed", Access::Own),
    ("woocommerce_admin_customize_store_completed_theme_id", Access::Own),
    ("woocommerce_admin_customize_store_survey_completed", Access::Own),
    ("woocommerce_ces_shown_for_actions", Access::Own),
    ("woocommerce_ces_tracks_queue", Access::Own),
    ("woocommerce_ces_product_feedback_shown", Access::Own),
    ("woocommerce_marketing_overview_welcome_hidden", Access::Own),
    ("woocommerce_admin_dismissed_mobile_app_modal", Access::Own),
    ("woocommerce_block_product_tour_shown", Access::Own),
    ("woocommerce_revenue_report_date_tour_shown", Access::Own),
    ("woocommerce_orders_report_date_tour_shown", Access::Own),
    ("woocommerce_product_tour_modal_hidden", Access::Own),
    ("woocommerce_remote_variant_assignment", Access::Own),
    ("woocommerce_bacs_accounts", Access::Own),
    ("woocommerce_stripe_settings", Access::Own),
    ("woocommerce-ppcp-settings", Access::Own),
    ("woocommerce_woopayments_nox_profile", Access::Own),
    ("wc_connect_options", Access::Own),
    ("blogname", Access::Own),
    ("permalink_structure", Access::Own),
    ("comment_moderation", Access::Own),
    ("comment_previously_approved", Access::Own),
    ("comment_max_links", Access::Own),
    ("comments_notify", Access::Own),
    ("moderation_notify", Access::Own),
    ("moderation_keys", Access::Own),
    ("disallowed_keys", Access::Own),
    ("require_name_email", Access::Own),
    ("date_format", Access::Own),
    ("time_format", Access::Own),
    ("woocommerce_default_country", Access::Setting("general")),
    ("woocommerce_calc_taxes", Access::Setting("general")),
    ("woocommerce_weight_unit", Access::Setting("products")),
    ("woocommerce_dimension_unit", Access::Setting("products")),
    ("woocommerce_manage_stock", Access::Setting("products")),
    ("woocommerce_date_type", Access::Setting("wc_admin")),
    ("woocommerce_bacs_settings", Access::Gateway("bacs")),
    ("woocommerce_gateway_order", Access::Shut),
    ("woocommerce_admin_install_timestamp", Access::Shut),
];

pub(crate) fn routes(names: &Names) -> Vec<Route<Action>> {
    let commerce = names.commerce_v3.clone();
    let update = move |call: &mut Call<'_>| update(call, &commerce);
    let value = Schema::types(&["string", "boolean", "array", "object"])
        .about("Its value; false if it has none.");
    let changed = Schema::boolean().about("Whether it was changed.");
    let route = Route::at(&names.admin, "/options")
        .on(READ, Args::new(), read(may_read, show))
        .shows(members_or_list(value).about("Options by name."))
        .on(EDIT, Args::new(), write(may_write, update))
        .shows(members_or_list(changed).about("Outcomes by name."));
    vec![route]
}

/// The names that the shop's managers read and set. Each is an option of the site, of this crate or
/// another.
pub fn names() -> impl Iterator<Item = &'static str> {
    let stored = SHOP.iter().filter(|(_, access)| !matches!(access, Access::HiddenList(_)));
    stored.map(|(name, _)| *name)
}

fn access(name: &str) -> Option<Access> {
    SHOP.iter().find(|(known, _)| *known == name).map(|(_, access)| *access)
}

/// The names in the query; nothing if it does not say.
fn requested_names(call: &Call<'_>) -> Option<Vec<String>> {
    let names = call.params.text("options")?.split(',').map(str::trim);
    Some(names.filter(|name| !name.is_empty()).map(str::to_owned).collect())
}

fn may_read(call: &mut Call<'_>) -> Result<(), Stop> {
    let Some(names) = requested_names(call) else {
        let message = "options is required: list option names, separated by commas.";
        return Err(Refusal::new(400, CANNOT_VIEW, message).into());
    };
    if names.len() > NAMES_MAX {
        return Err(too_many(CANNOT_VIEW).into());
    }
    let is_manager = call.can(Capability::ManageWoocommerce);
    let is_administrator = call.can(Capability::ManageOptions);
    let may = |name: &String| {
        let is_listed = options::definition(name).is_some();
        (is_manager && access(name).is_some()) || (is_administrator && is_listed)
    };
    if is_manager && names.iter().all(may) {
        return Ok(());
    }
    Err(call.deny(CANNOT_VIEW, "You are not allowed to view these options.").into())
}

fn too_many(code: &'static str) -> Refusal {
    Refusal::new(400, code, format!("Request at most {NAMES_MAX} options at once."))
}

fn show(call: &mut Call<'_>) -> Result<Reply, Stop> {
    let names = requested_names(call).unwrap_or_default();
    let stored = Options::read(call.conn()?)?;
    // A key that may only read would do more with a secret than it may by itself.
    let is_key = matches!(call.visit.identity.via, Via::ConsumerKey { .. });
    let sees_secrets = call.can(Capability::ManageOptions) && !is_key;
    let vault = call.site.vault();
    let mut shown = Map::new();
    for name in names {
        let is_secret = options::definition(&name).is_some_and(|option| option.is_secret);
        let is_masked = is_secret && (!sees_secrets || name.starts_with(OWN_PREFIX));
        let value = match access(&name) {
            Some(Access::HiddenList(list)) => yes_or_no(tasks::is_list_hidden(&stored, list)),
            _ => as_clients_know(options::secrets::open(vault, &name, stored.get(&name))?),
        };
        let is_set = value != Value::Bool(false);
        shown.insert(name, if is_masked && is_set { json!(MASK) } else { value });
    }
    Ok(Reply::new(object_or_list(shown)))
}

/// An object without members is a list to clients.
fn object_or_list(members: Map<String, Value>) -> Value {
    if members.is_empty() { json!([]) } else { Value::Object(members) }
}

fn yes_or_no(flag: bool) -> Value {
    json!(if flag { "yes" } else { "no" })
}

/// Numbers and truth values are texts, as everything that is not put together; nothing is false.
fn as_clients_know(value: Value) -> Value {
    match value {
        Value::Null => json!(false),
        Value::Bool(flag) => json!(if flag { "1" } else { "" }),
        Value::Number(number) => json!(number.to_string()),
        other => other,
    }
}

/// What a request is to change: an object, or an empty list, which has no members either.
fn changes<'c>(call: &'c Call<'_>) -> Option<Vec<(&'c String, &'c Value)>> {
    match call.params.json()? {
        Value::Object(members) => Some(members.iter().collect()),
        Value::Array(items) if items.is_empty() => Some(Vec::new()),
        _ => None,
    }
}

/// Who changes nothing needs no right to it.
fn may_write(call: &mut Call<'_>) -> Result<(), Stop> {
    let Some(changes) = changes(call) else {
        let message = "Send a JSON object of option names and values.";
        return Err(Refusal::new(400, CANNOT_UPDATE, message).into());
    };
    if changes.len() > NAMES_MAX {
        return Err(too_many(CANNOT_UPDATE).into());
    }
    let is_manager = call.can(Capability::ManageWoocommerce);
    let is_open = |name: &str| access(name).is_some_and(|access| access != Access::Shut);
    if changes.iter().all(|(name, _)| is_manager && is_open(name)) {
        return Ok(());
    }
    Err(call.deny(CANNOT_UPDATE, "You are not allowed to change these options.").into())
}

fn update(call: &mut Call<'_>, commerce: &str) -> Result<Reply, Stop> {
    let given = changes(call).unwrap_or_default().into_iter();
    let given: Vec<(String, Value)> = given.map(|(n, v)| (n.clone(), v.clone())).collect();
    let accepted = accept_all(&given)?;
    let mut results = Map::new();
    for (name, value) in accepted {
        let is_changed = match access(&name) {
            Some(Access::Own) => {
                let vault = call.site.vault();
                options::secrets::change(call.conn()?, vault, &name, &value)?
            }
            Some(Access::HiddenList(list)) => {
                tasks::set_list_hidden(call.conn()?, list, loose::to_bool(&value))?;
                // The option itself never changes: the list it is about does.
                false
            }
            Some(Access::Setting(group)) => {
                let path = format!("/{commerce}/settings/{group}/{name}");
                change_elsewhere(call, (&name, &path), json!({ "value": value }))?
            }
            Some(Access::Gateway(id)) => {
                let path = format!("/{commerce}/payment_gateways/{id}");
                let enabled = value.get("enabled").is_some_and(|enabled| enabled == "yes");
                let body = json!({ "settings": value, "enabled": enabled });
                change_elsewhere(call, (&name, &path), body)?
            }
            Some(Access::Shut) | None => false,
        };
        results.insert(name, json!(is_changed));
    }
    Ok(Reply::new(object_or_list(results)))
}

/// Lets the route change the option that it is in charge of, and says whether it did.
fn change_elsewhere(
    call: &mut Call<'_>,
    (name, path): (&str, &str),
    body: Value,
) -> Result<bool, Stop> {
    let before = site_rows::option::get(call.conn()?, name)?;
    let body = body.as_object().cloned().unwrap_or_default();
    call.ask(Verb::Put, path, body)?;
    Ok(site_rows::option::get(call.conn()?, name)? != before)
}

/// The values as they are kept. **Nothing is stored unless all of them fit.**
fn accept_all(given: &[(String, Value)]) -> Result<Vec<(String, Value)>, Refusal> {
    let mut accepted = Vec::new();
    let mut errors = params::ParamErrors::new();
    for (name, value) in given {
        match accept(name, value) {
            Ok(value) => accepted.push((name.clone(), value)),
            Err(message) => {
                let error = ParamError::new("rest_invalid_type", format!("{name}: {message}"));
                errors.push((name.clone(), Some(error)));
            }
        }
    }
    if errors.is_empty() { Ok(accepted) } else { Err(params::invalid_params(errors)) }
}

fn accept(name: &str, value: &Value) -> Result<Value, &'static str> {
    if value.to_string().len() > VALUE_BYTES_MAX {
        return Err("The value is too long.");
    }
    let kind = match access(name) {
        Some(Access::HiddenList(_)) => Kind::YesNo,
        Some(Access::Own) => options::definition(name).map_or(Kind::Text, |option| option.kind),
        // Whoever is in charge of it looks at it.
        _ => return Ok(value.clone()),
    };
    match (kind, value) {
        (Kind::YesNo, Value::Bool(flag)) => Ok(yes_or_no(*flag)),
        (Kind::YesNo, Value::String(text)) if matches!(text.as_str(), "yes" | "no" | "") => {
            Ok(value.clone())
        }
        (Kind::YesNo, _) => Err("Must be yes or no."),
        (Kind::Text, Value::String(text)) => Ok(json!(clean::placeholder_text(text))),
        (Kind::Decimal, Value::String(text)) => Ok(json!(clean::text_field(text))),
        (Kind::Text | Kind::Decimal, _) => Err("Must be a string."),
        (Kind::Integer, value) if loose::is_whole(value) => Ok(json!(loose::to_int(value))),
        (Kind::Integer, _) => Err("Must be a whole number."),
        (Kind::Switch, value) => Ok(json!(loose::to_bool(value))),
        (Kind::Json, Value::Array(_) | Value::Object(_)) => Ok(value.clone()),
        (Kind::Json, _) => Err("Must be a list or an object."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_fit_their_types() {
        options::declare(&[crate::OPTIONS]);
        for (name, value, expected) in [
            ("woocommerce_demo_store_notice", json!("Hello"), Some(json!("Hello"))),
            ("woocommerce_demo_store_notice", json!(["Hello"]), None),
            ("permalink_structure", json!("/%day%/%postname%/"), Some(json!("/%day%/%postname%/"))),
            ("woocommerce_task_list_hidden", json!("yes"), Some(json!("yes"))),
            ("woocommerce_no_sales_tax", json!(true), Some(json!("yes"))),
            ("woocommerce_no_sales_tax", json!("maybe"), None),
            ("woocommerce_ces_shown_for_actions", json!(["a", "b"]), Some(json!(["a", "b"]))),
            ("woocommerce_ces_shown_for_actions", json!("a"), None),
            ("woocommerce_remote_variant_assignment", json!("7"), Some(json!(7))),
            ("woocommerce_remote_variant_assignment", json!("many"), None),
            ("woocommerce_bacs_accounts", json!(["x".repeat(VALUE_BYTES_MAX)]), None),
        ] {
            assert_eq!(accept(name, &value).ok(), expected, "{name} {value}");
        }
    }

    #[test]
    fn scalars_are_texts_and_nothing_is_false() {
        for (value, expected) in [
            (Value::Null, json!(false)),
            (json!(1), json!("1")),
            (json!(true), json!("1")),
            (json!("USD"), json!("USD")),
            (json!([1]), json!([1])),
        ] {
            assert_eq!(as_clients_know(value), expected);
        }
    }
}
