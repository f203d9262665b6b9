//! The sandbox's extras over HTTP, that production has none of them, and limits of one ISO.

use std::time::Duration;

use serde_json::{Value, json};
use testkit::http::{self, Request, Response};
use testkit::process;

use crate::support::{Running, Site, authorization, basic, body, eventually, text};

const PATIENCE: Duration = Duration::from_mins(1);

fn post(running: &Running, path: &str, key: &str, body: &Value) -> Response {
    http::post(&running.url, path, &[("Authorization", &authorization(key))], body).unwrap()
}

#[track_caller]
fn done(answer: &Response) -> Value {
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json().unwrap()
}

#[test]
fn webhooks_can_be_sent_to_the_catcher() {
    let site = Site::sqlite().set("server.webhooks.retry_seconds", "[1]");
    let key = site.key(&site.iso("Rehearsing"));
    let running = site.serve();
    let caught = |key: &str| done(&running.get("/v1/sandbox/webhooks", key));
    let url = text(&caught(&key), "url");
    assert!(url.starts_with(&running.url), "{url}");
    let webhook = json!({ "url": url, "events": ["merchant.*"] });
    done(&post(&running, "/v1/webhooks", &key, &webhook));
    let failing = json!({ "url": format!("{url}?status=503"), "events": ["tpn.created"] });
    done(&post(&running, "/v1/webhooks", &key, &failing));
    done(&running.onboard(&key, &body("Caught")));
    eventually("three deliveries", PATIENCE, || {
        caught(&key)["data"].as_array().unwrap().len() == 3
    });
    let data = caught(&key)["data"].clone();
    let of_status = |status: i64| {
        let all = data.as_array().unwrap().iter().filter(move |one| one["status"] == status);
        all.cloned().collect::<Vec<Value>>()
    };
    let (taken, refused) = (of_status(200), of_status(503));
    assert_eq!((taken.len(), refused.len()), (1, 2), "a refused one is tried again");
    let sent: Value = serde_json::from_str(taken[0]["body"].as_str().unwrap()).unwrap();
    assert_eq!(sent["type"], "merchant.created");
    for header in ["webhook-id", "webhook-timestamp", "webhook-signature"] {
        assert!(taken[0]["headers"][header].is_string(), "{header}: {}", taken[0]);
    }
    let other = site.key(&site.iso("Other"));
    assert_eq!(caught(&other)["data"], json!([]));
    let clear = Request::new("DELETE", "/v1/sandbox/webhooks")
        .header("Authorization", &authorization(&key));
    assert_eq!(done(&http::send(&running.url, &clear).unwrap()), json!({ "cleared": 3 }));
    assert_eq!(caught(&key)["data"], json!([]));
}

#[test]
fn a_webhook_of_the_shop_can_be_sent_to_the_catcher() {
    let site = Site::sqlite();
    let key = site.key(&site.iso("Rehearsing"));
    let boss = ["user", "create", "--login", "boss", "--email", "boss@site.example"];
    let made =
        site.command(&[&boss[..], &["--role", "administrator", "--password-stdin"]].concat());
    let made = process::run_command(made, b"the boss's password\n").unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let password = site.json(&["user", "app-password", "--login", "boss", "--name", "Tests"]);
    let boss = basic(&format!("boss:{}", text(&password, "password")));
    let running = site.serve();
    let caught = || done(&running.get("/v1/sandbox/webhooks", &key));
    let url = text(&caught(), "url");
    let ask = |path: &str, body: &Value| {
        http::post(&running.url, path, &[("Authorization", &boss)], body).unwrap()
    };
    let webhook = |url: &str| json!({ "topic": "product.created", "delivery_url": url });
    let elsewhere = ask("/wp-json/wc/v3/webhooks", &webhook("http://127.0.0.1:1/"));
    assert_eq!(elsewhere.status, 400, "{}", elsewhere.text());
    let forged = ask("/wp-json/wc/v3/webhooks", &webhook(&format!("{url}0")));
    assert_eq!(forged.status, 400, "{}", forged.text());
    let made = ask("/wp-json/wc/v3/webhooks", &webhook(&url));
    assert_eq!(made.status, 201, "{}", made.text());
    assert_eq!(ask("/wp-json/wc/v3/products", &json!({ "name": "Mug" })).status, 201);
    eventually("the delivery", PATIENCE, || {
        let data = caught()["data"].clone();
        data.as_array().unwrap().iter().any(|one| text(one, "body").contains("Mug"))
    });
}

#[test]
fn the_clock_of_an_iso_moves_its_requests() {
    let site = Site::sqlite();
    let key = site.key(&site.iso("Ahead"));
    let running = site.serve();
    let made = done(&running.onboard(&key, &body("SBX REVIEW Pier")));
    let path = format!("/v1/merchants/{}", text(&made["data"], "merchantId"));
    let shown = done(&running.get(&path, &key));
    assert_eq!(shown["status"], "in_review");
    done(&post(&running, "/v1/sandbox/clock", &key, &json!({ "advanceSeconds": 86_400 })));
    let moved = done(&running.get(&path, &key));
    assert_eq!(moved["status"], "active", "{moved}");
    let later = done(&running.onboard(&key, &body("Tomorrow")));
    let later = format!("/v1/merchants/{}", text(&later["data"], "merchantId"));
    let later = text(&done(&running.get(&later, &key)), "created");
    assert!(later > text(&shown, "created") && later[..10] != text(&shown, "created")[..10]);
    let reset = done(&post(&running, "/v1/sandbox/reset", &key, &json!({})));
    assert_eq!(reset["merchants"], 2);
    assert_eq!(done(&running.get("/v1/sandbox/clock", &key))["aheadSeconds"], 0);
    assert_eq!(running.get(&path, &key).status, 404);
}

#[test]
fn production_has_none_of_it() {
    let site = Site::sqlite();
    let key = site.production_key();
    let command = [
        "serve",
        "--environment",
        "production",
        "--listen",
        "127.0.0.1:0",
        "--admin-listen",
        "127.0.0.1:0",
    ];
    let server = process::Server::start_command(site.command(&command), &["production"]).unwrap();
    let url = server.url("production").to_owned();
    let running = Running { server, url };
    let routes = onboarding::endpoints::table();
    let mut tried = 0;
    for route in routes.endpoints().map(contract::Compiled::route) {
        if !route.path.starts_with("/v1/sandbox/") {
            continue;
        }
        let path = route.path.replace("{code}", "ABCD2345");
        let mut request =
            Request::new(route.method.name(), &path).header("Authorization", &authorization(&key));
        if route.method.has_body() {
            let body = json!({ "advanceSeconds": 60 }).to_string();
            request = request.header("Content-Type", "application/json").body(body);
        }
        let answer = http::send(&running.url, &request).unwrap();
        assert_eq!(answer.status, 404, "{route:?}: {}", answer.text());
        assert!(answer.text().contains("route_not_found"), "{}", answer.text());
        tried += 1;
    }
    assert!(tried >= 7, "only {tried} routes of the sandbox");
}

#[test]
fn an_iso_may_have_a_rate_of_its_own() {
    let site = Site::sqlite().set("server.rate_limits.enabled", true);
    let (slow, usual) = (site.iso("Slow"), site.iso("Usual"));
    let limited = site.json(&["iso", "limit", &slow, "requests=1", "merchants=1"]);
    assert_eq!(limited["limits"]["requests"], 1);
    let (slow, usual) = (site.key(&slow), site.key(&usual));
    let running = site.serve();
    let statuses = |key: &str| -> Vec<u16> {
        (0..6).map(|_| running.get("/v1/merchants", key).status).collect()
    };
    assert!(statuses(&slow).contains(&429));
    assert!(!statuses(&usual).contains(&429));
}
