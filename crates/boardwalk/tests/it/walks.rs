//! The published routes of administration, row by row: what is wrong is refused, a change is read
//! back through another route, and what is read follows a change. The rows are data, in
//! `conformance/rest/walks`; **a published row that nobody walks must be named there.**

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde::Deserialize;
use serde_json::Value;
use testkit::conformance::rest::folder;
use testkit::http::{Connection, Request};

use crate::rest_site::RestSite;
use crate::support::{Running, Site};

const NOBODY: &str = "none";

/// A route with its method, and what is sent to see that it does what it says.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Walk {
    route: String,
    steps: Vec<Step>,
}

/// A request and what must hold for its answer, by JSON pointers into it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Step {
    /// Method and path.
    send: String,
    body: Option<Value>,
    #[serde(rename = "as", default = "administrator")]
    caller: String,
    status: u16,
    #[serde(default)]
    has: BTreeMap<String, Value>,
    #[serde(default)]
    differs: BTreeMap<String, Value>,
    #[serde(default)]
    lacks: Vec<String>,
    #[serde(default)]
    contains: BTreeMap<String, Value>,
    #[serde(default)]
    excludes: BTreeMap<String, Value>,
    /// Lists with an item of this id, and without one.
    #[serde(default)]
    contains_id: BTreeMap<String, Value>,
    #[serde(default)]
    excludes_id: BTreeMap<String, Value>,
    /// Names for values that later steps write as `{name}`.
    #[serde(default)]
    keep: BTreeMap<String, String>,
}

fn administrator() -> String {
    String::from("admin")
}

fn walks_folder() -> PathBuf {
    folder().join("walks")
}

fn lines(name: &str) -> BTreeSet<String> {
    let text = fs::read_to_string(walks_folder().join(name)).unwrap();
    text.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

/// The walks of all files, in the order of the files' names.
fn walks() -> Vec<Walk> {
    let files = fs::read_dir(walks_folder()).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> =
        files.filter(|path| path.extension().is_some_and(|end| end == "json")).collect();
    files.sort();
    let read = |path: &PathBuf| -> Vec<Walk> {
        let text = fs::read_to_string(path).unwrap();
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    files.iter().flat_map(read).collect()
}

#[test]
fn every_published_row_is_walked_or_named() {
    let walked: BTreeSet<String> = walks().into_iter().map(|walk| walk.route).collect();
    let published = lines("published.txt");
    let named = lines("unwalked.txt");
    let missing: Vec<&String> = published.difference(&walked).collect();
    let named: Vec<&String> = named.iter().collect();
    assert_eq!(missing, named, "unwalked.txt names the published rows that no walk is about");
}

#[test]
fn routes_do_what_they_say_on_sqlite() {
    check(Site::sqlite());
}

#[test]
fn routes_do_what_they_say_on_postgres() {
    check(Site::postgres());
}

fn check(site: Site) {
    let original = RestSite::import(site);
    let running = original.site.serve();
    let mut wrong = Vec::new();
    for walk in walks() {
        let mut kept: BTreeMap<String, Value> = BTreeMap::new();
        let is_said = walk.steps.iter().any(|step| step.status >= 400);
        assert!(is_said, "{}: nothing wrong is tried", walk.route);
        for (place, step) in walk.steps.iter().enumerate() {
            let Err(problem) = take(&running, &original, step, &mut kept) else { continue };
            wrong.push(format!("{} step {} {}: {problem}", walk.route, place + 1, step.send));
            break;
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Without products the first task is open again, and demo products fill the shop, once.
#[test]
fn an_empty_catalogue_is_filled_up() {
    let original = RestSite::import(Site::sqlite());
    let running = original.site.serve();
    let mut kept = BTreeMap::new();
    let mut ask = |text: &str| -> Value {
        let step: Step = serde_json::from_str(text).unwrap();
        let keep = BTreeMap::from([(String::from("answer"), String::new())]);
        take(&running, &original, &Step { keep, ..step }, &mut kept).unwrap();
        kept.get("answer").unwrap().clone()
    };
    let products = ask(r#"{"send": "GET /wc/v3/products?per_page=100", "status": 200}"#);
    let ids = products.as_array().unwrap().iter().map(|product| product["id"].clone());
    let delete = serde_json::json!({ "delete": ids.collect::<Vec<_>>() });
    ask(&format!(r#"{{"send": "POST /wc/v3/products/batch", "status": 200, "body": {delete}}}"#));
    let tasks = r#""send": "GET /wc-admin/onboarding/tasks?ids=setup", "status": 200"#;
    ask(&format!(r#"{{{tasks}, "has": {{"/0/tasks/0/isComplete": false}}}}"#));
    let fill = r#""send": "POST /wc-admin/onboarding/products", "status": 200"#;
    ask(&format!(r#"{{{fill}, "has": {{"/success": true}}}}"#));
    let filled = ask(r#"{"send": "GET /wc/v3/products?status=publish", "status": 200}"#);
    assert_eq!(filled.as_array().unwrap().len(), 6, "{filled}");
    ask(&format!(r#"{{{tasks}, "has": {{"/0/tasks/0/isComplete": true}}}}"#));
    ask(&format!(r#"{{{fill}, "has": {{"/success": false}}}}"#));
}

fn take(
    running: &Running,
    original: &RestSite,
    step: &Step,
    kept: &mut BTreeMap<String, Value>,
) -> Result<(), String> {
    let (method, path) = step.send.split_once(' ').unwrap();
    let mut request = Request::new(method, &format!("/wp-json{}", filled(path, kept)));
    if step.caller != NOBODY {
        let pair = original.identities.get(&step.caller).unwrap();
        let basic = format!("Basic {}", BASE64_STANDARD.encode(pair));
        request = request.header("Authorization", &basic);
    }
    if let Some(body) = &step.body {
        let body = value_filled(body, kept).to_string();
        request = request.header("Content-Type", "application/json").body(body);
    }
    let answer = Connection::open(&running.url).unwrap().send(&request).unwrap();
    let text = answer.text();
    if answer.status != step.status {
        return Err(format!("want {}, got {} {text}", step.status, answer.status));
    }
    let body = answer.json().unwrap_or_default();
    judge(step, &body, kept).map_err(|problem| format!("{problem} in {text}"))?;
    for (name, pointer) in &step.keep {
        let value = body.pointer(pointer).ok_or_else(|| format!("nothing at {pointer}: {text}"))?;
        kept.insert(name.clone(), value.clone());
    }
    Ok(())
}

fn judge(step: &Step, body: &Value, kept: &BTreeMap<String, Value>) -> Result<(), String> {
    let at = |pointer: &str| body.pointer(pointer).cloned();
    let items = |pointer: &str| at(pointer).and_then(|list| list.as_array().cloned());
    for (pointer, value) in &step.has {
        let want = value_filled(value, kept);
        if at(pointer).as_ref() != Some(&want) {
            return Err(format!("{pointer}: want {want}"));
        }
    }
    for (pointer, value) in &step.differs {
        if at(pointer).is_none_or(|got| got == *value) {
            return Err(format!("{pointer}: want anything but {value}"));
        }
    }
    if let Some(pointer) = step.lacks.iter().find(|pointer| at(pointer).is_some()) {
        return Err(format!("{pointer}: want nothing"));
    }
    let lists = [(&step.contains, true), (&step.excludes, false)];
    for (pointer, value, is_in) in flat(lists) {
        let want = value_filled(value, kept);
        if items(pointer).is_none_or(|items| items.contains(&want) != is_in) {
            return Err(format!("{pointer}: want {want} in it: {is_in}"));
        }
    }
    let ids = [(&step.contains_id, true), (&step.excludes_id, false)];
    for (pointer, value, is_in) in flat(ids) {
        let has_id = |items: Vec<Value>| items.iter().any(|item| item.get("id") == Some(value));
        if items(pointer).is_none_or(|items| has_id(items) != is_in) {
            return Err(format!("{pointer}: want an item {value}: {is_in}"));
        }
    }
    Ok(())
}

fn flat<'a>(
    lists: [(&'a BTreeMap<String, Value>, bool); 2],
) -> impl Iterator<Item = (&'a String, &'a Value, bool)> {
    let each = |(list, is_in): (&'a BTreeMap<String, Value>, bool)| {
        list.iter().map(move |(pointer, value)| (pointer, value, is_in))
    };
    lists.into_iter().flat_map(each)
}

fn filled(text: &str, kept: &BTreeMap<String, Value>) -> String {
    kept.iter().fold(text.to_owned(), |text, (name, value)| {
        let plain = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        text.replace(&format!("{{{name}}}"), &plain)
    })
}

/// A text that is nothing but a name becomes the value itself, with its type.
fn value_filled(value: &Value, kept: &BTreeMap<String, Value>) -> Value {
    match value {
        Value::String(text) => {
            let name = text.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
            let whole = name.and_then(|name| kept.get(name)).cloned();
            whole.unwrap_or_else(|| Value::String(filled(text, kept)))
        }
        Value::Array(items) => items.iter().map(|item| value_filled(item, kept)).collect(),
        Value::Object(members) => {
            members.iter().map(|(name, value)| (name.clone(), value_filled(value, kept))).collect()
        }
        other => other.clone(),
    }
}
