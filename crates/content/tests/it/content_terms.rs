//! Categories and tags, and the lists of kinds, taxonomies and statuses.

use serde_json::{Value, json};
use types::Role;

use crate::content_items::make;
use crate::support::{ADMIN, HOME, NOBODY, TestSite};

const CATEGORIES: &str = "/wp/v2/categories";
const TAGS: &str = "/wp/v2/tags";

#[test]
fn a_new_site_has_one_category() {
    let site = TestSite::new();
    let list = site.get(CATEGORIES, NOBODY);
    assert_eq!(list.header("x-wp-total"), "1");
    let own = format!("{HOME}/wp-json{CATEGORIES}/1");
    let expected = json!({
        "id": 1,
        "count": 0,
        "description": "",
        "link": format!("{HOME}/category/uncategorized/"),
        "name": "Uncategorized",
        "slug": "uncategorized",
        "taxonomy": "category",
        "parent": 0,
        "meta": [],
        "_links": {
            "self": [{ "href": own, "targetHints": { "allow": ["GET"] } }],
            "collection": [{ "href": format!("{HOME}/wp-json{CATEGORIES}") }],
            "about": [{ "href": format!("{HOME}/wp-json/wp/v2/taxonomies/category") }],
            "wp:post_type": [{ "href": format!("{HOME}/wp-json/wp/v2/posts?categories=1") }],
            "curies": [{ "name": "wp", "href": "https://api.w.org/{rel}", "templated": true }],
        },
    });
    assert_eq!(list.json[0], expected);
}

#[test]
fn terms_are_made_changed_and_deleted() {
    let mut site = TestSite::new();
    site.user("author", Role::Author);
    site.user("reader", Role::Subscriber);
    for (who, path, body, expected) in [
        (NOBODY, TAGS, json!({ "name": "T" }), (401, "rest_cannot_create")),
        ("reader", TAGS, json!({ "name": "T" }), (403, "rest_cannot_create")),
        ("author", CATEGORIES, json!({ "name": "T" }), (403, "rest_cannot_create")),
        ("author", TAGS, json!({}), (400, "rest_missing_callback_param")),
        (ADMIN, TAGS, json!({ "name": " " }), (400, "empty_term_name")),
        (ADMIN, CATEGORIES, json!({ "name": "T", "parent": 99 }), (400, "rest_term_invalid")),
        (ADMIN, TAGS, json!({ "name": "T", "parent": 1 }), (400, "rest_taxonomy_not_hierarchical")),
        (ADMIN, CATEGORIES, json!({ "name": "UNCATEGORIZED" }), (400, "term_exists")),
    ] {
        let answer = site.ask("POST", path, who, &body);
        assert_eq!(answer.refusal(), expected, "{who} {path} {body}");
        if expected.1 == "term_exists" {
            assert_eq!(answer.json["data"], json!({ "status": 400, "term_id": 1 }));
        }
    }
    let tag = make(&site, TAGS, "author", &json!({ "name": "Fish & <b>Chips</b>" }));
    assert_eq!((&tag["name"], &tag["slug"]), (&json!("Fish &amp; Chips"), &json!("fish-chips")));
    let path = format!("{TAGS}/{}", tag["id"]);
    let denied = site.ask("PUT", &path, "author", &json!({ "name": "X" }));
    assert_eq!(denied.refusal(), (403, "rest_cannot_update"));
    let changed = site.ask("PUT", &path, ADMIN, &json!({ "description": "D", "slug": "New One" }));
    assert_eq!((&changed.json["slug"], &changed.json["name"]), (&json!("new-one"), &tag["name"]));
    let kept = site.ask("DELETE", &path, ADMIN, &Value::Null);
    assert_eq!(kept.refusal(), (501, "rest_trash_not_supported"));
    let denied = site.ask("DELETE", &format!("{path}?force=true"), "author", &Value::Null);
    assert_eq!(denied.refusal(), (403, "rest_cannot_delete"));
    let deleted = site.ask("DELETE", &format!("{path}?force=true"), ADMIN, &Value::Null);
    assert_eq!(deleted.json["previous"]["slug"], "new-one");
    assert_eq!(site.get(&path, NOBODY).refusal(), (404, "rest_term_invalid"));
    assert_eq!(site.get(&format!("{TAGS}/1"), NOBODY).refusal(), (404, "rest_term_invalid"));
    let default = site.ask("DELETE", &format!("{CATEGORIES}/1?force=true"), ADMIN, &Value::Null);
    assert_eq!(default.refusal(), (403, "rest_cannot_delete"));
}

#[test]
fn categories_lie_within_each_other_and_count_posts() {
    let site = TestSite::new();
    let top = make(&site, CATEGORIES, ADMIN, &json!({ "name": "Top" }));
    let inner = make(&site, CATEGORIES, ADMIN, &json!({ "name": "Inner", "parent": top["id"] }));
    assert_eq!(inner["link"], format!("{HOME}/category/top/inner/"));
    // The same name in another place.
    let twin = make(&site, CATEGORIES, ADMIN, &json!({ "name": "Inner" }));
    assert_eq!(twin["slug"], "inner-2");
    let path = format!("{CATEGORIES}/{}", top["id"]);
    let circle = site.ask("PUT", &path, ADMIN, &json!({ "parent": inner["id"] }));
    assert_eq!(circle.json["parent"], 0);
    let body = json!({ "title": "P", "status": "publish", "categories": [inner["id"], 999] });
    let post = make(&site, "/wp/v2/posts", ADMIN, &body);
    assert_eq!(post["categories"], json!([inner["id"]]));
    make(&site, "/wp/v2/posts", ADMIN, &json!({ "title": "D", "categories": [inner["id"]] }));
    let names = |query: &str| site.get(&format!("{CATEGORIES}?{query}"), NOBODY).each("name");
    assert_eq!(names("hide_empty=true"), ["Inner"]);
    assert_eq!(names(&format!("post={}", post["id"])), ["Inner"]);
    assert_eq!(names("search=INN&order=desc"), ["Inner", "Inner"]);
    assert_eq!(names("orderby=count&order=desc&per_page=1"), ["Inner"]);
    assert_eq!(names("slug=top"), ["Top"]);
    assert_eq!(names(&format!("parent={}", top["id"])), ["Inner"]);
    let inner_path = format!("{CATEGORIES}/{}", inner["id"]);
    assert_eq!(site.get(&inner_path, NOBODY).json["count"], 1);
    // The posts of a category that goes get the default one.
    site.ask("DELETE", &format!("{inner_path}?force=true"), ADMIN, &Value::Null);
    let post = site.get(&format!("/wp/v2/posts/{}", post["id"]), NOBODY);
    assert_eq!(post.json["categories"], json!([1]));
}

#[test]
fn the_terms_of_a_draft_are_not_told() {
    let site = TestSite::new();
    let draft = make(&site, "/wp/v2/posts", ADMIN, &json!({ "title": "D" }));
    let path = format!("{CATEGORIES}?post={}", draft["id"]);
    assert_eq!(site.get(&path, NOBODY).status, 401);
    assert_eq!(site.get(&path, ADMIN).each("id"), [1]);
}

#[test]
fn kinds_taxonomies_and_statuses_are_listed_by_name() {
    let mut site = TestSite::new();
    site.user("reader", Role::Subscriber);
    site.user("author", Role::Author);
    let names = |path: &str, who: &str| -> Vec<String> {
        let answer = site.get(path, who);
        assert_eq!(answer.status, 200, "{path}");
        answer.json.as_object().unwrap().keys().cloned().collect()
    };
    let kinds = names("/wp/v2/types", NOBODY);
    assert_eq!(kinds[..2], ["post", "page"]);
    assert!(kinds.contains(&String::from("wp_block")) && kinds.contains(&String::from("product")));
    let of_author = names("/wp/v2/types?context=edit", "author");
    assert_eq!(of_author, ["post", "attachment", "wp_block"]);
    let taxonomies = names("/wp/v2/taxonomies", NOBODY);
    assert_eq!(taxonomies[..3], ["category", "post_tag", "nav_menu"]);
    assert_eq!(names("/wp/v2/taxonomies?type=post", NOBODY), ["category", "post_tag"]);
    assert_eq!(site.get("/wp/v2/taxonomies?type=page", NOBODY).json, json!([]));
    assert_eq!(names("/wp/v2/statuses", "reader"), ["publish"]);
    let all = ["publish", "future", "draft", "pending", "private", "trash"];
    let seen = names("/wp/v2/statuses", "author");
    assert_eq!(seen[..6], all);
    assert!(seen[6..].iter().all(|name| name.starts_with("wc-")), "those of orders: {seen:?}");
    for (path, who, expected) in [
        ("/wp/v2/types/nope", ADMIN, (404, "rest_type_invalid")),
        ("/wp/v2/taxonomies/nope", ADMIN, (404, "rest_taxonomy_invalid")),
        ("/wp/v2/statuses/nope", ADMIN, (404, "rest_status_invalid")),
        ("/wp/v2/statuses/draft", NOBODY, (401, "rest_cannot_read_status")),
        ("/wp/v2/types?context=edit", NOBODY, (401, "rest_cannot_view")),
        ("/wp/v2/types/page?context=edit", "author", (403, "rest_forbidden_context")),
        ("/wp/v2/taxonomies?context=edit", "reader", (403, "rest_cannot_view")),
        ("/wp/v2/statuses?context=edit", "reader", (403, "rest_cannot_view")),
    ] {
        assert_eq!(site.get(path, who).refusal(), expected, "{path} {who}");
    }
    let post = site.get("/wp/v2/types/post", NOBODY).json;
    assert_eq!((&post["rest_base"], &post["rest_namespace"]), (&json!("posts"), &json!("wp/v2")));
    assert_eq!(post["_links"]["wp:items"][0]["href"], format!("{HOME}/wp-json/wp/v2/posts"));
    assert!(post.get("labels").is_none());
    let edit = site.get("/wp/v2/types/post?context=edit", ADMIN).json;
    assert_eq!(edit["capabilities"]["edit_posts"], "edit_posts");
    assert_eq!(edit["supports"]["title"], true);
    let draft = site.get("/wp/v2/statuses/draft", ADMIN).json;
    assert_eq!((&draft["public"], &draft["date_floating"]), (&json!(false), &json!(true)));
    let href = format!("{HOME}/wp-json/wp/v2/posts?status=draft");
    assert_eq!(draft["_links"]["archives"][0]["href"], href);
}
