//! A table of endpoints, compiled and checked at start.

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::Value;

use crate::endpoint::{Entry, Outcome};
use crate::schema::{Schema, Variants};
use crate::walk::{self, Sanitizer};
use crate::{Formats, Issues, Route};

/// Endpoints that share a context, a dialect's sanitizer and a list of formats.
#[derive(Debug)]
pub struct Table<Cx> {
    pub(crate) formats: Formats,
    pub(crate) list: Vec<Compiled<Cx>>,
}

/// An endpoint ready to run.
#[derive(Debug)]
pub struct Compiled<Cx> {
    entry: Entry<Cx>,
    sanitizer: Sanitizer,
    schema: Schema,
    /// The operation's name, derived from the struct's: `OnboardMerchant` is `onboard_merchant`.
    pub name: Arc<str>,
    pub(crate) params_document: Value,
    pub(crate) reply_document: Value,
}

impl<Cx: Sync> Table<Cx> {
    /// Compiles all entries. An error tells the programmer which definition is wrong and why.
    pub fn compile(
        entries: &[&[Entry<Cx>]],
        sanitizer: Sanitizer,
        formats: Formats,
    ) -> Result<Self, String> {
        let mut list = Vec::new();
        let (mut routes, mut names) = (HashSet::new(), HashSet::new());
        for entry in entries.iter().copied().flatten() {
            let compiled = Compiled::new(*entry, sanitizer, formats)
                .map_err(|message| format!("{entry:?}: {message}"))?;
            if !routes.insert((entry.route.method, entry.route.path)) {
                return Err(format!("{entry:?} is in the table twice"));
            }
            if !names.insert(Arc::clone(&compiled.name)) {
                return Err(format!("two endpoints are named {}", compiled.name));
            }
            list.push(compiled);
        }
        Ok(Self { formats, list })
    }

    pub fn endpoints(&self) -> impl Iterator<Item = &Compiled<Cx>> {
        self.list.iter()
    }

    pub fn into_endpoints(self) -> Vec<Compiled<Cx>> {
        self.list
    }
}

impl<Cx: Sync> Compiled<Cx> {
    fn new(entry: Entry<Cx>, sanitizer: Sanitizer, formats: Formats) -> Result<Self, String> {
        let params_document = (entry.params_schema)();
        let reply_document = (entry.reply_schema)();
        let schema = Schema::compile(&params_document, formats)?;
        if description(&params_document).is_none() {
            return Err(String::from("the endpoint has no doc comment"));
        }
        for variable in entry.route.path_variables() {
            let property = schema.properties.iter().find(|property| property.name == variable);
            if !property.is_some_and(|property| property.required) {
                return Err(format!("the path variable `{variable}` is not a required parameter"));
            }
        }
        check_described(&params_document, "")?;
        check_defaults(&schema, sanitizer)?;
        let name = snake_case((entry.type_name)()).into();
        Ok(Self { entry, sanitizer, schema, name, params_document, reply_document })
    }

    /// What it takes, as a JSON schema.
    pub fn params_document(&self) -> &Value {
        &self.params_document
    }

    /// What it answers, as a JSON schema.
    pub fn reply_document(&self) -> &Value {
        &self.reply_document
    }

    pub fn route(&self) -> Route {
        self.entry.route
    }

    pub async fn run(&self, params: Value, cx: &Cx) -> Outcome {
        (self.entry.run)(&self.schema, self.sanitizer, params, cx).await
    }

    /// Puts issues that were found after a run of these parameters into the order in which the run
    /// itself would have told them.
    pub fn sort(&self, mut params: Value, issues: &mut Issues) {
        let walked = walk::walk(&self.schema, &mut params, self.sanitizer);
        walk::sort_in_document_order(issues, &self.schema, &walked.selected);
    }
}

/// Every parameter says what it is; the sentence reaches the reader of the interface description.
fn check_described(document: &Value, path: &str) -> Result<(), String> {
    if let Some(properties) = document.get("properties").and_then(Value::as_object) {
        for (name, property) in properties {
            if description(property).is_none() && property.get("const").is_none() {
                return Err(format!("`{path}{name}` has no doc comment"));
            }
            check_described(property, &format!("{path}{name}."))?;
        }
    }
    for keyword in ["anyOf", "oneOf"] {
        let variants = document.get(keyword).and_then(Value::as_array);
        for variant in variants.into_iter().flatten() {
            check_described(variant, path)?;
        }
    }
    document.get("items").map_or(Ok(()), |items| check_described(items, path))
}

/// A default is taken without a walk, so it must be what a walk would make of it.
fn check_defaults(schema: &Schema, sanitizer: Sanitizer) -> Result<(), String> {
    for property in &schema.properties {
        let Some(default) = &property.schema.default else { continue };
        let mut walked = default.clone();
        let errors = walk::walk(&property.schema, &mut walked, sanitizer).issues;
        let changed = !walked.is_object() && !walked.is_array() && walked != *default;
        if changed || !errors.is_empty() {
            return Err(format!("the default of `{}` is none of its values", property.name));
        }
    }
    let variants = schema.variants.iter().flat_map(Variants::schemas);
    let inner = schema.properties.iter().map(|property| &property.schema);
    inner
        .chain(schema.items.as_deref())
        .chain(variants)
        .try_for_each(|schema| check_defaults(schema, sanitizer))
}

pub(crate) fn description(document: &Value) -> Option<&str> {
    document.get("description").and_then(Value::as_str)
}

fn snake_case(type_name: &str) -> String {
    let name = type_name.rsplit("::").next().unwrap_or(type_name);
    let mut text = String::with_capacity(name.len() + 4);
    for letter in name.chars() {
        if letter.is_uppercase() && !text.is_empty() {
            text.push('_');
        }
        text.extend(letter.to_lowercase());
    }
    text
}
