//! Which values a type accepts, and what becomes of them.

use contract::rest::check::{sanitize, validate};
use contract::rest::{ParamError, Schema};
use serde_json::{Value, json};

pub(crate) fn parse(schema: &Schema, value: Value) -> Result<Value, ParamError> {
    let node = schema.compile().expect("a schema");
    validate(&node, &value, "p")?;
    sanitize(&node, value, "p")
}

#[track_caller]
fn becomes(schema: &Schema, value: Value, expected: &Value) {
    let text = value.to_string();
    assert_eq!(parse(schema, value).as_ref(), Ok(expected), "{text}");
}

#[track_caller]
fn refused(schema: &Schema, value: Value) {
    let text = value.to_string();
    let error = parse(schema, value).expect_err(&text);
    assert_eq!(error.code, "rest_invalid_type", "{text}");
    assert_eq!(error.data, json!({"param": "p"}), "{text}");
}

#[track_caller]
fn check(schema: Schema, accepted: &[(Value, Value)], refuses: &[Value]) {
    for (value, expected) in accepted {
        becomes(&schema, value.clone(), expected);
    }
    for value in refuses {
        refused(&schema, value.clone());
    }
}

fn same(values: Value) -> Vec<(Value, Value)> {
    let Value::Array(values) = values else { panic!("a list") };
    values.into_iter().map(|value| (value.clone(), value)).collect()
}

fn list(values: Value) -> Vec<Value> {
    same(values).into_iter().map(|(value, _)| value).collect()
}

#[test]
fn text() {
    check(
        Schema::text(),
        &same(json!(["", "a", "5", " a "])),
        &list(json!([5, 1.5, true, null, [], {}, ["a"]])),
    );
}

#[test]
fn whole_numbers() {
    let accepted = [
        (json!(12), json!(12)),
        (json!("12 "), json!(12)),
        (json!(" -12"), json!(-12)),
        (json!("+5"), json!(5)),
        (json!("007"), json!(7)),
        (json!(1.0), json!(1)),
        (json!("1.0"), json!(1)),
        (json!("1e3"), json!(1000)),
        (json!("9223372036854775808"), json!(i64::MAX)),
        (json!("-99999999999999999999"), json!(i64::MIN)),
        (json!(u64::MAX), json!(i64::MAX)),
    ];
    let refuses = json!(["", "abc", "1.5", "12abc", "0x1A", 1.5, true, null, [], [1], {}]);
    check(Schema::integer(), &accepted, &list(refuses));
}

#[test]
fn numbers() {
    let accepted = [
        (json!(3), json!(3.0)),
        (json!(1.5), json!(1.5)),
        (json!(" 1.5e1 "), json!(15.0)),
        (json!(".5"), json!(0.5)),
        (json!("-2"), json!(-2.0)),
        (json!("1e999"), json!(f64::MAX)),
    ];
    let refuses = json!(["", "abc", "1,5", "0x1A", true, null, [], {}]);
    check(Schema::number(), &accepted, &list(refuses));
}

#[test]
fn truth_values() {
    let accepted = [
        (json!(true), json!(true)),
        (json!(false), json!(false)),
        (json!("true"), json!(true)),
        (json!("TRUE"), json!(true)),
        (json!("1"), json!(true)),
        (json!("False"), json!(false)),
        (json!("0"), json!(false)),
        (json!(1), json!(true)),
        (json!(0), json!(false)),
    ];
    let refuses = json!(["yes", "no", "on", "off", "maybe", "", " true", 2, 1.0, null, [], {}]);
    check(Schema::boolean(), &accepted, &list(refuses));
}

#[test]
fn lists() {
    let numbers = Schema::list(Schema::integer());
    let accepted = [
        (json!("1, 2 3"), json!([1, 2, 3])),
        (json!("1,2 3"), json!([1, 2, 3])),
        (json!(""), json!([])),
        (json!(" , "), json!([])),
        (json!(7), json!([7])),
        (json!(["1", 2]), json!([1, 2])),
        (json!({"3": "1", "0": "2"}), json!([1, 2])),
        (json!([]), json!([])),
        (json!({}), json!([])),
    ];
    check(numbers, &accepted, &list(json!([null, {"a": 1}, {"0": 1, "a": 2}, {"01": 1}])));
    check(Schema::typed("array"), &[(json!(true), json!(["1"])), (json!(false), json!([]))], &[]);
    let error = parse(&Schema::list(Schema::integer()), json!("1,x")).expect_err("a text");
    assert_eq!(error.data, json!({"param": "p[1]"}));
}

#[test]
fn objects() {
    let schema = Schema::object([("n", Schema::integer()), ("t", Schema::text())]);
    let accepted = [
        (json!({"n": "5", "other": [1]}), json!({"n": 5, "other": [1]})),
        (json!(""), json!({})),
        (json!({}), json!({})),
        (json!([]), json!({})),
        (json!(["a"]), json!({"0": "a"})),
    ];
    check(schema.clone(), &accepted, &list(json!(["x", 5, true, null])));
    let error = parse(&schema, json!({"n": "x"})).expect_err("a text");
    assert_eq!(error.data, json!({"param": "p[n]"}));
    let nested = Schema::object([("rows", Schema::list(schema))]);
    let error = parse(&nested, json!({"rows": [{}, {"t": 5}]})).expect_err("a number");
    assert_eq!(error.data, json!({"param": "p[rows][1][t]"}));
}

#[test]
fn null() {
    check(Schema::typed("null"), &[(json!(null), json!(null))], &list(json!(["", 0, false, []])));
}

#[test]
fn several_types() {
    for (types, value, expected) in [
        (&["integer", "string"][..], json!("5"), json!(5)),
        (&["string", "integer"], json!("5"), json!("5")),
        (&["string", "integer"], json!(5), json!(5)),
        (&["array", "string"], json!("a,b"), json!(["a", "b"])),
        (&["string", "array"], json!("a,b"), json!("a,b")),
        (&["array", "string"], json!(""), json!("")),
        (&["object", "string"], json!(""), json!("")),
        (&["object", "array"], json!(""), json!({})),
        (&["object", "array"], json!([1]), json!({"0": 1})),
        (&["integer", "null"], json!(null), json!(null)),
        (&["null", "string"], json!("x"), json!("x")),
        (&["boolean", "integer"], json!("1"), json!(true)),
        (&["boolean", "integer"], json!("2"), json!(2)),
        (&["number", "string"], json!("1.5"), json!(1.5)),
        (&["integer", "mixed"], json!({"a": 1}), json!({"a": 1})),
    ] {
        becomes(&Schema::types(types), value, &expected);
    }
    refused(&Schema::types(&["integer", "null"]), json!("x"));
    refused(&Schema::types(&["string", "boolean"]), json!(5));
    let message =
        parse(&Schema::types(&["integer", "null"]), json!("x")).expect_err("text").message;
    assert_eq!(message, "p must be a whole number, or null.");
}

#[test]
fn unknown_types_accept_anything() {
    for schema in [Schema::any(), Schema::typed("mixed"), Schema::typed("file")] {
        for value in list(json!([null, 1, "x", [1, {"a": null}], {"b": 1.5}])) {
            becomes(&schema, value.clone(), &value);
        }
    }
}

#[test]
fn null_that_is_only_converted() {
    for (schema, expected) in [
        (Schema::text(), json!("")),
        (Schema::date_time(), json!("")),
        (Schema::integer(), json!(0)),
        (Schema::number(), json!(0.0)),
        (Schema::boolean(), json!(false)),
        (Schema::list(Schema::integer()), json!([])),
        (Schema::map(), json!({})),
        (Schema::types(&["integer", "null"]), json!(null)),
        (Schema::types(&["integer", "string"]), json!(null)),
        (Schema::any(), json!(null)),
    ] {
        let node = schema.compile().expect("a schema");
        assert_eq!(sanitize(&node, Value::Null, "p"), Ok(expected), "{schema:?}");
    }
}

#[test]
fn formats_clean_text() {
    for (format, value, expected) in [
        ("date-time", "2026-03-31T12:00:00\n", "2026-03-31T12:00:00"),
        ("email", "a.b@c.example", "a.b@c.example"),
        ("ip", "::1", "::1"),
        ("uuid", "f81d4fae-7dec-11d0-a765-00a0c91e6bf6", "f81d4fae-7dec-11d0-a765-00a0c91e6bf6"),
        ("hex-color", "#aBc", "#aBc"),
        ("uri", "javascript:alert(1)", ""),
        ("uri", "a.example/b c", "http://a.example/b%20c"),
        ("text-field", " <b>x</b>\ny ", "x y"),
        ("textarea-field", " <b>x</b>\ny ", "x\ny"),
        ("unheard-of", " <b>", " <b>"),
    ] {
        becomes(&Schema::text().format(format), json!(value), &json!(expected));
    }
    // A format is for text only.
    becomes(&Schema::integer().format("date-time"), json!(5), &json!(5));
    becomes(&Schema::typed("mixed").format("text-field"), json!("<i>a"), &json!("a"));
}
