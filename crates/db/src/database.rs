//! The handle that everybody else holds: where the database is, and how to run closures on it.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use tokio::sync::oneshot;
use types::{Environment, Error, Result};

use crate::changes::Changes;
use crate::job::{Answer, Isolation, Job, attempt, job, job_in_turn, read_job};
use crate::news::News;
use crate::postgres::replica::ListReads;
use crate::queue::Queue;
use crate::threads::{GroupSizes, Threads};
use crate::{Conn, Migrations, Watch, caller, postgres, sqlite};

/// Of databases apart, beside the file of the environment.
const APART_FOLDER: &str = "stores";
/// Such a database is written to by one at a time.
const APART_CONNECTIONS: usize = 1;

/// Where an environment's database is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Location {
    /// A SQLite file.
    File(PathBuf),
    /// A PostgreSQL URL; the environment has a schema of its own in that database.
    Postgres { url: String, schema: String, connections: usize, replicas: Option<String> },
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
                Ok(Self::Postgres { url: url.to_owned(), schema, connections, replicas: None })
            }
            Some(_) => Err(Error::invalid(
                "the database must be a postgres:// URL; leave it out for SQLite files in the \
                 data folder",
            )),
        }
    }

    /// The same with standbys that lists are read from, by a PostgreSQL URL of their own.
    pub fn with_replicas(mut self, of_replicas: &str) -> Result<Self> {
        let Self::Postgres { replicas, .. } = &mut self else {
            return Err(Error::invalid("database.replicas needs PostgreSQL in database.url"));
        };
        *replicas = Some(of_replicas.to_owned());
        Ok(self)
    }

    /// Where a part of the environment is that has a database of its own, by the part's name: a
    /// file in a folder beside the environment's, or a schema of the same server. The name consists
    /// of small letters, digits and underscores.
    #[must_use]
    pub fn apart(&self, name: &str) -> Self {
        let is_plain = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_');
        assert!(!name.is_empty() && name.bytes().all(is_plain), "a plain name");
        match self {
            Self::File(path) => {
                let folder = path.with_extension("").file_name().map(PathBuf::from);
                let beside = path.parent().unwrap_or(std::path::Path::new("")).join(APART_FOLDER);
                Self::File(beside.join(folder.unwrap_or_default()).join(format!("{name}.db")))
            }
            Self::Postgres { url, schema, .. } => Self::Postgres {
                url: url.clone(),
                schema: format!("{schema}_{name}"),
                connections: APART_CONNECTIONS,
                replicas: None,
            },
        }
    }

    /// Deletes the database with everything in it. Nobody may have it open. One that is not there
    /// is no error.
    pub fn delete(&self) -> Result<()> {
        match self {
            Self::File(path) => sqlite::delete(path),
            Self::Postgres { url, schema, .. } => {
                let (changes, news) = (Arc::new(Changes::new(&[])), Arc::new(News::new(false)));
                postgres::Target::parse(url, schema, &changes, &news)?.delete()
            }
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
    news: Arc<News>,
    /// Of lists, where there are replicas.
    list_reads: Option<Arc<ListReads>>,
    /// Where other nodes can be heard, if there may be others.
    shared: Option<postgres::Target>,
    migrations: Migrations,
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.news.end();
    }
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
        let news = Arc::new(News::new(matches!(location, Location::Postgres { .. })));
        let mut list_reads = None;
        let (threads, shared) = match location {
            Location::File(path) => {
                (sqlite::start(path, migrations, (Arc::clone(&groups), &changes))?, None)
            }
            Location::Postgres { url, schema, connections, replicas } => {
                let target = postgres::Target::parse(url, schema, &changes, &news)?;
                let replicas = replicas.as_deref().map(|url| target.replicas(url)).transpose()?;
                list_reads = replicas.is_some().then(Arc::default);
                let of_lists = replicas.as_ref().zip(list_reads.as_ref());
                (postgres::start(&target, migrations, *connections, of_lists)?, Some(target))
            }
        };
        let inner = Inner { threads, groups, changes, news, list_reads, shared, migrations };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Listens to the other nodes on the database from now on, on a connection of its own. Who does
    /// not, such as a command, is heard all the same.
    pub fn listen(&self) -> Result<()> {
        self.inner.shared.as_ref().map_or(Ok(()), postgres::listen::start)
    }

    /// Tells the other nodes on the database something, within a moment and without a promise that
    /// it is heard. One line.
    pub fn tell(&self, topic: &'static str, text: &str) {
        self.inner.news.tell(topic, text);
    }

    /// Has `listener` called with what other nodes tell, on a thread that must not wait.
    pub fn on_told(&self, topic: &'static str, listener: impl Fn(&str) + Send + Sync + 'static) {
        self.inner.news.listen(topic, Arc::new(listener));
    }

    /// Has `listener` called after each transaction, of any node, that wrote to the table, which a
    /// migration announces. On a thread that must not wait.
    pub fn on_change(&self, table: &str, listener: impl Fn() + Send + Sync + 'static) {
        self.inner.changes.on_change(table, Arc::new(listener));
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

    /// [`Database::write`] for work that lets one transaction at a time pass by
    /// [`counter::lock`](crate::counter::lock) before anything else, and changes only what nobody
    /// else changes, such as the numbering of events. **It need not be run again because of those
    /// who write beside it, and they need not because of it**: each of its statements sees what was
    /// stored before that statement.
    pub async fn write_in_turn<T: Send + 'static>(
        &self,
        closure: impl Fn(&mut dyn Conn) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        answer(submit(&self.inner.threads.writes, job_in_turn(closure))?.await)
    }

    /// [`Database::write_in_turn`] for callers without an async runtime. Never call it from async
    /// code.
    pub fn write_in_turn_blocking<T: Send + 'static>(
        &self,
        closure: impl Fn(&mut dyn Conn) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        answer(submit(&self.inner.threads.writes, job_in_turn(closure))?.blocking_recv())
    }

    /// [`Database::write`] for a closure that may refuse: when it returns an inner error, nothing
    /// that it changed is stored, and the caller gets that error.
    pub async fn attempt<T: Send + 'static, E: Send + 'static>(
        &self,
        closure: impl Fn(&mut dyn Conn) -> Result<Result<T, E>> + Send + 'static,
    ) -> Result<Result<T, E>> {
        answer(submit(&self.inner.threads.writes, attempt(Isolation::Serialisable, closure))?.await)
    }

    /// [`Database::attempt`] for a closure that changes rows which most of its like change, such as
    /// the counters of a site. **While some lose races, all of them take turns** from the
    /// beginning, instead of doing most of their work in vain.
    pub async fn attempt_contended<T: Send + 'static, E: Send + 'static>(
        &self,
        closure: impl Fn(&mut dyn Conn) -> Result<Result<T, E>> + Send + 'static,
    ) -> Result<Result<T, E>> {
        answer(submit(&self.inner.threads.writes, attempt(Isolation::Contended, closure))?.await)
    }

    /// [`Database::attempt`] for a closure that reads nothing and only adds rows, none of which
    /// belongs to a row that somebody else may delete or close: **unique indexes and foreign keys
    /// alone say whether it may.** Then it never gets in the way of others who write, however few
    /// the pages are that all of them add to.
    pub async fn attempt_adding<T: Send + 'static, E: Send + 'static>(
        &self,
        closure: impl Fn(&mut dyn Conn) -> Result<Result<T, E>> + Send + 'static,
    ) -> Result<Result<T, E>> {
        answer(
            submit(&self.inner.threads.writes, attempt(Isolation::ReadCommitted, closure))?.await,
        )
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

    /// [`Database::read`] for what takes long and may be read from a replica, such as lists. They
    /// show everything that was acknowledged before, wherever they are read.
    pub async fn list<T: Send + 'static>(
        &self,
        closure: impl Fn(&mut dyn Conn) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let (job, _waiter) = read_job(closure);
        answer(submit(&self.inner.threads.lists, job)?.await)
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
        answer(
            submit(&self.inner.threads.writes, attempt(Isolation::Serialisable, closure))?
                .blocking_recv(),
        )
    }

    /// [`Database::read`] for callers without an async runtime. Never call it from async code.
    pub fn read_blocking<T: Send + 'static>(
        &self,
        closure: impl Fn(&mut dyn Conn) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let (job, _waiter) = read_job(closure);
        answer(submit(&self.inner.threads.reads, job)?.blocking_recv())
    }

    /// [`Database::list`] for callers without an async runtime. Never call it from async code.
    pub fn list_blocking<T: Send + 'static>(
        &self,
        closure: impl Fn(&mut dyn Conn) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let (job, _waiter) = read_job(closure);
        answer(submit(&self.inner.threads.lists, job)?.blocking_recv())
    }

    /// Counts the transactions that write to one of the tables, which migrations announce. Those of
    /// other nodes are counted when they are heard.
    pub fn watch(&self, tables: &[&str]) -> Watch {
        self.inner.changes.watch(tables)
    }

    pub(crate) fn migrations(&self) -> Migrations {
        self.inner.migrations
    }

    /// Whether the storage is a file that one server process has to itself.
    pub fn is_embedded(&self) -> bool {
        self.inner.shared.is_none()
    }

    /// Bytes that SQLite holds of the file in memory at most; none for a database server, which
    /// holds its pages itself.
    pub fn page_cache_bytes_max(&self) -> Option<u64> {
        self.is_embedded().then(sqlite::page_cache_bytes_max)
    }

    /// How many lists were read from replicas, if there are any, and how many from the primary.
    pub fn list_reads(&self) -> Option<(u64, u64)> {
        self.inner.list_reads.as_ref().map(|reads| reads.counts())
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
