//! The older sales reports: what they add up, and for which period; and the best day of the shop,
//! which a note tells of.

use analytics::sales_record;
use frame::Options;
use serde_json::{Value, json};
use testkit::database::TestDatabase;
use types::Amount;

use crate::shop::{Shop, at};

testkit::on_both_engines!(
    sales_add_up,
    a_period_is_divided_into_days_or_months,
    the_best_sellers_come_first,
    the_last_day_is_compared_with_all_days_before,
);

/// Two sales of today, one of which is refunded in part; one that is refunded as a whole; one that
/// was never paid, and one in another currency.
fn sold(shop: &mut Shop) -> [Value; 2] {
    let product = |name: &str, price: &str| json!({ "name": name, "regular_price": price });
    let lamp = shop.post("/wc/v3/products", &product("Lamp", "20"));
    let rope = shop.post("/wc/v3/products", &product("Rope", "5"));
    shop.post("/wc/v3/coupons", &json!({ "code": "one", "amount": "1" }));
    let line = |product: &Value, quantity: i64| json!([{ "product_id": product["id"], "quantity": quantity }]);
    let order = shop.post(
        "/wc/v3/orders",
        &json!({ "status": "completed", "coupon_lines": [{ "code": "one" }],
                 "line_items": line(&lamp, 2),
                 "shipping_lines": [{ "method_id": "flat_rate", "total": "4" }] }),
    );
    let ropes = json!({ "status": "processing", "line_items": line(&rope, 3) });
    shop.post("/wc/v3/orders", &ropes);
    shop.post("/wc/v3/orders", &json!({ "line_items": line(&rope, 1) }));
    let euros = json!({ "status": "completed", "currency": "EUR", "line_items": line(&rope, 9) });
    shop.post("/wc/v3/orders", &euros);
    let back = json!({ "api_refund": false, "amount": "20",
                       "line_items": [{ "id": order["line_items"][0]["id"], "quantity": 1,
                                        "refund_total": 20 }] });
    shop.post(&format!("/wc/v3/orders/{}/refunds", order["id"]), &back);
    let deleted = shop.post("/wc/v3/orders", &ropes);
    let status = json!({ "status": "refunded" });
    shop.post(&format!("/wc/v3/orders/{}", deleted["id"]), &status);
    shop.catch_up();
    [lamp, rope]
}

fn report<'a>(answer: &'a Value, names: &[&str]) -> Vec<&'a Value> {
    names.iter().map(|name| &answer[0][*name]).collect()
}

fn sales_add_up(database: &TestDatabase) {
    let mut shop = Shop::new(database);
    shop.post("/wc/v3/customers", &json!({ "email": "new@example.test" }));
    sold(&mut shop);
    let today = shop.get("/wc/v3/reports/sales");
    let names = ["total_sales", "net_sales", "average_sales", "total_shipping", "total_discount"];
    // 43, 15 and 15 were sold; 20 and 15 came back.
    assert_eq!(
        report(&today, &names),
        [&json!("38.00"), &json!("34.00"), &json!("34.00"), &json!("4.00"), &json!("1.00")]
    );
    let names = ["total_orders", "total_items", "total_refunds", "total_customers"];
    assert_eq!(report(&today, &names), [&json!(2), &json!(8), &json!(35), &json!(1)]);
    let day = json!({ "sales": "73.00", "orders": 3, "items": 8, "tax": "0.00",
                      "shipping": "4.00", "discount": "1.00", "customers": 1 });
    assert_eq!(today[0]["totals"], json!({ "2026-11-15": day }));
    for version in ["v1", "v2"] {
        let older = shop.get(&format!("/wc/{version}/reports/sales"));
        assert_eq!(older[0]["total_sales"], "38.00", "{version}");
    }
}

fn a_period_is_divided_into_days_or_months(database: &TestDatabase) {
    let mut shop = Shop::new(database);
    sold(&mut shop);
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
        let answer = shop.get(&format!("/wc/v3/reports/sales?{query}"));
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
        assert!(shop.refuses(&format!("/wc/v3/reports/sales?{query}")), "{query}");
    }
}

fn the_best_sellers_come_first(database: &TestDatabase) {
    let mut shop = Shop::new(database);
    let [lamp, rope] = sold(&mut shop);
    let best = shop.get("/wc/v3/reports/top_sellers");
    let each = |name: &str| -> Vec<Value> {
        best.as_array().unwrap().iter().map(|item| item[name].clone()).collect()
    };
    assert_eq!(each("product_id"), [rope["id"].clone(), lamp["id"].clone()]);
    assert_eq!(each("quantity"), [3, 1]);
    assert_eq!(each("name"), ["Rope", "Lamp"]);
    assert_eq!(shop.get("/wc/v2/reports/top_sellers?period=last_month"), json!([]));
}

fn the_last_day_is_compared_with_all_days_before(database: &TestDatabase) {
    let mut shop = Shop::new(database);
    let sell = |shop: &mut Shop, day: &str, total: &str| {
        shop.set_now(&format!("{day}T10:00:00Z"));
        let fee = json!([{ "name": "Service", "total": total }]);
        shop.post("/wc/v3/orders", &json!({ "status": "completed", "fee_lines": fee }));
        shop.catch_up();
    };
    let last_day = |shop: &Shop, now: &str| {
        let options = shop.write(Options::read);
        let day = sales_record::last_day(&shop.facts, &options, at(now)).unwrap()?;
        let whole = |amount: Amount| amount.to_whole();
        Some((day.day, whole(day.sold), whole(day.best_before)))
    };
    assert_eq!(last_day(&shop, "2026-11-10T12:00:00Z"), None, "nothing was ever sold");
    sell(&mut shop, "2026-11-10", "1112");
    assert_eq!(last_day(&shop, "2026-11-10T12:00:00Z"), None, "the day is not over");
    let day = |name: &str, sold, before| Some((name.to_owned(), sold, before));
    assert_eq!(last_day(&shop, "2026-11-11T00:00:00Z"), day("2026-11-10", 1_112, 0));
    assert_eq!(last_day(&shop, "2026-11-12T09:00:00Z"), day("2026-11-11", 0, 1_112));
    sell(&mut shop, "2026-11-13", "200");
    sell(&mut shop, "2026-11-13", "70");
    assert_eq!(last_day(&shop, "2026-11-14T09:00:00Z"), day("2026-11-13", 270, 1_112));
    // The day of the shop is not that of UTC.
    shop.post("/wp/v2/settings", &json!({ "timezone": "Pacific/Auckland" }));
    sell(&mut shop, "2026-11-14", "2000");
    assert_eq!(last_day(&shop, "2026-11-14T12:00:00Z"), day("2026-11-14", 2_000, 1_112));
}
