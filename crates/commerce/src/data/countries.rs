//! Countries with their states, as a list and one by one.

use contract::rest::route::{READ, Route};
use contract::rest::{Args, Item, Reply, Schema, Stop};
use frame::action::memory;
use frame::{Action, Call};
use serde_json::{Value, json};

use super::tables::{self, Country};
use super::{code_and_name, code_in_path, links, shown, unknown_location};
use crate::managers::{linked, may_view};

pub(super) fn routes(namespace: &str) -> [Route<Action>; 2] {
    let base = format!("/{namespace}/data/countries");
    let base_of_one = base.clone();
    let list = move |call: &mut Call<'_>| Ok(Reply::new(list(call, &base)));
    let one = move |call: &mut Call<'_>| get(call, &base_of_one);
    let document = item().document();
    let args = Args::new().arg("location", Schema::text().about("Two-letter country code."));
    [
        Route::at(namespace, "/data/countries")
            .on(READ, Args::new(), memory(may_view, list))
            .lists()
            .schema(document.clone()),
        Route::at(namespace, r"/data/countries/(?P<location>[\w-]+)")
            .on(READ, args, memory(may_view, one))
            .schema(document),
    ]
}

fn item() -> Item {
    let [code, name] = code_and_name("country");
    Item::new("data_countries", Schema::object([code, name, ("states", states_schema())]))
}

pub(super) fn states_schema() -> Schema {
    let [code, name] = code_and_name("state");
    // Some countries number their states.
    let code = (code.0, code.1.shown_as(Schema::types(&["string", "integer"])));
    let state = Schema::object([code, name]).context(&["view"]).readonly();
    shown(Schema::list(state), "States of the country.")
}

fn list(call: &Call<'_>, base: &str) -> Vec<Value> {
    let item = |country: &Country| {
        let code = country.code.to_ascii_lowercase();
        linked(body(country), links(call, base, &code))
    };
    tables::countries().iter().map(item).collect()
}

fn get(call: &mut Call<'_>, base: &str) -> Result<Reply, Stop> {
    let country = tables::country(&code_in_path(call, "location")).ok_or_else(unknown_location)?;
    let code = country.code.to_ascii_lowercase();
    Ok(Reply::new(body(country)).links(links(call, base, &code)))
}

fn body(country: &Country) -> Value {
    json!({ "code": country.code, "name": country.name, "states": states(country) })
}

pub(super) fn states(country: &Country) -> Vec<Value> {
    let states = country.states.iter();
    states.map(|state| json!({ "code": code(state.code), "name": state.name })).collect()
}

/// A code that looks like a number is one, as clients know it; `07` does not.
fn code(text: &str) -> Value {
    match text.parse::<u32>() {
        Ok(number) if number.to_string() == text => json!(number),
        _ => json!(text),
    }
}
