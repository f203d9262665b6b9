//! The client against servers that behave well, badly and early.

use std::io::{BufReader, Read as _};
use std::net::TcpListener;
use std::sync::mpsc::{Receiver, channel};

use super::*;

/// Answers each connection with the next of `answers` once `wait_for` bytes have come in; reports
/// what it read.
fn stub(wait_for: usize, answers: Vec<&'static str>) -> (String, Receiver<Vec<u8>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/base/", listener.local_addr().unwrap());
    let (sender, receiver) = channel();
    thread::spawn(move || {
        for answer in answers {
            let (mut stream, _) = listener.accept().unwrap();
            let mut read = vec![0; wait_for];
            stream.read_exact(&mut read).unwrap();
            stream.write_all(answer.as_bytes()).unwrap();
            // Without reading on: the client must take the answer and leave by itself.
            sender.send(read).unwrap();
            thread::sleep(Duration::from_millis(500));
        }
    });
    (url, receiver)
}

fn parse(text: &str, method: &str) -> Result<(Response, read::After)> {
    read::response(&mut BufReader::new(text.as_bytes()), method)
}

fn written(request: &Request) -> String {
    let base = Base::parse("http://h:1/p").unwrap();
    String::from_utf8(write::request_bytes(&base, request)).unwrap()
}

#[test]
fn requests_are_written_as_told() {
    let plain = Request::new("GET", "/a").header("X", "1").header("X", "2");
    assert_eq!(written(&plain), "GET /p/a HTTP/1.1\r\nHost: h:1\r\nX: 1\r\nX: 2\r\n\r\n");
    let post = Request::new("POST", "/").header("host", "x");
    assert_eq!(written(&post), "POST /p/ HTTP/1.1\r\nhost: x\r\nContent-Length: 0\r\n\r\n");
    let liar = Request::new("POST", "/").header("Content-Length", "9").body("abc");
    assert!(written(&liar).ends_with("Content-Length: 9\r\n\r\nabc"));
    let chunked = Request { chunked: true, ..Request::new("POST", "/").body("abc") };
    assert!(written(&chunked).ends_with("chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"));
}

#[test]
fn answers_are_read_in_every_framing() {
    let (response, after) =
        parse("HTTP/1.1 200 OK\r\nA: 1\r\na: 2\r\nContent-Length: 2\r\n\r\nhiX", "GET").unwrap();
    assert_eq!((response.status, response.text().as_str()), (200, "hi"));
    assert_eq!(response.header("A").as_deref(), Some("1, 2"));
    assert_eq!(after, read::After::KeepOpen);

    let text = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 \r\nTransfer-Encoding: chunked\r\n\
                Connection: close\r\n\r\n2;x=y\r\nhi\r\n1\r\n!\r\n0\r\nT: 1\r\n\r\n";
    let (response, after) = parse(text, "POST").unwrap();
    assert_eq!((response.status, response.text().as_str()), (201, "hi!"));
    assert_eq!(after, read::After::Close);

    let (response, after) = parse("HTTP/1.0 500 no\r\n\r\nto the end", "GET").unwrap();
    assert_eq!((response.text().as_str(), after), ("to the end", read::After::Close));
    let (response, _) = parse("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n", "HEAD").unwrap();
    assert!(response.body.is_empty());
}

#[test]
fn broken_answers_are_errors() {
    for text in [
        "",
        "SSH-2.0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhi",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nhi\r\n",
        "HTTP/1.1 200 OK\r\nno header\r\n\r\n",
    ] {
        assert!(parse(text, "GET").is_err(), "{text:?}");
    }
    let endless = format!("HTTP/1.1 200 OK\r\nA: {}", "x".repeat(100_000));
    let error = parse(&endless, "GET").unwrap_err();
    assert!(format!("{error:#}").contains("longer than"), "{error:#}");
}

#[test]
fn an_answer_before_the_end_of_the_request_arrives() {
    let answer = "HTTP/1.1 413 Payload Too Large\r\nContent-Length: 2\r\n\r\n{}";
    let (url, _seen) = stub(100, vec![answer]);
    let mut connection = Connection::open(&url).unwrap();
    let response = connection.request("POST", "/x", &[], &vec![b'x'; 20 << 20]).unwrap();
    assert_eq!((response.status, response.text().as_str()), (413, "{}"));
    assert!(!connection.is_open());
}

#[test]
fn a_connection_stays_open_until_an_answer_closes_it() {
    let answers = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n1\
                   HTTP/1.1 200 OK\r\nContent-Length: 1\r\nConnection: close\r\n\r\n2";
    let (url, seen) = stub(10, vec![answers]);
    let mut connection = Connection::open(&url).unwrap();
    assert_eq!(connection.request("GET", "/x", &[], b"").unwrap().text(), "1");
    assert!(connection.is_open());
    assert_eq!(connection.request("GET", "/x", &[], b"").unwrap().text(), "2");
    assert!(!connection.is_open());
    assert_eq!(seen.recv().unwrap(), b"GET /base/");
}

#[test]
fn base_urls_are_taken_apart() {
    let check = |url: &str, address: &str, prefix: &str| {
        let base = Base::parse(url).unwrap();
        assert_eq!((base.address.as_str(), base.prefix.as_str()), (address, prefix));
    };
    check("http://localhost", "localhost:80", "");
    check("http://127.0.0.1:8080/", "127.0.0.1:8080", "");
    check("http://[::1]:8080/a/b/", "[::1]:8080", "/a/b");
    check("http://[::1]", "[::1]:80", "");
    Base::parse("https://x").unwrap_err();
    Base::parse("http:///x").unwrap_err();
}
