//! The fields of a rate, and how they are shown.

use contract::rest::{Item, Schema};
use serde_json::{Value, json};

use super::{STANDARD, TaxRate};
use crate::common::version::Version;

const BOTH: &[&str] = &["view", "edit"];
/// The classes that every new shop has. **The published list is theirs**; a shop that has other
/// classes takes those, see [`super::classes::wanted`].
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
        ("id", Schema::integer().about("Number of the rate.").readonly()),
        ("country", text("Code of the country; empty for every country.")),
        ("state", text("Code of the state; empty for every state.")),
        ("postcode", text("A postcode where it holds; several have semicolons between them.")),
        ("city", text("A city where it holds; several have semicolons between them.")),
        ("rate", text("The rate in percent.")),
        ("name", text("What customers know it as.")),
        ("priority", Schema::integer().default(1).about("One rate of each priority applies.")),
        ("compound", switch(false, "Whether it is reckoned on top of other taxes.")),
        ("shipping", switch(true, "Whether shipping is taxed too.")),
        ("order", Schema::integer().about("Its place among the rates.")),
        ("class", class().default(STANDARD).about("The class of goods that it is for.")),
    ];
    if has_lists(version) {
        let list = |about: &str| Schema::list(Schema::text()).about(about);
        fields.push(("postcodes", list("Postcodes where it holds; none for all.")));
        fields.push(("cities", list("Cities where it holds; none for all.")));
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
