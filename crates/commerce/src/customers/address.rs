//! Addresses of customers: which fields they have, and how they are read from requests and records.

use contract::rest::{Schema, clean, loose};
use serde_json::{Map, Value, json};

const BOTH: &[&str] = &["view", "edit"];

/// A field, and what it is.
pub(super) type Field = (&'static str, &'static str);

/// Where something is sent to, in the order in which it is shown.
pub(super) const SHIPPING: &[Field] = &[
    ("first_name", "First name."),
    ("last_name", "Last name."),
    ("company", "Company name."),
    ("address_1", "Address line 1."),
    ("address_2", "Address line 2."),
    ("city", "City."),
    ("postcode", "Postal code."),
    ("country", "Two-letter country code."),
    ("state", "State or province, by code or name."),
    ("phone", "Phone number."),
];

pub(super) const EMAIL: &str = "email";

/// Where the bill is sent to: as before, with an e-mail address.
pub(super) const BILLING: &[Field] = &[
    ("first_name", "First name."),
    ("last_name", "Last name."),
    ("company", "Company name."),
    ("address_1", "Address line 1."),
    ("address_2", "Address line 2."),
    ("city", "City."),
    ("postcode", "Postal code."),
    ("country", "Two-letter country code."),
    ("state", "State or province, by code or name."),
    (EMAIL, "E-mail address."),
    ("phone", "Phone number."),
];

/// The order in which the description of an item names the fields.
pub(super) fn schema(fields: &'static [Field], about: &str) -> Schema {
    let field = |(name, about): &Field| {
        let schema = Schema::text().about(about).context(BOTH);
        (*name, if *name == EMAIL { schema.format("email") } else { schema })
    };
    Schema::object(fields.iter().map(field)).about(about).context(BOTH)
}

/// The address with all its fields, in order; what is missing is empty.
pub(super) fn shown(fields: &[Field], address: &Map<String, Value>) -> Value {
    let member = |(name, _): &Field| {
        let text = address.get(*name).and_then(Value::as_str).unwrap_or_default();
        ((*name).to_owned(), json!(text))
    };
    Value::Object(fields.iter().map(member).collect())
}

/// Changes the fields that the request names.
pub(super) fn apply(fields: &[Field], address: &mut Map<String, Value>, given: &Value) {
    for (name, _) in fields {
        let Some(value) = given.get(*name).and_then(loose::scalar_text) else { continue };
        let cleaned = clean::text_field(&value);
        address.insert((*name).to_owned(), json!(cleaned));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_known_fields_are_taken_and_all_are_shown() {
        let mut address = Map::new();
        let given = json!({ "city": " Bern<b> ", "planet": "Mars", "postcode": 3000 });
        apply(SHIPPING, &mut address, &given);
        let shown = shown(SHIPPING, &address);
        assert_eq!((&shown["city"], &shown["postcode"]), (&json!("Bern"), &json!("3000")));
        assert_eq!(shown.as_object().unwrap().len(), SHIPPING.len());
        assert!(shown.get("planet").is_none());
    }
}
