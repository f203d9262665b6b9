//! Folds the routes of the REST interface into an `OpenAPI` 3.1 document.
//!
//! It reads what the index publishes and adds nothing that is not enforced. The index speaks a
//! flavour of JSON Schema draft 4, which [`translate`] turns into draft 2020-12; its patterns
//! become templates with the constraint kept at the parameter ([`template`]). HEAD is left out,
//! being GET without a body, and so is OPTIONS, which describes its route to anybody.

mod components;
mod responses;
mod summary;
mod template;
mod translate;

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use self::components::Components;
use self::responses::AnswerContext;
use self::template::Template;
use self::translate::Side;
use super::Table;
use super::answers::Shape;
use super::route::Verb;

/// What the table cannot know.
#[derive(Clone, Copy, Debug)]
pub struct About<'a> {
    pub title: &'a str,
    pub version: &'a str,
    pub description: &'a str,
    /// Addresses of the interface's root, each with a description.
    pub servers: &'a [(&'a str, &'a str)],
}

/// Where a response has the schema of its body.
const BODY: &str = "/content/application~1json/schema";

/// The document as JSON. `takes_keys` tells whether the route of a pattern knows consumer keys.
pub fn document<O>(
    table: &Table<O>,
    about: &About<'_>,
    takes_keys: &dyn Fn(&str) -> bool,
) -> Value {
    let mut paths = Map::new();
    let mut components = Components::new();
    for route in table.routes().filter(|route| !route.is_unlisted) {
        let security = security(takes_keys(&route.pattern));
        let mut described = BTreeSet::new();
        for endpoint in &route.endpoints {
            let args = match endpoint.described() {
                Value::Object(args) => args,
                _ => Map::new(),
            };
            for verb in endpoint.verbs {
                // A route may list a verb twice; only the first operation is ever reached.
                if !described.insert(*verb) {
                    continue;
                }
                let template = place(&paths, &route.pattern);
                let told = AnswerContext {
                    route,
                    endpoint,
                    verb: verb.name(),
                    path: &template.text,
                    has_pages: args.contains_key("per_page"),
                };
                let mut operation = operation(&told, &template, &args, &mut components);
                let responses = told.responses(&mut components);
                operation.insert(String::from("responses"), responses);
                operation.insert(String::from("tags"), json!([tag(&route.namespace)]));
                operation.insert(String::from("security"), security.clone());
                add(&mut paths, &template.text, verb.name(), operation);
            }
        }
    }
    let responses = responses::components(&paths);
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
        "tags": tags(table),
        "paths": paths,
        "components": {
            "schemas": components.into_schemas(),
            "responses": responses,
            "securitySchemes": security_schemes(),
        },
    })
}

/// The pattern's template. Where two patterns differ in their constraints and the names of their
/// variables only, the later one has the names of the first: **a path stands there once.**
fn place(paths: &Map<String, Value>, pattern: &str) -> Template {
    let mut template = Template::of(pattern);
    if let Some(same) = paths.keys().find(|path| template.is_like(path)) {
        template.rename_variables(same);
    }
    template
}

/// Puts the operation at its path. Where there is one already, a request is answered by that one
/// or by this one, as its path decides; so both are described as one.
fn add(paths: &mut Map<String, Value>, path: &str, verb: &str, operation: Map<String, Value>) {
    let at_path = paths.entry(path).or_insert_with(|| json!({}));
    let Some(operations) = at_path.as_object_mut() else { return };
    let verb = verb.to_ascii_lowercase();
    if let Some(first) = operations.get_mut(&verb) {
        merge(first, &Value::Object(operation));
    } else {
        operations.insert(verb, Value::Object(operation));
    }
}

/// Lets the first operation take the parameters and give the answers of the second as well.
fn merge(first: &mut Value, second: &Value) {
    let either = |one: &mut Value, other: &Value| {
        if *one != *other {
            *one = json!({ "anyOf": [one.take(), other] });
        }
    };
    let parameters = second.get("parameters").and_then(Value::as_array);
    for parameter in parameters.into_iter().flatten() {
        let all = first.get_mut("parameters").and_then(Value::as_array_mut);
        let Some(all) = all else { continue };
        let is_same = |other: &&mut Value| other.get("name") == parameter.get("name");
        match all.iter_mut().find(is_same).and_then(|known| known.get_mut("schema")) {
            Some(schema) => either(schema, parameter.get("schema").unwrap_or(&Value::Null)),
            None => all.push(parameter.clone()),
        }
    }
    let responses = second.get("responses").and_then(Value::as_object);
    for (status, response) in responses.into_iter().flatten() {
        let all = first.get_mut("responses").and_then(Value::as_object_mut);
        let Some(all) = all else { continue };
        let known = all.entry(status).or_insert_with(|| response.clone());
        if let (Some(one), Some(other)) = (known.pointer_mut(BODY), response.pointer(BODY)) {
            either(one, other);
        }
    }
}

fn tag(namespace: &str) -> &str {
    if namespace.is_empty() { "root" } else { namespace }
}

fn tags<O>(table: &Table<O>) -> Value {
    let root = std::iter::once("root");
    let all = root.chain(table.namespaces().iter().map(String::as_str));
    all.map(|name| json!({ "name": name, "description": format!("Routes of {name}.") })).collect()
}

fn operation<O>(
    told: &AnswerContext<'_, O>,
    template: &Template,
    args: &Map<String, Value>,
    components: &mut Components,
) -> Map<String, Value> {
    let mut operation = Map::new();
    let say = |operation: &mut Map<String, Value>, name: &str, value: Value| {
        operation.insert(name.to_owned(), value);
    };
    let answers = &told.endpoint.answers;
    let namespace = told.route.namespace.as_str();
    let path = template.text.strip_prefix('/').unwrap_or(&template.text);
    let below = path.strip_prefix(namespace).unwrap_or(path);
    say(&mut operation, "operationId", json!(template.operation_id(told.verb)));
    let summary = summary::of(told.verb, below, answers, told.is_list());
    say(&mut operation, "summary", json!(summary));
    let of_query = matches!(told.verb, "GET" | "DELETE");
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
        say(&mut operation, "requestBody", request_body(told, fields, components));
    }
    if told.endpoint.batch {
        say(&mut operation, "x-batch", json!(true));
    }
    operation
}

fn query_parameter(name: &str, arg: &Value) -> Value {
    let schema = translate::schema(arg, Side::Request);
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

/// The body, whose schema becomes a component, so that clients have one type for what several
/// methods take.
fn request_body<O>(
    told: &AnswerContext<'_, O>,
    fields: Map<String, Value>,
    components: &mut Components,
) -> Value {
    let required = fields.values().any(is_required);
    let has_file = fields.values().filter_map(Value::as_object).any(translate::is_file);
    let object = |fields: Map<String, Value>| {
        let schema = json!({ "type": "object", "properties": fields });
        translate::schema(&schema, Side::Request)
    };
    let subject = told.subject();
    let mut named =
        |what: &str, schema: Value| told.named(components, &format!("{subject} {what}"), schema);
    let schema = if matches!(told.endpoint.answers.shape, Shape::Batch(_)) {
        let mut changed = fields.clone();
        changed.insert(String::from("id"), json!({ "type": ["integer", "string"] }));
        let created = named("input in batch", object(fields));
        let changed = named("update in batch", object(changed));
        named("batch", groups(&created, &changed))
    } else if told.endpoint.verbs.contains(&Verb::Put) {
        named("update", object(fields))
    } else {
        named("input", object(fields))
    };
    let media_type = if has_file { "multipart/form-data" } else { "application/json" };
    json!({ "required": required, "content": { media_type: { "schema": schema } } })
}

/// The groups of a batch: what is created, changed and deleted.
fn groups(created: &Value, changed: &Value) -> Value {
    let list = |items: Value| json!({ "type": "array", "items": items });
    let groups = json!({
        "create": list(created.clone()),
        "update": list(changed.clone()),
        "delete": list(json!({ "type": "integer" })),
    });
    json!({ "type": "object", "properties": groups })
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
            "type": "apiKey",
            "in": "header",
            "name": "Authorization",
            "description": "`OAuth` and the parameters of one-legged OAuth 1.0a: a request \
                            without TLS is signed with the consumer secret (HMAC-SHA1 or \
                            HMAC-SHA256), in this header or the query string. There are no \
                            tokens.",
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
