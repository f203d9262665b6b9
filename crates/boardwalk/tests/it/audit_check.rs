//! The full check of an audit log, by a running server and from the command line.

use std::time::Duration;

use db::Conn;
use serde_json::{Value, json};
use testkit::http::{self, Request};

use crate::support::{Running, Site, authorization, body, complaint, eventually};

const WITHIN: Duration = Duration::from_mins(1);

fn start(running: &Running, key: &str) -> Value {
    let request = Request::new("POST", "/v1/audit/check")
        .header("Authorization", &authorization(key))
        .header("Content-Type", "application/json")
        .body("{}");
    let answer = http::send(&running.url, &request).unwrap();
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json().unwrap()
}

fn read(running: &Running, key: &str, path: &str) -> Value {
    let answer = running.get(path, key);
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json().unwrap()
}

/// Starts a check and waits for its end.
fn checked(running: &Running, key: &str) -> Value {
    let started = start(running, key);
    assert!(["queued", "running"].contains(&started["status"].as_str().unwrap()), "{started}");
    let mut last = Value::Null;
    eventually("the check is done", WITHIN, || {
        last = read(running, key, "/v1/audit/check");
        last["status"] == "done"
    });
    last
}

#[expect(clippy::needless_pass_by_value, reason = "the tests hand over their site")]
fn a_full_check_runs_in_the_background(site: Site) {
    let iso_id = site.iso("Checked");
    let key = site.key(&iso_id);
    let running = site.serve();
    assert_eq!(read(&running, &key, "/v1/audit/check")["status"], "none");
    for number in 0..5 {
        assert_eq!(running.onboard(&key, &body(&format!("Checked {number}"))).status, 200);
    }
    let whole = checked(&running, &key);
    assert_eq!((&whole["valid"], &whole["faults"]), (&json!(true), &json!([])), "{whole}");
    assert_eq!(whole["checked"], whole["total"], "{whole}");
    assert!(whole["checked"].as_i64().unwrap() >= 7, "{whole}");
    let quick = read(&running, &key, "/v1/audit/verify");
    assert_eq!((&quick["valid"], &quick["after"]), (&json!(true), &whole["checked"]), "{quick}");
    let script = format!("UPDATE audit SET reason = 'x' WHERE seq = 3 AND iso_id = '{iso_id}'");
    site.store().write_blocking(move |conn: &mut dyn Conn| conn.script(&script)).unwrap();
    let broken = checked(&running, &key);
    assert_eq!((&broken["valid"], &broken["faults"][0]["sequence"]), (&json!(false), &json!(3)));
    let quick = read(&running, &key, "/v1/audit/verify");
    assert_eq!((&quick["valid"], &quick["faults"]), (&json!(false), &broken["faults"]), "{quick}");
}

on_both_engines!(a_full_check_runs_in_the_background);

#[test]
fn a_log_is_checked_from_the_command_line() {
    let site = Site::sqlite();
    let iso_id = site.iso("Checked");
    let arguments = ["audit", "verify", "--iso", &iso_id, "--environment", "sandbox"];
    let found = site.json(&arguments);
    assert_eq!((&found["valid"], &found["checked"]), (&json!(true), &json!(1)), "{found}");
    let script = String::from("UPDATE audit SET reason = 'x' WHERE seq = 1");
    site.store().write_blocking(move |conn: &mut dyn Conn| conn.script(&script)).unwrap();
    let text = complaint(&site.run(&arguments), 1);
    assert!(text.contains("damaged at entry 1"), "{text}");
}
