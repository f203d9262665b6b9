//! Any input: the walker does not panic, and what it accepts fits the type.

use contract::{Failure, Outcome};
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Map, Value, json};

use crate::toy::{create, order, run};

/// The handler answers every order but those with a title that it knows, so an internal error means
/// that the walker let something pass which the type refuses.
fn check(outcome: &Outcome) -> Result<(), TestCaseError> {
    match &outcome.result {
        Ok(_) => Ok(()),
        Err(Failure::Issues { issues, .. }) => {
            let mut paths: Vec<&str> = issues.iter().map(|issue| issue.path.as_str()).collect();
            prop_assert!(!paths.is_empty());
            let count = paths.len();
            paths.sort_unstable();
            paths.dedup();
            prop_assert_eq!(paths.len(), count, "a path has two issues");
            Ok(())
        }
        Err(failure) => Err(TestCaseError::fail(format!("{failure:?}"))),
    }
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        "[0-9]{1,6}",
        "[A-Za-z]{1,7}",
        prop::sample::select(vec![
            " ",
            "card",
            "cash",
            "slow",
            " fast ",
            "true",
            "0",
            "alias",
            "+5",
            "-0",
            "abc",
            "18446744073709551615",
            "9223372036854775808",
            "\u{0}",
            "\u{feff}",
            "\u{202e}",
        ])
        .prop_map(str::to_owned),
    ]
}

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-300_i64..70_000).prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        text().prop_map(Value::from),
    ]
}

/// Member names that the toy knows, mostly.
fn name() -> impl Strategy<Value = String> {
    let known = vec![
        "shopId", "title", "count", "gift", "speed", "note", "zip", "payment", "lines", "delivery",
        "kind", "token", "drawer", "given", "sku", "who", "depot", "id", "hour", "street", "limit",
        "open", "a.b", "a[0]", "]", "",
    ];
    prop_oneof![9 => prop::sample::select(known).prop_map(str::to_owned), 1 => any::<String>()]
}

fn tree() -> impl Strategy<Value = Value> {
    scalar().prop_recursive(4, 48, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((name(), inner), 0..8)
                .prop_map(|members| Value::Object(members.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

/// All places in a document.
fn pointers(value: &Value, here: &str, found: &mut Vec<String>) {
    found.push(here.to_owned());
    match value {
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                pointers(item, &format!("{here}/{index}"), found);
            }
        }
        Value::Object(members) => {
            for (name, member) in members {
                let escaped = name.replace('~', "~0").replace('/', "~1");
                pointers(member, &format!("{here}/{escaped}"), found);
            }
        }
        _ => {}
    }
}

/// Puts each value at some place of an order.
fn mutated(changes: Vec<(Index, Option<String>, Value)>) -> Value {
    let mut order = order();
    order["note"] = json!("hi");
    order["delivery"] = json!({ "who": "me", "depot": { "id": 7 }, "hour": 8, "street": "Pier" });
    for (place, added, value) in changes {
        let mut places = Vec::new();
        pointers(&order, "", &mut places);
        let target = order.pointer_mut(place.get(&places).as_str()).expect("a place that exists");
        match (target, added) {
            (Value::Object(members), Some(name)) => drop(members.insert(name, value)),
            (Value::Array(items), Some(_)) => items.push(value),
            (target, _) => *target = value,
        }
    }
    order
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_tree(tree in tree()) {
        check(&create(tree.clone()))?;
        check(&run("order_list", tree))?;
    }

    #[test]
    fn any_list_query(shop in text(), limit in scalar(), open in scalar()) {
        check(&run("order_list", json!({ "shopId": shop, "limit": limit, "open": open })))?;
    }

    #[test]
    fn any_change_of_a_valid_order(
        changes in prop::collection::vec(
            (any::<Index>(), prop::option::of(name()), prop_oneof![4 => scalar(), 1 => tree()]), 1..4,
        ),
    ) {
        let order = mutated(changes);
        // These make the toy answer with an error on purpose.
        let is_asked_for = |pointer: &str, text: &str| {
            order.pointer(pointer).and_then(Value::as_str).is_some_and(|found| found.trim() == text)
        };
        prop_assume!(!is_asked_for("/title", "broken") && !is_asked_for("/shopId", "closed"));
        check(&create(order))?;
    }
}
