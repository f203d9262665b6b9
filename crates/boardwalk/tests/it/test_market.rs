//! A marketplace of the test's own: it grants, sells one plugin, and can be told to change.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard};

use admin::package::{Files, pack};
use serde_json::{Value, json};

use crate::far_host::{self, CannedAnswer, ReceivedRequest};

pub(crate) const KEY: &str = "key-1";
const SITE_ID: i64 = 77;
const SECRET: &str = "s3cret";
const BOUGHT: &str = "bought";
const EXPIRED: &str = "expired";
const FORGOTTEN: &str = "forgotten";
const RENOVATED: &str = "renovated";
/// Long past, and far ahead.
const PAST: i64 = 1_000_000_000;
const FUTURE: i64 = 4_000_000_000;

/// What the marketplace knows.
#[derive(Default)]
pub(crate) struct Known {
    /// What happened, by the words for it.
    happened: BTreeSet<&'static str>,
    /// The sites that make use of what it sells.
    connections: Vec<i64>,
    /// What sites said of errors.
    nonces: Vec<String>,
    /// What was asked, and with which credentials.
    pub(crate) asked: Vec<(String, String)>,
}

impl Known {
    fn is(&self, word: &str) -> bool {
        self.happened.contains(word)
    }
}

/// A marketplace on loopback.
#[derive(Clone)]
pub(crate) struct TestMarket {
    pub(crate) url: String,
    known: Arc<Mutex<Known>>,
}

impl TestMarket {
    pub(crate) fn start() -> Self {
        let known: Arc<Mutex<Known>> = Arc::default();
        let own = Arc::clone(&known);
        let host = far_host::start(move |asked| answer(&mut own.lock().unwrap(), asked));
        Self { url: format!("{host}/market"), known }
    }

    pub(crate) fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap()
    }

    /// Changes what the marketplace knows by a word, and tells what it was told.
    pub(crate) fn control(&self, word: &str) -> Value {
        let mut known = self.known();
        match word {
            "reset" => *known = Known::default(),
            "remember" => {
                known.happened.remove(FORGOTTEN);
            }
            "expire" => {
                known.happened.insert(EXPIRED);
            }
            "forget" => {
                known.happened.insert(FORGOTTEN);
            }
            "renovate" => {
                known.happened.insert(RENOVATED);
            }
            "tell" => {}
            _ => panic!("the marketplace does not know the word {word}"),
        }
        json!({ "nonces": known.nonces })
    }
}

fn answer(known: &mut Known, asked: &ReceivedRequest) -> CannedAnswer {
    let json = |status: u16, value: Value| far_host::json(status, &value);
    let path = asked.path.strip_prefix("/market/").unwrap_or(&asked.path);
    known.asked.push((path.to_owned(), asked.authorization.clone()));
    let is_site = asked.authorization == "Bearer token" && !known.is(FORGOTTEN);
    let body = &asked.body;
    let is_granted = body["request_token"] == json!("granted") && body["secret"] == json!(SECRET);
    let title = if known.is(RENOVATED) { "From further away" } else { "From afar" };
    match path.split('?').next().unwrap_or_default() {
        "featured" => json(200, json!([{ "title": title, "items": [] }])),
        "oauth/request_token" => json(200, json!({ "secret": SECRET })),
        "oauth/access_token" if is_granted => json(
            200,
            json!({
                "access_token": "token", "access_token_secret": "hidden",
                "site_id": SITE_ID, "user_id": 5,
            }),
        ),
        "oauth/access_token" => json(403, json!({ "message": "Not granted." })),
        "connection_errors" => {
            known.nonces.extend(body["nonce"].as_str().map(str::to_owned));
            json(200, json!({ "success": true }))
        }
        _ if !is_site => json(401, json!({ "message": "Who are you?" })),
        "orders" => {
            known.happened.insert(BOUGHT);
            json(201, json!({ "order_id": 9, "checkout_url": "https://pay.example/9" }))
        }
        "subscriptions" => json(200, Value::Array(subscriptions(known))),
        "subscriptions/activate" if known.is(EXPIRED) => {
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
            let html = format!("<p onclick=\"x()\">{title}</p><script>x()</script>");
            json(200, json!({ "css": "p{color:red}", "html": html }))
        }
        _ => json(404, json!({ "message": "Not found." })),
    }
}

fn subscriptions(known: &Known) -> Vec<Value> {
    if !known.is(BOUGHT) {
        return Vec::new();
    }
    vec![
        json!({
            "product_key": KEY, "product_id": 31, "product_name": "Bought",
            "product_slug": "bought", "zip_slug": "bought", "product_type": "plugin",
            "connections": known.connections, "expires": if known.is(EXPIRED) { PAST } else { FUTURE },
            "lifetime": false, "autorenew": false, "sites_max": 1, "sites_active": 0,
            "version": "1.0.0",
        }),
        json!({ "product_key": "broken", "product_id": 0 }),
    ]
}

/// A plugin that connects the site to services elsewhere.
fn archive() -> Vec<u8> {
    let connection = |service: &str| {
        json!({
            "service": service, "authorize_url": format!("https://{service}.example/grant"),
            "scopes": ["read", "write"],
        })
    };
    let connections: Vec<Value> =
        ["square", "wcpay", "jetpack"].into_iter().map(connection).collect();
    let manifest = json!({
        "slug": "bought", "name": "Bought", "version": "1.0.0",
        "contributes": { "connections": connections },
    });
    let files: Files = [(String::from("plugin.json"), manifest.to_string().into_bytes())].into();
    pack(&files, None).unwrap()
}
