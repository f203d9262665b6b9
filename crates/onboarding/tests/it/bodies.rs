//! The base bodies of the conformance cases, with their tokens filled in.

use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::Value;

const BASES: &str = include_str!("../../../../conformance/onboarding/bases.json");

/// The processors, as the names of the bases have them.
pub(crate) const PROCESSORS: [&str; 7] = ["tsys", "pnwx", "cknx", "zcrd", "frdc", "wpay", "elvn"];

/// A body with values that no other body has. Ids must be put in afterwards.
pub(crate) fn body(name: &str) -> Value {
    let bases: Value = serde_json::from_str(BASES).unwrap();
    let mut body = base(&bases, name);
    fill(&mut body);
    body
}

/// The body with other values at the given paths, such as `tpnData.tpnBin`; null takes them out.
pub(crate) fn body_with(name: &str, changes: &[(&str, Value)]) -> Value {
    let mut body = body(name);
    for (path, value) in changes {
        put(&mut body, path, value.clone());
    }
    body
}

/// The names of all bases.
pub(crate) fn names() -> Vec<String> {
    let bases: Value = serde_json::from_str(BASES).unwrap();
    bases.as_object().unwrap().keys().cloned().collect()
}

fn base(bases: &Value, name: &str) -> Value {
    let entry = &bases[name];
    assert!(entry.is_object(), "there is no base {name}");
    let Some(parent) = entry.get("extends").and_then(Value::as_str) else { return entry.clone() };
    let mut body = base(bases, parent);
    for path in entry["unset"].as_array().into_iter().flatten() {
        put(&mut body, path.as_str().unwrap(), Value::Null);
    }
    for (path, value) in entry["set"].as_object().into_iter().flatten() {
        put(&mut body, path, value.clone());
    }
    body
}

/// Puts the value at the path, at the end of a list where its index is the next one.
pub(crate) fn put(body: &mut Value, path: &str, value: Value) {
    let mut target = body;
    let pointer = path.replace('[', ".").replace(']', "");
    let (parents, last) = pointer.rsplit_once('.').unwrap_or(("", pointer.as_str()));
    for part in parents.split('.').filter(|part| !part.is_empty()) {
        target = match target {
            Value::Array(items) => &mut items[part.parse::<usize>().unwrap()],
            object => &mut object[part],
        };
    }
    match target {
        Value::Array(items) if items.len().to_string() == last => items.push(value),
        Value::Array(items) => items[last.parse::<usize>().unwrap()] = value,
        Value::Object(members) if value.is_null() => drop(members.shift_remove(last)),
        object => object[last] = value,
    }
}

/// Replaces every token by text that is fresh in this process.
fn fill(value: &mut Value) {
    match value {
        Value::String(text) => {
            while let Some((before, rest)) = text.split_once("${") {
                let (token, after) = rest.split_once('}').expect("a token ends");
                *text = format!("{before}{}{after}", fresh(token));
            }
        }
        Value::Array(items) => items.iter_mut().for_each(fill),
        Value::Object(members) => members.values_mut().for_each(fill),
        _ => {}
    }
}

fn fresh(token: &str) -> String {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let kind = token.trim_end_matches(|character: char| character.is_ascii_digit());
    let length = token[kind.len()..].parse().unwrap_or(10);
    match kind {
        "d" => format!("{number:0length$}"),
        // Letters in front: a long run of digits might pass for a card number.
        "an" | "uniq" => format!("{number:q>length$}"),
        // Ids are put in by the test.
        _ => String::new(),
    }
}
