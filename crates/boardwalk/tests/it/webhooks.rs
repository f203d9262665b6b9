//! Webhooks of an ISO through failures: a receiver that fails, hangs and drops connections in turn,
//! and a server that is killed three times. **Every event arrives, in order per object, signed.**

use std::collections::BTreeMap;
use std::time::Duration;

use db::outbox::{self, Event};
use serde_json::{Value, json};
use testkit::http;
use types::{Clock, IsoId};

use crate::receiver::{Mood, Received, Receiver, check_signatures};
use crate::support::{Running, Site, authorization, body, eventually};

const KILLS: usize = 3;
const OBJECTS: usize = 12;
/// Events of each object between two kills.
const VERSIONS_EACH: usize = 3;
const PATIENCE: Duration = Duration::from_mins(2);
const MOODS: &[Mood] =
    &[Mood::Fails, Mood::Takes, Mood::Hangs, Mood::Takes, Mood::Drops, Mood::Takes, Mood::Takes];

fn post(running: &Running, key: &str, path: &str, body: &Value) -> Value {
    let headers = [("Authorization", &*authorization(key))];
    let answer = http::post(&running.url, path, &headers, body).unwrap();
    assert_eq!(answer.status, 200, "{path}: {}", answer.text());
    answer.json().unwrap()
}

/// Makes the events of a round: each object gets its next versions.
fn change_objects(site: &Site, iso: &str, round: usize) {
    let (iso_id, now) = (IsoId::new(iso), Clock::System.now());
    let append = move |conn: &mut dyn db::Conn| {
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

fn every_event_arrives(site: Site) {
    let site = site
        .set("server.outbound.exempt", r#"["127.0.0.1"]"#)
        .set("server.webhooks.retry_seconds", format!("{:?}", [0; 19]))
        .set("server.webhooks.timeout_ms", 1_000);
    let receiver = Receiver::start(MOODS);
    let iso = site.iso("CannedAnswer");
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

on_both_engines!(every_event_arrives);
