//! What an address looks like: the fields that every country has, and what differs in one.

use contract::rest::route::{READ, Route};
use contract::rest::{Args, Reply, Schema};
use frame::action::memory;
use frame::{Action, Call, Options};
use serde_json::{Map, Value, json};

use super::tables::{self, AddressField, Hidden};
use crate::managers::may_view;

/// A field as most countries have it.
struct Field {
    name: &'static str,
    label: &'static str,
    class: &'static [&'static str],
    autocomplete: &'static str,
    priority: i64,
}

const WIDE: &[&str] = &["form-row-wide", "address-field"];

const FIELDS: &[Field] = &[
    field("first_name", "First name", &["form-row-first"], "given-name", 10),
    field("last_name", "Last name", &["form-row-last"], "family-name", 20),
    field("company", "Company", &["form-row-wide"], "organization", 30),
    field("country", "Country", COUNTRY_CLASS, "country", 40),
    field("address_1", "Street address", WIDE, "address-line1", 50),
    field("address_2", "Flat, floor, building", WIDE, "address-line2", 60),
    field("city", "City", WIDE, "address-level2", 70),
    field("state", "State", WIDE, "address-level1", 80),
    field("postcode", "Postcode", WIDE, "postal-code", 90),
];
const COUNTRY_CLASS: &[&str] = &["form-row-wide", "address-field", "update_totals_on_change"];

const fn field(
    name: &'static str,
    label: &'static str,
    class: &'static [&'static str],
    autocomplete: &'static str,
    priority: i64,
) -> Field {
    Field { name, label, class, autocomplete, priority }
}

pub(super) fn route(namespace: &str) -> Route<Action> {
    let list = |call: &mut Call<'_>| Ok(Reply::new(locales(call.options())));
    Route::at(namespace, "/data/countries/locales")
        .on(READ, Args::new(), memory(may_view, list))
        .shows(locales_schema())
}

/// The fields of addresses by country, as [`locales`] tells them.
fn locales_schema() -> Schema {
    let text = |about: &str| Schema::text().about(about);
    let texts = |about: &str| Schema::list(Schema::text()).about(about);
    let field = Schema::object([
        ("label", text("Name of the field.")),
        ("required", Schema::boolean().about("Whether it must be filled in.")),
        ("hidden", Schema::boolean().about("Whether addresses do not have it.")),
        ("class", texts("Classes of its row.")),
        ("label_class", texts("Classes of its label.")),
        ("autocomplete", text("What browsers fill in.")),
        ("priority", Schema::integer().about("Position in the form.")),
        ("placeholder", text("Text while it is empty.")),
        ("type", text("Kind of field, where it is no text.")),
        ("validate", texts("How it is checked.")),
    ]);
    let fields = Schema::map().additional(field).about("Fields by name.");
    Schema::map().additional(fields).about("Fields by country; `default` for all others.")
}

/// The differences by country, for the countries to which the shop sells or ships; the usual
/// fields as `default`, and as those of the shop's own country if it has no difference.
fn locales(options: &Options) -> Value {
    let mut locales = Map::new();
    let base = base_country(options);
    for field in tables::address_fields() {
        if !serves(options, field.country) {
            continue;
        }
        let fields = locales.entry(field.country).or_insert_with(|| json!({}));
        if let Value::Object(fields) = fields {
            fields.insert(field.field.to_owned(), difference(field, field.country == base));
        }
    }
    let usual = usual_fields(options);
    locales.insert(String::from("default"), usual.clone());
    locales.entry(base).or_insert(usual);
    Value::Object(locales)
}

/// The country of the shop itself.
fn base_country(options: &Options) -> String {
    let base = options.text("woocommerce_default_country");
    base.split(':').next().unwrap_or_default().to_owned()
}

fn is_hidden(hidden: Hidden, at_home: bool) -> bool {
    match hidden {
        Hidden::Never => false,
        Hidden::Always => true,
        Hidden::AtHome => at_home,
    }
}

fn difference(field: &AddressField, at_home: bool) -> Value {
    let mut members = Map::new();
    if !field.label.is_empty() {
        members.insert(String::from("label"), json!(field.label));
    }
    let hidden = field.hidden.map(|hidden| is_hidden(hidden, at_home));
    let flags = [("required", field.required), ("hidden", hidden)];
    members.extend(flags.into_iter().filter_map(|(name, flag)| Some((name.into(), json!(flag?)))));
    if !field.class.is_empty() {
        let classes: Vec<&str> = field.class.split_ascii_whitespace().collect();
        members.insert(String::from("class"), json!(classes));
    }
    if let Some(priority) = field.priority {
        members.insert(String::from("priority"), json!(priority));
    }
    Value::Object(members)
}

fn usual_fields(options: &Options) -> Value {
    let mut fields = Map::new();
    for field in FIELDS {
        // Two fields are the shop's choice; the others every address has.
        let choice = match field.name {
            "company" => options.text("woocommerce_checkout_company_field"),
            "address_2" => options.text("woocommerce_checkout_address_2_field"),
            _ => String::from("required"),
        };
        if choice == "hidden" {
            continue;
        }
        let mut body = json!({
            "label": field.label,
            "required": choice == "required",
            "class": field.class,
            "autocomplete": field.autocomplete,
            "priority": field.priority,
        });
        if let Value::Object(members) = &mut body {
            members.extend(extras(field.name, &choice));
        }
        fields.insert(field.name.to_owned(), body);
    }
    Value::Object(fields)
}

/// What only some fields have.
fn extras(name: &str, choice: &str) -> Map<String, Value> {
    let extras = match name {
        "country" => json!({ "type": "country" }),
        "state" => json!({ "type": "state", "validate": ["state"] }),
        "postcode" => json!({ "validate": ["postcode"] }),
        "address_1" => json!({ "placeholder": "Street and number" }),
        "address_2" => {
            let optional = if choice == "optional" { " (optional)" } else { "" };
            json!({
                "label_class": ["screen-reader-text"],
                "placeholder": format!("Flat, floor, building{optional}"),
            })
        }
        _ => json!({}),
    };
    if let Value::Object(members) = extras { members } else { Map::new() }
}

/// Whether the shop sells or ships to a country.
fn serves(options: &Options, country: &str) -> bool {
    sells_to(options, country) || ships_to(options, country)
}

/// Whether the shop sells to the country.
pub fn sells_to(options: &Options, country: &str) -> bool {
    match options.text("woocommerce_allowed_countries").as_str() {
        "specific" => names(options, "woocommerce_specific_allowed_countries", country),
        "all_except" => !names(options, "woocommerce_all_except_countries", country),
        _ => true,
    }
}

/// Whether the shop ships to the country.
pub fn ships_to(options: &Options, country: &str) -> bool {
    match options.text("woocommerce_ship_to_countries").as_str() {
        "all" => true,
        "specific" => names(options, "woocommerce_specific_ship_to_countries", country),
        "disabled" => false,
        _ => sells_to(options, country),
    }
}

fn names(options: &Options, option: &str, country: &str) -> bool {
    match options.get(option) {
        Value::Array(codes) => codes.iter().any(|code| code == country),
        _ => false,
    }
}

/// The name of a field of addresses in a country, and whether it must be filled in; nothing for one
/// that addresses there do not have.
pub fn address_field(options: &Options, country: &str, name: &str) -> Option<(&'static str, bool)> {
    let own =
        tables::address_fields().iter().find(|own| own.country == country && own.field == name);
    let at_home = base_country(options) == country;
    if own.and_then(|own| own.hidden).is_some_and(|hidden| is_hidden(hidden, at_home)) {
        return None;
    }
    let choice = match name {
        "company" => options.text("woocommerce_checkout_company_field"),
        "address_2" => options.text("woocommerce_checkout_address_2_field"),
        "phone" => options.text("woocommerce_checkout_phone_field"),
        _ => String::from("required"),
    };
    let usual = match name {
        "phone" => "Phone",
        _ => FIELDS.iter().find(|field| field.name == name)?.label,
    };
    let label = own.map(|own| own.label).filter(|label| !label.is_empty()).unwrap_or(usual);
    let is_required = own.and_then(|own| own.required).unwrap_or(choice == "required");
    Some((label, is_required))
}
