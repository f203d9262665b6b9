//! The walker: whether a value fits a compiled schema. What it is converted to afterwards stands in
//! [`convert`].
//!
//! The first thing that is wrong in one parameter is reported, with the path to it.

mod alternatives;
mod convert;

use std::collections::HashSet;
use std::fmt;

use serde_json::{Value, json};

pub(super) use self::alternatives::{find_any, find_one};
use self::convert::sanitize_at;
use super::loose;
use super::node::{Additional, ListRules, Node, NumberRules, ObjectRules, TextRules, Type, Types};

pub use self::convert::sanitize;

/// What is wrong with one parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct ParamError {
    pub code: &'static str,
    pub message: String,
    pub data: Value,
}

impl ParamError {
    pub fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: Value::Null }
    }

    #[must_use]
    pub fn with_data(mut self, data: impl Into<Value>) -> Self {
        self.data = data.into();
        self
    }

    /// The error object under `details` of a refusal.
    pub fn body(&self) -> Value {
        json!({ "code": self.code, "message": self.message, "data": self.data })
    }
}

/// Whether a value is fine for the parameter with this name.
pub fn validate(node: &Node, value: &Value, param: &str) -> Result<(), ParamError> {
    validate_at(node, value, Path::Param(param))
}

/// Where in a parameter the walker is. Written out only when something is wrong there.
#[derive(Clone, Copy, Debug)]
pub(super) enum Path<'a> {
    Param(&'a str),
    Index(&'a Path<'a>, usize),
    Member(&'a Path<'a>, &'a str),
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Param(name) => formatter.write_str(name),
            Self::Index(outer, index) => write!(formatter, "{outer}[{index}]"),
            Self::Member(outer, name) => write!(formatter, "{outer}[{name}]"),
        }
    }
}

pub(super) fn validate_at(node: &Node, value: &Value, path: Path<'_>) -> Result<(), ParamError> {
    let mut types = &node.types;
    if !node.any_of.is_empty() {
        types = types_or(types, find_any(node, value, path)?);
    }
    if !node.one_of.is_empty() {
        types = types_or(types, find_one(node, value, path)?);
    }
    let Some(kind) = choose(types, value) else {
        return Err(wrong_type(path, &node.type_names));
    };
    match kind {
        Type::Array => validate_list(node, value, path)?,
        Type::Object => validate_object(node, value, path)?,
        Type::String => validate_text(node, value, path)?,
        Type::Number | Type::Integer => validate_number(node, kind, value, path)?,
        Type::Boolean if !is_boolean(value) => return Err(wrong_type(path, "true or false")),
        Type::Null if !value.is_null() => return Err(wrong_type(path, "null")),
        Type::Boolean | Type::Null | Type::Other => {}
    }
    if !node.choices.is_empty() {
        validate_choice(node, value, path)?;
    }
    match node.format {
        Some(format) if matches!(kind, Type::String | Type::Other) => {
            let text = loose::scalar_text(value).unwrap_or_default();
            match format.refuses(&text) {
                None => Ok(()),
                Some((code, expected)) => Err(must_be(code, path, expected)),
            }
        }
        _ => Ok(()),
    }
}

/// A schema without a type of its own has that of its matching alternative.
pub(super) fn types_or<'a>(types: &'a Types, found: &'a Node) -> &'a Types {
    if *types == Types::Unsaid { &found.types } else { types }
}

/// The type by which a value is treated; nothing when none accepts it.
pub(super) fn choose(types: &Types, value: &Value) -> Option<Type> {
    let several = match types {
        Types::Unsaid => return Some(Type::Other),
        Types::One(only) => return Some(*only),
        Types::Several(several) => several,
    };
    let is_empty_text = value.as_str().is_some_and(str::is_empty);
    if is_empty_text && several.contains(&Type::String) {
        return Some(Type::String);
    }
    let known = several.iter().find(|kind| accepts(**kind, value));
    known.or_else(|| several.iter().find(|kind| **kind == Type::Other)).copied()
}

fn accepts(kind: Type, value: &Value) -> bool {
    match kind {
        Type::Array => is_list(value),
        Type::Object => is_object(value),
        Type::String => value.is_string(),
        Type::Number => loose::numeric(value).is_some(),
        Type::Integer => loose::is_whole(value),
        Type::Boolean => is_boolean(value),
        Type::Null => value.is_null(),
        Type::Other => false,
    }
}

pub(super) fn is_list(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Object(members) => loose::has_numbered_keys(members),
        _ => true,
    }
}

pub(super) fn is_object(value: &Value) -> bool {
    match value {
        Value::Object(_) | Value::Array(_) => true,
        Value::String(text) => text.is_empty(),
        _ => false,
    }
}

fn is_boolean(value: &Value) -> bool {
    match value {
        Value::Bool(_) => true,
        Value::Number(number) => matches!(number.as_i64(), Some(0 | 1)),
        Value::String(text) => {
            ["true", "false", "1", "0"].iter().any(|word| text.eq_ignore_ascii_case(word))
        }
        _ => false,
    }
}

fn must_be(code: &'static str, path: Path<'_>, expected: impl fmt::Display) -> ParamError {
    ParamError::new(code, format!("{path} must be {expected}."))
}

fn wrong_type(path: Path<'_>, expected: &str) -> ParamError {
    must_be("rest_invalid_type", path, expected).with_data(json!({ "param": path.to_string() }))
}

fn validate_list(node: &Node, value: &Value, path: Path<'_>) -> Result<(), ParamError> {
    if !is_list(value) {
        return Err(wrong_type(path, "a list"));
    }
    let Some(rules) = &node.list else { return Ok(()) };
    let split: Vec<Value>;
    let items: Vec<&Value> = match value {
        Value::Array(items) => items.iter().collect(),
        Value::Object(members) => members.values().collect(),
        scalar => {
            let text = loose::scalar_text(scalar).unwrap_or_default();
            split = loose::split_list(&text).map(Value::from).collect();
            split.iter().collect()
        }
    };
    if let Some(node) = &rules.items {
        for (index, item) in items.iter().enumerate() {
            validate_at(node, item, Path::Index(&path, index))?;
        }
    }
    validate_item_count(rules, items.len(), path)?;
    if rules.unique && has_duplicates(items.iter().copied()) {
        return Err(duplicates(path));
    }
    Ok(())
}

fn validate_item_count(rules: &ListRules, count: usize, path: Path<'_>) -> Result<(), ParamError> {
    let count = u64::try_from(count).unwrap_or(u64::MAX);
    match (rules.count_min, rules.count_max) {
        (Some(least), _) if count < least => Err(ParamError::new(
            "rest_too_few_items",
            format!("{path} must have at least {least} item(s)."),
        )),
        (_, Some(most)) if count > most => Err(ParamError::new(
            "rest_too_many_items",
            format!("{path} must have at most {most} item(s)."),
        )),
        _ => Ok(()),
    }
}

pub(super) fn duplicates(path: Path<'_>) -> ParamError {
    ParamError::new("rest_duplicate_items", format!("{path} must not contain duplicate items."))
}

pub(super) fn has_duplicates<'a>(items: impl Iterator<Item = &'a Value>) -> bool {
    let mut seen = HashSet::new();
    for item in items {
        let mut canonical = String::new();
        write_canonical(item, &mut canonical);
        if !seen.insert(canonical) {
            return true;
        }
    }
    false
}

/// Equal for values of one type and content, whatever the order of members. A list and a map with
/// the same numbered keys are the same thing.
fn write_canonical(value: &Value, canonical: &mut String) {
    let mut members: Vec<(String, &Value)> = match value {
        Value::Array(items) => {
            items.iter().enumerate().map(|(index, item)| (index.to_string(), item)).collect()
        }
        Value::Object(members) => {
            members.iter().map(|(name, member)| (name.clone(), member)).collect()
        }
        scalar => {
            canonical.push_str(&scalar.to_string());
            return;
        }
    };
    members.sort_unstable_by(|left, right| left.0.cmp(&right.0));
    canonical.push('{');
    for (name, member) in members {
        canonical.push_str(&Value::from(name).to_string());
        canonical.push(':');
        write_canonical(member, canonical);
        canonical.push(',');
    }
    canonical.push('}');
}

fn validate_object(node: &Node, value: &Value, path: Path<'_>) -> Result<(), ParamError> {
    if !is_object(value) {
        return Err(wrong_type(path, "an object"));
    }
    let Some(rules) = &node.object else { return Ok(()) };
    let numbered: Vec<String>;
    let members: Vec<(&str, &Value)> = match value {
        Value::Object(members) => members.iter().map(|(name, v)| (name.as_str(), v)).collect(),
        Value::Array(items) => {
            numbered = (0..items.len()).map(|index| index.to_string()).collect();
            numbered.iter().map(String::as_str).zip(items).collect()
        }
        _ => Vec::new(),
    };
    let is_given = |name: &str| match value {
        Value::Object(given) => given.contains_key(name),
        _ => members.iter().any(|(given, _)| *given == name),
    };
    if let Some(missing) = rules.required.iter().find(|name| !is_given(name)) {
        return Err(ParamError::new(
            "rest_property_required",
            format!("{path} must have the property {missing}."),
        ));
    }
    for (name, member) in &members {
        validate_member(rules, name, member, path)?;
    }
    validate_member_count(rules, members.len(), path)
}

fn validate_member(
    rules: &ObjectRules,
    name: &str,
    member: &Value,
    path: Path<'_>,
) -> Result<(), ParamError> {
    let place = Path::Member(&path, name);
    match (rules.property(name), &rules.additional) {
        (Some(node), _) => validate_at(node, member, place),
        (None, Additional::Like(node)) => validate_at(node, member, place),
        (None, Additional::Welcome) => Ok(()),
        (None, Additional::Forbidden) => Err(ParamError::new(
            "rest_additional_properties_forbidden",
            format!("{name} is not a property of {path}."),
        )),
    }
}

fn validate_member_count(
    rules: &ObjectRules,
    count: usize,
    path: Path<'_>,
) -> Result<(), ParamError> {
    let count = u64::try_from(count).unwrap_or(u64::MAX);
    match (rules.count_min, rules.count_max) {
        (Some(least), _) if count < least => Err(ParamError::new(
            "rest_too_few_properties",
            format!("{path} must have at least {least} properties."),
        )),
        (_, Some(most)) if count > most => Err(ParamError::new(
            "rest_too_many_properties",
            format!("{path} must have at most {most} properties."),
        )),
        _ => Ok(()),
    }
}

fn validate_text(node: &Node, value: &Value, path: Path<'_>) -> Result<(), ParamError> {
    let Value::String(text) = value else { return Err(wrong_type(path, "a text")) };
    let Some(rules) = &node.text else { return Ok(()) };
    validate_length(rules, text, path)?;
    match &rules.pattern {
        Some(pattern) if !pattern.is_match(text) => {
            Err(must_be("rest_invalid_pattern", path, format_args!("a string matching {pattern}")))
        }
        _ => Ok(()),
    }
}

fn validate_length(rules: &TextRules, text: &str, path: Path<'_>) -> Result<(), ParamError> {
    if rules.length_min.is_none() && rules.length_max.is_none() {
        return Ok(());
    }
    let length = u64::try_from(text.chars().count()).unwrap_or(u64::MAX);
    match (rules.length_min, rules.length_max) {
        (Some(least), _) if length < least => {
            Err(must_be("rest_too_short", path, format_args!("at least {least} character(s) long")))
        }
        (_, Some(most)) if length > most => {
            Err(must_be("rest_too_long", path, format_args!("at most {most} character(s) long")))
        }
        _ => Ok(()),
    }
}

fn validate_number(
    node: &Node,
    kind: Type,
    value: &Value,
    path: Path<'_>,
) -> Result<(), ParamError> {
    let expected = if kind == Type::Integer { "a whole number" } else { "a number" };
    let Some(number) = loose::numeric(value) else { return Err(wrong_type(path, expected)) };
    if kind == Type::Integer && !loose::is_whole(value) {
        return Err(wrong_type(path, expected));
    }
    let Some(rules) = &node.number else { return Ok(()) };
    if let Some(factor) = rules.multiple_of
        && number % factor != 0.0
    {
        return Err(must_be("rest_invalid_multiple", path, format_args!("a multiple of {factor}")));
    }
    validate_bounds(rules, number, path)
}

fn validate_bounds(rules: &NumberRules, number: f64, path: Path<'_>) -> Result<(), ParamError> {
    let too_small = |least: f64| {
        if rules.minimum_excluded { number <= least } else { number < least }
    };
    let too_large = |most: f64| {
        if rules.maximum_excluded { number >= most } else { number > most }
    };
    let out = rules.minimum.is_some_and(too_small) || rules.maximum.is_some_and(too_large);
    if !out {
        return Ok(());
    }
    let at_least = if rules.minimum_excluded { "more than" } else { "at least" };
    let at_most = if rules.maximum_excluded { "less than" } else { "at most" };
    let expected = match (rules.minimum, rules.maximum) {
        (Some(least), Some(most)) => format!("{at_least} {least} and {at_most} {most}"),
        (Some(least), None) => format!("{at_least} {least}"),
        (None, Some(most)) => format!("{at_most} {most}"),
        (None, None) => return Ok(()),
    };
    Err(must_be("rest_out_of_bounds", path, expected))
}

fn validate_choice(node: &Node, value: &Value, path: Path<'_>) -> Result<(), ParamError> {
    let converted = sanitize_at(node, value.clone(), path)?;
    if node.choices.iter().any(|choice| is_same(choice, &converted)) {
        return Ok(());
    }
    let choices: Vec<String> = node.choices.iter().map(choice_text).collect();
    let expected = format_args!("one of: {}", choices.join(", "));
    Err(must_be("rest_not_in_enum", path, expected))
}

fn choice_text(choice: &Value) -> String {
    match choice {
        Value::String(text) if text.is_empty() => String::from("(empty)"),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Whole numbers and floats are the same when they are equal; members may be in any order.
fn is_same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => {
            left == right || left.as_f64() == right.as_f64()
        }
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(l, r)| is_same(l, r))
        }
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len()
                && left.iter().all(|(name, l)| right.get(name).is_some_and(|r| is_same(l, r)))
        }
        _ => left == right,
    }
}
