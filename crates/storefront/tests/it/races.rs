//! Many buyers at once: nothing is sold twice, and nothing is given away.

use std::sync::Arc;
use std::thread;

use serde_json::{Value, json};

use super::support::{TestShop, ask_alone, order_body};

/// Buyers who all want the same.
const BUYERS: usize = 8;

#[test]
fn of_all_who_want_the_last_pieces_as_many_win_as_there_are() {
    let (shop, goods) = TestShop::furnished();
    let buyers: Vec<_> = (0..BUYERS).map(|_| shop.guest()).collect();
    for buyer in &buyers {
        assert_eq!(buyer.add(goods.anchor, 1).status, 201, "nothing is held by a cart");
    }
    let threads: Vec<_> = buyers
        .iter()
        .enumerate()
        .map(|(number, buyer)| {
            let (site, token) = (Arc::clone(&shop.site), buyer.token.clone());
            let body = order_body("bacs", &format!("buyer{number}@example.test"));
            thread::spawn(move || ask_alone(&site, "/checkout", &token, &body))
        })
        .collect();
    let answers: Vec<(u16, Value)> = threads.into_iter().map(|one| one.join().unwrap()).collect();
    let won = answers.iter().filter(|(status, _)| *status == 200).count();
    let lost: Vec<&Value> = answers
        .iter()
        .filter(|(status, _)| *status == 409)
        .map(|(_, body)| &body["code"])
        .collect();
    assert_eq!((won, lost.len()), (3, BUYERS - 3), "{answers:?}");
    assert!(lost.iter().all(|code| **code == "woocommerce_rest_product_out_of_stock"), "{lost:?}");
    assert_eq!(shop.stock_of(goods.anchor), 0);
    let orders = shop.made("GET", "/wc/v3/orders?per_page=100&status=on-hold", &Value::Null);
    assert_eq!(orders.as_array().unwrap().len(), 3);
}

#[test]
fn a_coupon_of_one_use_is_used_once() {
    let (shop, goods) = TestShop::furnished();
    let coupon = json!({ "code": "once", "amount": "5", "usage_limit": 1 });
    shop.made("POST", "/wc/v3/coupons", &coupon);
    let buyers: Vec<_> = (0..4).map(|_| shop.guest()).collect();
    for buyer in &buyers {
        buyer.add(goods.rope, 1);
        let applied = buyer.ask("POST", "/cart/apply-coupon", &json!({ "code": "once" }));
        assert_eq!(applied.status, 200, "{}", applied.json);
    }
    let threads: Vec<_> = buyers
        .iter()
        .map(|buyer| {
            let (site, token) = (Arc::clone(&shop.site), buyer.token.clone());
            let body = order_body("bacs", "ada@example.test");
            thread::spawn(move || ask_alone(&site, "/checkout", &token, &body).0)
        })
        .collect();
    let mut statuses: Vec<u16> = threads.into_iter().map(|one| one.join().unwrap()).collect();
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 409, 409, 409]);
}

#[test]
fn one_cart_is_ordered_once() {
    let (shop, goods) = TestShop::furnished();
    let buyer = shop.guest();
    buyer.add(goods.anchor, 1);
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let (site, token) = (Arc::clone(&shop.site), buyer.token.clone());
            let body = order_body("cod", "ada@example.test");
            thread::spawn(move || ask_alone(&site, "/checkout", &token, &body).0)
        })
        .collect();
    let mut statuses: Vec<u16> = threads.into_iter().map(|one| one.join().unwrap()).collect();
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 409, 409, 409]);
    assert_eq!(shop.stock_of(goods.anchor), 2);
}
