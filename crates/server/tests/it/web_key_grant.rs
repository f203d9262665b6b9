//! Handing a consumer key to an application: the steps, what each refuses, and what the application
//! gets.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use serde_json::Value;
use types::{Environment, Role};

use crate::web_support::{Answer, Browser, PASSWORD, Shop, encoded};

const HTTPS: &str = "https://callback.example/keys";
const RETURN: &str = "https://app.example/back?tenant=7";

/// The query of a request for a key, with some parameters changed; without those that are empty.
fn query(changes: &[(&str, &str)]) -> String {
    let mut pairs = vec![
        ("app_name", "Sample App"),
        ("scope", "read_write"),
        ("user_id", "42"),
        ("return_url", RETURN),
        ("callback_url", HTTPS),
    ];
    for (name, value) in changes {
        pairs.retain(|(other, _)| other != name);
        pairs.push((name, value));
    }
    let given = pairs.iter().filter(|(_, value)| !value.is_empty());
    let given: Vec<String> =
        given.map(|(name, value)| format!("{name}={}", encoded(value))).collect();
    given.join("&")
}

fn step(browser: &mut Browser<'_>, step: &str, changes: &[(&str, &str)]) -> Answer {
    browser.get(&format!("/wc-auth/v1/{step}?{}", query(changes)))
}

/// Signs in on the way to the question, and returns the question.
fn question(browser: &mut Browser<'_>, login: &str, changes: &[(&str, &str)]) -> Answer {
    let away = step(browser, "authorize", changes);
    assert_eq!(away.status, 302, "{}", away.body);
    let path = away.location().strip_prefix("https://shop.example").unwrap().to_owned();
    assert!(path.starts_with("/wc-auth/v1/login/?app_name=Sample%20App&user_id=42&"), "{path}");
    let form = browser.get(&path);
    assert_eq!(form.status, 200, "{}", form.body);
    let (token, redirect) = (form.field("woocommerce-login-nonce"), form.field("redirect"));
    let fields = [
        ("username", login),
        ("password", PASSWORD),
        ("woocommerce-login-nonce", token.as_str()),
        ("redirect", redirect.as_str()),
        ("login", "1"),
    ];
    let back = browser.post(&path, &fields);
    assert_eq!(back.status, 302, "{}", back.body);
    let path = back.location().strip_prefix("https://shop.example").unwrap().to_owned();
    assert!(path.starts_with("/wc-auth/v1/authorize/?app_name=Sample+App&"), "{path}");
    browser.get(&path)
}

/// An application on this computer that answers one request with a status, and hands the request
/// over.
fn application(status: u16) -> (String, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/keys", listener.local_addr().unwrap());
    let (sender, receiver) = channel();
    thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut text = String::new();
        let mut buffer = [0; 4096];
        while !text.ends_with('}') {
            let count = stream.read(&mut buffer).unwrap();
            text.push_str(&String::from_utf8_lossy(&buffer[..count]));
        }
        let answer = format!("HTTP/1.1 {status} Done\r\nContent-Length: 0\r\n\r\n");
        stream.write_all(answer.as_bytes()).unwrap();
        sender.send(text).unwrap();
    });
    (url, receiver)
}

#[test]
fn an_application_gets_a_key_that_works() {
    let shop = Shop::with_loopback();
    let (callback, received) = application(200);
    let mut browser = shop.browser();
    let asked = [("callback_url", callback.as_str()), ("scope", "read")];
    let question = question(&mut browser, "anna", &asked);
    assert_eq!(question.status, 200, "{}", question.body);
    assert!(question.has("Sample App") && question.has("127.0.0.1"), "{}", question.body);
    assert!(question.has("read everything in the store"), "{}", question.body);
    assert_eq!(question.header("cache-control"), "no-store");
    assert_eq!(question.header("x-frame-options"), "DENY");
    assert_eq!(question.link("success=0"), format!("{RETURN}&success=0&user_id=42"));

    let done = browser.get(&question.link("access_granted"));
    assert_eq!(done.status, 302, "{}", done.body);
    assert_eq!(done.location(), format!("{RETURN}&success=1&user_id=42"));

    let request = received.recv().unwrap();
    let (head, body) = request.split_once("\r\n\r\n").unwrap();
    let head = head.to_ascii_lowercase();
    assert!(head.starts_with("post /keys http/1.1"), "{head}");
    assert!(head.contains("content-type: application/json;charset=utf-8"), "{head}");
    let key: Value = serde_json::from_str(body).unwrap();
    assert_eq!((&key["user_id"], &key["key_permissions"]), (&"42".into(), &"read".into()));
    assert!(key["key_id"].is_i64(), "{key}");
    assert_eq!(shop.consumer_keys(1), [(String::from("Sample App"), String::from("read"))]);

    // The key reads as its user, and does no more than it was granted for.
    let pair = format!(
        "consumer_key={}&consumer_secret={}",
        key["consumer_key"].as_str().unwrap(),
        key["consumer_secret"].as_str().unwrap()
    );
    let mut program = shop.browser();
    assert_eq!(program.get(&format!("/wp-json/wc/v3/orders?{pair}")).status, 200);
    let write = program.post(&format!("/wp-json/wc/v3/coupons?{pair}"), &[("code", "x")]);
    assert_eq!(write.status, 401, "{write:?}");
}

#[test]
fn a_key_that_nobody_took_is_no_key() {
    for status in [500, 201, 302] {
        let shop = Shop::with_loopback();
        let (callback, received) = application(status);
        let mut browser = shop.browser();
        let question = question(&mut browser, "anna", &[("callback_url", &callback)]);
        let refused = browser.get(&question.link("access_granted"));
        assert_eq!(refused.status, 401, "{status}: {}", refused.body);
        assert!(received.recv().unwrap().contains("consumer_secret"));
        assert!(shop.consumer_keys(1).is_empty(), "{status}");
    }
}

#[test]
fn an_approval_is_for_one_request_of_one_session() {
    let shop = Shop::with_loopback();
    let mut browser = shop.browser();
    let (callback, _received) = application(200);
    let question = question(&mut browser, "anna", &[("callback_url", &callback)]);
    let approve = question.link("access_granted");
    // Without the token, with another one, for other rights, or sent from elsewhere.
    let (bare, _) = approve.split_once("&wc_auth_nonce=").unwrap();
    for path in [
        bare.to_owned(),
        format!("{bare}&wc_auth_nonce=0123456789"),
        approve.replace("app_name=Sample%20App", "app_name=Other"),
        approve.replace("scope=read_write", "scope=write"),
        approve.replace("user_id=42", "user_id=43"),
    ] {
        assert_eq!(browser.get(&path).status, 401, "{path}");
    }
    let mut other = shop.browser();
    assert_eq!(other.get(&approve).status, 401);
    shop.add_user("mallory", "Mallory");
    other.sign_in("mallory");
    assert_eq!(other.get(&approve).status, 401);
    browser.set("Sec-Fetch-Site", "cross-site");
    assert_eq!(browser.get(&approve).status, 401);
    assert!(shop.consumer_keys(1).is_empty());
}

#[test]
fn whatever_is_wrong_is_told_on_a_page() {
    let shop = Shop::new(Environment::Production);
    let mut browser = shop.browser();
    let wrong: &[&[(&str, &str)]] = &[
        &[("app_name", "")],
        &[("user_id", "")],
        &[("return_url", "")],
        &[("callback_url", "")],
        &[("scope", "")],
        &[("scope", "bogus")],
        &[("callback_url", "http://callback.example/keys")],
        &[("callback_url", "shop://keys")],
        &[("callback_url", "https://10.0.0.1/keys")],
        &[("callback_url", "https://127.0.0.1/keys")],
        &[("callback_url", "http://127.0.0.1:8080/keys")],
        &[("callback_url", "https://callback.example:22/keys")],
        &[("return_url", "javascript:alert(1)")],
        &[("return_url", "javascript://x/%0aalert(1)")],
    ];
    for changes in wrong {
        for name in ["authorize", "login", "access_granted"] {
            let answer = step(&mut browser, name, changes);
            assert_eq!(answer.status, 401, "{name} {changes:?}");
            assert!(answer.header("content-type").starts_with("text/html"), "{changes:?}");
        }
    }
    assert_eq!(step(&mut browser, "nope", &[]).status, 401);
    assert_eq!(browser.get(&format!("/wc-auth/v2/authorize?{}", query(&[]))).status, 404);
    // An address without a scheme is meant for TLS; a way back needs none.
    for (changes, part) in [
        (("callback_url", "callback.example"), "callback_url=https%3A%2F%2Fcallback.example&"),
        (("return_url", "http://app.example/"), "return_url=http%3A%2F%2Fapp.example%2F&"),
        (("return_url", "shop://back"), "return_url=shop%3A%2F%2Fback&"),
        (("app_name", "<b>X"), "app_name=X&"),
    ] {
        let answer = step(&mut browser, "authorize", &[changes]);
        assert_eq!(answer.status, 302, "{changes:?}: {}", answer.body);
        assert!(answer.location().contains(part), "{}", answer.location());
    }
}

#[test]
fn who_cannot_manage_the_shop_hands_out_nothing() {
    let shop = Shop::new(Environment::Production);
    for (login, role) in [("eddy", Role::Editor), ("sue", Role::Subscriber)] {
        let user_id = shop.add_user_as(login, login, role);
        let mut browser = shop.browser();
        assert_eq!(question(&mut browser, login, &[]).status, 401, "{login}");
        assert_eq!(step(&mut browser, "access_granted/", &[]).status, 401, "{login}");
        assert!(shop.consumer_keys(user_id).is_empty());
        // Who is signed in is not asked to sign in.
        assert_eq!(step(&mut browser, "login/", &[]).status, 302, "{login}");
    }
}

#[test]
fn the_form_signs_in_whom_it_was_given_to() {
    let shop = Shop::new(Environment::Production);
    let mut browser = shop.browser();
    let path = format!("/wc-auth/v1/login/?{}", query(&[]));
    let token = browser.get(&path).field("woocommerce-login-nonce");
    let right = ("password", PASSWORD);
    let mut post = |fields: &[(&str, &str)]| {
        let fields = [&[("username", "anna")][..], fields].concat();
        let answer = browser.post(&path, &fields);
        (answer.status, browser.cookies.contains_key("boardwalk_session"))
    };
    assert_eq!(post(&[("password", "wrong"), ("woocommerce-login-nonce", &token)]), (200, false));
    assert_eq!(post(&[right]), (200, false));
    assert_eq!(post(&[right, ("woocommerce-login-nonce", "0123456789")]), (200, false));
    let away = ("redirect", "https://other.example/");
    let token = ("woocommerce-login-nonce", token.as_str());
    assert_eq!(post(&[right, token, away]), (302, true));
    let again = step(&mut browser, "login", &[]);
    assert_eq!(again.status, 302);
    assert!(again.location().starts_with("https://shop.example/wc-auth/v1/authorize/?"));
}
