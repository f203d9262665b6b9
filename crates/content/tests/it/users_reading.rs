//! Looking at users: who sees whom, in which view, and in which order.

use serde_json::{Value, json};
use site_rows::post::PostRow;
use types::Role;

use crate::support::{ADMIN, HOME, NOBODY, TestSite, now};

/// A site with one user of each kind that matters here; the editor published something.
fn site() -> TestSite {
    let mut site = TestSite::new();
    site.user("manager", Role::ShopManager);
    let editor = site.user("editor", Role::Editor);
    site.user("subscriber", Role::Subscriber);
    site.user("customer", Role::Customer);
    publish(&site, editor);
    site
}

pub(crate) fn publish(site: &TestSite, author_id: i64) -> i64 {
    site.write(move |conn| {
        let post = PostRow {
            post_id: 0,
            kind: "post".to_owned(),
            status: "publish".to_owned(),
            slug: format!("by-{author_id}"),
            title: "A post".to_owned(),
            content: String::new(),
            excerpt: String::new(),
            author_id,
            parent_id: 0,
            menu_order: 0,
            comment_status: "open".to_owned(),
            ping_status: "open".to_owned(),
            template: String::new(),
            format: "standard".to_owned(),
            sticky: false,
            password: String::new(),
            featured_media: 0,
            date: now(),
            date_gmt: Some(now()),
            modified: now(),
            modified_gmt: now(),
            trashed_status: None,
            trashed: None,
            meta: "{}".to_owned(),
        };
        site_rows::post::insert(conn, &post)
    })
}

#[test]
fn an_administrator_sees_themself_as_recorded() {
    let site = TestSite::new();
    let answer = site.get("/wp/v2/users/me", ADMIN);
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("allow"), "GET, POST, PUT, PATCH, DELETE");
    let hash = "a5f52d14c3fc8186621560096e5d59e6244a40efd78c497223a37d64a98103e3";
    let picture =
        |size: u32| format!("https://secure.gravatar.com/avatar/{hash}?s={size}&d=mm&r=g");
    let allow = ["GET", "POST", "PUT", "PATCH", "DELETE"];
    let item = format!("{HOME}/wp-json/wp/v2/users/1");
    let shop = answer.json["woocommerce_meta"].clone();
    assert_eq!(
        answer.json,
        json!({
            "id": 1, "name": "admin", "url": HOME, "description": "",
            "link": format!("{HOME}/author/admin/"), "slug": "admin",
            "avatar_urls": { "24": picture(24), "48": picture(48), "96": picture(96) },
            "meta": [], "is_super_admin": true, "woocommerce_meta": shop,
            "_links": {
                "self": [{ "href": item, "targetHints": { "allow": allow } }],
                "collection": [{ "href": format!("{HOME}/wp-json/wp/v2/users") }],
            },
        })
    );
    let shop = shop.as_object().unwrap();
    assert_eq!(shop.len(), 23);
    assert!(shop.values().all(|value| *value == json!("")));
}

#[test]
fn each_view_has_its_fields() {
    let site = site();
    let names = |path: &str| -> Vec<String> {
        let answer = site.get(path, ADMIN);
        answer.json.as_object().unwrap().keys().cloned().collect()
    };
    let embedded = names("/wp/v2/users/1?context=embed");
    let short = ["id", "name", "url", "description", "link", "slug", "avatar_urls"];
    assert_eq!(embedded[..7], short);
    assert!(!embedded.contains(&"meta".to_owned()));
    let edited = names("/wp/v2/users/1?context=edit");
    for name in [
        "username",
        "first_name",
        "last_name",
        "email",
        "locale",
        "nickname",
        "registered_date",
        "roles",
        "capabilities",
        "extra_capabilities",
        "meta",
    ] {
        assert!(edited.contains(&name.to_owned()), "{name}");
    }
    assert!(!edited.contains(&"password".to_owned()));
    let user = site.get("/wp/v2/users/1?context=edit", ADMIN).json;
    assert_eq!(user["registered_date"], json!("2026-11-15T08:00:00+00:00"));
    assert_eq!(user["locale"], json!("en_US"));
    assert_eq!(user["roles"], json!(["administrator"]));
    assert_eq!(user["extra_capabilities"], json!({ "administrator": true }));
    assert_eq!(user["capabilities"]["manage_options"], json!(true));
    assert_eq!(user["capabilities"]["administrator"], json!(true));
    assert_eq!(user["meta"], json!({ "persisted_preferences": [] }));
    assert_eq!(names("/wp/v2/users/1?_fields=id,slug"), ["id", "slug"]);
}

#[test]
fn whoever_may_not_see_a_user_is_refused() {
    let site = site();
    // Ids: 1 admin, 2 manager, 3 editor (who published), 4 subscriber, 5 customer.
    for (who, path, expected) in [
        (NOBODY, "/wp/v2/users/me", (401, "rest_not_logged_in")),
        (NOBODY, "/wp/v2/users/3", (200, "")),
        (NOBODY, "/wp/v2/users/3?context=embed", (200, "")),
        (NOBODY, "/wp/v2/users/3?context=edit", (401, "rest_forbidden_context")),
        (NOBODY, "/wp/v2/users/1", (401, "rest_user_cannot_view")),
        (NOBODY, "/wp/v2/users/99", (404, "rest_user_invalid_id")),
        (NOBODY, "/wp/v2/users/0", (404, "rest_user_invalid_id")),
        (NOBODY, "/wp/v2/users/99999999999999999999", (404, "rest_user_invalid_id")),
        (NOBODY, "/wp/v2/users/3?context=bogus", (400, "rest_invalid_param")),
        ("subscriber", "/wp/v2/users/4", (200, "")),
        ("subscriber", "/wp/v2/users/4?context=edit", (200, "")),
        ("subscriber", "/wp/v2/users/me?context=edit", (200, "")),
        ("subscriber", "/wp/v2/users/5", (403, "rest_user_cannot_view")),
        ("subscriber", "/wp/v2/users/3", (200, "")),
        ("subscriber", "/wp/v2/users/3?context=edit", (403, "rest_forbidden_context")),
        ("editor", "/wp/v2/users/1", (403, "rest_user_cannot_view")),
        ("manager", "/wp/v2/users/1", (200, "")),
        ("manager", "/wp/v2/users/1?context=edit", (403, "rest_forbidden_context")),
        ("manager", "/wp/v2/users/3?context=edit", (403, "rest_forbidden_context")),
        ("manager", "/wp/v2/users/5?context=edit", (200, "")),
        (ADMIN, "/wp/v2/users/5?context=edit", (200, "")),
        // A parameter outranks the path, for the permission as for the answer.
        ("subscriber", "/wp/v2/users/4?id=5", (403, "rest_user_cannot_view")),
        (NOBODY, "/wp/v2/users?context=edit", (401, "rest_forbidden_context")),
        (NOBODY, "/wp/v2/users?roles=editor", (401, "rest_user_cannot_view")),
        (NOBODY, "/wp/v2/users?capabilities=edit_posts", (401, "rest_user_cannot_view")),
        (NOBODY, "/wp/v2/users?orderby=email", (401, "rest_forbidden_orderby")),
        (NOBODY, "/wp/v2/users?orderby=registered_date", (401, "rest_forbidden_orderby")),
        (NOBODY, "/wp/v2/users?who=authors", (401, "rest_forbidden_who")),
        (NOBODY, "/wp/v2/users?who=everybody", (400, "rest_invalid_param")),
        (NOBODY, "/wp/v2/users?per_page=101", (400, "rest_invalid_param")),
        (NOBODY, "/wp/v2/users?roles=editor&page=0", (400, "rest_invalid_param")),
        ("subscriber", "/wp/v2/users?who=authors", (403, "rest_forbidden_who")),
        ("subscriber", "/wp/v2/users?context=edit", (403, "rest_forbidden_context")),
        ("subscriber", "/wp/v2/users?orderby=email", (403, "rest_forbidden_orderby")),
        ("editor", "/wp/v2/users?who=authors", (200, "")),
        ("manager", "/wp/v2/users?orderby=email&roles=editor", (200, "")),
    ] {
        let answer = site.get(path, who);
        assert_eq!(answer.refusal(), expected, "{who:?} {path}");
    }
}

#[test]
fn the_header_allow_tells_what_the_caller_may() {
    let site = site();
    for (who, path, expected) in [
        (NOBODY, "/wp/v2/users/me", "GET"),
        ("subscriber", "/wp/v2/users/me", "GET, POST, PUT, PATCH"),
        (NOBODY, "/wp/v2/users", "GET"),
        ("manager", "/wp/v2/users", "GET"),
        (ADMIN, "/wp/v2/users", "GET, POST"),
        (NOBODY, "/wp/v2/users/3", "GET"),
        ("subscriber", "/wp/v2/users/4", "GET, POST, PUT, PATCH"),
        ("manager", "/wp/v2/users/5", "GET, POST, PUT, PATCH"),
        ("manager", "/wp/v2/users/1", "GET"),
        (ADMIN, "/wp/v2/users/5", "GET, POST, PUT, PATCH, DELETE"),
    ] {
        assert_eq!(site.get(path, who).header("allow"), expected, "{who:?} {path}");
    }
}

#[test]
fn a_list_has_whom_its_parameters_ask_for() {
    let site = site();
    for (who, query, expected) in [
        (ADMIN, "", json!(["admin", "customer", "editor", "manager", "subscriber"])),
        (ADMIN, "orderby=id&order=desc&per_page=2", json!(["customer", "subscriber"])),
        (ADMIN, "orderby=id&per_page=2&page=3", json!(["customer"])),
        (ADMIN, "orderby=id&offset=3", json!(["subscriber", "customer"])),
        (ADMIN, "orderby=id&page=9", json!([])),
        (ADMIN, "orderby=id&page=9223372036854775807", json!([])),
        (ADMIN, "include=3,1&orderby=include", json!(["editor", "admin"])),
        (ADMIN, "exclude[]=1&exclude[]=2&orderby=id", json!(["editor", "subscriber", "customer"])),
        (ADMIN, "slug=editor,admin&orderby=include_slugs", json!(["editor", "admin"])),
        (ADMIN, "roles=editor,customer", json!(["customer", "editor"])),
        (ADMIN, "roles=captain", json!([])),
        (ADMIN, "capabilities=manage_options", json!(["admin"])),
        (ADMIN, "capabilities=fly", json!([])),
        (ADMIN, "capabilities=edit_posts&roles=editor,customer", json!(["editor"])),
        (ADMIN, "who=authors", json!(["admin", "editor", "manager"])),
        (ADMIN, "has_published_posts=true", json!(["editor"])),
        (ADMIN, "has_published_posts=page", json!([])),
        (ADMIN, "has_published_posts=post,page", json!(["editor"])),
        (ADMIN, "search=edit", json!(["editor"])),
        (ADMIN, "search=er@example", json!(["customer", "manager", "subscriber"])),
        (ADMIN, "search=3", json!(["editor"])),
        (ADMIN, "search=subscriber&search_columns=email", json!(["subscriber"])),
        (ADMIN, "search=@&search_columns=name", json!([])),
        (NOBODY, "", json!(["editor"])),
        (NOBODY, "include=1,3", json!(["editor"])),
        (NOBODY, "search=edit", json!(["editor"])),
        (NOBODY, "search=example.test", json!([])),
        (NOBODY, "search=example.test&search_columns=email", json!([])),
        (NOBODY, "has_published_posts=page", json!([])),
        ("subscriber", "", json!(["editor"])),
        ("editor", "who=authors", json!(["admin", "editor", "manager"])),
        // Whoever may list users, but not change them, does not see them ready for editing.
        ("manager", "context=edit", json!(["customer", "manager"])),
    ] {
        let answer = site.get(&format!("/wp/v2/users?{query}"), who);
        assert_eq!(answer.status, 200, "{who:?} {query}: {}", answer.json);
        assert_eq!(json!(answer.each("slug")), expected, "{who:?} {query}");
    }
}

#[test]
fn a_list_says_how_many_there_are_and_where() {
    let site = site();
    let answer = site.get("/wp/v2/users?per_page=2&page=2&orderby=id", ADMIN);
    assert_eq!((answer.header("x-wp-total"), answer.header("x-wp-totalpages")), ("5", "3"));
    let link = answer.header("link");
    assert!(link.contains("page=1") && link.contains("rel=\"prev\""), "{link}");
    assert!(link.contains("page=3") && link.contains("rel=\"next\""), "{link}");
    let first = &answer.json[0];
    assert_eq!(first["id"], json!(3));
    let own = &first["_links"]["self"][0];
    assert_eq!(own["href"], json!(format!("{HOME}/wp-json/wp/v2/users/3")));
    assert_eq!(own["targetHints"]["allow"].as_array().unwrap().len(), 5);
    let head = site.ask("HEAD", "/wp/v2/users", ADMIN, &Value::Null);
    assert_eq!((head.status, head.header("x-wp-total")), (200, "5"));
    assert_eq!(head.json, Value::Null);
    let short = site.get("/wp/v2/users?_fields=id&per_page=1&orderby=id", ADMIN);
    assert_eq!(short.json, json!([{ "id": 1 }]));
}

#[test]
fn nothing_private_is_in_what_the_public_sees() {
    let site = site();
    let answer = site.get("/wp/v2/users", NOBODY).json.to_string();
    for private in ["example.test\"", "\"email\"", "username", "capabilities", "roles"] {
        assert!(!answer.contains(private), "{private} is in {answer}");
    }
    let fields = json!({ "woocommerce_meta": { "dashboard_sections": "mine" } });
    assert_eq!(site.ask("POST", "/wp/v2/users/me", "editor", &fields).status, 200);
    let seen = |who| {
        site.get("/wp/v2/users/3", who).json["woocommerce_meta"]["dashboard_sections"].clone()
    };
    assert_eq!(
        (seen("editor"), seen(ADMIN), seen(NOBODY)),
        (json!("mine"), json!("mine"), json!(""))
    );
    assert_eq!(site.get("/wp/v2/users/3", NOBODY).json["is_super_admin"], json!(false));
}
