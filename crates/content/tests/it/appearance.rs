//! Templates, styles and blocks: what the theme brings, and what people make of it.

use serde_json::json;
use types::Role;

use crate::support::{ADMIN, NOBODY, TestSite, now};

const PARTS: &str = "/wp/v2/template-parts";
const TEMPLATES: &str = "/wp/v2/templates";
/// The theme of a new site.
const THEME: &str = frame::compatible::STYLESHEET;

#[test]
fn a_template_of_the_theme_is_changed_and_comes_back() {
    let site = TestSite::new();
    let path = format!("{TEMPLATES}/{THEME}//single");
    let shipped = site.get(&path, ADMIN).json;
    assert_eq!((&shipped["source"], &shipped["wp_id"]), (&json!("theme"), &json!(0)));
    assert!(shipped["content"]["raw"].as_str().unwrap().contains("wp:post-content"), "{shipped}");

    let body = json!({ "content": "<!-- wp:post-title /-->" });
    let changed = site.ask("PUT", &path, ADMIN, &body).json;
    assert_eq!(changed["source"], "custom");
    assert_eq!(
        (&changed["origin"], &changed["original_source"]),
        (&json!("theme"), &json!("theme"))
    );
    assert_eq!(changed["title"]["raw"], shipped["title"]["raw"], "what was left out stays");
    let listed = site.get(TEMPLATES, ADMIN).json;
    let same = listed.as_array().unwrap().iter().filter(|one| one["slug"] == "single");
    assert_eq!(same.count(), 1, "one stands for the other");

    let body = json!({ "content": "<!-- wp:post-date /-->" });
    site.ask("PUT", &path, ADMIN, &body);
    let revisions = site.get(&format!("{path}/revisions"), ADMIN).json;
    let texts: Vec<&str> = revisions
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["content"]["raw"].as_str().unwrap())
        .collect();
    assert_eq!(texts, ["<!-- wp:post-date /-->", "<!-- wp:post-title /-->"]);
    assert_eq!(revisions[0]["parent"], changed["wp_id"]);
    let autosaves = format!("{path}/autosaves");
    let saved = site.ask("POST", &autosaves, ADMIN, &json!({ "content": "typed" }));
    assert_eq!((saved.status, &saved.json["content"]["raw"]), (200, &json!("typed")));

    let deleted = site.ask("DELETE", &format!("{path}?force=true"), ADMIN, &json!(null));
    assert_eq!(deleted.json["deleted"], true, "{}", deleted.json);
    assert_eq!(site.get(&path, ADMIN).json["content"], shipped["content"]);
    let refused = site.ask("DELETE", &path, ADMIN, &json!(null));
    assert_eq!(refused.refusal(), (400, "rest_invalid_template"), "a file is no one's to delete");
    let none = site.get(&format!("{path}/revisions"), ADMIN);
    assert_eq!(none.refusal(), (400, "rest_invalid_template"));
}

#[test]
fn parts_belong_to_areas_and_have_names_of_their_own() {
    let mut site = TestSite::new();
    site.user("editor", Role::Editor);
    site.user("reader", Role::Subscriber);
    let body = json!({ "slug": "aside", "title": "Aside", "area": "sidebar" });
    let made = site.ask("POST", PARTS, ADMIN, &body);
    assert_eq!((made.status, &made.json["id"]), (201, &json!(format!("{THEME}//aside"))));
    let again = site.ask("POST", PARTS, ADMIN, &body).json;
    assert_eq!(again["slug"], "aside-2");
    let of_area = site.get(&format!("{PARTS}?area=sidebar"), "editor");
    assert_eq!(of_area.each("slug"), ["aside-2", "aside"]);
    let path = format!("{PARTS}/{THEME}//aside");
    let moved = site.ask("PUT", &path, ADMIN, &json!({ "area": "nowhere" })).json;
    assert_eq!(moved["area"], "uncategorized");
    let trashed = site.ask("DELETE", &path, ADMIN, &json!(null)).json;
    assert_eq!(trashed["status"], "trash");
    assert_eq!(site.get(&path, ADMIN).refusal(), (404, "rest_template_not_found"));

    let denied = "rest_cannot_manage_templates";
    assert_eq!(site.ask("POST", PARTS, "editor", &body).refusal(), (403, denied));
    assert_eq!(site.get(PARTS, "reader").refusal(), (403, denied));
    assert_eq!(site.get(PARTS, NOBODY).refusal(), (401, denied));
}

#[test]
fn a_template_that_is_missing_is_stood_in_for() {
    let site = TestSite::new();
    for (query, expected) in [
        ("slug=single-post-hello", "single"),
        ("slug=page-about", "page"),
        ("slug=category-news", "archive"),
        ("slug=landing&is_custom=true", "page"),
        ("slug=whatever", "index"),
    ] {
        let found = site.get(&format!("{TEMPLATES}/lookup?{query}"), ADMIN).json;
        assert_eq!(found["slug"], expected, "{query}: {found}");
    }
    let of_pages = site.get(&format!("{TEMPLATES}?post_type=page"), ADMIN);
    assert_eq!(of_pages.each("slug"), ["page-no-title"]);
    assert!(site.get(&format!("{TEMPLATES}?post_type=post"), ADMIN).each("slug").is_empty());
}

#[test]
fn styles_are_changed_by_some_and_their_revisions_kept() {
    let mut site = TestSite::new();
    site.user("editor", Role::Editor);
    let styles = site.write(|conn| {
        let options = frame::Options::read(conn)?;
        frame::appearance::styles_of(conn, &options, now(), THEME)
    });
    let path = format!("/wp/v2/global-styles/{}", styles.post_id);
    let body = json!({ "styles": { "color": { "text": "#123456" } } });
    let changed = site.ask("PUT", &path, ADMIN, &body);
    assert_eq!(
        (changed.status, &changed.json["styles"]),
        (200, &body["styles"]),
        "{}",
        changed.json
    );
    let body = json!({ "settings": { "color": { "custom": false } } });
    let changed = site.ask("PUT", &path, ADMIN, &body).json;
    assert_eq!(changed["styles"]["color"]["text"], "#123456", "what was left out stays");
    let revisions = site.get(&format!("{path}/revisions"), ADMIN).json;
    assert_eq!(revisions.as_array().map(Vec::len), Some(2), "{revisions}");
    assert_eq!(revisions[1]["settings"], json!({}));
    let css = json!({ "styles": { "css": "a{}</style><script>" } });
    let refused = site.ask("PUT", &path, ADMIN, &css);
    assert_eq!(refused.refusal(), (400, "rest_custom_css_illegal_markup"));
    assert_eq!(site.ask("PUT", &path, "editor", &css).refusal(), (403, "rest_cannot_edit"));
    assert_eq!(site.get(&path, "editor").status, 200);
    assert_eq!(site.get(&path, NOBODY).refusal(), (401, "rest_cannot_view"));
}
