//! One backup format for both engines, so that it also moves a database from one to the other.
//!
//! A backup is text, one JSON value per line: a header, then for every table a line with its
//! columns followed by a line per row, then for every file beside the database a line with its name
//! followed by its bytes, and a trailer with the counts and a checksum of everything before it.
//! Bytes are written in hexadecimal. Tables and columns come from the migrations, so
//! that none can be forgotten; rows come in no particular order. Secrets are sealed or hashed in a
//! backup as they are in the database: **without the master key it cannot be used**.
//!
//! [`write()`] copies one snapshot while others go on writing. [`restore()`] reads the whole file
//! and its checksum first, then fills an empty database in one transaction, so that it is restored
//! whole or left as it was. Ids handed out after the backup was taken are not handed out again:
//! every counter of ids is moved ahead by [`ID_STEP`].

mod format;
mod read;
mod restore;

use std::collections::BTreeMap;
use std::io::{BufRead, BufWriter, Read, Write};

use types::{Environment, Error, Result, Timestamp};

use crate::migrate::{self, Migrations, Table};
use crate::{Conn, Engine};

use format::{FORMAT, FileLine, Header, LINE_LEN_MAX, TableLine, Trailer, VERSION};
use read::Reader;

pub use restore::{ID_STEP, restore};

/// What a backup holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    pub environment: Environment,
    /// The number of the newest migration of the database that was copied.
    pub schema: i64,
    pub created: Timestamp,
    /// How many rows each table has.
    pub rows: BTreeMap<String, u64>,
    /// How many files beside the database there are.
    pub files: u64,
    /// The BLAKE3 checksum, in hexadecimal.
    pub checksum: String,
}

impl Summary {
    pub fn rows_total(&self) -> u64 {
        self.rows.values().sum()
    }
}

/// Files beside the database that its rows speak of.
pub trait Files {
    /// Hands each file over with its name and length. One that is gone meanwhile is left out.
    fn each(
        &self,
        conn: &mut dyn Conn,
        visit: &mut dyn FnMut(&str, u64, &mut dyn Read) -> Result<()>,
    ) -> Result<()>;
}

/// Where the files of a backup go.
pub trait FileSink {
    fn begin(&mut self, name: &str) -> Result<()>;

    fn data(&mut self, bytes: &[u8]) -> Result<()>;

    fn end(&mut self) -> Result<()>;
}

/// A database without files beside it.
#[derive(Clone, Copy, Debug)]
pub struct NoFiles;

impl Files for NoFiles {
    fn each(
        &self,
        _: &mut dyn Conn,
        _: &mut dyn FnMut(&str, u64, &mut dyn Read) -> Result<()>,
    ) -> Result<()> {
        Ok(())
    }
}

impl FileSink for NoFiles {
    fn begin(&mut self, _: &str) -> Result<()> {
        Ok(())
    }

    fn data(&mut self, _: &[u8]) -> Result<()> {
        Ok(())
    }

    fn end(&mut self) -> Result<()> {
        Ok(())
    }
}

/// Bytes of a file on one line.
const PIECE_BYTES: u64 = 256 * 1024;

/// Writes everything that the snapshot holds. Call it inside [`crate::Database::read`], with the
/// migrations that the database was opened with, and let the closure create the file, since it may
/// run again.
pub fn write(
    conn: &mut dyn Conn,
    migrations: Migrations,
    environment: Environment,
    created: Timestamp,
    files: &dyn Files,
    out: &mut dyn Write,
) -> Result<Summary> {
    if conn.engine() == Engine::Postgres {
        // One statement reads a whole table, which may take longer than a request should.
        conn.script("SET LOCAL statement_timeout TO 0")?;
    }
    let schema = migrate::version(migrations);
    let mut writer = Writer::new(out);
    writer.line(&Header {
        format: FORMAT.to_owned(),
        version: VERSION,
        environment,
        schema,
        created: created.to_string(),
    })?;
    let mut rows = BTreeMap::new();
    for table in migrate::tables(migrations) {
        let count = write_table(conn, &table, &mut writer)?;
        rows.insert(table.name, count);
    }
    let mut count = 0;
    files.each(conn, &mut |name, bytes, content| {
        count += 1;
        write_file(name, bytes, content, &mut writer)
    })?;
    let checksum = writer.hasher.finalize().to_hex().to_string();
    writer.line(&Trailer { rows: rows.clone(), files: count, blake3: checksum.clone() })?;
    writer.out.flush().map_err(not_written)?;
    Ok(Summary { environment, schema, created, rows, files: count, checksum })
}

/// Reads a backup to its end and checks it as [`restore()`] would, without a database.
pub fn verify(input: &mut dyn BufRead, migrations: Migrations) -> Result<Summary> {
    Reader::new(input, migrations)?.walk(&mut |_| Ok(()))
}

fn write_table(conn: &mut dyn Conn, table: &Table, writer: &mut Writer<'_>) -> Result<u64> {
    let columns = table.columns.iter().map(|(name, _)| name.clone()).collect();
    let query = format!("SELECT {} FROM {}", table.column_names(), table.name);
    writer.line(&TableLine { table: table.name.clone(), columns })?;
    let mut count = 0;
    conn.query_text(&query, &[], &mut |row| {
        count += 1;
        writer.buffer.clear();
        format::row(row, table, &mut writer.buffer)?;
        writer.end_line()
    })?;
    Ok(count)
}

fn write_file(
    name: &str,
    bytes: u64,
    content: &mut dyn Read,
    writer: &mut Writer<'_>,
) -> Result<()> {
    writer.line(&FileLine { file: name.to_owned(), bytes })?;
    let mut left = bytes;
    while left > 0 {
        let mut piece = Vec::new();
        let unreadable =
            |error| Error::unavailable(format!("the file {name} cannot be read")).because(error);
        content.take(left.min(PIECE_BYTES)).read_to_end(&mut piece).map_err(unreadable)?;
        if piece.is_empty() {
            return Err(Error::unavailable(format!("the file {name} is shorter than it was")));
        }
        left = left.saturating_sub(u64::try_from(piece.len()).unwrap_or(u64::MAX));
        writer.buffer.clear();
        format::piece(&piece, &mut writer.buffer);
        writer.end_line()?;
    }
    Ok(())
}

struct Writer<'a> {
    out: BufWriter<&'a mut dyn Write>,
    hasher: blake3::Hasher,
    buffer: Vec<u8>,
}

impl<'a> Writer<'a> {
    fn new(out: &'a mut dyn Write) -> Self {
        Self { out: BufWriter::new(out), hasher: blake3::Hasher::new(), buffer: Vec::new() }
    }

    fn line(&mut self, value: &impl serde::Serialize) -> Result<()> {
        self.buffer.clear();
        serde_json::to_writer(&mut self.buffer, value).map_err(not_written)?;
        self.end_line()
    }

    /// Writes what is in the buffer as a line.
    fn end_line(&mut self) -> Result<()> {
        self.buffer.push(b'\n');
        if self.buffer.len() > LINE_LEN_MAX {
            return Err(Error::internal("a row is too long for a backup"));
        }
        self.hasher.update(&self.buffer);
        self.out.write_all(&self.buffer).map_err(not_written)
    }
}

fn not_written(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Error {
    Error::unavailable("the backup cannot be written").because(error)
}
