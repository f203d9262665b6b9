//! Creating and changing rates of taxes. Parameters may come unchecked, in a batch.

use contract::rest::{Stop, clean, loose};
use frame::Call;
use serde_json::Value;
use types::Amount;

use super::{TaxRate, classes, schema};
use crate::common::version::Version;

/// The name of a rate whose name is taken away.
const NAME_OF_NAMELESS: &str = "Tax";
/// Decimals of a rate.
const DECIMALS: u32 = 4;

/// Sets what the call gives.
pub(super) fn apply(version: Version, call: &mut Call<'_>, rate: &mut TaxRate) -> Result<(), Stop> {
    if let Some(class) = classes::requested_class(call)? {
        rate.row.class = class;
    }
    let given = |name: &str| call.params.get(name);
    let text = |name: &str| {
        given(name).map(|value| clean::text_field(&loose::scalar_text(value).unwrap_or_default()))
    };
    let whole = |name: &str| given(name).map(|value| loose::to_int(value).saturating_abs());
    // A star stands for all of them.
    let place = |text: String| if text == "*" { String::new() } else { text.to_uppercase() };
    let row = &mut rate.row;
    if let Some(country) = text("country") {
        row.country = place(country);
    }
    if let Some(state) = text("state") {
        row.state = place(clean::key(&state));
    }
    if let Some(name) = text("name") {
        row.name = if name.is_empty() { NAME_OF_NAMELESS.to_owned() } else { name };
    }
    if let Some(value) = given("rate") {
        let percent = Amount::from_f64(loose::to_float(value)).unwrap_or_default();
        row.rate = Some(percent.rounded(DECIMALS));
    }
    row.priority = whole("priority").unwrap_or(row.priority);
    row.position = whole("order").unwrap_or(row.position);
    row.compound = given("compound").map_or(row.compound, loose::to_bool);
    row.shipping = given("shipping").map_or(row.shipping, loose::to_bool);
    if let Some(postcodes) = locations(version, call, "postcode", "postcodes") {
        rate.postcodes = postcodes;
    }
    if let Some(cities) = locations(version, call, "city", "cities") {
        rate.cities = cities;
    }
    Ok(())
}

/// The places of a kind: from a list, or from a text with semicolons; the list wins.
fn locations(version: Version, call: &Call<'_>, one: &str, many: &str) -> Option<Vec<String>> {
    let list = call.params.get(many).filter(|_| schema::has_lists(version));
    if let Some(Value::Array(list)) = list {
        return Some(TaxRate::places(list.iter().filter_map(loose::scalar_text)));
    }
    let text = call.params.get(one).and_then(loose::scalar_text)?;
    (!text.is_empty()).then(|| TaxRate::places(text.split(';')))
}
