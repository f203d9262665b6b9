//! The test suite that the reference's makers publish for their own REST interface, against a server
//! on an empty site. **Every test passes, or is listed with a reason in `conformance/deviations`;
//! one that is listed and passes is a failure too.**

use std::fs;
use std::path::Path;
use std::process::Command;

use serde::Deserialize;
use testkit::conformance::rest::{self, Deviations};
use testkit::process;

use crate::folder;
use crate::support::{Site, text};

/// How many tests the pinned version has; two of them it leaves out itself.
const TESTS: usize = 122;
const LEFT_OUT: usize = 2;
const LOGIN: &str = "admin";

#[test]
fn on_sqlite() {
    check(&Site::sqlite());
}

#[test]
fn on_postgres() {
    check(&Site::postgres());
}

fn check(site: &Site) {
    let who = ["--login", LOGIN, "--email", "admin@example.test", "--role", "administrator"];
    site.json(&[&["user", "create"], &who[..]].concat());
    let made = site.json(&["user", "app-password", "--login", LOGIN, "--name", "Suite"]);
    let running = site.serve();
    let results = run(&running.url, &text(&made, "password"), site.data());

    let mut meant = Deviations::load(&rest::deviations_folder()).unwrap().only(rest::MAKERS_SUITE);
    let count = |status: &str| results.iter().filter(|result| result.status == status).count();
    let summary = format!("{} passed, {} failed", count("passed"), count("failed"));
    let mut failures = Vec::new();
    for failed in results.iter().filter(|result| result.status == "failed") {
        let difference = failed.failure_messages.join("\n");
        match meant.reason(&failed.full_name, &difference) {
            Some(reason) => println!("deviates: {}: {reason}", failed.full_name),
            None => failures.push(format!("{}\n{difference}", failed.full_name)),
        }
    }
    println!("{summary} on {}", running.url);
    assert!(failures.is_empty(), "{summary}\n{}", failures.join("\n\n"));
    assert_eq!(meant.unused(), Vec::<String>::new(), "deviations that excuse nothing");
    assert_eq!((results.len(), count("pending")), (TESTS, LEFT_OUT), "not every test has run");
}

/// What jest writes, as far as it is of interest.
#[derive(Deserialize)]
struct Outcome {
    #[serde(rename = "testResults")]
    files: Vec<FileOutcome>,
}

#[derive(Deserialize)]
struct FileOutcome {
    #[serde(rename = "assertionResults")]
    tests: Vec<TestOutcome>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TestOutcome {
    full_name: String,
    /// `passed`, `failed`, or `pending` for one that the suite leaves out.
    status: String,
    failure_messages: Vec<String>,
}

/// Runs all of the suite's tests; the file with their outcome goes into the scratch folder.
fn run(url: &str, password: &str, scratch: &Path) -> Vec<TestOutcome> {
    let folder = folder("suite");
    let outcome = scratch.join("suite.json");
    let mut command = Command::new("node");
    command
        .arg(folder.join("node_modules/jest/bin/jest.js"))
        .args(["--config", "jest.config.cjs", "--json", "--outputFile"])
        .arg(&outcome)
        .current_dir(&folder)
        .env("BASE_URL", url)
        .env("USER_KEY", LOGIN)
        .env("USER_SECRET", password);
    let output = process::run_command(command, b"").unwrap();
    let written = fs::read(&outcome).unwrap_or_else(|error| {
        panic!("jest wrote no outcome ({error}): {}", String::from_utf8_lossy(&output.stderr))
    });
    let outcome: Outcome = serde_json::from_slice(&written).unwrap();
    outcome.files.into_iter().flat_map(|file| file.tests).collect()
}
