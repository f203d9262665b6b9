//! The shards of an installation, and the asking of all of them at once.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Instant;

use types::{Error, Result};

/// A server with a part of the facts.
pub trait Shard: Debug + Send + Sync {
    /// Makes the database in which statements are carried out, if it is not there.
    fn prepare(&self) -> Result<()>;

    /// Carries out a statement, which reads the bytes behind it if there are any, and returns what
    /// it writes. An error is [`Unavailable`](types::Kind::Unavailable) if trying again may help.
    fn send(&self, statement: &str, body: &[u8]) -> Result<Vec<u8>>;
}

/// All shards together.
#[derive(Debug)]
pub struct Cluster {
    shards: Vec<Box<dyn Shard>>,
    /// Which tables hold the facts; 0 while none do. Facts that are made anew go into other tables
    /// and nobody reads those before they are complete.
    generation: AtomicI64,
    /// Currencies that were found, and when.
    pub(super) currencies: Mutex<Option<(Instant, Arc<BTreeSet<String>>)>>,
}

impl Cluster {
    /// Fails without a shard.
    pub fn new(shards: Vec<Box<dyn Shard>>) -> Result<Self> {
        if shards.is_empty() {
            return Err(Error::invalid("analytics.engine names no ClickHouse server"));
        }
        Ok(Self { shards, generation: AtomicI64::new(0), currencies: Mutex::default() })
    }

    /// How many shards there are.
    pub fn shards(&self) -> usize {
        self.shards.len()
    }

    pub fn generation(&self) -> i64 {
        self.generation.load(Ordering::Acquire)
    }

    /// Lets questions go to these tables from now on.
    pub fn set_generation(&self, generation: i64) {
        self.generation.store(generation, Ordering::Release);
    }

    /// The name of a table that holds the facts of now.
    pub(super) fn table(&self, name: &str) -> String {
        table(name, self.generation())
    }

    /// The shard that has the rows of this customer. **All rows of a customer are on one shard**,
    /// so a shard knows by itself which order was their first.
    pub(super) fn shard_of(&self, customer_id: i64) -> usize {
        // The upper half of a product with a large odd number depends on all bits.
        let mixed = customer_id.cast_unsigned().wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        let count = u64::try_from(self.shards.len()).unwrap_or(1);
        usize::try_from(mixed % count).unwrap_or_default()
    }

    /// Makes the databases that are missing.
    pub(super) fn prepare(&self) -> Result<()> {
        self.on_all(|_, shard| shard.prepare()).map(drop)
    }

    /// What each of the shards says to the statement.
    pub(super) fn ask(&self, statement: &str) -> Result<Vec<Vec<u8>>> {
        self.ask_and(statement, Ok)
    }

    /// [`Cluster::ask`], with what is made of each answer by the thread that has asked.
    pub(super) fn ask_and<T: Send>(
        &self,
        statement: &str,
        read: impl Fn(Vec<u8>) -> Result<T> + Sync,
    ) -> Result<Vec<T>> {
        self.on_all(|_, shard| read(shard.send(statement, &[])?))
    }

    /// Carries out on each shard what is meant for it; no statement for nothing.
    pub(super) fn send_each(&self, each: &[Vec<(String, Vec<u8>)>]) -> Result<()> {
        let sent = self.on_all(|number, shard| {
            let own = each.get(number).map(Vec::as_slice).unwrap_or_default();
            own.iter().try_for_each(|(statement, body)| shard.send(statement, body).map(drop))
        });
        sent.map(drop)
    }

    /// Does something with all shards at once. Fails if it fails with one of them.
    fn on_all<T: Send>(
        &self,
        with: impl Fn(usize, &dyn Shard) -> Result<T> + Sync,
    ) -> Result<Vec<T>> {
        if let [only] = self.shards.as_slice() {
            return Ok(vec![with(0, &**only)?]);
        }
        let with = &with;
        thread::scope(|scope| {
            let all: Vec<_> = self.shards.iter().enumerate().collect();
            let started: Vec<_> = all
                .into_iter()
                .map(|(number, shard)| scope.spawn(move || with(number, &**shard)))
                .collect();
            let ended = started.into_iter().map(|one| {
                let failed = |_| Error::internal("a question to a ClickHouse shard panicked");
                one.join().map_err(failed)?
            });
            ended.collect()
        })
    }
}

/// The name of a table of this generation.
pub(super) fn table(name: &str, generation: i64) -> String {
    format!("{name}_{generation}")
}
