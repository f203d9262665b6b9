//! The phases of one engine, in rounds, and what each of them gave.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Result;
use db::Location;
use testkit::postgres::Cluster;
use types::Environment;

use crate::bare::Bare;
use crate::load::{Load, Outcome, Until};
use crate::processes::{self, Memory};
use crate::rows::Model;
use crate::statistics::{float, median, median_size, microseconds_each, milliseconds};
use crate::subject::{Running, Subject, postmaster};
use crate::{Engine, Plan};

/// The numbers of clients that are measured. The targets are about the last.
pub(crate) const CLIENTS: [usize; 3] = [1, 16, 64];
const CLIENTS_MAX: usize = 64;
/// Connections that the server has to PostgreSQL, unless it is told otherwise.
pub(crate) const SERVER_CONNECTIONS: usize = 16;
/// Onboardings per second of the schedule.
pub(crate) const SCHEDULE_RATE: u32 = 1_000;
const WARM_UP: usize = 500;
const FLUSHES: usize = 100;

/// Everything measured on one engine.
#[derive(Debug)]
pub(crate) struct Measured {
    pub(crate) engine: Engine,
    pub(crate) rounds: Vec<Round>,
    pub(crate) onboardings: u64,
    pub(crate) memory: Memory,
    pub(crate) cold_starts_ms: Vec<f64>,
}

#[derive(Debug)]
pub(crate) struct Round {
    /// By the number of clients, as in [`CLIENTS`].
    pub(crate) closed: Vec<Sample>,
    pub(crate) schedule: Sample,
    /// Rows per second of a file.
    pub(crate) file_rate: f64,
    /// Transactions committed together under the most clients; on SQLite only.
    pub(crate) groups: Option<Groups>,
    pub(crate) bare: BareSample,
    /// On as many connections as the server has; on PostgreSQL only.
    pub(crate) bare_narrow: Option<BareSample>,
    /// Milliseconds for the disk to make four kibibytes durable.
    pub(crate) flush_ms: f64,
}

/// One phase of the server under load. Times of processors are microseconds for one onboarding.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    pub(crate) rate: f64,
    /// Requests that were told to try again.
    pub(crate) unserved: usize,
    pub(crate) p50_ms: f64,
    pub(crate) p99_ms: f64,
    pub(crate) server_us: f64,
    pub(crate) clients_us: f64,
    pub(crate) database_us: Option<f64>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct BareSample {
    pub(crate) rate: f64,
    pub(crate) own_us: f64,
    pub(crate) database_us: Option<f64>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Groups {
    pub(crate) median: usize,
    pub(crate) mean: f64,
}

pub(crate) fn engine(engine: Engine, program: &Path, plan: &Plan) -> Result<Measured> {
    println!("{}: starting", engine.name());
    let folder = testkit::temp_dir()?;
    let cluster = match engine {
        Engine::Sqlite => None,
        Engine::Postgres => Some(Cluster::start()?),
    };
    let database = cluster.as_ref().map(Cluster::create_database).transpose()?;
    let subject = Subject::create(program, &folder.path().join("data"), database)?;
    let (running, _) = subject.start()?;
    let mut load = Load::new(running.url(), subject.key())?;
    load.closed_loop(1, Until::Answered(1))?;
    let model = Model::read(&subject.location()?)?;
    let bare = match &cluster {
        None => Bare::sqlite(model, folder.path())?,
        Some(cluster) => {
            let url = cluster.create_database()?;
            let environment = Environment::Sandbox;
            let location = Location::parse(Some(&url), folder.path(), environment, 1)?;
            Bare::postgres(model, &location)?
        }
    };
    load.closed_loop(CLIENTS_MAX, Until::Answered(WARM_UP))?;
    let postmaster = cluster.as_ref().map(postmaster).transpose()?;
    let folder = folder.path();
    let mut bench = Bench { running, key: subject.key(), load, bare, folder, postmaster };
    let rounds =
        (1..=plan.rounds).map(|number| bench.round(number, plan)).collect::<Result<_>>()?;
    let memory = bench.memory(plan.onboardings)?;
    let onboardings = bench.load.sent();
    bench.running.stop()?;
    let cold_starts_ms = (0..plan.cold_starts)
        .map(|_| subject.cold_start().map(milliseconds))
        .collect::<Result<_>>()?;
    Ok(Measured { engine, rounds, onboardings, memory, cold_starts_ms })
}

/// A server under load beside its bare loop.
struct Bench<'folder> {
    running: Running,
    key: &'folder str,
    load: Load,
    bare: Bare,
    /// On the disk of the databases.
    folder: &'folder Path,
    /// Of the cluster, on PostgreSQL.
    postmaster: Option<u32>,
}

impl Bench<'_> {
    fn round(&mut self, number: usize, plan: &Plan) -> Result<Round> {
        let mut closed = Vec::new();
        let mut groups = None;
        for clients in CLIENTS {
            let before = self.running.commit_groups()?;
            let until = Until::Elapsed(plan.phase);
            let sample = self.sample(|load| load.closed_loop(clients, until))?;
            groups = group_sizes(&before, &self.running.commit_groups()?);
            say(number, &format!("{clients} clients"), sample.rate);
            closed.push(sample);
        }
        let schedule = self.sample(|load| load.schedule(SCHEDULE_RATE, plan.phase))?;
        say(number, "schedule", schedule.rate);
        let file_rate = self.load.file(self.key, plan.file_rows)?;
        say(number, "file", file_rate);
        let (bare, bare_narrow) = self.bare_samples(groups)?;
        say(number, "bare loop", bare.rate);
        let flush_ms = flush_ms(self.folder)?;
        Ok(Round { closed, schedule, file_rate, groups, bare, bare_narrow, flush_ms })
    }

    fn sample(&mut self, run: impl FnOnce(&mut Load) -> Result<Outcome>) -> Result<Sample> {
        let server_before = processes::time_of(self.running.pid())?;
        let database_before = self.database_time()?;
        let outcome = run(&mut self.load)?;
        let server_time = processes::time_of(self.running.pid())?.saturating_sub(server_before);
        let database_time = self.database_time()?.zip(database_before);
        let each = |time| microseconds_each(time, outcome.count());
        Ok(Sample {
            rate: outcome.rate(),
            unserved: outcome.unserved,
            p50_ms: milliseconds(outcome.latency(500)),
            p99_ms: milliseconds(outcome.latency(990)),
            server_us: each(server_time),
            clients_us: each(outcome.own_time),
            database_us: database_time.map(|(after, before)| each(after.saturating_sub(before))),
        })
    }

    /// Stores as much as the server did since the last time, so that both databases are equally
    /// large. On SQLite it commits as many onboardings together as the server did.
    fn bare_samples(&mut self, groups: Option<Groups>) -> Result<(BareSample, Option<BareSample>)> {
        let total = self.load.sent();
        if self.postmaster.is_none() {
            let group = groups.map_or(1, |groups| groups.median);
            return Ok((self.bare_sample(total, group)?, None));
        }
        let half = u64::midpoint(self.bare.stored(), total);
        let wide = self.bare_sample(half, CLIENTS_MAX)?;
        Ok((wide, Some(self.bare_sample(total, SERVER_CONNECTIONS)?)))
    }

    fn bare_sample(&mut self, total: u64, width: usize) -> Result<BareSample> {
        let before = self.database_time()?;
        let taken = self.bare.fill_up(total, width)?;
        let database_time = self.database_time()?.zip(before);
        let each = |time| microseconds_each(time, taken.count());
        Ok(BareSample {
            rate: taken.rate(),
            own_us: taken.own_time_us(),
            database_us: database_time.map(|(after, before)| each(after.saturating_sub(before))),
        })
    }

    fn database_time(&self) -> Result<Option<Duration>> {
        self.postmaster.map(processes::time_of_family).transpose()
    }

    /// The server's memory after `onboardings` in all.
    fn memory(&mut self, onboardings: usize) -> Result<Memory> {
        let sent = usize::try_from(self.load.sent())?;
        if sent < onboardings {
            let missing = Until::Answered(onboardings - sent);
            self.load.closed_loop(CLIENTS_MAX, missing)?;
        }
        processes::memory_of(self.running.pid())
    }
}

fn say(round: usize, phase: &str, rate: f64) {
    println!("  round {round}: {phase:<10} {rate:>8.0}/s");
}

/// The groups that were committed in between.
fn group_sizes(before: &BTreeMap<usize, usize>, after: &BTreeMap<usize, usize>) -> Option<Groups> {
    let old = |size: &usize| before.get(size).copied().unwrap_or_default();
    let new: Vec<(usize, usize)> =
        after.iter().map(|(size, count)| (*size, count - old(size))).collect();
    let groups: usize = new.iter().map(|(_, count)| count).sum();
    let members: usize = new.iter().map(|(size, count)| size * count).sum();
    let mean = float(members) / float(groups.max(1));
    (groups > 0).then(|| Groups { median: median_size(&new), mean })
}

/// What the disk below the databases needs to make a page durable.
fn flush_ms(folder: &Path) -> Result<f64> {
    let mut file = File::create(folder.join("flush"))?;
    let mut times = Vec::new();
    for _ in 0..FLUSHES {
        let started = Instant::now();
        file.write_all(&[0; 4096])?;
        file.sync_data()?;
        times.push(milliseconds(started.elapsed()));
    }
    Ok(median(times))
}
