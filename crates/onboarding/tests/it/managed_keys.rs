//! Keys that software manages: no key hands out more than it has, and ISOs learn of keys that end.

use contract::Failure;
use db::outbox;
use onboarding::Caller;
use onboarding::caller::Reason;
use onboarding::keys::{KeyLife, NewKey};
use serde_json::{Value, json};
use types::{KeyId, Kind, Scope, ScopeSet, Secret};

use crate::support::{House, authenticate, error_lines, now};

fn call(house: &House, caller: &Caller, name: &str, params: Value) -> Result<Value, Vec<String>> {
    match house.call_as(caller, name, params).result {
        Ok(body) => Ok(serde_json::from_slice(&body).unwrap()),
        Err(Failure::Issues { issues, .. }) => Err(error_lines(&issues)),
        Err(Failure::Error(error)) if error.kind() == Kind::NotFound => Err(vec!["404".into()]),
        Err(failure) => panic!("{name}: {failure:?}"),
    }
}

/// The key of an answer, as its owner holds it.
fn held(answer: &Value) -> NewKey {
    NewKey {
        key_id: KeyId::new(answer["keyId"].as_str().unwrap()),
        text: Secret::new(answer["text"].as_str().unwrap().to_owned()),
        expires: None,
    }
}

/// A caller whose key has these scopes.
fn caller_with(house: &House, scopes: &[Scope]) -> Caller {
    let scopes = ScopeSet::Only(scopes.to_vec());
    let key = house.platform.key_create(&house.iso_id, "few", scopes.clone(), KeyLife::Forever);
    let ScopeSet::Only(scopes) = scopes else { unreachable!() };
    authenticate(house.runtime(), &house.platform, &key.unwrap(), scopes[0], now()).unwrap()
}

#[test]
fn a_key_is_made_used_rotated_and_revoked() {
    let house = House::new();
    let own = house.caller();
    let params = json!({ "name": "Till", "scopes": ["events.read"], "expiresInDays": 10 });
    let made = call(&house, own, "key_create", params).unwrap();
    let mut shown = made.clone();
    assert!(shown.as_object_mut().unwrap().remove("text").is_some());
    let id = made["keyId"].clone();
    assert_eq!(
        shown,
        json!({
            "keyId": id, "name": "Till", "scopes": ["events.read"], "allowedIps": [],
            "status": "live", "createdBy": format!("key:{}", house.key.key_id),
            "created": "2026-11-15T08:00:00Z", "expires": "2026-11-25T08:00:00Z",
            "revoked": null, "lastUsed": null, "lastIp": null,
        })
    );
    assert_eq!(call(&house, own, "key_get", json!({ "keyId": id })), Ok(shown));
    let scope = Scope::EventsRead;
    assert!(authenticate(house.runtime(), &house.platform, &held(&made), scope, now()).is_ok());
    let params = json!({ "keyId": id, "overlapHours": 1 });
    let rotated = call(&house, own, "key_rotate", params).unwrap();
    assert_eq!((&rotated["name"], &rotated["scopes"]), (&made["name"], &made["scopes"]));
    assert_ne!(rotated["keyId"], id);
    let old = call(&house, own, "key_get", json!({ "keyId": id })).unwrap();
    assert_eq!(old["expires"], "2026-11-15T09:00:00Z");
    let revoked = call(&house, own, "key_revoke", json!({ "keyId": id })).unwrap();
    assert_eq!(revoked["status"], "revoked");
    let again = call(&house, own, "key_rotate", json!({ "keyId": id }));
    assert_eq!(again, Err(vec!["invalid_value keyId".to_owned()]));
    let list = call(&house, own, "key_list", json!({})).unwrap();
    assert_eq!(list["data"].as_array().unwrap().len(), 3);
    assert!(!list.to_string().contains("text"));
    let audit = call(&house, own, "audit_list", json!({ "objectId": id })).unwrap();
    let actions: Vec<&str> =
        audit["data"].as_array().unwrap().iter().map(|e| e["action"].as_str().unwrap()).collect();
    assert_eq!(actions, ["key.revoke", "key.rotate", "key.create"]);
}

#[test]
fn no_key_hands_out_more_than_it_has() {
    let house = House::new();
    let few = caller_with(&house, &[Scope::KeysWrite, Scope::EventsRead]);
    let more = Err(vec!["invalid_value scopes".to_owned()]);
    let make = |scopes: Value| {
        call(&house, &few, "key_create", json!({ "name": "More", "scopes": scopes }))
    };
    assert_eq!(make(json!(["events.read", "onboard.write"])), more);
    let inherited = make(Value::Null).unwrap();
    assert_eq!(inherited["scopes"], json!(["keys.write", "events.read"]));
    assert_eq!(call(&house, &few, "key_rotate", json!({ "keyId": house.key.key_id })), more);
    let wrong = make(json!(["everything"]));
    assert_eq!(wrong, Err(vec!["invalid_value scopes[0]".to_owned()]));
}

#[test]
fn no_key_hands_out_more_networks_or_time_than_it_has() {
    let house = House::new();
    let params = json!({ "name": "Office", "expiresInDays": 10, "allowedIps": ["192.0.2.0/24"],
        "scopes": ["keys.write", "keys.read"] });
    let office = call(&house, house.caller(), "key_create", params).unwrap();
    let (header, address) = (format!("api-key {}", office["text"].as_str().unwrap()), "192.0.2.9");
    let asked = house.platform.authenticate(
        Some(header.as_bytes()),
        Scope::KeysWrite,
        Some(address.parse().unwrap()),
        now(),
    );
    let office = house.runtime().block_on(asked).unwrap().unwrap();
    let make = |more: Value| {
        let mut params = json!({ "name": "More" });
        params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        call(&house, &office, "key_create", params)
    };
    let inherited = make(json!({})).unwrap();
    assert_eq!(inherited["allowedIps"], json!(["192.0.2.0/24"]));
    assert_eq!(inherited["expires"], json!("2026-11-25T08:00:00Z"));
    let narrow = make(json!({ "allowedIps": ["192.0.2.7"], "expiresInDays": 9 })).unwrap();
    assert_eq!(narrow["allowedIps"], json!(["192.0.2.7"]));
    for (more, refused) in [
        (json!({ "allowedIps": ["192.0.0.0/16"] }), "invalid_value allowedIps"),
        (json!({ "allowedIps": ["192.0.2.7", "2001:db8::7"] }), "invalid_value allowedIps"),
        (json!({ "expiresInDays": 11 }), "invalid_value expiresInDays"),
        (json!({ "neverExpires": true }), "invalid_value expiresInDays"),
    ] {
        assert_eq!(make(more.clone()), Err(vec![refused.to_owned()]), "{more}");
    }
    let of_house = json!({ "keyId": house.key.key_id });
    let refused = call(&house, &office, "key_rotate", of_house);
    assert_eq!(refused, Err(vec!["invalid_value scopes".to_owned()]));
}

#[test]
fn another_isos_key_is_not_there() {
    let house = House::new();
    let other = house.caller_of_another_iso();
    for name in ["key_get", "key_rotate", "key_revoke"] {
        for key_id in [house.key.key_id.as_str(), "nosuchid", "\u{0}", &"x".repeat(3_000)] {
            let found = call(&house, &other, name, json!({ "keyId": key_id }));
            assert_eq!(found, Err(vec!["404".to_owned()]), "{name} {key_id}");
        }
    }
    assert!(house.get("key_list", json!({})).unwrap()["data"][0]["status"] == "live");
}

#[test]
fn ten_live_keys_are_enough() {
    let house = House::new();
    let make = || call(&house, house.caller(), "key_create", json!({ "name": "One more" }));
    let made: Vec<Value> = (0..9).map(|_| make().unwrap()).collect();
    assert_eq!(make(), Err(vec!["limit_exceeded ".to_owned()]));
    call(&house, house.caller(), "key_revoke", json!({ "keyId": made[0]["keyId"] })).unwrap();
    assert!(make().is_ok());
}

#[test]
fn a_key_works_from_its_networks_only() {
    let house = House::new();
    let params = json!({ "name": "Office", "allowedIps": ["192.0.2.0/24", "2001:db8::7"] });
    let made = call(&house, house.caller(), "key_create", params).unwrap();
    assert_eq!(made["allowedIps"], json!(["192.0.2.0/24", "2001:db8::7"]));
    let header = format!("api-key {}", made["text"].as_str().unwrap());
    for (address, is_fine) in [
        (Some("192.0.2.9"), true),
        (Some("::ffff:192.0.2.9"), true),
        (Some("2001:db8::7"), true),
        (Some("192.0.3.1"), false),
        (Some("2001:db8::8"), false),
        (None, false),
    ] {
        let address = address.map(|text| text.parse().unwrap());
        let (header, scope) = (Some(header.as_bytes()), Scope::EventsRead);
        let asked = house.platform.authenticate(header, scope, address, now());
        let answer = house.runtime().block_on(asked).unwrap();
        let reason = answer.err().map(|refused| refused.reason);
        assert_eq!(reason, (!is_fine).then_some(Reason::OtherAddress), "{address:?}");
    }
    let wrong = json!({ "name": "Office", "allowedIps": ["192.0.2.0/33"] });
    let refused = call(&house, house.caller(), "key_create", wrong);
    assert_eq!(refused, Err(vec!["invalid_format allowedIps[0]".to_owned()]));
}

#[test]
fn an_iso_learns_of_keys_that_end() {
    let house = House::new();
    let make = |days: i64| {
        let params = json!({ "name": "Ends", "expiresInDays": days });
        call(&house, house.caller(), "key_create", params).unwrap()["keyId"].clone()
    };
    let (soon, later) = (make(2), make(20));
    make(40);
    let rotated = make(300);
    call(&house, house.caller(), "key_rotate", json!({ "keyId": rotated })).unwrap();
    let warn = || house.runtime().block_on(house.platform.keys_warn()).unwrap();
    assert_eq!((warn(), warn()), (2, 0), "each once");
    house.platform.store.write_blocking(|conn| outbox::sequence(conn, 100)).unwrap();
    let events = house.get("event_list", json!({ "types": "key.*" })).unwrap();
    let told: Vec<(Value, Value)> = events["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|event| (event["data"]["id"].clone(), event["data"]["days"].clone()))
        .collect();
    assert_eq!(told, [(soon, json!(3)), (later, json!(30))]);
}
