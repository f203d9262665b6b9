//! Large uploads in the background: rows are opened, onboarded and counted a chunk at a time.

use std::sync::Arc;

use db::Conn;
use db::background_job::{JobRow, JobState};
use frame::Site;
use frame::jobs::{Halt, JobCx, JobKind, Limits, Progress, Running};
use futures_util::future;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use types::{Error, IsoId, Result, Timestamp};
use vault::{Aad, DataKey};

use super::rows::Row;
use super::work::{self, Chunk, Mode, RowContext};
use super::{CHUNK_ROWS, UploadRef};
use crate::rows::bulk_upload::{self, BulkStatus, BulkUploadRow};
use crate::{Origin, Platform};

/// What its jobs are called in the store.
pub(super) const KIND: &str = "bulk.onboard";

/// A large file may well see several restarts, each of which is an attempt.
const ATTEMPTS_MAX: i64 = 25;

/// What a job is to do.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Task {
    pub(super) iso_id: IsoId,
    pub(super) bulk_id: String,
    /// Id of the upload's request, for the audit log.
    pub(super) request: String,
}

impl Task {
    fn upload_ref(&self) -> UploadRef {
        UploadRef { iso_id: self.iso_id.clone(), bulk_id: self.bulk_id.clone() }
    }
}

/// Seals the rows of an upload, a chunk at a time, each with the number of its first row.
pub(super) fn seal(data_key: &DataKey, bulk_id: &str, rows: &[Row]) -> Result<Vec<(i64, Vec<u8>)>> {
    let mut first_row = 1;
    let mut sealed = Vec::new();
    for chunk in rows.chunks(CHUNK_ROWS) {
        let plain = serde_json::to_vec(chunk)
            .map_err(|error| Error::internal("cannot serialize rows").because(error))?;
        let plain = types::Secret::new(plain);
        let column = column(first_row);
        let aad = Aad { kind: "bulk", id: bulk_id, column: &column };
        sealed.push((first_row, data_key.seal(&aad, plain.expose())?));
        first_row += i64::try_from(chunk.len()).unwrap_or(i64::MAX);
    }
    Ok(sealed)
}

fn column(first_row: i64) -> String {
    format!("rows from {first_row}")
}

fn open(data_key: &DataKey, bulk_id: &str, first_row: i64, sealed: &[u8]) -> Result<Vec<Row>> {
    let column = column(first_row);
    let plain = data_key.open(&Aad { kind: "bulk", id: bulk_id, column: &column }, sealed)?;
    serde_json::from_slice(plain.expose())
        .map_err(|error| Error::internal("cannot read stored rows").because(error))
}

/// Works on uploads.
#[derive(Debug)]
pub struct BulkJob {
    platform: Arc<Platform>,
}

impl BulkJob {
    pub fn new(platform: Arc<Platform>) -> Self {
        Self { platform }
    }

    async fn work(&self, cx: &JobCx) -> Result<Value, Halt> {
        let task: Task = cx.arguments()?;
        let upload_ref = task.upload_ref();
        let upload = self.upload(&upload_ref).await?;
        let origin = Origin { request_id: task.request, address: None };
        let caller = self.platform.caller_before(&upload_ref.iso_id, &upload.actor).await?;
        let checked = |first_row: i64| {
            let (platform, now) = (Arc::clone(&self.platform), cx.now());
            let context =
                RowContext { platform, caller: caller.clone(), origin: origin.clone(), now };
            let upload_ref = &upload_ref;
            async move {
                if first_row > upload.rows {
                    return Ok(None);
                }
                let rows = self.rows(upload_ref, context.caller.data_key(), first_row).await?;
                work::check(&context, first_row, rows).await.map(Some)
            }
        };
        let mut current = checked(cx.checkpoint()?.unwrap_or(1)).await?;
        while let Some(chunk) = current {
            cx.check()?;
            let next = chunk.next_row();
            let progress = Progress { done: next - 1, total: Some(upload.rows) };
            // One processor checks rows while another stores those before them.
            let storing = store(cx, progress, &upload_ref, &chunk);
            let (is_open, following) = future::join(storing, checked(next)).await;
            if !is_open? {
                return Err(Halt::Failed(Error::invalid("the upload was ended")));
            }
            current = following?;
        }
        let upload = self.upload(&upload_ref).await?;
        Ok(json!({ "succeeded": upload.succeeded, "failed": upload.failed }))
    }

    async fn upload(&self, upload_ref: &UploadRef) -> Result<BulkUploadRow> {
        let upload_ref = upload_ref.clone();
        let found = self
            .platform
            .store
            .read(move |conn| bulk_upload::get(conn, &upload_ref.iso_id, &upload_ref.bulk_id));
        found.await?.ok_or_else(|| Error::not_found("the upload no longer exists"))
    }

    async fn rows(
        &self,
        upload_ref: &UploadRef,
        data_key: &DataKey,
        first_row: i64,
    ) -> Result<Vec<Row>> {
        let owner = upload_ref.clone();
        let sealed = self
            .platform
            .store
            .read(move |conn| bulk_upload::chunk(conn, &owner.iso_id, &owner.bulk_id, first_row));
        let missing = || Error::not_found("the rows of the upload no longer exist");
        let rows =
            open(data_key, &upload_ref.bulk_id, first_row, &sealed.await?.ok_or_else(missing)?)?;
        if rows.is_empty() { Err(missing()) } else { Ok(rows) }
    }
}

/// Stores a chunk with the mark that it is done. False when the upload was ended meanwhile.
async fn store(
    cx: &JobCx,
    progress: Progress,
    upload_ref: &UploadRef,
    chunk: &Arc<Chunk>,
) -> Result<bool, Halt> {
    let next = chunk.next_row();
    let mut mode = Mode::Optimistic;
    loop {
        let (upload_ref, chunk) = (upload_ref.clone(), Arc::clone(chunk));
        let changes = move |conn: &mut dyn Conn| work::settle(conn, &upload_ref, &chunk, mode);
        match cx.step(progress, &next, changes).await {
            Err(Halt::Retry(error)) if mode.was_too_optimistic(&error) => mode = Mode::Careful,
            stored => return stored,
        }
    }
}

impl JobKind for BulkJob {
    fn name(&self) -> &'static str {
        KIND
    }

    fn run<'a>(&'a self, cx: &'a JobCx) -> Running<'a> {
        Box::pin(self.work(cx))
    }

    fn ended(&self, _: &Site, conn: &mut dyn Conn, ended: &JobRow) -> Result<()> {
        let Ok(task) = serde_json::from_str::<Task>(&ended.arguments) else { return Ok(()) };
        let status = match ended.state {
            JobState::Done => BulkStatus::Done,
            JobState::Cancelled => BulkStatus::Cancelled,
            JobState::Failed => BulkStatus::Failed,
            JobState::Queued | JobState::Running => return Ok(()),
        };
        let at: Timestamp = ended.finished.unwrap_or(ended.created);
        super::close(conn, &task.upload_ref(), (status, ended.error.as_deref()), at)
    }

    fn limits(&self) -> Limits {
        Limits { attempts: ATTEMPTS_MAX, ..Limits::USUAL }
    }

    /// The ISO is told of its upload, and nobody else.
    fn is_told(&self) -> bool {
        false
    }
}
