//! A shop to try things on: a catalogue, customers, and years of orders that look as if they had
//! happened, for `boardwalk demo` and for tests.
//!
//! **The same [`Plan`] on an empty shop makes the same records.** What is for sale is asked for as
//! over the REST interface; orders are priced by a [`crate::orders`] till, which calculates as a
//! request does, and stream into the store in large transactions with their events. Persons,
//! products and texts are invented.
//!
//! Start with [`make`]; `sales` tells how orders come about.

mod buyers;
mod calendar;
mod campaigns;
mod catalogue;
mod dice;
mod goods;
mod people;
mod places;
mod sales;
mod words;
mod writing;

use std::sync::Arc;
use std::sync::mpsc::sync_channel;

use db::filter::Page;
use db::{Conn, fact};
use frame::{Options, Site};
use shop_rows::order::OrderFilter;
use shop_rows::product::ProductFilter;
use site_rows::user;
use site_rows::user::UserRow;
use types::{Error, Result, Timestamp};

use self::calendar::DAY;
use self::catalogue::Catalogue;
use self::sales::{Batch, Numbers, Sales};
use crate::orders::Till;

/// Orders that a demo has unless somebody wants more or fewer.
pub const ORDERS_DEFAULT: u64 = 50_000;
/// Orders that a demo has at most.
pub const ORDERS_MAX: u64 = 10_000_000;
/// Days over which the orders of a demo are spread: two years and a bit, so that a year can be
/// compared with the one before.
pub const DAYS_DEFAULT: u32 = 760;
/// The seed of a demo unless somebody wants another shop.
pub const SEED_DEFAULT: u64 = 2_027;
/// Days over which orders can be spread at most.
const DAYS_MAX: u32 = 20_000;
/// How long before the first order the shop was set up.
const PREPARATION: i64 = 10 * DAY;
/// Batches that wait to be written at most.
const WAITING_BATCHES_MAX: usize = 2;

/// The facts of a database that say how far a demo is; the second tells its orders and its seed.
const BEGUN: &str = "demo.begun";
const MADE: &str = "demo.made";

/// What kind of shop to make.
#[derive(Clone, Debug)]
pub struct Plan {
    pub seed: u64,
    pub orders: u64,
    /// Over how many days the orders are spread, the last of which is today.
    pub days: u32,
    /// The present: nothing in the shop is newer.
    pub until: Timestamp,
    /// The user in whose name the shop is set up; they may do everything.
    pub owner_id: i64,
    /// Where some of the orders are taken on terminals; nowhere if it is empty.
    pub sellers: Vec<Seller>,
}

/// A terminal of somebody who was onboarded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seller {
    pub merchant_id: String,
    pub store_id: String,
    pub tpn: String,
}

/// How far a database is from having a demo.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// There are neither products nor orders.
    Empty,
    /// A demo of so many orders, drawn from that seed, is there.
    Made { orders: u64, seed: u64 },
    /// A demo was begun and never finished.
    CutOff,
    /// There are products or orders of somebody's own.
    InUse,
}

/// What was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Made {
    pub orders: u64,
    pub refunds: u64,
    /// Users and guests.
    pub customers: u64,
}

pub fn standing(conn: &mut dyn Conn) -> Result<Standing> {
    if let Some(text) = fact::get(conn, MADE)? {
        let mut numbers = text.split(' ').filter_map(|number| number.parse().ok());
        let mut next = || numbers.next().unwrap_or_default();
        return Ok(Standing::Made { orders: next(), seed: next() });
    }
    if fact::get(conn, BEGUN)?.is_some() {
        return Ok(Standing::CutOff);
    }
    let page = Page { offset: 0, limit: 1 };
    let orders = OrderFilter { page, ..OrderFilter::default() };
    let products = ProductFilter { page, ..ProductFilter::default() };
    let is_empty = shop_rows::order::list(conn, &orders)?.0.is_empty()
        && shop_rows::product::list(conn, &products)?.0.is_empty();
    Ok(if is_empty { Standing::Empty } else { Standing::InUse })
}

/// Makes the shop; `progress` is told how many orders there are by now. The site must be empty:
/// see [`standing`]. Cut off in the middle, it leaves a shop with fewer orders, which says so.
pub fn make(site: &Arc<Site>, plan: &Plan, progress: &mut dyn FnMut(u64)) -> Result<Made> {
    check(plan)?;
    let foundation = found(site, plan)?;
    let Foundation { options, days, catalogue, numbers, till } = foundation;
    let currency = options.text("woocommerce_currency");
    let mut sales = Sales::new(plan, till, &catalogue, numbers, currency);
    let (sender, receiver) = sync_channel::<Batch>(WAITING_BATCHES_MAX);
    let now = plan.until;
    // Orders are made while those before them are written.
    let orders = std::thread::scope(|scope| {
        let making = scope.spawn(|| {
            let mut take = move |batch: Batch| sender.send(batch).is_ok();
            sales.run(&options, &days, &mut take)
        });
        let mut orders = 0;
        for batch in receiver {
            orders += batch.sold;
            site.store().write_blocking(move |conn| writing::batch(conn, &batch, now))?;
            progress(orders);
        }
        making.join().map_err(|_| Error::internal("creating the demo's orders failed"))??;
        Ok::<u64, Error>(orders)
    })?;
    let tally = std::mem::take(&mut sales.tally);
    let made = Made { orders, refunds: tally.refunds, customers: tally.customers };
    let text = format!("{} {}", plan.orders, plan.seed);
    site.store().write_blocking(move |conn| {
        writing::tally(conn, &tally, &catalogue, now)?;
        fact::get_or_set(conn, MADE, &text).map(drop)
    })?;
    Ok(made)
}

fn check(plan: &Plan) -> Result<()> {
    if plan.orders > ORDERS_MAX {
        return Err(Error::invalid(format!("a demo has at most {ORDERS_MAX} orders")));
    }
    if !(1..=DAYS_MAX).contains(&plan.days) {
        return Err(Error::invalid(format!("a demo covers 1 to {DAYS_MAX} days")));
    }
    Ok(())
}

/// What orders are made with.
struct Foundation {
    options: Options,
    days: Vec<calendar::Day>,
    catalogue: Catalogue,
    numbers: Numbers,
    till: Till,
}

/// Sets the shop up, in one transaction.
fn found(site: &Arc<Site>, plan: &Plan) -> Result<Foundation> {
    let (site_of_transaction, plan) = (Arc::clone(site), plan.clone());
    site.store().write_blocking(move |conn| {
        let site = &site_of_transaction;
        if standing(conn)? != Standing::Empty {
            return Err(Error::conflict(
                "the data folder already contains records; choose an empty one",
            ));
        }
        let owner = owner(conn, plan.owner_id)?;
        fact::get_or_set(conn, BEGUN, &plan.until.to_string())?;
        catalogue::settings(conn)?;
        let options = Options::read(conn)?;
        let days = calendar::days(&options, plan.seed, (plan.days, plan.orders), plan.until);
        let start = plan.until.as_micros() - i64::from(plan.days) * DAY - PREPARATION;
        let start = Timestamp::from_micros(start);
        let catalogue = catalogue::make(site, conn, &owner, &days, start)?;
        let ids: Vec<i64> = catalogue.wares.iter().map(|ware| ware.sold_id).collect();
        let till = Till::load(conn, &options, &ids)?;
        let numbers = writing::numbers(conn)?;
        Ok(Foundation { options, days, catalogue, numbers, till })
    })
}

fn owner(conn: &mut dyn Conn, user_id: i64) -> Result<UserRow> {
    let missing = || Error::not_found("no user can own the demo; create one first");
    user::get(conn, user_id)?.ok_or_else(missing)
}
