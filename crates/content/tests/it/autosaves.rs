//! Autosaves: what is typed is kept beside the item, for each user, and the item stays as it is.

use serde_json::json;
use types::Role;

use crate::content_items::{at, id_of, make};
use crate::support::{ADMIN, NOBODY, TestSite};

const POSTS: &str = "/wp/v2/posts";

#[test]
fn what_is_typed_is_kept_beside_a_published_item() {
    let site = TestSite::new();
    let post = make(
        &site,
        POSTS,
        ADMIN,
        &json!({
            "title": "Tide", "content": "Low", "status": "publish",
        }),
    );
    let path = format!("{}/autosaves", at(POSTS, &post));
    assert_eq!(site.get(&path, ADMIN).json, json!([]));

    let saved = site.ask("POST", &path, ADMIN, &json!({ "content": "High" }));
    assert_eq!(saved.status, 200, "{}", saved.json);
    let id = id_of(&post);
    assert_eq!(saved.json["parent"], id);
    assert_eq!(saved.json["slug"], format!("{id}-autosave-v1"));
    assert_eq!(saved.json["title"]["raw"], "Tide", "what was not typed is as it was");
    assert_eq!(saved.json["content"]["raw"], "High");
    let link = saved.json["preview_link"].as_str().unwrap();
    assert!(link.contains(&format!("preview_id={id}&preview_nonce=")), "{link}");

    let again = site.ask("POST", &path, ADMIN, &json!({ "content": "Ebb" }));
    assert_eq!(again.json["id"], saved.json["id"], "one for each user");
    let item = site.get(&at(POSTS, &post), ADMIN);
    assert!(item.json["content"]["rendered"].as_str().unwrap().contains("Low"), "{}", item.json);

    let list = site.get(&path, ADMIN).json;
    assert_eq!(list.as_array().unwrap().len(), 1);
    assert_eq!(list[0].get("preview_link"), None, "that is for editors");
    let one = format!("{path}/{}", saved.json["id"]);
    let one = site.get(&one, ADMIN).json;
    assert!(one["content"]["rendered"].as_str().unwrap().contains("Ebb"), "{one}");

    site.ask("DELETE", &format!("{}?force=true", at(POSTS, &post)), ADMIN, &json!(null));
    let deleted = site.get(&path, ADMIN);
    assert_eq!((deleted.status, deleted.code()), (404, "rest_post_invalid_parent"));
}

#[test]
fn a_draft_of_ones_own_is_saved_itself() {
    let site = TestSite::new();
    let post = make(&site, POSTS, ADMIN, &json!({ "title": "Draft" }));
    let path = format!("{}/autosaves", at(POSTS, &post));
    let saved = site.ask("POST", &path, ADMIN, &json!({ "content": "More" }));
    assert_eq!((saved.status, &saved.json["id"]), (200, &post["id"]), "{}", saved.json);
    let item = site.get(&format!("{}?context=edit", at(POSTS, &post)), ADMIN);
    assert_eq!(item.json["content"]["raw"], "More");
    assert_eq!(site.get(&path, ADMIN).json, json!([]));
}

#[test]
fn nothing_to_save_and_nobody_to_save_it_are_refused() {
    let site = TestSite::new();
    let post = make(&site, POSTS, ADMIN, &json!({ "title": "Tide", "status": "publish" }));
    let path = format!("{}/autosaves", at(POSTS, &post));
    let same = site.ask("POST", &path, ADMIN, &json!({ "title": "Tide" }));
    assert_eq!((same.status, same.code()), (400, "rest_autosave_no_changes"));
    let none = site.get(&format!("{path}/1"), ADMIN);
    assert_eq!((none.status, none.code()), (404, "rest_post_no_autosave"));
    let typed = json!({ "title": "x" });
    let nobody = site.ask("POST", &path, NOBODY, &typed);
    assert_eq!((nobody.status, nobody.code()), (401, "rest_cannot_edit"));
    let read = site.get(&path, NOBODY);
    assert_eq!((read.status, read.code()), (401, "rest_cannot_read"));
    let missing = site.ask("POST", "/wp/v2/posts/99999/autosaves", ADMIN, &typed);
    assert_eq!((missing.status, missing.code()), (404, "rest_post_invalid_id"));
}

#[test]
fn every_kind_that_is_edited_has_autosaves() {
    let mut site = TestSite::new();
    site.user("reader", Role::Subscriber);
    for kind in ["pages", "blocks", "navigation", "menu-items"] {
        let path = format!("/wp/v2/{kind}");
        let mut body = json!({ "title": "One", "status": "publish" });
        if kind == "menu-items" {
            body = json!({ "title": "One", "status": "publish", "url": "https://a.example/" });
        }
        let item = make(&site, &path, ADMIN, &body);
        let autosaves = format!("{}/autosaves", at(&path, &item));
        let saved = site.ask("POST", &autosaves, ADMIN, &json!({ "title": "Two" }));
        assert_eq!(saved.status, 200, "{kind}: {}", saved.json);
        assert_eq!(saved.json["title"]["raw"], "Two", "{kind}");
        assert_eq!(saved.json["parent"], item["id"], "{kind}");
        assert_eq!(site.get(&autosaves, "reader").status, 403, "{kind}");
    }
}
