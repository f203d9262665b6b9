//! Answers that conform, and each way not to.

use serde_json::json;

use super::*;

fn document() -> Document {
    let item = json!({ "type": "object", "properties": {
        "id": { "type": "integer" },
        "at": { "type": ["string", "null"], "format": "date-time-local" },
    } });
    let body = |schema: Value| json!({ "content": { "application/json": { "schema": schema } } });
    let reference = json!({ "$ref": "#/components/schemas/Item" });
    let refused = json!({ "$ref": "#/components/responses/Refused" });
    let id = json!([{ "name": "id", "schema": { "anyOf": [
        { "pattern": r"^(?:[\d]+)$" }, { "pattern": "^(?:me)$" }] } }]);
    let list = json!({ "type": "array", "items": reference });
    let document = json!({
        "paths": {
            "/items": {
                "get": { "responses": { "200": body(list) } },
                "post": { "responses": { "201": body(reference.clone()), "400": refused } },
            },
            "/items/{id}": {
                "get": { "parameters": id, "responses": { "200": body(reference) } },
            },
            "/items/archive": { "get": { "responses": { "200": {
                "content": { "application/zip": { "schema": { "type": "string" } } } } } } },
            "/batch/v1": { "post": { "responses": { "207": body(json!({})) } } },
        },
        "components": {
            "schemas": { "Item": item },
            "responses": { "Refused": body(json!({ "type": "object", "required": ["code"] })) },
        },
    });
    Document::parse("/api", &document).unwrap()
}

fn response(status: u16, body: &Value) -> Response {
    let headers = vec![(String::from("Content-Type"), String::from("application/json"))];
    Response { status, headers, body: body.to_string().into_bytes() }
}

#[test]
fn answers_are_held_against_their_operation() {
    let document = document();
    let check = |request: &Request, status: u16, body: Value, errors: usize| {
        let found = document.errors(request, &response(status, &body));
        assert_eq!(found.len(), errors, "{request:?} {status} {body}: {found:?}");
    };
    let get = |path: &str| Request::new("GET", path);
    let (list, one) = (get("/api/items?page=2"), get("/api/ITEMS/7/"));
    check(&list, 200, json!([{ "id": 1, "at": null }]), 0);
    check(&list, 200, json!({ "id": 1 }), 1);
    check(&list, 200, json!([{ "id": "1" }, { "id": null }]), 2);
    check(&list, 404, json!({ "code": "none" }), 1);
    check(&one, 200, json!({ "id": 1, "at": "2026-01-02T03:04:05", "more": true }), 0);
    check(&one, 200, json!({ "id": 1, "at": "2026-01-02 03:04:05" }), 1);
    check(&one, 200, json!({ "name": "of something else" }), 1);
    check(&one, 200, json!({ "_links": {} }), 0);
    check(&one, 200, json!([]), 1);
    check(&get("/api/items/7?_fields=name"), 200, json!([]), 0);
    check(&get("/api/items/me"), 200, json!([]), 1);
    check(&get("/api/items/you"), 200, json!([]), 0);
    check(&get("/elsewhere/items/7"), 200, json!([]), 0);
    check(&get("/?rest_route=/items/7"), 200, json!([]), 1);
    check(&get("/api/items/7?_envelope"), 200, json!({ "status": 200, "body": [] }), 1);
    let post = Request::new("POST", "/api/items");
    check(&post, 201, json!({ "id": 1 }), 0);
    check(&post, 200, json!({ "id": 1 }), 1);
    check(&post, 400, json!({ "code": "wrong" }), 0);
    check(&post, 400, json!({ "message": "wrong" }), 1);
    check(&Request::new("POST", "/api/items/7?_method=get"), 200, json!([]), 1);
}

#[test]
fn media_types_are_those_of_the_operation() {
    let document = document();
    let check = |path: &str, media_type: &str, body: &str, errors: usize| {
        let headers = vec![(String::from("Content-Type"), media_type.to_owned())];
        let response = Response { status: 200, headers, body: body.as_bytes().to_vec() };
        let found = document.errors(&Request::new("GET", path), &response);
        assert_eq!(found.len(), errors, "{path} {media_type}: {found:?}");
    };
    check("/api/items/archive", "application/zip", "PK", 0);
    check("/api/items/archive", "application/json", "[]", 1);
    check("/api/items", "text/xml; charset=UTF-8", "<items/>", 1);
    check("/api/items", "Application/JSON; charset=UTF-8", "[]", 0);
    check("/elsewhere", "text/html", "<p>", 0);
}

#[test]
fn every_answer_of_a_batch_is_looked_at() {
    let requests = json!({ "requests": [
        { "path": "/items" }, { "path": "/items?x=1", "method": "POST" },
    ] });
    let batch = Request::new("POST", "/api/batch/v1").body(requests.to_string());
    let answers = json!({ "responses": [
        { "status": 201, "body": { "id": 1 }, "headers": [] },
        { "status": 201, "body": { "id": "two" }, "headers": [] },
    ] });
    let errors = document().errors(&batch, &response(207, &answers));
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert!(errors.iter().all(|error| error.starts_with("POST /items 201: at \"/id\"")));
}
