//! The bare loop on PostgreSQL: a transaction per onboarding, on many connections at once.
//!
//! Transactions have the engine's usual isolation, which is less work than the server's
//! serialisable ones: the limit is not lowered by what the server chose to be safe.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use db::{Conn, Engine, Location, Row, Sql, Val, outbox};
use postgres::fallible_iterator::FallibleIterator as _;
use postgres::types::ToSql;
use postgres::{Client, NoTls, Statement};

use super::{insert, refused, sequence, with_cause};
use crate::rows::{self, Model, Onboarding};

const CONNECTIONS_MAX: usize = 64;
/// As long as the server lets events wait for their numbers.
const SEQUENCE_PAUSE: Duration = Duration::from_millis(200);

pub(super) struct PostgresLoop {
    writers: Vec<BareConn>,
    sequencer: BareConn,
}

impl std::fmt::Debug for PostgresLoop {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("PostgresLoop")
    }
}

impl PostgresLoop {
    pub(super) fn create(location: &Location, model: &Model) -> Result<Self> {
        rows::create_database(location, model)?;
        let connect = || BareConn::connect(location);
        let writers = (0..CONNECTIONS_MAX).map(|_| connect()).collect::<Result<_>>()?;
        Ok(Self { writers, sequencer: connect()? })
    }

    pub(super) fn store(&mut self, onboardings: &[Onboarding], connections: usize) -> Result<()> {
        let (next, all_stored) = (AtomicUsize::new(0), AtomicBool::new(false));
        let sequencer = &mut self.sequencer;
        let writers = &mut self.writers;
        thread::scope(|scope| {
            let sequencing = scope.spawn(|| sequence_until(sequencer, &all_stored));
            let start = |writer| scope.spawn(|| store_share(writer, onboardings, &next));
            let writing: Vec<_> = writers.iter_mut().take(connections).map(start).collect();
            let ended: Vec<Result<()>> = writing
                .into_iter()
                .map(|thread| thread.join().unwrap_or_else(|_| bail!("a writer panicked")))
                .collect();
            all_stored.store(true, Ordering::Relaxed);
            sequencing.thread().unpark();
            sequencing.join().unwrap_or_else(|_| bail!("the sequencer panicked"))?;
            ended.into_iter().collect()
        })
    }
}

fn store_share(conn: &mut BareConn, onboardings: &[Onboarding], next: &AtomicUsize) -> Result<()> {
    while let Some(onboarding) = onboardings.get(next.fetch_add(1, Ordering::Relaxed)) {
        conn.client.batch_execute("BEGIN")?;
        insert(conn, onboarding)?;
        conn.client.batch_execute("COMMIT")?;
    }
    Ok(())
}

fn sequence_until(conn: &mut BareConn, all_stored: &AtomicBool) -> Result<()> {
    loop {
        // Read before the work: what was stored after the last look is then looked at again.
        let is_last = all_stored.load(Ordering::Relaxed);
        while with_cause(outbox::has_unsequenced(conn))? {
            conn.client.batch_execute("BEGIN")?;
            with_cause(sequence(conn))?;
            conn.client.batch_execute("COMMIT")?;
        }
        if is_last {
            return Ok(());
        }
        thread::park_timeout(SEQUENCE_PAUSE);
    }
}

/// Runs a closure on a connection to a database that is there.
pub(super) fn with_conn<T>(
    location: &Location,
    run: &mut dyn FnMut(&mut dyn Conn) -> Result<T>,
) -> Result<T> {
    run(&mut BareConn::connect(location)?)
}

struct BareConn {
    client: Client,
    prepared: Vec<(usize, Statement)>,
}

impl BareConn {
    fn connect(location: &Location) -> Result<Self> {
        let Location::Postgres { url, schema, .. } = location else {
            bail!("not a PostgreSQL database: {location:?}");
        };
        let mut client = Client::connect(url, NoTls).context("cannot connect to PostgreSQL")?;
        client.batch_execute(&format!("SET search_path TO {schema}"))?;
        Ok(Self { client, prepared: Vec::new() })
    }

    /// Statements are told apart by where their text is, which is the cheapest way there is.
    fn statement(&mut self, text: &str) -> types::Result<Statement> {
        let address = text.as_ptr().addr();
        let found = self.prepared.iter().find(|(known, _)| *known == address);
        if let Some((_, statement)) = found {
            return Ok(statement.clone());
        }
        let statement = self.client.prepare(text).map_err(refused)?;
        self.prepared.push((address, statement.clone()));
        Ok(statement)
    }
}

impl Conn for BareConn {
    fn engine(&self) -> Engine {
        Engine::Postgres
    }

    fn execute(&mut self, sql: &Sql, params: &[Val<'_>]) -> types::Result<u64> {
        let statement = self.statement(sql.text)?;
        let params: Vec<_> = params.iter().map(|value| -> &(dyn ToSql + Sync) { value }).collect();
        self.client.execute(&statement, &params).map_err(refused)
    }

    fn query(
        &mut self,
        sql: &Sql,
        params: &[Val<'_>],
        each: &mut dyn FnMut(&dyn Row) -> types::Result<()>,
    ) -> types::Result<()> {
        self.query_text(sql.text, params, each)
    }

    fn query_text(
        &mut self,
        text: &str,
        params: &[Val<'_>],
        each: &mut dyn FnMut(&dyn Row) -> types::Result<()>,
    ) -> types::Result<()> {
        let statement = self.statement(text)?;
        let rows = self.client.query_raw(&statement, params.iter().copied()).map_err(refused)?;
        let mut rows = rows.map_err(refused);
        while let Some(row) = rows.next()? {
            each(&BareRow(&row))?;
        }
        Ok(())
    }

    fn script(&mut self, text: &str) -> types::Result<()> {
        self.client.batch_execute(text).map_err(refused)
    }

    fn prepare(&mut self, sql: &Sql) -> types::Result<()> {
        self.statement(sql.text).map(drop)
    }

    fn together(
        &mut self,
        work: &mut dyn FnMut(&mut dyn Conn) -> types::Result<bool>,
    ) -> types::Result<Option<usize>> {
        work(self).map(|_| None)
    }
}

struct BareRow<'row>(&'row postgres::Row);

impl Row for BareRow<'_> {
    fn int(&self, index: usize) -> types::Result<Option<i64>> {
        // Literals such as the 1 of a look for pending events are of the smaller type.
        let small = self.0.try_get::<_, Option<i32>>(index).map(|value| value.map(i64::from));
        small.or_else(|_| self.0.try_get(index)).map_err(refused)
    }

    fn text(&self, index: usize) -> types::Result<Option<String>> {
        self.0.try_get(index).map_err(refused)
    }

    fn bytes(&self, index: usize) -> types::Result<Option<Vec<u8>>> {
        self.0.try_get(index).map_err(refused)
    }
}
