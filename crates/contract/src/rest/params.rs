//! What a request gave: parameters from its body, its query and its path, checked and converted.
//!
//! One name is looked up in the JSON body, the form, the query and the path, in this order, and at
//! last among the defaults. Null counts as not given. Parameters that the operation does not
//! declare stay readable as they came.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::args::CompiledArgs;
use super::check::ParamError;
use super::multipart::File;
use super::{Refusal, loose};

/// Where parameters come from.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sources {
    /// The JSON body. Only an object gives parameters.
    pub json: Option<Value>,
    /// The fields of a form, or the body of a batch item.
    pub form: Map<String, Value>,
    pub query: Map<String, Value>,
    /// The variables of the path.
    pub path: Map<String, Value>,
    /// The files of a form; they are no parameters.
    pub files: Arc<[File]>,
}

/// The parameters of one request.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Params {
    sources: Sources,
    defaults: Arc<Map<String, Value>>,
}

/// A source by its rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    Json,
    Form,
    Query,
    Path,
    Default,
}

/// Items of one list, or members of one object, of a parameter.
pub const ITEMS_MAX: usize = 2_000;

/// Parameters with what is wrong with each. Nothing more than "no" has no error.
pub type ParamErrors = Vec<(String, Option<ParamError>)>;

/// Checks and converts what a request gave: first that nothing is missing, then that all values
/// that count are fine, then that each value in each source can be converted.
pub fn accept(args: &CompiledArgs, sources: Sources) -> Result<Params, Refusal> {
    let mut params = Params { sources, defaults: Arc::clone(args.defaults()) };
    let is_missing = |name: &str| params.get(name).is_none();
    let required = args.list().iter().filter(|arg| arg.is_required);
    let missing: Vec<&str> =
        required.map(|arg| arg.name.as_str()).filter(|name| is_missing(name)).collect();
    if !missing.is_empty() {
        return Err(missing_params(&missing));
    }
    check_lengths(args, &params.sources)?;
    let validated = validate(args, &params)?;
    sanitize(args, &mut params.sources, &validated)?;
    Ok(params)
}

/// Refuses lists that are longer than anything makes use of, before somebody compares their items
/// with each other.
fn check_lengths(args: &CompiledArgs, sources: &Sources) -> Result<(), Refusal> {
    let Sources { json, form, query, path, .. } = sources;
    let maps = [json.as_ref().and_then(Value::as_object), Some(form), Some(query), Some(path)];
    let mut errors = ParamErrors::new();
    for (name, value) in maps.into_iter().flatten().flatten() {
        if args.find(name).is_some() && is_too_long(value) {
            let message = format!("{name} must have at most {ITEMS_MAX} items.");
            replace(&mut errors, name, ParamError::new("rest_too_many_items", message));
        }
    }
    if errors.is_empty() { Ok(()) } else { Err(invalid_params(errors)) }
}

fn is_too_long(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.len() > ITEMS_MAX || items.iter().any(is_too_long),
        Value::Object(members) => members.len() > ITEMS_MAX || members.values().any(is_too_long),
        _ => false,
    }
}

/// Checks the values that count. Gives the source of each, in the order of the parameters.
fn validate(args: &CompiledArgs, params: &Params) -> Result<Vec<Option<Source>>, Refusal> {
    let mut errors = ParamErrors::new();
    let mut validated = Vec::with_capacity(args.list().len());
    for arg in args.list() {
        let found = params.find(&arg.name);
        validated.push(found.map(|(source, _)| source));
        // Defaults were checked when the parameters were compiled.
        if let Some((_, value)) = found.filter(|(source, _)| *source != Source::Default)
            && let Err(error) = arg.validate(value)
        {
            errors.push((arg.name.clone(), error));
        }
    }
    if errors.is_empty() { Ok(validated) } else { Err(invalid_params(errors)) }
}

fn sanitize(
    args: &CompiledArgs,
    sources: &mut Sources,
    validated: &[Option<Source>],
) -> Result<(), Refusal> {
    let Sources { json, form, query, path, .. } = sources;
    let json = json.as_mut().and_then(Value::as_object_mut);
    let maps = [
        (Source::Json, json),
        (Source::Form, Some(form)),
        (Source::Query, Some(query)),
        (Source::Path, Some(path)),
    ];
    let mut errors = ParamErrors::new();
    for (source, map) in maps {
        let Some(map) = map else { continue };
        for (name, slot) in map.iter_mut() {
            let Some((position, arg)) = args.find(name) else { continue };
            let is_validated = validated.get(position) == Some(&Some(source));
            match arg.sanitize(slot.take(), is_validated) {
                Ok(value) => *slot = value,
                Err(error) => replace(&mut errors, name, error),
            }
        }
    }
    if errors.is_empty() { Ok(()) } else { Err(invalid_params(errors)) }
}

/// A parameter is reported once; the last of its sources that is wrong says why.
fn replace(errors: &mut ParamErrors, name: &str, error: ParamError) {
    match errors.iter_mut().find(|(present, _)| present == name) {
        Some((_, present)) => *present = Some(error),
        None => errors.push((name.to_owned(), Some(error))),
    }
}

/// The refusal of a request that lacks required parameters.
pub fn missing_params(names: &[&str]) -> Refusal {
    let message = format!("Missing parameter(s): {}", names.join(", "));
    Refusal::new(400, "rest_missing_callback_param", message).with("params", names)
}

/// The refusal of a request with parameters that are wrong.
pub fn invalid_params(errors: ParamErrors) -> Refusal {
    let names: Vec<&str> = errors.iter().map(|(name, _)| name.as_str()).collect();
    let message = format!("Invalid parameter(s): {}", names.join(", "));
    let mut messages = Map::new();
    let mut details = Map::new();
    for (name, error) in errors {
        let Some(error) = error else {
            messages.insert(name, Value::from("Invalid value."));
            continue;
        };
        details.insert(name.clone(), error.body());
        messages.insert(name, Value::from(error.message));
    }
    let details = if details.is_empty() { json!([]) } else { Value::Object(details) };
    Refusal::new(400, "rest_invalid_param", message)
        .with("params", messages)
        .with("details", details)
}

/// Reads a JSON body. An empty one is none.
pub fn json_body(bytes: &[u8]) -> Result<Option<Value>, Refusal> {
    if bytes.is_empty() {
        return Ok(None);
    }
    let Ok(text) = std::str::from_utf8(bytes) else {
        return Err(invalid_json(JSON_UTF8, "it is not UTF-8"));
    };
    match serde_json::from_str(text) {
        Ok(value) => Ok(Some(value)),
        Err(error) => {
            let problem = error.to_string();
            Err(invalid_json(json_error_code(&problem), &problem))
        }
    }
}

/// The numbers that clients know for what can be wrong with JSON.
const JSON_DEPTH: i64 = 1;
const JSON_CONTROL_CHARACTER: i64 = 3;
const JSON_SYNTAX: i64 = 4;
const JSON_UTF8: i64 = 5;
const JSON_UTF16: i64 = 10;

fn json_error_code(problem: &str) -> i64 {
    let known = [
        ("recursion limit", JSON_DEPTH),
        ("control character", JSON_CONTROL_CHARACTER),
        ("hex escape", JSON_UTF16),
    ];
    let found = known.iter().find(|(words, _)| problem.contains(words));
    found.map_or(JSON_SYNTAX, |(_, code)| *code)
}

fn invalid_json(code: i64, problem: &str) -> Refusal {
    Refusal::new(400, "rest_invalid_json", "The body is not valid JSON.")
        .with("json_error_code", code)
        .with("json_error_message", format!("The body cannot be read: {problem}."))
}

/// Looking up.
impl Params {
    /// Parameters without any check, for a request whose route does not matter.
    pub fn unchecked(sources: Sources) -> Self {
        Self { sources, defaults: Arc::default() }
    }

    /// The first value that is not null.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.find(name).map(|(_, value)| value)
    }

    fn find(&self, name: &str) -> Option<(Source, &Value)> {
        self.maps().find_map(|(source, map)| {
            let value = map.get(name).filter(|value| !value.is_null())?;
            Some((source, value))
        })
    }

    fn maps(&self) -> impl Iterator<Item = (Source, &Map<String, Value>)> {
        let Sources { json, form, query, path, .. } = &self.sources;
        let json = json.as_ref().and_then(Value::as_object).map(|map| (Source::Json, map));
        json.into_iter().chain([
            (Source::Form, form),
            (Source::Query, query),
            (Source::Path, path),
            (Source::Default, &*self.defaults),
        ])
    }

    /// Whether the parameter is there at all, be it null or a default.
    pub fn has(&self, name: &str) -> bool {
        self.maps().any(|(_, map)| map.contains_key(name))
    }

    /// Whether the request gave the parameter, be it null.
    pub fn given(&self, name: &str) -> bool {
        let mut given = self.maps().filter(|(source, _)| *source != Source::Default);
        given.any(|(_, map)| map.contains_key(name))
    }

    pub fn text(&self, name: &str) -> Option<&str> {
        self.get(name).and_then(Value::as_str)
    }

    /// A whole number, also when it is written as text.
    pub fn int(&self, name: &str) -> Option<i64> {
        let value = self.get(name).filter(|value| loose::numeric(value).is_some())?;
        Some(loose::to_int(value))
    }

    pub fn number(&self, name: &str) -> Option<f64> {
        let value = self.get(name).filter(|value| loose::numeric(value).is_some())?;
        Some(loose::to_float(value))
    }

    /// Whether the parameter is given and means yes.
    pub fn flag(&self, name: &str) -> bool {
        self.get(name).is_some_and(loose::to_bool)
    }

    /// Whole numbers, from a list or from text.
    pub fn ints(&self, name: &str) -> Vec<i64> {
        match self.get(name) {
            None => Vec::new(),
            Some(Value::Array(items)) => items.iter().map(loose::to_int).collect(),
            Some(Value::Object(members)) => members.values().map(loose::to_int).collect(),
            Some(scalar) => {
                let text = loose::scalar_text(scalar).unwrap_or_default();
                loose::split_list(&text).map(|item| loose::to_int(&Value::from(item))).collect()
            }
        }
    }

    /// Texts, from a list or from text.
    pub fn texts(&self, name: &str) -> Vec<String> {
        let text_of = |value: &Value| loose::scalar_text(value).map(Cow::into_owned);
        match self.get(name) {
            None => Vec::new(),
            Some(Value::Array(items)) => items.iter().filter_map(text_of).collect(),
            Some(Value::Object(members)) => members.values().filter_map(text_of).collect(),
            Some(scalar) => {
                let text = loose::scalar_text(scalar).unwrap_or_default();
                loose::split_list(&text).map(str::to_owned).collect()
            }
        }
    }

    /// The JSON body, converted.
    pub fn json(&self) -> Option<&Value> {
        self.sources.json.as_ref()
    }

    /// The query, converted: what the links to other pages repeat.
    pub fn query(&self) -> &Map<String, Value> {
        &self.sources.query
    }

    pub fn path(&self) -> &Map<String, Value> {
        &self.sources.path
    }

    /// The file of a form's field.
    pub fn file(&self, field: &str) -> Option<&File> {
        self.sources.files.iter().find(|file| file.field == field)
    }

    /// All files of a form.
    pub fn files(&self) -> &[File] {
        &self.sources.files
    }

    pub fn sources(&self) -> &Sources {
        &self.sources
    }

    pub fn into_sources(self) -> Sources {
        self.sources
    }

    /// All parameters in one map; here a null hides what has a lower rank.
    pub fn merged(&self) -> Map<String, Value> {
        let mut ranked: Vec<&Map<String, Value>> = self.maps().map(|(_, map)| map).collect();
        ranked.reverse();
        let members = ranked.into_iter().flatten();
        members.map(|(name, value)| (name.clone(), value.clone())).collect()
    }
}

/// Changing.
impl Params {
    /// Sets a parameter in every source that has it, otherwise in the source of the highest rank
    /// that has anything.
    pub fn set(&mut self, name: &str, value: impl Into<Value>) {
        let value = value.into();
        let Sources { json, form, query, path, .. } = &mut self.sources;
        let mut is_set = false;
        let json = json.as_mut().and_then(Value::as_object_mut);
        let mut maps: Vec<&mut Map<String, Value>> = json.into_iter().collect();
        maps.extend([form, query, path]);
        for map in &mut maps {
            if let Some(slot) = map.get_mut(name) {
                *slot = value.clone();
                is_set = true;
            }
        }
        if is_set {
            return;
        }
        let first = match &mut self.sources.json {
            Some(Value::Object(members)) => members,
            _ if !self.sources.form.is_empty() => &mut self.sources.form,
            _ => &mut self.sources.query,
        };
        first.insert(name.to_owned(), value);
    }

    /// Removes a parameter from every source, and its default.
    pub fn remove(&mut self, name: &str) {
        let Sources { json, form, query, path, .. } = &mut self.sources;
        let json = json.as_mut().and_then(Value::as_object_mut);
        for map in json.into_iter().chain([form, query, path]) {
            map.shift_remove(name);
        }
        if self.defaults.contains_key(name) {
            Arc::make_mut(&mut self.defaults).shift_remove(name);
        }
    }
}

impl Sources {
    /// A request with a query only, such as one that follows a link.
    pub fn from_query(query: Map<String, Value>) -> Self {
        Self { query, ..Self::default() }
    }

    #[must_use]
    pub fn with_form(self, form: Map<String, Value>) -> Self {
        Self { form, ..self }
    }

    #[must_use]
    pub fn with_json(self, json: Option<Value>) -> Self {
        Self { json, ..self }
    }

    #[must_use]
    pub fn with_path(self, path: Map<String, Value>) -> Self {
        Self { path, ..self }
    }
}
