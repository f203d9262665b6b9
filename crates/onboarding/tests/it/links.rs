//! Forms that ISOs send to merchants: who sees them, what is kept of them, and that they become
//! merchants through the one call.

use onboarding::idempotency::Idempotency;
use onboarding::{Cx, RequestOptions, lifecycle};
use serde_json::{Value, json};
use types::Timestamp;

use crate::bodies::body_with;
use crate::support::{Answered, House, now};

const DBA: &str = "Seagull Cafe";
const DAY: u64 = 24 * 3_600;
const STALE: [&str; 1] = ["invalid_value token"];

on_both_engines!(
    a_form_becomes_a_merchant,
    a_draft_is_kept_as_it_was_typed,
    a_link_ends,
    others_see_nothing,
    a_form_is_checked_like_an_onboarding,
    what_was_entered_is_erased,
    a_repeated_onboarding_is_answered_once,
);

/// A request without credentials, some seconds later.
fn visitor(house: &House, seconds: u64) -> Cx {
    Cx { caller: None, ..house.later(seconds) }
}

fn by_merchant(house: &House, name: &str, params: Value) -> Answered {
    house.call_in(&visitor(house, 0), name, params)
}

/// A link that is not sent by e-mail, and its token.
fn link(house: &House, more: Value) -> (Value, String) {
    let mut params = json!({ "email": "owner@pier.example", "sendEmail": false });
    params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let made = house.ask("onboarding_link_create", params).done();
    let url = made["url"].as_str().unwrap();
    let token = url.split_once("token=").unwrap().1.to_owned();
    (made, token)
}

/// A full onboarding; the same names each time.
fn whole() -> Value {
    let dba = json!(DBA);
    body_with("full-tsys", &[("merchantData.dba", dba.clone()), ("storeData.dba", dba)])
}

/// What a merchant enters: a full onboarding without its terminal.
fn entered(token: &str) -> Value {
    let whole = whole();
    json!({ "token": token, "merchantData": whole["merchantData"],
            "storeData": whole["storeData"] })
}

fn onboard(link: &Value) -> Value {
    json!({ "linkId": link["linkId"], "tpnData": whole()["tpnData"] })
}

fn shown(house: &House, link: &Value) -> Value {
    house.ask("onboarding_link_get", json!({ "linkId": link["linkId"] })).done()
}

fn kinds(house: &House) -> Vec<String> {
    house.events().into_iter().map(|(kind, _)| kind).collect()
}

fn a_form_becomes_a_merchant(house: &House) {
    let prefilled = json!({ "merchantData": { "isoMerchant": "A1", "dba": "Seagull" } });
    let (made, token) = link(house, prefilled);
    assert_eq!((&made["status"], &made["version"]), (&json!("open"), &json!(1)));
    assert_eq!(made["merchantData"]["email"], "owner@pier.example", "it is not asked twice");
    let form = by_merchant(house, "onboarding_link_open", json!({ "token": token })).done();
    assert_eq!(form["isoName"], "First ISO");
    assert_eq!(form["merchantData"], json!({ "dba": "Seagull", "email": "owner@pier.example" }));
    assert_eq!(
        house.ask("onboarding_link_onboard", onboard(&made)).refused(),
        ["illegal_transition "]
    );

    let mut params = entered(&token);
    params["merchantData"]["isoMerchant"] = json!("ZZ9");
    by_merchant(house, "onboarding_link_submit", params).done();
    let submitted = shown(house, &made);
    assert_eq!(submitted["status"], "submitted");
    assert_eq!(submitted["merchantData"]["isoMerchant"], "A1", "it is the ISO's own");
    assert_eq!(submitted["actions"], json!(["onboard", "resend", "withdraw"]));
    let form = by_merchant(house, "onboarding_link_open", json!({ "token": token })).done();
    assert_eq!((&form["status"], &form["merchantData"]), (&json!("submitted"), &Value::Null));
    let again = by_merchant(house, "onboarding_link_submit", entered(&token));
    assert_eq!(again.refused(), ["illegal_transition token"]);

    let done = house.ask("onboarding_link_onboard", onboard(&made)).done();
    let (merchant, store, tpn) = house.read_back(&done);
    assert_eq!(merchant["isoMerchant"], "A1");
    assert_eq!(merchant["dba"], DBA);
    assert_eq!(store["mccCode"], whole()["storeData"]["mccCode"]);
    assert_eq!(tpn["status"], "provisioned");
    let completed = shown(house, &made);
    assert_eq!(completed["status"], "completed");
    assert_eq!(
        (&completed["merchantId"], &completed["storeId"], &completed["tpn"]),
        (&merchant["merchantId"], &store["storeId"], &tpn["tpn"])
    );
    assert_eq!(
        kinds(house),
        [
            "onboarding_link.created",
            "onboarding_link.submitted",
            "merchant.created",
            "store.created",
            "tpn.created",
            "onboarding_link.completed",
        ]
    );
    let audit = house.ask("audit_list", json!({ "object": "onboarding_link" })).done();
    let actions: Vec<&Value> =
        audit["data"].as_array().unwrap().iter().map(|entry| &entry["action"]).collect();
    assert_eq!(actions.len(), 3, "{audit}");
    assert_eq!(
        house.ask("onboarding_link_onboard", onboard(&made)).refused(),
        ["illegal_transition "]
    );
}

fn a_draft_is_kept_as_it_was_typed(house: &House) {
    let (made, token) = link(house, json!({}));
    let draft = json!({ "token": token, "merchantData": { "dba": "S", "email": "not yet" },
                        "storeData": { "zipCode": "99" } });
    by_merchant(house, "onboarding_link_draft", draft).done();
    let form = by_merchant(house, "onboarding_link_open", json!({ "token": token })).done();
    assert_eq!(form["merchantData"], json!({ "dba": "S", "email": "not yet" }));
    assert_eq!(form["storeData"], json!({ "zipCode": "99" }));
    assert_eq!(shown(house, &made)["storeData"], json!({ "zipCode": "99" }));
    let long = json!({ "token": token, "merchantData": { "dba": "x".repeat(2_049) } });
    let refused = by_merchant(house, "onboarding_link_draft", long).refused();
    assert_eq!(refused, ["invalid_length merchantData.dba"]);
    let other = json!({ "token": token, "merchantData": { "dba": "Gull", "isoMerchant": "X" } });
    by_merchant(house, "onboarding_link_draft", other).done();
    assert_eq!(shown(house, &made)["merchantData"], json!({ "dba": "Gull" }));
    assert_eq!(kinds(house), ["onboarding_link.created"], "drafts are nobody's news");
}

fn a_link_ends(house: &House) {
    // It expires, by the clock and in the eyes of all.
    let (made, token) = link(house, json!({ "expiresInDays": 2 }));
    let open = |seconds: u64, token: &str| {
        house.call_in(&visitor(house, seconds), "onboarding_link_open", json!({ "token": token }))
    };
    open(2 * DAY - 1, &token).done();
    assert_eq!(open(2 * DAY, &token).refused(), STALE);
    let late = house.later(2 * DAY);
    let get = json!({ "linkId": made["linkId"] });
    let seen = house.call_in(&late, "onboarding_link_get", get.clone()).done();
    assert_eq!(seen["status"], "expired");
    assert_eq!(house.run_due_work(2 * DAY), 1);
    assert_eq!(kinds(house).last().unwrap(), "onboarding_link.expired");

    // Sent again, the new link works, and the one before does not.
    let resend = json!({ "linkId": made["linkId"], "sendEmail": false });
    let again = house.call_in(&late, "onboarding_link_resend", resend.clone()).done();
    assert_eq!(again["status"], "open");
    let newer = again["url"].as_str().unwrap().split_once("token=").unwrap().1.to_owned();
    assert_eq!(open(2 * DAY, &token).refused(), STALE);
    open(2 * DAY, &newer).done();
    assert_eq!(house.run_due_work(3 * DAY), 0, "it has its days again");

    // A form that was submitted can be corrected.
    let submit = |seconds| {
        house.call_in(&visitor(house, seconds), "onboarding_link_submit", entered(&newer))
    };
    submit(2 * DAY).done();
    let third = house.call_in(&late, "onboarding_link_resend", resend.clone()).done();
    assert_eq!(third["merchantData"]["dba"], DBA);
    let newest = third["url"].as_str().unwrap().split_once("token=").unwrap().1.to_owned();
    assert_eq!(submit(2 * DAY).refused(), STALE);

    // Withdrawn, it is over for good.
    house.call_in(&late, "onboarding_link_withdraw", get).done();
    assert_eq!(open(2 * DAY, &newest).refused(), STALE);
    let refused = house.call_in(&late, "onboarding_link_resend", resend).refused();
    assert_eq!(refused, ["illegal_transition "]);
}

fn others_see_nothing(house: &House) {
    let (made, token) = link(house, json!({}));
    let stranger = house.caller_of_another_iso();
    let named = json!({ "linkId": made["linkId"] });
    assert!(house.get_as(&stranger, "onboarding_link_get", named).is_none());
    let list = house.get_as(&stranger, "onboarding_link_list", json!({})).unwrap();
    assert_eq!(list["data"], json!([]));
    let theirs = Cx { caller: Some(stranger), ..house.later(0) };
    let quiet = json!({ "linkId": made["linkId"], "sendEmail": false });
    for name in ["onboarding_link_resend", "onboarding_link_withdraw"] {
        assert!(house.call_in(&theirs, name, quiet.clone()).is_not_found(), "{name}");
    }
    by_merchant(house, "onboarding_link_submit", entered(&token)).done();
    assert!(house.call_in(&theirs, "onboarding_link_onboard", onboard(&made)).is_not_found());
    let mut wrong = token.clone();
    wrong.replace_range(..1, if token.starts_with('0') { "1" } else { "0" });
    for name in ["onboarding_link_open", "onboarding_link_draft"] {
        let refused = by_merchant(house, name, json!({ "token": wrong })).refused();
        assert_eq!(refused, STALE, "{name}");
    }
    assert_eq!(by_merchant(house, "onboarding_link_submit", entered(&wrong)).refused(), STALE);
    // The form never tells of other merchants; the ISO learns of them.
    house.onboard(whole()).unwrap();
    let refused = house.ask("onboarding_link_onboard", onboard(&made)).refused();
    assert_eq!(refused, ["already_exists merchantData.dba", "already_exists storeData.dba"]);
    assert_eq!(shown(house, &made)["status"], "submitted");
    let mut renamed = onboard(&made);
    renamed["merchantData"] = json!({ "dba": "Seagull Two" });
    renamed["storeData"] = json!({ "dba": "Seagull Two" });
    let done = house.ask("onboarding_link_onboard", renamed).done();
    assert_eq!(house.read_back(&done).0["dba"], "Seagull Two");
}

fn a_form_is_checked_like_an_onboarding(house: &House) {
    let (made, token) = link(house, json!({}));
    let mut wrong = entered(&token);
    wrong["merchantData"]["dba"] = json!("");
    wrong["merchantData"]["zipCode"] = json!("00000");
    wrong["storeData"]["mccCode"] = json!("12");
    let mut other = whole();
    other["merchantData"] = wrong["merchantData"].clone();
    other["storeData"] = wrong["storeData"].clone();
    let refused = by_merchant(house, "onboarding_link_submit", wrong).refused();
    assert_eq!(refused, house.errors(other));
    let card = json!({ "token": token, "merchantData": { "dba": "4111 1111 1111 1111" } });
    let refused = by_merchant(house, "onboarding_link_draft", card).refused();
    assert_eq!(refused, ["prohibited_data merchantData.dba"]);

    // What is wrong with the terminal is told together with what is looked up.
    house.onboard(whole()).unwrap();
    by_merchant(house, "onboarding_link_submit", entered(&token)).done();
    let mut terminal = onboard(&made);
    terminal["tpnData"]["deviceModel"] = json!("None");
    let mut other = whole();
    other["tpnData"] = terminal["tpnData"].clone();
    let refused = house.ask("onboarding_link_onboard", terminal).refused();
    assert_eq!(refused, house.errors(other));
    let wrong = json!({ "email": "owner@pier.example", "sendEmail": false,
                        "merchantData": { "dba": "x" } });
    let refused = house.ask("onboarding_link_create", wrong).refused();
    assert_eq!(refused, ["invalid_length merchantData.dba"]);
}

fn what_was_entered_is_erased(house: &House) {
    for action in ["onboarding_link_withdraw", "onboarding_link_onboard"] {
        let (made, token) = link(house, json!({}));
        by_merchant(house, "onboarding_link_submit", entered(&token)).done();
        house.ask(action, onboard(&made)).done();
        let seen = shown(house, &made);
        assert_eq!((&seen["merchantData"], &seen["storeData"]), (&json!({}), &json!({})));
        assert_eq!(seen["email"], "owner@pier.example");
    }
    let listed = house.ask("onboarding_link_list", json!({ "status": "withdrawn" })).done();
    assert_eq!(listed["data"].as_array().unwrap().len(), 1);
    let first = house.ask("onboarding_link_list", json!({ "limit": 1 })).done();
    assert_eq!((&first["hasMore"], first["data"].as_array().unwrap().len()), (&json!(true), 1));
    let next = json!({ "limit": 1, "cursor": first["nextCursor"] });
    let next = house.ask("onboarding_link_list", next).done();
    assert_eq!(next["hasMore"], false);
    assert_ne!(next["data"][0]["linkId"], first["data"][0]["linkId"]);
}

fn a_repeated_onboarding_is_answered_once(house: &House) {
    let (made, token) = link(house, json!({}));
    by_merchant(house, "onboarding_link_submit", entered(&token)).done();
    let iso_id = &house.iso_id;
    let path = "/v1/onboarding-links/{linkId}/onboard";
    let params = onboard(&made);
    let key = Idempotency::new(&house.platform.vault, iso_id, "once", path, &params);
    let request_options = RequestOptions { idempotency: Some(key.clone()), ..Default::default() };
    let dry = RequestOptions { validate_only: true, ..RequestOptions::default() };
    let dry = Cx { request_options: dry, ..house.later(0) };
    house.call_in(&dry, "onboarding_link_onboard", params.clone()).done();
    assert_eq!(
        (house.counts().merchants, &shown(house, &made)["status"]),
        (0, &json!("submitted"))
    );
    let cx = Cx { request_options, ..house.later(0) };
    let done = house.call_in(&cx, "onboarding_link_onboard", params).done();
    let known = house.runtime().block_on(house.platform.idempotency_known(
        house.caller(),
        &key,
        Timestamp::from_micros(now().as_micros() + 1),
    ));
    let known = format!("{:?}", known.unwrap());
    assert!(known.contains(done["data"]["merchantId"].as_str().unwrap()), "{known}");
}

#[test]
fn the_guide_has_the_table() {
    let table = lifecycle::LINK.reference_table();
    assert!(include_str!("../../../../docs/onboarding.md").contains(&table), "{table}");
}
