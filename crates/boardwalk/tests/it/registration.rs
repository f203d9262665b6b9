//! Somebody becomes an ISO by themselves, from the e-mail to the first merchant, and the operator
//! decides about them.

use std::time::Duration;

use serde_json::{Value, json};
use testkit::http::{self, Request, Response};
use testkit::process;
use testkit::smtp::Sink;

use crate::browser::Browser;
use crate::mail::with_relay;
use crate::support::{Running, Site, body, complaint, eventually, text};

const PATIENCE: Duration = Duration::from_mins(1);
const PASSWORD: &str = "  correct horse battery ";
const EMAIL: &str = "ada@pier.example";

fn registration(email: &str) -> Value {
    json!({ "name": "Pier Payments", "contactName": "Ada Pier", "email": email,
            "phoneNumber": "2125550142", "website": "https://pier.example/" })
}

fn post(running: &Running, path: &str, body: &Value) -> Response {
    http::post(&running.url, path, &[], body).unwrap()
}

/// The token of the link in the newest of so many e-mails.
fn token_in_email(sink: &Sink, emails: usize) -> String {
    let got = sink.wait_for(emails, PATIENCE).unwrap();
    let email = &got[emails - 1];
    assert_eq!(email.to, [EMAIL]);
    // Lines of an e-mail end where its encoding folds them.
    let data = email.data.replace("=\r\n", "").replace("=\n", "").replace("=3D", "=");
    let (_, rest) = data.split_once("/portal/register?token=").expect("a link");
    rest.chars().take_while(char::is_ascii_alphanumeric).collect()
}

fn administrator(site: &Site) {
    let arguments = ["user", "create", "--login", "boss", "--email", "boss@site.example"];
    let role = ["--role", "administrator", "--password-stdin"];
    let command = site.command(&[&arguments[..], &role].concat());
    let made = process::run_command(command, b"the boss's password\n").unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
}

on_both_engines!(an_approved_iso_onboards);

fn an_approved_iso_onboards(site: Site) {
    let sink = Sink::start().unwrap();
    let site = with_relay(site, &sink).set("onboarding.registration", "approval");
    administrator(&site);
    let running = site.serve();
    let answer = post(&running, "/v1/isos", &registration(EMAIL));
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert_eq!(answer.json().unwrap()["status"], "pending_confirmation");
    let token = token_in_email(&sink, 1);
    let wanted = json!({ "token": token, "password": PASSWORD });
    let made = post(&running, "/v1/isos/confirm", &wanted);
    assert_eq!(made.status, 200, "{}", made.text());
    let made = made.json().unwrap();
    assert_eq!((&made["status"], &made["login"]), (&json!("pending_approval"), &json!(EMAIL)));
    assert_eq!(made["key"], Value::Null);
    let again = post(&running, "/v1/isos/confirm", &wanted);
    assert!(again.text().contains("register again"), "a link works once: {}", again.text());

    let path = format!("/v1/isos/{}", text(&made, "isoId"));
    let ada = Browser::sign_in(&running, EMAIL, PASSWORD).expect("the password as it was sent");
    assert_eq!(ada.done("GET", &path, None)["contact"]["email"], EMAIL);
    let waits = ada.send("POST", "/v1/keys", Some(&json!({ "name": "x" })));
    assert_eq!((waits.status, waits.text().contains("waiting for approval")), (403, true));
    assert_eq!(ada.send("POST", &format!("{path}/approve"), Some(&json!({}))).status, 401);

    let boss = Browser::sign_in(&running, "boss", "the boss's password").unwrap();
    let told = || {
        let notes = boss.done("GET", "/wp-json/wc-analytics/admin/notes", None);
        let titles = notes.as_array().unwrap().iter().map(|note| text(note, "title"));
        titles.filter(|title| title == "Pier Payments is waiting for approval").count()
    };
    eventually("administrators are told", PATIENCE, || told() == 1);
    let waiting = boss.done("GET", "/v1/isos?status=pending_approval", None);
    assert_eq!(waiting["data"][0]["isoId"], made["isoId"], "{waiting}");
    let wrong = boss.send("GET", "/v1/isos?cursor=1", None);
    assert_eq!(wrong.status, 400, "{}", wrong.text());
    let reason = json!({ "reason": "Looks fine", "expectedVersion": 1 });
    let approved = boss.done("POST", &format!("{path}/approve"), Some(&reason));
    assert_eq!((&approved["status"], &approved["version"]), (&json!("active"), &json!(2)));
    let twice = boss.send("POST", &format!("{path}/approve"), Some(&json!({})));
    assert_eq!(twice.status, 409, "{}", twice.text());
    let emails = sink.wait_for(3, PATIENCE).unwrap();
    let has = |to: &str, words: &str| {
        emails.iter().any(|email| email.to == [to] && email.data.contains(words))
    };
    assert!(has("boss@site.example", "An ISO is waiting for your approval"));
    assert!(has(EMAIL, "Your registration was approved"));

    eventually("what was decided waits no more", PATIENCE, || told() == 0);

    let key = ada.done("POST", "/v1/keys", Some(&json!({ "name": "first", "scopes": ["*"] })));
    let key = text(&key, "text");
    let onboarded = running.onboard(&key, &body("Ada's first"));
    assert_eq!(onboarded.status, 200, "{}", onboarded.text());
    check_account(&running, &key, &path);
    check_suspension(&site, &running, (&key, &ada), &path);
}

fn check_account(running: &Running, key: &str, path: &str) {
    let shown = running.get(path, key);
    let tag = shown.header("ETag").unwrap();
    let patch = |tag: Option<&str>, body: &Value| {
        let mut request = Request::new("PATCH", path)
            .header("Authorization", &crate::support::authorization(key))
            .header("Content-Type", "application/json")
            .body(body.to_string());
        if let Some(tag) = tag {
            request = request.header("If-Match", tag);
        }
        http::send(&running.url, &request).unwrap()
    };
    let change = json!({ "name": "Pier & Sons", "website": "https://sons.example/" });
    assert_eq!(patch(None, &change).status, 412);
    let changed = patch(Some(&tag), &change);
    assert_eq!(changed.status, 200, "{}", changed.text());
    let changed = changed.json().unwrap();
    assert_eq!((&changed["name"], &changed["version"]), (&json!("Pier & Sons"), &json!(3)));
    assert_eq!(changed["contact"]["contactName"], "Ada Pier", "what was left out stays");
    assert_eq!(patch(Some(&tag), &change).status, 412, "the version has moved on");
    eventually("events have their numbers", PATIENCE, || {
        let events = running.get("/v1/events", key).json().unwrap();
        let kinds: Vec<&str> =
            events["data"].as_array().unwrap().iter().filter_map(|e| e["type"].as_str()).collect();
        kinds.starts_with(&["iso.registered", "iso.activated"])
    });
    let audit = running.get("/v1/audit?object=iso", key).text();
    for action in ["iso.register", "iso.approve", "iso.update"] {
        assert!(audit.contains(&format!("\"{action}\"")), "{action}: {audit}");
    }
}

fn check_suspension(site: &Site, running: &Running, (key, ada): (&str, &Browser<'_>), path: &str) {
    let iso = path.rsplit('/').next().unwrap();
    let refused = site.run(&["iso", "approve", iso]);
    assert!(complaint(&refused, 1).contains("pending_approval"));
    let suspended = site.json(&["iso", "suspend", iso, "--reason", "unpaid"]);
    assert_eq!(suspended["status"], "suspended");
    std::thread::sleep(Duration::from_secs(1));
    assert_eq!(running.get("/v1/merchants", key).status, 401);
    let person = ada.send("GET", "/v1/merchants", None);
    assert_eq!(person.status, 403, "{}", person.text());
    let told = person.json().unwrap()["errors"][0].clone();
    assert_eq!(told["code"], "iso_not_active");
    assert!(text(&told, "message").contains("suspended"), "{told}");
    let shown = running.get(path, key).json().unwrap();
    assert_eq!(shown["statusReason"], "unpaid", "an ISO may see why: {shown}");
    assert!(site.json(&["iso", "list"]).to_string().contains("\"suspended\""));
    site.json(&["iso", "resume", iso]);
    std::thread::sleep(Duration::from_secs(1));
    assert_eq!(running.get("/v1/merchants", key).status, 200);
}

/// Everybody who belongs to a suspended ISO is told why; the operator goes on reading.
#[test]
fn an_operator_reads_all_of_a_suspended_iso() {
    let sink = Sink::start().unwrap();
    let site = with_relay(Site::sqlite(), &sink);
    administrator(&site);
    let iso = site.iso("Pier Payments");
    let key = site.key(&iso);
    let arguments = ["user", "create", "--login", "ida", "--email", "ida@pier.example"];
    let role = ["--role", "iso_admin", "--iso", &iso, "--password-stdin"];
    let command = site.command(&[&arguments[..], &role].concat());
    assert!(process::run_command(command, b"the password of ida\n").unwrap().status.success());
    let running = site.serve();
    let boss = Browser::sign_in(&running, "boss", "the boss's password").unwrap();
    let ida = Browser::sign_in(&running, "ida", "the password of ida").unwrap();
    let of_iso = format!("/v1/isos/{iso}");
    let contact = json!({ "email": EMAIL, "expectedVersion": 1 });
    ida.done("PATCH", &of_iso, Some(&contact));
    assert_eq!(running.onboard(&key, &body("Open still")).status, 200);
    let read = |path: &str| {
        let answer = boss.send_for(Some(&iso), "GET", path, None);
        assert_eq!(answer.status, 200, "{path}: {}", answer.text());
        answer.json().unwrap()
    };
    let usage = read(&format!("{of_iso}/usage"));
    let expected = json!({ "merchants": 1, "stores": 1, "tpns": 1, "devices": 0, "onboardings": 1,
                           "keys": 1, "people": 1, "merchantPeople": 0, "webhooks": 0 });
    assert_eq!(usage, expected);

    let reason = json!({ "reason": "Invoice 17 is open." });
    boss.done("POST", &format!("{of_iso}/suspend"), Some(&reason));
    let emails = sink.wait_for(1, PATIENCE).unwrap();
    assert!(emails[0].data.contains("Invoice 17 is open"), "{}", emails[0].data);
    assert_eq!(read(&of_iso)["statusReason"], "Invoice 17 is open.");
    for path in ["/v1/merchants", "/v1/tpns", "/v1/keys", "/v1/people", "/v1/events"] {
        assert!(read(path)["data"].is_array(), "{path}");
        let refused = ida.send("GET", path, None);
        let told = refused.json().unwrap()["errors"][0].clone();
        assert_eq!((refused.status, &told["code"]), (403, &json!("iso_not_active")), "{path}");
        let message = text(&told, "message");
        assert!(message.starts_with("This ISO is suspended: Invoice 17 is open. "), "{message}");
    }
    let entries = read("/v1/audit?object=iso");
    let mut entries = entries["data"].as_array().unwrap().iter();
    let suspended = entries.find(|entry| entry["action"] == "iso.suspend");
    assert_eq!(suspended.expect("an entry")["reason"], "Invoice 17 is open.");
    // Reading is all: nothing changes until the ISO goes on.
    let create = json!({ "name": "RETAIL01", "parameters": {} });
    let write = || boss.send_for(Some(&iso), "POST", "/v1/templates", Some(&create)).status;
    assert_eq!(write(), 403);
    boss.done("POST", &format!("{of_iso}/resume"), Some(&json!({})));
    assert_eq!(write(), 200);
}

#[test]
fn an_open_registration_gives_the_first_key_and_never_tells_who_is_known() {
    let sink = Sink::start().unwrap();
    let site = with_relay(Site::sqlite(), &sink).set("onboarding.registration", "open");
    let running = site.serve();
    let session = http::get(&running.url, "/session/nonce", &[]).unwrap().json().unwrap();
    assert_eq!(session, json!({ "signed_in": false, "registration": "open" }));
    let first = post(&running, "/v1/isos", &registration(EMAIL));
    let token = token_in_email(&sink, 1);
    let short = json!({ "token": token, "password": "short" });
    assert_eq!(post(&running, "/v1/isos/confirm", &short).status, 400);
    let wanted = json!({ "token": token, "password": PASSWORD });
    let made = post(&running, "/v1/isos/confirm", &wanted).json().unwrap();
    assert_eq!(made["status"], "active", "{made}");
    let key = text(&made["key"], "text");
    assert_eq!(running.onboard(&key, &body("At once")).status, 200);

    let known = post(&running, "/v1/isos", &registration("ADA@pier.example"));
    let shape = |answer: &Response| {
        let mut body = answer.json().unwrap();
        body["expires"] = Value::Null;
        (answer.status, body)
    };
    assert_eq!(shape(&known), shape(&first), "who is known is not told");
    let emails = sink.wait_for(2, PATIENCE).unwrap();
    assert!(emails[1].data.contains("already have an account"), "{}", emails[1].data);
    assert!(!emails[1].data.contains("token="));
    // Nobody is flooded: the next e-mail to the same address has to wait.
    for _ in 0..3 {
        assert_eq!(shape(&post(&running, "/v1/isos", &registration(EMAIL))), shape(&first));
    }
    std::thread::sleep(Duration::from_secs(1));
    assert_eq!(sink.got().len(), 2);
    // Whoever moves their clock is told by events; e-mails are real.
    let headers = [("Authorization", &*crate::support::authorization(&key))];
    let ahead = json!({ "advanceSeconds": 360 * 86_400 });
    let moved = http::post(&running.url, "/v1/sandbox/clock", &headers, &ahead).unwrap();
    assert_eq!(moved.status, 200, "{}", moved.text());
    std::thread::sleep(Duration::from_secs(1));
    assert_eq!(sink.got().len(), 2);
    let log = running.server.stderr();
    assert!(!log.contains("pier.example") && !log.contains(&token), "personal data in the log");
}

#[test]
fn registration_is_closed_unless_the_operator_opens_it_and_sends_mail() {
    for (setting, said) in
        [("closed", "contact the operator"), ("open", "e-mail, which is turned off")]
    {
        let site = Site::sqlite().set("onboarding.registration", setting);
        let running = site.serve();
        let answer = post(&running, "/v1/isos", &registration(EMAIL));
        assert_eq!(answer.status, 409, "{setting}: {}", answer.text());
        assert!(answer.text().contains("registration_closed"), "{}", answer.text());
        assert!(answer.text().contains(said), "{setting}: {}", answer.text());
        let session = http::get(&running.url, "/session/nonce", &[]).unwrap().json().unwrap();
        assert_eq!(session["registration"], "closed", "{setting}");
    }
}

#[test]
fn errors_of_a_registration_are_told_at_once() {
    let running = Site::sqlite().set("onboarding.registration", "open").serve();
    let wrong = json!({ "name": "", "email": "nobody", "website": "ftp://x.example" });
    let answer = post(&running, "/v1/isos", &wrong);
    assert_eq!(answer.status, 400);
    let errors = answer.json().unwrap()["errors"].clone();
    let errors: Vec<String> = errors
        .as_array()
        .unwrap()
        .iter()
        .map(|error| format!("{} {}", text(error, "code"), text(error, "param")))
        .collect();
    let expected = [
        "mandatory_field name",
        "mandatory_field contactName",
        "invalid_format email",
        "invalid_format website",
    ];
    assert_eq!(errors, expected);
}

#[test]
fn one_address_registers_so_often_and_no_more() {
    let site = Site::sqlite()
        .set("server.rate_limits.enabled", true)
        .set("server.rate_limits.registrations_per_hour", 3)
        .set("server.trusted_proxies", "[\"127.0.0.1\"]");
    let running = site.serve();
    let from = |address: &str| {
        let headers = [("X-Forwarded-For", address)];
        http::post(&running.url, "/v1/isos", &headers, &registration(EMAIL)).unwrap()
    };
    for _ in 0..3 {
        assert_eq!(from("203.0.113.9").status, 409);
    }
    let refused = from("203.0.113.9");
    assert_eq!(refused.status, 429, "{}", refused.text());
    assert_eq!(refused.header("RateLimit-Policy").unwrap(), "\"registrations\";q=3;w=3600");
    assert_eq!(from("203.0.113.10").status, 409, "others are not held up");
}
