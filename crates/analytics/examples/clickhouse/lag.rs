//! How late facts are while a shop sells: from the commit of an order until reports count it, with
//! all the orders of the formula already there.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use analytics::Facts;
use analytics::clickhouse::Cluster;
use analytics::feed;
use db::outbox::{self, Event};
use db::{Database, Location};
use shop_rows::customer_lookup::{self, CustomerLookupRow};
use shop_rows::order::{self, ItemKind, Order, OrderItemRow, OrderRow};
use types::{Amount, Clock, Timestamp};

const ORDERS_PER_SECOND: u64 = 500;
/// Orders of one commit, as buyers come.
const ORDERS_AT_ONCE: u64 = 5;
const CUSTOMERS: u64 = 1_000;
/// As often as the server numbers the events of an environment.
const NUMBERED_EVERY: Duration = Duration::from_millis(200);
const LOOK_EVERY: Duration = Duration::from_millis(5);
const CAUGHT_UP_WITHIN: Duration = Duration::from_mins(5);

pub(crate) fn measure(cluster: &Arc<Cluster>, generation: i64, length: Duration) {
    let folder = tempfile::tempdir().unwrap();
    let location = Location::File(folder.path().join("site.db"));
    let store = Database::open(&location, schema::MIGRATIONS).unwrap();
    let customers: Vec<CustomerLookupRow> = (0..CUSTOMERS)
        .map(|number| CustomerLookupRow { email: email(number), ..CustomerLookupRow::default() })
        .collect();
    store.write_blocking(move |conn| customer_lookup::ensure_many(conn, &customers)).unwrap();
    feed::plant_in_cluster(&store, cluster, generation).unwrap();
    let facts = Arc::new(Facts::on(Arc::clone(cluster)));
    let _feed = feed::start(store.clone(), &facts, None).unwrap();
    let is_over = AtomicBool::new(false);
    let seen = thread::scope(|scope| {
        let numbering = scope.spawn(|| number_events(&store, &is_over));
        let looking = scope.spawn(|| look(&facts, &is_over));
        sell(&store, length);
        // The last orders have no number yet.
        thread::sleep(NUMBERED_EVERY * 2);
        let head = store.read_blocking(outbox::head).unwrap();
        assert!(facts.wait_until_blocking(head, CAUGHT_UP_WITHIN), "the facts do not catch up");
        thread::sleep(LOOK_EVERY * 2);
        is_over.store(true, Ordering::Relaxed);
        numbering.join().unwrap();
        looking.join().unwrap()
    });
    let mut lags = lags(&store, &seen);
    lags.sort();
    let at = |percent: usize| lags[(lags.len() - 1) * percent / 100].as_secs_f64();
    println!(
        "{{\"sold_per_second\":{ORDERS_PER_SECOND},\"sold\":{},\"lag_p50_seconds\":{:.2},\
         \"lag_p99_seconds\":{:.2}}}",
        lags.len(),
        at(50),
        at(99)
    );
}

/// At an even pace; whoever is late does not wait.
fn sell(store: &Database, length: Duration) {
    let started = Instant::now();
    let commits = length.as_secs() * ORDERS_PER_SECOND / ORDERS_AT_ONCE;
    for commit in 0..commits {
        let due = Duration::from_micros(commit * ORDERS_AT_ONCE * 1_000_000 / ORDERS_PER_SECOND);
        thread::sleep(due.saturating_sub(started.elapsed()));
        let sold = store.write_blocking(move |conn| {
            let now = Clock::System.now();
            for number in commit * ORDERS_AT_ONCE..(commit + 1) * ORDERS_AT_ONCE {
                let id = order::insert(conn, &order(number, now))?;
                outbox::append(conn, &Event::of_site("order.created", id, "{}".to_owned(), now))?;
            }
            Ok(())
        });
        sold.unwrap();
    }
}

fn email(number: u64) -> String {
    format!("{}@example.com", number % CUSTOMERS)
}

fn order(number: u64, now: Timestamp) -> Order {
    let total = Amount::from_whole(i64::try_from(number % 90).unwrap() + 10);
    let line = OrderItemRow {
        kind: ItemKind::Line,
        product_id: i64::try_from(number % 100).unwrap() + 1,
        quantity: Amount::ONE,
        total,
        subtotal: total,
        details: "{}".to_owned(),
        ..OrderItemRow::default()
    };
    let row = OrderRow {
        status: "processing".into(),
        currency: "USD".to_owned(),
        billing_email: email(number),
        total,
        created: now,
        details: "{}".to_owned(),
        ..OrderRow::default()
    };
    Order { row, items: vec![line] }
}

fn number_events(store: &Database, is_over: &AtomicBool) {
    while !is_over.load(Ordering::Relaxed) {
        store.write_blocking(|conn| outbox::sequence(conn, 2_000)).unwrap();
        thread::sleep(NUMBERED_EVERY);
    }
}

/// When facts went how far.
fn look(facts: &Facts, is_over: &AtomicBool) -> Vec<(Timestamp, i64)> {
    let mut seen: Vec<(Timestamp, i64)> = Vec::new();
    while !is_over.load(Ordering::Relaxed) {
        let position = facts.position().unwrap_or_default();
        if seen.last().is_none_or(|(_, last)| *last < position) {
            seen.push((Clock::System.now(), position));
        }
        thread::sleep(LOOK_EVERY);
    }
    seen
}

/// How long each order waited.
fn lags(store: &Database, seen: &[(Timestamp, i64)]) -> Vec<Duration> {
    let (mut after, mut lags) = (0, Vec::new());
    loop {
        let events = store.read_blocking(move |conn| outbox::after(conn, after, 10_000)).unwrap();
        let Some(last) = events.last() else { return lags };
        after = last.seq;
        lags.extend(events.iter().map(|event| {
            let place = seen.partition_point(|(_, position)| *position < event.seq);
            seen[place].0.since(event.created)
        }));
    }
}
