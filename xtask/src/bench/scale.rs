//! What an onboarding, an order, a report and an event cost on one, two and three nodes of one
//! `PostgreSQL` database, and what a large installation needs by these costs.
//!
//! All nodes, the database and the clients share this machine, so that rates do not add up here.
//! **What counts is the cost of one piece of work**: if it is the same with three nodes as with
//! one, and nobody waits for locks or works twice, machines add up. [`forecast`] multiplies.

mod forecast;
mod nodes;
mod work;

use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use serde_json::{Value, json};
use testkit::postgres::Cluster;

use self::nodes::{Cost, Empty, Nodes};
use self::work::Work;
use crate::{Options, report};

const NODES_MAX: usize = 3;
/// Memory per order is read from a shop of this size.
const FACTS_ORDERS: usize = 50_000;
const FACTS_ORDERS_QUICK: usize = 1_000;

/// How much is measured.
#[derive(Clone, Copy, Debug)]
struct Plan {
    phase: Duration,
    events: usize,
    facts_orders: usize,
}

const FULL: Plan =
    Plan { phase: Duration::from_secs(15), events: 5_000, facts_orders: FACTS_ORDERS };
const QUICK: Plan =
    Plan { phase: Duration::from_secs(2), events: 200, facts_orders: FACTS_ORDERS_QUICK };

/// The costs of all kinds of work on so many nodes.
#[derive(Debug)]
struct Measured {
    nodes: usize,
    costs: Vec<(Work, Cost)>,
}

impl Measured {
    fn of(&self, work: Work) -> Cost {
        let found = self.costs.iter().find(|(measured, _)| *measured == work);
        found.map(|(_, cost)| *cost).unwrap_or_default()
    }
}

pub(crate) fn run(options: &Options, program: &Path, output: &Path) -> Result<()> {
    let plan = if options.quick { QUICK } else { FULL };
    let (mut measured, mut empty) = (Vec::new(), Empty::default());
    for count in 1..=NODES_MAX {
        // Each number of nodes has a database of its own, so that all start from the same size.
        let cluster = Cluster::start()?;
        let mut nodes = Nodes::start(&cluster, program, count)?;
        empty = nodes.empty()?;
        let mut costs = Vec::new();
        for work in Work::ALL {
            let cost = nodes.measure(work, plan.phase, plan.events)?;
            say(count, work, &cost);
            costs.push((work, cost));
        }
        nodes.stop()?;
        measured.push(Measured { nodes: count, costs });
    }
    let round_trips = nodes::round_trips(program)?;
    for (work, each) in &round_trips {
        println!("{:<12} {each:>8.1} round trips", work.name());
    }
    let facts_bytes = nodes::facts_bytes(program, plan.facts_orders)?;
    println!("{:<12} {facts_bytes:>8.1} bytes of memory for reports", Work::Order.name());
    println!("empty copy   {:>8.0} B, {} tables and indexes", empty.bytes, empty.relations);
    let forecasts = measured.first().map(|one| forecast::all(one, empty, facts_bytes));
    let forecasts = forecasts.unwrap_or_default();
    for forecast in &forecasts {
        forecast.print();
    }
    if options.quick {
        println!("\nA quick run: these numbers show that the benchmark works, and no more.");
    }
    let document = json!({
        "machine": report::machine(),
        "phase_seconds": plan.phase.as_secs(),
        "nodes": measured.iter().map(json_of).collect::<Vec<Value>>(),
        "round_trips": round_trips.iter().map(|(work, each)| json!([work.name(), each]))
            .collect::<Vec<Value>>(),
        "facts_bytes_per_order": facts_bytes,
        "empty_copy": { "bytes": empty.bytes, "relations": empty.relations },
        "forecasts": forecasts.iter().map(forecast::Forecast::json).collect::<Vec<Value>>(),
    });
    report::write_document(&document, output)
}

fn say(nodes: usize, work: Work, cost: &Cost) {
    println!(
        "{nodes} nodes: {:<12} {:>7.0}/s, server {:>6.0} µs, database {:>6.0} µs, \
         stored {:>6.0} B, \
         log {:>6.0} B, rolled back {:.4}, waiting for locks {:.1} %",
        work.name(),
        cost.rate,
        cost.server_us,
        cost.database_us,
        cost.stored_bytes,
        cost.log_bytes,
        cost.rolled_back,
        cost.lock_wait_percent,
    );
}

fn json_of(measured: &Measured) -> Value {
    let costs = measured.costs.iter().map(|(work, cost)| {
        json!({
            "work": work.name(), "rate": cost.rate, "server_us": cost.server_us,
            "database_us": cost.database_us, "stored_bytes": cost.stored_bytes,
            "log_bytes": cost.log_bytes, "rolled_back": cost.rolled_back,
            "lock_wait_percent": cost.lock_wait_percent,
        })
    });
    json!({ "nodes": measured.nodes, "costs": costs.collect::<Vec<Value>>() })
}
