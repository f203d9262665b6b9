//! Any body: never a panic, never our error, and the database holds all of it or nothing.

use std::cell::RefCell;

use contract::Failure;
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::TestRunner;
use serde_json::{Map, Value, json};
use types::Kind;

use crate::bodies::{body, names};
use crate::support::{Counts, House, set_ids};

fn runner(cases: u32) -> TestRunner {
    let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
    TestRunner::new(config)
}

/// What is done to a place of a body.
#[derive(Clone, Debug)]
enum Change {
    Remove,
    Replace(Value),
    Add(String, Value),
}

/// Texts that are likely to hurt, and some that are likely to pass.
fn text() -> impl Strategy<Value = String> {
    let hostile = vec![
        "",
        " ",
        "\u{0}",
        "a\u{0}b",
        "\u{7f}",
        "\r\n",
        "\u{feff}dba",
        "a\u{200b}b",
        "\u{202e}abc",
        "\u{fdfa}",
        "Cafe\u{301} 12",
        "\u{1f468}\u{200d}\u{1f469}",
        "\u{1d56c}\u{1d56d}",
        "' OR 1=1 --",
        "${jndi:ldap://x}",
        "<script>",
        "../../etc/passwd",
        "\\",
        "\"",
        "%s%n",
        "4111111111111111",
        "%B4111111111111111^DOE/J^2512101?",
        "\u{3000}x\u{3000}",
        "\u{e000}",
        "\u{10ffff}",
        "NaN",
    ];
    let plausible = vec![
        "10001",
        "00501",
        "99999",
        "5812",
        "0000",
        "+1",
        "+",
        "+1234",
        "01",
        "02",
        "03",
        "CRDT",
        "SIMPLE",
        "TSYS",
        "CKNX",
        " ELVN ",
        "Wizer POS",
        "QD2",
        "TAP ON PHONE",
        "Android Phone",
        "450123",
        "O'Brien",
        "a@b.cd",
        "LANE01FRONTCOUNTER",
        "123456789",
        "https://example.com/a.png",
        "http://10.0.0.1/",
        "RETAIL01",
        "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123",
    ];
    prop_oneof![
        3 => prop::sample::select(hostile).prop_map(str::to_owned),
        3 => prop::sample::select(plausible).prop_map(str::to_owned),
        2 => any::<String>(),
        1 => "[0-9]{1,20}",
        1 => "[A-Za-z0-9]{1,50}",
        1 => (0_usize..3000).prop_map(|length| "x".repeat(length)),
    ]
}

fn value() -> impl Strategy<Value = Value> {
    let scalar = prop_oneof![
        1 => Just(Value::Null),
        1 => any::<bool>().prop_map(Value::from),
        1 => any::<i64>().prop_map(Value::from),
        1 => any::<f64>().prop_map(Value::from),
        8 => text().prop_map(Value::from),
    ];
    scalar.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((member_name(), inner), 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

fn member_name() -> impl Strategy<Value = String> {
    let known = vec![
        "merchantData",
        "storeData",
        "tpnData",
        "merchantId",
        "storeId",
        "dba",
        "firstName",
        "tpnProcessor",
        "processorName",
        "profile",
        "profileId",
        "tpnBin",
        "Mid",
        "apiKey",
        "tpnAssignTemplate",
        "ebt",
        "lastName",
        "a.b",
        "x[0]",
        "",
    ];
    prop_oneof![8 => prop::sample::select(known).prop_map(str::to_owned), 1 => any::<String>()]
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        1 => Just(Change::Remove),
        1 => Just(Change::Replace(Value::Null)),
        4 => value().prop_map(Change::Replace),
        1 => (member_name(), value()).prop_map(|(name, value)| Change::Add(name, value)),
    ]
}

/// All places of a document but the root, as JSON pointers.
fn places(value: &Value, here: &str, found: &mut Vec<String>) {
    let mut visit = |name: &str, inner: &Value| {
        let place = format!("{here}/{}", name.replace('~', "~0").replace('/', "~1"));
        found.push(place.clone());
        places(inner, &place, found);
    };
    match value {
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(index, item)| visit(&index.to_string(), item));
        }
        Value::Object(members) => members.iter().for_each(|(name, inner)| visit(name, inner)),
        _ => {}
    }
}

fn apply(body: &mut Value, place: Index, change: Change) {
    let mut found = Vec::new();
    places(body, "", &mut found);
    if found.is_empty() {
        return;
    }
    let place = place.get(&found);
    let (parent, name) = place.rsplit_once('/').unwrap();
    let name = name.replace("~1", "/").replace("~0", "~");
    match (body.pointer_mut(parent).unwrap(), change) {
        (Value::Object(members), Change::Remove) => drop(members.shift_remove(&name)),
        (Value::Array(items), Change::Remove) => drop(items.remove(name.parse().unwrap())),
        (Value::Object(members), Change::Add(name, value)) => drop(members.insert(name, value)),
        (Value::Array(items), Change::Add(_, value)) => items.push(value),
        (Value::Object(members), Change::Replace(value)) => drop(members.insert(name, value)),
        (Value::Array(items), Change::Replace(value)) => {
            items[name.parse::<usize>().unwrap()] = value;
        }
        _ => unreachable!("only lists and objects have places in them"),
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Accepted,
    Refused,
}

/// Runs one body, and holds the database against the answer.
fn check(house: &House, sent: Value) -> Result<Verdict, TestCaseError> {
    let before = house.counts();
    let profiles = sent.pointer("/tpnData/tpnProcessor/profile").and_then(Value::as_array);
    let profiles = i64::try_from(profiles.map_or(0, Vec::len)).unwrap();
    let outcome = house.call("onboard_merchant", sent);
    let after = house.counts();
    match outcome.result {
        Ok(answer) => {
            let answer: Value = serde_json::from_slice(&answer).unwrap();
            let (merchants, stores) = match answer["message"].as_str() {
                Some("Merchant onboard successfully") => (1, 1),
                Some("Store onboard successfully") => (0, 1),
                Some("TPN onboard success") => (0, 0),
                other => return Err(TestCaseError::fail(format!("message {other:?}"))),
            };
            let expected = Counts {
                merchants: before.merchants + merchants,
                stores: before.stores + stores,
                tpns: before.tpns + 1,
                profiles: before.profiles + profiles,
                events: before.events + merchants + stores + 1,
            };
            prop_assert_eq!(after, expected);
            let (_, _, tpn) = house.read_back(&answer);
            prop_assert_eq!(&tpn["tpn"], &answer["data"]["tpn"]);
            Ok(Verdict::Accepted)
        }
        Err(Failure::Issues { issues, .. }) => {
            prop_assert!(!issues.is_empty());
            prop_assert_eq!(after, before);
            Ok(Verdict::Refused)
        }
        Err(failure) => Err(TestCaseError::fail(format!("{failure:?}"))),
    }
}

#[test]
fn every_base_body_is_accepted() {
    let house = House::new();
    for name in names() {
        let verdict = check(&house, house.staged_body(&name)).unwrap();
        assert_eq!(verdict, Verdict::Accepted, "{name}");
    }
}

#[test]
fn any_change_of_a_valid_body() {
    let house = House::new();
    house.platform.template_create(&house.iso_id, "RETAIL01", &json!({})).unwrap();
    let parents = house.onboard(body("minimal-cknx")).unwrap();
    let verdicts = RefCell::new(Vec::new());
    let changes = prop::collection::vec((any::<Index>(), change()), 1..4);
    let case = (prop::sample::select(names()), changes);
    let run = |(name, changes): (String, Vec<(Index, Change)>)| {
        let mut sent = body(&name);
        set_ids(&mut sent, &parents);
        for (place, change) in changes {
            apply(&mut sent, place, change);
        }
        let verdict = check(&house, sent)?;
        verdicts.borrow_mut().push(verdict);
        Ok(())
    };
    runner(600).run(&case, run).unwrap();
    // Neither side of the property went untested.
    let verdicts = verdicts.into_inner();
    let accepted = verdicts.iter().filter(|verdict| **verdict == Verdict::Accepted).count();
    assert!((10..590).contains(&accepted), "{accepted} of {} were accepted", verdicts.len());
}

#[test]
fn any_tree() {
    let house = House::new();
    runner(200).run(&value(), |tree| check(&house, tree).map(drop)).unwrap();
    let body = prop::collection::vec((member_name(), value()), 0..6)
        .prop_map(|members| Value::Object(members.into_iter().collect::<Map<_, _>>()));
    runner(200).run(&body, |body| check(&house, body).map(drop)).unwrap();
}

#[test]
fn any_id_can_be_asked_for() {
    let house = House::new();
    let ask = |id: String| {
        for (name, param) in
            [("merchant_get", "merchantId"), ("store_get", "storeId"), ("tpn_get", "tpn")]
        {
            match house.call(name, json!({ param: id })).result {
                Err(Failure::Issues { .. }) => prop_assert!(id.trim().is_empty()),
                Err(Failure::Error(error)) => prop_assert_eq!(error.kind(), Kind::NotFound),
                other => return Err(TestCaseError::fail(format!("{other:?}"))),
            }
        }
        Ok(())
    };
    runner(200).run(&text(), ask).unwrap();
}
