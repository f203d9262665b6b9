//! From the index's flavour of JSON Schema draft 4 to draft 2020-12, as `OpenAPI` 3.1 reads it.
//!
//! What only this dialect knows is put into the words of the newer draft: `required` at a property,
//! exclusive bounds as yes or no, lists written as maps, types that are none. A default that the
//! schema itself refuses is kept beside it, as `x-default`. Answers may have more than the index
//! says; a [`Side`] tells which of both is meant.

use serde_json::{Map, Value, json};

use crate::rest::schema::{OR_NULL, SHOWN};

/// Who writes what a schema describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Request,
    /// **Nothing is required**: an answer shows what its view and `_fields` let.
    Answer,
}

const TYPES: &[&str] = &["array", "object", "string", "number", "integer", "boolean", "null"];

/// Keywords that mean the same in both drafts and hold no schema.
const SAME: &[&str] = &[
    "description",
    "minimum",
    "maximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "pattern",
    "minItems",
    "maxItems",
    "uniqueItems",
    "minProperties",
    "maxProperties",
];

/// The schema in the newer draft. Whether a parameter is required is said elsewhere. A title is
/// left out: programs that generate clients take it for the name of a type, and titles repeat.
pub(super) fn schema(old: &Value, side: Side) -> Value {
    let Value::Object(old) = old else {
        // `additionalProperties` is yes or no where it is no schema.
        return old.as_bool().map_or_else(|| json!({}), Value::Bool);
    };
    if let (Side::Answer, Some(shown)) = (side, old.get(SHOWN)) {
        return instead(old, shown);
    }
    let mut new = Map::new();
    for (name, value) in old {
        let translated = match name.as_str() {
            "type" => types(value),
            "enum" => choices(value),
            "format" => format(value, side),
            "items" | "additionalProperties" => Some(schema(value, side)),
            "anyOf" | "oneOf" => {
                let schemas = value.as_array().into_iter().flatten();
                Some(schemas.map(|inner| schema(inner, side)).collect())
            }
            "properties" | "patternProperties" => Some(members(value, side)),
            name if SAME.contains(&name) => Some(value.clone()),
            _ => None,
        };
        if let Some(translated) = translated {
            new.insert(name.clone(), translated);
        }
    }
    bounds(old, &mut new);
    if !new.contains_key("items") && has_type(&new, "array") {
        // Readers of this draft want to be told that anything will do.
        new.insert(String::from("items"), json!({}));
    }
    if old.get("readonly") == Some(&Value::Bool(true)) {
        new.insert(String::from("readOnly"), json!(true));
    }
    if let Some(views) = old.get("context").filter(|views| views.is_array()) {
        new.insert(String::from("x-context"), views.clone());
    }
    match side {
        Side::Request => request_keywords(old, &mut new),
        Side::Answer if old.contains_key(OR_NULL) => admit_null(&mut new),
        Side::Answer => {}
    }
    Value::Object(new)
}

/// What only requests have: what must be given, and what is taken for what is not.
fn request_keywords(old: &Map<String, Value>, new: &mut Map<String, Value>) {
    if let Some(names) = required(old) {
        new.insert(String::from("required"), names);
    }
    if let Some(default) = old.get("default") {
        let name = if fits(new, default) { "default" } else { "x-default" };
        new.insert(name.to_owned(), default.clone());
    }
}

/// What answers have in the place of what is published; what is said about it stays.
fn instead(old: &Map<String, Value>, shown: &Value) -> Value {
    let mut whole = old.clone();
    for keyword in [SHOWN, "type", "format", "enum", "items", "properties", "anyOf", "oneOf"] {
        whole.shift_remove(keyword);
    }
    let keywords = shown.as_object().into_iter().flatten();
    whole.extend(keywords.map(|(name, value)| (name.clone(), value.clone())));
    schema(&Value::Object(whole), Side::Answer)
}

fn admit_null(new: &mut Map<String, Value>) {
    match new.get_mut("type") {
        Some(Value::Array(names)) => names.push(json!("null")),
        Some(name) => *name = json!([name.take(), "null"]),
        None => {}
    }
    if let Some(Value::Array(choices)) = new.get_mut("enum") {
        choices.push(Value::Null);
    }
    for keyword in ["anyOf", "oneOf"] {
        if let Some(Value::Array(schemas)) = new.get_mut(keyword) {
            schemas.push(json!({ "type": "null" }));
        }
    }
}

/// Answers tell moments without a zone, and a text that has nothing to tell is empty, whatever its
/// format.
fn format(value: &Value, side: Side) -> Option<Value> {
    match (side, value.as_str()) {
        (Side::Answer, Some("date-time")) => Some(json!("date-time-local")),
        (Side::Answer, Some("uri" | "email" | "ip" | "hostname")) => None,
        _ => Some(value.clone()),
    }
}

fn has_type(schema: &Map<String, Value>, wanted: &str) -> bool {
    match schema.get("type") {
        Some(Value::Array(names)) => names.iter().any(|name| name == wanted),
        Some(name) => name == wanted,
        None => false,
    }
}

/// A name that is no type lets everything pass, so nothing is said in its place.
fn types(value: &Value) -> Option<Value> {
    let is_type = |name: &Value| name.as_str().is_some_and(|name| TYPES.contains(&name));
    match value {
        Value::Array(names) if !names.is_empty() && names.iter().all(is_type) => {
            let mut unique: Vec<&Value> = Vec::new();
            for name in names {
                if !unique.contains(&name) {
                    unique.push(name);
                }
            }
            Some(json!(unique))
        }
        name => is_type(name).then(|| name.clone()),
    }
}

fn choices(value: &Value) -> Option<Value> {
    let all: Vec<&Value> = match value {
        Value::Array(values) => values.iter().collect(),
        Value::Object(members) => members.values().collect(),
        _ => return None,
    };
    let mut unique: Vec<&Value> = Vec::new();
    for choice in all {
        if !unique.contains(&choice) {
            unique.push(choice);
        }
    }
    (!unique.is_empty()).then(|| json!(unique))
}

/// Properties; an object without one has an empty list of them in the index.
fn members(value: &Value, side: Side) -> Value {
    let members = value.as_object().into_iter().flatten();
    Value::Object(members.map(|(name, member)| (name.clone(), schema(member, side))).collect())
}

/// Names of the properties that must be there, from the list or from the properties themselves.
fn required(old: &Map<String, Value>) -> Option<Value> {
    if let Some(Value::Array(names)) = old.get("required") {
        return (!names.is_empty()).then(|| json!(names));
    }
    let properties = old.get("properties")?.as_object()?;
    let required = properties.iter().filter(|(_, property)| super::is_required(property));
    let names: Vec<&String> = required.map(|(name, _)| name).collect();
    (!names.is_empty()).then(|| json!(names))
}

/// An exclusive bound was a bound and a yes; now it is a number.
fn bounds(old: &Map<String, Value>, new: &mut Map<String, Value>) {
    for (bound, exclusive) in [("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")] {
        if old.get(exclusive) == Some(&Value::Bool(true))
            && let Some(number) = new.shift_remove(bound)
        {
            new.insert(exclusive.to_owned(), number);
        }
    }
}

/// Whether a default is of the schema's type and among its choices.
fn fits(schema: &Map<String, Value>, value: &Value) -> bool {
    let is = |name: &Value| match name.as_str() {
        Some("array") => value.is_array(),
        Some("object") => value.is_object(),
        Some("string") => value.is_string(),
        Some("number") => value.is_number(),
        Some("integer") => value.is_i64() || value.is_u64(),
        Some("boolean") => value.is_boolean(),
        Some("null") => value.is_null(),
        _ => false,
    };
    let typed = match schema.get("type") {
        None => true,
        Some(Value::Array(names)) => names.iter().any(is),
        Some(name) => is(name),
    };
    let chosen = |choices: &Value| choices.as_array().is_some_and(|list| list.contains(value));
    let items_fit = match (value, schema.get("items")) {
        (Value::Array(items), Some(Value::Object(inner))) => {
            items.iter().all(|item| fits(inner, item))
        }
        _ => true,
    };
    typed && items_fit && schema.get("enum").is_none_or(chosen)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_oddity_is_said_in_the_newer_draft() {
        let check = |old: Value, new: Value| assert_eq!(schema(&old, Side::Request), new, "{old}");
        check(json!({"type": "integer", "required": true}), json!({"type": "integer"}));
        check(json!({"type": "mixed"}), json!({}));
        check(json!({"type": ["string", "date"]}), json!({}));
        check(json!({"type": ["string", "null", "string"]}), json!({"type": ["string", "null"]}));
        check(json!({"enum": {"0": "a", "2": "b"}}), json!({"enum": ["a", "b"]}));
        check(json!({"enum": []}), json!({}));
        check(json!({"type": "array"}), json!({"type": "array", "items": {}}));
        check(
            json!({"minimum": 0, "exclusiveMinimum": true, "exclusiveMaximum": false, "maximum": 9}),
            json!({"maximum": 9, "exclusiveMinimum": 0}),
        );
        check(json!({"exclusiveMinimum": true}), json!({}));
        check(
            json!({"type": "object", "properties": {"a": {"required": true}, "b": {}}}),
            json!({"type": "object", "properties": {"a": {}, "b": {}}, "required": ["a"]}),
        );
        check(
            json!({"properties": [], "additionalProperties": false, "required": []}),
            json!({"properties": {}, "additionalProperties": false}),
        );
        check(
            json!({"readonly": true, "context": ["view"], "arg_options": {}, "$schema": "x"}),
            json!({"readOnly": true, "x-context": ["view"]}),
        );
        check(
            json!({"oneOf": [{"type": "mixed"}, {"minimum": 1, "exclusiveMinimum": true}]}),
            json!({"oneOf": [{}, {"exclusiveMinimum": 1}]}),
        );
    }

    #[test]
    fn a_default_that_does_not_fit_stands_beside_the_schema() {
        let check = |old: Value, name: &str| {
            let new = schema(&old, Side::Request);
            assert_eq!(new.get(name), old.get("default"), "{old}");
        };
        check(json!({"type": "integer", "default": 10}), "default");
        check(json!({"default": {"any": "thing"}}), "default");
        check(json!({"type": "array", "items": {"enum": ["a"]}, "default": ["a"]}), "default");
        check(json!({"type": "integer", "default": ""}), "x-default");
        check(json!({"type": "string", "default": null}), "x-default");
        check(json!({"type": "string", "enum": ["a"], "default": ""}), "x-default");
        check(json!({"type": "array", "items": {"enum": ["a"]}, "default": ["b"]}), "x-default");
    }

    #[test]
    fn answers_have_what_the_index_does_not_say() {
        let check = |old: Value, new: Value| assert_eq!(schema(&old, Side::Answer), new, "{old}");
        check(
            json!({"type": "integer", OR_NULL: true, "default": 1, "title": "Stock"}),
            json!({"type": ["integer", "null"]}),
        );
        check(
            json!({"type": ["string"], "enum": ["a"], OR_NULL: true}),
            json!({"type": ["string", "null"], "enum": ["a", null]}),
        );
        check(
            json!({"type": "string", "description": "Class.", "readonly": true,
                   SHOWN: {"type": "integer"}}),
            json!({"description": "Class.", "type": "integer", "readOnly": true}),
        );
        check(
            json!({"type": "object", "required": ["a"], "properties": {
                "a": {"type": "string", "format": "date-time", "required": true},
                "b": {"type": "string", "format": "uri"}}}),
            json!({"type": "object", "properties": {
                "a": {"type": "string", "format": "date-time-local"}, "b": {"type": "string"}}}),
        );
    }
}
