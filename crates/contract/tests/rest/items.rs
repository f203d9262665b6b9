//! What follows from the schema of an item.

use contract::rest::{Item, Schema, Sources, accept};
use serde_json::{Value, json};

fn post() -> Item {
    let title = Schema::object([
        ("raw", Schema::text().context(&["edit"])),
        ("rendered", Schema::text().context(&["view", "edit", "embed"]).readonly()),
    ]);
    let rows = Schema::list(
        Schema::object([("secret", Schema::text().context(&["edit"]))]).context(&["view", "edit"]),
    );
    Item::new(
        "post",
        Schema::object([
            ("id", Schema::integer().context(&["view", "edit", "embed"]).readonly()),
            ("title", title.context(&["view", "edit", "embed"])),
            (
                "status",
                Schema::text().choices(&["draft", "publish"]).default("draft").context(&["edit"]),
            ),
            ("slug", Schema::text().required().context(&["view", "edit"])),
            ("rows", rows.context(&["view", "edit", "embed"])),
            ("tags", Schema::list(Schema::integer().context(&["edit"])).context(&["view", "edit"])),
            ("free", Schema::object([("inner", Schema::text().context(&["edit"]))])),
        ]),
    )
}

#[test]
fn create_takes_defaults_and_update_does_not() {
    let create = post().create_args();
    let names: Vec<&str> = create.iter().map(|arg| arg.name.as_str()).collect();
    assert_eq!(names, ["title", "status", "slug", "rows", "tags", "free"]);
    let document = create.document();
    let status = json!({"type": "string", "enum": ["draft", "publish"], "default": "draft", "required": false});
    assert_eq!(document["status"], status);
    assert_eq!(document["slug"], json!({"type": "string", "required": true}));
    assert_eq!(
        document["title"]["properties"]["raw"],
        json!({"type": "string", "context": ["edit"]})
    );

    let update = post().update_args();
    let document = update.document();
    assert_eq!(
        document["status"],
        json!({"type": "string", "enum": ["draft", "publish"], "required": false})
    );
    assert_eq!(document["slug"]["required"], false);
    let params = accept(&update.compile().expect("args"), Sources::default()).expect("fine");
    assert!(!params.has("status"));
    // Null empties a field.
    let sources = Sources::default().with_json(Some(json!({"slug": null, "tags": null})));
    let params = accept(&update.compile().expect("args"), sources).expect("fine");
    assert_eq!(params.json(), Some(&json!({"slug": "", "tags": []})));
}

#[test]
fn the_view_is_one_of_those_that_the_fields_name() {
    let expected = json!({"enum": ["view", "embed", "edit"], "default": "view", "type": "string"});
    let published = post().context_arg().published();
    for keyword in ["enum", "default", "type"] {
        assert_eq!(published[keyword], expected[keyword]);
    }
    assert_eq!(post().context_arg_without_default().get("default"), None);
    let bare = Item::new("x", Schema::object([("a", Schema::text())]));
    assert_eq!(bare.context_arg().get("enum"), None);
}

#[test]
fn a_view_hides_fields() {
    let item = post().compile().expect("an item");
    let value = json!({
        "id": 1,
        "title": {"raw": "r", "rendered": "s", "unknown": 1},
        "status": "draft",
        "slug": "s",
        "rows": [{"secret": "x", "shown": 1}],
        "tags": [1],
        "free": {"inner": "kept, for nothing is said of free"},
        "unknown": 1
    });
    let filter = |context: &str| item.filter_by_context(value.clone(), context);
    assert_eq!(filter("edit"), value);
    let free = value["free"].clone();
    let view = json!({
        "id": 1,
        "title": {"rendered": "s", "unknown": 1},
        "slug": "s",
        "rows": [{"shown": 1}],
        "tags": [],
        "free": free,
        "unknown": 1
    });
    assert_eq!(filter("view"), view);
    let embed = json!({
        "id": 1,
        "title": {"rendered": "s", "unknown": 1},
        "rows": [],
        "free": free,
        "unknown": 1
    });
    assert_eq!(filter("embed"), embed);
    let only_raw = json!({"title": {"raw": "r"}});
    assert_eq!(item.filter_by_context(only_raw, "view"), json!({"title": []}));
}

#[test]
fn the_description_has_the_usual_head() {
    let document = post().document();
    let keys: Vec<&String> = document.as_object().expect("an object").keys().collect();
    assert_eq!(keys, ["$schema", "title", "type", "properties"]);
    assert_eq!(document["$schema"], "http://json-schema.org/draft-04/schema#");
    assert_eq!(document["title"], "post");
    let id = json!({"type": "integer", "context": ["view", "edit", "embed"], "readonly": true});
    assert_eq!(document["properties"]["id"], id);
    let empty = Item::new("x", Schema::object::<&str>([])).document();
    assert_eq!(empty["properties"], Value::Array(Vec::new()));
}
