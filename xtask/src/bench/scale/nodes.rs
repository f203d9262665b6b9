//! Nodes on one database, and what work on them costs.

use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::http;
use testkit::postgres::Cluster;
use testkit::process::Server;
use testkit::wire::Wire;

use super::work::{Client, Credentials, Receiver, Work};
use crate::load::{Load, Until};
use crate::processes;
use crate::statistics::{float, microseconds_each};
use crate::subject::{Running, Subject, postmaster};

const LOGIN: &str = "bench";
/// Clients of each node: many for what waits for the disk, few for what only computes.
const ONBOARDING_CLIENTS: usize = 64;
const CLIENTS: usize = 8;
const WARM_UP: Duration = Duration::from_secs(1);
/// The statistics of the database are that late at most.
const STATISTICS_DELAY: Duration = Duration::from_millis(1_500);
const LOCK_SAMPLE_EVERY: Duration = Duration::from_millis(250);
/// All events must have been sent after that.
const EVENTS_TIME_MAX: Duration = Duration::from_mins(5);
/// Work of each kind for which round trips are counted.
const COUNTED: u64 = 200;
/// So long a node is left alone to see what it says to the database by itself.
const IDLE: Duration = Duration::from_secs(4);
/// Facts that did not grow for so long are all there.
const FACTS_PAUSE: Duration = Duration::from_secs(2);
const READY_TIME_MAX: Duration = Duration::from_mins(10);
const STOP_TIME_MAX: Duration = Duration::from_mins(1);

/// What one piece of work costs.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cost {
    /// Of all nodes together, in a second.
    pub(super) rate: f64,
    /// Of all nodes.
    pub(super) server_us: f64,
    pub(super) database_us: f64,
    /// By which the database grew, indexes included.
    pub(super) stored_bytes: f64,
    /// Sent to a standby.
    pub(super) log_bytes: f64,
    /// Transactions that were rolled back: work that was done twice.
    pub(super) rolled_back: f64,
    /// Of the sessions that worked, the share that waited for a lock.
    pub(super) lock_wait_percent: f64,
}

/// A database without records, as the copy of a connected store begins.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Empty {
    pub(super) bytes: f64,
    /// Tables and indexes.
    pub(super) relations: f64,
}

#[derive(Debug)]
pub(super) struct Nodes<'cluster> {
    cluster: &'cluster Cluster,
    database: String,
    postmaster: u32,
    running: Vec<Running>,
    credentials: Credentials,
    /// The last number that was used.
    number: AtomicU64,
    _data: TempDir,
}

impl<'cluster> Nodes<'cluster> {
    pub(super) fn start(cluster: &'cluster Cluster, program: &Path, count: usize) -> Result<Self> {
        let database = cluster.create_database()?;
        let postmaster = postmaster(cluster)?;
        let data = testkit::temp_dir()?;
        let subject = Subject::create(program, &data.path().join("data"), Some(database.clone()))?;
        // Where the receiver of events is.
        let subject = subject.reaching_loopback();
        let password = administrator(&subject)?;
        let started = (0..count).map(|_| subject.start().map(|(running, _)| running));
        let running = started.collect::<Result<Vec<Running>>>()?;
        let url = running.first().context("no node")?.url().to_owned();
        let products = products(&url, &password)?;
        let credentials = Credentials { key: subject.key().to_owned(), password, products };
        let number = AtomicU64::new(0);
        Ok(Self { cluster, database, postmaster, running, credentials, number, _data: data })
    }

    pub(super) fn stop(self) -> Result<()> {
        self.running.into_iter().try_for_each(Running::stop)
    }

    /// What the database takes before anything is in it.
    pub(super) fn empty(&self) -> Result<Empty> {
        // Large values have a table beside their own, with an index.
        let sql = "SELECT SUM(CASE relkind WHEN 'r' THEN pg_total_relation_size(pg_class.oid) END),
               SUM(CASE WHEN reltoastrelid = 0 THEN 1 ELSE 3 END)
             FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
             WHERE nspname = 'boardwalk_sandbox' AND relkind IN ('r', 'i')";
        let [bytes, relations] = self.numbers(sql)?;
        Ok(Empty { bytes, relations })
    }

    pub(super) fn measure(&mut self, work: Work, time: Duration, events: usize) -> Result<Cost> {
        if work == Work::Event {
            return self.measure_events(events);
        }
        self.work(work, WARM_UP)?;
        // What the server does by itself within a minute. Without it, statements are planned for
        // empty tables.
        self.cluster.psql(&self.database, "ANALYZE")?;
        self.measured(|| self.work(work, time))
    }

    /// Lets all clients of all nodes work, and returns how much they had done after how long.
    fn work(&self, work: Work, time: Duration) -> Result<(usize, Duration)> {
        let started = Instant::now();
        let done = if work == Work::Onboarding { self.onboard(time) } else { self.ask(work, time) };
        Ok((done?, started.elapsed()))
    }

    /// One thread serves all clients of a node.
    fn onboard(&self, time: Duration) -> Result<usize> {
        // More than a node can do in the time, so that no two take the same number.
        const NUMBERS: u64 = 10_000_000;
        thread::scope(|scope| {
            let loads = self.running.iter().map(|node| {
                let first = self.number.fetch_add(NUMBERS, Ordering::Relaxed);
                scope.spawn(move || -> Result<usize> {
                    let load = Load::new(node.url(), &self.credentials.key)?;
                    let mut load = load.numbered_after(first);
                    let outcome = load.closed_loop(ONBOARDING_CLIENTS, Until::Elapsed(time))?;
                    ensure!(outcome.unserved == 0, "{} were not served", outcome.unserved);
                    Ok(outcome.count())
                })
            });
            sum(loads.collect())
        })
    }

    fn ask(&self, work: Work, time: Duration) -> Result<usize> {
        let end = Instant::now() + time;
        thread::scope(|scope| {
            let clients = self.running.iter().flat_map(|node| [node; CLIENTS]).map(|node| {
                scope.spawn(move || -> Result<usize> {
                    let mut client = Client::open(node.url(), &self.credentials)?;
                    let mut done = 0;
                    while Instant::now() < end {
                        client.ask(work, self.next())?;
                        done += 1;
                    }
                    Ok(done)
                })
            });
            sum(clients.collect())
        })
    }

    fn next(&self) -> u64 {
        self.number.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// What an event costs is what an onboarding costs more if somebody is told of it.
    fn measure_events(&self, count: usize) -> Result<Cost> {
        let quiet = self.measured(|| self.onboard_one_by_one(count, || Ok(())))?;
        let receiver = Receiver::start()?;
        let headers = [("Authorization", &*format!("api-key {}", self.credentials.key))];
        let wanted = json!({ "url": receiver.url, "events": ["merchant.created"] });
        let first = self.running.first().context("no node")?;
        let made = http::post(first.url(), "/v1/webhooks", &headers, &wanted)?;
        ensure!(made.status < 300, "no webhook: {} {}", made.status, made.text());
        let told = self.measured(|| {
            self.onboard_one_by_one(count, || {
                let began = Instant::now();
                while receiver.taken() < count {
                    let taken = receiver.taken();
                    ensure!(began.elapsed() < EVENTS_TIME_MAX, "{taken} of {count} were sent");
                    thread::sleep(Duration::from_millis(20));
                }
                Ok(())
            })
        })?;
        let more = |of: fn(&Cost) -> f64| (of(&told) - of(&quiet)).max(0.0);
        Ok(Cost {
            rate: told.rate,
            server_us: more(|cost| cost.server_us),
            database_us: more(|cost| cost.database_us),
            stored_bytes: more(|cost| cost.stored_bytes),
            log_bytes: more(|cost| cost.log_bytes),
            rolled_back: told.rolled_back,
            lock_wait_percent: told.lock_wait_percent,
        })
    }

    fn onboard_one_by_one(
        &self,
        count: usize,
        then: impl FnOnce() -> Result<()>,
    ) -> Result<(usize, Duration)> {
        let started = Instant::now();
        let left = AtomicUsize::new(count);
        let take = || left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1));
        let done = thread::scope(|scope| {
            let clients = self.running.iter().flat_map(|node| [node; CLIENTS]).map(|node| {
                scope.spawn(move || -> Result<usize> {
                    let mut client = Client::open(node.url(), &self.credentials)?;
                    let mut done = 0;
                    while take().is_ok() {
                        client.ask(Work::Event, self.next())?;
                        done += 1;
                    }
                    Ok(done)
                })
            });
            sum(clients.collect())
        })?;
        then()?;
        Ok((done, started.elapsed()))
    }

    fn measured(&self, run: impl FnOnce() -> Result<(usize, Duration)>) -> Result<Cost> {
        let before = self.counters()?;
        let is_over = AtomicBool::new(false);
        let (outcome, locks) = thread::scope(|scope| {
            let locks = scope.spawn(|| self.sample_locks(&is_over));
            let outcome = run();
            is_over.store(true, Ordering::Relaxed);
            (outcome, locks.join())
        });
        let (done, taken) = outcome?;
        let lock_wait_percent = locks.ok().context("nobody looked at the locks")??;
        let after = self.counters()?;
        let each = |after: f64, before: f64| (after - before).max(0.0) / float(done.max(1));
        let us = |after: Duration, before| microseconds_each(after.saturating_sub(before), done);
        Ok(Cost {
            rate: float(done) / taken.as_secs_f64(),
            server_us: us(after.server, before.server),
            database_us: us(after.database, before.database),
            stored_bytes: each(after.stored, before.stored),
            log_bytes: each(after.log, before.log),
            rolled_back: each(after.rolled_back, before.rolled_back),
            lock_wait_percent,
        })
    }

    fn counters(&self) -> Result<Counters> {
        let mut server = Duration::ZERO;
        for node in &self.running {
            server += processes::time_of(node.pid())?;
        }
        let database = processes::time_of_family(self.postmaster)?;
        thread::sleep(STATISTICS_DELAY);
        let sql = "select pg_database_size(current_database()), \
                   pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0'), xact_rollback \
                   from pg_stat_database where datname = current_database()";
        let [stored, log, rolled_back] = self.numbers(sql)?;
        Ok(Counters { server, database, stored, log, rolled_back })
    }

    /// The share of working sessions that waited for a lock, in percent.
    fn sample_locks(&self, is_over: &AtomicBool) -> Result<f64> {
        let sql = "select count(*) filter (where wait_event_type = 'Lock'), count(*) \
                   from pg_stat_activity \
                   where state = 'active' and datname = current_database() \
                   and pid <> pg_backend_pid()";
        let (mut waiting, mut working) = (0.0, 0.0);
        while !is_over.load(Ordering::Relaxed) {
            let [waits, works] = self.numbers(sql)?;
            waiting += waits;
            working += works;
            thread::sleep(LOCK_SAMPLE_EVERY);
        }
        Ok(waiting / f64::max(working, 1.0) * 100.0)
    }

    fn numbers<const COUNT: usize>(&self, sql: &str) -> Result<[f64; COUNT]> {
        let row = self.cluster.psql(&self.database, sql)?;
        let fields = row.trim().split('|').map(str::parse::<f64>);
        let numbers = fields.collect::<Result<Vec<f64>, _>>().context("not a number")?;
        numbers.try_into().ok().context("not as many numbers as asked for")
    }
}

/// What only grows.
#[derive(Clone, Copy, Debug)]
struct Counters {
    server: Duration,
    database: Duration,
    stored: f64,
    log: f64,
    rolled_back: f64,
}

fn sum(threads: Vec<thread::ScopedJoinHandle<'_, Result<usize>>>) -> Result<usize> {
    let ended = threads.into_iter().map(|one| one.join().ok().context("a client panicked")?);
    ended.collect::<Result<Vec<usize>>>().map(|done| done.into_iter().sum())
}

fn administrator(subject: &Subject) -> Result<String> {
    let new = ["--email", "bench@site.example", "--role", "administrator"];
    subject.run(&[&["user", "create", "--login", LOGIN][..], &new[..]].concat())?;
    let made = subject.run(&["user", "app-password", "--name", "bench", "--login", LOGIN])?;
    let password = made.get("password").and_then(Value::as_str).context("no password")?;
    Ok(format!("Basic {}", crate::rest::base64(&format!("{LOGIN}:{password}"))))
}

fn products(url: &str, password: &str) -> Result<[i64; 2]> {
    let make = |name: &str| -> Result<i64> {
        let body = json!({ "name": name, "regular_price": "25" });
        let headers = [("Authorization", password)];
        let made = http::post(url, "/wp-json/wc/v3/products", &headers, &body)?.json()?;
        made.get("id").and_then(Value::as_i64).with_context(|| format!("no product: {made}"))
    };
    Ok([make("Mittens")?, make("Scarf")?])
}

/// How often a node waits for the database, for each piece of work. What it says by itself
/// meanwhile is taken off.
pub(super) fn round_trips(program: &Path) -> Result<Vec<(Work, f64)>> {
    let cluster = Cluster::start()?;
    let wire = Wire::to(cluster.port())?;
    let database = cluster.create_database()?;
    let name = database.rsplit('/').next().unwrap_or_default();
    let url = format!("postgres://postgres@127.0.0.1:{}/{name}?sslmode=disable", wire.port());
    let data = testkit::temp_dir()?;
    let subject = Subject::create(program, &data.path().join("data"), Some(url))?;
    let password = administrator(&subject)?;
    let (running, _) = subject.start()?;
    let products = products(running.url(), &password)?;
    let credentials = Credentials { key: subject.key().to_owned(), password, products };
    let mut client = Client::open(running.url(), &credentials)?;
    let mut number = 0;
    let mut counted = Vec::new();
    for work in [Work::Onboarding, Work::Order, Work::Report] {
        let mut repeat = || -> Result<()> {
            for _ in 0..COUNTED {
                number += 1;
                client.ask(work, number)?;
            }
            Ok(())
        };
        // Every session prepares its statements once.
        repeat()?;
        thread::sleep(IDLE);
        let (began, before) = (Instant::now(), wire.round_trips());
        repeat()?;
        let (taken, asked) = (began.elapsed(), wire.round_trips() - before);
        let before = wire.round_trips();
        thread::sleep(IDLE);
        let idle = float(wire.round_trips() - before) / IDLE.as_secs_f64();
        let own = float(asked) - idle * taken.as_secs_f64();
        counted.push((work, own.max(0.0) / float(usize::try_from(COUNTED)?)));
    }
    running.stop()?;
    Ok(counted)
}

/// Memory that reports take for one order, in a demo shop.
pub(super) fn facts_bytes(program: &Path, orders: usize) -> Result<f64> {
    const NAME: &str = "boardwalk_facts_bytes{environment=\"sandbox\"} ";
    let folder = testkit::temp_dir()?;
    let admin = format!("127.0.0.1:{}", testkit::free_port()?);
    let mut command = Command::new(program);
    command.args(["demo", "--json", "--listen", "127.0.0.1:0", "--admin-listen", &admin]);
    command.args(["--orders", &orders.to_string()]).arg("--data").arg(folder.path());
    let server = Server::start_within(command, &["sandbox"], READY_TIME_MAX)?;
    let bytes = || -> Result<f64> {
        let metrics = http::get(&format!("http://{admin}"), "/metrics", &[])?.text();
        let bytes = metrics.lines().find_map(|line| line.strip_prefix(NAME)?.parse::<f64>().ok());
        bytes.context("the server tells no bytes of facts")
    };
    // The server is ready before all facts are made.
    let (began, mut last) = (Instant::now(), 0.0);
    let bytes = loop {
        thread::sleep(FACTS_PAUSE);
        let now = bytes()?;
        if now > 0.0 && now <= last {
            break now;
        }
        ensure!(began.elapsed() < READY_TIME_MAX, "the facts are not made");
        last = now;
    };
    let status = server.terminate(STOP_TIME_MAX)?;
    ensure!(status.success(), "the server exited with {status}");
    Ok(bytes / float(orders))
}
