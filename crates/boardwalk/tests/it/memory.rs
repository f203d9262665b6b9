//! What a server keeps in memory stays within its budgets, however much is asked for.

use std::collections::BTreeMap;

use serde_json::json;
use testkit::http::{self, Request};

use crate::support::{Running, Site};

/// Bytes by environment and cache.
type Sizes = BTreeMap<String, u64>;

fn sizes(running: &Running, name: &str) -> Sizes {
    let answer = http::send(&running.admin_url(), &Request::new("GET", "/metrics")).unwrap();
    let start = format!("{name}{{");
    let text = answer.text();
    let lines = text.lines().filter_map(|line| line.strip_prefix(&start)?.split_once("} "));
    lines.map(|(labels, bytes)| (labels.to_owned(), bytes.parse().unwrap())).collect()
}

#[test]
fn caches_stay_within_their_budgets() {
    let site = Site::sqlite();
    let header = site.administrator();
    let running = site.serve();
    let get = |path: &str| {
        let request = Request::new("GET", path).header("Authorization", &header);
        assert_eq!(http::send(&running.url, &request).unwrap().status, 200, "{path}");
    };
    // Each change of an option makes another index, of three quarters of a megabyte.
    for round in 0..30 {
        let body = json!({ "description": format!("The {round}th") }).to_string();
        let change = Request::new("PUT", "/wp-json/wp/v2/settings")
            .header("Authorization", &header)
            .header("Content-Type", "application/json")
            .body(body);
        assert_eq!(http::send(&running.url, &change).unwrap().status, 200);
        get("/wp-json/");
        get(&format!("/wp-json/wp/v2/posts?page=1&_={round}"));
    }
    let (held, budgets) =
        (sizes(&running, "boardwalk_cache_bytes"), sizes(&running, "boardwalk_cache_budget_bytes"));
    let names = ["answers", "document_texts", "documents", "report_parts", "customers"];
    for name in names {
        let labels = format!("environment=\"sandbox\",cache=\"{name}\"");
        let (held, budget) = (held[&labels], budgets[&labels]);
        assert!(held <= budget, "{name}: {held} of {budget}");
    }
    let texts = held["environment=\"sandbox\",cache=\"document_texts\""];
    assert!(texts > 500_000, "{texts}");
    let text = http::send(&running.admin_url(), &Request::new("GET", "/metrics")).unwrap().text();
    assert!(text.contains("cache=\"sqlite_pages\"") && text.contains("_resident_memory_bytes "));
}
