//! From JSON to typed parameters: what is taken, in which form, and what is wrong with the rest.

use contract::Failure;
use serde_json::{Value, json};
use types::Kind;

use crate::toy::{create, echo, issues, order, order_with, run};

/// One changed member, and the issues that it makes.
fn check(pointer: &str, value: Value, expected: &[&str]) {
    let outcome = create(order_with(&[(pointer, value.clone())]));
    assert_eq!(issues(&outcome), expected, "{pointer} = {value}");
}

/// One changed member, and what the handler sees of it.
fn check_taken(pointer: &str, value: Value, seen: Value) {
    let outcome = create(order_with(&[(pointer, value.clone())]));
    assert_eq!(echo(&outcome).pointer(pointer), Some(&seen), "{pointer} = {value}");
}

#[test]
fn a_handler_gets_typed_parameters_and_adds_headers() {
    let outcome = create(order());
    assert_eq!(echo(&outcome)["payment"], json!({ "kind": "cash", "drawer": 3, "given": null }));
    assert_eq!(outcome.headers, [("x-order", String::from("1"))]);
    assert!(outcome.ignored.is_empty());
    assert_eq!(outcome.failure_message, Some("Order failure"));
}

#[test]
fn absent_members_get_their_defaults() {
    let seen = echo(&create(order()));
    assert_eq!((&seen["gift"], &seen["speed"]), (&json!(false), &json!("slow")));
    let seen = echo(&run("order_list", json!({ "shopId": "s1" })));
    assert_eq!(seen, json!({ "shopId": "s1", "limit": 20, "open": null }));
}

#[test]
fn null_and_blanks_are_absent() {
    for blank in [json!(null), json!(""), json!(" \t\u{a0}\u{3000}\n")] {
        check_taken("/gift", blank.clone(), json!(false));
        check_taken("/speed", blank.clone(), json!("slow"));
        check_taken("/note", blank.clone(), Value::Null);
        check_taken("/delivery", blank.clone(), Value::Null);
        check("/title", blank.clone(), &["title missing"]);
        check("/payment", blank.clone(), &["payment missing"]);
        check("/payment/kind", blank.clone(), &["payment.kind missing"]);
        check("/lines", blank.clone(), &["lines missing"]);
        check("/lines/0", blank.clone(), &["lines[0] missing"]);
        check("/lines/1/sku", blank, &["lines[1].sku missing"]);
    }
    assert_eq!(
        issues(&create(json!({}))),
        [
            "shopId missing",
            "title missing",
            "count missing",
            "zip missing",
            "payment missing",
            "lines missing"
        ]
    );
}

#[test]
fn query_texts_become_integers_and_booleans() {
    let list = |limit: &str, open: &str| {
        run("order_list", json!({"shopId": "1", "limit": limit, "open": open}))
    };
    for (limit, open, seen) in [
        ("5", "true", json!({ "shopId": "1", "limit": 5, "open": true })),
        (" 100 ", "0", json!({ "shopId": "1", "limit": 100, "open": false })),
        ("", "1", json!({ "shopId": "1", "limit": 20, "open": true })),
    ] {
        assert_eq!(echo(&list(limit, open)), seen);
    }
    for (limit, open, expected) in [
        ("0", "false", vec!["limit format"]),
        ("101", "yes", vec!["limit format", "open type"]),
        ("-1", "TRUE", vec!["limit format", "open type"]),
        ("1.5", "2", vec!["limit type", "open type"]),
        ("five", "", vec!["limit type"]),
        ("99999999999999999999", "", vec!["limit type"]),
    ] {
        assert_eq!(issues(&list(limit, open)), expected, "{limit} {open}");
    }
}

#[test]
fn integers_stay_within_their_type() {
    check_taken("/payment/drawer", json!(u32::MAX), json!(u32::MAX));
    check_taken("/payment/given", json!(i64::MIN), json!(i64::MIN));
    check_taken("/lines/0/count", json!("65535"), json!(65535));
    for (pointer, value) in [
        ("/payment/drawer", json!(u64::from(u32::MAX) + 1)),
        ("/payment/drawer", json!(-1)),
        ("/payment/given", json!(u64::MAX)),
        ("/lines/0/count", json!(65536)),
        ("/count", json!(0)),
        ("/count", json!(21)),
    ] {
        let path = pointer.trim_start_matches('/').replace("/0/", "[0].").replace('/', ".");
        check(pointer, value, &[&format!("{path} format")]);
    }
    check("/count", json!(1.5), &["count type"]);
    check("/count", json!(true), &["count type"]);
    check("/gift", json!(1), &["gift type"]);
}

#[test]
fn integers_stand_for_digits_where_both_are_allowed() {
    check_taken("/zip", json!(10001), json!("10001"));
    check_taken("/zip", json!(" 00501 "), json!("00501"));
    check("/zip", json!(501), &["zip format"]);
    check("/zip", json!(-1001), &["zip format"]);
    check("/zip", json!(10001.0), &["zip type"]);
    check("/zip", json!(u64::MAX), &["zip format"]);
    check("/zip", json!(["10001"]), &["zip type"]);
}

#[test]
fn texts_have_format_length_and_spelling() {
    check_taken("/title", json!("  Gift "), json!("Gift"));
    check_taken("/title", json!("alias"), json!("real"));
    check("/title", json!("x"), &["title length/bad_title"]);
    check("/title", json!("toolong"), &["title length/bad_title"]);
    check("/title", json!("a b"), &["title format/bad_title"]);
    // The format is looked at before the length, and a rule keeps its own code.
    check("/title", json!("much too long"), &["title format/bad_title"]);
    check("/title", json!("forbidden"), &["title forbidden_word"]);
    // A wrong type keeps the usual code.
    check("/title", json!(7), &["title type"]);
    // Exactly n is a matter of form; lengths count characters.
    check("/lines/0/sku", json!("ab"), &["lines[0].sku format"]);
    check_taken("/lines/0/sku", json!("äöü"), json!("äöü"));
    check_taken("/note", json!("ÄÖÜäö"), json!("ÄÖÜäö"));
    check("/note", json!("123456"), &["note length"]);
    check("/speed", json!("FAST"), &["speed value"]);
    check_taken("/speed", json!(" fast "), json!("fast"));
}

#[test]
fn lists_have_bounds_and_errors_have_indexes() {
    check("/lines", json!([]), &["lines items"]);
    let line = json!({ "sku": "abc", "count": 1 });
    check("/lines", json!(vec![line.clone(); 13]), &["lines items"]);
    check("/lines", json!({ "0": line }), &["lines type"]);
    check(
        "/lines",
        json!([7, { "sku": "abcd", "count": "x" }, { "count": -1 }]),
        &[
            "lines[0] type",
            "lines[1].sku format",
            "lines[1].count type",
            "lines[2].sku missing",
            "lines[2].count format",
        ],
    );
}

#[test]
fn a_tag_selects_its_variant() {
    let card = json!({ "kind": " card ", "token": "t" });
    check_taken("/payment", card, json!({ "kind": "card", "token": "t" }));
    check("/payment", json!({ "kind": "card", "drawer": 1 }), &["payment.token missing"]);
    check("/payment", json!({ "token": "t" }), &["payment.kind missing"]);
    check("/payment", json!({ "kind": "gold", "token": 7 }), &["payment.kind value"]);
    check("/payment", json!({ "kind": 7, "token": 7 }), &["payment.kind type"]);
    check("/payment", json!("card"), &["payment type"]);
}

#[test]
fn presence_selects_its_variant() {
    let depot = json!({ "who": "me", "depot": { "id": "7" }, "hour": 8 });
    check_taken("/delivery", depot, json!({ "who": "me", "depot": { "id": 7 }, "hour": 8 }));
    let street = json!({ "hour": 8, "street": "Pier 1", "depot": { "id": " " } });
    check_taken("/delivery", street, json!({ "hour": 8, "street": "Pier 1", "who": null }));
    check("/delivery", json!({}), &["delivery.hour missing", "delivery.street missing"]);
    check(
        "/delivery",
        json!({ "depot": { "id": 1 }, "street": "Pier 1" }),
        &["delivery.who missing", "delivery.hour missing"],
    );
}

#[test]
fn unknown_members_are_taken_out_and_told() {
    let outcome = create(order_with(&[
        ("/surprise", json!({ "deep": 1 })),
        ("/payment/token", json!("of the other variant")),
        ("/lines/1/colour", json!("  ")),
        ("/nothing", Value::Null),
    ]));
    let ignored: Vec<(&str, bool)> =
        outcome.ignored.iter().map(|ignored| (ignored.path.as_str(), ignored.blank)).collect();
    assert_eq!(
        ignored,
        [
            ("payment.token", false),
            ("lines[1].colour", true),
            ("surprise", false),
            ("nothing", true)
        ]
    );
    assert_eq!(echo(&outcome).as_object().unwrap().len(), 10);
}

#[test]
fn what_is_no_object_is_one_issue_without_a_path() {
    for value in [json!([order()]), json!("x"), json!(null), json!(7)] {
        let outcome = create(value);
        assert_eq!(issues(&outcome), [" type"]);
        assert_eq!(outcome.failure_message, None);
    }
}

#[test]
fn check_adds_issues_and_headers() {
    let outcome = create(order_with(&[("/title", json!("taken"))]));
    assert_eq!(issues(&outcome), ["title taken"]);
    assert_eq!(outcome.headers, [("x-existing", String::from("7"))]);
}

#[test]
fn errors_of_check_and_handler_are_not_issues() {
    let kind = |pointer, value| match create(order_with(&[(pointer, value)])).result {
        Err(Failure::Error(error)) => error.kind(),
        other => panic!("{other:?}"),
    };
    assert_eq!(kind("/title", json!("broken")), Kind::Internal);
    assert_eq!(kind("/shopId", json!("closed")), Kind::NotFound);
}

#[test]
fn messages_say_what_to_do_and_never_repeat_the_value() {
    for (pointer, value, message) in [
        ("/title", json!(null), "This field is mandatory."),
        ("/title", json!(7_777), "This field must be a string."),
        ("/title", json!("hunter2"), "This field must be one word."),
        ("/title", json!("hunterhunter"), "This field must have 2 to 6 characters."),
        ("/note", json!("hunter2"), "This field must have at most 5 characters."),
        ("/lines/0/sku", json!("hunter2"), "This field must be exactly 3 characters: text."),
        ("/lines", json!([]), "This list must have 1 to 12 items."),
        ("/speed", json!("hunter2"), "This field must be one of: slow, fast."),
        ("/payment/kind", json!("hunter2"), "This field must be one of: card, cash."),
        ("/count", json!(7_777), "This field must be an integer from 1 to 20."),
        ("/count", json!("hunter2"), "This field must be an integer."),
        ("/zip", json!(true), "This field must be a string of digits or an integer."),
        ("/gift", json!("hunter2"), "This field must be true or false."),
        ("/payment", json!("hunter2"), "This field must be an object."),
        ("/lines", json!("hunter2"), "This field must be a list."),
    ] {
        let outcome = create(order_with(&[(pointer, value)]));
        let Err(Failure::Issues { issues, .. }) = &outcome.result else { panic!("{pointer}") };
        let messages: Vec<String> = issues.iter().map(|issue| issue.error.to_string()).collect();
        assert_eq!(messages, [message], "{pointer}");
        assert!(!format!("{outcome:?}").contains("hunter2"), "{pointer}");
    }
}
