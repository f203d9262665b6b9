//! A merchant is invited by e-mail, fills in its form without an account, and is onboarded; its ISO
//! is notified, and nobody else learns anything.

use std::time::Duration;

use serde_json::{Value, json};
use testkit::http;
use testkit::process;
use testkit::smtp::Sink;

use crate::browser::Browser;
use crate::mail::with_relay;
use crate::support::{Running, Site, authorization, body, text};

const PATIENCE: Duration = Duration::from_mins(1);
const PASSWORD: &str = "correct horse battery";
const OWNER: &str = "owner@harbor.example";

fn user(site: &Site, arguments: &[&str]) {
    let command = site.command(&[&["user", "create", "--password-stdin"], arguments].concat());
    let made = process::run_command(command, format!("{PASSWORD}\n").as_bytes()).unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
}

/// What stands behind `before` in the newest e-mail to the address, among so many e-mails.
fn in_email(sink: &Sink, emails: usize, to: &str, before: &str) -> Option<String> {
    let got = sink.wait_for(emails, PATIENCE).unwrap();
    let email = got.iter().rev().find(|email| email.to == [to])?;
    let data = email.data.replace("=\r\n", "").replace("=\n", "").replace("=3D", "=");
    let (_, rest) = data.split_once(before)?;
    let is_part = |letter: &char| letter.is_ascii_alphanumeric() || *letter == '_';
    Some(rest.chars().take_while(is_part).collect())
}

fn by_merchant(running: &Running, action: &str, body: &Value) -> http::Response {
    http::post(&running.url, &format!("/v1/onboarding-links/{action}"), &[], body).unwrap()
}

/// What the merchant enters.
fn entered(token: &str, dba: &str) -> Value {
    let whole = body(dba);
    json!({ "token": token, "merchantData": whole["merchantData"],
            "storeData": whole["storeData"] })
}

#[test]
fn a_merchant_is_invited_on_sqlite() {
    merchant_is_invited(Site::sqlite());
}

#[test]
fn a_merchant_is_invited_on_postgres() {
    merchant_is_invited(Site::postgres());
}

fn merchant_is_invited(site: Site) {
    let sink = Sink::start().unwrap();
    let site = with_relay(site, &sink);
    let (iso, other) = (site.iso("Pier Payments"), site.iso("Others"));
    site.json(&["template", "create", "--iso", &iso, "--name", "RESTAURANT01"]);
    let (key, stranger) = (site.key(&iso), site.key(&other));
    let email = ["--login", "ada", "--email", "ada@pier.example"];
    user(&site, &[&email[..], &["--role", "iso_staff", "--iso", &iso]].concat());
    let running = site.serve();
    let ada = Browser::sign_in(&running, "ada", PASSWORD).unwrap();

    let made = ada.done("POST", "/v1/onboarding-links", Some(&json!({ "email": OWNER })));
    let path = format!("/v1/onboarding-links/{}", text(&made, "linkId"));
    let token = in_email(&sink, 1, OWNER, "/portal/apply?token=").expect("a link");
    assert!(text(&made, "url").ends_with(&token), "{made}");

    // The link is for this form alone: not even the ISO's keys see it by the token.
    let form = by_merchant(&running, "open", &json!({ "token": token }));
    assert_eq!(form.json().unwrap()["isoName"], "Pier Payments");
    let headers = [("Authorization", &*authorization(&stranger))];
    assert_eq!(http::get(&running.url, &path, &headers).unwrap().status, 404);
    assert_eq!(http::get(&running.url, &path, &[]).unwrap().status, 401);
    let wrong = json!({ "token": "0".repeat(40) });
    assert_eq!(by_merchant(&running, "open", &wrong).status, 400);
    assert_eq!(by_merchant(&running, "draft", &wrong).status, 400);

    let draft = json!({ "token": token, "merchantData": { "dba": "Har" } });
    assert_eq!(by_merchant(&running, "draft", &draft).status, 200);
    let huge = json!({ "token": token, "merchantData": { "dba": "x".repeat(40_000) } });
    assert_eq!(by_merchant(&running, "draft", &huge).status, 413);
    let form = by_merchant(&running, "open", &json!({ "token": token })).json().unwrap();
    assert_eq!(form["merchantData"], json!({ "dba": "Har" }));

    let submitted = by_merchant(&running, "submit", &entered(&token, "Harbor Coffee"));
    assert_eq!(submitted.status, 200, "{}", submitted.text());
    let told = in_email(&sink, 2, "ada@pier.example", "/portal/merchants/invitations/");
    assert_eq!(told.as_deref(), made["linkId"].as_str());

    let onboard = json!({ "tpnData": body("Harbor Coffee")["tpnData"] });
    let onboarded = ada.done("POST", &format!("{path}/onboard"), Some(&onboard));
    let merchant = format!("/v1/merchants/{}", text(&onboarded["data"], "merchantId"));
    assert_eq!(ada.done("GET", &merchant, None)["dba"], "Harbor Coffee");

    // Withdrawn, a link is worth as much as a wrong one.
    let headers = [("Authorization", &*authorization(&key))];
    let quiet = json!({ "email": OWNER, "sendEmail": false });
    let made = http::post(&running.url, "/v1/onboarding-links", &headers, &quiet).unwrap();
    let made = made.json().unwrap();
    let url = text(&made, "url");
    let (_, token) = url.split_once("token=").unwrap();
    let withdraw = format!("/v1/onboarding-links/{}/withdraw", text(&made, "linkId"));
    assert_eq!(http::post(&running.url, &withdraw, &headers, &json!({})).unwrap().status, 200);
    let (stale, unknown) = (json!({ "token": token }), by_merchant(&running, "open", &wrong));
    assert_eq!(by_merchant(&running, "open", &stale).text(), unknown.text());
    let log = running.server.stderr();
    assert!(!log.contains(token) && !log.contains(OWNER), "{log}");
}
