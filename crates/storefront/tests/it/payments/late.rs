//! Payments that are reported when the goods are gone.

use serde_json::json;

use super::super::support::order_body;
use super::{notes_of, order_of, ordered, report, shop, told};

#[test]
fn a_late_payment_sells_nothing_twice() {
    let (shop, goods, secret) = shop();
    let (id, path) = ordered(&shop, &goods);
    let cancelled = json!({ "status": "cancelled" });
    shop.made("PUT", &format!("/wc/v3/orders/{id}"), &cancelled);
    let other = shop.guest();
    other.add(goods.anchor, 3);
    assert_eq!(other.ask("POST", "/checkout", &order_body("bacs", "bob@example.test")).status, 200);
    assert_eq!(shop.stock_of(goods.anchor), 0);
    let answer = report(&shop, &secret, "late", &told("captured", &path, "33.00"));
    assert_eq!(answer.0, 200, "{answer:?}");
    let order = order_of(&shop, &id);
    assert_eq!(order["status"], "on-hold", "{order}");
    assert!(notes_of(&shop, &id).contains("The payment came too late"));
    assert_eq!(shop.stock_of(goods.anchor), 0, "what is not there is not sold");
    shop.made("PUT", &format!("/wc/v3/orders/{id}"), &cancelled);
    assert_eq!(shop.stock_of(goods.anchor), 0, "and not given back");
}

#[test]
fn a_late_payment_waits_for_new_stock_in_all_its_steps() {
    let (shop, goods, secret) = shop();
    let (id, path) = ordered(&shop, &goods);
    let set = |status: &str| {
        shop.made("PUT", &format!("/wc/v3/orders/{id}"), &json!({ "status": status }))
    };
    let restock = |count: i64| {
        let path = format!("/wc/v3/products/{}", goods.anchor);
        shop.made("PUT", &path, &json!({ "stock_quantity": count }))
    };
    set("cancelled");
    restock(0);
    for (name, kind) in [("first", "authorised"), ("second", "captured")] {
        let answer = report(&shop, &secret, name, &told(kind, &path, "33.00"));
        assert_eq!(answer.0, 200, "{answer:?}");
        assert_eq!(order_of(&shop, &id)["status"], "on-hold", "{kind}");
        assert_eq!(shop.stock_of(goods.anchor), 0, "{kind}");
    }
    restock(5);
    set("processing");
    assert_eq!(shop.stock_of(goods.anchor), 4, "now it is taken");
    set("completed");
    assert_eq!(shop.stock_of(goods.anchor), 4, "once");
    set("cancelled");
    assert_eq!(shop.stock_of(goods.anchor), 5, "and given back");
}
