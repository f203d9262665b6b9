//! What distinguishes the versions of the interface: fields that were added, and two new names.

use serde_json::{Map, Value};

use crate::common::version::Version;

/// Fields that the first version does not have yet.
const NOT_IN_FIRST: &[&str] =
    &["status", "date_created_gmt", "date_modified_gmt", "date_expires_gmt", "meta_data"];
/// Names of today with those of the first version.
const NAMES_IN_FIRST: &[(&str, &str)] =
    &[("date_expires", "expiry_date"), ("excluded_product_ids", "exclude_product_ids")];

/// The name of a field in a version; nothing if the version does not have the field.
pub(super) fn name(version: Version, field: &'static str) -> Option<&'static str> {
    match version {
        Version::Two | Version::Three | Version::Analytics => Some(field),
        Version::One if NOT_IN_FIRST.contains(&field) => None,
        Version::One => {
            let renamed = NAMES_IN_FIRST.iter().find(|(today, _)| *today == field);
            Some(renamed.map_or(field, |(_, then)| then))
        }
    }
}

/// The fields of a coupon as a version has them.
pub(super) fn shaped(version: Version, fields: Vec<(&'static str, Value)>) -> Value {
    let fields = fields.into_iter();
    let named = fields.filter_map(|(field, value)| Some((name(version, field)?.to_owned(), value)));
    Value::Object(named.collect::<Map<String, Value>>())
}
