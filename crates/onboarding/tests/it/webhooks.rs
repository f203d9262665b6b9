//! Webhooks of an ISO: managed by their owner, signed as Standard Webhooks has it, told of what they
//! want, and given up when they are gone.

use std::time::Duration;

use contract::Failure;
use data_encoding::BASE64;
use db::webhook_delivery::{self, Answer, DeliveryRow, Endpoint, Outcome};
use db::{Conn, outbox};
use frame::signing::hmac_sha256_base64;
use onboarding::dialect::ResponseStyle;
use onboarding::keys::{KEY_LIFE_DEFAULT, KeyLife};
use onboarding::webhooks::send::Attempted;
use onboarding::webhooks::{WebhookSettings, follow, send};
use onboarding::{Caller, Settings};
use serde_json::{Value, json};
use types::{Environment, Kind, Scope, ScopeSet, Timestamp};

use crate::bodies::body;
use crate::support::{House, authenticate, error_lines, master_key, now, open_platform_as};

const LEASE: Duration = Duration::from_secs(1);

/// A call that must succeed.
fn done(house: &House, name: &str, params: Value) -> Value {
    match house.call(name, params).result {
        Ok(body) => serde_json::from_slice(&body).unwrap(),
        Err(failure) => panic!("{name}: {failure:?}"),
    }
}

/// The errors of a call that must be refused.
fn refused(house: &House, name: &str, params: Value) -> Vec<String> {
    match house.call(name, params).result {
        Err(Failure::Issues { issues, .. }) => error_lines(&issues),
        other => panic!("{name}: {other:?}"),
    }
}

fn create(house: &House, events: &[&str]) -> Value {
    let params = json!({ "url": "https://iso.example/in?token=1", "events": events });
    done(house, "webhook_create", params)
}

/// Numbers all events and turns them into deliveries.
fn follow_all(house: &House) {
    let store = &house.platform.store;
    store.write_blocking(|conn| outbox::sequence(conn, 1_000)).unwrap();
    let platform = std::sync::Arc::clone(&house.platform);
    let next = move |conn: &mut dyn Conn| follow::next_step(&platform, conn, now());
    while let Some(step) = store.read_blocking(next.clone()).unwrap() {
        store.write_blocking(move |conn| step.take(conn)).unwrap();
    }
}

fn endpoint(house: &House, webhook: &Value) -> Endpoint {
    onboarding::rows::webhook_endpoint::endpoint(
        &house.iso_id,
        webhook["webhookId"].as_str().unwrap(),
    )
}

fn claim(house: &House, webhook: &Value, at: Timestamp) -> Vec<DeliveryRow> {
    let to = endpoint(house, webhook);
    let claim = move |conn: &mut dyn Conn| webhook_delivery::claim_due(conn, &to, at, 100, LEASE);
    house.platform.store.write_blocking(claim).unwrap()
}

/// Notes and finishes an attempt as the engine does; says how long to wait for the next.
fn finish(
    house: &House,
    claimed: &DeliveryRow,
    attempted: Attempted,
    at: Timestamp,
) -> Option<Duration> {
    let claimed = claimed.clone();
    let finish = move |conn: &mut dyn Conn| {
        let wait = send::record(conn, &claimed, attempted, &WebhookSettings::default(), at)?;
        let outcome = match wait {
            _ if attempted.succeeded => Outcome::Delivered,
            Some(wait) => Outcome::Retry(at.plus(wait)),
            None => Outcome::Failed,
        };
        assert!(webhook_delivery::finish(conn, &claimed, at, outcome, &Answer::default())?);
        Ok(wait)
    };
    house.platform.store.write_blocking(finish).unwrap()
}

fn answered(status: u16) -> Attempted {
    let succeeded = send::is_taken(status);
    Attempted { succeeded, status: Some(status), retry_after: None }
}

fn request(house: &House, delivery: &DeliveryRow, at: Timestamp) -> Option<frame::outbound::Fetch> {
    let (platform, delivery) = (std::sync::Arc::clone(&house.platform), delivery.clone());
    let settings = WebhookSettings::default();
    let request =
        move |conn: &mut dyn Conn| send::request(&platform, conn, &delivery, &settings, at);
    house.platform.store.read_blocking(request).unwrap()
}

fn header<'h>(fetch: &'h frame::outbound::Fetch, name: &str) -> &'h str {
    let mut found = fetch.headers.iter().filter(|(field, _)| field == name);
    let (_, value) = found.next().unwrap_or_else(|| panic!("no {name}"));
    assert!(found.next().is_none(), "{name} twice");
    value
}

#[test]
fn a_webhook_is_made_shown_changed_and_removed() {
    let house = House::new();
    let made = done(
        &house,
        "webhook_create",
        json!({
            "url": "https://iso.example/in", "description": "Books", "events": ["merchant.*"],
            "headers": [{ "name": "X-Token", "value": "open sesame" }],
        }),
    );
    let id = made["webhookId"].clone();
    assert!(made["secret"].as_str().unwrap().starts_with("whsec_"));
    let shown = done(&house, "webhook_get", json!({ "webhookId": id }));
    assert_eq!(
        shown,
        json!({
            "webhookId": id, "url": "https://iso.example/in", "description": "Books",
            "events": ["merchant.*"], "headers": [{ "name": "x-token", "value": "***" }],
            "status": "enabled", "disabledReason": null, "version": 1, "failingSince": null,
            "lastSuccess": null, "oldSecretUntil": null, "created": "2026-11-15T08:00:00Z",
            "updated": "2026-11-15T08:00:00Z",
        })
    );
    let change = json!({ "webhookId": id, "status": "disabled", "headers": [], "events": ["*"] });
    let changed = done(&house, "webhook_update", change);
    assert_eq!((&changed["status"], &changed["version"]), (&json!("disabled"), &json!(2)));
    assert_eq!((&changed["headers"], &changed["events"]), (&json!([]), &json!(["*"])));
    let stale = json!({ "webhookId": id, "description": "Old", "expectedVersion": 1 });
    let errors = refused(&house, "webhook_update", stale);
    assert_eq!(errors, ["conflicting_field expectedVersion"]);
    assert_eq!(done(&house, "webhook_list", json!({}))["data"], json!([changed]));
    let header = json!([{ "name": "X-Token", "value": "sesame" }]);
    done(&house, "webhook_update", json!({ "webhookId": id, "headers": header }));
    let emptied = json!({ "webhookId": id, "clear": ["description", "headers"] });
    let emptied = done(&house, "webhook_update", emptied);
    assert_eq!((&emptied["description"], &emptied["headers"]), (&Value::Null, &json!([])));
    done(&house, "webhook_delete", json!({ "webhookId": id }));
    assert_eq!(house.get("webhook_get", json!({ "webhookId": id })), None);
    let audit = house.get("audit_list", json!({ "object": "webhook" })).unwrap();
    let actions: Vec<&str> =
        audit["data"].as_array().unwrap().iter().map(|e| e["action"].as_str().unwrap()).collect();
    let expected = ["delete", "update", "update", "update", "create"];
    assert_eq!(actions, expected.map(|step| format!("webhook.{step}")));
    assert!(!audit.to_string().contains("sesame"));
}

#[test]
fn another_isos_webhook_is_not_there() {
    let house = House::new();
    let id = create(&house, &["*"])["webhookId"].clone();
    let other = house.caller_of_another_iso();
    for (name, params) in [
        ("webhook_get", json!({ "webhookId": id })),
        ("webhook_update", json!({ "webhookId": id, "status": "disabled" })),
        ("webhook_delete", json!({ "webhookId": id })),
        ("webhook_rotate", json!({ "webhookId": id })),
        ("webhook_test", json!({ "webhookId": id })),
        ("webhook_recover", json!({ "webhookId": id, "since": "2026-11-15T08:00:00Z" })),
        ("delivery_list", json!({ "webhookId": id })),
        ("delivery_get", json!({ "webhookId": id, "deliveryId": "1" })),
        ("delivery_resend", json!({ "webhookId": id, "deliveryId": "1" })),
    ] {
        match house.call_as(&other, name, params.clone()).result {
            Err(Failure::Error(error)) => assert_eq!(error.kind(), Kind::NotFound, "{name}"),
            unexpected => panic!("{name}: {unexpected:?}"),
        }
        for odd in ["", "\u{0}", "é", &"x".repeat(5_000)] {
            let mut params = params.clone();
            params["webhookId"] = json!(odd);
            let found = house.call(name, params).result;
            let is_absent = match &found {
                Err(Failure::Error(error)) => error.kind() == Kind::NotFound,
                Err(Failure::Issues { .. }) => odd.is_empty(),
                _ => false,
            };
            assert!(is_absent, "{name} {odd}: {found:?}");
        }
    }
}

#[test]
fn the_description_lists_what_can_be_chosen() {
    let table = onboarding::endpoints::table();
    for name in ["webhook_create", "webhook_update"] {
        let endpoint = table.endpoints().find(|endpoint| &*endpoint.name == name).unwrap();
        let document = endpoint.params_document().to_string();
        for choice in [r#""*""#, r#""merchant.*""#, r#""merchant.created""#, r#""key.expiring""#] {
            assert!(document.contains(choice), "{name} does not list {choice}");
        }
    }
}

#[test]
fn wrong_choices_are_told() {
    let house = House::new();
    let with = |member: &str, value: Value| {
        let mut params = json!({ "url": "https://iso.example/in" });
        params[member] = value;
        refused(&house, "webhook_create", params)
    };
    for url in [
        "ftp://iso.example/",
        "https://",
        "https://a:b@iso.example/",
        "/relative/path",
        "https://iso.example/\r\nX: y",
    ] {
        assert_eq!(with("url", json!(url)), ["invalid_format url"], "{url}");
    }
    for unknown in ["mer*", "merchant.create", "order.created", "orders.*", "merchant.created.*"] {
        let told = with("events", json!(["tpn.*", unknown]));
        assert_eq!(told, ["invalid_value events[1]"], "{unknown}");
    }
    let id = create(&house, &["merchant.created"])["webhookId"].clone();
    let change = json!({ "webhookId": id, "events": ["merchant.gone"] });
    assert_eq!(refused(&house, "webhook_update", change), ["invalid_value events[0]"]);
    done(&house, "webhook_delete", json!({ "webhookId": id }));
    assert_eq!(with("events", json!([])).len(), 1);
    let reserved = json!([{ "name": "Webhook-Signature", "value": "x" }]);
    assert_eq!(with("headers", reserved), ["invalid_value headers[0].name"]);
    let split = json!([{ "name": "X-A", "value": "a\r\nHost: b" }]);
    assert_eq!(with("headers", split), ["invalid_format headers[0].value"]);
    for _ in 0..10 {
        create(&house, &["*"]);
    }
    let one_more = json!({ "url": "https://iso.example/in" });
    assert_eq!(refused(&house, "webhook_create", one_more), ["limit_exceeded "]);
}

#[test]
fn production_takes_public_https_only() {
    let folder = testkit::temp_dir().unwrap();
    let platform = open_platform_as(
        folder.path(),
        Environment::Production,
        &master_key(),
        Settings::default(),
    );
    let platform = std::sync::Arc::new(platform.unwrap());
    let iso_id = platform.iso_create("ISO", ResponseStyle::Detailed).unwrap();
    let life = KeyLife::For(KEY_LIFE_DEFAULT);
    let key = platform.key_create(&iso_id, "all", ScopeSet::Full, life).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let caller: Caller =
        authenticate(&runtime, &platform, &key, Scope::WebhooksWrite, now()).unwrap();
    let table = onboarding::endpoints::table();
    let endpoint = table.endpoints().find(|e| &*e.name == "webhook_create").unwrap();
    for (url, is_fine) in [
        ("https://hooks.iso-pay.com/in", true),
        ("http://hooks.iso-pay.com/in", false),
        ("https://127.0.0.1/in", false),
        ("https://169.254.169.254/in", false),
        ("https://localhost/in", false),
    ] {
        let cx = onboarding::Cx {
            platform: std::sync::Arc::clone(&platform),
            caller: Some(caller.clone()),
            device: None,
            administrator: None,
            now: now(),
            request_options: onboarding::RequestOptions::default(),
            origin: onboarding::Origin::default(),
        };
        let outcome = runtime.block_on(endpoint.run(json!({ "url": url }), &cx));
        assert_eq!(outcome.result.is_ok(), is_fine, "{url}: {:?}", outcome.result);
    }
}

#[test]
fn events_become_signed_requests() {
    let house = House::new();
    let all = create(&house, &["*"]);
    let tpns = create(&house, &["tpn.created"]);
    let answer = house.onboard(body("full-cknx")).unwrap();
    follow_all(&house);
    let deliveries = claim(&house, &all, now());
    let topics: Vec<&str> = deliveries.iter().map(|one| one.topic.as_str()).collect();
    assert_eq!(topics, ["merchant.created", "store.created", "tpn.created"]);
    assert_eq!(claim(&house, &tpns, now()).len(), 1);
    let fetch = request(&house, &deliveries[0], now()).unwrap();
    assert_eq!(fetch.url.as_str(), "https://iso.example/in?token=1");
    assert_eq!(fetch.timeout, Duration::from_secs(15));
    let listed = house.get("event_list", json!({})).unwrap();
    let sent: Value = serde_json::from_slice(&fetch.body).unwrap();
    assert_eq!(sent, listed["data"][0], "pushed and pulled are the same");
    assert_eq!(sent["data"]["id"], answer["data"]["merchantId"]);
    let id = header(&fetch, "webhook-id");
    assert_eq!(id, sent["id"].as_str().unwrap());
    let timestamp = header(&fetch, "webhook-timestamp");
    assert_eq!(timestamp, (now().as_micros() / 1_000_000).to_string());
    let signature = signature(&all, id, timestamp, &fetch.body);
    assert_eq!(header(&fetch, "webhook-signature"), signature);
}

/// What Standard Webhooks says the signature must be.
fn signature(webhook: &Value, id: &str, timestamp: &str, body: &[u8]) -> String {
    let secret = webhook["secret"].as_str().unwrap().strip_prefix("whsec_").unwrap();
    let key = BASE64.decode(secret.as_bytes()).unwrap();
    assert_eq!(key.len(), 32);
    let message = [format!("{id}.{timestamp}.").as_bytes(), body].concat();
    format!("v1,{}", hmac_sha256_base64(&key, &message).unwrap())
}

#[test]
fn both_secrets_sign_until_the_overlap_ends() {
    let house = House::new();
    let first = create(&house, &["*"]);
    let id = &first["webhookId"];
    let second = done(&house, "webhook_rotate", json!({ "webhookId": id, "overlapHours": 2 }));
    assert_ne!(first["secret"], second["secret"]);
    assert_eq!(second["oldSecretUntil"], "2026-11-15T10:00:00Z");
    house.onboard(body("minimal-cknx")).unwrap();
    follow_all(&house);
    let delivery = claim(&house, &first, now()).remove(0);
    for (hours, count) in [(0, 2), (1, 2), (2, 1)] {
        let at = now().plus(Duration::from_hours(hours));
        let fetch = request(&house, &delivery, at).unwrap();
        let (id, timestamp) = (header(&fetch, "webhook-id"), header(&fetch, "webhook-timestamp"));
        let mut expected: Vec<String> = [&second, &first]
            .iter()
            .map(|webhook| signature(webhook, id, timestamp, &fetch.body))
            .collect();
        expected.truncate(count);
        assert_eq!(header(&fetch, "webhook-signature"), expected.join(" "), "{hours}");
    }
    let at_once = done(&house, "webhook_rotate", json!({ "webhookId": id, "overlapHours": 0 }));
    assert_eq!(at_once["oldSecretUntil"], Value::Null);
}

#[test]
fn who_was_deleted_is_told_no_more() {
    let house = House::new();
    let deleted = create(&house, &["*"]);
    let other = create(&house, &["endpoint.*"]);
    house.onboard(body("minimal-cknx")).unwrap();
    follow_all(&house);
    let deliveries = claim(&house, &deleted, now());
    assert_eq!(finish(&house, &deliveries[0], answered(410), now()), None);
    let shown = done(&house, "webhook_get", json!({ "webhookId": deleted["webhookId"] }));
    assert_eq!(shown["status"], "disabled");
    assert!(shown["disabledReason"].as_str().unwrap().contains("410"));
    assert!(request(&house, &deliveries[1], now()).is_none(), "nothing more is sent");
    follow_all(&house);
    let told = claim(&house, &other, now());
    assert_eq!(told[0].topic, "endpoint.disabled");
    assert_eq!(told[0].lane, deleted["webhookId"].as_str().unwrap());
}

#[test]
fn who_takes_nothing_for_days_is_told_no_more() {
    let house = House::new();
    let webhook = create(&house, &["merchant.created"]);
    let status = || {
        done(&house, "webhook_get", json!({ "webhookId": webhook["webhookId"] }))["status"].clone()
    };
    house.onboard(body("minimal-cknx")).unwrap();
    follow_all(&house);
    let hours = |hours: u64| now().plus(Duration::from_hours(hours));
    let first = claim(&house, &webhook, now()).remove(0);
    assert_eq!(finish(&house, &first, answered(500), now()), Some(Duration::from_secs(5)));
    let second = claim(&house, &webhook, hours(119)).remove(0);
    assert!(finish(&house, &second, answered(500), hours(119)).is_some());
    assert_eq!(status(), "enabled");
    let third = claim(&house, &webhook, hours(120)).remove(0);
    assert_eq!(finish(&house, &third, Attempted::default(), hours(120)), None);
    assert_eq!(status(), "disabled");
}

#[test]
fn a_receiver_may_ask_for_a_pause() {
    let house = House::new();
    let webhook = create(&house, &["merchant.created"]);
    house.onboard(body("minimal-cknx")).unwrap();
    follow_all(&house);
    let asks = |seconds| Some(Duration::from_secs(seconds));
    let mut at = now();
    for (status, retry_after, waits) in [
        (503, asks(90), Some(Duration::from_secs(90))),
        (429, asks(1), Some(Duration::from_mins(1))),
        (500, asks(9_999), Some(Duration::from_mins(5))),
        (503, asks(u64::MAX), Some(Duration::from_hours(24))),
    ] {
        let claimed = claim(&house, &webhook, at).remove(0);
        let attempted = Attempted { retry_after, ..answered(status) };
        assert_eq!(finish(&house, &claimed, attempted, at), waits, "{status}");
        at = at.plus(Duration::from_hours(25));
    }
    let last = claim(&house, &webhook, at).remove(0);
    finish(&house, &last, answered(204), at);
    let list = done(&house, "delivery_list", json!({ "webhookId": webhook["webhookId"] }));
    assert_eq!(list["data"][0]["status"], "delivered");
    let delivery_id = list["data"][0]["deliveryId"].clone();
    let params = json!({ "webhookId": webhook["webhookId"], "deliveryId": delivery_id });
    let shown = done(&house, "delivery_get", params);
    assert_eq!(shown["history"].as_array().unwrap().len(), 5);
    assert_eq!((&shown["attempts"], &shown["nextAttempt"]), (&json!(5), &Value::Null));
}

#[test]
fn what_was_missed_is_sent_again() {
    let house = House::new();
    let webhook = create(&house, &["merchant.created"]);
    let id = webhook["webhookId"].clone();
    house.onboard(body("minimal-cknx")).unwrap();
    follow_all(&house);
    let first = claim(&house, &webhook, now()).remove(0);
    finish(&house, &first, answered(200), now());
    done(&house, "webhook_update", json!({ "webhookId": id, "status": "disabled" }));
    house.onboard(body("minimal-cknx")).unwrap();
    follow_all(&house);
    done(&house, "webhook_update", json!({ "webhookId": id, "status": "enabled" }));
    assert!(claim(&house, &webhook, now()).is_empty(), "it was told nothing meanwhile");
    let recover =
        |since: &str| done(&house, "webhook_recover", json!({ "webhookId": id, "since": since }));
    assert_eq!(recover("2026-11-15T09:00:00Z"), json!({ "enqueued": 0, "next": null }));
    assert_eq!(recover("2026-11-15T08:00:00Z"), json!({ "enqueued": 1, "next": null }));
    assert_eq!(recover("2026-11-15T08:00:00Z"), json!({ "enqueued": 0, "next": null }));
    let missed = claim(&house, &webhook, now()).remove(0);
    assert_ne!(missed.message_id, first.message_id);
    finish(&house, &missed, answered(200), now());
    let again = json!({ "webhookId": id, "deliveryId": first.delivery_id.to_string() });
    done(&house, "delivery_resend", again);
    let resent = claim(&house, &webhook, now()).remove(0);
    assert_eq!((resent.message_id, resent.body), (first.message_id, first.body));
}

#[test]
fn a_test_is_sent_once_whatever_happens() {
    let house = House::new();
    let webhook = create(&house, &["merchant.created"]);
    let id = webhook["webhookId"].clone();
    done(&house, "webhook_update", json!({ "webhookId": id, "status": "disabled" }));
    done(&house, "webhook_test", json!({ "webhookId": id }));
    let test = claim(&house, &webhook, now()).remove(0);
    let fetch = request(&house, &test, now()).expect("sent although it is disabled");
    assert!(header(&fetch, "webhook-id").starts_with("evt_test_"));
    assert_eq!(finish(&house, &test, answered(500), now()), None);
    let list = done(&house, "delivery_list", json!({ "webhookId": id, "status": "failed" }));
    assert_eq!(list["data"][0]["eventType"], "webhook.test");
    let shown = done(&house, "webhook_get", json!({ "webhookId": id }));
    assert_eq!(shown["failingSince"], Value::Null, "a test tells nothing about the webhook");
}
