//! Files of onboardings: every row fares as a single call would, and none is onboarded twice.

use std::fs;

use contract::Failure;
use onboarding::bulk::command::{self, RowFile};
use onboarding::rows::bulk_upload::{self, BulkStatus};
use serde_json::{Value, json};

use crate::bodies::{body, body_with};
use crate::support::{House, error_lines, now, set_ids};

fn lines(rows: &[Value]) -> String {
    rows.iter().flat_map(|row| [row.to_string(), "\n".to_owned()]).collect()
}

fn try_upload(house: &House, format: &str, content: &str) -> Result<Value, Vec<String>> {
    let params = json!({ "format": format, "content": content });
    match house.call("bulk_create", params).result {
        Ok(body) => Ok(serde_json::from_slice(&body).unwrap()),
        Err(Failure::Issues { issues, .. }) => Err(error_lines(&issues)),
        Err(failure) => panic!("{failure:?}"),
    }
}

fn upload(house: &House, rows: &[Value]) -> Value {
    try_upload(house, "jsonl", &lines(rows)).unwrap()
}

/// Code and param of each error of a row.
fn errors(row: &Value) -> Vec<String> {
    let line = |error: &Value| {
        format!("{} {}", error["code"].as_str().unwrap(), error["param"].as_str().unwrap())
    };
    row["errors"].as_array().unwrap().iter().map(line).collect()
}

#[test]
fn good_rows_are_onboarded_and_bad_ones_told_as_by_single_calls() {
    let house = House::new();
    let taken = body("full-tsys");
    house.onboard(taken.clone()).unwrap();
    let nowhere = json!({ "merchantId": "nobody" });
    let twice = body("full-cknx");
    let rows = [
        body("full-cknx"),
        body_with("full-tsys", &[("merchantData.zipCode", json!("1")), ("tpnData", json!(null))]),
        taken,
        body_with("store-and-tpn-cknx", &[("merchantData", nowhere)]),
        json!("no object"),
        twice.clone(),
        twice,
        body_with("full-wpay", &[("tpnData.tpnAssignTemplate", json!("NoSuchOne"))]),
    ];
    let expected: Vec<Vec<String>> = rows
        .iter()
        .enumerate()
        .map(|(place, row)| match place {
            0 | 5 => Vec::new(),
            4 => vec![String::from("malformed_json ")],
            6 => vec![
                String::from("already_exists merchantData.dba"),
                String::from("already_exists storeData.dba"),
            ],
            _ => house.errors(row.clone()),
        })
        .collect();
    let answer = upload(&house, &rows);
    let results = answer["results"].as_array().unwrap();
    for (place, (result, expected)) in results.iter().zip(&expected).enumerate() {
        assert_eq!(errors(result), *expected, "row {}", place + 1);
        let status = if expected.is_empty() { "succeeded" } else { "failed" };
        assert_eq!((&result["row"], &result["status"]), (&json!(place + 1), &json!(status)));
    }
    assert_eq!((&answer["status"], &answer["rows"]), (&json!("done"), &json!(8)));
    assert_eq!((&answer["succeeded"], &answer["failed"]), (&json!(2), &json!(6)));
    assert_eq!(house.counts().merchants, 3);
    let found = house.get("merchant_get", json!({ "merchantId": results[0]["merchantId"] }));
    assert_eq!(found.unwrap()["dba"], rows[0]["merchantData"]["dba"]);
}

#[test]
fn the_same_file_again_tries_only_what_failed() {
    let house = House::new();
    let parents = house.onboard(body("full-cknx")).unwrap();
    let mut terminal = body("tpn-only-cknx");
    set_ids(&mut terminal, &parents);
    let waiting = body_with("full-tsys", &[("tpnData.tpnAssignTemplate", json!("Later1"))]);
    let rows = [terminal, waiting];
    let first = upload(&house, &rows);
    assert_eq!((&first["succeeded"], &first["failed"]), (&json!(1), &json!(1)));
    assert_eq!(errors(&first["results"][1]), ["template_not_found tpnData.tpnAssignTemplate"]);
    house.platform.template_create(&house.iso_id, "Later1", &json!({})).unwrap();
    let second = upload(&house, &rows);
    assert_eq!((&second["succeeded"], &second["failed"]), (&json!(2), &json!(0)));
    assert_eq!(
        (&second["bulkId"], &second["results"][0]),
        (&first["bulkId"], &first["results"][0])
    );
    assert_eq!(house.counts().tpns, 3);
    assert_eq!(upload(&house, &rows), second);
    assert_eq!(house.counts().tpns, 3);
}

#[test]
fn a_table_is_a_file_too() {
    let house = House::new();
    let row = body("full-cknx");
    let mut cells = Vec::new();
    flatten("", &row, &mut cells);
    let header: Vec<&str> = cells.iter().map(|(path, _)| path.as_str()).collect();
    let quoted: Vec<String> = cells.iter().map(|(_, cell)| format!("\"{cell}\"")).collect();
    let short = "only,three,cells";
    let content = format!("{}\r\n{}\r\n{short}\r\n", header.join(","), quoted.join(","));
    let answer = try_upload(&house, "csv", &content).unwrap();
    let results = &answer["results"];
    assert_eq!(results[0]["status"], json!("succeeded"), "{answer}");
    assert_eq!(errors(&results[1]), ["malformed_row "]);
    let found = house.get("merchant_get", json!({ "merchantId": results[0]["merchantId"] }));
    assert_eq!(found.unwrap()["dba"], row["merchantData"]["dba"]);
}

fn flatten(path: &str, value: &Value, cells: &mut Vec<(String, String)>) {
    let inner = |name: &str| if path.is_empty() { name.into() } else { format!("{path}.{name}") };
    match value {
        Value::Object(members) => {
            members.iter().for_each(|(name, value)| flatten(&inner(name), value, cells));
        }
        Value::Array(items) => {
            let items = items.iter().enumerate();
            items.for_each(|(index, item)| flatten(&inner(&index.to_string()), item, cells));
        }
        Value::String(text) => cells.push((path.to_owned(), text.clone())),
        other => cells.push((path.to_owned(), other.to_string())),
    }
}

#[test]
fn files_that_cannot_be_read_are_refused_whole() {
    let house = House::new();
    let too_many = "{}\n".repeat(10_001);
    for (format, content, expected) in [
        ("jsonl", "", "mandatory_field content"),
        ("csv", "merchantData.dba\n", "malformed_row body"),
        ("csv", "a,a\n1,2\n", "malformed_row body"),
        ("jsonl", too_many.as_str(), "malformed_row body"),
        ("xml", "<a/>", "invalid_value format"),
    ] {
        assert_eq!(try_upload(&house, format, content).unwrap_err(), [expected]);
    }
    let page = house.get("bulk_list", json!({})).unwrap();
    assert_eq!(page["data"], json!([]));
}

#[test]
fn many_rows_wait_unreadably_and_go_when_cancelled() {
    let house = House::new();
    let rows: Vec<Value> = (0..26)
        .map(|_| body_with("full-cknx", &[("merchantData.firstName", json!("Zebulon"))]))
        .collect();
    let answer = upload(&house, &rows);
    assert_eq!((&answer["status"], &answer["results"]), (&json!("queued"), &json!(null)));
    assert_eq!(upload(&house, &rows)["bulkId"], answer["bulkId"], "a second upload began");
    let chunks = || {
        let count = |conn: &mut dyn db::Conn| {
            let mut count = 0_i64;
            conn.query_text("SELECT COUNT(*) FROM bulk_chunks", &[], &mut |row| {
                count = row.get(0)?;
                Ok(())
            })?;
            Ok(count)
        };
        house.platform.store.read_blocking(count).unwrap()
    };
    assert_eq!(chunks(), 1);
    for entry in fs::read_dir(house.folder()).unwrap() {
        let bytes = fs::read(entry.unwrap().path()).unwrap();
        for secret in ["Zebulon", rows[0]["merchantData"]["dba"].as_str().unwrap()] {
            let found = bytes.windows(secret.len()).any(|part| part == secret.as_bytes());
            assert!(!found, "{secret} can be read");
        }
    }
    let id = json!({ "bulkId": answer["bulkId"] });
    let other = house.caller_of_another_iso();
    for name in ["bulk_get", "bulk_results"] {
        assert_eq!(house.get_as(&other, name, id.clone()), None);
    }
    assert_eq!(house.get_as(&other, "bulk_cancel", id.clone()), None);
    let cancelled = house.get("bulk_cancel", id.clone()).unwrap();
    assert_eq!(cancelled["status"], json!("cancelled"));
    assert_eq!(house.get("bulk_cancel", id.clone()).unwrap(), cancelled);
    assert_eq!(house.get("bulk_get", id).unwrap(), cancelled);
    assert_eq!((chunks(), house.counts().merchants), (0, 0));
    assert_eq!(upload(&house, &rows)["status"], json!("queued"), "it goes on when sent again");
}

#[test]
fn results_come_in_pages() {
    let house = House::new();
    let bad = |_| json!({ "merchantData": {} });
    let rows: Vec<Value> =
        [body("full-cknx")].into_iter().chain((0..4).map(bad)).chain([body("full-tsys")]).collect();
    let bulk_id = upload(&house, &rows)["bulkId"].clone();
    let page = |status: Option<&str>, cursor: &str| {
        let params = json!({ "bulkId": bulk_id, "status": status, "limit": "2", "cursor": cursor });
        let page = house.get("bulk_results", params).unwrap();
        let rows: Vec<i64> = page["data"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| row["row"].as_i64().unwrap())
            .collect();
        (rows, page["nextCursor"].as_str().map(str::to_owned))
    };
    assert_eq!(page(None, ""), (vec![1, 2], Some("2".into())));
    assert_eq!(page(None, "4"), (vec![5, 6], None));
    assert_eq!(page(Some("failed"), "2"), (vec![3, 4], Some("4".into())));
    assert_eq!(page(Some("succeeded"), ""), (vec![1, 6], None));
    let uploads = house.get("bulk_list", json!({ "limit": "1" })).unwrap();
    assert_eq!(uploads["data"][0]["bulkId"], bulk_id);
}

#[test]
fn a_file_that_is_cancelled_stores_nothing_more() {
    let house = House::new();
    let row = |number: usize| {
        let name = json!(format!("Cancelled {number}"));
        body_with("full-cknx", &[("merchantData.dba", name.clone()), ("storeData.dba", name)])
    };
    let path = house.folder().join("rows.jsonl");
    fs::write(&path, lines(&(0..150).map(row).collect::<Vec<_>>())).unwrap();
    let file = RowFile::open(&path).unwrap();
    let cancel = |_| {
        let iso_id = house.iso_id.clone();
        let finish = move |conn: &mut dyn db::Conn| {
            let upload = bulk_upload::list_before(conn, &iso_id, None, 1)?.remove(0);
            let ending = (BulkStatus::Cancelled, None);
            bulk_upload::finish(conn, &iso_id, &upload.bulk_id, ending, now())
        };
        let finish = || house.platform.store.write_blocking(finish).unwrap();
        // Nobody may block the thread that runs the work.
        assert!(std::thread::scope(|scope| scope.spawn(finish).join().unwrap()));
    };
    let mut results = Vec::new();
    let work =
        command::onboard(&house.platform, &house.iso_id, &file, false, &mut results, &cancel);
    let error = house.runtime().block_on(work).unwrap_err();
    assert!(error.to_string().contains("--resume"), "{error}");
    let written = results.split_inclusive(|byte| *byte == b'\n').count();
    assert_eq!((written, house.counts().merchants), (100, 100));
    let work = command::onboard(&house.platform, &house.iso_id, &file, true, &mut results, &|_| ());
    let totals = house.runtime().block_on(work).unwrap();
    assert_eq!((totals.succeeded, totals.failed, house.counts().merchants), (150, 0, 150));
}
