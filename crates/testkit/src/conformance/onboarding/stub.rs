//! A server that answers as a test tells it to: a function from the received request to the bytes
//! of the answer. No bytes means that the connection is closed without an answer.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;

use serde_json::Value;

#[derive(Debug, Default)]
pub(crate) struct Received {
    /// Method, path and version.
    pub(crate) line: String,
    /// The header lines as they came, names in small letters.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Received {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(given, _)| given == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }
}

/// Starts the server; it lives as long as the test process. Returns its base URL.
pub(crate) fn serve(answer: impl Fn(&Received) -> Vec<u8> + Send + Sync + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let answer = Arc::new(answer);
    thread::spawn(move || {
        for stream in listener.incoming() {
            let answer = Arc::clone(&answer);
            thread::spawn(move || {
                let mut stream = stream.unwrap();
                let received = receive(&stream);
                let _ = stream.write_all(&answer(&received));
            });
        }
    });
    url
}

/// An answer with a JSON body.
pub(crate) fn reply(status: u16, headers: &[(&str, &str)], body: &Value) -> Vec<u8> {
    let mut all = vec![("Content-Type", "application/json")];
    all.extend_from_slice(headers);
    reply_text(status, &all, &body.to_string())
}

pub(crate) fn reply_text(status: u16, headers: &[(&str, &str)], body: &str) -> Vec<u8> {
    let mut text = format!("HTTP/1.1 {status} x\r\nContent-Length: {}\r\n", body.len());
    for (name, value) in headers {
        text.extend([name, ": ", value, "\r\n"]);
    }
    text.extend(["\r\n", body]);
    text.into_bytes()
}

fn receive(stream: &TcpStream) -> Received {
    let mut reader = BufReader::new(stream);
    let mut received = Received::default();
    reader.read_line(&mut received.line).unwrap();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        let Some((name, value)) = line.split_once(':') else { break };
        received.headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let length = received.header("content-length").map_or(0, |value| value.parse().unwrap());
    received.body.resize(length, 0);
    reader.read_exact(&mut received.body).unwrap();
    received
}
