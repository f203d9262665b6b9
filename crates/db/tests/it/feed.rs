//! Numbers: blocks of ids that never overlap, and a feed without gaps.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use db::outbox::{Event, IsoEvents, SequencedEvent};
use db::{Database, counter, outbox};
use types::{IsoId, Kind, Result};

use crate::support::{Stop, TestDatabase, event, time, together};

const WRITERS: usize = 6;
const SEQUENCERS: usize = 2;
const READERS: usize = 2;
/// More than fit into one statement, and a rest.
const MANY: i64 = 150;
const STRESS: Duration = Duration::from_millis(1500);

testkit::on_both_engines!(
    blocks_of_numbers_never_overlap,
    a_follower_moves_once,
    counters_are_separate,
    a_period_has_so_many,
    events_are_numbered_in_order,
    events_of_an_iso_have_their_own_numbers,
    old_events_are_forgotten_when_everybody_has_seen_them,
    events_of_the_site_are_in_the_same_feed,
    numbering_has_a_limit,
    the_feed_has_no_gaps_while_everybody_writes,
    events_come_in_great_numbers,
);

fn blocks_of_numbers_never_overlap(database: &TestDatabase) {
    let store = database.open();
    let taken = together(16, |writer| {
        let count = i64::try_from(writer).unwrap() + 1;
        let take = || store.write_blocking(move |conn| counter::take(conn, "id", count)).unwrap();
        (0..5).flat_map(|_| (take()..).take(writer + 1)).collect::<Vec<i64>>()
    });
    let mut numbers = taken.concat();
    numbers.sort_unstable();
    assert_eq!(numbers, (0..5 * (1..=16).sum::<i64>()).collect::<Vec<_>>());
}

fn a_follower_moves_once(database: &TestDatabase) {
    let store = database.open();
    let position = || store.read_blocking(|conn| outbox::position(conn, "mail")).unwrap();
    let advance = |from: i64, to: i64| {
        store.write_blocking(move |conn| outbox::advance(conn, "mail", from, to))
    };
    assert_eq!(position(), 0);
    advance(0, 7).unwrap();
    advance(7, 7).unwrap();
    assert_eq!(advance(0, 9).unwrap_err().kind(), Kind::Conflict);
    assert_eq!(position(), 7, "who lost has moved nothing");
    let other = store.read_blocking(|conn| outbox::position(conn, "search"));
    assert_eq!(other.unwrap(), 0);
}

fn a_period_has_so_many(database: &TestDatabase) {
    let store = database.open();
    let take = |period: i64, max: i64| {
        let take = move |conn: &mut dyn db::Conn| counter::take_of_period(conn, "a", period, max);
        store.write_blocking(take).unwrap()
    };
    assert_eq!([take(7, 2), take(7, 2), take(7, 2)], [true, true, false]);
    assert!(take(7, 3), "a bound that was raised holds at once");
    assert_eq!([take(8, 1), take(8, 1)], [true, false], "the next period has its own");
    let failing = store.write_blocking(|conn| {
        assert!(counter::take_of_period(conn, "b", 7, 1)?);
        Err::<(), _>(types::Error::conflict("something else failed"))
    });
    assert!(failing.is_err());
    let again = store.write_blocking(|conn| counter::take_of_period(conn, "b", 7, 1));
    assert!(again.unwrap(), "what was taken back is there again");
    store.write_blocking(|conn| counter::take(conn, "a", 1_000_000)).unwrap();
    assert_eq!([take(8, 1), take(9, 1)], [false, true], "a leap ends with the period");
}

fn counters_are_separate(database: &TestDatabase) {
    let taken = database.open().write_blocking(|conn| {
        let first = counter::take(conn, "a", 10)?;
        let second = counter::take(conn, "a", 1)?;
        Ok((first, second, counter::take(conn, "b", 1)?))
    });
    assert_eq!(taken.unwrap(), (0, 10, 0));
}

fn events_are_numbered_in_order(database: &TestDatabase) {
    let store = database.open();
    let found = store.write_blocking(|conn| {
        assert!(!outbox::has_unsequenced(conn)?);
        assert_eq!(outbox::sequence(conn, 10)?, 0);
        for object in ["a", "b", "c"] {
            outbox::append(conn, &event(object, "{}"))?;
        }
        assert!(outbox::has_unsequenced(conn)?);
        assert_eq!(outbox::after(conn, 0, 10)?, []);
        assert_eq!(outbox::sequence(conn, 10)?, 3);
        assert!(!outbox::has_unsequenced(conn)?);
        outbox::after(conn, 0, 10)
    });
    let expected: Vec<_> = (1..).zip(["a", "b", "c"]).map(sequenced).collect();
    assert_eq!(found.unwrap(), expected);
    let page = store.read_blocking(|conn| outbox::after(conn, 1, 1)).unwrap();
    assert_eq!(page, expected[1..2]);
}

fn events_of_the_site_are_in_the_same_feed(database: &TestDatabase) {
    let store = database.open();
    let events = store.write_blocking(|conn| {
        outbox::append(conn, &event("a", "{}"))?;
        let deleted = Event::of_site("product.deleted", 7, r#"{"id":7}"#.to_owned(), time(14));
        outbox::append(conn, &deleted)?;
        outbox::sequence(conn, 10)?;
        outbox::after(conn, 0, 10)
    });
    let of_site = SequencedEvent {
        seq: 2,
        iso_id: None,
        iso_seq: None,
        kind: "product.deleted".to_owned(),
        object_id: "7".to_owned(),
        payload: r#"{"id":7}"#.to_owned(),
        created: time(14),
    };
    assert_eq!(events.unwrap(), [sequenced((1, "a")), of_site]);
}

/// The numbers of an ISO's events that are listed.
fn listed(store: &Database, iso_id: &str, after: i64, kinds: &[&str], groups: &[&str]) -> Vec<i64> {
    let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    let (kinds, groups) = (owned(kinds), owned(groups));
    let wanted = IsoEvents { iso_id: IsoId::new(iso_id), after, since: None, kinds, groups };
    let events = store.read_blocking(move |conn| outbox::of_iso(conn, &wanted, 100)).unwrap();
    events.iter().map(|event| event.iso_seq.unwrap()).collect()
}

fn events_of_an_iso_have_their_own_numbers(database: &TestDatabase) {
    let store = database.open();
    let append = |iso_id: Option<&'static str>, kind: &'static str| {
        let event = Event { iso_id: iso_id.map(IsoId::new), kind, ..event("x", "{}") };
        store.write_blocking(move |conn| outbox::append(conn, &event)).unwrap();
    };
    for _ in 0..2 {
        append(Some("a"), "merchant.created");
        append(None, "order.created");
        append(Some("b"), "merchant.created");
        append(Some("a"), "merchant_x.created");
        append(Some("a"), "store.created");
    }
    assert_eq!([3, 4, 100, 100].map(|limit| sequence(&store, limit)), [3, 4, 3, 0]);
    assert_eq!(listed(&store, "a", 0, &[], &[]), [1, 2, 3, 4, 5, 6]);
    assert_eq!(listed(&store, "b", 0, &[], &[]), [1, 2]);
    assert_eq!(listed(&store, "c", 0, &[], &[]), [0; 0]);
    assert_eq!(listed(&store, "a", 2, &["store.created"], &[]), [3, 6]);
    assert_eq!(listed(&store, "a", 0, &[], &["merchant."]), [1, 4]);
    assert_eq!(listed(&store, "a", 0, &["store.created"], &["merchant_"]), [2, 3, 5, 6]);
}

fn old_events_are_forgotten_when_everybody_has_seen_them(database: &TestDatabase) {
    let store = database.open();
    let append = |at: i64| {
        let event = Event { iso_id: Some(IsoId::new("a")), created: time(at), ..event("x", "{}") };
        store.write_blocking(move |conn| outbox::append(conn, &event)).unwrap();
    };
    (1..=4).for_each(append);
    sequence(&store, 100);
    let prune = |before: i64| {
        store.write_blocking(move |conn| outbox::prune(conn, time(before), 100)).unwrap()
    };
    assert_eq!(prune(100), 0, "nobody follows yet");
    let advance = |follower: &'static str, from: i64, to: i64| {
        store.write_blocking(move |conn| outbox::advance(conn, follower, from, to)).unwrap();
    };
    advance("mail", 0, 3);
    advance("search", 0, 4);
    assert_eq!(prune(2), 1, "what is young stays");
    assert_eq!(prune(100), 2, "what was not seen stays");
    assert_eq!(listed(&store, "a", 0, &[], &[]), [4]);
    advance("mail", 3, 4);
    assert_eq!(prune(100), 1);
    append(5);
    sequence(&store, 100);
    assert_eq!(listed(&store, "a", 0, &[], &[]), [5], "numbers go on");
    assert_eq!(sequence_numbers(&store), [5]);
}

fn sequenced((seq, object): (i64, &str)) -> SequencedEvent {
    let event = event(object, "{}");
    SequencedEvent {
        seq,
        iso_id: event.iso_id,
        iso_seq: Some(seq),
        kind: event.kind.to_owned(),
        object_id: event.object_id,
        payload: event.payload,
        created: event.created,
    }
}

fn numbering_has_a_limit(database: &TestDatabase) {
    let store = database.open();
    store
        .write_blocking(|conn| (0..25).try_for_each(|_| outbox::append(conn, &event("a", "{}"))))
        .unwrap();
    let numbered = [10, 10, 10, 10].map(|limit| sequence(&store, limit));
    assert_eq!(numbered, [10, 10, 5, 0]);
    assert_eq!(sequence_numbers(&store), (1..=25).collect::<Vec<_>>());
}

fn sequence(store: &Database, limit: i64) -> u64 {
    store.write_in_turn_blocking(move |conn| outbox::sequence(conn, limit)).unwrap()
}

fn sequence_numbers(store: &Database) -> Vec<i64> {
    let events = store.read_blocking(|conn| outbox::after(conn, 0, i64::MAX)).unwrap();
    events.into_iter().map(|event| event.seq).collect()
}

/// **Nobody who follows the feed ever sees a gap, an event twice or an object's events out of
/// order**, whatever writers and numberers do at that moment.
fn the_feed_has_no_gaps_while_everybody_writes(database: &TestDatabase) {
    let store = database.open();
    let done = AtomicBool::new(false);
    let appended = thread::scope(|scope| {
        let spawn_numberer = |_| scope.spawn(|| number_until(&store, &done));
        let numberers: Vec<_> = (0..SEQUENCERS).map(spawn_numberer).collect();
        let readers: Vec<_> =
            (0..READERS).map(|_| scope.spawn(|| follow_until(&store, &done))).collect();
        let stop = Stop(&done);
        let appended = together(WRITERS, |writer| append_for_a_while(&store, writer));
        drop(stop);
        for numberer in numberers {
            numberer.join().unwrap();
        }
        for reader in readers {
            assert!(reader.join().unwrap() > 0, "a reader saw nothing");
        }
        appended
    });
    while sequence(&store, 1000) > 0 {}
    let events = store.read_blocking(|conn| outbox::after(conn, 0, i64::MAX)).unwrap();
    let mut follower = Follower::default();
    follower.check(&events);
    let expected: usize = appended.iter().sum();
    assert_eq!(events.len(), expected);
    for (writer, count) in appended.into_iter().enumerate() {
        assert_eq!(follower.newest_of[&format!("object {writer}")], count);
    }
}

/// Each event carries its number within its object; every fifth transaction is given up.
fn append_for_a_while(store: &Database, writer: usize) -> usize {
    let (start, mut stored) = (Instant::now(), 0);
    for round in 1.. {
        let first = stored + 1;
        let answer: Result<()> = store.write_blocking(move |conn| {
            for number in first..first + 3 {
                outbox::append(conn, &event(&format!("object {writer}"), &number.to_string()))?;
            }
            assert!(round % 5 != 0, "given up on purpose");
            Ok(())
        });
        assert_eq!(answer.is_ok(), round % 5 != 0, "{answer:?}");
        if answer.is_ok() {
            stored += 3;
        }
        if start.elapsed() > STRESS {
            break;
        }
    }
    stored
}

fn number_until(store: &Database, done: &AtomicBool) {
    while !done.load(Ordering::Acquire) {
        sequence(store, 7);
    }
}

fn follow_until(store: &Database, done: &AtomicBool) -> i64 {
    let mut follower = Follower::default();
    while !done.load(Ordering::Acquire) {
        let newest = follower.newest;
        let events = store.read_blocking(move |conn| outbox::after(conn, newest, 50)).unwrap();
        follower.check(&events);
    }
    follower.newest
}

#[derive(Default)]
struct Follower {
    newest: i64,
    newest_of: HashMap<String, usize>,
}

impl Follower {
    fn check(&mut self, events: &[SequencedEvent]) {
        for event in events {
            assert_eq!(event.seq, self.newest + 1, "the feed has a gap");
            self.newest = event.seq;
            let newest = self.newest_of.entry(event.object_id.clone()).or_default();
            assert_eq!(event.payload, (*newest + 1).to_string(), "{} is torn", event.object_id);
            *newest += 1;
        }
    }
}

fn events_come_in_great_numbers(database: &TestDatabase) {
    let store = database.open();
    let events = store.write_blocking(|conn| {
        let event = |id| Event::of_site("order.imported", id, "{}".to_owned(), time(1));
        outbox::append_many(conn, &(1..=MANY).map(event).collect::<Vec<_>>())?;
        outbox::append_many(conn, &[])?;
        outbox::sequence(conn, 1_000)?;
        outbox::after(conn, 0, 1_000)
    });
    let ids: Vec<String> = events.unwrap().into_iter().map(|event| event.object_id).collect();
    assert_eq!(ids, (1..=MANY).map(|id| id.to_string()).collect::<Vec<_>>());
}
