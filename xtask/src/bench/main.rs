//! The benchmarks: the real server under load, beside the least that could do the same. Started by
//! `cargo xtask bench …`, which hands over the built server.
//!
//! Onboarding is measured beside a bare loop that stores the same rows: [`measure`] runs the phases
//! of one engine and [`report`] compares them with the targets. The server is the released program
//! with its usual settings ([`subject`]); the clients are one thread ([`load`]); the bare loop is
//! in [`bare`]. **A missed target is a result, not a failure**: the exit status tells only whether
//! the measuring went well. The REST interface is measured in [`rest`], beside a bare server;
//! the import of orders in [`import`], beside a bare loop that inserts the same rows; what others
//! wait for beside a greedy caller in [`greedy`]; a buyer's requests in [`storefront`], in shops of
//! growing size; how the cost of every read grows with the data in [`growth`]; connected stores
//! in [`connect`]; and what work costs on several nodes in [`scale`].

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command-line program prints to the terminal"
)]

mod bare;
mod connect;
mod greedy;
mod growth;
mod import;
mod load;
mod measure;
mod processes;
mod report;
mod request;
mod rest;
mod rows;
mod scale;
mod statistics;
mod storefront;
mod subject;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, Result};
use clap::{Parser, ValueEnum};

#[derive(Parser, Debug)]
struct Options {
    /// What to measure
    #[arg(long, value_enum, default_value_t = Subject::Onboarding)]
    subject: Subject,
    /// The server to measure
    #[arg(long)]
    program: Option<PathBuf>,
    /// The JSON file to write
    #[arg(long)]
    output: Option<PathBuf>,
    /// Be the server that the REST interface is compared with
    #[arg(long, hide = true)]
    bare_server: bool,
    #[arg(long)]
    quick: bool,
    /// Measure on this engine only
    #[arg(long, value_enum)]
    engine: Option<Engine>,
    /// Only the requests whose names, or paths, contain this
    #[arg(long, value_name = "TEXT")]
    case: Option<String>,
    /// Orders of the store that is connected, or of the largest shop whose growth is measured
    #[arg(long)]
    orders: Option<usize>,
    /// Connected stores in one process
    #[arg(long)]
    stores: Option<usize>,
    /// Cargo says this to every benchmark
    #[arg(long, hide = true)]
    bench: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Subject {
    Onboarding,
    Rest,
    Import,
    Greedy,
    Storefront,
    Growth,
    Connect,
    Scale,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Engine {
    Sqlite,
    Postgres,
}

impl Engine {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Sqlite => "SQLite",
            Self::Postgres => "PostgreSQL",
        }
    }
}

/// How much is measured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    /// All phases are run this often, one after the other; the median counts.
    pub(crate) rounds: usize,
    pub(crate) phase: Duration,
    /// The server's memory is looked at after so many onboardings.
    pub(crate) onboardings: usize,
    pub(crate) cold_starts: usize,
    /// Rows of the file that is uploaded.
    pub(crate) file_rows: u64,
}

impl Plan {
    const FULL: Self = Self {
        rounds: 3,
        phase: Duration::from_secs(6),
        onboardings: 100_000,
        cold_starts: 10,
        file_rows: 10_000,
    };
    const QUICK: Self = Self {
        rounds: 1,
        phase: Duration::from_secs(2),
        onboardings: 5_000,
        cold_starts: 3,
        file_rows: 2_000,
    };
}

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Result<()> {
    if options.bare_server {
        return rest::serve_bare();
    }
    let program = options.program.as_deref().context("--program is required")?;
    let output = options.output.as_deref().context("--output is required")?;
    match options.subject {
        Subject::Onboarding => onboarding(options, program, output),
        Subject::Rest => rest::run(options, program, output),
        Subject::Import => import::run(options, program, output),
        Subject::Greedy => greedy::run(options, program, output),
        Subject::Storefront => storefront::run(options, program, output),
        Subject::Growth => growth::run(options, program, output),
        Subject::Connect => connect::run(options, program, output),
        Subject::Scale => scale::run(options, program, output),
    }
}

fn onboarding(options: &Options, program: &Path, output: &Path) -> Result<()> {
    let plan = if options.quick { Plan::QUICK } else { Plan::FULL };
    let mut results = Vec::new();
    for engine in [Engine::Sqlite, Engine::Postgres] {
        if options.engine.is_none_or(|wanted| wanted == engine) {
            results.push(measure::engine(engine, program, &plan)?);
        }
    }
    let reports: Vec<report::Report<'_>> =
        results.iter().map(|result| report::Report::new(result, &plan)).collect();
    for report in &reports {
        report.print();
    }
    if options.quick {
        println!(
            "\nA quick run: these numbers show that the benchmark works, not how fast the server \
             is."
        );
    }
    report::write_json(&reports, &plan, output)
}
