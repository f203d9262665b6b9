//! `cargo xtask bench reports`: how fast questions to the facts are answered, beside plain loops
//! over the same numbers and beside DuckDB, and how that grows with the number of orders.
//!
//! **Both programs make their data by the same formula**, so their answers can be compared: when a
//! sum differs, nothing is measured. What the numbers mean stands in docs/performance.md.

pub(crate) mod clickhouse;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use crate::tools;

/// Orders of the measurements; the last is compared with DuckDB.
const SIZES: [u64; 3] = [1_000_000, 3_000_000, 10_000_000];
const SIZES_QUICK: [u64; 3] = [20_000, 60_000, 200_000];
/// The version that is compared.
const DUCKDB: &str = "duckdb==2.0.0";

/// What was measured: lines of JSON, each an object.
type Lines = Vec<Value>;

pub(crate) fn run(is_quick: bool) -> Result<()> {
    let sizes = if is_quick { SIZES_QUICK } else { SIZES };
    let folder = tools::target_dir()?.join("bench");
    fs::create_dir_all(&folder)?;
    let example = ["--release", "--package", "analytics", "--example", "measure"];
    tools::run(tools::cargo().arg("build").args(example))?;
    tools::run(tools::cargo().args(["build", "--release", "--package", "boardwalk"]))?;
    let built = tools::target_dir()?.join("release");
    let measure = built.join("examples/measure");
    let mut measured = BTreeMap::new();
    for size in sizes {
        measured.insert(size, lines(Command::new(&measure).arg(size.to_string()))?);
    }
    let [smallest, .., largest] = sizes;
    let python = duckdb(&folder)?;
    let script = tools::root().join("xtask/src/reports/duckdb_reports.py");
    let compared = lines(Command::new(python).arg(script).arg(largest.to_string()))?;
    let own = measured.get(&largest).context("the largest was measured")?;
    let mut table = table(own, &compared)?;
    let script = tools::root().join("xtask/src/reports/http_reports.py");
    let mut through_http = Command::new("python3");
    through_http.arg(script).arg(built.join("boardwalk")).arg(&measure);
    let rounds = if is_quick { 5 } else { 100 };
    through_http.args([largest, smallest, rounds].map(|number| number.to_string()));
    table.push_str(&through_http_table(&lines(&mut through_http)?));
    println!("\n{table}");
    fs::write(folder.join("reports.md"), &table)?;
    fs::write(folder.join("reports.svg"), picture(&measured))?;
    println!("The curve is in {}.", folder.join("reports.svg").display());
    Ok(())
}

fn lines(command: &mut Command) -> Result<Lines> {
    let mut child = command.stdout(Stdio::piped()).spawn()?;
    let output = child.stdout.take().context("the output is a pipe")?;
    let mut lines = Vec::new();
    for line in BufReader::new(output).lines() {
        let line = line?;
        // At once, since a later step may fail after many minutes.
        println!("{line}");
        lines.push(serde_json::from_str(&line)?);
    }
    if !child.wait()?.success() {
        bail!("{command:?} failed");
    }
    Ok(lines)
}

/// A Python that has DuckDB.
fn duckdb(folder: &Path) -> Result<std::path::PathBuf> {
    let venv = folder.join("venv");
    let python = venv.join("bin/python");
    if !python.exists() {
        tools::run(Command::new("python3").args(["-m", "venv"]).arg(&venv))?;
    }
    tools::run(Command::new(&python).args(["-m", "pip", "install", "--quiet", DUCKDB]))?;
    Ok(python)
}

fn find<'a>(lines: &'a Lines, kind: &str, question: &str, span: &str) -> Option<&'a Value> {
    let is_wanted =
        |line: &&Value| line[kind] == question && (line["span"] == span || line["span"].is_null());
    lines.iter().find(is_wanted)
}

fn table(own: &Lines, compared: &Lines) -> Result<String> {
    let head = own.first().context("something was measured")?;
    let mut text = format!(
        "{} orders with {} lines, {} bytes per order.\n\n",
        head["orders"], head["lines"], head["bytes_per_order"]
    );
    text.push_str(
        "| Question | Span | first, ms | again, ms | limit, ms | DuckDB, ms | times faster, first \
         | times faster, again |\n|---|---|---:|---:|---:|---:|---:|---:|\n",
    );
    for line in own.iter().filter(|line| line["question"].is_string()) {
        let question = line["question"].as_str().unwrap_or_default();
        let span = line["span"].as_str().unwrap_or_default();
        let other = find(compared, "duckdb", question, span).context("DuckDB answers as well")?;
        if other["check"] != line["check"] {
            bail!("{question} ({span}): {} here, {} by DuckDB", line["check"], other["check"]);
        }
        let limit = find(own, "limit", question, "").filter(|_| span == "all");
        let limit = limit.map_or(String::new(), |limit| limit["ms"].to_string());
        let ms = |line: &Value, member: &str| line[member].as_f64().unwrap_or_default();
        let (first, again, duckdb) = (ms(line, "first_ms"), ms(line, "ms"), ms(other, "ms"));
        let _ = writeln!(
            text,
            "| {question} | {span} | {first:.2} | {again:.2} | {limit} | {duckdb:.1} | {:.1} \
             | {:.1} |",
            duckdb / first.max(0.001),
            duckdb / again.max(0.001)
        );
    }
    Ok(text)
}

/// What the HTTP interface took.
fn through_http_table(lines: &Lines) -> String {
    let mut text =
        "\n| Orders | Report | Span | median, ms | p99, ms |\n|---:|---|---|---:|---:|\n"
            .to_owned();
    let (reports, others): (Vec<&Value>, Vec<&Value>) =
        lines.iter().partition(|line| line["http"].is_string());
    for line in reports {
        let words = [&line["http"], &line["span"]].map(|word| word.as_str().unwrap_or_default());
        let [name, span] = words;
        let (median, p99) = (&line["median_ms"], &line["p99_ms"]);
        let _ = writeln!(text, "| {} | {name} | {span} | {median} | {p99} |", line["orders"]);
    }
    text.push('\n');
    for line in others {
        let _ = writeln!(text, "- `{line}`");
    }
    text
}

/// Width and height of the picture, and its margin.
const PICTURE: (f64, f64, f64) = (640.0, 360.0, 56.0);
/// The questions that it shows, each with a colour.
const SHOWN: [(&str, &str, &str); 4] = [
    ("products", "all", "#1f5f8b"),
    ("revenue by day", "all", "#b5532d"),
    ("products", "30 days", "#4f9d69"),
    ("revenue by day", "30 days", "#8a6bb0"),
];

/// Time over the number of orders.
fn picture(measured: &BTreeMap<u64, Lines>) -> String {
    let (width, height, margin) = PICTURE;
    let point = |size: u64, question: &str, span: &str| {
        let line = find(measured.get(&size)?, "question", question, span)?;
        Some((f64::from(u32::try_from(size).ok()?), line["first_ms"].as_f64()?))
    };
    let curves = SHOWN.map(|(question, span, colour)| {
        let points = measured.keys().filter_map(|size| point(*size, question, span));
        (question, span, colour, points.collect::<Vec<(f64, f64)>>())
    });
    let all = || curves.iter().flat_map(|curve| &curve.3);
    let right = all().map(|point| point.0).fold(1.0, f64::max);
    let top = all().map(|point| point.1).fold(1.0, f64::max);
    let x = |orders: f64| margin + orders / right * (width - 2.0 * margin);
    let y = |ms: f64| height - margin - ms / top * (height - 2.0 * margin);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"sans-serif\" font-size=\"12\">\n<title>Time of questions by number of \
         orders</title>\n<rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n\
         <path d=\"M{margin} {margin}V{0}H{1}\" fill=\"none\" stroke=\"#555555\"/>\n",
        height - margin,
        width - margin
    );
    for (place, (question, span, colour, points)) in curves.iter().enumerate() {
        let path: Vec<String> =
            points.iter().map(|(orders, ms)| format!("{:.1},{:.1}", x(*orders), y(*ms))).collect();
        let _ = writeln!(
            svg,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>",
            path.join(" ")
        );
        let _ = writeln!(
            svg,
            "<text x=\"{}\" y=\"{}\" fill=\"{colour}\">{question}, {span}</text>",
            margin + 12.0,
            margin + 16.0 * f64::from(u8::try_from(place).unwrap_or_default())
        );
    }
    for size in measured.keys() {
        let orders = f64::from(u32::try_from(*size).unwrap_or(u32::MAX));
        let _ = writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{}\" text-anchor=\"middle\">{} million</text>",
            x(orders),
            height - margin + 18.0,
            orders / 1_000_000.0
        );
    }
    let _ = writeln!(
        svg,
        "<text x=\"{}\" y=\"{}\">orders</text>\n\
         <text x=\"8\" y=\"{margin}\">{top:.0} ms</text>\n</svg>",
        width - margin,
        height - 8.0
    );
    svg
}
