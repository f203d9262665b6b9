//! Posts and pages one by one: every field and link, who may do what, slugs, dates, the trash.

use serde_json::{Value, json};
use types::Role;

use crate::support::{ADMIN, Answer, HOME, NOBODY, TestSite};

const POSTS: &str = "/wp/v2/posts";
const PAGES: &str = "/wp/v2/pages";

/// Makes an item and returns it; it must work.
pub(crate) fn make(site: &TestSite, path: &str, who: &str, body: &Value) -> Value {
    let answer = site.ask("POST", path, who, body);
    assert_eq!(answer.status, 201, "{body}: {}", answer.json);
    answer.json
}

pub(crate) fn id_of(item: &Value) -> i64 {
    item["id"].as_i64().unwrap()
}

pub(crate) fn at(path: &str, item: &Value) -> String {
    format!("{path}/{}", id_of(item))
}

fn option(site: &TestSite, name: &'static str, value: Value) {
    site.write(move |conn| site_rows::option::set(conn, name, &value.to_string()));
}

/// The recorded answer to the first item of a batch, with ids of our own.
#[test]
fn a_new_draft_is_shown_as_recorded() {
    let site = TestSite::new();
    let answer = site.ask("POST", POSTS, ADMIN, &json!({ "title": "Batch A", "status": "draft" }));
    assert_eq!((answer.status, answer.header("allow")), (201, "GET, POST"));
    let id = id_of(&answer.json);
    let own = format!("{HOME}/wp-json/wp/v2/posts/{id}");
    assert_eq!(answer.header("location"), own);
    let plain = format!("{HOME}/?p={id}");
    let at = |path: &str| format!("{HOME}/wp-json/wp/v2/{path}");
    let action = json!([{ "href": own }]);
    let links = json!({
        "self": [{
            "href": own,
            "targetHints": { "allow": ["GET", "POST", "PUT", "PATCH", "DELETE"] },
        }],
        "collection": [{ "href": at("posts") }],
        "about": [{ "href": at("types/post") }],
        "author": [{ "embeddable": true, "href": at("users/1") }],
        "replies": [{ "embeddable": true, "href": at(&format!("comments?post={id}")) }],
        "version-history": [{ "count": 0, "href": format!("{own}/revisions") }],
        "wp:attachment": [{ "href": at(&format!("media?parent={id}")) }],
        "wp:term": [
            {
                "taxonomy": "category",
                "embeddable": true,
                "href": at(&format!("categories?post={id}")),
            },
            {
                "taxonomy": "post_tag",
                "embeddable": true,
                "href": at(&format!("tags?post={id}")),
            },
        ],
        "wp:action-publish": action,
        "wp:action-unfiltered-html": action,
        "wp:action-sticky": action,
        "wp:action-assign-author": action,
        "wp:action-create-categories": action,
        "wp:action-assign-categories": action,
        "wp:action-create-tags": action,
        "wp:action-assign-tags": action,
        "curies": [
            { "name": "wp", "href": "https://api.w.org/{rel}", "templated": true },
        ],
    });
    let expected = json!({
        "id": id,
        "date": "2026-11-15T08:00:00",
        "date_gmt": "2026-11-15T08:00:00",
        "guid": { "rendered": plain, "raw": plain },
        "modified": "2026-11-15T08:00:00",
        "modified_gmt": "2026-11-15T08:00:00",
        "password": "",
        "slug": "",
        "status": "draft",
        "type": "post",
        "link": plain,
        "title": { "raw": "Batch A", "rendered": "Batch A" },
        "content": { "raw": "", "rendered": "", "protected": false, "block_version": 0 },
        "excerpt": { "raw": "", "rendered": "", "protected": false },
        "author": 1,
        "featured_media": 0,
        "comment_status": "open",
        "ping_status": "open",
        "sticky": false,
        "template": "",
        "format": "standard",
        "meta": { "footnotes": "" },
        "categories": [1],
        "tags": [],
        "permalink_template": format!("{HOME}/%postname%/"),
        "generated_slug": "batch-a",
        "class_list": [
            format!("post-{id}"), "post", "type-post", "status-draft", "format-standard",
            "hentry", "category-uncategorized",
        ],
        "_links": links,
    });
    assert_eq!(answer.json, expected);
}

#[test]
fn views_show_what_they_are_for() {
    let site = TestSite::new();
    let body = json!({ "title": "T", "content": "C", "status": "publish" });
    let post = at(POSTS, &make(&site, POSTS, ADMIN, &body));
    let names = |answer: &Answer| -> Vec<String> {
        let mut names: Vec<String> = answer.json.as_object().unwrap().keys().cloned().collect();
        names.sort();
        names
    };
    let view = site.get(&post, NOBODY);
    let link = format!("<{HOME}/t/>; rel=\"alternate\"; type=text/html");
    assert_eq!((view.header("link"), view.header("allow")), (&*link, "GET"));
    assert_eq!(view.json["content"], json!({ "rendered": "<p>C</p>\n", "protected": false }));
    assert!(view.json.get("password").is_none() && view.json["title"].get("raw").is_none());
    let embed = site.get(&format!("{post}?context=embed"), NOBODY);
    let expected = [
        "_links",
        "author",
        "date",
        "excerpt",
        "featured_media",
        "id",
        "link",
        "slug",
        "title",
        "type",
    ];
    assert_eq!(names(&embed), expected);
    let edit = site.get(&format!("{post}?context=edit"), NOBODY);
    assert_eq!(edit.refusal(), (401, "rest_forbidden_context"));
    let edit = site.get(&format!("{post}?context=edit"), ADMIN);
    assert_eq!(edit.json["content"]["raw"], "C");
}

#[test]
fn an_id_that_is_none_is_not_found_whoever_asks() {
    let site = TestSite::new();
    let page = make(&site, PAGES, ADMIN, &json!({ "title": "P" }));
    let page_as_post = at(POSTS, &page);
    for who in [NOBODY, ADMIN] {
        for (method, path) in [
            ("GET", "/wp/v2/posts/9999"),
            ("POST", "/wp/v2/posts/9999"),
            ("DELETE", "/wp/v2/posts/0"),
            ("GET", &*page_as_post),
        ] {
            let answer = site.ask(method, path, who, &Value::Null);
            assert_eq!(answer.refusal(), (404, "rest_post_invalid_id"), "{method} {path}");
            assert_eq!(answer.header("allow"), "", "{method} {path}");
        }
    }
}

/// One row for each boundary: who does what to whose item in which status.
#[test]
fn rights_depend_on_role_author_and_status() {
    let mut site = TestSite::new();
    for (login, role) in [
        ("editor", Role::Editor),
        ("author", Role::Author),
        ("other", Role::Author),
        ("contributor", Role::Contributor),
        ("reader", Role::Subscriber),
    ] {
        site.user(login, role);
    }
    let ok = (200, "");
    let edit = (403, "rest_cannot_edit");
    let read = (403, "rest_forbidden");
    let deleted = (403, "rest_cannot_delete");
    for (owner, status, who, expected) in [
        ("author", "publish", "author", [ok, ok, ok]),
        ("author", "publish", "other", [ok, edit, deleted]),
        ("author", "publish", "reader", [ok, edit, deleted]),
        ("author", "publish", "editor", [ok, ok, ok]),
        ("author", "draft", "other", [read, edit, deleted]),
        ("author", "draft", "author", [ok, ok, ok]),
        ("author", "private", "other", [read, edit, deleted]),
        ("author", "private", "editor", [ok, ok, ok]),
        ("author", "private", "author", [ok, ok, ok]),
        ("contributor", "draft", "contributor", [ok, ok, ok]),
        ("contributor", "pending", "editor", [ok, ok, ok]),
        ("author", "pending", "contributor", [read, edit, deleted]),
    ] {
        let item = make(&site, POSTS, owner, &json!({ "title": "T", "status": status }));
        let path = at(POSTS, &item);
        let context = format!("{owner}'s {status} item for {who}");
        let answer = site.get(&path, who);
        assert_eq!(answer.refusal(), expected[0], "reading {context}");
        let answer = site.ask("PATCH", &path, who, &json!({ "title": "U" }));
        assert_eq!(answer.refusal(), expected[1], "changing {context}");
        let answer = site.ask("DELETE", &path, who, &Value::Null);
        assert_eq!(answer.refusal(), expected[2], "deleting {context}");
    }
    // Once it is published, its contributor may not touch it any more.
    let item = make(&site, POSTS, "contributor", &json!({ "title": "Mine" }));
    let path = at(POSTS, &item);
    assert_eq!(site.ask("PATCH", &path, "editor", &json!({ "status": "publish" })).status, 200);
    let answer = site.ask("PATCH", &path, "contributor", &json!({ "title": "U" }));
    assert_eq!(answer.refusal(), edit);
}

#[test]
fn creating_is_refused_with_the_known_codes() {
    let mut site = TestSite::new();
    site.user("contributor", Role::Contributor);
    site.user("author", Role::Author);
    site.user("reader", Role::Subscriber);
    for (who, path, body, expected) in [
        (NOBODY, POSTS, json!({ "title": "T" }), (401, "rest_cannot_create")),
        ("reader", POSTS, json!({ "title": "T" }), (403, "rest_cannot_create")),
        ("author", PAGES, json!({ "title": "T" }), (403, "rest_cannot_create")),
        (ADMIN, POSTS, json!({}), (400, "empty_content")),
        (ADMIN, POSTS, json!({ "id": 5, "title": "T" }), (400, "rest_post_exists")),
        ("author", POSTS, json!({ "title": "T", "author": 1 }), (403, "rest_cannot_edit_others")),
        (ADMIN, POSTS, json!({ "title": "T", "author": 999 }), (400, "rest_invalid_author")),
        (
            "contributor",
            POSTS,
            json!({ "title": "T", "status": "publish" }),
            (403, "rest_cannot_publish"),
        ),
        (
            "contributor",
            POSTS,
            json!({ "title": "T", "status": "private" }),
            (403, "rest_cannot_publish"),
        ),
        (
            "contributor",
            POSTS,
            json!({ "title": "T", "sticky": true }),
            (403, "rest_cannot_assign_sticky"),
        ),
        (
            ADMIN,
            POSTS,
            json!({ "title": "T", "sticky": true, "password": "x" }),
            (400, "rest_invalid_field"),
        ),
        (ADMIN, PAGES, json!({ "title": "T", "parent": 99 }), (400, "rest_post_invalid_id")),
        (ADMIN, POSTS, json!({ "title": "T", "status": "trash" }), (400, "rest_invalid_param")),
        (ADMIN, POSTS, json!({ "title": "T", "status": "bogus" }), (400, "rest_invalid_param")),
        (ADMIN, POSTS, json!({ "title": "T", "date": "soon" }), (400, "rest_invalid_param")),
        (ADMIN, POSTS, json!({ "title": "T", "template": "x.php" }), (400, "rest_invalid_param")),
    ] {
        let answer = site.ask("POST", path, who, &body);
        assert_eq!(answer.refusal(), expected, "{who} {path} {body}");
    }
    let post = make(&site, POSTS, ADMIN, &json!({ "title": "T" }));
    let answer = site.ask("PUT", &at(POSTS, &post), ADMIN, &json!({ "status": "trash" }));
    assert_eq!(answer.json["data"]["details"]["status"]["code"], "rest_not_in_enum");
}

#[test]
fn slugs_are_made_and_kept_apart() {
    let site = TestSite::new();
    let publish = |path: &str, title: &str, more: Value| {
        let mut body = json!({ "title": title, "status": "publish" });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        make(&site, path, ADMIN, &body)
    };
    for (title, more, slug) in [
        ("Hello", json!({}), "hello"),
        ("Hello", json!({}), "hello-2"),
        ("Hello", json!({ "slug": "Hello World" }), "hello-world"),
        ("Other", json!({ "slug": "hello" }), "hello-3"),
        ("2026", json!({}), "2026-2"),
        ("Feed", json!({}), "feed-2"),
    ] {
        assert_eq!(publish(POSTS, title, more)["slug"], slug, "{title}");
    }
    let draft = make(&site, POSTS, ADMIN, &json!({ "title": "Hello" }));
    assert_eq!((&draft["slug"], &draft["generated_slug"]), (&json!(""), &json!("hello-4")));
    let published = site.ask("PUT", &at(POSTS, &draft), ADMIN, &json!({ "status": "publish" }));
    assert_eq!(published.json["slug"], "hello-4");
    assert_eq!(published.json["link"], format!("{HOME}/hello-4/"));
    // A page may have the slug of a post, and only siblings must differ.
    let parent = publish(PAGES, "Hello", json!({}));
    assert_eq!(parent["slug"], "hello");
    let child = publish(PAGES, "Hello", json!({ "parent": parent["id"] }));
    assert_eq!(child["link"], format!("{HOME}/hello/hello/"));
    assert_eq!(child["permalink_template"], format!("{HOME}/hello/%pagename%/"));
    assert_eq!(child["_links"]["up"][0]["embeddable"], true);
    // A page cannot lie within itself.
    let circle = site.ask("PUT", &at(PAGES, &parent), ADMIN, &json!({ "parent": child["id"] }));
    assert_eq!(circle.json["parent"], 0);
}

#[test]
fn items_are_found_by_their_addresses() {
    let site = TestSite::new();
    let post = make(&site, POSTS, ADMIN, &json!({ "title": "Über", "status": "publish" }));
    let parent = make(&site, PAGES, ADMIN, &json!({ "title": "Shop", "status": "publish" }));
    let body = json!({ "title": "Cart", "status": "publish", "parent": parent["id"] });
    let child = make(&site, PAGES, ADMIN, &body);
    let (post, parent, child) = (id_of(&post), id_of(&parent), id_of(&child));
    for (path, expected) in [
        (String::from("/uber/"), Some(post)),
        (String::from("/uber?x=1#y"), Some(post)),
        (format!("/?p={post}"), Some(post)),
        (format!("/?page_id={child}"), Some(child)),
        (String::from("/shop"), Some(parent)),
        (String::from("/shop/cart/"), Some(child)),
        (String::from("/cart/"), None),
        (String::from("/uber/cart/"), None),
        (String::from("/"), None),
        (String::from("/?p=x"), None),
        ("/a".repeat(100), None),
    ] {
        let asked = path.clone();
        let found = site.read(move |conn| {
            let options = frame::Options::read(conn)?;
            content::find_by_path(conn, &options, &asked)
        });
        assert_eq!(found.map(|row| row.post_id), expected, "{path}");
    }
}

/// The site is an hour ahead of UTC in winter and two in summer; it is 08:00 in UTC.
#[test]
fn dates_are_kept_in_both_clocks() {
    let site = TestSite::new();
    option(&site, "timezone_string", json!("Europe/Rome"));
    for (given, date, date_gmt, status) in [
        (json!({}), "2026-11-15T09:00:00", "2026-11-15T08:00:00", "publish"),
        (
            json!({ "date": "2026-07-01T12:00:00" }),
            "2026-07-01T12:00:00",
            "2026-07-01T10:00:00",
            "publish",
        ),
        (
            json!({ "date_gmt": "2026-07-01T12:00:00" }),
            "2026-07-01T14:00:00",
            "2026-07-01T12:00:00",
            "publish",
        ),
        (
            json!({ "date": "2026-01-01T00:30:00-08:00" }),
            "2026-01-01T09:30:00",
            "2026-01-01T08:30:00",
            "publish",
        ),
        // Half an hour ago in UTC, half an hour ahead on the site's clock.
        (
            json!({ "date_gmt": "2026-11-15T08:30:00" }),
            "2026-11-15T09:30:00",
            "2026-11-15T08:30:00",
            "future",
        ),
        (
            json!({ "date": "2026-11-15T08:30:00" }),
            "2026-11-15T08:30:00",
            "2026-11-15T07:30:00",
            "publish",
        ),
    ] {
        let mut body = json!({ "title": "T", "status": "publish" });
        body.as_object_mut().unwrap().extend(given.as_object().unwrap().clone());
        let post = make(&site, POSTS, ADMIN, &body);
        let found = (&post["date"], &post["date_gmt"], &post["status"]);
        assert_eq!(found, (&json!(date), &json!(date_gmt), &json!(status)), "{given}");
    }
    let due = types::Timestamp::parse("2026-11-15T08:30:00Z").unwrap();
    let published = site.write(move |conn| content::publish_due(conn, due));
    assert_eq!(published, 1);
}

#[test]
fn a_draft_has_a_date_only_if_it_was_given_one() {
    let site = TestSite::new();
    let draft = make(&site, POSTS, ADMIN, &json!({ "title": "T" }));
    let id = id_of(&draft);
    let stored = |site: &TestSite| {
        site.read(move |conn| site_rows::post::get(conn, id))
            .unwrap()
            .date_gmt
            .map(|t| t.to_string())
    };
    assert_eq!((stored(&site), &draft["date"]), (None, &json!("2026-11-15T08:00:00")));
    // What a client reads and sends back is no date.
    let path = at(POSTS, &draft);
    site.ask("PUT", &path, ADMIN, &json!({ "date": draft["date"] }));
    assert_eq!(stored(&site), None);
    site.ask("PUT", &path, ADMIN, &json!({ "date": "2026-01-02T03:04:05" }));
    assert_eq!(stored(&site).as_deref(), Some("2026-01-02T03:04:05Z"));
    site.ask("PUT", &path, ADMIN, &json!({ "date": null }));
    assert_eq!(stored(&site), None);
    let published = site.ask("PUT", &path, ADMIN, &json!({ "status": "publish" }));
    assert_eq!(published.json["date"], "2026-11-15T08:00:00");
    assert!(stored(&site).is_some());
}

#[test]
fn the_trash_gives_back_what_it_got() {
    let site = TestSite::new();
    let post = make(&site, POSTS, ADMIN, &json!({ "title": "Old", "status": "publish" }));
    let path = at(POSTS, &post);
    let trashed = site.ask("DELETE", &path, ADMIN, &Value::Null);
    assert_eq!((trashed.status, &trashed.json["status"]), (200, &json!("trash")));
    assert_eq!(trashed.json["slug"], "old__trashed");
    assert_eq!(trashed.json["link"], format!("{HOME}/?p={}", post["id"]));
    let again = site.ask("DELETE", &path, ADMIN, &Value::Null);
    assert_eq!(again.refusal(), (410, "rest_already_trashed"));
    assert_eq!(site.get(&path, NOBODY).refusal(), (401, "rest_forbidden"));
    // Its slug is free meanwhile.
    let next = make(&site, POSTS, ADMIN, &json!({ "title": "Old", "status": "publish" }));
    assert_eq!(next["slug"], "old");
    let restored = site.ask("PUT", &path, ADMIN, &json!({ "status": "publish" }));
    assert_eq!((restored.status, &restored.json["slug"]), (200, &json!("old-2")));
    let deleted = site.ask("DELETE", &format!("{path}?force=true"), ADMIN, &Value::Null);
    assert_eq!((deleted.status, &deleted.json["deleted"]), (200, &json!(true)));
    assert_eq!(deleted.json["previous"]["title"]["raw"], "Old");
    assert!(deleted.json["previous"].get("_links").is_none());
    assert_eq!(site.get(&path, ADMIN).refusal(), (404, "rest_post_invalid_id"));
}
