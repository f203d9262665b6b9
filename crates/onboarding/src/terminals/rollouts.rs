//! Roll-outs: a version of a template is given to terminals that use the template, followed until
//! their devices have it, and stopped.
//!
//! A TPN is given the version at once, as any change of it; its device has it with the next
//! download. **Stopping gives those that still wait the version back that they had**, and leaves
//! the others as they are. Who uses a template is in [`super::template_users`].

use contract::{Answer, Draft, Endpoint, Failure, IssueKind, Route};
use db::outbox::Event;
use db::{Conn, counter, outbox};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use types::{IsoId, Result, Scope, StoreId, Timestamp, Tpn};

use super::template_users::{self, TerminalView};
use super::templates;
use crate::audit::{self, Entry};
use crate::change::{Action, TpnRecord, load, object_not_found, record_change};
use crate::codes::refusal;
use crate::event_kinds;
use crate::fields::{RolloutStateName, StatusReason};
use crate::id_source::random_text;
use crate::isos::emails::MICROS_PER_DAY;
use crate::paging::{Page, page_default};
use crate::perform::{Outcome, perform};
use crate::rows::rollout::{self, RolloutRow, RolloutState, RolloutTpnRow};
use crate::rows::template::{self, TemplateRow};
use crate::rows::tpn::TpnRow;
use crate::rows::{merchant, tpn};
use crate::{Code, Cx, text};

/// TPNs of one roll-out.
const TPNS_MAX: usize = 5_000;
/// Roll-outs that a list shows: the newest.
const SHOWN_MAX: i64 = 20;
/// Roll-outs that an ISO starts in a day: each may write thousands of rows.
const ROLLOUTS_PER_DAY_MAX: i64 = 100;
/// The field that changes, by its published name.
const CHANGED: &[&str] = &["tpnAssignTemplate"];

/// A roll-out of a template's version.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RolloutView {
    /// Id of the roll-out.
    rollout_id: String,
    /// Name of the template.
    template: String,
    /// The version that the TPNs are given.
    version: i64,
    /// `running` while devices are pending, `finished` when none is, or `stopped`.
    status: &'static str,
    /// Why it was stopped, if somebody said so.
    reason: Option<String>,
    /// TPNs whose device has not downloaded the version yet.
    pending: i64,
    /// TPNs whose device has downloaded it.
    downloaded: i64,
    /// TPNs that were pending when it was stopped, and have the version that they had before.
    stopped: i64,
    /// TPNs that were given something else while they were pending, or retired.
    replaced: i64,
    /// Who started it.
    created_by: String,
    /// When it was started.
    created: String,
    /// When it was stopped.
    ended: Option<String>,
}

impl RolloutView {
    fn of(conn: &mut dyn Conn, row: RolloutRow) -> Result<Self> {
        let counts = rollout::counts(conn, &row.iso_id, &row.rollout_id)?;
        let in_state = |wanted: RolloutState| {
            let found = counts.iter().find(|(state, _)| *state == wanted);
            found.map_or(0, |(_, count)| *count)
        };
        let pending = in_state(RolloutState::Pending);
        let status = match row.stopped {
            Some(_) => "stopped",
            None if pending > 0 => "running",
            None => "finished",
        };
        Ok(Self {
            template: template::name(conn, &row.iso_id, &row.template_id)?.unwrap_or_default(),
            rollout_id: row.rollout_id,
            version: row.version,
            status,
            reason: row.stop_reason,
            pending,
            downloaded: in_state(RolloutState::Downloaded),
            stopped: in_state(RolloutState::Stopped),
            replaced: in_state(RolloutState::Replaced),
            created_by: row.created_by,
            created: row.created.to_string(),
            ended: row.stopped.map(|at| at.to_string()),
        })
    }
}

/// The ISO's roll-out of that id. What is no id at all is not looked up.
fn find(conn: &mut dyn Conn, iso_id: &IsoId, rollout_id: &str) -> Result<RolloutRow> {
    let is_id = text::is_alphanumeric(rollout_id);
    let found = if is_id { rollout::get(conn, iso_id, rollout_id)? } else { None };
    found.ok_or_else(object_not_found)
}

/// Give TPNs another version of the template that they use.
///
/// All that use it, those of some stores, or some TPNs; those that have the version already are
/// left out. Their devices get it with their next download.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RolloutStart {
    /// Name of the template.
    name: String,
    /// The version to give them; the newest if left out.
    version: Option<i64>,
    /// Only these TPNs.
    #[schemars(length(min = 1, max = 1000))]
    tpns: Option<Vec<Tpn>>,
    /// Only TPNs of these stores.
    #[schemars(length(min = 1, max = 1000))]
    store_ids: Option<Vec<StoreId>>,
}

impl Endpoint<Cx> for RolloutStart {
    const ROUTE: Route = Route::post("/v1/templates/{name}/rollouts").scope(Scope::TpnsWrite);
    type Reply = RolloutView;

    async fn check(draft: &mut Draft<'_>, _: &Cx) -> Result<()> {
        let is_given = |name: &str| draft.params.get(name).is_some_and(|value| !value.is_null());
        if is_given("tpns") && is_given("storeIds") {
            let message = "Send `tpns` or `storeIds`, not both.";
            let error = IssueKind::rule(Code::ConflictingField.name(), message);
            draft.issues.add("storeIds", error);
        }
        Ok(())
    }

    async fn handle(self, cx: &Cx) -> std::result::Result<Answer<RolloutView>, Failure> {
        let caller = cx.caller()?.clone();
        let rollout_id = format!("roll{}", random_text(16)?);
        let (action, now) = (Action::of(cx, "update")?.then("update", CHANGED), cx.now);
        let day = cx.platform.clock.now().as_micros() / MICROS_PER_DAY;
        let entry = cx.entry("rollout.start", "rollout", &*rollout_id)?;
        perform(cx, move |conn| {
            let template = templates::find(conn, caller.iso_id(), &self.name)?;
            let version = self.version.unwrap_or(template.version);
            let (iso_id, id) = (&template.iso_id, &template.template_id);
            if template::version_parameters(conn, iso_id, id, version)?.is_none() {
                let message = "Template version not found.";
                return Err(refusal("version", Code::InvalidValue, message));
            }
            let row = RolloutRow {
                iso_id: iso_id.clone(),
                rollout_id: rollout_id.clone(),
                template_id: id.clone(),
                version,
                created_by: caller.actor(),
                created: now,
                stopped: None,
                stop_reason: None,
            };
            let counted = format!("roll-outs {iso_id}");
            if !counter::take_of_period(conn, &counted, day, ROLLOUTS_PER_DAY_MAX)? {
                let message = format!("At most {ROLLOUTS_PER_DAY_MAX} roll-outs start in a day.");
                return Err(refusal("", Code::LimitExceeded, message));
            }
            let chosen = self.chosen(conn, &template, version)?;
            rollout::insert(conn, &row)?;
            for before in chosen {
                give(conn, &row, before, &action)?;
            }
            announce(conn, &row, event_kinds::ROLLOUT_STARTED, &entry, now)?;
            Ok(Answer::new(RolloutView::of(conn, row)?))
        })
        .await
    }
}

impl RolloutStart {
    /// The TPNs to give the version to.
    fn chosen(
        &self,
        conn: &mut dyn Conn,
        template: &TemplateRow,
        version: i64,
    ) -> Outcome<Vec<TpnRow>> {
        let lacks_it = |row: &TpnRow| row.template.as_ref().is_none_or(|(_, own)| *own != version);
        let rows = match (&self.tpns, &self.store_ids) {
            (Some(tpns), _) => {
                let rows = named(conn, template, tpns)?;
                rows.into_iter().filter(lacks_it).collect()
            }
            (None, Some(stores)) => {
                for (place, store_id) in stores.iter().enumerate() {
                    if merchant::store_get(conn, &template.iso_id, store_id)?.is_none() {
                        let path = format!("storeIds[{place}]");
                        return Err(refusal(&path, Code::NotFound, "Not found."));
                    }
                }
                let is_in = |id: &StoreId| stores.contains(id);
                let is_wanted =
                    |row: &TpnRow| lacks_it(row) && row.store_id.as_ref().is_some_and(is_in);
                template_users::all(conn, template, TPNS_MAX, is_wanted)?
            }
            (None, None) => template_users::all(conn, template, TPNS_MAX, lacks_it)?,
        };
        if rows.is_empty() {
            let message = format!("No TPN that was chosen has another version than {version}.");
            return Err(refusal("", Code::IllegalTransition, message));
        }
        if rows.len() > TPNS_MAX {
            let message = format!("Choose fewer: a roll-out has up to {TPNS_MAX} TPNs.");
            return Err(refusal("", Code::LimitExceeded, message));
        }
        Ok(rows)
    }
}

/// TPNs by their numbers, each of which must use the template.
fn named(conn: &mut dyn Conn, template: &TemplateRow, tpns: &[Tpn]) -> Outcome<Vec<TpnRow>> {
    let mut rows: Vec<TpnRow> = Vec::with_capacity(tpns.len());
    for (place, number) in tpns.iter().enumerate() {
        let found = tpn::get(conn, &template.iso_id, number)?;
        let uses_it = |row: &TpnRow| {
            let own = row.template.as_ref();
            tpn::is_in_use(row) && own.is_some_and(|(id, _)| *id == template.template_id)
        };
        let Some(row) = found.filter(uses_it) else {
            let message = "The ISO has no such TPN that uses the template.";
            return Err(refusal(&format!("tpns[{place}]"), Code::NotFound, message));
        };
        if rows.iter().all(|other| other.tpn != row.tpn) {
            rows.push(row);
        }
    }
    Ok(rows)
}

/// Gives a TPN the version of the roll-out, for which its device is then waited.
fn give(conn: &mut dyn Conn, row: &RolloutRow, tpn: TpnRow, action: &Action) -> Outcome<()> {
    let before = TpnRecord::of_row(conn, tpn)?;
    let entry = RolloutTpnRow {
        iso_id: row.iso_id.clone(),
        rollout_id: row.rollout_id.clone(),
        tpn: before.row.tpn.clone(),
        state: RolloutState::Pending,
        previous_version: before.row.template.as_ref().map_or(row.version, |(_, own)| *own),
        changed: action.now,
    };
    set_version(conn, before, row, row.version, action)?;
    // Behind the change, which ends the waiting of other roll-outs for this TPN.
    Ok(rollout::tpn_insert(conn, &entry)?)
}

fn set_version(
    conn: &mut dyn Conn,
    before: TpnRecord,
    row: &RolloutRow,
    version: i64,
    action: &Action,
) -> Result<()> {
    let mut after = before.clone();
    after.row.template = Some((row.template_id.clone(), version));
    record_change(conn, &before, after, event_kinds::TPN_UPDATED, action).map(drop)
}

/// Tells followers and the audit log of a roll-out.
fn announce(
    conn: &mut dyn Conn,
    row: &RolloutRow,
    kind: &'static str,
    entry: &Entry,
    now: Timestamp,
) -> Result<()> {
    let entry = entry.clone().related(row.template_id.as_str());
    audit::append(conn, &entry.changed("version", Value::Null, row.version))?;
    let status = if row.stopped.is_some() { "stopped" } else { "running" };
    let payload = json!({
        "object": "rollout", "id": row.rollout_id, "templateId": row.template_id,
        "status": status, "version": row.version, "changed": ["status"],
    });
    outbox::append(
        conn,
        &Event {
            iso_id: Some(row.iso_id.clone()),
            kind,
            object_id: row.rollout_id.clone(),
            payload: payload.to_string(),
            created: now,
        },
    )
}

/// Stop a roll-out.
///
/// TPNs whose device has not downloaded the version get the one back that they had; all others stay
/// as they are.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RolloutStop {
    /// Id of the roll-out.
    rollout_id: String,
    reason: Option<StatusReason>,
}

impl Endpoint<Cx> for RolloutStop {
    const ROUTE: Route = Route::post("/v1/rollouts/{rolloutId}/stop").scope(Scope::TpnsWrite);
    type Reply = RolloutView;

    async fn handle(self, cx: &Cx) -> std::result::Result<Answer<RolloutView>, Failure> {
        let (iso_id, now) = (cx.caller()?.iso_id().clone(), cx.now);
        let action = Action::of(cx, "update")?.then("update", CHANGED);
        let entry = cx.entry("rollout.stop", "rollout", &*self.rollout_id)?;
        let reason = self.reason.map(StatusReason::into_string);
        let entry = reason.as_deref().map_or(entry.clone(), |reason| entry.because(reason));
        perform(cx, move |conn| {
            let mut row = find(conn, &iso_id, &self.rollout_id)?;
            let pending = pending_of(conn, &row)?;
            if row.stopped.is_some() || pending.is_empty() {
                let message = "It is not running any more.";
                return Err(refusal("", Code::IllegalTransition, message));
            }
            for tpn in &pending {
                rollout::tpn_end(conn, tpn, RolloutState::Stopped, now)?;
                let before: TpnRecord = load(conn, &iso_id, tpn.tpn.as_str())?;
                set_version(conn, before, &row, tpn.previous_version, &action)?;
            }
            row.stopped = Some(now);
            row.stop_reason.clone_from(&reason);
            rollout::update(conn, &row)?;
            announce(conn, &row, event_kinds::ROLLOUT_STOPPED, &entry, now)?;
            Ok(Answer::new(RolloutView::of(conn, row)?))
        })
        .await
    }
}

fn pending_of(conn: &mut dyn Conn, row: &RolloutRow) -> Result<Vec<RolloutTpnRow>> {
    let limit = i64::try_from(TPNS_MAX).unwrap_or(i64::MAX);
    let id = (&row.iso_id, row.rollout_id.as_str());
    rollout::tpns(conn, id, Some(RolloutState::Pending), "", limit)
}

/// List the newest roll-outs of a template, 20 at most.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct RolloutList {
    /// Name of the template.
    name: String,
}

/// Roll-outs of a template.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Rollouts {
    /// The roll-outs, the newest first.
    data: Vec<RolloutView>,
}

impl Endpoint<Cx> for RolloutList {
    const ROUTE: Route = Route::get("/v1/templates/{name}/rollouts").scope(Scope::TpnsRead);
    type Reply = Rollouts;

    async fn handle(self, cx: &Cx) -> std::result::Result<Answer<Rollouts>, Failure> {
        let iso_id = cx.caller()?.iso_id().clone();
        let found = cx.platform.store.list(move |conn| {
            let template = templates::find(conn, &iso_id, &self.name)?;
            let rows = rollout::of_template(conn, &iso_id, &template.template_id, SHOWN_MAX)?;
            rows.into_iter().map(|row| RolloutView::of(conn, row)).collect::<Result<Vec<_>>>()
        });
        Ok(Answer::new(Rollouts { data: found.await? }))
    }
}

/// Show a roll-out.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RolloutGet {
    /// Id of the roll-out.
    rollout_id: String,
}

impl Endpoint<Cx> for RolloutGet {
    const ROUTE: Route = Route::get("/v1/rollouts/{rolloutId}").scope(Scope::TpnsRead);
    type Reply = RolloutView;

    async fn handle(self, cx: &Cx) -> std::result::Result<Answer<RolloutView>, Failure> {
        let iso_id = cx.caller()?.iso_id().clone();
        let found = cx.platform.store.read(move |conn| {
            let row = find(conn, &iso_id, &self.rollout_id)?;
            RolloutView::of(conn, row)
        });
        Ok(Answer::new(found.await?))
    }
}

/// List the TPNs of a roll-out, and how far each of them is.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RolloutTpns {
    /// Id of the roll-out.
    rollout_id: String,
    /// Only those that are so far.
    state: Option<RolloutStateName>,
    /// TPNs on the page.
    #[serde(default = "page_default")]
    #[schemars(range(min = 1, max = 100))]
    limit: i64,
    /// What `nextCursor` of the page before said.
    cursor: Option<Tpn>,
}

/// A TPN of a roll-out.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RolloutTpnView {
    #[serde(flatten)]
    terminal: TerminalView,
    /// `pending`, `downloaded`, `stopped` or `replaced`.
    state: &'static str,
    /// When it got so far.
    changed: String,
    /// The version that it had before.
    previous_version: i64,
}

impl Endpoint<Cx> for RolloutTpns {
    const ROUTE: Route = Route::get("/v1/rollouts/{rolloutId}/tpns").scope(Scope::TpnsRead);
    type Reply = Page<RolloutTpnView>;

    async fn handle(self, cx: &Cx) -> std::result::Result<Answer<Self::Reply>, Failure> {
        let (iso_id, limit) = (cx.caller()?.iso_id().clone(), self.limit);
        let found = cx.platform.store.list(move |conn| {
            let row = find(conn, &iso_id, &self.rollout_id)?;
            let state = self.state.as_ref().and_then(|name| RolloutState::from_name(name.as_str()));
            let after = self.cursor.as_ref().map_or("", Tpn::as_str);
            let id = (&iso_id, row.rollout_id.as_str());
            let mut found = Vec::new();
            for entry in rollout::tpns(conn, id, state, after, limit + 1)? {
                let Some(tpn) = tpn::get(conn, &iso_id, &entry.tpn)? else { continue };
                let view = RolloutTpnView {
                    terminal: TerminalView::of(conn, tpn)?,
                    state: entry.state.as_str(),
                    changed: entry.changed.to_string(),
                    previous_version: entry.previous_version,
                };
                found.push((entry.tpn.as_str().to_owned(), view));
            }
            Ok(found)
        });
        Ok(Answer::new(Page::of(found.await?, limit)))
    }
}
