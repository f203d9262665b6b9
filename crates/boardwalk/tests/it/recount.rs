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

/// Sent with every question: asks for right answers.
const STRICT: &str = "strict=true";

/// Checks that wait for the product: each is off until the product answers as published.
#[expect(clippy::struct_excessive_bools, reason = "each is switched on by itself")]
struct Pending {
    /// `currency` filters and splits; without it, the shop's own currency counts.
    currency: bool,
    /// `segmentby=variation` needs no product.
    all_variations: bool,
    /// Intervals are sorted by every published column.
    every_orderby: bool,
    /// `fields` limits the columns of orders and revenue.
    fields_of_orders: bool,
    /// `customers/stats` filters as the list of customers does.
    customer_stats_filters: bool,
    /// An upper bound keeps customers who bought nothing, whose figures are 0.
    bounds_keep_everybody: bool,
    /// A refund is of the same type of customer as its order, in filters, too.
    refunds_have_customer_type: bool,
    /// `match=any` joins both filters of statuses in the list of orders.
    list_matches_statuses: bool,
    /// `match=any` joins the filters of variations.
    variations_match: bool,
    /// Columns of segments mean what they mean in totals: `orders_count` counts orders and no
    /// refunds, `refunds` is what was paid back, and not its negative.
    segments_as_totals: bool,
    /// `variations_count` counts variations; goods without any are none.
    variations_are_counted: bool,
    /// Coupons split by goods count orders with a coupon, and no others.
    goods_with_coupons: bool,
    /// A category whose parts have products is a segment.
    categories_of_parts: bool,
    /// A row of taxes has the state of its rate, be it empty.
    tax_rows_from_rates: bool,
    /// The header of a list of taxes counts its rows, and not the rates asked for.
    tax_rows_are_counted: bool,
    /// `page` turns the pages of leaderboards.
    leaderboard_pages: bool,
    /// Without `stats`, all indicators are shown.
    indicators_without_names: bool,
    /// Rows that tie come in the documented order.
    ties: bool,
}

const PENDING: Pending = Pending {
    currency: false,
    all_variations: false,
    every_orderby: false,
    fields_of_orders: false,
    customer_stats_filters: false,
    bounds_keep_everybody: false,
    refunds_have_customer_type: false,
    list_matches_statuses: false,
    variations_match: false,
    segments_as_totals: false,
    variations_are_counted: false,
    goods_with_coupons: false,
    categories_of_parts: false,
    tax_rows_from_rates: false,
    tax_rows_are_counted: false,
    leaderboard_pages: false,
    indicators_without_names: false,
    ties: false,
};

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
