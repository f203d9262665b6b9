//! Continents with their countries, and how each of those writes amounts.

use contract::rest::route::{READ, Route};
use contract::rest::{Args, Item, Reply, Schema, Stop};
use frame::action::memory;
use frame::{Action, Call};
use serde_json::{Value, json};

use super::tables::{self, Continent, Country};
use super::{code_and_name, code_in_path, countries, links, shown, unknown_location};
use crate::managers::{linked, may_view};

pub(super) fn routes(namespace: &str) -> [Route<Action>; 2] {
    let base = format!("/{namespace}/data/continents");
    let base_of_one = base.clone();
    let list = move |call: &mut Call<'_>| Ok(Reply::new(list(call, &base)));
    let one = move |call: &mut Call<'_>| get(call, &base_of_one);
    let document = item().document();
    let args = Args::new().arg("continent", Schema::text().about("Two-letter code."));
    [
        Route::at(namespace, "/data/continents")
            .on(READ, Args::new(), memory(may_view, list))
            .lists()
            .schema(document.clone()),
        Route::at(namespace, r"/data/continents/(?P<location>[\w-]+)")
            .on(READ, args, memory(may_view, one))
            .schema(document),
    ]
}

fn item() -> Item {
    let text = |about: &str| shown(Schema::text(), about);
    let [code, name] = code_and_name("country");
    let country = Schema::object([
        code,
        ("currency_code", text("Currency code.")),
        ("currency_pos", text("Position of the currency symbol.")),
        ("decimal_sep", text("Decimal separator.")),
        ("dimension_unit", text("Unit of length.")),
        name,
        ("num_decimals", shown(Schema::integer(), "Number of decimals.")),
        ("states", countries::states_schema()),
        ("thousand_sep", text("Thousands separator.")),
        ("weight_unit", text("Unit of weight.")),
    ]);
    let countries = Schema::list(country.context(&["view"]).readonly());
    let [code, name] = code_and_name("continent");
    let fields = [code, name, ("countries", shown(countries, "Countries of the continent."))];
    Item::new("data_continents", Schema::object(fields))
}

fn list(call: &Call<'_>, base: &str) -> Vec<Value> {
    let continents = tables::continents().iter();
    let item = |continent: &Continent| {
        let code = continent.code.to_ascii_lowercase();
        linked(body(continent), links(call, base, &code))
    };
    continents.map(item).collect()
}

fn get(call: &mut Call<'_>, base: &str) -> Result<Reply, Stop> {
    let code = code_in_path(call, "location");
    let found = tables::continents().iter().find(|continent| continent.code == code);
    let continent = found.ok_or_else(unknown_location)?;
    Ok(Reply::new(body(continent)).links(links(call, base, &code.to_ascii_lowercase())))
}

fn body(continent: &Continent) -> Value {
    let countries: Vec<Value> = continent.countries().map(country_body).collect();
    json!({ "code": continent.code, "name": continent.name, "countries": countries })
}

fn country_body(country: &Country) -> Value {
    let states = countries::states(country);
    match country.format {
        None => json!({ "code": country.code, "name": country.name, "states": states }),
        Some(format) => json!({
            "code": country.code,
            "name": country.name,
            "currency_code": format.currency,
            "currency_pos": format.position,
            "thousand_sep": format.thousand,
            "decimal_sep": format.decimal,
            "num_decimals": format.decimals,
            "weight_unit": format.weight,
            "dimension_unit": format.dimension,
            "states": states,
        }),
    }
}
