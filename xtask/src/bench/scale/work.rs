//! The kinds of work, and how clients ask for them.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use testkit::http::Connection;

use crate::request;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Work {
    /// A merchant, a store and a TPN.
    Onboarding,
    /// `POST wc/v3/orders` with two lines and a customer's address.
    Order,
    /// A month of revenue by day.
    Report,
    /// An event sent to a webhook.
    Event,
}

impl Work {
    pub(super) const ALL: [Self; 4] = [Self::Onboarding, Self::Order, Self::Report, Self::Event];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Onboarding => "onboarding",
            Self::Order => "order",
            Self::Report => "report",
            Self::Event => "event",
        }
    }
}

/// By which the work is asked for.
#[derive(Clone, Debug)]
pub(super) struct Credentials {
    pub(super) key: String,
    pub(super) password: String,
    pub(super) products: [i64; 2],
}

/// One client, on a connection of its own.
#[derive(Debug)]
pub(super) struct Client<'credentials> {
    connection: Connection,
    credentials: &'credentials Credentials,
}

impl<'credentials> Client<'credentials> {
    pub(super) fn open(url: &str, credentials: &'credentials Credentials) -> Result<Self> {
        Ok(Self { connection: Connection::open(url)?, credentials })
    }

    /// Asks for one piece of work, and waits until it is done. Numbers are not used twice.
    pub(super) fn ask(&mut self, work: Work, number: u64) -> Result<()> {
        let key = format!("api-key {}", self.credentials.key);
        let password = &self.credentials.password;
        let (method, path, authorization, body) = match work {
            Work::Onboarding | Work::Event => {
                ("POST", "/v1/onboardmerchant".to_owned(), &key, request::row(number))
            }
            Work::Order => {
                let body = order(self.credentials.products, number).to_string();
                ("POST", "/wp-json/wc/v3/orders".to_owned(), password, body)
            }
            // Under another address each time, so that no answer is one that was remembered.
            Work::Report => {
                let path = format!(
                    "/wp-json/wc-analytics/reports/revenue/stats?interval=day\
                     &after=2026-01-01T00:00:00&before=2026-01-31T23:59:59&_={number}"
                );
                ("GET", path, password, String::new())
            }
        };
        let headers =
            [("Authorization", authorization.as_str()), ("Content-Type", "application/json")];
        let answer = self.connection.request(method, &path, &headers, body.as_bytes())?;
        let is_served = matches!(answer.status, 200 | 201);
        ensure!(is_served, "{method} {path}: {} {}", answer.status, answer.text());
        Ok(())
    }
}

fn order(products: [i64; 2], number: u64) -> Value {
    let lines = products.map(|id| json!({ "product_id": id, "quantity": 1 }));
    let email = format!("buyer-{number}@bench.example");
    json!({
        "status": "processing",
        "billing": {
            "first_name": "Maria", "last_name": "Lindqvist", "email": email,
            "address_1": "12 Pier Road", "city": "Oakland", "state": "CA", "postcode": "94601",
            "country": "US",
        },
        "line_items": lines,
    })
}

/// Takes events from the server, and counts them.
#[derive(Debug)]
pub(super) struct Receiver {
    pub(super) url: String,
    taken: Arc<AtomicUsize>,
}

impl Receiver {
    /// Receives until the process ends.
    pub(super) fn start() -> Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("no free port")?;
        let url = format!("http://{}/in", listener.local_addr()?);
        let taken = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&taken);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let count = Arc::clone(&count);
                // A sender that hangs up sends the event again.
                thread::spawn(move || receive(stream, &count));
            }
        });
        Ok(Self { url, taken })
    }

    pub(super) fn taken(&self) -> usize {
        self.taken.load(Ordering::Relaxed)
    }
}

/// Answers every request of a connection.
fn receive(mut stream: TcpStream, count: &AtomicUsize) -> std::io::Result<()> {
    let mut bytes = Vec::new();
    let mut part = [0; 8_192];
    loop {
        while let Some(length) = request_length(&bytes) {
            bytes.drain(..length);
            stream.write_all(b"HTTP/1.1 204 No Content\r\n\r\n")?;
            count.fetch_add(1, Ordering::Relaxed);
        }
        let read = stream.read(&mut part)?;
        if read == 0 {
            return Ok(());
        }
        bytes.extend_from_slice(part.get(..read).unwrap_or_default());
    }
}

/// The length of the first request, once all of it has come.
fn request_length(bytes: &[u8]) -> Option<usize> {
    const END: &[u8] = b"\r\n\r\n";
    let head = bytes.windows(END.len()).position(|window| window == END)?;
    let text = std::str::from_utf8(bytes.get(..head)?).ok()?;
    let length = text.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok())?
    });
    let total = head + END.len() + length.unwrap_or_default();
    (bytes.len() >= total).then_some(total)
}
