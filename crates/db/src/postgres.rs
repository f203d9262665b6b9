//! PostgreSQL: a thread per connection, all taking from one queue.
//!
//! Every write is a serialisable transaction. **When two of them get in each other's way, the loser
//! is run again here**, after a random pause, and if it keeps losing, alone: then it cannot lose.
//! Several server processes may share one database.

use std::collections::HashMap;
use std::error::Error as StdError;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use bytes::BytesMut;
use postgres::config::SslMode;
use postgres::error::SqlState;
use postgres::fallible_iterator::FallibleIterator as _;
use postgres::types::{IsNull, ToSql, Type, to_sql_checked};
use postgres::{CancelToken, Client, Config, NoTls, Statement};
use rustls::ClientConfig;
use rustls_platform_verifier::ConfigVerifierExt as _;
use tokio_postgres_rustls::MakeRustlsConnect;
use types::{Error, Kind, Result};

use crate::caller::{Interrupt, check_interest, is_abandoned};
use crate::changes::{Changes, Written};
use crate::conn::check_params;
use crate::job::Job;
use crate::queue::Queue;
use crate::threads::Threads;
use crate::{Conn, Engine, Migrations, Row, Sql, Val};

const ATTEMPTS_MAX: u32 = 20;
/// After so many attempts beside others a write runs alone.
const ATTEMPTS_BESIDE_OTHERS: u32 = 4;
const RETRY_PAUSE_STEP: Duration = Duration::from_millis(1);
const RETRY_DOUBLINGS_MAX: u32 = 4;
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
const SILENCE_MAX: Duration = Duration::from_secs(10);
/// Statements that a connection keeps prepared. Lists with filters have more texts than the product
/// has statements.
const PREPARED_MAX: usize = 512;
/// Any number will do as long as nobody else on the server takes it: "boardwlk" in ASCII.
const MIGRATION_LOCK: i64 = 0x626f_6172_6477_6c6b;

/// Where the database is and how many connections may write at once.
#[derive(Clone)]
pub(crate) struct Target {
    config: Config,
    schema: String,
    changes: Arc<Changes>,
}

impl Target {
    pub(crate) fn parse(url: &str, schema: &str, changes: &Arc<Changes>) -> Result<Self> {
        let mut config: Config = url.parse().map_err(|error: postgres::Error| {
            Error::invalid("the database URL cannot be read; use postgres://user@host/name")
                .because(error)
        })?;
        config.connect_timeout(CONNECT_TIMEOUT);
        config.application_name("boardwalk");
        // A connection that has gone silent shall not hold its thread for hours.
        config.tcp_user_timeout(SILENCE_MAX);
        config.keepalives_idle(SILENCE_MAX);
        config.keepalives_interval(SILENCE_MAX / 3);
        config.keepalives_retries(3);
        Ok(Self { config, schema: schema.to_owned(), changes: Arc::clone(changes) })
    }

    fn connect(&self) -> Result<PgConn> {
        let tls = self.tls()?.map(MakeRustlsConnect::new);
        let connected = match tls.clone() {
            Some(tls) => self.config.connect(tls),
            None => self.config.connect(NoTls),
        };
        let mut client = connected.map_err(|error| {
            Error::unavailable("cannot connect to the PostgreSQL database").because(error)
        })?;
        client
            .batch_execute(&format!(
                "SET search_path TO {}; SET statement_timeout TO '30s'",
                self.schema
            ))
            .map_err(failed)?;
        let token = client.cancel_token();
        Ok(PgConn {
            cancel: Arc::new(Cancel { token, tls, sent: Mutex::default() }),
            client,
            prepared: HashMap::new(),
            written: Written::new(&self.changes),
            failed: false,
            lost_race: false,
        })
    }
}

impl Target {
    /// How to speak TLS, unless the URL forbids it. A machine without certificates can still reach
    /// a database that does not insist on TLS.
    fn tls(&self) -> Result<Option<ClientConfig>> {
        let mode = self.config.get_ssl_mode();
        if mode == SslMode::Disable {
            return Ok(None);
        }
        match ClientConfig::with_platform_verifier() {
            Ok(tls) => Ok(Some(tls)),
            Err(_) if mode == SslMode::Prefer => Ok(None),
            Err(error) => {
                let message = "cannot read the system's TLS certificates";
                Err(Error::invalid(message).because(error))
            }
        }
    }
}

/// Connects, brings the schema up to date and starts the threads.
pub(crate) fn start(target: &Target, migrations: Migrations, writers: usize) -> Result<Threads> {
    migrate(target, migrations)?;
    let mut threads = Threads::new(writers);
    for _ in 0..writers {
        let (target, queue) = (target.clone(), Arc::clone(&threads.writes));
        let write = move || serve(&target, &queue, Mode::Write);
        threads.writers.push(spawn("postgres-writer", write)?);
    }
    for _ in 0..crate::READERS {
        let (target, queue) = (target.clone(), Arc::clone(&threads.reads));
        let read = move || serve(&target, &queue, Mode::Read);
        threads.readers.push(spawn("postgres-reader", read)?);
    }
    Ok(threads)
}

fn migrate(target: &Target, migrations: Migrations) -> Result<()> {
    let mut conn = target.connect()?;
    conn.script("BEGIN")?;
    // Two servers that start at once must not migrate at once.
    conn.script(&format!("SELECT pg_advisory_xact_lock({MIGRATION_LOCK})"))?;
    conn.script(&format!("CREATE SCHEMA IF NOT EXISTS {}", target.schema))?;
    crate::migrate::run(&mut conn, migrations)?;
    conn.script("COMMIT")
}

fn spawn(name: &str, run: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>> {
    thread::Builder::new()
        .name(name.to_owned())
        .spawn(run)
        .map_err(|error| Error::unavailable("cannot start a database thread").because(error))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Read,
    Write,
}

impl Mode {
    /// Writes share a lock on a table that is otherwise left alone, so that one of them can keep
    /// the others out. Unlike an advisory lock it is waited for before the snapshot is taken.
    const fn begin(self, attempt: u32) -> &'static str {
        match self {
            Self::Read => "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
            Self::Write if attempt <= ATTEMPTS_BESIDE_OTHERS => {
                "BEGIN ISOLATION LEVEL SERIALIZABLE;
                 LOCK TABLE schema_migrations IN ROW EXCLUSIVE MODE"
            }
            Self::Write => {
                "BEGIN ISOLATION LEVEL SERIALIZABLE;
                 LOCK TABLE schema_migrations IN SHARE ROW EXCLUSIVE MODE"
            }
        }
    }
}

/// A thread's life: take a job, run it, answer; connect again when the connection is gone.
fn serve(target: &Target, queue: &Queue, mode: Mode) {
    let mut connection: Option<PgConn> = None;
    while let Some((mut job, turn)) = queue.pop() {
        let ended = transact(target, &mut connection, job.as_mut(), mode);
        if let Err(error) = &ended {
            tracing::error!(error = %error.report(), "database transaction failed");
        }
        // Who is answered finds their turn over.
        drop(turn);
        job.finish(ended);
    }
}

fn transact(
    target: &Target,
    connection: &mut Option<PgConn>,
    job: &mut dyn Job,
    mode: Mode,
) -> Result<()> {
    for attempt in 1..=ATTEMPTS_MAX {
        let (conn, fresh) = match connection {
            Some(conn) if !conn.client.is_closed() => (conn, false),
            _ => (connection.insert(target.connect()?), true),
        };
        match attempt_once(conn, job, mode, attempt) {
            Attempt::Ended(Ok(())) => return Ok(()),
            Attempt::Ended(Err(error)) => {
                *connection = None;
                return Err(error);
            }
            Attempt::NotBegun(error) => {
                *connection = None;
                if fresh {
                    return Err(error);
                }
            }
            Attempt::LostRace => thread::sleep(retry_pause(attempt)),
        }
    }
    Err(Error::unavailable("the storage is too busy; try again"))
}

/// Spreads the losers of a race over a time that doubles with each attempt.
fn retry_pause(attempt: u32) -> Duration {
    let longest = RETRY_PAUSE_STEP * (1 << attempt.min(RETRY_DOUBLINGS_MAX));
    // A new hasher is seeded at random, which is random enough here.
    let noise = RandomState::new().build_hasher().finish();
    let share = u32::try_from(noise % 1024).unwrap_or(0);
    longest * share / 1024
}

enum Attempt {
    Ended(Result<()>),
    NotBegun(Error),
    LostRace,
}

fn attempt_once(conn: &mut PgConn, job: &mut dyn Job, mode: Mode, attempt: u32) -> Attempt {
    (conn.failed, conn.lost_race) = (false, false);
    if let Err(error) = conn.script(mode.begin(attempt)) {
        // Nothing has run yet, so a connection that died while idle is no reason to fail.
        return Attempt::NotBegun(error);
    }
    if let Some(interest) = job.interest() {
        let cancel: Arc<dyn Interrupt> = Arc::<Cancel>::clone(&conn.cancel);
        interest.set_interrupt(Some(cancel));
    }
    let keep = job.run(conn);
    if let Some(interest) = job.interest() {
        interest.set_interrupt(None);
    }
    if conn.lost_race {
        let _ = conn.script("ROLLBACK");
        return Attempt::LostRace;
    }
    if keep && conn.failed && mode == Mode::Write {
        // The server would answer the commit with a silent rollback.
        return Attempt::Ended(conn.script("ROLLBACK").and_then(|()| {
            Err(Error::internal("a change was not stored, since a part of it had failed"))
        }));
    }
    let end = if keep || mode == Mode::Read { "COMMIT" } else { "ROLLBACK" };
    let ended = conn.script(end);
    conn.written.publish();
    match ended {
        Err(_) if conn.lost_race => Attempt::LostRace,
        // A server that goes on answering has refused; one that is gone may have stored it before.
        Err(error) if keep && mode == Mode::Write && conn.script("ROLLBACK").is_err() => {
            let message = "the connection to the storage was lost while a change was being stored";
            Attempt::Ended(Err(Error::new(Kind::Uncertain, message).because(error)))
        }
        ended => Attempt::Ended(ended),
    }
}

/// How long the server may take to act on a cancellation.
const CANCEL_ARRIVES_WITHIN: Duration = Duration::from_secs(1);

/// Cancels what a connection is running.
struct Cancel {
    token: CancelToken,
    tls: Option<MakeRustlsConnect>,
    /// When it was sent: the server may act on it when the next transaction has already begun.
    sent: Mutex<Option<Instant>>,
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
        let cancel = move || match tls {
            Some(tls) => token.cancel_query(tls),
            None => token.cancel_query(NoTls),
        };
        // What cannot be cancelled ends by its own time limit.
        let _ = spawn("postgres-cancel", move || drop(cancel()));
    }
}

struct PgConn {
    client: Client,
    cancel: Arc<Cancel>,
    written: Written,
    /// By text, [`PREPARED_MAX`] at most.
    prepared: HashMap<String, Statement>,
    /// Set when any statement of this transaction failed; the server then undoes all of it.
    failed: bool,
    /// Set when the server reported a serialisation failure or a deadlock in this transaction.
    lost_race: bool,
}

impl PgConn {
    fn statement(&mut self, text: &str) -> Result<Statement> {
        if let Some(statement) = self.prepared.get(text) {
            return Ok(statement.clone());
        }
        if self.prepared.len() >= PREPARED_MAX {
            // Starting over is rare, and cheaper than keeping account of what is used most.
            self.prepared.clear();
        }
        let statement = self.client.prepare(text).map_err(|error| self.failed(error))?;
        self.prepared.insert(text.to_owned(), statement.clone());
        Ok(statement)
    }

    fn failed(&mut self, error: postgres::Error) -> Error {
        let lost = [SqlState::T_R_SERIALIZATION_FAILURE, SqlState::T_R_DEADLOCK_DETECTED];
        // Meant for a read before this one, whose caller had left: this one is run again.
        let is_cancelled = error.code() == Some(&SqlState::QUERY_CANCELED)
            && self.cancel.was_sent_just_now()
            && !is_abandoned();
        self.lost_race |= is_cancelled || error.code().is_some_and(|code| lost.contains(code));
        self.failed = true;
        failed(error)
    }
}

impl Conn for PgConn {
    fn engine(&self) -> Engine {
        Engine::Postgres
    }

    fn execute(&mut self, sql: &Sql, params: &[Val<'_>]) -> Result<u64> {
        check_params(params)?;
        self.written.note(sql.text);
        let statement = self.statement(sql.text)?;
        let params: Vec<_> = params.iter().map(|value| -> &(dyn ToSql + Sync) { value }).collect();
        self.client.execute(&statement, &params).map_err(|error| self.failed(error))
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
        let streamed = stream(&mut self.client, &statement, params, each);
        streamed.map_err(|error| self.failed(error))?
    }

    fn script(&mut self, text: &str) -> Result<()> {
        self.client.batch_execute(text).map_err(|error| self.failed(error))
    }

    fn prepare(&mut self, sql: &Sql) -> Result<()> {
        self.statement(sql.text).map(drop)
    }
}

/// Hands rows on as they arrive, so that a large table needs no memory. The outer result is the
/// server's, the inner one the reader's.
fn stream(
    client: &mut Client,
    statement: &Statement,
    params: &[Val<'_>],
    each: &mut dyn FnMut(&dyn Row) -> Result<()>,
) -> Result<Result<()>, postgres::Error> {
    let mut rows = client.query_raw(statement, params.iter().copied())?;
    while let Some(row) = rows.next()? {
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

struct PgRow<'a>(&'a postgres::Row);

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

    fn bytes(&self, index: usize) -> Result<Option<Vec<u8>>> {
        self.0.try_get(index).map_err(failed)
    }
}

fn failed(error: postgres::Error) -> Error {
    let public = match error.code() {
        Some(code) if *code == SqlState::UNIQUE_VIOLATION => Error::conflict("it exists already"),
        Some(code) if *code == SqlState::FOREIGN_KEY_VIOLATION => {
            Error::conflict("it belongs to something that does not exist")
        }
        Some(code) if *code == SqlState::DISK_FULL => Error::unavailable("the disk is full"),
        Some(code) if *code == SqlState::READ_ONLY_SQL_TRANSACTION => {
            Error::unavailable("the storage is read-only")
        }
        Some(code) if ["08", "53", "57"].iter().any(|class| code.code().starts_with(class)) => {
            Error::unavailable("the storage is not ready")
        }
        Some(code) if code.code().starts_with("40") => Error::unavailable("the storage is busy"),
        Some(code) if [SqlState::DATA_CORRUPTED, SqlState::INDEX_CORRUPTED].contains(code) => {
            Error::unavailable("the database is damaged; restore a backup")
        }
        None if connection_lost(&error) => {
            Error::unavailable("the connection to the storage was lost")
        }
        _ => Error::internal("the storage failed"),
    };
    public.because(error)
}

fn connection_lost(error: &postgres::Error) -> bool {
    error.is_closed() || matches!(error.source(), Some(source) if source.is::<io::Error>())
}
