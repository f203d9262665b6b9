//! Installing and activating in the background. A job does one plugin after the other, a
//! transaction each: **whatever cuts it off, it goes on where it was**, and installing or
//! activating what already is so changes nothing. What goes wrong with one plugin is told, and the
//! rest is done.

use std::sync::Arc;

use db::Conn;
use db::background_job::{JobRow, JobState};
use frame::jobs::{Halt, JobCx, JobKind, Progress, Running};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use site_rows::user;
use types::{Error, Kind as ErrorKind, Result};

use super::lifecycle::{self, Doing};
use crate::catalogue::Catalogue;
use crate::installation;
use crate::rows::package::PackageKind;

/// What a job is to do with its plugins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Task {
    Install,
    Activate,
    Both,
}

impl Task {
    pub(crate) const ALL: [Self; 3] = [Self::Install, Self::Activate, Self::Both];

    /// What its jobs are called in the store.
    pub(crate) fn kind(self) -> &'static str {
        match self {
            Self::Install => "plugins.install",
            Self::Activate => "plugins.activate",
            Self::Both => "plugins.install-and-activate",
        }
    }

    fn installs(self) -> bool {
        self != Self::Activate
    }

    fn activates(self) -> bool {
        self != Self::Install
    }
}

/// What was asked for.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Arguments {
    pub(crate) plugins: Vec<String>,
    /// Who asked, as the client calls it.
    pub(crate) source: Option<String>,
    pub(crate) user_id: i64,
}

/// How far a plugin is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Stage {
    #[default]
    Pending,
    Installing,
    Installed,
    Activating,
    Activated,
    Failed,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Step {
    pub(crate) slug: String,
    pub(crate) status: Stage,
    pub(crate) errors: Vec<String>,
    /// Milliseconds.
    pub(crate) install_duration: u64,
}

/// The kind of job of a task.
#[derive(Debug)]
pub(crate) struct PluginJob {
    pub(crate) task: Task,
    pub(crate) catalogue: Arc<Catalogue>,
}

impl JobKind for PluginJob {
    fn name(&self) -> &'static str {
        self.task.kind()
    }

    fn run<'a>(&'a self, cx: &'a JobCx) -> Running<'a> {
        Box::pin(self.work(cx))
    }
}

impl PluginJob {
    async fn work(&self, cx: &JobCx) -> Result<Value, Halt> {
        let arguments: Arguments = cx.arguments()?;
        let first = || {
            let step = |slug: &String| Step { slug: slug.clone(), ..Step::default() };
            arguments.plugins.iter().map(step).collect()
        };
        let mut steps: Vec<Step> = cx.checkpoint()?.unwrap_or_else(first);
        for index in 0..steps.len() {
            if self.task.installs() {
                self.install(cx, &mut steps, index).await?;
            }
        }
        for index in 0..steps.len() {
            if self.task.activates() {
                self.activate(cx, &mut steps, index, arguments.user_id).await?;
            }
        }
        written(&steps)
    }

    async fn install(&self, cx: &JobCx, steps: &mut [Step], index: usize) -> Result<(), Halt> {
        let Some(slug) =
            begin(steps, index, &[Stage::Pending, Stage::Installing], Stage::Installing)
        else {
            return Ok(());
        };
        let (started, wanted) = (cx.now(), slug.clone());
        let is_there = cx
            .site()
            .store()
            .read(move |conn| Ok(lifecycle::get(conn, &wanted)?.is_some()))
            .await?;
        // Whoever looks meanwhile sees what is being fetched.
        note_down(cx, steps).await?;
        let outcome = if is_there {
            Ok(())
        } else {
            match self.catalogue.obtain(cx.site(), PackageKind::Plugin, &slug).await {
                Ok(obtained) => {
                    let (progress, now) = (progress_of(steps), cx.now());
                    let install =
                        move |conn: &mut dyn Conn| installation::install(conn, &obtained, now);
                    cx.step(progress, &steps, install).await
                }
                // Who is away for a moment is asked again; what is wrong stays wrong.
                Err(error) if error.kind() == ErrorKind::Unavailable => {
                    return Err(Halt::Retry(error));
                }
                Err(error) => Err(Halt::Failed(error)),
            }
        };
        let took = cx.now().since(started).as_millis();
        end(steps, index, outcome, Stage::Installed)?;
        if let Some(step) = steps.get_mut(index) {
            step.install_duration = u64::try_from(took).unwrap_or(u64::MAX);
        }
        Ok(())
    }

    async fn activate(
        &self,
        cx: &JobCx,
        steps: &mut [Step],
        index: usize,
        user_id: i64,
    ) -> Result<(), Halt> {
        let from = [Stage::Pending, Stage::Installed, Stage::Activating];
        let Some(slug) = begin(steps, index, &from, Stage::Activating) else { return Ok(()) };
        let (site, now) = (Arc::clone(cx.site()), cx.now());
        let activate = move |conn: &mut dyn Conn| {
            let user = user::get(conn, user_id)?
                .ok_or_else(|| Error::not_found("the user who requested it was deleted"))?;
            let doing = Doing { site: &site, user, now };
            attempt(conn, &mut |conn| lifecycle::activate(conn, &slug, &doing).map(drop))
        };
        let outcome = cx.step(progress_of(steps), &steps, activate).await?;
        end(steps, index, outcome.map_err(Halt::Failed), Stage::Activated)
    }
}

/// Runs a part of the transaction that leaves nothing if it is refused. Failures of the storage
/// fail the whole.
pub(crate) fn attempt(
    conn: &mut dyn Conn,
    run: &mut dyn FnMut(&mut dyn Conn) -> Result<()>,
) -> Result<Result<(), Error>> {
    let mut refused = None;
    conn.nested(&mut |conn| match run(conn) {
        Ok(()) => Ok(true),
        Err(error) if matches!(error.kind(), ErrorKind::Invalid | ErrorKind::NotFound) => {
            refused = Some(error);
            Ok(false)
        }
        Err(error) => Err(error),
    })?;
    Ok(refused.map_or(Ok(()), Err))
}

/// The plugin at the index, if it is at one of the stages; from now on at the next.
fn begin(steps: &mut [Step], index: usize, from: &[Stage], next: Stage) -> Option<String> {
    let step = steps.get_mut(index).filter(|step| from.contains(&step.status))?;
    step.status = next;
    Some(step.slug.clone())
}

/// Writes down how it went with a plugin. Only what concerns the whole job stops it.
fn end(
    steps: &mut [Step],
    index: usize,
    outcome: Result<(), Halt>,
    stage: Stage,
) -> Result<(), Halt> {
    let Some(step) = steps.get_mut(index) else { return Ok(()) };
    match outcome {
        Ok(()) => step.status = stage,
        Err(Halt::Failed(error)) => {
            step.status = Stage::Failed;
            step.errors.push(error.to_string());
        }
        Err(halt) => return Err(halt),
    }
    Ok(())
}

fn progress_of(steps: &[Step]) -> Progress {
    let is_done =
        |step: &&Step| matches!(step.status, Stage::Installed | Stage::Activated | Stage::Failed);
    let count = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
    let done = count(steps.iter().filter(is_done).count());
    Progress { done, total: Some(count(steps.len())) }
}

async fn note_down(cx: &JobCx, steps: &[Step]) -> Result<(), Halt> {
    cx.step(progress_of(steps), &steps, |_| Ok(())).await
}

fn written(steps: &[Step]) -> Result<Value, Halt> {
    serde_json::to_value(steps).map_err(|error| {
        Halt::Failed(Error::internal("cannot report the state of plugins").because(error))
    })
}

/// The name by which clients know a state.
pub(crate) fn state_name(state: JobState) -> &'static str {
    match state {
        JobState::Queued => "pending",
        JobState::Running => "in-progress",
        JobState::Done => "complete",
        JobState::Failed => "failed",
        JobState::Cancelled => "canceled",
    }
}

/// A job in the list of its kind.
pub(crate) fn summary(job: &JobRow) -> Value {
    let arguments: Option<Arguments> = serde_json::from_str(&job.arguments).ok();
    let plugins = arguments.map(|arguments| arguments.plugins).unwrap_or_default();
    let mut summary = json!({
        "job_id": job.key, "plugins": plugins, "status": state_name(job.state),
    });
    if let (Some(error), Some(members)) = (&job.error, summary.as_object_mut()) {
        members.insert(String::from("error"), json!(error));
    }
    summary
}

/// How far each plugin of a job is, once it has begun.
pub(crate) fn plugins_of(job: &JobRow) -> Option<Value> {
    let text = job.result.as_deref().or(job.checkpoint.as_deref())?;
    let mut steps: Vec<Step> = serde_json::from_str(text).ok()?;
    // A job that was given up took with it what it had not finished.
    let is_open = |step: &&mut Step| {
        matches!(step.status, Stage::Pending | Stage::Installing | Stage::Activating)
    };
    if matches!(job.state, JobState::Failed | JobState::Cancelled) {
        for step in steps.iter_mut().filter(is_open) {
            step.status = Stage::Failed;
            step.errors.extend(job.error.clone());
        }
    }
    Some(by_slug(&steps))
}

/// The plugins by their names, as clients know them.
pub(crate) fn by_slug(steps: &[Step]) -> Value {
    let one = |step: &Step| {
        let body = json!({
            "status": step.status,
            "errors": step.errors,
            "install_duration": step.install_duration,
        });
        (step.slug.clone(), body)
    };
    Value::Object(steps.iter().map(one).collect())
}
