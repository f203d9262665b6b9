//! The answers of an operation: what it gives, with which status, and how it may refuse.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::components::{self, Components, ERROR};
use super::translate::{self, Side};
use crate::rest::answers::Shape;
use crate::rest::route::{CompiledRoute, Endpoint};

/// What is answered when nothing else is said.
const SUCCESS: u16 = 200;
/// The media type of bodies, unless an operation says another.
const JSON: &str = "application/json";
/// A status that has no body.
const NO_CONTENT: u16 = 204;

/// When an operation may refuse with a status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum When {
    Always,
    /// The operation changes something.
    Writing,
    /// The same, or the path has variables.
    Addressed,
    /// The request may have a body.
    WithBody,
    /// The operation says so.
    Said,
}

/// Every refusal: its status, the name of its response, when it may come, and what it means.
const REFUSALS: &[(u16, &str, When, &str)] = &[
    (400, "BadRequest", When::Always, "A parameter is missing or wrong."),
    (401, "Unauthorized", When::Always, "The credentials are missing or wrong."),
    (403, "Forbidden", When::Always, "The caller is not allowed to do that."),
    (404, "NotFound", When::Addressed, "There is nothing at this address."),
    (405, "MethodNotAllowed", When::Said, "The method cannot be used here."),
    (409, "Conflict", When::Writing, "The current state does not allow that."),
    (410, "Gone", When::Said, "It was deleted before."),
    (412, "PreconditionFailed", When::Said, "The content is not what the request says of it."),
    (413, "ContentTooLarge", When::WithBody, "The body or the batch is too large."),
    (422, "UnprocessableContent", When::Said, "The request cannot be carried out."),
    (426, "UpgradeRequired", When::Said, "The program that asks is too old."),
    (429, "TooManyRequests", When::Always, "Too many requests; try again later."),
    (500, "InternalServerError", When::Always, "Something went wrong on the server."),
    (501, "NotImplemented", When::Said, "The site does not support that."),
    (502, "BadGateway", When::Said, "Another service did not answer."),
    (503, "ServiceUnavailable", When::Always, "The server is busy; try again."),
];

/// The responses that these operations refer to.
pub(super) fn components(paths: &Map<String, Value>) -> Value {
    let operations = paths.values().filter_map(Value::as_object).flat_map(Map::values);
    let responses = operations.filter_map(|operation| operation.get("responses")?.as_object());
    let used: BTreeSet<&str> = responses
        .flat_map(Map::values)
        .filter_map(|response| response.get("$ref")?.as_str()?.strip_prefix(REFUSED))
        .collect();
    let told = REFUSALS.iter().filter(|(_, name, ..)| used.contains(name));
    let response = |(_, name, _, about): &(u16, &str, When, &str)| {
        ((*name).to_owned(), refusal(about, components::reference(ERROR)))
    };
    Value::Object(told.map(response).collect())
}

/// Where the responses are that operations refer to.
const REFUSED: &str = "#/components/responses/";

fn refusal(about: &str, schema: Value) -> Value {
    json!({ "description": about, "content": { JSON: { "schema": schema } } })
}

/// What is told of an operation's answers.
pub(super) struct AnswerContext<'a, O> {
    pub(super) route: &'a CompiledRoute<O>,
    pub(super) endpoint: &'a Endpoint<O>,
    pub(super) verb: &'a str,
    /// The template of the path.
    pub(super) path: &'a str,
    pub(super) has_pages: bool,
}

impl<O> AnswerContext<'_, O> {
    pub(super) fn is_list(&self) -> bool {
        let usual = matches!(self.endpoint.answers.shape, Shape::Usual);
        let lists =
            matches!(self.endpoint.answers.shape, Shape::List | Shape::Map | Shape::Several(_));
        self.verb == "GET" && (lists || (usual && self.has_pages))
    }

    pub(super) fn responses(&self, components: &mut Components) -> Value {
        let mut responses = Map::new();
        let answers = &self.endpoint.answers;
        let statuses: &[u16] = match answers.statuses.as_slice() {
            _ if answers.only_refuses => &[],
            [] => &[SUCCESS],
            said => said,
        };
        for status in statuses {
            let mut success = Map::new();
            success.insert(String::from("description"), json!("Success."));
            if self.has_pages && self.verb == "GET" {
                let number = json!({ "schema": { "type": "integer", "minimum": 0 } });
                let headers = json!({ "X-WP-Total": number, "X-WP-TotalPages": number });
                success.insert(String::from("headers"), headers);
            }
            if *status != NO_CONTENT {
                let media_type = match answers.shape {
                    Shape::File(media_type) => media_type,
                    _ => JSON,
                };
                let content = self.content(media_type, self.body(components));
                success.insert(String::from("content"), content);
            }
            responses.insert(status.to_string(), Value::Object(success));
        }
        for (status, name, when, about) in REFUSALS {
            let may = match when {
                When::Always => true,
                When::Writing => self.verb != "GET",
                When::Addressed => self.verb != "GET" || self.path.contains('{'),
                When::WithBody => !matches!(self.verb, "GET" | "DELETE"),
                When::Said => false,
            };
            let is_own = answers.refusals.contains(status);
            if may || is_own {
                let error = components::reference(ERROR);
                let refused = match &answers.refusal {
                    None if is_own && !answers.texts.is_empty() => {
                        json!({ "description": about, "content": self.content(JSON, error) })
                    }
                    None => json!({ "$ref": format!("{REFUSED}{name}") }),
                    Some(own) => {
                        let own = translate::schema(&own.value(), Side::Answer);
                        refusal(about, json!({ "anyOf": [error, own] }))
                    }
                };
                responses.insert(status.to_string(), refused);
            }
        }
        Value::Object(responses)
    }

    /// A body of this schema, and what may come in its place.
    fn content(&self, media_type: &str, schema: Value) -> Value {
        let text = |media_type: &&str| {
            ((*media_type).to_owned(), json!({ "schema": { "type": "string" } }))
        };
        let usual = (media_type.to_owned(), json!({ "schema": schema }));
        let texts = self.endpoint.answers.texts.iter().map(text);
        Value::Object(std::iter::once(usual).chain(texts).collect())
    }

    fn body(&self, components: &mut Components) -> Value {
        let list = |item: Value| json!({ "type": "array", "items": item });
        let document = match &self.endpoint.answers.shape {
            Shape::Like(answer) => return translate::schema(&answer.value(), Side::Answer),
            Shape::Batch(document) => return batch(self.item(components, &document.value())),
            Shape::One(document) => return self.item(components, &document.value()),
            Shape::Several(document) => return list(self.item(components, &document.value())),
            Shape::File(_) => return json!({ "type": "string", "format": "binary" }),
            Shape::Usual | Shape::Item | Shape::List | Shape::Map | Shape::Deletion => {
                self.route.item()
            }
        };
        let Some(document) = document else { return json!({}) };
        let item = self.item(components, &document);
        match &self.endpoint.answers.shape {
            Shape::List => list(item),
            Shape::Map => or_nothing(json!({ "type": "object", "additionalProperties": item })),
            Shape::Deletion => deletion(&item),
            _ if self.is_list() => list(item),
            _ => item,
        }
    }

    /// A reference to the schema of items, which becomes a component.
    fn item(&self, components: &mut Components, document: &Value) -> Value {
        let title = title(document).unwrap_or("item");
        self.named(components, title, translate::schema(document, Side::Answer))
    }

    /// A reference to a schema, which becomes a component of this title.
    pub(super) fn named(&self, components: &mut Components, title: &str, schema: Value) -> Value {
        let namespace = super::tag(&self.route.namespace);
        let below = self.path.strip_prefix('/').unwrap_or(self.path);
        components.reference(namespace, title, below, schema)
    }

    /// What the operation is about: the title of the items that it answers with, or else its path.
    pub(super) fn subject(&self) -> String {
        let item = match &self.endpoint.answers.shape {
            Shape::Batch(document) | Shape::One(document) | Shape::Several(document) => {
                Some(document.value())
            }
            Shape::Like(_) | Shape::File(_) => None,
            _ => self.route.item(),
        };
        let below = self.path.trim_start_matches('/');
        let below = below.strip_prefix(&self.route.namespace).unwrap_or(below);
        item.as_ref().and_then(title).unwrap_or(below).to_owned()
    }
}

fn title(document: &Value) -> Option<&str> {
    document.get("title")?.as_str()
}

fn deletion(item: &Value) -> Value {
    let noted = json!({
        "type": "object",
        "properties": { "deleted": { "type": "boolean" }, "previous": item },
        "required": ["deleted"],
    });
    json!({ "anyOf": [noted, item] })
}

/// Results by group; without any it is an empty list.
fn batch(item: Value) -> Value {
    let failed = json!({
        "type": "object",
        "properties": {
            "id": { "type": ["integer", "string", "null"] },
            "error": components::reference(ERROR),
        },
        "required": ["id", "error"],
    });
    let results = json!({ "type": "array", "items": { "anyOf": [failed, item] } });
    let groups = json!({ "create": results, "update": results, "delete": results });
    or_nothing(json!({ "type": "object", "properties": groups }))
}

/// The object, which without members is an empty list.
fn or_nothing(object: Value) -> Value {
    json!({ "anyOf": [object, { "type": "array", "maxItems": 0, "items": {} }] })
}
