//! The workers of the site's background jobs: they claim what is due, run it, and write down what
//! came of it.
//!
//! A job is claimed for the time of a lease, which is renewed while its work goes on; whoever dies
//! in between leaves a lease that ends, and another worker goes on. A worker that stops gives its
//! jobs back at once. **What a job has done counts once**: see [`frame::jobs`].

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use db::Conn;
use db::background_job::{self, Ending, JobRow};
use db::backlog::{self, Waiting};
use frame::Site;
use frame::jobs::{self, Halt, JobCx, JobKind, Limits};
use serde_json::Value;
use tokio::sync::watch;
use tokio::task::{Id, JoinHandle, JoinSet};
use types::{Error, Result, Timestamp};

use crate::deliveries::waits;
use crate::shared::Shared;

/// Jobs that a process runs at once for one environment.
const WORKERS_MAX: usize = 8;
/// Jobs forgotten in one transaction.
const PRUNED_MAX: i64 = 1_000;
const PRUNE_EVERY: Duration = Duration::from_hours(1);

/// How fast the workers are.
#[derive(Clone, Copy, Debug)]
struct Pace {
    /// How long a job may wait before it is looked at.
    pause: Duration,
    /// How long after the end of its worker a job is taken over.
    lease: Duration,
    /// How often a lease is renewed: several times in its life, since the storage may be busy.
    renewal: Duration,
}

const PACE: Pace = Pace {
    pause: Duration::from_millis(500),
    lease: Duration::from_secs(30),
    renewal: Duration::from_secs(8),
};

/// Works until it is told to stop; then gives back what is under way.
pub(crate) async fn run(site: Arc<Site>, shared: Arc<Shared>, stop: watch::Receiver<bool>) {
    Workers { site, shared, pace: PACE }.run(stop).await;
}

#[derive(Clone, Debug)]
struct Workers {
    site: Arc<Site>,
    shared: Arc<Shared>,
    pace: Pace,
}

/// What became of a run, for the log and the metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Done,
    Failed,
    Cancelled,
    /// To be tried again.
    Postponed,
    /// Given back, or taken over by another worker.
    LeftToOthers,
}

impl Outcome {
    fn name(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::Postponed => "postponed",
            Self::LeftToOthers => "left_to_others",
        }
    }
}

impl Workers {
    async fn run(self, mut stop: watch::Receiver<bool>) {
        self.take_over().await;
        let mut working = JoinSet::new();
        let mut kinds: HashMap<Id, &str> = HashMap::new();
        let mut pruned: Option<Instant> = None;
        while !*stop.borrow() {
            if let Err(error) = self.start_due(&mut working, &mut kinds, &stop).await {
                tracing::warn!(error = error.report(), "jobs must wait; trying again");
            }
            if pruned.is_none_or(|at| at.elapsed() >= PRUNE_EVERY) {
                pruned = Some(Instant::now());
                self.prune().await;
                self.tell_unknown().await;
            }
            tokio::select! {
                () = tokio::time::sleep(self.pace.pause) => {}
                // The next job need not wait for the pause to end.
                Some(ended) = working.join_next_with_id() => {
                    let id = ended.map_or_else(|error| error.id(), |(id, ())| id);
                    kinds.remove(&id);
                }
                _ = stop.changed() => break,
            }
        }
        while working.join_next().await.is_some() {}
    }

    /// On a database that one process has to itself, all leases are of processes that are gone.
    async fn take_over(&self) {
        if !self.site.store().is_embedded() {
            return;
        }
        let now = self.now();
        match self.site.store().write(move |conn| background_job::end_leases(conn, now)).await {
            Ok(0) => {}
            Ok(count) => tracing::info!(count, "jobs that were cut off go on"),
            Err(error) => {
                let error = error.report();
                tracing::warn!(error, "jobs that were cut off must wait for their leases to end");
            }
        }
    }

    async fn start_due<'site>(
        &'site self,
        working: &mut JoinSet<()>,
        kinds: &mut HashMap<Id, &'site str>,
        stop: &watch::Receiver<bool>,
    ) -> Result<()> {
        for kind in self.site.job_kinds() {
            let name = kind.name();
            let of_kind = kinds.values().filter(|running| **running == name).count();
            let free = kind.limits().at_once.saturating_sub(of_kind);
            let free = free.min(WORKERS_MAX.saturating_sub(working.len()));
            for job in self.claim(name, free).await? {
                let (workers, stop) = (self.clone(), stop.clone());
                let started = working.spawn(async move { workers.work(job, stop).await });
                kinds.insert(started.id(), name);
            }
        }
        Ok(())
    }

    /// Looking costs a read; only where something is due is written.
    async fn claim(&self, kind: &'static str, free: usize) -> Result<Vec<JobRow>> {
        let (store, now) = (self.site.store(), self.now());
        if free == 0 {
            return Ok(Vec::new());
        }
        let next = store.read(move |conn| background_job::next_due(conn, kind)).await?;
        if next.is_none_or(|due| due > now) {
            return Ok(Vec::new());
        }
        let limit = i64::try_from(free).unwrap_or(i64::MAX);
        let lease = self.pace.lease;
        let claim =
            move |conn: &mut dyn Conn| background_job::claim_due(conn, kind, now, limit, lease);
        store.write(claim).await
    }

    async fn work(&self, job: JobRow, stop: watch::Receiver<bool>) {
        let started = Instant::now();
        let ended = match self.attempt(&job, stop).await {
            Some(ended) => self.settle(&job, ended).await,
            None => Ok(Outcome::LeftToOthers),
        };
        let (job_id, kind, attempt) = (job.job_id, job.kind.as_str(), job.attempt);
        match ended {
            Ok(outcome) => {
                let outcome = outcome.name();
                self.shared.metrics.count_job(self.site.environment(), kind, outcome);
                let ms = started.elapsed().as_millis();
                tracing::info!(job_id, kind, attempt, outcome, ms, "a job was attempted");
            }
            Err(error) => {
                // Its lease ends, and then it is due again.
                let error = error.report();
                tracing::warn!(job_id, kind, attempt, error, "a job could not be ended");
            }
        }
    }

    /// Runs the job while it is ours; nothing when it is not any more.
    async fn attempt(
        &self,
        job: &JobRow,
        mut stop: watch::Receiver<bool>,
    ) -> Option<Result<Value, Halt>> {
        if job.attempt > self.limits(job).attempts {
            let message = "it was cut off too often; look into the log for the reason";
            return Some(Err(Halt::Failed(Error::unavailable(message))));
        }
        let cx = Arc::new(JobCx::new(Arc::clone(&self.site), job.clone(), self.pace.lease));
        let mut run = spawn(Arc::clone(&cx));
        let mut renewal = tokio::time::interval(self.pace.renewal);
        renewal.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                ended = &mut run => {
                    let broken = |error| Error::internal("the job's work broke off").because(error);
                    return Some(ended.unwrap_or_else(|error| Err(Halt::Retry(broken(error)))));
                }
                _ = renewal.tick() => match cx.renew().await {
                    Ok(true) => {}
                    Ok(false) => {
                        run.abort();
                        return None;
                    }
                    Err(error) => {
                        tracing::warn!(error = error.report(), "a lease could not be renewed");
                    }
                },
                _ = stop.changed() => {
                    run.abort();
                    // Its last step is written before it is given back, or never.
                    let _ = run.await;
                    return Some(Err(Halt::Stopped));
                }
            }
        }
    }

    /// Writes down what came of the job, unless somebody else has it by now.
    async fn settle(&self, job: &JobRow, ended: Result<Value, Halt>) -> Result<Outcome> {
        let (attempts, wait) = (self.limits(job).attempts, self.wait(job));
        if let Err(Halt::Retry(error) | Halt::Failed(error)) = &ended {
            let (job_id, kind, error) = (job.job_id, job.kind.as_str(), error.report());
            tracing::warn!(job_id, kind, attempt = job.attempt, error, "a job failed");
        }
        let (site, claimed, now) = (Arc::clone(&self.site), job.clone(), self.now());
        let settle = move |conn: &mut dyn Conn| {
            let cancelled = match (&ended, background_job::get(conn, claimed.job_id)?) {
                (Err(_), Some(row)) => row.cancel_wanted,
                _ => false,
            };
            let (outcome, ending) = match &ended {
                Err(_) if cancelled => (Outcome::Cancelled, Ending::Cancelled),
                Ok(result) => (Outcome::Done, Ending::Done(result.to_string())),
                Err(Halt::Stopped) => {
                    background_job::release(conn, &claimed, now)?;
                    return Ok(Outcome::LeftToOthers);
                }
                Err(Halt::Retry(error)) if claimed.attempt < attempts => {
                    background_job::retry(conn, &claimed, now.plus(wait), &error.to_string())?;
                    return Ok(Outcome::Postponed);
                }
                Err(Halt::Retry(error) | Halt::Failed(error)) => {
                    (Outcome::Failed, Ending::Failed(error.to_string()))
                }
            };
            let is_ours = jobs::finish(&site, conn, &claimed, &ending, now)?;
            Ok(if is_ours { outcome } else { Outcome::LeftToOthers })
        };
        match self.site.store().write(settle).await {
            // What follows from the end of the job cannot be done, time and again.
            Err(error) if job.attempt >= attempts => self.give_up(job, error).await,
            settled => settled,
        }
    }

    /// Ends the job without anything that follows from it.
    async fn give_up(&self, job: &JobRow, error: Error) -> Result<Outcome> {
        let (job_id, kind, report) = (job.job_id, job.kind.as_str(), error.report());
        tracing::error!(job_id, kind, error = report, "a job is given up halfway");
        let (claimed, now, ending) = (job.clone(), self.now(), Ending::Failed(error.to_string()));
        let finish = move |conn: &mut dyn Conn| {
            background_job::finish(conn, &claimed, now, &ending).map(drop)
        };
        self.site.store().write(finish).await?;
        Ok(Outcome::Failed)
    }

    fn limits(&self, job: &JobRow) -> Limits {
        self.site.job_kind(&job.kind).map_or(Limits::USUAL, JobKind::limits)
    }

    fn wait(&self, job: &JobRow) -> Duration {
        let limits = self.limits(job);
        waits::after((limits.first_wait, limits.longest_wait), job.attempt, job.job_id)
    }

    /// Forgets what ended long ago, a batch at a time.
    async fn prune(&self) {
        for kind in self.site.job_kinds() {
            let name = kind.name();
            let kept = i64::try_from(kind.limits().kept.as_micros()).unwrap_or(i64::MAX);
            let before = Timestamp::from_micros(self.now().as_micros().saturating_sub(kept));
            loop {
                let prune = move |conn: &mut dyn Conn| {
                    background_job::prune(conn, name, before, PRUNED_MAX)
                };
                match self.site.store().write(prune).await {
                    Ok(0) => break,
                    Ok(count) => tracing::info!(count, kind = name, "old jobs were forgotten"),
                    Err(error) => {
                        let error = error.report();
                        return tracing::warn!(error, "old jobs could not be forgotten");
                    }
                }
            }
        }
    }

    /// Says that jobs wait which nobody here can run: those of a newer version, say.
    async fn tell_unknown(&self) {
        let now = self.now();
        match self.site.store().read(move |conn| backlog::jobs(conn, now)).await {
            Ok(waiting) => {
                for Waiting { kind, count, .. } in waiting {
                    if self.site.job_kind(&kind).is_none() {
                        tracing::error!(kind, count, "jobs wait that this program cannot run");
                    }
                }
            }
            Err(error) => {
                let error = error.report();
                tracing::warn!(error, "jobs that nobody runs could not be looked for");
            }
        }
    }

    fn now(&self) -> Timestamp {
        self.site.clock().now()
    }
}

/// The work on a task of its own, so that a panic ends this job alone.
fn spawn(cx: Arc<JobCx>) -> JoinHandle<Result<Value, Halt>> {
    tokio::spawn(async move {
        match cx.site().job_kind(&cx.job().kind) {
            Some(kind) => kind.run(&cx).await,
            None => Err(Halt::Failed(Error::internal("nobody knows this kind of job"))),
        }
    })
}
