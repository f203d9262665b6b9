//! Fills an empty database from a backup, in one transaction.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use types::{Environment, Error, Result};

use super::format::Cell;
use super::read::{Part, Reader};
use super::{FileSink, Summary};
use crate::migrate::{self, Migrations, Table};
use crate::{Conn, Database, Engine, Val, counter, fact, outbox, text_index};

/// How far a restore moves every counter of ids ahead. Ids given between the backup and the
/// restore are in somebody's books and must not be given to something else; so many are not given
/// between two backups.
pub const ID_STEP: i64 = 1_000_000;

/// Rows per statement; the widest table times this stays far below SQLite's 32,766 parameters.
const BATCH_ROWS: usize = 64;

/// Tables that an empty database may have rows in: what a start leaves there.
const FILLED_BY_A_START: [&str; 2] = ["counters", "facts"];

/// Restores a backup file into an empty database. **The whole file is checked before anything is
/// changed**, and again while it is read into the one transaction that restores it. No server may
/// run on the database meanwhile: it would not notice.
///
/// Files go to the sink before the transaction: rows never speak of files that are not there.
pub fn restore(
    database: &Database,
    path: &Path,
    environment: Environment,
    files: &mut dyn FileSink,
) -> Result<Summary> {
    let migrations = database.migrations();
    let checked = walk(path, migrations, environment, &mut |_| Ok(()))?;
    database.read_blocking(move |conn| refuse_unless_empty(conn, &migrate::tables(migrations)))?;
    if checked.files > 0 {
        walk(path, migrations, environment, &mut |part| match part {
            Part::File(name) => files.begin(name),
            Part::Piece(bytes) => files.data(&bytes),
            Part::FileEnd => files.end(),
            Part::Table(_) | Part::Row(_) => Ok(()),
        })?;
    }
    let path = path.to_owned();
    database.write_blocking(move |conn| {
        let tables = migrate::tables(migrations);
        refuse_unless_empty(conn, &tables)?;
        let mut filler = Filler { conn, table: None, batch: Vec::new() };
        let restored = walk(&path, migrations, environment, &mut |part| filler.visit(part))?;
        filler.flush()?;
        if restored != checked {
            return Err(Error::conflict("the backup changed while it was read"));
        }
        text_index::note_all(conn, migrations.iter().map(|(_, text)| *text))?;
        settle(conn, &tables)?;
        Ok(restored)
    })
}

fn walk(
    path: &Path,
    migrations: Migrations,
    environment: Environment,
    visit: &mut dyn FnMut(Part<'_>) -> Result<()>,
) -> Result<Summary> {
    let file = File::open(path).map_err(|error| {
        Error::invalid(format!("the backup {} cannot be opened", path.display())).because(error)
    })?;
    let mut input = BufReader::new(file);
    let reader = Reader::new(&mut input, migrations)?;
    if reader.environment() != environment {
        return Err(Error::invalid(format!(
            "the backup is of {}, and the database is of {environment}",
            reader.environment()
        )));
    }
    reader.walk(visit)
}

fn refuse_unless_empty(conn: &mut dyn Conn, tables: &[Table]) -> Result<()> {
    for table in tables {
        if FILLED_BY_A_START.contains(&table.name.as_str()) {
            continue;
        }
        let mut found = false;
        let query = format!("SELECT 1 FROM {} LIMIT 1", table.name);
        conn.query_text(&query, &[], &mut |_| {
            found = true;
            Ok(())
        })?;
        if found {
            return Err(Error::conflict(format!(
                "the database is not empty: it has {}; restore into a new one",
                table.name
            )));
        }
    }
    Ok(())
}

/// PostgreSQL does not notice ids that were inserted with their values, and learns how large the
/// tables have become only some time later.
fn settle(conn: &mut dyn Conn, tables: &[Table]) -> Result<()> {
    if conn.engine() != Engine::Postgres {
        return Ok(());
    }
    for table in tables {
        let name = &table.name;
        conn.script(&format!("ANALYZE {name}"))?;
        let Some(serial) = &table.serial else { continue };
        conn.script(&format!(
            "SELECT setval(pg_get_serial_sequence('{name}', '{serial}'), MAX({serial})) FROM {name}"
        ))?;
    }
    Ok(())
}

struct Filler<'a> {
    conn: &'a mut dyn Conn,
    table: Option<Table>,
    batch: Vec<Vec<Cell>>,
}

impl Filler<'_> {
    fn visit(&mut self, part: Part<'_>) -> Result<()> {
        match part {
            Part::Table(table) => {
                self.flush()?;
                self.table = Some(table.clone());
            }
            Part::Row(row) => {
                self.batch.push(row);
                if self.batch.len() == BATCH_ROWS {
                    self.flush()?;
                }
            }
            Part::File(_) | Part::Piece(_) | Part::FileEnd => {}
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        let Some(table) = &self.table else { return Ok(()) };
        match table.name.as_str() {
            "counters" => {
                for row in self.batch.drain(..) {
                    restore_counter(self.conn, &row)?;
                }
            }
            "facts" => {
                for row in self.batch.drain(..) {
                    restore_fact(self.conn, &row)?;
                }
            }
            // Two sizes only, so that two prepared statements serve a table.
            _ if self.batch.len() == BATCH_ROWS => {
                insert(self.conn, table, &self.batch)?;
                self.batch.clear();
            }
            _ => {
                for row in self.batch.drain(..) {
                    insert(self.conn, table, &[row])?;
                }
            }
        }
        Ok(())
    }
}

fn restore_counter(conn: &mut dyn Conn, row: &[Cell]) -> Result<()> {
    let [Cell::Text(name), Cell::Int(next)] = row else { return Err(unreadable("counters")) };
    // The feed has no gaps, its events are all in the backup, and who follows it is where it was.
    let is_of_feed = outbox::is_own_counter(name);
    let next = if is_of_feed { *next } else { next.saturating_add(ID_STEP) };
    counter::raise(conn, name, next)
}

/// A fact that the database knows already must be the same, or it belongs to another master key.
fn restore_fact(conn: &mut dyn Conn, row: &[Cell]) -> Result<()> {
    let [Cell::Text(name), Cell::Text(value)] = row else { return Err(unreadable("facts")) };
    if name.starts_with(fact::LOCAL) {
        return Ok(());
    }
    if fact::get_or_set(conn, name, value)? != *value {
        return Err(Error::conflict(format!(
            "the backup and the database differ in their {name}; restore with the same master key"
        )));
    }
    Ok(())
}

fn unreadable(table: &str) -> Error {
    Error::invalid(format!("the backup has rows in {table} that cannot be read"))
}

fn insert(conn: &mut dyn Conn, table: &Table, rows: &[Vec<Cell>]) -> Result<()> {
    let text = insert_text(table, rows.len());
    let params: Vec<Val<'_>> = rows.iter().flatten().map(Cell::as_val).collect();
    conn.query_text(&text, &params, &mut |_| Ok(()))
}

fn insert_text(table: &Table, rows: usize) -> String {
    let mut parameter = 0;
    let mut values = Vec::new();
    for _ in 0..rows {
        let mut row = Vec::new();
        for _ in &table.columns {
            parameter += 1;
            row.push(format!("${parameter}"));
        }
        values.push(format!("({})", row.join(", ")));
    }
    let (names, values) = (table.column_names(), values.join(", "));
    format!("INSERT INTO {} ({names}) VALUES {values}", table.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_of_several_rows_are_in_order() {
        const TEXT: &str = "CREATE TABLE facts (\n  name @text NOT NULL,\n  value @text\n)";
        let tables = migrate::tables(&[("facts", TEXT)]);
        let expected = "INSERT INTO facts (name, value) VALUES ($1, $2), ($3, $4)";
        assert_eq!(insert_text(&tables[0], 2), expected);
    }
}
