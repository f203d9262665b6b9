//! Namespaces of the site's own: surveys, the look of the pages and their parts.

use serde_json::json;
use types::Role;

use crate::support::{ADMIN, NOBODY, TestSite, now};

const SURVEYS: &str = "/boardwalk-survey/v1/surveys";

#[test]
fn everybody_counts_once_in_a_survey() {
    let mut site = TestSite::new();
    site.user("ada", Role::Customer);
    site.user("max", Role::Customer);
    let answers = format!("{SURVEYS}/ordering/answers");
    assert_eq!(site.get(SURVEYS, NOBODY).each("slug"), [json!("ordering"), json!("managing")]);
    let empty =
        json!({ "survey": "ordering", "count": 0, "average": null, "scores": [0, 0, 0, 0, 0] });
    assert_eq!(site.get(&answers, ADMIN).json, empty);
    for (who, score) in [("ada", 1), ("ada", 4), ("max", 5)] {
        let answer = site.ask("POST", &answers, who, &json!({ "score": score }));
        assert_eq!((answer.status, &answer.json["score"]), (201, &json!(score)));
    }
    let seen = site.get(&answers, ADMIN).json;
    let expected =
        json!({ "survey": "ordering", "count": 2, "average": 4.5, "scores": [0, 0, 0, 1, 1] });
    assert_eq!(seen, expected);
    for (method, path, who, body, refusal) in [
        ("GET", &*answers, "ada", json!({}), (403, "rest_cannot_view")),
        ("POST", &*answers, NOBODY, json!({ "score": 3 }), (401, "rest_cannot_create")),
        ("POST", &*answers, "ada", json!({ "score": 6 }), (400, "rest_invalid_param")),
        ("POST", &*answers, "ada", json!({}), (400, "rest_missing_callback_param")),
    ] {
        assert_eq!(site.ask(method, path, who, &body).refusal(), refusal, "{method} {who} {body}");
    }
    let managing = format!("{SURVEYS}/managing/answers");
    let refused = site.ask("POST", &managing, "ada", &json!({ "score": 3 }));
    assert_eq!(refused.refusal(), (403, "rest_cannot_create"));
    let unknown = site.get(&format!("{SURVEYS}/nope/answers"), ADMIN);
    assert_eq!(unknown.refusal(), (404, "rest_survey_not_found"));
}

#[test]
fn the_look_of_the_pages_is_told_as_data() {
    let site = TestSite::new();
    let look = site.get("/boardwalk-theme/v1/look", NOBODY).json;
    assert_eq!((&look["colors"]["paper"], &look["style"]), (&json!("#faf9f6"), &json!("")));
    let styles = site.write(|conn| {
        let options = frame::Options::read(conn)?;
        let theme = frame::appearance::active_stylesheet(&options);
        frame::appearance::styles_of(conn, &options, now(), &theme)
    });
    let path = format!("/wp/v2/global-styles/{}", styles.post_id);
    let chosen = json!({ "styles": { "color": { "background": "#102030", "text": "#fff" } } });
    assert_eq!(site.ask("PUT", &path, ADMIN, &chosen).status, 200);
    let look = site.get("/boardwalk-theme/v1/look", NOBODY).json;
    assert_eq!(
        (&look["colors"]["paper"], &look["colors"]["ink"]),
        (&json!("#102030"), &json!("#ffffff"))
    );
    assert!(look["style"].as_str().unwrap().contains("--paper:#102030;"), "{look}");
    let parts = site.get("/boardwalk-pages/v1/parts", NOBODY);
    let slugs = ["header", "menu", "footer", "widgets"].map(|slug| json!(slug));
    assert_eq!(parts.each("slug"), slugs);
}
