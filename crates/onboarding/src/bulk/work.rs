//! From rows to onboardings: each row runs through the endpoint of the single call, and what that
//! would store is stored together with others, each row with its result.

use std::collections::HashSet;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use contract::card_data::{self, Policy};
use contract::walk::Sanitizer;
use contract::{Answer, Compiled, Draft, Endpoint, Failure, Issues, Route, Table, entries, walk};
use db::Conn;
use serde_json::Value;
use types::{Error, Kind, Result, Timestamp};

use super::UploadRef;
use super::rows::{ROW_BYTES_MAX, Row};
use crate::dialect::{self, ErrorItem};
use crate::formats::FORMATS;
use crate::onboard::{self, OnboardMerchant, OnboardedIds, Prepared};
use crate::rows::bulk_upload::{self, BulkIds, BulkOutcome, BulkResult};
use crate::{Caller, Code, Cx, Origin, Platform, RequestOptions, text};

/// The endpoint of the single call, which every row goes through.
static ONBOARD: LazyLock<Compiled<RowCx>> = LazyLock::new(|| {
    let table =
        Table::compile(&[entries![OnboardMerchant]], Sanitizer { clean: text::clean }, FORMATS);
    let mut endpoints = table.map(Table::into_endpoints).unwrap_or_default();
    endpoints.pop().unwrap_or_else(|| unreachable!("the table of all endpoints has it, too"))
});

/// The context of a row: as that of a single call, but what the call would insert is left here, to
/// be inserted with others.
struct RowCx {
    cx: Cx,
    prepared: Mutex<Option<Prepared>>,
}

impl contract::Context for RowCx {
    fn card_data_found(&self, paths: &[String]) -> Policy {
        self.cx.card_data_found(paths)
    }
}

impl Endpoint<RowCx> for OnboardMerchant {
    const ROUTE: Route = <Self as Endpoint<Cx>>::ROUTE;
    type Reply = ();

    async fn check(draft: &mut Draft<'_>, row: &RowCx) -> Result<()> {
        onboard::check(draft, &row.cx).await
    }

    async fn handle(self, row: &RowCx) -> std::result::Result<Answer<()>, Failure> {
        let prepared = Prepared::new(self, &row.cx).await?;
        *row.prepared.lock().unwrap_or_else(PoisonError::into_inner) = Some(prepared);
        Ok(Answer::new(()))
    }
}

/// Who onboards, and when.
#[derive(Clone, Debug)]
pub(super) struct RowContext {
    pub(super) platform: Arc<Platform>,
    pub(super) caller: Caller,
    pub(super) origin: Origin,
    pub(super) now: Timestamp,
}

/// Rows that were checked, with the number of the first one.
#[derive(Debug)]
pub(super) struct Chunk {
    first_row: i64,
    rows: Vec<Checked>,
}

impl Chunk {
    /// The number of the row after its last one.
    pub(super) fn next_row(&self) -> i64 {
        self.first_row.saturating_add(i64::try_from(self.rows.len()).unwrap_or(i64::MAX))
    }
}

#[derive(Debug)]
enum Checked {
    /// Can be stored, unless something else has taken its name.
    Ready { prepared: Prepared, body: Row },
    /// A JSON list of errors.
    Refused(String),
}

/// How a transaction stores rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// As if every row that is fine by itself were fine; if one is not, the transaction fails with
    /// [`Kind::Conflict`], and is to be run carefully.
    Optimistic,
    /// Looks everything up before it stores a row, and says what is wrong.
    Careful,
}

impl Mode {
    /// Whether to try again, carefully, after this error.
    pub(super) fn was_too_optimistic(self, error: &Error) -> bool {
        self == Self::Optimistic && error.kind() == Kind::Conflict
    }
}

/// Checks rows, and prepares what they will store, outside of any transaction.
pub(super) async fn check(
    context: &RowContext,
    first_row: i64,
    rows: Vec<Row>,
) -> Result<Arc<Chunk>> {
    let cx = Cx {
        platform: Arc::clone(&context.platform),
        caller: Some(context.caller.clone()),
        device: None,
        administrator: None,
        now: context.now,
        request_options: RequestOptions::default(),
        origin: context.origin.clone(),
    };
    let row_cx = RowCx { cx, prepared: Mutex::default() };
    let mut checked = Vec::with_capacity(rows.len());
    for row in rows {
        checked.push(match read(&row) {
            Ok(params) => match ONBOARD.run(params, &row_cx).await.result {
                Ok(_) => {
                    let mut slot = row_cx.prepared.lock().unwrap_or_else(PoisonError::into_inner);
                    let prepared = slot.take().ok_or_else(|| {
                        Error::internal("an onboarding was not left to be inserted later")
                    })?;
                    Checked::Ready { prepared, body: row }
                }
                Err(Failure::Issues { issues, .. }) => refused(dialect::error_items(&issues))?,
                Err(Failure::Error(error)) => return Err(error),
                Err(Failure::AnsweredAlready) => {
                    return Err(Error::internal("a row without a key was answered already"));
                }
            },
            Err(items) => refused(items)?,
        });
    }
    Ok(Arc::new(Chunk { first_row, rows: checked }))
}

/// The parameters that a row stands for, or what a single call with it would be told.
fn read(row: &Row) -> std::result::Result<Value, Vec<ErrorItem>> {
    let malformed = |message| vec![ErrorItem::new(Code::MalformedRow, "", message)];
    match row {
        Row::Body(text) => {
            dialect::read_object(text.as_bytes()).map(Value::Object).map_err(|item| vec![item])
        }
        Row::CardData(paths) => {
            let item = |path: &String| {
                ErrorItem::new(Code::ProhibitedData, path.as_str(), card_data::MESSAGE)
            };
            Err(paths.iter().map(item).collect())
        }
        Row::TooLong => Err(vec![dialect::too_large(ROW_BYTES_MAX)]),
        Row::NotText => Err(malformed("The row is not valid UTF-8.")),
        Row::Cells => Err(malformed("The row must have one cell per column.")),
    }
}

/// The rows as they may be kept until their turn: of one with card data, only where it has it.
pub(super) fn without_card_data(rows: Vec<Row>, policy: Policy) -> Vec<Row> {
    let without = |row: Row| {
        let Row::Body(text) = &row else { return row };
        let mut paths = Vec::new();
        match dialect::read_object(text.as_bytes()) {
            Ok(body) => card_data::find(&body, &mut |steps| paths.push(walk::path_text(steps))),
            Err(_) if card_data::is_card_data(text) => paths.push(String::new()),
            Err(_) => {}
        }
        if paths.is_empty() { row } else { Row::CardData(paths) }
    };
    match policy {
        Policy::Refuse => rows.into_iter().map(without).collect(),
        Policy::Report => rows,
    }
}

fn refused(errors: Vec<ErrorItem>) -> Result<Checked> {
    errors_text(&errors).map(Checked::Refused)
}

fn errors_text(errors: &[ErrorItem]) -> Result<String> {
    serde_json::to_string(errors)
        .map_err(|error| Error::internal("cannot serialize errors").because(error))
}

/// Stores the rows that have no result yet, with their results, and counts them. Call it in a
/// transaction. False, and nothing is stored, when the upload was ended meanwhile.
pub(super) fn settle(
    conn: &mut dyn Conn,
    upload_ref: &UploadRef,
    chunk: &Chunk,
    mode: Mode,
) -> Result<bool> {
    let UploadRef { iso_id, bulk_id } = upload_ref;
    let upload = bulk_upload::get(conn, iso_id, bulk_id)?;
    if !upload.is_some_and(|upload| upload.status.is_open()) {
        return Ok(false);
    }
    let range = (chunk.first_row, chunk.next_row().saturating_sub(1));
    let known: HashSet<i64> =
        bulk_upload::rows_known(conn, iso_id, bulk_id, range)?.into_iter().collect();
    let is_new = |(row, _): &(i64, &Checked)| !known.contains(row);
    let mut results = Vec::new();
    let mut succeeded = 0;
    for (row, checked) in (chunk.first_row..).zip(&chunk.rows).filter(is_new) {
        let outcome = match checked {
            Checked::Refused(errors) => BulkOutcome::Failed(errors.clone()),
            Checked::Ready { prepared, body } => store_one(conn, prepared, body, mode)?,
        };
        succeeded += i64::from(matches!(outcome, BulkOutcome::Succeeded(_)));
        results.push(BulkResult { row, outcome });
    }
    let counted = i64::try_from(results.len()).unwrap_or(i64::MAX);
    bulk_upload::results_insert(conn, iso_id, bulk_id, &results)?;
    bulk_upload::advance(conn, iso_id, bulk_id, (succeeded, counted - succeeded))?;
    Ok(true)
}

fn store_one(
    conn: &mut dyn Conn,
    prepared: &Prepared,
    body: &Row,
    mode: Mode,
) -> Result<BulkOutcome> {
    if mode == Mode::Careful
        && let Some(mut issues) = prepared.issues(conn)?
    {
        sort(body, &mut issues);
        return errors_text(&dialect::error_items(&issues)).map(BulkOutcome::Failed);
    }
    let OnboardedIds { merchant_id, store_id, tpn } = prepared.insert(conn)?;
    Ok(BulkOutcome::Succeeded(BulkIds { merchant_id, store_id, tpn }))
}

fn sort(body: &Row, issues: &mut Issues) {
    if let Ok(params) = read(body) {
        ONBOARD.sort(params, issues);
    }
}
