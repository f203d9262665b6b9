//! How people get back in and others stay out: forgotten passwords, second factors, sessions, and
//! the accounts of a company.

use std::time::Duration;

use data_encoding::BASE32_NOPAD;
use frame::auth::second_factor::{STEP_SECONDS, code_at};
use serde_json::{Value, json};
use testkit::http::{self, Request, Response};
use testkit::process;
use testkit::smtp::Sink;

use crate::browser::{Browser, cookies, encoded, form_token};
use crate::mail::with_relay;
use crate::support::{Running, Site, text};

const PATIENCE: Duration = Duration::from_mins(1);
const PASSWORD: &str = "correct horse battery";
const OTHER: &str = "another walk on the pier";
const FORGOT: &str = "/login?action=lostpassword";

fn user(site: &Site, login: &str, role: &str) {
    let email = format!("{login}@pier.example");
    let arguments = ["user", "create", "--login", login, "--email", &email, "--role", role];
    let command = site.command(&[&arguments[..], &["--password-stdin"]].concat());
    let made = process::run_command(command, format!("{PASSWORD}\n").as_bytes()).unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
}

/// Posts a form that was read from a page, with more fields.
fn post_form(running: &Running, page: &str, action: &str, fields: &[(&str, &str)]) -> Response {
    let form = http::get(&running.url, page, &[]).unwrap();
    submit(running, &cookies(&form), &form_token(&form), action, fields)
}

fn submit(
    running: &Running,
    cookie: &str,
    token: &str,
    action: &str,
    fields: &[(&str, &str)],
) -> Response {
    let given = fields.iter().map(|(name, value)| format!("{name}={}", encoded(value)));
    let body = given.chain([format!("_wpnonce={token}")]).collect::<Vec<_>>().join("&");
    let request = Request::new("POST", action)
        .header("Content-Type", "application/x-www-form-urlencoded")
        .header("Cookie", cookie)
        .body(body);
    http::send(&running.url, &request).unwrap()
}

/// The path of the newest link of so many e-mails.
fn link(sink: &Sink, emails: usize) -> String {
    let got = sink.wait_for(emails, PATIENCE).unwrap();
    let data = got[emails - 1].data.replace("=\r\n", "").replace("=\n", "").replace("=3D", "=");
    let (_, rest) = data.split_once("/login?action=rp&key=").expect("a link");
    let is_of_token = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    rest.chars().take_while(is_of_token).collect()
}

on_both_engines!(a_forgotten_password_is_reset);

fn a_forgotten_password_is_reset(site: Site) {
    let sink = Sink::start().unwrap();
    let site = with_relay(site, &sink);
    user(&site, "ada", "shop_manager");
    let running = site.serve();
    let before = Browser::sign_in(&running, "ada", PASSWORD).unwrap();

    // Whoever asks is told the same, and nothing is sent to nobody.
    let shown = |login: &str| {
        let answer = post_form(&running, FORGOT, FORGOT, &[("user_login", login)]);
        let page = answer.text();
        (answer.status, page.contains("Check your e-mail"), page.contains(login))
    };
    assert_eq!(shown("nobody"), (200, true, false));
    assert_eq!(shown("nobody@pier.example"), (200, true, false));
    assert_eq!(shown("ada@pier.example"), (200, true, false));
    let stranger = submit(&running, "", "0123456789", FORGOT, &[("user_login", "ada")]);
    assert_eq!(stranger.status, 403, "a form of another page");

    let token = link(&sink, 1);
    let page = format!("/login?action=rp&key={token}");
    let opened = http::get(&running.url, &page, &[]).unwrap();
    assert_eq!(opened.header("Referrer-Policy").as_deref(), Some("no-referrer"));
    assert_eq!(opened.header("Cache-Control").as_deref(), Some("no-store"));
    let set = |password: &str| {
        let fields = [("key", &*token), ("pass1", password)];
        post_form(&running, &page, "/login?action=rp", &fields)
    };
    let weak = set("password");
    assert_eq!((weak.status, weak.text().contains("too easy to guess")), (400, true));
    let done = set(OTHER);
    assert_eq!((done.status, done.text().contains("Password changed")), (200, true));
    let again = http::get(&running.url, &page, &[]).unwrap();
    assert_eq!(again.status, 403, "a link works once");

    let me = "/wp-json/wp/v2/users/me";
    assert_ne!(before.send("GET", me, None).status, 200, "sessions of before are over");
    assert!(Browser::sign_in(&running, "ada", PASSWORD).is_none());
    assert!(Browser::sign_in(&running, "ada", OTHER).is_some());
    let told = sink.wait_for(2, PATIENCE).unwrap();
    assert!(told[1].data.contains("Your password was changed"));
}

#[test]
fn nobody_is_flooded_with_links() {
    let sink = Sink::start().unwrap();
    let site = with_relay(Site::sqlite(), &sink);
    user(&site, "ada", "shop_manager");
    let running = site.serve();
    for _ in 0..6 {
        let answer = post_form(&running, FORGOT, FORGOT, &[("user_login", "ada")]);
        assert_eq!(answer.status, 200);
    }
    sink.wait_for(3, PATIENCE).unwrap();
    std::thread::sleep(Duration::from_secs(2));
    assert!(sink.wait_for(4, Duration::from_millis(10)).is_err(), "three an hour");
}

/// The code of the secret, so many steps from now.
fn code(secret: &str, ahead: i64) -> String {
    let now = types::Clock::System.now().as_micros().div_euclid(1_000_000);
    let step = now / STEP_SECONDS + ahead;
    code_at(&BASE32_NOPAD.decode(secret.as_bytes()).unwrap(), step)
}

/// Shows the password, and gives the page that asks for a code.
fn password_shown(running: &Running) -> (String, String, String) {
    let fields = [("log", "ada"), ("pwd", PASSWORD)];
    let form = http::get(&running.url, "/login", &[]).unwrap();
    let cookie = cookies(&form);
    let page = submit(running, &cookie, &form_token(&form), "/login", &fields);
    assert_eq!(page.status, 200, "a code is asked for");
    let sets_session = cookies(&page).contains("session");
    assert!(!sets_session, "nobody has a session before the code: {}", cookies(&page));
    let (_, rest) = page
        .text()
        .split_once("name=\"second_factor\" value=\"")
        .map_or_else(|| panic!("no step: {}", page.text()), |(a, b)| (a.to_owned(), b.to_owned()));
    let step = rest.split('"').next().unwrap().to_owned();
    (cookie, form_token(&page), step)
}

fn code_shown(
    running: &Running,
    (cookie, token, step): &(String, String, String),
    code: &str,
) -> Response {
    submit(running, cookie, token, "/login", &[("second_factor", step), ("code", code)])
}

#[test]
fn a_second_factor_is_asked_for_at_every_door() {
    let sink = Sink::start().unwrap();
    let site = with_relay(Site::sqlite(), &sink);
    user(&site, "ada", "shop_manager");
    user(&site, "boss", "administrator");
    let running = site.serve();
    let path = "/wp-json/boardwalk/v1/me/second-factor";
    let ada = Browser::sign_in(&running, "ada", PASSWORD).unwrap();
    let other = Browser::sign_in(&running, "ada", PASSWORD).unwrap();
    let off = json!({ "enabled": false, "recovery_codes": 0 });
    assert_eq!(ada.done("GET", path, None), off);
    let guessed = ada.send("POST", path, Some(&json!({ "password": OTHER })));
    assert_eq!(guessed.status, 400, "who finds a browser open: {}", guessed.text());
    assert_eq!(ada.send("POST", path, Some(&json!({}))).status, 400);
    let begun = ada.done("POST", path, Some(&json!({ "password": PASSWORD })));
    let secret = text(&begun, "secret");
    assert!(text(&begun, "uri").starts_with("otpauth://totp/"), "{begun}");
    // It does not count yet.
    assert!(Browser::sign_in(&running, "ada", PASSWORD).is_some());
    let confirm = format!("{path}/confirm");
    let wrong = ada.send("POST", &confirm, Some(&json!({ "code": "000000" })));
    assert_eq!(wrong.status, 400, "{}", wrong.text());
    let first = code(&secret, -1);
    let made = ada.done("POST", &confirm, Some(&json!({ "code": first })));
    let recovery: Vec<String> = made["recovery_codes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one.as_str().unwrap().to_owned())
        .collect();
    assert_eq!(recovery.len(), 10);
    assert_ne!(other.send("GET", path, None).status, 200, "other sessions are over");

    assert!(Browser::sign_in(&running, "ada", PASSWORD).is_none());
    let waiting = password_shown(&running);
    assert_eq!(code_shown(&running, &waiting, &first).status, 403, "a code works once");
    let now = code(&secret, 0);
    let welcome = code_shown(&running, &waiting, &now);
    assert_eq!(welcome.status, 302, "{}", welcome.text());
    assert_eq!(code_shown(&running, &waiting, &code(&secret, 1)).status, 403, "so does the step");
    let waiting = password_shown(&running);
    assert_eq!(code_shown(&running, &waiting, &now).status, 403, "a code works once");
    assert_eq!(code_shown(&running, &waiting, &recovery[0].to_uppercase()).status, 302);
    let waiting = password_shown(&running);
    assert_eq!(code_shown(&running, &waiting, &recovery[0]).status, 403, "and a recovery code");

    // Turned off by a code, or by an administrator, who cannot do so for themselves.
    let disable = format!("{path}/disable");
    assert_eq!(ada.send("POST", &disable, Some(&json!({ "code": "123456" }))).status, 400);
    let boss = Browser::sign_in(&running, "boss", PASSWORD).unwrap();
    let ada_id = ada.done("GET", "/wp-json/wp/v2/users/me", None)["id"].clone();
    let boss_id = boss.done("GET", "/wp-json/wp/v2/users/me", None)["id"].clone();
    let of = |id: &Value| format!("/wp-json/boardwalk/v1/users/{id}/second-factor");
    assert_eq!(ada.send("DELETE", &of(&boss_id), None).status, 403);
    assert_eq!(boss.send("DELETE", &of(&boss_id), None).status, 403);
    assert_eq!(boss.done("GET", &of(&ada_id), None)["enabled"], true);
    assert_eq!(boss.done("DELETE", &of(&ada_id), None), off);
    assert!(Browser::sign_in(&running, "ada", PASSWORD).is_some());
    let told = sink.wait_for(2, PATIENCE).unwrap();
    assert!(told.iter().all(|email| email.to == ["ada@pier.example"]));
    for what in ["turned on", "reset"] {
        let subject = format!("Two-factor authentication was {what}");
        assert!(told.iter().any(|email| email.data.contains(&subject)), "{subject}");
    }
}

#[test]
fn the_operator_lets_an_administrator_back_in() {
    let sink = Sink::start().unwrap();
    let site = with_relay(Site::sqlite(), &sink);
    user(&site, "boss", "administrator");
    let running = site.serve();
    let path = "/wp-json/boardwalk/v1/me/second-factor";
    let reset = ["user", "reset-second-factor", "--login", "boss"];
    assert!(!site.run(&reset).status.success(), "there is none");
    let boss = Browser::sign_in(&running, "boss", PASSWORD).unwrap();
    let own = json!({ "password": PASSWORD });
    let secret = text(&boss.done("POST", path, Some(&own)), "secret");
    let made =
        boss.done("POST", &format!("{path}/confirm"), Some(&json!({ "code": code(&secret, -1) })));
    assert!(Browser::sign_in(&running, "boss", PASSWORD).is_none());
    site.json(&reset);
    assert_ne!(boss.send("GET", path, None).status, 200, "the session is over");
    let boss = Browser::sign_in(&running, "boss", PASSWORD).unwrap();
    assert_eq!(boss.done("GET", path, None)["enabled"], false, "{made}");

    // Turned on again and off with a code, of which the owner hears, too.
    let secret = text(&boss.done("POST", path, Some(&own)), "secret");
    boss.done("POST", &format!("{path}/confirm"), Some(&json!({ "code": code(&secret, -1) })));
    boss.done("POST", &format!("{path}/disable"), Some(&json!({ "code": code(&secret, 0) })));
    let told = sink.wait_for(3, PATIENCE).unwrap();
    let off = "Two-factor authentication was turned off";
    assert!(told.iter().any(|email| email.data.contains(off)));
}

#[test]
fn who_guesses_codes_waits() {
    let site = Site::sqlite();
    user(&site, "ada", "shop_manager");
    let running = site.serve();
    let path = "/wp-json/boardwalk/v1/me/second-factor";
    let ada = Browser::sign_in(&running, "ada", PASSWORD).unwrap();
    let own = json!({ "password": PASSWORD });
    let secret = text(&ada.done("POST", path, Some(&own)), "secret");
    ada.done("POST", &format!("{path}/confirm"), Some(&json!({ "code": code(&secret, -1) })));
    let statuses: Vec<u16> =
        (0..6).map(|_| code_shown(&running, &password_shown(&running), "not one").status).collect();
    assert_eq!(statuses, [403, 403, 403, 403, 403, 429]);
    let right = code_shown(&running, &password_shown(&running), &code(&secret, 0));
    assert_eq!(right.status, 429, "even the right one waits");
}

#[test]
fn sessions_are_listed_and_ended() {
    let site = Site::sqlite();
    user(&site, "ada", "shop_manager");
    user(&site, "eve", "shop_manager");
    let running = site.serve();
    let path = "/wp-json/boardwalk/v1/me/sessions";
    let (one, two, three) = (
        Browser::sign_in(&running, "ada", PASSWORD).unwrap(),
        Browser::sign_in(&running, "ada", PASSWORD).unwrap(),
        Browser::sign_in(&running, "ada", PASSWORD).unwrap(),
    );
    let eve = Browser::sign_in(&running, "eve", PASSWORD).unwrap();
    let list = |who: &Browser<'_>| who.done("GET", path, None).as_array().unwrap().clone();
    assert_eq!(list(&one).len(), 3);
    let of_two = list(&two).into_iter().find(|session| session["current"] == true).unwrap();
    let end = format!("{path}/{}", text(&of_two, "id"));
    assert_eq!(eve.send("DELETE", &end, None).status, 404, "another's session");
    assert_eq!(one.done("DELETE", &end, None), json!({ "ended": 1 }));
    assert_ne!(two.send("GET", path, None).status, 200);
    assert_eq!(one.done("DELETE", path, None), json!({ "ended": 1 }));
    assert_ne!(three.send("GET", path, None).status, 200);
    assert_eq!((list(&one).len(), list(&eve).len()), (1, 1));
}

#[test]
fn a_provider_that_is_away_signs_nobody_in() {
    let [start, back] = ["/login?action=openid", "/login/openid?code=x&state=y"];
    let get = |running: &Running, path: &str| http::get(&running.url, path, &[]).unwrap();
    let plain = Site::sqlite();
    let without = plain.serve();
    assert!(!get(&without, "/login").text().contains("Sign in with"));
    assert_eq!([start, back].map(|path| get(&without, path).status), [404, 404]);

    // Nobody listens on this port.
    let site = Site::sqlite()
        .set("site.openid.issuer", "http://127.0.0.1:1")
        .set("site.openid.client_id", "boardwalk")
        .set("site.openid.name", "Pier Accounts");
    let with = site.serve();
    let page = get(&with, "/login?redirect_to=%2Fportal%2F").text();
    assert!(page.contains("Sign in with Pier Accounts"), "{page}");
    assert!(page.contains("redirect_to=%2Fportal%2F"), "{page}");
    let away = get(&with, start);
    assert_eq!(away.status, 502);
    assert!(away.text().contains("sign in with your password"), "{}", away.text());
    assert_eq!(get(&with, back).status, 403, "without the cookie of the browser that asked");
}
