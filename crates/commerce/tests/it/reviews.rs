//! Reviews of products over REST, and what they do to the rating of a product.

use serde_json::{Value, json};
use shop_rows::product::{self, ProductRow};
use types::Role;

use super::support::{ADMIN, NOBODY, TestShop};

const REVIEWS: &str = "/wc/v3/products/reviews";

fn product(shop: &TestShop, kind: &'static str) -> i64 {
    shop.write(move |conn| {
        let row = ProductRow {
            kind: kind.to_owned(),
            name: "Women's Tank".to_owned(),
            slug: "tank".to_owned(),
            status: "publish".to_owned(),
            details: "{}".to_owned(),
            ..ProductRow::default()
        };
        product::insert(conn, &row)
    })
}

fn review(product_id: i64, text: &str, rating: i64) -> Value {
    json!({
        "product_id": product_id, "reviewer": "Ann", "reviewer_email": "ann@example.test",
        "review": text, "rating": rating,
    })
}

fn make(shop: &TestShop, body: &Value) -> i64 {
    let made = shop.ask("POST", REVIEWS, ADMIN, body);
    assert_eq!(made.status, 201, "{}", made.json);
    made.json["id"].as_i64().unwrap()
}

/// The average and the count of a product's stars.
fn rating(shop: &TestShop, product_id: i64) -> (String, i64) {
    let row = shop.read(move |conn| product::get(conn, product_id)).unwrap();
    (row.average_rating.to_text(2), row.rating_count)
}

#[test]
fn a_review_is_made_changed_and_deleted() {
    let shop = TestShop::new();
    let (tank, other) = (product(&shop, "simple"), product(&shop, "simple"));
    let id = make(&shop, &review(tank, "Fits <b>well</b>", 5));
    let path = format!("{REVIEWS}/{id}");
    let shown = shop.get(&path, ADMIN).json;
    assert_eq!(shown["review"], json!("<p>Fits <b>well</b></p>\n"));
    assert_eq!(shown["product_name"], json!("Women&#8217;s Tank"));
    assert_eq!(shown["product_permalink"], json!("https://shop.example/product/tank/"));
    assert_eq!((&shown["status"], &shown["verified"]), (&json!("approved"), &json!(false)));
    assert!(shown["reviewer_avatar_urls"]["96"].as_str().unwrap().contains("s=96"));
    assert!(shown["_links"].get("reviewer").is_none(), "nobody with an account wrote it");
    let edited = shop.get(&format!("{path}?context=edit"), ADMIN).json;
    assert_eq!(edited["review"], json!("Fits <b>well</b>"));

    assert_eq!(rating(&shop, tank), ("5.00".to_owned(), 1));
    make(&shop, &review(tank, "So so", 2));
    make(&shop, &review(tank, "No stars", 0));
    assert_eq!(rating(&shop, tank), ("3.50".to_owned(), 2));
    shop.ask("PUT", &path, ADMIN, &json!({ "status": "hold" }));
    assert_eq!(rating(&shop, tank), ("2.00".to_owned(), 1));
    shop.ask("PUT", &path, ADMIN, &json!({ "status": "approved", "product_id": other }));
    assert_eq!(rating(&shop, tank), ("2.00".to_owned(), 1));
    assert_eq!(rating(&shop, other), ("5.00".to_owned(), 1));

    let trashed = shop.ask("DELETE", &path, ADMIN, &Value::Null);
    assert_eq!((trashed.status, &trashed.json["status"]), (200, &json!("trash")));
    assert_eq!(rating(&shop, other), ("0.00".to_owned(), 0));
    let again = shop.ask("DELETE", &path, ADMIN, &Value::Null);
    assert_eq!(again.refusal(), (410, "woocommerce_rest_already_trashed"));
    let back = shop.ask("PUT", &path, ADMIN, &json!({ "status": "untrash" }));
    assert_eq!(back.json["status"], json!("approved"));
    let deleted = shop.ask("DELETE", &format!("{path}?force=true"), ADMIN, &Value::Null);
    assert_eq!(deleted.json["deleted"], json!(true));
    assert_eq!(deleted.json["previous"]["id"], json!(id));
    assert_eq!(rating(&shop, other), ("0.00".to_owned(), 0));
    assert_eq!(shop.get(&path, NOBODY).refusal(), (404, "woocommerce_rest_review_invalid_id"));
}

#[test]
fn what_cannot_be_is_refused() {
    let mut shop = TestShop::new();
    shop.user("editor", Role::Editor);
    shop.user("clerk", Role::Customer);
    let (tank, variation) = (product(&shop, "simple"), product(&shop, "variation"));
    let id = make(&shop, &review(tank, "Fine", 3));
    let with = |name: &str, value: Value| {
        let mut body = review(tank, "Good", 3);
        body[name] = value;
        body
    };
    let product_code = "woocommerce_rest_product_invalid_id";
    for (body, expected) in [
        (review(tank, "Fine", 3), (409, "woocommerce_rest_comment_duplicate")),
        (review(tank, " ", 3), (400, "woocommerce_rest_review_content_invalid")),
        (review(999, "Good", 3), (404, product_code)),
        (review(variation, "Good", 3), (404, product_code)),
        (with("reviewer_email", json!("ann")), (400, "rest_invalid_email")),
        (
            with("reviewer", json!("a".repeat(246))),
            (400, "woocommerce_rest_comment_author_column_length"),
        ),
        (with("review", json!(null)), (400, "rest_missing_callback_param")),
        (with("id", json!(4)), (400, "woocommerce_rest_review_exists")),
    ] {
        let answer = shop.ask("POST", REVIEWS, ADMIN, &body);
        assert_eq!(answer.refusal(), expected, "{body}");
    }
    assert_eq!(rating(&shop, tank).1, 1);
    let path = format!("{REVIEWS}/{id}");
    assert_eq!(shop.get(&path, "editor").status, 200);
    let edit = shop.ask("PUT", &path, "editor", &json!({ "rating": 1 }));
    assert_eq!(edit.refusal(), (403, "woocommerce_rest_cannot_edit"));
    assert_eq!(shop.get(REVIEWS, "clerk").refusal(), (403, "woocommerce_rest_cannot_view"));
    // Stars are bounded, and scripts do not pass.
    let mut body = review(tank, "<script>x</script>Nice", 9);
    body["reviewer"] = json!("<i>Bo</i>");
    let manager = shop.user("manager", Role::ShopManager);
    assert!(manager > 0);
    let made = shop.ask("POST", REVIEWS, "manager", &body).json;
    assert_eq!((&made["rating"], &made["reviewer"]), (&json!(5), &json!("Bo")));
    assert!(!made["review"].as_str().unwrap().contains("<script"), "{made}");
}

#[test]
fn lists_are_filtered() {
    let shop = TestShop::new();
    let (tank, mug) = (product(&shop, "simple"), product(&shop, "simple"));
    let first = make(&shop, &review(tank, "Good", 5));
    let second = make(&shop, &review(mug, "Bad", 1));
    let mut held = review(mug, "Hm", 2);
    held["status"] = json!("hold");
    held["reviewer_email"] = json!("bo@example.test");
    let held = make(&shop, &held);
    for (query, expected) in [
        ("", vec![second, first]),
        ("status=all", vec![held, second, first]),
        ("status=hold", vec![held]),
        ("status=spam", vec![]),
        ("orderby=id&order=asc", vec![first, second]),
        ("search=goo", vec![first]),
        ("status=all&reviewer_email=bo@example.test", vec![held]),
        (&format!("product={mug}&status=all"), vec![held, second]),
        (&format!("include={first}"), vec![first]),
        (&format!("exclude={first}"), vec![second]),
        ("after=2026-11-15T08:00:01", vec![]),
        ("before=2026-11-15T08:00:01", vec![second, first]),
    ] {
        let list = shop.get(&format!("{REVIEWS}?{query}"), ADMIN);
        assert_eq!(list.each("id"), expected, "{query}");
    }
}

#[test]
fn older_versions_have_them_below_products() {
    let shop = TestShop::new();
    let (tank, mug) = (product(&shop, "simple"), product(&shop, "simple"));
    let body = json!({
        "name": "Bo", "email": "bo@example.test", "review": "Good", "rating": 4,
        "date_created": "2026-01-02T03:04:05",
    });
    let base = format!("/wc/v2/products/{tank}/reviews");
    let made = shop.ask("POST", &base, ADMIN, &body);
    assert_eq!(made.status, 201, "{}", made.json);
    let id = made.json["id"].as_i64().unwrap();
    assert!(made.header("location").ends_with(&format!("/wc/v2/products/{tank}/reviews/{id}")));
    let mut shown = shop.get(&format!("{base}/{id}"), ADMIN).json;
    shown.as_object_mut().unwrap().remove("_links");
    let expected = json!({
        "id": id, "date_created": "2026-01-02T03:04:05", "date_created_gmt": "2026-01-02T03:04:05",
        "review": "Good", "rating": 4, "name": "Bo", "email": "bo@example.test", "verified": false,
    });
    assert_eq!(shown, expected);
    let first = shop.get(&format!("/wc/v1/products/{tank}/reviews"), ADMIN);
    assert_eq!(first.each("id"), [id]);
    assert_eq!(first.json[0].get("date_created_gmt"), None);
    for (method, path, code) in [
        ("GET", format!("/wc/v2/products/{mug}/reviews/{id}"), "woocommerce_rest_invalid_id"),
        ("PUT", format!("/wc/v2/products/{mug}/reviews/{id}"), "rest_product_review_invalid_id"),
        ("GET", "/wc/v2/products/999/reviews".to_owned(), "woocommerce_rest_product_invalid_id"),
    ] {
        let body = if method == "GET" { Value::Null } else { json!({}) };
        assert_eq!(shop.ask(method, &path, ADMIN, &body).refusal(), (404, code), "{path}");
    }
    assert_eq!(shop.get(&base, NOBODY).refusal(), (401, "woocommerce_rest_cannot_view"));
}

#[test]
fn a_review_brings_its_product_along() {
    let shop = TestShop::new();
    let mug = product(&shop, "simple");
    make(&shop, &review(mug, "Fine", 5));
    let list = shop.get("/wc-analytics/products/reviews?_embed=1", ADMIN).json;
    let embedded = &list[0]["_embedded"]["up"][0];
    assert_eq!((&embedded["id"], &embedded["slug"]), (&json!(mug), &json!("tank")), "{embedded}");
    assert!(embedded.get("price").is_none(), "what is embedded is short: {embedded}");
    let unknown = shop.get(&format!("{REVIEWS}/999"), ADMIN);
    assert_eq!((unknown.status, unknown.header("allow")), (404, ""), "nothing is allowed there");
}
