//! The OpenAPI document says what is enforced, and nothing else.

use contract::openapi::{About, ErrorAnswer, RequestHeader, document};
use serde_json::{Value, json};

use crate::toy::table;

fn toy_document() -> Value {
    let answer = |status, only_with_key, only_with_body| ErrorAnswer {
        status,
        description: "Refused.",
        only_with_key,
        only_with_body,
    };
    document(
        &table(),
        &About {
            title: "Toy",
            version: "1.2.3",
            description: "A shop.",
            servers: &[("http://127.0.0.1:1", "Here.")],
            error_schema: json!({ "type": "object" }),
            error_answers: &[
                answer(400, false, false),
                answer(401, true, false),
                answer(413, false, true),
            ],
            headers: &[("X-Request-Id", "Names the request.")],
            request_headers: &[
                RequestHeader {
                    name: "X-Gift",
                    description: "Wrap it.",
                    pattern: None,
                    only_with_key: false,
                },
                RequestHeader {
                    name: "X-Again",
                    description: "Safe to repeat.",
                    pattern: Some("^[a-z]+$"),
                    only_with_key: true,
                },
            ],
        },
    )
}

fn operation(path: &str, method: &str) -> Value {
    toy_document()["paths"][path][method].take()
}

const ORDERS: &str = "/v1/shops/{shopId}/orders";

#[test]
fn the_frame() {
    let document = toy_document();
    assert_eq!(document["openapi"], "3.1.0");
    assert_eq!(document["info"]["title"], "Toy");
    assert_eq!(document["info"]["version"], "1.2.3");
    assert_eq!(document["servers"][0]["url"], "http://127.0.0.1:1");
    assert_eq!(document["components"]["schemas"]["Failure"], json!({ "type": "object" }));
    assert_eq!(document["components"]["securitySchemes"]["apiKey"]["name"], "Authorization");
    let paths: Vec<&String> = document["paths"].as_object().unwrap().keys().collect();
    assert_eq!(paths, [ORDERS, "/v1/status"]);
    let methods: Vec<&String> = document["paths"][ORDERS].as_object().unwrap().keys().collect();
    assert_eq!(methods, ["post", "get"]);
}

#[test]
fn names_and_texts_come_from_the_definition() {
    let create = operation(ORDERS, "post");
    assert_eq!(create["operationId"], "order_create");
    assert_eq!(create["summary"], "Create an order.");
    assert_eq!(create["description"], "It is created whole,\nor not at all.");
    assert_eq!(operation(ORDERS, "get").get("description"), None);
}

#[test]
fn the_path_variable_is_a_parameter_and_no_member_of_the_body() {
    let create = operation(ORDERS, "post");
    assert_eq!(
        create["parameters"],
        json!([{
            "name": "shopId", "in": "path", "required": true, "description": "Shop that sells.",
            "schema": {
                "type": "string", "minLength": 2, "maxLength": 8,
                "description": "Shop that sells.",
            },
        }, {
            "name": "X-Gift", "in": "header", "description": "Wrap it.",
            "schema": { "type": "string" },
        }, {
            "name": "X-Again", "in": "header", "description": "Safe to repeat.",
            "schema": { "type": "string", "pattern": "^[a-z]+$" },
        }])
    );
    let headers = operation(ORDERS, "get")["parameters"].to_string();
    assert!(!headers.contains("X-Gift"), "only requests with a body have them: {headers}");
    let body = &create["requestBody"]["content"]["application/json"]["schema"];
    assert_eq!(create["requestBody"]["required"], true);
    assert_eq!(body["required"], json!(["title", "count", "zip", "payment", "lines"]));
    let members: Vec<&String> = body["properties"].as_object().unwrap().keys().collect();
    assert_eq!(
        members,
        ["title", "count", "gift", "speed", "note", "zip", "payment", "lines", "delivery"]
    );
}

#[test]
fn without_a_body_the_rest_is_the_query() {
    let list = operation(ORDERS, "get");
    assert_eq!(list.get("requestBody"), None);
    let parameters: Vec<(&str, &str, bool)> = list["parameters"]
        .as_array()
        .unwrap()
        .iter()
        .map(|parameter| {
            let text = |name: &str| parameter[name].as_str().unwrap();
            (text("name"), text("in"), parameter["required"].as_bool().unwrap())
        })
        .collect();
    assert_eq!(
        parameters,
        [("shopId", "path", true), ("limit", "query", false), ("open", "query", false)]
    );
    let limit = &list["parameters"][1]["schema"];
    assert_eq!(limit["default"], 20);
    let either = &limit["anyOf"];
    assert_eq!((&either[0]["minimum"], &either[0]["maximum"]), (&json!(1), &json!(100)));
    assert_eq!(either[1], json!({ "$ref": "#/components/schemas/Blank" }));
    assert_eq!(operation("/v1/status", "get").get("parameters"), None);
}

#[test]
fn permissions_are_published() {
    let create = operation(ORDERS, "post");
    assert_eq!(create["security"], json!([{ "apiKey": [] }]));
    assert_eq!(create["x-scope"], "onboard.write");
    let status = operation("/v1/status", "get");
    assert_eq!(status["security"], json!([]));
    assert_eq!(status.get("x-scope"), None);
}

#[test]
fn answers_are_those_that_can_be_given() {
    let statuses = |path: &str, method: &str| -> Vec<String> {
        operation(path, method)["responses"].as_object().unwrap().keys().cloned().collect()
    };
    assert_eq!(statuses(ORDERS, "post"), ["200", "400", "401", "413"]);
    assert_eq!(statuses(ORDERS, "get"), ["200", "400", "401"]);
    assert_eq!(statuses("/v1/status", "get"), ["200", "400"]);
    let document = toy_document();
    let success = &document["paths"][ORDERS]["post"]["responses"]["200"];
    assert_eq!(success["description"], "An order as it was understood.");
    assert_eq!(success["headers"]["X-Request-Id"]["$ref"], "#/components/headers/X-Request-Id");
    let reply = success["content"]["application/json"]["schema"]["$ref"].as_str().unwrap();
    let reply = document.pointer(reply.strip_prefix('#').unwrap()).unwrap();
    assert_eq!(reply["required"], json!(["params"]));
    assert_eq!(reply.get("title"), None);
}

#[test]
fn formats_are_published_as_patterns_and_own_keywords_are_not() {
    let document = toy_document();
    let text = document.to_string();
    assert!(!text.contains("x-code") && !text.contains("x-select"));
    let body = &document["paths"][ORDERS]["post"]["requestBody"]["content"]["application/json"];
    let title = &body["schema"]["properties"]["title"];
    assert_eq!(
        *title,
        json!({
            "type": "string", "format": "word", "minLength": 2, "maxLength": 6,
            "description": "Name of the order.", "pattern": "^[A-Za-z]+$",
        })
    );
    assert_eq!(body["schema"]["properties"]["zip"].get("pattern"), None);
}

#[test]
fn every_reference_leads_somewhere() {
    fn visit(value: &Value, document: &Value) {
        match value {
            Value::Object(members) => {
                if let Some(reference) = members.get("$ref").and_then(Value::as_str) {
                    let pointer = reference.strip_prefix('#').unwrap();
                    assert!(document.pointer(pointer).is_some(), "{reference}");
                }
                members.values().for_each(|member| visit(member, document));
            }
            Value::Array(items) => items.iter().for_each(|item| visit(item, document)),
            _ => {}
        }
    }
    let document = toy_document();
    visit(&document, &document);
}
