//! All facts made anew from the records, by as many threads as the machine has for it.
//!
//! Threads take the next orders in turn, and read what belongs to them and derive facts side by
//! side. What they found is put in by the ids of the orders: rows mostly come in the order of their
//! times then, and few chunks are made twice.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZero;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread;

use db::{Database, outbox};
use frame::Options;
use shop_rows::order::{self, OrderRow};
use site_rows::post;
use types::{Error, Result};

use super::{Feed, load};
use crate::facts::{Facts, OrderFact, Writer};
use crate::settings;

/// Rows that are put into chunks together.
const ROWS_AT_ONCE: usize = 100_000;
/// Threads at most: the store has others to serve.
const THREADS_MAX: usize = 4;

impl Feed {
    /// Makes all facts anew from the records.
    pub fn rebuild(&mut self) -> Result<()> {
        self.number_events()?;
        // What changes from here on is in the feed behind this position.
        let (position, options) =
            self.store.read_blocking(|conn| Ok((outbox::head(conn)?, Options::read(conn)?)))?;
        self.writer = Writer::new(settings::excluded_statuses(&options));
        self.rules = Some(settings::rules(&options));
        self.writer.set_position(position);
        self.last_download = 0;
        self.read_orders()?;
        self.read_catalog()?;
        let snapshot = self.writer.snapshot();
        tracing::info!(orders = snapshot.orders(), "facts were rebuilt from the records");
        Ok(())
    }

    fn read_orders(&mut self) -> Result<()> {
        let cores = thread::available_parallelism().map_or(1, NonZero::get);
        let threads = cores.clamp(1, THREADS_MAX);
        let last = self.store.read_blocking(post::next_id)?;
        let (store, facts, next) = (&self.store, &*self.facts, Mutex::default());
        let reading = Reading { store, facts, last, next };
        let writer = &mut self.writer;
        thread::scope(|scope| {
            let (send, found) = sync_channel(threads);
            for _ in 0..threads {
                let (reading, send) = (&reading, send.clone());
                scope.spawn(move || reading.run(&send));
            }
            drop(send);
            put_in(writer, &found)
        })
    }
}

/// Puts in what was found, in its order, until there is no more.
fn put_in(writer: &mut Writer, found: &Receiver<Result<Portion>>) -> Result<()> {
    let (mut early, mut next, mut rows) = (BTreeMap::new(), 0, Vec::new());
    for portion in found {
        let Portion { number, facts } = portion?;
        early.insert(number, facts);
        while let Some(facts) = early.remove(&next) {
            next += 1;
            rows.extend(facts);
            if rows.len() >= ROWS_AT_ONCE {
                writer.apply(&BTreeSet::new(), &rows);
                rows.clear();
            }
        }
    }
    writer.apply(&BTreeSet::new(), &rows);
    Ok(())
}

/// The facts of some orders.
struct Portion {
    number: u64,
    facts: Vec<OrderFact>,
}

/// What the threads share.
struct Reading<'a> {
    store: &'a Database,
    facts: &'a Facts,
    /// No order has a greater id.
    last: i64,
    /// The id after which the next orders come, and the number of their portion.
    next: Mutex<(i64, u64)>,
}

impl Reading<'_> {
    /// Reads until there is nothing more to read, somebody failed, or the server ends.
    fn run(&self, send: &SyncSender<Result<Portion>>) {
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

    fn portion(&self) -> Result<Option<Portion>> {
        if self.facts.is_stopping() {
            return Err(Error::internal("the server ended before all records were read"));
        }
        let Some((number, orders)) = self.take_orders()? else { return Ok(None) };
        let derive = move |conn: &mut dyn db::Conn| load::families_of(conn, orders.clone());
        Ok(Some(Portion { number, facts: self.store.read_blocking(derive)? }))
    }

    /// The next orders, without what belongs to them.
    fn take_orders(&self) -> Result<Option<(u64, Vec<OrderRow>)>> {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        let (after, number) = *next;
        let limit = i64::try_from(load::ORDERS_AT_ONCE).unwrap_or(i64::MAX);
        let orders = self.store.read_blocking(move |conn| order::after(conn, after, limit))?;
        let Some(last) = orders.last() else { return Ok(None) };
        *next = (last.order_id, number + 1);
        let percent = i128::from(last.order_id) * 100 / i128::from(self.last.max(1));
        self.facts.note_percent_read(u8::try_from(percent).unwrap_or(100).min(100));
        Ok(Some((number, orders)))
    }
}
