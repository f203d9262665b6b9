//! What was measured of the REST interface, as a table and as JSON, and whether it is enough.

use std::path::Path;

use anyhow::{Result, bail};
use serde_json::{Value, json};

use super::cases::Target;
use super::{CONNECTIONS, Measured, MeasuredCase, Plan, Round, Sample};
use crate::report::{machine, write_document};
use crate::statistics::median;

/// The least share of the bare server's rate, in percent.
const SHARE_MIN: f64 = 60.0;

impl MeasuredCase {
    fn median(&self, read: impl Fn(&Round) -> f64) -> f64 {
        median(self.rounds.iter().map(read))
    }

    /// Share of the rate of the server that says hello, in percent.
    fn share_of_hello(&self) -> f64 {
        self.median(|round| round.product.rate / round.hello.rate * 100.0)
    }

    /// Share of the rate of a server that sends as many bytes, if they are many.
    fn share_of_same_size(&self) -> Option<f64> {
        let share = |round: &Round| Some(round.product.rate / round.same_size?.rate * 100.0);
        let shares: Vec<f64> = self.rounds.iter().filter_map(share).collect();
        (!shares.is_empty()).then(|| median(shares))
    }

    /// What the target is about: a large answer cannot be as quick as a short one, whoever sends
    /// it, so it is held against a server that sends as many bytes.
    fn judged_share(&self) -> f64 {
        self.share_of_same_size().unwrap_or_else(|| self.share_of_hello())
    }

    fn is_met(&self) -> Option<bool> {
        (self.case.wanted == Target::Share).then(|| self.judged_share() >= SHARE_MIN)
    }
}

/// Prints a table in Markdown, so that it can be put into docs/performance.md as it is.
pub(super) fn print(measured: &Measured, plan: &Plan) {
    let hello = |read: fn(&Sample) -> f64| {
        let rounds = measured.cases.iter().flat_map(|case| &case.rounds);
        median(rounds.map(|round| read(&round.hello)))
    };
    println!(
        "\n{}: {CONNECTIONS} keep-alive connections (4 for the batch) of one thread over loopback, \
         HTTP/1.1; {} rounds of {:?} each. Bare axum saying hello: {:.0}/s, p99 {:.2} ms, {:.1} µs \
         of processor time for a request; the clients spent {:.1} µs.\n",
        measured.engine.name(),
        plan.rounds,
        plan.phase,
        hello(|sample| sample.rate),
        hello(|sample| sample.p99_ms),
        hello(|sample| sample.server_us),
        hello(|sample| sample.clients_us),
    );
    let row = |cells: [&str; 8]| {
        let [name, bytes, rate, p99, time, hello, size, verdict] = cells;
        println!(
            "| {name:<30} | {bytes:>7} | {rate:>7} | {p99:>7} | {time:>7} | {hello:>7} | \
             {size:>10} | {verdict:<7} |"
        );
    };
    let name = measured.engine.name();
    row([name, "bytes", "per s", "p99 ms", "µs each", "÷ hello", "÷ as large", "verdict"]);
    let dashes = "------:";
    row(["---", dashes, dashes, dashes, dashes, dashes, "---------:", "---"]);
    for case in &measured.cases {
        let percent = |share: f64| format!("{share:.0} %");
        let verdict = case.is_met().map_or("", |met| if met { "met" } else { "MISSED" });
        row([
            case.case.name,
            &case.answer_bytes.to_string(),
            &format!("{:.0}", case.median(|round| round.product.rate)),
            &format!("{:.2}", case.median(|round| round.product.p99_ms)),
            &format!("{:.1}", case.median(|round| round.product.server_us)),
            &percent(case.share_of_hello()),
            &case.share_of_same_size().map(percent).unwrap_or_default(),
            verdict,
        ]);
    }
    println!(
        "\nResident memory after {} requests: {:.0} MB, at most {:.0} MB.",
        measured.requests(),
        measured.memory.resident,
        measured.memory.resident_peak
    );
}

impl Measured {
    /// To the product, but for those that warmed it up.
    fn requests(&self) -> usize {
        let rounds = self.cases.iter().flat_map(|case| &case.rounds);
        rounds.map(|round| round.product.requests).sum()
    }
}

/// An error that names what is too slow.
pub(super) fn verdict(measured: &[Measured]) -> Result<()> {
    let mut missed = Vec::new();
    for engine in measured {
        for case in engine.cases.iter().filter(|case| case.is_met() == Some(false)) {
            let share = case.judged_share();
            missed.push(format!("{} on {} ({share:.0} %)", case.case.name, engine.engine.name()));
        }
    }
    if !missed.is_empty() {
        bail!(
            "below {SHARE_MIN} % of a bare axum server: {}; docs/performance.md explains the \
             shares",
            missed.join(", ")
        );
    }
    println!("\nThe index and the simple reads reach {SHARE_MIN} % of a bare axum server.");
    Ok(())
}

pub(super) fn write_json(measured: &[Measured], plan: &Plan, path: &Path) -> Result<()> {
    let sample = |sample: &Sample| {
        json!({
            "rate": sample.rate, "p50_ms": sample.p50_ms, "p99_ms": sample.p99_ms,
            "server_us": sample.server_us, "clients_us": sample.clients_us,
        })
    };
    let round = |round: &Round| {
        json!({
            "hello": sample(&round.hello),
            "same_size": round.same_size.as_ref().map(sample),
            "product": sample(&round.product),
        })
    };
    let case = |case: &MeasuredCase| {
        json!({
            "name": case.case.name, "status": case.case.status,
            "connections": case.case.connections, "answer_bytes": case.answer_bytes,
            "share_of_hello": case.share_of_hello(),
            "share_of_same_size": case.share_of_same_size(),
            "met": case.is_met(),
            "rounds": case.rounds.iter().map(round).collect::<Vec<_>>(),
        })
    };
    let engines = measured.iter().map(|engine| {
        let cases: Vec<Value> = engine.cases.iter().map(case).collect();
        json!({
            "engine": engine.engine.name(), "cases": cases, "requests": engine.requests(),
            "resident_mb": engine.memory.resident,
            "resident_peak_mb": engine.memory.resident_peak,
        })
    });
    let document = json!({
        "machine": machine(),
        "connections": CONNECTIONS,
        "rounds": plan.rounds,
        "phase_ms": plan.phase.as_secs_f64() * 1e3,
        "engines": engines.collect::<Vec<_>>(),
    });
    write_document(&document, path)
}
