//! Measures reports on two shards of `ClickHouse`: fills them with facts made by a formula, asks
//! twelve questions beside statements that were written by hand for the same tables, and then lets
//! a shop sell and looks how late the facts are.
//!
//! `cargo xtask bench clickhouse` runs it and compares with the limits. The arguments are how many
//! orders there are and for how many seconds the shop sells; the output is one JSON object for each
//! line.

#![expect(
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a measurement prints, and stops when something is wrong"
)]

mod by_hand;
#[path = "../shared/formula.rs"]
mod formula;
mod lag;
#[path = "../../tests/it/shard_client.rs"]
mod shard_client;

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use analytics::clickhouse::{Cluster, ClusterWriter};
use analytics::feed;
use analytics::query::Scope;
use testkit::clickhouse::Shards;
use types::{Kind, Result};

use by_hand::ByHand;
use formula::{EXCLUDED, Shape};

const ORDERS_DEFAULT: i64 = 10_000_000;
const SELLING_SECONDS_DEFAULT: u64 = 60;
/// How often each question is asked; the median counts.
const ROUNDS: usize = 5;
const DATABASE: &str = "bench";
const GENERATION: i64 = 1;
/// A server that is still merging says so, and takes more a little later.
const PAUSE_WHEN_BUSY: Duration = Duration::from_millis(200);

fn main() {
    let mut arguments = std::env::args().skip(1);
    let orders = arguments.next().map_or(ORDERS_DEFAULT, |text| text.parse().unwrap());
    let selling = arguments.next().map_or(SELLING_SECONDS_DEFAULT, |text| text.parse().unwrap());
    let shape = Shape::of(orders);
    let servers = Shards::start(2).unwrap();
    let cluster = shard_client::cluster_at(&servers.urls(), DATABASE);
    fill(&shape, &cluster);
    cluster.set_generation(GENERATION);
    ask(&cluster, &ByHand::new(servers.urls(), DATABASE, GENERATION));
    lag::measure(&cluster, GENERATION, Duration::from_secs(selling));
}

/// Brings all facts to the shards. Making them does not count.
fn fill(shape: &Shape, cluster: &Arc<Cluster>) {
    let mut writer = ClusterWriter::create(cluster, GENERATION).unwrap();
    let catalog = formula::catalog();
    writer.put_products(&catalog, &(1..=formula::PRODUCTS).collect(), true).unwrap();
    let mut taken = Duration::ZERO;
    for rows in shape.batches() {
        let started = Instant::now();
        for some in rows.chunks(feed::CLUSTER_ROWS_AT_ONCE) {
            until_taken(|| writer.add(some));
        }
        taken += started.elapsed();
    }
    let (orders, seconds) = (shape.orders, taken.as_secs_f64());
    println!(r#"{{"orders":{orders},"seconds":{seconds:.1}}}"#);
}

fn until_taken(mut write: impl FnMut() -> Result<()>) {
    loop {
        match write() {
            Err(error) if error.kind() == Kind::Unavailable => thread::sleep(PAUSE_WHEN_BUSY),
            written => return written.unwrap(),
        }
    }
}

/// Both ways in turn, so that what else the machine does is the same for both.
fn ask(cluster: &Cluster, by_hand: &ByHand) {
    let (scope, excluded) = (Scope::everything(), [EXCLUDED.to_owned()]);
    for (name, span) in formula::spans() {
        for (question, query) in formula::questions(span) {
            let (mut own, mut other, mut checks) = (Vec::new(), Vec::new(), Vec::new());
            for _ in 0..ROUNDS {
                let started = Instant::now();
                let answer = cluster.answer(&scope, &query, &excluded).unwrap();
                own.push(milliseconds(started.elapsed()));
                let sum = |sum: i64, value: &i64| sum.wrapping_add(*value);
                checks.push(answer.rows().flat_map(|row| row.values).fold(0, sum));
                let started = Instant::now();
                checks.push(by_hand.ask(question, span));
                other.push(milliseconds(started.elapsed()));
            }
            assert!(checks.iter().all(|check| *check == checks[0]), "{question}: {checks:?}");
            println!(
                "{{\"question\":\"{question}\",\"span\":\"{name}\",\"ms\":{:.1},\
                 \"by_hand_ms\":{:.1}}}",
                median(own),
                median(other)
            );
        }
    }
}

fn milliseconds(taken: Duration) -> f64 {
    taken.as_secs_f64() * 1_000.0
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
