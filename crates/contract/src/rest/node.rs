//! A schema compiled for the walker: types resolved, patterns compiled, numbers read.
//!
//! Compiling happens once, when routes are registered; its errors are for the programmer.

use regex::Regex;
use rustc_hash::FxHashMap;
use serde_json::{Map, Value};

use super::formats::Format;

/// Schemas inside schemas inside schemas: deeper ones are refused.
const DEPTH_MAX: usize = 32;

/// A type that a schema names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Type {
    Array,
    Object,
    String,
    Number,
    Integer,
    Boolean,
    Null,
    /// No type, or a name that is none: anything is accepted.
    Other,
}

/// What the keyword `type` says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Types {
    Unsaid,
    One(Type),
    Several(Vec<Type>),
}

/// A compiled schema.
#[derive(Clone, Debug)]
pub struct Node {
    pub(super) types: Types,
    /// The types in words, for messages.
    pub(super) type_names: String,
    pub(super) title: Option<String>,
    pub(super) any_of: Vec<Node>,
    pub(super) one_of: Vec<Node>,
    pub(super) choices: Vec<Value>,
    pub(super) format: Option<Format>,
    pub(super) text: Option<Box<TextRules>>,
    pub(super) number: Option<Box<NumberRules>>,
    pub(super) list: Option<Box<ListRules>>,
    pub(super) object: Option<Box<ObjectRules>>,
    /// The views in which the field is shown.
    pub(super) contexts: Option<Vec<String>>,
}

#[derive(Clone, Debug)]
pub(super) struct TextRules {
    pub(super) length_min: Option<u64>,
    pub(super) length_max: Option<u64>,
    pub(super) pattern: Option<Regex>,
}

#[derive(Clone, Debug)]
pub(super) struct NumberRules {
    pub(super) minimum: Option<f64>,
    pub(super) maximum: Option<f64>,
    pub(super) minimum_excluded: bool,
    pub(super) maximum_excluded: bool,
    pub(super) multiple_of: Option<f64>,
}

#[derive(Clone, Debug)]
pub(super) struct ListRules {
    pub(super) items: Option<Node>,
    pub(super) count_min: Option<u64>,
    pub(super) count_max: Option<u64>,
    pub(super) unique: bool,
}

#[derive(Clone, Debug)]
pub(super) struct ObjectRules {
    /// Whether the schema names properties at all, be it none.
    pub(super) says_properties: bool,
    /// By names of the schema: who asks cannot make them collide.
    pub(super) properties: FxHashMap<String, Node>,
    pub(super) patterns: Vec<(Regex, Node)>,
    pub(super) additional: Additional,
    pub(super) required: Vec<String>,
    pub(super) count_min: Option<u64>,
    pub(super) count_max: Option<u64>,
}

#[derive(Clone, Debug)]
pub(super) enum Additional {
    Welcome,
    Forbidden,
    Like(Box<Node>),
}

impl Type {
    fn named(name: &str) -> Self {
        match name {
            "array" => Self::Array,
            "object" => Self::Object,
            "string" => Self::String,
            "number" => Self::Number,
            "integer" => Self::Integer,
            "boolean" => Self::Boolean,
            "null" => Self::Null,
            _ => Self::Other,
        }
    }
}

impl Node {
    pub(super) fn compile(document: &Map<String, Value>) -> Result<Self, String> {
        compile(document, None, DEPTH_MAX)
    }
}

impl ObjectRules {
    /// The schema of a property; nothing for an additional one.
    pub(super) fn property(&self, name: &str) -> Option<&Node> {
        self.properties.get(name).or_else(|| {
            let matching = self.patterns.iter().find(|(pattern, _)| pattern.is_match(name));
            matching.map(|(_, node)| node)
        })
    }
}

/// `outer` is the type of the schema that this one is an alternative of.
fn compile(
    document: &Map<String, Value>,
    outer: Option<&Value>,
    depth: usize,
) -> Result<Node, String> {
    let depth = depth.checked_sub(1).ok_or_else(|| format!("deeper than {DEPTH_MAX} levels"))?;
    let named = document.get("type").or(outer);
    let (types, type_names) = read_types(named)?;
    let alternatives = |keyword: &'static str| {
        let schemas = read(document, keyword, Value::as_array)?;
        let schemas = schemas.map(Vec::as_slice).unwrap_or_default();
        let compiled = schemas.iter().map(|schema| inner(schema, named, depth));
        compiled.collect::<Result<Vec<Node>, _>>().map_err(at(keyword))
    };
    let contexts = read(document, "context", Value::as_array)?;
    Ok(Node {
        types,
        type_names,
        title: read(document, "title", Value::as_str)?.map(str::to_owned),
        any_of: alternatives("anyOf")?,
        one_of: alternatives("oneOf")?,
        choices: choices(document)?,
        format: read(document, "format", Value::as_str)?.and_then(Format::named),
        text: text_rules(document)?,
        number: number_rules(document)?,
        list: list_rules(document, depth)?,
        object: object_rules(document, depth)?,
        contexts: contexts.map(|contexts| texts(contexts)),
    })
}

fn inner(schema: &Value, outer: Option<&Value>, depth: usize) -> Result<Node, String> {
    let document = schema.as_object().ok_or_else(|| String::from("must be an object"))?;
    compile(document, outer, depth)
}

/// Puts the place in front of what is wrong there.
fn at(place: &str) -> impl Fn(String) -> String {
    move |problem| format!("{place}: {problem}")
}

/// The values of `enum`. Some published lists are maps, of which the keys mean nothing.
fn choices(document: &Map<String, Value>) -> Result<Vec<Value>, String> {
    if let Some(Value::Object(members)) = document.get("enum") {
        return Ok(members.values().cloned().collect());
    }
    Ok(read(document, "enum", Value::as_array)?.cloned().unwrap_or_default())
}

/// A keyword, which must be of its kind if it is there.
fn read<'a, T>(
    document: &'a Map<String, Value>,
    keyword: &str,
    kind: fn(&'a Value) -> Option<T>,
) -> Result<Option<T>, String> {
    let Some(value) = document.get(keyword) else { return Ok(None) };
    kind(value).map(Some).ok_or_else(|| format!("{keyword}: {value} is of the wrong kind"))
}

fn texts(values: &[Value]) -> Vec<String> {
    values.iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

fn read_types(named: Option<&Value>) -> Result<(Types, String), String> {
    match named {
        None => Ok((Types::Unsaid, String::new())),
        Some(Value::String(name)) => Ok((Types::One(Type::named(name)), in_words(name).to_owned())),
        Some(Value::Array(names)) => {
            let names = texts(names);
            let types = names.iter().map(|name| Type::named(name)).collect();
            let words: Vec<&str> = names.iter().map(|name| in_words(name)).collect();
            Ok((Types::Several(types), words.join(", or ")))
        }
        Some(other) => Err(format!("type: {other} is of the wrong kind")),
    }
}

fn in_words(type_name: &str) -> &str {
    match Type::named(type_name) {
        Type::Array => "a list",
        Type::Object => "an object",
        Type::String => "a text",
        Type::Number => "a number",
        Type::Integer => "a whole number",
        Type::Boolean => "true or false",
        Type::Null => "null",
        Type::Other => type_name,
    }
}

fn regex(pattern: &str) -> Result<Regex, String> {
    Regex::new(pattern).map_err(|error| format!("pattern {pattern}: {error}"))
}

fn has_any(document: &Map<String, Value>, keywords: &[&str]) -> bool {
    keywords.iter().any(|keyword| document.contains_key(*keyword))
}

fn text_rules(document: &Map<String, Value>) -> Result<Option<Box<TextRules>>, String> {
    if !has_any(document, &["minLength", "maxLength", "pattern"]) {
        return Ok(None);
    }
    let pattern = read(document, "pattern", Value::as_str)?;
    Ok(Some(Box::new(TextRules {
        length_min: read(document, "minLength", Value::as_u64)?,
        length_max: read(document, "maxLength", Value::as_u64)?,
        pattern: pattern.map(regex).transpose()?,
    })))
}

fn number_rules(document: &Map<String, Value>) -> Result<Option<Box<NumberRules>>, String> {
    if !has_any(document, &["minimum", "maximum", "multipleOf"]) {
        return Ok(None);
    }
    let multiple_of = read(document, "multipleOf", Value::as_f64)?;
    if multiple_of == Some(0.0) {
        return Err(String::from("multipleOf: must not be 0"));
    }
    let excludes =
        |keyword| Ok::<bool, String>(read(document, keyword, Value::as_bool)? == Some(true));
    Ok(Some(Box::new(NumberRules {
        minimum: read(document, "minimum", Value::as_f64)?,
        maximum: read(document, "maximum", Value::as_f64)?,
        minimum_excluded: excludes("exclusiveMinimum")?,
        maximum_excluded: excludes("exclusiveMaximum")?,
        multiple_of,
    })))
}

fn list_rules(
    document: &Map<String, Value>,
    depth: usize,
) -> Result<Option<Box<ListRules>>, String> {
    if !has_any(document, &["items", "minItems", "maxItems", "uniqueItems"]) {
        return Ok(None);
    }
    let items = document.get("items").map(|items| inner(items, None, depth)).transpose();
    Ok(Some(Box::new(ListRules {
        items: items.map_err(at("items"))?,
        count_min: read(document, "minItems", Value::as_u64)?,
        count_max: read(document, "maxItems", Value::as_u64)?,
        unique: read(document, "uniqueItems", Value::as_bool)? == Some(true),
    })))
}

fn object_rules(
    document: &Map<String, Value>,
    depth: usize,
) -> Result<Option<Box<ObjectRules>>, String> {
    let keywords = [
        "properties",
        "patternProperties",
        "additionalProperties",
        "minProperties",
        "maxProperties",
    ];
    let required_list = document.get("required").and_then(Value::as_array);
    if !has_any(document, &keywords) && required_list.is_none() {
        return Ok(None);
    }
    let properties = properties_of(document, "properties")?;
    let required = match required_list {
        Some(names) => texts(names),
        None => properties.map(required_properties).unwrap_or_default(),
    };
    let mut rules = ObjectRules {
        says_properties: document.contains_key("properties"),
        properties: FxHashMap::default(),
        patterns: Vec::new(),
        additional: additional(document, depth)?,
        required,
        count_min: read(document, "minProperties", Value::as_u64)?,
        count_max: read(document, "maxProperties", Value::as_u64)?,
    };
    for (name, schema) in properties.into_iter().flatten() {
        let node = inner(schema, None, depth).map_err(at(name))?;
        rules.properties.insert(name.clone(), node);
    }
    let patterns = properties_of(document, "patternProperties")?;
    for (pattern, schema) in patterns.into_iter().flatten() {
        let node = inner(schema, None, depth).map_err(at(pattern))?;
        rules.patterns.push((regex(pattern)?, node));
    }
    Ok(Some(Box::new(rules)))
}

/// In its published form, an object without a property has an empty list of them.
fn properties_of<'a>(
    document: &'a Map<String, Value>,
    keyword: &str,
) -> Result<Option<&'a Map<String, Value>>, String> {
    match document.get(keyword) {
        Some(Value::Array(none)) if none.is_empty() => Ok(None),
        _ => read(document, keyword, Value::as_object),
    }
}

fn required_properties(properties: &Map<String, Value>) -> Vec<String> {
    let required = |schema: &Value| schema.get("required") == Some(&Value::Bool(true));
    let names = properties.iter().filter(|(_, schema)| required(schema));
    names.map(|(name, _)| name.clone()).collect()
}

fn additional(document: &Map<String, Value>, depth: usize) -> Result<Additional, String> {
    match document.get("additionalProperties") {
        None | Some(Value::Bool(true)) => Ok(Additional::Welcome),
        Some(Value::Bool(false)) => Ok(Additional::Forbidden),
        Some(schema) => {
            let node = inner(schema, None, depth).map_err(at("additionalProperties"))?;
            Ok(Additional::Like(Box::new(node)))
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::Schema;
    use super::*;

    #[test]
    fn mistakes_are_reported_with_their_place() {
        let deep = (0..DEPTH_MAX).fold(Schema::text(), |inner, _| Schema::list(inner));
        for (schema, expected) in [
            (Schema::text().pattern("("), "pattern ("),
            (Schema::text().keyword("minLength", "1"), "minLength"),
            (Schema::text().keyword("enum", "a"), "enum"),
            (Schema::text().keyword("type", 5), "type"),
            (Schema::number().multiple_of(0), "multipleOf"),
            (Schema::list(Schema::text().pattern("[")), "items: pattern ["),
            (Schema::typed("array").keyword("items", "string"), "items: must be an object"),
            (Schema::object([("a", Schema::number().min(json!(null)))]), "a: minimum"),
            (Schema::any_of([Schema::text().pattern(")")]), "anyOf: pattern )"),
            (deep, "items: items:"),
        ] {
            let problem = schema.compile().expect_err("a mistake");
            assert!(problem.starts_with(expected), "{problem} does not start with {expected}");
        }
    }
}
