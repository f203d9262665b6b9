//! Files of onboardings through the program: in the background across kills, and from the command
//! line.

use std::collections::BTreeSet;
use std::fs;
use std::time::Duration;

use db::Conn;
use serde_json::{Value, json};
use testkit::http::{self, Request, Response};

use crate::support::{Running, Site, authorization, body, eventually, text};

const WITHIN: Duration = Duration::from_mins(1);
const ROWS: usize = 2_000;
const UPLOADS: &str = "/v1/bulk/onboardings";

fn file(rows: usize, bad_every: usize) -> String {
    let row = |number: usize| {
        let mut row = body(&format!("Row {number}"));
        if number.is_multiple_of(bad_every) {
            row["merchantData"]["zipCode"] = json!("00000");
        }
        format!("{row}\n")
    };
    (1..=rows).map(row).collect()
}

fn upload(running: &Running, key: &str, media_type: &str, content: &str) -> Response {
    let request = Request::new("POST", UPLOADS)
        .header("Authorization", &authorization(key))
        .header("Content-Type", media_type)
        .body(content);
    http::send(&running.url, &request).unwrap()
}

fn state(running: &Running, key: &str, bulk_id: &str) -> Value {
    let answer = running.get(&format!("{UPLOADS}/{bulk_id}"), key);
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json().unwrap()
}

fn number(value: &Value, name: &str) -> i64 {
    value[name].as_i64().unwrap()
}

#[test]
fn an_upload_survives_kills_on_sqlite() {
    survive(&Site::sqlite(), &[1, 500, 1_200]);
}

#[test]
fn an_upload_survives_kills_on_postgres() {
    // Once: others may be at work on the database, so that the lease of a killed one must end first.
    survive(&Site::postgres(), &[500]);
}

/// Kills the server when so many rows are done.
fn survive(site: &Site, killed_at: &[i64]) {
    let key = site.key(&site.iso("Bulk"));
    let content = file(ROWS, 100);
    let mut running = site.serve();
    let answer = upload(&running, &key, "application/x-ndjson; charset=utf-8", &content);
    assert_eq!(answer.status, 200, "{}", answer.text());
    let bulk_id = text(&answer.json().unwrap(), "bulkId");
    for rows in killed_at {
        eventually("rows are done", WITHIN, || {
            number(&state(&running, &key, &bulk_id), "done") >= *rows
        });
        running.server.kill();
        running = site.serve();
    }
    eventually("all rows are done", WITHIN, || {
        state(&running, &key, &bulk_id)["status"] == json!("done")
    });
    let done = state(&running, &key, &bulk_id);
    let bad = i64::try_from(ROWS / 100).unwrap();
    let rows = i64::try_from(ROWS).unwrap();
    assert_eq!((number(&done, "succeeded"), number(&done, "failed")), (rows - bad, bad), "{done}");
    check_everything_once(site, rows - bad);
    let failed = running.get(&format!("{UPLOADS}/{bulk_id}/results?status=failed&limit=100"), &key);
    let failed = failed.json().unwrap();
    for (place, row) in (1..).zip(failed["data"].as_array().unwrap()) {
        assert_eq!(number(row, "row"), place * 100);
        assert_eq!(row["errors"][0]["code"], json!("unknown_zip"));
    }
    let again = upload(&running, &key, "application/x-ndjson", &content);
    assert_eq!(text(&again.json().unwrap(), "bulkId"), bulk_id);
    eventually("the failed rows were tried again", WITHIN, || {
        state(&running, &key, &bulk_id)["status"] == json!("done")
    });
    check_everything_once(site, rows - bad);
}

/// One merchant, one store and one TPN for each row that succeeded, and no row waits.
fn check_everything_once(site: &Site, succeeded: i64) {
    let counts = site.store().read_blocking(|conn: &mut dyn Conn| {
        let mut counts = Vec::new();
        for table in ["merchants", "stores", "tpns", "bulk_chunks"] {
            conn.query_text(&format!("SELECT COUNT(*) FROM {table}"), &[], &mut |row| {
                counts.push(row.get::<i64>(0)?);
                Ok(())
            })?;
        }
        Ok(counts)
    });
    assert_eq!(counts.unwrap(), [succeeded, succeeded, succeeded, 0]);
}

#[test]
fn files_are_taken_for_what_they_are_said_to_be() {
    let site = Site::sqlite();
    let key = site.key(&site.iso("Bulk"));
    let running = site.serve();
    let json = upload(&running, &key, "application/json", "{}");
    assert_eq!(json.status, 415, "{}", json.text());
    let csv = upload(&running, &key, "text/csv", "merchantData.dba\nHarbor\n");
    assert_eq!(csv.status, 200, "{}", csv.text());
    assert_eq!(csv.json().unwrap()["failed"], json!(1));
    let lines = upload(&running, &key, "application/octet-stream", "{}\n{}\n");
    assert_eq!(lines.json().unwrap()["failed"], json!(2), "{}", lines.text());
    let too_large = upload(&running, &key, "text/csv", &"x".repeat(16 * 1024 * 1024 + 1));
    assert_eq!(too_large.status, 413, "{}", too_large.text());
    let bytes = Request::new("POST", UPLOADS)
        .header("Authorization", &authorization(&key))
        .header("Content-Type", "text/csv")
        .body(b"a\n\xff\n".as_slice());
    assert_eq!(http::send(&running.url, &bytes).unwrap().status, 400);
    let retried = |content: &str| {
        let request = Request::new("POST", UPLOADS)
            .header("Authorization", &authorization(&key))
            .header("Content-Type", "application/jsonl")
            .header("Idempotency-Key", "once")
            .body(content);
        http::send(&running.url, &request).unwrap()
    };
    let row = format!("{}\n", body("Once"));
    let (first, second) = (retried(&row), retried(&row));
    assert_eq!((first.status, first.text()), (200, second.text()));
    assert_eq!(second.header("Idempotent-Replayed").as_deref(), Some("true"));
    assert_eq!(retried("{}\n").status, 422);
    let tried = Request::new("POST", UPLOADS)
        .header("Authorization", &authorization(&key))
        .header("Content-Type", "application/jsonl")
        .header("X-Validate-Only", "true")
        .body(format!("{}\n", body("Only tried")));
    let tried = http::send(&running.url, &tried).unwrap().json().unwrap();
    assert_eq!((&tried["succeeded"], &tried["bulkId"]), (&json!(1), &json!(null)));
    check_everything_once(&site, 1);
}

#[test]
fn the_command_line_onboards_a_file() {
    let site = Site::sqlite();
    let iso = site.iso("Bulk");
    let path = site.data().join("rows.jsonl");
    let results = site.data().join("results.jsonl");
    fs::write(&path, file(250, 100)).unwrap();
    let (path, results) = (path.to_str().unwrap(), results.to_str().unwrap());
    let onboard = ["onboard", path, "--iso", &iso, "--results", results, "--json"];
    let first = site.run(&onboard);
    assert_eq!(first.status.code(), Some(1), "{}", String::from_utf8_lossy(&first.stderr));
    let totals: Value = serde_json::from_slice(&first.stdout).unwrap();
    assert_eq!((number(&totals, "succeeded"), number(&totals, "failed")), (248, 2), "{totals}");
    let lines = fs::read_to_string(results).unwrap();
    let rows: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let merchants: BTreeSet<String> =
        rows.iter().filter_map(|row| Some(row["merchantId"].as_str()?.to_owned())).collect();
    assert_eq!((rows.len(), merchants.len()), (250, 248));
    assert_eq!(rows[99]["errors"][0]["code"], json!("unknown_zip"));

    let again = site.run(&onboard);
    assert_eq!(again.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&again.stderr).contains("--resume"));
    let resumed = site.run(&[&onboard[..], &["--resume"]].concat());
    assert_eq!(serde_json::from_slice::<Value>(&resumed.stdout).unwrap(), totals);
    assert_eq!(fs::read_to_string(results).unwrap(), lines);
    check_everything_once(&site, 248);

    for (arguments, hint) in [
        (["onboard", path, "--iso", "nobody"], "iso list"),
        (["onboard", "rows.txt", "--iso", &iso], ".csv"),
    ] {
        let refused = site.run(&arguments);
        assert_eq!(refused.status.code(), Some(1));
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(said.contains(hint), "{said}");
    }
}
