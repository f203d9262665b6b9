//! Holds answers of a server against its own `OpenAPI` document: the status must be one that the
//! operation declares, the media type one of that status, and a body of JSON must conform to its
//! schema.
//!
//! [`Documents::errors`] looks at one answer. The runner of recorded cases has every answer looked
//! at that it receives, so **what no schema describes fails the case that sees it**, whatever that
//! case is about.

mod asked;

use std::collections::HashMap;
use std::fmt;
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context as _, Result, ensure};
use jsonschema::Validator;
use regex::{Regex, RegexBuilder};
use serde_json::{Map, Value};

use self::asked::RecordedRequest;
use crate::http::{Request, Response};
use crate::process;

/// Errors that one answer tells of.
const ERRORS_MAX: usize = 10;
/// Characters of a value in an error.
const SHOWN_MAX: usize = 120;
/// References within references: deeper ones are left as they are, and fail to compile.
const REFERENCES_MAX: usize = 16;

/// The media type of what is looked into.
const JSON: &str = "application/json";

/// The documents that the program prints, and what stands before their paths.
const DOCUMENTS: [(&str, &str); 2] = [("rest", "/wp-json"), ("onboarding", "")];

/// The documents that a program prints of its interfaces. A clone is the same documents.
#[derive(Clone, Debug)]
pub struct Documents(Arc<Vec<Document>>);

impl Documents {
    pub fn printed(program: &str) -> Result<Self> {
        let each = DOCUMENTS.iter();
        each.map(|(name, root)| Document::printed(program, name, root))
            .collect::<Result<_>>()
            .map(|all| Self(Arc::new(all)))
    }

    /// Where an answer contradicts them.
    pub fn errors(&self, request: &Request, response: &Response) -> Vec<String> {
        self.0.iter().flat_map(|document| document.errors(request, response)).collect()
    }
}

/// A document, with what was compiled of it.
pub struct Document {
    /// What the paths of requests begin with, before those of the document.
    root: String,
    components: Value,
    operations: Vec<Operation>,
    validators: Mutex<HashMap<(usize, u16), Arc<Validator>>>,
}

#[derive(Debug)]
struct Operation {
    method: String,
    path: Regex,
    name: String,
    responses: Map<String, Value>,
}

impl fmt::Debug for Document {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Document({:?}, {} operations)", self.root, self.operations.len())
    }
}

/// One answer, stripped of its wrapping.
#[derive(Clone, Debug)]
struct Answer {
    method: String,
    /// Below the root.
    path: String,
    status: u16,
    /// The media type of a body that is no JSON.
    other_type: Option<String>,
    body: Value,
    /// The request chose fields or a view; an object of which nothing is left is an empty list.
    is_chosen: bool,
}

impl Document {
    /// `root` is what stands before the document's paths, such as `/wp-json`.
    pub fn parse(root: &str, document: &Value) -> Result<Self> {
        let paths = document.get("paths").and_then(Value::as_object).context("no paths")?;
        let mut operations = Vec::new();
        for (path, methods) in paths {
            for (method, operation) in methods.as_object().into_iter().flatten() {
                let responses = operation.get("responses").and_then(Value::as_object);
                operations.push(Operation {
                    method: method.to_ascii_uppercase(),
                    path: path_pattern(path, operation)?,
                    name: format!("{} {path}", method.to_ascii_uppercase()),
                    responses: responses.context("an operation without responses")?.clone(),
                });
            }
        }
        let components = document.get("components").cloned().unwrap_or_default();
        let validators = Mutex::default();
        Ok(Self { root: root.to_owned(), components, operations, validators })
    }

    fn printed(program: &str, interface: &str, root: &str) -> Result<Self> {
        let mut command = Command::new(program);
        command.args(["openapi", "--interface", interface]);
        let output = process::run_command(command, b"")?;
        ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Self::parse(root, &serde_json::from_slice(&output.stdout)?)
    }

    /// Where the answer contradicts the document. A request that the document does not know has no
    /// errors. Of an answer that is no JSON, the media type is looked at.
    pub fn errors(&self, request: &Request, response: &Response) -> Vec<String> {
        let Some(answers) =
            RecordedRequest::of(&self.root, request).and_then(|asked| asked.answers(response))
        else {
            return Vec::new();
        };
        answers.iter().flat_map(|answer| self.errors_of(answer)).take(ERRORS_MAX).collect()
    }

    fn errors_of(&self, answer: &Answer) -> Vec<String> {
        let found = self.operations.iter().enumerate().find(|(_, operation)| {
            operation.method == answer.method && operation.path.is_match(&answer.path)
        });
        let Some((place, operation)) = found else { return Vec::new() };
        let Some(response) = operation.responses.get(&answer.status.to_string()) else {
            let body = shown(&answer.body);
            return vec![format!("{} declares no {}: {body}", operation.name, answer.status)];
        };
        let response = inlined(response, &self.components, REFERENCES_MAX);
        let told = |error: String| format!("{} {}: {error}", operation.name, answer.status);
        let Some(content) = response.get("content") else { return Vec::new() };
        let kind = answer.other_type.as_deref();
        // A few refusals say nothing at all.
        if kind.is_none() && answer.status >= 400 && answer.body.is_null() {
            return Vec::new();
        }
        let Some(declared) = content.get(kind.unwrap_or(JSON)) else {
            return vec![told(format!("declares no {}", kind.unwrap_or(JSON)))];
        };
        let Some(schema) = declared.get("schema").filter(|_| kind.is_none()) else {
            return Vec::new();
        };
        let validator = match self.validator((place, answer.status), schema) {
            Ok(validator) => validator,
            Err(error) => return vec![told(format!("{error:#}"))],
        };
        let errors = validator.iter_errors(&answer.body).filter_map(|error| {
            let at = error.instance_path().to_string();
            let value = answer.body.pointer(&at);
            let is_left_empty = value.and_then(Value::as_array).is_some_and(Vec::is_empty);
            let value = value.map(shown).unwrap_or_default();
            let error = told(format!("at {at:?}: {} ({value})", error.masked()));
            (!(answer.is_chosen && is_left_empty)).then_some(error)
        });
        let mut errors: Vec<String> = errors.take(ERRORS_MAX).collect();
        if !answer.is_chosen && is_foreign(schema, &answer.body) {
            errors.push(told(format!("has no member that is named: {}", shown(&answer.body))));
        }
        errors
    }

    fn validator(&self, key: (usize, u16), schema: &Value) -> Result<Arc<Validator>> {
        let mut compiled = self.validators.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(validator) = compiled.get(&key) {
            return Ok(Arc::clone(validator));
        }
        let validator = jsonschema::draft202012::options()
            .should_validate_formats(true)
            .should_ignore_unknown_formats(true)
            .with_format("date-time-local", is_local_date_time)
            .build(schema)
            .map_err(|error| anyhow::anyhow!("the schema is none: {error}"))?;
        let validator = Arc::new(validator);
        compiled.insert(key, Arc::clone(&validator));
        Ok(validator)
    }
}

/// Whether an object has members, the schema of it names some, and they have none in common: then
/// the schema describes something else.
fn is_foreign(schema: &Value, body: &Value) -> bool {
    let (schema, body) = match (schema.get("items"), body.get(0)) {
        (Some(items), Some(first)) => (items, first),
        _ => (schema, body),
    };
    let named = schema.get("properties").and_then(Value::as_object);
    let (Some(named), Some(members)) = (named, body.as_object()) else { return false };
    let is_own = |name: &&String| !name.starts_with('_');
    let mut own = members.keys().filter(is_own).peekable();
    !named.is_empty() && own.peek().is_some() && !own.any(|name| named.contains_key(name))
}

/// A date and a time without a zone.
fn is_local_date_time(text: &str) -> bool {
    text.get(10..11) == Some("T") && types::Timestamp::parse(&format!("{text}Z")).is_some()
}

/// The template of a path with the patterns of its variables.
fn path_pattern(template: &str, operation: &Value) -> Result<Regex> {
    let mut pattern = regex::escape(template);
    let parameters = operation.get("parameters").and_then(Value::as_array);
    for parameter in parameters.into_iter().flatten() {
        let name = parameter.get("name").and_then(Value::as_str).unwrap_or_default();
        let schema = parameter.get("schema").unwrap_or(&Value::Null);
        let mut allowed = patterns(schema);
        if allowed.is_empty() {
            allowed.push(String::from("[^/]+"));
        }
        let variable = regex::escape(&format!("{{{name}}}"));
        pattern = pattern.replace(&variable, &format!("(?:{})", allowed.join("|")));
    }
    let whole = format!("^(?:{pattern})$");
    let built = RegexBuilder::new(&whole).case_insensitive(true).build();
    built.with_context(|| format!("the path {template} has no pattern"))
}

/// The patterns of a schema, or of its alternatives, without their anchors.
fn patterns(schema: &Value) -> Vec<String> {
    let alternatives = schema.get("anyOf").and_then(Value::as_array);
    let own = schema.get("pattern").and_then(Value::as_str);
    let own = own.map(|text| text.trim_start_matches('^').trim_end_matches('$').to_owned());
    own.into_iter().chain(alternatives.into_iter().flatten().flat_map(patterns)).collect()
}

/// The schema with what it refers to in its place.
fn inlined(schema: &Value, components: &Value, depth: usize) -> Value {
    let reference = schema.get("$ref").and_then(Value::as_str);
    let target = reference.and_then(|text| text.strip_prefix("#/components"));
    if let (Some(target), 1..) = (target.and_then(|place| components.pointer(place)), depth) {
        return inlined(target, components, depth - 1);
    }
    match schema {
        Value::Object(members) => {
            let inner = |(name, member): (&String, &Value)| {
                (name.clone(), inlined(member, components, depth))
            };
            Value::Object(members.iter().map(inner).collect())
        }
        Value::Array(items) => items.iter().map(|item| inlined(item, components, depth)).collect(),
        other => other.clone(),
    }
}

fn shown(value: &Value) -> String {
    value.to_string().chars().take(SHOWN_MAX).collect()
}

#[cfg(test)]
mod tests;
