//! The engine that tells others of changes: it follows the feed, and sends what waits in the store.
//!
//! A delivery is claimed for the time of a lease, sent, and finished; whoever dies in between
//! leaves a lease that ends, so **each delivery is sent at least once, and those of a lane in
//! order**. What fails is tried again later and later, until its endpoint gives up. Who is told of
//! what, and how a request is made, is the matter of the endpoint's [`Kind`]; the engine knows none
//! of it. Neither addresses nor bodies go to the log: both may hold what is nobody else's business.

mod kinds;
mod sending;
#[cfg(test)]
mod tests;
pub(crate) mod waits;

use std::sync::Arc;
use std::time::{Duration, Instant};

use db::webhook_delivery::{self, Answer, DeliveryRow, Outcome};
use db::{Conn, Database};
use frame::Site;
use frame::outbound::{FetchError, Fetched};
use onboarding::Platform;
use onboarding::webhooks::send::Attempted;
use tokio::sync::watch;
use types::{Error, Result, Timestamp};

use self::kinds::{Kind, Next, Parties};
use self::sending::Sending;
use crate::shared::Shared;

/// Endpoints with something due that one step looks at.
const ENDPOINTS_MAX: i64 = 1_000;
/// Bytes of an answer that are kept.
const ANSWER_BYTES_MAX: usize = 4 * 1024;
/// Attempts at one delivery whose kind sets no waits of its own.
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
    lease: Duration::from_secs(30),
    first_wait: Duration::from_secs(30),
    longest_wait: Duration::from_hours(4),
    kept: Duration::from_hours(24 * 30),
};

/// Delivers until it is told to stop; then waits for what is under way.
pub(crate) async fn run(
    (site, platform): (Arc<Site>, Arc<Platform>),
    shared: Arc<Shared>,
    stop: watch::Receiver<bool>,
) {
    let settings = shared.settings.webhooks.clone();
    let lease = PACE.lease.max(settings.timeout().saturating_mul(2));
    let pace = Pace { lease, ..PACE };
    Engine { parties: Parties { site, platform, settings }, shared, pace }.run(stop).await;
}

#[derive(Clone, Debug)]
struct Engine {
    parties: Parties,
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

/// An attempt, for the log and the metrics.
#[derive(Debug)]
struct Attempt {
    ending: Ending,
    /// What the receiver answered.
    status: Option<i64>,
    /// Why there is no answer.
    reason: Option<String>,
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
        self.take_over().await;
        let mut sending = Sending::default();
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
                () = sending.one_ends() => {}
                _ = stop.changed() => break,
            }
        }
        while !sending.tasks.is_empty() {
            sending.one_ends().await;
        }
    }

    /// Leases of a process that died need not run out where no other process can be at work.
    async fn take_over(&self) {
        let (store, now) = (self.store(), self.now());
        if !store.is_embedded() {
            return;
        }
        match store.write(move |conn| webhook_delivery::end_leases(conn, now)).await {
            Ok(0) => {}
            Ok(count) => tracing::info!(count, "deliveries were under way when the server ended"),
            Err(error) => {
                let error = error.report();
                tracing::warn!(error, "deliveries of the last run wait for their leases to end");
            }
        }
    }

    /// Turns events into deliveries, and starts to send what is due.
    async fn step(&self, sending: &mut Sending) -> Result<()> {
        kinds::follow(&self.parties).await?;
        for delivery in self.claim(sending).await? {
            let engine = self.clone();
            sending.start(delivery.endpoint.clone(), async move { engine.deliver(delivery).await });
        }
        Ok(())
    }

    /// Looking costs a read; only where something is due is written.
    async fn claim(&self, sending: &Sending) -> Result<Vec<DeliveryRow>> {
        let (store, now, lease) = (self.store(), self.now(), self.pace.lease);
        let due =
            move |conn: &mut dyn Conn| webhook_delivery::due_endpoints(conn, now, ENDPOINTS_MAX);
        let shares = sending.shares(store.read(due).await?);
        if shares.is_empty() {
            return Ok(Vec::new());
        }
        let claim = move |conn: &mut dyn Conn| {
            let mut claimed = Vec::new();
            for (endpoint, share) in &shares {
                claimed.extend(webhook_delivery::claim_due(conn, endpoint, now, *share, lease)?);
            }
            Ok(claimed)
        };
        store.write(claim).await
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
            Ok(Attempt { ending, status, reason }) => {
                let (outcome, environment) = (ending.name(), self.parties.site.environment());
                self.shared.metrics.count_delivery(environment, kind, outcome);
                tracing::info!(
                    delivery_id,
                    attempt,
                    kind,
                    endpoint_id,
                    outcome,
                    status,
                    reason,
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
    async fn attempt(&self, kind: &'static dyn Kind, delivery: &DeliveryRow) -> Result<Attempt> {
        let (parties, claimed, now) = (self.parties.clone(), delivery.clone(), self.now());
        let request = self.store().read(move |conn| kind.request(&parties, conn, &claimed, now));
        let Some(request) = request.await? else {
            let unwanted = "the endpoint does not want it any more";
            let reason = Some(unwanted.to_owned());
            let answer = Answer { body: unwanted.to_owned(), ..Answer::default() };
            let claimed = delivery.clone();
            let finish = move |conn: &mut dyn Conn| {
                webhook_delivery::finish(conn, &claimed, now, Outcome::Failed, &answer)
            };
            self.store().write(finish).await?;
            return Ok(Attempt { ending: Ending::GivenUp, status: None, reason });
        };
        let started = Instant::now();
        let fetched = match self.parties.platform.catch_webhook(&request, now).await? {
            Some(caught) => Ok(caught),
            None => self.parties.site.outbound().fetch(request).await,
        };
        let attempted = attempted(kind, &fetched, self.now());
        // What a receiver answers may be anybody's business but the log's; why nobody answers is not.
        let reason = fetched.as_ref().err().map(ToString::to_string);
        let answer = answer_of(fetched, started.elapsed());
        let status = answer.status;
        let ending = self.finish(kind, delivery, attempted, answer).await?;
        Ok(Attempt { ending, status, reason })
    }

    async fn finish(
        &self,
        kind: &'static dyn Kind,
        delivery: &DeliveryRow,
        attempted: Attempted,
        answer: Answer,
    ) -> Result<Ending> {
        let (parties, claimed, now) = (self.parties.clone(), delivery.clone(), self.now());
        let bounds = (self.pace.first_wait, self.pace.longest_wait);
        let finish = move |conn: &mut dyn Conn| {
            let next = kind.note(&parties, conn, &claimed, attempted, now)?;
            let (attempt, delivery_id) = (claimed.attempt, claimed.delivery_id);
            let wait = wait_for(next, bounds, (attempt, delivery_id));
            let (ending, outcome) = match wait {
                _ if attempted.succeeded => (Ending::Delivered, Outcome::Delivered),
                Some(wait) => (Ending::Postponed, Outcome::Retry(now.plus(wait))),
                None => (Ending::GivenUp, Outcome::Failed),
            };
            if webhook_delivery::finish(conn, &claimed, now, outcome, &answer)? {
                return Ok(ending);
            }
            // What was noted belongs to whoever has the lease now.
            Err(Error::conflict("the lease of the delivery has ended"))
        };
        self.store().write(finish).await
    }

    /// Forgets what was delivered long ago, a batch at a time.
    async fn prune(&self) {
        let kept = i64::try_from(self.pace.kept.as_micros()).unwrap_or(i64::MAX);
        let before = Timestamp::from_micros(self.now().as_micros().saturating_sub(kept));
        loop {
            let prune =
                move |conn: &mut dyn Conn| webhook_delivery::prune(conn, before, PRUNED_MAX);
            let pruned = self.store().write(prune);
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
        self.parties.site.clock().now()
    }

    fn store(&self) -> &Database {
        self.parties.site.store()
    }
}

/// How long to wait after an attempt that failed; nothing when it was the last. Waits that somebody
/// chose end where their list does.
fn wait_for(
    next: Next,
    bounds: (Duration, Duration),
    (attempt, delivery_id): (i64, i64),
) -> Option<Duration> {
    match next {
        Next::Usual if attempt >= ATTEMPTS_MAX => None,
        Next::Usual => Some(waits::after(bounds, attempt, delivery_id)),
        Next::After(chosen) => Some(waits::about(chosen, attempt, delivery_id)),
        Next::Never => None,
    }
}

/// What the endpoint's kind must know of an attempt.
fn attempted(
    kind: &dyn Kind,
    fetched: &std::result::Result<Fetched, FetchError>,
    now: Timestamp,
) -> Attempted {
    let Ok(answer) = fetched else { return Attempted::default() };
    let retry_after = answer.header("retry-after").and_then(|value| {
        let seconds = value.trim().parse().ok().map(Duration::from_secs);
        seconds.or_else(|| Timestamp::parse_http_date(value).map(|date| date.since(now)))
    });
    let status = Some(answer.status);
    Attempted { succeeded: kind.is_taken(answer.status), status, retry_after }
}

fn answer_of(fetched: std::result::Result<Fetched, FetchError>, duration: Duration) -> Answer {
    let duration = Some(duration);
    match fetched {
        Ok(fetched) => {
            let bytes = fetched.body.get(..ANSWER_BYTES_MAX).unwrap_or(&fetched.body);
            // No database takes a zero byte in a text.
            let body = String::from_utf8_lossy(bytes).replace('\0', "");
            Answer { status: Some(i64::from(fetched.status)), body, duration }
        }
        Err(error) => Answer { status: None, body: error.to_string(), duration },
    }
}
