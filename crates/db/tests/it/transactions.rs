//! A closure is one transaction: whole or absent, alone in its failure, on one snapshot.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, mpsc};

use db::{Conn, Database, fact};
use types::{Error, Kind, Result};

use crate::support::{TestDatabase, count, number, together};

testkit::on_both_engines!(
    conflicting_increments_are_all_counted,
    a_closure_that_fails_loses_only_its_own_changes,
    a_closure_that_ignores_a_failure_is_not_half_stored,
    a_refused_attempt_leaves_nothing_behind,
    an_attempt_that_loses_a_race_runs_again,
    a_panic_while_rows_are_read_leaves_the_connection_usable,
    a_read_sees_one_snapshot,
    a_read_cannot_write,
    a_reader_that_fails_leaves_the_connection_usable,
    an_answered_write_is_visible_to_the_next_read,
);

/// Reads and then writes the same row from many threads; a lost update would show in the sum.
fn conflicting_increments_are_all_counted(database: &TestDatabase) {
    let store = database.open();
    store.write_blocking(|conn| conn.script("INSERT INTO counters VALUES ('n', 0)")).unwrap();
    together(16, |_| {
        for _ in 0..20 {
            store.write_blocking(increment).unwrap();
        }
    });
    let sum = store.read_blocking(|conn| number(conn, "SELECT next FROM counters")).unwrap();
    assert_eq!(sum, 320);
}

fn increment(conn: &mut dyn Conn) -> Result<()> {
    let value = number(conn, "SELECT next FROM counters WHERE name = 'n'")?;
    conn.script(&format!("UPDATE counters SET next = {} WHERE name = 'n'", value + 1))
}

/// Half of many closures fail or panic after they wrote; exactly the others are stored.
fn a_closure_that_fails_loses_only_its_own_changes(database: &TestDatabase) {
    let store = database.open();
    let runs = AtomicU32::new(0);
    together(16, |writer| {
        for round in 0..8 {
            let name = format!("{writer}-{round}");
            runs.fetch_add(1, Ordering::Relaxed);
            let answer = store.write_blocking(move |conn| match round % 4 {
                1 => {
                    fact::get_or_set(conn, &name, "")?;
                    Err(Error::invalid("on purpose"))
                }
                2 => {
                    fact::get_or_set(conn, &name, "")?;
                    panic!("on purpose");
                }
                3 => conn.script("INSERT INTO facts (name, value) VALUES (NULL, NULL)"),
                _ => fact::get_or_set(conn, &name, "").map(drop),
            });
            match (round % 4, answer) {
                (0, answer) => answer.unwrap(),
                (1, answer) => assert_eq!(answer.unwrap_err().to_string(), "on purpose"),
                (2, answer) => {
                    let error = answer.unwrap_err();
                    assert_eq!(error.kind(), Kind::Internal);
                    assert!(error.report().ends_with("on purpose"), "{}", error.report());
                }
                (_, answer) => assert_eq!(answer.unwrap_err().kind(), Kind::Internal),
            }
        }
    });
    assert_eq!(count(&store, "facts"), 32);
    let groups = store.group_sizes().snapshot();
    let jobs: u64 = groups.iter().map(|(size, times)| *times * u64::try_from(*size).unwrap()).sum();
    if database.is_postgres() {
        assert_eq!(jobs, 0);
    } else {
        assert_eq!(jobs, u64::from(runs.into_inner()));
        assert!(groups.iter().any(|(size, _)| *size > 1), "nothing was grouped: {groups:?}");
    }
}

/// Refused attempts stand between accepted ones and plain writes, in the same groups.
fn a_refused_attempt_leaves_nothing_behind(database: &TestDatabase) {
    let store = database.open();
    together(16, |writer| {
        for round in 0..9 {
            let name = format!("{writer}-{round}");
            let write = move |conn: &mut dyn Conn| -> Result<Result<i64, String>> {
                fact::get_or_set(conn, &name, "")?;
                match round % 3 {
                    0 => Ok(Ok(round)),
                    1 => Ok(Err(format!("refused {name}"))),
                    _ => Err(Error::invalid("failed")),
                }
            };
            if writer % 2 == 0 && round % 3 == 0 {
                let kept = store.write_blocking(move |conn| write(conn)).unwrap();
                assert_eq!(kept, Ok(round));
                continue;
            }
            match (round % 3, store.attempt_blocking(write)) {
                (0, answer) => assert_eq!(answer.unwrap(), Ok(round)),
                (1, answer) => {
                    assert_eq!(answer.unwrap(), Err(format!("refused {writer}-{round}")));
                }
                (_, answer) => assert_eq!(answer.unwrap_err().to_string(), "failed"),
            }
        }
    });
    assert_eq!(count(&store, "facts"), 16 * 3);
    if !database.is_postgres() {
        let groups = store.group_sizes().snapshot();
        assert!(groups.iter().any(|(size, _)| *size > 1), "nothing was grouped: {groups:?}");
    }
}

fn an_attempt_that_loses_a_race_runs_again(database: &TestDatabase) {
    let store = database.open();
    store.write_blocking(|conn| conn.script("INSERT INTO counters VALUES ('n', 0)")).unwrap();
    together(8, |writer| {
        for round in 0..10 {
            let refuse = (writer + round) % 2 == 0;
            let answer = store.attempt_blocking(move |conn| {
                increment(conn)?;
                Ok(if refuse { Err("refused") } else { Ok(()) })
            });
            assert_eq!(answer.unwrap().is_err(), refuse);
        }
    });
    let sum = store.read_blocking(|conn| number(conn, "SELECT next FROM counters")).unwrap();
    assert_eq!(sum, 40);
}

/// PostgreSQL undoes the whole transaction when a statement fails, so the closure may not succeed.
fn a_closure_that_ignores_a_failure_is_not_half_stored(database: &TestDatabase) {
    let store = database.open();
    let answer = store.write_blocking(|conn| {
        fact::get_or_set(conn, "before", "")?;
        let _ = conn.script("INSERT INTO facts (name, value) VALUES (NULL, NULL)");
        Ok(())
    });
    let stored = count(&store, "facts");
    assert_eq!(stored, i64::from(answer.is_ok()), "{answer:?}");
}

fn a_panic_while_rows_are_read_leaves_the_connection_usable(database: &TestDatabase) {
    let store = database.open();
    store.write_blocking(|conn| fact::get_or_set(conn, "a", "")).unwrap();
    for _ in 0..12 {
        let answer = store.write_blocking(|conn| {
            fact::get_or_set(conn, "b", "")?;
            conn.query_text("SELECT name FROM facts", &[], &mut |_| panic!("on purpose"))
        });
        assert_eq!(answer.unwrap_err().kind(), Kind::Internal);
    }
    store.write_blocking(|conn| fact::get_or_set(conn, "c", "")).unwrap();
    assert_eq!(count(&store, "facts"), 2);
}

fn a_read_sees_one_snapshot(database: &TestDatabase) {
    let store = database.open();
    let (started, has_started) = mpsc::channel();
    let (written, has_written) = mpsc::channel();
    let reader = {
        let store = store.clone();
        std::thread::spawn(move || {
            store.read_blocking(move |conn| {
                let before = number(conn, "SELECT COUNT(*) FROM facts")?;
                started.send(()).unwrap();
                has_written.recv().unwrap();
                Ok((before, number(conn, "SELECT COUNT(*) FROM facts")?))
            })
        })
    };
    has_started.recv().unwrap();
    store.write_blocking(|conn| fact::get_or_set(conn, "a", "")).unwrap();
    written.send(()).unwrap();
    assert_eq!(reader.join().unwrap().unwrap(), (0, 0));
    assert_eq!(count(&store, "facts"), 1);
}

fn a_read_cannot_write(database: &TestDatabase) {
    let store = database.open();
    let error = store.read_blocking(|conn| fact::get_or_set(conn, "a", "")).unwrap_err();
    assert_eq!(error.kind(), Kind::Unavailable);
    assert_eq!(error.to_string(), "the storage is read-only");
    assert_eq!(count(&store, "facts"), 0);
}

fn a_reader_that_fails_leaves_the_connection_usable(database: &TestDatabase) {
    let store = database.open();
    for round in 0..20 {
        let answer: Result<()> = store.read_blocking(move |conn| {
            assert!(round % 2 == 0, "on purpose");
            conn.script("SELECT nothing FROM nowhere")
        });
        assert_eq!(answer.unwrap_err().kind(), Kind::Internal);
    }
    assert_eq!(count(&store, "facts"), 0);
}

fn an_answered_write_is_visible_to_the_next_read(database: &TestDatabase) {
    let store = Arc::new(database.open());
    together(4, |writer| {
        for round in 0..10 {
            let name = format!("{writer}-{round}");
            let again = name.clone();
            store.write_blocking(move |conn| fact::get_or_set(conn, &name, "")).unwrap();
            assert!(has_fact(&store, &again));
        }
    });
}

fn has_fact(store: &Database, name: &str) -> bool {
    let text = format!("SELECT COUNT(*) FROM facts WHERE name = '{name}'");
    store.read_blocking(move |conn| number(conn, &text)).unwrap() == 1
}
