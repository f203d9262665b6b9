//! Every recorded onboarding case, on both engines. **None may be left out.**

use std::thread;
use std::time::Duration;

use testkit::conformance::onboarding::{self, Features, Keys, Runner, Verdict};

use crate::node_group::{self, Nodes};
use crate::support::{Site, text};

/// Cases run side by side.
const JOBS: usize = 4;
const KEY_LIFE: Duration = Duration::from_secs(1);

#[test]
fn on_sqlite() {
    check(&Site::sqlite());
}

#[test]
fn on_postgres() {
    check(&Site::postgres());
}

fn check(site: &Site) {
    let keys = keys(site);
    let running = site.serve();
    judge(&running.url, keys);
}

/// Through `HAProxy`, by three nodes in turn.
#[test]
fn through_a_balancer() {
    let site = node_group::site();
    let keys = keys(&site);
    let nodes = Nodes::start(&site);
    judge(&nodes.url(), keys);
}

fn judge(url: &str, keys: Keys) {
    let cases = onboarding::load(&onboarding::folder()).unwrap();
    let runner = Runner::new(url, keys, Features { sandbox: true, concurrency: true });
    let verdicts = runner.run_all(&cases, JOBS);

    let mut passed = 0;
    let mut noted = Vec::new();
    let mut wrong = Vec::new();
    for (case, verdict) in cases.iter().zip(&verdicts) {
        match verdict {
            Verdict::Passed => passed += 1,
            Verdict::Noted(problems) => noted.push((&case.id, problems)),
            Verdict::Failed(_) | Verdict::Skipped(_) => {
                wrong.push(format!("{}: {verdict:#?}", case.id));
            }
        }
    }
    println!("{} cases: {passed} passed, {} noted", cases.len(), noted.len());
    for (id, problems) in noted {
        println!("noted {id}: {problems:?}");
    }
    assert!(wrong.is_empty(), "{} cases are wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// Two ISOs, a template, and a key for everything that can be wrong with one.
fn keys(site: &Site) -> Keys {
    let iso = site.iso("Conformance");
    let other_iso = site.iso("Somebody else");
    let life = format!("{}s", KEY_LIFE.as_secs());
    let expired = site.key_with(&iso, &["--expires", &life]).1;
    let (revoked_id, revoked) = site.key_with(&iso, &["--name", "revoked"]);
    site.json(&["key", "revoke", &revoked_id]);
    let no_scope = site.key_with(&iso, &["--scope", "events.read"]).1;
    let extra = [
        ("expired", expired),
        ("revoked", revoked),
        ("other_env", site.production_key()),
        ("no_scope", no_scope),
    ];
    let template = site.json(&["template", "create", "--iso", &iso, "--name", "RESTAURANT01"]);
    let keys = Keys {
        key: site.key(&iso),
        other_key: Some(site.key(&other_iso)),
        template: Some(text(&template, "name")),
        extra: extra.map(|(name, key)| (name.to_owned(), key)).into(),
    };
    thread::sleep(KEY_LIFE);
    keys
}
