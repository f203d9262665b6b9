//! The connection of the site to the marketplace, as the marketplace asks for it: whether there is
//! one, and its end. A signed-in administrator may ask as well.

use contract::rest::route::{EDIT, READ, Route};
use contract::rest::{Args, Refusal, Reply, Schema, Stop};
use frame::action::{read, write};
use frame::{Action, Call, Names};
use serde_json::json;
use types::Capability;

use crate::marketplace::client::SERVICE;
use crate::rows::marketplace;

/// The steps of an installation, as the marketplace knows them.
const STEPS: &[&str] =
    &["get_product_info", "download_product", "unpack_product", "move_product", "activate_product"];

pub(crate) fn routes(names: &Names) -> Vec<Route<Action>> {
    let at = |path: &str| Route::at(&names.marketplace, path);
    let product = || Schema::integer().required().about("Number of the product.");
    let key = || Schema::text().required().about("What makes repeated requests one.");
    let steps = Schema::text().choices(STEPS).required().about("The last step to take.");
    let refusal = || {
        Schema::object([
            ("success", Schema::boolean().about("False.")),
            ("error_code", Schema::text().about("Why not.")),
            ("error_message", Schema::text().about("Why not, in words.")),
        ])
    };
    vec![
        at(r"/installer/(?P<product_id>\d+)/state")
            .on(READ, Args::new().arg("product_id", product()), read(may_ask, not_here))
            .shows(refusal()),
        at("/installer")
            .on(
                EDIT,
                Args::new()
                    .arg("product-id", product())
                    .arg("run-until-step", steps)
                    .arg("idempotency-key", key()),
                write(may_ask, not_here),
            )
            .shows(refusal()),
        at("/installer/reset")
            .on(
                EDIT,
                Args::new().arg("product-id", product()).arg("idempotency-key", key()),
                write(may_ask, not_here),
            )
            .shows(refusal()),
        at("/ssr").on(READ, Args::new(), read(may_ask, not_here)).shows(refusal()),
        at("/status").on(READ, Args::new(), read(may_ask, not_here)).shows(refusal()),
        at("/connection/status").on(READ, Args::new(), read(may_ask, status)).shows(
            Schema::object([
                ("connection_data_found", Schema::boolean().about("Whether there is a token.")),
                ("connection_valid", Schema::boolean().about("Whether the token is accepted.")),
            ]),
        ),
        at("/connection/disconnect").on(EDIT, Args::new(), write(may_ask, disconnect)).shows(
            Schema::object([(
                "status",
                Schema::boolean().about("Whether there was a connection."),
            )]),
        ),
    ]
}

/// Nobody is let in without a token of the marketplace; users need the right to manage.
fn may_ask(call: &mut Call<'_>) -> Result<(), Stop> {
    if call.visit.identity.is_anonymous() {
        let message = "An access token is required.";
        return Err(Refusal::new(400, "no_access_token", message).into());
    }
    call.need(Capability::ManageOptions, "forbidden", "You are not allowed to do that.")
}

/// The marketplace neither installs anything here nor is told about the site: **what is bought
/// comes by the site's own request** (`marketplace_routes`).
fn not_here(call: &mut Call<'_>) -> Result<Reply, Stop> {
    let found = marketplace::connection(call.conn()?, SERVICE)?.is_some();
    let (code, message) = if found {
        ("not_supported", "The site installs what was bought by itself.")
    } else {
        ("not_connected", "The site is not connected to a marketplace.")
    };
    Ok(Reply::new(json!({ "success": false, "error_code": code, "error_message": message })))
}

fn status(call: &mut Call<'_>) -> Result<Reply, Stop> {
    let found = marketplace::connection(call.conn()?, SERVICE)?.is_some();
    Ok(Reply::new(json!({ "connection_data_found": found, "connection_valid": found })))
}

fn disconnect(call: &mut Call<'_>) -> Result<Reply, Stop> {
    let ended = marketplace::disconnect(call.conn()?, SERVICE)?;
    Ok(Reply::new(json!({ "status": ended })))
}
