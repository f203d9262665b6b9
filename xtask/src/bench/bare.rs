//! The bare loop: the least that a program must do to store the same onboardings as durably.
//!
//! It has no network, no parsing, no checks, no encryption and no log; rows are made beforehand.
//! What it stores goes through the product's own statements, so it cannot store less by mistake.
//! Events are numbered in batches as the server does it.

mod postgres;
mod sqlite;

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Result;
use db::{Location, outbox};

use self::postgres::PostgresLoop;
use self::sqlite::SqliteLoop;
use crate::processes;
use crate::rows::{EVENTS, Model, Onboarding};
use crate::statistics::{float, microseconds_each};

/// Events numbered in one transaction, as in the server.
const SEQUENCE_BATCH: usize = 2_000;
/// Rows made ahead; making them is not measured.
const CHUNK: u64 = 10_000;

/// A database and a loop that fills it.
#[derive(Debug)]
pub(crate) struct Bare {
    model: Model,
    engine: EngineLoop,
    stored: u64,
}

#[derive(Debug)]
enum EngineLoop {
    Sqlite(SqliteLoop),
    Postgres(Box<PostgresLoop>),
}

/// What storing took.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Taken {
    count: usize,
    elapsed: Duration,
    own_time: Duration,
}

impl Taken {
    pub(crate) fn rate(&self) -> f64 {
        float(self.count) / self.elapsed.as_secs_f64()
    }

    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Microseconds of this process's time for one onboarding.
    pub(crate) fn own_time_us(&self) -> f64 {
        microseconds_each(self.own_time, self.count)
    }
}

impl Bare {
    /// How many onboardings there are.
    pub(crate) fn stored(&self) -> u64 {
        self.stored
    }

    pub(crate) fn sqlite(model: Model, folder: &Path) -> Result<Self> {
        let engine = EngineLoop::Sqlite(SqliteLoop::create(&folder.join("bare.db"), &model)?);
        Ok(Self { model, engine, stored: 0 })
    }

    pub(crate) fn postgres(model: Model, location: &Location) -> Result<Self> {
        let engine = EngineLoop::Postgres(Box::new(PostgresLoop::create(location, &model)?));
        Ok(Self { model, engine, stored: 0 })
    }

    /// Stores onboardings until there are `total`, `width` at once: committed together on SQLite,
    /// on as many connections on PostgreSQL.
    pub(crate) fn fill_up(&mut self, total: u64, width: usize) -> Result<Taken> {
        let mut taken = Taken::default();
        while self.stored < total {
            let end = total.min(self.stored + CHUNK);
            let onboardings = self.model.copies(self.stored + 1..end + 1);
            let own_time = processes::own_time()?;
            let started = Instant::now();
            match &mut self.engine {
                EngineLoop::Sqlite(sqlite) => sqlite.store(&onboardings, width)?,
                EngineLoop::Postgres(postgres) => postgres.store(&onboardings, width)?,
            }
            taken.elapsed += started.elapsed();
            taken.own_time += processes::own_time()?.saturating_sub(own_time);
            taken.count += onboardings.len();
            self.stored = end;
        }
        Ok(taken)
    }
}

/// Onboardings whose events fill a batch.
const fn onboardings_per_batch() -> usize {
    SEQUENCE_BATCH / EVENTS
}

fn sequence(conn: &mut dyn db::Conn) -> types::Result<u64> {
    outbox::sequence(conn, i64::try_from(SEQUENCE_BATCH).unwrap_or(i64::MAX))
}

/// Runs a closure on a bare connection to a database that is there.
pub(crate) fn with_conn<T>(
    location: &Location,
    run: &mut dyn FnMut(&mut dyn db::Conn) -> Result<T>,
) -> Result<T> {
    match location {
        Location::File(path) => sqlite::with_conn(path, run),
        Location::Postgres { .. } => postgres::with_conn(location, run),
    }
}

fn refused(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> types::Error {
    types::Error::internal("the bare loop's database refused a statement").because(error)
}

/// A loop that fails has a bug; then the cause behind the public message matters.
pub(crate) fn with_cause<T>(result: types::Result<T>) -> Result<T> {
    result.map_err(|error| anyhow::anyhow!("{}", error.report()))
}

/// Inserts all rows of an onboarding and explains a failure.
fn insert(conn: &mut dyn db::Conn, onboarding: &Onboarding) -> Result<()> {
    with_cause(onboarding.insert(conn))
}
