//! SQLite: one writer thread with group commit, and a few reader threads.
//!
//! The writer drains the waiting closures, runs them one after the other, commits once and then
//! answers them all ([`group`]): **durable, since no answer leaves before the commit reached the
//! disk**, and fast, since one flush serves the whole group. SQLite allows one writer at a time
//! anyway, so the thread takes nothing away.

mod checkpoints;
mod group;
mod statistics;

use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::ffi::{
    SQLITE_CONSTRAINT_FOREIGNKEY, SQLITE_CONSTRAINT_PRIMARYKEY, SQLITE_CONSTRAINT_UNIQUE,
};
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, ErrorCode, OpenFlags};
use types::{Error, Result};

use self::checkpoints::Checkpoints;
use crate::caller::{abandoned, check_interest, is_abandoned};
use crate::changes::{Changes, Written};
use crate::conn::check_params;
use crate::job::Job;
use crate::queue::{Queue, Turn};
use crate::threads::{GroupSizes, Threads};
use crate::{Conn, Engine, Migrations, Row, Sql, Val};

/// Another process may be writing: a command beside the running server. How often to look whether
/// it is still; SQLite by itself looks ten times a second, and misses the moments between the
/// transactions of a busy writer.
const TURN_PAUSE: Duration = Duration::from_millis(1);
/// Twenty seconds.
const TURN_ATTEMPTS_MAX: i32 = 20_000;
const BUSY_PAUSE: Duration = Duration::from_millis(10);
const BUSY_ATTEMPTS_MAX: u32 = 500;
const STATEMENT_CACHE: usize = 256;
/// Pages that the connections hold in memory; the system holds the rest of the file. Those of the
/// writer are also what a transaction may change before it spills into the log.
pub(crate) const WRITER_CACHE_KIB: u64 = 8 * 1024;
const READER_CACHE_KIB: u64 = 4 * 1024;

/// Bytes that the page caches of one database take at most.
pub(crate) fn page_cache_bytes_max() -> u64 {
    let readers = u64::try_from(crate::READERS).unwrap_or(u64::MAX);
    (WRITER_CACHE_KIB + READER_CACHE_KIB * readers) * 1024
}
/// How often a running read asks whether its caller is still there: well below a millisecond.
const STEPS_BETWEEN_CHECKS: i32 = 10_000;

/// Opens the file, brings it up to date and starts the threads.
pub(crate) fn start(
    path: &Path,
    migrations: Migrations,
    (groups, changes): (Arc<GroupSizes>, &Arc<Changes>),
) -> Result<Threads> {
    let inner = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    let mut writer = SqliteConn { inner, written: Written::new(changes) };
    migrate(&mut writer, migrations)?;
    let mut readers = Vec::new();
    for _ in 0..crate::READERS {
        let mut inner = connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        inner.progress_handler(STEPS_BETWEEN_CHECKS, Some(is_abandoned)).map_err(failed)?;
        readers.push(SqliteConn { inner, written: Written::new(changes) });
    }
    let mut threads = Threads::new(1, readers.len());
    let writes = Arc::clone(&threads.writes);
    let checkpoints = Checkpoints::start(path, &mut writer.inner)?;
    let write = move || write_loop(&mut writer, &writes, &groups, checkpoints);
    threads.writers.push(spawn("sqlite-writer", write)?);
    for mut reader in readers {
        let reads = Arc::clone(&threads.reads);
        let read = move || {
            while let Some((job, turn)) = reads.pop() {
                read_one(&mut reader, job, turn);
            }
        };
        threads.readers.push(spawn("sqlite-reader", read)?);
    }
    Ok(threads)
}

fn spawn(name: &str, run: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>> {
    thread::Builder::new()
        .name(name.to_owned())
        .spawn(run)
        .map_err(|error| Error::unavailable("cannot start a database thread").because(error))
}

/// Deletes the file and those that SQLite keeps beside it.
pub(crate) fn delete(path: &Path) -> Result<()> {
    for end in ["", "-wal", "-shm"] {
        let mut name = path.as_os_str().to_owned();
        name.push(end);
        match std::fs::remove_file(&name) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(Error::unavailable("cannot delete a database file").because(error));
            }
            _ => {}
        }
    }
    Ok(())
}

fn connect(path: &Path, mode: OpenFlags) -> Result<Connection> {
    let create = if mode.contains(OpenFlags::SQLITE_OPEN_READ_WRITE) {
        OpenFlags::SQLITE_OPEN_CREATE
    } else {
        OpenFlags::empty()
    };
    if !create.is_empty() {
        if let Some(folder) = path.parent().filter(|folder| !folder.exists()) {
            let _ = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
        }
        // For the owner only; SQLite gives its side files the same mode.
        let mut options = std::fs::OpenOptions::new();
        let _ = options.write(true).create_new(true).mode(0o600).open(path);
    }
    let flags = mode | create | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags).map_err(|error| {
        Error::unavailable(format!("cannot open the database {}", path.display())).because(error)
    })?;
    connection.busy_handler(Some(wait_for_turn)).map_err(failed)?;
    connection.set_prepared_statement_cache_capacity(STATEMENT_CACHE);
    let settings = || -> rusqlite::Result<()> {
        // One plan for every value: SQLite would else compile a statement again for each.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        connection.pragma_update(None, "synchronous", "FULL")?;
        if mode.contains(OpenFlags::SQLITE_OPEN_READ_WRITE) {
            connection.pragma_update(None, "journal_mode", "WAL")?;
            // What was deleted or replaced does not stay in its page.
            connection.pragma_update(None, "secure_delete", "FAST")?;
        }
        connection.pragma_update(None, "foreign_keys", true)?;
        let is_writer = mode.contains(OpenFlags::SQLITE_OPEN_READ_WRITE);
        let cache = if is_writer { WRITER_CACHE_KIB } else { READER_CACHE_KIB };
        // A negative number is one of kibibytes.
        connection.pragma_update(None, "cache_size", format!("-{cache}"))?;
        connection.pragma_update(None, "temp_store", "MEMORY")
    };
    retry_while_busy(settings).map_err(failed)?;
    Ok(connection)
}

/// Returns whether to try again.
fn wait_for_turn(attempts: i32) -> bool {
    thread::sleep(TURN_PAUSE);
    attempts < TURN_ATTEMPTS_MAX
}

/// SQLite does not wait for another process while it changes the journal mode, so this does.
fn retry_while_busy(work: impl Fn() -> rusqlite::Result<()>) -> rusqlite::Result<()> {
    for _ in 0..BUSY_ATTEMPTS_MAX {
        match work() {
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => {
                thread::sleep(BUSY_PAUSE);
            }
            ended => return ended,
        }
    }
    work()
}

fn migrate(writer: &mut SqliteConn, migrations: Migrations) -> Result<()> {
    writer.control("BEGIN IMMEDIATE")?;
    let migrated = crate::migrate::run(writer, migrations)
        .and_then(|()| statistics::put(&writer.inner).map_err(failed));
    writer.control(if migrated.is_ok() { "COMMIT" } else { "ROLLBACK" })?;
    migrated
}

fn read_one(reader: &mut SqliteConn, mut job: Box<dyn Job>, turn: Turn<'_>) {
    let ended = match reader.control("BEGIN") {
        Ok(()) => {
            job.run(reader);
            // A transaction left open would make every later read fail.
            reader.control("COMMIT").inspect_err(|_| drop(reader.control("ROLLBACK")))
        }
        Err(error) => Err(error),
    };
    // Who is answered finds their turn over.
    drop(turn);
    job.finish(ended);
}

fn write_loop(
    writer: &mut SqliteConn,
    queue: &Queue,
    groups: &GroupSizes,
    checkpoints: Checkpoints,
) {
    while let Some(first) = queue.pop() {
        group::write(writer, queue, first, groups);
    }
    checkpoints.stop(&mut writer.inner);
    // Leave one tidy file behind.
    let _ = writer.inner.pragma_update(None, "wal_checkpoint", "TRUNCATE");
}

struct SqliteConn {
    inner: Connection,
    written: Written,
}

impl SqliteConn {
    fn control(&self, text: &str) -> Result<()> {
        self.inner.prepare_cached(text).and_then(|mut s| s.execute([])).map_err(failed)?;
        Ok(())
    }
}

impl Conn for SqliteConn {
    fn engine(&self) -> Engine {
        Engine::Sqlite
    }

    fn execute(&mut self, sql: &Sql, params: &[Val<'_>]) -> Result<u64> {
        check_params(params)?;
        self.written.note(sql.text);
        let mut statement = self.inner.prepare_cached(sql.text).map_err(failed)?;
        let params = rusqlite::params_from_iter(params);
        let changed = statement.execute(params).map_err(failed)?;
        Ok(u64::try_from(changed).unwrap_or(u64::MAX))
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
        self.written.note(text);
        let mut statement = self.inner.prepare_cached(text).map_err(failed)?;
        let mut rows = statement.query(rusqlite::params_from_iter(params)).map_err(failed)?;
        while let Some(row) = rows.next().map_err(failed)? {
            check_interest()?;
            each(&SqliteRow(row))?;
        }
        Ok(())
    }

    fn script(&mut self, text: &str) -> Result<()> {
        self.inner.execute_batch(text).map_err(failed)
    }

    fn prepare(&mut self, sql: &Sql) -> Result<()> {
        self.inner.prepare(sql.text).map(drop).map_err(failed)
    }

    fn together(
        &mut self,
        work: &mut dyn FnMut(&mut dyn Conn) -> Result<bool>,
    ) -> Result<Option<usize>> {
        work(self).map(|_| None)
    }
}

impl rusqlite::ToSql for Val<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match *self {
            Val::Null => ValueRef::Null,
            Val::Int(value) => ValueRef::Integer(value),
            Val::Text(value) => ValueRef::Text(value.as_bytes()),
            Val::Bytes(value) => ValueRef::Blob(value),
        }))
    }
}

struct SqliteRow<'a>(&'a rusqlite::Row<'a>);

impl Row for SqliteRow<'_> {
    fn int(&self, index: usize) -> Result<Option<i64>> {
        self.0.get(index).map_err(failed)
    }

    fn text(&self, index: usize) -> Result<Option<String>> {
        self.0.get(index).map_err(failed)
    }

    fn look_at_text(&self, index: usize, look: &mut dyn FnMut(&str)) -> Result<()> {
        let text = self.0.get_ref(index).and_then(|value| Ok(value.as_str_or_null()?));
        if let Some(text) = text.map_err(failed)? {
            look(text);
        }
        Ok(())
    }

    fn bytes(&self, index: usize) -> Result<Option<Vec<u8>>> {
        self.0.get(index).map_err(failed)
    }
}

fn failed(error: rusqlite::Error) -> Error {
    let public = match error.sqlite_error_code() {
        Some(ErrorCode::ConstraintViolation) => constraint_failed(&error),
        Some(ErrorCode::OperationInterrupted) => abandoned(),
        Some(ErrorCode::DiskFull) => Error::unavailable("the disk is full"),
        Some(ErrorCode::ReadOnly) => Error::unavailable("the storage is read-only"),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            Error::unavailable("the storage is busy")
        }
        Some(ErrorCode::SystemIoFailure | ErrorCode::CannotOpen) => {
            Error::unavailable("the storage cannot be reached")
        }
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
            Error::unavailable("the database file is damaged; restore a backup")
        }
        _ => Error::internal("the storage failed"),
    };
    public.because(error)
}

fn constraint_failed(error: &rusqlite::Error) -> Error {
    match error.sqlite_error().map_or(0, |details| details.extended_code) {
        SQLITE_CONSTRAINT_UNIQUE | SQLITE_CONSTRAINT_PRIMARYKEY => {
            Error::conflict("it exists already")
        }
        SQLITE_CONSTRAINT_FOREIGNKEY => {
            Error::conflict("it belongs to something that does not exist")
        }
        _ => Error::internal("the storage failed"),
    }
}
