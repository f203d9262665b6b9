//! People of an ISO: invited by its administrators, each for what they may see, and by nobody else.

use std::time::Duration;

use serde_json::{Value, json};
use testkit::http;
use testkit::process;
use testkit::smtp::Sink;

use crate::browser::Browser;
use crate::load::Ids;
use crate::mail::with_relay;
use crate::support::{Running, Site, authorization, body, text};

const PATIENCE: Duration = Duration::from_mins(1);
const PASSWORD: &str = "correct horse battery";

fn user(site: &Site, arguments: &[&str]) {
    let command = site.command(&[&["user", "create", "--password-stdin"], arguments].concat());
    let made = process::run_command(command, format!("{PASSWORD}\n").as_bytes()).unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
}

/// The token of the newest link to the address among so many e-mails.
fn token_for(sink: &Sink, emails: usize, to: &str) -> Option<String> {
    let got = sink.wait_for(emails, PATIENCE).unwrap();
    let email = got.iter().rev().find(|email| email.to == [to])?;
    let data = email.data.replace("=\r\n", "").replace("=\n", "").replace("=3D", "=");
    let (_, rest) = data.split_once("/portal/invitation?token=")?;
    Some(rest.chars().take_while(char::is_ascii_alphanumeric).collect())
}

fn accept(running: &Running, token: &str, password: &str) -> http::Response {
    let body = json!({ "token": token, "password": password, "name": "Ida Pier" });
    http::post(&running.url, "/v1/invitations/accept", &[], &body).unwrap()
}

fn invited(email: &str, role: &str) -> Value {
    json!({ "email": email, "role": role })
}

on_both_engines!(people_are_invited);

fn people_are_invited(site: Site) {
    let sink = Sink::start().unwrap();
    let site = with_relay(site, &sink);
    let (iso, other) = (site.iso("Pier Payments"), site.iso("Others"));
    site.json(&["template", "create", "--iso", &iso, "--name", "RESTAURANT01"]);
    let key = site.key(&iso);
    for (login, email, of) in
        [("ada", "ada@pier.example", &iso), ("eve", "eve@others.example", &other)]
    {
        user(&site, &["--login", login, "--email", email, "--role", "iso_admin", "--iso", of]);
    }
    let running = site.serve();
    let onboarded = running.onboard(&key, &body("Mine"));
    let ids = Ids::of(&onboarded);
    let ada = Browser::sign_in(&running, "ada", PASSWORD).unwrap();
    let eve = Browser::sign_in(&running, "eve", PASSWORD).unwrap();

    // No key will do, whatever its scopes.
    let headers = [("Authorization", &*authorization(&key))];
    let by_key =
        http::post(&running.url, "/v1/invitations", &headers, &invited("a@b.co", "iso_staff"));
    assert_eq!(by_key.unwrap().status, 401);

    check_refusals(&ada, &eve, &ids);

    let made = ada.done("POST", "/v1/invitations", Some(&invited("ida@pier.example", "iso_staff")));
    assert_eq!((&made["status"], &made["role"]), (&json!("pending"), &json!("iso_staff")));
    let first = token_for(&sink, 1, "ida@pier.example").expect("a link");
    let id = text(&made, "invitationId");
    let resend = format!("/v1/invitations/{id}/resend");
    assert_eq!(eve.send("POST", &resend, Some(&json!({}))).status, 404);
    assert_eq!(eve.send("DELETE", &format!("/v1/invitations/{id}"), None).status, 404);
    ada.done("POST", &resend, Some(&json!({})));
    let second = token_for(&sink, 2, "ida@pier.example").expect("a link");
    assert_ne!(first, second);
    assert_eq!(accept(&running, &first, PASSWORD).status, 400, "the link before works no more");
    assert_eq!(accept(&running, &second, "password").status, 400, "the rule of passwords");
    let accepted = accept(&running, &second, PASSWORD);
    assert_eq!(accepted.status, 200, "{}", accepted.text());
    assert_eq!(accept(&running, &second, PASSWORD).status, 400, "a link works once");
    check_staff(&running, &ada, &eve);
    check_names_in_the_audit_log(&ada);

    // Who has an account elsewhere gets no link, and the one who invites learns nothing of that.
    let known =
        ada.done("POST", "/v1/invitations", Some(&invited("eve@others.example", "iso_admin")));
    assert_eq!(known["status"], "pending");
    assert_eq!(token_for(&sink, 3, "eve@others.example"), None);
    assert_eq!(eve.done("GET", "/v1/people", None)["data"].as_array().unwrap().len(), 1);

    let of_merchant = json!({ "email": "mia@pier.example", "role": "merchant",
                              "merchantId": ids.merchant });
    ada.done("POST", "/v1/invitations", Some(&of_merchant));
    let token = token_for(&sink, 4, "mia@pier.example").expect("a link");
    assert_eq!(accept(&running, &token, PASSWORD).status, 200);
    let mia = Browser::sign_in(&running, "mia@pier.example", PASSWORD).unwrap();
    let me = mia.done("GET", "/wp-json/boardwalk/v1/me", None);
    assert_eq!(me["user"]["merchant_id"], json!(ids.merchant));
    assert_eq!((&me["user"]["iso_id"], &me["user"]["scopes"]), (&json!(iso), &json!([])));
    assert_eq!(mia.send("GET", "/v1/merchants", None).status, 403);
    assert_eq!(mia.send("GET", "/wp-json/wc-analytics/reports/revenue/stats", None).status, 200);
}

/// What nobody may, and what makes no sense.
fn check_refusals(ada: &Browser<'_>, eve: &Browser<'_>, ids: &Ids) {
    let merchant = |who: &Browser<'_>| {
        let body = json!({ "email": "x@y.co", "role": "merchant", "merchantId": ids.merchant });
        who.send("POST", "/v1/invitations", Some(&body))
    };
    let theirs = merchant(eve);
    assert_eq!(theirs.status, 400, "another ISO's merchant: {}", theirs.text());
    assert!(theirs.text().contains("merchantId"), "{}", theirs.text());
    for wrong in [
        json!({ "email": "x@y.co", "role": "merchant" }),
        json!({ "email": "x@y.co", "role": "store", "merchantId": ids.merchant }),
        json!({ "email": "x@y.co", "role": "iso_staff", "storeId": ids.store }),
        json!({ "email": "x@y.co", "role": "administrator" }),
        json!({ "email": "ada@pier.example", "role": "iso_staff" }),
        json!({ "email": "not-mail", "role": "iso_staff" }),
    ] {
        let answer = ada.send("POST", "/v1/invitations", Some(&wrong));
        assert_eq!(answer.status, 400, "{wrong}: {}", answer.text());
    }
    assert_eq!(ada.done("GET", "/v1/invitations", None)["data"], json!([]));
}

/// Whoever reads the log sees names and words, and finds entries by them.
fn check_names_in_the_audit_log(ada: &Browser<'_>) {
    let log = ada.done("GET", "/v1/audit?search=ada&limit=100", None);
    let entries = log["data"].as_array().unwrap();
    let resent = entries.iter().find(|entry| entry["action"] == "invitation.resend").unwrap();
    let read = (&resent["actorName"], &resent["summary"]);
    assert_eq!(read, (&json!("ada"), &json!("Invitation resent")));
}

/// Staff invite nobody and see nobody; others change nobody here; nobody changes themselves.
fn check_staff(running: &Running, ada: &Browser<'_>, eve: &Browser<'_>) {
    let ida = Browser::sign_in(running, "ida@pier.example", PASSWORD).unwrap();
    assert_eq!(ida.send("GET", "/v1/merchants", None).status, 200);
    for path in ["/v1/people", "/v1/invitations"] {
        let answer = ida.send("GET", path, None);
        assert_eq!(answer.status, 403, "{path}: {}", answer.text());
        assert!(answer.text().contains("insufficient_scope"), "{}", answer.text());
    }
    let more = ida.send("POST", "/v1/invitations", Some(&invited("x@y.co", "iso_admin")));
    assert_eq!(more.status, 403);
    let people = ada.done("GET", "/v1/people", None)["data"].clone();
    let of = |email: &str| {
        let all = people.as_array().unwrap();
        let found = all.iter().find(|one| one["email"] == email).unwrap();
        format!("/v1/people/{}", found["userId"])
    };
    let (own, theirs) = (of("ada@pier.example"), of("ida@pier.example"));
    let admin = json!({ "role": "iso_admin" });
    assert_eq!(eve.send("PATCH", &theirs, Some(&admin)).status, 404);
    assert_eq!(eve.send("DELETE", &theirs, None).status, 404);
    assert_eq!(ada.send("PATCH", &own, Some(&json!({ "role": "iso_staff" }))).status, 400);
    assert_eq!(ada.send("DELETE", &own, None).status, 400);
    assert_eq!(ada.done("PATCH", &theirs, Some(&admin))["role"], "iso_admin");
    assert_eq!(ida.send("GET", "/v1/people", None).status, 200);
    ada.done("DELETE", &theirs, None);
    assert_ne!(ida.send("GET", "/v1/merchants", None).status, 200, "the session is over");
}

#[test]
fn invitations_end_with_who_sent_them() {
    let sink = Sink::start().unwrap();
    let site = with_relay(Site::sqlite(), &sink);
    let iso = site.iso("Pier Payments");
    for login in ["ada", "bea"] {
        let email = format!("{login}@pier.example");
        user(&site, &["--login", login, "--email", &email, "--role", "iso_admin", "--iso", &iso]);
    }
    let running = site.serve();
    let ada = Browser::sign_in(&running, "ada", PASSWORD).unwrap();
    let bea = Browser::sign_in(&running, "bea", PASSWORD).unwrap();
    let bea_id = bea.done("GET", "/wp-json/boardwalk/v1/me", None)["user"]["id"].clone();
    let of_bea = format!("/v1/people/{bea_id}");
    let link = |who: &Browser<'_>, number: usize| {
        let email = format!("friend{number}@pier.example");
        who.done("POST", "/v1/invitations", Some(&invited(&email, "iso_admin")));
        token_for(&sink, number, &email).expect("a link")
    };
    let (by_ada, by_bea) = (link(&ada, 1), link(&bea, 2));
    ada.done("PATCH", &of_bea, Some(&json!({ "role": "iso_staff" })));
    assert_eq!(accept(&running, &by_bea, PASSWORD).status, 400, "who may invite nobody any more");
    ada.done("PATCH", &of_bea, Some(&json!({ "role": "iso_admin" })));
    let again = link(&bea, 3);
    ada.done("DELETE", &of_bea, None);
    assert_eq!(accept(&running, &again, PASSWORD).status, 400, "who is here no more");

    site.json(&["iso", "suspend", &iso, "--reason", "unpaid"]);
    let refused = accept(&running, &by_ada, PASSWORD);
    assert_eq!(refused.status, 400, "{}", refused.text());
    site.json(&["iso", "resume", &iso]);
    let welcome = accept(&running, &by_ada, PASSWORD);
    assert_eq!(welcome.status, 200, "{}", welcome.text());
}
