//! One rule for passwords at every door: who sets one that is too short or known to everybody is
//! refused, and eight characters are enough.

use serde_json::{Value, json};
use testkit::http::{self, Request, Response};
use testkit::process;

use crate::rest_site::RestSite;
use crate::support::{Running, Site, basic};

const WEAK: [&str; 5] = ["abc", "7letter", "password1", "QWERTY123", "aaaaaaaaaaaa"];
const FINE: &str = "k7#Vw9qz";

#[test]
fn every_door_has_the_same_rule() {
    let shop = RestSite::import(Site::sqlite());
    let running = shop.site.serve();
    let admin = basic(shop.identities.get("admin").unwrap());
    for (number, password) in WEAK.into_iter().chain([FINE]).enumerate() {
        let is_fine = password == FINE;
        for (door, status) in doors(&running, &admin, number, password) {
            let is_taken = status < 300;
            assert_eq!(is_taken, is_fine, "{password} at {door}: {status}");
        }
        let create = ["user", "create", "--login", "cli", "--email", "cli@x.example"];
        let create = [&create[..], &["--role", "editor", "--password-stdin"]].concat();
        for arguments in [vec!["user", "set-password", "--login", "editor"], create] {
            let command = shop.site.command(&arguments);
            let done = process::run_command(command, format!("{password}\n").as_bytes()).unwrap();
            assert_eq!(done.status.success(), is_fine, "{password} at {arguments:?}");
        }
        confirmation(&running, password, is_fine);
    }
}

fn post(running: &Running, path: &str, authorization: &str, body: &Value) -> Response {
    let mut request = Request::new("POST", path).header("Content-Type", "application/json");
    if !authorization.is_empty() {
        request = request.header("Authorization", authorization);
    }
    http::send(&running.url, &request.body(body.to_string())).unwrap()
}

/// The routes that set a password, each with the status of its answer.
fn doors(
    running: &Running,
    admin: &str,
    number: usize,
    password: &str,
) -> Vec<(&'static str, u16)> {
    let user = json!({
        "username": format!("user{number}"), "email": format!("user{number}@x.example"),
        "password": password,
    });
    let customer = json!({ "email": format!("customer{number}@x.example"), "password": password });
    let new = json!({ "password": password });
    let mut doors = vec![
        ("/wp-json/wp/v2/users", user),
        ("/wp-json/wp/v2/users/me", new),
        ("/wp-json/wc/v3/customers", customer.clone()),
        ("/wp-json/wc/v2/customers", json!({ "email": "v2@x.example", "password": password })),
        ("/wp-json/wc/v1/customers", json!({ "email": "v1@x.example", "password": password })),
    ];
    let mut statuses: Vec<(&'static str, u16)> = doors
        .drain(..)
        .map(|(path, body)| (path, post(running, path, admin, &body).status))
        .collect();
    // A batch is answered item by item.
    let item = json!({ "email": format!("batch{number}@x.example"), "password": password });
    let path = "/wp-json/wc/v3/customers/batch";
    let batch = post(running, path, admin, &json!({ "create": [item] })).json().unwrap();
    let is_refused = batch["create"][0].get("error").is_some();
    statuses.push((path, if is_refused { 400 } else { 201 }));
    statuses
}

/// The link is wrong either way; the password is wrong only if the rule says so.
fn confirmation(running: &Running, password: &str, is_fine: bool) {
    let body = json!({ "token": "a".repeat(40), "password": password });
    let answer = post(running, "/v1/isos/confirm", "", &body);
    let told = answer.text().contains("\"password\"");
    assert_eq!(told, !is_fine, "{password}: {}", answer.text());
}
