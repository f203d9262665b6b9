//! `/v1/audit/check`: the full check of an audit log, in the background and with its progress.

use std::sync::Arc;

use contract::{Answer, Endpoint, Failure, Route};
use db::Conn;
use db::background_job::{self, JobRow, JobState};
use frame::jobs::{self, Halt, JobCx, JobKind, Limits, Progress, Running};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use types::{Error, IsoId, Result, Scope, Timestamp};

use super::check::{ChainBreak, Check, full_part, settle};
use super::endpoints::ChainBreakView;
use super::entry::append;
use crate::perform::perform;
use crate::rows::audit::chain_name;
use crate::{Cx, Platform};

/// What its jobs are called in the store.
const KIND: &str = "audit.check";

/// Adds a full check of a chain, unless one is under way.
pub(super) fn enqueue(conn: &mut dyn Conn, iso_id: Option<&IsoId>, now: Timestamp) -> Result<()> {
    let task = Task { iso_id: iso_id.cloned() };
    jobs::enqueue(conn, KIND, Some(chain_name(iso_id)), &task, now).map(drop)
}

/// What a job is to do.
#[derive(Debug, Serialize, Deserialize)]
struct Task {
    /// None for what belongs to no ISO.
    iso_id: Option<IsoId>,
}

/// What a job found.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Found {
    errors: Vec<ChainBreak>,
}

/// Checks whole chains, a part at a time.
#[derive(Debug)]
pub struct AuditCheckJob {
    platform: Arc<Platform>,
}

impl AuditCheckJob {
    pub fn new(platform: Arc<Platform>) -> Self {
        Self { platform }
    }

    async fn work(&self, cx: &JobCx) -> Result<Value, Halt> {
        let task: Task = cx.arguments()?;
        let mut check: Option<Check> = cx.checkpoint()?;
        // What was done before it was asked for is part of it.
        self.platform.audit_chain().await?;
        loop {
            cx.check()?;
            let (owner, vault) = (task.iso_id.clone(), Arc::clone(&self.platform.vault));
            let part =
                move |conn: &mut dyn Conn| full_part(conn, owner.as_ref(), check.clone(), &vault);
            let (after, head, ended) = self.platform.store.read(part).await?;
            let progress = Progress { done: after.checked, total: Some(after.total(&head)) };
            let (owner, vault) = (task.iso_id.clone(), Arc::clone(&self.platform.vault));
            let (now, found) = (cx.now(), after.clone());
            let changes = move |conn: &mut dyn Conn| {
                if !ended {
                    return Ok(());
                }
                settle(conn, owner.as_ref(), (&found, &head), &vault, now)
            };
            cx.step(progress, &after, changes).await?;
            if ended {
                return Ok(told(&task, after));
            }
            check = Some(after);
        }
    }
}

/// The result of a job. What is wrong is for the operator, too, wherever it was asked for.
fn told(task: &Task, check: Check) -> Value {
    if let Some(first) = check.errors.first() {
        let iso_id = chain_name(task.iso_id.as_ref());
        tracing::error!(iso.id = iso_id, sequence = first.seq, "the audit log was tampered with");
    }
    json!(Found { errors: check.errors })
}

impl JobKind for AuditCheckJob {
    fn name(&self) -> &'static str {
        KIND
    }

    fn run<'a>(&'a self, cx: &'a JobCx) -> Running<'a> {
        Box::pin(self.work(cx))
    }

    fn limits(&self) -> Limits {
        Limits { at_once: 1, ..Limits::USUAL }
    }

    /// The ISO asks for it, and nobody else.
    fn is_told(&self) -> bool {
        false
    }
}

/// A full check of the audit log.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuditCheckView {
    /// `none` if there was never one, else `queued`, `running`, `done`, `failed` or `cancelled`.
    status: &'static str,
    /// How many entries were looked at.
    checked: i64,
    /// How many entries there are to look at; null while that is not known.
    total: Option<i64>,
    /// Whether nothing is wrong with the log; null before the check is done.
    valid: Option<bool>,
    /// The first errors.
    #[serde(rename = "faults")]
    errors: Vec<ChainBreakView>,
    /// When it was requested.
    created: Option<String>,
    /// When it ended.
    finished: Option<String>,
}

fn view(conn: &mut dyn Conn, iso_id: &IsoId) -> Result<AuditCheckView> {
    let job = background_job::find(conn, KIND, iso_id.as_str())?;
    let Some(job) = job else {
        return Ok(AuditCheckView { status: "none", ..AuditCheckView::default() });
    };
    let found = found_by(&job)?;
    Ok(AuditCheckView {
        status: job.state.as_str(),
        checked: job.progress.done,
        total: job.progress.total,
        valid: found.as_ref().map(|found| found.errors.is_empty()),
        errors: found.unwrap_or_default().errors.into_iter().map(ChainBreakView::from).collect(),
        created: Some(job.created.to_string()),
        finished: job.finished.map(|time| time.to_string()),
    })
}

fn found_by(job: &JobRow) -> Result<Option<Found>> {
    let result = job.result.as_deref().filter(|_| job.state == JobState::Done);
    result
        .map(serde_json::from_str)
        .transpose()
        .map_err(|error| Error::internal("cannot read what a check found").because(error))
}

/// Start a full check of the audit log.
///
/// It runs in the background and looks at every entry from the first one on; `GET /v1/audit/check`
/// shows its progress and what it found. A check that is under way is not started again.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct AuditCheckStart {}

impl Endpoint<Cx> for AuditCheckStart {
    const ROUTE: Route = Route::post("/v1/audit/check").scope(Scope::AuditRead);
    type Reply = AuditCheckView;

    async fn handle(self, cx: &Cx) -> Result<Answer<Self::Reply>, Failure> {
        let (iso_id, now) = (cx.caller()?.iso_id().clone(), cx.platform.clock.now());
        let entry = cx.entry("audit.check", "audit", "")?;
        perform(cx, move |conn| {
            enqueue(conn, Some(&iso_id), now)?;
            append(conn, &entry)?;
            Ok(Answer::new(view(conn, &iso_id)?))
        })
        .await
    }
}

/// Show the newest full check of the audit log.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct AuditCheckGet {}

impl Endpoint<Cx> for AuditCheckGet {
    const ROUTE: Route = Route::get("/v1/audit/check").scope(Scope::AuditRead);
    type Reply = AuditCheckView;

    async fn handle(self, cx: &Cx) -> Result<Answer<Self::Reply>, Failure> {
        let iso_id = cx.caller()?.iso_id().clone();
        let found = cx.platform.store.read(move |conn| view(conn, &iso_id));
        Ok(Answer::new(found.await?))
    }
}
