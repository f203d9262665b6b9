//! How reads grow, as a table and as JSON.

use std::path::Path;

use anyhow::Result;
use serde_json::{Value, json};

use super::{Sample, Samples, Size};
use crate::Engine;
use crate::report::{machine, write_document};
use crate::statistics::float;

/// What costs less than this in the largest shop is cheap, however it grows: in milliseconds.
const CHEAP_MS: f64 = 5.0;
/// Below this the machine's own work is measured.
const LEAST_MS: f64 = 0.5;
/// The power of the size by which the cost may grow. A cost that is proportional has 1.
const POWER_MAX: f64 = 0.2;

/// Reads that may grow, by how their paths begin, with the reason.
const MAY_GROW: &[(&str, &str)] = &[
    ("/wp-json/wc-analytics/customers?search=", "on PostgreSQL a search reads all customers"),
    ("/wp-json/wc-analytics/customers?orderby=name", "on PostgreSQL without an index"),
    ("/wp-json/wc-analytics/coupons", USED),
    ("/wp-json/wc-analytics/leaderboards", BOUGHT),
    ("/wp-json/wc-analytics/products/low-in-stock", "looks for the last of all sales of a product"),
    ("/wp-json/wc-analytics/reports/customers/stats", BOUGHT),
    ("/wp-json/wc-analytics/reports/customers?orderby=total_spend", BOUGHT),
    (
        "/wp-json/wc-analytics/reports/import/status",
        "looks for each customer whether reports have them",
    ),
    ("/wp-json/wc-analytics/reports/orders/stats", SOLD),
    ("/wp-json/wc-analytics/reports/performance-indicators", SOLD),
    ("/wp-json/wc-analytics/reports/products/stats", SOLD),
    ("/wp-json/wc-analytics/reports/revenue/stats", SOLD),
    (
        "/wp-json/wc-admin/launch-your-store/woopayments/test-orders/count",
        "asked once, before a shop opens",
    ),
    ("/wp-json/wc/store/products/categories", REVIEWED),
    ("/wp-json/wc/store/products/reviews", REVIEWED),
    ("/wp-json/wc/store/v1/products/categories", REVIEWED),
    ("/wp-json/wc/store/v1/products/reviews", REVIEWED),
    ("/wp-json/wc/v1/coupons", USED),
    ("/wp-json/wc/v2/coupons", USED),
    ("/wp-json/wc/v3/coupons", USED),
    ("/wp-json/wc/v3/customers?search=", SEARCHED),
    ("/wp-json/wc/v3/reports/customers/totals", "looks at each customer who has paid"),
    ("/wp-json/wc/v3/orders?after=", "counts the orders of the period"),
    (
        "/wp-json/wc/v3/orders?search={email}",
        "goes through the orders that have its rarest runs of letters",
    ),
    ("/wp-json/wc/v3/orders?search=wright", "counts its hits, here a share of all orders"),
    ("/wp-json/wc/v3/reports/sales?period=", SOLD),
    ("/wp-json/wp/v2/users?search=", SEARCHED),
];

/// A report is a sum.
const SOLD: &str = "adds up what was sold in the period";
const BOUGHT: &str = "adds up what every customer has bought";
const SEARCHED: &str = "a search reads all users";
const USED: &str = "a coupon names everybody who used it";
const REVIEWED: &str = "counts the reviews of products that are published";

/// Prints what grows, the steepest first, and returns what should not.
pub(super) fn print(engine: Engine, samples: &Samples) -> Vec<String> {
    let mut rows: Vec<(f64, &str, String)> = Vec::new();
    let mut errors = Vec::new();
    let mut count = 0;
    for (path, by_size) in samples {
        let Some(power) = power(by_size.iter()) else { continue };
        count += 1;
        let largest = by_size.values().last().map_or(0.0, |sample| sample.processor_ms);
        if power <= POWER_MAX || largest <= CHEAP_MS {
            continue;
        }
        let costs = by_size.values().map(|sample| format!("{:.1}", sample.processor_ms));
        let costs = costs.collect::<Vec<_>>().join(" | ");
        let reason = MAY_GROW.iter().find(|(start, _)| path.starts_with(start));
        let verdict = reason.map_or("GROWS", |(_, reason)| reason);
        if reason.is_none() {
            errors.push(format!("{}: {path} ({costs} ms)", engine.name()));
        }
        rows.push((power, path, format!("{costs} | {power:.2} | {verdict}")));
    }
    rows.sort_by(|one, other| other.0.total_cmp(&one.0));
    println!("\n{}: {count} reads, {} of which grow.\n", engine.name(), rows.len());
    for (_, path, rest) in rows {
        println!("| `{path}` | {rest} |");
    }
    errors
}

/// The power of the size by which the cost grows between the smallest and the largest.
fn power<'a>(by_size: impl Iterator<Item = (&'a Size, &'a Sample)>) -> Option<f64> {
    let served: Vec<(&Size, &Sample)> = by_size.filter(|(_, sample)| sample.status < 400).collect();
    let (first, last) = (served.first()?, served.last()?);
    if first.0 == last.0 {
        return None;
    }
    let cost = last.1.processor_ms.max(LEAST_MS) / first.1.processor_ms.max(LEAST_MS);
    Some(cost.ln() / (float(last.0.orders) / float(first.0.orders)).ln())
}

pub(super) fn write_json(measured: &[(Engine, Samples)], path: &Path) -> Result<()> {
    let of_path = |(path, by_size): (&String, &std::collections::BTreeMap<Size, Sample>)| {
        let sizes = by_size.iter().map(|(size, sample)| {
            json!({
                "orders": size.orders, "merchants": size.merchants, "status": sample.status,
                "processor_ms": sample.processor_ms,
            })
        });
        json!({
            "path": path, "power": power(by_size.iter()),
            "sizes": sizes.collect::<Vec<Value>>(),
        })
    };
    let engines = measured.iter().map(|(engine, samples)| {
        let paths: Vec<Value> = samples.iter().map(of_path).collect();
        json!({ "engine": engine.name(), "paths": paths })
    });
    let engines: Vec<Value> = engines.collect();
    write_document(&json!({ "machine": machine(), "engines": engines }), path)
}
