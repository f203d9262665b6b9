//! The places of a theme that take menus. **Themes of this site have none**: their menus are made
//! of blocks, so the list is empty and no place is found.

use contract::rest::route::{READ, Route};
use contract::rest::{Args, Item, Refusal, Reply, Schema, Stop};
use frame::action::{Action, memory};
use frame::{Call, Names};
use serde_json::json;
use types::Capability;

use super::schema::ALL;

pub(super) fn routes(names: &Names) -> Vec<Route<Action>> {
    let text = |about: &str| Schema::text().about(about).context(ALL).readonly();
    let menu = Schema::integer().about("Id of its menu.").context(ALL).readonly();
    let item = Item::new(
        "menu-location",
        Schema::object([
            ("name", text("Its name.")),
            ("description", text("Where it is.")),
            ("menu", menu),
        ]),
    );
    let context = Args::new().arg("context", item.context_arg());
    let location = Schema::text().about("Name of the place.");
    let one = Args::new().arg("location", location).arg("context", item.context_arg());
    vec![
        Route::at(&names.content, "/menu-locations")
            .on(READ, context, memory(may_view, |_| Ok(Reply::new(json!([])))))
            .maps()
            .schema(item.document()),
        Route::at(&names.content, r"/menu-locations/(?P<location>[\w-]+)")
            .on(READ, one, memory(may_view, |_| Err(unknown())))
            .schema(item.document()),
    ]
}

fn unknown() -> Stop {
    Refusal::new(404, "rest_menu_location_invalid", "The theme has no such place.").into()
}

fn may_view(call: &mut Call<'_>) -> Result<(), Stop> {
    if call.can(Capability::EditThemeOptions) {
        return Ok(());
    }
    let message = "You are not allowed to view places of menus.";
    call.need(Capability::EditPosts, "rest_cannot_view", message)
}
