//! `/v1/isos`: the account of an ISO, shown to and changed by itself, and decided on by
//! administrators of the site.
//!
//! **An ISO sees its own account only**; another one's is not there. How an account comes to be is
//! the matter of [`super::registration`].

use contract::{Answer, Endpoint, Failure, Route};
use db::Conn;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use types::{IsoId, Result, Scope, Timestamp};
use vault::Vault;

use super::emails;
use super::record::{Decision, IsoContact, IsoRecord};
use crate::audit::Entry;
use crate::change::{Basis, object_not_found, tagged};
use crate::codes::refusal;
use crate::event_kinds;
use crate::fields::{AnswerStyle, LoginEmail, PhoneNumber, PlainName, StatusReason, Website};
use crate::lifecycle::{self, IsoStatus};
use crate::paging::{self, Page};
use crate::perform::{Outcome, perform};
use crate::rows::iso_account;
use crate::settings::IsoLimits;
use crate::{Code, Cx, Platform};

/// The account of an ISO.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct IsoView {
    /// Id of the ISO.
    iso_id: IsoId,
    /// Name of the ISO.
    name: String,
    /// State of the account.
    status: String,
    /// Why it is in this state.
    status_reason: Option<String>,
    /// What an administrator can decide on it in this state.
    actions: Vec<&'static str>,
    /// Grows by one with every change.
    version: i64,
    /// Form of the answers.
    response_style: String,
    /// The person to talk to.
    contact: IsoContact,
    /// What the ISO may use; what is null is not limited.
    limits: IsoLimits,
    /// When it was registered.
    created: String,
    /// When it was changed last.
    updated: String,
}

impl IsoView {
    fn of(record: IsoRecord, platform: &Platform) -> Result<Self> {
        let contact = record.contact(&platform.vault)?;
        let own = IsoLimits::read(&record.account.limits)?;
        let IsoRecord { row, account } = record;
        Ok(Self {
            iso_id: row.iso_id,
            name: row.name,
            actions: lifecycle::ISO.actions_in(&account.status),
            status: account.status,
            status_reason: account.status_reason,
            version: account.version,
            response_style: row.response_style,
            contact,
            limits: platform.settings.limits.unless(own),
            created: row.created.to_string(),
            updated: account.updated.unwrap_or(row.created).to_string(),
        })
    }

    fn answer(record: IsoRecord, platform: &Platform) -> Result<Answer<Self>> {
        let version = record.account.version;
        Ok(tagged(version, Self::of(record, platform)?))
    }
}

/// Show the ISO's own account.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct IsoGet {
    /// Id of the ISO.
    iso_id: String,
}

/// The caller's own ISO, if it is the one that the path names.
pub(super) fn own(cx: &Cx, named: &str) -> Result<IsoId> {
    let own = cx.caller()?.iso_id();
    if own.as_str() == named { Ok(own.clone()) } else { Err(object_not_found()) }
}

impl Endpoint<Cx> for IsoGet {
    const ROUTE: Route = Route::get("/v1/isos/{isoId}").scope(Scope::IsosRead);
    type Reply = IsoView;

    async fn handle(self, cx: &Cx) -> std::result::Result<Answer<IsoView>, Failure> {
        let iso_id = own(cx, &self.iso_id)?;
        let record = cx.platform.store.read(move |conn| IsoRecord::load(conn, &iso_id)).await?;
        Ok(IsoView::answer(record, &cx.platform)?)
    }
}

/// Change the ISO's own account. What is left out stays as it is.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct IsoPatch {
    /// Id of the ISO.
    iso_id: String,
    name: Option<PlainName>,
    contact_name: Option<PlainName>,
    email: Option<LoginEmail>,
    phone_number: Option<PhoneNumber>,
    website: Option<Website>,
    response_style: Option<AnswerStyle>,
    /// The version that the change is based on; instead of `If-Match`.
    expected_version: Option<i64>,
}

impl IsoPatch {
    /// Applies what was sent, and names what it was.
    fn apply(&self, record: &mut IsoRecord, vault: &Vault) -> Result<Vec<&'static str>> {
        let mut changed = Vec::new();
        if let Some(name) = &self.name {
            name.as_str().clone_into(&mut record.row.name);
            changed.push("name");
        }
        if let Some(style) = &self.response_style {
            style.as_str().clone_into(&mut record.row.response_style);
            changed.push("responseStyle");
        }
        let mut contact = record.contact(vault)?;
        let sent = [
            ("contactName", self.contact_name.as_ref().map(PlainName::as_str)),
            ("email", self.email.as_ref().map(LoginEmail::as_str)),
            ("phoneNumber", self.phone_number.as_ref().map(PhoneNumber::as_str)),
            ("website", self.website.as_ref().map(Website::as_str)),
        ];
        let kept = [
            &mut contact.contact_name,
            &mut contact.email,
            &mut contact.phone_number,
            &mut contact.website,
        ];
        for ((field, sent), kept) in sent.into_iter().zip(kept) {
            if let Some(sent) = sent {
                *kept = Some(sent.to_owned());
                changed.push(field);
            }
        }
        let sealed = contact.seal(&record.data_key(vault)?, &record.row.iso_id)?;
        record.account.contact_sealed = Some(sealed);
        Ok(changed)
    }
}

impl Endpoint<Cx> for IsoPatch {
    const ROUTE: Route = Route::patch("/v1/isos/{isoId}").scope(Scope::IsosWrite);
    type Reply = IsoView;

    async fn handle(self, cx: &Cx) -> std::result::Result<Answer<IsoView>, Failure> {
        let iso_id = own(cx, &self.iso_id)?;
        let basis = Basis::of(cx, self.expected_version);
        let entry = cx.entry("iso.update", "iso", iso_id.as_str())?;
        let (platform, now) = (std::sync::Arc::clone(&cx.platform), cx.now);
        perform(cx, move |conn| {
            let mut record = IsoRecord::load(conn, &iso_id)?;
            basis.check(record.account.version)?;
            let changed = self.apply(&mut record, &platform.vault)?;
            let entry = changed.iter().fold(entry.clone(), |e, field| e.changed_unseen(field));
            record.store_change(conn, event_kinds::ISO_UPDATED, &changed, entry, now)?;
            Ok(IsoView::answer(record, &platform)?)
        })
        .await
    }
}

/// List all ISOs, the oldest first. For administrators of the site.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct IsoList {
    /// What `nextCursor` of the page before said.
    #[schemars(length(max = 100))]
    cursor: Option<String>,
    /// How many.
    #[serde(default = "paging::page_default")]
    #[schemars(range(min = 1, max = 100))]
    limit: i64,
    status: Option<IsoStatus>,
}

impl Endpoint<Cx> for IsoList {
    const ROUTE: Route = Route::get("/v1/isos").administrator();
    type Reply = Page<IsoView>;

    async fn handle(self, cx: &Cx) -> std::result::Result<Answer<Self::Reply>, Failure> {
        let after = self.cursor.as_deref().map(paging::read_cursor).transpose()?;
        let status = self.status.map(IsoStatus::name);
        // One more tells whether there is another page.
        let limit = self.limit.saturating_add(1);
        let read =
            move |conn: &mut dyn Conn| iso_account::page(conn, status, after.as_ref(), limit);
        let rows = cx.platform.store.read(read).await?;
        let found = rows.into_iter().map(|(row, account)| {
            let cursor = paging::cursor(row.created, row.iso_id.as_str());
            Ok((cursor, IsoView::of(IsoRecord { row, account }, &cx.platform)?))
        });
        Ok(Answer::new(Page::of(found.collect::<Result<Vec<_>>>()?, self.limit)))
    }
}

/// Takes the step, tells the ISO by event and by mail, and notes it.
pub(super) fn decide(
    conn: &mut dyn Conn,
    platform: &Platform,
    (iso_id, decision, reason): (&IsoId, Decision, Option<&str>),
    basis: Basis,
    entry: Entry,
    now: Timestamp,
) -> Outcome<IsoRecord> {
    let mut record = IsoRecord::load(conn, iso_id)?;
    basis.check_given(record.account.version)?;
    let before = record.account.status.clone();
    let Some(step) = lifecycle::ISO.step(decision.action(), &before) else {
        let states = lifecycle::ISO.allowed_from(decision.action()).join(", ");
        let message = format!("The ISO is {before}; this is possible only when it is: {states}.");
        return Err(refusal("", Code::IllegalTransition, message));
    };
    step.target(&before, false).clone_into(&mut record.account.status);
    record.account.status_reason = reason.map(str::to_owned);
    let entry = entry.changed("status", before, record.account.status.clone());
    let entry = reason.map_or(entry.clone(), |reason| entry.because(reason));
    record.store_change(conn, step.event, &["status"], entry, now)?;
    emails::decided(conn, platform, &record, decision, now)?;
    Ok(record)
}

/// The routes of decisions are alike.
macro_rules! decisions {
    ($($(#[doc = $doc:literal])* $name:ident, $path:literal, $decision:expr;)*) => {$(
        $(#[doc = $doc])*
        #[derive(Debug, Deserialize, JsonSchema)]
        #[serde(rename_all = "camelCase")]
        pub struct $name {
            /// Id of the ISO.
            iso_id: String,
            reason: Option<StatusReason>,
            /// Refuse if the ISO has another version by now; instead of `If-Match`.
            expected_version: Option<i64>,
        }

        impl Endpoint<Cx> for $name {
            const ROUTE: Route = Route::post($path).administrator();
            type Reply = IsoView;

            async fn handle(self, cx: &Cx) -> std::result::Result<Answer<IsoView>, Failure> {
                let reason = self.reason.map(StatusReason::into_string);
                let basis = Basis::of(cx, self.expected_version);
                answer_decision(cx, self.iso_id, $decision, reason, basis).await
            }
        }
    )*};
}

decisions! {
    /// Let an ISO that registered itself start to work. For administrators of the site.
    IsoApprove, "/v1/isos/{isoId}/approve", Decision::Approve;
    /// Turn down an ISO that registered itself, for good. For administrators of the site.
    IsoReject, "/v1/isos/{isoId}/reject", Decision::Reject;
    /// Stop an ISO: its keys and people are refused. For administrators of the site.
    IsoSuspend, "/v1/isos/{isoId}/suspend", Decision::Suspend;
    /// Let a suspended ISO go on. For administrators of the site.
    IsoResume, "/v1/isos/{isoId}/resume", Decision::Resume;
}

async fn answer_decision(
    cx: &Cx,
    iso_id: String,
    decision: Decision,
    reason: Option<String>,
    basis: Basis,
) -> std::result::Result<Answer<IsoView>, Failure> {
    let iso_id = IsoId::new(iso_id);
    let entry = cx.entry_by_administrator(&iso_id, &decision.audit_action())?;
    let (platform, now) = (std::sync::Arc::clone(&cx.platform), cx.now);
    perform(cx, move |conn| {
        let decided = (&iso_id, decision, reason.as_deref());
        let record = decide(conn, &platform, decided, basis, entry.clone(), now)?;
        Ok(IsoView::answer(record, &platform)?)
    })
    .await
}
