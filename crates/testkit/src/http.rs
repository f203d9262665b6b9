//! A small blocking HTTP/1.1 client that sends exactly what it is told to.
//!
//! A test of a server needs what a polite client hides: repeated or missing headers, lengths that
//! lie, answers that come before the request is complete. [`send`] uses a connection of its own;
//! [`Connection`] keeps one open for many requests, as a load test wants it. No TLS, no redirects,
//! no retries: **one request is sent once and one answer comes back.**

mod read;
mod write;

use std::io::{BufReader, Write as _};
use std::net::{Shutdown, TcpStream, ToSocketAddrs as _};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

/// How long one read or write may take.
const TIMEOUT: Duration = Duration::from_secs(30);
/// Requests up to this size fit the buffers of the system, so sending them cannot block.
const DIRECT_SEND_MAX_BYTES: usize = 16 << 10;
/// How long the rest of a request may take that was answered before it was sent completely.
const SEND_AFTER_ANSWER_MAX: Duration = Duration::from_millis(200);

/// A request in all the detail that a test may care about.
#[derive(Clone, Debug)]
pub struct Request {
    pub method: String,
    /// The path and query, appended to the path of the base URL.
    pub path: String,
    /// Sent in this order. `Host` and the length of the body are added unless they are here.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
    /// Sends the body in chunks instead of announcing its length.
    pub chunked: bool,
}

impl Request {
    pub fn new(method: &str, path: &str) -> Self {
        Self {
            method: method.to_owned(),
            path: path.to_owned(),
            headers: Vec::new(),
            body: Vec::new(),
            chunked: false,
        }
    }

    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    #[must_use]
    pub fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }

    fn has_header(&self, name: &str) -> bool {
        self.headers.iter().any(|(given, _)| given.eq_ignore_ascii_case(name))
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Response {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Response {
    /// The value of a header; of a repeated one all values, joined by commas.
    pub fn header(&self, name: &str) -> Option<String> {
        let same_name = |(given, _): &&(String, String)| given.eq_ignore_ascii_case(name);
        let values: Vec<&str> =
            self.headers.iter().filter(same_name).map(|(_, value)| value.as_str()).collect();
        if values.is_empty() { None } else { Some(values.join(", ")) }
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub fn json(&self) -> Result<Value> {
        serde_json::from_slice(&self.body)
            .with_context(|| format!("response {} is not JSON: {}", self.status, self.text()))
    }
}

/// Sends one request on a connection of its own, which is closed afterwards.
pub fn send(base_url: &str, request: &Request) -> Result<Response> {
    let request = request.clone().header("Connection", "close");
    Connection::open(base_url)?.send(&request)
}

/// GET, on a connection of its own.
pub fn get(base_url: &str, path: &str, headers: &[(&str, &str)]) -> Result<Response> {
    Connection::open(base_url)?.request("GET", path, headers, b"")
}

/// POST of a JSON document, on a connection of its own.
pub fn post(
    base_url: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &Value,
) -> Result<Response> {
    let mut all = vec![("Content-Type", "application/json")];
    all.extend_from_slice(headers);
    Connection::open(base_url)?.request("POST", path, &all, body.to_string().as_bytes())
}

/// An open connection to a server.
#[derive(Debug)]
pub struct Connection {
    base: Base,
    reader: BufReader<TcpStream>,
    writer: TcpStream,
    open: bool,
}

impl Connection {
    pub fn open(base_url: &str) -> Result<Self> {
        Self::open_with_timeout(base_url, TIMEOUT)
    }

    /// As [`Connection::open`], with a limit for each connect, read and write.
    pub fn open_with_timeout(base_url: &str, timeout: Duration) -> Result<Self> {
        let base = Base::parse(base_url)?;
        let addresses = base.address.to_socket_addrs();
        let address = addresses
            .with_context(|| format!("cannot find the host of {base_url}"))?
            .next()
            .with_context(|| format!("the host of {base_url} has no address"))?;
        let writer = TcpStream::connect_timeout(&address, timeout)
            .with_context(|| format!("cannot connect to {base_url}"))?;
        writer.set_nodelay(true)?;
        writer.set_read_timeout(Some(timeout))?;
        writer.set_write_timeout(Some(timeout))?;
        let reader = BufReader::new(writer.try_clone()?);
        Ok(Self { base, reader, writer, open: true })
    }

    /// Whether another request may follow: no answer has announced the end of the connection.
    pub fn is_open(&self) -> bool {
        self.open
    }

    /// Sends a request and waits for its answer; the connection stays open if the server agrees.
    pub fn request(
        &mut self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Result<Response> {
        let mut request = Request::new(method, path).body(body);
        for (name, value) in headers {
            request = request.header(name, value);
        }
        self.send(&request)
    }

    /// As [`Connection::request`], for a request made by hand.
    pub fn send(&mut self, request: &Request) -> Result<Response> {
        let bytes = write::request_bytes(&self.base, request);
        let response = if bytes.len() <= DIRECT_SEND_MAX_BYTES {
            let sent = self.writer.write_all(&bytes);
            self.answer(&request.method, sent)?
        } else {
            self.send_while_reading(&bytes, &request.method)?
        };
        Ok(response)
    }

    /// Sends bytes as they are, well-formed or not. [`Connection::read`] fetches the answer.
    pub fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.writer.write_all(bytes).context("cannot send")
    }

    /// Reads the next answer; `method` tells whether it can have a body.
    pub fn read(&mut self, method: &str) -> Result<Response> {
        let answer = read::response(&mut self.reader, method);
        self.open = matches!(&answer, Ok((_, read::After::KeepOpen)));
        answer.map(|(response, _)| response)
    }

    /// A server may answer a large request before it has read all of it and never read the rest,
    /// so reading must not wait for the end of writing.
    fn send_while_reading(&mut self, bytes: &[u8], method: &str) -> Result<Response> {
        let mut writer = self.writer.try_clone()?;
        thread::scope(|scope| {
            let sending = scope.spawn(move || writer.write_all(bytes));
            let answer = self.read(method);
            let deadline = Instant::now() + SEND_AFTER_ANSWER_MAX;
            while !sending.is_finished() && Instant::now() < deadline {
                thread::sleep(Duration::from_millis(1));
            }
            if !sending.is_finished() {
                self.open = false;
                let _ = self.writer.shutdown(Shutdown::Both);
            }
            if !matches!(sending.join(), Ok(Ok(()))) {
                self.open = false;
            }
            answer
        })
    }

    /// Reads the answer even if sending failed: the server may have answered early and closed.
    fn answer(&mut self, method: &str, sent: std::io::Result<()>) -> Result<Response> {
        let answer = self.read(method);
        match sent {
            Ok(()) => answer,
            Err(problem) => {
                self.open = false;
                answer.with_context(|| format!("cannot send ({problem})"))
            }
        }
    }
}

/// A base URL, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Base {
    /// Host and port to connect to.
    address: String,
    /// What the `Host` header says.
    authority: String,
    /// The path before every request path, without a slash at its end.
    prefix: String,
}

impl Base {
    fn parse(url: &str) -> Result<Self> {
        let Some(rest) = url.strip_prefix("http://") else {
            bail!("`{url}` is not a base URL; it must start with http://");
        };
        let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        if authority.is_empty() || authority.contains(['@', '?', '#']) {
            bail!("`{url}` has no host");
        }
        let host_end = authority.rfind(']').unwrap_or(0);
        let has_port = authority.split_at(host_end).1.contains(':');
        let address = if has_port { authority.to_owned() } else { format!("{authority}:80") };
        let prefix = path.trim_end_matches('/').to_owned();
        Ok(Self { address, authority: authority.to_owned(), prefix })
    }
}

#[cfg(test)]
mod tests;
