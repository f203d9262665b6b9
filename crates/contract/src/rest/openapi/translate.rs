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
    if is_file(old) {
        let about = old.get("description").map(|about| ("description", about.clone()));
        let file = [("type", json!("string")), ("format", json!("binary"))];
        return file.into_iter().chain(about).collect();
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
    drop_repeated_type(&mut new);
    split_choices(&mut new);
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
        Side::Answer => {
            admit_empty_list(&mut new);
            if old.contains_key(OR_NULL) {
                admit_null(&mut new);
            }
        }
    }
    Value::Object(new)
}

/// Whether the parameter is a file, which only a form can have.
pub(super) fn is_file(parameter: &Map<String, Value>) -> bool {
    parameter.get("type").is_some_and(|name| name == "file")
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

/// Where each alternative says its own type, the types of all are not said again: a reader would
/// take them for further alternatives.
fn drop_repeated_type(new: &mut Map<String, Value>) {
    let names = |types: &Value| match types {
        Value::Array(names) => names.clone(),
        name => vec![name.clone()],
    };
    let Some(all) = new.get("type").map(names) else { return };
    let is_within = |inner: &Value| {
        inner.get("type").is_some_and(|own| names(own).iter().all(|name| all.contains(name)))
    };
    let is_repeated = ["anyOf", "oneOf"].iter().any(|keyword| {
        let alternatives = new.get(*keyword).and_then(Value::as_array);
        alternatives.is_some_and(|each| !each.is_empty() && each.iter().all(is_within))
    });
    if is_repeated {
        new.shift_remove("type");
    }
}

/// Choices of several types become alternatives of one type each, since a type with choices is an
/// enumeration in most languages, and those have one type. Null may stand beside any.
fn split_choices(new: &mut Map<String, Value>) {
    let Some(Value::Array(choices)) = new.get("enum") else { return };
    let mut groups: Vec<(&str, Vec<&Value>)> = Vec::new();
    for choice in choices {
        let name = type_of(choice);
        match groups.iter_mut().find(|(known, _)| *known == name) {
            Some((_, group)) => group.push(choice),
            None => groups.push((name, vec![choice])),
        }
    }
    if groups.iter().filter(|(name, _)| *name != "null").count() < 2 {
        return;
    }
    let alternatives = groups.iter().map(|(name, group)| match (*name, group.as_slice()) {
        ("null", _) => json!({ "type": "null" }),
        ("boolean", [only]) => json!({ "type": "boolean", "const": only }),
        ("boolean", _) => json!({ "type": "boolean" }),
        (name, group) => json!({ "type": name, "enum": group }),
    });
    let alternatives = alternatives.collect();
    new.shift_remove("enum");
    new.shift_remove("type");
    new.insert(String::from("anyOf"), alternatives);
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// An object of which no field is known may be empty, and is an empty list then.
fn admit_empty_list(new: &mut Map<String, Value>) {
    let has_no_field = new.get("properties").is_some_and(|all| *all == json!({}));
    if has_no_field && new.get("type").is_some_and(|name| name == "object") {
        new.insert(String::from("type"), json!(["object", "array"]));
        new.insert(String::from("items"), json!({}));
        new.shift_remove("properties");
    }
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

/// Whether a default is of the schema's type and among its choices, with all that is in it.
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
    let members_fit = match (value, schema.get("properties")) {
        (Value::Object(members), Some(Value::Object(properties))) => {
            members.iter().all(|(name, member)| {
                let inner = properties.get(name).and_then(Value::as_object);
                inner.is_none_or(|inner| fits(inner, member))
            })
        }
        _ => true,
    };
    typed && items_fit && members_fit && schema.get("enum").is_none_or(chosen)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_oddity_is_said_in_the_newer_draft() {
        let check = |old: Value, new: Value| assert_eq!(schema(&old, Side::Request), new, "{old}");
        check(json!({"type": "integer", "required": true}), json!({"type": "integer"}));
        check(json!({"type": "mixed"}), json!({}));
        check(json!({"type": "file"}), json!({"type": "string", "format": "binary"}));
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
        check(
            json!({"type": ["object", "array"], "oneOf": [{"type": "array", "items": {}},
                                                          {"type": "object"}]}),
            json!({"oneOf": [{"type": "array", "items": {}}, {"type": "object"}]}),
        );
        check(
            json!({"type": "object", "oneOf": [{"minProperties": 1}, {"type": "object"}]}),
            json!({"type": "object", "oneOf": [{"minProperties": 1}, {"type": "object"}]}),
        );
        check(
            json!({"type": ["string", "boolean"], "enum": ["a", false, "b"]}),
            json!({"anyOf": [{"type": "string", "enum": ["a", "b"]},
                             {"type": "boolean", "const": false}]}),
        );
        check(
            json!({"type": ["string", "null"], "enum": ["a", null]}),
            json!({"type": ["string", "null"], "enum": ["a", null]}),
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
        let members = json!({"a": {"type": "object"}});
        check(json!({"properties": members, "default": {"a": {}, "b": 1}}), "default");
        check(json!({"properties": members, "default": {"a": []}}), "x-default");
    }

    #[test]
    fn answers_have_what_the_index_does_not_say() {
        let check = |old: Value, new: Value| assert_eq!(schema(&old, Side::Answer), new, "{old}");
        check(
            json!({"type": "integer", OR_NULL: true, "default": 1, "title": "Stock"}),
            json!({"type": ["integer", "null"]}),
        );
        check(
            json!({"type": "object", "properties": [], OR_NULL: true}),
            json!({"type": ["object", "array", "null"], "items": {}}),
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
