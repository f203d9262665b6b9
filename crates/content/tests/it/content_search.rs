//! The search over all content, and the kinds that editors make of blocks.

use serde_json::{Value, json};
use types::Role;

use crate::content_items::{at, make};
use crate::support::{ADMIN, HOME, NOBODY, TestSite};

const SEARCH: &str = "/wp/v2/search";
const BLOCKS: &str = "/wp/v2/blocks";
const NAVIGATION: &str = "/wp/v2/navigation";
const MENUS: &str = "/wp/v2/menus";
const ITEMS: &str = "/wp/v2/menu-items";

#[test]
fn only_what_everybody_may_read_is_found() {
    let site = TestSite::new();
    let text = |title: &str, more: &Value| {
        let mut body = json!({ "title": title, "status": "publish", "content": "harbor" });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        body
    };
    let post =
        make(&site, "/wp/v2/posts", ADMIN, &text("Quiet bay", &json!({ "format": "aside" })));
    let page = make(&site, "/wp/v2/pages", ADMIN, &text("Harbor", &json!({})));
    make(&site, "/wp/v2/posts", ADMIN, &text("Draft", &json!({ "status": "draft" })));
    make(&site, "/wp/v2/posts", ADMIN, &text("Locked", &json!({ "password": "x" })));
    make(&site, BLOCKS, ADMIN, &text("Block harbor", &json!({})));
    let found = site.get(&format!("{SEARCH}?search=harbor"), ADMIN);
    assert_eq!(found.header("x-wp-total"), "2");
    assert_eq!(found.each("id"), [page["id"].clone(), post["id"].clone()], "best in the title");
    assert_eq!(found.json[1]["url"], format!("{HOME}/quiet-bay/"));
    assert_eq!(
        (&found.json[1]["type"], &found.json[1]["subtype"]),
        (&json!("post"), &json!("post"))
    );
    let pages = site.get(&format!("{SEARCH}?search=harbor&subtype=page"), NOBODY);
    assert_eq!(pages.each("id"), [page["id"].clone()]);
    let beyond = site.get(&format!("{SEARCH}?search=harbor&per_page=1&page=9"), NOBODY);
    assert_eq!((beyond.each("id"), beyond.header("x-wp-total")), (Vec::<Value>::new(), "0"));
    assert!(beyond.header("link").contains("page=8"), "{}", beyond.header("link"));
    let formats = site.get(&format!("{SEARCH}?type=post-format"), NOBODY);
    assert_eq!(formats.each("id"), [json!("aside")]);
    let tag = make(&site, "/wp/v2/tags", ADMIN, &json!({ "name": "Harbor tag" }));
    let terms = site.get(&format!("{SEARCH}?type=term&search=harbor"), NOBODY);
    assert_eq!(terms.each("id"), [tag["id"].clone()]);
    assert_eq!(terms.json[0]["type"], "post_tag");
    for wrong in ["type=other", "subtype=other", "per_page=0"] {
        let answer = site.get(&format!("{SEARCH}?{wrong}"), NOBODY);
        assert_eq!(answer.refusal(), (400, "rest_invalid_param"), "{wrong}");
    }
}

#[test]
fn blocks_are_for_those_who_write() {
    let mut site = TestSite::new();
    site.user("reader", Role::Subscriber);
    site.user("editor", Role::Editor);
    let category = make(&site, "/wp/v2/wp_pattern_category", ADMIN, &json!({ "name": "Notes" }));
    let body = json!({
        "title": "Note",
        "status": "publish",
        "content": "<!-- wp:paragraph --><p>Hi</p><!-- /wp:paragraph -->",
        "wp_pattern_category": [category["id"]],
        "meta": { "wp_pattern_sync_status": "unsynced" },
    });
    let made = make(&site, BLOCKS, "editor", &body);
    let own = at(BLOCKS, &made);
    let shown = site.get(&own, "editor").json;
    assert_eq!(shown["title"], json!({ "raw": "Note" }), "shown as it is stored");
    assert_eq!(shown["wp_pattern_sync_status"], "unsynced");
    assert_eq!(shown["wp_pattern_category"], json!([category["id"]]));
    assert_eq!(shown.get("class_list"), None, "it has no page of its own");
    assert_eq!(site.get(&own, NOBODY).refusal(), (401, "rest_forbidden"));
    assert_eq!(site.get(&own, "reader").refusal(), (403, "rest_forbidden"));
    let list = site.get(BLOCKS, "reader");
    assert_eq!((list.each("id"), list.header("x-wp-total")), (Vec::<Value>::new(), "1"));
    let changed = site.ask("PUT", &own, "editor", &json!({ "content": "<p>New</p>" }));
    assert_eq!(changed.status, 200);
    let revisions = site.get(&format!("{own}/revisions"), "editor");
    assert_eq!(revisions.header("x-wp-total"), "1", "earlier texts are kept");
    let found = site.read(|conn| {
        let options = frame::Options::read(conn)?;
        content::find_by_path(conn, &options, "/note/")
    });
    assert_eq!(found, None, "blocks are no pages");
}

#[test]
fn navigation_is_read_by_all_and_written_by_few() {
    let mut site = TestSite::new();
    site.user("editor", Role::Editor);
    let body =
        json!({ "title": "Footer", "status": "publish", "content": "<!-- wp:page-list /-->" });
    assert_eq!(
        site.ask("POST", NAVIGATION, "editor", &body).refusal(),
        (403, "rest_cannot_create")
    );
    let made = make(&site, NAVIGATION, ADMIN, &body);
    assert_eq!(site.get(&at(NAVIGATION, &made), NOBODY).status, 200);
    let edit = format!("{}?context=edit", at(NAVIGATION, &made));
    assert_eq!(site.get(&edit, "editor").refusal(), (403, "rest_forbidden_context"));
    assert_eq!(site.get(&edit, ADMIN).json["content"]["raw"], "<!-- wp:page-list /-->");
}

#[test]
fn addresses_of_posts_follow_the_option() {
    let site = TestSite::new();
    let structure = json!("/%year%/%monthnum%/%postname%/").to_string();
    site.write(move |conn| site_rows::option::set(conn, "permalink_structure", &structure));
    let body = json!({ "title": "Tide", "status": "publish", "date": "2024-03-01T08:00:00" });
    let made = make(&site, "/wp/v2/posts", ADMIN, &body);
    assert_eq!(made["link"], format!("{HOME}/2024/03/tide/"));
    assert_eq!(made["guid"]["rendered"], format!("{HOME}/2024/03/tide/"));
    assert_eq!(made["permalink_template"], format!("{HOME}/2024/03/%postname%/"));
    let found = |path: &'static str| {
        site.read(move |conn| {
            let options = frame::Options::read(conn)?;
            content::find_by_path(conn, &options, path)
        })
    };
    assert_eq!(found("/2024/03/tide/").map(|row| row.post_id), made["id"].as_i64());
    assert_eq!(found("/2024/04/tide/"), None, "another month");
    assert_eq!(found("/tide/"), None, "where it would be without the option");
}

#[test]
fn kinds_that_are_not_told_of_are_refused_and_others_unknown() {
    let site = TestSite::new();
    for (path, who, expected) in [
        ("/wp/v2/types/shop_order", NOBODY, (401, "rest_cannot_read_type")),
        ("/wp/v2/types/revision", ADMIN, (403, "rest_cannot_read_type")),
        ("/wp/v2/types/nope", ADMIN, (404, "rest_type_invalid")),
        ("/wp/v2/taxonomies/pa_color", NOBODY, (401, "rest_forbidden")),
        ("/wp/v2/taxonomies/product_type", ADMIN, (403, "rest_forbidden")),
        ("/wp/v2/taxonomies/nope", ADMIN, (404, "rest_taxonomy_invalid")),
    ] {
        assert_eq!(site.get(path, who).refusal(), expected, "{path}");
    }
    let kinds = site.get("/wp/v2/types", NOBODY).json;
    for kind in ["post", "page", "attachment", "wp_block", "wp_navigation", "product"] {
        assert_eq!(kinds[kind]["slug"], kind);
    }
}

#[test]
fn menus_point_at_items_terms_and_addresses() {
    let mut site = TestSite::new();
    site.user("editor", Role::Editor);
    site.user("reader", Role::Subscriber);
    assert_eq!(site.get(MENUS, NOBODY).refusal(), (401, "rest_cannot_view"));
    assert_eq!(site.get(ITEMS, "reader").refusal(), (403, "rest_cannot_view"));
    assert_eq!(
        site.ask("POST", MENUS, "editor", &json!({ "name": "Main" })).refusal(),
        (403, "rest_cannot_create")
    );
    let menu = make(&site, MENUS, ADMIN, &json!({ "name": "Main", "auto_add": true }));
    assert_eq!((&menu["slug"], &menu["auto_add"]), (&json!("main"), &json!(true)));
    assert_eq!(menu.get("count"), None, "menus have no archives");
    let page =
        make(&site, "/wp/v2/pages", ADMIN, &json!({ "title": "About", "status": "publish" }));
    let in_menu = format!("{ITEMS}?menus={}", menu["id"]);
    let added = site.get(&in_menu, "editor");
    assert_eq!(added.each("object_id"), [page["id"].clone()], "new pages are added");
    assert_eq!(added.json[0]["title"]["rendered"], "About");
    assert_eq!(added.json[0]["url"], format!("{HOME}/about/"));
    let home = json!({ "title": "Home", "url": "https://other.example/", "menus": menu["id"],
        "menu_order": 2 });
    let home = make(&site, ITEMS, ADMIN, &home);
    let category = json!({ "type": "taxonomy", "object_id": 1, "menus": menu["id"],
        "menu_order": 3, "parent": home["id"] });
    let category = make(&site, ITEMS, ADMIN, &category);
    assert_eq!(category["object"], "category");
    let all = site.get(&in_menu, "editor");
    assert_eq!(all.each("type"), ["post_type", "custom", "taxonomy"].map(Value::from));
    for (body, expected) in [
        (json!({ "url": "https://a.example/" }), (400, "rest_title_required")),
        (json!({ "title": "x" }), (400, "rest_url_required")),
        (json!({ "type": "post_type", "object_id": 99 }), (400, "rest_post_invalid_id")),
        (json!({ "type": "taxonomy", "object_id": 99 }), (400, "rest_term_invalid_id")),
        (
            json!({ "title": "x", "url": "https://a.example/", "menus": 99 }),
            (400, "invalid_menu_id"),
        ),
        (
            json!({ "title": "x", "url": "https://a.example/", "parent": 99 }),
            (400, "invalid_item_parent"),
        ),
    ] {
        assert_eq!(site.ask("POST", ITEMS, ADMIN, &body).refusal(), expected, "{body}");
    }
    let own = at(ITEMS, &home);
    assert_eq!(site.ask("PUT", &own, "editor", &json!({})).refusal(), (403, "rest_cannot_edit"));
    let changed = site.ask("PUT", &own, ADMIN, &json!({ "title": "Start" }));
    assert_eq!(changed.json["title"]["raw"], "Start");
    let refused = site.ask("DELETE", &own, ADMIN, &json!({}));
    assert_eq!(refused.refusal(), (501, "rest_trash_not_supported"));
    assert_eq!(site.ask("DELETE", &format!("{own}?force=true"), ADMIN, &json!({})).status, 200);
    assert_eq!(site.get(&own, ADMIN).refusal(), (404, "rest_post_invalid_id"));
    assert_eq!(site.get("/wp/v2/menu-locations", ADMIN).json, json!([]));
    let place = site.get("/wp/v2/menu-locations/nope", ADMIN);
    assert_eq!(place.refusal(), (404, "rest_menu_location_invalid"));
}
