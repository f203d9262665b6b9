//! The ISOs of this installation, for the site's administrators, who act for any of them.

use contract::rest::route::{READ, Route};
use contract::rest::{Args, Item, Reply, Schema, Stop};
use frame::action::read;
use frame::{Action, Call, Names};
use serde_json::json;
use types::Capability;

pub(crate) fn routes(names: &Names) -> Vec<Route<Action>> {
    let item = Item::new(
        "iso",
        Schema::object([
            ("isoId", Schema::text().about("ISO ID.")),
            ("name", Schema::text().about("ISO name.")),
        ]),
    );
    let route = Route::at(&names.docs, "/isos").on(READ, Args::new(), read(may_see, list)).lists();
    vec![route.schema(item.document())]
}

fn may_see(call: &mut Call<'_>) -> Result<(), Stop> {
    let message = "Only site administrators can list all ISOs.";
    call.need(Capability::ManageOptions, "rest_forbidden", message)
}

fn list(call: &mut Call<'_>) -> Result<Reply, Stop> {
    let isos = site_rows::iso::list(call.conn()?)?;
    let shown = isos.iter().map(|iso| json!({ "isoId": iso.iso_id.as_str(), "name": iso.name }));
    Ok(Reply::new(shown.collect::<Vec<_>>()))
}
