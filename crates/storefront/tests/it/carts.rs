//! Carts: whose they are, what they come to, and that they are forgotten.

use std::time::Duration;

use serde_json::{Value, json};
use types::Role;

use super::support::{ADMIN, NOBODY, STORE, TestShop, address, now};

fn rows(shop: &TestShop) -> i64 {
    let count = "SELECT COUNT(*) FROM carts";
    shop.read(move |conn| {
        let mut rows = 0;
        conn.query_text(count, &[], &mut |row| {
            rows = row.get(0)?;
            Ok(())
        })?;
        Ok(rows)
    })
}

#[test]
fn a_cart_comes_to_what_its_order_comes_to() {
    let (shop, goods) = TestShop::furnished();
    let buyer = shop.guest();
    let answer = buyer.add(goods.anchor, 2);
    assert_eq!(answer.status, 201, "{}", answer.json);
    let totals = &answer.json["totals"];
    for (name, expected) in [
        ("total_items", "5000"),
        ("total_items_tax", "500"),
        ("total_shipping", "500"),
        ("total_shipping_tax", "50"),
        ("total_price", "6050"),
        ("total_tax", "550"),
    ] {
        assert_eq!(totals[name], expected, "{name}");
    }
    assert_eq!(buyer.cart()["totals"], *totals, "it is remembered");
    assert_eq!(shop.guest().cart()["items"], json!([]), "for its buyer alone");
    let item = buyer.cart()["items"][0]["key"].as_str().unwrap().to_owned();
    let update = json!({ "key": item, "quantity": 3 });
    let answer = buyer.ask("POST", "/cart/update-item", &update);
    assert_eq!(answer.json["items_count"], 3);
    let more = buyer.ask("POST", "/cart/update-item", &json!({ "key": item, "quantity": 4 }));
    assert_eq!(more.refusal(), (400, "invalid_quantity"), "there are three");
    let part = buyer.ask("POST", "/cart/update-item", &json!({ "key": item, "quantity": 1.5 }));
    assert_eq!(part.refusal(), (400, "invalid_quantity"));
    let wrong = buyer.ask("POST", "/cart/remove-item", &json!({ "key": "x" }));
    assert_eq!(wrong.refusal(), (409, "woocommerce_rest_cart_invalid_key"));
    assert_eq!(wrong.json["data"]["cart"]["items_count"], 3);
}

#[test]
fn a_write_shows_a_token_or_a_nonce() {
    let (shop, goods) = TestShop::furnished();
    let body = json!({ "id": goods.rope });
    let path = format!("{STORE}/cart/add-item");
    let send = |headers: &[(&str, &str)]| {
        let headers = headers.iter().map(|(name, value)| ((*name).into(), (*value).into()));
        shop.send("POST", &path, headers.collect(), &body)
    };
    let missing = send(&[]);
    assert_eq!(missing.refusal(), (401, "woocommerce_rest_missing_nonce"));
    assert_eq!(missing.header("cache-control"), "no-store");
    let nonce = missing.header("nonce").to_owned();
    assert_eq!(send(&[("nonce", "bad")]).refusal(), (403, "woocommerce_rest_invalid_nonce"));
    assert_eq!(send(&[("x-wc-store-api-nonce", &nonce)]).status, 401, "a former name");
    assert_eq!(send(&[("cart-token", "garbage")]).status, 401);
    let answer = send(&[("nonce", &nonce)]);
    assert_eq!(answer.status, 201, "{}", answer.json);
    // The cart can be reached again by the token of the answer.
    let token = answer.header("cart-token").to_owned();
    let headers = vec![(String::from("cart-token"), token.clone())];
    let cart = shop.send("GET", &format!("{STORE}/cart"), headers, &Value::Null);
    assert_eq!(cart.json["items_count"], 1);
    let (head, signature) = token.rsplit_once('.').unwrap();
    let forged = format!("{}.{signature}", head.replace("eyJ", "eyK"));
    for token in [forged, format!("{head}.{}", "A".repeat(43)), "a.b.c".repeat(500)] {
        let headers = vec![(String::from("cart-token"), token)];
        let cart = shop.send("GET", &format!("{STORE}/cart"), headers, &Value::Null);
        assert_eq!((cart.status, &cart.json["items_count"]), (200, &json!(0)));
    }
}

#[test]
fn a_users_cart_needs_the_users_sign_in() {
    let (mut shop, goods) = TestShop::furnished();
    shop.user("shopper", Role::Customer);
    let path = format!("{STORE}/cart");
    let token = shop.get(&path, "shopper").header("cart-token").to_owned();
    let with_token = |who: &str| {
        let mut headers = shop.credentials(who);
        headers.push((String::from("cart-token"), token.clone()));
        headers
    };
    let body = json!({ "id": goods.rope });
    let add = format!("{STORE}/cart/add-item");
    let answer = shop.send("POST", &add, with_token("shopper"), &body);
    assert_eq!(answer.status, 201, "{}", answer.json);
    assert_eq!(shop.get(&path, "shopper").json["items_count"], 1, "without the token as well");
    for who in [NOBODY, ADMIN] {
        let cart = shop.send("GET", &path, with_token(who), &Value::Null);
        assert_eq!(cart.json["items_count"], 0, "the token alone is not enough for {who:?}");
    }
}

#[test]
fn coupons_hold_as_long_as_their_conditions_do() {
    let (shop, goods) = TestShop::furnished();
    let coupon = json!({
        "code": "ten", "discount_type": "percent", "amount": "10", "minimum_amount": "40",
    });
    shop.made("POST", "/wc/v3/coupons", &coupon);
    let buyer = shop.guest();
    buyer.add(goods.anchor, 2);
    let apply = |code: &str| buyer.ask("POST", "/cart/apply-coupon", &json!({ "code": code }));
    assert_eq!(apply("nope").refusal(), (400, "woocommerce_rest_cart_coupon_error"));
    let answer = apply("TEN");
    assert_eq!(answer.json["totals"]["total_discount"], "500", "{}", answer.json);
    assert_eq!(apply("ten").status, 400, "once only");
    let key = answer.json["items"][0]["key"].clone();
    let less = buyer.ask("POST", "/cart/update-item", &json!({ "key": key, "quantity": 1 }));
    assert_eq!(less.json["coupons"], json!([]));
    assert_eq!(less.json["errors"][0]["code"], "woocommerce_rest_cart_coupon_error");
    assert_eq!(buyer.cart()["errors"], json!([]), "that is said once");
}

#[test]
fn addresses_decide_on_taxes_and_are_checked() {
    let (shop, goods) = TestShop::furnished();
    let buyer = shop.guest();
    buyer.add(goods.rope, 1);
    let update = |body: Value| buyer.ask("POST", "/cart/update-customer", &body);
    let abroad = json!({ "shipping_address": { "country": "FR", "state": "" } });
    let answer = update(abroad);
    assert_eq!(answer.json["totals"]["total_tax"], "0", "{}", answer.json);
    let wrong = update(json!({ "shipping_address": { "country": "XX" } }));
    assert_eq!(wrong.refusal(), (400, "rest_invalid_param"));
    let code = &wrong.json["data"]["details"]["shipping_address"]["code"];
    assert_eq!(code, "invalid_country");
    let mut billing = address();
    billing["email"] = json!("ada@example.test");
    update(json!({ "billing_address": billing }));
    let answer = update(json!({ "billing_address": { "email": "notmail" } }));
    assert_eq!(answer.json["billing_address"]["email"], "ada@example.test");
}

#[test]
fn items_of_a_batch_are_about_the_cart_of_the_whole() {
    let (shop, goods) = TestShop::furnished();
    let buyer = shop.guest();
    let item = |headers: Value| {
        json!({
            "path": "/wc/store/v1/cart/add-item", "headers": headers,
            "body": { "id": goods.rope, "quantity": 1 },
        })
    };
    let shown = json!({ "Cart-Token": buyer.token });
    let requests = json!({ "requests": [item(json!({})), item(shown)] });
    let answer = buyer.ask("POST", "/batch", &requests);
    let statuses: Vec<&Value> =
        answer.json["responses"].as_array().unwrap().iter().map(|one| &one["status"]).collect();
    assert_eq!((answer.status, statuses), (207, vec![&json!(401), &json!(201)]));
    assert_eq!(buyer.cart()["items_count"], 1);
    let elsewhere = json!({ "requests": [{ "path": "/wc/v3/products" }] });
    let answer = buyer.ask("POST", "/batch", &elsewhere);
    assert_eq!(answer.refusal(), (400, "woocommerce_rest_invalid_path"));
}

#[test]
fn only_carts_with_something_in_them_are_kept_and_not_for_ever() {
    let (shop, goods) = TestShop::furnished();
    for _ in 0..3 {
        shop.guest();
    }
    assert_eq!(rows(&shop), 0, "looking keeps nothing");
    let buyers: Vec<_> = (0..3).map(|_| shop.guest()).collect();
    for buyer in &buyers {
        buyer.add(goods.rope, 1);
    }
    assert_eq!(rows(&shop), 3);
    buyers[0].ask("DELETE", "/cart/items", &Value::Null);
    assert_eq!(rows(&shop), 2, "an empty cart is no row");
    let swept = shop.write(|conn| storefront::sweep::sweep_beyond(conn, now(), 1));
    assert_eq!((swept, rows(&shop)), (1, 1), "no more than one is kept");
    let later = now().plus(Duration::from_hours(49));
    assert_eq!(shop.write(move |conn| storefront::sweep::sweep(conn, later)), 1);
    assert_eq!(rows(&shop), 0);
}
