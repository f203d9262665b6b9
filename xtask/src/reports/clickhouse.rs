//! `cargo xtask bench clickhouse`: how fast two shards of ClickHouse are filled, how fast they
//! answer beside statements written by hand, and how late facts are while a shop sells.
//!
//! The example `clickhouse` of analytics measures; here stand the limits. **A missed limit is a
//! result, not a failure**, as with every benchmark.

use std::fmt::Write as _;
use std::fs;
use std::process::Command;

use anyhow::{Context as _, Result};
use serde_json::Value;

use super::{Lines, lines};
use crate::tools::{self, Tool};

const ORDERS: usize = 10_000_000;
const ORDERS_QUICK: usize = 100_000;
/// For how long the shop sells.
const SELLING_SECONDS: u64 = 60;
const SELLING_SECONDS_QUICK: u64 = 5;

const FILLED_PER_SECOND_MIN: f64 = 50_000.0;
/// How many times as long as a statement written by hand a printed one may take.
const TIMES_BY_HAND_MAX: f64 = 1.5;
const LAG_P99_SECONDS_MAX: f64 = 2.0;

pub(crate) fn run(is_quick: bool, orders: Option<usize>) -> Result<()> {
    Tool::Clickhouse.ensure()?;
    let (usual, selling) =
        if is_quick { (ORDERS_QUICK, SELLING_SECONDS_QUICK) } else { (ORDERS, SELLING_SECONDS) };
    let example = ["--release", "--package", "analytics", "--example", "clickhouse"];
    tools::run(tools::cargo().arg("build").args(example))?;
    let target_dir = tools::target_dir()?;
    let mut measure = Command::new(target_dir.join("release/examples/clickhouse"));
    measure.arg(orders.unwrap_or(usual).to_string()).arg(selling.to_string());
    let table = table(&lines(&mut measure)?)?;
    println!("\n{table}");
    fs::create_dir_all(target_dir.join("bench"))?;
    fs::write(target_dir.join("bench/clickhouse.md"), table)?;
    Ok(())
}

fn table(measured: &Lines) -> Result<String> {
    let number = |line: &Value, member: &str| line[member].as_f64().unwrap_or_default();
    let with = |member: &str| {
        let found = measured.iter().find(|line| !line[member].is_null());
        found.with_context(|| format!("nothing was measured of {member}"))
    };
    let filled = with("orders")?;
    let rate = number(filled, "orders") / number(filled, "seconds").max(0.001);
    let mut text = String::from("| What | measured | limit | |\n|---|---:|---:|---|\n");
    let _ = writeln!(
        text,
        "| orders written per second, of {} | {rate:.0} | at least {FILLED_PER_SECOND_MIN:.0} \
         | {} |",
        filled["orders"],
        verdict(rate >= FILLED_PER_SECOND_MIN)
    );
    let sold = with("sold")?;
    let lag = number(sold, "lag_p99_seconds");
    let _ = writeln!(
        text,
        "| lag at {} orders a second, p99 | {lag:.2} s | at most {LAG_P99_SECONDS_MAX:.0} s \
         | {} |",
        sold["sold_per_second"],
        verdict(lag <= LAG_P99_SECONDS_MAX)
    );
    text.push_str(
        "\n| Question | Span | ms | by hand, ms | times, at most 1.5 | |\n\
         |---|---|---:|---:|---:|---|\n",
    );
    for line in measured.iter().filter(|line| line["question"].is_string()) {
        let [question, span] =
            [&line["question"], &line["span"]].map(|word| word.as_str().unwrap_or_default());
        let (own, by_hand) = (number(line, "ms"), number(line, "by_hand_ms"));
        let times = own / by_hand.max(0.001);
        let _ = writeln!(
            text,
            "| {question} | {span} | {own:.1} | {by_hand:.1} | {times:.2} | {} |",
            verdict(times <= TIMES_BY_HAND_MAX)
        );
    }
    Ok(text)
}

fn verdict(is_within: bool) -> &'static str {
    if is_within { "ok" } else { "missed" }
}
