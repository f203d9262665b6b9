//! The catalogue as strangers see it.

use serde_json::{Value, json};

use super::support::{NOBODY, STORE, TestShop};

fn ids(shop: &TestShop, query: &str) -> Vec<Value> {
    let answer = shop.get(&format!("{STORE}/products?order=asc&orderby=id&{query}"), NOBODY);
    assert_eq!(answer.status, 200, "{query}: {}", answer.json);
    answer.each("id")
}

#[test]
fn only_what_is_published_is_shown() {
    let shop = TestShop::new();
    let open = shop.product(&json!({ "name": "Open", "regular_price": "19.999" }));
    let draft = shop.product(&json!({ "name": "Draft", "status": "draft" }));
    let variable = json!({
        "name": "Shirt", "type": "variable", "status": "draft",
        "attributes": [{ "name": "Size", "options": ["S"], "variation": true }],
    });
    let variable = shop.product(&variable);
    let path = format!("/wc/v3/products/{variable}/variations");
    let variation = shop.made("POST", &path, &json!({ "regular_price": "5", "sku": "S-1" }));
    assert_eq!(ids(&shop, ""), [json!(open)]);
    assert!(ids(&shop, "type=variation").is_empty(), "its product is a draft");
    assert!(ids(&shop, "sku=S-1").is_empty());
    for id in [json!(draft), variation["id"].clone(), json!(99_999)] {
        let answer = shop.get(&format!("{STORE}/products/{id}"), NOBODY);
        assert_eq!(answer.refusal(), (404, "woocommerce_rest_product_invalid_id"), "{id}");
    }
    let shown = shop.get(&format!("{STORE}/products/open"), NOBODY).json;
    assert_eq!((&shown["id"], &shown["prices"]["price"]), (&json!(open), &json!("2000")));
    let alias = shop.get(&format!("/wc/store/products/{open}"), NOBODY);
    assert_eq!(alias.json["prices"], shown["prices"], "the namespace without a version");
}

#[test]
fn lists_are_filtered_by_prices_in_the_minor_unit() {
    let shop = TestShop::new();
    let cheap = shop.product(&json!({ "name": "Cheap", "regular_price": "5" }));
    let dear = shop.product(&json!({ "name": "Dear", "regular_price": "50" }));
    let none = shop.product(&json!({ "name": "None" }));
    assert_eq!(ids(&shop, "min_price=1000"), [json!(dear)]);
    assert_eq!(ids(&shop, "max_price=1000"), [json!(cheap), json!(none)]);
    assert_eq!(ids(&shop, "max_price=0").len(), 3, "no bound");
    let wrong = shop.get(&format!("{STORE}/products?min_price=abc"), NOBODY);
    assert_eq!(wrong.refusal(), (400, "rest_invalid_param"));
    let data = format!("{STORE}/products/collection-data?calculate_price_range=true&min_price=900");
    let range = &shop.get(&data, NOBODY).json["price_range"];
    assert_eq!((&range["min_price"], &range["max_price"]), (&json!("0"), &json!("5000")));
}

#[test]
fn a_category_has_the_products_and_reviews_of_those_below() {
    let shop = TestShop::new();
    let make = |body: Value| shop.made("POST", "/wc/v3/products/categories", &body)["id"].clone();
    let top = make(json!({ "name": "Boats" }));
    let below = make(json!({ "name": "Ropes", "parent": top }));
    let rope = json!({ "name": "Rope", "regular_price": "1", "categories": [{ "id": below }] });
    let rope = shop.product(&rope);
    let review = json!({
        "product_id": rope, "reviewer": "Ann", "reviewer_email": "ann@example.test",
        "review": "Holds.", "rating": 4, "status": "approved",
    });
    shop.made("POST", "/wc/v3/products/reviews", &review);
    assert_eq!(ids(&shop, &format!("category={top}")), [json!(rope)]);
    assert_eq!(ids(&shop, "category=boats"), [json!(rope)]);
    assert!(ids(&shop, "category=nope").is_empty());
    assert_eq!(ids(&shop, "rating=4"), [json!(rope)]);
    assert!(ids(&shop, "rating=5").is_empty());
    let one = shop.get(&format!("{STORE}/products/categories/{top}"), NOBODY).json;
    assert_eq!((&one["count"], &one["review_count"]), (&json!(1), &json!(1)));
    let shown = shop.get(&format!("{STORE}/products/{rope}"), NOBODY).json;
    let link = shown["categories"][0]["link"].as_str().unwrap();
    assert!(link.ends_with("/product-category/boats/ropes/"), "{link}");
    let data = format!(
        "{STORE}/products/collection-data?calculate_taxonomy_counts[]=product_cat\
         &calculate_rating_counts=true"
    );
    let data = shop.get(&data, NOBODY).json;
    assert_eq!(data["taxonomy_counts"].as_array().unwrap().len(), 2);
    assert_eq!(data["rating_counts"], json!([{ "rating": 4, "count": 1 }]));
    let reviews = shop.get(&format!("{STORE}/products/reviews?category_id={top}"), NOBODY);
    assert_eq!(reviews.each("rating"), [json!(4)]);
    assert!(reviews.json[0].get("reviewer_email").is_none(), "addresses are not published");
}
