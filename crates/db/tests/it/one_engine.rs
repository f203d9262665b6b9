//! What only one of the engines can show, and where databases are.

use std::fs;
use std::path::Path;
use std::sync::{Mutex, mpsc};
use std::thread;

use db::{Conn, Database, Location, bulk, fact};
use types::{Environment, Kind, Result};

use crate::support::{TestDatabase, count, number, together};

#[test]
fn a_location_is_a_file_or_a_postgres_url() {
    let folder = Path::new("data");
    let parse = |url| Location::parse(url, folder, Environment::Production, 3);
    assert_eq!(parse(None).unwrap(), Location::File(folder.join("production.db")));
    for url in ["postgres://u@h/d", "postgresql://h"] {
        let expected = Location::Postgres {
            url: url.to_owned(),
            schema: "boardwalk_production".to_owned(),
            connections: 3,
            replicas: None,
        };
        assert_eq!(parse(Some(url)).unwrap(), expected);
        assert_eq!(expected.engine_name(), "PostgreSQL");
    }
    let odd = [
        "",
        " ",
        "postgres",
        "postgres:",
        "postgres:/h/d",
        " postgres://h/d",
        "Postgres://h/d",
        "sqlite://x.db",
        "file:x.db",
        "x.db",
        "/var/x.db",
        "mysql://h/d",
        "host=h user=u",
    ];
    for url in odd {
        assert_eq!(parse(Some(url)).unwrap_err().kind(), Kind::Invalid, "{url:?}");
    }
}

#[test]
fn a_url_that_cannot_be_read_is_refused() {
    for url in
        ["postgres://h:port/d", "postgres://h/d?unknown=1", "postgres://u:s3cret@h/d?sslmode=x"]
    {
        let location = Location::parse(Some(url), Path::new("."), Environment::Sandbox, 1);
        let error = Database::open(&location.unwrap(), schema::MIGRATIONS).unwrap_err();
        assert_eq!(error.kind(), Kind::Invalid, "{url}: {error:?}");
        assert!(!error.report().contains("s3cret"), "{error:?}");
    }
}

#[test]
fn a_server_that_is_not_there_is_unavailable() {
    let url = "postgres://postgres@127.0.0.1:1/nothing";
    let location = Location::parse(Some(url), Path::new("."), Environment::Sandbox, 1).unwrap();
    assert_eq!(
        Database::open(&location, schema::MIGRATIONS).unwrap_err().kind(),
        Kind::Unavailable
    );
}

#[test]
fn a_file_that_is_no_database_is_refused_and_left_alone() {
    let database = TestDatabase::sqlite();
    let path = database.folder().join("sandbox.db");
    fs::write(&path, "not a database at all; ".repeat(100)).unwrap();
    let before = fs::read(&path).unwrap();
    let error = Database::open(&database.location, schema::MIGRATIONS).unwrap_err();
    assert_eq!(error.kind(), Kind::Unavailable);
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn a_postgres_connection_that_died_while_idle_is_replaced() {
    let database = TestDatabase::postgres_with(2);
    let store = database.open();
    let write = |name: String| {
        store.write_blocking(move |conn| fact::get_or_set(conn, &name, "").map(drop))
    };
    for round in 0..5 {
        // All connections are in use before they are killed.
        together(8, |index| {
            write(format!("{round}-{index}")).unwrap();
            count(&store, "facts")
        });
        database.psql(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
             WHERE datname = current_database() AND pid <> pg_backend_pid()",
        );
        together(4, |index| write(format!("after {round}-{index}")).unwrap());
        together(8, |_| count(&store, "facts"));
    }
    assert_eq!(count(&store, "facts"), 60);
}

#[test]
fn a_postgres_connection_that_dies_in_the_middle_fails_one_write_only() {
    let store = TestDatabase::postgres_with(1).open();
    let error = store
        .write_blocking(|conn| {
            fact::get_or_set(conn, "lost", "")?;
            conn.script("SELECT pg_terminate_backend(pg_backend_pid())")?;
            fact::get_or_set(conn, "lost too", "")
        })
        .unwrap_err();
    assert_eq!(error.kind(), Kind::Unavailable, "{error:?}");
    store.write_blocking(|conn| fact::get_or_set(conn, "kept", "")).unwrap();
    assert_eq!(count(&store, "facts"), 1);
}

/// The server ends the connection while it commits: nobody can say whether the change is there.
#[test]
fn a_commit_whose_answer_is_lost_is_uncertain() {
    let database = TestDatabase::postgres_with(1);
    let store = database.open();
    let script = |text: &'static str| store.write_blocking(move |conn| conn.script(text)).unwrap();
    script(LOSE_COMMITS_OF_FACTS);
    let write = |name: &'static str| {
        store.write_blocking(move |conn| fact::get_or_set(conn, name, "").map(drop))
    };
    let error = write("lost").unwrap_err();
    assert_eq!(error.kind(), Kind::Uncertain, "{error:?}");
    // What the server refuses and goes on is certainly not stored.
    script(REFUSE_COMMITS_OF_FACTS);
    let error = write("refused").unwrap_err();
    assert_eq!(error.kind(), Kind::Unavailable, "{error:?}");
    script("DROP TRIGGER at_commit ON facts");
    write("kept").unwrap();
    assert_eq!(count(&store, "facts"), 1);
}

const LOSE_COMMITS_OF_FACTS: &str = "
    CREATE FUNCTION lose() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END $$;
    CREATE CONSTRAINT TRIGGER at_commit AFTER INSERT ON facts DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION lose()";
const REFUSE_COMMITS_OF_FACTS: &str = "
    CREATE OR REPLACE FUNCTION lose() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION USING ERRCODE = 'disk_full'; END $$";

#[test]
fn two_processes_share_a_postgres_database() {
    two_stores_write_to_one_database(&TestDatabase::postgres());
}

#[test]
fn a_command_may_write_beside_the_server_on_sqlite() {
    two_stores_write_to_one_database(&TestDatabase::sqlite());
}

/// Both read and then change the same row, so that on PostgreSQL one of them loses and runs again.
fn two_stores_write_to_one_database(database: &TestDatabase) {
    let stores = [database.open(), database.open()];
    stores[0].write_blocking(|conn| conn.script("INSERT INTO counters VALUES ('n', 0)")).unwrap();
    together(8, |writer| {
        for _ in 0..8 {
            stores[writer % 2].write_blocking(increment).unwrap();
        }
    });
    for store in &stores {
        let sum = store.read_blocking(|conn| number(conn, "SELECT next FROM counters")).unwrap();
        assert_eq!(sum, 64);
    }
}

fn increment(conn: &mut dyn Conn) -> Result<()> {
    let value = number(conn, "SELECT next FROM counters WHERE name = 'n'")?;
    conn.script(&format!("UPDATE counters SET next = {} WHERE name = 'n'", value + 1))
}

/// With these settings SQLite flushes its log before a commit returns.
#[test]
fn the_sqlite_writer_waits_for_the_disk() {
    let store = TestDatabase::sqlite().open();
    let settings = store.write_blocking(|conn| {
        let synchronous = number(conn, "SELECT synchronous FROM pragma_synchronous")?;
        let foreign_keys = number(conn, "SELECT foreign_keys FROM pragma_foreign_keys")?;
        let mut journal = String::new();
        conn.query_text("PRAGMA journal_mode", &[], &mut |row| {
            journal = row.get(0)?;
            Ok(())
        })?;
        Ok((synchronous, foreign_keys, journal))
    });
    assert_eq!(settings.unwrap(), (2, 1, "wal".to_owned()));
}

/// An import is given room for its pages, and the server that it may run in has it back.
#[test]
fn room_for_many_rows_is_given_back() {
    let store = TestDatabase::sqlite().open();
    let room = |is_wanted| {
        let asked = store.write_blocking(move |conn| {
            bulk::make_room(conn, is_wanted)?;
            number(conn, "SELECT cache_size FROM pragma_cache_size")
        });
        asked.unwrap()
    };
    let before = store
        .write_blocking(|conn| number(conn, "SELECT cache_size FROM pragma_cache_size"))
        .unwrap();
    // Kibibytes are negative numbers.
    assert!(before < 0 && room(true) < 4 * before, "{before}");
    assert_eq!(room(false), before);
    TestDatabase::postgres().open().write_blocking(|conn| bulk::make_room(conn, true)).unwrap();
}

/// The files as they are at the moment of the answer hold the write: a killed process loses
/// nothing.
#[test]
fn an_answered_sqlite_write_is_in_the_files() {
    let (database, copy) = (TestDatabase::sqlite(), TestDatabase::sqlite());
    let store = database.open();
    for round in 1..=5 {
        let name = format!("{round}");
        store.write_blocking(move |conn| fact::get_or_set(conn, &name, "")).unwrap();
        let _ = fs::remove_file(copy.folder().join("sandbox.db-shm"));
        for file in ["sandbox.db", "sandbox.db-wal"] {
            fs::copy(database.folder().join(file), copy.folder().join(file)).unwrap();
        }
        assert_eq!(count(&copy.open(), "facts"), round);
    }
}

/// What was committed is copied out of the log, which is then begun anew. While somebody reads what
/// was before, it grows, and nobody waits.
#[test]
fn the_sqlite_log_grows_only_while_somebody_reads() {
    let database = TestDatabase::sqlite();
    let store = database.open();
    let write = |megabytes: u32| {
        for number in 0..megabytes {
            // Another value than before: SQLite writes no page that stays the same.
            let (name, value) = (format!("fact {}", number % 8), format!("{number:08}"));
            let put = move |conn: &mut dyn Conn| fact::put(conn, &name, &value.repeat(1 << 17));
            store.write_blocking(put).unwrap();
        }
    };
    let log = database.folder().join("sandbox.db-wal");
    let megabytes = || fs::metadata(&log).unwrap().len() >> 20;
    write(200);
    assert!(megabytes() < 150, "the log has {} MB", megabytes());

    let (reads, is_reading) = mpsc::channel();
    let (end, ended) = mpsc::channel::<()>();
    let ended = Mutex::new(ended);
    thread::scope(|scope| {
        let reader = scope.spawn(|| {
            store.read_blocking(move |conn| {
                let before = fact::get(conn, "fact 0")?;
                reads.send(()).unwrap();
                let _ = ended.lock().unwrap().recv();
                Ok(before == fact::get(conn, "fact 0")?)
            })
        });
        is_reading.recv().unwrap();
        write(200);
        assert!(megabytes() > 150, "the log has {} MB", megabytes());
        drop(end);
        assert!(reader.join().unwrap().unwrap(), "who reads saw a change");
    });
    let has_stopped = (0..20).any(|_| {
        let before = megabytes();
        write(80);
        megabytes() == before
    });
    assert!(has_stopped, "the log has {} MB", megabytes());
}

#[test]
fn a_closed_sqlite_database_is_one_file() {
    let database = TestDatabase::sqlite();
    drop(database.open());
    let files: Vec<_> = fs::read_dir(database.folder()).unwrap().collect();
    assert_eq!(files.len(), 1, "{files:?}");
}

/// Lists with filters have many texts; a connection must not keep them all prepared for ever.
#[test]
fn a_connection_forgets_statements() {
    let store = TestDatabase::postgres().open();
    let kept = store.read_blocking(|conn| {
        for length in 0..1200 {
            let text = format!("SELECT 1{}", " ".repeat(length));
            assert_eq!(number(conn, &text)?, 1);
        }
        number(conn, "SELECT COUNT(*) FROM pg_prepared_statements")
    });
    assert!((1..=513).contains(&kept.unwrap()));
}
