//! Liveness, readiness and metrics.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::time::Duration;

use serde_json::Value;
use testkit::http;
use testkit::postgres::Cluster;

use crate::support::{Site, body, eventually};

const NOTICED_WITHIN: Duration = Duration::from_secs(15);

#[test]
fn metrics_are_for_the_operator_only() {
    let site = Site::sqlite();
    let key = site.key(&site.iso("Measured"));
    let running = site.serve();
    let admin = running.admin_url();
    assert_eq!(running.onboard(&key, &body("Measured")).status, 200);
    assert_eq!(running.onboard(&key, &body("Measured")).status, 400);
    assert_eq!(running.get("/v1/merchants/000000000000", "bw_test_wrong").status, 401);

    let public = http::get(&running.url, "/metrics", &[]).unwrap();
    assert_eq!(public.status, 404);
    let metrics = http::get(&admin, "/metrics", &[]).unwrap();
    assert_eq!(metrics.status, 200);
    let metrics = metrics.text();
    for (op, status) in
        [("onboard_merchant", 200), ("onboard_merchant", 400), ("merchant_get", 401)]
    {
        let labels = format!("environment=\"sandbox\",op=\"{op}\",status=\"{status}\"");
        let line = format!("boardwalk_http_requests_total{{{labels}}} 1\n");
        assert!(metrics.contains(&line), "no {line} in\n{metrics}");
    }
    for name in [
        "boardwalk_http_request_duration_seconds_bucket{",
        "boardwalk_refused_keys_total{environment=\"sandbox\",reason=\"not an api key\"} 1",
        "boardwalk_commit_group_size_total{",
    ] {
        assert!(metrics.contains(name), "no {name} in\n{metrics}");
    }
    assert!(metrics.ends_with("# EOF\n"));
    for url in [&running.url, &admin] {
        for path in ["/healthz", "/readyz"] {
            assert_eq!(http::get(url, path, &[]).unwrap().status, 200, "{url}{path}");
        }
    }
    let interface = http::get(&admin, "/v1/errors", &[]).unwrap();
    assert_eq!(interface.status, 404, "the operator's address has no interface");
}

#[test]
fn a_server_that_starts_on_a_full_disk_says_so_at_once() {
    let site = Site::sqlite();
    site.iso("Full");
    // Such as a disk does that has no room for the next page.
    let refuse = "CREATE TRIGGER full_disk BEFORE INSERT ON facts WHEN NEW.name = 'ready_at'
                  BEGIN SELECT RAISE(ABORT, 'no space'); END";
    site.store().write_blocking(|conn| conn.script(refuse)).unwrap();
    let running = site.serve();
    let mut told = String::new();
    eventually("the facts are loaded", NOTICED_WITHIN, || {
        told = http::get(&running.url, "/readyz", &[]).unwrap().text();
        !told.contains("loading")
    });
    assert!(told.contains("takes no changes"), "{told}");
}

#[test]
fn readiness_follows_the_database() {
    // A fast cluster could lose its tables in the crash.
    let cluster = Cluster::start().unwrap();
    let site = Site::on_database(cluster.create_database().unwrap());
    let key = site.key(&site.iso("Patient"));
    let running = site.serve();
    let admin = running.admin_url();
    let status = |url: &str, path: &str| http::get(url, path, &[]).unwrap().status;
    assert_eq!(running.onboard(&key, &body("Before")).status, 200);
    cluster.crash().unwrap();
    for url in [&running.url, &admin] {
        eventually("not ready", NOTICED_WITHIN, || status(url, "/readyz") == 503);
        assert_eq!(status(url, "/healthz"), 200);
    }
    let refused = running.onboard(&key, &body("During"));
    assert_eq!(refused.status, 503, "{}", refused.text());
    assert!(refused.header("Retry-After").is_some());
    assert!(refused.text().contains("\"code\":\"unavailable\""), "{}", refused.text());
    cluster.resume().unwrap();
    for url in [&running.url, &admin] {
        eventually("ready again", NOTICED_WITHIN, || status(url, "/readyz") == 200);
    }
    assert_eq!(running.onboard(&key, &body("During")).status, 200);
}

/// The words of a text that begin like our metrics.
fn metrics_in(text: &str) -> BTreeSet<&str> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    words.filter(|word| word.starts_with("boardwalk_")).collect()
}

#[test]
fn the_dashboard_and_the_alerts_ask_for_what_there_is() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let read = |path: &str| fs::read_to_string(root.join(path)).unwrap();
    let (dashboard, alerts) = (read("monitoring/grafana.json"), read("monitoring/alerts.yml"));
    let guide = read("docs/operating.md");
    let site = Site::sqlite();
    let key = site.key(&site.iso("Watched"));
    let running = site.serve();
    assert_eq!(running.onboard(&key, &body("Watched")).status, 200);
    let mut metrics = String::new();
    eventually("the event is followed", NOTICED_WITHIN, || {
        metrics = http::get(&running.admin_url(), "/metrics", &[]).unwrap().text();
        metrics.contains("boardwalk_outbox_lag_events{environment=\"sandbox\",follower=")
    });
    let family = |name: &str| {
        let endings = ["_total", "_bucket", "_info"];
        let ended = endings.iter().find_map(|ending| name.strip_suffix(ending));
        ended.unwrap_or(name).to_owned()
    };
    for text in [&dashboard, &alerts] {
        let asked = metrics_in(text);
        assert!(!asked.is_empty());
        for name in asked {
            let declared = format!("# TYPE {} ", family(name));
            // What nothing was counted of yet is only in the guide.
            let is_counted = guide.contains(&format!("`{}_total`", family(name)));
            assert!(metrics.contains(&declared) || is_counted, "no {declared} in\n{metrics}");
        }
    }
    let dashboard: Value = serde_json::from_str(&dashboard).unwrap();
    let panels = dashboard["panels"].as_array().unwrap();
    let shown: Vec<&str> = panels
        .iter()
        .flat_map(|panel| panel["targets"].as_array().unwrap())
        .map(|target| target["expr"].as_str().unwrap())
        .collect();
    let shown = shown.join("\n");
    for line in metrics.lines().filter_map(|line| line.strip_prefix("# TYPE ")) {
        let name = line.split(' ').next().unwrap();
        let is_shown = metrics_in(&shown).iter().any(|one| family(one) == name);
        assert!(is_shown || name == "boardwalk_build", "{name} is on no panel");
    }
    for name in alerts.lines().filter_map(|line| line.trim().strip_prefix("- alert: ")) {
        assert!(guide.contains(&format!("`{name}`")), "{name} has no runbook");
    }
}
