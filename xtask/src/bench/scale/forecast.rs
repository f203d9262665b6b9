//! What installations of given sizes need: measured costs, multiplied by how often they occur.
//!
//! **Every line is a product that can be checked by hand**, and is printed with its factors. What
//! is assumed about the use is a constant of this file; put in your own.

use serde_json::{Value, json};

use super::Measured;
use super::nodes::Empty;
use super::work::Work;

/// What an installation has. The stores are shops elsewhere that it has copies of.
#[derive(Clone, Copy, Debug)]
struct Size {
    name: &'static str,
    orders: f64,
    merchants: f64,
    stores: f64,
}

const SIZES: [Size; 3] = [
    Size {
        name: "10^7 orders, 10^4 merchants, 10^3 connected stores",
        orders: 1e7,
        merchants: 1e4,
        stores: 1e3,
    },
    Size {
        name: "10^8 orders, 10^5 merchants, 10^4 connected stores",
        orders: 1e8,
        merchants: 1e5,
        stores: 1e4,
    },
    Size {
        name: "10^9 orders, 10^6 merchants, 10^5 connected stores",
        orders: 1e9,
        merchants: 1e6,
        stores: 1e5,
    },
];

/// The records are those of so many years.
const YEARS: f64 = 3.0;
const SECONDS_IN_YEAR: f64 = 365.0 * 86_400.0;
/// The busiest minute of a year, as a multiple of the mean.
const PEAK: f64 = 10.0;
/// A merchant looks at so many reports a day.
const REPORTS_A_DAY: f64 = 20.0;
/// A processor is planned to be busy for this share of the busiest minute.
const BUSY: f64 = 0.5;

/// A need, and the product it comes from.
#[derive(Debug)]
struct Line {
    name: &'static str,
    value: f64,
    unit: &'static str,
    formula: String,
}

#[derive(Debug)]
pub(super) struct Forecast {
    size: Size,
    lines: Vec<Line>,
}

/// From the costs on one node, those of a database without records, and the bytes of memory that
/// reports take for an order.
pub(super) fn all(measured: &Measured, empty: Empty, facts_bytes: f64) -> Vec<Forecast> {
    SIZES.into_iter().map(|size| forecast(size, measured, empty, facts_bytes)).collect()
}

fn forecast(size: Size, measured: &Measured, empty: Empty, facts_bytes: f64) -> Forecast {
    let per_second = |count: f64| count / (YEARS * SECONDS_IN_YEAR) * PEAK;
    let rates = [
        (Work::Onboarding, per_second(size.merchants)),
        (Work::Order, per_second(size.orders)),
        (Work::Report, size.merchants * REPORTS_A_DAY / 86_400.0 * PEAK),
        (Work::Event, per_second(size.merchants)),
    ];
    let order = measured.of(Work::Order);
    let onboarding = measured.of(Work::Onboarding);
    let stored = size.orders * order.stored_bytes + size.merchants * onboarding.stored_bytes;
    let log: f64 = rates.iter().map(|(work, rate)| rate * measured.of(*work).log_bytes).sum();
    let cores = |cost: fn(&super::Cost) -> f64| -> f64 {
        let busy: f64 = rates.iter().map(|(work, rate)| rate * cost(&measured.of(*work))).sum();
        busy / 1e6 / BUSY
    };
    let sum = |cost: fn(&super::Cost) -> f64| {
        let parts = rates.iter().map(|(work, rate)| {
            format!("{rate:.1}/s × {:.0} µs ({})", cost(&measured.of(*work)), work.name())
        });
        format!("({}) ÷ {BUSY}", parts.collect::<Vec<String>>().join(" + "))
    };
    let mut lines = vec![
        Line {
            name: "disk of the database",
            value: stored / 1e9,
            unit: "GB",
            formula: format!(
                "{:.0} orders × {:.0} B + {:.0} merchants × {:.0} B",
                size.orders, order.stored_bytes, size.merchants, onboarding.stored_bytes
            ),
        },
        Line {
            name: "log to a standby at the peak",
            value: log / 1e6,
            unit: "MB/s",
            formula: format!("bytes of log of each piece of work × its rate, mean × {PEAK}"),
        },
        Line {
            name: "processors of all nodes",
            value: cores(|cost| cost.server_us),
            unit: "cores",
            formula: sum(|cost| cost.server_us),
        },
        Line {
            name: "processors of the database",
            value: cores(|cost| cost.database_us),
            unit: "cores",
            formula: sum(|cost| cost.database_us),
        },
        Line {
            name: "memory of each node for reports",
            value: size.orders * facts_bytes / 1e9,
            unit: "GB",
            formula: format!("{:.0} orders × {facts_bytes:.0} B", size.orders),
        },
    ];
    lines.extend(of_copies(size, empty));
    Forecast { size, lines }
}

/// What the copies of connected stores take beside their orders.
fn of_copies(size: Size, empty: Empty) -> [Line; 2] {
    let stores = size.stores;
    [
        Line {
            name: "disk of the copies, beside orders",
            value: stores * empty.bytes / 1e9,
            unit: "GB",
            formula: format!("{stores:.0} stores × {:.0} B", empty.bytes),
        },
        Line {
            name: "tables and indexes of the copies",
            value: stores * empty.relations / 1e6,
            unit: "mln",
            formula: format!("{stores:.0} stores × {:.0}", empty.relations),
        },
    ]
}

impl Forecast {
    pub(super) fn print(&self) {
        println!("\n{}", self.size.name);
        for line in &self.lines {
            println!(
                "  {:<32} {:>10.1} {:<6} = {}",
                line.name, line.value, line.unit, line.formula
            );
        }
    }

    pub(super) fn json(&self) -> Value {
        let lines = self.lines.iter().map(|line| {
            json!({
                "name": line.name, "value": line.value, "unit": line.unit, "formula": line.formula,
            })
        });
        json!({ "size": self.size.name, "lines": lines.collect::<Vec<Value>>() })
    }
}
