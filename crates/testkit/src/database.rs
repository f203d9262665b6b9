//! Databases to test on: each empty, of one engine, and gone with the test.
//!
//! A test is a function of a [`TestDatabase`]; [`on_both_engines!`](crate::on_both_engines) runs it
//! on a SQLite file and on a PostgreSQL database of its own.

use std::path::Path;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use db::{Conn, Database, Location};
use tempfile::TempDir;
use types::{Environment, Result, Timestamp};

/// Connections that may write at once on PostgreSQL: enough for races, few enough for the server.
const CONNECTIONS: usize = 8;

/// Runs functions of a [`TestDatabase`] as tests, each on both engines.
#[macro_export]
macro_rules! on_both_engines {
    ($($name:ident),+ $(,)?) => {$(
        mod $name {
            #[test]
            fn on_sqlite() {
                super::$name(&$crate::database::TestDatabase::sqlite());
            }

            #[test]
            fn on_postgres() {
                super::$name(&$crate::database::TestDatabase::postgres());
            }
        }
    )+};
}

/// An empty database that goes away with the test.
#[derive(Debug)]
pub struct TestDatabase {
    pub location: Location,
    folder: TempDir,
}

impl TestDatabase {
    pub fn sqlite() -> Self {
        let folder = crate::temp_dir().expect("there is a temporary folder");
        let location = Location::parse(None, folder.path(), Environment::Sandbox, 1)
            .expect("the place of a database can be read");
        Self { location, folder }
    }

    pub fn postgres() -> Self {
        Self::postgres_with(CONNECTIONS)
    }

    pub fn postgres_with(connections: usize) -> Self {
        let folder = crate::temp_dir().expect("there is a temporary folder");
        let url = crate::postgres::shared().create_database().expect("a database can be made");
        let location =
            Location::parse(Some(&url), folder.path(), Environment::Sandbox, connections)
                .expect("the place of a database can be read");
        Self { location, folder }
    }

    pub fn open(&self) -> Database {
        Database::open(&self.location, schema::MIGRATIONS).expect("the database opens")
    }

    pub fn is_postgres(&self) -> bool {
        matches!(self.location, Location::Postgres { .. })
    }

    /// A folder that goes away with the database.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Runs SQL behind the back of the handle and returns what it printed. PostgreSQL only.
    pub fn psql(&self, sql: &str) -> String {
        let Location::Postgres { url, .. } = &self.location else { unreachable!("not PostgreSQL") };
        crate::postgres::shared().psql(url, sql).expect("psql understands")
    }
}

/// A query that gives one number.
pub fn number(conn: &mut dyn Conn, text: &str) -> Result<i64> {
    let mut found = None;
    conn.query_text(text, &[], &mut |row| {
        found = row.int(0)?;
        Ok(())
    })?;
    Ok(found.expect("the query gives a number"))
}

/// How many rows a table has.
pub fn count(store: &Database, table: &str) -> i64 {
    let text = format!("SELECT COUNT(*) FROM {table}");
    store.read_blocking(move |conn| number(conn, &text)).expect("the rows can be counted")
}

/// Runs `work` on that many threads that start together, and returns what each gave.
pub fn together<T: Send>(threads: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let barrier = Barrier::new(threads);
    let (barrier, work) = (&barrier, &work);
    thread::scope(|scope| {
        let handles: Vec<_> = (0..threads)
            .map(|index| {
                scope.spawn(move || {
                    barrier.wait();
                    work(index)
                })
            })
            .collect();
        handles.into_iter().map(|handle| handle.join().expect("a thread panicked")).collect()
    })
}

/// Tells other threads to stop, also when the thread that holds it panics.
#[derive(Debug)]
pub struct Stop<'a>(pub &'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

/// A moment of the tests, so many microseconds after the first.
pub fn time(micros: i64) -> Timestamp {
    Timestamp::from_micros(1_790_000_000_000_000 + micros)
}
