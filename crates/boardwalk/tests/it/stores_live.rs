//! Webhooks of a connected store alone, while nobody polls: changes are here within two seconds,
//! whatever comes twice, late or in another order, and webhooks that the store gave up are made
//! good.

use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::connected_stores::{Connection, Hub, assert_same, difference, shop};
use crate::shop_client::{ShopClient, each};
use crate::store_proxy::{Manner, Proxy};
use crate::support::{Site, eventually};

const PATIENCE: Duration = Duration::from_mins(1);
/// From the webhook to the answer.
const VISIBLE_WITHIN: Duration = Duration::from_secs(2);
/// Longer than the test: whatever comes was told by a webhook.
const NEVER_SECONDS: u32 = 86_400;

/// A live connection that is told of changes through a proxy.
struct Told {
    shop: ShopClient,
    hub: Hub,
    way: Proxy,
    connection: Connection,
}

impl Told {
    fn connect() -> Self {
        let (shop, way) = (shop(), Proxy::start(""));
        let hub = Hub::polling(Site::sqlite().set("site.url", &way.url), NEVER_SECONDS);
        way.aim(&hub.running.url);
        let connection = hub.connect(&shop, &shop.running.url);
        hub.wait_for(&connection, "live");
        let made = || shop.get("/wc/v3/webhooks?per_page=100").as_array().map(Vec::len);
        eventually("webhooks are made", PATIENCE, || made() == Some(15));
        assert_same(&shop, &hub, &connection);
        Self { shop, hub, way, connection }
    }

    fn here(&self, path: &str) -> Value {
        self.hub.look(&self.connection, path).json().unwrap()
    }

    /// Changes an order, and returns how long after the webhook that was seen.
    fn seen_after_the_webhook(&self, path: &str, note: &str) -> Duration {
        let before = self.way.passed().len();
        self.shop.ask("PUT", path, &json!({ "customer_note": note }));
        eventually(note, PATIENCE, || self.here(path)["customer_note"] == note);
        let seen = Instant::now();
        // Somebody may have looked at the store before it came.
        eventually("a webhook came", PATIENCE, || self.way.passed().len() > before);
        let told = self.way.passed()[before..].iter().map(|passed| passed.at).min();
        told.map(|told| seen.saturating_duration_since(told)).unwrap_or_default()
    }
}

#[test]
fn webhooks_alone_bring_every_change_in_time() {
    let told = Told::connect();
    let (shop, order) = (&told.shop, &told.shop.get("/wc/v3/orders?per_page=1")[0]["id"]);
    let path = format!("/wc/v3/orders/{order}");
    let mut times: Vec<Duration> =
        ["first", "second", "third"].map(|note| told.seen_after_the_webhook(&path, note)).into();
    times.sort_unstable();
    assert!(times[1] <= VISIBLE_WITHIN, "{times:?}");

    // Of every kind, and deletions with what is below.
    let variable = &shop.get("/wc/v3/products?type=variable&per_page=1")[0];
    let variation = &variable["variations"][0];
    let below = format!("/wc/v3/products/{}/variations/{variation}", variable["id"]);
    shop.ask("DELETE", &format!("{below}?force=true"), &Value::Null);
    let customer = &shop.get("/wc/v3/customers?per_page=1")[0]["id"];
    shop.ask("PUT", &format!("/wc/v3/customers/{customer}"), &json!({ "first_name": "Ada" }));
    let coupon = &shop.get("/wc/v3/coupons?per_page=1")[0]["id"];
    shop.ask("DELETE", &format!("/wc/v3/coupons/{coupon}?force=true"), &Value::Null);
    let trashed = &shop.get("/wc/v3/orders?per_page=2")[1]["id"];
    shop.ask("DELETE", &format!("/wc/v3/orders/{trashed}"), &Value::Null);
    let product = &shop.get("/wc/v3/products?type=simple&per_page=1")[0];
    let words = json!({ "name": "Anew", "meta_data": [{ "key": "shelf", "value": "7" }] });
    shop.ask("PUT", &format!("/wc/v3/products/{}", product["id"]), &words);
    assert_same(shop, &told.hub, &told.connection);
    assert_eq!(told.hub.look(&told.connection, &below).status, 404);
}

#[test]
fn webhooks_may_come_twice_late_and_in_any_order() {
    let told = Told::connect();
    let (shop, orders) = (&told.shop, told.shop.get("/wc/v3/orders?per_page=3"));
    let orders = each(&orders, "id");
    told.way.set(Manner::Shuffled);
    for round in 0..12 {
        let path = format!("/wc/v3/orders/{}", orders[round % 3]);
        let status = ["processing", "completed", "on-hold", "cancelled"][round % 4];
        shop.ask("PUT", &path, &json!({ "status": status, "customer_note": round.to_string() }));
    }
    assert_same(shop, &told.hub, &told.connection);

    // An old version that is delivered once more does not win; what is not signed is refused.
    let order = orders[0].to_string();
    let passed = told.way.passed();
    let of_order = |head: &str| head.to_lowercase().contains("x-wc-webhook-topic: order.updated");
    let old = passed.iter().find(|passed| of_order(&passed.head())).expect("an order was told of");
    assert!(old.send_again(&told.hub.running.url).contains(" 200 "));
    let forged = old.with_body(r#"{"id":1}"#);
    assert!(forged.send_again(&told.hub.running.url).contains(" 403 "));
    thread::sleep(VISIBLE_WITHIN);
    assert_eq!(difference(shop, &told.hub, &told.connection), None, "{order}");
}

/// A store that could not deliver disables its webhooks, and people remove them.
#[test]
fn webhooks_that_the_store_gave_up_are_made_good() {
    let told = Told::connect();
    let shop = &told.shop;
    let hooks = each(&shop.get("/wc/v3/webhooks?per_page=100"), "id");
    for hook in &hooks[..10] {
        let disabled = json!({ "status": "disabled" });
        shop.ask("PUT", &format!("/wc/v3/webhooks/{hook}"), &disabled);
    }
    shop.ask("DELETE", &format!("/wc/v3/webhooks/{}?force=true", hooks[12]), &Value::Null);
    let foreign = json!({ "topic": "order.created", "delivery_url": "https://other.example/" });
    let foreign = shop.ask("POST", "/wc/v3/webhooks", &foreign);
    // Looks at the store now.
    told.hub.change(&told.connection, &json!({ "status": "active" }));
    let states = || {
        let hooks = shop.get("/wc/v3/webhooks?per_page=100");
        let hooks = hooks.as_array().unwrap().clone();
        hooks.into_iter().filter(|hook| hook["id"] != foreign["id"]).collect::<Vec<_>>()
    };
    eventually("all of them are active", PATIENCE, || {
        states().iter().filter(|hook| hook["status"] == "active").count() == 15
    });
    let mut topics = each(&Value::Array(states()), "topic");
    topics.sort_by_key(Value::to_string);
    topics.dedup();
    assert_eq!(topics.len(), 15, "each once");
    let order = &shop.get("/wc/v3/orders?per_page=1")[0]["id"];
    told.seen_after_the_webhook(&format!("/wc/v3/orders/{order}"), "again");
    // What is disconnected takes its own away, and nobody else's.
    told.hub.ask("DELETE", &format!("/v1/connections/{}", told.connection.id), &Value::Null);
    let left = || each(&shop.get("/wc/v3/webhooks?per_page=100"), "id");
    eventually("ours are removed", PATIENCE, || left() == [foreign["id"].clone()]);
}
