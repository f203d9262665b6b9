//! Exports of reports over HTTP: every file has the recorded rows, is written in the background, and
//! is downloaded by a link that nobody can guess.

use std::time::Duration;

use serde_json::{Value, json};
use testkit::conformance::rest;
use testkit::http::{self, Request, Response};
use testkit::smtp::Sink;

use crate::rest_site::RestSite;
use crate::support::{Running, Site, basic, complaint, eventually, text};

const PATIENCE: Duration = Duration::from_mins(2);
const REPORTS: &str = "/wp-json/wc-analytics/reports";
const MARK: &str = "\u{feff}";

struct Client {
    running: Running,
    authorization: String,
}

impl Client {
    fn post(&self, path: &str, body: &Value) -> Response {
        let request = Request::new("POST", path)
            .header("Authorization", &self.authorization)
            .header("Content-Type", "application/json")
            .body(body.to_string());
        http::send(&self.running.url, &request).unwrap()
    }

    fn get(&self, path: &str) -> Value {
        let headers = [("Authorization", self.authorization.as_str())];
        http::get(&self.running.url, path, &headers).unwrap().json().unwrap()
    }

    /// Starts an export, waits for its end, and returns the path of its file.
    fn exported(&self, report: &str, args: &Value, email: bool) -> String {
        let body = json!({ "report_args": args, "email": email });
        let started = self.post(&format!("{REPORTS}/{report}/export"), &body);
        assert_eq!(started.status, 200, "{report}: {}", started.text());
        let id = text(&started.json().unwrap(), "export_id");
        let path = format!("{REPORTS}/{report}/export/{id}/status");
        eventually("the file is complete", PATIENCE, || {
            self.get(&path)["percent_complete"] == json!(100)
        });
        let url = text(&self.get(&path), "download_url");
        url.strip_prefix(&self.running.url).unwrap_or(&url).to_owned()
    }

    /// Whatever is at the path, for a browser without a session.
    fn download(&self, path: &str) -> Response {
        http::get(&self.running.url, path, &[]).unwrap()
    }
}

/// The recorded exports: report, parameters, and the file in two parts, of which the second is its
/// head.
fn recorded() -> Vec<(String, Value, String, String)> {
    let cases = std::fs::read_to_string(rest::folder().join("sequences.jsonl")).unwrap();
    let cases = cases.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let case = cases.into_iter().find(|case| case["id"] == "sequences/export").unwrap();
    let mut found: Vec<(String, Value, String, String)> = Vec::new();
    let mut asked = (String::new(), Value::Null);
    let mut rows: Option<String> = None;
    for step in case["steps"].as_array().unwrap() {
        let request = &step["request"];
        if request["method"] == "POST" {
            let path = request["path"].as_str().unwrap().trim_end_matches("/export");
            let report = path.rsplit('/').next().unwrap().to_owned();
            asked = (report, request["body"]["report_args"].clone());
        }
        match (step["download"].as_str(), rows.take()) {
            (Some(text), None) => rows = Some(text.to_owned()),
            (Some(head), Some(rows)) => {
                found.push((asked.0.clone(), asked.1.clone(), head.to_owned(), rows));
            }
            (None, _) => {}
        }
    }
    found
}

/// The lines of a file, in an order of their own: rows that tie come in any. The reference writes
/// amounts below zero as texts, and gives a deleted product every category there is.
fn sorted(text: &str) -> Vec<String> {
    let line = |line: &str| {
        let line = line.replace("'-", "-");
        if line.contains("(Deleted)") {
            line.split(',').take(COLUMNS_BEFORE_CATEGORY).collect::<Vec<_>>().join(",")
        } else {
            line
        }
    };
    let mut lines: Vec<String> = text.lines().map(line).collect();
    lines.sort_unstable();
    lines
}

/// Columns of an export of products that a deleted one has, too.
const COLUMNS_BEFORE_CATEGORY: usize = 5;

on_both_engines!(every_report_is_exported_as_recorded);

fn every_report_is_exported_as_recorded(site: Site) {
    let shop = RestSite::import(site.set("analytics.compat", true));
    let running = shop.site.serve();
    let client = Client { running, authorization: basic(&shop.identities["admin"]) };
    let recorded = recorded();
    assert_eq!(recorded.len(), 10, "every type of report");
    for (report, args, head, rows) in recorded {
        let file = client.download(&client.exported(&report, &args, false));
        assert_eq!(file.status, 200, "{report}");
        let text = String::from_utf8(file.body.clone()).unwrap();
        let text = text.strip_prefix(MARK).unwrap_or_else(|| panic!("{report} has no mark"));
        let (ours, rest) = text.split_at(text.find('\n').unwrap() + 1);
        assert_eq!(ours, head, "{report}");
        let (ours, want) = (sorted(rest), sorted(&rows));
        let missing: Vec<&String> = want.iter().filter(|line| !ours.contains(line)).collect();
        let strange: Vec<&String> = ours.iter().filter(|line| !want.contains(line)).collect();
        assert!(ours == want, "{report}: missing {missing:#?}, got {strange:#?}");
    }
}

#[test]
fn a_link_leads_to_the_file_and_is_sent_by_mail() {
    let sink = Sink::start().unwrap();
    let site = Site::sqlite()
        .set("mail.relay", "127.0.0.1")
        .set("mail.port", sink.port())
        .set("mail.security", "none")
        .set("mail.from", "Pier Shop <shop@pier.example>");
    let shop = RestSite::import(site);
    let running = shop.site.serve();
    let client = Client { running, authorization: basic(&shop.identities["manager"]) };
    let args = json!({ "orderby": "items_sold", "after": "2025-09-01T00:00:00" });
    let path = client.exported("products", &args, true);
    let file = client.download(&path);
    let name = file.header("content-disposition").unwrap();
    assert_eq!(name, "attachment; filename=\"products-from-2025-09-01.csv\"");
    assert_eq!(file.header("content-type").as_deref(), Some("text/csv; charset=utf-8"));
    assert_eq!(file.header("content-length").unwrap(), file.body.len().to_string());
    assert_eq!(client.download(&path).body, file.body, "it can be downloaded again");
    let (address, token) = path.split_once("&token=").unwrap();
    assert_eq!(token.len(), 64);
    for wrong in
        [address.to_owned(), format!("{address}&token="), path.replace("products", "taxes")]
    {
        assert_eq!(client.download(&wrong).status, 404, "{wrong}");
    }
    let mut other = path.clone();
    let last = if other.pop() == Some('0') { '1' } else { '0' };
    other.push(last);
    assert_eq!(client.download(&other).status, 404);

    let emails = sink.wait_for(1, PATIENCE).unwrap();
    let email = emails[0].data.replace("=\n", "").replace("=3D", "=");
    assert!(email.contains(token), "{email}");
    assert!(email.contains("Your Products report"), "{email}");
    let log = client.running.server.stderr();
    assert!(!log.contains(token), "the log tells the way to the file: {log}");
    eventually("the note is raised", PATIENCE, || {
        let notes = client.get("/wp-json/wc-analytics/admin/notes?per_page=100");
        notes.to_string().contains("report-export-ready")
    });
}

#[test]
fn what_cannot_be_exported_is_refused() {
    let shop = RestSite::import(Site::sqlite());
    let running = shop.site.serve();
    let client = Client { running, authorization: basic(&shop.identities["admin"]) };
    let refused = |report: &str, body: &Value| {
        let answer = client.post(&format!("{REPORTS}/{report}/export"), body);
        (answer.status, text(&answer.json().unwrap(), "code"))
    };
    let unknown = (400, String::from("woocommerce_rest_invalid_report_type"));
    for report in ["bogus", "performance", "import"] {
        assert_eq!(refused(report, &json!({})), unknown, "{report}");
    }
    let invalid = (400, String::from("rest_invalid_param"));
    for args in [json!({ "after": "soon" }), json!({ "orderby": "colour" }), json!({ "page": 0 })] {
        assert_eq!(refused("orders", &json!({ "report_args": args })), invalid, "{args}");
    }
    let nothing = json!({ "report_args": { "before": "2001-01-01T00:00:00" } });
    let answer = client.post(&format!("{REPORTS}/orders/export"), &nothing);
    let answer: Value = answer.json().unwrap();
    assert_eq!(answer.as_object().unwrap().len(), 1, "{answer}");
    // A cancelled export leaves no file.
    let started = client.post(&format!("{REPORTS}/stock/export"), &json!({})).json();
    let id = text(&started.unwrap(), "export_id");
    client.post(&format!("{REPORTS}/import/cancel"), &json!({}));
    std::thread::sleep(Duration::from_secs(2));
    let status = client.get(&format!("{REPORTS}/stock/export/{id}/status"));
    assert_eq!((&status["percent_complete"], status.get("download_url")), (&json!(0), None));
}

#[test]
fn the_command_line_exports_in_every_format() {
    // The recorded file adds up amounts in different currencies.
    let shop = RestSite::import(Site::sqlite().set("analytics.compat", true));
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let run = |format: &str, path: &str| {
        let range = ["--after", "2025-09-01T00:00:00", "--before", "2026-11-14T23:59:59"];
        let how = ["--format", format, "--output", path, "--set", "interval=month"];
        shop.site.json(&[&["export", "report", "revenue"], &range[..], &how[..]].concat())
    };
    let (_, _, head, rows) = recorded().swap_remove(0);
    let csv = file("revenue.csv");
    assert_eq!(run("csv", &csv), json!({ "rows": 15, "path": csv }));
    // It also guards negative numbers as if they were formulas.
    let rows = rows.replace("'-", "-");
    assert_eq!(std::fs::read_to_string(&csv).unwrap(), format!("{MARK}{head}{rows}"));
    let path = file("revenue.json");
    run("json", &path);
    let read: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    assert_eq!(read.as_array().unwrap().len(), 15);
    assert_eq!(read[0]["date"], json!("2026-11-01 00:00:00"));
    assert_eq!((&read[0]["orders"], &read[0]["gross_sales"]), (&json!(14), &json!(1614.11)));
    let path = file("revenue.parquet");
    run("parquet", &path);
    let bytes = std::fs::read(&path).unwrap();
    assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"));
    for (arguments, expected) in [
        (vec!["colours"], "available reports: orders"),
        (vec!["revenue", "--output", &csv], "already exists; choose another file"),
        (vec!["orders", "--set", "orderby=colour", "--output", "x.csv"], "orderby"),
    ] {
        let output = shop.site.run(&[vec!["export", "report"], arguments].concat());
        let said = complaint(&output, 1);
        assert!(said.contains(expected), "{said}");
    }
}
