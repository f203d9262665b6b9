//! The command line as scripts rely on it: one JSON object, exit statuses, one sentence of
//! complaint.

use std::fs;

use data_encoding::BASE64;
use serde_json::{Value, json};
use testkit::http;
use testkit::process::{self, Server};

use crate::support::{Site, body, complaint, text};

/// The members of an object are exactly these.
fn check_members(object: &Value, members: &[&str]) {
    let mut found: Vec<&str> = object.as_object().unwrap().keys().map(String::as_str).collect();
    let mut wanted = members.to_vec();
    found.sort_unstable();
    wanted.sort_unstable();
    assert_eq!(found, wanted, "{object}");
}

/// The one list that the command prints.
fn list(site: &Site, command: &[&str], name: &str) -> Vec<Value> {
    let object = site.json(command);
    check_members(&object, &[name]);
    object[name].as_array().unwrap().clone()
}

#[test]
fn isos_keys_and_templates_are_managed_by_scripts() {
    let site = Site::sqlite();
    let iso = site.json(&["iso", "create", "--name", "Harbor ISO"]);
    check_members(&iso, &["isoId"]);
    let iso = text(&iso, "isoId");
    let isos = list(&site, &["iso", "list"], "isos");
    assert_eq!(
        (isos.len(), &isos[0]["isoId"], &isos[0]["name"]),
        (1, &json!(iso), &json!("Harbor ISO"))
    );

    let made = site.json(&["key", "create", "--iso", &iso, "--name", "till", "--expires", "12h"]);
    check_members(&made, &["keyId", "key", "expires"]);
    let (key_id, key) = (text(&made, "keyId"), text(&made, "key"));
    assert!(key.starts_with(&format!("bw_test_{key_id}_")), "{key_id} is not in the key");
    let keys = list(&site, &["key", "list"], "keys");
    assert_eq!(
        (keys.len(), &keys[0]["state"], &keys[0]["name"]),
        (1, &json!("live"), &json!("till"))
    );
    assert!(!keys[0].to_string().contains(&key), "the key is shown again");

    let rotated = site.json(&["key", "rotate", &key_id, "--overlap", "0s"]);
    check_members(&rotated, &["keyId", "key", "expires"]);
    let new_id = text(&rotated, "keyId");
    site.json(&["key", "revoke", &new_id]);
    let states: Vec<Value> =
        list(&site, &["key", "list"], "keys").iter().map(|key| key["state"].clone()).collect();
    assert!(states.contains(&json!("expired")) && states.contains(&json!("revoked")), "{states:?}");

    let parameters = site.data().join("parameters.json");
    fs::write(&parameters, r#"{"tipEnabled":true}"#).unwrap();
    let file = parameters.to_str().unwrap();
    let template = ["template", "create", "--iso", &iso, "--name", "Lunch01", "--file", file];
    let made = site.json(&template);
    check_members(&made, &["templateId", "name"]);
    let templates = list(&site, &["template", "list"], "templates");
    assert_eq!((templates.len(), &templates[0]["name"]), (1, &json!("Lunch01")));
    assert!(complaint(&site.run(&template), 1).contains("already"));
}

#[test]
fn users_are_managed_by_scripts() {
    let site = Site::sqlite();
    let iso = site.iso("Harbor ISO");
    let create = ["user", "create", "--login", "ada", "--email", "ada@harbor.example", "--json"];
    let mut command = site.command(&create);
    command.args(["--role", "iso_admin", "--iso", &iso, "--password-stdin"]);
    let output = process::run_command(command, b"correct horse battery\n").unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let made: Value = serde_json::from_slice(&output.stdout).unwrap();
    check_members(&made, &["userId"]);
    let users = list(&site, &["user", "list"], "users");
    assert_eq!(
        (users.len(), &users[0]["login"], &users[0]["boundTo"]),
        (1, &json!("ada"), &json!(iso))
    );
    assert!(!users[0].to_string().contains("horse"));

    let again = [&create[..], &["--role", "administrator"]].concat();
    complaint(&site.run(&again), 1);
    let unbound = ["user", "create", "--login", "bo", "--email", "bo@harbor.example", "--role"];
    let unbound = [&unbound[..], &["iso_staff"]].concat();
    assert!(complaint(&site.run(&unbound), 1).contains("--iso"));
}

#[test]
fn failures_and_wrong_usage_are_told_apart() {
    let site = Site::sqlite();
    let wrong: [&[&str]; 9] = [
        &[],
        &["bogus"],
        &["iso"],
        &["iso", "create"],
        &["iso", "list", "--bogus"],
        &["key", "create", "--iso", "x", "--expires", "soon"],
        &["key", "create", "--iso", "x", "--scope", "everything"],
        &["--environment", "staging", "iso", "list"],
        &["serve", "--listen", "here"],
    ];
    for arguments in wrong {
        let said = complaint(&site.run(arguments), 2);
        assert!(said.contains("Usage") || said.contains("--help"), "{arguments:?}: {said}");
    }
    let iso = site.iso("Harbor ISO");
    let failing: [(&[&str], &str); 9] = [
        (&["key", "create", "--iso", "iso_none"], "boardwalk iso list"),
        (&["key", "revoke", "NOSUCHID"], "boardwalk key list"),
        (&["key", "rotate", "NOSUCHID"], "boardwalk key list"),
        (&["key", "create", "--iso", &iso, "--expires", "731d"], "730 days"),
        (&["--environment", "production", "demo"], "--environment"),
        (&["template", "create", "--iso", &iso, "--name", "a b"], "5 to 30"),
        (&["iso", "create", "--name", " "], "1 to 100"),
        (&["--database", "mysql://db/x", "iso", "list"], "postgres://"),
        (&["--config", "missing.toml", "iso", "list"], "missing.toml"),
    ];
    for (arguments, part) in failing {
        let said = complaint(&site.run(arguments), 1);
        assert!(said.contains(part), "{arguments:?}: no {part:?} in {said}");
    }
}

#[test]
fn a_mistyped_folder_does_not_become_an_installation() {
    let site = Site::sqlite();
    for command in [&["iso", "list"][..], &["key", "list"], &["user", "list"]] {
        let said = complaint(&site.run(command), 1);
        assert!(said.contains("--data") && said.contains("boardwalk iso create"), "{said}");
    }
    assert_eq!(fs::read_dir(site.data()).unwrap().count(), 0, "something was made");
}

#[test]
fn people_get_plain_tables_where_there_is_no_terminal() {
    let site = Site::sqlite();
    site.iso("Harbor ISO");
    for command in [&["iso", "list"][..], &["key", "list"], &["doctor"]] {
        let output = site.run(command);
        assert!(output.status.success(), "{command:?}");
        let shown = String::from_utf8(output.stdout).unwrap();
        assert!(!shown.is_empty() && !shown.contains('\u{1b}'), "{command:?}: {shown:?}");
    }
}

#[test]
fn serve_without_an_environment_serves_both() {
    let site = Site::sqlite();
    let production_key = site.production_key();
    let key = site.key(&site.iso("Harbor ISO"));
    for flags in [&[][..], &["--json"]] {
        let listen = ["--listen", "127.0.0.1:0", "--listen-production", "127.0.0.1:0"];
        let admin = ["--admin-listen", "127.0.0.1:0"];
        let command = site.command(&[&["serve"], &listen[..], &admin[..], flags].concat());
        let server = Server::start_command(command, &["sandbox", "production"]).unwrap();
        assert!(server.lines_before_ready().is_empty(), "{:?}", server.lines_before_ready());
        for (environment, good, bad) in
            [("sandbox", &key, &production_key), ("production", &production_key, &key)]
        {
            let status = |key: &str| {
                let authorization = crate::support::authorization(key);
                let headers = [("Authorization", &*authorization)];
                let path = "/v1/merchants/000000000000";
                http::get(server.url(environment), path, &headers).unwrap().status
            };
            assert_eq!((status(good), status(bad)), (404, 401), "{environment}");
        }
    }
}

#[test]
fn commands_work_beside_a_running_server() {
    for site in [Site::sqlite(), Site::postgres()] {
        let running = site.serve();
        let iso = site.iso("Latecomer");
        let key = site.key(&iso);
        site.json(&["template", "create", "--iso", &iso, "--name", "Lunch01"]);
        let mut request = body("Latecomer");
        request["tpnData"]["tpnAssignTemplate"] = json!("Lunch01");
        let answer = running.onboard(&key, &request);
        assert_eq!(answer.status, 200, "{}", answer.text());
        assert_eq!(list(&site, &["iso", "list"], "isos").len(), 1);
        site.json(&["doctor"]);
    }
}

#[test]
fn the_interface_is_described_by_the_command_and_by_the_server() {
    let site = Site::sqlite();
    let printed = site.json(&["openapi"]);
    assert_eq!(printed["openapi"], "3.1.0");
    assert!(printed["paths"]["/v1/onboardmerchant"]["post"].is_object());
    let served = http::get(&site.serve().url, "/v1/openapi.json", &[]).unwrap();
    let (served, mut printed) = (served.json().unwrap(), printed);
    printed["servers"] = json!([{ "url": "/", "description": "The server that you asked." }]);
    assert!(served == printed, "they differ in more than the address");
}

/// What a schema or a response refers to, or itself.
fn resolved<'d>(document: &'d Value, part: &'d Value) -> &'d Value {
    match part["$ref"].as_str() {
        Some(reference) => document.pointer(reference.trim_start_matches('#')).unwrap(),
        None => part,
    }
}

/// Whether every value fits.
fn says_nothing(document: &Value, schema: &Value) -> bool {
    let schema = resolved(document, schema);
    let keywords = schema.as_object().into_iter().flat_map(|keywords| keywords.keys());
    let mut keywords = keywords.filter(|name| !matches!(name.as_str(), "description" | "title"));
    let alternatives = schema["anyOf"].as_array();
    keywords.next().is_none()
        || alternatives.is_some_and(|each| each.iter().any(|one| says_nothing(document, one)))
}

#[test]
fn every_operation_declares_what_it_answers() {
    let site = Site::sqlite();
    for interface in ["rest", "onboarding"] {
        let document = site.json(&["openapi", "--interface", interface]);
        let mut looked_at = 0;
        let mut undeclared = Vec::new();
        for (path, operations) in document["paths"].as_object().unwrap() {
            for (method, operation) in operations.as_object().unwrap() {
                let responses = operation["responses"].as_object().unwrap();
                let successes = responses
                    .iter()
                    .filter(|(status, _)| status.starts_with('2') && *status != "204");
                for (status, response) in successes {
                    let content = resolved(&document, response)["content"].as_object();
                    let empty = content.is_none_or(|content| {
                        let mut schemas = content.values().map(|body| &body["schema"]);
                        content.is_empty() || schemas.any(|body| says_nothing(&document, body))
                    });
                    looked_at += 1;
                    if empty {
                        undeclared.push(format!("{method} {path} {status}"));
                    }
                }
            }
        }
        assert!(looked_at > 50, "{interface} has {looked_at} successes");
        assert!(undeclared.is_empty(), "{interface}: {undeclared:#?}");
    }
}

#[test]
fn shells_get_completions() {
    let site = Site::sqlite();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let output = site.run(&["completions", shell]);
        assert!(output.status.success(), "{shell}");
        let script = String::from_utf8(output.stdout).unwrap();
        assert!(script.contains("boardwalk") && script.contains("template"), "{shell}");
    }
    complaint(&site.run(&["completions", "tcsh"]), 2);
}

#[test]
fn a_demo_can_be_tried_at_once() {
    let site = Site::sqlite();
    let mut arguments =
        vec!["demo", "--json", "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0"];
    arguments.extend(["--orders", "120"]);
    let server = Server::start_command(site.command(&arguments), &["sandbox"]).unwrap();
    let told: Value = serde_json::from_str(&server.lines_before_ready().join("\n")).unwrap();
    let key = text(&told, "api_key");
    let authorization = crate::support::authorization(&key);
    let mut request = body("Demo");
    request["tpnData"]["tpnAssignTemplate"] = told["template"].clone();
    let headers = [("Authorization", &*authorization)];
    let url = server.url("sandbox");
    let answer = http::post(url, "/v1/onboardmerchant", &headers, &request).unwrap();
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert_eq!(told["url"], url, "the address told is the one served");

    let pair = format!("{}:{}", text(&told, "login"), text(&told, "application_password"));
    let basic = format!("Basic {}", BASE64.encode(pair.as_bytes()));
    let headers = [("Authorization", &*basic)];
    let answer = http::get(url, "/wp-json/wc/v3/orders?per_page=100", &headers).unwrap();
    assert_eq!(answer.header("x-wp-total").as_deref(), Some("120"));
    drop(server);
    for more in [["--orders", "130"], ["--seed", "5"]] {
        let refused = site.run(&[&arguments[..6], &more[..]].concat());
        assert!(complaint(&refused, 1).contains("--data"), "{more:?}");
    }
    let server = Server::start_command(site.command(&arguments[..6]), &["sandbox"]).unwrap();
    assert_eq!(server.lines_before_ready().len(), 1, "it is served as it is");
}

#[test]
fn authors_pack_and_check_their_plugins() {
    let site = Site::sqlite();
    let folder = testkit::temp_dir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let manifest = json!({ "slug": "demo", "name": "Demo", "version": "1.2.0" });
    fs::create_dir(path("demo")).unwrap();
    let refused = site.run(&["plugin", "pack", &path("demo"), "--out", &path("demo.zip")]);
    assert!(complaint(&refused, 1).contains("plugin.json"), "a folder without a manifest");
    fs::write(path("demo/plugin.json"), manifest.to_string()).unwrap();
    let public = text(&site.json(&["plugin", "key", &path("sign.key")]), "publicKey");
    assert!(
        complaint(&site.run(&["plugin", "key", &path("sign.key")]), 1).contains("cannot write")
    );
    let words = ["plugin", "pack", &path("demo"), "--out", &path("demo.zip")];
    let packed = site.json(&[&words[..], &["--key", &path("sign.key")]].concat());
    assert_eq!((&packed["slug"], &packed["signedBy"]), (&json!("demo"), &json!(public)));
    let checked = site.json(&["plugin", "check", &path("demo.zip")]);
    assert_eq!(checked, packed);
    let mut bytes = fs::read(path("demo.zip")).unwrap();
    bytes.truncate(bytes.len() / 2);
    fs::write(path("demo.zip"), bytes).unwrap();
    complaint(&site.run(&["plugin", "check", &path("demo.zip")]), 1);
    complaint(&site.run(&["plugin", "check", &path("sign.key")]), 1);
}
