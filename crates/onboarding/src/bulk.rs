//! Bulk onboarding: a file of rows, each of which is one call of `POST /v1/onboardmerchant`.
//!
//! [`rows`] reads JSON lines and CSV; [`work`] runs rows through the very endpoint of the single
//! call and stores many of them in one transaction, each with its result. An upload of few rows is
//! answered with all results; a larger one is sealed, kept and worked on by [`BulkJob`]; the
//! command line works on its file by itself ([`command`]).
//!
//! **No row is onboarded twice.** An upload is known by what is in it, a row by its upload and its
//! number, and the row's result is stored in the transaction of its onboarding. Sending the same
//! file again therefore goes on with it: rows that succeeded stay, the others are tried again.

pub mod command;
mod endpoints;
mod job;
pub mod rows;
mod work;

use db::outbox::{self, Event};
use db::{Conn, background_job};
use serde_json::json;
use std::time::Duration;
use types::{IsoId, Result, Timestamp};

use crate::Platform;
use crate::event_kinds;
use crate::id_source::random_text;
use crate::rows::bulk_upload::{self, BulkStatus, BulkUploadRow};
pub use endpoints::{BulkCancel, BulkCreate, BulkGet, BulkList, BulkResults};
pub use job::BulkJob;

/// Rows of one upload.
pub const ROWS_MAX: usize = 10_000;
/// Bytes of one upload.
pub const FILE_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Uploads of up to so many rows are answered with their results.
pub const ROWS_AT_ONCE_MAX: usize = 25;
/// Rows that are stored in one transaction.
const CHUNK_ROWS: usize = 100;
/// Uploads of one ISO that are not finished.
const OPEN_MAX: i64 = 10;
/// For how long one can look up what became of an upload.
const KEPT: Duration = Duration::from_hours(90 * 24);
/// Uploads forgotten in one transaction: each has thousands of results.
const PRUNED_MAX: i64 = 5;

/// Who works on a file of the command line, as the audit log has it.
const OPERATOR: &str = "system";

/// Which upload.
#[derive(Clone, Debug, PartialEq, Eq)]
struct UploadRef {
    iso_id: IsoId,
    bulk_id: String,
}

/// An id of letters and digits, which sorts by time.
fn new_id(now: Timestamp) -> Result<String> {
    let micros = u64::try_from(now.as_micros()).unwrap_or_default();
    Ok(format!("blk_{micros:014x}{}", random_text(6)?))
}

/// Where the file of that index is, or where to put it if it is new.
async fn upload_ref_of(
    platform: &Platform,
    iso_id: &IsoId,
    index: &[u8],
    now: Timestamp,
) -> Result<UploadRef> {
    let (owner, index) = (iso_id.clone(), index.to_vec());
    let known =
        platform.store.read(move |conn| bulk_upload::by_content(conn, &owner, &index)).await?;
    let bulk_id = known.map_or_else(|| new_id(now), |known| Ok(known.bulk_id))?;
    Ok(UploadRef { iso_id: iso_id.clone(), bulk_id })
}

/// A new upload, of which nothing is done.
fn new_upload(
    upload_ref: &UploadRef,
    content_index: Vec<u8>,
    rows: usize,
    now: Timestamp,
) -> BulkUploadRow {
    BulkUploadRow {
        iso_id: upload_ref.iso_id.clone(),
        bulk_id: upload_ref.bulk_id.clone(),
        content_index,
        actor: OPERATOR.to_owned(),
        job_id: None,
        status: BulkStatus::Queued,
        rows: i64::try_from(rows).unwrap_or(i64::MAX),
        succeeded: 0,
        failed: 0,
        error: None,
        created: now,
        finished: None,
    }
}

/// Ends an upload and tells the ISO. Nothing happens if it had ended before.
fn close(
    conn: &mut dyn Conn,
    upload_ref: &UploadRef,
    (status, error): (BulkStatus, Option<&str>),
    now: Timestamp,
) -> Result<()> {
    let UploadRef { iso_id, bulk_id } = upload_ref;
    if !bulk_upload::finish(conn, iso_id, bulk_id, (status, error), now)? {
        return Ok(());
    }
    let Some(upload) = bulk_upload::get(conn, iso_id, bulk_id)? else { return Ok(()) };
    let kind = match status {
        BulkStatus::Cancelled => event_kinds::BULK_CANCELLED,
        BulkStatus::Failed => event_kinds::BULK_FAILED,
        BulkStatus::Done | BulkStatus::Queued | BulkStatus::Running => event_kinds::BULK_DONE,
    };
    let data = json!({
        "object": "bulk", "id": bulk_id, "status": status.as_str(), "rows": upload.rows,
        "succeeded": upload.succeeded, "failed": upload.failed,
    });
    let event = Event {
        iso_id: Some(iso_id.clone()),
        kind,
        object_id: bulk_id.clone(),
        payload: data.to_string(),
        created: now,
    };
    outbox::append(conn, &event)
}

/// Ends an upload at once, or asks its worker to. False when it has ended already.
fn cancel(conn: &mut dyn Conn, upload: &BulkUploadRow, now: Timestamp) -> Result<bool> {
    if !upload.status.is_open() {
        return Ok(false);
    }
    if let Some(job_id) = upload.job_id
        && background_job::cancel(conn, job_id, now)? == background_job::Cancelled::Asked
    {
        return Ok(true);
    }
    let upload_ref = UploadRef { iso_id: upload.iso_id.clone(), bulk_id: upload.bulk_id.clone() };
    close(conn, &upload_ref, (BulkStatus::Cancelled, None), now)?;
    Ok(true)
}

impl Platform {
    /// Forgets uploads that ended long ago, and returns how many. Call it again until there are
    /// none.
    pub async fn bulk_forget(&self) -> Result<usize> {
        let kept = i64::try_from(KEPT.as_micros()).unwrap_or(i64::MAX);
        let before = Timestamp::from_micros(self.clock.now().as_micros().saturating_sub(kept));
        self.store.write(move |conn| bulk_upload::prune(conn, before, PRUNED_MAX)).await
    }
}
