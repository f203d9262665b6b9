//! The two published forms of an answer.

use contract::{IssueKind, Issues};
use onboarding::dialect::{ErrorItem, ResponseStyle, denied_body, error_items, failure_body};
use onboarding::{Code, Settings};
use serde_json::{Value, json};

use crate::support::House;

fn read(body: &[u8]) -> Value {
    serde_json::from_slice(body).unwrap()
}

fn items() -> Vec<ErrorItem> {
    let mut issues = Issues::default();
    issues.add("storeData.dba", IssueKind::rule(Code::AlreadyExists.name(), "It exists."));
    issues.add("tpnData.deviceModel", IssueKind::Missing);
    error_items(&issues)
}

#[test]
fn a_failure_in_detail_lists_every_error() {
    let body = failure_body(ResponseStyle::Detailed, "Store onboard failure", items());
    assert_eq!(
        read(&body),
        json!({
            "message": "Store onboard failure",
            "errors": [
                { "code": "already_exists", "message": "It exists.", "param": "storeData.dba" },
                {
                    "code": "mandatory_field", "message": "This field is mandatory.",
                    "param": "tpnData.deviceModel",
                },
            ],
        })
    );
}

#[test]
fn a_failure_in_summary_is_the_first_error_flat() {
    let body = failure_body(ResponseStyle::Summary, "Store onboard failure", items());
    assert_eq!(
        read(&body),
        json!({ "code": "already_exists", "message": "It exists.", "param": "storeData.dba" })
    );
    // Without an error there is nothing to put flat.
    let body = failure_body(ResponseStyle::Summary, "Request failure", Vec::new());
    assert_eq!(read(&body), json!({ "message": "Request failure", "errors": [] }));
}

#[test]
fn a_denial_has_the_text_of_its_style_and_no_errors() {
    for (style, message) in [
        (ResponseStyle::Detailed, "Access denied, invalid authorization token!"),
        (ResponseStyle::Summary, "Unauthorized Access / Forbidden"),
    ] {
        assert_eq!(read(&denied_body(style)), json!({ "message": message, "errors": [] }));
        assert_eq!(style.name().parse(), Ok(style));
    }
    assert!("brief".parse::<ResponseStyle>().is_err());
}

#[test]
fn success_has_the_text_of_its_style() {
    for (style, messages) in [
        (
            ResponseStyle::Detailed,
            ["Merchant onboard successfully", "Store onboard successfully", "TPN onboard success"],
        ),
        (ResponseStyle::Summary, ["Merchant created successfully"; 3]),
    ] {
        let house = House::with(Settings::default(), style);
        for (base, message) in
            ["full-cknx", "store-and-tpn-cknx", "tpn-only-cknx"].into_iter().zip(messages)
        {
            let answer = house.onboard(house.staged_body(base)).unwrap();
            assert_eq!(answer["message"], message);
            let members: Vec<&String> = answer.as_object().unwrap().keys().collect();
            assert_eq!(members, ["message", "data"]);
            let ids: Vec<&String> = answer["data"].as_object().unwrap().keys().collect();
            assert_eq!(ids, ["merchantId", "storeId", "tpn"]);
        }
        assert_eq!(house.caller().style(), style);
    }
}

#[test]
fn every_code_is_in_the_catalogue_once() {
    let house = House::new();
    let list = house.get("error_list", json!({})).unwrap();
    let mut names: Vec<&str> =
        list["data"].as_array().unwrap().iter().map(|row| row["code"].as_str().unwrap()).collect();
    assert_eq!(names.len(), Code::ALL.len());
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), Code::ALL.len());
    // The published ones, word for word.
    assert!(names.contains(&"already_exists") && names.contains(&"mandatory_field"));
}
