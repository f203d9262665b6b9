//! The guides' own examples: every block of curl lines is run against a server, in the order of its
//! page, and what the page shows as the answer must have the members of a real one. The README's
//! first onboarding is followed from the start of the demo, and compared member by member.
//!
//! Ids that a reader would copy out of an answer stand in the guides as variables; [`LEARNED`] says
//! which answer tells which.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde_json::Value;
use testkit::http::{self, Request};
use testkit::process::Server;

use crate::support::{Running, Site, authorization, eventually};

/// Pages with examples of the onboarding interface.
const PAGES: &[&str] = &[
    "onboarding",
    "bulk",
    "records",
    "lifecycle",
    "templates",
    "devices",
    "events",
    "keys",
    "audit",
];

/// Member of an answer and the variable that stands for it in the guides.
const LEARNED: &[(&str, &str)] = &[
    ("webhookId", "WEBHOOK"),
    ("deliveryId", "DELIVERY"),
    ("keyId", "ID"),
    ("bulkId", "BULK"),
    ("code", "CODE"),
    ("deviceToken", "TOKEN"),
    ("url", "RECEIVER"),
];

/// Printed behind each answer, followed by its status.
const MARK: &str = "#answered ";

struct Example {
    script: String,
    /// What the page shows as an answer.
    shown: Option<Value>,
}

/// The fenced blocks of a page: kind and text.
fn blocks(page: &str) -> Vec<(&str, String)> {
    let mut found = Vec::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        let Some(kind) = line.strip_prefix("```") else { continue };
        let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        found.push((kind, block.join("\n")));
    }
    found
}

/// The blocks of curl lines of a page, each with the JSON that follows it.
fn examples(page: &str) -> Vec<Example> {
    let mut found: Vec<Example> = Vec::new();
    for (kind, text) in blocks(page) {
        match kind {
            "sh" if text.contains("curl") => found.push(Example { script: text, shown: None }),
            // The words before an answer may tell of another call; then a fresh example begins.
            "sh" => found.push(Example { script: String::new(), shown: None }),
            "json" => {
                if let Some(last) = found.last_mut().filter(|last| last.shown.is_none()) {
                    last.shown = serde_json::from_str(&text).ok();
                }
            }
            _ => {}
        }
    }
    found.retain(|example| !example.script.is_empty());
    found
}

/// Runs curl lines and returns status and body of each answer.
fn run(script: &str, variables: &BTreeMap<&str, String>, folder: &Path) -> Vec<(u16, Value)> {
    let script =
        format!("curl() {{ command curl -w '\\n{MARK}%{{http_code}}\\n' \"$@\"; }}\n{script}");
    let command =
        Command::new("bash").args(["-euc", &script]).envs(variables).current_dir(folder).output();
    let output = command.unwrap();
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{script}\n{complaint}");
    let printed = String::from_utf8(output.stdout).unwrap();
    let mut answers = Vec::new();
    let mut body = String::new();
    for line in printed.lines() {
        if let Some(status) = line.strip_prefix(MARK) {
            answers.push((status.parse().unwrap(), serde_json::from_str(&body).unwrap()));
            body.clear();
        } else {
            body.push_str(line);
        }
    }
    assert!(!answers.is_empty(), "{script}");
    answers
}

/// The members of an answer, and those of the first of its list of data.
fn members(answer: &Value) -> BTreeSet<String> {
    let names = |value: &Value, prefix: &str| -> Vec<String> {
        let members = value.as_object().into_iter().flatten();
        members.map(|(name, _)| format!("{prefix}{name}")).collect()
    };
    let mut all: BTreeSet<String> = names(answer, "").into_iter().collect();
    all.extend(names(&answer["data"][0], "data."));
    all
}

fn learn(answer: &Value, variables: &mut BTreeMap<&str, String>) {
    for place in [answer, &answer["data"][0]] {
        for (member, variable) in LEARNED {
            if let Some(value) = place[*member].as_str() {
                variables.insert(variable, value.to_owned());
            }
        }
    }
}

fn check(name: &str, example: &Example, variables: &mut BTreeMap<&str, String>, folder: &Path) {
    let mut answers = run(&example.script, variables, folder);
    let codes = |answer: &Value| answer["errors"][0]["code"].as_str().map(str::to_owned);
    let refusal = example.shown.as_ref().and_then(codes);
    // A page that shows a refusal of what was accepted means the same call again.
    if refusal.is_some() && answers.iter().all(|(status, _)| *status == 200) {
        answers.extend(run(&example.script, variables, folder));
    }
    for (status, answer) in &answers {
        let expected = *status == 200 || (refusal.is_some() && codes(answer) == refusal);
        assert!(expected, "{name}: {}\n{status} {answer}", example.script);
        learn(answer, variables);
    }
    if let Some(shown) = &example.shown {
        let real: Vec<BTreeSet<String>> = answers.iter().map(|(_, body)| members(body)).collect();
        assert!(
            real.contains(&members(shown)),
            "{name}: {}\nshows {shown}\nand answers {answers:?}",
            example.script
        );
    }
}

/// An ISO with a merchant, and what the guides call them.
fn variables(site: &Site, running: &Running, name: &str) -> BTreeMap<&'static str, String> {
    let key = site.key(&site.iso(name));
    let onboard = Request::new("POST", "/v1/onboardmerchant")
        .header("Authorization", &authorization(&key))
        .header("Content-Type", "application/json")
        .body(include_bytes!("../../../../docs/examples/full.json").as_slice());
    let answer = http::send(&running.url, &onboard).unwrap();
    assert_eq!(answer.status, 200, "{}", answer.text());
    let request = answer.header("X-Request-Id").unwrap();
    let data = answer.json().unwrap()["data"].clone();
    let id = |name: &str| data[name].as_str().unwrap().to_owned();
    // Events and the audit log are numbered a moment after their change.
    eventually("the events are there", Duration::from_secs(10), || {
        let feed = running.get("/v1/events", &key).json().unwrap();
        let audit = running.get("/v1/audit", &key).json().unwrap();
        feed["data"][2].is_object() && audit["data"][0].is_object()
    });
    let read = running.get(&format!("/v1/merchants/{}", id("merchantId")), &key);
    BTreeMap::from([
        ("URL", running.url.clone()),
        ("KEY", key),
        ("MERCHANT", id("merchantId")),
        ("STORE", id("storeId")),
        ("TPN", id("tpn")),
        ("TAG", read.header("ETag").unwrap()),
        ("REQUEST", request),
    ])
}

#[test]
fn the_examples_of_the_guides_work() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let site = Site::sqlite();
    let running = site.serve();
    let folder = testkit::temp_dir().unwrap();
    fs::create_dir_all(folder.path().join("docs/examples")).unwrap();
    let full = fs::read_to_string(root.join("docs/examples/full.json")).unwrap();
    // The guides onboard what the site has already, so theirs has another name.
    let other = full.replace("Harbor Cafe", "Quay Cafe");
    fs::write(folder.path().join("docs/examples/full.json"), &other).unwrap();
    let row: Value = serde_json::from_str(&full.replace("Harbor Cafe", "Row Cafe")).unwrap();
    let mut bad = row.clone();
    bad["merchantData"]["zipCode"] = "00000".into();
    fs::write(folder.path().join("rows.jsonl"), format!("{row}\n{bad}\n")).unwrap();
    let mut count = 0;
    for name in PAGES {
        let page = fs::read_to_string(root.join(format!("docs/{name}.md"))).unwrap();
        let mut variables = variables(&site, &running, name);
        for example in examples(&page) {
            check(name, &example, &mut variables, folder.path());
            count += 1;
        }
    }
    assert!(count >= 25, "only {count} examples were found");
}

/// The names of all members, each with the way to it.
fn shape(value: &Value) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut waiting = vec![(String::new(), value)];
    while let Some((way, value)) = waiting.pop() {
        match value {
            Value::Object(members) => waiting.extend(members.iter().map(|(name, member)| {
                let way = format!("{way}.{name}");
                names.insert(way.clone());
                (way, member)
            })),
            Value::Array(items) => {
                waiting.extend(items.iter().map(|item| (format!("{way}[]"), item)));
            }
            _ => {}
        }
    }
    names
}

/// Starts the demo as the README's line says, on another port and a folder of the test's own.
fn start_demo(line: &str, data: &Path) -> Server {
    let words = line.split_whitespace().skip(1).filter(|word| !word.starts_with("\"$(mktemp"));
    let words = words.filter(|word| *word != "-d)\"" && *word != "--data");
    let words = words.map(|word| if word.starts_with("127.0.0.1:") { "127.0.0.1:0" } else { word });
    let mut command = Command::new(env!("CARGO_BIN_EXE_boardwalk"));
    command.args(words).arg("--data").arg(data).args(["--admin-listen", "127.0.0.1:0"]);
    Server::start_command(command, &["sandbox"]).unwrap()
}

#[test]
fn the_readme_tells_a_first_onboarding_as_it_is() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let readme = fs::read_to_string(root.join("README.md")).unwrap();
    let (_, section) = readme.split_once("## Onboard your first merchant").unwrap();
    let section = section.split("\n## ").next().unwrap();
    let blocks = blocks(section);
    let start = blocks.first().and_then(|(_, text)| text.lines().last()).unwrap();
    let folder = testkit::temp_dir().unwrap();
    let demo = start_demo(start, folder.path());
    let printed = demo.lines_before_ready().join(" ");
    let mut words = printed.split(|it: char| !it.is_ascii_alphanumeric() && it != '_');
    let key = words.find(|word| word.starts_with("bw_test_")).expect("a key is printed");
    let mut variables =
        BTreeMap::from([("URL", demo.url("sandbox").to_owned()), ("KEY", key.to_owned())]);
    let mut script = String::new();
    let mut shown = 0;
    for (kind, text) in blocks.iter().skip(1) {
        if *kind == "sh" {
            // What a reader sets by hand is known here already.
            let lines = text.lines().filter(|line| !line.starts_with("export "));
            script = lines.collect::<Vec<_>>().join("\n");
            continue;
        }
        // A second answer below one call is that of the same call again.
        let answers = run(&script, &variables, root);
        let [(_, answer)] = answers.as_slice() else { panic!("{script} gives one answer") };
        let expected: Value = serde_json::from_str(text).unwrap();
        assert_eq!(shape(answer), shape(&expected), "{script}\nanswers {answer}");
        let told = |answer: &Value| [&answer["message"], &answer["errors"]].map(Value::clone);
        assert_eq!(told(answer), told(&expected), "{script}");
        if let Some(id) = answer["data"]["merchantId"].as_str() {
            variables.insert("MERCHANT", id.to_owned());
        }
        shown += 1;
    }
    assert_eq!(shown, 3, "an onboarding, its refusal and the merchant");
}
