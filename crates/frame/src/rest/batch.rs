//! Carrying out the items of a batch. **An item is its own unit**: one that is refused or fails
//! leaves no trace and does not keep the others from being done.
//!
//! A batch that came as a request is cut into short transactions, so that a long one keeps nobody
//! else waiting, and ends in time for its answer: whatever is left by then is not begun, and the
//! answer says so, item by item.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use contract::rest::{Refusal, Reply, Stop};
use types::{Error, Kind};

use super::invocation::Invocation;
use super::perform::Performed;
use super::{Forgetting, failed};
use crate::action::{Batch, BatchItem, ItemOutcome, Outcome, Work};
use crate::{Call, Site, Visit};

/// How long items share a transaction; the last one that began is carried out to its end.
const SLICE: Duration = Duration::from_millis(50);

impl Batch {
    /// All items as a part of the transaction at hand.
    pub(super) fn run_within(&self, call: &mut Call<'_>) -> Outcome {
        let items = (self.plan)(call)?;
        let mut outcomes = Vec::with_capacity(items.len());
        for item in items {
            let outcome = self.run_one(call, &item)?;
            outcomes.push((item, outcome));
        }
        Ok((self.gather)(outcomes))
    }

    fn run_one(&self, call: &mut Call<'_>, item: &BatchItem) -> Result<ItemOutcome, Error> {
        let mut outcome = None;
        call.nested(item.params.clone(), &mut |call| {
            let (keep, result) = match (self.run)(item, call) {
                Ok(body) => (true, Ok(body)),
                Err(Stop::Refused(refusal)) => (false, Err(*refusal)),
                Err(Stop::Failed(error)) => return Err(error),
            };
            outcome = Some(result);
            Ok(keep)
        })?;
        outcome.ok_or_else(|| Error::internal("an item of a batch was not run"))
    }

    /// As many of the items as fit into the time, and one at least.
    fn run_slice(
        &self,
        call: &mut Call<'_>,
        items: &[BatchItem],
        time: Duration,
    ) -> Result<Vec<ItemOutcome>, Error> {
        let started = Instant::now();
        let mut outcomes = Vec::new();
        for item in items {
            outcomes.push(self.run_one(call, item)?);
            if started.elapsed() >= time {
                break;
            }
        }
        Ok(outcomes)
    }
}

impl Site {
    pub(super) async fn perform_batch(
        self: &Arc<Self>,
        invocation: Invocation,
        visit: &Arc<Visit>,
    ) -> Result<Performed, Error> {
        let started = Instant::now();
        let visit = self.with_hashes(&invocation, visit).await?;
        let plan = self.with_call(&invocation, &visit, |action, call| {
            (action.permit)(call)?;
            match &action.work {
                Work::Batch(batch) => (batch.plan)(call),
                _ => Err(not_a_batch().into()),
            }
        });
        let _noted = Forgetting(self);
        let outcome = match plan.await? {
            Ok(items) => self.run_items(&invocation, &visit, items, started).await,
            Err(stop) => Err(stop),
        };
        self.finish_later(invocation, &visit, outcome).await
    }

    async fn run_items(
        self: &Arc<Self>,
        invocation: &Invocation,
        visit: &Arc<Visit>,
        items: Vec<BatchItem>,
        started: Instant,
    ) -> Outcome {
        let items = Arc::new(items);
        let mut outcomes: Vec<ItemOutcome> = Vec::with_capacity(items.len());
        // One that fails undoes what shares its transaction, which is then done again without it.
        let (mut is_one_by_one, mut is_lost) = (false, false);
        while outcomes.len() < items.len() && !is_lost {
            let left = self.batch_time().saturating_sub(started.elapsed());
            // Whoever had to wait long before the first item gets that far at least.
            if left.is_zero() && !outcomes.is_empty() {
                break;
            }
            let time = if is_one_by_one { Duration::ZERO } else { SLICE.min(left) };
            let (site, visit, invocation) =
                (Arc::clone(self), Arc::clone(visit), invocation.clone());
            let (all, begin) = (Arc::clone(&items), outcomes.len());
            let begun = Arc::new(AtomicUsize::new(0));
            let counted = Arc::clone(&begun);
            let slice = self.store().attempt(move |conn| {
                let found = site.table().find(invocation.verb, &invocation.path);
                let Some(Work::Batch(batch)) = found.map(|found| &found.endpoint.operation.work)
                else {
                    return Err(not_a_batch());
                };
                let (verb, params) = (invocation.verb, invocation.params.clone());
                let mut call = Call::new(&site, &visit, verb, false, params, Some(conn));
                let rest = all.get(begin..).unwrap_or_default();
                let done = batch.run_slice(&mut call, rest, time)?;
                counted.store(done.len(), Ordering::Release);
                Ok(Ok::<_, Infallible>(done))
            });
            match slice.await {
                Ok(Ok(done)) => outcomes.extend(done),
                // What is run again could be stored twice.
                Err(error) if error.kind() == Kind::Uncertain => {
                    let begun = begun.load(Ordering::Acquire).max(1);
                    outcomes.extend((0..begun).map(|_| Err(failed(&error))));
                    is_lost = true;
                }
                Err(error) if error.kind() == Kind::Unavailable => {
                    if outcomes.is_empty() {
                        return Err(error.into());
                    }
                    is_lost = true;
                }
                Err(error) if is_one_by_one => outcomes.push(Err(failed(&error))),
                Err(_) => is_one_by_one = true,
            }
        }
        let left = if is_lost { not_begun } else { out_of_time };
        outcomes.resize_with(items.len(), || Err(left()));
        let found = self.table().find(invocation.verb, &invocation.path);
        match found.map(|found| &found.endpoint.operation.work) {
            Some(Work::Batch(batch)) => Ok(gathered(batch, &items, outcomes)),
            _ => Err(not_a_batch().into()),
        }
    }
}

fn gathered(batch: &Batch, items: &[BatchItem], outcomes: Vec<ItemOutcome>) -> Reply {
    (batch.gather)(items.iter().cloned().zip(outcomes).collect())
}

fn not_a_batch() -> Error {
    Error::internal("a route is no batch any more")
}

fn not_begun() -> Refusal {
    let message = "The database was lost before this item, and nothing of it was stored; send it \
                   again.";
    Refusal::new(503, "rest_batch_not_begun", message)
}

fn out_of_time() -> Refusal {
    let message = "The batch ran out of time before this item, and nothing of it was stored; send \
                   it again in a smaller batch.";
    Refusal::new(503, "rest_batch_out_of_time", message)
}
