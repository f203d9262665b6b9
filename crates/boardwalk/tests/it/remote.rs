//! The command line on a server elsewhere: what an integrator does with a key and no data folder.

use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;
use std::{fs, thread};

use serde_json::{Value, json};
use testkit::process;

use crate::receiver::{Mood, Receiver, check_signatures};
use crate::support::{PROGRAM, Running, Site, body, complaint, eventually, text};

const PATIENCE: Duration = Duration::from_secs(20);

/// Somebody with a key on another machine.
struct Integrator {
    home: tempfile::TempDir,
    url: String,
    key: String,
}

impl Integrator {
    fn new(running: &Running, key: &str) -> Self {
        let home = testkit::temp_dir().unwrap();
        Self { home, url: running.url.clone(), key: key.to_owned() }
    }

    /// The program, which knows neither the server nor the key.
    fn program(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(PROGRAM);
        command.env("XDG_CONFIG_HOME", self.home.path()).current_dir(self.home.path());
        command.args(arguments);
        command
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.program(arguments);
        command.args(["--server", &self.url]).env("BOARDWALK_API_KEY", &self.key);
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        process::run_command(self.command(arguments), b"").unwrap()
    }

    fn json(&self, arguments: &[&str]) -> Value {
        let output = self.run(&[arguments, &["--json"]].concat());
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?} failed: {complaint}");
        serde_json::from_slice(&output.stdout).unwrap()
    }

    fn file(&self, name: &str, content: &str) -> String {
        let path = self.home.path().join(name);
        fs::write(&path, content).unwrap();
        path.to_str().unwrap().to_owned()
    }
}

fn set_up(name: &str) -> (Site, Running, Integrator) {
    let site = Site::sqlite();
    let key = site.key(&site.iso(name));
    let running = site.serve();
    let integrator = Integrator::new(&running, &key);
    (site, running, integrator)
}

#[test]
fn an_integrator_onboards_and_looks_at_what_came_of_it() {
    let (_site, _running, integrator) = set_up("Remote");
    let mut bad = body("Remote B");
    bad["merchantData"]["zipCode"] = json!("99999");
    // More than are onboarded at once, so that the upload is waited for.
    let mut rows: Vec<String> =
        (0..30).map(|number| body(&format!("Remote {number:02}")).to_string()).collect();
    rows.push(bad.to_string());
    let file = integrator.file("rows.jsonl", &rows.join("\n"));
    let results = integrator.home.path().join("results.jsonl");
    let onboard = ["onboard", &file, "--results", results.to_str().unwrap()];
    let output = integrator.run(&onboard);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("1 of 31 rows were rejected"), "{said}");
    let results = fs::read_to_string(results).unwrap();
    assert_eq!(results.lines().count(), 31);
    assert!(results.contains("merchantData.zipCode"), "{results}");

    let merchants = integrator.json(&["merchant", "list", "--filter", "dba=Remote 07"]);
    let merchants = merchants["merchants"].as_array().unwrap().clone();
    assert_eq!(merchants.len(), 1, "{merchants:?}");
    let merchant = text(&merchants[0], "merchantId");
    let shown = integrator.json(&["merchant", "show", &merchant]);
    assert_eq!(shown["dba"], "Remote 07");
    let pairs = [("merchants", "merchant"), ("stores", "store"), ("tpns", "tpn")];
    for (name, noun) in pairs {
        let all = integrator.json(&[noun, "list", "--limit", "1000"]);
        assert_eq!(all[name].as_array().unwrap().len(), 30, "{noun}");
        let some = integrator.json(&[noun, "list", "--limit", "7"]);
        assert_eq!(some[name].as_array().unwrap().len(), 7, "{noun}");
    }

    let table = integrator.run(&["store", "list", "--limit", "2"]);
    let table = String::from_utf8(table.stdout).unwrap();
    assert_eq!(table.lines().count(), 3, "headings and two rows: {table}");
    assert!(table.is_ascii() || !table.contains(['─', '│', '╌']), "{table}");
    let record = integrator.run(&["merchant", "show", &merchant]);
    let record = String::from_utf8(record.stdout).unwrap();
    assert!(record.contains("contact.email"), "{record}");
}

#[test]
fn an_integrator_manages_keys_templates_and_webhooks() {
    let (_site, _running, integrator) = set_up("Keys");
    let made = integrator.json(&[
        "key",
        "create",
        "--name",
        "till",
        "--scope",
        "events.read",
        "--expires",
        "30d",
    ]);
    let (key_id, key) = (text(&made, "keyId"), text(&made, "key"));
    assert!(key.starts_with("bw_test_"));
    let mut too_much = integrator.program(&["webhook", "list", "--server", &integrator.url]);
    too_much.env("BOARDWALK_API_KEY", &key);
    let said = complaint(&process::run_command(too_much, b"").unwrap(), 1);
    assert!(said.contains("webhooks.read") && !said.contains("check the key"), "{said}");
    let keys = integrator.json(&["key", "list"]);
    assert_eq!(keys["keys"].as_array().unwrap().len(), 2, "{keys}");
    let rotated = integrator.json(&["key", "rotate", &key_id, "--overlap", "0h"]);
    integrator.json(&["key", "revoke", &text(&rotated, "keyId")]);
    let said = complaint(&integrator.run(&["key", "create", "--expires", "36h"]), 1);
    assert!(said.contains("whole days"), "{said}");

    let parameters = integrator.file("parameters.json", r#"{"tipEnabled":true}"#);
    let create = ["template", "create", "--name", "Lunch01", "--file", &parameters];
    assert_eq!(integrator.json(&create)["name"], "Lunch01");
    assert!(complaint(&integrator.run(&create), 1).contains("already"));
    let templates = integrator.json(&["template", "list"]);
    assert_eq!(templates["templates"][0]["name"], "Lunch01");

    let url = "https://receiver.example/hook";
    let made = integrator.json(&["webhook", "create", "--url", url, "--event", "merchant.*"]);
    let webhook = text(&made, "webhookId");
    assert!(text(&made, "secret").starts_with("whsec_"));
    integrator.json(&["webhook", "test", &webhook]);
    assert_eq!(integrator.json(&["webhook", "list"])["webhooks"][0]["url"], url);
    integrator.json(&["webhook", "delete", &webhook]);
    assert_eq!(integrator.json(&["webhook", "list"])["webhooks"], json!([]));
    let wrong = integrator.run(&["webhook", "create", "--url", url, "--event", "no.such"]);
    let said = complaint(&wrong, 1);
    assert!(said.contains("events[0]") && said.contains("merchant.created"), "{said}");
}

#[test]
fn a_profile_keeps_server_and_key() {
    let (_site, running, integrator) = set_up("Profile");
    let set = integrator.program(&["profile", "set", "here", "--server", &running.url]);
    let output = process::run_command(set, format!("{}\n", integrator.key).as_bytes()).unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let file = integrator.home.path().join("boardwalk/profiles.toml");
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&file), 0o600);

    let run =
        |arguments: &[&str]| process::run_command(integrator.program(arguments), b"").unwrap();
    let listed = run(&["profile", "list", "--json"]);
    let listed = String::from_utf8(listed.stdout).unwrap();
    assert!(listed.contains("\"here\"") && !listed.contains(&integrator.key), "{listed}");
    let keys = run(&["--profile", "here", "key", "list", "--json"]);
    assert!(keys.status.success(), "{}", String::from_utf8_lossy(&keys.stderr));
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    assert!(complaint(&run(&["--profile", "here", "key", "list"]), 1).contains("chmod 600"));
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    assert!(complaint(&run(&["--profile", "there", "key", "list"]), 1).contains("profile list"));
    assert!(run(&["profile", "remove", "here"]).status.success());
    complaint(&run(&["profile", "remove", "here"]), 1);
}

#[test]
fn what_goes_wrong_is_said_in_one_sentence() {
    let (_site, running, integrator) = set_up("Wrong");
    let said = |command: Command| complaint(&process::run_command(command, b"").unwrap(), 1);
    let at = |server: &str, key: &str, words: &[&str]| {
        let mut command = integrator.program(words);
        command.args(["--server", server, "--api-key", key]);
        said(command)
    };
    let list = ["key", "list"];
    assert!(at(&running.url, "bw_test_wrong", &list).contains("check the key"));
    let elsewhere = format!("{}/elsewhere", running.url);
    assert!(at(&elsewhere, &integrator.key, &list).contains("check the URL"));
    assert!(at("http://127.0.0.1:1", "k", &list).contains("cannot reach"));
    assert!(at("http://api.example", "k", &list).contains("https://"));
    assert!(at(&running.url, &integrator.key, &["backup", "x"]).contains("data folder"));
    let mut without = integrator.program(&list);
    without.args(["--server", &running.url]);
    assert!(said(without).contains("--api-key"));
    assert!(said(integrator.program(&["store", "list"])).contains("--server"));
    assert!(said(integrator.program(&["mcp"])).contains("--server"));
    assert!(at(&running.url, "-", &["mcp"]).contains("standard input"));
    assert!(at(&running.url, "k", &["mcp", "--group", "cats"]).contains("merchants"));
    let file = integrator.file("rows.jsonl", "");
    let without_iso: [&[&str]; 3] =
        [&["key", "create"], &["template", "create", "--name", "A1"], &["onboard", &file]];
    for words in without_iso {
        let local = process::run_command(integrator.program(words), b"").unwrap();
        assert!(complaint(&local, 2).contains("--iso"), "{words:?}");
    }
}

#[test]
fn events_reach_a_program_on_this_machine_signed() {
    let (_site, running, integrator) = set_up("Listening");
    assert_eq!(running.onboard(&integrator.key, &body("Before")).status, 200);
    eventually("the first events are numbered", PATIENCE, || {
        let events = running.get("/v1/events", &integrator.key).json().unwrap();
        events["data"].as_array().unwrap().len() >= 3
    });
    let receiver = Receiver::start(&[Mood::Fails, Mood::Takes]);
    let mut command = integrator.command(&["listen", "--json", "--event", "merchant.*,tpn.*"]);
    command.args(["--forward-to", &receiver.url]).stdout(Stdio::piped());
    let mut listening = command.spawn().unwrap();
    let mut lines = BufReader::new(listening.stdout.take().unwrap()).lines();
    let first: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
    assert_eq!(first["event"], "listening", "{first}");

    assert_eq!(running.onboard(&integrator.key, &body("Listened")).status, 200);
    let told: Vec<Value> =
        (0..2).map(|_| serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap()).collect();
    // Nothing is sent again.
    thread::sleep(Duration::from_millis(1_500));
    listening.kill().unwrap();
    listening.wait().unwrap();
    let received = receiver.all();
    let kinds: Vec<&str> = received.iter().map(|one| one.event["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["merchant.created", "tpn.created"], "new events only, once");
    let statuses: Vec<&Value> = told.iter().map(|line| &line["status"]).collect();
    assert_eq!(statuses, [&json!(500), &json!(204)]);
    check_signatures(&received, first["secret"].as_str().unwrap());
}
