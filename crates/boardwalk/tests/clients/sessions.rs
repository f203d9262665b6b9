//! Client libraries that nobody here wrote, in the sessions that `conformance/clients` scripts. Each
//! session has a server with the recorded shop to itself and is told its address and credentials on
//! standard input.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::json;
use testkit::process;

use crate::folder;
use crate::rest_site::RestSite;
use crate::support::{PROGRAM, Site};

#[derive(Clone, Copy)]
enum Transport {
    Http,
    Https,
}

/// Runs a script of a client against a server of its own, which must be content with it.
fn session(program: &str, script: &str, transport: Transport) {
    let folder = folder("clients");
    let shop = RestSite::import(Site::sqlite());
    let program = if program == "python" { folder.join("venv/bin/python") } else { program.into() };
    let mut command = Command::new(program);
    command.arg(folder.join(script)).current_dir(&folder);
    let shop = match transport {
        Transport::Http => shop,
        Transport::Https => {
            let (shop, certificate) = with_certificate(shop);
            command.env("NODE_EXTRA_CA_CERTS", &certificate);
            command.env("REQUESTS_CA_BUNDLE", &certificate);
            shop
        }
    };
    let running = shop.site.serve();
    let given = json!({ "site": running.url, "identities": shop.identities });
    let output = process::run_command(command, given.to_string().as_bytes()).unwrap();
    let (said, complaint) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    println!("{script} on {}\n{said}{complaint}", running.url);
    assert!(output.status.success(), "{script} ended with {}", output.status);
    assert!(said.contains(" steps\n"), "{script} did not come to its end");
}

/// A shop that speaks https on the loopback addresses, and the certificate to trust.
fn with_certificate(shop: RestSite) -> (RestSite, PathBuf) {
    let RestSite { site, identities } = shop;
    let names = ["localhost", "127.0.0.1"].map(str::to_owned);
    let made = rcgen::generate_simple_self_signed(names).unwrap();
    let (certificate, key) = (site.data().join("site.pem"), site.data().join("site.key"));
    fs::write(&certificate, made.cert.pem()).unwrap();
    fs::write(&key, made.signing_key.serialize_pem()).unwrap();
    let site = site
        .set("server.tls.certificate", certificate.display())
        .set("server.tls.private_key", key.display());
    (RestSite { site, identities }, certificate)
}

/// The package that checks signatures of webhooks, against webhooks of an ISO.
#[test]
fn standard_webhooks() {
    let folder = folder("clients");
    let site = Site::sqlite().set("server.outbound.exempt", r#"["127.0.0.1"]"#);
    let key = site.key(&site.iso("CannedAnswer"));
    let running = site.serve();
    let mut command = Command::new(folder.join("venv/bin/python"));
    command.arg(folder.join("standard_webhooks_session.py")).current_dir(&folder);
    let given = json!({ "site": running.url, "key": key });
    let output = process::run_command(command, given.to_string().as_bytes()).unwrap();
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{complaint}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "3 steps\n", "{complaint}");
}

/// The protocol's own client library, with `boardwalk mcp` between it and the server.
#[test]
fn boardwalk_mcp() {
    let folder = folder("clients");
    let shop = RestSite::import(Site::sqlite());
    let key = shop.site.key(&shop.site.iso("Assistants"));
    let running = shop.site.serve();
    let script = "boardwalk-mcp.mjs";
    let mut command = Command::new("node");
    command.arg(folder.join(script)).current_dir(&folder);
    command.env("BOARDWALK", PROGRAM).env("BOARDWALK_API_KEY", key);
    let given = json!({ "site": running.url, "identities": shop.identities });
    let output = process::run_command(command, given.to_string().as_bytes()).unwrap();
    let (said, complaint) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    println!("{script}\n{said}{complaint}");
    assert!(output.status.success(), "{script} ended with {}", output.status);
    assert!(said.ends_with("9 steps\n"), "{script} did not come to its end");
}

#[test]
fn wpapi() {
    session("node", "wpapi.cjs", Transport::Http);
}

#[test]
fn api_fetch() {
    session("node", "api-fetch.cjs", Transport::Http);
}

#[test]
fn woocommerce_data() {
    session("node", "woocommerce-data.cjs", Transport::Http);
}

#[test]
fn core_data() {
    session("node", "core-data.cjs", Transport::Http);
}

#[test]
fn woocommerce_for_node_signs_over_http() {
    session("node", "woocommerce-rest-api.cjs", Transport::Http);
}

#[test]
fn woocommerce_for_node_shows_its_key_over_https() {
    session("node", "woocommerce-rest-api.cjs", Transport::Https);
}

#[test]
fn woocommerce_for_python_signs_over_http() {
    session("python", "woocommerce_session.py", Transport::Http);
}

#[test]
fn woocommerce_for_python_shows_its_key_over_https() {
    session("python", "woocommerce_session.py", Transport::Https);
}

/// Automation tools send the key as it is, which is for https only.
#[test]
fn activepieces() {
    session("node", "activepieces.cjs", Transport::Https);
}

#[test]
fn pipedream() {
    session("node", "pipedream.mjs", Transport::Https);
}

#[test]
fn store_sdk() {
    session("node", "store-sdk.mjs", Transport::Http);
}

#[test]
fn model_context_protocol() {
    session("node", "mcp.mjs", Transport::Http);
}

#[test]
fn woocommerce_rest_ts_api_signs_over_http() {
    session("node", "woocommerce-rest-ts-api.cjs", Transport::Http);
}

#[test]
fn woocommerce_rest_ts_api_shows_its_key_over_https() {
    session("node", "woocommerce-rest-ts-api.cjs", Transport::Https);
}

#[test]
fn wordpress_api_client() {
    session("node", "wordpress-api-client.cjs", Transport::Http);
}

#[test]
fn dlt() {
    session("python", "dlt_session.py", Transport::Http);
}
