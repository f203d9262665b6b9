//! Abilities and the health of the site: who may, in which order refusals come, what comes back.

use serde_json::json;
use types::Role;

use crate::content_items::make;
use crate::support::{ADMIN, HOME, NOBODY, TestSite};

const ABILITIES: &str = "/wp-abilities/v1/abilities";

#[test]
fn abilities_are_listed_with_the_schemas_of_their_routes() {
    let mut site = TestSite::new();
    site.user("reader", Role::Subscriber);
    assert_eq!(site.get(ABILITIES, NOBODY).refusal(), (401, "rest_forbidden"));
    let list = site.get(ABILITIES, "reader");
    assert!(list.each("name").contains(&json!("core/get-site-info")), "{}", list.json);
    let search = site.get(&format!("{ABILITIES}/boardwalk/search"), "reader").json;
    let input = &search["input_schema"]["properties"];
    assert_eq!(input["type"]["enum"], json!(["post", "term", "post-format"]));
    assert_eq!(search["output_schema"]["title"], "search-result");
    let run = format!("{HOME}/wp-json{ABILITIES}/boardwalk/search/run");
    assert_eq!(search["_links"]["wp:action-run"][0]["href"], run);
    let of_site = site.get(&format!("{ABILITIES}?category=site&_fields=name"), "reader");
    assert_eq!(of_site.header("x-wp-total"), "2");
    let unknown = site.get(&format!("{ABILITIES}/nope/nope"), "reader");
    assert_eq!(unknown.refusal(), (404, "rest_ability_not_found"));
    let categories = site.get("/wp-abilities/v1/categories", "reader");
    assert!(categories.each("slug").contains(&json!("reports")));
    let unknown = site.get("/wp-abilities/v1/categories/nope", "reader");
    assert_eq!(unknown.refusal(), (404, "rest_ability_category_not_found"));
}

#[test]
fn an_unknown_name_comes_before_rights_and_a_wrong_method_after_it() {
    let mut site = TestSite::new();
    site.user("reader", Role::Subscriber);
    let run = |name: &str| format!("{ABILITIES}/{name}/run");
    let info = run("core/get-site-info");
    for (method, path, who, expected) in [
        ("GET", run("nope/nope"), NOBODY, (404, "rest_ability_not_found")),
        ("POST", info.clone(), ADMIN, (405, "rest_ability_invalid_method")),
        ("GET", info.clone(), "reader", (403, "rest_ability_cannot_execute")),
        ("GET", info.clone(), NOBODY, (401, "rest_ability_cannot_execute")),
        ("GET", format!("{info}?input[fields][]=nope"), ADMIN, (400, "ability_invalid_input")),
        ("GET", format!("{info}?input[other]=1"), ADMIN, (400, "ability_invalid_input")),
    ] {
        let answer = site.ask(method, &path, who, &json!({}));
        assert_eq!(answer.refusal(), expected, "{method} {path} {who}");
    }
    let all = site.get(&info, ADMIN).json;
    assert_eq!((&all["name"], &all["url"]), (&json!("Boardwalk"), &json!(HOME)));
    let one = site.get(&format!("{info}?input[fields][]=name"), ADMIN).json;
    assert_eq!(one, json!({ "name": "Boardwalk" }));
}

#[test]
fn an_ability_is_a_request_to_its_route() {
    let site = TestSite::new();
    make(&site, "/wp/v2/posts", ADMIN, &json!({ "title": "Tide", "status": "publish" }));
    let run = format!("{ABILITIES}/boardwalk/search/run");
    let found = site.get(&format!("{run}?input[search]=tide"), ADMIN);
    assert_eq!(found.each("title"), [json!("Tide")]);
    let wrong = site.get(&format!("{run}?input[type]=other"), ADMIN);
    assert_eq!(wrong.refusal(), (400, "ability_invalid_input"));
}

#[test]
fn the_health_of_the_site_is_for_administrators() {
    let mut site = TestSite::new();
    site.user("editor", Role::Editor);
    for test in [
        "background-updates",
        "loopback-requests",
        "https-status",
        "dotorg-communication",
        "authorization-header",
        "page-cache",
    ] {
        let path = format!("/wp-site-health/v1/tests/{test}");
        assert_eq!(site.get(&path, NOBODY).refusal(), (401, "rest_forbidden"), "{test}");
        assert_eq!(site.get(&path, "editor").refusal(), (403, "rest_forbidden"), "{test}");
        let found = site.get(&path, ADMIN).json;
        assert_eq!(found["test"], test.replace('-', "_"));
        assert!(found["badge"]["color"].is_string(), "{found}");
    }
    let status = |test: &str| {
        site.get(&format!("/wp-site-health/v1/tests/{test}"), ADMIN).json["status"].clone()
    };
    assert_eq!(status("https-status"), "good");
    assert_eq!(status("authorization-header"), "good");
    assert_eq!(status("loopback-requests"), "recommended", "nothing is reachable here");
    assert_eq!(status("background-updates"), "critical", "nobody works in the background here");
}
