//! Connected stores: a source store, served by the same program, is copied and followed; and many
//! connected stores are in one process.
//!
//! The source is filled by `boardwalk import orders`, with the file of the import's own benchmark.
//! **It shares the machine's processors with the server that copies it.** What is measured of the
//! copy and of live changes is in [`live`], what is measured of many stores in [`many`].

mod live;
mod many;

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use testkit::http::{self, Connection};
use testkit::postgres::Cluster;

use crate::report::{machine, write_document};
use crate::subject::{Running, Subject};
use crate::{Engine, Options, import, processes};

const LOGIN: &str = "bench";
/// Between two looks at how far a copy is.
const LOOK: Duration = Duration::from_millis(100);
/// A copy that makes no progress for so long has failed.
const SILENCE_MAX: Duration = Duration::from_mins(3);
/// A store that was filled by an import has settled within that.
const REST_WITHIN: Duration = Duration::from_mins(10);

/// How much is measured.
#[derive(Clone, Copy, Debug)]
struct Plan {
    orders: usize,
    /// Changes of orders per second, and for how long.
    changes_per_second: u32,
    changing: Duration,
    stores: usize,
    orders_of_store: usize,
    /// Portfolio reports that are asked for.
    reports: usize,
}

impl Plan {
    fn of(options: &Options) -> Self {
        let plan = if options.quick {
            Self {
                orders: 2_000,
                changes_per_second: 20,
                changing: Duration::from_secs(5),
                stores: 5,
                orders_of_store: 200,
                reports: 40,
            }
        } else {
            Self {
                orders: 1_000_000,
                changes_per_second: 100,
                changing: Duration::from_mins(1),
                stores: 1_000,
                orders_of_store: 10_000,
                reports: 500,
            }
        };
        Self {
            orders: options.orders.unwrap_or(plan.orders),
            stores: options.stores.unwrap_or(plan.stores),
            ..plan
        }
    }
}

/// A measured value, and what it should be at least or at most.
#[derive(Debug)]
struct Line {
    name: &'static str,
    value: f64,
    unit: &'static str,
    target: Option<Target>,
}

#[derive(Clone, Copy, Debug)]
enum Target {
    AtLeast(f64),
    AtMost(f64),
}

impl Line {
    const fn new(name: &'static str, value: f64, unit: &'static str) -> Self {
        Self { name, value, unit, target: None }
    }

    const fn at_least(self, least: f64) -> Self {
        Self { target: Some(Target::AtLeast(least)), ..self }
    }

    const fn at_most(self, most: f64) -> Self {
        Self { target: Some(Target::AtMost(most)), ..self }
    }

    fn is_met(&self) -> Option<bool> {
        self.target.map(|target| match target {
            Target::AtLeast(least) => self.value >= least,
            Target::AtMost(most) => self.value <= most,
        })
    }

    fn target_text(&self) -> String {
        match self.target {
            Some(Target::AtLeast(least)) => format!("≥ {least}"),
            Some(Target::AtMost(most)) => format!("≤ {most}"),
            None => String::new(),
        }
    }

    fn print(&self) {
        let Self { name, value, unit, .. } = self;
        let verdict = self.is_met().map_or("", |met| if met { "met" } else { "MISSED" });
        let digits = usize::from(*value < 100.0);
        let target = self.target_text();
        println!("| {name:<52} | {value:>9.digits$} | {unit:<8} | {target:>7} | {verdict:<7} |");
    }

    fn document(&self) -> Value {
        json!({ "name": self.name, "value": self.value, "unit": self.unit,
            "target": self.target.map(|_| self.target_text()), "met": self.is_met() })
    }
}

pub(crate) fn run(options: &Options, program: &Path, output: &Path) -> Result<()> {
    let plan = Plan::of(options);
    let mut engines = Vec::new();
    for engine in [Engine::Sqlite, Engine::Postgres] {
        if options.engine.is_none_or(|wanted| wanted == engine) {
            let mut lines = live::measure(engine, program, plan)?;
            // Copies of copies are copies of files.
            if engine == Engine::Sqlite {
                lines.extend(many::measure(program, plan)?);
            }
            let Plan { orders, stores, orders_of_store, .. } = plan;
            println!("\n{orders} orders, {stores} stores of {orders_of_store} orders");
            println!("| {:<52} |    actual | unit     |  target | verdict |", engine.name());
            println!("| {} | --------: | -------- | ------: | ------- |", "-".repeat(52));
            lines.iter().for_each(Line::print);
            let lines: Vec<Value> = lines.iter().map(Line::document).collect();
            engines.push(json!({ "engine": engine.name(), "lines": lines }));
        }
    }
    if options.quick {
        println!("\nA quick run: these numbers show that the benchmark works, not how fast it is.");
    }
    let document = json!({
        "machine": machine(), "orders": plan.orders, "stores": plan.stores,
        "orders_of_store": plan.orders_of_store, "engines": engines,
    });
    write_document(&document, output)
}

/// A store to connect, which is another installation of the program.
struct Source {
    running: Running,
    consumer_key: String,
    consumer_secret: String,
    /// By which its administrator changes orders.
    authorization: String,
}

impl Source {
    fn start(program: &Path, data: &Path, database: Option<String>, orders: usize) -> Result<Self> {
        let subject = Subject::create(program, data, database)?.reaching_loopback();
        let file = data.with_extension("jsonl");
        println!("  making a store of {orders} orders");
        import::write_orders(&file, orders)?;
        let file = file.to_str().context("a path that is text")?;
        let report = subject.run(&["import", "orders", file])?;
        let imported = report.pointer("/imported/order").and_then(Value::as_u64);
        ensure!(imported == u64::try_from(orders).ok(), "not all were imported: {report}");
        let who = ["--login", LOGIN];
        let new = ["--email", "bench@site.example", "--role", "administrator"];
        subject.run(&[&["user", "create"], &who[..], &new[..]].concat())?;
        let made =
            subject.run(&[&["user", "app-password", "--name", "bench"], &who[..]].concat())?;
        let pair = format!("{LOGIN}:{}", text(&made, "password")?);
        let authorization = format!("Basic {}", crate::rest::base64(&pair));
        let key = ["user", "consumer-key", "--permissions", "read_write"];
        let key = subject.run(&[&key[..], &who[..]].concat())?;
        let (running, _) = subject.start()?;
        wait_for_rest(&running)?;
        Ok(Self {
            running,
            consumer_key: text(&key, "consumer_key")?,
            consumer_secret: text(&key, "consumer_secret")?,
            authorization,
        })
    }
}

/// Waits until a server has done what it does after an import: it numbers the events of a million
/// orders, and makes the facts for reports from them.
fn wait_for_rest(running: &Running) -> Result<()> {
    const BUSY: Duration = Duration::from_millis(100);
    let started = Instant::now();
    let mut before = processes::time_of(running.pid())?;
    loop {
        thread::sleep(Duration::from_secs(1));
        let now = processes::time_of(running.pid())?;
        if now.saturating_sub(before) < BUSY {
            return Ok(());
        }
        before = now;
        ensure!(started.elapsed() < REST_WITHIN, "the store does not come to rest");
    }
}

/// The server that connects stores.
struct Hub {
    subject: Subject,
    running: Running,
    authorization: String,
}

/// A copy, and what it is asked by.
struct Copied {
    id: String,
    path: String,
    authorization: String,
}

impl Hub {
    fn start(program: &Path, data: &Path, database: Option<String>) -> Result<Self> {
        let subject = Subject::create(program, data, database)?
            .reaching_loopback()
            .with("BOARDWALK_SERVER__TRUSTED_PROXIES", r#"["127.0.0.1"]"#);
        let (running, _) = subject.start()?;
        let authorization = format!("api-key {}", subject.key());
        Ok(Self { subject, running, authorization })
    }

    fn ask(&self, method: &str, path: &str, body: &Value) -> Result<Value> {
        let headers =
            [("Authorization", self.authorization.as_str()), ("Content-Type", "application/json")];
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let mut connection = Connection::open(self.running.url())?;
        let answer = connection.request(method, path, &headers, body.as_bytes())?;
        ensure!(answer.status < 300, "{method} {path}: {} {}", answer.status, answer.text());
        answer.json()
    }

    /// Connects a store; without a key, nobody asks it.
    fn connect(&self, url: &str, key: Option<&Source>) -> Result<Copied> {
        let body = match key {
            Some(source) => json!({ "url": url, "consumerKey": source.consumer_key,
                "consumerSecret": source.consumer_secret }),
            None => json!({ "url": url }),
        };
        let made = self.ask("POST", "/v1/connections", &body)?;
        let pair = made.get("reportsKey").context("no key for reports")?;
        let pair = format!("{}:{}", text(pair, "consumerKey")?, text(pair, "consumerSecret")?);
        Ok(Copied {
            id: text(&made, "connectionId")?,
            path: text(&made, "restPath")?,
            authorization: format!("Basic {}", crate::rest::base64(&pair)),
        })
    }

    /// Waits until the copy is complete.
    fn wait_until_live(&self, copied: &Copied) -> Result<Duration> {
        let started = Instant::now();
        let (mut seen, mut progress) = (Value::Null, Instant::now());
        loop {
            let state = self.ask("GET", &format!("/v1/connections/{}", copied.id), &Value::Null)?;
            if state.get("status").and_then(Value::as_str) == Some("live") {
                ensure!(state.pointer("/counts/skipped").is_none(), "records are missing: {state}");
                return Ok(started.elapsed());
            }
            let counts = state.get("counts").cloned().unwrap_or_default();
            if counts != seen {
                (seen, progress) = (counts, Instant::now());
            }
            ensure!(progress.elapsed() < SILENCE_MAX, "the copy makes no progress: {state}");
            thread::sleep(LOOK);
        }
    }
}

impl Copied {
    /// What the copy answers.
    fn ask(&self, hub: &Running, path: &str) -> Result<Value> {
        let headers =
            [("Authorization", self.authorization.as_str()), ("X-Forwarded-Proto", "https")];
        let answer = http::get(hub.url(), &format!("{}{path}", self.path), &headers)?;
        ensure!(answer.status == 200, "{path}: {} {}", answer.status, answer.text());
        answer.json()
    }
}

fn text(object: &Value, name: &str) -> Result<String> {
    let found = object.get(name).and_then(Value::as_str);
    found.map(str::to_owned).with_context(|| format!("no {name} in {object}"))
}

/// A database of a new cluster, if that is the engine.
fn database_of(cluster: Option<&Cluster>) -> Result<Option<String>> {
    cluster.map(Cluster::create_database).transpose()
}
