//! Every recorded case of the store front, of media, comments, search and pages, on both engines.
//! **What waits for its route, and what still differs, is listed; both lists may only shrink.**
//! Every answer is held against the OpenAPI documents, too.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::thread;

use serde_json::json;
use testkit::conformance::rest::{
    self, Case, Deviations, Identities, Report, Runner, Seed, Seeded, Suite, Verdict,
};
use testkit::openapi::Documents;
use testkit::{http, process};

use crate::support::{PROGRAM, Site, basic, text};

/// Cases run side by side.
const JOBS: usize = 4;
/// Servers of sequences run side by side.
const SERVERS: usize = 2;
const ADMINISTRATOR: &str = "admin";
/// As the recorded pages for authorization have it.
const PASSWORD: &str = "adminpass";
/// How the recorded site puts addresses of posts together.
const PERMALINKS: &str = "/%year%/%monthnum%/%day%/%postname%/";
/// The folder of deviations that belong to these cases.
const DEVIATIONS: &str = "storefront";

/// A shop that was made over its own interface.
struct SeededSite {
    site: Site,
    identities: Identities,
    ids: BTreeMap<i64, i64>,
    /// Where it was made; some texts have it.
    address: String,
    documents: Documents,
}

#[test]
fn on_sqlite() {
    check(Site::sqlite());
}

#[test]
fn on_postgres() {
    check(Site::postgres());
}

fn check(site: Site) {
    let folder = rest::storefront_folder();
    let suite = Suite::load(&folder).unwrap();
    let meant = Deviations::load(&rest::deviations_folder().join(DEVIATIONS)).unwrap();
    let mut report = Report::new(meant).knowing(rest::failing_known(&folder).unwrap());
    let (sequences, plain): (Vec<_>, Vec<_>) =
        suite.cases().partition(|(_, case)| case.is_sequence);

    let original = SeededSite::make(site);
    // Nothing is ever served from this copy, so that every sequence begins with the same data.
    let template = original.copied();
    let running = original.site.serve();
    let runner = original.runner(&running.url);
    let cases: Vec<&Case> = plain.iter().map(|(_, case)| *case).collect();
    for ((area, case), verdicts) in plain.iter().zip(runner.run_all(&cases, JOBS)) {
        report.add(area, case, verdicts);
    }
    drop(running);
    for (area, case, verdicts) in run_sequences(&template, &sequences) {
        report.add(area, case, verdicts);
    }

    println!("{}", report.table());
    let pinned = rest::waiting_pinned(&folder).unwrap();
    let problems = report.problems(&pinned);
    assert!(problems.is_none(), "{}\n{}", report.table(), problems.unwrap());
}

/// Runs each sequence on a server and a copy of its own.
fn run_sequences<'suite>(
    template: &SeededSite,
    sequences: &[(&'suite str, &'suite Case)],
) -> Vec<(&'suite str, &'suite Case, Vec<Verdict>)> {
    let (waiting, done) = (Mutex::new(sequences.iter()), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..SERVERS {
            scope.spawn(|| {
                loop {
                    let Some((area, case)) = waiting.lock().unwrap().next() else { break };
                    let copy = template.copied();
                    let running = copy.site.serve();
                    let verdicts = copy.runner(&running.url).run(case);
                    done.lock().unwrap().push((*area, *case, verdicts));
                }
            });
        }
    });
    done.into_inner().unwrap()
}

impl SeededSite {
    fn make(site: Site) -> Self {
        let user = ["--login", ADMINISTRATOR, "--email", "admin@example.test"];
        let role = ["--role", "administrator", "--password-stdin"];
        let create = site.command(&[&["user", "create"], &user[..], &role[..]].concat());
        let created = process::run_command(create, PASSWORD.as_bytes()).unwrap();
        assert!(created.status.success(), "{}", String::from_utf8_lossy(&created.stderr));
        let mut identities = Identities::from([credential(&site, ADMINISTRATOR)]);
        let seed = Seed::load(&rest::storefront_folder().join("seed.json")).unwrap();
        let running = site.serve();
        let authorization = basic(&identities[ADMINISTRATOR]);
        let options = json!({ "permalink_structure": PERMALINKS });
        let headers = [("Authorization", &*authorization)];
        let set = http::post(&running.url, "/wp-json/wc-admin/options", &headers, &options);
        assert_eq!(set.unwrap().status, 200, "how addresses of posts are put together");
        let Seeded { ids, users, refused } = seed.send(&running.url, &identities).unwrap();
        assert_eq!(refused, Vec::<String>::new(), "requests of the seed are refused");
        let address = running.url.clone();
        drop(running);
        identities.extend(users.keys().map(|login| credential(&site, login)));
        let documents = Documents::printed(PROGRAM).unwrap();
        Self { site, identities, ids, address, documents }
    }

    fn copied(&self) -> Self {
        let (identities, ids) = (self.identities.clone(), self.ids.clone());
        let (address, documents) = (self.address.clone(), self.documents.clone());
        Self { site: self.site.copied(), identities, ids, address, documents }
    }

    fn runner(&self, url: &str) -> Runner {
        let runner = Runner::new(url, self.identities.clone()).unwrap();
        let runner = runner.seeded(self.ids.clone(), &self.address);
        runner.documented(self.documents.clone())
    }
}

/// A login with an application password, as the cases name it.
fn credential(site: &Site, login: &str) -> (String, String) {
    let made = site.json(&["user", "app-password", "--login", login, "--name", "Cases"]);
    (login.to_owned(), format!("{login}:{}", text(&made, "password")))
}
