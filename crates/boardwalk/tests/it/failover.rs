//! The primary is killed under load and its standby takes over: two servers go on without a
//! restart, nothing that was acknowledged is lost, and nothing is there twice.

use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use testkit::postgres::Cluster;

use crate::chance::Chance;
use crate::load::{Attempt, End, Load, Until, check_database, read_back, settle};
use crate::support::Site;

const CLIENTS_OF_EACH: usize = 4;
const SWING: usize = 20;
/// From the end of the primary until changes are acknowledged again.
const GOES_ON_WITHIN: Duration = Duration::from_secs(10);

/// One round after the other, each with a new standby in the place of the server that was killed.
pub(crate) fn fail_over(rounds: usize) {
    // Durable, as those are that anybody would fail over.
    let mut primary = Cluster::start().unwrap();
    let database = primary.create_database().unwrap();
    let name = database.rsplit('/').next().unwrap().to_owned();
    let mut standby = primary.synchronous_standby(None).unwrap();
    let url = format!(
        "postgres://postgres@127.0.0.1:{},127.0.0.1:{}/{name}?target_session_attrs=read-write",
        primary.port(),
        standby.port()
    );
    let site = Site::on_database(url);
    let key = site.key(&site.iso("Failover"));
    let mut servers = [site.serve(), site.serve()];
    let mut chance = Chance::new();
    let mut all: Vec<Attempt> = Vec::new();
    for round in 0..rounds {
        let [first, second] = servers.each_ref().map(|server| server.url.clone());
        let loads = [&first, &second].map(|url| Load::new(url, &key, Until::Stopped));
        let mut attempts = Vec::new();
        let mut act = || {
            wait_for_all(&loads, SWING);
            thread::sleep(chance.pause());
            let killed = Instant::now();
            primary.kill().unwrap();
            standby.promote().unwrap();
            wait_for_all(&loads, 1);
            let silent = killed.elapsed();
            println!("round {round}: changes go on {silent:?} after the primary was killed");
            assert!(silent < GOES_ON_WITHIN, "{silent:?}");
            wait_for_all(&loads, SWING);
            for load in &loads {
                load.stop.store(true, Ordering::Relaxed);
            }
        };
        let own = loads[0].run(CLIENTS_OF_EACH, &format!("A{round}"), || {
            attempts = loads[1].run(CLIENTS_OF_EACH, &format!("B{round}"), &mut act);
        });
        all.extend(own.into_iter().chain(attempts));
        if round + 1 < rounds {
            let port = primary.port();
            drop(primary);
            primary = standby;
            standby = primary.synchronous_standby(Some(port)).unwrap();
        }
    }
    for server in &mut servers {
        assert!(!server.server.has_ended(), "a server ended with its database");
    }
    let acknowledged = all.iter().filter(|one| matches!(one.end, End::Acknowledged(_))).count();
    println!("{acknowledged} of {} were acknowledged", all.len());
    for attempt in &all {
        let allowed = matches!(attempt.end, End::Acknowledged(_) | End::Refused(503));
        assert!(allowed, "{attempt:?}\n{}", servers[0].server.stderr());
    }
    read_back(&servers[1], &key, &settle(&servers[0], &key, &all));
    check_database(&site.store(), &all.into_iter().map(|attempt| attempt.dba).collect());
}

fn wait_for_all(loads: &[Load<'_>], more: usize) {
    for load in loads {
        load.wait_for_acknowledged(more);
    }
}

#[test]
fn a_standby_takes_over() {
    fail_over(1);
}
