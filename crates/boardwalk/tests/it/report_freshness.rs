//! A report that is asked for fresh figures has everything that was committed before.

use serde_json::{Value, json};
use testkit::http::{self, Request};

use crate::clickhouse;
use crate::rest_site::RestSite;
use crate::support::{Site, basic};

const REVENUE: &str = "/wp-json/wc-analytics/reports/revenue/stats?after=2020-01-01T00:00:00&\
                       before=2040-01-01T00:00:00&interval=year&per_page=100&\
                       force_cache_refresh=true";
/// Orders that are made, each right before the report is asked for.
const ORDERS: i64 = 5;

#[test]
fn on_sqlite() {
    check(Site::sqlite());
}

#[test]
fn on_postgres() {
    check(Site::postgres());
}

#[test]
fn on_clickhouse() {
    let servers = testkit::clickhouse::shared();
    let engine = clickhouse::engine(&servers.urls(), &servers.database());
    check(Site::sqlite().set("analytics.engine", engine));
}

fn check(site: Site) {
    let shop = RestSite::import(site);
    let running = shop.site.serve();
    clickhouse::facts_header(&running.url, &shop.identities["admin"]);
    let ask = |request: Request| -> (u16, Value) {
        let request = request.header("Authorization", &basic(&shop.identities["admin"]));
        let answer = http::send(&running.url, &request).unwrap();
        (answer.status, answer.json().unwrap())
    };
    let orders = || {
        let (status, answer) = ask(Request::new("GET", REVENUE));
        assert_eq!(status, 200, "{answer}");
        answer["totals"]["orders_count"].as_i64().unwrap()
    };
    let before = orders();
    let order = json!({
        "status": "completed",
        "set_paid": true,
        "line_items": [{ "product_id": 11, "quantity": 1 }],
    });
    for made in 1..=ORDERS {
        let request = Request::new("POST", "/wp-json/wc/v3/orders")
            .header("Content-Type", "application/json")
            .body(order.to_string());
        let (status, answer) = ask(request);
        assert_eq!(status, 201, "{answer}");
        assert_eq!(orders(), before + made, "after {made}");
    }
}
