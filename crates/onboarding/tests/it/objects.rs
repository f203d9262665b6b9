//! Reading, finding and changing what was onboarded.

use onboarding::{RequestOptions, Settings};
use serde_json::{Value, json};

use crate::bodies::{body, body_with};
use crate::support::{Answered, House, NOW};

on_both_engines!(
    lists_go_on_from_a_cursor,
    every_filter_finds_what_it_should,
    a_change_needs_its_version,
    a_change_is_told_kept_and_logged,
    the_past_can_be_read,
    optional_fields_are_cleared,
    names_stay_unique,
    metadata_is_bounded,
    duplicates_are_scored,
    accounts_are_replaced_and_revealed,
    a_repetition_and_a_dry_run_change_nothing,
);

fn onboard(house: &House, changes: &[(&str, Value)]) -> Value {
    house.onboard(body_with("full-tsys", changes)).unwrap()["data"].clone()
}

fn ids(list: &Value, id: &str) -> Vec<String> {
    let items = list["data"].as_array().unwrap().iter();
    items.map(|item| item[id].as_str().unwrap().to_owned()).collect()
}

fn lists_go_on_from_a_cursor(house: &House) {
    let mut made: Vec<String> =
        (0..7).map(|_| onboard(house, &[])["merchantId"].as_str().unwrap().to_owned()).collect();
    let mut seen = Vec::new();
    let mut cursor = Value::Null;
    for _ in 0..4 {
        let page = house.ask("merchant_list", json!({ "limit": 2, "cursor": cursor })).done();
        seen.extend(ids(&page, "merchantId"));
        cursor = page["nextCursor"].clone();
    }
    assert_eq!(cursor, Value::Null);
    made.sort();
    seen.sort();
    assert_eq!(seen, made, "everything once");
    for (params, error) in [
        (json!({ "limit": 0 }), "invalid_format limit"),
        (json!({ "limit": 101 }), "invalid_format limit"),
        (json!({ "cursor": "nonsense" }), "invalid_value cursor"),
        (json!({ "cursor": "7.\u{0}" }), "invalid_value cursor"),
        (json!({ "status": "asleep" }), "invalid_value status"),
    ] {
        assert_eq!(house.ask("merchant_list", params).refused(), [error]);
    }
    let other = house.caller_of_another_iso();
    let theirs = house.get_as(&other, "merchant_list", json!({})).unwrap();
    assert_eq!(theirs, json!({ "data": [], "hasMore": false, "nextCursor": null }));
}

fn every_filter_finds_what_it_should(house: &House) {
    let mid = "tpnData.tpnProcessor.profile[0].Mid";
    let wanted = onboard(
        house,
        &[
            ("merchantData.dba", json!("Zebra 100% Coffee")),
            ("merchantData.email", json!("Find.Me@Zebra.example")),
            ("merchantData.phoneNumber", json!("9175550101")),
            ("merchantData.zipCode", json!("90210")),
            ("merchantData.isoMerchant", json!("Z00001")),
            ("merchantData.isoAgentReference", json!("ZAGENT")),
            ("storeData.dba", json!("Zebra Store")),
            ("storeData.mccCode", json!("5411")),
            ("storeData.email", json!("store@zebra.example")),
            ("storeData.phoneNumber", json!("9175550102")),
            ("storeData.zipCode", json!("33101")),
            (mid, json!("123123123123")),
        ],
    );
    onboard(house, &[]);
    let patch = json!({
        "merchantId": wanted["merchantId"], "externalReference": "crm/42", "expectedVersion": 1,
    });
    house.ask("merchant_patch", patch).done();
    for (list, id, filters) in [
        (
            "merchant_list",
            "merchantId",
            json!([
                { "dba": "zebra  100%" }, { "email": "Find.Me@ZEBRA.example" },
                { "phoneNumber": "9175550101" }, { "zipCode": "90210" }, { "mccCode": "5411" },
                { "mid": "123123123123" }, { "isoMerchant": "Z00001" },
                { "isoAgentReference": "ZAGENT" }, { "externalReference": "crm/42" },
            ]),
        ),
        (
            "store_list",
            "storeId",
            json!([
                { "dba": "ZEBRA" }, { "email": "store@zebra.example" },
                { "phoneNumber": "9175550102" }, { "zipCode": "33101" }, { "mccCode": "5411" },
                { "mid": "123123123123" }, { "isoMerchant": "Z00001" },
                { "isoAgentReference": "ZAGENT" }, { "merchantId": wanted["merchantId"] },
            ]),
        ),
        (
            "tpn_list",
            "tpn",
            json!([
                { "mid": "123123123123" }, { "merchantId": wanted["merchantId"] },
                { "storeId": wanted["storeId"] },
            ]),
        ),
    ] {
        for filter in filters.as_array().unwrap() {
            let found = house.ask(list, filter.clone()).done();
            assert_eq!(ids(&found, id), [wanted[id].as_str().unwrap()], "{list} {filter}");
        }
    }
    for (filter, count) in [
        (json!({ "status": "active" }), 2),
        (json!({ "status": "closed" }), 0),
        (json!({ "createdFrom": NOW }), 2),
        (json!({ "createdTo": NOW }), 0),
        (json!({ "dba": "zebr_" }), 0),
    ] {
        let found = house.ask("merchant_list", filter.clone()).done();
        assert_eq!(found["data"].as_array().unwrap().len(), count, "{filter}");
    }
}

fn a_change_needs_its_version(house: &House) {
    let made = onboard(house, &[]);
    for (name, id) in
        [("merchant_patch", "merchantId"), ("store_patch", "storeId"), ("tpn_patch", "tpn")]
    {
        let patch = |version: Value| {
            let params =
                json!({ id: made[id], "externalReference": "x", "expectedVersion": version });
            house.ask(name, params)
        };
        assert_eq!(patch(Value::Null).refused(), ["version_missing expectedVersion"]);
        assert_eq!(patch(json!(2)).refused(), ["version_mismatch expectedVersion"]);
        assert_eq!(patch(json!(1)).done()["version"], 2);
        assert_eq!(patch(json!(1)).refused(), ["version_mismatch expectedVersion"]);
        assert_eq!(patch(json!(2)).done()["version"], 2, "nothing differs");
        let unknown = json!({ id: "000000000000", "expectedVersion": 1 });
        assert!(house.ask(name, unknown).is_not_found());
        let mut theirs = house.later(0);
        theirs.caller = Some(house.caller_of_another_iso());
        let params = json!({ id: made[id], "expectedVersion": 2 });
        assert!(house.call_in(&theirs, name, params).is_not_found());
    }
    let shown = house.ask("merchant_get", json!({ "merchantId": made["merchantId"] }));
    let tag = |if_match: &str| {
        let mut cx = house.later(0);
        cx.request_options =
            RequestOptions { if_match: Some(if_match.to_owned()), ..RequestOptions::default() };
        let params = json!({ "merchantId": made["merchantId"], "dba": "By tag" });
        house.call_in(&cx, "merchant_patch", params)
    };
    assert_eq!(tag("\"1-0\"").refused(), ["version_mismatch expectedVersion"]);
    assert_eq!(tag("garbage").refused(), ["version_mismatch expectedVersion"]);
    assert_eq!(tag(&shown.tag()).done()["dba"], "By tag");
}

fn a_change_is_told_kept_and_logged(house: &House) {
    let made = onboard(house, &[]);
    let before = house.events().len();
    let patch = json!({
        "merchantId": made["merchantId"], "expectedVersion": 1, "zipCode": "90210",
        "email": "new@harbor.example", "metadata": { "crm.id": "42" },
    });
    let changed = house.ask("merchant_patch", patch).done();
    assert_eq!((&changed["city"], &changed["state"]), (&json!("Beverly Hills"), &json!("CA")));
    assert_eq!(changed["contact"]["email"], "new@harbor.example");
    assert_eq!(changed["metadata"], json!({ "crm.id": "42" }));
    let events = house.events();
    let (kind, payload) = &events[before];
    assert_eq!((kind.as_str(), events.len()), ("merchant.updated", before + 1));
    assert_eq!(
        payload,
        &json!({
            "object": "merchant", "id": made["merchantId"], "merchantId": made["merchantId"],
            "status": "active", "version": 2, "changed": ["email", "zipCode", "metadata"],
        })
    );
    let found = house.ask("merchant_list", json!({ "email": "new@harbor.example" })).done();
    assert_eq!(found["data"].as_array().unwrap().len(), 1, "the index follows");
    house.runtime().block_on(house.platform.audit_chain()).unwrap();
    let log = house.ask("audit_list", json!({})).done().to_string();
    assert!(log.contains("merchant.update") && !log.contains("new@harbor.example"), "{log}");
}

fn the_past_can_be_read(house: &House) {
    let made = onboard(house, &[]);
    let id = &made["merchantId"];
    for (at, name) in [(10, "Second"), (20, "Third")] {
        let params =
            json!({ "merchantId": id, "dba": name, "expectedVersion": at / 10, "ebt": "EBT9999" });
        house.call_in(&house.later(at), "merchant_patch", params).done();
    }
    let suspend = json!({ "merchantId": id });
    house.call_in(&house.later(30), "merchant_suspend", suspend).done();
    let at = |name: &str, id: &str, second: &str| {
        let as_of = format!("2026-11-15T08:00:{second}Z");
        house.ask(name, json!({ id: made[id], "asOf": as_of }))
    };
    let first = at("merchant_get", "merchantId", "09.999999").done();
    assert_eq!((&first["version"], &first["ebt"]), (&json!(1), &json!("EBT1234")));
    assert_eq!(at("merchant_get", "merchantId", "10").done()["dba"], "Second");
    assert_eq!(at("merchant_get", "merchantId", "29").done()["dba"], "Third");
    assert_eq!(at("merchant_get", "merchantId", "59").done()["status"], "suspended");
    assert_eq!(at("tpn_get", "tpn", "29").done()["effectiveStatus"], "provisioned");
    assert_eq!(at("tpn_get", "tpn", "30").done()["effectiveStatus"], "suspended");
    let before = json!({ "merchantId": id, "asOf": "2026-11-15T07:59:59Z" });
    assert!(house.ask("merchant_get", before).is_not_found());
}

fn optional_fields_are_cleared(house: &House) {
    let made = onboard(house, &[]);
    let patch = json!({
        "merchantId": made["merchantId"], "expectedVersion": 1,
        "clear": ["ebt", "lastName", "isoMerchant", "metadata"],
    });
    let changed = house.ask("merchant_patch", patch).done();
    assert_eq!((&changed["ebt"], &changed["contact"]["lastName"]), (&Value::Null, &Value::Null));
    assert_eq!(
        house.events().last().unwrap().1["changed"],
        json!(["lastName", "ebt", "isoMerchant"])
    );
    let store = json!({ "storeId": made["storeId"], "expectedVersion": 1, "clear": ["ebt"] });
    let store = house.ask("store_patch", store).done();
    assert_eq!((&store["ebt"], &store["effectiveEbt"]), (&Value::Null, &Value::Null));
    let wrong = json!({ "merchantId": made["merchantId"], "expectedVersion": 2, "clear": ["dba"] });
    assert_eq!(house.ask("merchant_patch", wrong).refused(), ["invalid_value clear[0]"]);
}

fn names_stay_unique(house: &House) {
    let (one, other) = (onboard(house, &[]), onboard(house, &[]));
    let taken = house.ask("merchant_get", json!({ "merchantId": other["merchantId"] })).done();
    let rename = |dba: &Value| {
        let params = json!({ "merchantId": one["merchantId"], "dba": dba, "expectedVersion": 1 });
        house.ask("merchant_patch", params)
    };
    assert_eq!(rename(&taken["dba"]).refused(), ["already_exists dba"]);
    let store = house.ask("store_get", json!({ "storeId": other["storeId"] })).done();
    let params = json!({ "storeId": one["storeId"], "dba": store["dba"], "expectedVersion": 1 });
    assert_eq!(house.ask("store_patch", params).refused(), ["already_exists dba"]);
    let own = house.ask("merchant_get", json!({ "merchantId": one["merchantId"] })).done();
    let shouted = json!(own["dba"].as_str().unwrap().to_uppercase());
    assert_eq!(rename(&shouted).done()["dba"], shouted, "its own name in another case");
    assert_eq!(rename(&json!("4111111111111111")).refused(), ["prohibited_data dba"]);
}

fn metadata_is_bounded(house: &House) {
    let made = onboard(house, &[]);
    let note = |metadata: Value| {
        let version = house.ask("tpn_get", json!({ "tpn": made["tpn"] })).done()["version"].clone();
        let params =
            json!({ "tpn": made["tpn"], "metadata": metadata, "expectedVersion": version });
        house.ask("tpn_patch", params)
    };
    let many = |count: usize| {
        let pairs = (0..count).map(|number| (format!("key{number}"), json!("v")));
        Value::Object(pairs.collect())
    };
    assert_eq!(note(many(50)).done()["metadata"], many(50));
    assert_eq!(note(many(51)).refused(), ["invalid_format metadata"]);
    let long = "k".repeat(41);
    for (metadata, error) in [
        (json!({ long.as_str(): "v" }), format!("invalid_length metadata.{long}")),
        (json!({ "k": "v".repeat(501) }), "invalid_length metadata.k".to_owned()),
        (json!({ "a b": "v" }), "invalid_format metadata.a b".to_owned()),
        (json!({ "k": 7 }), "invalid_type metadata.k".to_owned()),
        (json!({ "k": "4111 1111 1111 1111" }), "prohibited_data metadata.k".to_owned()),
        (json!({ "k": "a\u{0}b" }), "invalid_format metadata.k".to_owned()),
    ] {
        assert_eq!(note(metadata).refused(), [error]);
    }
    assert_eq!(note(json!({ "k": "v", "gone": "" })).done()["metadata"], json!({ "k": "v" }));
}

fn duplicates_are_scored(house: &House) {
    let same = [
        ("merchantData.email", json!("same@harbor.example")),
        ("merchantData.phoneNumber", json!("2125550199")),
        ("merchantData.addressLine1", json!("77 Same Street")),
    ];
    let named = |dba: &str, shared: &[(&'static str, Value)]| {
        let mut changes = vec![("merchantData.dba", json!(dba))];
        changes.extend(shared.iter().cloned());
        onboard(house, &changes)["merchantId"].clone()
    };
    let first = named("Harbor Cafe", &same);
    let twin = named("Harbor Cafe Inc", &same);
    let phone = named("Something else", &same[1..2]);
    let stranger = [
        ("merchantData.zipCode", json!("90210")),
        ("merchantData.email", json!("other@else.example")),
        ("merchantData.phoneNumber", json!("9175550777")),
    ];
    named("Quite different", &stranger);
    let found = house.ask("merchant_duplicates", json!({ "merchantId": first })).done();
    assert_eq!(ids(&found, "merchantId"), [twin.as_str().unwrap(), phone.as_str().unwrap()]);
    let best = &found["data"][0];
    assert_eq!(best["score"], 100);
    assert_eq!(best["reasons"], json!(["dba", "email", "phone", "address"]));
    assert_eq!(found["data"][1]["reasons"], json!(["phone"]));
}

fn accounts_are_replaced_and_revealed(house: &House) {
    let made = house.onboard(body("full-zcrd")).unwrap()["data"].clone();
    let put = |profile: Value| {
        house.ask(
            "profile_put",
            json!({
                "tpn": made["tpn"], "profileId": "01",
                "tpnProcessor": { "processorName": "ZCRD", "profile": [profile] },
            }),
        )
    };
    let good = json!({
        "profileId": "01", "TerminalNumber": "77", "Password": "new secret", "Track2": "PINPAD7",
    });
    let changed = put(good.clone()).done();
    let profile = &changed["tpnProcessor"]["profile"][0];
    assert_eq!((&profile["status"], &changed["version"]), (&json!("verified"), &json!(2)));
    assert_eq!(profile["identifiers"], json!({ "TerminalNumber": "77" }));
    assert!(!changed.to_string().contains("new secret"));
    let mut other = good.clone();
    other["profileId"] = json!("02");
    assert_eq!(put(other).refused(), ["conflicting_field tpnProcessor.profile[0].profileId"]);
    let wrong = house.ask("profile_put", json!({
        "tpn": made["tpn"], "profileId": "01",
        "tpnProcessor": { "processorName": "CKNX", "profile": [{ "profileId": "01", "apiKey": "k" }] },
    }));
    assert_eq!(wrong.refused(), ["conflicting_field tpnProcessor.processorName"]);
    let reveal = json!({ "tpn": made["tpn"], "profileId": "01", "reason": "moving house" });
    let revealed = house.ask("profile_reveal", reveal.clone()).done();
    assert_eq!(revealed["credentials"], json!({ "Password": "new secret", "Track2": "PINPAD7" }));
    assert_eq!(house.events().last().unwrap().0, "tpn.credentials_revealed");
    house.runtime().block_on(house.platform.audit_chain()).unwrap();
    let log = house.ask("audit_list", json!({})).done().to_string();
    assert!(log.contains("moving house") && !log.contains("new secret"), "{log}");
    let past = json!({ "tpn": made["tpn"], "profileId": "02", "reason": "none" });
    assert!(house.ask("profile_reveal", past).is_not_found());
}

fn a_repetition_and_a_dry_run_change_nothing(house: &House) {
    let made = onboard(house, &[]);
    let params = json!({ "merchantId": made["merchantId"], "reason": "fraud" });
    let mut cx = house.later(0);
    cx.request_options.validate_only = true;
    let dry = house.call_in(&cx, "merchant_suspend", params.clone());
    let Answered::Done(body, headers) = dry else { panic!("{dry:?}") };
    assert_eq!((&body["status"], &body["version"]), (&json!("suspended"), &json!(2)));
    assert!(headers.contains(&("x-validated-only", "true".to_owned())));
    let shown = house.ask("merchant_get", json!({ "merchantId": made["merchantId"] })).done();
    assert_eq!((&shown["status"], &shown["version"]), (&json!("active"), &json!(1)));
    let request = onboarding::idempotency::Idempotency::new(
        &house.platform.vault,
        house.caller().iso_id(),
        "key",
        "/v1/merchants/{merchantId}/suspend",
        &params,
    );
    let mut cx = house.later(0);
    cx.request_options.idempotency = Some(request);
    let first = house.call_in(&cx, "merchant_suspend", params).done();
    assert_eq!(first["statusReason"], "fraud");
    let known = house.platform.idempotency_known(
        house.caller(),
        cx.request_options.idempotency.as_ref().unwrap(),
        cx.now,
    );
    let known = house.runtime().block_on(known).unwrap();
    let onboarding::idempotency::Known::Answer(kept) = known else { panic!("{known:?}") };
    assert_eq!(serde_json::from_str::<Value>(&kept.body).unwrap(), first);
    assert!(kept.headers.contains_key("etag"));
}

#[test]
fn unique_accounts_are_a_setting_of_replacements_too() {
    let house = House::with_settings(Settings { unique_profiles: true, ..Settings::default() });
    let one = house.onboard(body("full-zcrd")).unwrap()["data"].clone();
    let other = house.onboard(body("full-zcrd")).unwrap()["data"].clone();
    let put = |tpn: &Value, number: &str| {
        let profile = json!({
            "profileId": "01", "TerminalNumber": number, "Password": "p", "Track2": "PINPAD1",
        });
        house.ask(
            "profile_put",
            json!({
                "tpn": tpn, "profileId": "01",
                "tpnProcessor": { "processorName": "ZCRD", "profile": [profile] },
            }),
        )
    };
    put(&one["tpn"], "4711").done();
    put(&one["tpn"], "4711").done();
    let refused = put(&other["tpn"], "4711").refused();
    assert_eq!(refused, ["duplicate_profile tpnProcessor.profile[0].profileId"]);
}
