//! Changes that go to the server together, so that a transaction of many costs one round trip.
//!
//! **Whoever makes them is told of each that it changed one row, before that is known.** When they
//! are sent, the first that did not is the one that counts, whatever became of those behind it; the
//! transaction must then be given up.

use types::{Error, Result};

use crate::conn::check_params;
use crate::{Conn, Engine, Row, Sql, Val};

/// What waits is sent when it is this much, so that memory is bounded.
const WAITING_MAX: usize = 64;

/// A connection that can have several changes on their way.
pub(super) trait Together: Conn {
    /// Runs changes with one round trip, and returns how many rows each changed.
    fn execute_together(&mut self, changes: Vec<(&Sql, Vec<Val<'_>>)>) -> Result<Vec<Result<u64>>>;
}

struct Pipeline<'a> {
    conn: &'a mut dyn Together,
    waiting: Vec<(Sql, Vec<Owned>)>,
    /// How many were sent.
    sent: usize,
    unchanged: Option<usize>,
}

/// A parameter that outlives its maker.
enum Owned {
    Null,
    Int(i64),
    Text(String),
    Bytes(Vec<u8>),
}

impl Owned {
    fn of(value: &Val<'_>) -> Self {
        match *value {
            Val::Null => Self::Null,
            Val::Int(value) => Self::Int(value),
            Val::Text(value) => Self::Text(value.to_owned()),
            Val::Bytes(value) => Self::Bytes(value.to_owned()),
        }
    }

    fn value(&self) -> Val<'_> {
        match self {
            Self::Null => Val::Null,
            Self::Int(value) => Val::Int(*value),
            Self::Text(value) => Val::Text(value),
            Self::Bytes(value) => Val::Bytes(value),
        }
    }
}

/// Does `work`, which says whether what it did stays, and returns which of its changes did not
/// change one row, if any.
pub(super) fn run(
    conn: &mut dyn Together,
    work: &mut dyn FnMut(&mut dyn Conn) -> Result<bool>,
) -> Result<Option<usize>> {
    let mut pipeline = Pipeline { conn, waiting: Vec::new(), sent: 0, unchanged: None };
    let ended = match work(&mut pipeline) {
        Ok(true) => pipeline.send(),
        Ok(false) => Ok(()),
        Err(error) => Err(error),
    };
    match pipeline.unchanged {
        None => ended.map(|()| None),
        unchanged => Ok(unchanged),
    }
}

impl Pipeline<'_> {
    fn send(&mut self) -> Result<()> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        let waiting = std::mem::take(&mut self.waiting);
        let statements: Vec<(&Sql, Vec<Val<'_>>)> = waiting
            .iter()
            .map(|(sql, params)| (sql, params.iter().map(Owned::value).collect()))
            .collect();
        for changed in self.conn.execute_together(statements)? {
            match changed {
                Ok(1) => self.sent += 1,
                Ok(_) => {
                    self.unchanged = Some(self.sent);
                    return Err(Error::conflict("a change changed nothing"));
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

impl Conn for Pipeline<'_> {
    fn engine(&self) -> Engine {
        Engine::Postgres
    }

    fn execute(&mut self, sql: &Sql, params: &[Val<'_>]) -> Result<u64> {
        check_params(params)?;
        if self.waiting.len() >= WAITING_MAX {
            self.send()?;
        }
        let sql = Sql { name: sql.name, text: sql.text };
        self.waiting.push((sql, params.iter().map(Owned::of).collect()));
        Ok(1)
    }

    fn query(
        &mut self,
        sql: &Sql,
        params: &[Val<'_>],
        each: &mut dyn FnMut(&dyn Row) -> Result<()>,
    ) -> Result<()> {
        self.send()?;
        self.conn.query(sql, params, each)
    }

    fn script(&mut self, text: &str) -> Result<()> {
        self.send()?;
        self.conn.script(text)
    }

    fn query_text(
        &mut self,
        text: &str,
        params: &[Val<'_>],
        each: &mut dyn FnMut(&dyn Row) -> Result<()>,
    ) -> Result<()> {
        self.send()?;
        self.conn.query_text(text, params, each)
    }

    fn prepare(&mut self, sql: &Sql) -> Result<()> {
        self.conn.prepare(sql)
    }

    fn together(
        &mut self,
        work: &mut dyn FnMut(&mut dyn Conn) -> Result<bool>,
    ) -> Result<Option<usize>> {
        self.send()?;
        run(self.conn, work)
    }
}
