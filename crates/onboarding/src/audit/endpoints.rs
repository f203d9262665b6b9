//! `GET /v1/audit` and `GET /v1/audit/verify`.

use std::borrow::Cow;

use contract::{Answer, Endpoint, Failure, Route};
use data_encoding::HEXLOWER;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use types::Scope;

use super::check::{ChainBreak, VerifyFrom};
use super::shown::{AuditShown, searched, shown};
use crate::Cx;
use crate::fields::{Line, Moment, Word};
use crate::paging::{self, Page};
use crate::rows::audit::{self, AuditFilter};

/// List the audit log, the newest entry first.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuditList {
    /// What `nextCursor` of the page before said.
    #[schemars(range(min = 1))]
    cursor: Option<i64>,
    /// How many entries.
    #[serde(default = "paging::page_default")]
    #[schemars(range(min = 1, max = 100))]
    limit: i64,
    /// Who did it, such as `key:3kT9xQ2a` or `system`.
    actor: Option<Word>,
    /// What was done, such as `merchant.onboard`.
    action: Option<Word>,
    /// What kind of object it was done to, such as `merchant`.
    object: Option<Word>,
    /// Id of an object that was made or touched.
    object_id: Option<Word>,
    /// Id of the request that did it.
    request_id: Option<Word>,
    /// `done` or `refused`.
    result: Option<Word>,
    /// Not before this moment.
    from: Option<Moment>,
    /// Before this moment.
    until: Option<Moment>,
    /// A part of who did it, of what was done in words, of the object's id or of a changed field.
    search: Option<Line>,
}

impl Endpoint<Cx> for AuditList {
    const ROUTE: Route = Route::get("/v1/audit").scope(Scope::AuditRead);
    type Reply = Page<AuditShown>;

    async fn handle(self, cx: &Cx) -> Result<Answer<Self::Reply>, Failure> {
        // What the caller did a moment ago is to be seen.
        cx.platform.audit_chain().await?;
        let word = |word: Option<Word>| word.map(Word::into_string);
        let limit = self.limit;
        let iso_id = cx.caller()?.iso_id().clone();
        let search = self.search;
        let filter = AuditFilter {
            iso_id: Some(iso_id.clone()),
            before_seq: self.cursor,
            actor: word(self.actor),
            action: word(self.action),
            object: word(self.object),
            object_id: word(self.object_id),
            merchant_id: None,
            request_id: word(self.request_id),
            result: word(self.result),
            from: self.from.as_ref().and_then(Moment::time),
            until: self.until.as_ref().and_then(Moment::time),
            search: None,
        };
        let found = cx.platform.store.list(move |conn| {
            let search = searched(conn, &iso_id, search.as_ref())?;
            let found = audit::list(conn, &AuditFilter { search, ..filter.clone() }, limit + 1)?;
            shown(conn, found)
        });
        Ok(Answer::new(Page::of(found.await?, limit)))
    }
}

/// Check that the audit log is whole.
///
/// Walks the chain of hashes and compares its end with the sealed one. Without `after` it starts at
/// the last checkpoint, up to which the log was verified before, and also reports what the last
/// full check found; `after=0` starts at the first entry, and `POST /v1/audit/check` does that in
/// the background. One call checks up to 100,000 entries: go on with `after` from `next`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuditVerify {
    /// Number of the entry after which to start; by default that of the last checkpoint.
    #[schemars(range(min = 0))]
    after: Option<i64>,
}

/// What the check found.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuditVerified {
    /// Whether nothing is wrong with the entries that were looked at.
    valid: bool,
    /// Number of the entry after which the check started.
    after: i64,
    /// How many entries were looked at.
    checked: i64,
    /// Where to go on; null when the end was reached.
    next: Option<i64>,
    /// Number of the last entry.
    sequence: i64,
    /// Hash of the last entry. Keep it, with its number: later logs must contain it.
    hash: String,
    /// Proof of number and hash by the installation's key.
    seal: String,
    /// When it was looked at.
    time: String,
    /// The first errors.
    #[serde(rename = "faults")]
    errors: Vec<ChainBreakView>,
}

/// Something that is wrong with the audit log.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ChainBreakView {
    /// Number of the entry.
    sequence: i64,
    /// What is wrong with it.
    message: Cow<'static, str>,
}

impl From<ChainBreak> for ChainBreakView {
    fn from(error: ChainBreak) -> Self {
        Self { sequence: error.seq, message: error.what }
    }
}

impl Endpoint<Cx> for AuditVerify {
    const ROUTE: Route = Route::get("/v1/audit/verify").scope(Scope::AuditRead);
    type Reply = AuditVerified;

    async fn handle(self, cx: &Cx) -> Result<Answer<Self::Reply>, Failure> {
        cx.platform.audit_chain().await?;
        let iso_id = Some(cx.caller()?.iso_id().clone());
        let from = self.after.map_or(VerifyFrom::Checkpoint, VerifyFrom::After);
        let found = cx.platform.audit_verify(iso_id, from).await?;
        let hash = found.hash_text();
        let errors: Vec<ChainBreakView> =
            found.errors.into_iter().map(ChainBreakView::from).collect();
        Ok(Answer::new(AuditVerified {
            valid: errors.is_empty(),
            after: found.after,
            checked: found.checked,
            next: found.next,
            sequence: found.head.seq,
            hash,
            seal: HEXLOWER.encode(&found.head.seal),
            time: cx.now.to_string(),
            errors,
        }))
    }
}
