//! The bare loop on SQLite: one connection with the server's durability, commits in groups.

use std::path::Path;

use anyhow::Result;
use db::{Conn, Engine, Location, Row, Sql, Val};
use rusqlite::{Connection, Statement, params_from_iter};

use super::{insert, onboardings_per_batch, refused, sequence, with_cause};
use crate::rows::{self, Model, Onboarding};

#[derive(Debug)]
pub(super) struct SqliteLoop {
    connection: Connection,
    unsequenced: usize,
}

impl SqliteLoop {
    pub(super) fn create(path: &Path, model: &Model) -> Result<Self> {
        rows::create_database(&Location::File(path.to_owned()), model)?;
        Ok(Self { connection: open(path)?, unsequenced: 0 })
    }

    pub(super) fn store(&mut self, onboardings: &[Onboarding], group: usize) -> Result<()> {
        let mut conn = BareConn { connection: &self.connection, prepared: Vec::new() };
        for onboardings in onboardings.chunks(group) {
            conn.control("BEGIN IMMEDIATE")?;
            for onboarding in onboardings {
                insert(&mut conn, onboarding)?;
            }
            self.unsequenced += onboardings.len();
            if self.unsequenced >= onboardings_per_batch() {
                with_cause(sequence(&mut conn))?;
                self.unsequenced -= onboardings_per_batch();
            }
            conn.control("COMMIT")?;
        }
        Ok(())
    }
}

/// A connection that is set up as the server's writer has it.
fn open(path: &Path) -> Result<Connection> {
    let connection = Connection::open(path)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "cache_size", -16_000)?;
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    Ok(connection)
}

/// Runs a closure on a connection to a database that is there.
pub(super) fn with_conn<T>(
    path: &Path,
    run: &mut dyn FnMut(&mut dyn Conn) -> Result<T>,
) -> Result<T> {
    let connection = open(path)?;
    run(&mut BareConn { connection: &connection, prepared: Vec::new() })
}

struct BareConn<'connection> {
    connection: &'connection Connection,
    prepared: Vec<(usize, Statement<'connection>)>,
}

impl<'connection> BareConn<'connection> {
    fn control(&mut self, text: &'static str) -> Result<()> {
        self.statement(text)?.execute([])?;
        Ok(())
    }

    /// Statements are told apart by where their text is, which is the cheapest way there is.
    fn statement(&mut self, text: &str) -> rusqlite::Result<&mut Statement<'connection>> {
        let address = text.as_ptr().addr();
        let found = self.prepared.iter().position(|(known, _)| *known == address);
        if found.is_none() {
            self.prepared.push((address, self.connection.prepare(text)?));
        }
        let index = found.unwrap_or(self.prepared.len() - 1);
        let (_, statement) = self.prepared.get_mut(index).expect("it was found or just added");
        Ok(statement)
    }
}

impl Conn for BareConn<'_> {
    fn engine(&self) -> Engine {
        Engine::Sqlite
    }

    fn execute(&mut self, sql: &Sql, params: &[Val<'_>]) -> types::Result<u64> {
        let statement = self.statement(sql.text).map_err(refused)?;
        let changed = statement.execute(params_from_iter(params)).map_err(refused)?;
        u64::try_from(changed).map_err(refused)
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
        let statement = self.statement(text).map_err(refused)?;
        let mut rows = statement.query(params_from_iter(params)).map_err(refused)?;
        while let Some(row) = rows.next().map_err(refused)? {
            each(&BareRow(row))?;
        }
        Ok(())
    }

    fn script(&mut self, text: &str) -> types::Result<()> {
        self.connection.execute_batch(text).map_err(refused)
    }

    fn prepare(&mut self, sql: &Sql) -> types::Result<()> {
        self.statement(sql.text).map(drop).map_err(refused)
    }

    fn together(
        &mut self,
        work: &mut dyn FnMut(&mut dyn Conn) -> types::Result<bool>,
    ) -> types::Result<Option<usize>> {
        work(self).map(|_| None)
    }
}

struct BareRow<'row>(&'row rusqlite::Row<'row>);

impl Row for BareRow<'_> {
    fn int(&self, index: usize) -> types::Result<Option<i64>> {
        self.0.get(index).map_err(refused)
    }

    fn text(&self, index: usize) -> types::Result<Option<String>> {
        self.0.get(index).map_err(refused)
    }

    fn bytes(&self, index: usize) -> types::Result<Option<Vec<u8>>> {
        self.0.get(index).map_err(refused)
    }
}
