//! The feed of facts in `ClickHouse`. Every node looks how far they go; the one with the lease
//! follows the events and brings there what they tell. **No node keeps an order.**
//!
//! A step is written before the state says so. Who is interrupted in between takes the same step
//! again, and finds what is left to do of it.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use db::Database;
use types::{Clock, Error, Result};

use super::catalog::CatalogFeed;
use super::cluster_target::ClusterTarget;
use super::fill::{self, Filling};
use super::follow::{Follower, Step};
use super::lease::Lease;
use super::load;
use super::rechecks::Rechecks;
use super::{PAUSE_AFTER_ERROR, events};
use crate::clickhouse::{COMPLETE, Cluster, State};
use crate::current::{Command, Facts};

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
    /// Generations of tables that others have replaced, and since when.
    retired: Option<(BTreeSet<i64>, Instant)>,
    rechecks: Rechecks,
}

impl ClusterFeed {
    pub(super) fn new(store: Database, facts: Arc<Facts>, cluster: Arc<Cluster>) -> Self {
        let lease = Lease::new(store.clone());
        let (catalog, is_open) = (CatalogFeed::default(), false);
        let (follower, shown, retired, rechecks) = (None, None, None, Rechecks::default());
        Self { store, facts, cluster, lease, catalog, is_open, follower, shown, retired, rechecks }
    }

    /// Follows the feed until it is told to stop.
    pub(super) fn run(mut self, commands: &Receiver<Command>) {
        loop {
            let pause = match self.turn() {
                Ok(()) => PAUSE,
                Err(_) if self.facts.is_stopping() => break,
                Err(error) => {
                    // What was begun is begun anew, and what was there may be gone.
                    self.follower = None;
                    self.is_open = false;
                    let error = error.report();
                    tracing::warn!(error, "cannot update facts in ClickHouse; retrying");
                    PAUSE_AFTER_ERROR
                }
            };
            let _ = events::look_at_lag(&self.store, &self.facts);
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
            fill::identify(&self.store)?;
            self.cluster.open()?;
            self.is_open = true;
        }
        let states = self.cluster.states()?;
        match newest_complete(&states) {
            Some(current) if self.shown.as_ref() == Some(current) => {}
            Some(current) if self.fits(current)? => self.show(current),
            _ => self.withdraw_unless_in(&states),
        }
        Ok(states)
    }

    /// Lets nobody read tables any more that a shard has lost.
    fn withdraw_unless_in(&mut self, states: &[State]) {
        let Some(shown) = &self.shown else { return };
        let is_there = |state: &State| state.generation == shown.generation && state.is_complete();
        if !states.iter().any(is_there) {
            tracing::warn!("a ClickHouse server has lost its facts; reports wait for new ones");
            self.shown = None;
            self.cluster.set_generation(0);
            self.facts.withdraw();
        }
    }

    fn turn(&mut self) -> Result<()> {
        let states = self.look()?;
        if !self.lease.hold()? {
            self.follower = None;
            return Ok(());
        }
        self.open(newest_complete(&states))?;
        self.follow()?;
        self.forget()
    }

    /// Lets everybody read these facts.
    fn show(&mut self, state: &State) {
        self.shown = Some(state.clone());
        self.cluster.set_generation(state.generation);
        self.facts.reach(state.position);
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
            Some(state) if self.fits(state)? && self.cluster.has_tables(state.generation)? => {
                state.clone()
            }
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
        follower.rules = Some(self.store.read_blocking(load::rules)?);
        self.rechecks.note(state.position);
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
            self.recheck()?;
            if step == Step::Done {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Looks again at steps that may have been under way elsewhere.
    fn recheck(&mut self) -> Result<()> {
        while let Some(position) = self.rechecks.due(Instant::now()) {
            let Some(follower) = &mut self.follower else { return Ok(()) };
            if follower.recheck(position)? {
                // So that nobody keeps an answer of before.
                let now = (follower.target.position, follower.last_download);
                let state = self.committed(now)?;
                self.show(&state);
            }
            self.rechecks.done(position);
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

    /// Drops the tables that others replaced some time ago, on whichever shards they are.
    fn forget(&mut self) -> Result<()> {
        let Some(follower) = &mut self.follower else { return Ok(()) };
        if self.retired.as_ref().is_some_and(|(_, since)| since.elapsed() < RETIRED_FOR) {
            return Ok(());
        }
        let writer = &mut follower.target.writer;
        let old = self.cluster.generations_before(writer.generation())?;
        let known = self.retired.take().map(|(known, _)| known).unwrap_or_default();
        for generation in old.intersection(&known) {
            writer.forget(*generation)?;
        }
        self.retired = Some((&old - &known, Instant::now()));
        Ok(())
    }
}

/// The state of the tables that are to be read.
fn newest_complete(states: &[State]) -> Option<&State> {
    states.iter().rev().find(|state| state.is_complete())
}
