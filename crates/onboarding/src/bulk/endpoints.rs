//! `/v1/bulk/onboardings`: uploading files, and seeing what became of them.

use std::fmt;
use std::sync::Arc;

use contract::{Answer, Endpoint, Failure, Route};
use db::Conn;
use frame::jobs;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use types::{Error, Result, Scope, Timestamp};

use super::job::{self, Task};
use super::rows::{FILES, Format, Row, Rows};
use super::work::{self, Chunk, Mode, RowContext};
use super::{
    OPEN_MAX, ROWS_AT_ONCE_MAX, ROWS_MAX, UploadRef, cancel, close, new_upload, upload_ref_of,
};
use crate::audit::{self, Entry};
use crate::codes::refusal;
use crate::fields::{BulkResultStatus, FileFormat};
use crate::paging::{self, Page};
use crate::perform::{Outcome, perform};
use crate::rows::bulk_upload::{self, BulkOutcome, BulkResult, BulkStatus, BulkUploadRow};
use crate::{Code, Cx, dialect::ErrorItem};

/// An upload.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BulkView {
    /// Id of the upload; null when it was only to be validated.
    bulk_id: Option<String>,
    /// `queued`, `running`, `done`, `failed` or `cancelled`.
    status: &'static str,
    /// How many rows it has.
    rows: i64,
    /// How many of them have a result.
    done: i64,
    /// How many were onboarded.
    succeeded: i64,
    /// How many were refused.
    failed: i64,
    /// Why the upload as a whole failed.
    error: Option<String>,
    /// When it was uploaded.
    created: String,
    /// When it ended.
    finished: Option<String>,
}

impl From<&BulkUploadRow> for BulkView {
    fn from(upload: &BulkUploadRow) -> Self {
        Self {
            bulk_id: Some(upload.bulk_id.clone()),
            status: upload.status.as_str(),
            rows: upload.rows,
            done: upload.succeeded + upload.failed,
            succeeded: upload.succeeded,
            failed: upload.failed,
            error: upload.error.clone(),
            created: upload.created.to_string(),
            finished: upload.finished.map(|time| time.to_string()),
        }
    }
}

/// What became of a row.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RowView {
    /// Number of the row; the first one below a header is 1, and blank lines do not count.
    row: i64,
    /// `succeeded` or `failed`.
    status: &'static str,
    /// Id of the merchant.
    merchant_id: Option<String>,
    /// Id of the store.
    store_id: Option<String>,
    /// The TPN number.
    tpn: Option<String>,
    /// Everything that is wrong, as a single call would have been told.
    errors: Vec<ErrorItem>,
}

impl RowView {
    pub(super) fn new(result: BulkResult) -> Result<Self> {
        let row = result.row;
        Ok(match result.outcome {
            BulkOutcome::Succeeded(ids) => Self {
                row,
                status: SUCCEEDED,
                merchant_id: Some(ids.merchant_id.into_string()),
                store_id: Some(ids.store_id.into_string()),
                tpn: Some(ids.tpn.into_string()),
                errors: Vec::new(),
            },
            BulkOutcome::Failed(errors) => Self {
                row,
                status: FAILED,
                merchant_id: None,
                store_id: None,
                tpn: None,
                errors: serde_json::from_str(&errors)
                    .map_err(|error| Error::internal("cannot read errors").because(error))?,
            },
        })
    }
}

const SUCCEEDED: &str = "succeeded";
const FAILED: &str = "failed";

/// An upload, with its results if it has few rows.
#[derive(Debug, Serialize, JsonSchema)]
pub struct BulkCreated {
    #[serde(flatten)]
    bulk: BulkView,
    /// What became of each row, when there are 25 rows at most.
    results: Option<Vec<RowView>>,
}

/// Onboard a file of rows.
///
/// Each row is what `POST /v1/onboardmerchant` takes: a JSON object per line, or a line of CSV
/// below a header whose columns are paths such as `merchantData.dba` or
/// `tpnData.tpnProcessor.profile.0.Mid`. Rows that are fine are onboarded, each of the others gets
/// the errors of a single call. Up to 25 rows are answered with their results; more are worked on
/// in the background. The same file again goes on with the first upload: rows that succeeded stay
/// as they are, and the others are tried again.
#[derive(Deserialize, JsonSchema)]
pub struct BulkCreate {
    format: FileFormat,
    /// The file.
    content: String,
}

/// Leaves out the file, which holds credentials.
impl fmt::Debug for BulkCreate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("BulkCreate").field("format", &self.format).finish_non_exhaustive()
    }
}

impl BulkCreate {
    fn rows(&self) -> std::result::Result<Vec<Row>, Failure> {
        let refused = |message: &str| refusal("body", Code::MalformedRow, message);
        let format = Format::from_name(self.format.as_str());
        let format = format.ok_or_else(|| refused("Send JSON Lines or CSV."))?;
        let mut source = Rows::new(format, self.content.as_bytes())
            .map_err(|error| refused(&error.to_string()))?;
        let mut rows = Vec::new();
        while let Some(row) = source.next_row()? {
            if rows.len() == ROWS_MAX {
                return Err(refused("Send at most 10,000 rows; split the file."));
            }
            rows.push(row);
        }
        if rows.is_empty() {
            return Err(refused("Send at least one row."));
        }
        Ok(rows)
    }
}

/// What an upload brings.
#[derive(Debug)]
struct Upload {
    reference: UploadRef,
    row: BulkUploadRow,
    entry: Entry,
    load: Load,
    request_id: String,
    now: Timestamp,
}

/// Its rows.
#[derive(Debug)]
enum Load {
    /// Few: they are onboarded in the transaction of the answer.
    Checked(Arc<Chunk>),
    /// Many: they are kept for the background.
    Sealed(Vec<(i64, Vec<u8>)>),
}

impl Endpoint<Cx> for BulkCreate {
    const ROUTE: Route = Route::post("/v1/bulk/onboardings").scope(Scope::BulkWrite).taking(FILES);
    type Reply = BulkCreated;

    async fn handle(self, cx: &Cx) -> std::result::Result<Answer<BulkCreated>, Failure> {
        let rows = self.rows()?;
        let few = rows.len() <= ROWS_AT_ONCE_MAX;
        if cx.request_options.validate_only && !few {
            let message = "Only files of up to 25 rows can be validated; send part of the file.";
            return Err(refusal("header.X-Validate-Only", Code::InvalidValue, message));
        }
        let caller = cx.caller()?;
        let index = cx.platform.vault.blind_index(caller.iso_id(), "bulk", &self.content).to_vec();
        let upload_ref = upload_ref_of(&cx.platform, caller.iso_id(), &index, cx.now).await?;
        let mut row = new_upload(&upload_ref, index, rows.len(), cx.now);
        row.actor = caller.actor();
        let load = if few {
            let context = RowContext {
                platform: Arc::clone(&cx.platform),
                caller: caller.clone(),
                origin: cx.origin.clone(),
                now: cx.now,
            };
            Load::Checked(work::check(&context, 1, rows).await?)
        } else {
            let rows = work::without_card_data(rows, cx.platform.settings.card_data);
            Load::Sealed(job::seal(caller.data_key(), &upload_ref.bulk_id, &rows)?)
        };
        let entry = cx.entry("bulk.upload", "bulk", &*upload_ref.bulk_id)?;
        let request_id = cx.origin.request_id.clone();
        let upload =
            Arc::new(Upload { reference: upload_ref, row, entry, load, request_id, now: cx.now });
        let mut mode = Mode::Optimistic;
        let mut answer = loop {
            let upload = Arc::clone(&upload);
            match perform(cx, move |conn| upload.take(conn, mode)).await {
                Err(Failure::Error(error)) if mode.was_too_optimistic(&error) => {
                    mode = Mode::Careful;
                }
                answer => break answer?,
            }
        };
        if cx.request_options.validate_only {
            answer.body.forget_ids();
        }
        Ok(answer)
    }
}

impl Upload {
    /// Takes the upload in, or goes on with the one that brought the same file before.
    fn take(&self, conn: &mut dyn Conn, mode: Mode) -> Outcome<Answer<BulkCreated>> {
        let iso_id = &self.reference.iso_id;
        let known = bulk_upload::by_content(conn, iso_id, &self.row.content_index)?;
        let is_complete = |row: &BulkUploadRow| row.succeeded == row.rows;
        if let Some(known) = known.as_ref().filter(|row| row.status.is_open() || is_complete(row)) {
            let answer = Answer::new(created(conn, known)?);
            return Ok(answer.header("idempotent-replayed", "true"));
        }
        let upload_ref = &self.reference;
        if known.as_ref().is_some_and(|known| known.bulk_id != upload_ref.bulk_id) {
            // Somebody else uploaded the file a moment ago, and the rows are sealed for another id.
            return Err(Error::unavailable("the file is being uploaded; try again").into());
        }
        match &self.load {
            Load::Checked(chunk) => {
                self.open(conn, known.as_ref(), None)?;
                work::settle(conn, upload_ref, chunk, mode)?;
                close(conn, upload_ref, (BulkStatus::Done, None), self.now)?;
            }
            Load::Sealed(chunks) => self.queue(conn, known.as_ref(), chunks)?,
        }
        audit::append(conn, &self.entry)?;
        let row = bulk_upload::get(conn, iso_id, &upload_ref.bulk_id)?;
        let row = row.ok_or_else(|| Error::internal("an upload vanished as it was stored"))?;
        Ok(Answer::new(created(conn, &row)?))
    }

    fn open(
        &self,
        conn: &mut dyn Conn,
        known: Option<&BulkUploadRow>,
        job_id: Option<i64>,
    ) -> Result<()> {
        let actor = self.row.actor.clone();
        match known {
            Some(known) => {
                bulk_upload::reopen(conn, &BulkUploadRow { actor, job_id, ..known.clone() })
            }
            None => bulk_upload::insert(conn, &BulkUploadRow { job_id, ..self.row.clone() }),
        }
    }

    /// Keeps the rows, and asks for somebody to work on them.
    fn queue(
        &self,
        conn: &mut dyn Conn,
        known: Option<&BulkUploadRow>,
        chunks: &[(i64, Vec<u8>)],
    ) -> Outcome<()> {
        let UploadRef { iso_id, bulk_id } = &self.reference;
        if bulk_upload::count_open(conn, iso_id)? >= OPEN_MAX {
            let message = "10 uploads are already in progress; wait until one finishes.";
            return Err(refusal("body", Code::LimitExceeded, message));
        }
        let request = self.request_id.clone();
        let task = Task { iso_id: iso_id.clone(), bulk_id: bulk_id.clone(), request };
        let queued = jobs::enqueue(conn, job::KIND, Some(bulk_id), &task, self.now)?;
        self.open(conn, known, Some(queued.job_id))?;
        for (first_row, sealed) in chunks {
            bulk_upload::chunk_insert(conn, iso_id, bulk_id, (*first_row, sealed))?;
        }
        Ok(())
    }
}

/// An upload as its answer tells of it.
fn created(conn: &mut dyn Conn, row: &BulkUploadRow) -> Result<BulkCreated> {
    let few = i64::try_from(ROWS_AT_ONCE_MAX).unwrap_or(i64::MAX);
    let results = if row.rows <= few && !row.status.is_open() {
        let found = bulk_upload::results(conn, &row.iso_id, &row.bulk_id, None, (0, few))?;
        Some(found.into_iter().map(RowView::new).collect::<Result<Vec<_>>>()?)
    } else {
        None
    };
    Ok(BulkCreated { bulk: BulkView::from(row), results })
}

impl BulkCreated {
    /// Of a dry run, nothing can be found again.
    fn forget_ids(&mut self) {
        self.bulk.bulk_id = None;
        for row in self.results.iter_mut().flatten() {
            (row.merchant_id, row.store_id, row.tpn) = (None, None, None);
        }
    }
}

fn no_such_upload() -> Error {
    Error::not_found("Not found.")
}

/// The ISO's upload of that id. What is no id at all is not looked up.
fn load(conn: &mut dyn Conn, upload_ref: &UploadRef) -> Result<BulkUploadRow> {
    let UploadRef { iso_id, bulk_id } = upload_ref;
    let is_id = bulk_id.bytes().all(|byte| byte.is_ascii_graphic());
    let found = if is_id { bulk_upload::get(conn, iso_id, bulk_id)? } else { None };
    found.ok_or_else(no_such_upload)
}

/// List the uploads, the newest first.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct BulkList {
    /// What `nextCursor` of the page before said.
    cursor: Option<crate::fields::Word>,
    /// How many uploads.
    #[serde(default = "paging::page_default")]
    #[schemars(range(min = 1, max = 100))]
    limit: i64,
}

impl Endpoint<Cx> for BulkList {
    const ROUTE: Route = Route::get("/v1/bulk/onboardings").scope(Scope::BulkWrite);
    type Reply = Page<BulkView>;

    async fn handle(self, cx: &Cx) -> std::result::Result<Answer<Self::Reply>, Failure> {
        let (iso_id, limit) = (cx.caller()?.iso_id().clone(), self.limit);
        let rows = cx.platform.store.list(move |conn| {
            let before = self.cursor.as_ref().map(crate::fields::Word::as_str);
            bulk_upload::list_before(conn, &iso_id, before, limit + 1)
        });
        let rows = rows.await?;
        let found = rows.iter().map(|row| (row.bulk_id.clone(), BulkView::from(row)));
        Ok(Answer::new(Page::of(found.collect(), limit)))
    }
}

/// Show an upload.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BulkGet {
    /// Id of the upload.
    bulk_id: String,
}

impl Endpoint<Cx> for BulkGet {
    const ROUTE: Route = Route::get("/v1/bulk/onboardings/{bulkId}").scope(Scope::BulkWrite);
    type Reply = BulkView;

    async fn handle(self, cx: &Cx) -> std::result::Result<Answer<BulkView>, Failure> {
        let upload_ref = UploadRef { iso_id: cx.caller()?.iso_id().clone(), bulk_id: self.bulk_id };
        let row = cx.platform.store.read(move |conn| load(conn, &upload_ref)).await?;
        Ok(Answer::new(BulkView::from(&row)))
    }
}

/// List what became of the rows of an upload.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BulkResults {
    /// Id of the upload.
    bulk_id: String,
    status: Option<BulkResultStatus>,
    /// What `nextCursor` of the page before said: the number of a row.
    #[serde(default)]
    #[schemars(range(min = 0))]
    cursor: i64,
    /// How many rows.
    #[serde(default = "paging::page_default")]
    #[schemars(range(min = 1, max = 100))]
    limit: i64,
}

impl Endpoint<Cx> for BulkResults {
    const ROUTE: Route =
        Route::get("/v1/bulk/onboardings/{bulkId}/results").scope(Scope::BulkWrite);
    type Reply = Page<RowView>;

    async fn handle(self, cx: &Cx) -> std::result::Result<Answer<Self::Reply>, Failure> {
        let (limit, cursor) = (self.limit, self.cursor);
        let succeeded = self.status.as_ref().map(|status| status.as_str() == SUCCEEDED);
        let upload_ref = UploadRef { iso_id: cx.caller()?.iso_id().clone(), bulk_id: self.bulk_id };
        let results = cx.platform.store.list(move |conn| {
            let row = load(conn, &upload_ref)?;
            let page = (cursor, limit + 1);
            bulk_upload::results(conn, &row.iso_id, &row.bulk_id, succeeded, page)
        });
        let view = |result: BulkResult| Ok((result.row.to_string(), RowView::new(result)?));
        let found = results.await?.into_iter().map(view).collect::<Result<Vec<_>>>()?;
        Ok(Answer::new(Page::of(found, limit)))
    }
}

/// Cancel an upload.
///
/// Rows that were onboarded stay; the others are not tried any more. The same file uploaded again
/// goes on where this one ended.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BulkCancel {
    /// Id of the upload.
    bulk_id: String,
}

impl Endpoint<Cx> for BulkCancel {
    const ROUTE: Route =
        Route::post("/v1/bulk/onboardings/{bulkId}/cancel").scope(Scope::BulkWrite);
    type Reply = BulkView;

    async fn handle(self, cx: &Cx) -> std::result::Result<Answer<BulkView>, Failure> {
        let upload_ref = UploadRef { iso_id: cx.caller()?.iso_id().clone(), bulk_id: self.bulk_id };
        let entry = cx.entry("bulk.cancel", "bulk", &*upload_ref.bulk_id)?;
        let now = cx.now;
        perform(cx, move |conn| {
            let row = load(conn, &upload_ref)?;
            if cancel(conn, &row, now)? {
                audit::append(conn, &entry)?;
            }
            Ok(Answer::new(BulkView::from(&load(conn, &upload_ref)?)))
        })
        .await
    }
}

impl RowView {
    /// A line of a file of results.
    pub(super) fn line(&self) -> Result<String> {
        serde_json::to_value(self)
            .map(|value: Value| value.to_string())
            .map_err(|error| Error::internal("a result cannot be written").because(error))
    }
}
