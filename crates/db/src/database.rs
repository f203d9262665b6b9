//! The handle that everybody else holds: where the database is, and how to run closures on it.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use tokio::sync::oneshot;
use types::{Environment, Error, Result};

use crate::changes::Changes;
use crate::job::{Answer, Job, attempt, job, read_job};
use crate::queue::Queue;
use crate::threads::{GroupSizes, Threads};
use crate::{Conn, Migrations, Watch, caller, postgres, sqlite};

/// Where an environment's database is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Location {
    /// A SQLite file.
    File(PathBuf),
    /// A PostgreSQL URL; the environment has a schema of its own in that database.
    Postgres { url: String, schema: String, connections: usize },
}

impl Location {
    /// Reads a `--database` value. **Anything but a PostgreSQL URL is refused** rather than taken
    /// as a file name, so that a typing mistake cannot start an empty database.
    pub fn parse(
        url: Option<&str>,
        data: &std::path::Path,
        environment: Environment,
        connections: usize,
    ) -> Result<Self> {
        match url {
            None => Ok(Self::File(data.join(format!("{environment}.db")))),
            Some(url) if url.starts_with("postgres://") || url.starts_with("postgresql://") => {
                let schema = format!("boardwalk_{environment}");
                Ok(Self::Postgres { url: url.to_owned(), schema, connections })
            }
            Some(_) => Err(Error::invalid(
                "the database must be a postgres:// URL; leave it out for SQLite files in the \
                 data folder",
            )),
        }
    }

    pub fn engine_name(&self) -> &'static str {
        match self {
            Self::File(_) => "SQLite",
            Self::Postgres { .. } => "PostgreSQL",
        }
    }
}

/// An open database. Cheap to clone; the threads end when the last clone is dropped.
#[derive(Clone)]
pub struct Database {
    inner: Arc<Inner>,
}

struct Inner {
    threads: Threads,
    groups: Arc<GroupSizes>,
    changes: Arc<Changes>,
    embedded: bool,
    migrations: Migrations,
}

impl fmt::Debug for Database {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Database")
    }
}

impl Database {
    /// Opens the database, creating it or bringing it up to date by the migrations as needed.
    pub fn open(location: &Location, migrations: Migrations) -> Result<Self> {
        let groups = Arc::new(GroupSizes::default());
        let changes = Arc::new(Changes::new(migrations));
        let threads = match location {
            Location::File(path) => {
                sqlite::start(path, migrations, (Arc::clone(&groups), &changes))?
            }
            Location::Postgres { url, schema, connections } => {
                let target = postgres::Target::parse(url, schema, &changes)?;
                postgres::start(&target, migrations, *connections)?
            }
        };
        let embedded = matches!(location, Location::File(_));
        let inner = Inner { threads, groups, changes, embedded, migrations };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Runs a closure that changes something, as one transaction. The answer comes after the
    /// change is durable. The closure may run more than once; only its last run counts. It is not
    /// begun for a caller who has left, but finished when it has begun.
    pub async fn write<T: Send + 'static>(
        &self,
        closure: impl Fn(&mut dyn Conn) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        answer(submit(&self.inner.threads.writes, job(closure))?.await)
    }

    /// [`Database::write`] for a closure that may refuse: when it returns an inner error, nothing
    /// that it changed is stored, and the caller gets that error.
    pub async fn attempt<T: Send + 'static, E: Send + 'static>(
        &self,
        closure: impl Fn(&mut dyn Conn) -> Result<Result<T, E>> + Send + 'static,
    ) -> Result<Result<T, E>> {
        answer(submit(&self.inner.threads.writes, attempt(closure))?.await)
    }

    /// Runs a closure that only reads, on a consistent snapshot. It stops when the future is
    /// dropped.
    pub async fn read<T: Send + 'static>(
        &self,
        closure: impl Fn(&mut dyn Conn) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let (job, _waiter) = read_job(closure);
        answer(submit(&self.inner.threads.reads, job)?.await)
    }

    /// [`Database::write`] for callers without an async runtime. Never call it from async code.
    pub fn write_blocking<T: Send + 'static>(
        &self,
        closure: impl Fn(&mut dyn Conn) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        answer(submit(&self.inner.threads.writes, job(closure))?.blocking_recv())
    }

    /// [`Database::attempt`] for callers without an async runtime. Never call it from async code.
    pub fn attempt_blocking<T: Send + 'static, E: Send + 'static>(
        &self,
        closure: impl Fn(&mut dyn Conn) -> Result<Result<T, E>> + Send + 'static,
    ) -> Result<Result<T, E>> {
        answer(submit(&self.inner.threads.writes, attempt(closure))?.blocking_recv())
    }

    /// [`Database::read`] for callers without an async runtime. Never call it from async code.
    pub fn read_blocking<T: Send + 'static>(
        &self,
        closure: impl Fn(&mut dyn Conn) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let (job, _waiter) = read_job(closure);
        answer(submit(&self.inner.threads.reads, job)?.blocking_recv())
    }

    /// Counts the transactions of this process that write to one of the tables.
    pub fn watch(&self, tables: &[&str]) -> Watch {
        self.inner.changes.watch(tables)
    }

    pub(crate) fn migrations(&self) -> Migrations {
        self.inner.migrations
    }

    /// Whether the storage is a file that one server process has to itself.
    pub fn is_embedded(&self) -> bool {
        self.inner.embedded
    }

    /// How many closures the SQLite writer committed together.
    pub fn group_sizes(&self) -> &GroupSizes {
        &self.inner.groups
    }
}

fn submit<T>(queue: &Queue, (job, receiver): (Box<dyn Job>, Answer<T>)) -> Result<Answer<T>> {
    queue.push(caller::current(), job)?;
    Ok(receiver)
}

fn answer<T>(received: Result<Result<T>, oneshot::error::RecvError>) -> Result<T> {
    received.unwrap_or_else(|_| Err(Error::unavailable("the storage is shutting down")))
}
