//! The types of answers under names of their own, so that whoever generates a client gets a
//! `Merchant` and not a nameless object in each operation. **A name stands for one schema.** What
//! is no object stays where it is used: an id is a text.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

/// Where the generator of schemas puts the types within a type.
const DEFINITIONS: &str = "$defs";
/// Types that are shown are called so in the code.
const VIEW: &str = "View";

#[derive(Debug, Default)]
pub(super) struct Named {
    pub(super) schemas: Map<String, Value>,
}

impl Named {
    /// A reference to the type of an operation's reply, and with it the types within it.
    pub(super) fn reply(&mut self, operation: &str, mut reply: Value) -> Value {
        let inner = reply.as_object_mut().and_then(|reply| reply.shift_remove(DEFINITIONS));
        let mut types: BTreeMap<String, Value> = inner
            .as_ref()
            .and_then(Value::as_object)
            .cloned()
            .unwrap_or_default()
            .into_iter()
            .collect();
        let title = reply.get("title").and_then(Value::as_str);
        let own = title.unwrap_or(operation).to_owned();
        types.insert(own.clone(), reply);
        let mut names: BTreeMap<String, String> = types
            .iter()
            .filter(|(name, schema)| **name == own || schema.get("properties").is_some())
            .map(|(name, _)| {
                let short = name.replace(VIEW, "");
                let is_free = !types.contains_key(&short);
                (name.clone(), if is_free { short } else { name.clone() })
            })
            .collect();
        // Another type of the same name was there first: then the operation's name goes before.
        let taken: Vec<String> = names
            .iter()
            .filter(|(name, wanted)| {
                let schema = types.get(*name).map(|schema| printed(schema, &types, &names));
                self.schemas.get(*wanted).is_some_and(|other| Some(other) != schema.as_ref())
            })
            .map(|(name, _)| name.clone())
            .collect();
        for name in taken {
            if let Some(wanted) = names.get_mut(&name) {
                *wanted = format!("{}{wanted}", type_name(operation));
            }
        }
        for (name, wanted) in &names {
            if let Some(schema) = types.get(name) {
                self.schemas.insert(wanted.clone(), printed(schema, &types, &names));
            }
        }
        names.get(&own).map_or_else(|| json!({}), |name| reference(name))
    }
}

fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{name}") })
}

/// The schema without its title, and with what it refers to: by name, or in its place.
fn printed(
    schema: &Value,
    types: &BTreeMap<String, Value>,
    names: &BTreeMap<String, String>,
) -> Value {
    match schema {
        Value::Object(keywords) => {
            let named = keywords.get("$ref").and_then(Value::as_str);
            let named = named.and_then(|text| text.strip_prefix("#/$defs/"));
            if let Some(name) = named {
                return match (names.get(name), types.get(name)) {
                    (Some(name), _) => reference(name),
                    (None, Some(schema)) => beside(keywords, printed(schema, types, names)),
                    (None, None) => json!({}),
                };
            }
            let is_title = |name: &str, value: &Value| name == "title" && value.is_string();
            let kept = keywords.iter().filter(|(name, value)| !is_title(name, value));
            let inner = kept.map(|(name, value)| (name.clone(), printed(value, types, names)));
            Value::Object(inner.collect())
        }
        Value::Array(items) => items.iter().map(|item| printed(item, types, names)).collect(),
        other => other.clone(),
    }
}

/// What is said beside a reference goes before what is said about the type.
fn beside(keywords: &Map<String, Value>, mut schema: Value) -> Value {
    if let Some(members) = schema.as_object_mut() {
        let said = keywords.iter().filter(|(name, _)| *name != "$ref");
        members.extend(said.map(|(name, value)| (name.clone(), value.clone())));
    }
    schema
}

/// `merchant_list` as the name of a type.
fn type_name(operation: &str) -> String {
    let word = |word: &str| {
        let mut letters = word.chars();
        let first = letters.next().map(|first| first.to_ascii_uppercase());
        first.into_iter().chain(letters).collect::<String>()
    };
    operation.split('_').map(word).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_have_names_and_texts_have_none() {
        let mut named = Named::default();
        let object = |property: Value| json!({ "type": "object", "properties": { "a": property } });
        let page = json!({
            "title": "ShopViewPage", "type": "object",
            "properties": { "data": { "type": "array", "items": { "$ref": "#/$defs/ShopView" } } },
            "$defs": {
                "ShopView": object(json!({ "$ref": "#/$defs/ShopId", "description": "Its id." })),
                "ShopId": { "type": "string", "description": "An id." },
            },
        });
        assert_eq!(named.reply("shop_list", page), reference("ShopPage"));
        assert_eq!(
            Value::Object(named.schemas.clone()),
            json!({
                "Shop": object(json!({ "type": "string", "description": "Its id." })),
                "ShopPage": { "type": "object", "properties": {
                    "data": { "type": "array", "items": reference("Shop") } } },
            })
        );
        let mut other = object(json!({ "type": "integer" }));
        other["title"] = json!("ShopView");
        assert_eq!(named.reply("shop_get", other), reference("ShopGetShop"));
        assert_eq!(named.schemas.len(), 3);
    }

    #[test]
    fn a_view_within_what_has_its_short_name_keeps_its_own() {
        let mut named = Named::default();
        let list = json!({
            "title": "Caught", "type": "object",
            "properties": { "data": { "$ref": "#/$defs/CaughtView" } },
            "$defs": { "CaughtView": { "type": "object", "properties": {} } },
        });
        assert_eq!(named.reply("caught_list", list), reference("Caught"));
        assert_eq!(
            named.schemas.get("Caught").unwrap()["properties"]["data"],
            reference("CaughtView")
        );
    }
}
