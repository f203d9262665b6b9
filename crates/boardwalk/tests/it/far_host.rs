//! A host elsewhere that answers as a test tells it to, one request per connection.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;

use serde_json::Value;

/// What lets the server under test ask hosts on loopback.
pub(crate) const EXEMPT: (&str, &str) = ("server.outbound.exempt", r#"["127.0.0.0/8"]"#);

/// A request that arrived.
pub(crate) struct ReceivedRequest {
    /// With its query.
    pub(crate) path: String,
    pub(crate) authorization: String,
    /// JSON, or null.
    pub(crate) body: Value,
}

/// A status, and a body.
pub(crate) type CannedAnswer = (u16, Vec<u8>);

pub(crate) fn json(status: u16, value: &Value) -> CannedAnswer {
    (status, value.to_string().into_bytes())
}

/// Answers on a port of its own until the test ends. Returns its address.
pub(crate) fn start(
    answer: impl Fn(&ReceivedRequest) -> CannedAnswer + Send + Sync + 'static,
) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let answer = Arc::new(answer);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let answer = Arc::clone(&answer);
            thread::spawn(move || serve(stream, &*answer));
        }
    });
    url
}

fn serve(mut stream: TcpStream, answer: &dyn Fn(&ReceivedRequest) -> CannedAnswer) {
    let Some(asked) = receive(&mut stream) else { return };
    let (status, content) = answer(&asked);
    let head = format!(
        "HTTP/1.1 {status} CannedAnswer\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        content.len()
    );
    // Who asks may be gone, or want no more than it takes.
    let _ = stream.write_all(head.as_bytes());
    let _ = stream.write_all(&content);
}

fn receive(stream: &mut TcpStream) -> Option<ReceivedRequest> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let Ok(count @ 1..) = stream.read(&mut buffer) else { return None };
        bytes.extend_from_slice(&buffer[..count]);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let header = |name: &str| {
            let lines = head.lines().filter_map(|line| line.split_once(": "));
            let mut found = lines.filter(|(known, _)| known.eq_ignore_ascii_case(name));
            found.next().map(|(_, value)| value.to_owned()).unwrap_or_default()
        };
        if body.len() < header("Content-Length").parse().unwrap_or(0) {
            continue;
        }
        return Some(ReceivedRequest {
            path: head.split(' ').nth(1).unwrap_or_default().to_owned(),
            authorization: header("Authorization"),
            body: serde_json::from_str(body).unwrap_or_default(),
        });
    }
}
