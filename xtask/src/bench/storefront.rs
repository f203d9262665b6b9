//! The benchmark of the store front: what a buyer's requests cost, in shops of growing size.
//!
//! Each size has more products, carts and orders than the one before, in the same shop. A step is
//! asked for many times in a row on one connection, so that its processor time can be told apart;
//! on PostgreSQL the time of the database's processes counts, too. A bare server that says hello is
//! asked in the same way. **Steps that change a cart must cost the same in every size**: a missed
//! target is printed, and the exit status stays 0, for it depends on the machine.

mod report;
mod shop;

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use testkit::http::Connection;
use testkit::postgres::Cluster;

use self::shop::{Buyer, Shop};
use crate::processes;
use crate::rest::BareServer;
use crate::statistics::{microseconds_each, milliseconds, percentile};
use crate::subject::postmaster;
use crate::{Engine, Options};

/// How large the shop is when the steps are measured.
#[derive(Clone, Copy, Debug)]
struct Size {
    products: usize,
    carts: usize,
    orders: usize,
}

#[derive(Clone, Copy, Debug)]
struct Plan {
    sizes: [Size; 3],
    /// How often each step is asked for.
    rounds: usize,
}

const FULL: Plan = Plan {
    sizes: [
        Size { products: 1_000, carts: 1_000, orders: 500 },
        Size { products: 10_000, carts: 10_000, orders: 5_000 },
        Size { products: 100_000, carts: 50_000, orders: 20_000 },
    ],
    rounds: 1_000,
};
const QUICK: Plan = Plan {
    sizes: [
        Size { products: 50, carts: 20, orders: 10 },
        Size { products: 100, carts: 40, orders: 20 },
        Size { products: 200, carts: 80, orders: 40 },
    ],
    rounds: 50,
};

/// What is measured, in the order in which a buyer does it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    List,
    Product,
    Add,
    Update,
    CheckOut,
}

impl Step {
    const ALL: [Self; 5] = [Self::List, Self::Product, Self::Add, Self::Update, Self::CheckOut];

    const fn name(self) -> &'static str {
        match self {
            Self::List => "product list, page 1",
            Self::Product => "one product",
            Self::Add => "add to cart",
            Self::Update => "change a quantity",
            Self::CheckOut => "check out",
        }
    }

    /// Processor time for one request at most, in microseconds.
    const fn target_us(self) -> Option<f64> {
        match self {
            Self::List => Some(3_000.0),
            Self::Product => None,
            Self::Add | Self::Update | Self::CheckOut => Some(1_000.0),
        }
    }

    /// Whether it must cost the same however large the shop is.
    const fn is_flat(self) -> bool {
        matches!(self, Self::Add | Self::Update | Self::CheckOut)
    }
}

/// What one request came to: latencies in milliseconds, processor time in microseconds.
#[derive(Clone, Copy, Debug)]
struct Sample {
    p50_ms: f64,
    p99_ms: f64,
    processor_us: f64,
}

#[derive(Debug)]
struct Measured {
    engine: Engine,
    hello: Sample,
    /// By size, then by step.
    samples: Vec<(Size, Vec<(Step, Sample)>)>,
}

pub(crate) fn run(options: &Options, program: &Path, output: &Path) -> Result<()> {
    let plan = if options.quick { QUICK } else { FULL };
    let mut measured = Vec::new();
    for engine in [Engine::Sqlite, Engine::Postgres] {
        if options.engine.is_none_or(|wanted| wanted == engine) {
            measured.push(measure(engine, program, plan)?);
        }
    }
    for engine in &measured {
        report::print(engine, plan);
    }
    if options.quick {
        println!(
            "\nA quick run: these numbers show that the benchmark works, not how fast the server \
             is."
        );
    }
    report::write_json(&measured, plan, output)
}

fn measure(engine: Engine, program: &Path, plan: Plan) -> Result<Measured> {
    println!("{}: starting", engine.name());
    let folder = testkit::temp_dir()?;
    let cluster = match engine {
        Engine::Sqlite => None,
        Engine::Postgres => Some(Cluster::start()?),
    };
    let database = cluster.as_ref().map(Cluster::create_database).transpose()?;
    let of_database = cluster.as_ref().map(postmaster).transpose()?;
    let mut shop = Shop::open(program, &folder.path().join("data"), database)?;
    let bare = BareServer::start()?;
    let mut samples = Vec::new();
    for size in plan.sizes {
        println!("  {} products, {} carts, {} orders", size.products, size.carts, size.orders);
        shop.grow(size)?;
        let clock = Clock { server: shop.pid(), database: of_database };
        samples.push((size, steps(&mut shop, clock, plan.rounds)?));
    }
    let clock = Clock { server: bare.pid(), database: None };
    let hello = hello(&bare, clock, plan.rounds)?;
    shop.close()?;
    Ok(Measured { engine, hello, samples })
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
        let of_database = self.database.map(processes::time_of_family).transpose()?;
        Ok(processes::time_of(self.server)? + of_database.unwrap_or_default())
    }

    /// Runs something as often, and says what one time came to.
    fn sample(self, rounds: usize, mut run: impl FnMut(usize) -> Result<()>) -> Result<Sample> {
        let before = self.read()?;
        let mut latencies = Vec::with_capacity(rounds);
        for round in 0..rounds {
            let asked = Instant::now();
            run(round)?;
            latencies.push(asked.elapsed());
        }
        let taken = self.read()?.saturating_sub(before);
        latencies.sort();
        Ok(Sample {
            p50_ms: milliseconds(percentile(&latencies, 500)),
            p99_ms: milliseconds(percentile(&latencies, 990)),
            processor_us: microseconds_each(taken, rounds),
        })
    }
}

fn steps(shop: &mut Shop, clock: Clock, rounds: usize) -> Result<Vec<(Step, Sample)>> {
    let mut buyers: Vec<Buyer> = (0..rounds).map(|_| shop.buyer()).collect::<Result<_>>()?;
    let mut samples = Vec::new();
    for step in Step::ALL {
        let sample = clock.sample(rounds, |round| {
            let buyer = buyers.get_mut(round).context("there are as many buyers as rounds")?;
            match step {
                Step::List => shop.list(round),
                Step::Product => shop.show(round),
                Step::Add => shop.add(buyer, round),
                Step::Update => shop.update(buyer),
                Step::CheckOut => shop.check_out(buyer),
            }
        })?;
        samples.push((step, sample));
    }
    Ok(samples)
}

fn hello(bare: &BareServer, clock: Clock, rounds: usize) -> Result<Sample> {
    let mut connection = Connection::open(&format!("http://{}", bare.authority()))?;
    clock.sample(rounds, |_| {
        let answer = connection.request("GET", "/", &[], b"")?;
        ensure!(answer.status == 200, "the bare server was answered {}", answer.status);
        Ok(())
    })
}
