//! Reads a backup line by line and believes nothing that it has not checked.

use std::collections::BTreeMap;
use std::io::{BufRead, Read as _};

use serde_json::Value;
use types::{Environment, Error, Result, Timestamp};

use super::Summary;
use super::format::{self, Cell, FORMAT, Header, LINE_LEN_MAX, Mark, TableLine, Trailer, VERSION};
use crate::migrate::{self, Migrations, Table};

/// What a walk through a backup meets.
pub(super) enum Part<'a> {
    /// Rows of this table follow. It has the columns that the backup has, in that order.
    Table(&'a Table),
    /// A row of the table before.
    Row(Vec<Cell>),
    /// A file of this name follows.
    File(&'a str),
    /// A piece of the file before.
    Piece(Vec<u8>),
    FileEnd,
}

pub(super) struct Reader<'a> {
    lines: Lines<'a>,
    environment: Environment,
    schema: i64,
    created: Timestamp,
    migrations: Migrations,
}

impl<'a> Reader<'a> {
    /// Reads the header.
    pub(super) fn new(input: &'a mut dyn BufRead, migrations: Migrations) -> Result<Self> {
        let mut lines = Lines { input, line: Vec::new(), number: 0, hasher: blake3::Hasher::new() };
        if !lines.advance()? {
            return Err(Error::invalid("the backup is empty"));
        }
        let header: Value = serde_json::from_slice(lines.content()).unwrap_or_default();
        if header.get("format").and_then(Value::as_str) != Some(FORMAT) {
            return Err(Error::invalid("the file is no backup of boardwalk"));
        }
        if header.get("version").and_then(Value::as_i64).is_some_and(|version| version > VERSION) {
            return Err(newer());
        }
        let header: Header =
            serde_json::from_value(header).map_err(|error| lines.damaged(error))?;
        let created =
            Timestamp::parse(&header.created).ok_or_else(|| lines.damaged("no valid time"))?;
        if header.version != VERSION || header.schema < 1 {
            return Err(lines.damaged("an unknown version"));
        }
        if header.schema > migrate::version(migrations) {
            return Err(newer());
        }
        let Header { environment, schema, .. } = header;
        Ok(Self { lines, environment, schema, created, migrations })
    }

    pub(super) fn environment(&self) -> Environment {
        self.environment
    }

    /// Hands everything to `visit` in order, and checks the checksum at the end.
    pub(super) fn walk(mut self, visit: &mut dyn FnMut(Part<'_>) -> Result<()>) -> Result<Summary> {
        let mut rows = BTreeMap::new();
        let tables = migrate::tables(self.migrations);
        let mut known = tables.as_slice();
        let mut current: Option<(Table, u64)> = None;
        let mut files = 0;
        let mut left_of_file: Option<u64> = None;
        while self.lines.advance()? {
            if let Some(left) = left_of_file.filter(|left| *left > 0) {
                let piece = format::read_piece(self.lines.content());
                let piece = piece.filter(|piece| !piece.is_empty());
                let piece = piece.ok_or_else(|| self.lines.damaged("no bytes of a file"))?;
                let left = left.checked_sub(u64::try_from(piece.len()).unwrap_or(u64::MAX));
                left_of_file = left;
                let left = left.ok_or_else(|| self.lines.damaged("too many bytes of a file"))?;
                visit(Part::Piece(piece))?;
                if left == 0 {
                    visit(Part::FileEnd)?;
                }
                continue;
            }
            if self.lines.content().starts_with(b"[") {
                let Some((table, count)) = &mut current else {
                    return Err(self.lines.damaged("a row without a table"));
                };
                *count += 1;
                visit(Part::Row(self.lines.row(table)?))?;
                continue;
            }
            if let Some((table, count)) = current.take() {
                rows.insert(table.name, count);
            }
            match serde_json::from_slice(self.lines.content()) {
                Ok(Mark::File(line)) => {
                    files += 1;
                    left_of_file = Some(line.bytes);
                    visit(Part::File(&line.file))?;
                    if line.bytes == 0 {
                        visit(Part::FileEnd)?;
                    }
                }
                Ok(Mark::Table(_)) if files > 0 => {
                    return Err(self.lines.damaged("a table after the files"));
                }
                Ok(Mark::Table(line)) => {
                    let table = self.table(&line, &mut known)?;
                    visit(Part::Table(&table))?;
                    current = Some((table, 0));
                }
                Ok(Mark::Trailer(trailer)) => {
                    return self.finish(&trailer, (rows, files), known);
                }
                Err(error) => return Err(self.lines.damaged(error)),
            }
        }
        Err(Error::invalid("the backup is not complete: its end is missing"))
    }

    /// The declared table with the columns that the backup has. **Names that go into SQL come from
    /// the migrations**, never from the file. Tables come in the order of their creation, each
    /// once.
    fn table(&self, line: &TableLine, known: &mut &[Table]) -> Result<Table> {
        let unknown = || self.lines.damaged(format!("the table {} is not expected", line.table));
        let place = known.iter().position(|table| table.name == line.table).ok_or_else(unknown)?;
        if place > 0 && self.has_all_tables() {
            return Err(unknown());
        }
        let (declared, rest) =
            known.get(place..).and_then(<[Table]>::split_first).ok_or_else(unknown)?;
        *known = rest;
        let find = |name: &String| declared.columns.iter().find(|(column, _)| column == name);
        let columns: Option<Vec<_>> = line.columns.iter().map(|name| find(name).cloned()).collect();
        let table = Table {
            name: declared.name.clone(),
            columns: columns.filter(|columns| !columns.is_empty()).ok_or_else(unknown)?,
            serial: declared.serial.clone(),
        };
        if self.has_all_tables() && table != *declared {
            return Err(self.lines.damaged(format!("columns of {} are missing", line.table)));
        }
        Ok(table)
    }

    /// Whether the backup was made with the migrations of today; an older one may lack tables and
    /// columns, which then get their defaults.
    fn has_all_tables(&self) -> bool {
        self.schema == migrate::version(self.migrations)
    }

    fn finish(
        mut self,
        trailer: &Trailer,
        (rows, files): (BTreeMap<String, u64>, u64),
        left: &[Table],
    ) -> Result<Summary> {
        let checksum = self.lines.hasher.finalize().to_hex().to_string();
        let canonical = serde_json::to_vec(trailer).map_err(|error| self.lines.damaged(error))?;
        // The trailer is not part of its own checksum, so it must be exactly as it is written.
        if canonical != self.lines.content() || trailer.blake3 != checksum {
            return Err(Error::invalid("the backup is damaged: its checksum does not fit"));
        }
        let is_whole = trailer.rows == rows && trailer.files == files;
        if !is_whole || (self.has_all_tables() && !left.is_empty()) {
            return Err(self.lines.damaged("rows or tables are missing"));
        }
        if self.lines.advance()? {
            return Err(self.lines.damaged("something follows the end"));
        }
        let Self { environment, schema, created, .. } = self;
        Ok(Summary { environment, schema, created, rows, files, checksum })
    }
}

fn newer() -> Error {
    Error::invalid("the backup was made by a newer version of boardwalk; use that or a newer one")
}

struct Lines<'a> {
    input: &'a mut dyn BufRead,
    /// The current line with its end.
    line: Vec<u8>,
    number: u64,
    /// Has seen every line before the current one.
    hasher: blake3::Hasher,
}

impl Lines<'_> {
    /// Goes to the next line; false at the end of the file.
    fn advance(&mut self) -> Result<bool> {
        self.hasher.update(&self.line);
        self.line.clear();
        self.number += 1;
        let limit = u64::try_from(LINE_LEN_MAX).unwrap_or(u64::MAX);
        let read = (&mut *self.input).take(limit).read_until(b'\n', &mut self.line);
        read.map_err(|error| Error::unavailable("the backup cannot be read").because(error))?;
        if !self.line.is_empty() && !self.line.ends_with(b"\n") {
            return Err(self.damaged("the line has no end"));
        }
        Ok(!self.line.is_empty())
    }

    /// The current line without its end.
    fn content(&self) -> &[u8] {
        self.line.strip_suffix(b"\n").unwrap_or(&self.line)
    }

    fn row(&self, table: &Table) -> Result<Vec<Cell>> {
        let values: Vec<Value> =
            serde_json::from_slice(self.content()).map_err(|error| self.damaged(error))?;
        if values.len() != table.columns.len() {
            return Err(self.damaged(format!("a row of {} has another length", table.name)));
        }
        let typed = values.into_iter().zip(&table.columns);
        typed
            .map(|(value, (name, column_type))| {
                let unfit = || self.damaged(format!("{}.{name} is of another type", table.name));
                Cell::parse(value, *column_type).ok_or_else(unfit)
            })
            .collect()
    }

    fn damaged(&self, cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Error {
        Error::invalid(format!("the backup is damaged at line {}", self.number)).because(cause)
    }
}
