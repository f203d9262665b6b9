//! Issues come in the order of the definition, whoever found them.

use contract::Failure;
use serde_json::json;

use crate::toy::{create, issues, order_with};

#[test]
fn the_definition_gives_the_order_and_not_the_body() {
    let body = json!({
        "lines": [{ "count": "x", "sku": "toolong" }],
        "payment": { "drawer": -1, "kind": "cash" },
        "zip": "x", "speed": "x", "gift": "x", "count": "x", "title": "x", "shopId": "x",
    });
    assert_eq!(
        issues(&create(body)),
        [
            "shopId length",
            "title length/bad_title",
            "count type",
            "gift type",
            "speed value",
            "zip format",
            "payment.drawer format",
            "lines[0].sku format",
            "lines[0].count type",
        ]
    );
}

#[test]
fn issues_of_check_stand_in_their_fields_place() {
    let outcome = create(order_with(&[
        ("/title", json!("taken")),
        ("/lines/1/sku", json!("abc")),
        ("/shopId", json!("x")),
        ("/zip", json!("x")),
        ("/lines/1/count", json!("x")),
        ("/delivery", json!({ "hour": "x", "street": 7 })),
    ]));
    assert_eq!(
        issues(&outcome),
        [
            "shopId length",
            "title taken",
            "zip format",
            "lines[1].sku twice",
            "lines[1].count type",
            "delivery.hour type",
            "delivery.street type",
        ]
    );
}

#[test]
fn issues_of_the_handler_are_sorted_too() {
    let outcome = create(order_with(&[("/title", json!("late"))]));
    assert_eq!(issues(&outcome), ["title late", "lines[0].sku late", "unknown late"]);
    let Err(Failure::Issues { headers, .. }) = &outcome.result else { panic!("no issues") };
    assert_eq!(headers, &[("x-late", String::from("yes"))]);
}

#[test]
fn a_variant_keeps_its_order_when_what_selected_it_is_wrong() {
    // `who` comes first in the selected variant and last in the other one.
    let delivery = json!({ "depot": { "id": "x" }, "who": 7, "hour": "x" });
    let outcome = create(order_with(&[("/delivery", delivery)]));
    assert_eq!(
        issues(&outcome),
        ["delivery.who type", "delivery.depot.id type", "delivery.hour type"]
    );
}

#[test]
fn list_items_are_ordered_by_number_and_not_by_text() {
    let lines = vec![json!({ "sku": "x", "count": 1 }); 12];
    let found = issues(&create(order_with(&[("/lines", json!(lines))])));
    let expected: Vec<String> = (0..12).map(|n| format!("lines[{n}].sku format")).collect();
    assert_eq!(found, expected);
}

#[test]
fn a_field_has_one_issue_the_first_one_found() {
    let outcome = create(order_with(&[
        ("/title", json!("x")),
        ("/lines", json!([{ "sku": "zz", "count": 1 }, { "sku": "zz", "count": 1 }])),
    ]));
    assert_eq!(
        issues(&outcome),
        ["title length/bad_title", "lines[0].sku format", "lines[1].sku format"]
    );
}
