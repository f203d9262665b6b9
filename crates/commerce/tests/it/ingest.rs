//! Records of another shop: what they say counts, numbers are kept or remembered, and nothing is
//! there twice.

use std::sync::Arc;

use commerce::ingest::{ImportPolicy, Importer, Outcome, Record, RecordKind};
use db::outbox;
use serde_json::{Value, json};

use super::support::{ADMIN, TestShop};

const SOURCE: &str = "https://old.example";

fn importer(shop: &TestShop, manner: ImportPolicy) -> Importer {
    Importer::new(Arc::clone(&shop.site), SOURCE, manner).unwrap()
}

fn ingest(shop: &TestShop, records: &[(RecordKind, Value)]) -> Outcome {
    let records = records.iter().map(|(kind, body)| Record::new(*kind, body.clone()));
    importer(shop, ImportPolicy::default()).ingest(records).unwrap()
}

fn order(id: i64) -> Value {
    json!({
        "id": id, "status": "completed", "currency": "EUR", "customer_id": 77,
        "order_key": format!("wc_order_{id}"), "number": format!("N{id}"),
        "date_created_gmt": "2025-03-01T10:00:00", "date_paid_gmt": "2025-03-01T10:05:00",
        "date_completed_gmt": "2025-03-02T09:00:00",
        "total": "23.80", "total_tax": "3.80", "cart_tax": "3.80", "discount_total": "0.00",
        "billing": { "first_name": "Ada", "email": "ada@example.com", "country": "DE" },
        "line_items": [{
            "id": 900, "product_id": 501, "quantity": 2, "name": "Lamp", "subtotal": "20.00",
            "total": "20.00", "total_tax": "3.80", "subtotal_tax": "3.80",
            "taxes": [{ "id": 3, "total": "3.80", "subtotal": "3.80" }],
            "image": { "id": "", "src": "" },
        }],
        "tax_lines": [{
            "id": 901, "rate_code": "DE-VAT-1", "rate_id": 3, "label": "VAT", "tax_total": "3.80",
            "rate_percent": 19,
        }],
        "meta_data": [{ "id": 5, "key": "till", "value": 4 }],
        "currency_symbol": "€", "payment_url": "https://old.example/pay", "refunds": [],
    })
}

fn records() -> Vec<(RecordKind, Value)> {
    vec![
        (
            RecordKind::Category,
            json!({ "id": 40, "name": "Light", "slug": "light", "image": null }),
        ),
        (
            RecordKind::Product,
            json!({
                "id": 501, "name": "Lamp", "regular_price": "10", "sku": "LAMP", "total_sales": 12,
                "categories": [{ "id": 40 }], "date_created": "2024-05-06T07:08:09",
                "images": [{ "id": 71, "src": "https://old.example/lamp.png" }],
            }),
        ),
        (
            RecordKind::Customer,
            json!({
                "id": 77, "email": "ada@example.com", "username": "ada", "role": "customer",
                "date_created_gmt": "2024-01-02T03:04:05", "is_paying_customer": true,
            }),
        ),
        (
            RecordKind::Coupon,
            json!({ "id": 502, "code": "TEN", "amount": "10", "usage_count": 3,
                    "used_by": ["77"], "date_created_gmt": "2024-01-02T03:04:05" }),
        ),
        (RecordKind::Order, order(600)),
        (
            RecordKind::Refund,
            json!({
                "id": 601, "parent_id": 600, "amount": "11.90", "reason": "broken",
                "date_created_gmt": "2025-03-05T10:00:00",
                "line_items": [{ "product_id": 501, "quantity": -1, "total": "-10.00",
                    "total_tax": "-1.90", "taxes": [{ "id": 3, "total": "-1.9" }] }],
            }),
        ),
        (
            RecordKind::OrderNote,
            json!({ "id": 33, "order_id": 600, "note": "Sent.", "author": "ben" }),
        ),
    ]
}

#[test]
fn what_a_record_says_counts() {
    let shop = TestShop::new();
    let outcome = ingest(&shop, &records());
    assert_eq!(outcome.errors, [], "{outcome:?}");
    assert_eq!(outcome.written.values().sum::<u64>(), 7);
    let got = |path: &str| shop.get(&format!("/wc/v3/{path}"), ADMIN).json;
    let lamp = got("products/501");
    assert_eq!(lamp["total_sales"], 12);
    assert_eq!(lamp["categories"][0]["id"], 40);
    assert_eq!(lamp["date_created"], "2024-05-06T07:08:09");
    assert_eq!(lamp["images"][0]["id"], 71);
    let ada = got("customers/77");
    assert_eq!((&ada["username"], &ada["is_paying_customer"]), (&json!("ada"), &json!(true)));
    assert_eq!(ada["date_created_gmt"], "2024-01-02T03:04:05");
    let coupon = got("coupons/502");
    assert_eq!((&coupon["usage_count"], &coupon["used_by"]), (&json!(3), &json!(["77"])));
    let told = order(600);
    let read = got("orders/600");
    for name in [
        "number",
        "status",
        "currency",
        "customer_id",
        "order_key",
        "total",
        "total_tax",
        "cart_tax",
        "date_created_gmt",
        "date_paid_gmt",
        "date_completed_gmt",
        "discount_total",
    ] {
        assert_eq!(read[name], told[name], "{name}");
    }
    assert_eq!(read["line_items"][0]["id"], 900);
    assert_eq!(read["line_items"][0]["taxes"], told["line_items"][0]["taxes"]);
    assert_eq!(read["tax_lines"][0]["rate_percent"], 19);
    assert_eq!(read["meta_data"][0]["value"], "4");
    assert_eq!(read["refunds"][0]["total"], "-11.90");
    let refund = got("orders/600/refunds/601");
    assert_eq!((&refund["amount"], &refund["reason"]), (&json!("11.90"), &json!("broken")));
    assert_eq!(refund["tax_lines"][0]["rate_id"], 3);
    assert_eq!(got("orders/600/notes/33")["author"], "ben");
}

#[test]
fn followers_hear_of_imports_and_webhooks_need_not() {
    let shop = TestShop::new();
    ingest(&shop, &records());
    let kinds = shop.write(|conn| {
        outbox::sequence(conn, 100)?;
        let events = outbox::after(conn, 0, 100)?;
        Ok(events.into_iter().map(|event| (event.kind, event.object_id)).collect::<Vec<_>>())
    });
    for (kind, id) in [
        ("term.imported", "40"),
        ("product.imported", "501"),
        ("customer.imported", "77"),
        ("coupon.imported", "502"),
        ("order.imported", "600"),
        ("refund.imported", "601"),
    ] {
        assert!(kinds.contains(&(kind.to_owned(), id.to_owned())), "{kind} {kinds:?}");
    }
    assert!(!kinds.iter().any(|(kind, _)| kind.ends_with(".created")), "{kinds:?}");
}

#[test]
fn a_second_time_nothing_happens() {
    let shop = TestShop::new();
    ingest(&shop, &records());
    let again = ingest(&shop, &records());
    assert_eq!((again.present, again.written.len()), (7, 0), "{again:?}");
    let total = shop.get("/wc/v3/orders", ADMIN).header("x-wp-total").to_owned();
    assert_eq!(total, "1");
}

#[test]
fn what_is_there_is_replaced_when_that_is_wanted() {
    let shop = TestShop::new();
    ingest(&shop, &records());
    let mut changed = order(600);
    changed["status"] = json!("refunded");
    let mut lamp = records().remove(1).1;
    lamp["name"] = json!("Better lamp");
    let manner = ImportPolicy { replace: true, ..ImportPolicy::default() };
    let records = [Record::new(RecordKind::Order, changed), Record::new(RecordKind::Product, lamp)];
    let outcome = importer(&shop, manner).ingest(records).unwrap();
    assert_eq!((outcome.errors.len(), outcome.present), (0, 0), "{outcome:?}");
    assert_eq!(shop.get("/wc/v3/orders/600", ADMIN).json["status"], "refunded");
    assert_eq!(shop.get("/wc/v3/products/501", ADMIN).json["name"], "Better lamp");
}

#[test]
fn who_finds_their_number_taken_is_still_found() {
    let shop = TestShop::new();
    // Numbers that the shop gives by itself meet those of the records.
    let mine = json!({ "name": "Mine", "regular_price": "1" });
    let mut own_id = 0;
    while own_id < 500 {
        own_id = shop.ask("POST", "/wc/v3/products", ADMIN, &mine).json["id"].as_i64().unwrap();
    }
    let mut list = records();
    for (_, body) in &mut list {
        if body["id"] == 501 {
            body["id"] = json!(own_id);
        }
    }
    list[4].1["line_items"][0]["product_id"] = json!(own_id);
    list[4].1["id"] = json!(own_id - 1);
    list[5].1["parent_id"] = json!(own_id - 1);
    list[6].1["order_id"] = json!(own_id - 1);
    let outcome = ingest(&shop, &list);
    assert_eq!(outcome.errors, [], "{outcome:?}");
    let orders = shop.get("/wc/v3/orders", ADMIN).json;
    let order = &orders[0];
    assert!(order["id"].as_i64().unwrap() > own_id);
    assert_eq!(order["refunds"].as_array().unwrap().len(), 1);
    let product_id = order["line_items"][0]["product_id"].as_i64().unwrap();
    assert_ne!(product_id, own_id);
    let product = shop.get(&format!("/wc/v3/products/{product_id}"), ADMIN).json;
    assert_eq!(product["sku"], "LAMP");
    let again = ingest(&shop, &list);
    assert_eq!((again.present, again.written.len()), (7, 0), "{again:?}");
}

#[test]
fn what_is_left_out_is_calculated() {
    let shop = TestShop::new();
    ingest(&shop, &records());
    let body = json!({
        "id": 700, "status": "processing", "date_created_gmt": "2025-04-01T00:00:00",
        "line_items": [{ "product_id": 501, "quantity": 3 }],
        "shipping_lines": [{ "method_id": "flat_rate", "method_title": "Post", "total": "4.50" }],
        "coupon_lines": [{ "code": "ten" }],
    });
    let outcome = ingest(&shop, &[(RecordKind::Order, body)]);
    assert_eq!(outcome.errors, []);
    let order = shop.get("/wc/v3/orders/700", ADMIN).json;
    assert_eq!(order["line_items"][0]["subtotal"], "30.00");
    assert_eq!(order["line_items"][0]["name"], "Lamp");
    assert_eq!(order["discount_total"], "10.00");
    assert_eq!(order["total"], "24.50");
    assert_eq!(order["date_paid_gmt"], "2025-04-01T00:00:00");
    assert_eq!(shop.get("/wc/v3/coupons/502", ADMIN).json["usage_count"], 3);
}

#[test]
fn errors_name_the_line_and_the_field() {
    let shop = TestShop::new();
    let bad = |kind: RecordKind, body: Value, line: u64| Record { line, ..Record::new(kind, body) };
    let wrong = || {
        [
            bad(RecordKind::Order, json!({ "status": "sold", "total": "many" }), 4),
            bad(RecordKind::Order, json!({ "total": "many" }), 5),
            bad(RecordKind::Order, json!({ "date_created": "soon" }), 6),
            bad(RecordKind::Refund, json!({ "amount": "1" }), 7),
            bad(RecordKind::Customer, json!({ "email": "nobody" }), 8),
            bad(RecordKind::Variation, json!({ "sku": "x" }), 9),
            bad(RecordKind::Order, order(600), 10),
        ]
    };
    let outcome = importer(&shop, ImportPolicy::default()).ingest(wrong()).unwrap();
    assert!(outcome.undone);
    let found: Vec<(u64, &str)> = outcome
        .errors
        .iter()
        .map(|error| (error.line, error.field.as_deref().unwrap_or_default()))
        .collect();
    let expected =
        [(4, "status"), (5, "total"), (6, "date_created"), (7, "parent_id"), (9, "product_id")];
    assert_eq!(found, expected);
    assert_eq!(shop.get("/wc/v3/orders", ADMIN).header("x-wp-total"), "0");
    let manner = ImportPolicy { skip_bad: true, ..ImportPolicy::default() };
    let outcome = importer(&shop, manner).ingest(wrong()).unwrap();
    assert_eq!((outcome.errors.len(), outcome.undone), (6, false));
    assert_eq!(outcome.written[&RecordKind::Order], 1);
}

#[test]
fn a_error_that_shows_only_in_writing_undoes_the_batch() {
    let shop = TestShop::new();
    let lonely = json!({ "id": 9, "parent_id": 8888, "amount": "1" });
    let list = [(RecordKind::Order, order(600)), (RecordKind::Refund, lonely)];
    let outcome = ingest(&shop, &list);
    assert!(outcome.undone, "{outcome:?}");
    assert_eq!(outcome.errors[0].field.as_deref(), Some("parent_id"));
    assert_eq!(shop.get("/wc/v3/orders", ADMIN).header("x-wp-total"), "0");
}
