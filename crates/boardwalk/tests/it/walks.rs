//! The published routes of administration, row by row: what is wrong is refused, a change is read
//! back through another route, and what is read follows a change. The rows are data, in
//! `conformance/rest/walks`; **a published row that nobody walks fails.**

mod step;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use testkit::conformance::rest::folder;

use self::step::{Step, Walker};
use crate::far_host::EXEMPT;
use crate::rest_site::RestSite;
use crate::support::Site;
use crate::test_market::TestMarket;

/// A route with its method, and what is sent to see that it does what it says.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Walk {
    route: String,
    /// Files with the steps that lead to where the walk begins.
    #[serde(default)]
    before: Vec<String>,
    steps: Vec<Step>,
    /// Files with the steps that lead back.
    #[serde(default)]
    after: Vec<String>,
}

impl Walk {
    /// All steps, those of the files included.
    fn whole(self) -> (String, Vec<Step>) {
        let shared = |names: Vec<String>| {
            let file = |name: String| walks_folder().join("shared").join(format!("{name}.json"));
            names.into_iter().flat_map(move |name| read::<Vec<Step>>(&file(name)))
        };
        let steps = shared(self.before).chain(self.steps).chain(shared(self.after));
        (self.route, steps.collect())
    }
}

fn walks_folder() -> PathBuf {
    folder().join("walks")
}

fn read<T: DeserializeOwned>(path: &PathBuf) -> T {
    let text = fs::read_to_string(path)
        .unwrap_or_else(|error| panic!("{} cannot be read: {error}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The walks of all files, in the order of the files' names.
fn walks() -> Vec<Walk> {
    let files = fs::read_dir(walks_folder()).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> =
        files.filter(|path| path.extension().is_some_and(|end| end == "json")).collect();
    files.sort();
    files.iter().flat_map(read::<Vec<Walk>>).collect()
}

#[test]
fn every_published_row_is_walked() {
    let walked: BTreeSet<String> = walks().into_iter().map(|walk| walk.route).collect();
    let published = fs::read_to_string(walks_folder().join("published.txt")).unwrap();
    let published: BTreeSet<String> = published.lines().map(str::to_owned).collect();
    let missing: Vec<&String> = published.difference(&walked).collect();
    assert!(missing.is_empty(), "published rows that no walk is about: {missing:?}");
}

on_both_engines!(routes_do_what_they_say);

fn routes_do_what_they_say(site: Site) {
    let market = TestMarket::start();
    let (exempt, hosts) = EXEMPT;
    let site = site.set("admin.marketplace_url", &market.url).set(exempt, hosts);
    let original = RestSite::import(site);
    let walker = Walker { running: original.site.serve(), original, market };
    let mut wrong = Vec::new();
    for (route, steps) in walks().into_iter().map(Walk::whole) {
        let site = Value::from(walker.running.url.clone());
        let mut kept = BTreeMap::from([(String::from("site"), site)]);
        let is_said = steps.iter().any(|step| step.status >= 400);
        assert!(is_said, "{route}: nothing wrong is tried");
        for (place, step) in steps.iter().enumerate() {
            let Err(problem) = walker.take(step, &mut kept) else { continue };
            wrong.push(format!("{route} step {} {}: {problem}", place + 1, step.send));
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
    let walker = Walker { running, original, market: TestMarket::start() };
    let mut kept = BTreeMap::new();
    let mut ask = |text: &str| -> Value {
        let mut step: Step = serde_json::from_str(text).unwrap();
        step.keep.insert(String::from("answer"), String::new());
        walker.take(&step, &mut kept).unwrap();
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
