//! Devices: codes that work once, tokens that end, parameters by layers and by difference.

use contract::Permission;
use onboarding::caller::DeviceCaller;
use onboarding::caller::Visitor;
use onboarding::rows::device::WRONG_TRIES_MAX;
use serde_json::{Value, json};
use types::Timestamp;

use crate::bodies::body;
use crate::support::{Answered, House, now};

on_both_engines!(
    a_code_works_once_and_for_a_while,
    a_code_withstands_so_many_wrong_tries,
    a_device_gets_its_parameters_and_their_changes,
    a_swapped_device_is_a_stranger,
    who_is_not_active_gets_nothing,
);

fn admit(
    house: &House,
    header: &str,
    permission: Permission,
    now: Timestamp,
) -> Option<DeviceCaller> {
    let admitted = house.platform.admit(Some(header.as_bytes()), permission, None, now);
    match house.runtime().block_on(admitted).unwrap() {
        Ok(Visitor::Device(device, _)) => Some(device),
        Ok(other) => panic!("{other:?} is no device"),
        Err(_) => None,
    }
}

fn code(house: &House, tpn: &Value) -> Option<String> {
    match house.ask("pairing_code_create", json!({ "tpn": tpn, "lifetimeMinutes": 60 })) {
        Answered::Done(body, _) => Some(body["code"].as_str().unwrap().to_owned()),
        _ => None,
    }
}

/// Uses the code and returns the device's token.
fn use_code(house: &House, code: &str, seconds: u64) -> Option<String> {
    let mut cx = house.later(seconds);
    cx.caller = None;
    cx.device = Some(admit(house, &format!("pairing-code {code}"), Permission::Pairing, cx.now)?);
    match house.call_in(&cx, "device_pair", json!({ "serialNumber": "SN 1" })) {
        Answered::Done(body, _) => Some(body["deviceToken"].as_str().unwrap().to_owned()),
        _ => None,
    }
}

pub(crate) fn try_pair(house: &House, tpn: &Value, seconds: u64) -> Option<String> {
    use_code(house, &code(house, tpn)?, seconds)
}

pub(crate) fn pair(house: &House, tpn: &Value, seconds: u64) -> String {
    try_pair(house, tpn, seconds).expect("it can be paired")
}

pub(crate) fn download(house: &House, token: &str, have: Option<&str>) -> Answered {
    let mut cx = house.later(0);
    let device = admit(house, &format!("Device-Token  {token}"), Permission::Device, cx.now);
    cx.device = Some(device.expect("the token is good"));
    cx.caller = None;
    house.call_in(&cx, "device_parameters_get", json!({ "have": have }))
}

fn onboard(house: &House) -> Value {
    house.onboard(body("full-tsys")).unwrap()["data"].clone()
}

fn a_code_works_once_and_for_a_while(house: &House) {
    let tpn = onboard(house)["tpn"].clone();
    let first = code(house, &tpn).unwrap();
    assert!(first.len() == 8 && first.bytes().all(|byte| byte.is_ascii_alphanumeric()), "{first}");
    let second = code(house, &tpn).unwrap();
    assert_eq!(use_code(house, &first, 0), None, "the newer one counts");
    assert_eq!(use_code(house, &second, 3_600), None, "too late");
    assert_eq!(use_code(house, "AAAAAAAA", 0), None);
    let token = use_code(house, &second.to_lowercase(), 3_599).unwrap();
    assert_eq!(use_code(house, &second, 0), None, "used up");
    assert_eq!(code(house, &tpn), None, "a device is there");
    let shown = house.ask("tpn_get", json!({ "tpn": tpn })).done();
    assert_eq!(shown["status"], "active");
    assert_eq!(shown["device"]["serialNumber"], "SN 1");
    assert!(!shown.to_string().contains(&token));
    let kinds: Vec<String> = house.events().into_iter().map(|(kind, _)| kind).collect();
    assert_eq!(kinds[kinds.len() - 2..], ["tpn.activated", "device.bound"]);
    for header in ["device-token", "device-token x", "api-key x", "", "pairing-code \u{e9}"] {
        assert!(admit(house, header, Permission::Device, now()).is_none(), "{header}");
    }
}

/// The code with its last character replaced: it begins as the right one does.
fn near_miss(code: &str) -> String {
    let last = if code.ends_with('Z') { 'Y' } else { 'Z' };
    format!("{}{last}", &code[..code.len() - 1])
}

fn a_code_withstands_so_many_wrong_tries(house: &House) {
    let (first, second) = (onboard(house)["tpn"].clone(), onboard(house)["tpn"].clone());
    let (tried, other) = (code(house, &first).unwrap(), code(house, &second).unwrap());
    for _ in 1..WRONG_TRIES_MAX {
        assert_eq!(use_code(house, &near_miss(&tried), 0), None);
    }
    let header = format!("pairing-code {tried}");
    let is_right = || admit(house, &header, Permission::Pairing, now()).is_some();
    assert!(is_right() && is_right(), "one try is left, and right ones cost none");
    assert_eq!(use_code(house, &near_miss(&tried), 0), None);
    assert!(!is_right(), "it was tried too often");
    assert_eq!(use_code(house, &tried, 0), None);
    assert!(use_code(house, &other, 0).is_some(), "others were not tried");
    let next = code(house, &first).unwrap();
    assert!(use_code(house, &next, 0).is_some(), "a new code begins anew");
}

fn a_device_gets_its_parameters_and_their_changes(house: &House) {
    let tpn = onboard(house)["tpn"].clone();
    let token = pair(house, &tpn, 0);
    let full = download(house, &token, None).done();
    assert_eq!((&full["full"], &full["parameters"]["tipEnabled"]), (&json!(true), &json!(false)));
    assert_eq!(full["processorName"], "TSYS");
    let version = full["version"].as_str().unwrap();
    let same = download(house, &token, Some(version)).done();
    assert_eq!((&same["full"], &same["parameters"]), (&json!(false), &json!({})));
    let patch = json!({
        "tpn": tpn, "expectedVersion": 2, "parameters": { "tipEnabled": true, "language": "es" },
    });
    house.ask("tpn_patch", patch).done();
    let changed = download(house, &token, Some(version)).done();
    assert_eq!(changed["parameters"], json!({ "tipEnabled": true, "language": "es" }));
    assert_ne!(changed["version"], full["version"]);
    let forgotten = download(house, &token, Some(version)).done();
    assert_eq!(forgotten["full"], true, "only the last version is remembered");
    let shown = house.ask("tpn_get", json!({ "tpn": tpn })).done();
    assert_eq!(shown["device"]["lastSeen"], crate::support::NOW);
}

fn a_swapped_device_is_a_stranger(house: &House) {
    let tpn = onboard(house)["tpn"].clone();
    let token = pair(house, &tpn, 0);
    let swap = || house.ask("tpn_swap", json!({ "tpn": tpn }));
    assert_eq!(swap().refused(), ["illegal_transition "]);
    house.ask("tpn_deactivate", json!({ "tpn": tpn })).done();
    let code = swap().done()["code"].as_str().unwrap().to_owned();
    assert!(admit(house, &format!("device-token {token}"), Permission::Device, now()).is_none());
    let next = use_code(house, &code, 0).unwrap();
    let shown = house.ask("tpn_get", json!({ "tpn": tpn })).done();
    assert_eq!(shown["status"], "inactive");
    assert_eq!(download(house, &next, None).refused(), ["not_active "]);
    assert_eq!(house.ask("tpn_activate", json!({ "tpn": tpn })).done()["status"], "active");
    download(house, &next, None).done();
    house.ask("tpn_retire", json!({ "tpn": tpn })).done();
    assert!(admit(house, &format!("device-token {next}"), Permission::Device, now()).is_none());
}

fn who_is_not_active_gets_nothing(house: &House) {
    let made = onboard(house);
    let token = pair(house, &made["tpn"], 0);
    house.ask("merchant_suspend", json!({ "merchantId": made["merchantId"] })).done();
    assert_eq!(download(house, &token, None).refused(), ["not_active "]);
    house.ask("merchant_resume", json!({ "merchantId": made["merchantId"] })).done();
    download(house, &token, None).done();
    house.ask("store_deactivate", json!({ "storeId": made["storeId"] })).done();
    assert_eq!(download(house, &token, None).refused(), ["not_active "]);
}
