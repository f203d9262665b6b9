//! Orders as clients make and change them: what they come to, and what follows from them.

use serde_json::{Value, json};
use shop_rows::coupon::{self, CouponRow};
use shop_rows::product::{self, ProductRow};
use shop_rows::tax_rate::{self, TaxRateRow};
use types::{Amount, Role};

use super::support::{ADMIN, Answer, NOBODY, TestShop, now};

const ORDERS: &str = "/wc/v3/orders";

pub(crate) fn amount(text: &str) -> Amount {
    text.parse().unwrap()
}

/// A product with a stock of 100, and returns its id.
pub(crate) fn product(shop: &TestShop, name: &str, price: &str) -> i64 {
    let row = ProductRow {
        kind: "simple".to_owned(),
        status: "publish".to_owned(),
        name: name.to_owned(),
        slug: name.to_lowercase(),
        price: Some(amount(price)),
        price_max: Some(amount(price)),
        regular_price: Some(amount(price)),
        manage_stock: true,
        stock_quantity: Some(amount("100")),
        stock_status: "instock".to_owned(),
        backorders: "no".to_owned(),
        tax_status: "taxable".to_owned(),
        created: now(),
        modified: now(),
        details: "{}".to_owned(),
        ..ProductRow::default()
    };
    shop.write(move |conn| product::insert(conn, &row))
}

pub(crate) fn coupon(shop: &TestShop, code: &str, kind: &str, off: &str) -> i64 {
    let row = CouponRow {
        code: code.to_owned(),
        status: "publish".to_owned(),
        discount_kind: kind.to_owned(),
        amount: amount(off),
        created: now(),
        modified: now(),
        details: "{}".to_owned(),
        ..CouponRow::default()
    };
    shop.write(move |conn| coupon::insert(conn, &row))
}

pub(crate) fn stock(shop: &TestShop, id: i64) -> (String, i64) {
    let row = shop.read(move |conn| product::get(conn, id)).unwrap();
    (row.stock_quantity.unwrap_or_default().to_string(), row.total_sales)
}

pub(crate) fn uses(shop: &TestShop, id: i64) -> i64 {
    shop.read(move |conn| coupon::get(conn, id)).unwrap().usage_count
}

pub(crate) fn create(shop: &TestShop, body: &Value) -> Value {
    let answer = shop.ask("POST", ORDERS, ADMIN, body);
    assert_eq!(answer.status, 201, "{}", answer.json);
    answer.json
}

fn update(shop: &TestShop, order: &Value, body: &Value) -> Value {
    let answer = shop.ask("PUT", &format!("{ORDERS}/{}", order["id"]), ADMIN, body);
    assert_eq!(answer.status, 200, "{}", answer.json);
    answer.json
}

/// Turns taxes on, with a rate of 10 % everywhere and a compound one of 5 % on top.
pub(crate) fn tax(shop: &TestShop) {
    shop.write(|conn| {
        frame::options::set(conn, "woocommerce_calc_taxes", &json!("yes"))?;
        let plain = TaxRateRow {
            rate: Some(amount("10")),
            name: "VAT".to_owned(),
            priority: 1,
            shipping: true,
            ..TaxRateRow::default()
        };
        let compound = TaxRateRow {
            rate: Some(amount("5")),
            name: "City".to_owned(),
            priority: 2,
            compound: true,
            ..TaxRateRow::default()
        };
        tax_rate::insert(conn, &plain)?;
        tax_rate::insert(conn, &compound).map(drop)
    });
}

#[test]
fn who_may_do_what() {
    let mut shop = TestShop::new();
    shop.user("shopper", Role::Customer);
    let order = create(&shop, &json!({}));
    let own = format!("{ORDERS}/{}", order["id"]);
    let notes = format!("{own}/notes");
    let refunds = format!("{own}/refunds");
    let (view, make) = ("woocommerce_rest_cannot_view", "woocommerce_rest_cannot_create");
    for (method, path, code) in [
        ("GET", ORDERS, view),
        ("GET", &own, view),
        ("GET", "/wc/v3/orders/999999", view),
        ("POST", ORDERS, make),
        ("PUT", &own, "woocommerce_rest_cannot_edit"),
        ("DELETE", &own, "woocommerce_rest_cannot_delete"),
        ("POST", "/wc/v3/orders/batch", "woocommerce_rest_cannot_batch"),
        ("GET", "/wc/v3/orders/statuses", view),
        ("GET", "/wc/v3/refunds", view),
        ("GET", &notes, view),
        ("POST", &refunds, make),
        ("GET", "/wc-analytics/orders", view),
        ("GET", "/wc/v1/orders", view),
    ] {
        let body = if method == "GET" { Value::Null } else { json!({}) };
        for (who, status) in [(NOBODY, 401), ("shopper", 403)] {
            let answer = shop.ask(method, path, who, &body);
            assert_eq!(answer.refusal(), (status, code), "{method} {path} {who:?}");
        }
    }
    for (method, status) in [("GET", 404), ("PUT", 400), ("DELETE", 404)] {
        let answer = shop.ask(method, "/wc/v3/orders/999999", ADMIN, &json!({}));
        assert_eq!(answer.refusal(), (status, "woocommerce_rest_shop_order_invalid_id"));
    }
}

#[test]
fn an_order_comes_to_what_its_lines_say() {
    let shop = TestShop::new();
    tax(&shop);
    let tee = product(&shop, "Tee", "19.99");
    let order = create(
        &shop,
        &json!({
            "billing": { "email": "a@example.test", "country": "US", "state": "CA" },
            "line_items": [
                { "product_id": tee, "quantity": 3 },
                { "product_id": tee, "quantity": 1, "total": "10", "name": "Cheap" },
            ],
            "shipping_lines": [{ "method_id": "flat_rate", "method_title": "Flat", "total": "5" }],
            "fee_lines": [
                { "name": "Wrap", "total": "2.5", "tax_status": "none" },
                { "name": "Gift", "total": "-1" },
            ],
        }),
    );
    // 59.97 is taxed with 5.997 and 3.29835, 10 with 1 and 0.55, shipping with 0.50.
    let lines = order["line_items"].as_array().unwrap();
    assert_eq!(lines[0]["subtotal"], json!("59.97"));
    assert_eq!(lines[0]["total_tax"], json!("9.30"), "6.00 and 3.30");
    let taxes = json!([{ "id": 1, "total": "6.00", "subtotal": "6.00" },
                       { "id": 2, "total": "3.30", "subtotal": "3.30" }]);
    assert_eq!(lines[0]["taxes"], taxes);
    assert_eq!((&lines[1]["subtotal"], &lines[1]["total"]), (&json!("19.99"), &json!("10.00")));
    assert_eq!(order["discount_total"], json!("9.99"));
    assert_eq!(order["shipping_tax"], json!("0.50"), "the second rate spares shipping");
    assert_eq!(order["total"], {
        let parts = ["cart_tax", "shipping_tax"].map(|name| amount(order[name].as_str().unwrap()));
        let sum = amount("59.97") + amount("10") + amount("5") + amount("2.5") - amount("1");
        json!((sum + parts[0] + parts[1]).to_text(2))
    });
    let codes: Vec<&Value> =
        order["tax_lines"].as_array().unwrap().iter().map(|line| &line["rate_code"]).collect();
    assert_eq!(codes, [&json!("VAT-1"), &json!("CITY-2")]);
    assert!(order["order_key"].as_str().unwrap().starts_with("wc_order_"));
    assert_eq!(order["number"], json!(order["id"].to_string()));
    assert_eq!(order["created_via"], json!("rest-api"));
}

#[test]
fn prices_may_include_taxes() {
    let shop = TestShop::new();
    tax(&shop);
    shop.write(|conn| frame::options::set(conn, "woocommerce_prices_include_tax", &json!("yes")));
    let tee = product(&shop, "Tee", "11.55");
    let ten = coupon(&shop, "ten", "percent", "10");
    let body = json!({ "line_items": [{ "product_id": tee, "quantity": 2 }],
                       "coupon_lines": [{ "code": "TEN" }] });
    let order = create(&shop, &body);
    let line = &order["line_items"][0];
    assert_eq!((&line["subtotal"], &line["total"]), (&json!("20.00"), &json!("18.00")));
    assert_eq!(order["total"], json!("20.79"), "ten percent less than 23.10");
    assert_eq!(order["coupon_lines"][0]["discount"], json!("2"));
    assert_eq!(order["coupon_lines"][0]["discount_tax"], json!("0.31"));
    assert_eq!(uses(&shop, ten), 1);
}

#[test]
fn statuses_have_their_dates_and_effects() {
    let shop = TestShop::new();
    let tee = product(&shop, "Tee", "10");
    let ten = coupon(&shop, "ten", "fixed_cart", "3");
    let body = json!({ "line_items": [{ "product_id": tee, "quantity": 4 }],
                       "coupon_lines": [{ "code": "ten" }] });
    let order = create(&shop, &body);
    assert_eq!((&order["status"], &order["date_paid"]), (&json!("pending"), &Value::Null));
    assert_eq!(order["total"], json!("37.00"));
    assert_eq!((stock(&shop, tee), uses(&shop, ten)), (("100".to_owned(), 0), 1));
    let paid = update(&shop, &order, &json!({ "set_paid": true, "transaction_id": "t1" }));
    assert_eq!((&paid["status"], &paid["transaction_id"]), (&json!("processing"), &json!("t1")));
    assert_eq!(paid["date_paid"], json!("2026-11-15T08:00:00"));
    let reduced = &paid["line_items"][0]["meta_data"][0];
    assert_eq!((&reduced["key"], &reduced["value"]), (&json!("_reduced_stock"), &json!("4")));
    assert_eq!((stock(&shop, tee), uses(&shop, ten)), (("96".to_owned(), 4), 1));
    let line = paid["line_items"][0]["id"].clone();
    update(&shop, &order, &json!({ "line_items": [{ "id": line, "quantity": 6 }] }));
    assert_eq!(stock(&shop, tee), ("94".to_owned(), 6));
    let done = update(&shop, &order, &json!({ "status": "completed" }));
    assert_eq!(done["date_completed"], json!("2026-11-15T08:00:00"));
    assert_eq!(stock(&shop, tee), ("94".to_owned(), 6), "fallen already");
    update(&shop, &order, &json!({ "status": "cancelled" }));
    assert_eq!((stock(&shop, tee), uses(&shop, ten)), (("100".to_owned(), 0), 0));
    update(&shop, &order, &json!({ "status": "on-hold" }));
    assert_eq!((stock(&shop, tee), uses(&shop, ten)), (("94".to_owned(), 6), 1));
    let own = format!("{ORDERS}/{}", order["id"]);
    assert_eq!(shop.ask("DELETE", &own, ADMIN, &Value::Null).status, 200);
    assert_eq!(shop.get(&own, ADMIN).json["status"], json!("trash"));
    assert_eq!((stock(&shop, tee), uses(&shop, ten)), (("94".to_owned(), 0), 0));
    let again = shop.ask("DELETE", &own, ADMIN, &Value::Null);
    assert_eq!(again.refusal(), (410, "woocommerce_rest_already_trashed"));
    let restored = update(&shop, &order, &json!({ "status": "processing" }));
    assert_eq!(restored["meta_data"], json!([]), "nothing is left of the trash");
    assert_eq!((stock(&shop, tee), uses(&shop, ten)), (("94".to_owned(), 6), 1));
    update(&shop, &order, &json!({ "line_items": [{ "id": line, "quantity": 0 }] }));
    assert_eq!(stock(&shop, tee), ("100".to_owned(), 0), "the line is gone");
    assert_eq!(shop.ask("DELETE", &format!("{own}?force=true"), ADMIN, &Value::Null).status, 200);
    assert_eq!(shop.get(&own, ADMIN).status, 404);
    assert_eq!(uses(&shop, ten), 0);
}

#[test]
fn wrong_orders_are_refused_and_leave_no_trace() {
    let shop = TestShop::new();
    let tee = product(&shop, "Tee", "10");
    let order = create(&shop, &json!({}));
    coupon(&shop, "ten", "percent", "10");
    for (body, code) in [
        (json!({ "customer_id": 999 }), "woocommerce_rest_invalid_customer_id"),
        (
            json!({ "line_items": [{ "quantity": 1 }] }),
            "woocommerce_rest_required_product_reference",
        ),
        (
            json!({ "line_items": [{ "id": 999, "quantity": 1 }] }),
            "woocommerce_rest_invalid_item_id",
        ),
        (json!({ "shipping_lines": [{ "total": "1" }] }), "woocommerce_rest_invalid_shipping_item"),
        (json!({ "fee_lines": [{ "total": "1" }] }), "woocommerce_rest_invalid_fee_item"),
        (json!({ "coupon_lines": [{ "code": "bogus" }] }), "woocommerce_rest_invalid_coupon"),
        (
            json!({ "coupon_lines": [{ "code": "ten" }, { "code": "TEN" }] }),
            "woocommerce_rest_invalid_coupon",
        ),
        (
            json!({ "coupon_lines": [{ "id": 3, "code": "ten" }] }),
            "woocommerce_rest_coupon_item_id_readonly",
        ),
        (json!({ "status": "bogus" }), "rest_invalid_param"),
        (json!({ "billing": { "email": "no" } }), "rest_invalid_param"),
        (json!({ "merchant_id": "a b" }), "rest_invalid_param"),
        (
            json!({ "fee_lines": [{ "name": "x", "tax_class": "bogus" }] }),
            "order_item_product_invalid_tax_class",
        ),
    ] {
        let mut body = body;
        body["customer_note"] = json!("changed");
        let paths = [("POST", ORDERS.to_owned()), ("PUT", format!("{ORDERS}/{}", order["id"]))];
        for (method, path) in paths {
            let answer = shop.ask(method, &path, ADMIN, &body);
            assert_eq!(answer.refusal(), (400, code), "{method} {body}");
        }
    }
    assert_eq!(shop.get(ORDERS, ADMIN).header("x-wp-total"), "1");
    let left = shop.get(&format!("{ORDERS}/{}", order["id"]), ADMIN).json;
    assert_eq!(left["customer_note"], json!(""));
    assert_eq!(stock(&shop, tee).0, "100");
}

#[test]
fn lists_find_orders() {
    let mut shop = TestShop::new();
    let user = shop.user("shopper", Role::Customer);
    let tee = product(&shop, "Tee", "10");
    let first = create(
        &shop,
        &json!({ "customer_id": user, "status": "completed", "merchant_id": "M1", "tpn": "T1",
                 "billing": { "first_name": "Ada", "last_name": "Lovelace" },
                 "line_items": [{ "product_id": tee }] }),
    );
    assert_eq!((&first["merchant_id"], first.get("store_id")), (&json!("M1"), None));
    let second = create(&shop, &json!({ "created_via": "pos" }));
    create(&shop, &json!({ "status": "checkout-draft" }));
    let found = |query: &str| -> Answer { shop.get(&format!("{ORDERS}?{query}"), ADMIN) };
    let in_order_of = |one: &Value, other: &Value, order: &str| {
        format!("orderby=include&order={order}&include={},{}", one["id"], other["id"])
    };
    for (query, expected) in [
        ("", vec![&second, &first]),
        ("order=asc&orderby=id", vec![&first, &second]),
        ("status=completed", vec![&first]),
        (&format!("customer={user}"), vec![&first]),
        (&format!("product={tee}"), vec![&first]),
        ("search=lovelace", vec![&first]),
        ("created_via=pos", vec![&second]),
        ("merchant_id=M1", vec![&first]),
        ("tpn=T2", vec![]),
        ("after=2026-11-15T09:00:00", vec![]),
        (&format!("exclude={}", first["id"]), vec![&second]),
        // The order in which ids are listed has no other direction.
        (&in_order_of(&second, &first, "desc"), vec![&second, &first]),
        (&in_order_of(&first, &second, "desc"), vec![&first, &second]),
    ] {
        let ids: Vec<Value> = expected.iter().map(|order| order["id"].clone()).collect();
        assert_eq!(found(query).each("id"), ids, "{query}");
    }
    assert_eq!(found("status=checkout-draft").header("x-wp-total"), "1");
    assert_eq!(found("dp=4&status=completed").json[0]["total"], json!("10.0000"));
    let old = shop.get("/wc/v1/orders?status=completed", ADMIN).json;
    assert_eq!(old[0]["line_items"][0]["price"], json!("10.00"));
    assert!(old[0].get("meta_data").is_none() && old[0].get("date_created_gmt").is_none());
    let analytics = shop.get(&format!("/wc-analytics/orders?number={}", first["id"]), ADMIN).json;
    assert_eq!(analytics[0]["total_formatted"], json!("$10.00"));
}

#[test]
fn a_batch_takes_the_shops_currency() {
    let shop = TestShop::new();
    shop.write(|conn| frame::options::set(conn, "woocommerce_currency", &json!("EUR")));
    assert_eq!(create(&shop, &json!({}))["currency"], json!("EUR"));
    let body = json!({ "create": [{}, { "currency": "GBP" }, { "customer_id": 999 }] });
    let made = shop.ask("POST", "/wc/v3/orders/batch", ADMIN, &body).json;
    assert_eq!(made["create"][0]["currency"], json!("EUR"));
    assert_eq!(made["create"][1]["currency"], json!("GBP"));
    let refused = &made["create"][2]["error"]["code"];
    assert_eq!(refused, &json!("woocommerce_rest_invalid_customer_id"));
}

#[test]
fn notes_are_written_and_deleted() {
    let shop = TestShop::new();
    let order = create(&shop, &json!({}));
    let path = format!("{ORDERS}/{}/notes", order["id"]);
    let body = json!({ "note": "Call first", "customer_note": true, "added_by_user": true });
    let note = shop.ask("POST", &path, ADMIN, &body);
    assert_eq!((note.status, &note.json["author"]), (201, &json!(ADMIN)));
    assert_eq!(note.json["note"], json!("Call first"));
    update(&shop, &order, &json!({ "status": "on-hold" }));
    assert_eq!(shop.get(&path, ADMIN).json.as_array().unwrap().len(), 2);
    let told = shop.get(&format!("{path}?type=customer"), ADMIN);
    assert_eq!(told.each("id"), [note.json["id"].clone()]);
    let system = shop.get(&format!("{path}?type=internal"), ADMIN);
    assert_eq!(system.each("author"), [json!("system")]);
    let own = format!("{path}/{}", note.json["id"]);
    let unforced = shop.ask("DELETE", &own, ADMIN, &Value::Null);
    assert_eq!(unforced.refusal(), (400, "woocommerce_rest_trash_not_supported"));
    assert_eq!(shop.ask("DELETE", &format!("{own}?force=true"), ADMIN, &Value::Null).status, 200);
    assert_eq!(shop.get(&own, ADMIN).refusal(), (404, "woocommerce_rest_invalid_id"));
    let nowhere = shop.get("/wc/v3/orders/999999/notes", ADMIN);
    assert_eq!(nowhere.refusal(), (404, "woocommerce_rest_order_invalid_id"));
    let missing = shop.ask("POST", &path, ADMIN, &json!({}));
    assert_eq!(missing.refusal(), (400, "rest_missing_callback_param"));
}

#[test]
fn what_is_beyond_every_sale_is_refused_by_name() {
    let shop = TestShop::new();
    let tee = product(&shop, "Tee", "10");
    let dear = product(&shop, "Yacht", "1000000");
    let line = |name: &str, value: Value| {
        let mut line = json!({ "product_id": tee, "quantity": 1 });
        line[name] = value;
        json!({ "line_items": [{ "product_id": tee }, line] })
    };
    let fee = |total: Value| json!({ "fee_lines": [{ "name": "x", "total": total }] });
    let shipping = |total: Value| json!({ "shipping_lines": [{ "method_id": "x", "method_title": "x", "total": total }] });
    let many = vec![json!({ "product_id": tee, "total": "60000000000" }); 2];
    for (body, param) in [
        (line("quantity", json!(1_000_000_000_000_000_i64)), "line_items[1][quantity]"),
        (line("quantity", json!("-1e15")), "line_items[1][quantity]"),
        (line("quantity", json!(1_000_000_001)), "line_items[1][quantity]"),
        (line("total", json!("99999999999999")), "line_items[1][total]"),
        (line("total", json!("1e308")), "line_items[1][total]"),
        (line("subtotal", json!("1e300")), "line_items[1][subtotal]"),
        (fee(json!("-100000000000.01")), "fee_lines[0][total]"),
        (shipping(json!("9223372036854")), "shipping_lines[0][total]"),
        (json!({ "line_items": many }), "line_items"),
        (json!({ "line_items": [{ "product_id": dear, "quantity": 900_000 }] }), "line_items"),
    ] {
        let answer = shop.ask("POST", ORDERS, ADMIN, &body);
        assert_eq!(answer.refusal(), (400, "rest_invalid_param"), "{param} {body}");
        assert!(told(&answer, param), "{param} {}", answer.json);
    }
    assert_eq!(shop.get(ORDERS, ADMIN).header("x-wp-total"), "0", "nothing was written");
    let most = create(&shop, &line("quantity", json!(1_000_000_000)));
    assert_eq!(most["total"], json!("10000000010.00"));
    let own = format!("{ORDERS}/{}", most["id"]);
    let more = shop.ask("PUT", &own, ADMIN, &fee(json!("99999999999")));
    assert_eq!(more.refusal(), (400, "rest_invalid_param"), "{}", more.json);
    let written = create(&shop, &line("total", json!("1.5e3")));
    assert_eq!(written["total"], json!("1510.00"), "an exponent is read");
    let refunds = format!("{ORDERS}/{}/refunds", written["id"]);
    let id = &written["line_items"][1]["id"];
    let part = |name: &str, value: Value| {
        let mut part = json!({ "id": id });
        part[name] = value;
        json!({ "api_refund": false, "line_items": [part] })
    };
    for (body, param) in [
        (json!({ "api_refund": false, "amount": "1e15" }), "amount"),
        (part("quantity", json!(9_000_000_000_000_i64)), "line_items[0][quantity]"),
        (part("refund_total", json!(-1e15)), "line_items[0][refund_total]"),
        (part("refund_tax", json!({ "1": "-9e15" })), "line_items[0][refund_tax]"),
        (
            part("refund_tax", json!([{ "id": 1, "refund_total": 1e15 }])),
            "line_items[0][refund_tax]",
        ),
    ] {
        let answer = shop.ask("POST", &refunds, ADMIN, &body);
        assert!(told(&answer, param), "{param} {}", answer.json);
    }
    let off = json!({ "code": "all", "amount": "1e15" });
    let answer = shop.ask("POST", "/wc/v3/coupons", ADMIN, &off);
    assert!(told(&answer, "amount"), "{}", answer.json);
    let yacht = json!({ "name": "Yacht", "regular_price": "100000000000.01" });
    let answer = shop.ask("POST", "/wc/v3/products", ADMIN, &yacht);
    assert!(told(&answer, "regular_price"), "{}", answer.json);
}

/// Whether the answer says which parameter is too great, and how great it may be.
fn told(answer: &Answer, param: &str) -> bool {
    let outermost = param.split('[').next().unwrap();
    let message = answer.json["data"]["params"][outermost].as_str().unwrap_or_default();
    (message.starts_with(param) || param == "line_items") && message.contains("at most")
}

/// A batch that is too much for its time answers in time all the same: what it says of an item is
/// what became of it.
#[test]
fn a_long_batch_is_cut_off_between_items() {
    let shop = TestShop::with_little_time();
    let lamp = json!({ "name": "Lamp", "regular_price": "20" });
    let lamp = shop.ask("POST", "/wc/v3/products", ADMIN, &lamp).json;
    let lines: Vec<Value> = (0..120).map(|_| json!({ "product_id": lamp["id"] })).collect();
    let orders: Vec<Value> = (0..100).map(|_| json!({ "line_items": lines })).collect();
    let answer = shop.ask("POST", "/wc/v3/orders/batch", ADMIN, &json!({ "create": orders }));
    assert_eq!(answer.status, 200, "{}", answer.json);
    let results = answer.json["create"].as_array().unwrap();
    assert_eq!(results.len(), 100);
    let done = results.iter().take_while(|result| result.get("error").is_none()).count();
    assert!((1..100).contains(&done), "{done} of 100 orders were made");
    for left in &results[done..] {
        assert_eq!(left["error"]["code"], "rest_batch_out_of_time");
    }
    let stored = shop.read(|conn| testkit::database::number(conn, "SELECT COUNT(*) FROM orders"));
    assert_eq!(usize::try_from(stored).unwrap(), done);
}

#[test]
fn an_order_is_shown_as_it_was_written() {
    let shop = TestShop::new();
    let lamp = json!({ "name": "Lamp", "regular_price": "20", "manage_stock": true,
                       "stock_quantity": 9 });
    let lamp = shop.ask("POST", "/wc/v3/products", ADMIN, &lamp).json;
    let order = json!({ "status": "processing", "set_paid": true,
                        "billing": { "email": "a@example.test" },
                        "meta_data": [{ "key": "a", "value": 1.5 }],
                        "line_items": [{ "product_id": lamp["id"], "quantity": 2 }],
                        "fee_lines": [{ "name": "Service", "total": "1" }] });
    let made = shop.ask("POST", "/wc/v3/orders", ADMIN, &order).json;
    let path = format!("/wc/v3/orders/{}", made["id"]);
    assert_eq!(shop.get(&path, ADMIN).json, made);
    let more = json!({ "status": "completed", "fee_lines": [{ "name": "More", "total": "2" }] });
    let changed = shop.ask("PUT", &path, ADMIN, &more).json;
    assert_eq!(shop.get(&path, ADMIN).json, changed);
    assert_eq!(changed["fee_lines"].as_array().unwrap().len(), 2);
    let notes = shop.get(&format!("{path}/notes"), ADMIN);
    assert_eq!(notes.each("note").len(), 3, "{}", notes.json);
}
