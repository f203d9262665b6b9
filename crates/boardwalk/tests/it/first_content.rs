//! What a new site begins with, through the real server: real records, made once, that stay as
//! people leave them and give way to a site that is imported whole.

use std::fs;

use serde_json::{Value, json};
use testkit::http::{self, Request};

use crate::support::{Running, Site, text};

const PAGES: [(&str, &str); 4] = [
    ("woocommerce_shop_page_id", "shop"),
    ("woocommerce_cart_page_id", "cart"),
    ("woocommerce_checkout_page_id", "checkout"),
    ("woocommerce_myaccount_page_id", "my-account"),
];

struct Shop {
    site: Site,
    authorization: String,
}

impl Shop {
    fn new(site: Site) -> Self {
        let authorization = site.administrator();
        Self { site, authorization }
    }

    fn ask(&self, running: &Running, method: &str, path: &str, body: Option<&Value>) -> Value {
        let path = format!("/wp-json{path}");
        let mut request = Request::new(method, &path).header("Authorization", &self.authorization);
        if let Some(body) = body {
            request = request.header("Content-Type", "application/json");
            request = request.body(body.to_string().into_bytes());
        }
        let answer = http::send(&running.url, &request).unwrap();
        assert!(answer.status < 300, "{method} {path}: {} {}", answer.status, answer.text());
        answer.json().unwrap()
    }

    fn get(&self, running: &Running, path: &str) -> Value {
        self.ask(running, "GET", path, None)
    }

    fn slugs(&self, running: &Running) -> Vec<String> {
        let pages = self.get(running, "/wp/v2/pages?orderby=id&order=asc&_fields=slug");
        pages.as_array().unwrap().iter().map(|page| text(page, "slug")).collect()
    }

    fn option(&self, name: &'static str) -> i64 {
        let stored =
            self.site.store().read_blocking(move |conn| site_rows::option::get(conn, name));
        let value = stored.unwrap().map(|text| serde_json::from_str::<Value>(&text).unwrap());
        value.and_then(|value| value.as_str()?.parse().ok()).unwrap_or_default()
    }
}

on_both_engines!(a_new_site_begins_with_records);

fn a_new_site_begins_with_records(site: Site) {
    let shop = Shop::new(site);
    let running = shop.site.serve();
    assert_eq!(shop.slugs(&running), PAGES.map(|(_, slug)| slug));
    for (option, slug) in PAGES {
        let page = shop.option(option);
        let shown = shop.get(&running, &format!("/wp/v2/pages/{page}"));
        assert_eq!((&shown["slug"], &shown["status"]), (&json!(slug), &json!("publish")));
        // Without goods the checkout leads to the cart.
        let shown = http::get(&running.url, &format!("/{slug}/"), &[]).unwrap().status;
        assert!(matches!((slug, shown), (_, 200) | ("checkout", 302)), "{slug}: {shown}");
    }
    let menus = shop.get(&running, "/wp/v2/navigation");
    assert_eq!(menus[0]["slug"], "navigation");
    let media = shop.get(&running, "/wp/v2/media");
    let picture = &media[0];
    assert_eq!(shop.option("woocommerce_placeholder_image"), picture["id"]);
    let sizes = picture["media_details"]["sizes"].as_object().unwrap();
    assert_eq!(sizes.len(), 5, "{picture}");
    for size in sizes.values() {
        let address = size["source_url"].as_str().unwrap();
        let path = address.strip_prefix(&*running.url).unwrap();
        let file = http::get(&running.url, path, &[]).unwrap();
        assert_eq!(file.header("content-type").as_deref(), Some("image/webp"), "{path}");
    }
    let categories = shop.get(&running, "/wp/v2/product_cat?_fields=slug");
    assert_eq!(categories, json!([{ "slug": "uncategorized" }]));

    // What people delete or change stays so.
    let cart = shop.option("woocommerce_cart_page_id");
    shop.ask(&running, "DELETE", &format!("/wp/v2/pages/{cart}?force=true"), None);
    let picture = picture["id"].as_i64().unwrap();
    shop.ask(&running, "DELETE", &format!("/wp/v2/media/{picture}?force=true"), None);
    let menu = menus[0]["id"].as_i64().unwrap();
    shop.ask(&running, "DELETE", &format!("/wp/v2/navigation/{menu}?force=true"), None);
    drop(running);
    let running = shop.site.serve();
    assert_eq!(shop.slugs(&running), ["shop", "checkout", "my-account"]);
    assert_eq!(shop.get(&running, "/wp/v2/media"), json!([]));
    assert_eq!(shop.get(&running, "/wp/v2/navigation"), json!([]));
}

#[test]
fn what_a_shop_has_is_left_as_it_is() {
    let shop = Shop::new(Site::sqlite());
    let running = shop.site.serve();
    let own = json!({ "slug": "cart", "title": "Basket", "status": "publish", "content": "Mine" });
    let all = shop.get(&running, "/wp/v2/pages?_fields=id");
    for page in all.as_array().unwrap() {
        shop.ask(&running, "DELETE", &format!("/wp/v2/pages/{}?force=true", page["id"]), None);
    }
    let own = shop.ask(&running, "POST", "/wp/v2/pages", Some(&own));
    drop(running);
    // As on a site that is older than all of this.
    shop.site
        .store()
        .write_blocking(|conn| {
            site_rows::option::delete(conn, "boardwalk_first_content")?;
            for (option, _) in PAGES {
                site_rows::option::delete(conn, option)?;
            }
            site_rows::option::set(conn, "woocommerce_shop_page_id", "\"77\"").map(drop)
        })
        .unwrap();
    let running = shop.site.serve();
    assert_eq!(shop.slugs(&running), ["cart", "checkout", "my-account"]);
    assert_eq!(shop.option("woocommerce_cart_page_id"), own["id"]);
    assert_eq!(shop.option("woocommerce_shop_page_id"), 77);
    let kept = shop.get(&running, &format!("/wp/v2/pages/{}?context=edit", own["id"]));
    assert_eq!(
        (&kept["title"]["raw"], &kept["content"]["raw"]),
        (&json!("Basket"), &json!("Mine"))
    );
}

#[test]
fn a_whole_site_that_is_imported_takes_its_place() {
    let shop = Shop::new(Site::sqlite());
    let running = shop.site.serve();
    let picture = shop.get(&running, "/wp/v2/media")[0]["id"].as_i64().unwrap();
    let pages = shop.get(&running, "/wp/v2/pages?_fields=id,slug");
    let page = pages.as_array().unwrap().iter().find(|page| page["slug"] == "checkout").unwrap();
    let page = page["id"].as_i64().unwrap();
    drop(running);
    let post = |id: i64, slug: &str| {
        json!({
            "id": id, "type": "page", "slug": slug, "status": "publish", "title": slug, "author": 1,
            "date": "2024-01-01T00:00:00", "date_gmt": "2024-01-01T00:00:00",
            "modified": "2024-01-01T00:00:00", "modified_gmt": "2024-01-01T00:00:00",
            "content": "Old", "comment_status": "closed", "ping_status": "closed",
        })
    };
    let bundle = json!({ "posts": [post(picture, "cart"), post(page, "history")] });
    let file = shop.site.data().join("bundle.json");
    fs::write(&file, bundle.to_string()).unwrap();
    shop.site.json(&["import", "bundle", file.to_str().unwrap()]);
    let running = shop.site.serve();
    assert_eq!(shop.slugs(&running), ["cart", "history"]);
    assert_eq!(shop.option("woocommerce_cart_page_id"), 0);
    let media = shop.get(&running, "/wp/v2/media");
    assert_eq!(media[0]["slug"], "woocommerce-placeholder");
    assert!(media[0]["id"].as_i64().unwrap() > page);
    assert_eq!(shop.option("woocommerce_placeholder_image"), media[0]["id"]);
    let file = "/wp-content/uploads/woocommerce-placeholder-300x300.webp";
    assert_eq!(http::get(&running.url, file, &[]).unwrap().status, 200);
}
