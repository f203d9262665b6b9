//! Safe retries and staged failures: connections that break after the change was made.

use std::collections::BTreeSet;
use std::thread;

use serde_json::Value;
use testkit::http::{self, Response};

use crate::support::{Site, authorization, body, text};

const CLIENTS: usize = 8;
const KEYS_OF_EACH: usize = 15;

#[test]
fn a_retry_storm_on_sqlite() {
    storm(&Site::sqlite());
}

#[test]
fn a_retry_storm_on_postgres() {
    storm(&Site::postgres());
}

/// Every request is cut off after its commit, and then sent again twice at the same time.
fn storm(site: &Site) {
    let key = site.key(&site.iso("Storm"));
    let running = site.serve();
    let (url, key) = (&*running.url, &*key);
    let merchants: Vec<String> = thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS)
            .map(|client| scope.spawn(move || storm_of_one(url, key, client)))
            .collect();
        clients.into_iter().flat_map(|client| client.join().unwrap()).collect()
    });
    let distinct: BTreeSet<&String> = merchants.iter().collect();
    assert_eq!(distinct.len(), CLIENTS * KEYS_OF_EACH);
    let file = site.data().join("after.backup");
    let copied = site.json(&["backup".as_ref(), file.as_os_str()]);
    for table in ["merchants", "stores", "tpns", "profiles", "idempotency"] {
        assert_eq!(copied["rows"][table], CLIENTS * KEYS_OF_EACH, "{table}");
    }
}

fn storm_of_one(url: &str, key: &str, client: usize) -> Vec<String> {
    let mut merchants = Vec::new();
    for number in 0..KEYS_OF_EACH {
        let (dba, retry_key) = (format!("Storm {client} {number}"), format!("{client}-{number}"));
        let once = ("Idempotency-Key", &*retry_key);
        assert!(post(url, key, &[once, DROP], &dba).is_err(), "this answer is to be lost");
        let retries: [Response; 2] = thread::scope(|scope| {
            let retry = || post(url, key, &[once], &dba).unwrap();
            [scope.spawn(retry), scope.spawn(retry)].map(|retry| retry.join().unwrap())
        });
        let ids: BTreeSet<String> = retries.iter().map(merchant_of).collect();
        assert_eq!(ids.len(), 1, "one key, one merchant");
        merchants.extend(ids);
    }
    merchants
}

const DROP: (&str, &str) = ("X-Sandbox-Scenario", "drop=after_commit");

fn post(url: &str, key: &str, headers: &[(&str, &str)], dba: &str) -> anyhow::Result<Response> {
    let authorization = authorization(key);
    let all = [&[("Authorization", &*authorization)], headers].concat();
    http::post(url, "/v1/onboardmerchant", &all, &body(dba))
}

fn merchant_of(answer: &Response) -> String {
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert_eq!(answer.header("Idempotent-Replayed").as_deref(), Some("true"));
    text(&answer.json().unwrap()["data"], "merchantId")
}

#[test]
fn a_dry_run_stores_nothing_and_tells_everything() {
    let site = Site::sqlite();
    let key = site.key(&site.iso("Careful"));
    let running = site.serve();
    let dry = [("X-Validate-Only", "true"), ("Idempotency-Key", "dry-run")];
    let fine = post(&running.url, &key, &dry, "Careful Cafe").unwrap();
    assert_eq!((fine.status, &fine.json().unwrap()["data"]), (200, &serde_json::json!({})));
    let real = post(&running.url, &key, &[("Idempotency-Key", "dry-run")], "Careful Cafe").unwrap();
    assert_eq!((real.status, real.header("Idempotent-Replayed")), (200, None));
    let taken = post(&running.url, &key, &dry, "Careful Cafe").unwrap();
    let errors: Value = taken.json().unwrap()["errors"].clone();
    assert_eq!((taken.status, errors.as_array().map(Vec::len)), (400, Some(2)));
}

#[test]
fn production_plays_no_scenes() {
    let site = Site::sqlite();
    let key = site.production_key();
    let flags = ["serve", "--environment", "production", "--listen", "127.0.0.1:0"];
    let command = site.command(&[&flags[..], &["--admin-listen", "127.0.0.1:0"]].concat());
    let server = testkit::process::Server::start_command(command, &["production"]).unwrap();
    let url = server.url("production");
    for scenario in ["code=unavailable; status=503", "code=unknown_zip", "drop=after_commit"] {
        let headers = [("X-Sandbox-Scenario", scenario)];
        let answer = post(url, &key, &headers, &format!("Real {}", scenario.len())).unwrap();
        assert_eq!(answer.status, 200, "{scenario}: {}", answer.text());
    }
    let answer = post(url, &key, &[], "SBX ALREADY EXISTS").unwrap();
    assert_eq!(answer.status, 200, "{}", answer.text());
}
