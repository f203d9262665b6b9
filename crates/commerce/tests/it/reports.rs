//! The older sales reports: what they add up, for which period, and who may read them.

use serde_json::{Value, json};
use types::Role;

use super::support::{ADMIN, NOBODY, TestShop};

fn made(shop: &TestShop, path: &str, body: &Value) -> Value {
    let answer = shop.ask("POST", path, ADMIN, body);
    assert_eq!(answer.status, 201, "{}", answer.json);
    answer.json
}

/// Two sales of today, one of which is refunded in part; one of last month, refunded as a whole;
/// and one that was never paid.
fn sold(shop: &TestShop) -> [Value; 2] {
    let lamp = made(shop, "/wc/v3/products", &json!({ "name": "Lamp", "regular_price": "20" }));
    let rope = made(shop, "/wc/v3/products", &json!({ "name": "Rope", "regular_price": "5" }));
    made(shop, "/wc/v3/coupons", &json!({ "code": "one", "amount": "1" }));
    let order = made(
        shop,
        "/wc/v3/orders",
        &json!({ "status": "completed", "coupon_lines": [{ "code": "one" }],
                 "line_items": [{ "product_id": lamp["id"], "quantity": 2 }],
                 "shipping_lines": [{ "method_id": "flat_rate", "total": "4" }] }),
    );
    let ropes = json!({ "status": "processing",
                        "line_items": [{ "product_id": rope["id"], "quantity": 3 }] });
    made(shop, "/wc/v3/orders", &ropes);
    made(shop, "/wc/v3/orders", &json!({ "line_items": [{ "product_id": rope["id"] }] }));
    let line = &order["line_items"][0]["id"];
    let back = json!({ "api_refund": false, "amount": "20",
                       "line_items": [{ "id": line, "quantity": 1, "refund_total": 20 }] });
    made(shop, &format!("/wc/v3/orders/{}/refunds", order["id"]), &back);
    [lamp, rope]
}

fn report<'a>(answer: &'a Value, names: &[&str]) -> Vec<&'a Value> {
    names.iter().map(|name| &answer[0][*name]).collect()
}

#[test]
fn sales_add_up() {
    let mut shop = TestShop::new();
    shop.user("new", Role::Customer);
    sold(&shop);
    let today = shop.get("/wc/v3/reports/sales", ADMIN);
    assert_eq!(today.status, 200, "{}", today.json);
    let names = ["total_sales", "net_sales", "average_sales", "total_shipping", "total_discount"];
    // 43 and 15 were sold, and 20 came back.
    assert_eq!(
        report(&today.json, &names),
        [&json!("38.00"), &json!("34.00"), &json!("34.00"), &json!("4.00"), &json!("1.00")]
    );
    let names = ["total_orders", "total_items", "total_refunds", "total_customers"];
    assert_eq!(report(&today.json, &names), [&json!(2), &json!(5), &json!(20), &json!(1)]);
    let day = json!({ "sales": "58.00", "orders": 2, "items": 5, "tax": "0.00",
                      "shipping": "4.00", "discount": "1.00", "customers": 1 });
    assert_eq!(today.json[0]["totals"], json!({ "2026-11-15": day }));
    assert_eq!(
        today.json[0]["_links"],
        json!({ "about": [{ "href": "https://shop.example/wp-json/wc/v3/reports" }] })
    );
    for version in ["v1", "v2"] {
        let older = shop.get(&format!("/wc/{version}/reports/sales"), ADMIN).json;
        assert_eq!(older[0]["total_sales"], "38.00", "{version}");
    }
}

#[test]
fn a_period_is_divided_into_days_or_months() {
    let shop = TestShop::new();
    sold(&shop);
    for (query, grouped_by, first, parts, sales) in [
        ("period=week", "day", "2026-11-09", 7, "38.00"),
        ("period=month", "day", "2026-11-01", 15, "38.00"),
        ("period=last_month", "day", "2026-10-01", 31, "0.00"),
        ("period=year", "month", "2026-01", 11, "38.00"),
        ("date_min=2026-11-14&date_max=2026-11-14", "day", "2026-11-14", 1, "0.00"),
        ("date_min=2026-08-01", "day", "2026-08-01", 107, "38.00"),
        ("date_min=2026-07-15", "month", "2026-07", 5, "38.00"),
        ("date_max=2026-11-15", "month", "2006-11", 241, "38.00"),
        ("date_min=2026-11-15&date_max=2026-11-01", "day", "2026-11-15", 1, "0.00"),
    ] {
        let answer = shop.get(&format!("/wc/v3/reports/sales?{query}"), ADMIN).json;
        let totals = answer[0]["totals"].as_object().unwrap();
        let found = (totals.keys().next().unwrap().as_str(), totals.len());
        assert_eq!(found, (first, parts), "{query}");
        assert_eq!(
            report(&answer, &["totals_grouped_by", "total_sales"]),
            [&json!(grouped_by), &json!(sales)],
            "{query}"
        );
    }
    for query in ["period=day", "date_min=yesterday", "date_max=2026-11-1"] {
        let refused = shop.get(&format!("/wc/v3/reports/sales?{query}"), ADMIN);
        assert_eq!(refused.refusal(), (400, "rest_invalid_param"), "{query}");
    }
}

#[test]
fn the_best_sellers_come_first() {
    let shop = TestShop::new();
    let [lamp, rope] = sold(&shop);
    let best = shop.get("/wc/v3/reports/top_sellers", ADMIN);
    assert_eq!(best.each("product_id"), [rope["id"].clone(), lamp["id"].clone()]);
    assert_eq!(best.each("quantity"), [3, 1]);
    assert_eq!(best.each("name"), ["Rope", "Lamp"]);
    assert_eq!(shop.get("/wc/v2/reports/top_sellers?period=last_month", ADMIN).json, json!([]));
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
    for path in ["", "/sales", "/top_sellers", "/orders/totals"] {
        let path = format!("/wc/v3/reports{path}");
        for (who, status) in [(NOBODY, 401), ("shopper", 403)] {
            let refused = shop.get(&path, who);
            assert_eq!(refused.refusal(), (status, "woocommerce_rest_cannot_view"), "{path}");
        }
    }
}
