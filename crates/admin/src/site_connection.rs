//! The connection of the site to the marketplace, as the marketplace asks for it: whether there is
//! one, and its end. A signed-in administrator may ask as well.

use contract::rest::route::{EDIT, READ, Route};
use contract::rest::{Args, Refusal, Reply, Stop};
use frame::action::{read, write};
use frame::{Action, Call, Names};
use serde_json::json;
use types::Capability;

use crate::marketplace::client::SERVICE;
use crate::rows::marketplace;

pub(crate) fn routes(names: &Names) -> Vec<Route<Action>> {
    let at = |path: &str| Route::at(&names.marketplace, path);
    vec![
        at("/connection/status").on(READ, Args::new(), read(may_ask, status)),
        at("/connection/disconnect").on(EDIT, Args::new(), write(may_ask, disconnect)),
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

fn status(call: &mut Call<'_>) -> Result<Reply, Stop> {
    let found = marketplace::connection(call.conn()?, SERVICE)?.is_some();
    Ok(Reply::new(json!({ "connection_data_found": found, "connection_valid": found })))
}

fn disconnect(call: &mut Call<'_>) -> Result<Reply, Stop> {
    let ended = marketplace::disconnect(call.conn()?, SERVICE)?;
    Ok(Reply::new(json!({ "status": ended })))
}
