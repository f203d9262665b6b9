//! A rate limit that holds over all nodes on a database. A node takes a share of the bucket there,
//! and lets requests pass from it without asking again
//! ([ADR 34](../../../../docs/adr/0034-rate-limits-by-shares.md)). **Together the nodes let no more
//! pass than one would**; what one of them has taken and not used, the others cannot use.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use db::Database;
use db::rate_bucket::{self, Rate};
use governor::Quota;
use tokio::sync;
use types::{Result, Timestamp};

/// A node takes this part of the burst at once.
const SHARE: u32 = 16;
/// Whoever found a bucket empty is not sent to the database again before.
const EMPTY_FOR_MIN: Duration = Duration::from_millis(20);
/// What was taken is kept for a name that has been quiet for so long.
const KEPT: Duration = Duration::from_mins(1);
/// Names remembered at most. Beyond that all are forgotten, and what was taken for them is lost.
const NAMES_MAX: usize = 50_000;

#[derive(Debug)]
pub(super) struct SharedLimit {
    store: Database,
    prefix: String,
    rate: Rate,
    /// How long an empty bucket takes to be full.
    refill: Duration,
    names: Mutex<HashMap<String, Arc<sync::Mutex<Share>>>>,
}

/// What this node has of one bucket.
#[derive(Debug)]
struct Share {
    count: u32,
    /// What was left in the bucket.
    left: u32,
    empty_until: Option<Instant>,
    asked: Instant,
}

/// Whether a request may pass.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Passed {
    Yes { left: u32 },
    NotFor(Duration),
}

impl SharedLimit {
    pub(super) fn new(store: Database, prefix: String, quota: Quota) -> Self {
        let interval = quota.replenish_interval();
        let interval_ns = i64::try_from(interval.as_nanos()).unwrap_or(i64::MAX).max(1);
        let burst = quota.burst_size().get();
        let rate = Rate { interval_ns, burst };
        let refill = interval.saturating_mul(burst);
        Self { store, prefix, rate, refill, names: Mutex::default() }
    }

    /// Lets a request of that name pass, or says how long not. Requests of one name that come
    /// while a share is being taken wait for it.
    pub(super) async fn pass(&self, name: &str, now: Timestamp) -> Result<Passed> {
        let share = self.share(name);
        let mut share = share.lock().await;
        share.asked = Instant::now();
        let empty = share.empty_until.map(|until| until.saturating_duration_since(share.asked));
        if share.count == 0 {
            if let Some(wait) = empty.filter(|wait| !wait.is_zero()) {
                return Ok(Passed::NotFor(wait));
            }
            self.take(name, &mut share, now).await?;
        }
        if share.count == 0 {
            let until = share.empty_until.unwrap_or(share.asked);
            return Ok(Passed::NotFor(until.saturating_duration_since(share.asked)));
        }
        share.count -= 1;
        Ok(Passed::Yes { left: share.count.saturating_add(share.left) })
    }

    async fn take(&self, name: &str, share: &mut Share, now: Timestamp) -> Result<()> {
        let (bucket, rate) = (format!("{}{name}", self.prefix), self.rate);
        let wanted = (rate.burst / SHARE).max(1);
        let taken = self
            .store
            .write(move |conn| rate_bucket::take(conn, &bucket, rate, wanted, now))
            .await?;
        let wait = Duration::from_nanos(u64::try_from(taken.wait_ns).unwrap_or(0));
        share.empty_until = (taken.count == 0).then(|| share.asked + wait.max(EMPTY_FOR_MIN));
        (share.count, share.left) = (taken.count, taken.left);
        Ok(())
    }

    fn share(&self, name: &str) -> Arc<sync::Mutex<Share>> {
        let mut names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(share) = names.get(name) {
            return Arc::clone(share);
        }
        if names.len() >= NAMES_MAX {
            names.clear();
        }
        let new = Share { count: 0, left: 0, empty_until: None, asked: Instant::now() };
        let share = Arc::new(sync::Mutex::new(new));
        names.insert(name.to_owned(), Arc::clone(&share));
        share
    }

    /// Forgets names that have been quiet. A share is kept until the bucket is full again without
    /// it, so that nobody loses what they did not use.
    pub(super) fn tidy(&self) {
        let mut names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        names.retain(|_, share| {
            let Ok(share) = share.try_lock() else { return true };
            let quiet = share.asked.elapsed();
            quiet < KEPT || (share.count > 0 && quiet < self.refill)
        });
    }
}
