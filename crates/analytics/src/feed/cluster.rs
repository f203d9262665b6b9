//! The feed of facts in `ClickHouse`. Every node looks how far they go; the one with the lease
//! follows the events and brings there what they tell. **No node keeps an order.**
//!
//! A step is written before the state says so. Who is interrupted in between takes the same step
//! again, which changes nothing.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use db::Database;
use types::{Clock, Error, Result};

use super::catalog::CatalogFeed;
use super::fill::{self, Filling};
use super::follow::{Follower, Step};
use super::lease::Lease;
use super::target::Target;
use super::{PAUSE_AFTER_ERROR, events};
use crate::clickhouse::{COMPLETE, Cluster, ClusterWriter, State};
use crate::current::{Command, Facts};
use crate::facts::{Catalog, DownloadFact, OrderFact};

/// How long a change may wait until somebody looks for it.
const PAUSE: Duration = Duration::from_millis(200);
/// Tables that nobody should read any more are kept for so long, for questions under way.
const RETIRED_FOR: Duration = Duration::from_mins(1);

/// The state of the thread.
#[derive(Debug)]
pub(super) struct ClusterFeed {
    store: Database,
    facts: Arc<Facts>,
    cluster: Arc<Cluster>,
    lease: Lease,
    catalog: CatalogFeed,
    is_open: bool,
    /// Of the node that has the lease.
    follower: Option<Follower<ClusterTarget>>,
    /// What everybody reads.
    shown: Option<State>,
    /// The generation of tables that others have replaced, and since when.
    retired: Option<(i64, Instant)>,
}

impl ClusterFeed {
    pub(super) fn new(store: Database, facts: Arc<Facts>, cluster: Arc<Cluster>) -> Self {
        let lease = Lease::new(store.clone());
        let (catalog, is_open) = (CatalogFeed::default(), false);
        let (follower, shown, retired) = (None, None, None);
        Self { store, facts, cluster, lease, catalog, is_open, follower, shown, retired }
    }

    /// Follows the feed until it is told to stop.
    pub(super) fn run(mut self, commands: &Receiver<Command>) {
        loop {
            let pause = match self.turn() {
                Ok(()) => PAUSE,
                Err(_) if self.facts.is_stopping() => break,
                Err(error) => {
                    // What was begun is begun anew.
                    self.follower = None;
                    let error = error.report();
                    tracing::warn!(error, "cannot update facts in ClickHouse; retrying");
                    PAUSE_AFTER_ERROR
                }
            };
            let _ = self.look_at_lag();
            match commands.recv_timeout(pause) {
                Ok(Command::Stop) | Err(RecvTimeoutError::Disconnected) => break,
                // To look at once is what comes next anyway.
                Ok(Command::Wake) | Err(RecvTimeoutError::Timeout) => {}
            }
        }
        // The next node need not wait for it to run out.
        let _ = self.lease.release();
    }

    /// Looks how far the facts go, and lets everybody read them.
    pub(super) fn look(&mut self) -> Result<Vec<State>> {
        self.catalog.follow(&self.store, &self.facts)?;
        if !self.is_open {
            self.cluster.open()?;
            self.is_open = true;
        }
        let states = self.cluster.states()?;
        if let Some(current) = newest_complete(&states)
            && self.shown.as_ref() != Some(current)
            && self.fits(current)?
        {
            self.show(current);
        }
        Ok(states)
    }

    fn turn(&mut self) -> Result<()> {
        let states = self.look()?;
        if !self.lease.hold()? {
            self.follower = None;
            return Ok(());
        }
        self.open(newest_complete(&states))?;
        self.follow()?;
        self.forget(&states)
    }

    /// Lets everybody read these facts.
    fn show(&mut self, state: &State) {
        self.shown = Some(state.clone());
        self.cluster.set_generation(state.generation);
        self.facts.reach(state.position);
    }

    fn look_at_lag(&self) -> Result<()> {
        if let Some(position) = self.facts.position() {
            self.facts.set_lag(events::lag(&self.store, position, Clock::System.now())?);
        }
        Ok(())
    }

    /// Makes ready to follow from where the facts end, or makes them anew if they do not fit.
    fn open(&mut self, current: Option<&State>) -> Result<()> {
        let generation = current.map(|state| state.generation);
        let own = self.follower.as_ref().map(|follower| follower.target.writer.generation());
        if own.is_some() && own == generation {
            return Ok(());
        }
        self.follower = None;
        let state = match current {
            Some(state) if self.fits(state)? => state.clone(),
            _ => {
                tracing::info!("ClickHouse has no facts that fit; filling it from the records");
                self.fill()?
            }
        };
        self.start(state)
    }

    fn fits(&self, state: &State) -> Result<bool> {
        let (state, cluster) = (state.clone(), Arc::clone(&self.cluster));
        self.store.read_blocking(move |conn| fill::fits(conn, &state, &cluster))
    }

    fn fill(&mut self) -> Result<State> {
        let (store, facts, cluster) = (&self.store, &self.facts, &self.cluster);
        let (lease, rows_at_once) = (&mut self.lease, fill::ROWS_AT_ONCE);
        Filling { store, facts, cluster, lease, rows_at_once }.fill(&mut |_, _| {})
    }

    fn start(&mut self, state: State) -> Result<()> {
        self.show(&state);
        let catalog = super::follow::read_catalog(&self.store)?;
        let target = ClusterTarget::open(&self.cluster, &state, catalog)?;
        let mut follower = Follower::new(self.store.clone(), target);
        follower.last_download = state.last_download;
        follower.rules = Some(self.store.read_blocking(fill::rules)?);
        self.follower = Some(follower);
        Ok(())
    }

    /// Follows the feed to its end, or until the server ends or another node takes over.
    fn follow(&mut self) -> Result<()> {
        while !self.facts.is_stopping() && self.lease.hold()? {
            let Some(follower) = &mut self.follower else { return Ok(()) };
            let before = (follower.target.position, follower.last_download);
            let step = follower.step()?;
            if step == Step::Rebuild {
                self.follower = None;
                let state = self.fill()?;
                self.start(state)?;
                continue;
            }
            let after = (follower.target.position, follower.last_download);
            if before != after {
                let state = self.committed(after)?;
                self.show(&state);
            }
            if step == Step::Done {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Writes down how far the facts go.
    fn committed(&mut self, (position, last_download): (i64, i64)) -> Result<State> {
        let cluster = Arc::clone(&self.cluster);
        let mark = self.store.read_blocking(move |conn| fill::mark(conn, position, &cluster))?;
        let Some(follower) = &mut self.follower else {
            return Err(Error::internal("nobody follows the feed"));
        };
        let state = State {
            generation: follower.target.writer.generation(),
            position,
            filled: COMPLETE,
            last_download,
            written: Clock::System.now(),
            mark,
        };
        follower.target.writer.commit(&state)?;
        Ok(state)
    }

    /// Drops the tables that others replaced some time ago.
    fn forget(&mut self, states: &[State]) -> Result<()> {
        let Some(follower) = &mut self.follower else { return Ok(()) };
        let current = follower.target.writer.generation();
        let Some(old) = states.iter().find(|state| state.generation < current) else {
            return Ok(());
        };
        let (generation, since) = *self.retired.get_or_insert((old.generation, Instant::now()));
        if generation != old.generation {
            self.retired = None;
        } else if since.elapsed() >= RETIRED_FOR {
            self.retired = None;
            follower.target.writer.forget(old)?;
        }
        Ok(())
    }
}

/// The state of the tables that are to be read.
fn newest_complete(states: &[State]) -> Option<&State> {
    states.iter().rev().find(|state| state.is_complete())
}

/// The tables of `ClickHouse` that the feed brings facts to.
#[derive(Debug)]
pub(super) struct ClusterTarget {
    cluster: Arc<Cluster>,
    writer: ClusterWriter,
    catalog: Catalog,
    position: i64,
    has_nobodys_orders: bool,
}

impl ClusterTarget {
    fn open(cluster: &Arc<Cluster>, state: &State, catalog: Catalog) -> Result<Self> {
        let nobody = BTreeSet::from([0]);
        Ok(Self {
            writer: ClusterWriter::open(cluster, state.generation)?,
            has_nobodys_orders: cluster.known_customers(&nobody)?.contains(&0),
            cluster: Arc::clone(cluster),
            catalog,
            position: state.position,
        })
    }

    fn note(&mut self, facts: &[OrderFact]) {
        self.has_nobodys_orders |= facts.iter().any(|fact| fact.customer_id == 0);
    }
}

impl Target for ClusterTarget {
    fn position(&self) -> i64 {
        self.position
    }

    fn begin(&mut self, position: i64) {
        self.writer.begin(position);
    }

    fn set_position(&mut self, position: i64) {
        self.position = position;
    }

    /// Who reads knows them.
    fn set_excluded(&mut self, _: Vec<String>) {}

    fn apply(&mut self, deleted: &BTreeSet<i64>, facts: &[OrderFact]) -> Result<()> {
        self.note(facts);
        self.writer.apply(deleted, facts)
    }

    fn replace(&mut self, deleted: &BTreeSet<i64>, facts: &[OrderFact]) -> Result<()> {
        self.note(facts);
        self.writer.replace(deleted, facts)
    }

    fn clear(&mut self) -> Result<()> {
        self.writer.clear()
    }

    fn add_downloads(&mut self, downloads: Vec<Arc<DownloadFact>>) -> Result<()> {
        self.writer.add_downloads(&downloads)
    }

    fn replace_downloads(
        &mut self,
        orders: &BTreeSet<i64>,
        downloads: Vec<Arc<DownloadFact>>,
    ) -> Result<()> {
        self.writer.replace_downloads(orders, &downloads)
    }

    fn put_catalog(&mut self, catalog: Catalog) -> Result<()> {
        self.catalog = catalog;
        self.writer.put_products(&self.catalog, &self.catalog.products(), true)
    }

    fn put_categories(&mut self, products: Vec<(i64, Vec<i64>)>) -> Result<()> {
        let is_new = |(id, categories): &(i64, Vec<i64>)| self.catalog.direct(*id) != *categories;
        // Most changes of products leave them where they are.
        let moved: Vec<(i64, Vec<i64>)> = products.into_iter().filter(is_new).collect();
        if moved.is_empty() {
            return Ok(());
        }
        let ids = moved.iter().map(|(product_id, _)| *product_id).collect();
        for (product_id, categories) in moved {
            self.catalog.put(product_id, categories);
        }
        self.writer.put_products(&self.catalog, &ids, false)
    }

    fn new_customers(&self, facts: &[OrderFact]) -> Result<BTreeSet<i64>> {
        let customers = facts.iter().map(|fact| fact.customer_id).filter(|id| *id != 0);
        let customers: BTreeSet<i64> = customers.collect();
        // They matter only to those who may have had orders that were nobody's.
        if !self.has_nobodys_orders || customers.is_empty() {
            return Ok(BTreeSet::new());
        }
        let known = self.cluster.known_customers(&customers)?;
        Ok(&customers - &known)
    }

    fn has_nobodys_orders(&self) -> bool {
        self.has_nobodys_orders
    }

    fn orders_of(&self, customers: &BTreeSet<i64>) -> Result<BTreeSet<i64>> {
        self.cluster.orders_of(customers)
    }

    fn ids_between(&self, after: i64, through: i64) -> Result<BTreeSet<i64>> {
        self.cluster.ids_between(after, through)
    }
}
