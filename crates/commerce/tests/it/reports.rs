//! The older reports: how many records they count, and who may read them.

use serde_json::{Value, json};
use types::Role;

use super::support::{ADMIN, NOBODY, TestShop};

fn made(shop: &TestShop, path: &str, body: &Value) -> Value {
    let answer = shop.ask("POST", path, ADMIN, body);
    assert_eq!(answer.status, 201, "{}", answer.json);
    answer.json
}

/// Two orders that were paid, and one that was not.
fn sold(shop: &TestShop) {
    made(shop, "/wc/v3/products", &json!({ "name": "Lamp", "regular_price": "20" }));
    let rope = made(shop, "/wc/v3/products", &json!({ "name": "Rope", "regular_price": "5" }));
    made(shop, "/wc/v3/coupons", &json!({ "code": "one", "amount": "1" }));
    for status in ["completed", "processing", "pending"] {
        let order = json!({ "status": status, "line_items": [{ "product_id": rope["id"] }] });
        made(shop, "/wc/v3/orders", &order);
    }
}

#[test]
fn records_are_counted_by_kind() {
    let mut shop = TestShop::new();
    shop.user("shopper", Role::Customer);
    sold(&shop);
    let totals = |what: &str| -> Vec<(String, i64)> {
        let answer = shop.get(&format!("/wc/v3/reports/{what}/totals"), ADMIN);
        let pair = |item: &Value| {
            assert!(item["name"].as_str().is_some_and(|name| !name.is_empty()));
            (item["slug"].as_str().unwrap().to_owned(), item["total"].as_i64().unwrap())
        };
        answer.json.as_array().unwrap().iter().map(pair).collect()
    };
    let pairs = |pairs: &[(&str, i64)]| -> Vec<(String, i64)> {
        pairs.iter().map(|(slug, total)| ((*slug).to_owned(), *total)).collect()
    };
    let orders = totals("orders");
    assert_eq!(&orders[..2], &pairs(&[("pending", 1), ("processing", 1)])[..]);
    assert_eq!(orders.iter().map(|(_, total)| total).sum::<i64>(), 3);
    let kinds = [("external", 0), ("grouped", 0), ("simple", 2), ("variable", 0)];
    assert_eq!(totals("products"), pairs(&kinds));
    assert_eq!(totals("customers"), pairs(&[("paying", 0), ("non_paying", 1)]));
    let kinds = [("percent", 0), ("fixed_cart", 1), ("fixed_product", 0)];
    assert_eq!(totals("coupons"), pairs(&kinds));
    assert_eq!(totals("reviews").len(), 5);
}

#[test]
fn reports_are_listed_for_whom_they_are() {
    let mut shop = TestShop::new();
    shop.user("shopper", Role::Customer);
    for (version, count) in [("v1", 2), ("v2", 2), ("v3", 10)] {
        let listed = shop.get(&format!("/wc/{version}/reports"), ADMIN);
        assert_eq!(listed.each("slug").len(), count);
        let own = format!("https://shop.example/wp-json/wc/{version}/reports/sales");
        assert_eq!(listed.json[0]["_links"]["self"][0]["href"], json!(own));
    }
    for path in ["", "/orders/totals"] {
        let path = format!("/wc/v3/reports{path}");
        for (who, status) in [(NOBODY, 401), ("shopper", 403)] {
            let refused = shop.get(&path, who);
            assert_eq!(refused.refusal(), (status, "woocommerce_rest_cannot_view"), "{path}");
        }
    }
}
