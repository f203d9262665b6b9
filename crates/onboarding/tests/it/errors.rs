//! Refusals of the request: every error at once, in the order of the published tables.

use serde_json::{Value, json};

use crate::bodies::{body, body_with};
use crate::support::{House, set_ids};

const PROFILE: &str = "tpnData.tpnProcessor.profile";

#[test]
fn business_errors_stand_in_their_fields_place() {
    let house = House::new();
    let taken = house.onboard(body_with(
        "full-cknx",
        &[("merchantData.dba", json!("Stra\u{df}e Caf\u{e9}")), ("storeData.dba", json!("Kit 7"))],
    ));
    let taken = taken.unwrap();
    let changes = [
        ("merchantData.dba", json!("STRASSE  CAFE\u{301}")),
        ("storeData.dba", json!("\u{ff2b}\u{ff49}\u{ff54} 7")),
        ("tpnData.tpnAssignTemplate", json!("MISSING01")),
    ];
    // Nothing else is wrong: the transaction finds it out.
    let refusal = house.onboard(body_with("full-cknx", &changes)).unwrap_err();
    let expected = [
        "already_exists merchantData.dba",
        "already_exists storeData.dba",
        "template_not_found tpnData.tpnAssignTemplate",
    ];
    assert_eq!(refusal.errors, expected);
    let id = |name: &str| taken["data"][name].as_str().unwrap().to_owned();
    let existing =
        [("x-existing-merchant-id", id("merchantId")), ("x-existing-store-id", id("storeId"))];
    assert_eq!(refusal.headers, existing);

    // Something else is wrong too: the same is found beside it.
    let mut wrong = body_with("full-cknx", &changes);
    wrong["merchantData"]["firstName"] = json!("7");
    wrong["storeData"]["mccCode"] = json!("0000");
    let refusal = house.onboard(wrong).unwrap_err();
    assert_eq!(
        refusal.errors,
        [
            "already_exists merchantData.dba",
            "invalid_format merchantData.firstName",
            "unknown_mcc storeData.mccCode",
            "already_exists storeData.dba",
            "template_not_found tpnData.tpnAssignTemplate",
        ]
    );
    assert_eq!(refusal.headers, existing);
}

#[test]
fn a_refusal_stores_nothing() {
    let house = House::new();
    house.onboard(body_with("full-cknx", &[("storeData.dba", json!("Taken"))])).unwrap();
    let before = house.counts();
    // The merchant goes in first and must come out again when its store is refused.
    let errors = house.errors(body_with("full-cknx", &[("storeData.dba", json!("TAKEN"))]));
    assert_eq!(errors, ["already_exists storeData.dba"]);
    assert_eq!(house.counts(), before);
}

#[test]
fn merchants_and_stores_have_separate_names_per_iso() {
    let house = House::new();
    let names = [("merchantData.dba", json!("Same Name")), ("storeData.dba", json!("same name"))];
    house.onboard(body_with("full-cknx", &names)).unwrap();
    assert_eq!(
        house.errors(body_with("full-cknx", &names)),
        ["already_exists merchantData.dba", "already_exists storeData.dba"]
    );
    let other = house.caller_of_another_iso();
    assert!(house.onboard_as(&other, body_with("full-cknx", &names)).is_ok());
}

#[test]
fn parents_must_exist_and_belong_together() {
    let house = House::new();
    let (first, second) =
        (house.onboard(body("full-cknx")).unwrap(), house.onboard(body("full-cknx")).unwrap());
    let tpn_under = |merchant: &Value, store: &Value| {
        body_with(
            "tpn-only-cknx",
            &[("merchantData.merchantId", merchant.clone()), ("storeData.storeId", store.clone())],
        )
    };
    let (merchant, store) = (&first["data"]["merchantId"], &second["data"]["storeId"]);
    for (merchant, store, expected) in [
        (merchant, store, vec!["store_mismatch storeData.storeId"]),
        (&json!("none"), store, vec!["not_found merchantData.merchantId"]),
        (merchant, &json!("none"), vec!["not_found storeData.storeId"]),
        (merchant, &json!("a\u{0}b"), vec!["not_found storeData.storeId"]),
        (&json!(7), store, vec!["invalid_type merchantData.merchantId"]),
        (
            &json!(7),
            &json!([]),
            vec!["invalid_type merchantData.merchantId", "invalid_type storeData.storeId"],
        ),
    ] {
        assert_eq!(house.errors(tpn_under(merchant, store)), expected, "{merchant} {store}");
    }
}

#[test]
fn ids_stand_alone() {
    let house = House::new();
    let parents = house.onboard(body("full-cknx")).unwrap();
    let mut beside = body("tpn-only-cknx");
    set_ids(&mut beside, &parents);
    beside["merchantData"]["dba"] = json!("Beside");
    beside["storeData"]["ebt"] = json!(" ");
    assert_eq!(house.errors(beside.clone()), ["conflicting_field merchantData.merchantId"]);
    beside["merchantData"]["dba"] = json!(null);
    assert!(house.onboard(beside).is_ok());

    let mut full = body("full-cknx");
    full["storeData"]["storeId"] = parents["data"]["storeId"].clone();
    assert_eq!(house.errors(full), ["conflicting_field storeData.storeId"]);
}

#[test]
fn the_processor_decides_what_a_profile_needs() {
    let house = House::new();
    let profile =
        |index: usize, field: &str| format!("tpnData.tpnProcessor.profile[{index}].{field}");
    let missing = |index: usize, field: &str| format!("mandatory_field {}", profile(index, field));
    let empty_profile = |processor: &str| {
        body_with(
            &format!("full-{processor}"),
            &[
                ("tpnData.tpnBin", json!("450123")),
                ("tpnData.tpnProcessor.profile[0]", json!({ "profileId": "01" })),
            ],
        )
    };
    for (processor, fields) in [
        ("tsys", &["Mid", "Agent", "Chain", "Store", "TermNo", "TermId"][..]),
        ("pnwx", &["AccessTokenUser", "AccessTokenPassword"]),
        ("cknx", &["apiKey"]),
        ("zcrd", &["TerminalNumber", "Password", "Track2"]),
        ("frdc", &["Mid", "TermId", "GroupId"]),
        ("wpay", &["TermId", "Mid", "BankId"]),
        ("elvn", &["TermId", "Mid", "BankNo"]),
    ] {
        let expected: Vec<String> = fields.iter().map(|field| missing(0, field)).collect();
        assert_eq!(house.errors(empty_profile(processor)), expected);
    }
    for processor in ["tsys", "frdc"] {
        let sent = body_with(&format!("full-{processor}-two"), &[("tpnData.tpnBin", json!(null))]);
        assert_eq!(house.errors(sent), ["mandatory_field tpnData.tpnBin"]);
    }
    // The FRDC table starts with its tpnBin.
    let sent = body_with(
        "full-frdc",
        &[(&profile(0, "tpnBin"), json!("1")), (&profile(0, "Mid"), json!("-"))],
    );
    assert_eq!(
        house.errors(sent),
        [
            format!("invalid_format {}", profile(0, "tpnBin")),
            format!("invalid_format {}", profile(0, "Mid")),
        ]
    );
}

#[test]
fn profiles_have_rules_between_them() {
    let house = House::new();
    let check = |changes: &[(&str, Value)], expected: &[&str]| {
        assert_eq!(house.errors(body_with("full-tsys-two", changes)), expected);
    };
    check(&[("tpnData.tpnProcessor.profile", json!([]))], &[&format!("invalid_profile {PROFILE}")]);
    check(
        &[("tpnData.tpnProcessor.profile[1].profileId", json!("01"))],
        &[&format!("duplicate_profile {PROFILE}[1].profileId")],
    );
    check(
        &[("tpnData.tpnProcessor.profile[0].profileId", json!("03"))],
        &[&format!("invalid_profile {PROFILE}[0].profileId")],
    );
    check(
        &[("tpnData.tpnProcessor.profile[0].profileId", json!(1))],
        &[&format!("invalid_type {PROFILE}[0].profileId")],
    );
    check(
        &[("tpnData.tpnProcessor.profile[1].tpnBin", json!("450999"))],
        &[&format!("conflicting_field {PROFILE}[1].tpnBin")],
    );
    // Of a processor that nobody knows, nothing is said about the profiles.
    check(
        &[
            ("tpnData.tpnProcessor.processorName", json!("ACME")),
            ("tpnData.tpnProcessor.profile[1].profileId", json!("01")),
        ],
        &["invalid_value tpnData.tpnProcessor.processorName"],
    );
}

#[test]
fn an_empty_body_lacks_its_three_objects() {
    let house = House::new();
    assert_eq!(
        house.errors(json!({})),
        ["mandatory_field merchantData", "mandatory_field storeData", "mandatory_field tpnData"]
    );
}

#[test]
fn the_failure_message_follows_the_shape() {
    let house = House::new();
    for (base, message) in [
        ("full-cknx", "Merchant onboard failure"),
        ("store-and-tpn-cknx", "Store onboard failure"),
        ("tpn-only-cknx", "TPN onboard failure"),
    ] {
        let mut sent = house.staged_body(base);
        sent["tpnData"] = json!(null);
        let outcome = house.call("onboard_merchant", sent);
        assert_eq!(outcome.failure_message, Some(message));
    }
}
