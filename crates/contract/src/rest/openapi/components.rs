//! The schemas that have a name. **A name stands for one schema**: routes that share a schema share
//! its name, and where two schemas would have the same name, the later one is named by its path.
//! Programs that generate clients name what lies within a schema by the schema and the property; so
//! such names are taken, too.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

/// Name of the error object among the components.
pub(super) const ERROR: &str = "Error";

#[derive(Debug)]
pub(super) struct Components {
    schemas: Map<String, Value>,
    /// What generated clients may call the parts of these schemas.
    parts: BTreeSet<String>,
}

impl Components {
    pub(super) fn new() -> Self {
        let mut schemas = Map::new();
        schemas.insert(String::from(ERROR), error_schema());
        Self { schemas, parts: BTreeSet::new() }
    }

    /// A reference to the schema. `namespace` and `title` name it, unless they name another; then
    /// `path` does.
    pub(super) fn reference(
        &mut self,
        namespace: &str,
        title: &str,
        path: &str,
        schema: Value,
    ) -> Value {
        let wanted = type_name(&[namespace, title]);
        if self.schemas.get(&wanted).is_some_and(|named| *named == schema) {
            return reference(&wanted);
        }
        let alike = self
            .schemas
            .iter()
            .find(|(name, named)| name.starts_with(&wanted) && **named == schema);
        if let Some((name, _)) = alike {
            return reference(name);
        }
        let mut name = wanted.clone();
        if self.is_taken(&name, &schema) {
            name = type_name(&[&wanted, "at", path.strip_prefix(namespace).unwrap_or(path)]);
        }
        while self.is_taken(&name, &schema) {
            name.push_str("Too");
        }
        collect_parts(&name, &schema, &mut self.parts);
        self.schemas.insert(name.clone(), schema);
        reference(&name)
    }

    /// Whether something has the name, or a part of the schema would have the name of something.
    fn is_taken(&self, name: &str, schema: &Value) -> bool {
        let mut parts = BTreeSet::new();
        collect_parts(name, schema, &mut parts);
        self.schemas.contains_key(name)
            || self.parts.contains(name)
            || parts.iter().any(|part| self.schemas.contains_key(part))
    }

    pub(super) fn into_schemas(self) -> Map<String, Value> {
        self.schemas
    }
}

pub(super) fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{name}") })
}

/// The names of what lies within a schema of this name.
fn collect_parts(name: &str, schema: &Value, parts: &mut BTreeSet<String>) {
    let properties = schema.get("properties").and_then(Value::as_object);
    let mut inner: Vec<(String, &Value)> = properties
        .into_iter()
        .flatten()
        .map(|(property, schema)| (type_name(&[name, property]), schema))
        .collect();
    inner.extend(schema.get("items").map(|items| (format!("{name}Item"), items)));
    for (name, schema) in inner {
        collect_parts(&name, schema, parts);
        if TYPES_OF_THEIR_OWN.iter().any(|keyword| schema.get(keyword).is_some()) {
            parts.insert(name);
        }
    }
}

/// Keywords of what has a type of its own in a generated client.
const TYPES_OF_THEIR_OWN: &[&str] =
    &["enum", "properties", "additionalProperties", "items", "anyOf", "oneOf"];

/// The words of the parts, each with a capital, and nothing between them.
fn type_name(parts: &[&str]) -> String {
    let words = parts.iter().flat_map(|part| part.split(|c: char| !c.is_ascii_alphanumeric()));
    let mut name = String::new();
    for word in words {
        let mut letters = word.chars();
        name.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        name.push_str(letters.as_str());
    }
    name
}

fn error_schema() -> Value {
    json!({
        "type": "object",
        "description": "Why the request failed. Clients should rely on `code` and `data.status`.",
        "required": ["code", "message"],
        "properties": {
            "code": { "type": "string" },
            "message": { "type": "string" },
            "data": {
                "description": "An object with `status`, and by parameter `params` (error \
                                messages) and `details` (error objects); except for a few codes \
                                that carry another value.",
            },
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stands_for_one_schema() {
        let mut components = Components::new();
        let mut name = |title: &str, path: &str, schema: Value| {
            let reference = components.reference("wc/v3", title, path, schema);
            let reference = reference.get("$ref").and_then(Value::as_str).unwrap().to_owned();
            reference.replace("#/components/schemas/", "")
        };
        let (one, other) = (json!({ "type": "object" }), json!({ "type": "array" }));
        assert_eq!(name("shop_order", "/orders", one.clone()), "WcV3ShopOrder");
        assert_eq!(name("shop_order", "/orders/{id}", one), "WcV3ShopOrder");
        assert_eq!(name("shop_order", "/refunds", other.clone()), "WcV3ShopOrderAtRefunds");
        assert_eq!(name("shop_order", "/refunds/{id}", other), "WcV3ShopOrderAtRefunds");
        assert_eq!(name("shop_order", "/refunds", json!({})), "WcV3ShopOrderAtRefundsToo");
        let class = json!({ "type": "object", "properties": { "rates": { "enum": ["all"] } } });
        let tax = json!({ "properties": { "class": { "enum": ["standard"] } } });
        assert_eq!(name("tax_class", "/taxes/classes", class), "WcV3TaxClass");
        assert_eq!(name("tax", "/taxes", tax), "WcV3TaxAtTaxes");
        assert_eq!(name("tax_class_rates", "/rates", json!({})), "WcV3TaxClassRatesAtRates");
    }
}
