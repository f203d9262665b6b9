//! Which feed is to be written, and for whom.

use contract::rest::Params;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::package::hex_sha256;

/// Fields that a request may choose, and characters of a field's name.
const FIELDS_MAX: usize = 100;
const FIELD_LENGTH_MAX: usize = 100;
/// The kind of job that writes one.
pub(super) const JOB: &str = "catalogue.feed";

/// Which fields a feed has; empty for all.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Choice {
    pub(super) product_fields: Vec<String>,
    pub(super) variation_fields: Vec<String>,
}

impl Choice {
    pub(super) fn of(params: &Params) -> Self {
        let list = |name: &str| {
            let mut fields: Vec<String> = params
                .text(name)
                .unwrap_or_default()
                .split(',')
                .map(|field| field.trim().chars().take(FIELD_LENGTH_MAX).collect::<String>())
                .filter(|field| !field.is_empty())
                .take(FIELDS_MAX)
                .collect();
            fields.sort();
            fields.dedup();
            fields
        };
        Self {
            product_fields: list("_product_fields"),
            variation_fields: list("_variation_fields"),
        }
    }

    /// What the feed of the choice is known by.
    pub(super) fn key(&self) -> String {
        let both = [self.product_fields.join(","), self.variation_fields.join(",")];
        hex_sha256(both.join("|").as_bytes())
    }

    /// As clients know it: an empty list for no choice.
    pub(super) fn shown(&self) -> Value {
        let lists = [
            ("_product_fields", &self.product_fields),
            ("_variation_fields", &self.variation_fields),
        ];
        let chosen = lists.into_iter().filter(|(_, list)| !list.is_empty());
        let members: serde_json::Map<String, Value> =
            chosen.map(|(name, list)| (name.to_owned(), json!(list.join(",")))).collect();
        if members.is_empty() { json!([]) } else { Value::Object(members) }
    }
}

/// What a job is told.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Order {
    pub(super) feed_key: String,
    pub(super) file_name: String,
    pub(super) choice: Choice,
    /// In whose name the products are read.
    pub(super) user_id: i64,
}
