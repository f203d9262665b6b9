//! Feeds, sitemaps and `robots.txt` of a site with a shop on it, and products as content: found,
//! commented on and shown by the interface of posts.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use contract::rest::Verb;
use frame::{Client, Request};
use serde_json::{Value, json};

use super::facts::Recorded;

const HOST: &str = "shop.example";

struct Shop {
    recorded: Recorded,
    runtime: tokio::runtime::Runtime,
}

impl Shop {
    fn new() -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        Self { recorded: Recorded::new(), runtime }
    }

    /// Carries out a request of the administrator.
    fn call(&self, verb: Verb, path: &str, body: Value) -> Value {
        let site = Arc::clone(&self.recorded.site);
        let (path, now) = (path.to_owned(), site.clock().now());
        let done = self.recorded.store().write_blocking(move |conn| {
            let admin = site_rows::user::get(conn, 1)?.unwrap();
            site.done_by(conn, admin, (verb, &path), body.clone(), now)
        });
        self.recorded.site.note_write();
        done.unwrap()
    }

    fn page(&self, path: &str) -> (u16, String, String) {
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        let request = Request {
            method: "GET".to_owned(),
            path: path.to_owned(),
            url_path: path.to_owned(),
            query_text: query.to_owned(),
            query: Request::decode_query(query),
            headers: Arc::new(vec![("accept".to_owned(), "text/html".to_owned())]),
            body: Vec::new(),
            upload: None,
            secure: false,
            encrypted_here: false,
            host: HOST.to_owned(),
            client: Client {
                address: IpAddr::V4(Ipv4Addr::new(192, 0, 2, 7)),
                throttled: true,
                local: false,
            },
        };
        let site = &self.recorded.site;
        let answer = self.runtime.block_on(content::web::page(site, request)).unwrap();
        let header = |wanted: &str| {
            let found = answer.headers.iter().find(|(name, _)| *name == wanted);
            found.map(|(_, value)| value.clone()).unwrap_or_default()
        };
        let told = if answer.status == 301 { header("location") } else { header("content-type") };
        (answer.status, told, answer.body)
    }
}

#[test]
fn feeds_tell_of_posts_and_comments() {
    let shop = Shop::new();
    let body = json!({ "title": "Tide & <b>co</b>", "status": "publish", "content": "Text" });
    let post = shop.call(Verb::Post, "/wp/v2/posts", body);
    let locked = json!({ "title": "Log", "status": "publish", "password": "x", "content": "Hid" });
    shop.call(Verb::Post, "/wp/v2/posts", locked);
    let comment = json!({ "post": post["id"], "content": "Well said" });
    shop.call(Verb::Post, "/wp/v2/comments", comment);
    for (path, kind) in [
        ("/feed/", "application/rss+xml; charset=UTF-8"),
        ("/feed/atom/", "application/atom+xml; charset=UTF-8"),
        ("/feed/rdf/", "application/rdf+xml; charset=UTF-8"),
        ("/feed/rss/", "application/rss+xml; charset=UTF-8"),
        ("/category/uncategorized/feed/", "application/rss+xml; charset=UTF-8"),
    ] {
        let (status, told, xml) = shop.page(path);
        assert_eq!((status, told.as_str()), (200, kind), "{path}");
        assert!(xml.contains("<title>Tide &amp; co</title>"), "{path}: {xml}");
        assert!(xml.contains("<title>Protected: Log</title>"), "{path}");
        assert!(!xml.contains("Hid"), "{path} shows what has a password");
    }
    let (_, _, xml) = shop.page("/comments/feed/");
    assert!(xml.contains("Comment on Tide &amp; co by"), "{xml}");
    let link = post["link"].as_str().unwrap();
    let path = link.split_once("://").unwrap().1.split_once('/').unwrap().1;
    let (status, _, xml) = shop.page(&format!("/{path}feed/"));
    assert_eq!(status, 200);
    assert!(xml.contains("Well said"), "{xml}");
    assert_eq!(shop.page("/nowhere/feed/").0, 404);
}

#[test]
fn the_sitemap_names_what_readers_may_visit() {
    let shop = Shop::new();
    let post = json!({ "title": "Tide", "status": "publish" });
    shop.call(Verb::Post, "/wp/v2/posts", post);
    shop.call(Verb::Post, "/wp/v2/posts", json!({ "title": "Secret", "status": "private" }));
    let product = json!({ "name": "Anchor", "status": "publish" });
    shop.call(Verb::Post, "/wc/v3/products", product);
    let (status, kind, index) = shop.page("/wp-sitemap.xml");
    assert_eq!((status, kind.as_str()), (200, "application/xml; charset=UTF-8"));
    for part in ["posts-post", "posts-page", "posts-product", "taxonomies-category", "users"] {
        assert!(index.contains(&format!("/wp-sitemap-{part}-1.xml")), "{part}: {index}");
    }
    let (_, _, posts) = shop.page("/wp-sitemap-posts-post-1.xml");
    assert!(posts.contains("/tide/</loc><lastmod>"), "{posts}");
    assert!(!posts.contains("secret"), "{posts}");
    let (_, _, products) = shop.page("/wp-sitemap-posts-product-1.xml");
    assert!(products.contains("/product/anchor/</loc>"), "{products}");
    for missing in ["posts-post-2", "posts-nope-1", "users-9", "nope"] {
        assert_eq!(shop.page(&format!("/wp-sitemap-{missing}.xml")).0, 404, "{missing}");
    }
    let (status, location, _) = shop.page("/sitemap.xml");
    assert_eq!(status, 301);
    assert!(location.ends_with("/wp-sitemap.xml"), "{location}");
    let (status, kind, robots) = shop.page("/robots.txt");
    assert_eq!((status, kind.as_str()), (200, "text/plain; charset=utf-8"));
    assert!(robots.contains("Disallow: /wp-admin/") && robots.contains("/wp-sitemap.xml"));
    let (status, location, _) = shop.page("/anchor");
    assert_eq!(status, 301, "a slug alone leads to its page");
    assert!(location.ends_with("/product/anchor/"), "{location}");
}

#[test]
fn products_are_content() {
    let shop = Shop::new();
    let body = json!({ "title": "Anchor", "status": "publish", "content": "Holds" });
    let made = shop.call(Verb::Post, "/wp/v2/product", body);
    let id = made["id"].as_i64().unwrap();
    assert!(made["link"].as_str().unwrap().ends_with("/product/anchor/"), "{made}");
    let product = shop.call(Verb::Get, &format!("/wc/v3/products/{id}"), Value::Null);
    assert_eq!((&product["name"], &product["type"]), (&json!("Anchor"), &json!("simple")));
    let own = format!("/wp/v2/product/{id}");
    shop.call(Verb::Put, &own, json!({ "title": "Renamed" }));
    let product = shop.call(Verb::Get, &format!("/wc/v3/products/{id}"), Value::Null);
    assert_eq!(product["name"], "Renamed");
    let found = shop.call(Verb::Get, "/wp/v2/search", json!({ "search": "renamed" }));
    assert_eq!(found[0]["subtype"], "product");
    let trashed = shop.call(Verb::Delete, &own, json!({}));
    assert_eq!(trashed["status"], "trash");
}

#[test]
fn a_review_is_a_comment_and_its_rating_follows_moderation() {
    let shop = Shop::new();
    let product = shop.call(Verb::Post, "/wc/v3/products", json!({ "name": "Anchor" }));
    let id = product["id"].as_i64().unwrap();
    let review = json!({
        "product_id": id, "reviewer": "Ann", "reviewer_email": "ann@example.test",
        "review": "Holds well.", "rating": 5,
    });
    let review = shop.call(Verb::Post, "/wc/v3/products/reviews", review);
    let own = format!("/wp/v2/comments/{}", review["id"]);
    let shown = shop.call(Verb::Get, &own, Value::Null);
    assert_eq!((&shown["type"], &shown["post"]), (&json!("review"), &json!(id)));
    let rated = || shop.call(Verb::Get, &format!("/wc/v3/products/{id}"), Value::Null);
    assert_eq!(rated()["rating_count"], 1);
    shop.call(Verb::Put, &own, json!({ "status": "spam" }));
    assert_eq!(rated()["rating_count"], 0, "spam gives no stars");
    let comment = json!({ "post": id, "content": "Is it heavy?" });
    shop.call(Verb::Post, "/wp/v2/comments", comment);
    let reviews = shop.call(Verb::Get, "/wc/v3/products/reviews", json!({ "status": "all" }));
    let products: Vec<&Value> =
        reviews.as_array().unwrap().iter().map(|review| &review["product_id"]).collect();
    assert!(!products.contains(&&json!(id)), "a question is no review: {reviews}");
}
