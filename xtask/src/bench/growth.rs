//! How the cost of every read, and of what is written most, grows with the data: shops of growing
//! size, each asked once for everything.
//!
//! A shop of each size is made by `boardwalk demo`, with as many merchants beside it, and every
//! published read is asked for in a typical form ([`requests`]). What counts is the server's
//! processor time, the least of a few tries, so that another program beside it changes little; of
//! writes the mean of many, with all that follows from them.
//! **What grows and is not known to is an error**: what may grow is listed with its reason.

mod report;
mod requests;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use testkit::http::Connection;
use testkit::postgres::Cluster;
use testkit::process::Server;

use crate::load::{Load, Until};
use crate::processes;
use crate::statistics::milliseconds;
use crate::subject::postmaster;
use crate::{Engine, Options};

/// A shop, and the merchants of an ISO.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Size {
    orders: usize,
    merchants: usize,
}

const FULL: &[Size] = &[
    Size { orders: 1_000, merchants: 100 },
    Size { orders: 10_000, merchants: 1_000 },
    Size { orders: 100_000, merchants: 10_000 },
    Size { orders: 1_000_000, merchants: 100_000 },
];
const QUICK: &[Size] =
    &[Size { orders: 200, merchants: 20 }, Size { orders: 5_000, merchants: 500 }];

const ENVIRONMENT: &str = "sandbox";
/// For the largest shop to be made.
const READY_TIME_MAX: Duration = Duration::from_mins(30);
const STOP_TIME_MAX: Duration = Duration::from_mins(1);
/// Connections by which merchants are made.
const CLIENTS: usize = 16;
/// The least of so many tries counts.
const TRIES: usize = 4;
/// The mean of so many writes counts, after as many that warm up.
const WRITES: usize = 100;
/// Nothing is asked again that takes as long.
const LONG: Duration = Duration::from_secs(2);

/// What a search by an address is called in the table.
const SEARCH_OF_SOMEBODY: &str = "/wp-json/wc/v3/orders?search={email}";

/// What a read came to in one size.
#[derive(Clone, Copy, Debug)]
struct Sample {
    status: u16,
    processor_ms: f64,
}

/// By the request's name, then by size.
type Samples = BTreeMap<String, BTreeMap<Size, Sample>>;

pub(crate) fn run(options: &Options, program: &Path, output: &Path) -> Result<()> {
    let sizes = if options.quick { QUICK } else { FULL };
    let largest = options.orders.unwrap_or(usize::MAX);
    let mut measured = Vec::new();
    for engine in [Engine::Sqlite, Engine::Postgres] {
        if options.engine.is_none_or(|wanted| wanted == engine) {
            let mut samples = Samples::new();
            for size in sizes.iter().filter(|size| size.orders <= largest) {
                measure(engine, program, *size, options.case.as_deref(), &mut samples)?;
            }
            measured.push((engine, samples));
        }
    }
    let mut grown = Vec::new();
    for (engine, samples) in &measured {
        grown.extend(report::print(*engine, samples));
    }
    report::write_json(&measured, output)?;
    if options.quick {
        println!("\nA quick run: the sizes are too small to tell what grows.");
        return Ok(());
    }
    ensure!(grown.is_empty(), "these grow with the data:\n{}", grown.join("\n"));
    Ok(())
}

fn measure(
    engine: Engine,
    program: &Path,
    size: Size,
    only: Option<&str>,
    samples: &mut Samples,
) -> Result<()> {
    println!("{}: {} orders, {} merchants", engine.name(), size.orders, size.merchants);
    let folder = testkit::temp_dir()?;
    let cluster = match engine {
        Engine::Sqlite => None,
        Engine::Postgres => Some(Cluster::start()?),
    };
    let database = cluster.as_ref().map(Cluster::create_database).transpose()?;
    let mut command = Command::new(program);
    command.args(["demo", "--json", "--listen", "127.0.0.1:0", "--orders"]);
    command.arg(size.orders.to_string()).arg("--data").arg(folder.path());
    if let Some(url) = database {
        command.arg("--database").arg(url);
    }
    command.env("BOARDWALK_SERVER__RATE_LIMITS__ENABLED", "false");
    command.env("BOARDWALK_LOG__LEVEL", "warn");
    let server = Server::start_within(command, &[ENVIRONMENT], READY_TIME_MAX)?;
    let clock =
        Clock { server: server.pid(), database: cluster.as_ref().map(postmaster).transpose()? };
    let credentials = Credentials::of(&server)?;
    let url = server.url(ENVIRONMENT).to_owned();
    Load::new(&url, &credentials.key)?.closed_loop(CLIENTS, Until::Answered(size.merchants))?;
    // Until reports have read what was written, they are busy with it.
    std::thread::sleep(Duration::from_secs(5));
    let mut asked = Client { connection: Connection::open(&url)?, credentials, url, count: 0 };
    for (name, address) in requests::all(&mut asked)? {
        if only.is_none_or(|only| name.contains(only)) {
            let sample = asked.sample(&address, clock)?;
            samples.entry(name).or_default().insert(size, sample);
        }
    }
    let name = SEARCH_OF_SOMEBODY;
    if only.is_none_or(|only| name.contains(only)) {
        let path = requests::search_of_somebody(&mut asked)?;
        let sample = asked.sample(&path, clock)?;
        samples.entry(name.to_owned()).or_default().insert(size, sample);
    }
    for (path, body) in requests::writes(&mut asked)? {
        let name = format!("POST {path}");
        if only.is_none_or(|only| name.contains(only)) {
            let sample = asked.sample_writes(&path, &body, clock)?;
            samples.entry(name).or_default().insert(size, sample);
        }
    }
    let status = server.terminate(STOP_TIME_MAX)?;
    ensure!(status.success(), "the server exited with {status}");
    Ok(())
}

/// Whose processor time is counted.
#[derive(Clone, Copy, Debug)]
struct Clock {
    server: u32,
    /// The process that those of the database are children of.
    database: Option<u32>,
}

impl Clock {
    fn read(self) -> Result<Duration> {
        let of_database = self.database.map(processes::exact_time_of_family).transpose()?;
        Ok(processes::exact_time_of(self.server)? + of_database.unwrap_or_default())
    }
}

/// By which the demo lets in.
#[derive(Debug)]
struct Credentials {
    key: String,
    password: String,
}

impl Credentials {
    fn of(server: &Server) -> Result<Self> {
        let lines = server.lines_before_ready().iter();
        let facts: Vec<Value> = lines.filter_map(|line| serde_json::from_str(line).ok()).collect();
        let text = |name: &str| {
            let found = facts.iter().find_map(|fact| fact.get(name)?.as_str());
            found.map(str::to_owned).with_context(|| format!("the demo told no {name}"))
        };
        let pair = format!("{}:{}", text("login")?, text("application_password")?);
        let password = format!("Basic {}", crate::rest::base64(&pair));
        Ok(Self { key: text("api_key")?, password })
    }
}

/// The server as it is asked: on one connection, each time under another address, so that no
/// answer is one that was remembered.
#[derive(Debug)]
struct Client {
    connection: Connection,
    credentials: Credentials,
    url: String,
    count: usize,
}

impl Client {
    fn get(&mut self, path: &str) -> Result<(u16, String)> {
        self.count += 1;
        let mark = if path.contains('?') { '&' } else { '?' };
        // Other parameters than its own are refused by onboarding.
        let is_onboarding = path.starts_with("/v1/");
        let (address, authorization) = if is_onboarding {
            (path.to_owned(), format!("api-key {}", self.credentials.key))
        } else {
            (format!("{path}{mark}_={}", self.count), self.credentials.password.clone())
        };
        let headers = [("Authorization", authorization.as_str())];
        if let Ok(answer) = self.connection.request("GET", &address, &headers, b"") {
            return Ok((answer.status, answer.text()));
        }
        // A server closes connections that were silent, and after some errors.
        self.connection = Connection::open(&self.url)?;
        let answer = self.connection.request("GET", &address, &headers, b"")?;
        Ok((answer.status, answer.text()))
    }

    fn post(&mut self, path: &str, body: &str) -> Result<u16> {
        let headers = [
            ("Authorization", self.credentials.password.as_str()),
            ("Content-Type", "application/json"),
        ];
        let answer = self.connection.request("POST", path, &headers, body.as_bytes())?;
        ensure!(answer.status < 300, "POST {path}: {} {}", answer.status, answer.text());
        Ok(answer.status)
    }

    fn sample_writes(&mut self, path: &str, body: &str, clock: Clock) -> Result<Sample> {
        self.connection = Connection::open(&self.url)?;
        let (mut status, mut before) = (0, Duration::ZERO);
        for number in 0..2 * WRITES {
            if number == WRITES {
                before = clock.read()?;
            }
            status = self.post(path, body)?;
        }
        let taken = clock.read()?.saturating_sub(before);
        let each = taken / u32::try_from(WRITES)?;
        Ok(Sample { status, processor_ms: milliseconds(each) })
    }

    fn sample(&mut self, path: &str, clock: Clock) -> Result<Sample> {
        let mut least: Option<Duration> = None;
        let mut status = 0;
        for _ in 0..TRIES {
            let before = clock.read()?;
            (status, _) = self.get(path).with_context(|| path.to_owned())?;
            let taken = clock.read()?.saturating_sub(before);
            least = Some(least.map_or(taken, |least| least.min(taken)));
            if taken > LONG {
                break;
            }
        }
        Ok(Sample { status, processor_ms: milliseconds(least.unwrap_or_default()) })
    }
}
