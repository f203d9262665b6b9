//! A connected store behind a way that drops, delays, cuts off, refuses and lies: the copy becomes
//! the store's nevertheless, and whatever is wrong has its code.

use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::connected_stores::{Hub, assert_same, shop};
use crate::shop_client::{ShopClient, each};
use crate::store_proxy::{Manner, Proxy};
use crate::support::{Site, eventually, text};

const PATIENCE: Duration = Duration::from_mins(2);

/// Steps of what people do at the store.
const STEPS: usize = 32;

on_both_engines!(a_copy_survives_a_hostile_way_and_crashes_of_both_sides);

/// Whatever is dropped, late, cut off, refused, told twice or in another order, and whoever is
/// killed while the copy is made and while it is followed.
fn a_copy_survives_a_hostile_way_and_crashes_of_both_sides(site: Site) {
    let mut shop = shop();
    let proxy = Proxy::start(&shop.running.url);
    proxy.set(Manner::Random);
    let told = Proxy::start("");
    told.set(Manner::Shuffled);
    let site = site.set("site.url", &told.url).set("connect.page_items", 20);
    let mut hub = Hub::open(site);
    told.aim(&hub.running.url);
    let connection = hub.connect(&shop, &proxy.url);
    let copied = |hub: &Hub| hub.state(&connection)["counts"]["orders"].as_i64().unwrap_or(0);
    eventually("orders are copied", PATIENCE, || copied(&hub) > 0);
    assert!(copied(&hub) < 296, "killed in the middle of the copy");
    (shop, hub) = killed(shop, hub, (&proxy, &told));
    for number in 0..STEPS {
        step(&shop, number);
        if number == STEPS / 2 {
            hub.wait_for(&connection, "live");
            (shop, hub) = killed(shop, hub, (&proxy, &told));
        }
    }
    hub.wait_for(&connection, "live");
    assert_same(&shop, &hub, &connection);
    assert!(proxy.spoiled() > 0, "the way was not hostile");
    assert_eq!(hub.state(&connection)["skipped"], json!([]));
}

/// Kills both without a warning, and starts them again.
fn killed(shop: ShopClient, hub: Hub, (to_shop, to_hub): (&Proxy, &Proxy)) -> (ShopClient, Hub) {
    let (shop, hub) = (shop.kill(), hub.restarted());
    to_shop.aim(&shop.running.url);
    to_hub.aim(&hub.running.url);
    (shop, hub)
}

/// Something that happens at a store.
fn step(shop: &ShopClient, number: usize) {
    let orders = shop.get("/wc/v3/orders?per_page=40&orderby=id");
    let order = &orders[(number * 7) % 40];
    let path = format!("/wc/v3/orders/{}", order["id"]);
    let product = &shop.get("/wc/v3/products?per_page=5&type=simple")[number % 5];
    match number % 8 {
        0 => drop(shop.ask("PUT", &path, &json!({ "status": "completed" }))),
        1 => drop(shop.ask("PUT", &path, &json!({ "status": "cancelled" }))),
        2 => drop(shop.ask("DELETE", &format!("{path}?force=true"), &Value::Null)),
        3 => drop(shop.ask("DELETE", &path, &Value::Null)),
        4 => {
            let path = format!("/wc/v3/products/{}", product["id"]);
            drop(shop.ask("PUT", &path, &json!({ "regular_price": format!("{number}.50") })));
        }
        5 => {
            let person = json!({ "email": format!("new{number}@example.test"), "last_name": "N" });
            drop(shop.ask("POST", "/wc/v3/customers", &person));
        }
        6 => {
            let coupon = json!({ "code": format!("step{number}"), "amount": "3" });
            drop(shop.ask("POST", "/wc/v3/coupons", &coupon));
        }
        _ => {
            let body = json!({ "status": "processing", "billing": order["billing"],
                "line_items": [{ "product_id": product["id"], "quantity": 1 + number % 3 }] });
            drop(shop.ask("POST", "/wc/v3/orders", &body));
        }
    }
}

#[test]
fn whatever_is_wrong_with_a_store_has_its_code() {
    let shop = shop();
    let proxy = Proxy::start(&shop.running.url);
    let hub = Hub::open(Site::sqlite());
    let connection = hub.connect(&shop, &proxy.url);
    hub.wait_for(&connection, "live");
    let path = format!("/v1/connections/{}", connection.id);
    for (manner, code, status) in [
        (Manner::Page, "not_json", ""),
        (Manner::Always(301), "redirected", "failing"),
        (Manner::Always(401), "key_rejected", "failing"),
        (Manner::Always(403), "not_allowed", "failing"),
        (Manner::Always(500), "server_error", ""),
        (Manner::Always(429), "rate_limited", "live"),
    ] {
        proxy.set(manner.clone());
        let wrong = || {
            let state = hub.state(&connection);
            state["errorCode"] == code && (status.is_empty() || state["status"] == status)
        };
        eventually(code, PATIENCE, wrong);
        let message = text(&hub.state(&connection), "errorMessage");
        assert!(message.ends_with('.') && message.len() > 20, "{message}");
        if code == "redirected" {
            assert!(message.contains("https://moved.example/"), "{message}");
        }
        if code == "rate_limited" {
            left_alone(&shop, &proxy);
        }
        proxy.set(Manner::Fine);
        // Asks again at once.
        hub.ask("PATCH", &path, &json!({ "status": "active" }));
        let state = hub.wait_for(&connection, "live");
        eventually("the error is over", PATIENCE, || hub.state(&connection)["errorCode"].is_null());
        assert!(state["version"].as_i64() > Some(1), "{state}");
    }

    // While it is paused nothing comes; afterwards everything does.
    // Whoever may change the connection must not have the key sent to a host of their own.
    let refused = hub.send("PATCH", &path, &json!({ "url": "https://elsewhere.example" }));
    assert!(refused.status == 400 && refused.text().contains("consumerKey"), "{refused:?}");
    hub.ask("PATCH", &path, &json!({ "status": "paused" }));
    shop.ask("POST", "/wc/v3/coupons", &json!({ "code": "paused", "amount": "3" }));
    thread::sleep(Duration::from_secs(3));
    let coupons = |hub: &Hub| hub.look(&connection, "/wc/v3/coupons?code=paused").text();
    assert_eq!(coupons(&hub), "[]");
    hub.ask("PATCH", &path, &json!({ "status": "active" }));
    eventually("the coupon is there", PATIENCE, || coupons(&hub) != "[]");
}

/// A store that asked for a minute of silence has it, also when it sends webhooks.
fn left_alone(shop: &ShopClient, proxy: &Proxy) {
    let order = &shop.get("/wc/v3/orders?per_page=1")[0]["id"];
    let before = proxy.passed().len();
    shop.ask("PUT", &format!("/wc/v3/orders/{order}"), &json!({ "customer_note": "Soon?" }));
    thread::sleep(Duration::from_secs(3));
    assert_eq!(proxy.passed().len(), before, "it was asked");
}

/// The rest is copied, and what is missing is named: by its id, or, if not even that can be had, by
/// the request that fails.
#[test]
fn a_record_that_the_store_cannot_give_is_left_out() {
    let shop = shop();
    let proxy = Proxy::start(&shop.running.url);
    let orders = shop.get("/wc/v3/orders?per_page=5&orderby=id&order=asc");
    let poisoned = &orders[3];
    proxy.set(Manner::Poisoned(text(poisoned, "order_key")));
    let hub = Hub::open(Site::sqlite());
    let connection = hub.connect(&shop, &proxy.url);
    eventually("the copy is done but for one", PATIENCE, || {
        hub.state(&connection)["counts"]["skipped"] == 1
    });
    let count = |order: &Value| {
        let found = hub.look(&connection, &format!("/wc/v3/orders?include={}", order["id"]));
        found.json().unwrap().as_array().unwrap().len()
    };
    eventually("the others are there", PATIENCE, || {
        let others = orders.as_array().unwrap().iter().filter(|order| *order != poisoned);
        others.map(count).sum::<usize>() == 4
    });
    assert_eq!(count(poisoned), 0);
    let skipped = hub.state(&connection)["skipped"].clone();
    assert_eq!((&skipped[0]["kind"], &skipped[0]["id"]), (&json!("order"), &poisoned["id"]));
    assert!(text(&skipped[0], "reason").ends_with('.'), "{skipped}");

    let proxy = Proxy::start(&shop.running.url);
    proxy.set(Manner::Hole("/wc/v3/customers", 7));
    let connection = hub.connect(&shop, &proxy.url);
    let live = hub.wait_for(&connection, "live");
    let skipped = &live["skipped"];
    assert_eq!(skipped.as_array().map(Vec::len), Some(1), "{live}");
    let named = "wc/v3/customers?per_page=1&offset=7&";
    assert!(text(&skipped[0], "reason").contains(named), "{skipped}");
    assert_eq!(live["counts"]["orders"], live["counts"]["ordersTotal"], "{live}");
    // Customers that orders refer to are read one by one.
    let path = "/wc/v3/customers?per_page=100&_fields=id";
    let missing = each(&shop.get(path), "id").len();
    let here = hub.look(&connection, path).json().unwrap().as_array().unwrap().len();
    assert!(missing - here <= 1, "{missing} there, {here} here");
}
