//! The benchmark of the REST interface: the real server beside a bare axum server that says hello.
//!
//! Both are processes of their own, asked by the same clients on as many connections, in turns:
//! each phase of the product directly follows one of the bare server, and the share is the median
//! over the rounds. Where an answer is large, there is also a bare server that sends as many bytes
//! from memory. **A missed target is an error** here, because the shares depend little on the
//! machine.

mod bare_server;
mod cases;
mod clients;
mod report;

pub(crate) use self::bare_server::{BareServer, serve as serve_bare};
pub(crate) use self::cases::base64;

use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result};
use testkit::postgres::Cluster;

use self::cases::{Case, Scenario};
use self::clients::{Clients, Outcome};
use crate::processes::{self, Memory};
use crate::statistics::{microseconds_each, milliseconds};
use crate::{Engine, Options};

/// Keep-alive connections on which requests are sent.
pub(crate) const CONNECTIONS: usize = 32;
/// An answer of more bytes is also compared with a bare server that sends as many.
const LARGE_BYTES: usize = 4 << 10;
const WARM_UP: Duration = Duration::from_millis(300);

#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    pub(crate) rounds: usize,
    pub(crate) phase: Duration,
    /// For each phase of the bare server.
    pub(crate) bare_phase: Duration,
}

impl Plan {
    const FULL: Self =
        Self { rounds: 5, phase: Duration::from_millis(1500), bare_phase: Duration::from_secs(1) };
    const QUICK: Self = Self {
        rounds: 1,
        phase: Duration::from_millis(300),
        bare_phase: Duration::from_millis(300),
    };
}

/// Everything measured on one engine.
#[derive(Debug)]
pub(crate) struct Measured {
    pub(crate) engine: Engine,
    pub(crate) cases: Vec<MeasuredCase>,
    /// Of the server after all of them.
    pub(crate) memory: Memory,
}

#[derive(Debug)]
pub(crate) struct MeasuredCase {
    pub(crate) case: Case,
    pub(crate) answer_bytes: usize,
    pub(crate) rounds: Vec<Round>,
}

/// One phase of the product and those of the bare server before it.
#[derive(Debug)]
pub(crate) struct Round {
    pub(crate) hello: Sample,
    /// As many bytes as the answer has, if those are many.
    pub(crate) same_size: Option<Sample>,
    pub(crate) product: Sample,
}

/// Times of processors are microseconds for one request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    pub(crate) requests: usize,
    pub(crate) rate: f64,
    pub(crate) p50_ms: f64,
    pub(crate) p99_ms: f64,
    pub(crate) server_us: f64,
    pub(crate) clients_us: f64,
}

pub(crate) fn run(options: &Options, program: &Path, output: &Path) -> Result<()> {
    let plan = if options.quick { Plan::QUICK } else { Plan::FULL };
    let mut measured = Vec::new();
    for engine in [Engine::Sqlite, Engine::Postgres] {
        if options.engine.is_none_or(|wanted| wanted == engine) {
            measured.push(measure(engine, program, &plan, options.case.as_deref())?);
        }
    }
    for engine in &measured {
        report::print(engine, &plan);
    }
    report::write_json(&measured, &plan, output)?;
    if options.quick {
        println!(
            "\nA quick run: these numbers show that the benchmark works, not how fast the server \
             is."
        );
        return Ok(());
    }
    report::verdict(&measured)
}

fn measure(engine: Engine, program: &Path, plan: &Plan, only: Option<&str>) -> Result<Measured> {
    println!("{}: starting", engine.name());
    let folder = testkit::temp_dir()?;
    let cluster = match engine {
        Engine::Sqlite => None,
        Engine::Postgres => Some(Cluster::start()?),
    };
    let database = cluster.as_ref().map(Cluster::create_database).transpose()?;
    let scenario = Scenario::create(program, &folder.path().join("data"), database)?;
    let bare = BareServer::start()?;
    let mut cases = Vec::new();
    let wanted = |case: &Case| only.is_none_or(|text| case.name.contains(text));
    for case in scenario.cases()?.into_iter().filter(wanted) {
        let measured = measure_case(case, &scenario, &bare, plan)?;
        cases.push(measured);
    }
    let memory = processes::memory_of(scenario.pid())?;
    scenario.stop()?;
    Ok(Measured { engine, cases, memory })
}

fn measure_case(
    case: Case,
    scenario: &Scenario,
    bare: &BareServer,
    plan: &Plan,
) -> Result<MeasuredCase> {
    let count = case.connections;
    let mut product = Clients::new(scenario.authority(), &case.request, case.status, count)?;
    let answer_bytes = product.run(WARM_UP)?.body_bytes;
    let mut hello = Clients::new(bare.authority(), &bare.request("/"), 200, count)?;
    hello.run(WARM_UP)?;
    let path = format!("/bytes/{answer_bytes}");
    let mut same_size = (answer_bytes > LARGE_BYTES)
        .then(|| Clients::new(bare.authority(), &bare.request(&path), 200, count))
        .transpose()?;
    let mut rounds = Vec::new();
    for _ in 0..plan.rounds {
        let of_bare = |clients: &mut Clients| sample(clients, plan.bare_phase, bare.pid());
        rounds.push(Round {
            hello: of_bare(&mut hello)?,
            same_size: same_size.as_mut().map(of_bare).transpose()?,
            product: sample(&mut product, plan.phase, scenario.pid())?,
        });
    }
    let last = rounds.last().context("there is no round")?;
    println!("  {:<36} {:>8.0}/s", case.name, last.product.rate);
    Ok(MeasuredCase { case, answer_bytes, rounds })
}

fn sample(clients: &mut Clients, time: Duration, pid: u32) -> Result<Sample> {
    let before = processes::time_of(pid)?;
    let own_before = processes::own_time()?;
    let outcome: Outcome = clients.run(time)?;
    let server_time = processes::time_of(pid)?.saturating_sub(before);
    let own_time = processes::own_time()?.saturating_sub(own_before);
    Ok(Sample {
        requests: outcome.count(),
        rate: outcome.rate(),
        p50_ms: milliseconds(outcome.latency(500)),
        p99_ms: milliseconds(outcome.latency(990)),
        server_us: microseconds_each(server_time, outcome.count()),
        clients_us: microseconds_each(own_time, outcome.count()),
    })
}
