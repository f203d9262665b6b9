//! The engine that tells others of changes: it follows the feed, and sends what waits in the store.
//!
//! A delivery is claimed for the time of a lease, sent, and finished; whoever dies in between
//! leaves a lease that ends, so **each delivery is sent at least once, and those of an endpoint in
//! order**. What fails is tried again later and later, until its endpoint gives up. Who is told of
//! what, and how a request is made, is the matter of the endpoint's [`Kind`]; the engine knows none
//! of it. Neither addresses nor bodies go to the log: both may hold what is nobody else's business.

mod kinds;
#[cfg(test)]
mod tests;
pub(crate) mod waits;

use std::sync::Arc;
use std::time::{Duration, Instant};

use site::Site;
use site::outbound::{FetchFault, Fetched};
use store::webhook_delivery::{self, Answer, DeliveryRow, Outcome};
use tokio::sync::watch;
use tokio::task::JoinSet;
use types::{Error, Result, Timestamp};

use self::kinds::Kind;
use crate::Shared;

/// Deliveries under way at once.
const SENDING_MAX: usize = 16;
/// Bytes of an answer that are kept.
const ANSWER_BYTES_MAX: usize = 4 * 1024;
/// Attempts at one delivery, however patient its endpoint is.
const ATTEMPTS_MAX: i64 = 20;
/// Deliveries forgotten in one transaction.
const PRUNED_MAX: i64 = 1_000;
const PRUNE_EVERY: Duration = Duration::from_hours(1);

/// How fast the engine works.
#[derive(Clone, Copy, Debug)]
struct Pace {
    /// How long an event may wait before it is looked at.
    pause: Duration,
    /// Longer than any attempt takes.
    lease: Duration,
    /// Between the first attempt and the second; each further one waits four times as long.
    first_wait: Duration,
    longest_wait: Duration,
    /// For how long one can look up what was delivered.
    kept: Duration,
}

const PACE: Pace = Pace {
    pause: Duration::from_millis(500),
    lease: Duration::from_mins(1),
    first_wait: Duration::from_secs(30),
    longest_wait: Duration::from_hours(4),
    kept: Duration::from_hours(24 * 30),
};

/// Delivers until it is told to stop; then waits for what is under way.
pub(crate) async fn run(site: Arc<Site>, shared: Arc<Shared>, stop: watch::Receiver<bool>) {
    Engine { site, shared, pace: PACE }.run(stop).await;
}

#[derive(Clone, Debug)]
struct Engine {
    site: Arc<Site>,
    shared: Arc<Shared>,
    pace: Pace,
}

/// What became of an attempt, for the log and the metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    Delivered,
    /// To be tried again.
    Postponed,
    GivenUp,
}

impl Ending {
    fn name(self) -> &'static str {
        match self {
            Self::Delivered => "delivered",
            Self::Postponed => "postponed",
            Self::GivenUp => "given_up",
        }
    }
}

impl Engine {
    async fn run(self, mut stop: watch::Receiver<bool>) {
        let mut sending = JoinSet::new();
        let mut pruned: Option<Instant> = None;
        while !*stop.borrow() {
            if let Err(error) = self.step(&mut sending).await {
                tracing::warn!(error = error.report(), "deliveries must wait; trying again");
            }
            if pruned.is_none_or(|at| at.elapsed() >= PRUNE_EVERY) {
                pruned = Some(Instant::now());
                self.prune().await;
            }
            tokio::select! {
                () = tokio::time::sleep(self.pace.pause) => {}
                // The endpoint's next delivery need not wait for the pause to end.
                Some(_) = sending.join_next() => {}
                _ = stop.changed() => break,
            }
        }
        while sending.join_next().await.is_some() {}
    }

    /// Turns events into deliveries, and starts to send what is due.
    async fn step(&self, sending: &mut JoinSet<()>) -> Result<()> {
        kinds::follow(&self.site).await?;
        let free = SENDING_MAX.saturating_sub(sending.len());
        for delivery in self.claim(free).await? {
            let engine = self.clone();
            sending.spawn(async move { engine.deliver(delivery).await });
        }
        Ok(())
    }

    /// Looking costs a read; only where something is due is written.
    async fn claim(&self, free: usize) -> Result<Vec<DeliveryRow>> {
        let (store, now) = (self.site.store(), self.now());
        let next = store.read(webhook_delivery::next_due).await?;
        if free == 0 || next.is_none_or(|due| due > now) {
            return Ok(Vec::new());
        }
        let limit = i64::try_from(free).unwrap_or(i64::MAX);
        let lease = self.pace.lease;
        store.write(move |conn| webhook_delivery::claim_due(conn, now, limit, lease)).await
    }

    async fn deliver(&self, delivery: DeliveryRow) {
        let ended = match kinds::of(&delivery.endpoint) {
            Some(kind) => self.attempt(kind, &delivery).await,
            None => Err(Error::internal("nobody knows this kind of endpoint")),
        };
        let endpoint = &delivery.endpoint;
        let (kind, endpoint_id) = (endpoint.kind.as_str(), endpoint.id.as_str());
        let (delivery_id, attempt) = (delivery.delivery_id, delivery.attempt);
        match ended {
            Ok((ending, status)) => {
                let outcome = ending.name();
                self.shared.metrics.count_delivery(self.site.environment(), kind, outcome);
                tracing::info!(
                    delivery_id,
                    attempt,
                    kind,
                    endpoint_id,
                    outcome,
                    status,
                    "a delivery was attempted"
                );
            }
            Err(error) => {
                // Its lease ends, and then it is due again.
                let error = error.report();
                tracing::warn!(delivery_id, attempt, kind, endpoint_id, error, "a delivery failed");
            }
        }
    }

    /// Sends the delivery once and writes down what came of it.
    async fn attempt(
        &self,
        kind: &'static dyn Kind,
        delivery: &DeliveryRow,
    ) -> Result<(Ending, Option<i64>)> {
        let (site, wanted) = (Arc::clone(&self.site), delivery.clone());
        let request = self.site.store().read(move |conn| kind.request(&site, conn, &wanted));
        let Some(request) = request.await? else {
            let unwanted = "the endpoint does not want it any more";
            let answer = Answer { body: unwanted.to_owned(), ..Answer::default() };
            let (claimed, now) = (delivery.clone(), self.now());
            let finish = move |conn: &mut dyn store::Conn| {
                webhook_delivery::finish(conn, &claimed, now, Outcome::Failed, &answer)
            };
            self.site.store().write(finish).await?;
            return Ok((Ending::GivenUp, None));
        };
        let started = Instant::now();
        let fetched = self.site.outbound().fetch(request).await;
        let succeeded = fetched.as_ref().is_ok_and(|answer| kind.is_taken(answer.status));
        let answer = answer_of(fetched, started.elapsed());
        let status = answer.status;
        let ending = self.finish(kind, delivery, succeeded, answer).await?;
        Ok((ending, status))
    }

    async fn finish(
        &self,
        kind: &'static dyn Kind,
        delivery: &DeliveryRow,
        succeeded: bool,
        answer: Answer,
    ) -> Result<Ending> {
        let (claimed, now) = (delivery.clone(), self.now());
        let bounds = (self.pace.first_wait, self.pace.longest_wait);
        let finish = move |conn: &mut dyn store::Conn| {
            let goes_on = kind.note(conn, &claimed, succeeded, now)?;
            let (ending, outcome) = if succeeded {
                (Ending::Delivered, Outcome::Delivered)
            } else if goes_on && claimed.attempt < ATTEMPTS_MAX {
                let wait = waits::after(bounds, claimed.attempt, claimed.delivery_id);
                (Ending::Postponed, Outcome::Retry(now.plus(wait)))
            } else {
                (Ending::GivenUp, Outcome::Failed)
            };
            if webhook_delivery::finish(conn, &claimed, now, outcome, &answer)? {
                return Ok(ending);
            }
            // What was noted belongs to whoever has the lease now.
            Err(Error::conflict("the lease of the delivery has ended"))
        };
        self.site.store().write(finish).await
    }

    /// Forgets what was delivered long ago, a batch at a time.
    async fn prune(&self) {
        let kept = i64::try_from(self.pace.kept.as_micros()).unwrap_or(i64::MAX);
        let before = Timestamp::from_micros(self.now().as_micros().saturating_sub(kept));
        loop {
            let pruned = self
                .site
                .store()
                .write(move |conn| webhook_delivery::prune(conn, before, PRUNED_MAX));
            match pruned.await {
                Ok(0) => return,
                Ok(count) => tracing::info!(count, "old deliveries were forgotten"),
                Err(error) => {
                    let error = error.report();
                    return tracing::warn!(error, "old deliveries could not be forgotten");
                }
            }
        }
    }

    fn now(&self) -> Timestamp {
        self.site.clock().now()
    }
}

fn answer_of(fetched: std::result::Result<Fetched, FetchFault>, duration: Duration) -> Answer {
    let duration = Some(duration);
    match fetched {
        Ok(fetched) => {
            let bytes = fetched.body.get(..ANSWER_BYTES_MAX).unwrap_or(&fetched.body);
            // No database takes a zero byte in a text.
            let body = String::from_utf8_lossy(bytes).replace('\0', "");
            Answer { status: Some(i64::from(fetched.status)), body, duration }
        }
        Err(fault) => Answer { status: None, body: fault.to_string(), duration },
    }
}
