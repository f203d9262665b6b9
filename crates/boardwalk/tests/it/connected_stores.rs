//! Connected stores: a shop elsewhere, which is another server here, is copied and followed; what
//! the copy answers is what the shop answers.

use std::process::Command;
use std::thread;
use std::time::Duration;

use onboarding::rows::connection as rows;
use serde_json::{Map, Value, json};
use testkit::http::{self, Request, Response};
use testkit::process;
use types::Timestamp;

use crate::rest_site::RestSite;
use crate::shop_client::{ShopClient, each};
use crate::support::{PROGRAM, Running, Site, authorization, eventually, text};

const PATIENCE: Duration = Duration::from_mins(2);
/// How long a copy may take to follow.
const SAME_WITHIN: Duration = Duration::from_mins(3);
const LOOPBACK: &str = r#"["127.0.0.0/8"]"#;

/// The recorded shop, which may send webhooks to this machine.
pub(crate) fn shop() -> ShopClient {
    let site = Site::sqlite().set("server.outbound.exempt", LOOPBACK);
    ShopClient::of(RestSite::import(site))
}

/// A server with an ISO that connects stores.
pub(crate) struct Hub {
    pub(crate) site: Site,
    pub(crate) running: Running,
    key: String,
}

impl Hub {
    pub(crate) fn open(site: Site) -> Self {
        Self::polling(site, 1)
    }

    /// One that looks for what no webhook told of only so often.
    pub(crate) fn polling(site: Site, poll_seconds: u32) -> Self {
        let site = site
            .set("server.outbound.exempt", LOOPBACK)
            .set("server.trusted_proxies", r#"["127.0.0.1"]"#)
            .set("connect.poll_seconds", poll_seconds);
        let key = site.key(&site.iso("Connector"));
        let running = site.serve();
        Self { site, running, key }
    }

    pub(crate) fn restarted(self) -> Self {
        let Self { site, running, key } = self;
        running.server.kill();
        let running = site.serve();
        Self { site, running, key }
    }

    pub(crate) fn send(&self, method: &str, path: &str, body: &Value) -> Response {
        let request = Request::new(method, path)
            .header("Authorization", &authorization(&self.key))
            .header("Content-Type", "application/json")
            .body(if body.is_null() { String::new() } else { body.to_string() });
        http::send(&self.running.url, &request).unwrap()
    }

    pub(crate) fn ask(&self, method: &str, path: &str, body: &Value) -> Value {
        let answer = self.send(method, path, body);
        assert!(answer.status < 300, "{method} {path}: {answer:?}");
        answer.json().unwrap()
    }

    /// Connects the shop at a URL with the key of the shop.
    pub(crate) fn connect(&self, shop: &ShopClient, url: &str) -> Connection {
        self.connect_by(&shop.shop.identities["key:read_write"], url)
    }

    /// Connects the shop at a URL with a key and its secret.
    pub(crate) fn connect_by(&self, pair: &str, url: &str) -> Connection {
        let (key, secret) = pair.split_once(':').unwrap();
        let body = json!({ "url": url, "consumerKey": key, "consumerSecret": secret });
        let made = self.ask("POST", "/v1/connections", &body);
        assert_eq!(made["status"], "connecting", "{made}");
        Connection::of(&made)
    }

    pub(crate) fn change(&self, connection: &Connection, body: &Value) -> Value {
        self.ask("PATCH", &format!("/v1/connections/{}", connection.id), body)
    }

    pub(crate) fn state(&self, connection: &Connection) -> Value {
        self.ask("GET", &format!("/v1/connections/{}", connection.id), &Value::Null)
    }

    pub(crate) fn wait_for(&self, connection: &Connection, status: &str) -> Value {
        let mut last = Value::Null;
        let started = std::time::Instant::now();
        while started.elapsed() < PATIENCE {
            last = self.state(connection);
            if last["status"] == status {
                return last;
            }
            thread::sleep(Duration::from_millis(50));
        }
        panic!("never {status}: {last}; {}", tail(&self.running.server.stderr()));
    }

    /// What the copy answers.
    pub(crate) fn look(&self, connection: &Connection, path: &str) -> Response {
        let headers = [
            ("Authorization", &*crate::support::basic(&connection.pair)),
            ("X-Forwarded-Proto", "https"),
        ];
        http::get(&self.running.url, &format!("{}{path}", connection.path), &headers).unwrap()
    }
}

pub(crate) struct Connection {
    pub(crate) id: String,
    pair: String,
    path: String,
}

impl Connection {
    /// From an answer that shows the key for reports.
    pub(crate) fn of(shown: &Value) -> Self {
        let pair = &shown["reportsKey"];
        let pair = format!("{}:{}", text(pair, "consumerKey"), text(pair, "consumerSecret"));
        Self { id: text(shown, "connectionId"), pair, path: text(shown, "restPath") }
    }
}

/// Whether an object is one of those.
type Of = fn(&Map<String, Value>) -> bool;

/// Members that must differ between a store and its copy: where that is so, and why.
const OWN: &[(&str, Of, &str)] = &[
    ("_links", |_| true, "they lead to the site that answers"),
    ("images", |_| true, "files stay at the store"),
    ("image", |_| true, "files stay at the store"),
    ("id", is_meta, "entries of meta_data are numbered by each site"),
    ("customer_id", is_report, "reports number customers in the order in which they were seen"),
];

fn is_meta(members: &Map<String, Value>) -> bool {
    members.contains_key("key") && members.contains_key("value")
}

fn is_report(members: &Map<String, Value>) -> bool {
    members.contains_key("num_items_sold")
}

/// An answer without what is each site's own.
fn comparable(value: &Value, products: &[Value]) -> Value {
    match value {
        Value::Array(items) => items.iter().map(|item| comparable(item, products)).collect(),
        Value::Object(members) => {
            let is_own = |name: &str| OWN.iter().any(|(own, at, _)| *own == name && at(members));
            let kept = members.iter().filter(|(name, _)| !is_own(name));
            let mut kept: Map<String, Value> =
                kept.map(|(name, value)| (name.clone(), comparable(value, products))).collect();
            // Orders do not say which product it was that was deleted.
            if let Some(id) = kept.get_mut("product_id").filter(|id| !products.contains(id)) {
                *id = json!(0);
                kept.remove("extended_info");
            }
            Value::Object(kept)
        }
        // Either is how an ampersand is written.
        Value::String(text) => json!(without_origin(text).replace("&#038;", "&amp;")),
        other => other.clone(),
    }
}

/// A text in which nobody sees which port of this machine was asked.
fn without_origin(text: &str) -> String {
    let mut parts = text.split("http://127.0.0.1:");
    let first = parts.next().unwrap_or_default().to_owned();
    let is_digit = |letter: char| letter.is_ascii_digit();
    parts.fold(first, |all, part| all + part.trim_start_matches(is_digit))
}

const SPAN: &str = "after=2020-01-01T00:00:00&before=2030-01-01T00:00:00&force_cache_refresh=true";

/// Reports and records that a copy must answer as its shop does: all of them.
fn questions(shop: &ShopClient) -> Vec<String> {
    let reports = [
        "revenue/stats?interval=month&per_page=100",
        "orders/stats?interval=day&per_page=100",
        "products?per_page=100&orderby=net_revenue&extended_info=true",
        "categories?per_page=100&orderby=category_id",
        "coupons?per_page=100&orderby=coupon_id",
        "coupons/stats?interval=month&per_page=100",
        "taxes?per_page=100&orderby=tax_rate_id",
        "taxes/stats?interval=month&per_page=100",
        "variations?per_page=100&orderby=net_revenue",
        "orders?per_page=100&orderby=date&order=asc",
    ];
    let reports = reports.iter().map(|report| {
        let mark = if report.contains('?') { '&' } else { '?' };
        format!("/wc-analytics/reports/{report}{mark}{SPAN}")
    });
    let records = [
        "/wc/v3/products?per_page=100&orderby=id&order=asc&status=any",
        "/wc/v3/customers?per_page=100&orderby=id&order=asc",
        "/wc/v3/coupons?per_page=100&orderby=id&order=asc",
        "/wc/v3/products/categories?per_page=100&orderby=id",
        "/wc/v3/products/tags?per_page=100&orderby=id",
        "/wc/v3/products/shipping_classes?per_page=100&orderby=id",
        "/wc/v3/products/attributes",
        "/wc/v3/taxes/classes",
        "/wc/v3/taxes?per_page=100&orderby=id&order=asc",
    ];
    let orders = shop.look("/wc/v3/orders?per_page=100").header("x-wp-totalpages");
    let pages: u32 = orders.unwrap().parse().unwrap();
    let orders = (1..=pages).map(|page| {
        format!("/wc/v3/orders?per_page=100&page={page}&orderby=id&order=asc&status=any")
    });
    let below = |list: &str, below: &str| {
        let above = each(&shop.get(&format!("/wc/v3/{list}")), "id").into_iter();
        let path = |id: Value| format!("/wc/v3/products/{id}/{below}?per_page=100&orderby=id");
        above.map(path).collect::<Vec<String>>()
    };
    let mut all: Vec<String> = reports.chain(records.map(str::to_owned)).chain(orders).collect();
    all.extend(below("products?type=variable&per_page=100&status=any", "variations"));
    let terms = below("products/attributes", "terms");
    all.extend(terms.iter().map(|path| path.replace("/products/", "/products/attributes/")));
    for page in 1..=pages {
        let path = format!("/wc/v3/orders?per_page=100&page={page}&_fields=id,refunds");
        let listed = shop.get(&path);
        let refunded = listed.as_array().unwrap().iter().filter(|one| one["refunds"] != json!([]));
        all.extend(refunded.map(|one| format!("/wc/v3/orders/{}/refunds", one["id"])));
    }
    all
}

/// What differs between the shop and its copy, in the answer to the first of the questions that
/// they answer differently.
pub(crate) fn difference(shop: &ShopClient, hub: &Hub, connection: &Connection) -> Option<String> {
    let products = each(&shop.get("/wc/v3/products?per_page=100&status=any"), "id");
    let differs = |path: &String| {
        let (theirs, ours) = (shop.look(path), hub.look(connection, path));
        let bodies = (theirs.json().unwrap(), ours.json().unwrap());
        let (theirs_body, ours_body) =
            (comparable(&bodies.0, &products), comparable(&bodies.1, &products));
        let total = |answer: &Response| answer.header("x-wp-total");
        let is_same = theirs.status == ours.status
            && total(&theirs) == total(&ours)
            && theirs_body == ours_body;
        (!is_same).then(|| format!("{path}: {}", first_difference(&theirs_body, &ours_body, "")))
    };
    questions(shop).iter().find_map(differs)
}

fn first_difference(theirs: &Value, ours: &Value, at: &str) -> String {
    match (theirs, ours) {
        (Value::Object(a), Value::Object(b)) => {
            let found = a.iter().find(|(name, value)| b.get(*name) != Some(value));
            match found {
                Some((name, value)) => {
                    let other = b.get(name).unwrap_or(&Value::Null);
                    first_difference(value, other, &format!("{at}.{name}"))
                }
                None => format!("{at}: more members"),
            }
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            let found = a.iter().zip(b).enumerate().find(|(_, (a, b))| a != b);
            match found {
                Some((index, (a, b))) => first_difference(a, b, &format!("{at}[{index}]")),
                None => String::from("?"),
            }
        }
        (a, b) => {
            let short = |value: &Value| value.to_string().chars().take(300).collect::<String>();
            format!("{at}: {} is {}", short(a), short(b))
        }
    }
}

/// The end of a log, without the requests that were answered.
fn tail(log: &str) -> String {
    let lines: Vec<&str> = log.lines().filter(|line| !line.contains("request answered")).collect();
    lines[lines.len().saturating_sub(30)..].join("\n")
}

pub(crate) fn assert_same(shop: &ShopClient, hub: &Hub, connection: &Connection) {
    let mut last = None;
    let started = std::time::Instant::now();
    while started.elapsed() < SAME_WITHIN {
        last = difference(shop, hub, connection);
        if last.is_none() {
            return;
        }
        thread::sleep(Duration::from_millis(300));
    }
    let log = tail(&hub.running.server.stderr());
    panic!("{}\n{}\n{log}", last.unwrap_or_default(), hub.state(connection));
}

fn copied_and_followed(site: Site) {
    let shop = shop();
    let hub = Hub::open(site);
    let connection = hub.connect(&shop, &shop.running.url);
    let live = hub.wait_for(&connection, "live");
    assert_eq!(live["errorCode"], Value::Null, "{live}");
    assert_eq!(live["counts"]["orders"], live["counts"]["ordersTotal"], "{live}");
    assert_same(&shop, &hub, &connection);

    assert_portfolio(&shop, &hub, &connection);

    // A new order, a changed product, a refund and a deletion.
    let product = &shop.get("/wc/v3/products?per_page=1&type=simple")[0];
    let line = json!({ "product_id": product["id"], "quantity": 3 });
    let order = json!({ "status": "processing", "line_items": [line],
        "billing": { "email": "new@example.test", "first_name": "New" } });
    let made = shop.ask("POST", "/wc/v3/orders", &order);
    let changed = json!({ "name": "Another name", "regular_price": "77.50" });
    shop.ask("PUT", &format!("/wc/v3/products/{}", product["id"]), &changed);
    let refund = json!({ "amount": "1.00", "api_refund": false });
    shop.ask("POST", &format!("/wc/v3/orders/{}/refunds", made["id"]), &refund);
    let oldest = &shop.get("/wc/v3/orders?per_page=1&orderby=id&order=asc")[0]["id"];
    shop.ask("DELETE", &format!("/wc/v3/orders/{oldest}?force=true"), &Value::Null);
    assert_same(&shop, &hub, &connection);

    // The key reads and does not write, and another one does nothing.
    let path = format!("{}/wc/v3/orders", connection.path);
    let basic = crate::support::basic(&connection.pair);
    let write = Request::new("POST", &path)
        .header("Authorization", &basic)
        .header("X-Forwarded-Proto", "https")
        .header("Content-Type", "application/json")
        .body("{}");
    assert_eq!(http::send(&hub.running.url, &write).unwrap().status, 401);
    assert_eq!(http::get(&hub.running.url, &path, &[]).unwrap().status, 401);

    // What is disconnected leaves nothing behind, here or there.
    let webhooks = |shop: &ShopClient| shop.get("/wc/v3/webhooks?per_page=100");
    assert!(!webhooks(&shop).as_array().unwrap().is_empty());
    hub.ask("DELETE", &format!("/v1/connections/{}", connection.id), &Value::Null);
    eventually("the connection is removed", PATIENCE, || {
        hub.send("GET", &format!("/v1/connections/{}", connection.id), &Value::Null).status == 404
    });
    assert_eq!(webhooks(&shop), json!([]));
    let folder = hub.site.data().join("stores/sandbox");
    let left = std::fs::read_dir(folder).map(Iterator::count).unwrap_or_default();
    assert_eq!(left, 0);
    assert_eq!(hub.look(&connection, "/wc/v3/orders").status, 404);
}

#[test]
fn a_store_is_copied_and_followed_on_sqlite() {
    copied_and_followed(Site::sqlite());
}

#[test]
fn a_store_is_copied_and_followed_on_postgres() {
    copied_and_followed(Site::postgres());
}

/// What the portfolio says about the only store is what the store says.
fn assert_portfolio(shop: &ShopClient, hub: &Hub, connection: &Connection) {
    let report = shop.get(&format!("/wc-analytics/reports/revenue/stats?{SPAN}"));
    let (orders, net) = (&report["totals"]["orders_count"], &report["totals"]["net_revenue"]);
    let net = format!("{:.2}", net.as_f64().unwrap());
    let path = "/v1/portfolio?from=2020-01-01&to=2030-01-01";
    let sums = |more: &str| hub.ask("GET", &format!("{path}{more}"), &Value::Null);
    eventually("the sums are made", PATIENCE, || sums("")["data"][0]["orders"] == *orders);
    let all = sums("");
    assert_eq!(all["data"].as_array().unwrap().len(), 1, "{all}");
    assert_eq!(all["data"][0]["netSales"], json!(net), "{all}");
    let stores = sums("&groupBy=store");
    assert_eq!(stores["data"][0]["group"], json!(connection.id), "{stores}");
    assert_eq!(stores["data"][0]["netSales"], json!(net), "{stores}");
    let days = sums("&groupBy=day");
    let counts = each(&days["data"], "orders");
    let count: i64 = counts.iter().filter_map(Value::as_i64).sum();
    assert_eq!(json!(count), *orders, "{days}");
    let wrong = hub.send("GET", "/v1/portfolio?from=2026-02-30&to=2026-03-01", &Value::Null);
    assert_eq!(wrong.status, 400, "{}", wrong.text());
}

#[test]
fn what_no_event_tells_is_found_by_comparing() {
    let shop = shop();
    let hub = Hub::open(Site::sqlite());
    // A key that only reads makes no webhooks, so that no event can tell.
    let connection = hub.connect_by(&shop.shop.identities["key:read"], &shop.running.url);
    hub.wait_for(&connection, "live");
    assert_same(&shop, &hub, &connection);
    // One that went on later would be past what is deleted now.
    let compared = || hub.state(&connection)["reconciled"].is_string();
    eventually("the comparison after the first copy is done", PATIENCE, compared);
    let path = format!("/v1/connections/{}", connection.id);
    hub.ask("PATCH", &path, &json!({ "status": "paused" }));
    let orders = each(&shop.get("/wc/v3/orders?per_page=3&orderby=id&order=asc"), "id");
    for order in &orders {
        shop.ask("DELETE", &format!("/wc/v3/orders/{order}?force=true"), &Value::Null);
    }
    // As if the last comparison had been two days ago.
    let id = connection.id.clone();
    hub.site
        .store()
        .write_blocking(move |conn| {
            let mut row = rows::find(conn, &id)?.unwrap();
            let past = row.created.as_micros() - 2 * 86_400_000_000;
            row.reconciled = Some(Timestamp::from_micros(past));
            rows::update(conn, &row)
        })
        .unwrap();
    hub.ask("PATCH", &path, &json!({ "status": "active" }));
    // The orders, and the products of which they were.
    let drift = || hub.state(&connection)["drift"].as_i64().unwrap_or_default();
    eventually("the comparison is done", PATIENCE, || drift() >= 3);
    assert_same(&shop, &hub, &connection);
}

#[test]
fn a_store_is_connected_from_the_command_line() {
    let shop = shop();
    let hub = Hub::open(Site::sqlite());
    let (key, secret) = shop.shop.identities["key:read"].split_once(':').unwrap();
    let print = |words: &[&str]| {
        let mut command = Command::new(PROGRAM);
        command.args(words).args(["--server", &hub.running.url, "--api-key", &hub.key]);
        let output = process::run_command(command, b"").unwrap();
        assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let run = |words: &[&str]| {
        serde_json::from_str::<Value>(&print(&[words, &["--json"]].concat())).unwrap()
    };
    let url = &*shop.running.url;
    let pair = ["--consumer-key", key, "--consumer-secret", secret];
    let made = run(&[&["connect", "woocommerce", "--url", url], &pair[..]].concat());
    assert_eq!(made["status"], "live", "{made}");
    assert_eq!(made["counts"]["orders"], made["counts"]["ordersTotal"], "{made}");
    let pair = &made["reportsKey"];
    let pair = format!("{}:{}", text(pair, "consumerKey"), text(pair, "consumerSecret"));
    let id = text(&made, "connectionId");
    let connection = Connection { id: id.clone(), pair, path: text(&made, "restPath") };
    // A key that only reads makes no webhooks; changes are found by asking.
    assert_eq!(shop.get("/wc/v3/webhooks"), json!([]));
    shop.ask("POST", "/wc/v3/coupons", &json!({ "code": "asked", "amount": "3" }));
    assert_same(&shop, &hub, &connection);
    assert_eq!(run(&["connect", "list"])["connections"][0]["connectionId"], json!(id));
    assert_eq!(run(&["connect", "show", &id])["url"], json!(url));
    let shown = print(&["connect", "show", &id]);
    assert!(shown.contains("checks.1") && !shown.contains('{'), "{shown}");

    assert_eq!(run(&["connect", "pause", &id])["status"], "paused");
    let (key, secret) = shop.shop.identities["key:read_write"].split_once(':').unwrap();
    let pair = ["--consumer-key", key, "--consumer-secret", secret];
    run(&[&["connect", "update", &id], &pair[..]].concat());
    run(&["connect", "resume", &id]);
    hub.wait_for(&connection, "live");
    // The other key makes webhooks.
    let webhooks = || shop.get("/wc/v3/webhooks").as_array().is_some_and(|made| !made.is_empty());
    eventually("the store tells of changes", PATIENCE, webhooks);
    assert_eq!(run(&["connect", "remove", &id])["status"], "disconnected");
}
