//! The fields of a rate, and how they are shown.

use contract::rest::{Item, Schema};
use serde_json::{Value, json};

use super::{STANDARD, TaxRate};
use crate::common::version::Version;

const BOTH: &[&str] = &["view", "edit"];
/// The classes that every new shop has. **The published list is theirs**; a shop that has other
/// classes takes those, see [`super::classes::requested_class`].
const CLASSES: &[&str] = &[STANDARD, "reduced-rate", "zero-rate"];
/// Decimals of a rate.
const DECIMALS: u32 = 4;

pub(super) fn class() -> Schema {
    Schema::text().choices(CLASSES)
}

pub(super) fn item(version: Version) -> Item {
    let text = |about: &str| Schema::text().about(about);
    let switch = |default: bool, about: &str| Schema::boolean().default(default).about(about);
    let mut fields = vec![
        ("id", Schema::integer().about("Tax rate ID.").readonly()),
        ("country", text("Country code; empty for all countries.")),
        ("state", text("State code; empty for all states.")),
        ("postcode", text("Postcode; separate several with semicolons.")),
        ("city", text("City; separate several with semicolons.")),
        ("rate", text("Tax rate, in percent.")),
        ("name", text("Tax rate name.")),
        (
            "priority",
            Schema::integer().default(1).about("Priority; one rate of each priority applies."),
        ),
        ("compound", switch(false, "Whether the tax is compound.")),
        ("shipping", switch(true, "Whether the tax applies to shipping.")),
        ("order", Schema::integer().about("Sort order.")),
        ("class", class().default(STANDARD).about("Tax class.")),
    ];
    if has_lists(version) {
        let list = |about: &str| Schema::list(Schema::text()).about(about);
        fields.push(("postcodes", list("Postcodes; empty for all.")));
        fields.push(("cities", list("Cities; empty for all.")));
    }
    let fields = fields.into_iter().map(|(name, schema)| (name, schema.context(BOTH)));
    Item::new("tax", Schema::object(fields))
}

pub(super) fn body(version: Version, rate: &TaxRate) -> Value {
    let TaxRate { row, postcodes, cities } = rate;
    let mut body = json!({
        "id": row.rate_id,
        "country": row.country,
        "state": row.state,
        "postcode": postcodes.last().map_or("", String::as_str),
        "city": cities.last().map_or("", String::as_str),
        "rate": row.rate.map(|rate| rate.to_text(DECIMALS)).unwrap_or_default(),
        "name": row.name,
        "priority": row.priority,
        "compound": row.compound,
        "shipping": row.shipping,
        "order": row.position,
        "class": if row.class.is_empty() { STANDARD } else { &row.class },
    });
    if let (true, Value::Object(members)) = (has_lists(version), &mut body) {
        members.insert(String::from("postcodes"), json!(postcodes));
        members.insert(String::from("cities"), json!(cities));
    }
    body
}

/// Whether the version knows all postcodes and cities of a rate; the others know one of each.
pub(super) fn has_lists(version: Version) -> bool {
    matches!(version, Version::Three | Version::Analytics)
}
