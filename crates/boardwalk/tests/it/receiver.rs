//! A receiver of webhooks on loopback that fails, hangs and drops connections when it is told to.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use data_encoding::BASE64;
use frame::signing::hmac_sha256_base64;
use serde_json::Value;

/// Longer than the server waits for an answer.
const HANG: Duration = Duration::from_millis(1_500);

/// What a receiver does with a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mood {
    Takes,
    Fails,
    Hangs,
    Drops,
}

/// A request as it came, and what was done with it.
#[derive(Clone, Debug)]
pub(crate) struct Received {
    pub(crate) mood: Mood,
    pub(crate) event: Value,
    pub(crate) id: String,
    timestamp: String,
    signature: String,
    body: String,
}

/// A receiver on loopback that changes its mood with every request.
pub(crate) struct Receiver {
    pub(crate) url: String,
    received: Arc<Mutex<Vec<Received>>>,
}

impl Receiver {
    /// Does with each request what the next of the moods says, over and over.
    pub(crate) fn start(moods: &'static [Mood]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/in", listener.local_addr().unwrap());
        let received: Arc<Mutex<Vec<Received>>> = Arc::default();
        let kept = Arc::clone(&received);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let kept = Arc::clone(&kept);
                thread::spawn(move || receive(stream.unwrap(), moods, &kept));
            }
        });
        Self { url, received }
    }

    pub(crate) fn all(&self) -> Vec<Received> {
        self.received.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Ids of the events that were taken.
    pub(crate) fn taken(&self) -> BTreeMap<String, usize> {
        let mut taken = BTreeMap::new();
        for one in self.all().into_iter().filter(|one| one.mood == Mood::Takes) {
            *taken.entry(one.id).or_default() += 1;
        }
        taken
    }
}

fn receive(mut stream: TcpStream, moods: &[Mood], kept: &Mutex<Vec<Received>>) {
    // A server that is killed hangs up in the middle.
    let Some((head, body)) = read_request(&mut stream) else { return };
    let field = |name: &str| {
        let line = head.lines().find_map(|line| {
            let (field, value) = line.split_once(": ")?;
            field.eq_ignore_ascii_case(name).then(|| value.to_owned())
        });
        line.unwrap_or_else(|| panic!("no {name} in {head}"))
    };
    let mood = {
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        let mood = moods[kept.len() % moods.len()];
        kept.push(Received {
            mood,
            event: serde_json::from_str(&body).unwrap(),
            id: field("webhook-id"),
            timestamp: field("webhook-timestamp"),
            signature: field("webhook-signature"),
            body,
        });
        mood
    };
    let status = match mood {
        Mood::Takes => "204 No Content",
        Mood::Fails => "500 Oh No",
        Mood::Hangs => return thread::sleep(HANG),
        Mood::Drops => return,
    };
    let answer = format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    let _ = stream.write_all(answer.as_bytes());
}

fn read_request(stream: &mut TcpStream) -> Option<(String, String)> {
    let mut bytes = Vec::new();
    loop {
        let mut part = [0; 4096];
        let count = stream.read(&mut part).ok().filter(|count| *count > 0)?;
        bytes.extend_from_slice(&part[..count]);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let lower = head.to_lowercase();
        let length = lower.split("content-length: ").nth(1)?.lines().next()?.parse().ok()?;
        if body.len() >= length {
            return Some((head.to_owned(), body.to_owned()));
        }
    }
}

pub(crate) fn check_signatures(received: &[Received], secret: &str) {
    let key = BASE64.decode(secret.strip_prefix("whsec_").unwrap().as_bytes()).unwrap();
    for one in received {
        let message = format!("{}.{}.{}", one.id, one.timestamp, one.body);
        let expected = format!("v1,{}", hmac_sha256_base64(&key, message.as_bytes()).unwrap());
        assert_eq!(one.signature, expected, "{one:?}");
        assert_eq!(one.event["id"], one.id.as_str());
    }
}
