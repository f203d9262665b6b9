//! The list of events: complete, in order, and only the ISO's own.

use db::outbox;
use serde_json::{Value, json};

use crate::bodies::body;
use crate::support::House;

fn number_all(house: &House) {
    let number = |conn: &mut dyn db::Conn| outbox::sequence(conn, 1_000);
    house.platform.store.write_blocking(number).unwrap();
}

fn kinds(list: &Value) -> Vec<&str> {
    list["data"].as_array().unwrap().iter().map(|e| e["type"].as_str().unwrap()).collect()
}

#[test]
fn an_onboarding_is_three_events() {
    let house = House::new();
    let answer = house.onboard(body("full-cknx")).unwrap();
    let list = house.get("event_list", json!({})).unwrap();
    assert_eq!(list, json!({ "data": [], "next": 0, "hasMore": false, "oldest": null }));
    number_all(&house);
    let list = house.get("event_list", json!({})).unwrap();
    assert_eq!(kinds(&list), ["merchant.created", "store.created", "tpn.created"]);
    assert_eq!((&list["next"], &list["oldest"]), (&json!(3), &json!(1)));
    let first = &list["data"][0];
    let id = first["id"].as_str().unwrap();
    assert!(id.starts_with("evt_") && id.len() == 36, "{id}");
    let merchant_id = &answer["data"]["merchantId"];
    assert_eq!(
        first,
        &json!({
            "type": "merchant.created", "timestamp": "2026-11-15T08:00:00Z", "id": id,
            "sequence": 1, "environment": "sandbox",
            "data": {
                "object": "merchant", "id": merchant_id, "merchantId": merchant_id,
                "status": "active", "version": 1, "changed": [],
            },
        })
    );
    let again = house.get("event_list", json!({})).unwrap();
    assert_eq!(list, again, "ids stay");
}

#[test]
fn pages_go_on_after_the_last_number() {
    let house = House::new();
    let other = house.caller_of_another_iso();
    for _ in 0..2 {
        house.onboard(body("minimal-cknx")).unwrap();
        house.onboard_as(&other, body("minimal-cknx")).unwrap();
    }
    number_all(&house);
    let mut seen = Vec::new();
    let mut after = json!(0);
    loop {
        let page = house.get("event_list", json!({ "after": after, "limit": 4 })).unwrap();
        let numbers = page["data"].as_array().unwrap().iter();
        seen.extend(numbers.map(|event| event["sequence"].as_i64().unwrap()));
        after = page["next"].clone();
        if page["hasMore"] == false {
            break;
        }
    }
    assert_eq!(seen, [1, 2, 3, 4, 5, 6], "no gaps, although others write, too");
    let none = house.get("event_list", json!({ "after": after })).unwrap();
    assert_eq!((kinds(&none).len(), &none["next"]), (0, &json!(6)));
    let some = house.get("event_list", json!({ "types": "store.*,tpn.created" })).unwrap();
    let expected = ["store.created", "tpn.created", "store.created", "tpn.created"];
    assert_eq!(kinds(&some), expected);
    let theirs = house.get_as(&other, "event_list", json!({})).unwrap();
    assert_eq!(kinds(&theirs).len(), 6);
    let own = house.get("event_list", json!({})).unwrap();
    assert_ne!(theirs["data"][0]["id"], own["data"][0]["id"]);
}
