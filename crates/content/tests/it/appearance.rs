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
    assert_eq!(of_area.each("slug"), ["aside", "aside-2"]);
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

#[test]
fn blocks_show_what_everybody_may_read() {
    let mut site = TestSite::new();
    site.user("reader", Role::Subscriber);
    for (title, status) in [("Tide table", "publish"), ("Secret plans", "private")] {
        site.ask("POST", "/wp/v2/posts", ADMIN, &json!({ "title": title, "status": status }));
    }
    let render = |name: &str, query: &str| {
        let path = format!("/wp/v2/block-renderer/core/{name}?context=edit{query}");
        site.get(&path, ADMIN)
    };
    let posts = render("latest-posts", "").json["rendered"].to_string();
    assert!(posts.contains("Tide table") && !posts.contains("Secret"), "{posts}");
    let archives = render("archives", "&attributes[showPostCounts]=true").json;
    assert!(archives["rendered"].to_string().contains("2026-11 (1)"), "{archives}");
    let wrong = render("archives", "&attributes[showPostCounts]=perhaps");
    assert_eq!(wrong.refusal(), (400, "rest_invalid_param"));
    assert_eq!(render("paragraph", "").refusal(), (404, "block_invalid"), "it shows no data");
    let view = site.get("/wp/v2/block-renderer/core/archives", ADMIN);
    assert_eq!(view.refusal(), (400, "rest_invalid_param"));
    let one = site.get("/wp/v2/block-types/core/latest-posts", ADMIN).json;
    assert_eq!(
        (&one["is_dynamic"], &one["attributes"]["postsToShow"]["default"]),
        (&json!(true), &json!(5))
    );
    let refused = site.get("/wp/v2/block-types", "reader");
    assert_eq!(refused.refusal(), (403, "rest_block_type_cannot_view"));
}

#[test]
fn widgets_are_kept_moved_and_deleted() {
    let mut site = TestSite::new();
    site.user("editor", Role::Editor);
    let widgets = "/wp/v2/widgets";
    let body =
        json!({ "id_base": "text", "instance": { "raw": { "title": "W", "text": "Body" } } });
    let made = site.ask("POST", widgets, ADMIN, &body);
    assert_eq!((made.status, &made.json["id"]), (201, &json!("text-2")), "{}", made.json);
    let instance = made.json["instance"].clone();
    // What this site wrote may come back as it was.
    let copy = json!({ "id_base": "text", "instance": {
        "encoded": instance["encoded"], "hash": instance["hash"] } });
    let copied = site.ask("POST", widgets, ADMIN, &copy).json;
    assert_eq!((&copied["id"], &copied["instance"]["raw"]), (&json!("text-3"), &instance["raw"]));
    let forged = json!({ "id_base": "text", "instance": { "encoded": "x", "hash": "y" } });
    let refused = site.ask("POST", widgets, ADMIN, &forged);
    assert_eq!(refused.refusal(), (400, "rest_invalid_widget"));

    let form = json!({ "form_data": "widget-text[2][title]=New&widget-text[2][text]=More" });
    let changed = site.ask("PUT", &format!("{widgets}/text-2"), ADMIN, &form).json;
    assert_eq!(changed["instance"]["raw"]["title"], "New");
    let order = json!({ "widgets": ["block-3", "text-2"] });
    let sidebar = site.ask("PUT", "/wp/v2/sidebars/wp_inactive_widgets", ADMIN, &order).json;
    let names = sidebar["widgets"].as_array().unwrap();
    assert_eq!((&names[0], &names[1], names.len()), (&json!("block-3"), &json!("text-2"), 7));

    let removed = site.ask("DELETE", &format!("{widgets}/text-2?force=true"), ADMIN, &json!(null));
    assert_eq!(removed.json["deleted"], true);
    let missing = site.get(&format!("{widgets}/text-2"), ADMIN);
    assert_eq!(missing.refusal(), (404, "rest_widget_not_found"));
    let denied = site.ask("POST", widgets, "editor", &body);
    assert_eq!(denied.refusal(), (403, "rest_cannot_manage_widgets"));
}

#[test]
fn families_of_fonts_have_faces_that_go_with_them() {
    let site = TestSite::new();
    let families = "/wp/v2/font-families";
    let family =
        |settings: serde_json::Value| json!({ "font_family_settings": settings.to_string() });
    let body = family(json!({ "name": "Shore", "slug": "shore", "fontFamily": "Shore, serif" }));
    let made = site.ask("POST", families, ADMIN, &body);
    assert_eq!(made.status, 201, "{}", made.json);
    let again = site.ask("POST", families, ADMIN, &body);
    assert_eq!(again.refusal(), (400, "rest_duplicate_font_family"));
    let bare = site.ask("POST", families, ADMIN, &family(json!({ "name": "x", "slug": "x" })));
    assert_eq!(bare.refusal(), (400, "rest_invalid_param"));

    let path = format!("{families}/{}", made.json["id"]);
    let face = |src: &str| {
        let settings = json!({ "fontFamily": "Shore", "fontWeight": "700", "src": src });
        json!({ "font_face_settings": settings.to_string() })
    };
    let faces = format!("{path}/font-faces");
    let wrong = site.ask("POST", &faces, ADMIN, &face("javascript:x()"));
    assert_eq!(wrong.refusal(), (400, "rest_invalid_param"));
    let bold = site.ask("POST", &faces, ADMIN, &face("https://fonts.example/bold.woff2"));
    assert_eq!((bold.status, &bold.json["parent"]), (201, &made.json["id"]), "{}", bold.json);
    let twice = site.ask("POST", &faces, ADMIN, &face("https://fonts.example/bold.woff2"));
    assert_eq!(twice.refusal(), (400, "rest_duplicate_font_face"));
    assert_eq!(site.get(&path, ADMIN).json["font_faces"], json!([bold.json["id"]]));

    assert_eq!(
        site.ask("DELETE", &path, ADMIN, &json!(null)).refusal(),
        (501, "rest_trash_not_supported")
    );
    site.ask("DELETE", &format!("{path}?force=true"), ADMIN, &json!(null));
    let removed = site.get(&format!("{faces}/{}", bold.json["id"]), ADMIN);
    assert_eq!(removed.refusal(), (404, "rest_post_invalid_id"), "its faces go with it");
    assert_eq!(site.get(families, NOBODY).refusal(), (401, "rest_cannot_read"));
}

#[test]
fn a_site_without_menus_gets_one_that_lists_its_pages() {
    let site = TestSite::new();
    let path = "/wp-block-editor/v1/navigation-fallback";
    assert_eq!(site.get(path, NOBODY).refusal(), (401, "rest_cannot_create"));
    let first = site.get(path, ADMIN).json["id"].clone();
    assert_eq!(site.get(path, ADMIN).json["id"], first, "once");
    let menu = site.get(&format!("/wp/v2/navigation/{first}?context=edit"), ADMIN).json;
    assert_eq!(menu["content"]["raw"], "<!-- wp:page-list /-->");
}

/// What other hosts have; the guard refuses everything else.
fn far_pages(url: &str) -> Option<Vec<u8>> {
    let page = "<html><head><title>Low &amp; high tide</title>\
        <link rel=\"icon\" href=\"/icon.png\">\
        <meta name=\"description\" content=\"When to sail\">\
        <meta property=\"og:image\" content=\"https://tides.example/sea.jpg\"></head></html>";
    (url == "https://tides.example/today").then(|| page.as_bytes().to_vec())
}

#[test]
fn a_page_elsewhere_is_looked_up_through_the_guard() {
    let mut site = TestSite::on_network(far_pages);
    site.user("reader", Role::Subscriber);
    let path = |url: &str| format!("/wp-block-editor/v1/url-details?url={url}");
    let found = site.get(&path("https://tides.example/today"), ADMIN);
    let expected = json!({
        "title": "Low & high tide",
        "icon": "https://tides.example/icon.png",
        "description": "When to sail",
        "image": "https://tides.example/sea.jpg",
    });
    assert_eq!((found.status, found.json), (200, expected));
    let refused = site.get(&path("https://inside.example/"), ADMIN);
    assert_eq!(refused.refusal(), (404, "no_response"), "what the guard refuses is not told apart");
    for url in ["http://127.0.0.1/", "http://localhost/", "http://[::1]/", "file:///etc/passwd"] {
        assert_eq!(site.get(&path(url), ADMIN).refusal(), (400, "rest_invalid_param"), "{url}");
    }
    for (who, status) in [("reader", 403), (NOBODY, 401)] {
        let denied = site.get(&path("https://tides.example/today"), who);
        assert_eq!(denied.refusal(), (status, "rest_cannot_view_url_details"));
    }
}
