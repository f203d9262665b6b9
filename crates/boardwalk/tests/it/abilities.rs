//! Onboarding as an ability of the site, by the real server: the same schema, rules and records as
//! the endpoint of the one call.

use serde_json::{Value, json};
use testkit::http::{self, Response};

use crate::support::{Running, Site, basic, body, text};

const ABILITY: &str = "/wp-json/wp-abilities/v1/abilities/boardwalk/onboard-merchant";

struct Programs {
    site: Site,
    running: Running,
}

impl Programs {
    fn new(site: Site) -> Self {
        let running = site.serve();
        Self { site, running }
    }

    /// A user with an application password.
    fn user(&self, login: &str, role: &str) -> String {
        let email = format!("{login}@example.test");
        let who = ["--login", login, "--email", &email, "--role", role];
        self.site.json(&[&["user", "create"], &who[..]].concat());
        let made = self.site.json(&["user", "app-password", "--login", login, "--name", "Work"]);
        basic(&format!("{login}:{}", text(&made, "password")))
    }

    fn run(&self, who: &str, input: &Value) -> Response {
        let path = format!("{ABILITY}/run");
        let headers = [("Authorization", who)];
        http::post(&self.running.url, &path, &headers, &json!({ "input": input })).unwrap()
    }
}

on_both_engines!(a_merchant_is_onboarded_by_name);

fn a_merchant_is_onboarded_by_name(site: Site) {
    let programs = Programs::new(site);
    let iso = programs.site.iso("North Harbor");
    let key = programs.site.key(&iso);
    let (admin, reader) =
        (programs.user("admin", "administrator"), programs.user("r", "subscriber"));
    let shown = http::get(&programs.running.url, ABILITY, &[("Authorization", &admin)]).unwrap();
    let shown = shown.json().unwrap();
    let document = http::get(&programs.running.url, "/v1/openapi.json", &[]).unwrap();
    let document = document.json().unwrap();
    assert!(document["paths"]["/v1/onboardmerchant"].is_object());
    let shapes = shown["input_schema"]["anyOf"].as_array().unwrap();
    assert_eq!(shapes.len(), 3);
    for part in ["merchantData", "storeData", "tpnData", "isoId"] {
        assert!(shapes.iter().all(|shape| shape["properties"][part].is_object()), "{part}");
    }
    assert_eq!(shown["meta"]["annotations"]["readonly"], false);

    let mut input = body("Ability Diner");
    // An administrator says for whom; nobody else may.
    assert_eq!(programs.run(&admin, &input).status, 403);
    input["isoId"] = json!(iso);
    let refused = programs.run(&reader, &input);
    assert_eq!(refused.status, 403, "{}", refused.text());
    assert!(refused.text().contains("rest_ability_cannot_execute"));

    let mut wrong = input.clone();
    wrong["merchantData"]["zipCode"] = json!("99999999");
    wrong["storeData"]["email"] = json!("nobody");
    let refused = programs.run(&admin, &wrong);
    assert_eq!(refused.status, 400, "{}", refused.text());
    let errors = refused.json().unwrap()["data"]["errors"].clone();
    let params: Vec<&str> =
        errors.as_array().unwrap().iter().filter_map(|error| error["param"].as_str()).collect();
    assert_eq!(params, ["merchantData.zipCode", "storeData.email"]);

    let onboarded = programs.run(&admin, &input);
    assert_eq!(onboarded.status, 200, "{}", onboarded.text());
    let merchant = text(&onboarded.json().unwrap()["data"], "merchantId");
    let read = programs.running.get(&format!("/v1/merchants/{merchant}"), &key);
    assert_eq!(read.status, 200, "{}", read.text());
    // The name is taken now, as for every other way in.
    let again = programs.run(&admin, &input);
    assert!((400..500).contains(&again.status), "{}", again.text());
    assert!(again.text().contains("ability_invalid_input"), "{}", again.text());
}
