//! Tools from an OpenAPI document: one for each operation that a program can call. Name,
//! description and input follow from the document, and so does the request that the arguments
//! become.
//!
//! **No operation is named here.** An argument has the name of its parameter; the body is the
//! argument `body`.

use std::collections::{BTreeMap, BTreeSet};

use frame::outbound::Method;
use rmcp::model::{Tool, ToolAnnotations};
use serde_json::{Map, Value, json};
use types::{Error, Result};

use crate::remote::Request;

const BODY: &str = "body";
const JSON: &str = "application/json";
const SCHEMAS: &str = "#/components/schemas/";

/// Ways to show who asks for which a key is enough; people, devices and signatures have others.
const SCHEMES: &[&str] = &["apiKey", "applicationPassword", "consumerKey"];

pub(super) struct Tools {
    by_name: BTreeMap<String, Operation>,
}

impl Tools {
    /// The operations of the document, or of some of its groups.
    pub(super) fn derive(document: &Value, groups: &[&str]) -> Result<Self> {
        let schemas = document.pointer("/components/schemas").unwrap_or(&Value::Null);
        let server = document.pointer("/servers/0/url").and_then(Value::as_str).unwrap_or_default();
        let root = url::Url::parse(server).map(|url| url.path().trim_end_matches('/').to_owned());
        let root = root.map_err(|error| Error::internal("no server").because(error))?;
        let mut by_name = BTreeMap::new();
        let mut known = BTreeSet::new();
        for (path, methods) in members(document, "paths") {
            let named = |method: &str| methods.get(method);
            for (method, operation) in methods.as_object().into_iter().flatten() {
                let group =
                    operation.pointer("/tags/0").and_then(Value::as_str).unwrap_or_default();
                known.insert(group);
                let Some(method) = method_of(method) else { continue };
                let is_wanted = groups.is_empty() || groups.contains(&group);
                let is_other_name = matches!(method, Method::Put | Method::Patch)
                    && named("post").is_some_and(|post| body_of(post) == body_of(operation));
                if !is_wanted || is_other_name || !is_open(method, operation) {
                    continue;
                }
                let found = Operation::derive(method, &format!("{root}{path}"), operation, schemas);
                by_name.insert(found.tool.name.clone().into_owned(), found);
            }
        }
        match groups.iter().find(|group| !known.contains(**group)) {
            None => Ok(Self { by_name }),
            Some(unknown) => {
                let known: Vec<&str> = known.into_iter().collect();
                let known = known.join(", ");
                Err(Error::invalid(format!("there is no group {unknown}; groups are {known}")))
            }
        }
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &Operation> {
        self.by_name.values()
    }

    pub(super) fn find(&self, name: &str) -> Option<&Operation> {
        self.by_name.get(name)
    }
}

/// Where an argument goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Path,
    Query,
    Header,
    Body,
}

pub(super) struct Operation {
    tool: Tool,
    method: Method,
    /// With variables in braces.
    path: String,
    places: BTreeMap<String, Place>,
    /// What a body is sent as; none if the operation takes none.
    media: Option<String>,
}

impl Operation {
    fn derive(method: Method, path: &str, operation: &Value, schemas: &Value) -> Self {
        let text = |name: &str| operation.get(name).and_then(Value::as_str).unwrap_or_default();
        let mut properties = Map::new();
        let mut required = Vec::new();
        let mut places = BTreeMap::new();
        for parameter in operation.get("parameters").and_then(Value::as_array).into_iter().flatten()
        {
            let part = |name: &str| parameter.get(name).and_then(Value::as_str).unwrap_or_default();
            let place = match part("in") {
                "path" => Place::Path,
                "query" => Place::Query,
                "header" => Place::Header,
                _ => continue,
            };
            let mut schema = parameter.get("schema").cloned().unwrap_or_else(|| json!({}));
            if let (Some(schema), false) = (schema.as_object_mut(), part("description").is_empty())
            {
                schema.insert("description".into(), part("description").into());
            }
            let is_required = parameter.get("required") == Some(&Value::Bool(true));
            if is_required || place == Place::Path {
                required.push(part("name").to_owned());
            }
            places.insert(part("name").to_owned(), place);
            properties.insert(part("name").to_owned(), schema);
        }
        let body = body_of(operation);
        if let Some((_, schema, is_required)) = &body {
            places.insert(BODY.to_owned(), Place::Body);
            properties.insert(BODY.to_owned(), (*schema).clone());
            if *is_required {
                required.push(BODY.to_owned());
            }
        }
        let input = with_definitions(properties, required, schemas);
        let name = text("operationId").replace('.', "_");
        let annotations = ToolAnnotations::with_title(text("summary"))
            .read_only(method == Method::Get)
            .destructive(method == Method::Delete)
            .idempotent(matches!(method, Method::Get | Method::Put | Method::Delete))
            .open_world(false);
        let mut tool = Tool::new(name, description(operation), input);
        tool.annotations = Some(annotations);
        let media = body.map(|(media, ..)| media.to_owned());
        Self { tool, method, path: path.to_owned(), places, media }
    }

    pub(super) fn tool(&self) -> &Tool {
        &self.tool
    }

    pub(super) fn writes(&self) -> bool {
        self.method != Method::Get
    }

    /// The request that the arguments ask for. What they must be is for the server to say.
    pub(super) fn request(&self, arguments: &Map<String, Value>) -> Result<Request> {
        if let Some(unknown) = arguments.keys().find(|name| !self.places.contains_key(*name)) {
            let known: Vec<&str> = self.places.keys().map(String::as_str).collect();
            let known = known.join(", ");
            return Err(Error::invalid(format!(
                "there is no argument {unknown}; the tool takes {known}"
            )));
        }
        let mut request = Request::new(self.method, self.path.clone());
        for (name, place) in &self.places {
            let value = arguments.get(name).filter(|value| !value.is_null());
            match (place, value) {
                (Place::Path, value) => {
                    let value = value.map(plain).unwrap_or_default();
                    // As a segment, one of dots would lead elsewhere.
                    if value.chars().all(|character| character == '.') {
                        return Err(Error::invalid(format!("{name} must name something")));
                    }
                    let variable = format!("{{{name}}}");
                    request.path = request.path.replace(&variable, &escaped(&value));
                }
                (Place::Query, Some(Value::Object(object))) => {
                    let pairs =
                        object.iter().map(|(key, value)| (format!("{name}[{key}]"), plain(value)));
                    request.query.extend(pairs);
                }
                (Place::Query, Some(value)) => request.query.push((name.clone(), plain(value))),
                (Place::Header, Some(value)) => {
                    request.headers.push((name.to_lowercase(), plain(value)));
                }
                (Place::Body, value) => request.body = self.content(value),
                (_, None) => {}
            }
        }
        Ok(request)
    }

    /// An operation that takes an object is sent one, even if it is empty.
    fn content(&self, value: Option<&Value>) -> Option<(String, Vec<u8>)> {
        let media = self.media.clone()?;
        let text = match (value, media == JSON) {
            (Some(value), true) => value.to_string(),
            (Some(value), false) => plain(value),
            (None, true) => String::from("{}"),
            (None, false) => String::new(),
        };
        Some((media, text.into_bytes()))
    }
}

fn method_of(name: &str) -> Option<Method> {
    Some(match name {
        "get" => Method::Get,
        "post" => Method::Post,
        "put" => Method::Put,
        "patch" => Method::Patch,
        "delete" => Method::Delete,
        _ => return None,
    })
}

/// Whether a key opens it. What strangers write is a form for people.
fn is_open(method: Method, operation: &Value) -> bool {
    let security = operation.get("security").and_then(Value::as_array);
    let security = security.map(Vec::as_slice).unwrap_or_default();
    if security.is_empty() {
        return method == Method::Get;
    }
    let opens = |way: &Value| {
        let schemes = way.as_object().into_iter().flat_map(Map::keys);
        schemes.into_iter().any(|scheme| SCHEMES.contains(&scheme.as_str()))
    };
    security.iter().any(opens)
}

/// What the body is sent as, its schema, and whether there must be one.
fn body_of(operation: &Value) -> Option<(&str, &Value, bool)> {
    let body = operation.get("requestBody")?;
    let content = body.get("content")?.as_object()?;
    let json = content.get_key_value(JSON);
    let (media, described) = json.or_else(|| content.iter().next())?;
    let schema = described.get("schema")?;
    let members =
        |name: &str| schema.get(name).and_then(Value::as_array).is_some_and(|l| !l.is_empty());
    let is_required = media != JSON || members("required") || members("anyOf") || members("oneOf");
    Some((media, schema, is_required))
}

fn description(operation: &Value) -> String {
    let text = |name: &str| operation.get(name).and_then(Value::as_str).unwrap_or_default();
    let mut parts = vec![text("summary").to_owned(), text("description").to_owned()];
    if let Some(scope) = operation.get("x-scope").and_then(Value::as_str) {
        parts.push(format!("Needs the scope {scope}."));
    }
    parts.retain(|part| !part.is_empty());
    parts.join("\n\n")
}

/// The schema of all arguments, with those that it refers to.
fn with_definitions(
    properties: Map<String, Value>,
    required: Vec<String>,
    schemas: &Value,
) -> Map<String, Value> {
    let mut input = json!({ "type": "object", "properties": properties, "required": required });
    let mut definitions = Map::new();
    let mut waiting = Vec::new();
    refer_inside(&mut input, &mut waiting);
    while let Some(name) = waiting.pop() {
        if !definitions.contains_key(&name) {
            let mut schema = schemas.get(&name).cloned().unwrap_or_else(|| json!({}));
            refer_inside(&mut schema, &mut waiting);
            definitions.insert(name, schema);
        }
    }
    let mut input = match input {
        Value::Object(input) => input,
        _ => Map::new(),
    };
    if !definitions.is_empty() {
        input.insert("$defs".into(), Value::Object(definitions));
    }
    input
}

/// Makes references to the document references inside the schema, and notes what they name.
fn refer_inside(value: &mut Value, names: &mut Vec<String>) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| refer_inside(item, names)),
        Value::Object(object) => {
            if let Some(Value::String(reference)) = object.get_mut("$ref")
                && let Some(name) = reference.strip_prefix(SCHEMAS)
            {
                names.push(name.to_owned());
                *reference = format!("#/$defs/{name}");
            }
            object.values_mut().for_each(|member| refer_inside(member, names));
        }
        _ => {}
    }
}

/// A value without the quotes of JSON; the items of a list are separated by commas.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(plain).collect();
            items.join(",")
        }
        other => other.to_string(),
    }
}

/// As one segment of a path, whatever it holds.
fn escaped(text: &str) -> String {
    let escape = |byte: u8| match byte {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
            char::from(byte).to_string()
        }
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(escape).collect()
}

fn members<'value>(
    object: &'value Value,
    name: &str,
) -> impl Iterator<Item = (&'value String, &'value Value)> {
    object.get(name).and_then(Value::as_object).into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn onboarding() -> Tools {
        Tools::derive(&onboarding::endpoints::openapi_document(), &[]).unwrap()
    }

    fn request(name: &str, arguments: Value) -> Result<Request> {
        let tools = onboarding();
        let operation = tools.find(name).unwrap();
        operation.request(arguments.as_object().unwrap())
    }

    #[test]
    fn tools_are_what_a_key_opens() {
        let tools = onboarding();
        let names = |writes: bool| -> Vec<&str> {
            let some = tools.all().filter(|operation| operation.writes() == writes);
            some.map(|operation| operation.tool.name.as_ref()).collect()
        };
        for name in ["merchant_list", "event_list", "error_list", "delivery_get"] {
            assert!(names(false).contains(&name), "{name}");
        }
        for name in ["onboard_merchant", "merchant_patch", "key_revoke", "bulk_create"] {
            assert!(names(true).contains(&name), "{name}");
        }
        for name in ["iso_register", "member_list", "device_pair", "invitation_accept"] {
            assert!(tools.find(name).is_none(), "{name}");
        }
        let error = Tools::derive(&onboarding::endpoints::openapi_document(), &["cats"]);
        assert!(error.err().unwrap().to_string().contains("merchants"), "it names those there are");
    }

    #[test]
    fn names_and_schemas_suit_assistants() {
        for operation in onboarding().all() {
            let tool = &operation.tool;
            let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
            assert!(tool.name.chars().all(is_plain), "{}", tool.name);
            assert_eq!(tool.input_schema.get("type"), Some(&json!("object")), "{}", tool.name);
            let text = Value::Object((*tool.input_schema).clone()).to_string();
            assert!(!text.contains(SCHEMAS), "{} refers to the document", tool.name);
            assert!(
                tool.description.as_ref().is_some_and(|text| !text.is_empty()),
                "{}",
                tool.name
            );
        }
    }

    #[test]
    fn arguments_go_where_they_belong() {
        let made = request(
            "merchant_patch",
            json!({ "merchantId": "a/b c", "If-Match": "3", "body": { "dba": "New" } }),
        );
        let made = made.unwrap();
        assert_eq!((made.method, &*made.path), (Method::Patch, "/v1/merchants/a%2Fb%20c"));
        assert_eq!(made.headers, [("if-match".to_owned(), "3".to_owned())]);
        assert_eq!(made.body.unwrap(), (JSON.to_owned(), br#"{"dba":"New"}"#.to_vec()));
        let made = request("merchant_list", json!({ "limit": 5, "status": null })).unwrap();
        assert_eq!(made.query, [("limit".to_owned(), "5".to_owned())]);
        assert!(made.body.is_none());
        let made = request("webhook_test", json!({ "webhookId": "whk_1" })).unwrap();
        assert_eq!(made.body.unwrap().1, b"{}", "a body is always sent");
        let made = request("bulk_create", json!({ "body": "{}\n" })).unwrap();
        assert_eq!(made.body.unwrap(), ("application/x-ndjson".to_owned(), b"{}\n".to_vec()));
    }

    #[test]
    fn what_leads_elsewhere_is_refused() {
        for arguments in [
            json!({ "merchantId": ".." }),
            json!({ "merchantId": "" }),
            json!({}),
            json!({ "merchantId": "A", "other": 1 }),
        ] {
            assert!(request("merchant_get", arguments.clone()).is_err(), "{arguments}");
        }
    }
}
