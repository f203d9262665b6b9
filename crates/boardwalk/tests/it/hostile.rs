//! Bytes that no honest client sends. The server refuses them in the published shape where there is
//! a request to answer, never fails by its own fault, and lives on.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use serde_json::Value;
use testkit::http::{self, Connection, Request, Response};

use crate::support::{Running, Site, authorization, body};

const READ_MS: u64 = 300;
/// Limits of time are kept a little later on a busy machine.
const PATIENCE: Duration = Duration::from_secs(5);

struct Target {
    site: Site,
    running: Running,
    key: String,
}

impl Target {
    fn new(site: Site) -> Self {
        let key = site.key(&site.iso("Besieged"));
        let running = site.serve();
        Self { site, running, key }
    }

    fn post(&self) -> Request {
        Request::new("POST", "/v1/onboardmerchant")
            .header("Authorization", &authorization(&self.key))
            .header("Content-Type", "application/json")
    }

    fn send(&self, request: &Request) -> Response {
        http::send(&self.running.url, request).unwrap()
    }

    /// An honest client is still served, and no request has failed by the server's error.
    fn check_alive(mut self, dba: &str) {
        let answer = self.running.onboard(&self.key, &body(dba));
        assert_eq!(answer.status, 200, "{}", answer.text());
        assert!(!self.running.server.has_ended());
        let log = self.running.server.stderr();
        for sign in ["panicked", "\"level\":\"ERROR\"", "\"status\":500"] {
            assert!(!log.contains(sign), "{log}");
        }
        drop(self.site);
    }
}

/// The answer has the published shape with this one error, and the headers of every answer.
fn check_refusal(answer: &Response, status: u16, code: &str) {
    let text = answer.text();
    assert_eq!(answer.status, status, "{text}");
    assert_eq!(answer.header("Content-Type").as_deref(), Some("application/json"), "{text}");
    let object = answer.json().unwrap();
    let members: Vec<&String> = object.as_object().unwrap().keys().collect();
    assert_eq!(members, ["message", "errors"], "{text}");
    let errors = object["errors"].as_array().unwrap();
    assert_eq!(errors.len(), 1, "{text}");
    assert_eq!(errors[0]["code"], code, "{text}");
    for name in ["message", "param"] {
        assert!(errors[0][name].is_string(), "{text}");
    }
    assert!(object["message"].as_str().is_some_and(|text| !text.is_empty()), "{text}");
}

#[test]
fn too_much_is_refused_in_the_published_shape() {
    let target = Target::new(Site::sqlite());
    let wide = target.post().header("X-Padding", &"a".repeat(17 * 1024)).body("{}");
    check_refusal(&target.send(&wide), 431, "headers_too_large");
    let many = (0..101)
        .fold(target.post(), |request, number| request.header(&format!("X-Field-{number}"), "1"));
    check_refusal(&target.send(&many.body("{}")), 431, "headers_too_large");

    let mut large = body("Too large");
    large["padding"] = Value::from("a".repeat(33 * 1024));
    let large = target.post().body(large.to_string());
    check_refusal(&target.send(&large), 413, "payload_too_large");
    let chunked = Request { chunked: true, ..large };
    check_refusal(&target.send(&chunked), 413, "payload_too_large");
    let huge = Request { chunked: true, ..target.post().body("a".repeat(600 * 1024)) };
    check_refusal(&target.send(&huge), 413, "payload_too_large");
    target.check_alive("After too much");
}

#[test]
fn slow_clients_are_given_up() {
    let target = Target::new(Site::sqlite().set("server.limits.read_ms", READ_MS));
    let url = &target.running.url;

    let text = body("Slow").to_string();
    let (half, _) = text.split_at(text.len() / 2);
    let mut slow_body = Connection::open(url).unwrap();
    let started = Instant::now();
    slow_body.write(head(&target, text.len()).as_bytes()).unwrap();
    slow_body.write(half.as_bytes()).unwrap();
    check_refusal(&slow_body.read("POST").unwrap(), 408, "request_timeout");
    check_took(started);
    assert!(!slow_body.is_open(), "the rest of the body is not awaited");

    // A client that never ends its headers is not answered, only hung up on.
    for beginning in ["", "P", "PRI * HT", "GET /v1/errors HTTP/1.1\r\nHost: he", "\r\n"] {
        let mut connection = Connection::open_with_timeout(url, 2 * PATIENCE).unwrap();
        let started = Instant::now();
        connection.write(beginning.as_bytes()).unwrap();
        let read = connection.read("GET");
        assert!(read.is_err() || read.is_ok_and(|answer| answer.status == 408), "{beginning:?}");
        assert!(started.elapsed() < PATIENCE, "{beginning:?} held the server");
        check_took(started);
    }
    target.check_alive("After the slow");
}

fn check_took(started: Instant) {
    let took = started.elapsed();
    assert!(took >= Duration::from_millis(READ_MS / 2), "given up after {took:?}");
    assert!(took < PATIENCE, "given up only after {took:?}");
}

/// The head of an onboarding request with a body of that length.
fn head(target: &Target, length: usize) -> String {
    format!(
        "POST /v1/onboardmerchant HTTP/1.1\r\nHost: here\r\nAuthorization: {}\r\n\
         Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n",
        authorization(&target.key)
    )
}

#[test]
fn connections_over_the_limit_are_turned_away() {
    const CONNECTIONS: usize = 4;
    let target = Target::new(Site::sqlite().set("server.limits.connections", CONNECTIONS));
    let url = &target.running.url;
    let mut open = Vec::new();
    for _ in 0..CONNECTIONS {
        let mut connection = Connection::open(url).unwrap();
        assert_eq!(connection.request("GET", "/healthz", &[], b"").unwrap().status, 200);
        open.push(connection);
    }
    for _ in 0..20 {
        let answer = http::get(url, "/v1/errors", &[]).unwrap();
        check_refusal(&answer, 503, "unavailable");
        assert!(answer.header("Retry-After").is_some());
    }
    drop(open);
    crate::support::eventually("there is room again", PATIENCE, || {
        http::get(url, "/v1/errors", &[]).is_ok_and(|answer| answer.status == 200)
    });
    target.check_alive("After the crowd");
}

#[test]
fn nonsense_paths_are_not_found() {
    let target = Target::new(Site::sqlite());
    let long = format!("/v1/merchants/{}", "A".repeat(4000));
    let paths = [
        "/v1/merchants/%00",
        "/v1/merchants/%ff",
        "/v1/merchants/%ff%fe%00",
        "/v1/merchants/%",
        "/v1/merchants/%zz",
        "/v1/merchants/%C3%28",
        "/v1/merchants/%2e%2e%2f%2e%2e%2fetc%2fpasswd",
        "/v1/merchants/../../etc/passwd",
        "/v1/merchants/'%20OR%201=1--",
        "/v1/merchants/%F0%9F%92%A9",
        "/v1/merchants/a%0d%0aX-Injected:%201",
        "/v1/merchants/",
        "/v1/merchants//",
        "/v1/stores/%00",
        "/v1/tpns/%ff",
        "//v1//errors",
        "/%00",
        "/%ff",
        &long,
    ];
    for path in paths {
        let answer = target.running.get(path, &target.key);
        assert_eq!(answer.status, 404, "{path}: {}", answer.text());
        assert!(answer.header("X-Injected").is_none(), "{path}");
        let code = answer.json().unwrap()["errors"][0]["code"].clone();
        assert!(code == "object_not_found" || code == "route_not_found", "{path}: {code}");
    }
    for query in ["?%ff=%00", "?merchantId=other", "?=&&=&%", "?a=1&a=2"] {
        let answer = target.running.get(&format!("/v1/merchants/000000000000{query}"), &target.key);
        assert_eq!(answer.status, 404, "{query}: {}", answer.text());
    }
    target.check_alive("After nonsense");
}

#[test]
fn bytes_that_are_no_request_harm_nobody() {
    let target = Target::new(Site::sqlite().set("server.limits.read_ms", READ_MS));
    for (what, bytes) in no_requests(&target) {
        let mut connection = Connection::open_with_timeout(&target.running.url, PATIENCE).unwrap();
        // The server may hang up before it has read everything.
        let _ = connection.write(&bytes);
        let started = Instant::now();
        match connection.read("POST") {
            Ok(answer) => {
                let refused = (400..500).contains(&answer.status);
                assert!(refused, "{what}: {} {}", answer.status, answer.text());
            }
            Err(_) => assert!(started.elapsed() < PATIENCE, "{what} held the server"),
        }
    }
    target.check_alive("After garbage");
}

fn no_requests(target: &Target) -> Vec<(&'static str, Vec<u8>)> {
    let onboarding = body("Never onboarded").to_string();
    let length = onboarding.len();
    let post = |headers: &str, body: &str| {
        let key = authorization(&target.key);
        let bytes = format!(
            "POST /v1/onboardmerchant HTTP/1.1\r\nHost: here\r\nAuthorization: {key}\r\n\
             Content-Type: application/json\r\n{headers}\r\n{body}"
        );
        bytes.into_bytes()
    };
    let mut many_fields = String::new();
    for number in 0..1000 {
        write!(many_fields, "X-{number}: 1\r\n").unwrap();
    }
    let http2 = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    let two_lengths = format!("Content-Length: {length}\r\nContent-Length: {}\r\n", length + 1);
    let both = format!("Content-Length: {length}\r\nTransfer-Encoding: chunked\r\n");
    let chunked = "Transfer-Encoding: chunked\r\n";
    vec![
        ("zeros", vec![0; 4096]),
        ("every byte", (0..=255).cycle().take(8192).collect()),
        ("a TLS hello", [&b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"[..], &[7; 600]].concat()),
        ("HTTP/0.9", b"GET /v1/errors\r\n".to_vec()),
        ("HTTP/3.0", b"GET /v1/errors HTTP/3.0\r\nHost: here\r\n\r\n".to_vec()),
        ("no HTTP", b"HELO here\r\nMAIL FROM:<a@b>\r\n\r\n".to_vec()),
        ("a preface and garbage", [&http2[..], &[0xff; 4096]].concat()),
        ("a zero in the path", b"GET /v1/mer\0chants HTTP/1.1\r\nHost: here\r\n\r\n".to_vec()),
        ("a zero in a header", post("X-Zero: a\0b\r\nContent-Length: 2\r\n", "{}")),
        ("two lengths", post(&two_lengths, &onboarding)),
        ("length and chunks", post(&both, "0\r\n\r\n")),
        ("a negative length", post("Content-Length: -1\r\n", "{}")),
        ("an endless length", post("Content-Length: 99999999999999999999999\r\n", "{}")),
        ("a length that is no number", post("Content-Length: two\r\n", "{}")),
        ("a huge chunk", post(chunked, "ffffffffffffffff\r\n{}")),
        ("an endless chunk size", post(chunked, &"f".repeat(4096))),
        ("a chunk that lies", post(chunked, "1\r\n{}\r\n0\r\n\r\n")),
        ("a chunk of no size", post(chunked, "zz\r\n{}\r\n")),
        ("an unknown coding", post("Transfer-Encoding: gzip\r\n", "{}")),
        ("a folded header", post("X-Folded: a\r\n b\r\nContent-Length: 2\r\n", "{}")),
        ("a header without a name", post(": nameless\r\nContent-Length: 2\r\n", "{}")),
        ("a thousand fields", post(&many_fields, "")),
        ("a header without an end", post(&format!("X-Long: {}", "a".repeat(200_000)), "")),
        ("a path without an end", [&b"GET /"[..], &[b'a'; 200_000]].concat()),
        ("a method without an end", vec![b'G'; 100_000]),
    ]
}
