//! Lists that are read from a standby: they show what was written before, whatever the standby
//! does.

use std::thread;
use std::time::{Duration, Instant};

use db::{Database, Location, fact};
use testkit::database::{count, number};
use testkit::postgres::Cluster;
use types::Environment;

const ROUNDS: i64 = 100;
const SEEN_WITHIN: Duration = Duration::from_secs(20);
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// A primary with a standby that lists are read from.
struct Pair {
    primary: Cluster,
    standby: Cluster,
    location: Location,
}

impl Pair {
    fn start() -> Self {
        let primary = Cluster::start().unwrap();
        let url = primary.create_database().unwrap();
        let standby = primary.synchronous_standby(None).unwrap();
        // A standby that is away shall not keep changes waiting.
        primary.psql("postgres", "ALTER SYSTEM RESET synchronous_standby_names").unwrap();
        primary.psql("postgres", "SELECT pg_reload_conf()").unwrap();
        let name = url.rsplit('/').next().unwrap();
        let here = std::path::Path::new(".");
        let location = Location::parse(Some(&url), here, Environment::Sandbox, 2).unwrap();
        let location = location.with_replicas(&standby.url(name)).unwrap();
        Self { primary, standby, location }
    }

    fn open(&self) -> Database {
        Database::open(&self.location, schema::MIGRATIONS).unwrap()
    }
}

/// Writes through one node, and lists through another.
fn rounds(here: &Database, there: &Database, count_before: i64) {
    for round in 1..=ROUNDS {
        let name = format!("{count_before} {round}");
        here.write_blocking(move |conn| fact::get_or_set(conn, &name, "").map(drop)).unwrap();
        let listed = there.list_blocking(|conn| number(conn, "SELECT count(*) FROM facts"));
        assert_eq!(listed.unwrap(), count_before + round);
    }
}

fn is_read_from_replica(store: &Database) -> bool {
    let (before, _) = store.list_reads().unwrap();
    store.list_blocking(|conn| number(conn, "SELECT 1")).unwrap();
    store.list_reads().unwrap().0 > before
}

fn eventually(what: &str, mut done: impl FnMut() -> bool) {
    let deadline = Instant::now() + SEEN_WITHIN;
    while !done() {
        assert!(Instant::now() < deadline, "still not: {what}");
        thread::sleep(LOOK_EVERY);
    }
}

#[test]
fn lists_show_what_was_written_before_whatever_the_replica_does() {
    let pair = Pair::start();
    let (here, there) = (pair.open(), pair.open());
    let facts = || count(&here, "facts");
    eventually("the replica is read", || is_read_from_replica(&there));
    rounds(&here, &there, facts());

    pair.standby.psql("postgres", "SELECT pg_wal_replay_pause()").unwrap();
    let (before, _) = there.list_reads().unwrap();
    rounds(&here, &there, facts());
    // It may have been as far once more while it was told to pause.
    assert!(there.list_reads().unwrap().0 <= before + 1, "one that stands still is passed over");
    pair.standby.psql("postgres", "SELECT pg_wal_replay_resume()").unwrap();
    eventually("it has caught up", || is_read_from_replica(&there));

    pair.standby.freeze().unwrap();
    let frozen = Instant::now();
    rounds(&here, &there, facts());
    assert!(frozen.elapsed() < SEEN_WITHIN, "one that stands still keeps nobody waiting");
    pair.standby.thaw().unwrap();
    eventually("it goes on", || is_read_from_replica(&there));

    pair.standby.crash().unwrap();
    rounds(&here, &there, facts());
    pair.standby.resume().unwrap();
    eventually("it is back", || is_read_from_replica(&there));

    // One that takes over is no replica any more, also while nothing is written.
    pair.standby.promote().unwrap();
    assert!(!is_read_from_replica(&there));
    rounds(&here, &there, facts());
    assert!(!is_read_from_replica(&there));
}

#[test]
fn reads_that_must_be_current_and_changes_go_to_the_primary() {
    let pair = Pair::start();
    let store = pair.open();
    let in_recovery = "SELECT CASE WHEN pg_is_in_recovery() THEN 1 ELSE 0 END";
    eventually("the replica is read", || is_read_from_replica(&store));
    assert_eq!(store.read_blocking(move |conn| number(conn, in_recovery)).unwrap(), 0);
    // Not each of the threads has found the replica yet.
    eventually("lists are read from the standby", || {
        store.list_blocking(move |conn| number(conn, in_recovery)).unwrap() == 1
    });
    let change = store.list_blocking(|conn| fact::get_or_set(conn, "a", "b"));
    assert!(change.is_err(), "a list changes nothing");

    let other = pair.location.clone().with_replicas(&pair.standby.url("postgres")).unwrap();
    let store = Database::open(&other, schema::MIGRATIONS).unwrap();
    let primary = pair.location.clone().with_replicas(&pair.primary.url("postgres")).unwrap();
    let stores = [store, Database::open(&primary, schema::MIGRATIONS).unwrap()];
    for store in &stores {
        rounds(store, store, count(store, "facts"));
        assert_eq!(store.list_reads().unwrap().0, 0, "what is no standby of it is not read");
    }
}
