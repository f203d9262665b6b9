//! A request as the bytes that go over the wire.

use super::{Base, Request};

const CHUNK_BYTES: usize = 16 << 10;
/// Methods whose requests say nothing about a body unless they have one.
const METHODS_WITHOUT_BODY: [&str; 4] = ["GET", "HEAD", "DELETE", "OPTIONS"];

pub(super) fn request_bytes(base: &Base, request: &Request) -> Vec<u8> {
    let Request { method, path, body, .. } = request;
    let mut head = format!("{method} {}{path} HTTP/1.1\r\n", base.prefix);
    let mut header = |name: &str, value: &str| {
        head.extend([name, ": ", value, "\r\n"]);
    };
    if !request.has_header("Host") {
        header("Host", &base.authority);
    }
    for (name, value) in &request.headers {
        header(name, value);
    }
    if request.chunked {
        header("Transfer-Encoding", "chunked");
    } else if !request.has_header("Content-Length") && announces_length(request) {
        header("Content-Length", &body.len().to_string());
    }
    head.push_str("\r\n");
    let mut bytes = head.into_bytes();
    if request.chunked {
        for chunk in body.chunks(CHUNK_BYTES) {
            bytes.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
            bytes.extend_from_slice(chunk);
            bytes.extend_from_slice(b"\r\n");
        }
        bytes.extend_from_slice(b"0\r\n\r\n");
    } else {
        bytes.extend_from_slice(body);
    }
    bytes
}

fn announces_length(request: &Request) -> bool {
    !request.body.is_empty() || !METHODS_WITHOUT_BODY.contains(&request.method.as_str())
}
