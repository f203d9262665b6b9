//! Folds a table into an OpenAPI 3.1 document.
//!
//! The emitter adds nothing that is not enforced: parameters and bodies are the compiled schemas,
//! and the error answers are those of the dialect, given by the caller. It leaves nothing out that
//! is accepted, either: the walker takes null and blanks for absence, so what may be absent is
//! published as itself or [`BLANK`].

mod named;

use serde_json::{Map, Value, json};
use types::Environment;

use self::named::Named;

use crate::table::{Compiled, Table, description};
use crate::{Formats, Permission, Route};

/// What the table cannot know: the title page and the dialect's error answers.
#[derive(Debug)]
pub struct About<'a> {
    pub title: &'a str,
    pub version: &'a str,
    pub description: &'a str,
    pub servers: &'a [(&'a str, &'a str)],
    /// Schema of the error envelope.
    pub error_schema: Value,
    /// Status and description of each error answer that an operation may give.
    pub error_answers: &'a [ErrorAnswer<'a>],
    /// Headers that every answer carries: name and description.
    pub headers: &'a [(&'a str, &'a str)],
    /// Headers that a request with a body may carry.
    pub request_headers: &'a [RequestHeader<'a>],
}

/// A header that asks for something.
#[derive(Debug)]
pub struct RequestHeader<'a> {
    pub name: &'a str,
    pub description: &'a str,
    /// What values must match, when a regular expression can say it.
    pub pattern: Option<&'a str>,
    /// Understood only by operations that need a key.
    pub only_with_key: bool,
}

impl RequestHeader<'_> {
    fn parameter(&self) -> Value {
        let schema = match self.pattern {
            Some(pattern) => json!({ "type": "string", "pattern": pattern }),
            None => json!({ "type": "string" }),
        };
        let (name, description) = (self.name, self.description);
        json!({ "name": name, "in": "header", "description": description, "schema": schema })
    }
}

#[derive(Debug)]
pub struct ErrorAnswer<'a> {
    pub status: u16,
    pub description: &'a str,
    /// Given only by operations that need a key.
    pub only_with_key: bool,
    /// Given only by operations that read a body.
    pub only_with_body: bool,
}

/// The document as JSON.
pub fn document<Cx: Sync>(table: &Table<Cx>, about: &About<'_>) -> Value {
    let mut paths = Map::new();
    let mut named = Named::default();
    named.schemas.insert("Failure".into(), about.error_schema.clone());
    named.schemas.insert(BLANK.into(), blank_schema());
    for endpoint in table.endpoints() {
        let route = endpoint.route();
        let operations = paths.entry(route.path).or_insert_with(|| json!({}));
        if let Some(operations) = operations.as_object_mut() {
            let method = route.method.name().to_ascii_lowercase();
            let operation = operation(endpoint, table.formats, about, &mut named);
            operations.insert(method, operation);
        }
    }
    let servers: Vec<Value> = about
        .servers
        .iter()
        .map(|(url, description)| json!({ "url": url, "description": description }))
        .collect();
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": about.title,
            "version": about.version,
            "description": about.description,
            "license": { "name": "Apache-2.0", "identifier": "Apache-2.0" },
        },
        "servers": servers,
        "tags": tags(table),
        "paths": paths,
        "components": {
            "schemas": named.schemas,
            "headers": header_components(about),
            "securitySchemes": {
                "apiKey": authorization(
                    "`api-key`, a space and the key: `api-key bw_test_…`."
                ),
                "deviceToken": authorization(
                    "`device-token`, a space and the token issued when the device was paired."
                ),
                "pairingCode": authorization("`pairing-code`, a space and the code."),
                "session": session_scheme(),
                "nonce": {
                    "type": "apiKey", "in": "header", "name": "X-WP-Nonce",
                    "description": "The session's nonce, from `/session/nonce`.",
                },
            },
        },
    })
}

/// The cookie of a session, whose name depends on the environment.
pub(crate) fn session_scheme() -> Value {
    let [name, sandbox] =
        [Environment::Production, Environment::Sandbox].map(Environment::session_cookie);
    let description = format!(
        "A signed-in user's session; ignored without a nonce. In the sandbox the cookie is \
         `{sandbox}`."
    );
    json!({ "type": "apiKey", "in": "cookie", "name": name, "description": description })
}

/// The schema of what counts as absent.
const BLANK: &str = "Blank";

fn blank_schema() -> Value {
    json!({
        "description": "Null and whitespace are treated as absent.",
        "type": ["string", "null"],
        "pattern": "^\\s*$",
    })
}

fn authorization(description: &str) -> Value {
    json!({ "type": "apiKey", "in": "header", "name": "Authorization", "description": description })
}

fn operation<Cx: Sync>(
    endpoint: &Compiled<Cx>,
    formats: Formats,
    about: &About<'_>,
    named: &mut Named,
) -> Value {
    let route = endpoint.route();
    let mut schema = published(&endpoint.params_document, formats, Side::Request);
    let text = description(&endpoint.params_document).unwrap_or_default();
    let (summary, details) = text.split_once("\n\n").unwrap_or((text, ""));
    let mut operation = Map::new();
    operation.insert("operationId".into(), json!(&*endpoint.name));
    operation.insert("summary".into(), json!(summary.replace('\n', " ")));
    if !details.is_empty() {
        operation.insert("description".into(), json!(details));
    }
    operation.insert("tags".into(), json!([tag(&route)]));
    let mut parameters = take_parameters(endpoint, &mut schema);
    if route.method.has_body() {
        let with_key =
            matches!(route.permission, Permission::Scope(_) | Permission::IsoAdministrator);
        let understood =
            about.request_headers.iter().filter(|header| with_key || !header.only_with_key);
        parameters.extend(understood.map(RequestHeader::parameter));
    }
    if !parameters.is_empty() {
        operation.insert("parameters".into(), Value::Array(parameters));
    }
    if route.method.has_body() {
        let content = if route.files.is_empty() {
            json!({ "application/json": { "schema": schema } })
        } else {
            file_content(&route)
        };
        operation.insert("requestBody".into(), json!({ "required": true, "content": content }));
    }
    let security = match route.permission {
        Permission::Public | Permission::Link => json!([]),
        Permission::Scope(_) => json!([{ "apiKey": [] }]),
        Permission::Device => json!([{ "deviceToken": [] }]),
        Permission::Pairing => json!([{ "pairingCode": [] }]),
        Permission::Administrator | Permission::IsoAdministrator => {
            json!([{ "session": [], "nonce": [] }])
        }
    };
    operation.insert("security".into(), security);
    if let Permission::Scope(scope) = route.permission {
        operation.insert("x-scope".into(), json!(scope.name()));
    }
    operation.insert("responses".into(), responses(endpoint, formats, about, named));
    Value::Object(operation)
}

fn file_content(route: &Route) -> Value {
    let media_types = route.files.iter().flat_map(|kind| kind.media_types);
    let content = |name: &&str| {
        let schema = match *name {
            "application/octet-stream" => json!({ "type": "string", "format": "binary" }),
            _ => json!({ "type": "string" }),
        };
        ((*name).to_owned(), json!({ "schema": schema }))
    };
    Value::Object(media_types.map(content).collect())
}

/// What the operation is about: the part of the path behind the version.
fn tag(route: &Route) -> &'static str {
    route.path.split('/').nth(2).unwrap_or_default()
}

fn tags<Cx: Sync>(table: &Table<Cx>) -> Value {
    let mut names: Vec<&str> = table.endpoints().map(|endpoint| tag(&endpoint.route())).collect();
    names.sort_unstable();
    names.dedup();
    let told = |name: &str| json!({ "name": name, "description": format!("Routes of {name}.") });
    names.into_iter().map(told).collect()
}

/// Path and query parameters; what is left in the schema is the body.
fn take_parameters<Cx: Sync>(endpoint: &Compiled<Cx>, schema: &mut Value) -> Vec<Value> {
    let route = endpoint.route();
    let in_path: Vec<&str> = route.path_variables().collect();
    let required: Vec<String> = schema
        .get("required")
        .and_then(Value::as_array)
        .map(|names| names.iter().filter_map(Value::as_str).map(str::to_owned).collect())
        .unwrap_or_default();
    let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) else {
        return Vec::new();
    };
    let mut parameters = Vec::new();
    properties.retain(|name, property| {
        let place = match () {
            () if in_path.contains(&name.as_str()) => "path",
            () if !route.method.has_body() => "query",
            () => return true,
        };
        parameters.push(json!({
            "name": name,
            "in": place,
            "required": place == "path" || required.contains(name),
            "description": description(property),
            "schema": property,
        }));
        false
    });
    if let Some(names) = schema.get_mut("required").and_then(Value::as_array_mut) {
        names.retain(|name| !in_path.contains(&name.as_str().unwrap_or_default()));
    }
    parameters
}

fn responses<Cx: Sync>(
    endpoint: &Compiled<Cx>,
    formats: Formats,
    about: &About<'_>,
    named: &mut Named,
) -> Value {
    let mut responses = Map::new();
    let reply = published(&endpoint.reply_document, formats, Side::Answer);
    let reply = named.reply(&endpoint.name, reply);
    let success = description(&endpoint.reply_document).unwrap_or("Success.");
    responses.insert(
        "200".into(),
        json!({
            "description": success,
            "headers": header_references(about),
            "content": { "application/json": { "schema": reply } },
        }),
    );
    let route = endpoint.route();
    let with_key = !matches!(route.permission, Permission::Public | Permission::Link);
    for answer in about.error_answers {
        if (answer.only_with_key && !with_key)
            || (answer.only_with_body && !route.method.has_body())
        {
            continue;
        }
        let schema = json!({ "$ref": "#/components/schemas/Failure" });
        responses.insert(
            answer.status.to_string(),
            json!({
                "description": answer.description,
                "headers": header_references(about),
                "content": { "application/json": { "schema": schema } },
            }),
        );
    }
    Value::Object(responses)
}

fn header_components(about: &About<'_>) -> Value {
    let headers = about.headers.iter().map(|(name, description)| {
        let header = json!({ "description": description, "schema": { "type": "string" } });
        ((*name).to_owned(), header)
    });
    Value::Object(headers.collect())
}

fn header_references(about: &About<'_>) -> Value {
    let headers = about.headers.iter().map(|(name, _)| {
        let reference = json!({ "$ref": format!("#/components/headers/{name}") });
        ((*name).to_owned(), reference)
    });
    Value::Object(headers.collect())
}

/// Who writes what a schema describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    /// A caller, whose blanks count as absence.
    Request,
    Answer,
}

/// The schema as printed: our own keywords become what any reader of JSON Schema understands.
fn published(document: &Value, formats: Formats, side: Side) -> Value {
    match document {
        Value::Object(keywords) => {
            let mut printed = Map::new();
            for (name, value) in keywords {
                if matches!(name.as_str(), "x-code" | "x-select" | "x-verbatim") {
                    continue;
                }
                printed.insert(name.clone(), published(value, formats, side));
            }
            let format = keywords.get("format").and_then(Value::as_str);
            if let Some(pattern) = format.and_then(|name| formats.find(name)?.pattern) {
                printed.insert("pattern".into(), json!(pattern));
            }
            if side == Side::Request {
                admit_blanks(&mut printed);
            }
            Value::Object(printed)
        }
        Value::Array(items) => items.iter().map(|item| published(item, formats, side)).collect(),
        other => other.clone(),
    }
}

/// Lets the members of an object be blank that may be absent.
fn admit_blanks(schema: &mut Map<String, Value>) {
    let required = schema.get("required").cloned().unwrap_or_default();
    let is_required = |name: &str| {
        let names = required.as_array().into_iter().flatten();
        names.filter_map(Value::as_str).any(|required| required == name)
    };
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        let optional = properties.iter_mut().filter(|(name, _)| !is_required(name));
        optional.for_each(|(_, property)| *property = or_blank(property.take()));
    }
    if let Some(additional) = schema.get_mut("additionalProperties").filter(|it| it.is_object()) {
        *additional = or_blank(additional.take());
    }
}

/// The schema, or what counts as absent. Annotations stay where they are looked for.
fn or_blank(mut schema: Value) -> Value {
    let is_text = schema.get("type").is_some_and(|types| {
        types == "string" || types.as_array().is_some_and(|types| types.contains(&json!("string")))
    });
    let narrowing = ["format", "pattern", "minLength", "enum", "const"];
    if is_text && !narrowing.iter().any(|keyword| schema.get(keyword).is_some()) {
        return schema;
    }
    let mut either = Map::new();
    for annotation in ["description", "default", "writeOnly"] {
        let value = schema.as_object_mut().and_then(|schema| schema.shift_remove(annotation));
        either.extend(value.map(|value| (annotation.to_owned(), value)));
    }
    let blank = json!({ "$ref": format!("#/components/schemas/{BLANK}") });
    either.insert("anyOf".into(), json!([schema, blank]));
    Value::Object(either)
}
