//! The measured values beside their targets, as a table and as JSON.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use crate::measure::{
    BareSample, CLIENTS, Measured, Round, SCHEDULE_RATE, SERVER_CONNECTIONS, Sample,
};
use crate::statistics::{float, median};
use crate::{Engine, Plan};

const SERVER_TIME_MAX: f64 = 3.0;
const FILE_SHARE_MIN_PERCENT: f64 = 60.0;
const SCHEDULE_P99_MAX_MS: f64 = 25.0;
const MEMORY_MAX_MB: f64 = 80.0;
const COLD_START_MAX_MS: f64 = 150.0;

/// The least share of the bare loop's rate that the server must reach.
const fn rate_share_min_percent(engine: Engine) -> f64 {
    match engine {
        Engine::Sqlite => 30.0,
        Engine::Postgres => 50.0,
    }
}

/// What a value must be.
#[derive(Clone, Copy, Debug)]
enum Target {
    AtLeast(f64),
    AtMost(f64),
    Below(f64),
}

impl Target {
    fn is_met(self, value: f64) -> bool {
        match self {
            Self::AtLeast(least) => value >= least,
            Self::AtMost(most) => value <= most,
            Self::Below(bound) => value < bound,
        }
    }

    fn text(self) -> String {
        match self {
            Self::AtLeast(least) => format!("≥ {least}"),
            Self::AtMost(most) => format!("≤ {most}"),
            Self::Below(bound) => format!("< {bound}"),
        }
    }
}

/// A value with a name and, if something is wanted of it, a target.
#[derive(Debug)]
struct Line {
    name: String,
    unit: &'static str,
    value: f64,
    target: Option<Target>,
}

#[derive(Debug)]
pub(crate) struct Report<'measured> {
    measured: &'measured Measured,
    lines: Vec<Line>,
}

impl<'measured> Report<'measured> {
    pub(crate) fn new(measured: &'measured Measured, plan: &Plan) -> Self {
        let mut report = Self { measured, lines: Vec::new() };
        report.add_rates();
        report.add_processor_time();
        report.add_the_rest(plan);
        report
    }

    fn add_rates(&mut self) {
        for (place, clients) in CLIENTS.into_iter().enumerate() {
            let of = |read: fn(&Sample) -> f64| {
                self.median(|round| round.closed.get(place).map(read).unwrap_or_default())
            };
            let (rate, p50, p99) = (of(|s| s.rate), of(|s| s.p50_ms), of(|s| s.p99_ms));
            self.add(format!("server, {clients} clients"), "onboardings/s", rate, None);
            self.add(format!("server, {clients} clients, p50"), "ms", p50, None);
            self.add(format!("server, {clients} clients, p99"), "ms", p99, None);
        }
        let bare = self.median(|round| round.bare.rate);
        self.add("bare loop", "onboardings/s", bare, None);
        if self.measured.engine == Engine::Sqlite {
            let size = |round: &Round| round.groups.map_or(0.0, |groups| groups.mean);
            let mean = self.median(size);
            self.add("server, 64 clients, mean commit group", "transactions", mean, None);
        }
        let share = self.median(|round| most_clients(round).rate / round.bare.rate * 100.0);
        let target = Target::AtLeast(rate_share_min_percent(self.measured.engine));
        self.add("server (64 clients) ÷ bare loop", "%", share, Some(target));
        let rate = self.median(|round| round.file_rate);
        self.add("a file of many rows", "onboardings/s", rate, None);
        let share = self.median(|round| round.file_rate / round.bare.rate * 100.0);
        let least = Target::AtLeast(FILE_SHARE_MIN_PERCENT);
        self.add("a file of many rows ÷ bare loop", "%", share, Some(least));
        if self.measured.engine == Engine::Postgres {
            let name = format!("bare loop on {SERVER_CONNECTIONS} connections");
            let rate = self.median(|round| narrow(round).rate);
            let share = self.median(|round| most_clients(round).rate / narrow(round).rate * 100.0);
            self.add(&name, "onboardings/s", rate, None);
            self.add(format!("server (64 clients) ÷ {name}"), "%", share, Some(target));
        }
    }

    fn add_processor_time(&mut self) {
        let server = self.median(|round| most_clients(round).server_us);
        let bare = self.median(|round| round.bare.own_us);
        let ratio = self.median(|round| most_clients(round).server_us / round.bare.own_us);
        let clients = self.median(|round| most_clients(round).clients_us);
        self.add("processor time, server", "µs/onboarding", server, None);
        self.add("processor time, bare loop", "µs/onboarding", bare, None);
        let target = Target::AtMost(SERVER_TIME_MAX);
        self.add("processor time, server ÷ bare loop", "×", ratio, Some(target));
        self.add("processor time, clients", "µs/onboarding", clients, None);
        if self.measured.engine == Engine::Postgres {
            let server = self.median(|round| most_clients(round).database_us.unwrap_or_default());
            let bare = self.median(|round| round.bare.database_us.unwrap_or_default());
            self.add("database's own time, under the server", "µs/onboarding", server, None);
            self.add("database's own time, under the bare loop", "µs/onboarding", bare, None);
        }
    }

    fn add_the_rest(&mut self, plan: &Plan) {
        let p99 = self.median(|round| round.schedule.p99_ms);
        let rate = self.median(|round| round.schedule.rate);
        let name = format!("p99 at {SCHEDULE_RATE}/s");
        self.add(name, "ms", p99, Some(Target::Below(SCHEDULE_P99_MAX_MS)));
        self.add(format!("reached of {SCHEDULE_RATE}/s"), "onboardings/s", rate, None);
        let after = format!("after {} onboardings", self.measured.onboardings);
        let memory = self.measured.memory;
        let target = Target::Below(MEMORY_MAX_MB);
        self.add(format!("resident memory {after}"), "MB", memory.resident, Some(target));
        self.add("resident memory, peak", "MB", memory.resident_peak, None);
        let cold_start = median(self.measured.cold_starts_ms.iter().copied());
        let name = format!("cold start, median of {}", plan.cold_starts);
        self.add(name, "ms", cold_start, Some(Target::Below(COLD_START_MAX_MS)));
        let samples =
            self.measured.rounds.iter().flat_map(|r| r.closed.iter().chain([&r.schedule]));
        let unserved = float(samples.map(|sample| sample.unserved).sum());
        self.add("requests asked to retry", "", unserved, Some(Target::AtMost(0.0)));
        let flush = self.median(|round| round.flush_ms);
        self.add("disk: 4 KiB made durable", "ms", flush, None);
    }

    fn add(
        &mut self,
        name: impl Into<String>,
        unit: &'static str,
        value: f64,
        target: Option<Target>,
    ) {
        self.lines.push(Line { name: name.into(), unit, value, target });
    }

    fn median(&self, read: impl Fn(&Round) -> f64) -> f64 {
        median(self.measured.rounds.iter().map(read))
    }

    /// Prints a table in Markdown, so that it can be put into docs/performance.md as it is.
    pub(crate) fn print(&self) {
        let name = self.measured.engine.name();
        let row = |cells: [&str; 5]| {
            let [name, value, unit, target, verdict] = cells;
            println!("| {name:<52} | {value:>8} | {unit:<13} | {target:>6} | {verdict:<7} |");
        };
        println!();
        row([name, "actual", "unit", "target", "verdict"]);
        row([&"-".repeat(52), "-------:", &"-".repeat(13), "-----:", "-------"]);
        for Line { name, unit, value, target } in &self.lines {
            let digits = usize::from(*value < 100.0);
            let verdict = target.map_or("", |target| verdict(target, *value));
            let target = target.map(Target::text).unwrap_or_default();
            row([name, &format!("{value:.digits$}"), unit, &target, verdict]);
        }
    }

    fn json(&self) -> Value {
        let lines = self.lines.iter().map(|line| {
            json!({
                "name": line.name, "unit": line.unit, "value": line.value,
                "target": line.target.map(Target::text),
                "met": line.target.map(|target| target.is_met(line.value)),
            })
        });
        let rounds = self.measured.rounds.iter().map(|round| {
            let clients = CLIENTS.iter().zip(&round.closed);
            let closed =
                clients.map(|(n, sample)| json!({ "clients": n, "server": json_of(sample) }));
            json!({
                "closed": closed.collect::<Vec<_>>(),
                "schedule": json_of(&round.schedule),
                "file_rate": round.file_rate,
                "bare": json_of_bare(&round.bare),
                "bare_narrow": round.bare_narrow.as_ref().map(json_of_bare),
                "flush_ms": round.flush_ms,
                "group_median": round.groups.map(|groups| groups.median),
                "group_mean": round.groups.map(|groups| groups.mean),
            })
        });
        json!({
            "engine": self.measured.engine.name(),
            "lines": lines.collect::<Vec<_>>(),
            "rounds": rounds.collect::<Vec<_>>(),
            "cold_starts_ms": self.measured.cold_starts_ms,
        })
    }
}

fn most_clients(round: &Round) -> &Sample {
    round.closed.last().expect("a round measures every number of clients")
}

/// The bare loop on the server's number of connections; the usual one where there are none.
fn narrow(round: &Round) -> &BareSample {
    round.bare_narrow.as_ref().unwrap_or(&round.bare)
}

fn verdict(target: Target, value: f64) -> &'static str {
    if target.is_met(value) { "met" } else { "MISSED" }
}

fn json_of(sample: &Sample) -> Value {
    json!({
        "rate": sample.rate, "p50_ms": sample.p50_ms, "p99_ms": sample.p99_ms,
        "unserved": sample.unserved, "server_us": sample.server_us, "clients_us": sample.clients_us,
        "database_us": sample.database_us,
    })
}

fn json_of_bare(sample: &BareSample) -> Value {
    json!({
        "rate": sample.rate, "own_us": sample.own_us, "database_us": sample.database_us,
    })
}

pub(crate) fn write_json(reports: &[Report<'_>], plan: &Plan, path: &Path) -> Result<()> {
    let engines: Vec<Value> = reports.iter().map(Report::json).collect();
    let document = json!({
        "machine": machine(),
        "rounds": plan.rounds,
        "phase_seconds": plan.phase.as_secs(),
        "engines": engines,
    });
    write_document(&document, path)
}

pub(crate) fn write_document(document: &Value, path: &Path) -> Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    }
    fs::write(path, format!("{document:#}\n"))
        .with_context(|| format!("cannot write {}", path.display()))?;
    println!("\nAll rounds are in {}.", path.display());
    Ok(())
}

/// What the numbers depend on.
pub(crate) fn machine() -> Value {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let cpuinfo = read("/proc/cpuinfo");
    let model = cpuinfo.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    json!({
        "processor": model.map(|(_, name)| name),
        "processors": std::thread::available_parallelism().map(usize::from).unwrap_or_default(),
        "kernel": read("/proc/sys/kernel/osrelease").trim(),
        "load_average_at_the_end": read("/proc/loadavg").trim(),
    })
}
