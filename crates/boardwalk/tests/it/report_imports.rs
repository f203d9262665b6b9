//! Imports of reports over HTTP: figures that were deleted are made from the records again, all of
//! them or those of some days, and one can see how far it is, stop it, and kill the server.

use std::time::Duration;

use serde_json::{Value, json};
use testkit::http::{self, Request};

use crate::rest_site::RestSite;
use crate::support::{Running, Site, basic, eventually};

const PATIENCE: Duration = Duration::from_mins(2);
const RANGE: &str =
    "after=2020-01-01T00:00:00&before=2030-01-01T00:00:00&interval=year&per_page=99";
const ROOT: &str = "/wp-json/wc-analytics";
/// Orders with refunds, and customers, of the recorded shop.
const ORDERS: i64 = 346;
const CUSTOMERS: i64 = 25;

struct Client<'a> {
    running: &'a Running,
    authorization: String,
}

impl Client<'_> {
    fn ask(&self, method: &str, path: &str, body: &Value) -> (u16, Value) {
        let mut request = Request::new(method, &format!("{ROOT}{path}"))
            .header("Authorization", &self.authorization);
        if method != "GET" {
            let body = body.to_string();
            request = request.header("Content-Type", "application/json").body(body);
        }
        let answer = http::send(&self.running.url, &request).unwrap();
        (answer.status, answer.json().unwrap())
    }

    fn post(&self, path: &str, body: &Value) -> Value {
        let (status, answer) = self.ask("POST", path, body);
        assert_eq!(status, 200, "{path}: {answer}");
        answer
    }

    fn get(&self, path: &str) -> Value {
        self.ask("GET", path, &Value::Null).1
    }

    fn status(&self) -> Value {
        self.get("/reports/import/status")
    }

    fn revenue(&self) -> Value {
        self.get(&format!("/reports/revenue/stats?{RANGE}&force_cache_refresh=true"))
    }

    fn orders(&self) -> i64 {
        self.revenue()["totals"]["orders_count"].as_i64().unwrap()
    }

    fn ends(&self) {
        let is_over = || self.status()["is_importing"] == json!(false);
        eventually("the import has ended", PATIENCE, is_over);
    }

    fn imported(&self) -> (i64, i64) {
        let status = self.status();
        let part = |name: &str| {
            let (done, total) = (&status[name]["imported"], &status[name]["total"]);
            assert_eq!(done, total, "{status}");
            done.as_i64().unwrap()
        };
        (part("customers"), part("orders"))
    }
}

on_both_engines!(deleted_figures_are_imported_again);

fn deleted_figures_are_imported_again(site: Site) {
    let shop = RestSite::import(site);
    let running = shop.site.serve();
    let authorization = basic(&shop.identities["admin"]);
    let client = Client { running: &running, authorization: authorization.clone() };
    let (whole, all) = (client.revenue(), client.orders());
    assert_eq!(client.imported(), (CUSTOMERS, ORDERS), "what was followed counts as imported");
    let both = |customers: i64, orders: i64| json!({ "customers": customers, "orders": orders });
    assert_eq!(client.get("/reports/import/totals"), both(CUSTOMERS, ORDERS));
    assert_eq!(client.get("/reports/import/totals?skip_existing=true"), both(0, 0));

    assert_eq!(client.post("/reports/import/delete", &json!({}))["status"], json!("success"));
    eventually("all figures are gone", PATIENCE, || client.orders() == 0);
    assert_eq!(client.status(), json!({ "is_importing": false }));
    assert_eq!(client.get("/reports/import/totals?skip_existing=true"), both(0, ORDERS));
    let some = client.get("/reports/import/totals?days=100");
    let some = some["orders"].as_i64().unwrap();
    assert!(0 < some && some < ORDERS, "{some}");

    let started = client.post("/reports/import", &json!({ "days": 100 }));
    assert_eq!(started["status"], json!("success"), "{started}");
    let again = client.post("/reports/import", &json!({}));
    assert_eq!(again["status"], json!("error"), "one is under way: {again}");
    let status = client.status();
    assert_eq!(status["is_importing"], json!(true), "{status}");
    assert_eq!(status["orders"]["total"], json!(some));
    assert!(status["imported_from"].as_str().unwrap().ends_with(" 00:00:00"), "{status}");
    client.ends();
    assert_eq!(client.imported().1, some);
    let orders = client.orders();
    assert!(0 < orders && orders < all, "{orders} of {all}");

    // The server dies in between; another one ends what it began.
    client.post("/reports/import", &json!({ "skip_existing": true }));
    running.server.kill();
    let running = shop.site.serve();
    let client = Client { running: &running, authorization };
    client.ends();
    assert_eq!(client.imported(), (0, ORDERS - some));
    assert_eq!(client.revenue(), whole, "the figures are those of before");
    let notes = client.get("/admin/notes?per_page=100").to_string();
    assert!(notes.contains("report-import-finished"), "{notes}");

    // Who stops an import before it begins leaves everything as it is.
    client.post("/reports/import", &json!({}));
    client.post("/reports/import/cancel", &json!({}));
    client.ends();
    let status = client.status();
    assert_eq!(status["orders"]["imported"], json!(0), "{status}");
    assert_eq!((&status["imported_from"], client.revenue()), (&json!(-1), whole));
}

#[test]
fn a_catch_up_is_scheduled_and_can_be_asked_for() {
    let shop = RestSite::import(Site::sqlite());
    let running = shop.site.serve();
    let authorization = basic(&shop.identities["manager"]);
    let client = Client { running: &running, authorization };
    let status = client.get("/imports/status");
    assert_eq!(status["mode"], json!("scheduled"), "{status}");
    assert_eq!(status["import_in_progress_or_due"], json!(false));
    let next = status["next_scheduled"].as_str().unwrap().to_owned();
    assert_eq!(client.post("/imports/trigger", &json!({}))["success"], json!(true));
    let (refused, answer) = client.ask("POST", "/imports/trigger", &json!({}));
    let code = "woocommerce_rest_analytics_import_in_progress";
    assert_eq!((refused, &answer["code"]), (400, &json!(code)));
    eventually("it has ended", PATIENCE, || {
        let status = client.get("/imports/status");
        let later = status["next_scheduled"].as_str().is_some_and(|later| later >= next.as_str());
        status["import_in_progress_or_due"] == json!(false) && later
    });
    let setting = "/settings/wc_admin/woocommerce_analytics_scheduled_import";
    client.ask("PUT", setting, &json!({ "value": "no" }));
    let immediate = json!({
        "mode": "immediate",
        "last_processed_date": null,
        "next_scheduled": null,
        "import_in_progress_or_due": null,
    });
    assert_eq!(client.get("/imports/status"), immediate);
    let (refused, answer) = client.ask("POST", "/imports/trigger", &json!({}));
    let code = "woocommerce_rest_analytics_import_immediate_mode";
    assert_eq!((refused, &answer["code"]), (400, &json!(code)));
}
