//! The namespace of extensions: whoever caused an error of a connection can say so, and the site
//! tells figures of itself.

use std::time::Duration;

use contract::rest::route::{CREATE, READ, Route};
use contract::rest::{Args, Reply, Schema, Stop};
use db::filter::Page;
use frame::action::{Outcome, anyone, read, write};
use frame::{Action, Call, Names};
use serde_json::{Map, Value, json};
use shop_rows::order::OrderFilter;
use shop_rows::product::ProductFilter;
use shop_rows::{order, product};
use site_rows::user;
use site_rows::user::UserFilter;
use types::{Capability, Result, Timestamp};

use crate::plugins::{lifecycle, with_shop};
use crate::rows::marketplace;

/// How long an error can be verified.
const ERROR_LIFE: Duration = Duration::from_hours(24);
/// Characters of a prefix at most.
const PREFIX_LENGTH_MAX: usize = 100;
/// A list of which only the number is wanted.
const NO_ITEMS: Page = Page { offset: 0, limit: 0 };

pub(crate) fn routes(names: &Names) -> Vec<Route<Action>> {
    let at = |path: &str| Route::at(&names.extension, path);
    let nonce = Schema::text().required().about("The nonce that the error was recorded with.");
    let prefix = Schema::text().about("Prefix of each metric's name.");
    let metric = Schema::types(&["string", "integer", "boolean", "array"])
        .keyword("items", Schema::text())
        .about("Its value.");
    vec![
        at("/verify_xmlrpc_error")
            .on(CREATE, Args::new().arg("nonce", nonce), write(anyone, verify))
            .shows(Schema::boolean().about("Whether such an error was recorded.")),
        at("/heartbeat/data")
            .on(READ, Args::new().arg("prefix", prefix), read(may_see, heartbeat))
            .shows(Schema::map().additional(metric).about("Metrics by name.")),
    ]
}

fn may_see(call: &mut Call<'_>) -> Result<(), Stop> {
    let message = "You are not allowed to view the site's metrics.";
    call.need(Capability::ManageOptions, "invalid_permission_heartbeat_data", message)
}

/// Says whether there is an error with this nonce that waited to be verified.
fn verify(call: &mut Call<'_>) -> Outcome {
    let nonce = call.params.text("nonce").unwrap_or_default().to_owned();
    let now = call.now();
    let life = i64::try_from(ERROR_LIFE.as_micros()).unwrap_or(i64::MAX);
    let since = Timestamp::from_micros(now.as_micros().saturating_sub(life));
    let is_verified = marketplace::error_verify(call.conn()?, &nonce, since, now)?;
    Ok(Reply::new(is_verified))
}

fn heartbeat(call: &mut Call<'_>) -> Outcome {
    let prefix = call.params.text("prefix").unwrap_or_default();
    let prefix: String = prefix.chars().take(PREFIX_LENGTH_MAX).collect();
    let language = call.options().text("WPLANG");
    let environment = call.site.environment().name();
    let conn = call.conn()?;
    let plugins = with_shop(&lifecycle::active(conn)?);
    let is_connected = marketplace::connection(conn, "marketplace")?.is_some();
    let figures: [(&str, Value); 8] = [
        ("version", json!(env!("CARGO_PKG_VERSION"))),
        ("environment", json!(environment)),
        ("language", json!(language)),
        ("standalone-connection", json!(plugins)),
        ("marketplace-connected", json!(is_connected)),
        ("products", json!(products(conn)?)),
        ("orders", json!(orders(conn)?)),
        ("users", json!(users(conn)?)),
    ];
    let prefixed = figures.into_iter().map(|(name, value)| (format!("{prefix}{name}"), value));
    Ok(Reply::new(Value::Object(prefixed.collect::<Map<String, Value>>())))
}

fn products(conn: &mut dyn db::Conn) -> Result<i64> {
    let wanted = ProductFilter { page: NO_ITEMS, ..ProductFilter::default() };
    Ok(product::list(conn, &wanted)?.1)
}

fn orders(conn: &mut dyn db::Conn) -> Result<i64> {
    let wanted = OrderFilter { page: NO_ITEMS, ..OrderFilter::default() };
    Ok(order::list(conn, &wanted)?.1)
}

fn users(conn: &mut dyn db::Conn) -> Result<i64> {
    let wanted = UserFilter { page: NO_ITEMS, ..UserFilter::default() };
    Ok(user::list(conn, &wanted)?.1)
}
