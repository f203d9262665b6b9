//! The code of each refusal, and what goes with it.

use contract::rest::Schema;
use serde_json::{Value, json};

use crate::types::parse;

#[track_caller]
fn check(schema: Schema, fine: Value, wrong: Value, code: &str) {
    if let Err(error) = parse(&schema, fine.clone()) {
        panic!("{fine} is refused: {error:?}");
    }
    let error = parse(&schema, wrong.clone()).expect_err(&wrong.to_string());
    assert_eq!((error.code, error.data), (code, Value::Null), "{wrong}");
    assert!(error.message.contains('p') && error.message.ends_with('.'), "{}", error.message);
}

#[test]
fn of_values() {
    let letters = || Schema::text().choices(&["asc", "desc"]);
    check(letters(), json!("asc"), json!("ASC"), "rest_not_in_enum");
    check(letters(), json!("asc"), json!(""), "rest_not_in_enum");
    let sizes = || Schema::integer().keyword("enum", json!([1, 2]));
    check(sizes(), json!("2"), json!(3), "rest_not_in_enum");
    check(
        Schema::number().keyword("enum", json!([1, 2])),
        json!("1"),
        json!(1.5),
        "rest_not_in_enum",
    );
    check(Schema::any().keyword("enum", json!(["1"])), json!("1"), json!(1), "rest_not_in_enum");
    let member = Schema::any().keyword("enum", json!([{"a": 1, "b": [2]}]));
    check(member, json!({"b": [2.0], "a": 1}), json!({"a": 1, "b": []}), "rest_not_in_enum");
    let of_list = Schema::list(Schema::text().choices(&["a", "b"]));
    check(of_list, json!("a,b"), json!("a,c"), "rest_not_in_enum");
}

#[test]
fn of_numbers() {
    let page = || Schema::integer().min(1).max(100);
    for wrong in [json!(0), json!("0"), json!(101), json!("-5")] {
        check(page(), json!("1"), wrong, "rest_out_of_bounds");
    }
    check(page(), json!(100), json!("1e3"), "rest_out_of_bounds");
    check(Schema::number().min(0.5), json!(0.5), json!(0.4), "rest_out_of_bounds");
    check(Schema::number().max(2), json!(2), json!(2.1), "rest_out_of_bounds");
    check(Schema::number().min(1).exclusive_min(), json!(1.1), json!(1), "rest_out_of_bounds");
    check(Schema::number().max(1).exclusive_max(), json!(0.9), json!(1), "rest_out_of_bounds");
    let between = Schema::number().min(1).exclusive_min().max(3).exclusive_max();
    check(between, json!(2), json!(3), "rest_out_of_bounds");
    check(Schema::integer().multiple_of(5), json!("10"), json!(11), "rest_invalid_multiple");
    check(Schema::number().multiple_of(0.25), json!(0.75), json!(0.3), "rest_invalid_multiple");
}

#[test]
fn of_texts() {
    check(Schema::text().min_length(2), json!("äö"), json!("ä"), "rest_too_short");
    check(Schema::text().max_length(2), json!("äö"), json!("äöü"), "rest_too_long");
    let not_blank = Schema::text().pattern(r".*\S.*");
    check(not_blank, json!(" x "), json!("  "), "rest_invalid_pattern");
    check(Schema::text().pattern("[a-z]{2}"), json!("1ab2"), json!("a1b"), "rest_invalid_pattern");
    for (format, fine, wrong, code) in [
        ("date-time", "2026-03-31T12:00:00", "2026-13-45T00:00:00", "rest_invalid_date"),
        ("date-time", "2026-02-31 12:00:00Z", "2026-03-31", "rest_invalid_date"),
        ("email", "a@b.cc", "a@b", "rest_invalid_email"),
        ("ip", "1.2.3.4", "1.2.3", "rest_invalid_ip"),
        ("uuid", "00000000-0000-0000-0000-000000000000", "0", "rest_invalid_uuid"),
        ("hex-color", "#fff", "red", "rest_invalid_hex_color"),
    ] {
        check(Schema::text().format(format), json!(fine), json!(wrong), code);
        check(Schema::any().format(format), json!(fine), json!([wrong]), code);
    }
}

#[test]
fn of_lists() {
    let list = || Schema::list(Schema::integer());
    check(list().min_items(2), json!("1,2"), json!("1"), "rest_too_few_items");
    check(list().max_items(2), json!([1, 2]), json!([1, 2, 3]), "rest_too_many_items");
    check(list().unique_items(), json!([1, 2]), json!([1, 1]), "rest_duplicate_items");
    // Different as given, the same once converted.
    check(list().unique_items(), json!(["1", "2"]), json!([1, "1"]), "rest_duplicate_items");
    let any = || Schema::typed("array").unique_items();
    check(any(), json!([1, "1", 1.0, true]), json!([1, 2, 1]), "rest_duplicate_items");
    let wrong = json!([{"a": 1, "b": 2}, {"b": 2, "a": 1}]);
    check(any(), json!([{"a": 1}, {"a": 2}]), wrong, "rest_duplicate_items");
}

#[test]
fn of_objects() {
    let object = || Schema::object([("a", Schema::text().required()), ("b", Schema::integer())]);
    check(object(), json!({"a": ""}), json!({"b": 1}), "rest_property_required");
    let listed = || object().keyword("required", json!(["b"]));
    check(listed(), json!({"b": 1}), json!({"a": ""}), "rest_property_required");
    let code = "rest_additional_properties_forbidden";
    check(object().no_additional(), json!({"a": ""}), json!({"a": "", "c": 1}), code);
    let code = "rest_too_few_properties";
    check(Schema::map().min_properties(1), json!({"a": 1}), json!({}), code);
    let code = "rest_too_many_properties";
    check(Schema::map().max_properties(1), json!({"a": 1}), json!({"a": 1, "b": 1}), code);
    let coloured =
        Schema::map().pattern_properties([("_color$", Schema::text().format("hex-color"))]);
    check(
        coloured,
        json!({"a_color": "#fff", "b": 1}),
        json!({"a_color": "x"}),
        "rest_invalid_hex_color",
    );
    let short = Schema::map().additional(Schema::text().max_length(1));
    check(short, json!({"a": "x"}), json!({"a": "xy"}), "rest_too_long");
}

#[test]
fn of_alternatives() {
    let no_match = "rest_no_matching_schema";
    let app_id = || {
        Schema::one_of([Schema::text().format("uuid"), Schema::text().choices(&[""])])
            .keyword("type", "string")
    };
    let uuid = json!("f81d4fae-7dec-11d0-a765-00a0c91e6bf6");
    assert_eq!(parse(&app_id(), uuid.clone()), Ok(uuid));
    assert_eq!(parse(&app_id(), json!("")), Ok(json!("")));
    check(app_id(), json!(""), json!("x"), no_match);

    let error = parse(&Schema::any_of([Schema::integer()]), json!("x")).expect_err("text");
    assert_eq!((error.code, error.data), (no_match, json!({"position": 0})));

    // Only one alternative has the right type, so its complaint is the interesting one.
    let sized = Schema::any_of([Schema::typed("boolean"), Schema::integer().min(5)]);
    let error = parse(&sized, json!(3)).expect_err("too small");
    assert_eq!((error.code, error.data), (no_match, json!({"position": 1})));
    assert_eq!(parse(&sized, json!("7")), Ok(json!(7)));
    assert_eq!(parse(&sized, json!("true")), Ok(json!(true)));

    // Of several objects, the one that shares most properties.
    let card = Schema::object([("number", Schema::text()), ("year", Schema::integer())]);
    let cash = Schema::object([("amount", Schema::number())]);
    let paid = Schema::one_of([cash.no_additional(), card.no_additional()]);
    let error = parse(&paid, json!({"number": "1", "year": "x", "amount": 1})).expect_err("mixed");
    assert_eq!((error.code, error.data), (no_match, json!({"position": 1})));

    // Parts of a value that are of the wrong type say more than the whole.
    let rows = Schema::any_of([Schema::list(Schema::integer()), Schema::typed("boolean")]);
    let error = parse(&rows, json!([1, "x"])).expect_err("text");
    assert_eq!((error.code, error.data), (no_match, json!({"position": 0})));

    let both = Schema::one_of([Schema::integer(), Schema::number()]);
    let error = parse(&both, json!(1)).expect_err("both");
    assert_eq!(error.code, "rest_one_of_multiple_matches");
    assert_eq!(error.data, json!({"positions": [0, 1]}));
    assert_eq!(parse(&both, json!(1.5)), Ok(json!(1.5)));

    // Alternatives without a type have that of the schema they belong to.
    let short = Schema::typed("integer").keyword("anyOf", json!([{"maximum": 5}, {"minimum": 9}]));
    assert_eq!(parse(&short, json!("4")), Ok(json!(4)));
    check(short, json!(9), json!(7), no_match);
}

#[test]
fn the_first_error_in_a_parameter_counts() {
    let schema = Schema::list(Schema::integer().min(1)).max_items(1);
    assert_eq!(parse(&schema, json!([1, 0])).expect_err("both").code, "rest_out_of_bounds");
    assert_eq!(parse(&schema, json!([1, 1])).expect_err("too many").code, "rest_too_many_items");
}
