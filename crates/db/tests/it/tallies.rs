//! A tally says what a count of the rows would, whoever writes them.

use std::sync::{Mutex, mpsc};
use std::time::Duration;
use std::{fs, thread};

use db::backup::{self, NoFiles};
use db::filter::{Clause, Direction, Filter, Page};
use db::integrity::Depth;
use db::{Conn, Database, Migrations};
use types::{Environment, Error, Result};

use crate::support::{TestDatabase, time};

const BARE: (&str, &str) = (
    "0001_animals",
    "CREATE TABLE facts (
       name @text NOT NULL PRIMARY KEY,
       value @text NOT NULL
     ) @strict;
     CREATE TABLE counters (
       name @text NOT NULL PRIMARY KEY,
       next @int NOT NULL
     ) @strict;
     CREATE TABLE cages (
       cage_id @int NOT NULL PRIMARY KEY
     ) @strict;
     CREATE TABLE animals (
       site_id @int NOT NULL,
       animal_id @int NOT NULL PRIMARY KEY,
       cage_id @int NOT NULL REFERENCES cages (cage_id) ON DELETE CASCADE,
       kind @text NOT NULL,
       legs @int NOT NULL,
       name @text NOT NULL
     ) @strict;",
);
const WITHOUT: Migrations = &[BARE];
const WITH: Migrations = &[BARE, ("0002_tally", "@tally animals (kind @text, legs @int);")];

testkit::on_both_engines!(
    rows_are_counted_as_they_are_written,
    rows_that_were_there_are_counted,
    rows_written_meanwhile_are_counted,
    a_restored_backup_is_counted,
    a_wrong_tally_is_counted_again,
    many_writers_are_counted,
);

fn rows_are_counted_as_they_are_written(database: &TestDatabase) {
    let store = open(database, WITH);
    write(
        &store,
        "INSERT INTO cages VALUES (1), (2);
         INSERT INTO animals VALUES
           (1, 1, 1, 'cat', 4, 'Tom'), (1, 2, 1, 'cat', 4, 'Kitty'), (1, 3, 2, 'duck', 2, 'Donald')",
    );
    assert_eq!(counts(&store), [("cat".to_owned(), 2), ("duck".to_owned(), 1)]);
    assert_eq!((all(&store), cats(&store)), (3, 2));
    // What only looks like another row, and what is one.
    write(&store, "UPDATE animals SET name = 'Thomas', kind = 'cat' WHERE animal_id = 1");
    assert_eq!((all(&store), cats(&store)), (3, 2));
    write(&store, "UPDATE animals SET kind = 'dog' WHERE kind = 'cat'");
    assert_eq!(counts(&store), [("dog".to_owned(), 2), ("duck".to_owned(), 1)]);
    write(
        &store,
        "INSERT INTO animals VALUES (1, 2, 1, 'cat', 3, 'Kitty'), (1, 4, 2, 'cat', 4, 'Felix')
           ON CONFLICT (animal_id) DO UPDATE SET kind = excluded.kind, legs = excluded.legs;
         INSERT INTO animals VALUES (1, 4, 2, 'cow', 4, 'Elsa') ON CONFLICT DO NOTHING",
    );
    assert_eq!((all(&store), cats(&store)), (4, 2));
    // What is taken back was never counted.
    let refused = store.attempt_blocking(|conn| {
        conn.script("DELETE FROM animals")?;
        Ok(Err::<(), Error>(Error::invalid("no")))
    });
    assert!(refused.unwrap().is_err());
    assert_eq!(all(&store), 4);
    // Another table may delete them.
    write(&store, "DELETE FROM cages WHERE cage_id = 2");
    assert_eq!((all(&store), cats(&store)), (2, 1));
    write(&store, "DELETE FROM animals");
    assert_eq!((all(&store), counts(&store)), (0, Vec::new()));
    assert_sound(&store);
}

fn rows_that_were_there_are_counted(database: &TestDatabase) {
    let store = open(database, WITHOUT);
    fill(&store, 5);
    drop(store);
    let store = open(database, WITH);
    assert_eq!((all(&store), cats(&store)), (5, 5));
    assert_sound(&store);
}

/// Nodes of an older version write while a newer one migrates.
fn rows_written_meanwhile_are_counted(database: &TestDatabase) {
    const LONG: Duration = Duration::from_secs(10);
    let store = open(database, WITHOUT);
    fill(&store, 2);
    let ((begun, has_begun), (commit, may_commit)) = (mpsc::channel(), mpsc::channel());
    let may_commit = Mutex::new(may_commit);
    let migrated = thread::scope(|scope| {
        let older = &store;
        let write = scope.spawn(move || {
            older.write_blocking(move |conn| {
                conn.script("INSERT INTO animals VALUES (1, 3, 1, 'cat', 4, 'Tom')")?;
                begun.send(()).unwrap();
                may_commit.lock().unwrap().recv_timeout(LONG).unwrap();
                Ok(())
            })
        });
        has_begun.recv_timeout(LONG).unwrap();
        let migrate = scope.spawn(|| open(database, WITH));
        // Long enough for it to begin, and to wait for the other one.
        thread::sleep(Duration::from_millis(200));
        commit.send(()).unwrap();
        write.join().unwrap().unwrap();
        migrate.join().unwrap()
    });
    assert_eq!((all(&migrated), cats(&migrated)), (3, 3));
    assert_sound(&migrated);
}

fn a_restored_backup_is_counted(database: &TestDatabase) {
    let store = open(database, WITHOUT);
    fill(&store, 300);
    let path = database.folder().join("backup");
    let written = store.read_blocking(|conn| {
        let mut out = Vec::new();
        backup::write(conn, WITHOUT, Environment::Sandbox, time(0), &NoFiles, &mut out)?;
        Ok(out)
    });
    fs::write(&path, written.unwrap()).unwrap();
    for target in [TestDatabase::sqlite(), TestDatabase::postgres()] {
        let restored = open(&target, WITH);
        backup::restore(&restored, &path, Environment::Sandbox, &mut NoFiles).unwrap();
        assert_eq!((all(&restored), cats(&restored)), (300, 300));
        assert_sound(&restored);
    }
}

fn many_writers_are_counted(database: &TestDatabase) {
    let store = open(database, WITH);
    write(&store, "INSERT INTO cages VALUES (1)");
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    thread::scope(|scope| {
        for writer in 0..8 {
            let store = &store;
            scope.spawn(move || {
                for number in 0..20 {
                    let id = writer * 100 + number;
                    let row = format!("INSERT INTO animals VALUES (1, {id}, 1, 'cat', 4, 'Tom')");
                    write(store, &row);
                }
            });
        }
        for _ in 0..10 {
            runtime.block_on(store.settle_tallies()).unwrap();
        }
    });
    assert_eq!((all(&store), cats(&store)), (160, 160));
    runtime.block_on(store.settle_tallies()).unwrap();
    assert_eq!((all(&store), cats(&store)), (160, 160));
    assert_sound(&store);
}

#[test]
fn what_was_counted_is_drawn_together() {
    let store = open(&TestDatabase::postgres(), WITH);
    fill(&store, 30);
    let rows = || store.read_blocking(|conn| number(conn, "SELECT COUNT(*) FROM animals_tally"));
    assert_eq!(rows().unwrap(), 30);
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(store.settle_tallies()).unwrap();
    assert_eq!((rows().unwrap(), all(&store)), (1, 30));
}

fn a_wrong_tally_is_counted_again(database: &TestDatabase) {
    let store = open(database, WITH);
    fill(&store, 3);
    write(&store, "UPDATE animals_tally SET row_count = row_count + 1");
    assert_eq!(store.check_integrity(Depth::Quick).unwrap().miscounted, [""; 0]);
    let report = store.check_integrity(Depth::Full).unwrap();
    assert_eq!((report.damage, report.miscounted), (Vec::new(), vec!["animals".to_owned()]));
    store.recount_tallies_blocking().unwrap();
    assert_eq!(all(&store), 3);
    assert_sound(&store);
}

fn open(database: &TestDatabase, migrations: Migrations) -> Database {
    Database::open(&database.location, migrations).unwrap()
}

fn write(store: &Database, text: &str) {
    let text = text.to_owned();
    store.write_blocking(move |conn| conn.script(&text)).unwrap();
}

fn fill(store: &Database, animals: usize) {
    write(store, "INSERT INTO cages VALUES (1)");
    for id in 1..=animals {
        write(store, &format!("INSERT INTO animals VALUES (1, {id}, 1, 'cat', 4, 'Tom')"));
    }
}

/// The total beside a page of none.
fn total(store: &Database, filter: fn() -> Filter) -> i64 {
    let none = Page { offset: 0, limit: 0 };
    let order = || vec![(Clause::fixed("animal_id"), Direction::Ascending)];
    let read = |row: &dyn db::Row| row.get::<i64>(0);
    let list = move |conn: &mut dyn Conn| {
        Ok(filter().page(conn, ("animal_id", "animals"), order(), none, read)?.1)
    };
    store.read_blocking(list).unwrap()
}

fn all(store: &Database) -> i64 {
    total(store, || Filter::tallied("animals.site_id = ?", 1))
}

/// By the tally, and as those whose name is none: by counting.
fn cats(store: &Database) -> i64 {
    let tallied = total(store, || {
        let mut filter = Filter::tallied("animals.site_id = ?", 1);
        filter.and_tallied(Clause::fixed("kind = 'cat'"));
        filter
    });
    let counted = total(store, || {
        let mut filter = Filter::tallied("animals.site_id = ?", 1);
        filter.and_tallied(Clause::fixed("kind = 'cat'"));
        filter.and(Clause::fixed("name <> ''"));
        filter
    });
    assert_eq!(tallied, counted);
    tallied
}

fn counts(store: &Database) -> Vec<(String, i64)> {
    let read = |conn: &mut dyn Conn| {
        Filter::tallied("animals.site_id = ?", 1).counts::<String>(conn, "kind", "animals")
    };
    store.read_blocking(read).unwrap()
}

fn number(conn: &mut dyn Conn, text: &str) -> Result<i64> {
    let mut found = 0;
    conn.query_text(text, &[], &mut |row| {
        found = row.get(0)?;
        Ok(())
    })?;
    Ok(found)
}

fn assert_sound(store: &Database) {
    let report = store.check_integrity(Depth::Full).unwrap();
    assert_eq!((report.damage, report.miscounted), (Vec::new(), Vec::new()));
}
