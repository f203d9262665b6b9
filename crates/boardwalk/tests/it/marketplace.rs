//! A marketplace of the test's own, walked through on both engines: connect, subscribe, install,
//! activate, expire, disconnect. Then the bundled one, and the feed of the catalogue.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;
use std::time::Duration;

use admin::package::{Files, pack};
use serde_json::{Value, json};
use testkit::http;

use crate::shop_desk::{ShopDesk, each};
use crate::support::{Site, eventually};

const PATIENCE: Duration = Duration::from_mins(1);
const KEY: &str = "key-1";
const SITE_ID: i64 = 77;
/// Long past, and far ahead.
const PAST: i64 = 1_000_000_000;
const FUTURE: i64 = 4_000_000_000;

/// What the marketplace knows.
#[derive(Default)]
struct Known {
    is_bought: bool,
    /// The sites that make use of it.
    connections: Vec<i64>,
    is_expired: bool,
    /// What was asked, and with which credentials.
    asked: Vec<(String, String)>,
    forgets_token: bool,
}

/// A marketplace on loopback.
#[derive(Clone)]
struct TestMarket {
    url: String,
    known: Arc<Mutex<Known>>,
}

impl TestMarket {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/market", listener.local_addr().unwrap());
        let market = Self { url, known: Arc::default() };
        let served = market.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                served.serve(stream);
            }
        });
        market
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap()
    }

    /// One request per connection.
    fn serve(&self, mut stream: TcpStream) {
        let mut bytes = Vec::new();
        let mut buffer = [0; 4096];
        let (head, body) = loop {
            let Ok(count @ 1..) = stream.read(&mut buffer) else { return };
            bytes.extend_from_slice(&buffer[..count]);
            let text = String::from_utf8_lossy(&bytes).into_owned();
            let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
            let length = head.lines().find_map(|line| {
                line.to_ascii_lowercase().strip_prefix("content-length: ").map(str::to_owned)
            });
            let length: usize = length.map_or(0, |length| length.parse().unwrap());
            if body.len() >= length {
                break (head.to_owned(), body.to_owned());
            }
        };
        let mut words = head.split(' ');
        let (_, path) = (words.next(), words.next().unwrap_or_default().to_owned());
        let bearer = head.lines().find_map(|line| line.strip_prefix("authorization: "));
        let bearer =
            bearer.or_else(|| head.lines().find_map(|line| line.strip_prefix("Authorization: ")));
        let bearer = bearer.unwrap_or_default().to_owned();
        let asked: Value = serde_json::from_str(&body).unwrap_or_default();
        let (status, content) = self.answer(&path, &bearer, &asked);
        let head = format!(
            "HTTP/1.1 {status} Told\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
            content.len()
        );
        let _ = stream.write_all(head.as_bytes());
        let _ = stream.write_all(&content);
    }

    fn answer(&self, path: &str, bearer: &str, body: &Value) -> (u16, Vec<u8>) {
        let mut known = self.known();
        let path = path.strip_prefix("/market/").unwrap_or(path);
        known.asked.push((path.to_owned(), bearer.to_owned()));
        let is_site = bearer == "Bearer token" && !known.forgets_token;
        let json = |status: u16, value: Value| (status, value.to_string().into_bytes());
        match path.split('?').next().unwrap_or_default() {
            "featured" => json(200, json!([{ "title": "From afar", "items": [] }])),
            "oauth/request_token" => json(200, json!({ "secret": "s3cret" })),
            "oauth/access_token" if body["request_token"] == json!("granted") => json(
                200,
                json!({
                    "access_token": "token", "access_token_secret": "hidden",
                    "site_id": SITE_ID, "user_id": 5,
                }),
            ),
            "oauth/access_token" => json(403, json!({ "message": "Not granted." })),
            _ if !is_site => json(401, json!({ "message": "Who are you?" })),
            "orders" => {
                known.is_bought = true;
                json(201, json!({ "order_id": 9, "checkout_url": "https://pay.example/9" }))
            }
            "subscriptions" => json(200, Value::Array(subscriptions(&known))),
            "subscriptions/activate" if known.is_expired => {
                let data = json!({ "status": 403, "sites": [] });
                json(403, json!({ "code": "expired", "message": "It has expired.", "data": data }))
            }
            "subscriptions/activate" => {
                known.connections = vec![SITE_ID];
                json(200, json!({ "success": true }))
            }
            "subscriptions/deactivate" => {
                known.connections.clear();
                json(200, json!({ "success": true }))
            }
            "packages/bought.zip" => (200, archive()),
            "products/31/preview" => {
                let html = "<p onclick=\"x()\">Fine</p><script>x()</script>";
                json(200, json!({ "css": "p{color:red}", "html": html }))
            }
            _ => json(404, json!({ "message": "There is nothing there." })),
        }
    }
}

fn subscriptions(known: &Known) -> Vec<Value> {
    if !known.is_bought {
        return Vec::new();
    }
    vec![
        json!({
            "product_key": KEY, "product_id": 31, "product_name": "Bought",
            "product_slug": "bought", "zip_slug": "bought", "product_type": "plugin",
            "connections": known.connections, "expires": if known.is_expired { PAST } else { FUTURE },
            "lifetime": false, "autorenew": false, "sites_max": 1, "sites_active": 0,
            "version": "1.0.0",
        }),
        json!({ "product_key": "broken", "product_id": 0 }),
    ]
}

fn archive() -> Vec<u8> {
    let manifest = r#"{"slug": "bought", "name": "Bought", "version": "1.0.0"}"#;
    let files: Files = [(String::from("plugin.json"), manifest.into())].into();
    pack(&files, None).unwrap()
}

#[test]
fn a_marketplace_is_walked_through_on_sqlite() {
    walk(Site::sqlite());
}

#[test]
fn a_marketplace_is_walked_through_on_postgres() {
    walk(Site::postgres());
}

fn walk(site: Site) {
    let market = TestMarket::start();
    let site = site
        .set("admin.marketplace_url", &market.url)
        .set("server.outbound.exempt", r#"["127.0.0.0/8"]"#);
    let desk = ShopDesk::open(site);
    let post = |path: &str, body: &Value| desk.send("POST", path, body);
    let listed = || desk.get("/wc/v3/marketplace/subscriptions");
    let key = json!({ "product_key": KEY });
    let install = || {
        let told = desk.ask("POST", "/wc-admin/plugins/install", &json!({ "plugins": "bought" }));
        told["data"]["installed"].clone()
    };
    assert_eq!(listed(), json!([]));
    assert_eq!(desk.get("/wc/v3/marketplace/featured")[0]["title"], json!("From afar"));
    connect(&desk);

    assert_eq!(listed(), json!([]), "nothing was bought yet");
    let text = post("/wc/v3/marketplace/create-order", &json!({ "product_id": "31" }));
    assert_eq!(text.status, 400, "a number as a text is none");
    let order = post("/wc/v3/marketplace/create-order", &json!({ "product_id": 31 }));
    assert_eq!((order.status, order.json().unwrap()["order_id"].clone()), (201, json!(9)));
    let refreshed = desk.ask("POST", "/wc/v3/marketplace/refresh", &json!({}));
    assert_eq!(each(&refreshed, "product_key"), [json!(KEY)], "what is broken is dropped");
    assert_eq!(refreshed[0]["subscription_available"], json!(true));
    let unknown = post("/wc/v3/marketplace/subscriptions/connect", &json!({ "product_key": "x" }));
    assert_eq!((unknown.status, &unknown.json().unwrap()["success"]), (400, &json!(false)));
    assert_eq!(install(), json!([]), "it is not used on this site yet");
    let used = post("/wc/v3/marketplace/subscriptions/connect", &key);
    assert_eq!((used.status, &used.json().unwrap()["success"]), (200, &json!(true)));
    assert_eq!(listed()[0]["active"], json!(true));
    let url = desk.get(&format!("/wc/v3/marketplace/subscriptions/install-url?product_key={KEY}"));
    let url = url["data"]["url"].as_str().unwrap().to_owned();
    assert!(url.contains("product-key=key-1&token=token&signature="), "{url}");

    let early = post("/wc/v3/marketplace/subscriptions/activate", &key);
    assert_eq!(early.status, 400, "it is not installed");
    assert_eq!(install(), json!(["bought"]));
    let active = post("/wc/v3/marketplace/subscriptions/activate", &key);
    assert_eq!(active.status, 200, "{active:?}");
    assert_eq!(listed()[0]["local"]["active"], json!(true));
    let preview = desk.get("/wc/v1/marketplace/product-preview?product_id=31");
    assert_eq!(preview["html"], json!("<p>Fine</p>"));

    market.known().is_expired = true;
    desk.ask("POST", "/wc/v3/marketplace/refresh", &json!({}));
    assert_eq!(listed()[0]["expired"], json!(true));
    desk.ask("DELETE", "/boardwalk/v1/plugins/bought", &json!({}));
    assert_eq!(install(), json!([]), "what has expired is not installed again");
    desk.ask("POST", "/wc/v3/marketplace/subscriptions/disconnect", &key);
    assert_eq!(listed()[0]["active"], json!(false));
    let refused = post("/wc/v3/marketplace/subscriptions/connect", &key);
    assert_eq!(refused.status, 403);
    assert_eq!(refused.json().unwrap()["data"]["code"], json!("expired"));
    faults_are_verified(&desk, &market);
    desk.ask("DELETE", "/boardwalk/v1/connections/marketplace", &json!({}));
    assert_eq!(listed(), json!([]));
    let known = market.known();
    let secretive =
        |(path, bearer): &&(String, String)| path.starts_with("subscriptions") && bearer.is_empty();
    assert!(!known.asked.iter().any(|asked| secretive(&asked)), "{:?}", known.asked);
}

/// Leaves for the marketplace, and comes back with what it granted.
fn connect(desk: &ShopDesk) {
    let action = desk.ask("POST", "/wc-admin/plugins/request-wccom-connect", &json!({}));
    let url = action["connectAction"].as_str().unwrap().to_owned();
    assert!(url.contains("/market/oauth/authorize?") && url.contains("secret=s3cret"), "{url}");
    let state = action["state"].as_str().unwrap().to_owned();
    let finish = |token: &str, state: &str| {
        let body = json!({ "request_token": token, "state": state });
        desk.send("POST", "/wc-admin/plugins/finish-wccom-connect", &body)
    };
    let forged = format!("{state}0");
    for (token, state) in [("granted", ""), ("granted", &*forged), ("wrong", &*state)] {
        let refused = finish(token, state);
        let code = refused.json().unwrap()["code"].clone();
        assert_eq!((refused.status, code), (400, json!("woocommerce_rest_helper_connect")));
    }
    let connections = || desk.get("/boardwalk/v1/connections")["connections"][0].clone();
    assert_eq!(connections()["is_connected"], json!(false));
    assert_eq!(finish("granted", &state).json().unwrap(), json!({ "success": true }));
    assert_eq!(connections()["is_connected"], json!(true));
}

/// A token that the marketplace forgot is noted; who knows the nonce says that it was them.
fn faults_are_verified(desk: &ShopDesk, market: &TestMarket) {
    market.known().forgets_token = true;
    let refused = desk.send("POST", "/wc/v3/marketplace/refresh", &json!({}));
    assert_eq!(refused.status, 401);
    let store = desk.shop.site.store();
    let fault = store.read_blocking(|conn| store::marketplace::error_newest(conn, "unknown_token"));
    let nonce = fault.unwrap().expect("the fault was noted").nonce;
    let verify = |nonce: &str| {
        desk.ask("POST", "/jetpack/v4/verify_xmlrpc_error", &json!({ "nonce": nonce }))
    };
    assert_eq!(
        (verify("other"), verify(&nonce), verify(&nonce)),
        (json!(false), json!(true), json!(false))
    );
    let errors = desk.get("/boardwalk/v1/connections")["errors"].clone();
    assert_eq!(each(&errors, "code"), [json!("unknown_token")]);
    market.known().forgets_token = false;
}

#[test]
fn the_bundled_marketplace_and_the_feed_work_on_sqlite() {
    bundled_and_feed(Site::sqlite());
}

#[test]
fn the_bundled_marketplace_and_the_feed_work_on_postgres() {
    bundled_and_feed(Site::postgres());
}

fn bundled_and_feed(site: Site) {
    let desk = ShopDesk::open(site);
    let action = desk.ask("POST", "/wc-admin/plugins/request-wccom-connect", &json!({}));
    let url = action["connectAction"].as_str().unwrap().to_owned();
    let token = url.split("request_token=").nth(1).unwrap().to_owned();
    let body = json!({ "request_token": token, "state": action["state"] });
    desk.ask("POST", "/wc-admin/plugins/finish-wccom-connect", &body);
    let listed = || desk.get("/wc/v3/marketplace/subscriptions");
    let slugs = [json!("ledger"), json!("letters"), json!("parcels")];
    assert_eq!(each(&listed(), "product_slug"), slugs);
    let key = json!({ "product_key": listed()[0]["product_key"] });
    desk.ask("POST", "/wc/v3/marketplace/subscriptions/connect", &key);
    assert_eq!(each(&listed(), "active"), [json!(true), json!(false), json!(false)]);

    let figures = desk.get("/jetpack/v4/heartbeat/data?prefix=x-");
    assert!(figures.as_object().unwrap().keys().all(|name| name.starts_with("x-")), "{figures}");
    assert_eq!(figures["x-marketplace-connected"], json!(true));
    assert!(figures["x-orders"].as_i64().unwrap() > 0, "{figures}");
    feeds_are_written(&desk);
}

fn feeds_are_written(desk: &ShopDesk) {
    let create = |body: &Value| desk.ask("POST", "/wc/pos/v1/catalog/create", body);
    let chosen = json!({ "_product_fields": "name, id", "_variation_fields": "id" });
    let first = create(&chosen);
    assert_eq!((&first["state"], &first["total"]), (&json!("scheduled"), &json!(-1)));
    eventually("the feed is there", PATIENCE, || create(&chosen)["state"] == json!("completed"));
    let done = create(&chosen);
    assert_eq!(done["progress"], json!(100));
    assert_eq!(done["args"]["_product_fields"], json!("id,name"));
    let url = done["url"].as_str().unwrap().to_owned();
    let path = url.strip_prefix(&desk.running.url).unwrap_or(&url).to_owned();
    let file = http::get(&desk.running.url, &path, &[]).unwrap();
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
    let gone = http::get(&desk.running.url, &path, &[]).unwrap();
    assert_eq!(gone.status, 404, "the old file is gone");
    eventually("the whole feed is there", PATIENCE, || {
        create(&json!({}))["state"] == json!("completed")
    });
    let whole = create(&json!({}))["url"].as_str().unwrap().to_owned();
    let path = whole.strip_prefix(&desk.running.url).unwrap_or(&whole).to_owned();
    let entries = http::get(&desk.running.url, &path, &[]).unwrap().json().unwrap();
    assert!(entries[0]["data"]["price"].is_string(), "{}", entries[0]);
}
