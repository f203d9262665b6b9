//! From a cart to an order, and what happens in between.

use std::time::Duration;

use serde_json::{Value, json};
use types::Role;

use super::support::{ADMIN, NOBODY, STORE, TestShop, now, order_body};

#[test]
fn an_order_has_what_the_cart_showed() {
    let (shop, goods) = TestShop::furnished();
    let buyer = shop.guest();
    buyer.add(goods.anchor, 2);
    let look = buyer.ask("GET", "/checkout", &Value::Null);
    assert_eq!((look.status, &look.json["order_id"]), (200, &json!(0)), "looking makes nothing");
    let total = buyer.cart()["totals"]["total_price"].clone();
    let answer = buyer.order("bacs");
    assert_eq!((answer.status, &answer.json["status"]), (200, &json!("on-hold")));
    let id = &answer.json["order_id"];
    let order = shop.made("GET", &format!("/wc/v3/orders/{id}"), &Value::Null);
    assert_eq!((&total, &order["total"]), (&json!("6050"), &json!("60.50")));
    assert_eq!(order["created_via"], "store-api");
    assert_eq!(shop.stock_of(goods.anchor), 1);
    assert_eq!(buyer.cart()["items"], json!([]));
    let key = answer.json["order_key"].as_str().unwrap();
    let path = format!("{STORE}/order/{id}");
    for (query, expected) in [
        (format!("?key={key}&billing_email=ada@example.test"), (200, "")),
        (format!("?key={key}"), (401, "woocommerce_rest_invalid_billing_email")),
        (String::from("?key=bad"), (401, "woocommerce_rest_invalid_order")),
    ] {
        let answer = shop.get(&format!("{path}{query}"), NOBODY);
        assert_eq!(answer.refusal(), expected, "{query}");
    }
    for (method, status) in [("cheque", "on-hold"), ("cod", "processing")] {
        buyer.add(goods.rope, 1);
        assert_eq!(buyer.order(method).json["status"], status, "{method}");
    }
}

#[test]
fn an_attempt_that_fails_leaves_a_draft_that_holds_the_stock() {
    let (shop, goods) = TestShop::furnished();
    let (first, second) = (shop.guest(), shop.guest());
    first.add(goods.anchor, 3);
    let mut body = order_body("bacs", "ada@example.test");
    body["billing_address"]["city"] = json!("");
    let refused = first.ask("POST", "/checkout", &body);
    assert_eq!(refused.refusal(), (400, "woocommerce_rest_invalid_address"));
    assert!(refused.json["data"]["errors"]["billing"].is_array());
    let draft = first.ask("GET", "/checkout", &Value::Null).json;
    assert!(draft["order_id"].as_i64().unwrap() > 0);
    assert_eq!(shop.stock_of(goods.anchor), 3, "nothing is sold yet");
    let taken = second.add(goods.anchor, 1);
    assert_eq!(taken.refusal(), (400, "woocommerce_rest_product_out_of_stock"), "it is held");
    let ordered = first.order("bacs");
    assert_eq!(ordered.json["order_id"], draft["order_id"], "the order is the draft");
    assert_eq!(shop.stock_of(goods.anchor), 0);
}

#[test]
fn a_draft_that_is_left_gives_the_stock_back() {
    let (shop, goods) = TestShop::furnished();
    let buyer = shop.guest();
    buyer.add(goods.anchor, 3);
    buyer.ask("POST", "/checkout", &order_body("", "ada@example.test"));
    let id = buyer.ask("GET", "/checkout", &Value::Null).json["order_id"].clone();
    assert_eq!(shop.guest().add(goods.anchor, 1).status, 400);
    let later = now().plus(Duration::from_hours(49));
    shop.write(move |conn| storefront::sweep::sweep(conn, later));
    assert_eq!(shop.guest().add(goods.anchor, 1).status, 201);
    let deleted = shop.get(&format!("/wc/v3/orders/{id}"), ADMIN);
    assert_eq!(deleted.status, 404, "the draft went with its cart");
}

#[test]
fn an_order_is_never_for_less_than_the_buyer_saw() {
    let (shop, goods) = TestShop::furnished();
    let buyer = shop.guest();
    buyer.add(goods.anchor, 3);
    let path = format!("/wc/v3/products/{}", goods.anchor);
    shop.made("PUT", &path, &json!({ "stock_quantity": 1 }));
    let refused = buyer.order("bacs");
    let code = "woocommerce_rest_product_partially_out_of_stock";
    assert_eq!(refused.refusal(), (409, code));
    assert_eq!(refused.json["data"]["cart"]["items"][0]["quantity"], 1);
    assert_eq!(buyer.order("bacs").status, 200, "once it was seen");
    buyer.add(goods.rope, 1);
    shop.made("PUT", &format!("/wc/v3/products/{}", goods.rope), &json!({ "status": "draft" }));
    assert_eq!(buyer.order("bacs").refusal(), (409, "woocommerce_rest_cart_empty"));
}

#[test]
fn an_account_is_made_on_request_and_once() {
    let (shop, goods) = TestShop::furnished();
    let setting = "woocommerce_enable_signup_and_login_from_checkout";
    let path = format!("/wc/v3/settings/account/{setting}");
    shop.made("PUT", &path, &json!({ "value": "yes" }));
    let buyer = shop.guest();
    buyer.add(goods.course, 1);
    let mut body = order_body("bacs", "ada@example.test");
    body["create_account"] = json!(true);
    body["customer_password"] = json!("a long pass phrase");
    let answer = buyer.ask("POST", "/checkout", &body);
    assert_eq!(answer.status, 200, "{}", answer.json);
    let id = answer.json["customer_id"].clone();
    let customer = shop.made("GET", &format!("/wc/v3/customers/{id}"), &Value::Null);
    assert_eq!(
        (&customer["username"], &customer["role"]),
        (&json!("ada.lake"), &json!("customer"))
    );
    assert_eq!(customer["billing"]["city"], "Oakland");
    buyer.add(goods.course, 1);
    let again = buyer.ask("POST", "/checkout", &body);
    assert_eq!(again.refusal(), (400, "registration-error-email-exists"));
}

#[test]
fn a_waiting_order_is_paid_by_whoever_may() {
    let (mut shop, goods) = TestShop::furnished();
    let owner = shop.user("shopper", Role::Customer);
    let order = |customer: i64| {
        let body = json!({
            "status": "pending", "customer_id": customer,
            "billing": { "email": "ada@example.test" },
            "line_items": [{ "product_id": goods.anchor, "quantity": 1 }],
        });
        shop.made("POST", "/wc/v3/orders", &body)
    };
    let (own, guests) = (order(owner), order(0));
    let pay = |order: &Value, who: &str, key: &str| {
        let path = format!("{STORE}/checkout/{}", order["id"]);
        let token = shop.get(&format!("{STORE}/cart"), who).header("cart-token").to_owned();
        let mut headers = shop.credentials(who);
        headers.push((String::from("cart-token"), token));
        let mut body = order_body("cheque", "ada@example.test");
        body["key"] = json!(key);
        body["billing_email"] = json!("ada@example.test");
        shop.send("POST", &path, headers, &body)
    };
    let key = guests["order_key"].as_str().unwrap();
    assert_eq!(pay(&own, NOBODY, "").refusal(), (403, "woocommerce_rest_invalid_user"));
    assert_eq!(pay(&guests, NOBODY, "bad").refusal(), (401, "woocommerce_rest_invalid_order"));
    assert_eq!(pay(&own, "shopper", "").json["status"], "on-hold");
    assert_eq!(pay(&guests, NOBODY, key).json["status"], "on-hold");
    assert_eq!(shop.stock_of(goods.anchor), 1);
    let again = pay(&guests, NOBODY, key);
    assert_eq!(again.refusal(), (400, "invalid_order_update_status"));
}
