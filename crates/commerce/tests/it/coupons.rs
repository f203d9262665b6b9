//! Coupons: what they take, what they refuse, how the versions show them, and their lists.

use serde_json::{Value, json};
use types::Role;

use super::support::{ADMIN, Answer, HOME, NOBODY, TestShop, now};

const COUPONS: &str = "/wc/v3/coupons";

fn create(shop: &TestShop, body: &Value) -> Answer {
    shop.ask("POST", COUPONS, ADMIN, body)
}

fn id(answer: &Answer) -> i64 {
    assert_eq!(answer.status, 201, "{:?}", answer.json);
    answer.json["id"].as_i64().unwrap()
}

#[test]
fn a_new_coupon_is_published_and_takes_nothing_off() {
    let shop = TestShop::new();
    let answer = create(&shop, &json!({ "code": "  Spring " }));
    let id = id(&answer);
    assert_eq!(answer.header("location"), format!("{HOME}/wp-json{COUPONS}/{id}"));
    let expected = [
        ("code", json!("spring")),
        ("amount", json!("0.00")),
        ("status", json!("publish")),
        ("discount_type", json!("fixed_cart")),
        ("date_created", json!("2026-11-15T08:00:00")),
        ("date_expires", Value::Null),
        ("usage_limit", Value::Null),
        ("product_ids", json!([])),
        ("minimum_amount", json!("0.00")),
        ("meta_data", json!([])),
    ];
    for (field, value) in expected {
        assert_eq!(answer.json[field], value, "{field}");
    }
    assert_eq!(shop.get(&format!("{COUPONS}/{id}"), ADMIN).json, answer.json);
}

/// The code that is stored is the one that applies, however it was written.
#[test]
fn every_stored_code_can_be_applied() {
    let shop = TestShop::new();
    let sold = json!({ "name": "Lamp", "regular_price": "40.00" });
    let product = shop.ask("POST", "/wc/v3/products", ADMIN, &sold).json["id"].clone();
    for written in ["<script>alert(1)</script>Save", "50%ff", "a < b", "Två  Ord", "fish & chips"]
    {
        let coupon = create(&shop, &json!({ "code": written, "amount": "5.00" }));
        id(&coupon);
        let stored = coupon.json["code"].as_str().unwrap();
        assert!(!stored.contains("<script"), "{stored}");
        let found = shop.ask("GET", COUPONS, ADMIN, &json!({ "code": stored }));
        assert_eq!(found.each("code"), [stored], "{written}");
        for code in [stored, written] {
            let order = shop.ask(
                "POST",
                "/wc/v3/orders",
                ADMIN,
                &json!({
                    "line_items": [{ "product_id": product, "quantity": 1 }],
                    "coupon_lines": [{ "code": code }],
                }),
            );
            assert_eq!(order.status, 201, "{code}: {:?}", order.json);
            assert_eq!(order.json["total"], "35.00", "{code}");
        }
    }
    let nothing = create(&shop, &json!({ "code": "<b></b>" }));
    assert_eq!(nothing.refusal(), (400, "woocommerce_rest_empty_coupon_code"));
}

#[test]
fn what_is_given_is_read_generously() {
    let shop = TestShop::new();
    let wanted = json!({
        "code": "FULL",
        "amount": 12.5,
        "description": "<b>Full</b><script>x</script>",
        "date_expires": "2027-02-01",
        "date_expires_gmt": "2028-01-01T00:00:00",
        "product_ids": [11, "12", 11, 0],
        "usage_limit": 0,
        "limit_usage_to_x_items": 3,
        "email_restrictions": ["A@Example.test", "nope", "*@example.org"],
        "maximum_amount": "500.5",
    });
    let coupon = create(&shop, &wanted).json;
    let expected = [
        ("code", json!("full")),
        ("amount", json!("12.50")),
        ("description", json!("<b>Full</b>")),
        ("date_expires_gmt", json!("2027-02-01T00:00:00")),
        ("product_ids", json!([11, 12])),
        ("usage_limit", Value::Null),
        ("limit_usage_to_x_items", json!(3)),
        ("email_restrictions", json!(["a@example.test", "*@example.org"])),
        ("maximum_amount", json!("500.50")),
    ];
    for (field, value) in expected {
        assert_eq!(coupon[field], value, "{field}");
    }
    let path = format!("{COUPONS}/{}", coupon["id"]);
    let cleared = shop.ask("PUT", &path, ADMIN, &json!({ "date_expires": null })).json;
    assert_eq!(cleared["date_expires"], Value::Null);
}

#[test]
fn what_no_coupon_can_have_is_refused() {
    let shop = TestShop::new();
    id(&create(&shop, &json!({ "code": "taken", "minimum_amount": "50" })));
    let table = [
        (json!({}), "rest_missing_callback_param"),
        (json!({ "code": " " }), "woocommerce_rest_empty_coupon_code"),
        (json!({ "code": "TAKEN" }), "woocommerce_rest_coupon_code_already_exists"),
        (json!({ "code": "a", "id": 5 }), "woocommerce_rest_shop_coupon_exists"),
        (json!({ "code": "a", "discount_type": "bogus" }), "rest_invalid_param"),
        (json!({ "code": "a", "amount": "-1" }), "coupon_invalid_amount"),
        (
            json!({ "code": "a", "amount": "101", "discount_type": "percent" }),
            "coupon_invalid_amount",
        ),
        (
            json!({ "code": "a", "minimum_amount": "300", "maximum_amount": "100" }),
            "coupon_invalid_minimum_amount",
        ),
        (json!({ "code": "a", "maximum_amount": -1 }), "coupon_invalid_maximum_amount"),
    ];
    for (body, code) in table {
        assert_eq!(create(&shop, &body).refusal(), (400, code), "{body}");
    }
    let path = format!("{COUPONS}/{}", shop.get(COUPONS, ADMIN).json[0]["id"]);
    let change = |body: &Value| shop.ask("PUT", &path, ADMIN, body);
    let below = change(&json!({ "maximum_amount": "20" }));
    assert_eq!(below.refusal(), (400, "coupon_invalid_maximum_amount"));
    assert_eq!(change(&json!({ "code": "" })).refusal().1, "woocommerce_rest_empty_coupon_code");
    let unknown = shop.ask("PUT", &format!("{COUPONS}/99999"), ADMIN, &json!({}));
    assert_eq!(unknown.refusal(), (400, "woocommerce_rest_shop_coupon_invalid_id"));
    assert_eq!(shop.get(&format!("{COUPONS}/99999"), NOBODY).status, 404);
}

#[test]
fn a_code_is_taken_only_by_what_is_published() {
    let shop = TestShop::new();
    let draft = id(&create(&shop, &json!({ "code": "same", "status": "draft" })));
    id(&create(&shop, &json!({ "code": "same" })));
    let path = format!("{COUPONS}/{draft}");
    let publish = |body: &Value| shop.ask("PUT", &path, ADMIN, body);
    let refused = publish(&json!({ "status": "publish" }));
    assert_eq!(refused.refusal(), (400, "woocommerce_rest_coupon_code_already_exists"));
    let renamed = publish(&json!({ "status": "publish", "code": "other" }));
    assert_eq!((renamed.status, &renamed.json["status"]), (200, &json!("publish")));
}

#[test]
fn a_status_has_the_words_of_the_published_interface() {
    let shop = TestShop::new();
    for (number, (word, expected)) in [
        ("published", "publish"),
        ("publish", "publish"),
        ("Pending Review", "pending"),
        ("pending", "pending"),
        ("draft", "draft"),
        ("private", "private"),
    ]
    .into_iter()
    .enumerate()
    {
        let coupon = json!({ "code": format!("c{number}"), "status": word });
        assert_eq!(create(&shop, &coupon).json["status"], json!(expected), "{word}");
    }
    let refused = create(&shop, &json!({ "code": "x", "status": "bogus" }));
    assert_eq!(refused.refusal(), (400, "rest_invalid_param"));
    let path = format!("/wc/v2/coupons/{}", shop.get(COUPONS, ADMIN).json[0]["id"]);
    let refused = shop.ask("PUT", &path, ADMIN, &json!({ "status": "gone" }));
    assert_eq!(refused.refusal(), (400, "rest_invalid_param"));
    let zero = create(&shop, &json!({ "code": "0" }));
    assert_eq!(zero.refusal(), (400, "woocommerce_rest_empty_coupon_code"));
}

#[test]
fn an_expiry_is_set_by_either_clock() {
    let shop = TestShop::new();
    let zone = json!("America/New_York");
    shop.write(move |conn| frame::options::set(conn, "timezone_string", &zone));
    let body = json!({ "code": "x", "date_expires_gmt": "2027-01-31T12:00:00" });
    let coupon = create(&shop, &body).json;
    let both = |coupon: &Value| {
        let text = |name: &str| coupon[name].as_str().unwrap_or_default().to_owned();
        (text("date_expires"), text("date_expires_gmt"))
    };
    let pair = |local: &str, gmt: &str| (local.to_owned(), gmt.to_owned());
    assert_eq!(both(&coupon), pair("2027-01-31T07:00:00", "2027-01-31T12:00:00"));
    let path = format!("{COUPONS}/{}", coupon["id"]);
    let change = |body: Value| shop.ask("PUT", &path, ADMIN, &body).json;
    let later = change(json!({ "date_expires_gmt": "2027-02-01T12:00:00" }));
    assert_eq!(both(&later), pair("2027-02-01T07:00:00", "2027-02-01T12:00:00"));
    // Who sends both back changed one of them.
    let by_local = change(json!({
        "date_expires": "2027-03-01T07:00:00", "date_expires_gmt": "2027-02-01T12:00:00",
    }));
    assert_eq!(both(&by_local), pair("2027-03-01T07:00:00", "2027-03-01T12:00:00"));
    let by_gmt = change(json!({
        "date_expires": "2027-03-01T07:00:00", "date_expires_gmt": "2027-03-02T12:00:00",
    }));
    assert_eq!(both(&by_gmt), pair("2027-03-02T07:00:00", "2027-03-02T12:00:00"));
    let never = change(json!({ "date_expires_gmt": null }));
    assert_eq!(both(&never), pair("", ""));
}

#[test]
fn the_trash_is_remembered_and_left_again() {
    let shop = TestShop::new();
    let id = id(&create(&shop, &json!({ "code": "old" })));
    let path = format!("{COUPONS}/{id}");
    shop.ask("PUT", &path, ADMIN, &json!({ "code": "new" }));
    assert_eq!(shop.ask("DELETE", &path, ADMIN, &Value::Null).json["status"], json!("publish"));
    let trashed = shop.get(&path, ADMIN).json;
    assert_eq!(trashed["status"], json!("trash"));
    let entries = trashed["meta_data"].as_array().unwrap().iter();
    let entries: Vec<(&Value, &Value)> = entries.map(|e| (&e["key"], &e["value"])).collect();
    assert_eq!(entries[0], (&json!("_wp_trash_meta_status"), &json!("publish")));
    assert_eq!(entries[2], (&json!("_wp_desired_post_slug"), &json!("old")));
    assert_eq!(shop.get(COUPONS, ADMIN).json, json!([]), "the trash is not listed");
    let again = shop.ask("DELETE", &path, ADMIN, &Value::Null);
    assert_eq!(again.refusal(), (410, "woocommerce_rest_already_trashed"));
    let back = shop.ask("PUT", &path, ADMIN, &json!({ "status": "publish" })).json;
    assert_eq!((&back["status"], &back["meta_data"]), (&json!("publish"), &json!([])));
    assert_eq!(shop.ask("DELETE", &format!("{path}?force=true"), ADMIN, &Value::Null).status, 200);
    assert_eq!(shop.get(&path, ADMIN).status, 404);
    let kinds = shop.write(|conn| {
        db::outbox::sequence(conn, 100)?;
        let events = db::outbox::after(conn, 0, 100)?.into_iter();
        Ok(events.map(|event| event.kind).filter(|kind| kind.starts_with("coupon")).collect())
    });
    let [created, updated, deleted] = ["coupon.created", "coupon.updated", "coupon.deleted"];
    let told: Vec<String> = kinds;
    assert_eq!(told, [created, updated, deleted, updated, deleted]);
}

#[test]
fn entries_of_meta_data_are_known_by_id_or_key() {
    let shop = TestShop::new();
    let entries = json!([{ "key": "a", "value": 1 }, { "key": "b", "value": { "c": [] } }]);
    let coupon = create(&shop, &json!({ "code": "m", "meta_data": entries })).json;
    let first = coupon["meta_data"][0]["id"].clone();
    let path = format!("{COUPONS}/{}", coupon["id"]);
    let change = |entries: Value| {
        let body = json!({ "meta_data": entries });
        shop.ask("PUT", &path, ADMIN, &body).json["meta_data"].clone()
    };
    let by_key = change(json!([{ "key": "a", "value": 2 }, { "key": "", "value": 3 }]));
    assert_eq!(by_key[0], json!({ "id": first, "key": "a", "value": "2" }));
    let by_id = change(json!([{ "id": first, "key": "renamed", "value": "x" }]));
    assert_eq!(by_id[0], json!({ "id": first, "key": "renamed", "value": "x" }));
    let removed = change(json!([{ "key": "b", "value": null }, { "id": 99, "value": null }]));
    assert_eq!(removed, json!([by_id[0]]));
}

#[test]
fn older_versions_have_fewer_fields_and_other_names() {
    let shop = TestShop::new();
    let body = json!({ "code": "v", "expiry_date": "2027-01-31", "exclude_product_ids": [5] });
    let first = shop.ask("POST", "/wc/v1/coupons", ADMIN, &body).json;
    assert_eq!(first["expiry_date"], json!("2027-01-31T00:00:00"));
    assert_eq!(first["exclude_product_ids"], json!([5]));
    for field in ["status", "date_created_gmt", "date_expires", "meta_data"] {
        assert_eq!(first.get(field), None, "{field}");
    }
    let second = shop.get(&format!("/wc/v2/coupons/{}", first["id"]), ADMIN).json;
    assert_eq!((&second["status"], &second["meta_data"]), (&json!("publish"), &json!([])));
    assert_eq!(second["excluded_product_ids"], json!([5]));
}

#[test]
fn lists_are_searched_by_text_or_by_code() {
    let shop = TestShop::new();
    for (code, text) in [("pct10", "for spring"), ("pct15", ""), ("cart5", "pct like")] {
        id(&create(&shop, &json!({ "code": code, "description": text })));
    }
    let codes = |path: &str| shop.get(path, ADMIN).each("code");
    for (path, expected) in [
        ("/wc/v3/coupons?search=pct&orderby=id&order=asc", vec!["pct10", "pct15", "cart5"]),
        ("/wc-analytics/coupons?search=PCT&orderby=id&order=asc", vec!["pct10", "pct15"]),
        ("/wc/v3/coupons?orderby=title&order=asc&per_page=2", vec!["cart5", "pct10"]),
        ("/wc/v3/coupons?offset=1&orderby=title&order=asc", vec!["pct10", "pct15"]),
        ("/wc/v3/coupons?code=PCT10", vec!["pct10"]),
        ("/wc/v3/coupons?code=none", vec![]),
        ("/wc/v3/coupons?after=2026-11-15T08:00:00", vec![]),
        ("/wc/v3/coupons?before=2026-11-15T08:00:01&search=spring", vec!["pct10"]),
    ] {
        assert_eq!(codes(path), expected, "{path}");
    }
}

#[test]
fn a_batch_tells_each_result() {
    let shop = TestShop::new();
    let first = id(&create(&shop, &json!({ "code": "one" })));
    let wanted = json!({
        "create": [{ "code": "two" }, { "code": "ONE" }, {}, { "code": "x", "discount_type": [] }],
        "update": [{ "id": first, "amount": "6" }, { "id": 99999 }],
        "delete": [first, "abc", 99999],
    });
    let answer = shop.ask("POST", "/wc/v3/coupons/batch", ADMIN, &wanted);
    let codes = |group: &str| -> Vec<Value> {
        let items = answer.json[group].as_array().unwrap().iter();
        items.map(|item| item.get("code").unwrap_or(&item["error"]["code"]).clone()).collect()
    };
    assert_eq!(
        codes("create"),
        [
            "two",
            "woocommerce_rest_coupon_code_already_exists",
            "woocommerce_rest_empty_coupon_code",
            "x",
        ]
    );
    assert_eq!(answer.json["create"][0]["discount_type"], json!("fixed_cart"));
    assert_eq!(codes("update"), ["one", "woocommerce_rest_shop_coupon_invalid_id"]);
    assert_eq!(codes("delete"), ["one", "woocommerce_rest_shop_coupon_invalid_id"]);
    let many: Vec<Value> = (0..101).map(|n| json!({ "code": format!("c{n}") })).collect();
    let refused = shop.ask("POST", "/wc/v3/coupons/batch", ADMIN, &json!({ "create": many }));
    assert_eq!(refused.refusal(), (413, "woocommerce_rest_request_entity_too_large"));
}

#[test]
fn only_the_shops_people_see_and_change_coupons() {
    let mut shop = TestShop::new();
    shop.user("manager", Role::ShopManager);
    shop.user("editor", Role::Editor);
    let path = format!("{COUPONS}/{}", id(&create(&shop, &json!({ "code": "c" }))));
    for (method, path, code) in [
        ("GET", COUPONS, "woocommerce_rest_cannot_view"),
        ("GET", &*path, "woocommerce_rest_cannot_view"),
        ("POST", COUPONS, "woocommerce_rest_cannot_create"),
        ("PUT", &*path, "woocommerce_rest_cannot_edit"),
        ("DELETE", &*path, "woocommerce_rest_cannot_delete"),
        ("POST", "/wc/v3/coupons/batch", "woocommerce_rest_cannot_batch"),
    ] {
        let body = match method {
            "GET" => Value::Null,
            "POST" => json!({ "code": "d" }),
            _ => json!({ "amount": "5" }),
        };
        for (who, status) in [(NOBODY, 401), ("editor", 403)] {
            let answer = shop.ask(method, path, who, &body);
            assert_eq!(answer.refusal(), (status, code), "{method} {path} {who}");
        }
        assert!(shop.ask(method, path, "manager", &body).status < 300, "{method} {path}");
    }
}

#[test]
fn a_bundle_can_be_imported_again() {
    let shop = TestShop::new();
    let coupons = json!([{
        "id": 61, "code": "pct10", "status": "publish", "discount_type": "percent",
        "amount": "10", "description": "Ten", "date_created": "2025-08-10T10:00:00",
        "date_modified": "2025-08-11T10:00:00", "date_expires": "2026-06-30T00:00:00",
        "usage_count": 2, "usage_limit": 0, "usage_limit_per_user": 5, "free_shipping": true,
        "individual_use": false, "used_by": ["guest@example.test", "14"],
    }]);
    for _ in 0..2 {
        let sections = std::collections::BTreeMap::from([("coupons".to_owned(), coupons.clone())]);
        let totals = shop.write(move |conn| commerce::bundle::import(conn, &sections, now()));
        assert_eq!(totals["coupons"], 1);
        let coupon = shop.get("/wc/v3/coupons/61", ADMIN).json;
        let expected = [
            ("amount", json!("10.00")),
            ("date_modified", json!("2025-08-11T10:00:00")),
            ("date_expires", json!("2026-06-30T00:00:00")),
            ("usage_limit", Value::Null),
            ("usage_limit_per_user", json!(5)),
            ("used_by", json!(["guest@example.test", "14"])),
        ];
        for (field, value) in expected {
            assert_eq!(coupon[field], value, "{field}");
        }
    }
    assert_eq!(shop.get(COUPONS, ADMIN).header("x-wp-total"), "1");
    assert!(id(&create(&shop, &json!({ "code": "next" }))) > 61, "the id is not given again");
}

#[test]
fn the_batch_of_the_site_takes_the_writes_of_the_shop() {
    let shop = TestShop::new();
    let requests = json!({ "requests": [
        { "path": "/wc-analytics/coupons", "body": { "code": "one", "amount": "1" } },
        { "path": "/wc/v3/coupons", "body": { "code": "one", "amount": "1" } },
        { "path": "/wc-analytics/coupons/batch", "body": { "create": [{ "code": "two" }] } },
        { "path": "/wc-analytics/nothing" },
    ] });
    let answer = shop.ask("POST", "/batch/v1", ADMIN, &requests);
    assert_eq!(answer.status, 207, "{}", answer.json);
    let told: Vec<(i64, &str)> = answer.json["responses"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["status"].as_i64().unwrap(), one["body"]["code"].as_str().unwrap()))
        .collect();
    assert_eq!(
        told,
        [
            (201, "one"),
            (400, "woocommerce_rest_coupon_code_already_exists"),
            (400, "rest_batch_not_allowed"),
            (404, "rest_no_route"),
        ]
    );
    assert_eq!(shop.get(COUPONS, ADMIN).each("code"), ["one"]);
    // Who may not change it alone may not change it in a batch.
    let refused = shop.ask("POST", "/batch/v1", NOBODY, &requests);
    assert_eq!(refused.json["responses"][0]["status"], json!(401));
}
