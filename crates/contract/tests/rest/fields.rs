//! Which parts of an answer `_fields` keeps.

use contract::rest::{Fields, Params, Sources, form};
use serde_json::{Value, json};

#[track_caller]
fn check(query: &str, value: &Value, expected: Value) {
    let params = Params::unchecked(Sources::from_query(form::decode(query)));
    let fields = Fields::read(&params).expect("fields");
    assert_eq!(fields.filter(value.clone()), expected, "{query}");
}

#[test]
fn keeps_what_is_wanted() {
    let post = json!({
        "id": 1,
        "title": {"raw": "a", "rendered": "b", "deep": {"x": 1, "y": 2}},
        "meta_data": [{"key": "k", "value": "v"}, {"key": "l"}],
        "_links": {"self": [{"href": "h"}]}
    });
    for (query, expected) in [
        ("_fields=id", json!({"id": 1})),
        ("_fields=id,bogus", json!({"id": 1})),
        ("_fields=bogus", json!([])),
        ("_fields=title.rendered id", json!({"id": 1, "title": {"rendered": "b"}})),
        ("_fields[]=id&_fields[]=title.raw", json!({"id": 1, "title": {"raw": "a"}})),
        ("_fields[]=id,title", json!([])),
        ("_fields=title.deep.x,title.raw", json!({"title": {"raw": "a", "deep": {"x": 1}}})),
        ("_fields=title.bogus", json!({"title": []})),
        // A scalar has no members, so it stays.
        ("_fields=id.x", json!({"id": 1})),
        // A part of what is wanted whole ends the reading of the list.
        ("_fields=_links,_links.self,id", json!({"_links": {"self": [{"href": "h"}]}})),
        // The whole may still replace its parts.
        (
            "_fields=title.raw,title,id",
            json!({"id": 1, "title": {"raw": "a", "rendered": "b", "deep": {"x": 1, "y": 2}}}),
        ),
        // Lists are entered by index, not by item.
        ("_fields=meta_data.key", json!({"meta_data": []})),
        ("_fields=meta_data.0.key", json!({"meta_data": [{"key": "k"}]})),
        ("_fields=meta_data.1", json!({"meta_data": {"1": {"key": "l"}}})),
    ] {
        check(query, &post, expected);
    }
    let list = json!([{"id": 1, "a": 2}, {"id": 2}, {"b": 1}]);
    check("_fields=id", &list, json!([{"id": 1}, {"id": 2}, []]));
    check("_fields=id", &json!([]), json!([]));
    check("_fields=id", &json!("text"), json!("text"));
}

#[test]
fn includes_parents_and_children() {
    let fields = Fields::of(["title.rendered", "meta"]).expect("fields");
    for (name, included) in [
        ("title", true),
        ("title.rendered", true),
        ("title.raw", false),
        ("title.rendered.x", true),
        ("meta", true),
        ("meta.a", true),
        ("met", false),
        ("metadata", false),
    ] {
        assert_eq!(fields.includes(name), included, "{name}");
    }
}
