//! Many connected stores in one process: how long it takes to start, what it holds in memory, and
//! how fast reports over all of them are.
//!
//! One store is connected and copied; the others are copies of that copy, made while the server is
//! stopped: a file, and rows in the environment's database. Nobody follows them, since there is no
//! key for them.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use rusqlite::Connection as Sqlite;
use serde_json::Value;

use super::{Copied, Hub, Line, Plan, Source};
use crate::processes;
use crate::statistics::{milliseconds, percentile};
use crate::subject::Running;

const P99: usize = 990;
const REPORT_MS_MAX: f64 = 100.0;
/// What is asked for in turn, over the last month of the sales.
const REPORTS: [&str; 4] = ["", "&groupBy=merchant", "&groupBy=store", "&groupBy=day"];
const MONTH: &str = "/v1/portfolio?from=2025-11-01&to=2025-11-30";
const YEAR: &str = "/v1/portfolio?from=2025-01-01&to=2025-12-31";
/// Copies whose own report is asked for; more than are open at once.
const OPENED: usize = 50;
const OWN_REPORT: &str = "/wc-analytics/reports/revenue/stats?interval=month\
    &after=2025-01-01T00:00:00&before=2025-12-31T23:59:59";

pub(super) fn measure(program: &Path, plan: Plan) -> Result<Vec<Line>> {
    println!("SQLite: {} stores of {} orders", plan.stores, plan.orders_of_store);
    let folder = testkit::temp_dir()?;
    let data = folder.path().join("source");
    let source = Source::start(program, &data, None, plan.orders_of_store)?;
    let data = folder.path().join("hub");
    let hub = Hub::start(program, &data, None)?;
    let first = hub.connect(source.running.url(), Some(&source))?;
    hub.wait_until_live(&first)?;
    wait_for_sums(&hub)?;
    println!("  connecting the others");
    let url = source.running.url();
    let others =
        (1..plan.stores).map(|_| hub.connect(url, None)).collect::<Result<Vec<Copied>>>()?;
    // The copy is closed, so that its file is whole.
    hub.running.stop()?;
    multiply(&data, &first, &others)?;
    let (running, start) = hub.subject.start()?;
    let hub = Hub { running, ..hub };
    let at_start = processes::memory_of(hub.running.pid())?;
    let mut lines = vec![
        Line::new("start with all stores", milliseconds(start), "ms"),
        Line::new("resident memory after the start", at_start.resident, "MB"),
    ];
    println!("  reports");
    let month = reports(&hub, MONTH, plan)?;
    lines.push(Line::new("portfolio of a month, p50", of(&month, 500), "ms"));
    let p99 = Line::new("portfolio of a month, p99", of(&month, P99), "ms");
    lines.push(p99.at_most(REPORT_MS_MAX));
    let year = reports(&hub, YEAR, plan)?;
    lines.push(Line::new("portfolio of a year, p50", of(&year, 500), "ms"));
    lines.push(Line::new("portfolio of a year, p99", of(&year, P99), "ms"));
    let opened = open_some(&hub.running, &first, &others)?;
    lines.push(Line::new("report of a copy that was closed, p50", of(&opened, 500), "ms"));
    lines.push(Line::new("report of a copy that was closed, p99", of(&opened, P99), "ms"));
    let memory = processes::memory_of(hub.running.pid())?;
    lines.push(Line::new("resident memory with as many open as may be", memory.resident, "MB"));
    lines.push(Line::new("resident memory, peak", memory.resident_peak, "MB"));
    hub.running.stop()?;
    source.running.stop()?;
    Ok(lines)
}

fn of(sorted: &[Duration], per_mille: usize) -> f64 {
    milliseconds(percentile(sorted, per_mille))
}

/// Sums by day are made when the copy is complete.
fn wait_for_sums(hub: &Hub) -> Result<()> {
    let started = Instant::now();
    loop {
        let sums = hub.ask("GET", YEAR, &Value::Null)?;
        if sums.pointer("/data/0").is_some() {
            return Ok(());
        }
        ensure!(started.elapsed() < super::SILENCE_MAX, "there are no sums: {sums}");
        std::thread::sleep(super::LOOK);
    }
}

/// Lets the others have what the first has.
fn multiply(data: &Path, first: &Copied, others: &[Copied]) -> Result<()> {
    let folder = data.join("stores/sandbox");
    let file = |copied: &Copied, kind: &str| folder.join(format!("{}.{kind}", copied.id));
    let database = Sqlite::open(data.join("sandbox.db"))?;
    let columns: Vec<String> = {
        let mut statement = database.prepare("SELECT name FROM pragma_table_info(?1)")?;
        let names = statement.query_map(["connection_days"], |row| row.get(0))?;
        let names: std::result::Result<_, _> = names.collect();
        names?
    };
    let own = |name: &String| if name == "connection_id" { "?1".to_owned() } else { name.clone() };
    let values: Vec<String> = columns.iter().map(own).collect();
    let days = format!(
        "INSERT INTO connection_days ({}) SELECT {} FROM connection_days WHERE connection_id = ?2",
        columns.join(", "),
        values.join(", ")
    );
    let row = "UPDATE connections SET (status, name, cursor, counts, last_success_us) =
        (SELECT status, name, cursor, counts, last_success_us FROM connections
         WHERE connection_id = ?2) WHERE connection_id = ?1";
    database.execute_batch("BEGIN")?;
    for other in others {
        for kind in ["db", "facts"] {
            let from = file(first, kind);
            fs::copy(&from, file(other, kind))
                .with_context(|| format!("cannot copy {}", from.display()))?;
        }
        let changed = database.execute(row, [&other.id, &first.id])?;
        ensure!(changed == 1, "there is no connection {}", other.id);
        database.execute(&days, [&other.id, &first.id])?;
    }
    database.execute_batch("COMMIT")?;
    Ok(())
}

/// How long reports over all stores took, sorted.
fn reports(hub: &Hub, span: &str, plan: Plan) -> Result<Vec<Duration>> {
    let mut taken = Vec::new();
    for more in REPORTS.into_iter().cycle().take(plan.reports) {
        let asked = Instant::now();
        let report = hub.ask("GET", &format!("{span}{more}"), &Value::Null)?;
        taken.push(asked.elapsed());
        if more.is_empty() {
            let stores = report.pointer("/data/0/stores").and_then(Value::as_u64);
            ensure!(stores == u64::try_from(plan.stores).ok(), "not all stores: {report}");
        }
    }
    taken.sort();
    Ok(taken)
}

/// How long the first report of copies took that were not open, sorted.
fn open_some(hub: &Running, first: &Copied, others: &[Copied]) -> Result<Vec<Duration>> {
    let expected = text_of(&first.ask(hub, OWN_REPORT)?)?;
    let mut taken = Vec::new();
    for copied in others.iter().take(OPENED) {
        let asked = Instant::now();
        let report = copied.ask(hub, OWN_REPORT)?;
        taken.push(asked.elapsed());
        ensure!(text_of(&report)? == expected, "a copy reports something else: {report}");
    }
    taken.sort();
    Ok(taken)
}

/// The sums of a report.
fn text_of(report: &Value) -> Result<String> {
    Ok(report.get("totals").context("a report has sums")?.to_string())
}
