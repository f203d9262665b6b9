//! `cargo xtask bench …`: measures the product beside what the machine could do at best.
//!
//! The measuring itself is a benchmark target of its own, below `bench/`, so that the other chores
//! do not have to build database engines first. **This file only builds and starts it**; begin
//! with `bench/main.rs`. docs/performance.md says how to read the numbers.

use std::process::Command;

use anyhow::Result;
use clap::{Args, ValueEnum};

use crate::tools::{self, Tool};

#[derive(Args, Debug)]
pub(crate) struct Options {
    what: Subject,
    /// A few seconds only: shows that everything runs, not how fast it is
    #[arg(long)]
    quick: bool,
    /// Measure on this engine only: sqlite or postgres
    #[arg(long, value_name = "ENGINE")]
    engine: Option<String>,
    /// Of `rest` and `growth`, measure only the requests whose names or paths contain this
    #[arg(long, value_name = "TEXT")]
    case: Option<String>,
    /// Of `connect`, how many orders the store has that is connected; of `clickhouse`, all orders;
    /// of `growth`, those of the largest shop
    #[arg(long, value_name = "COUNT")]
    orders: Option<usize>,
    /// Of `connect`, how many stores are in one process
    #[arg(long, value_name = "COUNT")]
    stores: Option<usize>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Subject {
    /// Onboardings of merchant, store and TPN: rate, latency, processor time, memory, start
    Onboarding,
    /// Requests of the REST interface: rate, latency, and the share of a bare server's rate
    Rest,
    /// `boardwalk import orders`: rate, its share of a bare loop's, and memory
    Import,
    /// Latency of reads and onboardings beside a caller who keeps 60 connections busy
    Greedy,
    /// A buyer's requests to the Store API, in shops of growing size
    Storefront,
    /// Every read of both interfaces, in shops of growing size: what costs more as data grow
    Growth,
    /// A connected store: its first copy, live changes, and many stores in one process
    Connect,
    /// What work costs on one, two and three nodes, and what large installations need by that
    Scale,
    /// Questions to the facts of reports, beside plain loops and DuckDB
    Reports,
    /// Reports on two shards of ClickHouse: filling, questions beside SQL by hand, and the lag
    Clickhouse,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let subject = match options.what {
        Subject::Onboarding => "onboarding",
        Subject::Rest => "rest",
        Subject::Import => "import",
        Subject::Greedy => "greedy",
        Subject::Storefront => "storefront",
        Subject::Growth => "growth",
        Subject::Connect => "connect",
        Subject::Scale => "scale",
        Subject::Reports => return crate::reports::run(options.quick),
        Subject::Clickhouse => {
            return crate::reports::clickhouse::run(options.quick, options.orders);
        }
    };
    Tool::Postgres.ensure()?;
    // Built by itself, so that it has no feature of a dependency that only the benchmark asks for.
    tools::run(tools::cargo().args(["build", "--release", "--package", "boardwalk"]))?;
    let target_dir = tools::target_dir()?;
    let mut bench: Command = tools::cargo();
    bench.args(["bench", "--quiet", "--package", "xtask", "--bench", "measure", "--"]);
    bench.args(["--subject", subject]);
    bench.arg("--program").arg(target_dir.join("release/boardwalk"));
    bench.arg("--output").arg(target_dir.join(format!("bench/{subject}.json")));
    if options.quick {
        bench.arg("--quick");
    }
    if let Some(engine) = &options.engine {
        bench.args(["--engine", engine]);
    }
    if let Some(case) = &options.case {
        bench.args(["--case", case]);
    }
    for (name, count) in [("--orders", options.orders), ("--stores", options.stores)] {
        if let Some(count) = count {
            bench.arg(name).arg(count.to_string());
        }
    }
    tools::run(&mut bench)
}
