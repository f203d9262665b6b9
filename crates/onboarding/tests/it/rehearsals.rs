//! What the sandbox has and production has not: a device that is not there, a clock that can be
//! moved, a fresh start; and limits of one ISO.

use std::time::Duration;

use contract::Permission;
use onboarding::Caller;
use onboarding::caller::{Reason, Visitor};
use onboarding::isos::limits::parse_change;
use serde_json::{Value, json};
use testkit::database::together;
use types::Scope;

use crate::bodies::{body, put};
use crate::support::{House, authenticate, now};

on_both_engines!(
    a_simulated_device_pairs_and_downloads,
    the_clock_brings_what_is_due,
    a_reset_takes_what_was_onboarded,
    quotas_hold_and_are_told_by_place,
    a_quota_holds_against_many_at_once,
);

fn request(dba: &str) -> Value {
    let mut request = body("full-tsys");
    put(&mut request, "merchantData.dba", json!(dba));
    put(&mut request, "storeData.dba", json!(dba));
    request
}

fn onboard(house: &House, dba: &str) -> Value {
    house.onboard(request(dba)).unwrap()["data"].clone()
}

fn code(house: &House, tpn: &Value) -> String {
    let made = house.ask("pairing_code_create", json!({ "tpn": tpn })).done();
    made["code"].as_str().unwrap().to_owned()
}

fn a_simulated_device_pairs_and_downloads(house: &House) {
    let made = onboard(house, "Pier");
    let code = code(house, &made["tpn"]);
    let named = json!({ "code": code });
    assert!(house.ask("simulated_download", named.clone()).is_not_found(), "not paired yet");
    let stranger = house.caller_of_another_iso();
    assert!(house.get_as(&stranger, "simulated_pair", named.clone()).is_none());
    let paired = house.ask("simulated_pair", named.clone()).done();
    assert_eq!(paired["tpn"], made["tpn"]);
    assert!(house.ask("simulated_pair", named.clone()).is_not_found(), "a code works once");
    let first = house.ask("simulated_download", named.clone()).done();
    assert_eq!(first["full"], true, "{first}");
    let tpn = house.ask("tpn_get", json!({ "tpn": made["tpn"] })).done();
    assert_eq!(tpn["status"], "active");
    let change = json!({ "tpn": made["tpn"], "expectedVersion": tpn["version"],
                         "parameters": { "tipEnabled": true } });
    house.ask("tpn_patch", change).done();
    let second = house.ask("simulated_download", named.clone()).done();
    assert_eq!(
        (&second["full"], &second["parameters"]),
        (&json!(false), &json!({"tipEnabled": true}))
    );
    let all = house.ask("simulated_download", json!({ "code": code, "full": true })).done();
    assert_eq!(all["full"], true);
    assert!(house.get_as(&stranger, "simulated_download", named).is_none());
    let token = paired["deviceToken"].as_str().unwrap();
    let header = format!("device-token {token}");
    let admitted = house.platform.admit(Some(header.as_bytes()), Permission::Device, None, now());
    let admitted = house.runtime().block_on(admitted).unwrap();
    assert!(matches!(admitted, Ok(Visitor::Device(..))), "the token is a real one");
}

fn the_clock_brings_what_is_due(house: &House) {
    let made = onboard(house, "SBX REVIEW Pier");
    let status = || house.ask("merchant_get", json!({ "merchantId": made["merchantId"] })).done();
    assert_eq!(status()["status"], "in_review");
    let code = code(house, &made["tpn"]);
    let moved = house.ask("clock_advance", json!({ "advanceSeconds": 61 })).done();
    assert_eq!(moved["aheadSeconds"], 61);
    assert_eq!(status()["status"], "active", "what was due has happened");
    // Codes live for a day, keys for a year; who is told of keys follows the clock as well.
    house.ask("clock_advance", json!({ "advanceSeconds": 24 * 3_600 })).done();
    let header = format!("pairing-code {code}");
    let admitted = house.platform.admit(Some(header.as_bytes()), Permission::Pairing, None, now());
    let refused = house.runtime().block_on(admitted).unwrap().expect_err("it has expired");
    assert_eq!(refused.reason, Reason::Expired);
    house.ask("clock_advance", json!({ "advanceSeconds": 340 * 24 * 3_600 })).done();
    let warned = house.events().iter().filter(|(kind, _)| kind == "key.expiring").count();
    assert_eq!(warned, 1);
    house.ask("clock_advance", json!({ "advanceSeconds": 30 * 24 * 3_600 })).done();
    let refused =
        authenticate(house.runtime(), &house.platform, &house.key, Scope::TpnsRead, now());
    assert_eq!(refused.expect_err("a year is over").reason, Reason::Expired);
    let too_far = json!({ "advanceSeconds": 31_622_400 });
    let mut ahead = 0;
    while house.call("clock_advance", too_far.clone()).result.is_ok() {
        ahead += 1;
        assert!(ahead < 10, "the clock has a bound");
    }
    let others = house.caller_of_another_iso();
    let clock = house.get_as(&others, "clock_get", json!({})).unwrap();
    assert_eq!(clock["aheadSeconds"], 0, "each ISO has a clock of its own");
}

fn a_reset_takes_what_was_onboarded(house: &House) {
    let others = house.caller_of_another_iso();
    let mut theirs = body("full-tsys");
    put(&mut theirs, "merchantData.dba", json!("Theirs"));
    house.onboard_as(&others, theirs).unwrap();
    for number in 0..3 {
        let made = onboard(house, &format!("Pier {number}"));
        let named = json!({ "code": code(house, &made["tpn"]) });
        house.ask("simulated_pair", named).done();
        house.ask("merchant_suspend", json!({ "merchantId": made["merchantId"] })).done();
    }
    onboard(house, "SBX REVIEW Pier");
    house.ask("clock_advance", json!({ "advanceSeconds": 10 })).done();
    let before = house.counts();
    let reset = house.ask("sandbox_reset", json!({})).done();
    assert_eq!(reset, json!({ "merchants": 4, "stores": 4, "tpns": 4, "complete": true }));
    let after = house.counts();
    assert_eq!((after.merchants, after.stores, after.tpns), (1, 1, 1), "others keep theirs");
    assert!(after.events > before.events, "the reset is told, and events stay");
    assert_eq!(house.run_due_work(3_600), 0, "nothing happens to what is gone");
    onboard(house, "Pier 0");
    let verified = house.ask("audit_verify", json!({})).done();
    assert_eq!(verified["valid"], true, "the audit log stays whole: {verified}");
    let header = format!("api-key {}", house.key.text.expose());
    let caller = house.platform.authenticate(
        Some(header.as_bytes()),
        Scope::TpnsRead,
        None,
        now().plus(Duration::from_secs(1)),
    );
    let caller = house.runtime().block_on(caller).unwrap().expect("keys stay");
    assert_eq!(caller.clock_ahead(), Duration::ZERO);
}

/// The caller as known once what a node remembers of callers has been forgotten.
fn caller_with_new_limits(house: &House) -> Caller {
    let header = format!("api-key {}", house.key.text.expose());
    let asked =
        || house.platform.authenticate(Some(header.as_bytes()), Scope::OnboardWrite, None, now());
    std::thread::sleep(Duration::from_secs(1));
    drop(house.runtime().block_on(asked()).unwrap());
    house.runtime().block_on(asked()).unwrap().unwrap()
}

fn a_quota_holds_against_many_at_once(house: &House) {
    let limit = [parse_change("merchants=1").unwrap()];
    house.platform.iso_limit(&house.iso_id, &limit).unwrap();
    let caller = caller_with_new_limits(house);
    let stored = together(8, |writer| {
        house.onboard_as(&caller, request(&format!("Rival {writer}"))).is_ok()
    });
    assert_eq!(stored.into_iter().filter(|is_stored| *is_stored).count(), 1);
    assert_eq!(house.counts().merchants, 1);
}

fn quotas_hold_and_are_told_by_place(house: &House) {
    let set = |changes: &[&str]| {
        let changes: Vec<_> = changes.iter().map(|text| parse_change(text).unwrap()).collect();
        house.platform.iso_limit(&house.iso_id, &changes)
    };
    let fresh = || caller_with_new_limits(house);
    assert!(set(&["merchant=1"]).is_err(), "there is no such limit");
    onboard(house, "First");
    set(&["merchants=1", "stores=3", "tpns=3"]).unwrap();
    let refused = house.onboard_as(&fresh(), request("Second")).expect_err("full");
    assert_eq!(refused.errors, ["limit_exceeded merchantData"]);
    set(&["merchants=none", "stores=1", "tpns=1", "onboardings=1"]).unwrap();
    let refused = house.onboard_as(&fresh(), request("Second")).expect_err("full");
    let expected = ["limit_exceeded ", "limit_exceeded storeData", "limit_exceeded tpnData"];
    assert_eq!(refused.errors, expected);
    let limits = set(&["stores=none", "tpns=2", "onboardings=none"]).unwrap();
    assert_eq!((limits.tpns, limits.stores), (Some(2), None));
    house.onboard_as(&fresh(), request("Second")).unwrap();
    let shown = house.ask("iso_get", json!({ "isoId": house.iso_id })).done();
    assert_eq!(shown["limits"]["tpns"], 2, "{shown}");
}
