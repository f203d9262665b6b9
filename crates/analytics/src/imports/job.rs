//! The background work of imports: customers first, then orders and refunds, a portion at a time.
//!
//! A step reads which records come next and tells everybody who follows the feed to make their
//! facts anew ([`feed::ask`]); then the work waits until this process has done so. **A job that was
//! cut off goes on behind its last portion**, and nothing is harmed if a portion is made twice.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use db::background_job::{JobRow, JobState};
use db::filter::Page;
use db::{Conn, Database};
use frame::jobs::{Halt, JobCx, JobKind, Limits, Progress, REPORT_IMPORT, Running};
use frame::{Site, jobs};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use shop_rows::order;
use site_rows::user::{self, UserFilter};
use types::{Error, Result, Role, Timestamp};

use super::{KEY, count};
use crate::context::{Shop, caught_up};
use crate::current::Facts;
use crate::feed::{self, Portion};
use crate::view::View;

/// The job that waits until the facts are forgotten.
pub(super) const DELETE: &str = "report.delete";
/// The job that compares the facts with the records.
pub(crate) const CATCH_UP: &str = "report.catch_up";
pub(crate) const CATCH_UP_EVERY: Duration = Duration::from_hours(12);
/// Orders and refunds of one step.
const PORTION: i64 = 2_000;
/// Customers of one step.
const CUSTOMERS_AT_ONCE: i64 = 200;
/// How long a step waits for the facts before the next one is taken all the same.
const PATIENCE: Duration = Duration::from_secs(20);

/// What to import.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Plan {
    /// Only what was made since then, in microseconds.
    pub(super) since_us: Option<i64>,
    /// Whether what is there is left alone.
    pub(super) skips_existing: bool,
    /// How many there were of each when it was asked for.
    pub(super) customers: i64,
    pub(super) orders: i64,
}

impl Plan {
    fn since(&self) -> Option<Timestamp> {
        self.since_us.map(Timestamp::from_micros)
    }
}

/// How far an import got, and where it goes on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Done {
    pub(super) customers: i64,
    pub(super) orders: i64,
    after_user: i64,
    after_order: i64,
}

/// The customers that an import is about, by their numbers.
pub(super) fn customers(since: Option<Timestamp>, skips_existing: bool) -> UserFilter {
    UserFilter {
        roles: vec![Role::Customer],
        registered_from: since,
        is_in_reports: skips_existing.then_some(false),
        ..UserFilter::default()
    }
}

/// The kinds of jobs over these facts.
pub(crate) fn jobs(facts: &Arc<Facts>, shop: Shop) -> [Box<dyn JobKind>; 3] {
    let worker = Worker { facts: Arc::clone(facts), shop };
    [Box::new(Import(worker.clone())), Box::new(Delete(worker.clone())), Box::new(CatchUp(worker))]
}

/// What all of these jobs work with.
#[derive(Clone, Debug)]
struct Worker {
    facts: Arc<Facts>,
    shop: Shop,
}

#[derive(Debug)]
struct Import(Worker);
#[derive(Debug)]
struct Delete(Worker);
#[derive(Debug)]
struct CatchUp(Worker);

/// One at a time, since each is about all records.
const LIMITS: Limits = Limits { at_once: 1, ..Limits::USUAL };

impl JobKind for Import {
    fn name(&self) -> &'static str {
        REPORT_IMPORT
    }

    fn run<'a>(&'a self, cx: &'a JobCx) -> Running<'a> {
        Box::pin(async move {
            let plan: Plan = cx.arguments()?;
            let done = cx.checkpoint()?.unwrap_or_default();
            let done = self.0.customers(cx, &plan, done).await?;
            let done = self.0.orders(cx, &plan, done).await?;
            Ok(json!({ "customers": done.customers, "orders": done.orders }))
        })
    }

    fn limits(&self) -> Limits {
        LIMITS
    }
}

impl JobKind for Delete {
    fn name(&self) -> &'static str {
        DELETE
    }

    fn run<'a>(&'a self, cx: &'a JobCx) -> Running<'a> {
        Box::pin(async move {
            self.0.wait(cx.site().store()).await;
            Ok(Value::Null)
        })
    }

    fn limits(&self) -> Limits {
        LIMITS
    }

    fn is_told(&self) -> bool {
        false
    }
}

impl JobKind for CatchUp {
    fn name(&self) -> &'static str {
        CATCH_UP
    }

    fn run<'a>(&'a self, cx: &'a JobCx) -> Running<'a> {
        Box::pin(async move {
            self.0.wait(cx.site().store()).await;
            let always = Timestamp::from_micros(i64::MIN);
            let records = cx.site().store().read(|conn: &mut dyn Conn| order::count(conn)).await?;
            let known = self.0.of_facts(move |view| view.orders_since(always)).await?;
            let missing = records.saturating_sub(count(known)).max(0);
            let done = cx.checkpoint()?.unwrap_or_default();
            if missing == 0 {
                return Ok(json!({ "orders": 0 }));
            }
            let plan = Plan { skips_existing: true, orders: missing, ..Plan::default() };
            let done = self.0.orders(cx, &plan, done).await?;
            Ok(json!({ "orders": done.orders }))
        })
    }

    /// The next one is due when this one has ended; whoever cancels one starts another.
    fn ended(&self, _: &Site, conn: &mut dyn Conn, ended: &JobRow) -> Result<()> {
        if ended.state == JobState::Cancelled {
            return Ok(());
        }
        let now = ended.finished.unwrap_or(ended.due);
        let due = now.plus(CATCH_UP_EVERY);
        jobs::enqueue_for(conn, CATCH_UP, Some(KEY), &json!({}), (now, due)).map(drop)
    }

    fn limits(&self) -> Limits {
        LIMITS
    }

    fn is_told(&self) -> bool {
        false
    }
}

impl Worker {
    /// Waits until the facts of this process are those of now, or for long enough.
    async fn wait(&self, store: &Database) {
        self.facts.wake();
        let _ = tokio::time::timeout(PATIENCE, caught_up(&self.facts, store)).await;
    }

    /// Asks the facts, which may have to be waited for.
    async fn of_facts<T: Send + 'static>(
        &self,
        ask: impl FnOnce(View) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let view = self.facts.view(Vec::new());
        let asked = tokio::task::spawn_blocking(move || ask(view));
        asked.await.map_err(|error| Error::internal("a question failed").because(error))?
    }

    async fn customers(&self, cx: &JobCx, plan: &Plan, mut done: Done) -> Result<Done, Halt> {
        loop {
            let wanted = UserFilter {
                after: Some(done.after_user),
                page: Page { offset: 0, limit: CUSTOMERS_AT_ONCE },
                ..customers(plan.since(), plan.skips_existing)
            };
            let read = move |conn: &mut dyn Conn| user::list(conn, &wanted);
            let (users, _) = cx.site().store().read(read).await?;
            let ids: Vec<i64> = users.iter().map(|user| user.user_id).collect();
            let Some(last) = ids.last().copied() else { return Ok(done) };
            done.customers = done.customers.saturating_add(count(ids.len()));
            done.after_user = last;
            let put = self.shop.customer;
            let step =
                move |conn: &mut dyn Conn| ids.iter().try_for_each(|user_id| put(conn, *user_id));
            cx.step(progress(plan, &done), &done, step).await?;
        }
    }

    async fn orders(&self, cx: &JobCx, plan: &Plan, mut done: Done) -> Result<Done, Halt> {
        loop {
            let (after, since) = (done.after_order, plan.since());
            let read = move |conn: &mut dyn Conn| order::stamps_after(conn, after, PORTION);
            let records = cx.site().store().read(read).await?;
            let Some(last) = records.last() else { return Ok(done) };
            let through = last.order_id;
            let there = if plan.skips_existing {
                self.of_facts(move |view| view.ids_between(after, through)).await?
            } else {
                BTreeSet::new()
            };
            let is_wanted = |record: &&order::OrderStamp| {
                since.is_none_or(|since| record.created >= since)
                    && !there.contains(&record.order_id)
            };
            let wanted = records.iter().filter(is_wanted).count();
            done.orders = done.orders.saturating_add(count(wanted));
            done.after_order = through;
            let (since_us, skips_existing) = (plan.since_us, plan.skips_existing);
            let portion = Portion { after, through, since_us, skips_existing };
            let (now, is_idle) = (cx.now(), wanted == 0);
            let step = move |conn: &mut dyn Conn| {
                if is_idle { Ok(()) } else { feed::ask(conn, &portion, now) }
            };
            cx.step(progress(plan, &done), &done, step).await?;
            if !is_idle {
                self.wait(cx.site().store()).await;
            }
        }
    }
}

fn progress(plan: &Plan, done: &Done) -> Progress {
    let total = plan.customers.saturating_add(plan.orders);
    Progress { done: done.customers.saturating_add(done.orders).min(total), total: Some(total) }
}
