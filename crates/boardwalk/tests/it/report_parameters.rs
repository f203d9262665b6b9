//! Every parameter that the reference publishes for a report, on every route that lists it: what it
//! allows is answered, what it does not is refused, and pages, order and freshness do what they say.

use serde_json::{Map, Value, json};
use testkit::conformance::rest;
use testkit::http::{self, Request};

use crate::rest_site::RestSite;
use crate::support::{Running, Site, basic};

const RANGE: &str = "after=2025-09-01T00:00:00&before=2026-11-14T23:59:59";
/// Reports, and what is made of them.
const PREFIXES: [&str; 2] = ["/wc-analytics/reports/", "/wc-analytics/leaderboards"];
/// Routes that are no reports, though they lie among them.
const OTHERS: [&str; 3] = ["/import", "/files", "/export"];

struct Desk<'a> {
    running: &'a Running,
    authorization: String,
}

impl Desk<'_> {
    fn ask(&self, request: Request) -> (u16, Value) {
        let request = request.header("Authorization", &self.authorization);
        let answer = http::send(&self.running.url, &request).unwrap();
        (answer.status, answer.json().unwrap())
    }

    fn get(&self, path: &str, query: &str) -> (u16, Value) {
        self.ask(Request::new("GET", &format!("/wp-json{path}?{query}")))
    }

    fn check(&self, path: &str, query: &str, expected: u16) {
        let (status, answer) = self.get(path, query);
        assert_eq!(status, expected, "{path}?{query}: {answer}");
    }
}

/// The routes of reports with their published parameters.
fn published() -> Vec<(String, Map<String, Value>)> {
    let file = rest::folder().join("reference/routes-wc-analytics.json");
    let all: Map<String, Value> = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    let is_report = |path: &str| {
        PREFIXES.iter().any(|prefix| path.starts_with(prefix))
            && !path.contains('(')
            && !OTHERS.iter().any(|part| path.contains(part))
    };
    let args = |route: &Value| {
        let endpoints = route["endpoints"].as_array().unwrap();
        let read = endpoints.iter().find(|endpoint| endpoint["methods"] == json!(["GET"]));
        read.and_then(|endpoint| endpoint["args"].as_object()).cloned().unwrap_or_default()
    };
    all.iter()
        .filter(|(path, _)| is_report(path))
        .map(|(path, at)| (path.clone(), args(at)))
        .collect()
}

/// Values that a parameter allows, and such that it does not.
fn values(schema: &Value) -> (Vec<String>, Vec<&'static str>) {
    if let Some(choices) = schema["enum"].as_array() {
        let text = |choice: &Value| choice.as_str().map(str::to_owned);
        return (choices.iter().filter_map(text).collect(), vec!["no-such-choice"]);
    }
    let number = |name: &str| schema[name].as_i64().map(|bound| bound.to_string());
    match schema["type"].as_str() {
        Some("integer") => {
            let allowed = [number("minimum"), number("maximum")].into_iter().flatten().collect();
            (allowed, vec!["many"])
        }
        Some("boolean") => (vec!["true".to_owned(), "0".to_owned()], vec!["perhaps"]),
        Some("string") if schema["format"] == json!("date-time") => {
            (vec!["2026-03-01T00:00:00".to_owned()], vec!["yesterday"])
        }
        _ => (Vec::new(), Vec::new()),
    }
}

#[test]
fn what_is_published_is_taken_and_what_is_not_is_refused() {
    let shop = RestSite::import(Site::sqlite());
    let running = shop.site.serve();
    let desk = Desk { running: &running, authorization: basic(&shop.identities["admin"]) };
    let routes = published();
    assert!(routes.len() > 15, "{} routes", routes.len());
    let mut checked = 0;
    for (path, args) in &routes {
        // A report of single numbers says which it wants.
        let base = if path.ends_with("/performance-indicators") {
            format!("{RANGE}&stats=revenue/total_sales")
        } else {
            RANGE.to_owned()
        };
        for (name, schema) in args.iter().filter(|(name, _)| *name != "stats") {
            let (allowed, refused) = values(schema);
            for value in allowed {
                // Variations are split for one product, which nobody named here.
                let is_open = name == "segmentby" && value == "variation";
                if !is_open {
                    desk.check(path, &format!("{base}&{name}={value}"), 200);
                    checked += 1;
                }
            }
            for value in refused {
                desk.check(path, &format!("{base}&{name}={value}"), 400);
                checked += 1;
            }
        }
        if args.contains_key("per_page") && !path.contains("leaderboards") {
            one_row_of_many(&desk, path, &base);
        }
    }
    assert!(checked > 300, "{checked} values");
}

/// A page of one row is the first of a longer one.
fn one_row_of_many(desk: &Desk<'_>, path: &str, base: &str) {
    let rows = |query: &str| {
        let (_, answer) = desk.get(path, &format!("{base}&order=asc&{query}"));
        let rows = answer.get("intervals").unwrap_or(&answer);
        rows.as_array().cloned().unwrap_or_default().len()
    };
    assert!(rows("per_page=1") <= 1, "{path}");
    assert!(rows("per_page=100") >= rows("per_page=1"), "{path}");
}

/// Each order is in the answer that is asked for right after it was made.
#[test]
fn fresh_figures_have_what_was_committed_before() {
    let shop = RestSite::import(Site::sqlite());
    let running = shop.site.serve();
    let desk = Desk { running: &running, authorization: basic(&shop.identities["admin"]) };
    let query = "after=2020-01-01T00:00:00&before=2040-01-01T00:00:00&interval=year&\
                 per_page=100&force_cache_refresh=true";
    let orders = || {
        let (status, answer) = desk.get("/wc-analytics/reports/revenue/stats", query);
        assert_eq!(status, 200, "{answer}");
        answer["totals"]["orders_count"].as_i64().unwrap()
    };
    let before = orders();
    for made in 1..=5 {
        let order = json!({
            "status": "completed",
            "set_paid": true,
            "line_items": [{ "product_id": 11, "quantity": 1 }],
        });
        let request = Request::new("POST", "/wp-json/wc/v3/orders")
            .header("Content-Type", "application/json")
            .body(order.to_string());
        let (status, answer) = desk.ask(request);
        assert_eq!(status, 201, "{answer}");
        assert_eq!(orders(), before + made, "after {made}");
    }
}
