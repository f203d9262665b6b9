//! Every recorded case of the REST interface whose route is there, on both engines, and the index
//! against the reference's. **What waits for its route is counted; the count may only shrink.**

use testkit::conformance::rest::{self, Case, Deviations, Report, Runner, Suite, Verdict, index};
use testkit::openapi::Documents;

use crate::clickhouse;
use crate::node_group::Nodes;
use crate::rest_site::RestSite;
use crate::support::{PROGRAM, Site};

/// Cases run side by side.
const JOBS: usize = 4;
/// The deviations of the index are judged by its own test.
const INDEX_DEVIATIONS: &str = "index";

#[test]
fn on_sqlite() {
    check(Site::sqlite());
}

#[test]
fn on_postgres() {
    check(Site::postgres());
}

fn check(site: Site) {
    // Reports are compared with those of a shop that answers as the reference does.
    let original = RestSite::import(site.set("analytics.compat", true));
    let suite = Suite::load(&rest::folder()).unwrap();
    let meant = Deviations::load(&rest::deviations_folder()).unwrap();
    let of_cases = meant.without(INDEX_DEVIATIONS).without(rest::MAKERS_SUITE);
    let mut report = Report::new(of_cases);
    let (sequences, plain): (Vec<_>, Vec<_>) =
        suite.cases().partition(|(_, case)| case.is_sequence);

    // Copies are taken before anything is served, so that none has seen a request.
    let copies: Vec<RestSite> = sequences.iter().map(|_| original.fresh()).collect();
    let running = original.site.serve();
    let documents = Documents::printed(PROGRAM).unwrap();
    let runner = Runner::new(&running.url, original.identities.clone()).unwrap();
    let runner = runner.documented(documents.clone());
    let cases: Vec<&Case> = plain.iter().map(|(_, case)| *case).collect();
    for ((area, case), verdicts) in plain.iter().zip(runner.run_all(&cases, JOBS)) {
        report.add(area, case, verdicts);
    }
    for ((area, case), copy) in sequences.iter().zip(copies) {
        let running = copy.site.serve();
        let runner = Runner::new(&running.url, copy.identities).unwrap();
        report.add(area, case, runner.documented(documents.clone()).run(case));
    }

    println!("{}", report.table());
    let pinned = rest::waiting_pinned(&rest::folder()).unwrap();
    let problems = report.problems(&pinned);
    assert!(problems.is_none(), "{}\n{}", report.table(), problems.unwrap());
}

/// A part of the cases, by three nodes in turn: they answer as one does. Which of them are right is
/// judged above.
#[test]
fn through_a_balancer() {
    let original = RestSite::import(Site::postgres());
    let suite = Suite::load(&rest::folder()).unwrap();
    let (sequences, plain): (Vec<_>, Vec<_>) =
        suite.cases().map(|(_, case)| case).partition(|case| case.is_sequence);
    let copies: Vec<[RestSite; 2]> = sequences
        .iter()
        .step_by(SEQUENCES_ONE_IN)
        .map(|_| [original.fresh(), original.fresh()])
        .collect();
    let run = |url: &str, site: &RestSite, cases: &[&Case]| {
        let runner = Runner::new(url, site.identities.clone()).unwrap();
        let verdict = |case: &&Case| format!("{}: {:?}", case.id, runner.run(case));
        // What is not right may tell the address.
        cases.iter().map(verdict).map(|said| said.replace(url, "")).collect::<Vec<_>>()
    };
    let cases: Vec<&Case> = plain.into_iter().step_by(CASES_ONE_IN).collect();
    let nodes = Nodes::start(&original.site);
    let by_one = run(&nodes.running[0].url, &original, &cases);
    assert_eq!(run(&nodes.url(), &original, &cases), by_one);
    drop(nodes);
    for (case, [one, other]) in sequences.iter().step_by(SEQUENCES_ONE_IN).zip(copies) {
        let by_one = run(&one.site.serve().url, &one, &[case]);
        let nodes = Nodes::start(&other.site);
        assert_eq!(run(&nodes.url(), &other, &[case]), by_one);
    }
}

/// Through the balancer goes one of so many.
const CASES_ONE_IN: usize = 10;
const SEQUENCES_ONE_IN: usize = 4;

#[test]
fn every_published_route_in_the_index_matches_the_reference() {
    let site = RestSite::import(Site::sqlite());
    let running = site.site.serve();
    let reference = index::Reference::load(&rest::folder().join("reference")).unwrap();
    let findings = reference.compare_site(&running.url).unwrap();
    println!("{} routes compared, {} absent", findings.compared, findings.absent.len());
    let known_absent = index::absent_known(&rest::folder()).unwrap();
    let mut meant = Deviations::load(&rest::deviations_folder()).unwrap().only(INDEX_DEVIATIONS);
    let problems = findings.problems(&known_absent, &mut meant);
    assert!(problems.is_none(), "{}", problems.unwrap());
    assert_eq!(meant.unused(), Vec::<String>::new(), "deviations that excuse nothing");
}

/// The cases about reports, answered by two shards of ClickHouse: as they are answered from memory.
/// Which of them are right is judged above.
#[test]
fn reports_on_clickhouse() {
    let original = RestSite::import(Site::sqlite().set("analytics.compat", true));
    let servers = testkit::clickhouse::shared();
    let engine = clickhouse::engine(&servers.urls(), &servers.database());
    let site = original.fresh().site.set("analytics.engine", engine);
    let suite = Suite::load(&rest::folder()).unwrap();
    let cases: Vec<&Case> = suite
        .cases()
        .filter(|(area, case)| is_about_reports(area) && !case.is_sequence)
        .map(|(_, case)| case)
        .collect();
    assert!(cases.len() > 300, "{}", cases.len());
    let run = |site: &Site, is_elsewhere: bool| {
        let running = site.serve();
        let runner = Runner::new(&running.url, original.identities.clone()).unwrap();
        let header = clickhouse::facts_header(&running.url, &original.identities["admin"]);
        let says_so = header.is_some_and(|header| header.starts_with("clickhouse; lag="));
        assert_eq!(says_so, is_elsewhere);
        let verdicts = runner.run_all(&cases, JOBS).into_iter().flatten().map(|verdict| {
            let said = differences(verdict).join("\n");
            said.replace(&running.url, "")
        });
        verdicts.collect::<Vec<String>>()
    };
    let from_memory = run(&original.site, false);
    let from_shards = run(&site, true);
    assert_eq!(from_shards.len(), from_memory.len());
    let ids = cases.iter().map(|case| &case.id);
    let others: Vec<_> = ids
        .zip(from_shards.iter().zip(&from_memory))
        .filter(|(_, (shards, memory))| shards != memory)
        .collect();
    assert!(others.is_empty(), "{others:#?}");
}

/// What differs from the recorded answer, but for the header that says where the facts are.
fn differences(verdict: Verdict) -> Vec<String> {
    match verdict {
        Verdict::Passed => Vec::new(),
        Verdict::Failed(all) => {
            let is_other = |line: &String| !line.starts_with("body.headers.X-Boardwalk-Facts:");
            all.into_iter().filter(is_other).collect()
        }
        Verdict::Waiting(why) => vec![why],
    }
}

fn is_about_reports(area: &str) -> bool {
    ["reports", "leaderboards", "performance", "customers"]
        .iter()
        .any(|start| area.starts_with(start))
}
