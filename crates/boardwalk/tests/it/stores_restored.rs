//! A connected store that is restored from an old backup: ids and times of changes go back, records
//! vanish, and no webhook tells.

use std::time::Duration;

use serde_json::{Value, json};

use crate::connected_stores::{Hub, assert_same, shop};
use crate::shop_client::each;
use crate::store_proxy::Proxy;
use crate::support::{Site, eventually};

const PATIENCE: Duration = Duration::from_mins(1);

#[test]
fn a_store_that_was_restored_from_a_backup_is_noticed() {
    let mut backup = None;
    let shop = shop().kill_and(|shop| {
        backup = Some(shop.fresh());
        shop
    });
    let proxy = Proxy::start(&shop.running.url);
    let hub = Hub::open(Site::sqlite());
    let connection = hub.connect(&shop, &proxy.url);
    hub.wait_for(&connection, "live");
    let orders =
        each(&shop.get("/wc/v3/orders?per_page=4&orderby=id&order=asc&status=completed"), "id");
    for order in &orders {
        let later = json!({ "status": "processing", "customer_note": "later" });
        shop.ask("PUT", &format!("/wc/v3/orders/{order}"), &later);
    }
    let product = json!({ "name": "New", "regular_price": "5" });
    let product = shop.ask("POST", "/wc/v3/products", &product);
    let lines = json!([{ "product_id": product["id"], "quantity": 2 }]);
    for status in ["processing", "completed"] {
        shop.ask("POST", "/wc/v3/orders", &json!({ "status": status, "line_items": lines }));
    }
    let person = json!({ "email": "late@example.test" });
    shop.ask("POST", "/wc/v3/customers", &person);
    let category = shop.ask("POST", "/wc/v3/products/categories", &json!({ "name": "Late" }));
    let coupon = &shop.get("/wc/v3/coupons?per_page=1")[0]["id"];
    shop.ask("DELETE", &format!("/wc/v3/coupons/{coupon}?force=true"), &Value::Null);
    let filed = json!({ "categories": [{ "id": category["id"] }] });
    shop.ask("PUT", &format!("/wc/v3/products/{}", product["id"]), &filed);
    assert_same(&shop, &hub, &connection);

    let shop = shop.kill_and(|_| backup.take().unwrap());
    proxy.aim(&shop.running.url);
    // What the restored store sells next has numbers that others had before.
    let product = &shop.get("/wc/v3/products?per_page=1&type=simple")[0]["id"];
    let order = json!({ "status": "completed",
        "line_items": [{ "product_id": product, "quantity": 1 }] });
    shop.ask("POST", "/wc/v3/orders", &order);
    assert_same(&shop, &hub, &connection);
    let state = hub.state(&connection);
    assert!(state["drift"].as_i64() > Some(0), "{state}");
    assert_eq!(state["skipped"], json!([]), "{state}");
    // The webhooks were not in the backup.
    let made = || shop.get("/wc/v3/webhooks?per_page=100").as_array().map(Vec::len);
    eventually("webhooks are made again", PATIENCE, || made() == Some(15));
}
