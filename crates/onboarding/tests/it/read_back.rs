//! What was onboarded can be read back, in its stored form and without its credentials.

use serde_json::{Value, json};

use crate::bodies::{PROCESSORS, body, body_with};
use crate::support::{House, NOW};

#[test]
fn everything_that_was_sent_is_there() {
    let house = House::new();
    let sent = body("full-tsys");
    let answer = house.onboard(sent.clone()).unwrap();
    let (merchant, store, tpn) = house.read_back(&answer);
    assert_eq!(
        merchant,
        json!({
            "merchantId": answer["data"]["merchantId"], "status": "active",
            "statusReason": null, "actions": ["suspend", "close"],
            "version": 1, "dba": sent["merchantData"]["dba"], "zipCode": "10001", "city": "New York",
            "state": "NY", "ebt": "EBT1234", "isoAgentReference": "AGENT01",
            "isoMerchant": "M00017", "merchantLogoUrl": "https://cdn.example.com/logo.png",
            "externalReference": null, "metadata": {},
            "contact": {
                "firstName": "Maria", "lastName": "Lopez",
                "email": sent["merchantData"]["email"], "addressLine1": "12 Pier Road",
                "addressLine2": "Suite 4", "phoneNumber": "2125550142", "ISDcode": "+1",
            },
            "created": NOW, "updated": NOW,
        })
    );
    assert_eq!(
        store,
        json!({
            "storeId": answer["data"]["storeId"], "merchantId": answer["data"]["merchantId"],
            "status": "active", "statusReason": null, "actions": ["deactivate"],
            "effectiveStatus": "active",
            "version": 1, "dba": sent["storeData"]["dba"],
            "mccCode": "5812", "zipCode": "60614", "city": "Chicago", "state": "IL",
            "ebt": "EBT5678", "effectiveEbt": "EBT5678",
            "externalReference": null, "metadata": {},
            "contact": {
                "firstName": "Daniel", "lastName": "Reyes",
                "email": sent["storeData"]["email"], "addressLine1": "14 Pier Road",
                "addressLine2": "Floor 2", "phoneNumber": "3125550188", "ISDcode": "+1",
            },
            "created": NOW, "updated": NOW,
        })
    );
    let profile = &sent["tpnData"]["tpnProcessor"]["profile"][0];
    assert_eq!(
        tpn,
        json!({
            "tpn": answer["data"]["tpn"], "merchantId": answer["data"]["merchantId"],
            "storeId": answer["data"]["storeId"], "status": "provisioned",
            "statusReason": null, "actions": ["deactivate", "swap", "retire"],
            "effectiveStatus": "provisioned", "version": 1,
            "deviceManufacturer": "Kozen", "deviceModel": "P3", "tpnApplicationSign": "CRDT",
            "tpnRoutingType": "SIMPLE", "defaultLabel": "LANE01FRONTCOUNTER",
            "tpnAssignTemplate": null, "templateVersion": null, "tpnBin": "450123",
            "tpnProcessor": {
                "processorName": "TSYS",
                "profile": [{
                    "profileId": "01", "status": "unverified", "tpnBin": "450123",
                    "identifiers": {
                        "Mid": profile["Mid"], "Agent": "123456", "Chain": "654321",
                        "Store": "5001", "TermNo": "7001", "TermId": profile["TermId"],
                        "Agent_FIID": "AB12", "dsGroup": "GROUP1",
                    },
                }],
            },
            "device": null, "externalReference": null, "metadata": {},
            "created": NOW, "updated": NOW,
        })
    );
}

#[test]
fn optional_fields_may_be_missing() {
    let house = House::new();
    let (merchant, store, tpn) = house.read_back(&house.onboard(body("minimal-cknx")).unwrap());
    for (value, fields) in [
        (&merchant, &["ebt", "isoAgentReference", "isoMerchant", "merchantLogoUrl"][..]),
        (&merchant["contact"], &["lastName", "addressLine2"]),
        (&store, &["ebt", "effectiveEbt"]),
        (&store["contact"], &["lastName", "addressLine2"]),
        (&tpn, &["defaultLabel", "tpnAssignTemplate", "templateVersion"]),
        (&tpn["tpnProcessor"]["profile"][0], &["tpnBin"]),
    ] {
        for field in fields {
            assert_eq!(value.get(field), Some(&Value::Null), "{field}");
        }
    }
}

#[test]
fn the_ebt_of_the_store_outranks_that_of_the_merchant() {
    let house = House::new();
    for (merchant_ebt, store_ebt, effective) in [
        (json!("EBT1111"), json!("EBT2222"), json!("EBT2222")),
        (json!("EBT1111"), json!(null), json!("EBT1111")),
        (json!(null), json!("EBT2222"), json!("EBT2222")),
        (json!(null), json!(null), json!(null)),
        (json!("EBT1111"), json!("  "), json!("EBT1111")),
    ] {
        let changes =
            [("merchantData.ebt", merchant_ebt.clone()), ("storeData.ebt", store_ebt.clone())];
        let answer = house.onboard(body_with("full-cknx", &changes)).unwrap();
        let (_, store, _) = house.read_back(&answer);
        assert_eq!(store["effectiveEbt"], effective, "{merchant_ebt} {store_ebt}");
    }
    // A store added later inherits as well.
    let full = house.onboard(body_with("full-cknx", &[("storeData.ebt", json!(null))])).unwrap();
    let changes = [
        ("merchantData.merchantId", full["data"]["merchantId"].clone()),
        ("storeData.ebt", json!(null)),
    ];
    let answer = house.onboard(body_with("store-and-tpn-cknx", &changes)).unwrap();
    let (_, store, _) = house.read_back(&answer);
    assert_eq!((&store["ebt"], &store["effectiveEbt"]), (&json!(null), &json!("EBT1234")));
}

#[test]
fn city_and_state_follow_from_the_zip() {
    let house = House::new();
    for (zip, city, state) in [
        (json!("00501"), "Holtsville", "NY"),
        (json!(90210), "Beverly Hills", "CA"),
        (json!(" 33101 "), "Miami", "FL"),
    ] {
        let answer =
            house.onboard(body_with("full-cknx", &[("merchantData.zipCode", zip)])).unwrap();
        let (merchant, _, _) = house.read_back(&answer);
        assert_eq!((&merchant["city"], &merchant["state"]), (&json!(city), &json!(state)));
    }
}

#[test]
fn devices_have_one_spelling() {
    let house = House::new();
    for (manufacturer, model, stored) in [
        ("Wizer POS", "QD2", ("WizardPOS", "QD2")),
        ("WizardPOS", "Q2", ("WizardPOS", "Q2")),
        ("Android Phone", "TAP ON PHONE", ("Android Phone", "Tap on phone")),
        ("Android Phone", " Tap On Phone ", ("Android Phone", "Tap on phone")),
        ("Apple", "Apple Pay", ("Apple", "Apple Pay")),
    ] {
        let changes = [
            ("tpnData.deviceManufacturer", json!(manufacturer)),
            ("tpnData.deviceModel", json!(model)),
        ];
        let (_, _, tpn) =
            house.read_back(&house.onboard(body_with("full-cknx", &changes)).unwrap());
        let seen = (tpn["deviceManufacturer"].as_str(), tpn["deviceModel"].as_str());
        assert_eq!(seen, (Some(stored.0), Some(stored.1)), "{manufacturer} {model}");
    }
}

#[test]
fn text_is_kept_trimmed_and_composed() {
    let house = House::new();
    let changes = [
        ("merchantData.dba", json!(" Cafe\u{301} Nr. 5 \u{3000}")),
        ("merchantData.firstName", json!("Zoe\u{308}")),
        ("merchantData.addressLine1", json!("\u{a0}Rue E\u{301}troite 1")),
        ("storeData.dba", json!("Stra\u{df}e  7")),
    ];
    let (merchant, store, _) =
        house.read_back(&house.onboard(body_with("full-cknx", &changes)).unwrap());
    assert_eq!(merchant["dba"], "Caf\u{e9} Nr. 5");
    assert_eq!(merchant["contact"]["firstName"], "Zo\u{eb}");
    assert_eq!(merchant["contact"]["addressLine1"], "Rue \u{c9}troite 1");
    assert_eq!(store["dba"], "Stra\u{df}e  7");
}

#[test]
fn each_profile_has_its_tpn_bin() {
    let house = House::new();
    let bins = |shared: Value, first: Value, second: Value| {
        let changes = [
            ("tpnData.tpnBin", shared),
            ("tpnData.tpnProcessor.profile[0].tpnBin", first),
            ("tpnData.tpnProcessor.profile[1].tpnBin", second),
        ];
        let (_, _, tpn) =
            house.read_back(&house.onboard(body_with("full-frdc-two", &changes)).unwrap());
        let profiles = tpn["tpnProcessor"]["profile"].as_array().unwrap().clone();
        profiles.iter().map(|profile| profile["tpnBin"].clone()).collect::<Vec<Value>>()
    };
    let none = || Value::Null;
    assert_eq!(bins(json!("450123"), none(), none()), ["450123", "450123"]);
    assert_eq!(bins(none(), json!("450001"), json!(450_002)), ["450001", "450002"]);
    assert_eq!(bins(json!("450123"), json!("450123"), none()), ["450123", "450123"]);
}

#[test]
fn profiles_are_shown_by_their_id() {
    let house = House::new();
    let mut sent = body("full-elvn-two");
    sent["tpnData"]["tpnProcessor"]["profile"].as_array_mut().unwrap().reverse();
    let (_, _, tpn) = house.read_back(&house.onboard(sent).unwrap());
    let profiles = &tpn["tpnProcessor"]["profile"];
    assert_eq!(
        (&profiles[0]["profileId"], &profiles[1]["profileId"]),
        (&json!("01"), &json!("02"))
    );
}

#[test]
fn the_assigned_template_is_known_by_its_version() {
    let house = House::new();
    house
        .platform
        .template_create(&house.iso_id, "RETAIL01", &json!({ "taxEnabled": true }))
        .unwrap();
    let changes = [("tpnData.tpnAssignTemplate", json!("RETAIL01"))];
    let (_, _, tpn) = house.read_back(&house.onboard(body_with("full-cknx", &changes)).unwrap());
    assert_eq!(tpn["templateVersion"], 1);
    let other = house.caller_of_another_iso();
    let refusal = house.onboard_as(&other, body_with("full-cknx", &changes)).unwrap_err();
    assert_eq!(refusal.errors, ["template_not_found tpnData.tpnAssignTemplate"]);
}

#[test]
fn credentials_are_never_shown() {
    let house = House::new();
    let secret_fields =
        ["AccessTokenUser", "AccessTokenPassword", "apiKey", "Password", "Track2", "ABA_No"];
    for processor in PROCESSORS {
        let sent = body(&format!("full-{processor}-two"));
        let (merchant, store, tpn) = house.read_back(&house.onboard(sent.clone()).unwrap());
        let shown = format!("{merchant}{store}{tpn}");
        for profile in sent["tpnData"]["tpnProcessor"]["profile"].as_array().unwrap() {
            for (field, value) in profile.as_object().unwrap() {
                let value = value.as_str().unwrap();
                let is_secret = secret_fields.contains(&field.as_str());
                assert_eq!(shown.contains(value), !is_secret, "{processor} {field}");
                assert!(!is_secret || !shown.contains(field), "{processor} {field}");
            }
        }
    }
}

#[test]
fn another_isos_objects_are_not_there() {
    let house = House::new();
    let answer = house.onboard(body("full-cknx")).unwrap();
    let other = house.caller_of_another_iso();
    for (name, id) in [("merchant_get", "merchantId"), ("store_get", "storeId"), ("tpn_get", "tpn")]
    {
        let params = json!({ id: answer["data"][id] });
        assert!(house.get(name, params.clone()).is_some());
        assert_eq!(house.get_as(&other, name, params), None);
    }
    let mut staged = body("tpn-only-cknx");
    crate::support::set_ids(&mut staged, &answer);
    let refusal = house.onboard_as(&other, staged).unwrap_err();
    assert_eq!(
        refusal.errors,
        ["not_found merchantData.merchantId", "not_found storeData.storeId"]
    );
}
