//! SIGTERM under load: nothing that the server took on is lost.

use std::thread;
use std::time::{Duration, Instant};

use testkit::http::Connection;

use crate::load::{Attempt, End, Load, Until, check_database, read_back, settle};
use crate::support::{Running, Site, body};

const CLIENTS: usize = 16;
const SWING: usize = 40;
const EXIT_WITHIN: Duration = Duration::from_secs(10);

#[test]
fn a_terminated_server_finishes_what_it_took_on() {
    let site = Site::sqlite();
    let key = site.key(&site.iso("Shutdown"));
    let Running { server, url } = site.serve();
    let load = Load::new(&url, &key, Until::Broken);
    let attempts = load.run(CLIENTS, "Shutdown", || {
        load.wait_for_acknowledged(SWING);
        let asked = Instant::now();
        let status = server.terminate(EXIT_WITHIN).unwrap();
        assert!(status.success(), "{status}");
        println!("ended {:?} after SIGTERM", asked.elapsed());
    });

    let unnumbered = site.store().read_blocking(db::outbox::has_unsequenced).unwrap();
    assert!(!unnumbered, "the events of the last requests have no numbers");
    let running = site.serve();
    let (answered, unanswered): (Vec<Attempt>, Vec<Attempt>) =
        attempts.into_iter().partition(|attempt| !matches!(attempt.end, End::Unanswered));
    println!("{} answered, {} not taken on", answered.len(), unanswered.len());
    for attempt in &answered {
        assert!(matches!(attempt.end, End::Acknowledged(_)), "{attempt:?}");
    }
    // What got no answer was never begun: a server that stores must also answer.
    for Attempt { dba, .. } in &unanswered {
        let answer = running.onboard(&key, &body(dba));
        assert_eq!(answer.status, 200, "{dba} was stored, but not answered: {}", answer.text());
    }
    read_back(&running, &key, &settle(&running, &key, &answered));
    let dbas = answered.into_iter().chain(unanswered).map(|attempt| attempt.dba).collect();
    check_database(&site.store(), &dbas);
}

#[test]
fn idle_clients_do_not_keep_the_server_up() {
    let site = Site::sqlite();
    site.iso("Shutdown");
    let running = site.serve();
    let silent = Connection::open(&running.url).unwrap();
    let mut kept_alive = Connection::open(&running.url).unwrap();
    assert_eq!(kept_alive.request("GET", "/healthz", &[], b"").unwrap().status, 200);
    let mut half = Connection::open(&running.url).unwrap();
    half.write(b"POST /v1/onboardmerchant HTTP/1.1\r\nHost: here\r\n").unwrap();
    // Let the server see all of them.
    thread::sleep(Duration::from_millis(200));
    let asked = Instant::now();
    let status = running.server.terminate(EXIT_WITHIN).unwrap();
    assert!(status.success(), "{status}");
    println!("ended {:?} after SIGTERM", asked.elapsed());
    drop((silent, kept_alive, half));
}
