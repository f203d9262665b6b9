//! A marketplace of the test's own, walked through on both engines: connect, subscribe, install,
//! activate, expire, disconnect. Then the bundled one, and the feed of the catalogue.

use std::time::Duration;

use serde_json::{Value, json};
use testkit::http;

use crate::far_host::EXEMPT;
use crate::shop_client::{ShopClient, each};
use crate::support::{Site, eventually};
use crate::test_market::{KEY, TestMarket};

const PATIENCE: Duration = Duration::from_mins(1);
on_both_engines!(a_marketplace_is_walked_through);

fn a_marketplace_is_walked_through(site: Site) {
    let market = TestMarket::start();
    let (exempt, hosts) = EXEMPT;
    let site = site.set("admin.marketplace_url", &market.url).set(exempt, hosts);
    let client = ShopClient::open(site);
    let post = |path: &str, body: &Value| client.send("POST", path, body);
    let listed = || client.get("/wc/v3/marketplace/subscriptions");
    let key = json!({ "product_key": KEY });
    let install = || {
        let told = client.ask("POST", "/wc-admin/plugins/install", &json!({ "plugins": "bought" }));
        told["data"]["installed"].clone()
    };
    assert_eq!(listed(), json!([]));
    assert_eq!(client.get("/wc/v3/marketplace/featured")[0]["title"], json!("From afar"));
    let alone = post("/wc/v3/marketplace/create-order", &json!({ "product_id": 31 }));
    let code = alone.json().unwrap()["code"].clone();
    assert_eq!((alone.status, code), (400, json!("could-not-install")), "nobody would pay");
    connect(&client);

    assert_eq!(listed(), json!([]), "nothing was bought yet");
    let text = post("/wc/v3/marketplace/create-order", &json!({ "product_id": "31" }));
    assert_eq!(text.status, 400, "a number as a text is none");
    let order = post("/wc/v3/marketplace/create-order", &json!({ "product_id": 31 }));
    assert_eq!((order.status, order.json().unwrap()["order_id"].clone()), (201, json!(9)));
    let refreshed = client.ask("POST", "/wc/v3/marketplace/refresh", &json!({}));
    assert_eq!(each(&refreshed, "product_key"), [json!(KEY)], "what is broken is dropped");
    assert_eq!(refreshed[0]["subscription_available"], json!(true));
    let unknown = post("/wc/v3/marketplace/subscriptions/connect", &json!({ "product_key": "x" }));
    assert_eq!((unknown.status, &unknown.json().unwrap()["success"]), (400, &json!(false)));
    assert_eq!(install(), json!([]), "it is not used on this site yet");
    let used = post("/wc/v3/marketplace/subscriptions/connect", &key);
    assert_eq!((used.status, &used.json().unwrap()["success"]), (200, &json!(true)));
    assert_eq!(listed()[0]["active"], json!(true));
    let url =
        client.get(&format!("/wc/v3/marketplace/subscriptions/install-url?product_key={KEY}"));
    let url = url["data"]["url"].as_str().unwrap().to_owned();
    assert!(url.contains("product-key=key-1&token=token&signature="), "{url}");

    let early = post("/wc/v3/marketplace/subscriptions/activate", &key);
    assert_eq!(early.status, 400, "it is not installed");
    assert_eq!(install(), json!(["bought"]));
    let active = post("/wc/v3/marketplace/subscriptions/activate", &key);
    assert_eq!(active.status, 200, "{active:?}");
    assert_eq!(listed()[0]["local"]["active"], json!(true));
    let preview = client.get("/wc/v1/marketplace/product-preview?product_id=31");
    assert_eq!(preview["html"], json!("<p>From afar</p>"));

    market.control("expire");
    client.ask("POST", "/wc/v3/marketplace/refresh", &json!({}));
    assert_eq!(listed()[0]["expired"], json!(true));
    client.ask("DELETE", "/boardwalk/v1/connections/marketplace", &json!({}));
    let alone = listed()[0].clone();
    let shown = (&alone["product_key"], &alone["expired"], &alone["local"]["slug"]);
    assert_eq!(shown, (&json!(""), &json!(true), &json!("bought")), "nobody pays for it");
    client.ask("POST", "/wc-admin/plugins/request-wccom-connect", &json!({}));
    let granted = json!({ "request_token": "granted" });
    client.ask("POST", "/wc-admin/plugins/finish-wccom-connect", &granted);
    assert_eq!(each(&listed(), "product_key"), [json!(KEY)]);
    client.ask("DELETE", "/boardwalk/v1/plugins/bought", &json!({}));
    assert_eq!(install(), json!([]), "what has expired is not installed again");
    client.ask("POST", "/wc/v3/marketplace/subscriptions/disconnect", &key);
    assert_eq!(listed()[0]["active"], json!(false));
    let refused = post("/wc/v3/marketplace/subscriptions/connect", &key);
    assert_eq!(refused.status, 403);
    assert_eq!(refused.json().unwrap()["data"]["code"], json!("expired"));
    errors_are_verified(&client, &market);
    client.ask("DELETE", "/boardwalk/v1/connections/marketplace", &json!({}));
    assert_eq!(listed(), json!([]));
    let known = market.known();
    let secretive =
        |(path, bearer): &&(String, String)| path.starts_with("subscriptions") && bearer.is_empty();
    assert!(!known.asked.iter().any(|asked| secretive(&asked)), "{:?}", known.asked);
}

/// Leaves for the marketplace, and comes back with what it granted.
fn connect(client: &ShopClient) {
    let action = client.ask("POST", "/wc-admin/plugins/request-wccom-connect", &json!({}));
    let url = action["connectAction"].as_str().unwrap().to_owned();
    assert!(url.contains("/market/oauth/authorize?") && url.contains("secret=s3cret"), "{url}");
    let state = action["state"].as_str().unwrap().to_owned();
    let finish = |body: &Value| {
        let answer = client.send("POST", "/wc-admin/plugins/finish-wccom-connect", body);
        (answer.status, answer.json().unwrap())
    };
    let with = |token: &str, state: &str| {
        let (status, body) = finish(&json!({ "request_token": token, "state": state }));
        (status, body["code"].clone())
    };
    let refused = (400, json!("woocommerce_rest_helper_connect"));
    let forged = format!("{state}0");
    for (token, state) in [("granted", &*forged), ("granted", "x.y"), ("wrong", &*state)] {
        assert_eq!(with(token, state), refused);
    }
    let connections = || client.get("/boardwalk/v1/connections")["connections"][0].clone();
    assert_eq!(connections()["is_connected"], json!(false));
    let by_key = json!({ "service": "marketplace", "state": state, "code": "mine" });
    let planted = client.send("POST", "/boardwalk/v1/connections/marketplace", &by_key);
    assert_eq!(planted.status, 400, "its token is fetched, and not brought along");
    assert_eq!(finish(&json!({ "request_token": "granted" })), (200, json!({ "success": true })));
    assert_eq!(connections()["is_connected"], json!(true));
    assert_eq!(with("granted", &state), refused, "a state works once");
    assert_eq!(finish(&json!({ "request_token": "granted" })).0, 400, "and so does leaving");
    let again = client.ask("POST", "/wc-admin/plugins/request-wccom-connect", &json!({}));
    let state = again["state"].as_str().unwrap();
    assert_eq!(with("granted", state), (200, Value::Null), "who knows the state may send it");
}

/// A token that the marketplace forgot is noted; who knows the nonce says that it was them.
fn errors_are_verified(client: &ShopClient, market: &TestMarket) {
    market.control("forget");
    let refused = client.send("POST", "/wc/v3/marketplace/refresh", &json!({}));
    assert_eq!(refused.status, 401);
    client.send("POST", "/wc/v3/marketplace/refresh", &json!({}));
    let told = market.control("remember")["nonces"].clone();
    let [nonce] = told.as_array().unwrap().as_slice() else { panic!("told once: {told}") };
    let nonce = nonce.as_str().unwrap();
    let verify = |nonce: &str| {
        client.ask("POST", "/jetpack/v4/verify_xmlrpc_error", &json!({ "nonce": nonce }))
    };
    assert_eq!(
        (verify("other"), verify(nonce), verify(nonce)),
        (json!(false), json!(true), json!(false))
    );
    let errors = client.get("/boardwalk/v1/connections")["errors"].clone();
    assert_eq!(each(&errors, "code"), [json!("unknown_token")]);
}

on_both_engines!(the_bundled_marketplace_and_the_feed_work);

fn the_bundled_marketplace_and_the_feed_work(site: Site) {
    let client = ShopClient::open(site);
    let action = client.ask("POST", "/wc-admin/plugins/request-wccom-connect", &json!({}));
    let url = action["connectAction"].as_str().unwrap().to_owned();
    let token = url.split("request_token=").nth(1).unwrap().to_owned();
    let body = json!({ "request_token": token });
    client.ask("POST", "/wc-admin/plugins/finish-wccom-connect", &body);
    let listed = || client.get("/wc/v3/marketplace/subscriptions");
    let slugs = [json!("ledger"), json!("letters"), json!("parcels")];
    assert_eq!(each(&listed(), "product_slug"), slugs);
    let key = json!({ "product_key": listed()[0]["product_key"] });
    client.ask("POST", "/wc/v3/marketplace/subscriptions/connect", &key);
    assert_eq!(each(&listed(), "active"), [json!(true), json!(false), json!(false)]);

    let figures = client.get("/jetpack/v4/heartbeat/data?prefix=x-");
    assert!(figures.as_object().unwrap().keys().all(|name| name.starts_with("x-")), "{figures}");
    assert_eq!(figures["x-marketplace-connected"], json!(true));
    assert!(figures["x-orders"].as_i64().unwrap() > 0, "{figures}");
    feeds_are_written(&client);
}

fn feeds_are_written(client: &ShopClient) {
    let create = |body: &Value| client.ask("POST", "/wc/pos/v1/catalog/create", body);
    let chosen = json!({ "_product_fields": "name, id", "_variation_fields": "id" });
    let first = create(&chosen);
    assert_eq!((&first["state"], &first["total"]), (&json!("scheduled"), &json!(-1)));
    eventually("the feed is there", PATIENCE, || create(&chosen)["state"] == json!("completed"));
    let done = create(&chosen);
    assert_eq!(done["progress"], json!(100));
    assert_eq!(done["args"]["_product_fields"], json!("id,name"));
    let url = done["url"].as_str().unwrap().to_owned();
    let path = url.strip_prefix(&client.running.url).unwrap_or(&url).to_owned();
    let file = http::get(&client.running.url, &path, &[]).unwrap();
    let entries = file.json().unwrap();
    let entries = entries.as_array().unwrap();
    assert_eq!(json!(entries.len()), done["processed"]);
    let products = entries.iter().filter(|entry| entry["type"] != json!("variation"));
    for entry in products {
        let names: Vec<&String> = entry["data"].as_object().unwrap().keys().collect();
        assert_eq!(names, ["id", "name"], "{entry}");
    }
    let other = create(&json!({}));
    assert_eq!(other["state"], json!("scheduled"), "another choice is another feed");
    assert_eq!(other["args"], json!([]));
    let again =
        create(&json!({ "force": true, "_product_fields": "id,name", "_variation_fields": "id" }));
    assert_eq!(again["state"], json!("scheduled"));
    let deleted = http::get(&client.running.url, &path, &[]).unwrap();
    assert_eq!(deleted.status, 404, "the old file is gone");
    eventually("the whole feed is there", PATIENCE, || {
        create(&json!({}))["state"] == json!("completed")
    });
    let whole = create(&json!({}))["url"].as_str().unwrap().to_owned();
    let path = whole.strip_prefix(&client.running.url).unwrap_or(&whole).to_owned();
    let entries = http::get(&client.running.url, &path, &[]).unwrap().json().unwrap();
    assert!(entries[0]["data"]["price"].is_string(), "{}", entries[0]);
}
