//! The settings of the site over REST.

use serde_json::{Value, json};
use types::Role;

use crate::support::{ADMIN, HOME, NOBODY, TestSite};

const SETTINGS: &str = "/wp/v2/settings";

#[test]
fn settings_have_their_types_and_defaults() {
    let site = TestSite::new();
    let answer = site.get(SETTINGS, ADMIN);
    assert_eq!((answer.status, answer.header("allow")), (200, "GET, POST, PUT, PATCH"));
    let settings = answer.json;
    assert_eq!(settings.as_object().unwrap().len(), 23);
    for (name, expected) in [
        ("title", json!("Boardwalk")),
        ("url", json!(HOME)),
        ("timezone", json!("")),
        ("start_of_week", json!(1)),
        ("use_smilies", json!(true)),
        ("posts_per_page", json!(10)),
        ("default_comment_status", json!("open")),
        ("places", json!([])),
        ("pickup", json!({ "title": "Pickup" })),
        ("phone", json!("optional")),
    ] {
        assert_eq!(settings[name], expected, "{name}");
    }
}

#[test]
fn only_administrators_see_and_change_them() {
    let mut site = TestSite::new();
    site.user("manager", Role::ShopManager);
    for (who, status) in [(NOBODY, 401), ("manager", 403)] {
        for (method, body) in [("GET", Value::Null), ("POST", json!({ "title": "Mine" }))] {
            let answer = site.ask(method, SETTINGS, who, &body);
            assert_eq!(answer.refusal(), (status, "rest_forbidden"), "{who:?} {method}");
            assert_eq!(answer.header("allow"), "");
        }
    }
    assert_eq!(site.get(SETTINGS, ADMIN).json["title"], json!("Boardwalk"));
}

#[test]
fn a_change_is_checked_converted_and_kept() {
    let site = TestSite::new();
    for (given, expected) in [
        (json!({ "title": " A <b>shop</b> " }), json!("A shop")),
        (json!({ "timezone": "europe/rome" }), json!("Europe/Rome")),
        (json!({ "timezone": "" }), json!("")),
        (json!({ "start_of_week": "0" }), json!(0)),
        (json!({ "use_smilies": "false" }), json!(false)),
        (json!({ "use_smilies": 1 }), json!(true)),
        (json!({ "posts_per_page": 0 }), json!(1)),
        (json!({ "posts_per_page": -1 }), json!(-1)),
        (json!({ "page_on_front": -7 }), json!(7)),
        (json!({ "url": "https://new.example/" }), json!("https://new.example")),
        (json!({ "url": null }), json!(HOME)),
        (json!({ "title": null }), json!("Boardwalk")),
        (json!({ "start_of_week": null }), json!(1)),
        (json!({ "email": "shop@example.test" }), json!("shop@example.test")),
        (
            json!({ "places": [{ "name": "Here", "enabled": "1" }] }),
            json!([{ "name": "Here", "enabled": true }]),
        ),
    ] {
        let name = given.as_object().unwrap().keys().next().unwrap().clone();
        let answer = site.ask("PUT", SETTINGS, ADMIN, &given);
        assert_eq!(answer.status, 200, "{given}: {}", answer.json);
        assert_eq!(answer.json[&name], expected, "{given}");
        assert_eq!(site.get(SETTINGS, ADMIN).json[&name], expected, "{given} is kept");
    }
}

#[test]
fn a_wrong_value_changes_nothing_at_all() {
    let site = TestSite::new();
    for (name, value) in [
        ("timezone", json!("Mars/Olympus")),
        ("timezone", json!(5)),
        ("url", json!("javascript:alert(1)")),
        ("url", json!("http://")),
        ("url", json!("ftp://shop.example")),
        ("url", json!("")),
        ("email", json!("nonsense")),
        ("start_of_week", json!(7)),
        ("start_of_week", json!("Monday")),
        ("use_smilies", json!("yes")),
        ("language", json!("xx_XX")),
        ("show_on_front", json!("tea")),
        ("default_ping_status", json!("ajar")),
        ("phone", json!("maybe")),
        ("pickup", json!({ "bogus": 1 })),
        ("description", json!("d".repeat(1_001))),
    ] {
        let given = json!({ "title": "Changed", name: value });
        let answer = site.ask("POST", SETTINGS, ADMIN, &given);
        assert_eq!(answer.refusal(), (400, "rest_invalid_param"), "{given}");
        assert!(answer.json["data"]["params"].get(name).is_some(), "{given}: {}", answer.json);
    }
    assert_eq!(site.get(SETTINGS, ADMIN).json["title"], json!("Boardwalk"));
    let unknown = site.ask("POST", SETTINGS, ADMIN, &json!({ "siteurl": "https://x.example" }));
    assert_eq!((unknown.status, &unknown.json["url"]), (200, &json!(HOME)));
}

#[test]
fn the_address_that_the_site_is_given_stands_in_its_links() {
    let site = TestSite::without_address();
    assert_eq!(site.get("/", NOBODY).json["home"], "http://shop.example");
    let changed = json!({ "url": "https://pier.example" });
    assert_eq!(site.ask("POST", "/wp/v2/settings", ADMIN, &changed).status, 200);
    assert_eq!(site.get("/", NOBODY).json["home"], "https://pier.example");
}
