//! What the pages show of what people stored: lists by terms, pictures that stand for others,
//! styles, parts, menus and widgets.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::http::{self, Request};

use crate::support::{Running, Site};

/// Markup that must not reach a page as it is.
const HOSTILE: &str = "<script>alert(1)</script><img src=x onerror=alert(2)>\
    <a href=\"javascript:alert(3)\">x</a><style>body{display:none}</style>\
    <form action=\"https://evil.example/\"><input name=password></form><iframe src=/></iframe>";

/// Nothing of what people wrote runs, or asks for anything.
fn is_harmless(html: &str) -> bool {
    ["<script>alert", "onerror", "javascript:", "body{display:none}", "evil.example", "<iframe"]
        .iter()
        .all(|part| !html.contains(part))
}

struct Shop {
    running: Running,
    authorization: String,
    _site: Site,
}

struct Page {
    status: u16,
    location: String,
    policy: String,
    body: String,
}

impl Page {
    fn has(&self, text: &str) -> bool {
        self.body.contains(text)
    }
}

impl Shop {
    fn new() -> Self {
        let site = Site::sqlite();
        let authorization = site.administrator();
        let running = site.serve();
        Self { running, authorization, _site: site }
    }

    /// What the administrator makes; it must succeed.
    fn made(&self, method: &str, path: &str, body: &Value) -> Value {
        let path = format!("/wp-json{path}");
        let request = Request::new(method, &path).header("Authorization", &self.authorization);
        let request = match method {
            "GET" => request,
            _ => request.header("Content-Type", "application/json").body(body.to_string()),
        };
        let answer = http::send(&self.running.url, &request).unwrap();
        assert!(answer.status < 300, "{method} {path}: {}", answer.text());
        answer.json().unwrap()
    }

    fn get(&self, path: &str) -> Page {
        let answer = http::get(&self.running.url, path, &[("Accept", "text/html")]).unwrap();
        let header = |name: &str| answer.header(name).unwrap_or_default();
        Page {
            status: answer.status,
            location: header("location"),
            policy: header("content-security-policy"),
            body: answer.text(),
        }
    }

    fn theme(&self) -> Value {
        self.made("GET", "/wp/v2/themes?status=active", &Value::Null)[0].clone()
    }
}

#[test]
fn values_of_attributes_have_lists_where_the_attribute_says_so() {
    let shop = Shop::new();
    let made = |path: &str, body: Value| shop.made("POST", path, &body);
    for (slug, has_archives) in [("color", true), ("size", false)] {
        let attribute = json!({ "name": slug, "slug": slug, "has_archives": has_archives });
        let id = made("/wc/v3/products/attributes", attribute)["id"].clone();
        made(&format!("/wc/v3/products/attributes/{id}/terms"), json!({ "name": "Blue" }));
        let attributes = json!([{ "id": id, "options": ["Blue"], "visible": true }]);
        let product = json!({
            "name": format!("{slug} thing"), "regular_price": "5", "attributes": attributes,
        });
        made("/wc/v3/products", product);
    }
    let heavy = made("/wc/v3/products/shipping_classes", json!({ "name": "Heavy" }));
    let product = json!({ "name": "Stone", "regular_price": "5", "shipping_class": heavy["slug"] });
    made("/wc/v3/products", product);

    let list = shop.get("/color/blue/");
    assert_eq!(list.status, 200, "{}", list.body);
    assert!(list.has("color thing") && !list.has("size thing") && !list.has("Stone"));
    assert!(shop.get("/color/blue").location.ends_with("/color/blue/"));
    assert_eq!(shop.get("/color/green/").status, 404);
    assert_eq!(shop.get("/size/blue/").status, 404);
    let class = shop.get("/?taxonomy=product_shipping_class&term=heavy");
    assert!(class.has("Stone") && !class.has("color thing"), "{}", class.body);
    let feed = shop.get("/color/blue/feed/");
    assert!(feed.has("color thing") && !feed.has("size thing"), "{}", feed.body);

    let index = shop.get("/wp-sitemap.xml");
    assert!(index.has("/wp-sitemap-taxonomies-pa_color-1.xml"), "{}", index.body);
    assert!(index.has("/wp-sitemap-taxonomies-product_shipping_class-1.xml"), "{}", index.body);
    assert!(!index.has("pa_size"), "{}", index.body);
    let map = shop.get("/wp-sitemap-taxonomies-pa_color-1.xml");
    assert!(map.has("/color/blue/</loc>"), "{}", map.body);
    let map = shop.get("/wp-sitemap-taxonomies-product_shipping_class-1.xml");
    assert!(map.has("/?taxonomy=product_shipping_class&amp;term=heavy</loc>"), "{}", map.body);
    assert_eq!(shop.get("/wp-sitemap-taxonomies-pa_size-1.xml").status, 404);
}

#[test]
fn posts_are_listed_by_category_tag_and_format() {
    let shop = Shop::new();
    let made = |path: &str, body: Value| shop.made("POST", path, &body);
    let tag = made("/wp/v2/tags", json!({ "name": "Storm" }))["id"].clone();
    let category = made("/wp/v2/categories", json!({ "name": "News", "description": "Fresh" }));
    for number in 1..=12 {
        let post = json!({
            "title": format!("Post number {number}."), "status": "publish", "content": "x",
            "categories": [category["id"]], "tags": if number == 1 { json!([tag]) } else { json!([]) },
            "format": if number == 2 { "aside" } else { "standard" },
            "date": format!("2024-01-{number:02}T10:00:00"),
        });
        made("/wp/v2/posts", post);
    }
    let draft = json!({ "title": "Secret", "status": "draft", "categories": [category["id"]] });
    made("/wp/v2/posts", draft);
    let list = shop.get("/category/news/");
    assert_eq!(list.status, 200, "{}", list.body);
    assert!(list.has("Fresh") && list.has("number 12.") && list.has("number 3."), "{}", list.body);
    assert!(!list.has("number 2.") && !list.has("Secret") && list.has("/category/news/page/2/"));
    let second = shop.get("/category/news/page/2/");
    assert!(second.has("number 2.") && second.has("number 1.") && !second.has("number 12."));
    assert_eq!(shop.get("/category/news/page/3/").status, 404);
    assert_eq!(shop.get("/category/none/").status, 404);
    let tagged = shop.get("/tag/storm/");
    assert!(tagged.has("number 1.") && !tagged.has("number 2."), "{}", tagged.body);
    let asides = shop.get("/type/aside/");
    assert!(asides.has("number 2.") && !asides.has("number 1."), "{}", asides.body);
    assert_eq!(shop.get("/type/standard/").status, 404);
    assert!(shop.get("/type/aside/feed/").has("number 2."));
    let map = shop.get("/wp-sitemap-taxonomies-post_format-1.xml");
    assert!(map.has("/type/aside/</loc>") && !map.has("standard"), "{}", map.body);
}

#[test]
fn a_product_without_a_picture_shows_what_the_shop_chose() {
    let shop = Shop::new();
    let product = json!({ "name": "Plain thing", "regular_price": "5" });
    let id = shop.made("POST", "/wc/v3/products", &product)["id"].clone();
    assert!(shop.get("/shop/").has("/wp-content/uploads/woocommerce-placeholder.webp"));
    let chosen = "https://pictures.example/none.png";
    let option = json!({ "value": chosen });
    shop.made("PUT", "/wc/v3/settings/products/woocommerce_placeholder_image", &option);
    for path in ["/shop/", "/product/plain-thing/"] {
        let page = shop.get(path);
        assert!(page.has(chosen) && !page.has("woocommerce-placeholder"), "{}", page.body);
    }
    let older = shop.made("GET", &format!("/wc/v2/products/{id}"), &json!({}));
    assert_eq!(older["images"][0]["src"], chosen);
    assert_eq!(shop.made("GET", &format!("/wc/v3/products/{id}"), &json!({}))["images"], json!([]));
    // What could run is no picture.
    let option = json!({ "value": "javascript:alert(1)" });
    shop.made("PUT", "/wc/v3/settings/products/woocommerce_placeholder_image", &option);
    assert!(shop.get("/shop/").has("/wp-content/uploads/woocommerce-placeholder.webp"));
}

#[test]
fn chosen_colours_and_fonts_are_those_of_the_pages() {
    let shop = Shop::new();
    let theme = shop.theme();
    let styles = theme["_links"]["wp:user-global-styles"][0]["href"].as_str().unwrap();
    let path = styles.rsplit_once("/wp-json").unwrap().1.to_owned();
    let before = shop.get("/");
    assert!(!before.has("--paper:#112233"));
    let chosen = json!({ "styles": {
        "color": { "background": "#112233", "text": "#fff" },
        "typography": { "fontFamily": "Georgia, serif" },
        "elements": { "link": { "color": { "text": "red;}</style><script>alert(1)</script>" } } },
    } });
    shop.made("PUT", &path, &chosen);
    for path in ["/", "/shop/", "/wp-login.php"] {
        let page = shop.get(path);
        assert!(page.has("--paper:#112233;") && page.has("--ink:#ffffff;"), "{}", page.body);
        assert!(page.has("body{font-family:Georgia, serif}"), "{}", page.body);
        assert!(!page.has("alert(1)"), "{}", page.body);
        let policy = &page.policy;
        assert!(policy.starts_with("default-src 'none'") && !policy.contains("script-src"));
        assert_eq!(policy.matches("'sha256-").count(), 2, "{policy}");
    }
}

#[test]
fn parts_menus_and_widgets_are_shown_cleaned() {
    let shop = Shop::new();
    let brand = "class=\"brand\"";
    assert!(shop.get("/").has(brand));
    let entry = |label: &str, url: &str| {
        format!("<!-- wp:navigation-link {} /-->", json!({ "label": label, "url": url }))
    };
    let content =
        [entry("Harbour news", "/harbour/"), entry("Bad", "javascript:alert(3)")].concat();
    let menu = json!({ "title": "Main", "status": "publish", "content": content });
    let menu = shop.made("POST", "/wp/v2/navigation", &menu);
    let page = shop.get("/");
    assert!(page.has("href=\"/harbour/\"") && page.has("Harbour news"), "{}", page.body);
    assert!(page.has(brand) && is_harmless(&page.body), "{}", page.body);

    let theme = shop.theme()["stylesheet"].clone();
    let theme = theme.as_str().unwrap();
    let header = format!(
        "<!-- wp:site-title {{\"level\":0}} /--><p title=\"<!-- wp:search /-->\">Own header</p>\
         <!-- wp:navigation {{\"ref\":{}}} /-->{HOSTILE}",
        menu["id"]
    );
    let path = format!("/wp/v2/template-parts/{theme}//header");
    shop.made("PUT", &path, &json!({ "content": header }));
    let path = format!("/wp/v2/template-parts/{theme}//footer");
    let footer = format!("<!-- wp:search {{\"label\":\"Seek\"}} /-->Own footer {HOSTILE}");
    shop.made("PUT", &path, &json!({ "content": footer }));
    let widget = json!({
        "id_base": "text", "sidebar": "sidebar-1",
        "instance": { "raw": { "title": "<i>Hours</i>", "text": format!("Nine to five {HOSTILE}") } },
    });
    shop.made("POST", "/wp/v2/widgets", &widget);
    let resting = json!({ "id_base": "text", "instance": { "raw": { "text": "Resting" } } });
    shop.made("POST", "/wp/v2/widgets", &resting);
    for path in ["/", "/shop/", "/nothing-is-here/"] {
        let page = shop.get(path);
        for part in ["Own header", "Own footer", "Harbour news", "wp-block-search", "Nine to five"]
        {
            assert!(page.has(part), "{part} on {path}: {}", page.body);
        }
        assert!(page.has("wp-block-site-title") && page.has(">Seek <input"), "{}", page.body);
        assert!(!page.has(brand) && !page.has("Resting"), "{}", page.body);
        assert!(is_harmless(&page.body), "{path}: {}", page.body);
        assert!(page.policy.starts_with("default-src 'none'"));
    }
}

#[test]
fn parts_hide_nothing_and_cost_little() {
    let shop = Shop::new();
    let theme = shop.theme()["stylesheet"].clone();
    let path = format!("/wp/v2/template-parts/{}//header", theme.as_str().unwrap());
    let menu = json!({ "title": "Main", "status": "publish", "content": "<!-- x --><ul></ul>" });
    let menu = shop.made("POST", "/wp/v2/navigation", &menu)["id"].clone();
    // A comment that another part would end, and a mark that hides a block until it is shown.
    let hidden = format!(
        "<!-- a > <!-\u{e000}- wp:navigation {{\"ref\":{menu}}} /-\u{e000}-> {HOSTILE} --><p>Own</p>"
    );
    shop.made("PUT", &path, &json!({ "content": hidden }));
    let page = shop.get("/");
    assert!(page.has("<p>Own</p>") && is_harmless(&page.body), "{}", page.body);
    let parts = shop.made("GET", "/boardwalk-pages/v1/parts", &Value::Null).to_string();
    assert!(is_harmless(&parts), "{parts}");

    // A menu that shows itself, many times over.
    let itself = format!("<!-- wp:navigation {{\"ref\":{menu}}} /-->").repeat(400);
    let content = json!({ "content": format!("<p>Entry</p>{itself}") });
    shop.made("POST", &format!("/wp/v2/navigation/{menu}"), &content);
    shop.made("PUT", &path, &json!({ "content": itself }));
    let started = Instant::now();
    let page = shop.get("/");
    assert_eq!(page.status, 200, "{}", page.body);
    assert!(page.body.matches("Entry").count() <= 20, "{}", page.body);
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
}

#[test]
fn products_made_as_content_keep_their_first_address() {
    let shop = Shop::new();
    let made = |method: &str, path: &str, body: Value| shop.made(method, path, &body);
    let product = json!({ "title": "Buoy", "status": "publish" });
    let product = made("POST", "/wp/v2/product", product);
    let (path, first) = (
        format!("/wp/v2/product/{}", product["id"]),
        format!("{}/product/buoy/", shop.running.url),
    );
    assert_eq!((&product["guid"]["raw"], &product["product_cat"]), (&json!(first), &json!([])));
    let renamed = made("PUT", &path, json!({ "slug": "red-buoy", "product_cat": [] }));
    assert_eq!(renamed["guid"]["raw"], first);
    // Who leaves the categories empty means the default one.
    assert_eq!(renamed["product_cat"].as_array().map(Vec::len), Some(1), "{renamed}");
    let trashed = made("DELETE", &path, json!({}));
    assert_eq!((&trashed["guid"]["raw"], &trashed["status"]), (&json!(first), &json!("trash")));
    let draft = made("POST", "/wp/v2/product", json!({ "title": "Later" }));
    let plain = format!("{}/?post_type=product&p={}", shop.running.url, draft["id"]);
    assert_eq!((&draft["guid"]["raw"], &draft["product_cat"]), (&json!(plain), &json!([])));
}
