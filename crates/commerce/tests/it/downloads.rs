//! Downloads: what a customer may fetch, and where downloads came from.

use serde_json::{Value, json};
use types::Role;

use super::support::{ADMIN, NOBODY, TestShop, now};

const ADDRESSES: &str = "/wc-analytics/data/download-ips";

fn import(shop: &TestShop, sections: Value) {
    let sections: std::collections::BTreeMap<String, Value> =
        serde_json::from_value(sections).unwrap();
    shop.write(move |conn| commerce::bundle::import(conn, &sections, now()).map(drop));
}

fn permissions(user_id: i64) -> Value {
    let permission = |id: i64, remaining: &str, expires: Value| {
        json!({
            "permission_id": id.to_string(), "download_id": "f1", "product_id": "36",
            "order_id": "145", "order_key": "wc_order_k", "user_email": "s@example.test",
            "user_id": user_id.to_string(), "downloads_remaining": remaining,
            "access_granted": "2026-10-03 01:59:59", "access_expires": expires,
            "download_count": "0",
        })
    };
    let log = |id: i64, address: &str| {
        json!({
            "download_log_id": id.to_string(), "timestamp": "2026-10-09 18:21:07",
            "permission_id": "1", "user_id": user_id.to_string(), "user_ip_address": address,
        })
    };
    json!({
        "download_permissions": [
            permission(1, "5", Value::Null),
            permission(2, "0", Value::Null),
            permission(3, "", json!("2025-01-01 00:00:00")),
        ],
        "download_log": [log(1, "203.0.113.77"), log(2, "203.0.113.5"), log(3, "2001:db8::42")],
    })
}

#[test]
fn addresses_are_suggested_by_their_beginning() {
    let shop = TestShop::new();
    import(&shop, permissions(1));
    import(&shop, permissions(1));
    for (query, expected) in [
        ("?match=203", json!(["203.0.113.5", "203.0.113.77"])),
        ("?match=2001", json!(["2001:db8::42"])),
        ("?match=999", json!([])),
        ("?match=%25", json!([])),
    ] {
        let found = shop.get(&format!("{ADDRESSES}{query}"), ADMIN);
        assert_eq!(Value::Array(found.each("user_ip_address")), expected, "{query}");
    }
    let unsaid = shop.get(ADDRESSES, ADMIN);
    assert_eq!(unsaid.refusal(), (400, "woocommerce_rest_data_download_ips_invalid_request"));
    assert_eq!(shop.get(ADDRESSES, NOBODY).refusal(), (401, "woocommerce_rest_cannot_view"));
}

#[test]
fn a_customer_may_download_what_is_paid_and_neither_expired_nor_used_up() {
    let mut shop = TestShop::new();
    let shopper = shop.user("shopper", Role::Customer);
    import(&shop, permissions(shopper));
    let path = format!("/wc/v3/customers/{shopper}/downloads");
    let before = shop.get(&format!("{path}?context=view"), ADMIN);
    assert_eq!(before.json, json!([]), "the order is not there");
    shop.write(|conn| {
        let row = shop_rows::order::OrderRow {
            order_id: 145,
            status: "completed".to_owned(),
            details: "{}".to_owned(),
            ..shop_rows::order::OrderRow::default()
        };
        shop_rows::order::insert_with_id(
            conn,
            &shop_rows::order::Order { row, items: Vec::new() },
        )?;
        let details = r#"{"downloads":[{"id":"f1","name":"album","file":"/album.zip"}]}"#;
        let row = shop_rows::product::ProductRow {
            product_id: 36,
            name: "Album".to_owned(),
            details: details.to_owned(),
            ..shop_rows::product::ProductRow::default()
        };
        shop_rows::product::insert_with_id(conn, &row)
    });
    let listed = shop.get(&path, ADMIN).json;
    assert_eq!(listed.as_array().unwrap().len(), 1);
    let one = &listed[0];
    assert_eq!(
        one["download_url"],
        "https://shop.example/?download_file=36&order=wc_order_k&email=s%40example.test&key=f1"
    );
    assert_eq!([&one["downloads_remaining"], &one["access_expires"]], ["5", "never"]);
    assert_eq!(one["file"], json!({ "name": "album", "file": "https://shop.example/album.zip" }));
    let oldest = shop.get(&path.replace("v3", "v1"), ADMIN).json;
    assert!(oldest[0].get("product_name").is_none());
    let unknown = shop.get("/wc/v3/customers/999/downloads", NOBODY);
    assert_eq!(unknown.refusal(), (404, "woocommerce_rest_customer_invalid"));
    assert_eq!(shop.get(&path, NOBODY).refusal(), (401, "woocommerce_rest_cannot_view"));
}

#[test]
fn who_pays_for_files_may_fetch_them() {
    let mut shop = TestShop::new();
    let shopper = shop.user("shopper", Role::Customer);
    let files = json!([{ "id": "f1", "name": "One", "file": "https://files.example/1.zip" },
                       { "id": "f2", "name": "Two", "file": "https://files.example/2.zip" }]);
    let album = json!({ "name": "Album", "regular_price": "9", "virtual": true,
                        "downloadable": true, "downloads": files, "download_limit": 3,
                        "download_expiry": 10 });
    let album = shop.ask("POST", "/wc/v3/products", ADMIN, &album).json;
    let order = json!({ "customer_id": shopper,
                        "line_items": [{ "product_id": album["id"], "quantity": 2 }] });
    let order = shop.ask("POST", "/wc/v3/orders", ADMIN, &order).json;
    let path = format!("/wc/v3/orders/{}", order["id"]);
    let downloads = |who: i64| shop.get(&format!("/wc/v3/customers/{who}/downloads"), ADMIN);
    assert_eq!(downloads(shopper).json, json!([]), "nothing is paid");

    let paid = shop.ask("PUT", &path, ADMIN, &json!({ "set_paid": true })).json;
    assert_eq!(paid["status"], "completed", "files need no work");
    let granted = downloads(shopper);
    assert_eq!(granted.each("download_name"), ["One", "Two"]);
    assert_eq!(granted.each("downloads_remaining"), ["6", "6"]);
    assert_eq!(granted.json[0]["access_expires"], "2026-11-25T00:00:00");

    for (change, count) in [("on-hold", 0), ("completed", 2), ("cancelled", 0), ("completed", 2)] {
        shop.ask("PUT", &path, ADMIN, &json!({ "status": change }));
        assert_eq!(downloads(shopper).json.as_array().unwrap().len(), count, "{change}");
    }
    let other = shop.user("other", Role::Customer);
    let given_away = json!({ "customer_id": other, "billing": { "email": "o@example.test" } });
    shop.ask("PUT", &path, ADMIN, &given_away);
    let downloads = |who: i64| shop.get(&format!("/wc/v3/customers/{who}/downloads"), ADMIN);
    assert_eq!(
        (downloads(shopper).each("order_id").len(), downloads(other).each("id").len()),
        (0, 2)
    );

    shop.ask("DELETE", &format!("{path}?force=true"), ADMIN, &Value::Null);
    let left = shop.read(|conn| {
        let all = shop_rows::download_permission::DownloadPermissionFilter::default();
        shop_rows::download_permission::list(conn, &all)
    });
    assert_eq!(left.1, 0);
}
