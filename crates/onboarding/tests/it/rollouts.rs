//! Versions of templates on their way to terminals: chosen, followed, stopped.

use serde_json::{Value, json};

use crate::bodies::body_with;
use crate::devices::{download, pair};
use crate::support::House;

on_both_engines!(
    a_version_reaches_its_devices,
    a_stopped_rollout_leaves_the_rest_as_it_was,
    what_is_changed_meanwhile_is_awaited_no_more,
    what_cannot_be_rolled_out_is_refused,
);

/// Three terminals of three stores with version 1 of a template that has version 2.
fn terminals(house: &House) -> Vec<Value> {
    house.ask("template_create", json!({ "name": "RETAIL01", "parameters": {} })).done();
    let changes = [("tpnData.tpnAssignTemplate", json!("RETAIL01"))];
    let made = (0..3).map(|_| house.onboard(body_with("full-cknx", &changes)).unwrap());
    let made = made.map(|answer| answer["data"].clone()).collect();
    let second = json!({ "taxEnabled": true });
    let patch = json!({ "name": "RETAIL01", "expectedVersion": 1, "parameters": second });
    house.ask("template_patch", patch).done();
    made
}

fn start(house: &House, mut chosen: Value) -> Value {
    chosen["name"] = json!("RETAIL01");
    house.ask("rollout_start", chosen).done()
}

fn version(house: &House, terminal: &Value) -> Value {
    house.ask("tpn_get", json!({ "tpn": terminal["tpn"] })).done()["templateVersion"].clone()
}

fn patch(house: &House, terminal: &Value, mut change: Value) {
    let shown = house.ask("tpn_get", json!({ "tpn": terminal["tpn"] })).done();
    change["tpn"] = shown["tpn"].clone();
    change["expectedVersion"] = shown["version"].clone();
    house.ask("tpn_patch", change).done();
}

/// State of the roll-out, and its TPNs that are pending, downloaded, stopped and replaced.
fn counts(house: &House, rollout: &Value) -> (String, [i64; 4]) {
    let id = json!({ "rolloutId": rollout["rolloutId"] });
    let shown = house.ask("rollout_get", id).done();
    let count = |name: &str| shown[name].as_i64().unwrap();
    let status = shown["status"].as_str().unwrap().to_owned();
    (status, ["pending", "downloaded", "stopped", "replaced"].map(count))
}

fn a_version_reaches_its_devices(house: &House) {
    let terminals = terminals(house);
    // What the device has for itself outranks the template, so nothing changes for it.
    patch(house, &terminals[0], json!({ "parameters": { "taxEnabled": true } }));
    let tokens = [0, 1].map(|place| pair(house, &terminals[place]["tpn"], 0));
    for token in &tokens {
        download(house, token, None).done();
    }
    let used = || house.ask("template_get", json!({ "name": "RETAIL01" })).done()["usedBy"].clone();
    assert_eq!(used(), json!([{ "version": 1, "tpns": 3 }]));
    let rollout = start(house, json!({}));
    assert_eq!((&rollout["version"], &rollout["template"]), (&json!(2), &json!("RETAIL01")));
    assert_eq!(counts(house, &rollout), ("running".into(), [3, 0, 0, 0]));
    assert_eq!(used(), json!([{ "version": 2, "tpns": 3 }]));

    download(house, &tokens[0], None).done();
    assert_eq!(counts(house, &rollout), ("running".into(), [2, 1, 0, 0]));
    let given = download(house, &tokens[1], None).done();
    assert_eq!(given["parameters"]["taxEnabled"], true);
    download(house, &tokens[1], None).done();
    assert_eq!(counts(house, &rollout), ("running".into(), [1, 2, 0, 0]));
    let page = |wanted: Value| house.ask("rollout_tpns", wanted).done();
    let id = rollout["rolloutId"].clone();
    let waiting = page(json!({ "rolloutId": id, "state": "pending" }));
    let [waiting] = waiting["data"].as_array().unwrap().as_slice() else { panic!("{waiting}") };
    assert_eq!((&waiting["tpn"], &waiting["device"]), (&terminals[2]["tpn"], &Value::Null));
    assert_eq!(
        (&waiting["storeId"], &waiting["previousVersion"]),
        (&terminals[2]["storeId"], &json!(1))
    );
    let first = page(json!({ "rolloutId": id, "limit": 2 }));
    let rest = page(json!({ "rolloutId": id, "limit": 2, "cursor": first["nextCursor"] }));
    let length = |page: &Value| page["data"].as_array().unwrap().len();
    assert_eq!((length(&first), length(&rest)), (2, 1));

    let late = pair(house, &terminals[2]["tpn"], 0);
    download(house, &late, None).done();
    assert_eq!(counts(house, &rollout), ("finished".into(), [0, 3, 0, 0]));
    let stop = json!({ "rolloutId": id });
    assert_eq!(house.ask("rollout_stop", stop).refused(), ["illegal_transition "]);
    let other = house.caller_of_another_iso();
    assert_eq!(house.get_as(&other, "rollout_get", json!({ "rolloutId": id })), None);
}

fn a_stopped_rollout_leaves_the_rest_as_it_was(house: &House) {
    let terminals = terminals(house);
    let token = pair(house, &terminals[0]["tpn"], 0);
    let chosen = json!([terminals[0]["tpn"], terminals[1]["tpn"], terminals[1]["tpn"]]);
    let rollout = start(house, json!({ "tpns": chosen }));
    download(house, &token, None).done();
    assert_eq!(counts(house, &rollout), ("running".into(), [1, 1, 0, 0]));
    let stop = json!({ "rolloutId": rollout["rolloutId"], "reason": "wrong tax" });
    let stopped = house.ask("rollout_stop", stop).done();
    assert_eq!((&stopped["status"], &stopped["reason"]), (&json!("stopped"), &json!("wrong tax")));
    assert_eq!(counts(house, &rollout), ("stopped".into(), [0, 1, 1, 0]));
    let versions = [0, 1, 2].map(|place| version(house, &terminals[place]));
    assert_eq!(versions, [json!(2), json!(1), json!(1)]);
    let kinds: Vec<String> = house.events().into_iter().map(|(kind, _)| kind).collect();
    let ours = kinds.iter().filter(|kind| kind.starts_with("rollout."));
    assert_eq!(ours.collect::<Vec<_>>(), ["rollout.started", "rollout.stopped"]);
    let audit = house.ask("audit_list", json!({ "action": "rollout.stop" })).done();
    assert_eq!(audit["data"][0]["reason"], "wrong tax", "{audit}");

    // The next one goes to one store, and to all that are left.
    let by_store = start(house, json!({ "storeIds": [terminals[2]["storeId"]] }));
    assert_eq!(counts(house, &by_store), ("running".into(), [1, 0, 0, 0]));
    let stores = house.ask("template_stores", json!({ "name": "RETAIL01" })).done();
    let stores = stores["data"].as_array().unwrap();
    assert!(stores.len() == 3 && stores.iter().all(|store| store["tpns"] == 1), "{stores:?}");
    let rest = start(house, json!({}));
    assert_eq!(counts(house, &rest), ("running".into(), [1, 0, 0, 0]));
    let listed = house.ask("rollout_list", json!({ "name": "RETAIL01" })).done();
    assert_eq!(listed["data"].as_array().unwrap().len(), 3);
    let users = house.ask("template_tpns", json!({ "name": "RETAIL01" })).done();
    assert_eq!(users["data"].as_array().unwrap().len(), 3);
}

fn what_is_changed_meanwhile_is_awaited_no_more(house: &House) {
    let terminals = terminals(house);
    let first = start(house, json!({}));
    patch(house, &terminals[0], json!({ "templateVersion": 1 }));
    house.ask("tpn_retire", json!({ "tpn": terminals[1]["tpn"] })).done();
    assert_eq!(counts(house, &first), ("running".into(), [1, 0, 0, 2]));
    // Another roll-out takes over, and it alone goes back.
    let second = start(house, json!({ "version": 1, "tpns": [terminals[2]["tpn"]] }));
    assert_eq!(counts(house, &first), ("finished".into(), [0, 0, 0, 3]));
    house.ask("rollout_stop", json!({ "rolloutId": second["rolloutId"] })).done();
    assert_eq!(version(house, &terminals[2]), 2);
    assert_eq!(version(house, &terminals[0]), 1);
}

fn what_cannot_be_rolled_out_is_refused(house: &House) {
    let terminals = terminals(house);
    let tpn = &terminals[0]["tpn"];
    let plain = house.onboard(crate::bodies::body("full-cknx")).unwrap()["data"].clone();
    for (mut wanted, error) in [
        (json!({ "version": 3 }), "invalid_value version"),
        (json!({ "version": 1 }), "illegal_transition "),
        (json!({ "tpns": [tpn, plain["tpn"]] }), "not_found tpns[1]"),
        (json!({ "storeIds": ["NOSUCHSTORE1"] }), "not_found storeIds[0]"),
        (json!({ "storeIds": [plain["storeId"]] }), "illegal_transition "),
        (json!({ "tpns": [tpn], "storeIds": [plain["storeId"]] }), "conflicting_field storeIds"),
    ] {
        wanted["name"] = json!("RETAIL01");
        assert_eq!(house.ask("rollout_start", wanted).refused(), [error]);
    }
    for (name, key) in [("rollout_get", "rolloutId"), ("rollout_stop", "rolloutId")] {
        assert!(house.ask(name, json!({ key: "roll\u{0}" })).is_not_found(), "{name}");
    }
    assert!(house.ask("rollout_start", json!({ "name": "NOSUCH" })).is_not_found());
    assert_eq!(version(house, &terminals[0]), 1);
}
