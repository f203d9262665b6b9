//! Folds the routes of the REST interface into an `OpenAPI` 3.1 document.
//!
//! It reads what the index publishes and adds nothing that is not enforced. The index speaks a
//! flavour of JSON Schema draft 4, which [`translate`] turns into draft 2020-12; its patterns
//! become templates with the constraint kept at the parameter ([`template`]). HEAD is left out,
//! being GET without a body, and so is OPTIONS, which describes its route to anybody.

mod template;
mod translate;

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use self::template::Template;
use super::Table;
use super::route::CompiledRoute;

/// What the table cannot know.
#[derive(Clone, Copy, Debug)]
pub struct About<'a> {
    pub title: &'a str,
    pub version: &'a str,
    pub description: &'a str,
    /// Addresses of the interface's root, each with a description.
    pub servers: &'a [(&'a str, &'a str)],
}

/// The document as JSON. `takes_keys` tells whether the route of a pattern knows consumer keys.
pub fn document<O>(
    table: &Table<O>,
    about: &About<'_>,
    takes_keys: &dyn Fn(&str) -> bool,
) -> Value {
    let mut paths = Map::new();
    let mut schemas = Map::new();
    schemas.insert(String::from(ERROR), error_schema());
    for route in table.routes().iter().filter(|route| !route.is_unlisted) {
        let published = route.description();
        let endpoints = published.get("endpoints").and_then(Value::as_array);
        let security = security(takes_keys(&route.pattern));
        let item = item_of(route, &mut schemas);
        let mut described = BTreeSet::new();
        for endpoint in endpoints.into_iter().flatten() {
            for verb in endpoint.get("methods").and_then(Value::as_array).into_iter().flatten() {
                let verb = verb.as_str().unwrap_or_default();
                // A route may list a verb twice; only the first operation is ever reached.
                if !described.insert(verb.to_owned()) {
                    continue;
                }
                let template = place(&paths, &route.pattern, verb);
                let mut operation = operation(verb, &template, endpoint, item.as_ref());
                operation.insert(String::from("tags"), json!([tag(&route.namespace)]));
                operation.insert(String::from("security"), security.clone());
                let at_path = paths.entry(&template.text).or_insert_with(|| json!({}));
                if let Some(operations) = at_path.as_object_mut() {
                    operations.insert(verb.to_ascii_lowercase(), Value::Object(operation));
                }
            }
        }
    }
    let named = |(url, text): &(&str, &str)| json!({ "url": url, "description": text });
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": about.title,
            "version": about.version,
            "description": about.description,
            "license": { "name": "Apache-2.0", "identifier": "Apache-2.0" },
        },
        "servers": about.servers.iter().map(named).collect::<Vec<_>>(),
        "paths": paths,
        "components": {
            "schemas": schemas,
            "responses": { "Refused": refused() },
            "securitySchemes": security_schemes(),
        },
    })
}

/// Name of the error object among the components.
const ERROR: &str = "Error";

/// The pattern's template. **No operation takes the place of another**: where two patterns differ
/// in their constraints only, the variables of the later one get other names.
fn place(paths: &Map<String, Value>, pattern: &str, verb: &str) -> Template {
    let mut template = Template::of(pattern);
    let verb = verb.to_ascii_lowercase();
    while paths.get(&template.text).is_some_and(|at_path| at_path.get(&verb).is_some()) {
        template.rename_variables();
    }
    template
}

fn tag(namespace: &str) -> &str {
    if namespace.is_empty() { "root" } else { namespace }
}

fn operation(
    verb: &str,
    template: &Template,
    endpoint: &Value,
    item: Option<&Value>,
) -> Map<String, Value> {
    let no_args = Map::new();
    let args = endpoint.get("args").and_then(Value::as_object).unwrap_or(&no_args);
    let mut operation = Map::new();
    let say = |operation: &mut Map<String, Value>, name: &str, value: Value| {
        operation.insert(name.to_owned(), value);
    };
    say(&mut operation, "operationId", json!(template.operation_id(verb)));
    let is_list = args.contains_key("per_page");
    let of_query = matches!(verb, "GET" | "DELETE");
    let mut parameters = template.parameters(args);
    let others = args.iter().filter(|(name, _)| !template.has(name));
    let mut fields = Map::new();
    for (name, arg) in others {
        if of_query {
            parameters.push(query_parameter(name, arg));
        } else {
            fields.insert(name.clone(), arg.clone());
        }
    }
    if !parameters.is_empty() {
        say(&mut operation, "parameters", Value::Array(parameters));
    }
    if !fields.is_empty() {
        say(&mut operation, "requestBody", request_body(fields));
    }
    if endpoint.get("allow_batch").is_some() {
        say(&mut operation, "x-batch", json!(true));
    }
    say(&mut operation, "responses", responses(verb, is_list, item));
    operation
}

fn query_parameter(name: &str, arg: &Value) -> Value {
    let schema = translate::schema(arg);
    let types = |wanted: &str| match schema.get("type") {
        Some(Value::String(only)) => only == wanted,
        Some(Value::Array(several)) => several.iter().any(|one| one == wanted),
        _ => false,
    };
    let mut parameter = parameter(name, "query", is_required(arg), arg);
    if types("array") {
        // A list may be repeated in brackets, too; with commas it is one parameter.
        parameter.insert(String::from("style"), json!("form"));
        parameter.insert(String::from("explode"), json!(false));
    } else if types("object") {
        parameter.insert(String::from("style"), json!("deepObject"));
        parameter.insert(String::from("explode"), json!(true));
    }
    parameter.insert(String::from("schema"), schema);
    Value::Object(parameter)
}

/// A parameter without its schema.
fn parameter(name: &str, place: &str, required: bool, arg: &Value) -> Map<String, Value> {
    let mut parameter = Map::new();
    parameter.insert(String::from("name"), json!(name));
    parameter.insert(String::from("in"), json!(place));
    parameter.insert(String::from("required"), json!(required));
    if let Some(Value::String(text)) = arg.get("description") {
        parameter.insert(String::from("description"), json!(text));
    }
    parameter
}

fn is_required(arg: &Value) -> bool {
    arg.get("required") == Some(&Value::Bool(true))
}

fn request_body(fields: Map<String, Value>) -> Value {
    let required = fields.values().any(is_required);
    let schema = translate::schema(&json!({ "type": "object", "properties": fields }));
    json!({
        "required": required,
        "content": {
            "application/json": { "schema": schema },
            "application/x-www-form-urlencoded": { "schema": schema },
        },
    })
}

fn responses(verb: &str, is_list: bool, item: Option<&Value>) -> Value {
    let list = |item: &Value| json!({ "type": "array", "items": item });
    let schema = match (verb, item) {
        // What was deleted, alone or with the word that it is gone.
        ("DELETE", _) | (_, None) => json!({}),
        ("GET", Some(item)) if is_list => list(item),
        // A collection that has no pages is a list, too.
        ("GET", Some(item)) => json!({ "anyOf": [item, list(item)] }),
        (_, Some(item)) => item.clone(),
    };
    let headers = if is_list && verb == "GET" {
        let number = json!({ "schema": { "type": "integer", "minimum": 0 } });
        json!({ "X-WP-Total": number, "X-WP-TotalPages": number })
    } else {
        json!({})
    };
    let success = json!({
        "description": "Success.",
        "headers": headers,
        "content": { "application/json": { "schema": schema } },
    });
    json!({ "2XX": success, "4XX": { "$ref": "#/components/responses/Refused" } })
}

/// A reference to the schema of the route's items, which becomes a component.
fn item_of<O>(route: &CompiledRoute<O>, schemas: &mut Map<String, Value>) -> Option<Value> {
    let schema = route.schema.as_ref()?;
    let mut translated = translate::schema(schema);
    if let Some(keywords) = translated.as_object_mut() {
        // What is required is so for requests; an answer shows what its view and `_fields` let.
        keywords.shift_remove("required");
    }
    let title = schema.get("title").and_then(Value::as_str).unwrap_or("item");
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-._".contains(c) { c } else { '.' };
    let name: String = format!("{}.{title}", tag(&route.namespace)).chars().map(plain).collect();
    // Routes of one resource share a title and a schema; where only the title is shared, the
    // schema stays where it is used.
    if *schemas.entry(&name).or_insert_with(|| translated.clone()) != translated {
        return Some(translated);
    }
    Some(json!({ "$ref": format!("#/components/schemas/{name}") }))
}

fn error_schema() -> Value {
    json!({
        "type": "object",
        "description": "Why the request failed. Clients should rely on `code` and `data.status`.",
        "required": ["code", "message"],
        "properties": {
            "code": { "type": "string" },
            "message": { "type": "string" },
            "data": {
                "description": "An object, except for a few codes that carry another value.",
                "properties": {
                    "status": { "type": "integer" },
                    "params": { "description": "Error messages by parameter." },
                    "details": { "description": "Error objects by parameter." },
                },
            },
        },
    })
}

fn refused() -> Value {
    let schema = json!({ "$ref": format!("#/components/schemas/{ERROR}") });
    json!({
        "description": "The request failed; nothing was changed.",
        "content": { "application/json": { "schema": schema } },
    })
}

/// Any one of these; the empty one is for what is open to everybody.
fn security(takes_keys: bool) -> Value {
    let mut ways = vec![
        json!({}),
        json!({ "applicationPassword": [] }),
        json!({ "session": [], "nonce": [] }),
    ];
    if takes_keys {
        ways.push(json!({ "consumerKey": [] }));
        ways.push(json!({ "consumerKeyQuery": [], "consumerSecretQuery": [] }));
        ways.push(json!({ "oauth1": [] }));
    }
    Value::Array(ways)
}

fn security_schemes() -> Value {
    let in_query = |name: &str| {
        let description = "TLS only.";
        json!({ "type": "apiKey", "in": "query", "name": name, "description": description })
    };
    json!({
        "applicationPassword": {
            "type": "http",
            "scheme": "basic",
            "description": "A user's login and application password.",
        },
        "consumerKey": {
            "type": "http",
            "scheme": "basic",
            "description": "A consumer key and secret, over TLS only.",
        },
        "consumerKeyQuery": in_query("consumer_key"),
        "consumerSecretQuery": in_query("consumer_secret"),
        "oauth1": {
            "type": "http",
            "scheme": "OAuth",
            "description": "One-legged OAuth 1.0a: a request without TLS is signed with the \
                            consumer secret (HMAC-SHA1 or HMAC-SHA256), in the header or the \
                            query string. There are no tokens.",
        },
        "session": crate::openapi::session_scheme(),
        "nonce": {
            "type": "apiKey",
            "in": "header",
            "name": "X-WP-Nonce",
            "description": "Proves that the request was sent by a page of the site.",
        },
    })
}
