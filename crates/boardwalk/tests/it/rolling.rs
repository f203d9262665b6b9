//! Nodes are replaced one after the other, and one is killed, with the load going on.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;
use testkit::http;

use crate::load::{Attempt, End, Load, Until, check_onboardings, read_back, settle};
use crate::node_group::{self, NODES, Nodes};
use crate::receiver::{Mood, Receiver, check_signatures};
use crate::support::{PROGRAM, authorization, text};

const STOPS_WITHIN: Duration = Duration::from_secs(20);
const CLIENTS: usize = 6;
const SWING: usize = 60;
/// Of all requests, so many at most may have to be sent again during a rolling restart: one in...
const RETRIED_ONE_IN: usize = 100;

/// The nodes begin with the program given, which may be of an older version, and are replaced by
/// the one that is tested.
pub(crate) fn roll(older: &Path) {
    let mut site = node_group::site();
    site.run_program(older);
    let iso = site.iso("Nodes");
    let key = site.key(&iso);
    let receiver = Receiver::start(&[Mood::Takes]);
    let mut nodes = Nodes::start(&site);
    let headers = [("Authorization", &*authorization(&key))];
    let wanted = json!({ "url": receiver.url, "events": ["merchant.created"] });
    let webhook = http::post(&nodes.url(), "/v1/webhooks", &headers, &wanted);
    let secret = text(&webhook.unwrap().json().unwrap(), "secret");

    let url = nodes.url();
    let load = Load::new(&url, &key, Until::Stopped);
    let restarted = load.run(CLIENTS, "Rolling", || {
        site.run_program(Path::new(PROGRAM));
        for place in 0..NODES {
            load.wait_for_acknowledged(SWING);
            nodes.restart(place, &site, |node| {
                let ended = node.server.terminate(STOPS_WITHIN).unwrap();
                assert!(ended.success(), "{ended}");
            });
        }
        load.wait_for_acknowledged(SWING);
        load.stop.store(true, Ordering::Relaxed);
    });
    let retried: Vec<&Attempt> =
        restarted.iter().filter(|one| !matches!(one.end, End::Acknowledged(_))).collect();
    println!("rolling restart: {} of {} were to be sent again", retried.len(), restarted.len());
    assert!(retried.len() * RETRIED_ONE_IN <= restarted.len(), "{retried:?}");

    let load = Load::new(&url, &key, Until::Stopped);
    let killed = load.run(CLIENTS, "Killed", || {
        load.wait_for_acknowledged(SWING);
        nodes.restart(1, &site, |node| node.server.kill());
        load.wait_for_acknowledged(SWING);
        load.stop.store(true, Ordering::Relaxed);
    });
    let all: Vec<Attempt> = restarted.into_iter().chain(killed).collect();
    let acknowledged = settle(&nodes.running[0], &key, &all);
    read_back(&nodes.running[2], &key, &acknowledged);
    let dbas: BTreeSet<String> = all.into_iter().map(|attempt| attempt.dba).collect();
    check_onboardings(&site.store(), &dbas);
    check_webhooks(&receiver, &secret, dbas.len());
}

/// Every event was sent; none twice, except for those that a killed node had in its hands.
fn check_webhooks(receiver: &Receiver, secret: &str, merchants: usize) {
    let (mut taken, mut since) = (0, Instant::now());
    while taken < merchants {
        assert!(since.elapsed() < STALLED, "{taken} of {merchants} events were delivered");
        thread::sleep(Duration::from_millis(250));
        let now = receiver.taken().len();
        if now > taken {
            (taken, since) = (now, Instant::now());
        }
    }
    check_signatures(&receiver.all(), secret);
    let twice = receiver.taken().values().filter(|count| **count > 1).count();
    println!("{merchants} events, {twice} of them more than once");
    assert!(twice <= IN_HANDS_MAX, "{twice} events were sent more than once");
}

/// Longer than the lease of what a killed node had in its hands.
const STALLED: Duration = Duration::from_secs(45);

/// What one node sends at once at most.
const IN_HANDS_MAX: usize = 64;
