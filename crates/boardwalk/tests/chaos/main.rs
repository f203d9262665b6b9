//! One bad day after the other, in one go and on each engine: the server is killed in the midst of
//! writes, its disk is full, its database restarts, clocks jump, and a greedy caller takes all it can.
//! In the end everything is compared: **every acknowledged write is there once, no rejected one is**,
//! figures agree with the records, every event was delivered, and the audit log verifies.
//!
//! Not part of `cargo test`, because it takes a minute and wants a disk of its own: `cargo xtask
//! chaos` runs this, for as long as it is told. What the machine does not allow is skipped, and said.
#![cfg(test)]

#[path = "../it/chance.rs"]
mod chance;
mod disk;
#[path = "../it/failover.rs"]
mod failover;
mod figures;
#[path = "../it/load.rs"]
mod load;
#[path = "../it/node_group.rs"]
mod node_group;
mod orders;
#[path = "../it/receiver.rs"]
#[expect(dead_code, reason = "the other tests use the rest of it")]
mod receiver;
#[path = "../it/rolling.rs"]
mod rolling;
#[path = "../it/support.rs"]
#[expect(dead_code, reason = "the other tests use the rest of it")]
mod support;
mod verdict;
mod world;

use std::path::Path;
use std::time::{Duration, Instant};

use testkit::postgres::Cluster;

use crate::support::Site;
use crate::world::{Disturbance, World};

/// How often a primary is killed in a long run.
const FAILOVERS: usize = 20;
/// How long to go on. Without it, each disturbance happens once.
const SECONDS_VARIABLE: &str = "CHAOS_SECONDS";
/// The program of an older version.
const OLDER_VARIABLE: &str = "CHAOS_UPGRADE_FROM";

#[test]
fn on_sqlite() {
    happen(World::new(Site::sqlite(), None));
}

#[test]
fn on_postgres() {
    let cluster = Cluster::start().unwrap();
    let site = Site::on_database(cluster.create_database().unwrap());
    happen(World::new(site, Some(cluster)));
}

/// One round is a test of its own, which a short run leaves it at.
#[test]
fn standbys_take_over() {
    match seconds() {
        Some(_) => failover::fail_over(FAILOVERS),
        None => println!("a standby takes over {FAILOVERS} times in a run with --seconds"),
    }
}

/// A restart of the same version is a test of its own.
#[test]
fn nodes_are_upgraded() {
    match std::env::var_os(OLDER_VARIABLE) {
        Some(older) => rolling::roll(Path::new(&older)),
        None => println!("nodes are upgraded in a run with --upgrade-from"),
    }
}

fn seconds() -> Option<u64> {
    std::env::var_os(SECONDS_VARIABLE)?.to_str()?.parse().ok()
}

fn happen(mut world: World) {
    let until = Instant::now() + Duration::from_secs(seconds().unwrap_or(0));
    for what in Disturbance::ALL {
        world.disturb(what);
    }
    while Instant::now() < until {
        let what = world.next_disturbance();
        world.disturb(what);
    }
    verdict::compare(world);
}
