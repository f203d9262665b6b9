//! What was measured of the store front, as tables and as JSON.

use std::path::Path;

use anyhow::Result;
use serde_json::{Value, json};

use super::{Measured, Plan, Sample, Size, Step};
use crate::report::{machine, write_document};

/// How much dearer a step may be in the largest shop than in the smallest, where it must not be.
const GROWTH_MAX: f64 = 1.5;

impl Measured {
    /// What a step came to in each size.
    fn of(&self, step: Step) -> Vec<(Size, Sample)> {
        let found = self.samples.iter().filter_map(|(size, samples)| {
            let sample = samples.iter().find(|(own, _)| *own == step);
            sample.map(|(_, sample)| (*size, *sample))
        });
        found.collect()
    }

    /// Processor time in the largest shop as a multiple of that in the smallest.
    fn growth(&self, step: Step) -> f64 {
        let samples = self.of(step);
        match (samples.first(), samples.last()) {
            (Some((_, first)), Some((_, last))) if first.processor_us > 0.0 => {
                last.processor_us / first.processor_us
            }
            _ => 1.0,
        }
    }

    /// Whether the step costs no more than it may, in every size; nothing where nothing is wanted.
    fn is_met(&self, step: Step) -> Option<bool> {
        let target = step.target_us()?;
        let is_cheap = self.of(step).iter().all(|(_, sample)| sample.processor_us <= target);
        Some(is_cheap && (!step.is_flat() || self.growth(step) <= GROWTH_MAX))
    }
}

/// Prints a table in Markdown, so that it can be put into docs/performance.md as it is.
pub(super) fn print(measured: &Measured, plan: Plan) {
    println!(
        "\n{}: one connection over loopback, HTTP/1.1, {} requests of each kind. Bare axum saying \
         hello: p50 {:.2} ms, p99 {:.2} ms, {:.0} µs of processor time.\n",
        measured.engine.name(),
        plan.rounds,
        measured.hello.p50_ms,
        measured.hello.p99_ms,
        measured.hello.processor_us,
    );
    let row = |cells: [&str; 7]| {
        let [name, products, p50, p99, time, growth, verdict] = cells;
        println!(
            "| {name:<20} | {products:>8} | {p50:>7} | {p99:>7} | {time:>7} | {growth:>6} | \
             {verdict:<7} |"
        );
    };
    let name = measured.engine.name();
    row([name, "products", "p50 ms", "p99 ms", "µs each", "growth", "verdict"]);
    let dashes = "------:";
    row(["---", dashes, dashes, dashes, dashes, "-----:", "---"]);
    for step in Step::ALL {
        let samples = measured.of(step);
        let count = samples.len();
        for (place, (size, sample)) in samples.into_iter().enumerate() {
            let is_last = place + 1 == count;
            let growth =
                if is_last { format!("{:.2}", measured.growth(step)) } else { String::new() };
            let verdict = match measured.is_met(step).filter(|_| is_last) {
                Some(true) => "met",
                Some(false) => "MISSED",
                None => "",
            };
            row([
                step.name(),
                &size.products.to_string(),
                &format!("{:.2}", sample.p50_ms),
                &format!("{:.2}", sample.p99_ms),
                &format!("{:.0}", sample.processor_us),
                &growth,
                verdict,
            ]);
        }
    }
}

pub(super) fn write_json(measured: &[Measured], plan: Plan, path: &Path) -> Result<()> {
    let sample = |sample: &Sample| {
        json!({
            "p50_ms": sample.p50_ms, "p99_ms": sample.p99_ms,
            "processor_us": sample.processor_us,
        })
    };
    let step = |engine: &Measured, step: Step| {
        let sizes = engine.of(step).into_iter().map(|(size, measured)| {
            json!({
                "products": size.products, "carts": size.carts, "orders": size.orders,
                "sample": sample(&measured),
            })
        });
        json!({
            "name": step.name(), "target_us": step.target_us(), "growth": engine.growth(step),
            "met": engine.is_met(step), "sizes": sizes.collect::<Vec<Value>>(),
        })
    };
    let engines = measured.iter().map(|engine| {
        let steps: Vec<Value> = Step::ALL.into_iter().map(|one| step(engine, one)).collect();
        json!({ "engine": engine.engine.name(), "hello": sample(&engine.hello), "steps": steps })
    });
    let document = json!({
        "machine": machine(), "rounds": plan.rounds, "engines": engines.collect::<Vec<Value>>(),
    });
    write_document(&document, path)
}
