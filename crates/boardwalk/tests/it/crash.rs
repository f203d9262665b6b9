//! Killed servers and killed databases: what was acknowledged is there, and nothing is half there.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use testkit::postgres::Cluster;

use crate::chance::Chance;
use crate::load::{Attempt, End, Ids, Load, Until, check_database, read_back, settle};
use crate::support::{Running, Site};

const CLIENTS: usize = 64;
/// So many onboardings are acknowledged, then some time passes, and then comes the end.
const SWING: usize = 20;
const ROUNDS_SQLITE: u64 = 20;
const ROUNDS_POSTGRES: u64 = 4;
const CLUSTER_CRASHES: u64 = 2;
const CLUSTER_CLIENTS: usize = 16;

#[test]
fn a_killed_server_on_sqlite_keeps_its_word() {
    kill_servers(&Site::sqlite(), ROUNDS_SQLITE);
}

#[test]
fn a_killed_server_on_postgres_keeps_its_word() {
    kill_servers(&Site::postgres(), ROUNDS_POSTGRES);
}

#[test]
fn a_server_keeps_its_word_when_its_database_crashes() {
    let cluster = Cluster::start().unwrap();
    let site = Site::on_database(cluster.create_database().unwrap());
    let key = site.key(&site.iso("Crash"));
    let mut chance = Chance::new();
    let mut running = site.serve();
    let url = running.url.clone();
    let load = Load::new(&url, &key, Until::Stopped);
    let attempts = load.run(CLUSTER_CLIENTS, "Cluster", || {
        for _ in 0..CLUSTER_CRASHES {
            load.wait_for_acknowledged(SWING);
            thread::sleep(chance.pause());
            cluster.crash().unwrap();
            cluster.resume().unwrap();
        }
        load.wait_for_acknowledged(SWING);
        load.stop.store(true, Ordering::Relaxed);
    });
    assert!(!running.server.has_ended(), "the server ended with its database");
    for attempt in &attempts {
        let allowed = matches!(attempt.end, End::Acknowledged(_) | End::Refused(503));
        assert!(allowed, "{attempt:?}\n{}", running.server.stderr());
    }
    tell("database crashes", &attempts);
    let settled = settle(&running, &key, &attempts);
    read_back(&running, &key, &settled);
    check_database(&site.store(), &dbas(&attempts));
}

fn kill_servers(site: &Site, rounds: u64) {
    let key = site.key(&site.iso("Crash"));
    let mut chance = Chance::new();
    let mut all = Vec::new();
    let mut unsettled: Vec<Attempt> = Vec::new();
    for round in 0..=rounds {
        let running = site.serve();
        let settled = settle(&running, &key, &unsettled);
        read_back(&running, &key, &settled);
        all.append(&mut unsettled);
        if round < rounds {
            unsettled = load_and_kill(running, &key, round, chance.pause());
        } else {
            check_database(&site.store(), &dbas(&all));
        }
    }
    tell("killed servers", &all);
}

fn load_and_kill(running: Running, key: &str, round: u64, pause: Duration) -> Vec<Attempt> {
    let Running { server, url } = running;
    let load = Load::new(&url, key, Until::Broken);
    let attempts = load.run(CLIENTS, &format!("Round {round}"), || {
        load.wait_for_acknowledged(SWING);
        thread::sleep(pause);
        server.kill();
    });
    for attempt in &attempts {
        assert!(!matches!(attempt.end, End::Refused(_)), "{attempt:?}");
    }
    attempts
}

fn dbas(attempts: &[Attempt]) -> BTreeSet<String> {
    attempts.iter().map(|attempt| attempt.dba.clone()).collect()
}

fn tell(what: &str, attempts: &[Attempt]) {
    let acknowledged: BTreeMap<&str, &Ids> = attempts
        .iter()
        .filter_map(|attempt| match &attempt.end {
            End::Acknowledged(ids) => Some((attempt.dba.as_str(), ids)),
            _ => None,
        })
        .collect();
    let distinct: BTreeSet<&Ids> = acknowledged.values().copied().collect();
    assert_eq!(distinct.len(), acknowledged.len(), "an id was given out twice");
    println!("{what}: {} attempts, {} acknowledged", attempts.len(), acknowledged.len());
}
