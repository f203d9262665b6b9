//! Texts of posts and pages: behind a password, cleaned of hostile markup, and kept as revisions.

use serde_json::{Value, json};
use types::Role;

use crate::content_items::{at, id_of, make};
use crate::support::{ADMIN, NOBODY, TestSite};

const POSTS: &str = "/wp/v2/posts";

#[test]
fn a_password_hides_content_and_excerpt() {
    let site = TestSite::new();
    let body = json!({
        "title": "T", "content": "Secret", "excerpt": "Also", "status": "publish",
        "password": "open sesame",
    });
    let path = at(POSTS, &make(&site, POSTS, ADMIN, &body));
    let hidden = site.get(&path, NOBODY).json;
    assert_eq!(hidden["content"], json!({ "rendered": "", "protected": true }));
    assert_eq!(hidden["excerpt"], json!({ "rendered": "", "protected": true }));
    assert!(hidden["class_list"].to_string().contains("post-password-required"));
    let wrong = site.get(&format!("{path}?password=open"), NOBODY);
    assert_eq!(wrong.refusal(), (403, "rest_post_incorrect_password"));
    let shown = site.get(&format!("{path}?password=open+sesame"), NOBODY).json;
    assert_eq!(shown["content"]["rendered"], "<p>Secret</p>\n");
    assert!(site.get(POSTS, NOBODY).json.to_string().contains("\"rendered\":\"\""));
    let sticky = site.ask("PUT", &path, ADMIN, &json!({ "sticky": true }));
    assert_eq!(sticky.refusal(), (400, "rest_invalid_field"));
}

#[test]
fn markup_is_cleaned_for_those_who_are_not_trusted_with_it() {
    let mut site = TestSite::new();
    site.user("author", Role::Author);
    site.user("manager", Role::ShopManager);
    let hostile = "<p onclick=\"x()\">Hi<script>alert(1)</script></p>";
    let body = json!({ "title": "<b>T</b><img src=x onerror=y>", "content": hostile,
        "excerpt": { "raw": "<iframe src=x></iframe>e" } });
    for who in ["author", "manager"] {
        let post = make(&site, POSTS, who, &body);
        assert_eq!(post["title"]["raw"], "<b>T</b>", "{who}");
        assert_eq!(post["content"]["raw"], "<p>Hi</p>", "{who}");
        assert_eq!(post["excerpt"]["raw"], "e", "{who}");
        assert!(post["_links"].get("wp:action-unfiltered-html").is_none(), "{who}");
    }
    assert_eq!(make(&site, POSTS, ADMIN, &body)["content"]["raw"], hostile);
    // What is no text is no text.
    let odd = json!({ "title": ["x"], "content": { "raw": 7 }, "excerpt": "\u{0}e" });
    let post = make(&site, POSTS, ADMIN, &odd);
    assert_eq!((&post["title"]["raw"], &post["excerpt"]["raw"]), (&json!(""), &json!("e")));
}

#[test]
fn each_change_of_a_text_keeps_a_revision() {
    let mut site = TestSite::new();
    site.user("author", Role::Author);
    let post = make(&site, POSTS, ADMIN, &json!({ "title": "One", "status": "publish" }));
    let path = at(POSTS, &post);
    for (body, count) in [
        (json!({ "title": "Two" }), 1),
        (json!({ "content": "C" }), 2),
        (json!({ "sticky": true }), 2),
        (json!({ "excerpt": "E" }), 3),
    ] {
        let changed = site.ask("PUT", &path, ADMIN, &body).json;
        assert_eq!(changed["_links"]["version-history"][0]["count"], count, "{body}");
        let latest = id_of(&changed["_links"]["predecessor-version"][0]);
        assert!(latest > id_of(&post));
    }
    let revisions = format!("{path}/revisions");
    let list = site.get(&revisions, ADMIN);
    assert_eq!((list.header("x-wp-total"), list.header("x-wp-totalpages")), ("3", "1"));
    assert_eq!(list.each("parent"), [post["id"].clone(), post["id"].clone(), post["id"].clone()]);
    let titles: Vec<&str> = list
        .json
        .as_array()
        .unwrap()
        .iter()
        .map(|r| r["title"]["rendered"].as_str().unwrap())
        .collect();
    assert_eq!(titles, ["Two", "Two", "Two"]);
    assert_eq!(site.get(&format!("{revisions}?per_page=2&page=2"), ADMIN).each("id").len(), 1);
    let beyond = site.get(&format!("{revisions}?per_page=2&page=3"), ADMIN);
    assert_eq!(beyond.refusal(), (400, "rest_revision_invalid_page_number"));
    assert_eq!(site.get(&revisions, NOBODY).refusal(), (401, "rest_cannot_read"));
    assert_eq!(site.get(&revisions, "author").refusal(), (403, "rest_cannot_read"));
    let latest = list.each("id")[0].clone();
    let one = format!("{revisions}/{latest}");
    assert_eq!(site.get(&one, ADMIN).json["slug"], format!("{}-revision-v1", post["id"]));
    let kept = site.ask("DELETE", &one, ADMIN, &Value::Null);
    assert_eq!(kept.refusal(), (501, "rest_trash_not_supported"));
    let deleted = site.ask("DELETE", &format!("{one}?force=1"), ADMIN, &Value::Null);
    assert_eq!(deleted.json["deleted"], true);
    assert_eq!(site.get(&one, ADMIN).refusal(), (404, "rest_post_invalid_id"));
    let nowhere = site.get("/wp/v2/posts/9999/revisions", ADMIN);
    assert_eq!(nowhere.refusal(), (404, "rest_post_invalid_parent"));
}
