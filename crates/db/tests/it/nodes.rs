//! PostgreSQL with several nodes on it: news between them, servers that take no changes, commits
//! that a standby did not confirm, connections that are lost, and poolers.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use db::{Conn, Database, Location, Sql, counter, fact};
use testkit::database::{TestDatabase, count, number, together};
use testkit::pooler::Pooler;
use testkit::postgres::{Cluster, shared};
use types::{Environment, Kind};

const HEARD_WITHIN: Duration = Duration::from_secs(1);
const HEARD_AGAIN_WITHIN: Duration = Duration::from_secs(10);
const LOOK_EVERY: Duration = Duration::from_millis(10);
const NEW_KEY: &str = "DELETE FROM api_keys WHERE key_id = 'none'";

fn eventually(what: &str, limit: Duration, mut done: impl FnMut() -> bool) {
    let deadline = Instant::now() + limit;
    while !done() {
        assert!(Instant::now() < deadline, "after {limit:?} still not: {what}");
        thread::sleep(LOOK_EVERY);
    }
}

fn open(url: &str) -> types::Result<Database> {
    open_with(url, 2)
}

fn open_with(url: &str, writers: usize) -> types::Result<Database> {
    let here = std::path::Path::new(".");
    let location = Location::parse(Some(url), here, Environment::Sandbox, writers).unwrap();
    Database::open(&location, schema::MIGRATIONS)
}

fn write(store: &Database, name: &str) -> types::Result<()> {
    let name = name.to_owned();
    store.write_blocking(move |conn| fact::get_or_set(conn, &name, "").map(drop))
}

/// Writes to a table that is announced; a script would not be noticed.
fn change_keys(store: &Database) {
    store.write_blocking(|conn| conn.query_text(NEW_KEY, &[], &mut |_| Ok(()))).unwrap();
}

#[test]
fn nodes_hear_each_other_and_again_after_a_silence() {
    let database = TestDatabase::postgres_with(2);
    let (here, there) = (database.open(), database.open());
    let told = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&told);
    there.on_told("test", move |text| {
        counted.fetch_add(text.parse::<u64>().unwrap(), Ordering::Relaxed);
    });
    here.listen().unwrap();
    there.listen().unwrap();
    let watch = there.watch(&["api_keys"]);
    eventually("it listens", HEARD_WITHIN, || watch.generation() > 0);
    let before = watch.generation();
    write(&here, "of no interest").unwrap();
    change_keys(&here);
    eventually("a write is heard of", HEARD_WITHIN, || watch.generation() == before + 1);
    here.tell("test", "3");
    here.tell("test", "4");
    eventually("messages are heard", HEARD_WITHIN, || told.load(Ordering::Relaxed) == 7);
    assert_eq!(watch.generation(), before + 1, "nothing else was said");

    database.psql(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE datname = current_database() AND pid <> pg_backend_pid()",
    );
    eventually("everything is taken for changed", HEARD_AGAIN_WITHIN, || {
        watch.generation() > before + 1
    });
    let before = watch.generation();
    change_keys(&here);
    eventually("a write is heard of again", HEARD_WITHIN, || watch.generation() > before);
}

#[test]
fn a_change_whose_connection_is_lost_before_its_commit_is_made_once() {
    let store = TestDatabase::postgres_with(1).open();
    let is_lost = Arc::new(AtomicBool::new(false));
    let lose_once = Arc::clone(&is_lost);
    store
        .write_blocking(move |conn| {
            fact::get_or_set(conn, "kept", "")?;
            if !lose_once.swap(true, Ordering::Relaxed) {
                conn.script("SELECT pg_terminate_backend(pg_backend_pid())")?;
            }
            Ok(())
        })
        .unwrap();
    assert!(is_lost.load(Ordering::Relaxed));
    assert_eq!(count(&store, "facts"), 1);
}

const FACT_INSERT: Sql = Sql {
    name: "FACT_INSERT",
    text: "INSERT INTO facts (name, value) VALUES ($1, $2) ON CONFLICT DO NOTHING",
};

fn insert(conn: &mut dyn Conn, name: &str) -> types::Result<()> {
    conn.execute(&FACT_INSERT, &[name.into(), "".into()]).map(drop)
}

#[test]
fn changes_that_go_together_are_all_stored_and_seen_by_queries_between_them() {
    let store = TestDatabase::postgres_with(1).open();
    let names: Vec<String> = (0..MANY).map(|number| format!("fact {number}")).collect();
    store
        .write_blocking(move |conn| {
            let unchanged = conn.together(&mut |conn| {
                insert(conn, "first")?;
                assert_eq!(number(conn, "SELECT COUNT(*) FROM facts")?, 1);
                names.iter().try_for_each(|name| insert(conn, name))?;
                Ok(true)
            })?;
            assert_eq!(unchanged, None);
            Ok(())
        })
        .unwrap();
    assert_eq!(count(&store, "facts"), 1 + i64::from(MANY));
}

/// More than are sent at once.
const MANY: u32 = 200;

#[test]
fn of_changes_that_go_together_the_first_that_changed_nothing_is_told() {
    let store = TestDatabase::postgres_with(1).open();
    write(&store, "there").unwrap();
    let told = store.attempt_blocking(|conn| {
        let unchanged = conn.together(&mut |conn| {
            insert(conn, "new")?;
            insert(conn, "there")?;
            // Fails, because of the one before it or not.
            conn.execute(&FACT_FAILS, &[])?;
            Ok(true)
        })?;
        Ok(unchanged.map_or(Ok(()), Err))
    });
    assert_eq!(told.unwrap(), Err(1));
    // Nor may a closure go on after one that failed.
    let failed = store.write_blocking(|conn| {
        conn.together(&mut |conn| {
            insert(conn, "also new")?;
            conn.execute(&FACT_FAILS, &[])?;
            Ok(true)
        })
        .map(drop)
    });
    assert!(failed.is_err());
    assert_eq!(count(&store, "facts"), 1);
}

const FACT_FAILS: Sql =
    Sql { name: "FACT_FAILS", text: "INSERT INTO facts (name, value) VALUES ('null', NULL)" };

/// Those that lost once would only lose to each other again.
#[test]
fn writes_that_lost_a_race_run_one_at_a_time() {
    let store = TestDatabase::postgres_with(8).open();
    let losers = Arc::new(AtomicUsize::new(0));
    let lost = Arc::new(AtomicUsize::new(0));
    together(8, |_| {
        for _ in 0..5 {
            let (runs, losers, lost) = (AtomicUsize::new(0), losers.clone(), lost.clone());
            let write = move |conn: &mut dyn Conn| {
                if runs.fetch_add(1, Ordering::SeqCst) > 0 {
                    lost.fetch_add(1, Ordering::SeqCst);
                    assert_eq!(losers.fetch_add(1, Ordering::SeqCst), 0, "another loser runs");
                    thread::sleep(Duration::from_millis(2));
                    // From here on it may lose again, and the server let the next one begin.
                    losers.fetch_sub(1, Ordering::SeqCst);
                }
                let taken = counter::take(conn, "hot", 1)?;
                thread::sleep(Duration::from_millis(2));
                Ok(taken)
            };
            store.write_blocking(write).unwrap();
        }
    });
    let taken = store.read_blocking(|conn| counter::read(conn, "hot")).unwrap();
    assert_eq!(taken, 40);
    assert!(lost.load(Ordering::SeqCst) > 0, "nobody lost");
}

/// A loser whose turn is slow, or was cut off, keeps no other from its work.
#[test]
fn a_turn_that_does_not_come_is_not_waited_for() {
    let store = TestDatabase::postgres_with(8).open();
    let (slow, rival) = (store.clone(), store.clone());
    let (held, is_held) = mpsc::channel();
    let (end, ended) = mpsc::channel::<()>();
    let ended = Mutex::new(ended);
    let slow = thread::spawn(move || {
        slow.write_blocking(move |conn| {
            conn.script("LOCK TABLE schema_migrations IN SHARE UPDATE EXCLUSIVE MODE")?;
            held.send(()).unwrap();
            ended.lock().unwrap().recv().unwrap();
            Ok(())
        })
    });
    is_held.recv().unwrap();
    let runs = AtomicUsize::new(0);
    let loser = move |conn: &mut dyn Conn| {
        counter::read(conn, "hot")?;
        if runs.fetch_add(1, Ordering::SeqCst) == 0 {
            let rival = rival.clone();
            let take = move || rival.write_blocking(|conn| counter::take(conn, "hot", 1));
            thread::spawn(take).join().unwrap().unwrap();
        }
        counter::take(conn, "hot", 1)
    };
    assert_eq!(store.write_blocking(loser).unwrap(), 1);
    end.send(()).unwrap();
    slow.join().unwrap().unwrap();
}

#[test]
fn what_only_adds_is_not_serialisable() {
    let store = TestDatabase::postgres_with(1).open();
    let isolation = |conn: &mut dyn Conn| {
        let mut isolation = String::new();
        conn.query_text("SHOW transaction_isolation", &[], &mut |row| {
            isolation = row.get(0)?;
            Ok(())
        })?;
        Ok(Ok::<_, ()>(isolation))
    };
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let adding = runtime.block_on(store.attempt_adding(isolation));
    assert_eq!(adding.unwrap().unwrap(), "read committed");
    assert_eq!(store.attempt_blocking(isolation).unwrap().unwrap(), "serializable");
}

#[test]
fn a_server_that_takes_no_changes_is_refused_until_it_does() {
    let cluster = Cluster::fast().unwrap();
    let url = cluster.create_database().unwrap();
    // Of two, one could know of the setting a moment before the other.
    let store = open_with(&url, 1).unwrap();
    write(&store, "before").unwrap();
    let set = |is_on: &str| {
        let setting = format!("ALTER SYSTEM SET default_transaction_read_only = {is_on}");
        cluster.psql("postgres", &setting).unwrap();
        cluster.psql("postgres", "SELECT pg_reload_conf()").unwrap();
    };
    set("on");
    // It takes a moment until the connection knows.
    let mut stored = 1;
    eventually("writes are refused", HEARD_AGAIN_WITHIN, || {
        let refused = write(&store, &format!("before {stored}")).is_err();
        stored += i64::from(!refused);
        refused
    });
    assert_eq!(write(&store, "during").unwrap_err().kind(), Kind::Unavailable);
    let refused = open(&url).unwrap_err();
    assert!(refused.to_string().contains("takes no changes"), "{refused}");
    set("off");
    eventually("writes go on", HEARD_AGAIN_WITHIN, || write(&store, "after").is_ok());
    assert_eq!(count(&store, "facts"), stored + 1);
}

/// The server answers such a commit with success and a warning.
#[test]
fn a_commit_that_its_standby_did_not_confirm_is_uncertain() {
    let cluster = Cluster::fast().unwrap();
    let store = open(&cluster.create_database().unwrap()).unwrap();
    write(&store, "before").unwrap();
    cluster.psql("postgres", "ALTER SYSTEM SET synchronous_commit = on").unwrap();
    cluster.psql("postgres", "ALTER SYSTEM SET synchronous_standby_names = 'nobody'").unwrap();
    cluster.psql("postgres", "SELECT pg_reload_conf()").unwrap();
    let (sender, receiver) = mpsc::channel();
    let writing = store.clone();
    eventually("the setting holds", HEARD_AGAIN_WITHIN, || {
        cluster.psql("postgres", "SHOW synchronous_standby_names").unwrap().contains("nobody")
    });
    // The first may be stored before the server heeds the setting.
    let refused = move || (0..).find_map(|count| write(&writing, &format!("alone {count}")).err());
    thread::spawn(move || sender.send(refused()));
    let cancel = "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
    eventually("the commit waits", HEARD_AGAIN_WITHIN, || {
        cluster.psql("postgres", cancel).unwrap().contains('t')
    });
    let error = receiver.recv_timeout(HEARD_AGAIN_WITHIN).unwrap().unwrap();
    assert_eq!(error.kind(), Kind::Uncertain, "{error:?}");
    assert!(error.to_string().contains("standby"), "{error}");
}

#[test]
fn a_pooler_in_transaction_mode_is_refused_and_one_in_session_mode_serves() {
    let url = shared().create_database().unwrap();
    let name = url.rsplit('/').next().unwrap();
    let pooler = Pooler::start("transaction", shared().port()).unwrap();
    let refused = open(&pooler.url(name)).unwrap_err();
    assert_eq!(refused.kind(), Kind::Invalid);
    assert!(refused.to_string().contains("pool_mode = session"), "{refused}");
    drop(pooler);
    let pooler = Pooler::start("session", shared().port()).unwrap();
    let store = open(&pooler.url(name)).unwrap();
    write(&store, "kept").unwrap();
    assert_eq!(count(&store, "facts"), 1);
}

/// What was acknowledged before is there, statements that were prepared are prepared again, and
/// other nodes are heard again.
#[test]
fn a_standby_takes_over_without_a_restart() {
    let primary = Cluster::start().unwrap();
    let database = primary.create_database().unwrap();
    let standby = primary.synchronous_standby(None).unwrap();
    let name = database.rsplit('/').next().unwrap();
    let alone = open(&format!("{}?connect_timeout=1", standby.url(name))).unwrap_err();
    assert!(alone.to_string().contains("takes no changes"), "{alone}");
    let url = format!(
        "postgres://postgres@127.0.0.1:{},127.0.0.1:{}/{name}?target_session_attrs=read-write",
        primary.port(),
        standby.port()
    );
    let (here, there) = (open(&url).unwrap(), open(&url).unwrap());
    here.listen().unwrap();
    there.listen().unwrap();
    write(&here, "before").unwrap();
    let killed = Instant::now();
    primary.kill().unwrap();
    standby.promote().unwrap();
    eventually("changes go on", HEARD_AGAIN_WITHIN, || write(&here, "after").is_ok());
    println!("changes go on {:?} after the primary was killed", killed.elapsed());
    assert_eq!(count(&there, "facts"), 2);
    let watch = there.watch(&["api_keys"]);
    let before = watch.generation();
    eventually("other nodes are heard again", HEARD_AGAIN_WITHIN, || {
        change_keys(&here);
        watch.generation() > before
    });
}
