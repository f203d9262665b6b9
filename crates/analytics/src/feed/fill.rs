//! Makes all facts in `ClickHouse` anew from the records: into tables of their own, which nobody
//! reads before they are complete. How far it is stands beside the rows, so that whoever was
//! interrupted goes on from there.

use std::sync::Arc;

use db::{Conn, Database, fact, outbox};
use shop_rows::order;
use types::{Clock, Error, Result, Timestamp};

use super::follow::read_catalog;
use super::lease::Lease;
use super::{all_orders, events, load, update};
use crate::clickhouse::{self, COMPLETE, Cluster, ClusterWriter, State};
use crate::current::Facts;
use crate::record::Rules;

/// Orders and refunds that are written together.
pub const ROWS_AT_ONCE: usize = 20_000;

/// Is told how many orders were read of how many.
pub type OnProgress<'a> = &'a mut dyn FnMut(u64, u64);

/// Makes all facts of a site anew in `ClickHouse`, whoever else brings facts there; so many orders
/// and refunds are written together. Returns how many were read, without those that an earlier run
/// had read.
pub fn rebuild(
    store: &Database,
    facts: &Facts,
    rows_at_once: usize,
    on_progress: OnProgress<'_>,
) -> Result<u64> {
    let Some(cluster) = facts.cluster() else {
        return Err(Error::invalid(
            "reports are answered from memory; set analytics.engine to the URLs of ClickHouse",
        ));
    };
    identify(store)?;
    cluster.open()?;
    let mut lease = Lease::new(store.clone());
    lease.seize()?;
    let mut read = 0;
    let mut noted = |done: u64, total: u64| {
        read = done;
        on_progress(done, total);
    };
    let filled =
        Filling { store, facts, cluster, lease: &mut lease, rows_at_once }.fill(&mut noted);
    lease.release()?;
    filled.map(|_| read)
}

/// Says that the tables of this generation hold what is made of all that the store holds now. For
/// measuring with more facts than anybody wants to store.
pub fn plant_in_cluster(store: &Database, cluster: &Arc<Cluster>, generation: i64) -> Result<()> {
    identify(store)?;
    let own = Arc::clone(cluster);
    let (position, mark) = store.read_blocking(move |conn| {
        let position = outbox::head(conn)?;
        Ok((position, mark(conn, position, &own)?))
    })?;
    let written = Clock::System.now();
    let state = State { generation, position, filled: COMPLETE, last_download: 0, written, mark };
    ClusterWriter::open(cluster, generation)?.commit(&state)
}

/// The fact about the database that tells its records from those of others.
const RECORDS: &str = "local.analytics_records";

/// Gives the records a name by which their facts are known, if they have none.
pub(super) fn identify(store: &Database) -> Result<()> {
    if store.read_blocking(|conn| fact::get(conn, RECORDS))?.is_some() {
        return Ok(());
    }
    let mut bytes = [0; blake3::OUT_LEN];
    vault::fill_random(&mut bytes)?;
    let name = blake3::Hash::from_bytes(bytes).to_hex();
    store.write_blocking(move |conn| fact::get_or_set(conn, RECORDS, &name).map(drop))
}

/// What tells facts at this position from those of another database, of other rules, of another
/// number of shards or of other columns.
pub(super) fn mark(conn: &mut dyn Conn, position: i64, cluster: &Cluster) -> Result<String> {
    let of_event = update::mark(conn, position)?.unwrap_or_default();
    Ok(format!("{}{of_event}", kinship(conn, cluster)?))
}

/// Whether facts of this state are those of this database, by the rules of now, and lie as they
/// are looked for. Of an event that is no longer kept, nothing more can be told.
pub(super) fn fits(conn: &mut dyn Conn, state: &State, cluster: &Cluster) -> Result<bool> {
    let Some(of_event) = state.mark.strip_prefix(&kinship(conn, cluster)?) else {
        return Ok(false);
    };
    match update::mark(conn, state.position)? {
        Some(own) => Ok(of_event == own),
        None => Ok(state.position <= outbox::head(conn)?),
    }
}

/// Whose facts they are, by which rules, on how many shards, and with which columns.
fn kinship(conn: &mut dyn Conn, cluster: &Cluster) -> Result<String> {
    let records = fact::get(conn, RECORDS)?.unwrap_or_default();
    let Rules { decimals, rounds_taxes_late } = load::rules(conn)?;
    let layout = blake3::hash(clickhouse::layout().as_bytes()).to_hex();
    let shards = cluster.shards();
    Ok(format!("{records} {decimals} {rounds_taxes_late} {shards} {layout} "))
}

/// Who fills tables, and with what.
pub(super) struct Filling<'a> {
    pub(super) store: &'a Database,
    pub(super) facts: &'a Facts,
    pub(super) cluster: &'a Arc<Cluster>,
    pub(super) lease: &'a mut Lease,
    pub(super) rows_at_once: usize,
}

impl Filling<'_> {
    /// Fills the tables that an earlier run has begun, or others. Returns their state.
    pub(super) fn fill(&mut self, on_progress: OnProgress<'_>) -> Result<State> {
        events::number_all(self.store, self.facts)?;
        let (mut state, mut writer) = self.begin()?;
        // What changes from here on is in the feed behind this position.
        writer.begin(state.position);
        writer.commit(&state)?;
        self.look_for_shards(state.generation)?;
        let total = self.store.read_blocking(|conn| order::count_since(conn, BEGINNING))?;
        let total = u64::try_from(total).unwrap_or_default();
        let (mut rows, mut done) = (Vec::new(), 0);
        let (store, facts, rows_at_once) = (self.store, self.facts, self.rows_at_once);
        let rules = store.read_blocking(load::rules)?;
        all_orders::read(store, facts, rules, state.filled, |portion| {
            self.go_on()?;
            rows.extend(portion.facts);
            done += portion.orders;
            state.filled = portion.last;
            if rows.len() >= rows_at_once {
                writer.add(&rows)?;
                rows.clear();
                writer.commit(&State { written: Clock::System.now(), ..state.clone() })?;
                on_progress(done, total.max(done));
            }
            Ok(())
        })?;
        self.go_on()?;
        writer.add(&rows)?;
        on_progress(done, total.max(done));
        let catalog = read_catalog(self.store)?;
        writer.put_products(&catalog, &catalog.products(), true)?;
        if !self.fits(&state)? {
            let told = "how the shop rounds has changed; facts are made once more";
            return Err(Error::unavailable(told));
        }
        state = State { filled: COMPLETE, written: Clock::System.now(), ..state };
        writer.commit(&state)?;
        tracing::info!(orders = done, "facts in ClickHouse were rebuilt from the records");
        Ok(state)
    }

    /// The state of tables that an earlier run has begun and that still fit, or of new ones.
    fn begin(&self) -> Result<(State, ClusterWriter)> {
        let states = self.cluster.states()?;
        let newest = states.last();
        if let Some(begun) = newest.filter(|state| !state.is_complete())
            && self.fits(begun)?
            && self.cluster.has_tables(begun.generation)?
        {
            return Ok((begun.clone(), ClusterWriter::open(self.cluster, begun.generation)?));
        }
        let position = self.store.read_blocking(outbox::head)?;
        let generation = self.cluster.unused_generation()?;
        let written = Clock::System.now();
        let mark = self.mark(position)?;
        let state = State { generation, position, filled: 0, last_download: 0, written, mark };
        Ok((state, ClusterWriter::create(self.cluster, generation)?))
    }

    /// Fails if what was written to each shard does not stand on each: one server was taken for
    /// two.
    fn look_for_shards(&self, generation: i64) -> Result<()> {
        let states = self.cluster.states()?;
        if states.iter().any(|state| state.generation == generation) {
            return Ok(());
        }
        ClusterWriter::open(self.cluster, 0)?.forget(generation)?;
        Err(Error::invalid("two URLs of analytics.engine lead to one ClickHouse database"))
    }

    fn mark(&self, position: i64) -> Result<String> {
        let cluster = Arc::clone(self.cluster);
        self.store.read_blocking(move |conn| mark(conn, position, &cluster))
    }

    fn fits(&self, state: &State) -> Result<bool> {
        let (state, cluster) = (state.clone(), Arc::clone(self.cluster));
        self.store.read_blocking(move |conn| fits(conn, &state, &cluster))
    }

    /// Fails when somebody else does this work, or the server ends.
    fn go_on(&mut self) -> Result<()> {
        if self.facts.is_stopping() {
            return Err(Error::unavailable("the server ended before all records were read"));
        }
        if !self.lease.hold()? {
            return Err(Error::conflict("another node rebuilds the facts now"));
        }
        events::look_at_lag(self.store, self.facts)
    }
}

/// Before all orders.
const BEGINNING: Timestamp = Timestamp::from_micros(i64::MIN);
