//! Connecting an application: approving, rejecting, and all that must not be approved.

use types::Environment;
use url::Url;

use crate::web_support::{Answer, Browser, Shop, encoded};

const KNOWN: &str = "/wp-admin/authorize-application.php";
const NEUTRAL: &str = "/authorize-application";
const APP_ID: &str = "6f1f4a1e-94f5-4f0c-9c2a-3a9d6b0c1d2e";
const SUCCESS: &str = "https://app.example/cb?state=abc";

fn ask(browser: &mut Browser<'_>, page: &str, parameters: &[(&str, &str)]) -> Answer {
    let query: Vec<String> =
        parameters.iter().map(|(name, value)| format!("{name}={}", encoded(value))).collect();
    browser.get(&format!("{page}?{}", query.join("&")))
}

/// Sends the question's form back with one of its buttons.
fn press(browser: &mut Browser<'_>, page: &str, question: &Answer, button: &str) -> Answer {
    assert_eq!(question.status, 200, "{}", question.body);
    let names = ["_wpnonce", "app_id", "app_name", "success_url", "reject_url"];
    let values = names.map(|name| question.field(name));
    let mut fields: Vec<(&str, &str)> =
        names.iter().copied().zip(values.iter().map(String::as_str)).collect();
    fields.push((button, "1"));
    browser.post(page, &fields)
}

#[test]
fn an_application_is_sent_back_with_a_password() {
    for (page, sign_in) in [(KNOWN, "/wp-login.php"), (NEUTRAL, "/login")] {
        let shop = Shop::new(Environment::Production);
        let mut browser = shop.browser();
        let parameters = [("app_name", "My App"), ("app_id", APP_ID), ("success_url", SUCCESS)];
        // Nobody is signed in: sign in, and come back.
        let away = ask(&mut browser, page, &parameters);
        assert_eq!(away.status, 302);
        let path = away.location().strip_prefix("https://shop.example").unwrap().to_owned();
        assert!(path.starts_with(&format!("{sign_in}?redirect_to=")), "{path}");
        let form = browser.get(&path);
        let (token, back) = (form.field("_wpnonce"), form.field("redirect_to"));
        let fields = [
            ("log", "anna"),
            ("pwd", crate::web_support::PASSWORD),
            ("_wpnonce", token.as_str()),
            ("redirect_to", back.as_str()),
        ];
        let back = browser.post(sign_in, &fields);
        assert_eq!(back.status, 302, "{}", back.body);
        let path = back.location().strip_prefix("https://shop.example").unwrap().to_owned();
        let question = browser.get(&path);
        assert!(question.has("My App") && question.has("app.example"), "{}", question.body);
        assert!(question.has("Anna Example"), "{}", question.body);
        assert_eq!(question.field("success_url"), SUCCESS);
        let policy = question.header("content-security-policy");
        assert!(policy.contains("form-action 'self' https://app.example;"), "{policy}");

        let answer = press(&mut browser, page, &question, "approve");
        assert_eq!(answer.status, 302, "{}", answer.body);
        assert_eq!(answer.header("cache-control"), "no-store");
        assert_eq!(answer.header("referrer-policy"), "no-referrer");
        let start = "https://app.example/cb?state=abc&site_url=https%3A%2F%2Fshop.example\
                     &user_login=anna&password=";
        let password =
            answer.location().strip_prefix(start).unwrap_or_else(|| panic!("{answer:?}"));
        assert!(!password.contains(['+', ' ']), "{password}");
        let password = password.replace("%20", " ");
        assert_eq!(password.len(), 29, "{password}");
        assert_eq!(shop.application_passwords(1), ["My App"]);

        // The password is one.
        let mut program = shop.browser();
        let basic = data_encoding::BASE64.encode(format!("anna:{password}").as_bytes());
        program.set("Authorization", &format!("Basic {basic}"));
        let me = program.get("/wp-json/wp/v2/users/me");
        assert_eq!(me.status, 200, "{me:?}");
    }
}

#[test]
fn an_application_is_sent_back_without_a_password() {
    let shop = Shop::new(Environment::Production);
    let mut browser = shop.browser();
    browser.sign_in("anna");
    let reject = "https://app.example/no?x=1#part";
    for (parameters, expected) in [
        (&[("success_url", SUCCESS)][..], "https://app.example/cb?state=abc&success=false"),
        (&[("success_url", SUCCESS), ("reject_url", reject)], reject),
        (&[("reject_url", "myapp://no")], "myapp://no"),
        (&[], "https://shop.example/"),
    ] {
        let question = ask(&mut browser, KNOWN, parameters);
        let answer = press(&mut browser, KNOWN, &question, "reject");
        assert_eq!((answer.status, answer.location()), (302, expected));
    }
    assert!(shop.application_passwords(1).is_empty());
}

#[test]
fn without_an_address_the_password_is_shown_once() {
    let shop = Shop::new(Environment::Production);
    let mut browser = shop.browser();
    browser.sign_in("anna");
    let question = ask(&mut browser, KNOWN, &[("app_name", "Desk <b>app</b>")]);
    assert!(question.has("shown to you once"), "{}", question.body);
    let answer = press(&mut browser, KNOWN, &question, "approve");
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("cache-control"), "no-store");
    let password = answer.body.split("class=\"secret\"").nth(1).unwrap();
    let password = password.split('>').nth(1).unwrap().split('<').next().unwrap();
    assert_eq!(password.len(), 29, "{password}");
    assert!(password.split(' ').all(|group| group.len() == 4), "{password}");
    assert_eq!(shop.application_passwords(1), ["Desk app"]);
}

#[test]
fn addresses_are_accepted_or_refused() {
    let production = Shop::new(Environment::Production);
    let sandbox = Shop::new(Environment::Sandbox);
    let mut in_production = production.browser();
    in_production.sign_in("anna");
    let mut in_sandbox = sandbox.browser();
    in_sandbox.sign_in("anna");
    for (address, status_production, status_sandbox) in [
        ("https://app.example/cb", 200, 200),
        ("http://127.0.0.1:9/cb", 200, 200),
        ("http://[::1]:9/cb", 200, 200),
        ("myapp://cb", 200, 200),
        ("http://example.com/cb", 400, 200),
        ("http://localhost/cb", 400, 200),
        ("http://127.0.0.1.example.com/cb", 400, 200),
        ("javascript:alert(1)", 400, 400),
        ("javascript://app.example/%0aalert(1)", 400, 400),
        ("JAVASCRIPT://app.example/", 400, 400),
        ("data:text/html,x", 400, 400),
        ("data://text/html,x", 400, 400),
        ("//app.example/", 400, 400),
        ("/cb", 400, 400),
        ("app.example", 400, 400),
        ("myapp:cb", 400, 400),
        ("https://", 400, 400),
        ("https://app.example/\r\nX: y", 400, 400),
    ] {
        for name in ["success_url", "reject_url"] {
            for page in [KNOWN, NEUTRAL] {
                let parameters = [("app_name", "App"), (name, address)];
                let answer = ask(&mut in_production, page, &parameters);
                assert_eq!(answer.status, status_production, "{name}={address}");
                assert!(!answer.has("alert("), "{}", answer.body);
                let answer = ask(&mut in_sandbox, page, &parameters);
                assert_eq!(answer.status, status_sandbox, "{name}={address}");
            }
        }
    }
    for (app_id, status) in [
        ("", 200),
        (APP_ID, 200),
        ("6F1F4A1E-94F5-4F0C-9C2A-3A9D6B0C1D2E", 400),
        ("1", 400),
        ("<script>", 400),
    ] {
        assert_eq!(
            ask(&mut in_production, KNOWN, &[("app_id", app_id)]).status,
            status,
            "{app_id}"
        );
    }
}

#[test]
fn what_the_form_brings_is_checked_again() {
    let shop = Shop::new(Environment::Production);
    let mut browser = shop.browser();
    browser.sign_in("anna");
    let question = ask(&mut browser, KNOWN, &[("app_name", "App"), ("success_url", SUCCESS)]);
    let token = question.field("_wpnonce");
    let own = ("_wpnonce", token.as_str());
    for (fields, status) in [
        (vec![own, ("approve", "1"), ("app_name", "App"), ("success_url", "javascript:x")], 400),
        (vec![own, ("approve", "1"), ("app_name", "App"), ("app_id", "x")], 400),
        (vec![own, ("approve", "1"), ("app_name", " \t ")], 400),
        (vec![own, ("approve", "1"), ("app_name", "<b></b>")], 400),
        (vec![("approve", "1"), ("app_name", "App")], 403),
        (vec![("_wpnonce", "0123456789"), ("approve", "1"), ("app_name", "App")], 403),
        (vec![own, ("app_name", "App")], 200),
    ] {
        let answer = browser.post(KNOWN, &fields);
        assert_eq!(answer.status, status, "{fields:?}: {}", answer.body);
        assert!(answer.location().is_empty());
    }
    let long = "x".repeat(201);
    let answer = browser.post(KNOWN, &[own, ("approve", "1"), ("app_name", &long)]);
    assert_eq!(answer.status, 400);
    // Who presses both buttons has not approved.
    let both = [own, ("approve", "1"), ("reject", "1"), ("app_name", "App")];
    assert_eq!(browser.post(KNOWN, &both).location(), "https://shop.example/");
    assert!(shop.application_passwords(1).is_empty());
}

#[test]
fn nobody_else_approves() {
    let shop = Shop::new(Environment::Production);
    shop.add_user("mallory", "Mallory");
    let mut mallory = shop.browser();
    mallory.sign_in("mallory");
    let token = ask(&mut mallory, KNOWN, &[("app_name", "App")]).field("_wpnonce");
    let fields = [("_wpnonce", token.as_str()), ("approve", "1"), ("app_name", "App")];
    // Another user's token, even with the right session, and no session at all.
    let mut anna = shop.browser();
    anna.sign_in("anna");
    assert_eq!(anna.post(KNOWN, &fields).status, 403);
    let nobody = shop.browser().post(KNOWN, &fields);
    assert_eq!(nobody.status, 302);
    assert!(nobody.location().starts_with("https://shop.example/wp-login.php?"), "{nobody:?}");
    // The right token, sent by a page of another site.
    let own = ask(&mut anna, KNOWN, &[("app_name", "App")]).field("_wpnonce");
    let fields = [("_wpnonce", own.as_str()), ("approve", "1"), ("app_name", "App")];
    anna.set("Sec-Fetch-Site", "cross-site");
    assert_eq!(anna.post(KNOWN, &fields).status, 403);
    anna.set("Sec-Fetch-Site", "");
    anna.set("Origin", "https://evil.example");
    assert_eq!(anna.post(KNOWN, &fields).status, 403);
    assert!(shop.application_passwords(1).is_empty());
    assert!(shop.application_passwords(2).is_empty());
    // A password in the query string does not approve: only the form does.
    anna.set("Origin", "");
    let answer = anna.get(&format!("{KNOWN}?approve=1&app_name=App&_wpnonce={own}"));
    assert_eq!(answer.status, 200);
    assert!(shop.application_passwords(1).is_empty());
}

#[test]
fn where_passwords_cannot_be_used_none_are_made() {
    let shop = Shop::new(Environment::Production);
    let mut browser = shop.browser();
    browser.set("X-Forwarded-Proto", "");
    browser.sign_in("anna");
    for (parameters, back) in [
        (&[("success_url", SUCCESS)][..], "https://app.example/cb?state=abc&#38;error=disabled"),
        (&[("reject_url", "myapp://no")], "myapp://no?error=disabled"),
        (&[], "/"),
    ] {
        let answer = ask(&mut browser, KNOWN, parameters);
        assert_eq!(answer.status, 501);
        assert!(answer.has(&format!("href=\"{back}\"")), "{}", answer.body);
    }
}

#[test]
fn what_an_application_says_is_text() {
    let shop = Shop::new(Environment::Production);
    let mut browser = shop.browser();
    browser.sign_in("anna");
    let hostile = "\"><img src=x onerror=alert(1)>'; DROP \u{202e}\u{0}{{7*7}}&lt;b&gt;";
    let address = "https://app.example/\"><script>alert(1)</script>?a=';x=<b>#\"<i>";
    let parameters = [("app_name", hostile), ("success_url", address), ("reject_url", address)];
    let question = ask(&mut browser, KNOWN, &parameters);
    assert_eq!(question.status, 200);
    assert!(!question.has("<img") && !question.has("<script"), "{}", question.body);
    assert_eq!(question.all("content-security-policy").len(), 1);
    let answer = press(&mut browser, KNOWN, &question, "approve");
    let location = Url::parse(answer.location()).unwrap();
    assert_eq!(location.host_str(), Some("app.example"));
    assert!(answer.location().is_ascii() && !answer.location().contains(['"', '<', ' ']));
    // Errors do not show what was sent.
    let error = ask(&mut browser, KNOWN, &[("success_url", "javascript:alert('<b>')")]);
    assert!(error.status == 400 && !error.has("alert("), "{}", error.body);
}
