//! New data keys for ISOs and the site, while everything goes on.
//!
//! A background job adds a version to each data key and waits until every server has learnt it;
//! makes it the one to seal with, and waits again; and then seals every value again, twice, since a
//! slow request may still have used the version before. **Readers accept all versions**, so nobody
//! waits for the job, and one that was cut off goes on where it was. Old versions stay in the ring:
//! they open what a late writer left, and nothing new.
//!
//! The places of sealed values are one table, [`site_rows::sealed`].

mod reseal;

use std::sync::Arc;
use std::time::Duration;

use db::Conn;
use db::background_job::{self, JobRow, JobState};
use frame::jobs::{self, Halt, JobCx, JobKind, Limits, Progress, Running};
use onboarding::Platform;
use onboarding::audit::{self, Entry};
use onboarding::encryption::{self, SETTLED};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use site_rows::iso;
use site_rows::sealed::{Owner, PLACES, Position};
use types::{Error, IsoId, Result, Timestamp};
use vault::{DataKey, WrappedKey};

use self::reseal::Resealed;

const JOB: &str = "encryption.rotate";
/// There is one at a time.
const KEY: &str = "data keys";
/// Data keys changed in one transaction, and values sealed again in one.
const ISOS_AT_ONCE: i64 = 200;
const ROWS_AT_ONCE: i64 = 200;
/// Between two transactions, so that others have their turns.
const BREATH: Duration = Duration::from_millis(10);
const CHECK_EVERY: Duration = Duration::from_millis(200);
/// ISOs without a change after which the job writes down where it is.
const ISOS_UNSAVED_MAX: u32 = 50;
const KEPT: Duration = Duration::from_hours(24 * 400);

/// Whose data keys are replaced.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wanted {
    All,
    Site,
    Iso(IsoId),
}

/// How a rotation is going, or how the last one ended.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Rotation {
    pub state: &'static str,
    /// Data keys times steps that are done, of all.
    pub done: i64,
    pub total: i64,
    /// Values that were sealed again so far.
    pub resealed: i64,
    /// Values that no version opens; they were left as they are.
    pub unreadable: i64,
    pub started: String,
    pub error: Option<String>,
}

impl Rotation {
    /// The newest one, if there was one at all.
    pub fn read(conn: &mut dyn Conn) -> Result<Option<Self>> {
        Ok(background_job::find(conn, JOB, KEY)?.map(|job| Self::of(&job)))
    }

    /// The one under way.
    pub(crate) fn under_way(conn: &mut dyn Conn) -> Result<Option<Self>> {
        let job = background_job::find(conn, JOB, KEY)?;
        Ok(job.filter(|job| job.finished.is_none()).map(|job| Self::of(&job)))
    }

    fn of(job: &JobRow) -> Self {
        let told = job.checkpoint.as_deref().map(serde_json::from_str::<Walk>);
        let walk = told.and_then(std::result::Result::ok).unwrap_or_default();
        let state = match job.state {
            JobState::Queued => "queued",
            JobState::Running => "running",
            JobState::Done => "done",
            JobState::Failed => "failed",
            JobState::Cancelled => "cancelled",
        };
        Self {
            state,
            done: job.progress.done,
            total: job.progress.total.unwrap_or(0),
            resealed: walk.resealed,
            unreadable: walk.unreadable,
            started: job.created.to_string(),
            error: job.error.clone(),
        }
    }
}

/// Asks for new data keys; a running server makes them. Fails while a master key is replaced, and
/// while another rotation is under way. Blocks; it is for the command line.
pub fn rotate(platform: &Platform, wanted: Wanted) -> Result<i64> {
    let now = platform.clock.now();
    platform.store.write_blocking(move |conn| {
        encryption::check_no_master_key_announced(conn)?;
        if let Wanted::Iso(iso_id) = &wanted
            && iso::get(conn, iso_id)?.is_none()
        {
            let message = format!("ISO {iso_id} not found; run `boardwalk iso list`");
            return Err(Error::not_found(message));
        }
        let queued = jobs::enqueue(conn, JOB, Some(KEY), &wanted, now)?;
        if queued.is_new {
            return Ok(queued.job_id);
        }
        Err(Error::conflict(
            "data keys are being replaced already; `boardwalk encryption status` shows how far \
             that is",
        ))
    })
}

/// Fails while a rotation is under way.
pub fn check_not_rotating(conn: &mut dyn Conn) -> Result<()> {
    match Rotation::under_way(conn)? {
        None => Ok(()),
        Some(_) => Err(Error::conflict(
            "data keys are being replaced; wait until `boardwalk encryption status` says done",
        )),
    }
}

/// What the job does, one after the other, with every data key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Phase {
    /// Adds a version that nobody uses yet.
    #[default]
    Announce,
    /// Makes it the one to seal with.
    Activate,
    Reseal,
    /// For what was written meanwhile by who had not looked.
    ResealAgain,
    Done,
}

impl Phase {
    const COUNT: i64 = 4;

    fn next(self) -> Self {
        match self {
            Self::Announce => Self::Activate,
            Self::Activate => Self::Reseal,
            Self::Reseal => Self::ResealAgain,
            Self::ResealAgain | Self::Done => Self::Done,
        }
    }
}

/// How far the job is.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Walk {
    phase: Phase,
    /// Whether anything of this phase was done.
    is_begun: bool,
    /// Whether the site is done in this phase.
    is_site_done: bool,
    /// The last ISO that is done in this phase.
    after_iso: String,
    /// Within the one that comes next: the place in the table, and the row in it.
    place: usize,
    row: (String, String, i64),
    /// Data keys that are done, over all phases.
    done: i64,
    resealed: i64,
    unreadable: i64,
}

impl Walk {
    fn enter(&mut self, phase: Phase) {
        *self = Self {
            phase,
            done: self.done,
            resealed: self.resealed,
            unreadable: self.unreadable,
            ..Self::default()
        };
    }

    fn position(&self) -> Position {
        let (first, second, number) = self.row.clone();
        Position { first, second, number }
    }

    fn count(&mut self, resealed: &Resealed) {
        self.resealed += i64::try_from(resealed.changes.len()).unwrap_or(i64::MAX);
        self.unreadable += resealed.unreadable;
    }
}

/// Replaces data keys.
#[derive(Debug)]
pub(crate) struct RotationJob {
    platform: Arc<Platform>,
}

impl JobKind for RotationJob {
    fn name(&self) -> &'static str {
        JOB
    }

    fn run<'a>(&'a self, cx: &'a JobCx) -> Running<'a> {
        Box::pin(self.work(cx))
    }

    fn limits(&self) -> Limits {
        // Each attempt goes on where the last one was; what is half done must be done.
        Limits { at_once: 1, attempts: 1_000, kept: KEPT, ..Limits::USUAL }
    }

    fn is_told(&self) -> bool {
        false
    }
}

impl RotationJob {
    pub(crate) fn new(platform: Arc<Platform>) -> Self {
        Self { platform }
    }

    async fn work(&self, cx: &JobCx) -> Result<Value, Halt> {
        let wanted: Wanted = cx.arguments()?;
        let mut walk: Walk = cx.checkpoint()?.unwrap_or_default();
        let isos = match wanted {
            Wanted::All => self.platform.store.read(iso::count).await?,
            Wanted::Site => 0,
            Wanted::Iso(_) => 1,
        };
        let total = (isos + i64::from(!matches!(wanted, Wanted::Iso(_)))) * Phase::COUNT;
        let pass = Pass { cx, platform: &self.platform, wanted, total };
        while walk.phase != Phase::Done {
            if walk.phase != Phase::Announce && !walk.is_begun {
                // Every server looks at the keys in this time.
                rest(cx, SETTLED).await?;
            }
            walk.is_begun = true;
            match walk.phase {
                Phase::Announce | Phase::Activate => pass.change_keys(&mut walk).await?,
                Phase::Reseal | Phase::ResealAgain | Phase::Done => pass.reseal(&mut walk).await?,
            }
            walk.enter(walk.phase.next());
            pass.save(&walk).await?;
        }
        tracing::info!(resealed = walk.resealed, "data keys were replaced");
        Ok(json!({ "resealed": walk.resealed, "unreadable": walk.unreadable }))
    }
}

/// Waits, and ends early if the job is to.
async fn rest(cx: &JobCx, time: Duration) -> Result<(), Halt> {
    let end = tokio::time::Instant::now() + time;
    while tokio::time::Instant::now() < end {
        cx.check()?;
        tokio::time::sleep(CHECK_EVERY).await;
    }
    Ok(())
}

/// One attempt at the job.
struct Pass<'a> {
    cx: &'a JobCx,
    platform: &'a Arc<Platform>,
    wanted: Wanted,
    total: i64,
}

impl Pass<'_> {
    fn progress(&self, walk: &Walk) -> Progress {
        Progress { done: walk.done, total: Some(self.total.max(walk.done)) }
    }

    async fn save(&self, walk: &Walk) -> Result<(), Halt> {
        self.cx.step(self.progress(walk), walk, |_| Ok(())).await
    }

    fn wants_site(&self) -> bool {
        !matches!(self.wanted, Wanted::Iso(_))
    }

    /// The ids of some ISOs that come next.
    async fn isos(&self, after: &str) -> Result<Vec<IsoId>, Halt> {
        match &self.wanted {
            Wanted::Site => Ok(Vec::new()),
            Wanted::Iso(iso_id) => {
                let is_left = after < iso_id.as_str();
                Ok(Some(iso_id.clone()).filter(|_| is_left).into_iter().collect())
            }
            Wanted::All => {
                let after = after.to_owned();
                let page = move |conn: &mut dyn Conn| iso::page(conn, &after, ISOS_AT_ONCE);
                let isos = self.platform.store.read(page).await?;
                Ok(isos.into_iter().map(|iso| iso.iso_id).collect())
            }
        }
    }

    /// Announces, or activates, a version of each data key.
    async fn change_keys(&self, walk: &mut Walk) -> Result<(), Halt> {
        loop {
            let isos = self.isos(&walk.after_iso).await?;
            let with_site = self.wants_site() && !walk.is_site_done;
            if isos.is_empty() && !with_site {
                return Ok(());
            }
            walk.is_site_done = true;
            if let Some(last) = isos.last() {
                last.as_str().clone_into(&mut walk.after_iso);
            }
            walk.done += i64::try_from(isos.len()).unwrap_or(i64::MAX) + i64::from(with_site);
            let (platform, phase, now) = (Arc::clone(self.platform), walk.phase, self.cx.now());
            let changes = move |conn: &mut dyn Conn| {
                if with_site {
                    change_site_key(conn, &platform, phase, now)?;
                }
                isos.iter().try_for_each(|id| change_iso_key(conn, &platform, id, (phase, now)))
            };
            self.cx.step(self.progress(walk), walk, changes).await?;
            tokio::time::sleep(BREATH).await;
        }
    }

    async fn reseal(&self, walk: &mut Walk) -> Result<(), Halt> {
        // Whatever this server saw last: the values must go under the version that is stored.
        self.platform.keys_refresh().await?;
        if self.wants_site() && !walk.is_site_done {
            self.reseal_owner(walk, None, &self.platform.vault.site_key()).await?;
            walk.is_site_done = true;
            (walk.place, walk.row) = (0, Default::default());
            walk.done += 1;
            self.save(walk).await?;
        }
        let mut unsaved = 0;
        loop {
            let isos = self.isos(&walk.after_iso).await?;
            if isos.is_empty() {
                return Ok(());
            }
            for iso_id in isos {
                let changed = walk.resealed;
                if let Some(key) = self.iso_key(&iso_id).await? {
                    self.reseal_owner(walk, Some(&iso_id), &key).await?;
                }
                iso_id.as_str().clone_into(&mut walk.after_iso);
                (walk.place, walk.row) = (0, Default::default());
                walk.done += 1;
                unsaved += 1;
                if walk.resealed != changed || unsaved >= ISOS_UNSAVED_MAX {
                    self.save(walk).await?;
                    unsaved = 0;
                }
            }
        }
    }

    async fn iso_key(&self, iso_id: &IsoId) -> Result<Option<DataKey>, Halt> {
        let id = iso_id.clone();
        let found = self.platform.store.read(move |conn| iso::get(conn, &id)).await?;
        let open = |row: iso::IsoRow| {
            self.platform.vault.data_key_open(&row.iso_id, &WrappedKey(row.data_key))
        };
        Ok(found.map(open).transpose()?)
    }

    /// Seals the values of one owner again, from where the walk is.
    async fn reseal_owner(
        &self,
        walk: &mut Walk,
        iso_id: Option<&IsoId>,
        key: &DataKey,
    ) -> Result<(), Halt> {
        let owner = if iso_id.is_some() { Owner::Iso } else { Owner::Site };
        while let Some(place) = PLACES.get(walk.place) {
            if place.owner != owner {
                (walk.place, walk.row) = (walk.place + 1, Default::default());
                continue;
            }
            self.cx.check()?;
            let (after, id) = (walk.position(), iso_id.map(|id| id.as_str().to_owned()));
            let of = id.clone();
            let found = self.platform.store.read(move |conn| {
                site_rows::sealed::page(conn, place, of.as_deref(), &after, ROWS_AT_ONCE)
            });
            let found = found.await?;
            if let Some(last) = found.last() {
                let Position { first, second, number } = last.at.clone();
                walk.row = (first, second, number);
            } else {
                (walk.place, walk.row) = (walk.place + 1, Default::default());
            }
            let resealed = reseal::reseal(place, key, found);
            if resealed.changes.is_empty() && resealed.unreadable == 0 {
                continue;
            }
            walk.count(&resealed);
            let changes = move |conn: &mut dyn Conn| {
                resealed.changes.iter().try_for_each(|(found, content)| {
                    site_rows::sealed::put(conn, place, id.as_deref(), found, content).map(drop)
                })
            };
            self.cx.step(self.progress(walk), walk, changes).await?;
            tokio::time::sleep(BREATH).await;
        }
        Ok(())
    }
}

fn change_site_key(
    conn: &mut dyn Conn,
    platform: &Platform,
    phase: Phase,
    now: Timestamp,
) -> Result<()> {
    let before = encryption::site_key(conn, &platform.vault)?;
    if phase == Phase::Announce {
        return encryption::site_key_set(conn, &platform.vault.site_key_next(&before)?);
    }
    let after = before.activated();
    encryption::site_key_set(conn, &after)?;
    audit::append(conn, &entry(None, "site", now, &before, &after))
}

fn change_iso_key(
    conn: &mut dyn Conn,
    platform: &Platform,
    iso_id: &IsoId,
    (phase, now): (Phase, Timestamp),
) -> Result<()> {
    let Some(row) = iso::get(conn, iso_id)? else { return Ok(()) };
    let before = WrappedKey(row.data_key);
    if phase == Phase::Announce {
        let after = platform.vault.data_key_next(iso_id, &before)?;
        return iso::data_key_set(conn, iso_id, &after.0);
    }
    let after = before.activated();
    iso::data_key_set(conn, iso_id, &after.0)?;
    audit::append(conn, &entry(Some(iso_id), iso_id.as_str(), now, &before, &after))
}

fn entry(
    iso_id: Option<&IsoId>,
    object_id: &str,
    now: Timestamp,
    before: &WrappedKey,
    after: &WrappedKey,
) -> Entry {
    let version = |key: &WrappedKey| key.version().map(vault::KeyVersion::get);
    Entry::by_system(iso_id, now, "data_key.rotate", "data_key", object_id).changed(
        "version",
        version(before),
        version(after),
    )
}
