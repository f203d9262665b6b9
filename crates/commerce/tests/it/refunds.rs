//! Refunds: what is paid back, what comes back into the stock, and what becomes of the order.

use serde_json::{Value, json};

use super::orders::{product, stock};
use super::support::{ADMIN, Answer, TestShop};

/// An order of four at 10.00 with shipping for 5.00, which is paid.
fn order(shop: &TestShop, product_id: i64) -> Value {
    let body = json!({
        "set_paid": true,
        "line_items": [{ "product_id": product_id, "quantity": 4 }],
        "shipping_lines": [{ "method_id": "flat_rate", "method_title": "Flat", "total": "5" }],
    });
    shop.ask("POST", "/wc/v3/orders", ADMIN, &body).json
}

fn refund(shop: &TestShop, order: &Value, body: Value) -> Answer {
    let mut body = body;
    body["api_refund"] = json!(false);
    shop.ask("POST", &format!("/wc/v3/orders/{}/refunds", order["id"]), ADMIN, &body)
}

#[test]
fn lines_are_refunded_and_come_back() {
    let shop = TestShop::new();
    let tee = product(&shop, "Tee", "10");
    let order = order(&shop, tee);
    assert_eq!(stock(&shop, tee), ("96".to_owned(), 4));
    let line = order["line_items"][0]["id"].clone();
    let part = json!({ "reason": "Torn", "line_items": [
        { "id": line, "quantity": 1, "refund_total": 10, "refund_tax": [] }] });
    let made = refund(&shop, &order, part);
    assert_eq!(made.status, 201, "{}", made.json);
    assert_eq!((&made.json["amount"], &made.json["reason"]), (&json!("10.00"), &json!("Torn")));
    let taken = &made.json["line_items"][0];
    assert_eq!((&taken["quantity"], &taken["total"]), (&json!(-1), &json!("-10.00")));
    assert_eq!(taken["meta_data"][0]["value"], json!(line.to_string()));
    assert_eq!(stock(&shop, tee), ("97".to_owned(), 4));
    let without = json!({ "api_restock": false, "line_items": [
        { "id": line, "quantity": 1, "refund_total": "10" }] });
    refund(&shop, &order, without);
    assert_eq!(stock(&shop, tee), ("97".to_owned(), 4), "nothing came back");
    let own = format!("/wc/v3/orders/{}", order["id"]);
    let seen = shop.get(&own, ADMIN).json;
    assert_eq!(seen["status"], json!("processing"));
    let totals: Vec<&Value> =
        seen["refunds"].as_array().unwrap().iter().map(|refund| &refund["total"]).collect();
    assert_eq!(totals, [&json!("-10.00"), &json!("-10.00")]);
    let rest = refund(&shop, &order, json!({ "amount": "25" }));
    assert_eq!(rest.json["meta_data"][0]["value"], json!("full"));
    assert_eq!(shop.get(&own, ADMIN).json["status"], json!("refunded"));
    assert_eq!(shop.get(&format!("{own}/refunds"), ADMIN).header("x-wp-total"), "3");
    assert_eq!(shop.get("/wc/v3/refunds", ADMIN).each("parent_id"), vec![order["id"].clone(); 3]);
    let more = refund(&shop, &order, json!({ "amount": "0.01" }));
    assert_eq!(more.refusal(), (400, "woocommerce_rest_cannot_create_order_refund"));
}

#[test]
fn amounts_are_checked() {
    let shop = TestShop::new();
    let tee = product(&shop, "Tee", "10");
    let order = order(&shop, tee);
    for (amount, code) in [
        ("-1", "woocommerce_rest_invalid_order_refund"),
        ("45.01", "woocommerce_rest_cannot_create_order_refund"),
    ] {
        let answer = refund(&shop, &order, json!({ "amount": amount }));
        assert_eq!(answer.refusal(), (400, code), "{amount}");
    }
    let path = format!("/wc/v3/orders/{}/refunds", order["id"]);
    let by_provider = shop.ask("POST", &path, ADMIN, &json!({ "amount": "1" }));
    assert_eq!(by_provider.refusal(), (400, "woocommerce_rest_cannot_create_order_refund"));
    let nowhere = shop.ask("POST", "/wc/v3/orders/999999/refunds", ADMIN, &json!({}));
    assert_eq!(nowhere.refusal(), (404, "woocommerce_rest_invalid_order_id"));
    assert_eq!(shop.get("/wc/v3/refunds", ADMIN).header("x-wp-total"), "0");
}

#[test]
fn a_status_refunds_the_rest_and_a_refund_can_be_deleted() {
    let shop = TestShop::new();
    let tee = product(&shop, "Tee", "10");
    let order = order(&shop, tee);
    refund(&shop, &order, json!({ "amount": "15" }));
    let own = format!("/wc/v3/orders/{}", order["id"]);
    let answer = shop.ask("PUT", &own, ADMIN, &json!({ "status": "refunded" })).json;
    let totals: Vec<&Value> =
        answer["refunds"].as_array().unwrap().iter().map(|refund| &refund["total"]).collect();
    assert_eq!(totals, [&json!("-30.00"), &json!("-15.00")]);
    let id = &answer["refunds"][0]["id"];
    let path = format!("{own}/refunds/{id}");
    let old = shop.get(&format!("/wc/v1/orders/{}/refunds/{id}", order["id"]), ADMIN).json;
    assert_eq!((&old["amount"], old.get("refunded_by")), (&json!("30.00"), None));
    assert_eq!(shop.get(&own, ADMIN).json["status"], json!("refunded"));
    let elsewhere = shop.get(&format!("/wc/v3/orders/{id}/refunds/{id}"), ADMIN);
    assert_eq!(elsewhere.refusal(), (404, "woocommerce_rest_invalid_order_id"));
    let kept = shop.ask("DELETE", &format!("{path}?force=false"), ADMIN, &Value::Null);
    assert_eq!(kept.refusal(), (400, "woocommerce_rest_trash_not_supported"));
    assert_eq!(shop.ask("DELETE", &path, ADMIN, &Value::Null).status, 200);
    let deleted = shop.get(&path, ADMIN);
    assert_eq!(deleted.refusal(), (404, "woocommerce_rest_shop_order_refund_invalid_id"));
}
