//! An answer against what a case expects of it.

use std::collections::BTreeSet;

use anyhow::Result;
use serde_json::Value;

use crate::http::Response;

use super::case::{BodyWant, Expect};
use super::errors;
use super::matcher::{DataWant, Matcher};
use super::tokens::Scope;
use super::unique;

/// How much of a strange body is shown.
const SHOWN_MAX_CHARS: usize = 160;

/// The differences from the nearest of several expectations; none if one of them is met.
pub(super) fn nearest_problems(
    choices: &[Expect],
    answer: &Response,
    scope: &mut Scope,
) -> Result<Vec<String>> {
    let mut nearest: Option<Vec<String>> = None;
    for choice in choices {
        let found = problems(choice, answer, scope)?;
        if nearest.as_ref().is_none_or(|best| found.len() < best.len()) {
            nearest = Some(found);
        }
    }
    Ok(nearest.unwrap_or_else(|| vec!["the case expects nothing".to_owned()]))
}

fn problems(expect: &Expect, answer: &Response, scope: &mut Scope) -> Result<Vec<String>> {
    let mut problems = Vec::new();
    let statuses = expect.status.as_slice();
    if !statuses.contains(&answer.status) {
        problems.push(format!("status: expected one of {statuses:?}, got {}", answer.status));
    }
    for (name, matcher) in &expect.headers {
        let value = answer.header(name).map(Value::String);
        problems.extend(matcher.problem(&format!("header {name}"), value.as_ref(), scope)?);
    }
    let text = answer.text();
    for word in &expect.body_excludes {
        if text.contains(word.as_str()) {
            problems.push(format!("body: contains {word:?}, which it must not repeat"));
        }
    }
    if expect.body == BodyWant::Object {
        problems.extend(body_problems(expect, answer, &text, scope)?);
    }
    Ok(problems)
}

fn body_problems(
    expect: &Expect,
    answer: &Response,
    text: &str,
    scope: &mut Scope,
) -> Result<Vec<String>> {
    let parsed = unique::parse(text).ok().filter(Value::is_object);
    let Some(body) = parsed else {
        return Ok(vec![format!("body: expected a JSON object, got {:?}", shortened(text))]);
    };
    let member = |name| body.get(name).unwrap_or(&Value::Null);
    let mut problems = Vec::new();
    let content_type = answer.header("Content-Type").unwrap_or_default();
    if !content_type.to_ascii_lowercase().starts_with("application/json") {
        problems
            .push(format!("header Content-Type: expected application/json, got {content_type:?}"));
    }
    let message = expect.message.as_ref().unwrap_or(&Matcher::Text);
    problems.extend(message.problem("message", body.get("message"), scope)?);
    problems.extend(data_problems(expect, member("data"), scope)?);
    if answer.status == 200 {
        if !is_nothing(member("errors")) {
            problems.push(format!("errors: expected none with 200, got {}", member("errors")));
        }
    } else {
        problems.extend(errors::problems(&expect.errors, expect.errors_mode, member("errors")));
    }
    if let Some(published) = &expect.body_members {
        let strange: Vec<String> = names(&body).difference(published).cloned().collect();
        if !strange.is_empty() {
            problems.push(format!("body: has members that are not published: {strange:?}"));
        }
    }
    Ok(problems)
}

fn data_problems(expect: &Expect, data: &Value, scope: &mut Scope) -> Result<Vec<String>> {
    let DataWant::Members(wants) = &expect.data else {
        let absent = data.is_null() || data.as_object().is_some_and(serde_json::Map::is_empty);
        let problem = (!absent).then(|| format!("data: expected none, got {data}"));
        return Ok(problem.into_iter().collect());
    };
    if !data.is_object() {
        return Ok(vec![format!("data: expected an object, got {data}")]);
    }
    let mut problems = Vec::new();
    for (name, matcher) in wants {
        problems.extend(matcher.problem(&format!("data.{name}"), data.get(name), scope)?);
    }
    if expect.data_members_exact {
        let published: BTreeSet<String> = wants.iter().map(|(name, _)| name.clone()).collect();
        let differing: Vec<String> =
            names(data).symmetric_difference(&published).cloned().collect();
        if !differing.is_empty() {
            problems.push(format!("data: missing or unpublished members: {differing:?}"));
        }
    }
    Ok(problems)
}

fn names(value: &Value) -> BTreeSet<String> {
    value.as_object().into_iter().flat_map(serde_json::Map::keys).cloned().collect()
}

/// Whether a value says no more than a missing one would.
fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        Value::String(text) => text.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

pub(super) fn shortened(text: &str) -> String {
    text.chars().take(SHOWN_MAX_CHARS).collect()
}
