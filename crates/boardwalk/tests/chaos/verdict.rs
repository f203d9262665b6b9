//! What must hold in the end, whatever happened.

use std::collections::{BTreeMap, BTreeSet};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::load::{Attempt, End, Ids, check_onboardings, pairs, read_back};
use crate::receiver::check_signatures;
use crate::world::World;
use crate::{figures, orders};

/// Longer than the lease of a server that was killed.
const STANDSTILL_MAX: Duration = Duration::from_secs(90);
const LOOK_EVERY: Duration = Duration::from_millis(100);
const PER_PAGE: usize = 100;

/// Compares what clients were told with records, figures, events, webhooks and the audit log.
pub(crate) fn compare(mut world: World) {
    compare_onboardings(&world);
    let stored = orders::stored(|path| world.rest(path));
    orders::compare(&world.orders, &stored);
    figures::compare(&mut world, &stored);
    compare_webhooks(&world);
    let verified = ask(&world, "/v1/audit/verify");
    assert_eq!((&verified["valid"], &verified["faults"]), (&json!(true), &json!([])), "{verified}");
    let checks = world.site.json(&["doctor", "--full", "--environment", "sandbox"]);
    assert!(checks.to_string().contains("no damage found"), "{checks}");
    println!("{} onboardings and {} orders compared", world.attempts.len(), world.orders.len());
}

fn compare_onboardings(world: &World) {
    let store = world.site.store();
    let merchants = pairs(&store, "SELECT merchant_id, dba FROM merchants");
    let stored: BTreeSet<String> = merchants.into_iter().map(|(_, dba)| dba).collect();
    let mut acknowledged: BTreeMap<String, Ids> = BTreeMap::new();
    for Attempt { dba, end } in &world.attempts {
        match end {
            End::Acknowledged(ids) => {
                assert!(stored.contains(dba), "{dba} was acknowledged and is lost");
                acknowledged.insert(dba.clone(), ids.clone());
            }
            End::Refused(status) => {
                assert!(!stored.contains(dba), "{dba} got {status} and is there");
            }
            End::Unanswered => {}
        }
    }
    let tried: BTreeSet<String> = world.attempts.iter().map(|one| one.dba.clone()).collect();
    assert!(stored.is_subset(&tried), "somebody was onboarded whom nobody sent");
    check_onboardings(&store, &stored);
    read_back(world.running.as_ref().unwrap(), &world.key, &acknowledged);
}

/// Every event of the ISO was taken, and nothing else was sent.
fn compare_webhooks(world: &World) {
    let mut listed: BTreeMap<String, Value> = BTreeMap::new();
    for after in (0..).step_by(PER_PAGE) {
        let page = ask(world, &format!("/v1/events?limit={PER_PAGE}&after={after}"));
        let events = page["data"].as_array().unwrap().clone();
        if events.is_empty() {
            break;
        }
        listed.extend(
            events.into_iter().map(|event| (event["id"].as_str().unwrap().to_owned(), event)),
        );
    }
    let missing = || {
        let taken = world.receiver.taken();
        listed.keys().filter(|id| !taken.contains_key(*id)).count()
    };
    wait_while_fewer(missing);
    let received = world.receiver.all();
    check_signatures(&received, &world.secret);
    for one in &received {
        assert_eq!(listed.get(&one.id), Some(&one.event), "an event that is not listed");
    }
}

/// Waits until nothing is missing; fails when nothing more arrives for a while.
fn wait_while_fewer(missing: impl Fn() -> usize) {
    let (mut fewest, mut since) = (usize::MAX, Instant::now());
    while fewest > 0 {
        let now = missing();
        if now < fewest {
            (fewest, since) = (now, Instant::now());
        }
        assert!(since.elapsed() < STANDSTILL_MAX, "{now} events were not delivered");
        thread::sleep(LOOK_EVERY);
    }
}

fn ask(world: &World, path: &str) -> Value {
    let answer = world.running.as_ref().unwrap().get(path, &world.key);
    assert_eq!(answer.status, 200, "{path}: {}", answer.text());
    answer.json().unwrap()
}
