//! Opening the store: whether strangers see it yet, and what its owner said about getting there.

use contract::rest::route::{CREATE, DELETE, READ, Route, Verb};
use contract::rest::{Args, Reply, Schema, Stop};
use frame::action::{read, write};
use frame::{Action, Call, Names, Options, options};
use serde_json::{Map, Value, json};
use shop_rows::order;
use types::{Capability, Error};

const COMING_SOON: &str = "woocommerce_coming_soon";
const STORE_ONLY: &str = "woocommerce_store_pages_only";
const PRIVATE_LINK: &str = "woocommerce_private_link";
const SHARE_KEY: &str = "woocommerce_share_key";
const SURVEY: &str = "woocommerce_admin_launch_your_store_survey_completed";
const SHARE_KEY_BYTES: usize = 16;
/// Orders that were paid with play money are marked so.
const TEST_MODE: (&str, &str) = ("_wcpay_mode", "test");
/// Orders that one call deletes; whoever wants more gone calls again.
const DELETED_MAX: i64 = 200;

pub(crate) fn routes(names: &Names) -> Vec<Route<Action>> {
    let at = |path: &str| Route::at(&names.admin, &format!("/launch-your-store/{path}"));
    let orders = format!("/{}/orders", names.commerce_v3);
    let delete = move |call: &mut Call<'_>| delete_tests(call, &orders);
    let status = || Schema::text().choices(&["yes", "no"]);
    let count = |about: &str| Schema::integer().about(about);
    vec![
        at("initialize-coming-soon")
            .on(CREATE, Args::new(), write(may_manage, initialize))
            .shows(Schema::boolean().about("Always true.")),
        at("update-survey-status")
            .on(CREATE, Args::new().arg("status", status()), write(may_manage, answer_survey))
            .shows(Schema::object([
                ("success", Schema::boolean().about("Always true.")),
                ("status", status().about("Whether the survey is completed.")),
            ])),
        at("survey-completed")
            .on(READ, Args::new(), read(may_manage, survey))
            .shows(status().about("Whether the survey is completed.")),
        at("woopayments/test-orders/count")
            .on(READ, Args::new(), read(may_manage, count_tests))
            .shows(Schema::object([("count", count("Number of test orders."))])),
        at("woopayments/test-orders").on(DELETE, Args::new(), write(may_manage, delete)).shows(
            Schema::object([
                ("success", Schema::boolean().about("Always true.")),
                ("deleted", count("Number of deleted orders.")),
            ]),
        ),
    ]
}

fn may_manage(call: &mut Call<'_>) -> Result<(), Stop> {
    call.need(Capability::ManageWoocommerce, "rest_forbidden", "You are not allowed to do that.")
}

/// Shuts the store to strangers, with a key for those who may look already.
fn initialize(call: &mut Call<'_>) -> Result<Reply, Stop> {
    let stored = Options::read(call.conn()?)?;
    let key = match stored.text(SHARE_KEY) {
        key if key.is_empty() => share_key()?,
        key => key,
    };
    for (option, value) in
        [(COMING_SOON, "yes"), (STORE_ONLY, "no"), (PRIVATE_LINK, "no"), (SHARE_KEY, &*key)]
    {
        options::set(call.conn()?, option, &json!(value))?;
    }
    Ok(Reply::new(json!(true)))
}

fn share_key() -> Result<String, Error> {
    let mut bytes = [0_u8; SHARE_KEY_BYTES];
    vault::fill_random(&mut bytes)?;
    Ok(data_encoding::HEXLOWER.encode(&bytes))
}

fn answer_survey(call: &mut Call<'_>) -> Result<Reply, Stop> {
    let status = call.params.text("status").unwrap_or("yes").to_owned();
    options::set(call.conn()?, SURVEY, &json!(status))?;
    Ok(Reply::new(json!({ "success": true, "status": status })))
}

fn survey(call: &mut Call<'_>) -> Result<Reply, Stop> {
    let is_done = Options::read(call.conn()?)?.is_on(SURVEY);
    Ok(Reply::new(json!(if is_done { "yes" } else { "no" })))
}

fn count_tests(call: &mut Call<'_>) -> Result<Reply, Stop> {
    let (name, value) = TEST_MODE;
    let count = order::count_marked(call.conn()?, name, value)?;
    Ok(Reply::new(json!({ "count": count })))
}

/// Deletes orders that were paid with play money, for good.
fn delete_tests(call: &mut Call<'_>, orders: &str) -> Result<Reply, Stop> {
    let (name, value) = TEST_MODE;
    let ids = order::marked(call.conn()?, name, value, DELETED_MAX)?;
    let deleted = ids.len();
    for id in ids {
        let force = Map::from_iter([(String::from("force"), Value::Bool(true))]);
        call.ask(Verb::Delete, &format!("{orders}/{id}"), force)?;
    }
    Ok(Reply::new(json!({ "success": true, "deleted": deleted })))
}
