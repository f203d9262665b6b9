//! Webhooks of an ISO through failures: a receiver that fails, hangs and drops connections in turn,
//! and a server that is killed three times. **Every event arrives, in order per object, signed.**

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use data_encoding::BASE64;
use serde_json::{Value, json};
use site::signing::hmac_sha256_base64;
use store::outbox::{self, Event};
use testkit::http;
use types::{Clock, IsoId};

use crate::support::{Running, Site, authorization, body, eventually};

const KILLS: usize = 3;
const OBJECTS: usize = 12;
/// Events of each object between two kills.
const VERSIONS_EACH: usize = 3;
/// Longer than the server waits for an answer.
const HANG: Duration = Duration::from_millis(1_500);
const PATIENCE: Duration = Duration::from_mins(2);

/// What a receiver does with a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mood {
    Takes,
    Fails,
    Hangs,
    Drops,
}

const MOODS: [Mood; 7] =
    [Mood::Fails, Mood::Takes, Mood::Hangs, Mood::Takes, Mood::Drops, Mood::Takes, Mood::Takes];

/// A request as it came, and what was done with it.
#[derive(Clone, Debug)]
struct Received {
    mood: Mood,
    event: Value,
    id: String,
    timestamp: String,
    signature: String,
    body: String,
}

/// A receiver on loopback that changes its mood with every request.
struct Receiver {
    url: String,
    received: Arc<Mutex<Vec<Received>>>,
}

impl Receiver {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/in", listener.local_addr().unwrap());
        let received: Arc<Mutex<Vec<Received>>> = Arc::default();
        let kept = Arc::clone(&received);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let kept = Arc::clone(&kept);
                thread::spawn(move || receive(stream.unwrap(), &kept));
            }
        });
        Self { url, received }
    }

    fn all(&self) -> Vec<Received> {
        self.received.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Ids of the events that were taken.
    fn taken(&self) -> BTreeMap<String, usize> {
        let mut taken = BTreeMap::new();
        for one in self.all().into_iter().filter(|one| one.mood == Mood::Takes) {
            *taken.entry(one.id).or_default() += 1;
        }
        taken
    }
}

fn receive(mut stream: TcpStream, kept: &Mutex<Vec<Received>>) {
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
        let mood = MOODS[kept.len() % MOODS.len()];
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

fn post(running: &Running, key: &str, path: &str, body: &Value) -> Value {
    let headers = [("Authorization", &*authorization(key))];
    let answer = http::post(&running.url, path, &headers, body).unwrap();
    assert_eq!(answer.status, 200, "{path}: {}", answer.text());
    answer.json().unwrap()
}

/// Makes the events of a round: each object gets its next versions.
fn change_objects(site: &Site, iso: &str, round: usize) {
    let (iso_id, now) = (IsoId::new(iso), Clock::System.now());
    let append = move |conn: &mut dyn store::Conn| {
        for version in round * VERSIONS_EACH..(round + 1) * VERSIONS_EACH {
            for object in 0..OBJECTS {
                let object_id = format!("object{object}");
                let data = json!({ "object": "test", "id": object_id, "version": version });
                let event = Event {
                    iso_id: Some(iso_id.clone()),
                    kind: "test.changed",
                    object_id,
                    payload: data.to_string(),
                    created: now,
                };
                outbox::append(conn, &event)?;
            }
        }
        Ok(())
    };
    site.store().write_blocking(append).unwrap();
}

fn check_signatures(received: &[Received], secret: &str) {
    let key = BASE64.decode(secret.strip_prefix("whsec_").unwrap().as_bytes()).unwrap();
    for one in received {
        let message = format!("{}.{}.{}", one.id, one.timestamp, one.body);
        let expected = format!("v1,{}", hmac_sha256_base64(&key, message.as_bytes()).unwrap());
        assert_eq!(one.signature, expected, "{one:?}");
        assert_eq!(one.event["id"], one.id.as_str());
    }
}

/// No version of an object was sent before the one before it had been taken.
fn check_order(received: &[Received]) {
    let mut taken: BTreeMap<&str, i64> = BTreeMap::new();
    for one in received.iter().filter(|one| one.event["type"] == "test.changed") {
        let version = one.event["data"]["version"].as_i64().unwrap();
        let newest = taken.entry(one.event["data"]["id"].as_str().unwrap()).or_insert(-1);
        assert!(version <= *newest + 1, "{version} overtook {newest}: {one:?}");
        if one.mood == Mood::Takes {
            *newest = version.max(*newest);
        }
    }
}

fn events_survive(site: Site) {
    let site = site
        .set("server.outbound.exempt", r#"["127.0.0.1"]"#)
        .set("server.webhooks.retry_seconds", format!("{:?}", [0; 19]))
        .set("server.webhooks.timeout_ms", 1_000);
    let receiver = Receiver::start();
    let iso = site.iso("Told");
    let key = site.key(&iso);
    let mut running = site.serve();
    let webhook = post(&running, &key, "/v1/webhooks", &json!({ "url": receiver.url }));
    let mut before = 0;
    for round in 0..KILLS {
        change_objects(&site, &iso, round);
        let dba = format!("Harbor {round}");
        assert_eq!(running.onboard(&key, &body(&dba)).status, 200);
        eventually("some are under way", PATIENCE, || receiver.all().len() > before + 5);
        running.server.kill();
        before = receiver.all().len();
        running = site.serve();
    }
    let expected = KILLS * (OBJECTS * VERSIONS_EACH + 3);
    eventually("every event was taken", PATIENCE, || receiver.taken().len() >= expected);
    let received = receiver.all();
    let taken = receiver.taken();
    assert_eq!(taken.len(), expected);
    check_signatures(&received, webhook["secret"].as_str().unwrap());
    check_order(&received);
    let listed: Vec<Value> = (0..)
        .step_by(100)
        .map(|after| running.get(&format!("/v1/events?limit=100&after={after}"), &key))
        .map(|answer| answer.json().unwrap())
        .take_while(|page| page["data"].as_array().is_some_and(|data| !data.is_empty()))
        .flat_map(|page| page["data"].as_array().unwrap().clone())
        .collect();
    assert_eq!(listed.len(), expected);
    for event in &listed {
        let id = event["id"].as_str().unwrap();
        assert!(taken.contains_key(id), "{event} never arrived");
        let pushed = received.iter().find(|one| one.id == id).unwrap();
        assert_eq!(&pushed.event, event);
    }
    println!("{expected} events in {} requests", received.len());
}

#[test]
fn every_event_arrives_on_sqlite() {
    events_survive(Site::sqlite());
}

#[test]
fn every_event_arrives_on_postgres() {
    events_survive(Site::postgres());
}
