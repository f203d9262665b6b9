//! What a program that works for a signed-in user needs to know before anything else: who that is,
//! what they may do, whose records they are bound to, and where and when the site is.

mod second_factor;
mod sessions;

use contract::rest::route::{READ, Route};
use contract::rest::{Args, Item, Reply, Schema, Stop};
use frame::action::{Action, memory};
use frame::{Call, Names};
use serde_json::{Value, json};
use types::{Capability, iso_scopes};

use crate::users;

pub(crate) fn routes(names: &Names) -> Vec<Route<Action>> {
    let route = Route::at(&names.docs, "/me").on(READ, Args::new(), memory(signed_in, show));
    let mut routes = vec![route.schema(document())];
    routes.extend(sessions::routes(names));
    routes.extend(second_factor::routes(names));
    routes
}

fn signed_in(call: &mut Call<'_>) -> Result<(), Stop> {
    if call.user().is_some() { Ok(()) } else { Err(users::not_logged_in().into()) }
}

fn show(call: &mut Call<'_>) -> Result<Reply, Stop> {
    let Some(user) = call.user() else { return Err(users::not_logged_in().into()) };
    let (row, options) = (&user.row, call.options());
    let capabilities: Vec<&str> = Capability::ALL
        .iter()
        .filter(|capability| user.can(**capability))
        .map(|capability| capability.name())
        .collect();
    let scopes: Vec<String> = iso_scopes(&row.roles)
        .map(|scopes| scopes.to_string().split_ascii_whitespace().map(str::to_owned).collect())
        .unwrap_or_default();
    let roles: Vec<&str> = row.roles.iter().map(|role| role.name()).collect();
    let neighbours: serde_json::Map<String, Value> = call
        .site
        .neighbours()
        .iter()
        .map(|neighbour| (neighbour.environment.name().to_owned(), json!(neighbour.url)))
        .collect();
    Ok(Reply::new(json!({
        "user": {
            "id": row.user_id,
            "login": row.login,
            "name": row.display_name,
            "email": row.email,
            "roles": roles,
            "capabilities": capabilities,
            "scopes": scopes,
            "iso_id": row.iso_id,
            "merchant_id": row.merchant_id,
            "store_id": row.store_id,
        },
        "site": {
            "name": options.text("blogname"),
            "environment": call.site.environment().name(),
            "environments": neighbours,
            "timezone": options.zone_name(),
            "start_of_week": options.integer("start_of_week"),
            "version": env!("CARGO_PKG_VERSION"),
        },
    })))
}

fn document() -> Value {
    let or_null = |about: &str| Schema::types(&["string", "null"]).about(about);
    let texts = |about: &str| Schema::list(Schema::text()).about(about);
    let user = Schema::object([
        ("id", Schema::integer().about("User ID.")),
        ("login", Schema::text().about("Username.")),
        ("name", Schema::text().about("Display name.")),
        ("email", Schema::text().format("email").about("E-mail address.")),
        ("roles", texts("User roles.")),
        ("capabilities", texts("User capabilities.")),
        ("scopes", texts("What the user may do with the onboarding API; `*` is everything.")),
        ("iso_id", or_null("ISO of the user.")),
        ("merchant_id", or_null("Merchant to which the user is limited.")),
        ("store_id", or_null("Store to which the user is limited.")),
    ]);
    let site = Schema::object([
        ("name", Schema::text().about("Site name.")),
        ("environment", Schema::text().about("Sandbox or production.")),
        ("environments", Schema::map().about("URLs of all environments, by name.")),
        ("timezone", Schema::text().about("Time zone of the site, or its UTC offset.")),
        ("start_of_week", Schema::integer().about("First day of the week; 0 is Sunday.")),
        ("version", Schema::text().about("Version of the server.")),
    ]);
    let whole =
        Schema::object([("user", user.about("Who asks.")), ("site", site.about("Where that is."))]);
    Item::new("me", whole).document()
}
