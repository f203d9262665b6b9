//! One caller who asks for much at once does not keep the others waiting. A small version of
//! `cargo xtask bench greedy`, which measures it at full size.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use testkit::http::Connection;

use crate::support::{Running, Site, authorization, body};

const CONNECTIONS: usize = 30;
const MERCHANTS: usize = 60;
const ROUNDS: usize = 40;
/// Far above what is promised, since the tests share their machine, and far below what a line of
/// all the greedy caller's requests would take.
const WAIT_MAX: Duration = Duration::from_secs(1);

#[test]
fn others_are_served_beside_a_greedy_caller_on_sqlite() {
    check(&Site::sqlite());
}

#[test]
fn others_are_served_beside_a_greedy_caller_on_postgres() {
    check(&Site::postgres());
}

fn check(site: &Site) {
    let greedy = site.key(&site.iso("Greedy"));
    let modest = site.key(&site.iso("Modest"));
    let running = site.serve();
    for number in 0..MERCHANTS {
        assert_eq!(running.onboard(&greedy, &body(&format!("Much {number}"))).status, 200);
    }
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        for path in ["/v1/audit/verify", "/v1/merchants?search=nothing"] {
            for _ in 0..CONNECTIONS {
                scope.spawn(|| ask_until(&running, &greedy, path, &done));
            }
        }
        let (mut reads, mut writes) = (Vec::new(), Vec::new());
        for number in 0..ROUNDS {
            reads.push(timed(|| running.get("/v1/merchants/000000000000", &modest).status, 404));
            let request = body(&format!("Modest {number}"));
            writes.push(timed(|| running.onboard(&modest, &request).status, 200));
        }
        done.store(true, Ordering::Relaxed);
        for (what, mut times) in [("read", reads), ("onboarding", writes)] {
            times.sort();
            let half = times[times.len() / 2];
            assert!(half < WAIT_MAX, "half of all took longer than {half:?}: {what}");
        }
    });
}

fn ask_until(running: &Running, key: &str, path: &str, done: &AtomicBool) {
    let mut connection = Connection::open(&running.url).unwrap();
    let headers = [("Authorization", &*authorization(key))];
    while !done.load(Ordering::Relaxed) {
        // Over the rate it is refused, and asks again all the same.
        if connection.request("GET", path, &headers, b"").is_err() {
            connection = Connection::open(&running.url).unwrap();
        }
    }
}

fn timed(ask: impl Fn() -> u16, expected: u16) -> Duration {
    let asked = Instant::now();
    assert_eq!(ask(), expected);
    asked.elapsed()
}
