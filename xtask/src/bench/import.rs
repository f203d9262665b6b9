//! `boardwalk import orders` on a large file, beside a bare loop that inserts the same rows.
//!
//! The loop's rows are those that the import wrote, read from its database, so that they are the
//! same whatever the import makes of the file. Reading them is not measured; inserting them is:
//! one prepared statement per row, in transactions of as many orders as the import's, into a
//! database with the same tables and indexes.

mod orders;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use db::{Conn, Database, Location, Sql, Val};
use serde_json::{Value, json};
use testkit::postgres::Cluster;
use types::Environment;

use crate::bare::{with_cause, with_conn};
use crate::statistics::float;
use crate::{Engine, Options, processes};

const ORDERS_FULL: usize = 1_000_000;
const ORDERS_QUICK: usize = 20_000;
/// Orders of one transaction of the loop.
const BATCH: usize = 2_000;
/// How often the memory of the import is looked at.
const LOOK: Duration = Duration::from_millis(50);
const SHARE_TARGET: f64 = 0.4;
const MEMORY_TARGET_MB: f64 = 300.0;

/// A table with the statement that fills it, and the column by which it is read in parts.
const TABLES: [(&str, &str, &str); 4] = [
    ("ORDER_INSERT", "orders", "order_id"),
    ("ORDER_ITEM_INSERT", "order_items", "order_id"),
    ("OUTBOX_INSERT", "outbox", "id"),
    ("CUSTOMER_LOOKUP_INSERT", "customer_lookup", "customer_id"),
];

#[derive(Debug)]
struct Measured {
    engine: Engine,
    orders: usize,
    rows: usize,
    import: Duration,
    bare: Duration,
    peak_mb: f64,
}

impl Measured {
    fn rate(&self, taken: Duration) -> f64 {
        float(self.orders) / taken.as_secs_f64()
    }

    fn share(&self) -> f64 {
        self.bare.as_secs_f64() / self.import.as_secs_f64()
    }

    fn print(&self) {
        println!(
            "{:<11} {} orders, {} rows: import {:.0}/s, bare loop {:.0}/s, share {:.0} % \
             (target {:.0} %), memory {:.0} MB (target {MEMORY_TARGET_MB:.0} MB)",
            self.engine.name(),
            self.orders,
            self.rows,
            self.rate(self.import),
            self.rate(self.bare),
            self.share() * 100.0,
            SHARE_TARGET * 100.0,
            self.peak_mb,
        );
    }

    fn document(&self) -> Value {
        json!({
            "engine": self.engine.name(), "orders": self.orders, "rows": self.rows,
            "import_per_second": self.rate(self.import), "bare_per_second": self.rate(self.bare),
            "share": self.share(), "share_target": SHARE_TARGET, "peak_mb": self.peak_mb,
        })
    }
}

/// Writes a file of orders, the same in every run.
pub(crate) fn write_orders(path: &Path, orders: usize) -> Result<()> {
    orders::write(path, orders)
}

pub(crate) fn run(options: &Options, program: &Path, output: &Path) -> Result<()> {
    let orders = if options.quick { ORDERS_QUICK } else { ORDERS_FULL };
    let folder = testkit::temp_dir()?;
    let file = folder.path().join("orders.jsonl");
    write_orders(&file, orders)?;
    let mut measured = Vec::new();
    for engine in [Engine::Sqlite, Engine::Postgres] {
        if options.engine.is_none_or(|wanted| wanted == engine) {
            measured.push(measure(engine, program, &file, orders)?);
        }
    }
    measured.iter().for_each(Measured::print);
    let documents: Vec<Value> = measured.iter().map(Measured::document).collect();
    if let Some(folder) = output.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(output, serde_json::to_string_pretty(&documents)?)?;
    Ok(())
}

fn measure(engine: Engine, program: &Path, file: &Path, orders: usize) -> Result<Measured> {
    println!("{}: importing {orders} orders", engine.name());
    let folder = testkit::temp_dir()?;
    let cluster = match engine {
        Engine::Sqlite => None,
        Engine::Postgres => Some(Cluster::start()?),
    };
    let data = folder.path().join("data");
    let database = || cluster.as_ref().map(Cluster::create_database).transpose();
    let url = database()?;
    let (import, peak_mb) = import(program, &data, url.as_deref(), file, orders)?;
    let source = Location::parse(url.as_deref(), &data, Environment::Sandbox, 1)?;
    let bare_url = database()?;
    let bare_data = folder.path().join("bare");
    fs::create_dir(&bare_data)?;
    let target = Location::parse(bare_url.as_deref(), &bare_data, Environment::Sandbox, 1)?;
    println!("{}: the bare loop", engine.name());
    let (bare, rows) = bare_loop(&source, &target)?;
    Ok(Measured { engine, orders, rows, import, bare, peak_mb })
}

/// Runs the import, and returns how long it took and the most memory that it held.
fn import(
    program: &Path,
    data: &Path,
    database: Option<&str>,
    file: &Path,
    orders: usize,
) -> Result<(Duration, f64)> {
    let mut command = Command::new(program);
    command.arg("--data").arg(data).arg("--json");
    if let Some(url) = database {
        command.args(["--database", url]);
    }
    command.args(["import", "orders"]).arg(file);
    let started = Instant::now();
    let child = command.stdout(Stdio::piped()).spawn().context("cannot start the import")?;
    let pid = child.id();
    let watching = thread::spawn(move || {
        let mut peak: f64 = 0.0;
        while let Ok(memory) = processes::memory_of(pid) {
            peak = peak.max(memory.resident_peak);
            thread::sleep(LOOK);
        }
        peak
    });
    let output = child.wait_with_output()?;
    let taken = started.elapsed();
    ensure!(output.status.success(), "the import exited with {}", output.status);
    let report: Value = serde_json::from_slice(&output.stdout)?;
    let imported = report.pointer("/imported/order").and_then(Value::as_u64);
    ensure!(imported == u64::try_from(orders).ok(), "not all orders were imported: {report}");
    let peak = watching.join().map_err(|_| anyhow::anyhow!("the memory was not measured"))?;
    Ok((taken, peak))
}

/// A value that was read.
#[derive(Debug)]
enum Cell {
    Null,
    Int(i64),
    Text(String),
}

impl Cell {
    fn val(&self) -> Val<'_> {
        match self {
            Self::Null => Val::Null,
            Self::Int(value) => Val::Int(*value),
            Self::Text(text) => Val::Text(text),
        }
    }
}

/// A table as it is copied.
struct Copied {
    insert: &'static Sql,
    /// Reads a part of the table in the order of the statement's parameters, its key at the end.
    select: String,
    columns: usize,
    /// The key up to which rows were copied.
    last: i64,
}

impl Copied {
    fn new((statement, table, key): (&str, &str, &str)) -> Result<Self> {
        let all = [db::all_statements(), shop_rows::all_statements()].concat();
        let insert = all.into_iter().find(|sql| sql.name == statement);
        let insert = insert.with_context(|| format!("statement {statement} not found"))?;
        let columns = insert.text.split(['(', ')']).nth(1).context("no columns")?.trim();
        let select = format!(
            "SELECT {columns}, {key} FROM {table} WHERE {key} > $1 AND {key} <= $2 ORDER BY {key}"
        );
        Ok(Self { insert, select, columns: columns.split(',').count(), last: 0 })
    }

    fn read(&mut self, conn: &mut dyn Conn, to: i64) -> types::Result<Vec<Vec<Cell>>> {
        let mut rows = Vec::new();
        let columns = self.columns;
        conn.query_text(&self.select, &[self.last.into(), to.into()], &mut |row| {
            let cell = |index: usize| match row.int(index) {
                Ok(Some(value)) => Ok(Cell::Int(value)),
                Ok(None) => Ok(Cell::Null),
                Err(_) => row.text(index).map(|text| text.map_or(Cell::Null, Cell::Text)),
            };
            rows.push((0..columns).map(cell).collect::<types::Result<Vec<Cell>>>()?);
            Ok(())
        })?;
        self.last = to;
        Ok(rows)
    }
}

/// Inserts the rows of one database into another, and returns how long the inserting took and how
/// many rows there were.
fn bare_loop(source: &Location, target: &Location) -> Result<(Duration, usize)> {
    drop(Database::open(target, schema::MIGRATIONS)?);
    let mut tables = TABLES.into_iter().map(Copied::new).collect::<Result<Vec<Copied>>>()?;
    let (mut taken, mut count) = (Duration::ZERO, 0);
    with_conn(source, &mut |source| {
        let marks = with_cause(marks(source))?;
        with_conn(target, &mut |target| {
            for mark in &marks {
                let mut parts = Vec::new();
                for (table, to) in tables.iter_mut().zip(mark) {
                    parts.push((table.insert, with_cause(table.read(source, *to))?));
                }
                let started = Instant::now();
                with_cause(insert(target, &parts))?;
                taken += started.elapsed();
                count += parts.iter().map(|(_, rows)| rows.len()).sum::<usize>();
            }
            Ok(())
        })
    })?;
    Ok((taken, count))
}

/// Up to which keys of the tables each transaction goes.
fn marks(conn: &mut dyn Conn) -> types::Result<Vec<[i64; 4]>> {
    let mut ids = Vec::new();
    let one = |conn: &mut dyn Conn, text: &str| -> types::Result<Vec<i64>> {
        let mut found = Vec::new();
        conn.query_text(text, &[], &mut |row| {
            found.push(row.int(0)?.unwrap_or_default());
            Ok(())
        })?;
        Ok(found)
    };
    ids.extend(one(conn, "SELECT order_id FROM orders ORDER BY order_id")?);
    let events = one(conn, "SELECT MAX(id) FROM outbox")?.first().copied().unwrap_or_default();
    let customers = one(conn, "SELECT MAX(customer_id) FROM customer_lookup")?;
    let customers = customers.first().copied().unwrap_or_default();
    let parts = ids.chunks(BATCH).count();
    let share = |all: i64, part: usize| {
        let (part, parts) = (i64::try_from(part), i64::try_from(parts));
        all * part.unwrap_or(0) / parts.unwrap_or(1).max(1)
    };
    let mark = |(part, ids): (usize, &[i64])| {
        let last = ids.last().copied().unwrap_or_default();
        [last, last, share(events, part + 1), share(customers, part + 1)]
    };
    Ok(ids.chunks(BATCH).enumerate().map(mark).collect())
}

fn insert(conn: &mut dyn Conn, parts: &[(&'static Sql, Vec<Vec<Cell>>)]) -> types::Result<()> {
    conn.script("BEGIN")?;
    for (sql, rows) in parts {
        for row in rows {
            let values: Vec<Val<'_>> = row.iter().map(Cell::val).collect();
            conn.execute(sql, &values)?;
        }
    }
    conn.script("COMMIT")
}
