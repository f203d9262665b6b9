//! Webhooks: made, changed and deleted; and what events become deliveries.

use std::sync::Arc;

use commerce::webhooks::{follow, send};
use db::outbox;
use db::webhook_delivery::{self, DeliveryRow, Outcome};
use serde_json::{Value, json};
use types::{Kind, Role};

use super::support::{ADMIN, NOBODY, TestShop, now};

const WEBHOOKS: &str = "/wc/v3/webhooks";

fn make(shop: &TestShop, topic: &str) -> i64 {
    let body = json!({
        "topic": topic, "delivery_url": "https://hooks.example/in", "secret": "shared",
        "name": "Mine",
    });
    let made = shop.ask("POST", WEBHOOKS, ADMIN, &body);
    assert_eq!(made.status, 201, "{:?}", made.json);
    made.json["id"].as_i64().unwrap()
}

/// Lets the follower take all events.
fn follow_all(shop: &TestShop) {
    shop.write(|conn| outbox::sequence(conn, 1_000).map(drop));
    let site = Arc::clone(&shop.site);
    while let Some(step) = {
        let site = Arc::clone(&site);
        shop.read(move |conn| follow::next_step(&site, conn, now()))
    } {
        shop.write(move |conn| step.take(conn));
    }
}

fn waiting(shop: &TestShop, webhook_id: i64) -> Vec<DeliveryRow> {
    let page = db::filter::Page { offset: 0, limit: 100 };
    let mut deliveries = shop.read(move |conn| {
        let endpoint = shop_rows::webhook::endpoint(webhook_id);
        webhook_delivery::list(conn, &endpoint, &[], page).map(|(rows, _)| rows)
    });
    deliveries.reverse();
    deliveries
}

#[test]
fn a_webhook_is_made_changed_and_deleted() {
    let shop = TestShop::new();
    let id = make(&shop, "Order.created");
    let path = format!("{WEBHOOKS}/{id}");
    let seen = shop.get(&format!("{path}?context=edit"), ADMIN);
    assert!(!seen.json.to_string().contains("shared"), "the secret is told");
    assert_eq!(seen.json["topic"], "order.created");
    assert_eq!(seen.json["hooks"], json!(["woocommerce_new_order"]));
    let changed = shop.ask("PUT", &path, ADMIN, &json!({ "status": "paused", "name": "Ours" }));
    assert_eq!([&changed.json["status"], &changed.json["name"]], ["paused", "Ours"]);
    assert_eq!(shop.get(&format!("{WEBHOOKS}?status=active"), ADMIN).json, json!([]));
    assert_eq!(shop.get(&format!("{WEBHOOKS}?search=our"), ADMIN).each("id"), [json!(id)]);
    let oldest = shop.get(&format!("/wc/v1/webhooks/{id}"), ADMIN).json;
    assert!(oldest.get("date_created_gmt").is_none());
    let refused = shop.ask("DELETE", &path, ADMIN, &Value::Null);
    assert_eq!(refused.refusal(), (400, "woocommerce_rest_trash_not_supported"));
    let deleted = shop.ask("DELETE", &format!("{path}?force=true"), ADMIN, &Value::Null);
    assert_eq!(deleted.status, 200);
    assert_eq!(shop.get(&path, ADMIN).refusal(), (404, "woocommerce_rest_shop_webhook_invalid_id"));
    assert!(waiting(&shop, id).is_empty(), "what waited for it is forgotten");
}

#[test]
fn what_cannot_be_is_refused() {
    let mut shop = TestShop::new();
    shop.user("shopper", Role::Customer);
    let url = "https://hooks.example/";
    for (body, code) in [
        (
            json!({ "topic": "x", "delivery_url": url }),
            "woocommerce_rest_shop_webhook_invalid_topic",
        ),
        (
            json!({ "topic": "", "delivery_url": url }),
            "woocommerce_rest_shop_webhook_invalid_topic",
        ),
        (
            json!({ "topic": "order.created", "delivery_url": "file:///etc/passwd" }),
            "woocommerce_rest_shop_webhook_invalid_delivery_url",
        ),
        (json!({ "topic": "order.created" }), "rest_missing_callback_param"),
        (
            json!({ "topic": "order.created", "delivery_url": url, "status": "on" }),
            "rest_invalid_param",
        ),
    ] {
        assert_eq!(shop.ask("POST", WEBHOOKS, ADMIN, &body).refusal(), (400, code), "{body}");
    }
    for (who, status) in [(NOBODY, 401), ("shopper", 403)] {
        let listed = shop.get(WEBHOOKS, who);
        assert_eq!(listed.refusal(), (status, "woocommerce_rest_cannot_view"));
        let sent = shop.get("/wc/v2/webhooks/1/deliveries", who);
        assert_eq!(sent.refusal(), (status, "woocommerce_rest_cannot_view"));
    }
}

#[test]
fn events_become_deliveries_once_and_in_order() {
    let shop = TestShop::new();
    let created = make(&shop, "customer.created");
    let deleted = make(&shop, "customer.deleted");
    let paused = make(&shop, "customer.created");
    shop.ask("PUT", &format!("{WEBHOOKS}/{paused}"), ADMIN, &json!({ "status": "paused" }));
    let make = |email: &str| {
        let made = shop.ask("POST", "/wc/v3/customers", ADMIN, &json!({ "email": email }));
        made.json["id"].as_i64().unwrap()
    };
    let (ada, bob) = (make("ada@example.test"), make("bob@example.test"));
    shop.ask("DELETE", &format!("/wc/v3/customers/{bob}?force=true"), ADMIN, &Value::Null);
    follow_all(&shop);
    follow_all(&shop);
    let told = waiting(&shop, created);
    let topics: Vec<&str> = told.iter().map(|delivery| delivery.topic.as_str()).collect();
    assert_eq!(topics, ["ping", "customer.created", "customer.created"]);
    let body: Value = serde_json::from_slice(&told[1].body).unwrap();
    assert_eq!((&body["id"], &body["email"]), (&json!(ada), &json!("ada@example.test")));
    assert_eq!(
        body["_links"]["self"][0]["href"],
        format!("https://shop.example/wp-json/wc/v3/customers/{ada}")
    );
    assert_eq!(told[2].body, json!({ "id": bob }).to_string().into_bytes(), "gone meanwhile");
    let told = waiting(&shop, deleted);
    assert_eq!(told.last().unwrap().body, json!({ "id": bob }).to_string().into_bytes());
    assert_eq!(waiting(&shop, paused).len(), 1, "nothing but the ping");
}

#[test]
fn two_followers_never_tell_twice() {
    let shop = TestShop::new();
    make(&shop, "customer.created");
    shop.write(|conn| outbox::sequence(conn, 1_000).map(drop));
    let site = Arc::clone(&shop.site);
    let step = shop.read(move |conn| follow::next_step(&site, conn, now())).unwrap();
    let again = step.clone();
    shop.write(move |conn| step.take(conn));
    let lost = shop.site.store().write_blocking(move |conn| again.take(conn));
    assert_eq!(lost.unwrap_err().kind(), Kind::Conflict);
}

#[test]
fn a_delivery_is_signed_and_a_failing_webhook_is_disabled() {
    let shop = TestShop::new();
    let id = make(&shop, "customer.created");
    let made = shop.ask("POST", "/wc/v3/customers", ADMIN, &json!({ "email": "a@example.test" }));
    assert_eq!(made.status, 201);
    follow_all(&shop);
    let delivery = waiting(&shop, id).pop().unwrap();
    let (site, sent) = (Arc::clone(&shop.site), delivery.clone());
    let request = shop.read(move |conn| send::request(&site, conn, &sent)).unwrap();
    let header = |name: &str| {
        let found = request.headers.iter().find(|(field, _)| field == name);
        found.map(|(_, value)| value.as_str())
    };
    let signature = frame::signing::hmac_sha256_base64(b"shared", &delivery.body).unwrap();
    assert_eq!(header("X-WC-Webhook-Signature"), Some(signature.as_str()));
    assert_eq!(header("X-WC-Webhook-Topic"), Some("customer.created"));
    assert_eq!(header("X-WC-Webhook-Source"), Some("https://shop.example/"));
    assert_eq!(header("X-WC-Webhook-ID"), Some(id.to_string().as_str()));
    assert_eq!(request.url.as_str(), "https://hooks.example/in");
    for attempt in 1..=send::FAILURES_MAX {
        let sent = delivery.clone();
        let goes_on = shop.write(move |conn| send::note(conn, &sent, false, now()));
        assert_eq!(goes_on, attempt < send::FAILURES_MAX);
    }
    let path = format!("{WEBHOOKS}/{id}");
    assert_eq!(shop.get(&path, ADMIN).json["status"], "disabled");
    let (site, sent) = (Arc::clone(&shop.site), delivery.clone());
    assert!(shop.read(move |conn| send::request(&site, conn, &sent)).is_none());
    shop.ask("PUT", &path, ADMIN, &json!({ "status": "active" }));
    let failures = shop.read(move |conn| shop_rows::webhook::get(conn, id)).unwrap().failure_count;
    assert_eq!(failures, 0, "who starts it again starts from nothing");
}

#[test]
fn older_versions_show_what_was_sent() {
    let shop = TestShop::new();
    let id = make(&shop, "order.created");
    shop.write(move |conn| {
        let lease = std::time::Duration::from_mins(1);
        let claimed =
            webhook_delivery::claim_due(conn, &shop_rows::webhook::endpoint(id), now(), 1, lease)?;
        let answer = webhook_delivery::Answer {
            status: Some(200),
            body: "thanks".to_owned(),
            duration: Some(std::time::Duration::from_millis(250)),
        };
        webhook_delivery::finish(conn, &claimed[0], now(), Outcome::Delivered, &answer)
    });
    let path = format!("/wc/v2/webhooks/{id}/deliveries");
    let listed = shop.get(&path, ADMIN);
    let one = &listed.json[0];
    assert_eq!([&one["response_code"], &one["response_body"]], ["200", "thanks"]);
    assert_eq!([&one["duration"], &one["request_body"]], ["0.25000", &*format!("webhook_id={id}")]);
    assert_eq!(shop.get(&format!("{path}/{}", one["id"]), ADMIN).json["id"], one["id"]);
    assert_eq!(shop.get(&format!("{path}/999"), ADMIN).status, 404);
    assert_eq!(shop.get("/wc/v1/webhooks/999/deliveries", ADMIN).status, 404);
}
