//! All orders as facts, read by as many threads as the machine has for it.
//!
//! Threads take the next orders in turn, and read what belongs to them and derive facts side by
//! side. **What they found is handed on by the ids of the orders**: whoever is interrupted knows
//! how far it was, and rows mostly come in the order of their times.

use std::collections::BTreeMap;
use std::num::NonZero;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use db::filter::PAGE_MAX;
use db::{Conn, Database};
use shop_rows::customer_lookup;
use shop_rows::order::{ITEMS_MAX, figures};
use site_rows::post;
use types::{Error, Result};

use super::load::{self, Making};
use crate::current::Facts;
use crate::derive::Customers;
use crate::facts::OrderFact;
use crate::record::Rules;

/// Threads at most: the store has others to serve.
const THREADS_MAX: usize = 4;
/// Customers that are kept in memory meanwhile, each with some 100 bytes.
const CUSTOMERS_MAX: usize = 1_000_000;
/// Portions that wait to be handed on: who takes them is busy with many at once now and then, and
/// the threads go on reading meanwhile.
const PORTIONS_WAITING_MAX: usize = 16;

/// Reads all orders after that id, makes facts of them by these rules, and hands them on until
/// there are no more.
pub(super) fn read(
    store: &Database,
    facts: &Facts,
    rules: Rules,
    after: i64,
    mut hand_on: impl FnMut(Portion) -> Result<()>,
) -> Result<()> {
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    let threads = cores.clamp(1, THREADS_MAX);
    let last = store.read_blocking(post::next_id)?;
    let customers = all_customers(store, facts, || hand_on(Portion::nothing(after)))?;
    let making = Making { rules, customers: customers.map(Arc::new), items_max: ITEMS_MAX };
    let reading = Reading {
        store,
        facts,
        making,
        last,
        next: Mutex::new(Next { after: Some(after), number: 0 }),
    };
    thread::scope(|scope| {
        let (send, found) = sync_channel(PORTIONS_WAITING_MAX);
        for _ in 0..threads {
            let (reading, send) = (&reading, send.clone());
            scope.spawn(move || reading.run(&send));
        }
        drop(send);
        let (mut early, mut next) = (BTreeMap::new(), 0);
        for portion in found {
            let (number, portion) = portion?;
            early.insert(number, portion);
            while let Some(portion) = early.remove(&next) {
                next += 1;
                hand_on(portion)?;
            }
        }
        Ok(())
    })
}

/// The facts of some orders and of all their refunds.
#[derive(Debug)]
pub(super) struct Portion {
    pub(super) facts: Vec<OrderFact>,
    /// How many orders were read, whatever became of them.
    pub(super) orders: u64,
    /// No order up to this id is still to be read.
    pub(super) last: i64,
}

impl Portion {
    /// Nothing yet: that somebody reads on.
    fn nothing(after: i64) -> Self {
        Self { facts: Vec::new(), orders: 0, last: after }
    }
}

/// Customers, to be found in memory. Nothing where they would take too much of it; those of some
/// orders are then read with them. `is_alive` is asked now and then.
fn all_customers(
    store: &Database,
    facts: &Facts,
    mut is_alive: impl FnMut() -> Result<()>,
) -> Result<Option<Customers>> {
    let (mut customers, mut count, mut after) = (Customers::default(), 0, i64::MIN);
    loop {
        go_on(facts)?;
        is_alive()?;
        let next = move |conn: &mut dyn Conn| customer_lookup::keys_after(conn, after, PAGE_MAX);
        let keys = store.read_blocking(next)?;
        let Some(last) = keys.last() else { return Ok(Some(customers)) };
        after = last.customer_id;
        count += keys.len();
        if count > CUSTOMERS_MAX {
            return Ok(None);
        }
        customers.extend(&keys);
    }
}

/// Fails when the server ends.
fn go_on(facts: &Facts) -> Result<()> {
    if facts.is_stopping() {
        return Err(Error::internal("the server ended before all records were read"));
    }
    Ok(())
}

/// A portion with its place among all of them.
type Numbered = (u64, Portion);

/// What the threads share.
struct Reading<'a> {
    store: &'a Database,
    facts: &'a Facts,
    making: Making,
    /// No order has a greater id.
    last: i64,
    next: Mutex<Next>,
}

/// What is read next.
struct Next {
    /// The ids that are read come after this one; nothing once all are read.
    after: Option<i64>,
    /// The number of the portion.
    number: u64,
}

impl Reading<'_> {
    /// Reads until there is nothing more to read, somebody failed, or the server ends.
    fn run(&self, send: &SyncSender<Result<Numbered>>) {
        loop {
            let portion = self.portion().transpose();
            let Some(portion) = portion else { return };
            let is_over = portion.is_err();
            // Nobody listens any more once another thread has failed.
            if send.send(portion).is_err() || is_over {
                return;
            }
        }
    }

    fn portion(&self) -> Result<Option<Numbered>> {
        go_on(self.facts)?;
        let Some((number, after, through)) = self.take()? else { return Ok(None) };
        let making = self.making.clone();
        let derive =
            move |conn: &mut dyn Conn| making.between(conn, (after, through), load::at_once());
        let (facts, orders) = self.store.read_blocking(derive)?;
        let orders = u64::try_from(orders).unwrap_or_default();
        Ok(Some((number, Portion { facts, orders, last: through.min(self.last) })))
    }

    /// The number of the next portion, and between which ids it lies.
    fn take(&self) -> Result<Option<(u64, i64, i64)>> {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(after) = next.after else { return Ok(None) };
        let end = move |conn: &mut dyn Conn| figures::end_of(conn, after, load::at_once());
        let end = self.store.read_blocking(end)?;
        let number = next.number;
        *next = Next { after: end, number: number + 1 };
        let percent = end.map_or(100, |end| i128::from(end) * 100 / i128::from(self.last.max(1)));
        self.facts.note_percent_read(u8::try_from(percent).unwrap_or(100).min(100));
        Ok(Some((number, after, end.unwrap_or(i64::MAX))))
    }
}
