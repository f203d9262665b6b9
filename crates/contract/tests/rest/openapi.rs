//! The OpenAPI document of a table says what the table's index says, in the newer words.

use std::collections::BTreeSet;

use contract::rest::openapi::{About, document};
use contract::rest::route::{CREATE, DELETE, EDIT, READ, Route};
use contract::rest::{Args, Item, Schema, Table};
use serde_json::{Value, json};

fn toy() -> Value {
    let note = Item::new(
        "note",
        Schema::object([
            ("id", Schema::integer().context(&["view"]).readonly()),
            ("text", Schema::text().context(&["view"]).required()),
            ("stars", Schema::number().min(0).exclusive_min().or_null().context(&["view"])),
        ]),
    );
    let list = Args::new()
        .arg("per_page", Schema::integer().default(10).min(1).max(100))
        .arg("include", Schema::list(Schema::integer()).default(json!([])))
        .arg("filter", Schema::map());
    let id = Args::new().arg("id", Schema::integer());
    let routes = [
        Route::at("toy/v1", "/notes")
            .on(READ, list, ())
            .on(CREATE, note.create_args(), ())
            .creates()
            .batchable()
            .schema(note.document()),
        Route::at("toy/v1", r"/notes/(?P<id>[\d]+)")
            .on(READ, id.clone(), ())
            .on(EDIT, id.clone().with(note.update_args()), ())
            .on(DELETE, id.arg("force", Schema::boolean().default(false)), ())
            .notes_deletion()
            .refuses_with(&[410])
            .schema(note.document()),
        Route::at("toy/v1", r"/notes/(?P<slug>[a-z]+)")
            .on(READ, Args::new(), ())
            .shows(Schema::object([("slug", Schema::text().or_null())])),
        Route::at("toy/v1", "/notes/batch")
            .on(CREATE, note.update_args(), ())
            .batches(note.document()),
        Route::at("toy/v1", "/pins").on(READ, Args::new(), ()).lists().schema(note.document()),
        Route::at("shop/v1", "/orders").on(READ, Args::new(), ()).shows_several(note.document()),
        Route::at("shop/v1", "/label").on(READ, Args::new(), ()).sends_file("application/pdf"),
        Route::at("shop/v1", "/embed")
            .on(READ, Args::new(), ())
            .shows(Schema::map())
            .refuses_with(&[404])
            .or_text("text/xml"),
        Route::at("shop/v1", "/none").on(READ, Args::new(), ()).only_refuses(),
    ];
    let about = About {
        title: "Toy",
        version: "1.2.3",
        description: "Notes.",
        servers: &[("http://127.0.0.1:1/root", "Here.")],
    };
    document(&Table::compile(routes).unwrap(), &about, &|pattern| pattern.starts_with("/shop/"))
}

#[test]
fn every_operation_has_a_place_and_a_name_of_its_own() {
    let document = toy();
    let mut found = Vec::new();
    let mut names = BTreeSet::new();
    for (path, operations) in document["paths"].as_object().unwrap() {
        for (verb, operation) in operations.as_object().unwrap() {
            found.push(format!("{verb} {path}"));
            names.insert(operation["operationId"].as_str().unwrap().to_owned());
        }
    }
    let expected = [
        "get /toy/v1/notes",
        "post /toy/v1/notes",
        "get /toy/v1/notes/{id}",
        "post /toy/v1/notes/{id}",
        "put /toy/v1/notes/{id}",
        "patch /toy/v1/notes/{id}",
        "delete /toy/v1/notes/{id}",
        "post /toy/v1/notes/batch",
        "get /toy/v1/pins",
        "get /shop/v1/orders",
        "get /shop/v1/label",
        "get /shop/v1/embed",
        "get /shop/v1/none",
    ];
    assert_eq!(found, expected);
    assert_eq!(names.len(), expected.len(), "{names:?}");
}

#[test]
fn parameters_are_where_requests_have_them() {
    let document = toy();
    let notes = &document["paths"]["/toy/v1/notes"];
    assert_eq!(
        notes["get"]["parameters"],
        json!([
            { "name": "per_page", "in": "query", "required": false, "schema":
                { "type": "integer", "minimum": 1, "maximum": 100, "default": 10 } },
            { "name": "include", "in": "query", "required": false,
              "style": "form", "explode": false, "schema":
                { "type": "array", "items": { "type": "integer" }, "default": [] } },
            { "name": "filter", "in": "query", "required": false,
              "style": "deepObject", "explode": true, "schema": { "type": "object" } },
        ])
    );
    let body = &notes["post"]["requestBody"];
    assert_eq!(body["required"], true);
    let named = |body: &Value| {
        let reference = body["content"]["application/json"]["schema"]["$ref"].as_str().unwrap();
        let name = reference.strip_prefix("#/components/schemas/").unwrap().to_owned();
        (document["components"]["schemas"][&name].clone(), name)
    };
    let (fields, name) = named(body);
    assert_eq!(name, "ToyV1NoteInput");
    assert_eq!(
        fields,
        json!({
            "type": "object", "required": ["text"],
            "properties": { "text": { "type": "string" },
                            "stars": { "type": "number", "exclusiveMinimum": 0 } },
        })
    );
    let note = &document["paths"]["/toy/v1/notes/{id}"];
    for verb in ["put", "post", "patch"] {
        assert_eq!(named(&note[verb]["requestBody"]).1, "ToyV1NoteUpdate");
    }
    assert_eq!(note["put"]["requestBody"]["required"], false);
    let pattern = r"^(?:[\d]+)$";
    let id = json!({ "name": "id", "in": "path", "required": true, "schema":
                     { "type": "integer", "pattern": pattern, "minimum": 0 } });
    assert_eq!(note["put"]["parameters"], json!([id]));
    assert_eq!(note["delete"]["parameters"][1]["name"], "force");
    // Two routes at one path: whichever of them the variable fits.
    let either =
        json!({ "anyOf": [id["schema"], { "type": "string", "pattern": "^(?:[a-z]+)$" }] });
    assert_eq!(note["get"]["parameters"][0]["schema"], either);
    let (batch, name) = named(&document["paths"]["/toy/v1/notes/batch"]["post"]["requestBody"]);
    assert_eq!(name, "ToyV1NoteBatch");
    let groups = batch["properties"].as_object().unwrap();
    assert_eq!(groups.keys().collect::<Vec<_>>(), ["create", "update", "delete"]);
    let changed = json!({ "$ref": "#/components/schemas/ToyV1NoteUpdateInBatch" });
    assert_eq!(groups["update"]["items"], changed);
    let created = json!({ "$ref": "#/components/schemas/ToyV1NoteInputInBatch" });
    assert_eq!(groups["create"]["items"], created);
}

#[test]
fn answers_show_the_items_of_the_route() {
    let document = toy();
    let reference = json!({ "$ref": "#/components/schemas/ToyV1Note" });
    let schema = |path: &str, verb: &str, status: &str| {
        let success = &document["paths"][path][verb]["responses"][status];
        success["content"]["application/json"]["schema"].clone()
    };
    let list = json!({ "type": "array", "items": reference });
    assert_eq!(schema("/toy/v1/notes", "get", "200"), list);
    assert_eq!(schema("/toy/v1/pins", "get", "200"), list);
    assert_eq!(schema("/toy/v1/notes", "post", "201"), reference);
    assert_eq!(schema("/toy/v1/notes", "post", "200"), Value::Null);
    let own = json!({ "type": "object", "properties": { "slug": { "type": ["string", "null"] } } });
    assert_eq!(schema("/toy/v1/notes/{id}", "get", "200"), json!({ "anyOf": [reference, own] }));
    let deleted = schema("/toy/v1/notes/{id}", "delete", "200");
    assert_eq!(deleted["anyOf"][0]["properties"]["previous"], reference);
    let results = schema("/toy/v1/notes/batch", "post", "200");
    let result = &results["anyOf"][0]["properties"]["update"]["items"]["anyOf"];
    assert_eq!(result[1], reference);
    let item = &document["components"]["schemas"]["ToyV1Note"];
    assert!(item.get("required").is_none(), "a view may hide any field");
    assert_eq!(item["properties"]["id"]["readOnly"], true);
    assert_eq!(item["properties"]["stars"]["type"], json!(["number", "null"]));
    assert!(item.get("$schema").is_none() && item.get("title").is_none());
}

#[test]
fn answers_have_the_media_types_that_the_operation_says() {
    let document = toy();
    let content = |path: &str, status: &str| {
        document["paths"][path]["get"]["responses"][status]["content"].clone()
    };
    let note = json!({ "$ref": "#/components/schemas/ShopV1Note" });
    let listed = json!({ "schema": { "type": "array", "items": note } });
    assert_eq!(content("/shop/v1/orders", "200"), json!({ "application/json": listed }));
    let file = json!({ "schema": { "type": "string", "format": "binary" } });
    assert_eq!(content("/shop/v1/label", "200"), json!({ "application/pdf": file }));
    let text = json!({ "schema": { "type": "string" } });
    let either =
        json!({ "application/json": { "schema": { "type": "object" } }, "text/xml": text });
    assert_eq!(content("/shop/v1/embed", "200"), either);
    assert_eq!(content("/shop/v1/embed", "404")["text/xml"], text);
    assert_eq!(content("/shop/v1/embed", "403"), Value::Null, "that one is as everywhere");
    let responses = document["paths"]["/shop/v1/none"]["get"]["responses"].as_object().unwrap();
    assert!(responses.keys().all(|status| status.starts_with(['4', '5'])), "{responses:?}");
}

#[test]
fn refusals_are_those_that_an_operation_may_give() {
    let document = toy();
    let statuses = |path: &str, verb: &str| -> Vec<String> {
        let responses = document["paths"][path][verb]["responses"].as_object().unwrap();
        responses.keys().cloned().collect()
    };
    let reading = ["200", "400", "401", "403", "429", "500", "503"];
    assert_eq!(statuses("/toy/v1/notes", "get"), reading);
    assert!(statuses("/toy/v1/notes/{id}", "get").contains(&String::from("404")));
    let deleting = statuses("/toy/v1/notes/{id}", "delete");
    assert!(["404", "409", "410"].iter().all(|status| deleting.iter().any(|own| own == status)));
    assert!(statuses("/toy/v1/notes", "post").contains(&String::from("413")));
    for operation in document["paths"]
        .as_object()
        .unwrap()
        .values()
        .flat_map(|path| path.as_object().unwrap().values())
    {
        assert!(operation["summary"].as_str().is_some_and(|line| !line.is_empty()));
        for response in operation["responses"].as_object().unwrap().values() {
            let Some(reference) = response["$ref"].as_str() else { continue };
            assert!(
                document.pointer(reference.strip_prefix('#').unwrap()).is_some(),
                "{reference}"
            );
        }
    }
}

#[test]
fn what_answers_have_beyond_the_published_schema_is_told_by_openapi_only() {
    let stars = Schema::number().or_null().shown_as(Schema::text());
    let item = Item::new("note", Schema::object([("stars", stars)]));
    let route = Route::at("toy/v1", "/notes").on(CREATE, item.create_args(), ());
    let table = Table::compile([route.schema(item.document())]).unwrap();
    let published = table.documents(None, "", true)["/toy/v1/notes"].clone();
    let plain = json!({ "stars": { "type": "number" } });
    assert_eq!(published["schema"]["properties"], plain);
    assert_eq!(published["endpoints"][0]["args"]["stars"]["type"], "number");
    assert!(!published.to_string().contains("x-"), "{published}");
}

#[test]
fn keys_are_offered_where_they_are_taken() {
    let document = toy();
    let ways = |path: &str| document["paths"][path]["get"]["security"].as_array().unwrap().len();
    assert_eq!((ways("/toy/v1/notes"), ways("/shop/v1/orders")), (3, 6));
    let schemes = document["components"]["securitySchemes"].as_object().unwrap();
    for way in document["paths"]["/shop/v1/orders"]["get"]["security"].as_array().unwrap() {
        assert!(way.as_object().unwrap().keys().all(|name| schemes.contains_key(name)), "{way}");
    }
}
