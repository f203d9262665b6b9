//! Onboardings that came as a file: the upload, its rows while they wait, and what became of each.
//!
//! **A row's result is its idempotency key**: [`results_insert`] runs in the transaction of the
//! row's onboarding, and a row whose result says that it succeeded is left alone ever after.

use std::sync::LazyLock;

use db::{Conn, Record as _, Row, Val, bulk, named, statements};
use types::{IsoId, MerchantId, Result, StoreId, Timestamp, Tpn};

/// Sorts behind every id of an upload.
const BEHIND_ALL: &str = "~";

named! {
    BulkStatus {
        /// Waits for a worker.
        #[default]
        Queued = "queued",
        Running = "running",
        Done = "done",
        Failed = "failed",
        Cancelled = "cancelled",
    }
}

impl BulkStatus {
    /// Whether there is more to come.
    pub fn is_open(self) -> bool {
        matches!(self, Self::Queued | Self::Running)
    }
}

db::record! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct BulkUploadRow in "bulk_uploads", key(iso_id: IsoId, bulk_id: String) {
        content_index: Vec<u8>,
        /// Who uploaded it, as the audit log has it.
        actor: String,
        job_id: Option<i64>,
        status: BulkStatus,
        rows: i64 as "total_rows",
        succeeded: i64,
        failed: i64,
        /// Why the upload as a whole failed.
        error: Option<String>,
        created: Timestamp,
        finished: Option<Timestamp>,
    }
}

/// What a row made or found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BulkIds {
    pub merchant_id: MerchantId,
    pub store_id: StoreId,
    pub tpn: Tpn,
}

/// What became of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BulkOutcome {
    Succeeded(BulkIds),
    /// A JSON list of errors.
    Failed(String),
}

/// A row by its number, which counts from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BulkResult {
    pub row: i64,
    pub outcome: BulkOutcome,
}

macro_rules! result_select {
    ($condition:literal) => {
        concat!(
            "SELECT row_no, merchant_id, store_id, tpn, errors FROM bulk_results
             WHERE iso_id = $1 AND bulk_id = $2 AND row_no > $3 ",
            $condition,
            " ORDER BY row_no LIMIT $4"
        )
    };
}

macro_rules! result_insert {
    () => {
        "INSERT INTO bulk_results (iso_id, bulk_id, row_no, merchant_id, store_id, tpn, errors)
         VALUES"
    };
}

const RESULT_COLUMNS: usize = 7;

statements! {
    BULK_INSERT = db::insert!(BulkUploadRow);
    BULK_GET = db::select!(BulkUploadRow, "WHERE iso_id = $1 AND bulk_id = $2");
    BULK_BY_CONTENT = db::select!(BulkUploadRow, "WHERE iso_id = $1 AND content_index = $2");
    BULK_LIST = db::select!(
        BulkUploadRow,
        "WHERE iso_id = $1 AND bulk_id < $2 ORDER BY bulk_id DESC LIMIT $3"
    );
    BULK_COUNT_OPEN =
        "SELECT COUNT(*) FROM bulk_uploads
         WHERE iso_id = $1 AND finished_us IS NULL AND status IN ('queued', 'running')";
    BULK_REOPEN =
        "UPDATE bulk_uploads SET
           actor = $1, job_id = $2, status = 'queued', failed = 0, error = NULL, finished_us = NULL
         WHERE iso_id = $3 AND bulk_id = $4";
    BULK_FORGET_FAILED =
        "DELETE FROM bulk_results WHERE iso_id = $1 AND bulk_id = $2 AND errors IS NOT NULL";
    BULK_ADVANCE =
        "UPDATE bulk_uploads SET
           status = 'running', succeeded = succeeded + $1, failed = failed + $2
         WHERE iso_id = $3 AND bulk_id = $4 AND status IN ('queued', 'running')";
    BULK_FINISH =
        "UPDATE bulk_uploads SET status = $1, error = $2, finished_us = $3
         WHERE iso_id = $4 AND bulk_id = $5 AND status IN ('queued', 'running')";
    BULK_CHUNKS_DELETE = "DELETE FROM bulk_chunks WHERE iso_id = $1 AND bulk_id = $2";
    BULK_CHUNK_INSERT =
        "INSERT INTO bulk_chunks (iso_id, bulk_id, first_row, sealed) VALUES ($1, $2, $3, $4)";
    BULK_CHUNK_GET =
        "SELECT sealed FROM bulk_chunks WHERE iso_id = $1 AND bulk_id = $2 AND first_row = $3";
    BULK_RESULT_INSERT = concat!(result_insert!(), " ($1, $2, $3, $4, $5, $6, $7)");
    BULK_RESULTS = result_select!("");
    BULK_RESULTS_SUCCEEDED = result_select!("AND errors IS NULL");
    BULK_RESULTS_FAILED = result_select!("AND errors IS NOT NULL");
    BULK_ROWS_KNOWN =
        "SELECT row_no FROM bulk_results
         WHERE iso_id = $1 AND bulk_id = $2 AND row_no BETWEEN $3 AND $4";
    BULK_EXPIRED =
        "SELECT iso_id, bulk_id FROM bulk_uploads
         WHERE finished_us < $1 AND finished_us IS NOT NULL ORDER BY finished_us LIMIT $2";
    BULK_RESULTS_DELETE = "DELETE FROM bulk_results WHERE iso_id = $1 AND bulk_id = $2";
    BULK_DELETE = "DELETE FROM bulk_uploads WHERE iso_id = $1 AND bulk_id = $2";
}

static RESULT_BATCH: LazyLock<String> =
    LazyLock::new(|| bulk::text(result_insert!(), RESULT_COLUMNS));

pub fn insert(conn: &mut dyn Conn, upload: &BulkUploadRow) -> Result<()> {
    conn.insert(&BULK_INSERT, upload).map(drop)
}

pub fn get(conn: &mut dyn Conn, iso: &IsoId, bulk_id: &str) -> Result<Option<BulkUploadRow>> {
    conn.row(&BULK_GET, &[iso.into(), bulk_id.into()], BulkUploadRow::read)
}

/// The ISO's upload of the same file.
pub fn by_content(conn: &mut dyn Conn, iso: &IsoId, index: &[u8]) -> Result<Option<BulkUploadRow>> {
    conn.row(&BULK_BY_CONTENT, &[iso.into(), index.into()], BulkUploadRow::read)
}

/// The newest uploads that are older than the one of that id.
pub fn list_before(
    conn: &mut dyn Conn,
    iso: &IsoId,
    before: Option<&str>,
    limit: i64,
) -> Result<Vec<BulkUploadRow>> {
    let before = before.unwrap_or(BEHIND_ALL);
    conn.rows(&BULK_LIST, &[iso.into(), before.into(), limit.into()], BulkUploadRow::read)
}

/// How many of the ISO's uploads are not finished.
pub fn count_open(conn: &mut dyn Conn, iso: &IsoId) -> Result<i64> {
    Ok(conn.row(&BULK_COUNT_OPEN, &[iso.into()], |row| row.get(0))?.unwrap_or_default())
}

/// Lets an upload that ended begin again: what succeeded stays, what failed is forgotten.
pub fn reopen(conn: &mut dyn Conn, upload: &BulkUploadRow) -> Result<()> {
    let place = [(&upload.iso_id).into(), (&upload.bulk_id).into()];
    conn.execute(&BULK_FORGET_FAILED, &place)?;
    conn.execute(&BULK_CHUNKS_DELETE, &place)?;
    let [iso, bulk_id] = place;
    let params = [(&upload.actor).into(), upload.job_id.into(), iso, bulk_id];
    conn.execute_one(&BULK_REOPEN, &params)
}

/// Counts rows that were dealt with. False when the upload was ended meanwhile.
pub fn advance(
    conn: &mut dyn Conn,
    iso: &IsoId,
    bulk_id: &str,
    (succeeded, failed): (i64, i64),
) -> Result<bool> {
    let params = [succeeded.into(), failed.into(), iso.into(), bulk_id.into()];
    Ok(conn.execute(&BULK_ADVANCE, &params)? == 1)
}

/// Ends an upload, and removes the rows that still wait. False when it had ended before.
pub fn finish(
    conn: &mut dyn Conn,
    iso: &IsoId,
    bulk_id: &str,
    (status, error): (BulkStatus, Option<&str>),
    now: Timestamp,
) -> Result<bool> {
    let params = [status.into(), error.into(), now.into(), iso.into(), bulk_id.into()];
    let finished = conn.execute(&BULK_FINISH, &params)? == 1;
    conn.execute(&BULK_CHUNKS_DELETE, &[iso.into(), bulk_id.into()])?;
    Ok(finished)
}

pub fn chunk_insert(
    conn: &mut dyn Conn,
    iso: &IsoId,
    bulk_id: &str,
    (first_row, sealed): (i64, &[u8]),
) -> Result<()> {
    let params = [iso.into(), bulk_id.into(), first_row.into(), sealed.into()];
    conn.execute_one(&BULK_CHUNK_INSERT, &params)
}

pub fn chunk(
    conn: &mut dyn Conn,
    iso: &IsoId,
    bulk_id: &str,
    first_row: i64,
) -> Result<Option<Vec<u8>>> {
    let params = [iso.into(), bulk_id.into(), first_row.into()];
    conn.row(&BULK_CHUNK_GET, &params, |row| row.get(0))
}

/// Keeps what became of rows. Call it in the transaction of their onboarding.
pub fn results_insert(
    conn: &mut dyn Conn,
    iso: &IsoId,
    bulk_id: &str,
    results: &[BulkResult],
) -> Result<()> {
    let rows: Vec<_> = results.iter().map(|result| result.values(iso, bulk_id)).collect();
    bulk::insert(conn, (&BULK_RESULT_INSERT, &RESULT_BATCH), &rows)
}

/// Results behind a row, all or only those that succeeded or failed.
pub fn results(
    conn: &mut dyn Conn,
    iso: &IsoId,
    bulk_id: &str,
    succeeded: Option<bool>,
    (after, limit): (i64, i64),
) -> Result<Vec<BulkResult>> {
    let statement = match succeeded {
        None => &BULK_RESULTS,
        Some(true) => &BULK_RESULTS_SUCCEEDED,
        Some(false) => &BULK_RESULTS_FAILED,
    };
    let params = [iso.into(), bulk_id.into(), after.into(), limit.into()];
    conn.rows(statement, &params, BulkResult::read)
}

/// Which rows of the range have a result.
pub fn rows_known(
    conn: &mut dyn Conn,
    iso: &IsoId,
    bulk_id: &str,
    (first, last): (i64, i64),
) -> Result<Vec<i64>> {
    let params = [iso.into(), bulk_id.into(), first.into(), last.into()];
    conn.rows(&BULK_ROWS_KNOWN, &params, |row| row.get(0))
}

/// Deletes up to `limit` uploads that ended before that moment, and returns how many.
pub fn prune(conn: &mut dyn Conn, before: Timestamp, limit: i64) -> Result<usize> {
    let read = |row: &dyn Row| Ok((row.get::<IsoId>(0)?, row.get::<String>(1)?));
    let expired = conn.rows(&BULK_EXPIRED, &[before.into(), limit.into()], read)?;
    for (iso, bulk_id) in &expired {
        for statement in [&BULK_CHUNKS_DELETE, &BULK_RESULTS_DELETE, &BULK_DELETE] {
            conn.execute(statement, &[iso.into(), bulk_id.into()])?;
        }
    }
    Ok(expired.len())
}

impl BulkResult {
    fn values<'a>(&'a self, iso: &'a IsoId, bulk_id: &'a str) -> [Val<'a>; RESULT_COLUMNS] {
        let (ids, errors) = match &self.outcome {
            BulkOutcome::Succeeded(ids) => (Some(ids), None),
            BulkOutcome::Failed(errors) => (None, Some(errors)),
        };
        [
            iso.into(),
            bulk_id.into(),
            self.row.into(),
            ids.map(|ids| &ids.merchant_id).into(),
            ids.map(|ids| &ids.store_id).into(),
            ids.map(|ids| &ids.tpn).into(),
            errors.into(),
        ]
    }

    fn read(row: &dyn Row) -> Result<Self> {
        let outcome = match row.get::<Option<String>>(4)? {
            Some(errors) => BulkOutcome::Failed(errors),
            None => BulkOutcome::Succeeded(BulkIds {
                merchant_id: row.get(1)?,
                store_id: row.get(2)?,
                tpn: row.get(3)?,
            }),
        };
        Ok(Self { row: row.get(0)?, outcome })
    }
}
