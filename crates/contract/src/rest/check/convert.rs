//! What a value becomes once it fits a compiled schema: text becomes numbers, lists and truth
//! values, formats clean text. Values that were not checked are converted as well as can be.

use serde_json::{Map, Value};

use super::alternatives::{find_any, find_one};
use super::{ParamError, Path, choose, duplicates, has_duplicates, types_or};
use crate::rest::loose;
use crate::rest::node::{Additional, Node, Type};

/// Converts a value of the parameter with this name.
pub fn sanitize(node: &Node, value: Value, param: &str) -> Result<Value, ParamError> {
    sanitize_at(node, value, Path::Param(param))
}

pub(super) fn sanitize_at(node: &Node, value: Value, path: Path<'_>) -> Result<Value, ParamError> {
    let mut value = value;
    let mut types = &node.types;
    if !node.any_of.is_empty() {
        let found = find_any(node, &value, path)?;
        types = types_or(types, found);
        value = sanitize_at(found, value, path)?;
    }
    if !node.one_of.is_empty() {
        let found = find_one(node, &value, path)?;
        types = types_or(types, found);
        value = sanitize_at(found, value, path)?;
    }
    let Some(kind) = choose(types, &value) else { return Ok(Value::Null) };
    match kind {
        Type::Array => list(node, value, path),
        Type::Object => object(node, value, path),
        Type::Null => Ok(Value::Null),
        Type::Integer => Ok(Value::from(loose::to_int(&value))),
        Type::Number => Ok(Value::from(loose::to_float(&value))),
        Type::Boolean => Ok(Value::from(loose::to_bool(&value))),
        Type::String | Type::Other => Ok(text(node, kind, value)),
    }
}

fn text(node: &Node, kind: Type, value: Value) -> Value {
    match node.format {
        Some(format) => {
            let text = loose::scalar_text(&value).unwrap_or_default();
            Value::from(format.clean(&text))
        }
        None if kind == Type::Other || value.is_string() => value,
        None => Value::from(loose::scalar_text(&value).unwrap_or_default()),
    }
}

fn list(node: &Node, value: Value, path: Path<'_>) -> Result<Value, ParamError> {
    let mut items: Vec<Value> = match value {
        Value::Array(items) => items,
        Value::Object(members) => members.into_iter().map(|(_, member)| member).collect(),
        scalar => {
            let text = loose::scalar_text(&scalar).unwrap_or_default();
            loose::split_list(&text).map(Value::from).collect()
        }
    };
    let Some(rules) = &node.list else { return Ok(Value::Array(items)) };
    if let Some(node) = &rules.items {
        for (index, item) in items.iter_mut().enumerate() {
            *item = sanitize_at(node, item.take(), Path::Index(&path, index))?;
        }
    }
    if rules.unique && has_duplicates(items.iter()) {
        return Err(duplicates(path));
    }
    Ok(Value::Array(items))
}

fn object(node: &Node, value: Value, path: Path<'_>) -> Result<Value, ParamError> {
    let members: Map<String, Value> = match value {
        Value::Object(members) => members,
        Value::Array(items) => {
            items.into_iter().enumerate().map(|(index, item)| (index.to_string(), item)).collect()
        }
        _ => Map::new(),
    };
    let Some(rules) = &node.object else { return Ok(Value::Object(members)) };
    let mut converted = members;
    if let Additional::Forbidden = rules.additional {
        converted.retain(|name, _| rules.property(name).is_some());
    }
    for (name, member) in &mut converted {
        let node = match (rules.property(name), &rules.additional) {
            (Some(node), _) => node,
            (None, Additional::Like(node)) => &**node,
            (None, Additional::Welcome | Additional::Forbidden) => continue,
        };
        *member = sanitize_at(node, member.take(), Path::Member(&path, name))?;
    }
    Ok(Value::Object(converted))
}
