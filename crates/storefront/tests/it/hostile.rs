//! Whatever a stranger sends: no failure, and nothing that is not theirs.

use serde_json::{Value, json};

use super::support::{STORE, TestShop, order_body};

fn values() -> Vec<Value> {
    vec![
        Value::Null,
        json!(true),
        json!(-1),
        json!(0),
        json!(1.5),
        json!(1e300),
        json!(9_223_372_036_854_775_807_i64),
        json!(""),
        json!("abc"),
        json!("\u{0}\u{202e}'\"<script>"),
        json!("x".repeat(10_000)),
        json!([]),
        json!([[[]]]),
        json!({}),
        json!({ "a": { "b": [1, null] } }),
    ]
}

#[test]
fn no_value_of_a_field_makes_the_shop_fail() {
    let (shop, goods) = TestShop::furnished();
    let buyer = shop.guest();
    buyer.add(goods.rope, 1);
    let key = buyer.cart()["items"][0]["key"].clone();
    let fields: &[(&str, &[&str], Value)] = &[
        ("/cart/add-item", &["id", "quantity", "variation"], json!({ "id": goods.rope })),
        (
            "/cart/items",
            &["id", "quantity", "variation", "extensions"],
            json!({ "id": goods.rope }),
        ),
        ("/cart/update-item", &["key", "quantity"], json!({ "key": key })),
        ("/cart/remove-item", &["key"], json!({})),
        ("/cart/apply-coupon", &["code"], json!({})),
        ("/cart/remove-coupon", &["code"], json!({})),
        ("/cart/coupons", &["code", "discount_type"], json!({})),
        ("/cart/select-shipping-rate", &["package_id", "rate_id"], json!({ "rate_id": "x" })),
        ("/cart/update-customer", &["billing_address", "shipping_address"], json!({})),
        ("/cart/extensions", &["namespace", "data"], json!({})),
        (
            "/checkout",
            &[
                "billing_address",
                "shipping_address",
                "payment_method",
                "payment_data",
                "customer_note",
                "create_account",
                "customer_password",
                "extensions",
                "additional_fields",
            ],
            order_body("bacs", "ada@example.test"),
        ),
    ];
    for (path, names, body) in fields {
        for name in *names {
            for value in values() {
                let mut body = body.clone();
                body[*name] = value.clone();
                let answer = buyer.ask("POST", path, &body);
                assert!(answer.status < 500, "{path} {name} {value}: {}", answer.json);
                buyer.add(goods.rope, 1);
            }
        }
    }
    for name in ["first_name", "state", "postcode", "country", "phone", "email", "city"] {
        for value in values() {
            let mut body = order_body("bacs", "ada@example.test");
            body["billing_address"][name] = value.clone();
            body["shipping_address"][name] = value.clone();
            let answer = buyer.ask("POST", "/cart/update-customer", &body);
            assert!(answer.status < 500, "{name} {value}: {}", answer.json);
            let answer = buyer.ask("POST", "/checkout", &body);
            assert!(answer.status < 500, "{name} {value}: {}", answer.json);
            buyer.add(goods.rope, 1);
        }
    }
    assert_eq!(shop.stock_of(goods.anchor), 3, "nothing of it was sold");
}

#[test]
fn no_query_makes_a_list_fail() {
    let (shop, _) = TestShop::furnished();
    let texts = ["", "abc", "-1", "0", "99999999999999999999", "%00", "a'b", "[]", "1,2,,x", "é"];
    for path in ["products", "products/collection-data", "products/reviews", "products/categories"]
    {
        for name in [
            "page",
            "per_page",
            "offset",
            "search",
            "slug",
            "sku",
            "include",
            "exclude",
            "parent",
            "category",
            "tag",
            "brand",
            "min_price",
            "max_price",
            "rating",
            "related",
            "after",
            "orderby",
            "stock_status",
            "attributes",
            "attributes[0][attribute]",
            "attributes[0][slug]",
            "calculate_taxonomy_counts",
            "calculate_attribute_counts",
            "product_id",
            "category_id",
            "type",
            "hide_empty",
            "catalog_visibility",
        ] {
            for text in texts {
                let answer = shop.get(&format!("{STORE}/{path}?{name}={text}"), "");
                assert!(answer.status < 500, "{path} {name}={text}: {}", answer.json);
            }
        }
    }
}

#[test]
fn nothing_is_sold_that_is_not_for_sale() {
    let (shop, goods) = TestShop::furnished();
    let draft = shop.product(&json!({ "name": "D", "regular_price": "1", "status": "draft" }));
    let gone = json!({ "name": "O", "regular_price": "1", "stock_status": "outofstock" });
    let gone = shop.product(&gone);
    let elsewhere = json!({
        "name": "E", "type": "external", "regular_price": "1", "external_url": "https://e.test",
    });
    let elsewhere = shop.product(&elsewhere);
    let free = shop.product(&json!({ "name": "P" }));
    let secret = json!({ "name": "S", "regular_price": "1", "post_password": "open" });
    let secret = shop.product(&secret);
    let buyer = shop.guest();
    for id in [draft, gone, elsewhere, free, secret, 0, -1, 99_999] {
        let answer = buyer.add(id, 1);
        assert_eq!(answer.status, 400, "{id}: {}", answer.json);
    }
    for quantity in [0, -1, 4, 10_000, i64::MAX] {
        assert_eq!(buyer.add(goods.anchor, quantity).status, 400, "{quantity}");
    }
    assert_eq!(buyer.cart()["items"], json!([]));
}
