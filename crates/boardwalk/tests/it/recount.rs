//! Reports are counted a second time, from the records that `wc/v3` shows.
//!
//! Random shops are written through the public interface, in several currencies, time zones and
//! with everything that an order can have; their records are read back, and every report and list
//! is recomputed from them by plain loops over exact decimals that share nothing with the product.
//! The answers to random questions must be the same, to far less than a cent. **What is right is
//! what the published interface says about a parameter or column.**
//!
//! A failure names the seed of its shop; the same seed makes the same shop and questions again,
//! apart from what happens at the moment of the test.

mod catalogue;
mod clock;
mod columns;
mod compare;
mod dice;
mod filter;
mod lists;
mod money;
mod people;
mod query;
mod questions;
mod rows;
mod sales;
mod shop;
mod stats;
mod sums;
mod world;

use types::Clock;

use crate::support::Site;
use compare::Checker;
use dice::Dice;
use shop::{Choices, Shop};
use world::World;

/// Wrong answers that are told in full.
const TOLD_MAX: usize = 60;

#[test]
fn on_sqlite() {
    for seed in [1, 2, 3, 4] {
        check(Site::sqlite(), seed);
    }
}

#[test]
fn on_postgres() {
    check(Site::postgres(), 5);
}

fn check(site: Site, seed: u64) {
    let mut dice = Dice::new(seed);
    let choices = Choices::roll(seed, &mut dice);
    let shop = Shop::open(site, choices);
    let catalogue = catalogue::furnish(&shop, &mut dice);
    let downloads = sales::happen(&shop, &catalogue, &mut dice);
    let world = World::read(&shop, downloads);
    let now = Clock::System.now().as_micros().div_euclid(1_000_000);
    let mut checker = Checker { shop: &shop, world: &world, asked: 0, wrong: Vec::new() };
    questions::ask(&mut checker, &mut dice, now);
    let Checker { asked, wrong, .. } = checker;
    let shown: Vec<&str> = wrong.iter().take(TOLD_MAX).map(String::as_str).collect();
    assert!(
        wrong.is_empty(),
        "seed {seed}, {:?}: {} of {asked} answers are wrong\n{}",
        shop.choices,
        wrong.len(),
        shown.join("\n")
    );
}
