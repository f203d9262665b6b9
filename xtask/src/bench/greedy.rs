//! What others wait for beside a greedy caller: somebody asks for the dearest reads on sixty
//! connections without a pause, while somebody else reads one object and onboards, again and again.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use testkit::http::{self, Connection};
use testkit::postgres::Cluster;

use crate::load::{Load, Until};
use crate::report::{machine, write_document};
use crate::request;
use crate::statistics::{milliseconds, percentile};
use crate::subject::Subject;
use crate::{Engine, Options};

/// Of the greedy caller, half of them for each path.
const CONNECTIONS: usize = 60;
const DEAR: [&str; 2] = ["/v1/audit/verify", "/v1/merchants?search=zzz"];
const SIMPLE: &str = "/v1/merchants/000000000000";
const P99: usize = 990;
const READ_MS_MAX: f64 = 50.0;
const ONBOARDING_MS_MAX: f64 = 100.0;
/// Clients by which the greedy caller's merchants are made.
const CLIENTS: usize = 64;

/// How much is measured.
#[derive(Clone, Copy, Debug)]
struct Plan {
    merchants: usize,
    rounds: u64,
}

pub(crate) fn run(options: &Options, program: &Path, output: &Path) -> Result<()> {
    let plan = if options.quick {
        Plan { merchants: 2_000, rounds: 100 }
    } else {
        Plan { merchants: 50_000, rounds: 1_000 }
    };
    let mut engines = Vec::new();
    for engine in [Engine::Sqlite, Engine::Postgres] {
        if options.engine.is_none_or(|wanted| wanted == engine) {
            engines.push(measure(engine, program, plan)?);
        }
    }
    let document = json!({
        "machine": machine(),
        "connections": CONNECTIONS,
        "merchants": plan.merchants,
        "rounds": plan.rounds,
        "engines": engines,
    });
    write_document(&document, output)
}

fn measure(engine: Engine, program: &Path, plan: Plan) -> Result<Value> {
    println!("{}: starting", engine.name());
    let folder = testkit::temp_dir()?;
    let cluster = match engine {
        Engine::Sqlite => None,
        Engine::Postgres => Some(Cluster::start()?),
    };
    let database = cluster.as_ref().map(Cluster::create_database).transpose()?;
    let subject = Subject::create(program, &folder.path().join("data"), database)?;
    let other = key_of_another(&subject)?;
    let (running, _) = subject.start()?;
    let mut load = Load::new(running.url(), subject.key())?;
    load.closed_loop(CLIENTS, Until::Answered(plan.merchants))?;
    let (url, done) = (running.url(), AtomicBool::new(false));
    let waited = thread::scope(|scope| {
        for path in DEAR.into_iter().cycle().take(CONNECTIONS) {
            let (key, done) = (subject.key(), &done);
            scope.spawn(move || ask_until(url, key, path, done));
        }
        let waited = Waited::of(url, &other, plan.rounds);
        done.store(true, Ordering::Relaxed);
        waited
    })?;
    running.stop()?;
    Ok(waited.report(engine))
}

fn key_of_another(subject: &Subject) -> Result<String> {
    let text = |made: &Value, name: &str| made.get(name).and_then(Value::as_str).map(str::to_owned);
    let iso = subject.run(&["iso", "create", "--name", "Modest"])?;
    let iso_id = text(&iso, "isoId").context("no id of the ISO")?;
    text(&subject.run(&["key", "create", "--iso", &iso_id])?, "key").context("no key")
}

/// Asks again as soon as there is an answer, whatever it is.
fn ask_until(url: &str, key: &str, path: &str, done: &AtomicBool) {
    let authorization = format!("api-key {key}");
    let headers = [("Authorization", authorization.as_str())];
    while !done.load(Ordering::Relaxed) {
        let Ok(mut connection) = Connection::open(url) else { continue };
        while !done.load(Ordering::Relaxed)
            && connection.request("GET", path, &headers, b"").is_ok()
        {}
    }
}

/// How long the other caller waited for each of its requests, sorted.
struct Waited {
    reads: Vec<Duration>,
    onboardings: Vec<Duration>,
}

impl Waited {
    fn of(url: &str, key: &str, rounds: u64) -> Result<Self> {
        let authorization = format!("api-key {key}");
        let headers = [("Authorization", authorization.as_str())];
        let (mut reads, mut onboardings) = (Vec::new(), Vec::new());
        for number in 1..=rounds {
            let asked = Instant::now();
            let read = http::get(url, SIMPLE, &headers)?;
            reads.push(asked.elapsed());
            ensure!(read.status == 404, "a read was answered {}: {}", read.status, read.text());
            let body: Value = serde_json::from_str(&request::row(number))?;
            let asked = Instant::now();
            let onboarded = http::post(url, "/v1/onboardmerchant", &headers, &body)?;
            onboardings.push(asked.elapsed());
            let (status, text) = (onboarded.status, onboarded.text());
            ensure!(status == 200, "an onboarding was answered {status}: {text}");
        }
        reads.sort();
        onboardings.sort();
        Ok(Self { reads, onboardings })
    }

    /// Prints the latencies beside their targets, and returns them.
    fn report(&self, engine: Engine) -> Value {
        let row = |what: &str, times: &[Duration], most: f64| {
            let (p50, p99) = (percentile(times, 500), percentile(times, P99));
            let (p50, p99) = (milliseconds(p50), milliseconds(p99));
            let met = if p99 < most { "met" } else { "missed" };
            println!(
                "{} {what}: p50 {p50:.1} ms, p99 {p99:.1} ms, target {most} ms {met}",
                engine.name()
            );
            json!({ "p50_ms": p50, "p99_ms": p99, "p99_ms_max": most })
        };
        json!({
            "engine": engine.name(),
            "read": row("read", &self.reads, READ_MS_MAX),
            "onboarding": row("onboarding", &self.onboardings, ONBOARDING_MS_MAX),
        })
    }
}
