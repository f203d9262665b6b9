//! The queue of deliveries: in order, one at a time for an endpoint, never to two who claim at
//! once, and again when a lease ends.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use db::filter::Page;
use db::webhook_delivery::{
    self, Answer, CLAIM_MAX, DeliveryRow, DeliveryState, Endpoint, Outcome,
};
use db::{Conn, Database};

use crate::support::{TestDatabase, count, delivery, time, together};

testkit::on_both_engines!(
    a_delivery_is_claimed_and_finished,
    an_endpoint_gets_its_deliveries_in_order,
    a_lease_that_ends_makes_it_due_again,
    the_longest_due_come_first,
    lanes_do_not_wait_for_each_other,
    every_attempt_is_kept,
    messages_are_known_until_they_fail,
    two_claimers_never_get_the_same,
    old_deliveries_are_forgotten,
    a_change_that_fails_delivers_nothing,
);

const LEASE: Duration = Duration::from_micros(100);

fn hook(number: i64) -> Endpoint {
    Endpoint { kind: "webhook".to_owned(), id: number.to_string() }
}

fn onboarding() -> Endpoint {
    Endpoint { kind: "onboarding".to_owned(), id: "ep_1".to_owned() }
}

fn enqueue(store: &Database, endpoint: &Endpoint, body: &str, due: i64) -> i64 {
    let delivery = delivery(endpoint, body);
    let delivery = webhook_delivery::NewDelivery { due: time(due), ..delivery };
    store.write_blocking(move |conn| webhook_delivery::enqueue(conn, &delivery)).unwrap()
}

/// Claims what is due of all endpoints, as who sends does.
fn claim(store: &Database, now: i64, limit: i64) -> Vec<DeliveryRow> {
    let claimed = store.write_blocking(move |conn| {
        let mut claimed: Vec<DeliveryRow> = Vec::new();
        for endpoint in webhook_delivery::due_endpoints(conn, time(now), 100)? {
            let room = limit.saturating_sub(i64::try_from(claimed.len()).unwrap());
            let more = webhook_delivery::claim_due(conn, &endpoint, time(now), room, LEASE)?;
            claimed.extend(more);
        }
        claimed.sort_by_key(|delivery| delivery.delivery_id);
        Ok(claimed)
    });
    claimed.unwrap()
}

fn bodies(deliveries: &[DeliveryRow]) -> Vec<&str> {
    deliveries.iter().map(|one| std::str::from_utf8(&one.body).unwrap()).collect()
}

fn finish(store: &Database, claimed: &DeliveryRow, now: i64, outcome: Outcome) -> bool {
    let claimed = claimed.clone();
    let answer = Answer {
        status: Some(200),
        body: "ok".to_owned(),
        duration: Some(Duration::from_micros(1234)),
    };
    let finished = store.write_blocking(move |conn| {
        webhook_delivery::finish(conn, &claimed, time(now), outcome, &answer)
    });
    finished.unwrap()
}

fn get(store: &Database, delivery_id: i64) -> DeliveryRow {
    store.read_blocking(move |conn| webhook_delivery::get(conn, delivery_id)).unwrap().unwrap()
}

/// The first moment at which something is due, found by asking for each.
fn next_due(store: &Database) -> Option<i64> {
    let is_due = |now: &i64| {
        let now = time(*now);
        let due = move |conn: &mut dyn Conn| webhook_delivery::due_endpoints(conn, now, 1);
        !store.read_blocking(due).unwrap().is_empty()
    };
    (0..=200).find(is_due)
}

fn a_delivery_is_claimed_and_finished(database: &TestDatabase) {
    let store = database.open();
    assert_eq!(next_due(&store), None);
    assert_eq!(claim(&store, 0, 10), []);
    let delivery_id = enqueue(&store, &onboarding(), "{}", 5);
    let waiting = DeliveryRow {
        delivery_id,
        endpoint: onboarding(),
        lane: String::new(),
        message_id: "evt_1".to_owned(),
        topic: "order.updated".to_owned(),
        body: b"{}".to_vec(),
        details: r#"{"event":1}"#.to_owned(),
        state: DeliveryState::Waiting,
        attempt: 0,
        due: time(5),
        created: time(-1),
        finished: None,
        answer: Answer::default(),
    };
    assert_eq!(get(&store, delivery_id), waiting);
    assert_eq!(next_due(&store), Some(5));
    assert_eq!(claim(&store, 4, 10), [], "not before it is due");
    assert_eq!(claim(&store, 5, 0), []);
    assert_eq!(claim(&store, 5, -1), []);
    let claimed = claim(&store, 5, i64::MAX);
    let expected = DeliveryRow { attempt: 1, due: time(105), ..waiting };
    assert_eq!(claimed, std::slice::from_ref(&expected));
    assert_eq!(claim(&store, 104, 10), [], "it is in somebody's hands");
    assert!(finish(&store, &claimed[0], 60, Outcome::Delivered));
    assert!(!finish(&store, &claimed[0], 61, Outcome::Failed), "it is finished already");
    let delivered = DeliveryRow {
        state: DeliveryState::Delivered,
        due: time(60),
        finished: Some(time(60)),
        answer: Answer {
            status: Some(200),
            body: "ok".to_owned(),
            duration: Some(Duration::from_micros(1234)),
        },
        ..expected
    };
    assert_eq!(get(&store, delivery_id), delivered);
    assert_eq!(claim(&store, 1000, CLAIM_MAX), []);
    assert_eq!(next_due(&store), None);
}

fn an_endpoint_gets_its_deliveries_in_order(database: &TestDatabase) {
    use DeliveryState::{Delivered, Failed, Waiting};
    let store = database.open();
    for body in ["a1", "a2", "a3"] {
        enqueue(&store, &hook(1), body, 0);
    }
    enqueue(&store, &hook(2), "b1", 0);
    enqueue(&store, &onboarding(), "c1", 0);
    let first = claim(&store, 0, 10);
    assert_eq!(bodies(&first), ["a1", "b1", "c1"]);
    assert_eq!(claim(&store, 0, 10), []);
    assert!(finish(&store, &first[1], 1, Outcome::Delivered));
    assert!(finish(&store, &first[0], 1, Outcome::Retry(time(50))));
    assert_eq!(claim(&store, 49, 10), [], "what is tried again holds back the rest");
    assert_eq!(next_due(&store), Some(50));
    let again = claim(&store, 50, 10);
    assert_eq!((bodies(&again), again[0].attempt), (vec!["a1"], 2));
    assert_eq!(again[0].answer.status, Some(200), "what the last attempt brought is kept");
    assert!(finish(&store, &again[0], 51, Outcome::Failed));
    let second = claim(&store, 51, 10);
    assert_eq!(bodies(&second), ["a2"]);
    assert!(finish(&store, &second[0], 52, Outcome::Delivered));
    assert_eq!(bodies(&claim(&store, 52, 10)), ["a3"]);
    let listed = |states: &'static [DeliveryState], offset| {
        let page = Page { offset, limit: 2 };
        let found = store
            .read_blocking(move |conn| webhook_delivery::list(conn, &hook(1), states, page))
            .unwrap();
        let states = found.0.iter().map(|one| (one.delivery_id, one.state)).collect::<Vec<_>>();
        (states, found.1)
    };
    assert_eq!(listed(&[], 0), (vec![(3, Waiting), (2, Delivered)], 3));
    assert_eq!(listed(&[], 2), (vec![(1, Failed)], 3));
    assert_eq!(listed(&[Failed, Waiting], 0), (vec![(3, Waiting), (1, Failed)], 2));
}

fn a_lease_that_ends_makes_it_due_again(database: &TestDatabase) {
    let store = database.open();
    enqueue(&store, &hook(1), "a", 0);
    enqueue(&store, &hook(1), "b", 0);
    let lost = claim(&store, 0, 10);
    assert_eq!(next_due(&store), Some(100));
    assert_eq!(claim(&store, 99, 10), []);
    let taken_over = claim(&store, 100, 10);
    assert_eq!((bodies(&taken_over), taken_over[0].attempt), (vec!["a"], 2));
    assert!(!finish(&store, &lost[0], 101, Outcome::Delivered), "the claim is lost");
    assert!(!finish(&store, &lost[0], 101, Outcome::Retry(time(0))));
    assert_eq!(get(&store, 1).answer, Answer::default());
    assert!(finish(&store, &taken_over[0], 102, Outcome::Delivered));
    let second = claim(&store, 102, 10);
    assert_eq!(bodies(&second), ["b"]);
    // A lease that ended, but that nobody took over, may still be finished.
    assert!(finish(&store, &second[0], 900, Outcome::Delivered));
    enqueue(&store, &hook(1), "c", 900);
    enqueue(&store, &hook(2), "d", 1000);
    assert_eq!(bodies(&claim(&store, 900, 10)), ["c"]);
    let end = |conn: &mut dyn Conn| webhook_delivery::end_leases(conn, time(901));
    assert_eq!(store.write_blocking(end).unwrap(), 1);
    assert_eq!(bodies(&claim(&store, 901, 10)), ["c"], "what waits for its time still does");
}

fn the_longest_due_come_first(database: &TestDatabase) {
    let store = database.open();
    for (number, due) in [(1, 30), (2, 10), (3, 20), (4, 99)] {
        enqueue(&store, &hook(number), &number.to_string(), due);
    }
    assert_eq!(bodies(&claim(&store, 50, 2)), ["2", "3"]);
    assert_eq!(bodies(&claim(&store, 50, 2)), ["1"]);
    assert_eq!(bodies(&claim(&store, 50, 2)), [""; 0]);
}

fn lanes_do_not_wait_for_each_other(database: &TestDatabase) {
    let store = database.open();
    for (lane, body) in [("x", "x1"), ("x", "x2"), ("y", "y1"), ("x", "x3"), ("y", "y2")] {
        let delivery = webhook_delivery::NewDelivery {
            lane: lane.to_owned(),
            ..delivery(&onboarding(), body)
        };
        store.write_blocking(move |conn| webhook_delivery::enqueue(conn, &delivery)).unwrap();
    }
    let first = claim(&store, 0, 10);
    assert_eq!(bodies(&first), ["x1", "y1"], "one of each lane");
    assert_eq!(claim(&store, 0, 10), []);
    assert!(finish(&store, &first[0], 1, Outcome::Retry(time(50))));
    assert!(finish(&store, &first[1], 1, Outcome::Delivered));
    let second = claim(&store, 1, 10);
    assert_eq!(bodies(&second), ["y2"], "x2 waits for x1");
    let again = claim(&store, 50, 10);
    assert_eq!(bodies(&again), ["x1"]);
    assert!(finish(&store, &again[0], 51, Outcome::Failed));
    assert_eq!(bodies(&claim(&store, 51, 10)), ["x2"], "x3 waits for x2");
}

fn every_attempt_is_kept(database: &TestDatabase) {
    let store = database.open();
    let delivery_id = enqueue(&store, &hook(1), "a", 0);
    let first = claim(&store, 0, 1);
    assert!(finish(&store, &first[0], 5, Outcome::Retry(time(6))));
    let second = claim(&store, 6, 1);
    assert!(finish(&store, &second[0], 7, Outcome::Delivered));
    let attempts = move |conn: &mut dyn Conn| webhook_delivery::attempts(conn, delivery_id);
    let attempts = store.read_blocking(attempts).unwrap();
    let seen: Vec<_> = attempts.iter().map(|one| (one.attempt, one.at)).collect();
    assert_eq!(seen, [(1, time(5)), (2, time(7))]);
    assert_eq!(attempts[0].answer.status, Some(200));
    store.write_blocking(|conn| webhook_delivery::prune(conn, time(8), 10)).unwrap();
    assert_eq!(count(&store, "delivery_attempts"), 0, "they go with their delivery");
}

fn messages_are_known_until_they_fail(database: &TestDatabase) {
    let store = database.open();
    enqueue(&store, &hook(1), "a", 0);
    let known = |number: i64, id: &'static str| {
        let known = move |conn: &mut dyn Conn| webhook_delivery::is_known(conn, &hook(number), id);
        store.read_blocking(known).unwrap()
    };
    assert_eq!([known(1, "evt_1"), known(2, "evt_1"), known(1, "evt_2")], [true, false, false]);
    let claimed = claim(&store, 0, 1);
    assert!(finish(&store, &claimed[0], 1, Outcome::Failed));
    assert!(!known(1, "evt_1"));
    let before = |before: Option<i64>| {
        let list = move |conn: &mut dyn Conn| {
            webhook_delivery::list_before(conn, &hook(1), &[], before, 10)
        };
        store.read_blocking(list).unwrap().len()
    };
    assert_eq!([before(None), before(Some(1)), before(Some(2))], [1, 0, 1]);
}

/// Eight who send work off a queue while some of them fill it: each delivery is sent once.
fn two_claimers_never_get_the_same(database: &TestDatabase) {
    const ENDPOINTS: i64 = 6;
    const EACH: i64 = 8;
    let store = database.open();
    let sent = together(8, |index| {
        if index % 2 == 0 {
            for number in 0..ENDPOINTS * EACH / 4 {
                enqueue(&store, &hook(number % ENDPOINTS), "x", 0);
            }
        }
        let mut sent = Vec::new();
        let mut now = 0;
        while count(&store, "webhook_deliveries WHERE state = 'delivered'") < ENDPOINTS * EACH {
            // The leases never end here, since the time stands still.
            for claimed in claim(&store, 0, 3) {
                now += 1;
                assert_eq!(claimed.attempt, 1);
                assert!(finish(&store, &claimed, now, Outcome::Delivered));
                sent.push(claimed.delivery_id);
            }
        }
        sent
    });
    let all: Vec<i64> = sent.concat();
    let distinct: BTreeSet<i64> = all.iter().copied().collect();
    assert_eq!(all.len(), distinct.len(), "{sent:?}");
    assert_eq!(i64::try_from(all.len()).unwrap(), ENDPOINTS * EACH);
}

/// Two processes that claim at once get different deliveries, however often they try.
#[test]
fn two_processes_share_a_queue_on_postgres() {
    let database = TestDatabase::postgres_with(2);
    let stores = [database.open(), database.open()];
    for round in 0..10 {
        for number in 0..4 {
            enqueue(&stores[0], &hook(number), &format!("{round}.{number}"), 0);
        }
        let claimed = together(2, |index| claim(&stores[index], 0, 2));
        let mut times: BTreeMap<i64, usize> = BTreeMap::new();
        for one in claimed.iter().flatten() {
            *times.entry(one.delivery_id).or_default() += 1;
        }
        assert_eq!(times.len(), 4, "each gets its share");
        assert!(times.values().all(|times| *times == 1), "{times:?}");
        for one in claimed.iter().flatten() {
            assert!(finish(&stores[0], one, 1, Outcome::Delivered));
        }
    }
}

fn old_deliveries_are_forgotten(database: &TestDatabase) {
    let store = database.open();
    for number in 1..=5 {
        enqueue(&store, &hook(number), "x", 0);
    }
    for (now, claimed) in (10..).zip(claim(&store, 0, 4)) {
        assert!(finish(&store, &claimed, now, Outcome::Delivered));
    }
    let prune = |before: i64, limit: i64| {
        store
            .write_blocking(move |conn| webhook_delivery::prune(conn, time(before), limit))
            .unwrap()
    };
    assert_eq!(prune(10, 100), 0);
    assert_eq!(prune(13, 2), 2);
    assert_eq!(prune(13, 2), 1);
    assert_eq!(prune(1000, 100), 1, "what waits is not old");
    let forget = |number: i64| {
        store.write_blocking(move |conn| webhook_delivery::forget(conn, &hook(number))).unwrap()
    };
    assert_eq!((forget(4), forget(5)), (0, 1));
    assert_eq!(count(&store, "webhook_deliveries"), 0);
    enqueue(&store, &hook(5), "y", 0);
    assert_eq!(bodies(&claim(&store, 0, 10)), ["y"]);
}

fn a_change_that_fails_delivers_nothing(database: &TestDatabase) {
    let store = database.open();
    let refused = store.write_blocking(|conn| -> types::Result<()> {
        webhook_delivery::enqueue(conn, &delivery(&hook(1), "x"))?;
        Err(types::Error::conflict("no"))
    });
    assert!(refused.is_err());
    assert_eq!(count(&store, "webhook_deliveries"), 0);
}
