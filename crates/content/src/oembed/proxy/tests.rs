//! The proxy against a network that is a list of answers.

use std::pin::pin;
use std::sync::Mutex;
use std::task::{Context, Poll, Waker};

use frame::outbound::{Fetching, Refusal};
use serde_json::json;

use super::*;

/// Answers by the beginning of the address, and remembers what it was asked.
#[derive(Debug, Default)]
struct FakeNetwork {
    answers: Vec<(&'static str, u16, &'static str, &'static str)>,
    asked: Mutex<Vec<String>>,
}

impl Outbound for FakeNetwork {
    fn fetch(&self, request: Fetch) -> Fetching<'_> {
        let url = request.url.to_string();
        let answer = self.answers.iter().find(|(start, ..)| url.starts_with(start));
        let result = match answer {
            Some((_, status, kind, body)) => Ok(Fetched {
                status: *status,
                headers: vec![("content-type".to_owned(), (*kind).to_owned())],
                body: body.as_bytes().to_vec(),
                final_url: request.url,
            }),
            None => Err(FetchError::Refused(Refusal::Address)),
        };
        self.asked.lock().unwrap().push(url);
        Box::pin(async { result })
    }
}

impl FakeNetwork {
    fn run(&self, request: &ProxyRequest) -> Result<Value, ProxyError> {
        let mut future = pin!(proxy(request, self, "SECRET"));
        // No answer of the list takes any time.
        match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(result) => result.map(Value::Object),
            Poll::Pending => panic!("the list of answers does not wait"),
        }
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

fn request(url: &str) -> ProxyRequest {
    let url = url.to_owned();
    ProxyRequest { url, format: Format::Json, maxwidth: Some(600), maxheight: None, discover: true }
}

const HTML: &str = "text/html; charset=utf-8";
const JSON: &str = "application/json";

#[test]
fn a_trusted_provider_is_asked_at_its_endpoint() {
    let body = r#"{"type":"video","html":"<iframe src='x'>\n</iframe>","title":"T","n":[1]}"#;
    let answers = vec![("https://vimeo.com/api/oembed.json?", 200, JSON, body)];
    let network = FakeNetwork { answers, ..FakeNetwork::default() };
    let answer = network.run(&request("https://vimeo.com/12?a=1")).unwrap();
    let html = "<iframe title=\"T\" src='x'></iframe>";
    assert_eq!(answer, json!({ "type": "video", "html": html, "title": "T", "n": [1] }));
    assert_eq!(
        network.asked(),
        ["https://vimeo.com/api/oembed.json?maxwidth=600&maxheight=750\
          &url=https%3A%2F%2Fvimeo.com%2F12%3Fa%3D1&dnt=1&format=json"]
    );
}

#[test]
fn an_endpoint_is_discovered_and_its_frame_sandboxed() {
    let page = "<head><link rel=alternate type=application/json+oembed href='/o?url=q&amp;k=1'>";
    let body = r#"{"type":"rich","html":"<script>x</script><iframe src=https://b.example/e>"}"#;
    let answers = vec![
        ("https://b.example/post", 200, HTML, page),
        ("https://b.example/o?k=1&", 200, JSON, body),
    ];
    let network = FakeNetwork { answers, ..FakeNetwork::default() };
    let answer = network.run(&request("https://b.example/post")).unwrap();
    let html = answer["html"].as_str().unwrap();
    assert!(html.contains("sandbox=\"allow-scripts\""), "{html}");
    assert!(!html.contains("script>"), "{html}");

    let blind = ProxyRequest { discover: false, ..request("https://b.example/post") };
    assert_eq!(network.run(&blind), Err(ProxyError::NoProvider));
}

#[test]
fn xml_is_asked_for_where_json_is_not_implemented() {
    let xml = "<oembed><type>link</type><title>A &amp; B</title></oembed>";
    let answers = vec![
        ("https://speakerdeck.com/oembed.json", 501, JSON, ""),
        ("https://speakerdeck.com/oembed.xml", 200, "text/xml", xml),
    ];
    let network = FakeNetwork { answers, ..FakeNetwork::default() };
    let answer = network.run(&request("https://speakerdeck.com/a/b")).unwrap();
    let html = "<a href=\"https://speakerdeck.com/a/b\">A &amp; B</a>";
    assert_eq!(answer, json!({ "type": "link", "title": "A & B", "html": html }));
    assert!(network.asked()[1].ends_with("&format=xml"));
}

#[test]
fn what_cannot_be_answered_is_refused() {
    let page = "<link rel=alternate type=application/json+oembed href=http://10.0.0.1/o>";
    let answers = vec![
        ("https://nothing.example/", 200, HTML, "<p>"),
        ("https://gone.example/", 410, HTML, ""),
        ("https://picture.example/", 200, "image/png", page),
        ("https://inside.example/", 200, HTML, page),
        ("https://www.ted.com/services/v1/oembed.json", 200, JSON, "[]"),
        ("https://api.imgur.com/oembed", 404, JSON, "{}"),
    ];
    let network = FakeNetwork { answers, ..FakeNetwork::default() };
    let check = |url: &str, expected: ProxyError, steps: usize| {
        let before = network.asked().len();
        assert_eq!(network.run(&request(url)), Err(expected), "{url}");
        assert_eq!(network.asked().len() - before, steps, "{url}");
    };
    check("", ProxyError::NotAnAddress, 0);
    check("notaurl", ProxyError::NotAnAddress, 0);
    check("ftp://a.example/", ProxyError::NotAnAddress, 0);
    check("file:///etc/passwd", ProxyError::NotAnAddress, 0);
    let long = format!("https://nothing.example/{}", "x".repeat(ADDRESS_BYTES_MAX));
    check(&long, ProxyError::NotAnAddress, 0);
    check("https://nothing.example/", ProxyError::NoProvider, 1);
    check("https://gone.example/", ProxyError::Status(410), 1);
    check("https://picture.example/", ProxyError::NoProvider, 1);
    let refused = ProxyError::Fetch(FetchError::Refused(Refusal::Address));
    check("http://169.254.169.254/", refused, 1);
    check("https://inside.example/", refused, 2);
    check("https://www.ted.com/talks/a", ProxyError::BadAnswer, 1);
    check("https://imgur.com/a", ProxyError::Status(404), 1);
}

#[test]
fn files_need_no_provider() {
    let network = FakeNetwork::default();
    let silent = ProxyRequest { discover: false, ..request("https://a.example/b.mp3") };
    let answer = network.run(&silent).unwrap();
    assert_eq!(answer["provider_name"], "Embed Handler");
    assert_eq!(answer["scripts"], json!([]));
    assert!(network.asked().is_empty());
}

#[test]
fn the_cache_key_depends_on_every_parameter() {
    let base = request("https://a.example/");
    let others = [
        request("https://a.example/b"),
        ProxyRequest { format: Format::Xml, ..base.clone() },
        ProxyRequest { maxwidth: None, ..base.clone() },
        ProxyRequest { maxwidth: Some(60), maxheight: Some(0), ..base.clone() },
        ProxyRequest { maxheight: Some(600), maxwidth: None, ..base.clone() },
        ProxyRequest { discover: false, ..base.clone() },
        base.clone(),
    ];
    let mut keys: Vec<String> = others.iter().map(ProxyRequest::cache_key).collect();
    assert_eq!(keys[6], base.cache_key());
    assert_eq!(keys[0].len(), 64);
    keys.sort();
    keys.dedup();
    assert_eq!(keys.len(), others.len());
}
