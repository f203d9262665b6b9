//! States: every step of the tables, its effects, and no way out of them.

use onboarding::merchants::Review;
use onboarding::{Settings, lifecycle};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};
use types::MerchantId;

use crate::bodies::{body, body_with};
use crate::support::House;

const DAY: u64 = 24 * 3_600;

on_both_engines!(
    a_suspended_merchant_suspends_in_effect,
    closing_a_merchant_closes_all_below,
    names_become_free_after_a_while,
    closing_a_store_releases_its_tpns,
    credentials_go_with_their_tpn,
    the_sandbox_decides_later,
    no_sequence_of_calls_reaches_an_undefined_state,
);

struct Made {
    merchant: Value,
    store: Value,
    tpn: Value,
}

fn make(house: &House, changes: &[(&str, Value)]) -> Made {
    let data = house.onboard(body_with("full-tsys", changes)).unwrap()["data"].clone();
    Made {
        merchant: json!({ "merchantId": data["merchantId"] }),
        store: json!({ "storeId": data["storeId"] }),
        tpn: json!({ "tpn": data["tpn"] }),
    }
}

fn with(params: &Value, name: &str, value: Value) -> Value {
    let mut params = params.clone();
    params[name] = value;
    params
}

fn statuses(house: &House, made: &Made) -> [String; 3] {
    let status = |name: &str, params: &Value| {
        house.ask(name, params.clone()).done()["status"].as_str().unwrap().to_owned()
    };
    [
        status("merchant_get", &made.merchant),
        status("store_get", &made.store),
        status("tpn_get", &made.tpn),
    ]
}

fn a_suspended_merchant_suspends_in_effect(house: &House) {
    let made = make(house, &[]);
    let reason = with(&made.merchant, "reason", json!("chargebacks"));
    let suspended = house.ask("merchant_suspend", reason).done();
    assert_eq!(suspended["statusReason"], "chargebacks");
    assert_eq!(statuses(house, &made), ["suspended", "active", "provisioned"]);
    let tpn = house.ask("tpn_get", made.tpn.clone()).done();
    let store = house.ask("store_get", made.store.clone()).done();
    assert_eq!(
        (&tpn["effectiveStatus"], &store["effectiveStatus"]),
        (&json!("suspended"), &json!("suspended"))
    );
    let again = house.ask("merchant_suspend", made.merchant.clone());
    assert_eq!(again.refused(), ["illegal_transition "]);
    let resumed = house.ask("merchant_resume", made.merchant.clone()).done();
    assert_eq!((&resumed["status"], &resumed["statusReason"]), (&json!("active"), &Value::Null));
    let stale = with(&made.merchant, "expectedVersion", json!(2));
    assert_eq!(
        house.ask("merchant_suspend", stale).refused(),
        ["version_mismatch expectedVersion"]
    );
    let kinds: Vec<String> = house.events().into_iter().skip(3).map(|(kind, _)| kind).collect();
    assert_eq!(kinds, ["merchant.suspended", "merchant.resumed"]);
}

fn closing_a_merchant_closes_all_below(house: &House) {
    let made = make(house, &[]);
    pair(house, &made);
    assert_eq!(statuses(house, &made), ["active", "active", "active"]);
    assert_eq!(house.ask("merchant_close", made.merchant.clone()).refused(), ["active_tpns force"]);
    let before = house.events().len();
    house.ask("merchant_close", with(&made.merchant, "force", json!(true))).done();
    assert_eq!(statuses(house, &made), ["closed", "closed", "retired"]);
    let mut kinds: Vec<String> =
        house.events().into_iter().skip(before).map(|(kind, _)| kind).collect();
    kinds.sort();
    assert_eq!(kinds, ["merchant.closed", "store.closed", "tpn.retired"]);
    let patch = with(&with(&made.merchant, "expectedVersion", json!(2)), "dba", json!("Again"));
    assert_eq!(house.ask("merchant_patch", patch).refused(), ["illegal_transition "]);
}

/// Pairs a device with the TPN and returns its token.
fn pair(house: &House, made: &Made) -> String {
    crate::devices::pair(house, &made.tpn["tpn"], 0)
}

fn names_become_free_after_a_while(house: &House) {
    let names = [("merchantData.dba", json!("Taken")), ("storeData.dba", json!("Taken store"))];
    let made = make(house, &names);
    house.ask("merchant_close", made.merchant.clone()).done();
    let again = || house.onboard(body_with("full-tsys", &names));
    let taken = ["already_exists merchantData.dba", "already_exists storeData.dba"];
    assert_eq!(again().unwrap_err().errors, taken);
    assert_eq!(house.run_due_work(30 * DAY - 1), 0);
    assert_eq!(house.run_due_work(30 * DAY), 3, "two names and the credentials");
    assert_eq!(house.run_due_work(30 * DAY), 0, "each happens once");
    assert!(again().is_ok());
    let shown = house.ask("merchant_get", made.merchant.clone()).done();
    assert_eq!((&shown["dba"], &shown["status"]), (&json!("Taken"), &json!("closed")));
}

fn closing_a_store_releases_its_tpns(house: &House) {
    let made = make(house, &[]);
    assert_eq!(house.ask("store_close", made.store.clone()).refused(), ["illegal_transition "]);
    house.ask("store_deactivate", made.store.clone()).done();
    house.ask("store_close", made.store.clone()).done();
    assert_eq!(statuses(house, &made), ["active", "closed", "inactive"]);
    let tpn = house.ask("tpn_get", made.tpn.clone()).done();
    assert_eq!((&tpn["storeId"], &tpn["effectiveStatus"]), (&Value::Null, &json!("inactive")));
    assert_eq!(house.ask("tpn_activate", made.tpn.clone()).refused(), ["not_active "]);
    let mut staged = body("store-and-tpn-cknx");
    staged["merchantData"]["merchantId"] = made.merchant["merchantId"].clone();
    let second = house.onboard(staged).unwrap()["data"]["storeId"].clone();
    let foreign = make(house, &[]);
    for (store, error) in [
        (&made.store["storeId"], "inactive_parent storeId"),
        (&foreign.store["storeId"], "store_mismatch storeId"),
        (&json!("000000000000"), "not_found storeId"),
    ] {
        let params = with(&made.tpn, "storeId", store.clone());
        assert_eq!(house.ask("tpn_reassign", params).refused(), [error]);
    }
    let moved = house.ask("tpn_reassign", with(&made.tpn, "storeId", second.clone())).done();
    assert_eq!((&moved["status"], &moved["storeId"]), (&json!("reassigning"), &second));
    pair(house, &made);
    assert_eq!(statuses(house, &made)[2], "active");
}

fn credentials_go_with_their_tpn(house: &House) {
    let data = house.onboard(body("full-zcrd")).unwrap()["data"].clone();
    let reveal = json!({ "tpn": data["tpn"], "profileId": "01", "reason": "look" });
    house.ask("tpn_retire", json!({ "tpn": data["tpn"] })).done();
    house.ask("profile_reveal", reveal.clone()).done();
    assert_eq!(house.run_due_work(30 * DAY), 1);
    assert_eq!(house.ask("profile_reveal", reveal).refused(), ["illegal_transition "]);
}

fn the_sandbox_decides_later(house: &House) {
    let dba = |name: &str| [("merchantData.dba", json!(name))];
    let review = make(house, &dba("SBX REVIEW one"));
    let reject = make(house, &dba("sbx reject two"));
    let suspend = make(house, &dba("SBX SUSPEND three"));
    let refused = make(house, &[("tpnData.tpnProcessor.profile[0].Mid", json!("999999999999"))]);
    assert_eq!(statuses(house, &review)[0], "in_review");
    assert_eq!(statuses(house, &reject)[0], "in_review");
    assert_eq!(statuses(house, &suspend)[0], "active");
    let tpn = house.ask("tpn_get", review.tpn.clone()).done();
    assert_eq!(tpn["effectiveStatus"], "in_review");
    assert_eq!(house.run_due_work(29), 0);
    assert_eq!(house.run_due_work(30), 1);
    assert_eq!(statuses(house, &refused)[2], "attention");
    let tpn = house.ask("tpn_get", refused.tpn.clone()).done();
    assert_eq!(tpn["tpnProcessor"]["profile"][0]["status"], "failed");
    assert_eq!(house.run_due_work(60), 3);
    assert_eq!(statuses(house, &review)[0], "active");
    assert_eq!(statuses(house, &reject)[0], "rejected");
    assert_eq!(statuses(house, &suspend)[0], "suspended");
    let verify = json!({ "tpn": refused.tpn["tpn"], "profileId": "01", "verified": true });
    assert_eq!(house.ask("profile_verify", verify).done()["status"], "provisioned");
}

#[test]
fn a_review_may_ask_for_more() {
    let house = House::with_settings(Settings { review_merchants: true, ..Settings::default() });
    let made = make(&house, &[]);
    assert_eq!(statuses(&house, &made)[0], "in_review");
    let id = MerchantId::new(made.merchant["merchantId"].as_str().unwrap());
    let review = |review: Review| house.platform.merchant_review(&house.iso_id, &id, review, None);
    let fields =
        |names: &[&str]| Review::Ask(names.iter().map(|name| (*name).to_owned()).collect());
    assert!(review(fields(&[])).is_err() && review(fields(&["shoeSize"])).is_err());
    assert_eq!(review(fields(&["merchantLogoUrl", "phoneNumber"])).unwrap(), "action_required");
    let lacking = |code: &str| -> Vec<String> {
        let view = house.ask("merchant_requirements", made.merchant.clone()).done();
        let list = view["requirements"].as_array().unwrap().clone();
        let told = list.iter().filter(|one| one["code"] == code);
        told.map(|one| one["param"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(lacking("data_needed"), ["merchantLogoUrl", "phoneNumber"]);
    assert_eq!(lacking("device_needed"), [made.tpn["tpn"].as_str().unwrap()]);
    let patch = |version: i64, field: &str, value: &str| {
        let params = with(&made.merchant, "expectedVersion", json!(version));
        house.ask("merchant_patch", with(&params, field, json!(value))).done()
    };
    let first = patch(2, "phoneNumber", "9175550123");
    assert_eq!(first["status"], "action_required");
    assert_eq!(lacking("data_needed"), ["merchantLogoUrl"]);
    assert_eq!(patch(3, "merchantLogoUrl", "https://cdn.example.com/l.png")["status"], "in_review");
    assert_eq!((lacking("data_needed").len(), lacking("review_pending").len()), (0, 1));
    assert_eq!(review(Review::Approve).unwrap(), "active");
    assert!(review(Review::Reject).is_err(), "an active merchant is not in review");
}

/// Calls that may or may not be allowed at their time.
fn calls() -> impl Strategy<Value = Vec<usize>> {
    proptest::collection::vec(0..CALLS.len(), 1..25)
}

const CALLS: [&str; 14] = [
    "merchant_suspend",
    "merchant_resume",
    "merchant_close",
    "store_deactivate",
    "store_activate",
    "store_close",
    "tpn_deactivate",
    "tpn_activate",
    "tpn_retire",
    "tpn_reassign",
    "tpn_swap",
    "pair",
    "fail",
    "recover",
];

fn no_sequence_of_calls_reaches_an_undefined_state(house: &House) {
    let config =
        ProptestConfig { cases: 20, failure_persistence: None, ..ProptestConfig::default() };
    TestRunner::new(config)
        .run(&calls(), |calls| {
            let made = make(house, &[]);
            let mut versions = [1; 3];
            for call in calls {
                let before = statuses(house, &made);
                let offered = is_offered(house, &made, CALLS[call]);
                let moved = perform(house, &made, CALLS[call]);
                prop_assert!(offered || !moved, "{} was accepted, not offered", CALLS[call]);
                let after = statuses(house, &made);
                prop_assert!(moved || before == after, "a refused {} moved", CALLS[call]);
                check_known(&after)?;
                versions = check_versions(house, &made, versions)?;
            }
            Ok(())
        })
        .unwrap();
}

/// Whether the object's `actions` have the call. Those without a route of their own are not there.
fn is_offered(house: &House, made: &Made, call: &str) -> bool {
    let Some((object, action)) = call.split_once('_') else { return true };
    let params = match object {
        "merchant" => &made.merchant,
        "store" => &made.store,
        _ => &made.tpn,
    };
    let shown = house.ask(&format!("{object}_get"), params.clone()).done();
    shown["actions"].as_array().unwrap().contains(&json!(action))
}

/// Makes the call and says whether it was accepted.
fn perform(house: &House, made: &Made, call: &str) -> bool {
    let verify =
        |verified: bool| json!({ "tpn": made.tpn["tpn"], "profileId": "01", "verified": verified });
    let (name, params) = match call {
        "merchant_suspend" | "merchant_resume" => (call, made.merchant.clone()),
        "merchant_close" => (call, with(&made.merchant, "force", json!(true))),
        "tpn_reassign" => (call, with(&made.tpn, "storeId", made.store["storeId"].clone())),
        "pair" => return crate::devices::try_pair(house, &made.tpn["tpn"], 0).is_some(),
        "fail" => ("profile_verify", verify(false)),
        "recover" => ("profile_verify", verify(true)),
        store if store.starts_with("store") => (call, made.store.clone()),
        _ => (call, made.tpn.clone()),
    };
    matches!(house.ask(name, params), crate::support::Answered::Done(..))
}

fn check_known(statuses: &[String; 3]) -> Result<(), TestCaseError> {
    let machines = [&lifecycle::MERCHANT, &lifecycle::STORE, &lifecycle::TPN];
    for (status, machine) in statuses.iter().zip(machines) {
        prop_assert!(machine.states.contains(&status.as_str()), "{status}");
    }
    if statuses[0] == "closed" {
        prop_assert_eq!((statuses[1].as_str(), statuses[2].as_str()), ("closed", "retired"));
    }
    Ok(())
}

/// Versions only grow, and each is told by an event of its own.
fn check_versions(house: &House, made: &Made, before: [i64; 3]) -> Result<[i64; 3], TestCaseError> {
    let version = |name: &str, params: &Value| {
        house.ask(name, params.clone()).done()["version"].as_i64().unwrap()
    };
    let after = [
        version("merchant_get", &made.merchant),
        version("store_get", &made.store),
        version("tpn_get", &made.tpn),
    ];
    for (before, after) in before.iter().zip(&after) {
        prop_assert!(before <= after && *after <= before + 2, "{before} {after}");
    }
    Ok(after)
}

#[test]
fn what_can_be_done_is_told() {
    let house = House::new();
    let made = make(&house, &[]);
    let offered =
        |name: &str, params: &Value| house.ask(name, params.clone()).done()["actions"].clone();
    assert_eq!(offered("merchant_get", &made.merchant), json!(["suspend", "close"]));
    assert_eq!(offered("store_get", &made.store), json!(["deactivate"]));
    assert_eq!(offered("tpn_get", &made.tpn), json!(["deactivate", "swap", "retire"]));
    house.ask("merchant_close", made.merchant.clone()).done();
    assert_eq!(offered("merchant_get", &made.merchant), json!([]));
}

#[test]
fn the_documentation_has_the_tables() {
    let documentation = include_str!("../../../../docs/lifecycle.md");
    for machine in [&lifecycle::MERCHANT, &lifecycle::STORE, &lifecycle::TPN] {
        let table = machine.reference_table();
        assert!(documentation.contains(&table), "{table}");
    }
    let table = lifecycle::ISO.reference_table();
    assert!(include_str!("../../../../docs/registration.md").contains(&table), "{table}");
}
