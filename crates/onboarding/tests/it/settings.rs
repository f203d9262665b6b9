//! The choices that an operator has.

use onboarding::Settings;
use serde_json::{Value, json};

use crate::bodies::{body, body_with};
use crate::support::{House, set_ids};

const PROFILE: &str = "tpnData.tpnProcessor.profile[0]";

fn with_extras() -> Value {
    body_with(
        "full-cknx",
        &[
            ("surprise", json!(1)),
            ("merchantData.nickname", json!("Bo")),
            ("tpnData.tpnProcessor.profile[0].Mid", json!("123456789012")),
            ("tpnData.tpnProcessor.profile[0].colour", json!("red")),
        ],
    )
}

#[test]
fn unknown_members_are_ignored_and_told() {
    let house = House::new();
    let outcome = house.call("onboard_merchant", with_extras());
    assert!(outcome.result.is_ok());
    let ignored: Vec<&str> = outcome.ignored.iter().map(|ignored| ignored.path.as_str()).collect();
    let profile = |field: &str| format!("{PROFILE}.{field}");
    assert_eq!(ignored, ["merchantData.nickname", &profile("Mid"), &profile("colour"), "surprise"]);
}

#[test]
fn strict_fields_refuses_what_is_in_no_table_or_in_another_processors() {
    let house = House::with_settings(Settings { strict_fields: true, ..Settings::default() });
    assert_eq!(
        house.errors(with_extras()),
        [
            "unknown_field merchantData.nickname".to_owned(),
            format!("unexpected_field {PROFILE}.Mid"),
            format!("unknown_field {PROFILE}.colour"),
            "unknown_field surprise".to_owned(),
        ]
    );
    // The same name outside of a profile is just unknown.
    let sent = body_with("full-cknx", &[("storeData.apiKey", json!("x"))]);
    assert_eq!(house.errors(sent), ["unknown_field storeData.apiKey"]);
    assert!(house.onboard(body("full-cknx")).is_ok());
}

#[test]
fn strict_fields_leaves_details_beside_an_id_to_strict_ids() {
    for strict_ids in [true, false] {
        let settings = Settings { strict_fields: true, strict_ids, ..Settings::default() };
        let house = House::with_settings(settings);
        let parents = house.onboard(body("full-cknx")).unwrap();
        let mut sent = body("tpn-only-cknx");
        set_ids(&mut sent, &parents);
        sent["merchantData"]["dba"] = json!("Beside");
        if strict_ids {
            assert_eq!(house.errors(sent), ["conflicting_field merchantData.merchantId"]);
        } else {
            assert_eq!(house.onboard(sent).unwrap()["message"], "TPN onboard success");
        }
    }
}

#[test]
fn without_strict_ids_details_beside_an_id_are_ignored() {
    let house = House::with_settings(Settings { strict_ids: false, ..Settings::default() });
    let parents = house.onboard(body("full-cknx")).unwrap();
    let before = house.counts();
    let mut sent = body("full-cknx");
    sent["merchantData"]["merchantId"] = parents["data"]["merchantId"].clone();
    sent["storeData"]["storeId"] = parents["data"]["storeId"].clone();
    // Not even looked at: these details are wrong.
    sent["merchantData"]["email"] = json!(7);
    let answer = house.onboard(sent).unwrap();
    assert_eq!(answer["message"], "TPN onboard success");
    assert_eq!(answer["data"]["merchantId"], parents["data"]["merchantId"]);
    let after = house.counts();
    assert_eq!((after.merchants, after.stores), (before.merchants, before.stores));
    // A store id without a merchant id makes a full onboarding, and is ignored as well.
    let mut full = body("full-cknx");
    full["storeData"]["storeId"] = parents["data"]["storeId"].clone();
    assert_eq!(house.onboard(full).unwrap()["message"], "Merchant onboard successfully");
}

#[test]
fn strict_names_allows_a_to_z_alone() {
    let strict = House::with_settings(Settings { strict_names: true, ..Settings::default() });
    let lenient = House::new();
    for (name, passes) in
        [("Maria", true), ("O'Brien", false), ("Zo\u{eb}", false), ("De La", false)]
    {
        let sent = || {
            body_with(
                "full-cknx",
                &[("merchantData.firstName", json!(name)), ("storeData.lastName", json!(name))],
            )
        };
        assert!(lenient.onboard(sent()).is_ok(), "{name}");
        match strict.onboard(sent()) {
            Ok(_) => assert!(passes, "{name}"),
            Err(refusal) => {
                assert!(!passes, "{name}");
                assert_eq!(
                    refusal.errors,
                    ["invalid_format merchantData.firstName", "invalid_format storeData.lastName"]
                );
            }
        }
    }
}

#[test]
fn unique_email_refuses_a_second_merchant_with_the_address() {
    let house = House::with_settings(Settings { unique_email: true, ..Settings::default() });
    let sent = |email: &str| body_with("full-cknx", &[("merchantData.email", json!(email))]);
    house.onboard(sent("Owner@Example.com")).unwrap();
    // The domain has no case, the local part has.
    assert_eq!(house.errors(sent("Owner@EXAMPLE.COM")), ["already_exists merchantData.email"]);
    house.onboard(sent("owner@example.com")).unwrap();
    // Beside another error it is found as well.
    let mut wrong = sent("Owner@example.com");
    wrong["storeData"]["email"] = json!("x");
    assert_eq!(
        house.errors(wrong),
        ["already_exists merchantData.email", "invalid_format storeData.email"]
    );
    let other = house.caller_of_another_iso();
    assert!(house.onboard_as(&other, sent("Owner@example.com")).is_ok());

    let lenient = House::new();
    lenient.onboard(sent("Owner@example.com")).unwrap();
    lenient.onboard(sent("Owner@example.com")).unwrap();
}

#[test]
fn unique_profiles_refuses_an_account_on_another_tpn() {
    let house = House::with_settings(Settings { unique_profiles: true, ..Settings::default() });
    let lenient = House::new();
    for processor in crate::bodies::PROCESSORS {
        let first = body(&format!("full-{processor}"));
        let profile = &first["tpnData"]["tpnProcessor"]["profile"][0];
        let mut second = body(&format!("full-{processor}-two"));
        second["tpnData"]["tpnProcessor"]["profile"][1] = profile.clone();
        second["tpnData"]["tpnProcessor"]["profile"][1]["profileId"] = json!("02");
        for house in [&house, &lenient] {
            house.onboard(first.clone()).unwrap();
        }
        let expected = "duplicate_profile tpnData.tpnProcessor.profile[1].profileId";
        assert_eq!(house.errors(second.clone()), [expected], "{processor}");
        lenient.onboard(second.clone()).unwrap();
        // Beside another error it is found as well.
        second["storeData"]["email"] = json!("x");
        assert_eq!(house.errors(second), ["invalid_format storeData.email", expected]);
    }
}
