//! The bytes of a request, made from what the case says about them.

use std::fmt::Write as _;

use anyhow::{Context as _, Result, bail};
use serde_json::{Map, Value};

use super::base64;
use super::case::{Bases, BodyPlan};
use super::path;
use super::tokens::Scope;

/// How often a base may be built upon another one.
const EXTENDS_MAX: usize = 8;

/// Makes a body; `sent` holds the bodies of the earlier requests of the case.
pub(super) fn bytes(
    plan: &BodyPlan,
    bases: &Bases,
    scope: &mut Scope,
    sent: &[Vec<u8>],
) -> Result<Vec<u8>> {
    let mut bytes = if let Some(text) = &plan.raw {
        scope.text(text)?.into_bytes()
    } else if let Some(text) = &plan.raw_base64 {
        base64::decode(text)?
    } else if let (Some(step), false) = (plan.resend, changes(plan)) {
        earlier(sent, step)?.to_vec()
    } else {
        let mut document = source(plan, bases, sent)?;
        patch(&mut document, &plan.unset, &plan.set)?;
        let document = scope.json(&document)?;
        if plan.reorder { other_spelling(&document)? } else { document.to_string().into_bytes() }
    };
    if let Some(length) = plan.pad_to
        && bytes.len() < length
    {
        bytes.resize(length, b' ');
    }
    Ok(bytes)
}

/// Whether the body must be understood to be sent, and not just repeated.
fn changes(plan: &BodyPlan) -> bool {
    plan.reorder || !plan.unset.is_empty() || !plan.set.is_empty()
}

fn earlier(sent: &[Vec<u8>], step: usize) -> Result<&[u8]> {
    Ok(sent.get(step).with_context(|| format!("no request {step} was sent before"))?)
}

fn source(plan: &BodyPlan, bases: &Bases, sent: &[Vec<u8>]) -> Result<Value> {
    if let Some(step) = plan.resend {
        return serde_json::from_slice(earlier(sent, step)?).context("cannot patch a body");
    }
    match (&plan.base, &plan.json) {
        (Some(name), None) => base(bases, name, EXTENDS_MAX),
        (None, Some(document)) => Ok(document.clone()),
        _ => bail!("a body needs one of base, json, raw, raw_base64 and resend"),
    }
}

fn base(bases: &Bases, name: &str, depth_left: usize) -> Result<Value> {
    let entry = bases.get(name).with_context(|| format!("base body {name:?} not found"))?;
    let Some(Value::String(parent)) = entry.get("extends") else {
        return Ok(entry.clone());
    };
    let depth_left = depth_left.checked_sub(1).context("base bodies extend each other")?;
    let mut document = base(bases, parent, depth_left)?;
    let unset: Vec<String> = match entry.get("unset") {
        Some(paths) => serde_json::from_value(paths.clone())?,
        None => Vec::new(),
    };
    let set = entry.get("set").and_then(Value::as_object).cloned().unwrap_or_default();
    patch(&mut document, &unset, &set)?;
    Ok(document)
}

fn patch(document: &mut Value, unset: &[String], set: &Map<String, Value>) -> Result<()> {
    for place in unset {
        path::unset(document, place)?;
    }
    for (place, value) in set {
        path::set(document, place, value.clone())?;
    }
    Ok(())
}

/// The same document in other bytes: members backwards, indented, only ASCII.
fn other_spelling(document: &Value) -> Result<Vec<u8>> {
    let text = serde_json::to_string_pretty(&backwards(document))?;
    let mut ascii = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_ascii() {
            ascii.push(character);
            continue;
        }
        // Characters outside ASCII only stand in strings, where an escape means the same.
        for unit in character.encode_utf16(&mut [0; 2]) {
            write!(ascii, "\\u{unit:04x}")?;
        }
    }
    Ok(ascii.into_bytes())
}

fn backwards(value: &Value) -> Value {
    match value {
        Value::Object(members) => Value::Object(
            members.iter().rev().map(|(name, member)| (name.clone(), backwards(member))).collect(),
        ),
        Value::Array(items) => Value::Array(items.iter().map(backwards).collect()),
        other => other.clone(),
    }
}
