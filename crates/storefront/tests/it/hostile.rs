//! Whatever a stranger sends: no failure, and nothing that is not theirs.

use serde_json::{Value, json};

use super::support::{ADMIN, NOBODY, STORE, TestShop, order_body};

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
    let deleted = json!({ "name": "O", "regular_price": "1", "stock_status": "outofstock" });
    let deleted = shop.product(&deleted);
    let elsewhere = json!({
        "name": "E", "type": "external", "regular_price": "1", "external_url": "https://e.test",
    });
    let elsewhere = shop.product(&elsewhere);
    let free = shop.product(&json!({ "name": "P" }));
    let secret = json!({ "name": "S", "regular_price": "1", "post_password": "open" });
    let secret = shop.product(&secret);
    let buyer = shop.guest();
    for id in [draft, deleted, elsewhere, free, secret, 0, -1, 99_999] {
        let answer = buyer.add(id, 1);
        assert_eq!(answer.status, 400, "{id}: {}", answer.json);
    }
    for quantity in [0, -1, 4, 10_000, i64::MAX] {
        assert_eq!(buyer.add(goods.anchor, quantity).status, 400, "{quantity}");
    }
    assert_eq!(buyer.cart()["items"], json!([]));
}

#[test]
fn a_draft_is_not_paid_around_the_checkout() {
    let (shop, goods) = TestShop::furnished();
    let buyer = shop.guest();
    buyer.add(goods.anchor, 2);
    let mut body = order_body("cod", "eve@example.test");
    body["billing_address"]["city"] = json!("");
    assert_eq!(buyer.ask("POST", "/checkout", &body).status, 400);
    let draft = buyer.ask("GET", "/checkout", &Value::Null).json;
    let mut pay = order_body("cod", "eve@example.test");
    pay["key"] = draft["order_key"].clone();
    pay["billing_email"] = json!("eve@example.test");
    let paid = buyer.ask("POST", &format!("/checkout/{}", draft["order_id"]), &pay);
    assert_eq!(paid.refusal(), (400, "invalid_order_update_status"));
    let order = shop.made("GET", &format!("/wc/v3/orders/{}", draft["order_id"]), &Value::Null);
    assert_eq!(order["status"], "checkout-draft");
}

#[test]
fn paying_an_order_does_not_move_it() {
    let (shop, goods) = TestShop::furnished();
    let buyer = shop.guest();
    let mut billing = order_body("", "ada@example.test")["billing_address"].clone();
    billing["email"] = json!("ada@example.test");
    let order = json!({
        "status": "pending", "billing": billing,
        "line_items": [{ "product_id": goods.anchor, "quantity": 1 }],
    });
    let order = shop.made("POST", "/wc/v3/orders", &order);
    let pay = |change: &dyn Fn(&mut Value)| {
        let mut body = order_body("cheque", "ada@example.test");
        body["key"] = order["order_key"].clone();
        body["billing_email"] = json!("ada@example.test");
        change(&mut body);
        buyer.ask("POST", &format!("/checkout/{}", order["id"]), &body)
    };
    let moved = pay(&|body| {
        body["billing_address"]["state"] = json!("NV");
        body["billing_address"]["postcode"] = json!("89109");
    });
    assert_eq!(moved.refusal(), (400, "woocommerce_rest_invalid_address"));
    let nameless = pay(&|body| body["billing_address"]["email"] = json!(""));
    assert_eq!(nameless.status, 400, "{}", nameless.json);
    assert_eq!(pay(&|_| {}).json["status"], "on-hold");
    assert_eq!(shop.guest().add(goods.anchor, 2).status, 201, "nothing is held any more");
}

#[test]
fn whoever_says_nothing_holds_no_stock() {
    let (shop, goods) = TestShop::furnished();
    let stranger = shop.guest();
    stranger.add(goods.anchor, 3);
    let refused = stranger.ask("POST", "/checkout", &order_body("bacs", ""));
    assert_eq!(refused.status, 400, "{}", refused.json);
    assert_eq!(shop.guest().add(goods.anchor, 3).status, 201);
}

#[test]
fn reviews_of_what_is_not_published_are_not_shown() {
    let (shop, goods) = TestShop::furnished();
    let review = json!({
        "product_id": goods.rope, "review": "Strong", "reviewer": "Ada",
        "reviewer_email": "ada@example.test", "rating": 5,
    });
    shop.made("POST", "/wc/v3/products/reviews", &review);
    let path = format!("{STORE}/products/reviews");
    assert_eq!(shop.get(&path, NOBODY).json.as_array().unwrap().len(), 1);
    let product = format!("/wc/v3/products/{}", goods.rope);
    shop.made("PUT", &product, &json!({ "status": "private" }));
    assert_eq!(shop.get(&path, NOBODY).json, json!([]));
}

#[test]
fn a_link_changes_nothing_in_the_cart_of_whoever_follows_it() {
    let (shop, goods) = TestShop::furnished();
    let seen = shop.get(&format!("{STORE}/cart"), NOBODY);
    let nonce = seen.header("nonce").to_owned();
    let header = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let add = json!({ "id": goods.rope, "quantity": 1 });
    let own = vec![header("nonce", &nonce)];
    let added = shop.send("POST", &format!("{STORE}/cart/add-item"), own, &add);
    assert_eq!(added.status, 201, "{}", added.json);
    let cookies: Vec<&str> = added
        .headers
        .iter()
        .filter(|(name, _)| name.eq_ignore_ascii_case("set-cookie"))
        .filter_map(|(_, value)| value.split(';').next())
        .collect();
    let cookie = vec![header("cookie", &cookies.join("; "))];
    let link = format!(
        "{STORE}/batch?_method=POST&requests[0][path]=/wc/store/v1/cart/add-item\
         &requests[0][headers][Nonce]={nonce}&requests[0][body][id]={}\
         &requests[0][body][quantity]=7",
        goods.rope
    );
    shop.send("GET", &link, cookie.clone(), &Value::Null);
    let cart = shop.send("GET", &format!("{STORE}/cart"), cookie, &Value::Null);
    assert_eq!(cart.json["items"][0]["quantity"], 1, "{}", cart.json);
}

#[test]
fn what_is_in_carts_is_handed_out_and_erased() {
    let (shop, goods) = TestShop::furnished();
    let buyer = shop.guest();
    buyer.add(goods.rope, 1);
    let customer = order_body("", "Gone@example.test");
    buyer.ask("POST", "/cart/update-customer", &customer);
    let asked = json!({ "email": "gone@example.test" });
    let exported = shop.ask("POST", "/boardwalk/v1/privacy/export", ADMIN, &asked).json;
    assert!(exported["data"].to_string().contains("1 Pier Rd"), "{exported}");
    let erased = shop.ask("POST", "/boardwalk/v1/privacy/erase", ADMIN, &asked).json;
    assert_eq!(erased["carts"], 1, "{erased}");
    assert!(!buyer.cart().to_string().contains("Pier"));
}

#[test]
fn codes_of_coupons_cannot_be_guessed_for_long() {
    let (shop, goods) = TestShop::furnished();
    shop.made("POST", "/wc/v3/coupons", &json!({ "code": "secret", "amount": "1" }));
    let buyer = shop.guest();
    buyer.add(goods.rope, 1);
    let guess = |code: &str| buyer.ask("POST", "/cart/apply-coupon", &json!({ "code": code }));
    for number in 0..60 {
        assert_eq!(guess(&format!("guess{number}")).status, 400);
    }
    let code = "woocommerce_rest_too_many_coupons";
    assert_eq!(guess("secret").refusal(), (429, code), "not even a right one");
    let body = json!({ "code": "secret" });
    assert_eq!(buyer.ask("POST", "/cart/remove-coupon", &body).refusal(), (429, code));
    assert_eq!(buyer.ask("POST", "/cart/coupons", &body).refusal(), (429, code));
}
