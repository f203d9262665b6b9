//! Signing in and out with a browser's cookies: what is asked for, and what is refused.

use serde_json::{Value, json};
use types::Environment;

use crate::web_support::{Browser, PASSWORD, Shop, encoded};

const SESSION: &str = "boardwalk_session";
const VISITOR: &str = "boardwalk_visitor";

fn shop() -> Shop {
    Shop::new(Environment::Production)
}

/// Posts the form of the sign-in page as a browser would, after changing some of its fields.
fn submit(browser: &mut Browser<'_>, changes: &[(&str, &str)]) -> crate::web_support::Answer {
    let token = browser.get("/wp-login.php").field("_wpnonce");
    let mut fields = vec![("log", "anna"), ("pwd", PASSWORD), ("_wpnonce", token.as_str())];
    for (name, value) in changes {
        fields.retain(|(other, _)| other != name);
        fields.push((name, value));
    }
    browser.post("/wp-login.php", &fields)
}

/// Whether pages are told that somebody is signed in.
fn signed_in(browser: &mut Browser<'_>) -> bool {
    let answer = browser.get("/session/nonce");
    assert_eq!(answer.status, 200, "{}", answer.body);
    let told: Value = serde_json::from_str(&answer.body).unwrap();
    assert_eq!(told["registration"], "closed", "{told}");
    assert_eq!(told["nonce"].is_string(), told["signed_in"] == true, "{told}");
    told["signed_in"] == true
}

#[test]
fn a_session_begins_and_ends() {
    let shop = shop();
    let mut browser = shop.browser();
    let form = browser.get("/wp-login.php");
    let visitor = form.header("set-cookie").to_owned();
    assert!(visitor.starts_with("boardwalk_visitor="), "{visitor}");
    // Who is asked again keeps the cookie, so that two open forms both work.
    assert!(browser.get("/wp-login.php").all("set-cookie").is_empty());

    let answer = browser.sign_in("anna");
    assert_eq!(answer.location(), "https://shop.example/");
    assert_eq!(answer.header("cache-control"), "no-store");
    let cookies = answer.all("set-cookie");
    let session = cookies.iter().find(|cookie| cookie.starts_with(SESSION)).unwrap();
    let attributes: Vec<&str> = session.split("; ").skip(1).collect();
    let expected = ["Path=/", "HttpOnly", "SameSite=Lax", "Max-Age=172800", "Secure"];
    assert_eq!(attributes, expected);
    assert!(!browser.cookies.contains_key(VISITOR));

    // Who is signed in goes on at once.
    let again = browser.get("/wp-login.php?redirect_to=/docs/");
    assert_eq!((again.status, again.location()), (302, "https://shop.example/docs/"));

    // A link of another site does not sign out; the link that we offer does.
    let token = browser.cookies[SESSION].clone();
    let question = browser.get("/wp-login.php?action=logout&_wpnonce=0123456789");
    assert_eq!(question.status, 403);
    assert!(browser.cookies.contains_key(SESSION));
    let link = question.body.split("href=\"/wp-login.php?").nth(1).unwrap();
    let link = link.split('"').next().unwrap().replace("&#38;", "&");
    let out = browser.get(&format!("/wp-login.php?{link}"));
    assert_eq!((out.status, out.location()), (302, "https://shop.example/wp-login.php"));
    assert!(!browser.cookies.contains_key(SESSION));

    // The token is worth nothing now, wherever it is kept.
    browser.cookies.insert(SESSION.to_owned(), token);
    assert!(!signed_in(&mut browser));
    assert_eq!(browser.get("/wp-login.php").status, 200);
}

#[test]
fn over_plain_http_the_cookie_is_sent_over_plain_http() {
    let shop = shop();
    let mut browser = shop.browser();
    browser.set("X-Forwarded-Proto", "");
    let answer = browser.sign_in("anna");
    assert!(answer.all("set-cookie").iter().all(|cookie| !cookie.contains("Secure")));
    assert_eq!(answer.location(), "http://shop.example/");
}

#[test]
fn a_planted_session_is_not_the_one_that_begins() {
    let shop = shop();
    let mut mallory = shop.browser();
    shop.add_user("mallory", "Mallory");
    mallory.sign_in("mallory");
    let planted = mallory.cookies[SESSION].clone();

    let mut anna = shop.browser();
    anna.cookies.insert(SESSION.to_owned(), planted.clone());
    let token = {
        let mut other = shop.browser();
        let form = other.get("/wp-login.php");
        anna.cookies.insert(VISITOR.to_owned(), other.cookies[VISITOR].clone());
        form.field("_wpnonce")
    };
    let fields = [("log", "anna"), ("pwd", PASSWORD), ("_wpnonce", token.as_str())];
    assert_eq!(anna.post("/wp-login.php", &fields).status, 302);
    assert_ne!(anna.cookies[SESSION], planted);
    // The session that the browser came with is over.
    assert!(!signed_in(&mut mallory));
    let user: Value = serde_json::from_str(&anna.get("/session/nonce").body).unwrap();
    assert_eq!(user["user_id"], 1);
}

#[test]
fn failures_say_one_thing() {
    let shop = shop();
    let mut bodies = Vec::new();
    for (login, password) in [("anna", "wrong password"), ("nobody", PASSWORD), ("", "")] {
        let mut browser = shop.browser();
        let answer = submit(&mut browser, &[("log", login), ("pwd", password)]);
        assert_eq!(answer.status, 403, "{login}");
        assert!(!browser.cookies.contains_key(SESSION));
        assert_eq!(answer.field("log"), login);
        assert!(!answer.has(password) || password.is_empty(), "the password came back");
        let mark = answer.body.split("role=\"alert\"").nth(1).unwrap();
        bodies.push(mark.split("</div>").next().unwrap().to_owned());
    }
    assert!(bodies.windows(2).all(|pair| pair[0] == pair[1]), "{bodies:?}");
}

#[test]
fn the_e_mail_address_and_any_bytes_are_taken() {
    let shop = shop();
    let mut browser = shop.browser();
    assert_eq!(submit(&mut browser, &[("log", "anna@shop.example")]).status, 302);
    let mut browser = shop.browser();
    assert_eq!(submit(&mut browser, &[("log", "an\0na\r\n\u{202e}")]).status, 403);
    let long = "a".repeat(20_000);
    assert_eq!(submit(&mut browser, &[("log", &long)]).status, 403);
    let longer = "a".repeat(40_000);
    assert_eq!(submit(&mut browser, &[("log", &longer)]).status, 413);
}

#[test]
fn a_form_of_another_site_is_refused() {
    let shop = shop();
    for (header, value) in [
        ("Sec-Fetch-Site", "cross-site"),
        ("Sec-Fetch-Site", "same-site"),
        ("Origin", "https://evil.example"),
        ("Origin", "https://shop.example.evil.example"),
    ] {
        let mut browser = shop.browser();
        let token = browser.get("/login").field("_wpnonce");
        browser.set(header, value);
        let fields = [("log", "anna"), ("pwd", PASSWORD), ("_wpnonce", token.as_str())];
        let answer = browser.post("/login", &fields);
        assert_eq!(answer.status, 403, "{header}: {value}");
        assert!(!browser.cookies.contains_key(SESSION), "{header}: {value}");
    }
    for (header, value) in
        [("Sec-Fetch-Site", "same-origin"), ("Origin", "https://shop.example"), ("Origin", "null")]
    {
        let mut browser = shop.browser();
        browser.set(header, value);
        assert_eq!(submit(&mut browser, &[]).status, 302, "{header}: {value}");
    }
    for changes in [&[("_wpnonce", "")][..], &[("_wpnonce", "0123456789")]] {
        let mut browser = shop.browser();
        assert_eq!(submit(&mut browser, changes).status, 403, "{changes:?}");
    }
    // The token of one browser's form is worth nothing in another, nor without the cookie.
    let token = shop.browser().get("/login").field("_wpnonce");
    let fields = [("log", "anna"), ("pwd", PASSWORD), ("_wpnonce", token.as_str())];
    let mut other = shop.browser();
    assert_eq!(other.post("/login", &fields).status, 403);
    assert_eq!(other.post("/login", &fields).status, 403);
}

#[test]
fn nothing_leads_away_after_signing_in() {
    let shop = shop();
    for (target, expected) in [
        ("/docs/?q=a", "/docs/?q=a"),
        ("https://shop.example/about/", "/about/"),
        ("", "/"),
        ("//evil.example/", "/"),
        ("/\\evil.example", "/"),
        ("\\\\evil.example", "/"),
        ("/\t/evil.example", "/"),
        ("/%0d%0aSet-Cookie:a=b", "/%0d%0aSet-Cookie:a=b"),
        ("/\r\nSet-Cookie: a=b", "/"),
        ("https://evil.example/", "/"),
        ("https://shop.example@evil.example/", "/"),
        ("https://shop.example.evil.example/", "/"),
        ("http://shop.example/", "/"),
        ("javascript:alert(1)", "/"),
        ("evil", "/"),
    ] {
        let mut browser = shop.browser();
        let form = browser.get(&format!("/login?redirect_to={}", encoded(target)));
        let shown = form.field("redirect_to");
        assert!(shown.is_empty() || shown.starts_with('/'), "{target}: {shown}");
        let answer = submit(&mut browser, &[("redirect_to", target)]);
        let expected = format!("https://shop.example{expected}");
        assert_eq!(answer.location(), expected, "{target:?}");
        assert_eq!(answer.all("location").len(), 1);
        // Signing out leads nowhere else either.
        let out = format!("/login?action=logout&redirect_to={}", encoded(target));
        let question = browser.get(&out);
        assert!(!question.has("evil.example\""), "{}", question.body);
        let mut nobody = shop.browser();
        let location = nobody.get(&out).location().to_owned();
        assert!(location.starts_with("https://shop.example/"), "{target:?}: {location}");
        assert!(!location.starts_with("https://shop.example//"), "{target:?}: {location}");
    }
}

#[test]
fn guessing_is_slowed_down() {
    let shop = shop();
    let mut browser = shop.browser();
    for _ in 0..5 {
        assert_eq!(submit(&mut browser, &[("pwd", "wrong")]).status, 403);
    }
    let answer = submit(&mut browser, &[]);
    assert_eq!(answer.status, 429, "the right password must wait too");
    let wait: u64 = answer.header("retry-after").parse().unwrap();
    assert!((1..=30).contains(&wait), "{wait}");
    // Who guesses does not keep the owner out, who is elsewhere.
    let mut elsewhere = shop.browser();
    elsewhere.set("X-Forwarded-For", "198.51.100.7");
    assert_eq!(submit(&mut elsewhere, &[("log", "ANNA")]).status, 302);
}

#[test]
fn guessing_links_is_slowed_down() {
    let shop = shop();
    let mut browser = shop.browser();
    for _ in 0..5 {
        assert_eq!(browser.get("/login?magic_link=made.up").status, 403);
    }
    let answer = browser.get("/login?magic_link=made.up");
    assert_eq!(answer.status, 429);
    assert!(answer.header("retry-after").parse::<u64>().unwrap() > 0);
    assert_eq!(submit(&mut browser, &[]).status, 429, "the right password must wait too");
}

#[test]
fn guessing_one_account_from_many_addresses_is_slowed_down_for_a_moment() {
    let shop = shop();
    shop.add_user("bert", "Bert");
    for number in 0..25 {
        let mut browser = shop.browser();
        browser.set("X-Forwarded-For", &format!("203.0.113.{number}"));
        assert_eq!(submit(&mut browser, &[("pwd", "wrong")]).status, 403, "{number}");
    }
    let mut elsewhere = shop.browser();
    elsewhere.set("X-Forwarded-For", "198.51.100.7");
    let answer = submit(&mut elsewhere, &[("log", "ANNA")]);
    assert_eq!(answer.status, 429);
    let wait: u64 = answer.header("retry-after").parse().unwrap();
    assert!((1..=60).contains(&wait), "{wait}");
    assert_eq!(submit(&mut elsewhere, &[("log", "bert")]).status, 302);
}

#[test]
fn scripts_of_our_own_pages_get_a_nonce() {
    let shop = shop();
    let mut browser = shop.browser();
    let known = "/wp-admin/admin-ajax.php?action=rest-nonce";
    assert_eq!((browser.get(known).status, browser.get(known).body), (403, String::from("0")));
    assert!(!signed_in(&mut browser));
    assert_eq!(browser.get("/wp-admin/admin-ajax.php?action=other").status, 400);
    browser.sign_in("anna");
    let nonce = browser.get(known);
    assert_eq!((nonce.status, nonce.body.len()), (200, 10), "{nonce:?}");
    assert_eq!(nonce.header("cache-control"), "no-store");
    assert_eq!(nonce.header("access-control-allow-origin"), "");
    let neutral: Value = serde_json::from_str(&browser.get("/session/nonce").body).unwrap();
    assert_eq!((&neutral["nonce"], &neutral["user_id"]), (&json!(nonce.body), &json!(1)));
    let sign_out = neutral["sign_out"].as_str().unwrap().to_owned();

    // It is what the REST interface asks of a session.
    let me = "/wp-json/wp/v2/users/me";
    assert_eq!(browser.get(me).status, 401);
    browser.set("X-WP-Nonce", &nonce.body);
    let answer = browser.get(me);
    assert_eq!(answer.status, 200, "{answer:?}");
    browser.set("X-WP-Nonce", "");

    browser.set("Sec-Fetch-Site", "cross-site");
    assert_eq!(browser.get(known).body, "0");
    assert!(!signed_in(&mut browser));
    browser.set("Sec-Fetch-Site", "");

    // The same answer tells where the session ends, without a question.
    let left = browser.get(&format!("{sign_out}&redirect_to=%2Fportal%2F"));
    assert_eq!(left.status, 302, "{left:?}");
    assert!(left.header("location").ends_with("/portal/"), "{left:?}");
    assert!(!signed_in(&mut browser));
}

#[test]
fn one_browser_is_signed_in_to_both_environments_of_a_host() {
    let (sandbox, production) = (Shop::new(Environment::Sandbox), shop());
    let (mut here, mut there) = (sandbox.browser(), production.browser());
    here.sign_in("anna");
    // Cookies are kept by host, whatever the port: the other environment sees them all.
    there.cookies.extend(here.cookies.clone());
    assert!(!signed_in(&mut there));
    there.sign_in("anna");
    here.cookies.extend(there.cookies.clone());
    assert!(signed_in(&mut here) && signed_in(&mut there), "{:?}", here.cookies);
}

#[test]
fn a_program_signs_in_without_the_form() {
    let shop = shop();
    let mut program = shop.browser();
    let fields = [("log", "anna"), ("pwd", PASSWORD)];
    let answer = program.post("/wp-login.php", &fields);
    assert_eq!(answer.status, 302, "{}", answer.body);
    // Existing clients see by these names that they are signed in.
    let names: Vec<&str> = program.cookies.keys().map(String::as_str).collect();
    let has = |start: &str| names.iter().any(|name| name.strip_prefix(start).is_some_and(is_mark));
    assert!(has("wordpress_logged_in_") && has("wordpress_"), "{names:?}");

    // Then it uses the REST interface as the request utilities of editors do.
    let nonce = program.get("/wp-admin/admin-ajax.php?action=rest-nonce");
    assert_eq!((nonce.status, nonce.body.len()), (200, 10), "{nonce:?}");
    program.set("X-WP-Nonce", &nonce.body);
    assert_eq!(program.get("/wp-json/wp/v2/users/me").status, 200);
    let posted = program.post("/wp-admin/admin-ajax.php", &[("action", "rest-nonce")]);
    assert_eq!((posted.status, &posted.body), (200, &nonce.body));

    // One of the known cookies is enough.
    program.cookies.retain(|name, _| name.starts_with("wordpress_logged_in_"));
    assert_eq!(program.cookies.len(), 1);
    assert_eq!(program.get("/wp-json/wp/v2/users/me").status, 200);
    assert!(signed_in(&mut program));
}

fn is_mark(text: &str) -> bool {
    text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[test]
fn another_site_signs_nobody_in() {
    let shop = shop();
    for (header, value) in [
        ("Sec-Fetch-Site", "cross-site"),
        ("Sec-Fetch-Site", "same-site"),
        ("Origin", "https://other.example"),
        ("Origin", "null"),
        ("Referer", "https://other.example/form"),
        ("Referer", "https://shop.example.other.example/"),
    ] {
        let mut browser = shop.browser();
        browser.set(header, value);
        let answer = browser.post("/wp-login.php", &[("log", "anna"), ("pwd", PASSWORD)]);
        assert_eq!(answer.status, 403, "{header}: {value}");
        assert!(!browser.cookies.contains_key(SESSION), "{header}: {value}");
    }
    for (header, value) in [
        ("Sec-Fetch-Site", "same-origin"),
        ("Sec-Fetch-Site", "none"),
        ("Origin", "https://shop.example"),
        ("Referer", "https://shop.example/wp-login.php"),
    ] {
        let mut browser = shop.browser();
        browser.set(header, value);
        let answer = browser.post("/wp-login.php", &[("log", "anna"), ("pwd", PASSWORD)]);
        assert_eq!(answer.status, 302, "{header}: {value}");
    }
}

#[test]
fn guesses_without_the_form_are_slowed_down_as_well() {
    let shop = shop();
    let mut program = shop.browser();
    let mut post =
        |password| program.post("/wp-login.php", &[("log", "anna"), ("pwd", password)]).status;
    let statuses: Vec<u16> = (0..6).map(|_| post("wrong password")).collect();
    assert_eq!(statuses, [403, 403, 403, 403, 403, 429]);
    assert_eq!(post(PASSWORD), 429);
}

#[test]
fn a_session_is_kept_for_whoever_asks() {
    let shop = shop();
    let mut program = shop.browser();
    let fields = [("log", "anna"), ("pwd", PASSWORD), ("rememberme", "forever")];
    let answer = program.post("/wp-login.php", &fields);
    let cookies = answer.all("set-cookie");
    let session = cookies.iter().find(|cookie| cookie.starts_with(SESSION)).unwrap();
    assert!(session.contains("Max-Age=1209600"), "{session}");
}
