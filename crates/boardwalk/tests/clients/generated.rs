//! Clients that generators made of the OpenAPI documents, in the sessions that
//! `conformance/generated` scripts: each onboards a merchant, reads a report, makes an order and
//! reads it back.

use std::process::Command;

use serde_json::json;
use testkit::process;

use crate::folder;
use crate::rest_site::RestSite;
use crate::support::Site;

/// Runs a script against a server of its own, which must be content with it.
fn session(program: &str, script: &str) {
    let folder = folder("generated");
    let shop = RestSite::import(Site::sqlite());
    let key = shop.site.key(&shop.site.iso("Generated"));
    let running = shop.site.serve();
    let mut command = Command::new(program);
    command.arg(folder.join(script)).current_dir(&folder);
    let given = json!({ "site": running.url, "key": key, "identities": shop.identities });
    let output = process::run_command(command, given.to_string().as_bytes()).unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    println!("{script}\n{said}{}", String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{script} ended with {}", output.status);
    assert!(said.ends_with("5 steps\n"), "{script} did not come to its end");
}

#[test]
fn openapi_typescript() {
    session("node", "js/openapi-typescript.js");
}

#[test]
fn hey_api() {
    session("node", "js/hey-api.js");
}

#[test]
fn orval() {
    session("node", "js/orval.js");
}

#[test]
fn openapi_python_client() {
    let python = folder("generated").join("venv/bin/python");
    session(python.to_str().unwrap(), "openapi_python_client_session.py");
}
