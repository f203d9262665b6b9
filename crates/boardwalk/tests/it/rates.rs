//! Rate limits: per key, per ISO, and for those who try keys.

use testkit::http::{self, Request, Response};

use crate::support::{Running, Site, authorization, body};

const REFUSALS: usize = 5;

fn limited_site() -> Site {
    Site::sqlite()
        .set("server.rate_limits.enabled", true)
        .set("server.rate_limits.refused_keys_per_minute", REFUSALS)
}

fn number(answer: &Response, header: &str) -> u64 {
    let value = answer.header(header).unwrap_or_default();
    value.parse().unwrap_or_else(|_| panic!("{header}: {value:?}"))
}

fn check_too_many(answer: &Response) {
    assert_eq!(answer.status, 429, "{}", answer.text());
    assert!(number(answer, "Retry-After") >= 1);
    assert!(answer.text().contains("\"code\":\"rate_limited\""), "{}", answer.text());
    check_headers(answer);
}

fn check_headers(answer: &Response) {
    let policy = answer.header("RateLimit-Policy").unwrap_or_default();
    let standing = answer.header("RateLimit").unwrap_or_default();
    assert!(policy.contains(";q=") && policy.contains(";w="), "{policy}");
    assert!(standing.contains(";r=") && standing.contains(";t="), "{standing}");
    for name in ["X-Request-Id", "Server-Timing"] {
        assert!(answer.header(name).is_some(), "no {name}");
    }
}

/// Sends until the answer is 429, and returns how many were let through.
fn until_too_many(mut send: impl FnMut() -> Response) -> usize {
    for passed in 0..100 {
        let answer = send();
        if answer.status == 429 {
            check_too_many(&answer);
            return passed;
        }
        check_headers(&answer);
    }
    panic!("there is no limit");
}

#[test]
fn a_key_may_do_so_much_and_no_more() {
    let site =
        limited_site().set("server.rate_limits.key_sandbox", "{ per_second = 1, burst = 5 }");
    let iso = site.iso("Eager");
    let (key, other_key) = (site.key(&iso), site.key(&iso));
    let running = site.serve();
    let get = |key: &str| running.get("/v1/merchants/000000000000", key);
    let passed = until_too_many(|| get(&key));
    assert!((5..20).contains(&passed), "{passed} requests passed a burst of 5");
    let refused = get(&key);
    check_too_many(&refused);
    let policy = refused.header("RateLimit-Policy").unwrap();
    assert!(policy.starts_with("\"key\";q=1;"), "{policy}");
    assert_eq!(get(&other_key).status, 404, "another key has a limit of its own");
    assert_eq!(http::get(&running.url, "/v1/errors", &[]).unwrap().status, 200);
}

#[test]
fn the_keys_of_an_iso_share_its_onboardings() {
    let site =
        limited_site().set("server.rate_limits.onboard_sandbox", "{ per_second = 1, burst = 3 }");
    let (iso, other_iso) = (site.iso("Eager"), site.iso("Calm"));
    let keys = [site.key(&iso), site.key(&iso)];
    let other_key = site.key(&other_iso);
    let running = site.serve();
    let mut number = 0;
    let passed = until_too_many(|| {
        number += 1;
        running.onboard(&keys[number % 2], &body(&format!("Eager {number}")))
    });
    assert!((3..20).contains(&passed), "{passed} onboardings passed a burst of 3");
    assert_eq!(running.get("/v1/merchants/000000000000", &keys[0]).status, 404, "reads go on");
    assert_eq!(running.onboard(&other_key, &body("Calm")).status, 200);
}

fn try_key(running: &Running, key: &str, client: Option<&str>) -> Response {
    let mut request = Request::new("GET", "/v1/merchants/000000000000")
        .header("Authorization", &authorization(key));
    if let Some(client) = client {
        request = request.header("X-Forwarded-For", client);
    }
    http::send(&running.url, &request).unwrap()
}

#[test]
fn those_who_try_keys_must_wait() {
    let site = limited_site().set("server.trusted_proxies", "[\"127.0.0.0/8\"]");
    let key = site.key(&site.iso("Guarded"));
    let running = site.serve();
    let (thief, honest) = (Some("198.51.100.7"), Some("203.0.113.9"));
    for _ in 0..REFUSALS {
        assert_eq!(try_key(&running, "bw_test_guess", thief).status, 401);
    }
    let refused = try_key(&running, "bw_test_guess", thief);
    check_too_many(&refused);
    assert!(number(&refused, "Retry-After") > 5, "{:?}", refused.headers);
    check_too_many(&try_key(&running, &key, thief));
    assert_eq!(try_key(&running, &key, honest).status, 404, "others are not held up");
    // What the thief writes into the header himself stands before what the proxy adds.
    for claimed in ["203.0.113.9, 198.51.100.7", "203.0.113.9, 198.51.100.7:4444"] {
        check_too_many(&try_key(&running, "bw_test_guess", Some(claimed)));
    }
    for _ in 0..REFUSALS * 2 {
        assert_eq!(try_key(&running, "bw_test_guess", None).status, 401, "the machine itself");
    }
}

/// Shows a code as a device does.
fn try_code(running: &Running, code: &str, client: &str) -> Response {
    let request = Request::new("POST", "/v1/device/pair")
        .header("Authorization", &format!("pairing-code {code}"))
        .header("X-Forwarded-For", client)
        .header("Content-Type", "application/json")
        .body(r#"{"serialNumber":"SN 1"}"#);
    http::send(&running.url, &request).unwrap()
}

#[test]
fn the_right_code_is_not_taken_from_those_who_wait() {
    let site = limited_site().set("server.trusted_proxies", "[\"127.0.0.1\"]");
    let key = site.key(&site.iso("Guarded"));
    let running = site.serve();
    let onboarded = running.onboard(&key, &body("Paired")).json().unwrap();
    let tpn = onboarded["data"]["tpn"].as_str().unwrap().to_owned();
    let headers = [("Authorization", &*authorization(&key))];
    let path = format!("/v1/tpns/{tpn}/pairing-code");
    let made = http::post(&running.url, &path, &headers, &serde_json::json!({})).unwrap();
    let code = made.json().unwrap()["code"].as_str().unwrap().to_owned();
    for number in 0..REFUSALS {
        let guess = try_code(&running, &format!("AAAAAA{number:02}"), "198.51.100.7");
        assert_eq!(guess.status, 401, "{}", guess.text());
    }
    check_too_many(&try_code(&running, &code, "198.51.100.7"));
    check_too_many(&try_key(&running, &key, Some("198.51.100.7")));
    let paired = try_code(&running, &code, "203.0.113.9");
    assert_eq!(paired.status, 200, "{}", paired.text());
}

#[test]
fn an_untrusted_client_cannot_name_another() {
    let site = limited_site();
    let key = site.key(&site.iso("Guarded"));
    let running = site.serve();
    for number in 0..REFUSALS {
        let claimed = format!("198.51.100.{number}");
        assert_eq!(try_key(&running, "bw_test_guess", Some(&claimed)).status, 401);
    }
    let next = try_key(&running, "bw_test_guess", Some("198.51.100.250"));
    assert_eq!(next.status, 429, "all of them are the one who names them");
    assert_eq!(try_key(&running, &key, None).status, 404, "the machine itself goes on");
}
