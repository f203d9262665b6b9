//! What the shop knows about the world: continents, countries with their states, currencies, and
//! what an address looks like in a country.

mod continents;
mod countries;
mod currencies;
mod locales;
mod spelling;
pub mod tables;
pub(crate) mod units;

pub use self::locales::{address_field, sells_to, ships_to};

use contract::rest::route::{READ, Route};
use contract::rest::{Args, Item, Links, Refusal, Reply, Schema, Stop};
use frame::action::memory;
use frame::{Action, Call, Names};
use serde_json::{Value, json};

use crate::managers::{linked, may_view};

/// The tables that the index names, with what is in them.
const COMMERCE_TABLES: &[(&str, &str)] = &[
    ("continents", "Continents, their countries and currency formats."),
    ("countries", "Countries and their states."),
    ("currencies", "Currencies and their symbols."),
];
/// What analytics has on top.
const ANALYTICS_TABLES: &[(&str, &str)] =
    &[("download-ips", "IP addresses that files were downloaded from.")];

pub(crate) fn routes(names: &Names) -> Vec<Route<Action>> {
    let (commerce, analytics) = (names.commerce_v3.as_str(), names.analytics.as_str());
    let mut routes = vec![index(commerce, &[])];
    routes.extend(continents::routes(commerce));
    routes.extend(countries::routes(commerce));
    routes.extend(currencies::routes(commerce));
    routes.push(index(analytics, ANALYTICS_TABLES));
    routes.push(locales::route(analytics));
    routes.extend(countries::routes(analytics));
    routes.push(spelling::route(&names.docs));
    routes
}

/// A field that is only ever shown.
fn shown(schema: Schema, about: &str) -> Schema {
    schema.about(about).context(&["view"]).readonly()
}

fn code_and_name(what: &str) -> [(&'static str, Schema); 2] {
    [
        ("code", shown(Schema::text(), &format!("Code of the {what}."))),
        ("name", shown(Schema::text(), &format!("Name of the {what}."))),
    ]
}

fn index(namespace: &str, more: &'static [(&str, &str)]) -> Route<Action> {
    let item = Item::new(
        "data_index",
        Schema::object([
            ("slug", shown(Schema::text(), "Resource name.")),
            ("description", shown(Schema::text(), "Resource description.")),
        ]),
    );
    let base = format!("/{namespace}/data");
    let list = move |call: &mut Call<'_>| {
        let tables = COMMERCE_TABLES.iter().chain(more);
        let items = tables.map(|(slug, about)| {
            let body = json!({ "slug": slug, "description": about });
            linked(body, links(call, &base, slug))
        });
        Ok(Reply::new(items.collect::<Vec<Value>>()))
    };
    Route::at(namespace, "/data")
        .on(READ, Args::new(), memory(may_view, list))
        .lists()
        .schema(item.document())
}

/// The links of an item of a table at a REST path.
fn links(call: &Call<'_>, base: &str, code: &str) -> Links {
    Links::new()
        .to("self", call.visit.rest(&format!("{base}/{code}")))
        .to("collection", call.visit.rest(base))
}

fn unknown_location() -> Stop {
    let message = "Location not found.";
    Refusal::new(404, "woocommerce_rest_data_invalid_location", message).into()
}

/// The code in the path, as the tables spell it.
fn code_in_path(call: &Call<'_>, name: &str) -> String {
    call.params.text(name).unwrap_or_default().to_ascii_uppercase()
}
