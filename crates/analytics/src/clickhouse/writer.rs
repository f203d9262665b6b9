//! Brings facts into the tables of one generation, and takes them out again.
//!
//! A change has a version that grows with the place of its event in the feed. Rows that go get a
//! mark of deletion with it, and rows that come a version above that. **So the same change may be
//! made twice and comes to the same.**
//!
//! Rows come before others go: who is interrupted in between has lost none, and finds what is left
//! to do. An order that stays where it is, as nearly all do, is exchanged in one piece.

use std::collections::BTreeSet;
use std::sync::Arc;

use types::{Error, Result};

use super::binary::Encoder;
use super::cluster::{Cluster, table};
use super::sql::{any, is_number_among, joined};
use super::state::State;
use super::tables::{DOWNLOADS, ORDERS, PRODUCT_COLUMNS};
use crate::facts::{Catalog, DownloadFact, OrderFact, RollUp};

/// Versions that changes of one place in the feed can have.
const VERSION_BITS: u32 = 20;
/// Downloads that are written together.
const DOWNLOADS_AT_ONCE: usize = 50_000;

#[derive(Debug)]
pub struct ClusterWriter {
    cluster: Arc<Cluster>,
    generation: i64,
    /// Of the next change.
    version: u64,
    /// Of the last state.
    state_version: u64,
}

impl ClusterWriter {
    /// For new tables of this generation.
    pub fn create(cluster: &Arc<Cluster>, generation: i64) -> Result<Self> {
        cluster.create_tables(generation)?;
        Self::open(cluster, generation)
    }

    /// For the tables of this generation, which are there.
    pub fn open(cluster: &Arc<Cluster>, generation: i64) -> Result<Self> {
        let state_version = cluster.state_version()?;
        Ok(Self { cluster: Arc::clone(cluster), generation, version: 1, state_version })
    }

    pub fn generation(&self) -> i64 {
        self.generation
    }

    /// Says up to which event of the feed the next changes go.
    pub fn begin(&mut self, position: i64) {
        let position = u64::try_from(position).unwrap_or_default();
        self.version = self.version.max((position << VERSION_BITS) | 1);
    }

    /// Lets the next changes prevail over all that anybody has made up to that event.
    pub fn begin_again(&mut self, position: i64) {
        self.begin(position);
        self.version |= 1 << (VERSION_BITS - 1);
    }

    /// Takes out all rows of these orders and of their refunds, and puts these rows in.
    pub fn apply(&mut self, deleted: &BTreeSet<i64>, facts: &[OrderFact]) -> Result<()> {
        self.exchange(deleted, &["order_id", "parent_id"], facts)
    }

    /// Takes out the rows with these ids and no others, and puts these rows in.
    pub fn replace(&mut self, deleted: &BTreeSet<i64>, facts: &[OrderFact]) -> Result<()> {
        self.exchange(deleted, &["order_id"], facts)
    }

    /// Puts rows in whose ids are not there, or are there with the same moment of creation.
    pub fn add(&mut self, facts: &[OrderFact]) -> Result<()> {
        self.exchange(&BTreeSet::new(), &[], facts)
    }

    /// Takes out all orders and refunds.
    pub fn clear(&mut self) -> Result<()> {
        let version = self.next();
        let statement = self.deletion(KEYED_ORDERS, "1", version);
        self.cluster.ask(&statement).map(drop)
    }

    /// Lets these orders have these downloads and no others.
    pub fn replace_downloads(
        &mut self,
        orders: &BTreeSet<i64>,
        downloads: &[Arc<DownloadFact>],
    ) -> Result<()> {
        let version = self.next();
        self.put_downloads(downloads, version + 1)?;
        if orders.is_empty() {
            return Ok(());
        }
        let test = among("order_id", orders);
        self.cluster.ask(&self.deletion(KEYED_DOWNLOADS, &test, version)).map(drop)
    }

    pub fn add_downloads(&mut self, downloads: &[Arc<DownloadFact>]) -> Result<()> {
        let version = self.next();
        self.put_downloads(downloads, version + 1)
    }

    /// Puts these products, of all or of some, into their categories.
    pub fn put_products(
        &mut self,
        catalog: &Catalog,
        products: &BTreeSet<i64>,
        are_all: bool,
    ) -> Result<()> {
        let version = self.next();
        let mut encoder = Encoder::default();
        for product_id in products {
            encoder.number(*product_id);
            for roll_up in [RollUp::Direct, RollUp::Ancestors, RollUp::EachPath] {
                let categories = catalog.categories_of(*product_id, roll_up);
                encoder.length(categories.len());
                for category in categories {
                    encoder.number(category);
                }
            }
            encoder.unsigned(version + 1);
            encoder.flag(false);
        }
        let name = |column: &&str| column.split(' ').next().unwrap_or_default().to_owned();
        let columns: Vec<String> = PRODUCT_COLUMNS.iter().map(name).collect();
        let put = (!products.is_empty())
            .then(|| (self.insertion("products", &columns), encoder.into_bytes()));
        let mut statements: Vec<(String, Vec<u8>)> = put.into_iter().collect();
        if are_all {
            statements.push((self.deletion(KEYED_PRODUCTS, "1", version), Vec::new()));
        }
        self.cluster.send_each(&vec![statements; self.cluster.shards()])
    }

    /// Says how far the facts go, after they were written.
    pub fn commit(&mut self, state: &State) -> Result<()> {
        self.state_version += 1;
        self.cluster.put_state(state, self.state_version, false)
    }

    /// Forgets tables that nobody reads any more.
    pub fn forget(&mut self, generation: i64) -> Result<()> {
        if generation == self.generation {
            return Err(Error::internal("facts in use cannot be forgotten"));
        }
        self.state_version += 1;
        let deleted = State { generation, ..State::default() };
        self.cluster.put_state(&deleted, self.state_version, true)?;
        self.cluster.drop_tables(generation)
    }

    fn exchange(
        &mut self,
        deleted: &BTreeSet<i64>,
        columns: &[&str],
        facts: &[OrderFact],
    ) -> Result<()> {
        let version = self.next();
        let of_shard = |fact: &OrderFact| self.cluster.shard_of(fact.customer_id);
        let encode = |fact: &OrderFact, encoder: &mut Encoder| ORDERS.encode(fact, encoder);
        self.put(("orders", &ORDERS.names()), facts.iter(), of_shard, encode, version + 1)?;
        if deleted.is_empty() {
            return Ok(());
        }
        let test = any(columns.iter().map(|column| among(column, deleted)));
        self.cluster.ask(&self.deletion(KEYED_ORDERS, &test, version)).map(drop)
    }

    fn put_downloads(&self, downloads: &[Arc<DownloadFact>], version: u64) -> Result<()> {
        let of_shard = |download: &DownloadFact| self.cluster.shard_of(download.order_id);
        let encode = |own: &DownloadFact, encoder: &mut Encoder| DOWNLOADS.encode(own, encoder);
        let names = DOWNLOADS.names();
        downloads.chunks(DOWNLOADS_AT_ONCE).try_for_each(|some| {
            let some = some.iter().map(|download| &**download);
            self.put(("downloads", &names), some, of_shard, encode, version)
        })
    }

    /// Writes each row to its shard.
    fn put<'a, F: 'a>(
        &self,
        (name, columns): (&str, &[String]),
        facts: impl Iterator<Item = &'a F>,
        of_shard: impl Fn(&F) -> usize,
        encode: impl Fn(&F, &mut Encoder),
        version: u64,
    ) -> Result<()> {
        let mut shards: Vec<Encoder> = Vec::new();
        shards.resize_with(self.cluster.shards(), Encoder::default);
        for fact in facts {
            if let Some(encoder) = shards.get_mut(of_shard(fact)) {
                encode(fact, encoder);
                encoder.unsigned(version);
                encoder.flag(false);
            }
        }
        let statement = self.insertion(name, columns);
        let rows = shards.into_iter().map(Encoder::into_bytes);
        let each: Vec<Vec<(String, Vec<u8>)>> = rows
            .map(|bytes| {
                let row = (!bytes.is_empty()).then(|| (statement.clone(), bytes));
                row.into_iter().collect()
            })
            .collect();
        self.cluster.send_each(&each)
    }

    fn insertion(&self, name: &str, columns: &[String]) -> String {
        let (table, columns) = (table(name, self.generation), joined(columns, ", "));
        format!("INSERT INTO {table} ({columns}, version, deleted) FORMAT RowBinary")
    }

    /// Marks the rows for which the test holds as deleted. Those that are newer stay. Older rows
    /// of the same key may still be there; only the newest counts.
    fn deletion(&self, from: Keyed, test: &str, version: u64) -> String {
        let Keyed { name, key, carried } = from;
        let table = table(name, self.generation);
        format!(
            "INSERT INTO {table} ({key}, {carried}, version, deleted) \
             SELECT {key}, argMax({carried}, version) AS newest, \
             toUInt64({version}) AS own_version, toUInt8(1) AS is_deleted FROM {table} \
             WHERE ({key}) IN (SELECT {key} FROM {table} WHERE {test}) GROUP BY {key} \
             HAVING argMax(deleted, version) = 0 AND argMax(toUInt8({test}), version) = 1 \
             AND max(version) < {version}"
        )
    }

    /// A version for rows that go; the next is for those that come.
    fn next(&mut self) -> u64 {
        let version = self.version;
        self.version += 2;
        version
    }
}

/// How a row of a table is known, and what its mark of deletion carries on, so that the mark is
/// found by the same test as the row.
#[derive(Clone, Copy, Debug)]
struct Keyed {
    name: &'static str,
    key: &'static str,
    carried: &'static str,
}

const KEYED_ORDERS: Keyed =
    Keyed { name: "orders", key: "created, order_id", carried: "parent_id" };
const KEYED_DOWNLOADS: Keyed = Keyed { name: "downloads", key: "log_id", carried: "order_id" };
const KEYED_PRODUCTS: Keyed = Keyed { name: "products", key: "product_id", carried: "direct" };

fn among(column: &str, ids: &BTreeSet<i64>) -> String {
    is_number_among(column, &ids.iter().copied().collect::<Vec<i64>>())
}
