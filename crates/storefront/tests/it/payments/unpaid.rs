//! Orders that wait for their payment hold their stock, and give it back in time.

use std::time::Duration;

use serde_json::{Value, json};

use super::super::support::now;
use super::{notes_of, order_of, ordered, shop};

#[test]
fn an_order_that_is_not_paid_in_time_is_cancelled() {
    let (shop, goods, _) = shop();
    let body = json!({
        "status": "pending", "line_items": [{ "product_id": goods.anchor, "quantity": 1 }],
    });
    let by_hand = shop.made("POST", "/wc/v3/orders", &body)["id"].clone();
    let (id, _) = ordered(&shop, &goods);
    let cancel = |minutes| {
        let at = now().plus(Duration::from_mins(minutes));
        shop.run(storefront::sweep::cancel_unpaid(&shop.site, at)).unwrap()
    };
    let set = |name: &str, value: &str| {
        let path = format!("/wc/v3/settings/products/{name}");
        shop.made("PUT", &path, &json!({ "value": value }));
    };
    assert_eq!(cancel(59), 0, "there is an hour to pay");
    set("woocommerce_hold_stock_minutes", "");
    assert_eq!(cancel(61), 0, "the shop waits without an end");
    set("woocommerce_hold_stock_minutes", "60");
    set("woocommerce_manage_stock", "no");
    assert_eq!(cancel(61), 0, "nothing is counted");
    set("woocommerce_manage_stock", "yes");
    assert_eq!(shop.guest().add(goods.anchor, 3).status, 400, "one is held for the order");
    assert_eq!(cancel(61), 1);
    assert_eq!(order_of(&shop, &id)["status"], "cancelled");
    assert_eq!(order_of(&shop, &by_hand)["status"], "pending", "of the shop's own people");
    assert!(notes_of(&shop, &id).contains("The order was not paid in time."));
    assert_eq!(shop.guest().add(goods.anchor, 3).status, 201, "nothing is held any more");
    assert_eq!(cancel(61), 0, "once");
}

#[test]
fn an_order_that_nobody_can_read_keeps_no_other_from_being_cancelled() {
    let (shop, goods, _) = shop();
    let (broken, _) = ordered(&shop, &goods);
    let (sound, _) = ordered(&shop, &goods);
    let broken = broken.as_i64().unwrap();
    shop.write(move |conn| {
        let mut row = shop_rows::order::get(conn, broken)?.unwrap();
        row.details = String::from("no object");
        shop_rows::order::update(conn, &row).map(drop)
    });
    let late = now().plus(Duration::from_mins(61));
    let cancel = || shop.run(storefront::sweep::cancel_unpaid(&shop.site, late)).unwrap();
    assert_eq!((cancel(), cancel()), (1, 0));
    assert_eq!(order_of(&shop, &sound)["status"], "cancelled");
    let row = shop.write(move |conn| shop_rows::order::get(conn, broken)).unwrap();
    assert_eq!(row.status, "pending", "what nobody understands stays as it is");
}

#[test]
fn an_order_that_the_shop_cancels_holds_nothing() {
    let (shop, goods, _) = shop();
    for ending in ["cancel", "trash", "delete"] {
        let (id, _) = ordered(&shop, &goods);
        assert_eq!(shop.guest().add(goods.anchor, 3).status, 400, "one is held for the order");
        let path = format!("/wc/v3/orders/{id}");
        match ending {
            "cancel" => shop.made("PUT", &path, &json!({ "status": "cancelled" })),
            "trash" => shop.made("DELETE", &path, &Value::Null),
            _ => shop.made("DELETE", &format!("{path}?force=true"), &Value::Null),
        };
        assert_eq!(shop.guest().add(goods.anchor, 3).status, 201, "after {ending}");
    }
}
