//! One connection: its prepared statements, how its statements fail, and how they are cancelled.
//!
//! **Statements are prepared per connection and end with it**, so that nothing prepared outlives a
//! failover.

use std::collections::HashMap;
use std::error::Error as StdError;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use bytes::BytesMut;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::{IsNull, ToSql, Type, to_sql_checked};
use tokio_postgres::{CancelToken, NoTls, Statement};
use tokio_postgres_rustls::MakeRustlsConnect;
use types::{Error, Result};

use super::failure::{failed, is_lost};
use super::pipeline::{self, Together};
use super::session::{Session, runtime};
use crate::caller::{Interrupt, check_interest, is_abandoned};
use crate::changes::Written;
use crate::conn::check_params;
use crate::news::News;
use crate::{Conn, Engine, Row, Sql, Val};

/// Statements that a connection keeps prepared. Lists with filters have more texts than the product
/// has statements.
const PREPARED_MAX: usize = 512;

/// How long the server may take to act on a cancellation.
const CANCEL_ARRIVES_WITHIN: Duration = Duration::from_secs(1);

/// Cancels what a connection is running.
pub(super) struct Cancel {
    pub(super) token: CancelToken,
    pub(super) tls: Option<MakeRustlsConnect>,
    /// When it was sent: the server may act on it when the next transaction has already begun.
    pub(super) sent: Mutex<Option<Instant>>,
}

impl Cancel {
    /// Later the server has acted on it, or never will. Several may be on their way at once.
    fn was_sent_just_now(&self) -> bool {
        let sent = *self.sent.lock().unwrap_or_else(PoisonError::into_inner);
        sent.is_some_and(|sent| sent.elapsed() < CANCEL_ARRIVES_WITHIN)
    }
}

impl Interrupt for Cancel {
    /// Beside the caller, since it takes a connection of its own.
    fn interrupt(&self) {
        *self.sent.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
        let (token, tls) = (self.token.clone(), self.tls.clone());
        let cancel = async move {
            match tls {
                Some(tls) => token.cancel_query(tls).await,
                None => token.cancel_query(NoTls).await,
            }
        };
        // What cannot be cancelled ends by its own time limit.
        let _ = spawn("postgres-cancel", move || {
            let _ = runtime().map(|runtime| runtime.block_on(cancel));
        });
    }
}

pub(super) fn spawn(name: &str, run: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>> {
    thread::Builder::new()
        .name(name.to_owned())
        .spawn(run)
        .map_err(|error| Error::unavailable("cannot start a database thread").because(error))
}

pub(super) struct PgConn {
    pub(super) session: Session,
    /// What goes to the server before the next query, with it.
    pub(super) first: Option<&'static str>,
    pub(super) cancel: Arc<Cancel>,
    pub(super) written: Written,
    /// By text, [`PREPARED_MAX`] at most.
    pub(super) prepared: HashMap<String, Statement>,
    /// Set when any statement of this transaction failed; the server then undoes all of it.
    pub(super) failed: bool,
    /// Set when a statement of this transaction failed because the connection did.
    pub(super) lost: bool,
    /// Set when the server reported a serialisation failure or a deadlock in this transaction.
    pub(super) lost_race: bool,
}

/// How a commit ended that the server has answered.
pub(super) enum Commit {
    Durable,
    /// It stands on this server, which stopped waiting for its standby.
    NotOnStandby,
}

impl PgConn {
    /// Commits, and tells other nodes which tables were written to that they remember things of.
    /// **The server only warns when somebody made it stop waiting for a synchronous standby**; to
    /// acknowledge that would be to promise what a failover breaks.
    pub(super) fn commit(&mut self, channel: &str, news: &News) -> Result<Commit> {
        let mut tables = self.written.announced().peekable();
        let text = if tables.peek().is_some() {
            // Names of tables, and a number: nothing that needs quoting.
            let piece = news.piece_of_tables(tables);
            format!("SELECT pg_notify('{channel}', '{piece}'); COMMIT")
        } else {
            drop(tables);
            String::from("COMMIT")
        };
        let warned = self.session.script_warned(&text).map_err(|error| self.failed(error))?;
        Ok(if warned { Commit::NotOnStandby } else { Commit::Durable })
    }

    /// Tells other nodes.
    pub(super) fn notify(&mut self, channel: &str, piece: &str) -> Result<()> {
        let (channel, piece) = (Val::Text(channel), Val::Text(piece));
        self.query_text("SELECT pg_notify($1, $2)", &[channel, piece], &mut |_| Ok(()))
    }

    /// The first column of the first row, as text, outside of any transaction.
    pub(super) fn value(&mut self, text: &str) -> Result<Option<String>> {
        self.session.value(text).map_err(failed)
    }

    /// The same; nothing if it takes longer, after which the connection cannot be used.
    pub(super) fn value_within(&mut self, text: &str, at_most: Duration) -> Result<Option<String>> {
        self.session.value_within(text, at_most).map_err(failed)
    }

    /// The process of the server that answers.
    pub(super) fn process(&mut self) -> Result<String> {
        let process = self.value("SELECT pg_backend_pid()")?;
        process.ok_or_else(|| Error::internal("the storage does not tell its process"))
    }

    fn statement(&mut self, text: &str) -> Result<Statement> {
        if let Some(statement) = self.prepared.get(text) {
            return Ok(statement.clone());
        }
        if self.prepared.len() >= PREPARED_MAX {
            // Starting over is rare, and cheaper than keeping account of what is used most.
            self.prepared.clear();
        }
        let statement = self.session.prepare(text).map_err(|error| self.failed(error))?;
        self.prepared.insert(text.to_owned(), statement.clone());
        Ok(statement)
    }

    fn failed(&mut self, error: tokio_postgres::Error) -> Error {
        let lost = [
            SqlState::T_R_SERIALIZATION_FAILURE,
            SqlState::T_R_DEADLOCK_DETECTED,
            SqlState::LOCK_NOT_AVAILABLE,
        ];
        // Meant for a read before this one, whose caller had left: this one is run again.
        let is_cancelled = error.code() == Some(&SqlState::QUERY_CANCELED)
            && self.cancel.was_sent_just_now()
            && !is_abandoned();
        self.lost_race |= is_cancelled || error.code().is_some_and(|code| lost.contains(code));
        self.failed = true;
        self.lost |= is_lost(&error);
        failed(error)
    }
}

impl Conn for PgConn {
    fn engine(&self) -> Engine {
        Engine::Postgres
    }

    fn execute(&mut self, sql: &Sql, params: &[Val<'_>]) -> Result<u64> {
        check_params(params)?;
        let changed = self.execute_together(vec![(sql, params.to_vec())])?;
        changed.into_iter().next().unwrap_or(Ok(0))
    }

    fn query(
        &mut self,
        sql: &Sql,
        params: &[Val<'_>],
        each: &mut dyn FnMut(&dyn Row) -> Result<()>,
    ) -> Result<()> {
        self.query_text(sql.text, params, each)
    }

    fn query_text(
        &mut self,
        text: &str,
        params: &[Val<'_>],
        each: &mut dyn FnMut(&dyn Row) -> Result<()>,
    ) -> Result<()> {
        check_params(params)?;
        check_interest()?;
        self.written.note(text);
        let statement = self.statement(text)?;
        let first = self.first.take();
        let streamed = stream(&mut self.session, (first, &statement, params), each);
        streamed.map_err(|error| self.failed(error))?
    }

    fn script(&mut self, text: &str) -> Result<()> {
        let ended = match self.first.take() {
            Some(first) => self.session.script(&format!("{first}; {text}")),
            None => self.session.script(text),
        };
        ended.map_err(|error| self.failed(error))
    }

    fn prepare(&mut self, sql: &Sql) -> Result<()> {
        self.statement(sql.text).map(drop)
    }

    fn together(
        &mut self,
        work: &mut dyn FnMut(&mut dyn Conn) -> Result<bool>,
    ) -> Result<Option<usize>> {
        pipeline::run(self, work)
    }
}

impl Together for PgConn {
    fn execute_together(&mut self, changes: Vec<(&Sql, Vec<Val<'_>>)>) -> Result<Vec<Result<u64>>> {
        if let Some(first) = self.first.take() {
            // Who was to read only is refused; outside of a transaction nobody would be.
            self.session.script(first).map_err(|error| self.failed(error))?;
        }
        let mut statements = Vec::with_capacity(changes.len());
        for (sql, params) in changes {
            self.written.note(sql.text);
            statements.push((self.statement(sql.text)?, params));
        }
        let ended = self.session.execute(&statements).map_err(|error| self.failed(error))?;
        let ended = ended.into_iter().map(|one| one.map_err(|error| self.failed(error)));
        Ok(ended.collect())
    }
}

/// Hands rows on as they arrive, so that a large table needs no memory. The outer result is the
/// server's, the inner one the reader's.
fn stream(
    session: &mut Session,
    (first, statement, params): (Option<&str>, &Statement, &[Val<'_>]),
    each: &mut dyn FnMut(&dyn Row) -> Result<()>,
) -> Result<Result<()>, tokio_postgres::Error> {
    let mut rows = session.query(first, statement, params)?;
    while let Some(row) = session.next(&mut rows)? {
        if let Err(error) = check_interest().and_then(|()| each(&PgRow(&row))) {
            return Ok(Err(error));
        }
    }
    Ok(Ok(()))
}

impl ToSql for Val<'_> {
    fn to_sql(
        &self,
        ty: &Type,
        out: &mut BytesMut,
    ) -> std::result::Result<IsNull, Box<dyn StdError + Sync + Send>> {
        match *self {
            Self::Null => Ok(IsNull::Yes),
            Self::Int(value) if *ty == Type::INT4 => i32::try_from(value)?.to_sql(ty, out),
            Self::Int(value) => value.to_sql(ty, out),
            Self::Text(value) => value.to_sql(ty, out),
            Self::Bytes(value) => value.to_sql(ty, out),
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

struct PgRow<'a>(&'a tokio_postgres::Row);

impl Row for PgRow<'_> {
    fn int(&self, index: usize) -> Result<Option<i64>> {
        // Literals such as the 1 in `SELECT 1` are of the smaller type.
        if self.0.columns().get(index).is_some_and(|column| *column.type_() == Type::INT4) {
            let value: Option<i32> = self.0.try_get(index).map_err(failed)?;
            return Ok(value.map(i64::from));
        }
        self.0.try_get(index).map_err(failed)
    }

    fn text(&self, index: usize) -> Result<Option<String>> {
        self.0.try_get(index).map_err(failed)
    }

    fn look_at_text(&self, index: usize, look: &mut dyn FnMut(&str)) -> Result<()> {
        if let Some(text) = self.0.try_get(index).map_err(failed)? {
            look(text);
        }
        Ok(())
    }

    fn bytes(&self, index: usize) -> Result<Option<Vec<u8>>> {
        self.0.try_get(index).map_err(failed)
    }
}
