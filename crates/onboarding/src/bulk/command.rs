//! Bulk onboarding of a file from the command line: the same work as for an upload, without keeping
//! the rows, since the file itself is at hand.

use std::fs::File;
use std::io::{BufReader, Read as _, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use db::Conn;
use types::{Error, IsoId, Result};

use super::endpoints::RowView;
use super::rows::{FILES, Format, Row, Rows};
use super::work::{self, Mode, RowContext};
use super::{CHUNK_ROWS, OPERATOR, UploadRef, close, new_upload, upload_ref_of};
use crate::rows::bulk_upload::{self, BulkStatus};
use crate::{Origin, Platform};

/// Bytes of a file that are read at once.
const BUFFER_BYTES: usize = 64 * 1024;

/// A file of rows on the disk.
#[derive(Clone, Debug)]
pub struct RowFile {
    path: PathBuf,
    format: Format,
    /// How many rows it has.
    pub rows: usize,
    digest: String,
}

/// What became of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Totals {
    pub bulk_id: String,
    pub rows: i64,
    pub succeeded: i64,
    pub failed: i64,
}

impl RowFile {
    /// What the interface calls the format.
    pub fn media_type(&self) -> &'static str {
        let kind = FILES.iter().find(|kind| kind.name == self.format.name());
        kind.and_then(|kind| kind.media_types.first()).copied().unwrap_or_default()
    }

    /// Reads the file once to know what is in it. Its name tells the format.
    pub fn open(path: &Path) -> Result<Self> {
        let extension = path.extension().and_then(|extension| extension.to_str());
        let format = match extension.map(str::to_ascii_lowercase).as_deref() {
            Some("csv") => Format::Csv,
            Some("jsonl" | "ndjson") => Format::JsonLines,
            _ => {
                return Err(Error::invalid("the file name must end in .jsonl, .ndjson or .csv"));
            }
        };
        let mut hasher = blake3::Hasher::new();
        let mut file = reader(path)?;
        let mut buffer = vec![0; BUFFER_BYTES];
        loop {
            let length = file.read(&mut buffer).map_err(|error| unreadable(path, error))?;
            match buffer.get(..length) {
                Some([]) | None => break,
                Some(bytes) => hasher.update(bytes),
            };
        }
        let digest = hasher.finalize().to_hex().to_string();
        let mut source = Rows::new(format, reader(path)?)?;
        let mut rows = 0;
        while source.next_row()?.is_some() {
            rows += 1;
        }
        Ok(Self { path: path.to_owned(), format, rows, digest })
    }
}

fn reader(path: &Path) -> Result<BufReader<File>> {
    let file = File::open(path).map_err(|error| unreadable(path, error))?;
    Ok(BufReader::with_capacity(BUFFER_BYTES, file))
}

fn unreadable(path: &Path, error: std::io::Error) -> Error {
    Error::invalid(format!("cannot read {}", path.display())).because(error)
}

/// Onboards the rows of the file in the name of the ISO. Every result is written as a line of JSON;
/// `progress` gets the number of rows that are done. With `resume`, a file that was begun before is
/// gone on with: rows that succeeded stay, the others are tried again.
pub async fn onboard(
    platform: &Arc<Platform>,
    iso_id: &IsoId,
    file: &RowFile,
    resume: bool,
    results: &mut dyn Write,
    progress: &dyn Fn(u64),
) -> Result<Totals> {
    let caller = platform.caller_before(iso_id, OPERATOR).await?;
    let upload_ref = begin(platform, iso_id, file, resume).await?;
    let origin = Origin { request_id: upload_ref.bulk_id.clone(), address: None };
    let mut source = Rows::new(file.format, reader(&file.path)?)?;
    let mut first_row = 1;
    loop {
        let rows = next_rows(&mut source)?;
        if rows.is_empty() {
            break;
        }
        let length = i64::try_from(rows.len()).unwrap_or(i64::MAX);
        let (platform, now) = (Arc::clone(platform), platform.clock.now());
        let context = RowContext { platform, caller: caller.clone(), origin: origin.clone(), now };
        let chunk = work::check(&context, first_row, rows).await?;
        let mut mode = Mode::Optimistic;
        let is_open = loop {
            let (upload_ref, chunk) = (upload_ref.clone(), Arc::clone(&chunk));
            let settle = move |conn: &mut dyn Conn| work::settle(conn, &upload_ref, &chunk, mode);
            match context.platform.store.write(settle).await {
                Err(error) if mode.was_too_optimistic(&error) => mode = Mode::Careful,
                stored => break stored?,
            }
        };
        if !is_open {
            return Err(Error::invalid("the upload was cancelled; add --resume to continue"));
        }
        write_results(&context.platform, &upload_ref, (first_row, length), results).await?;
        first_row += length;
        progress(u64::try_from(first_row - 1).unwrap_or_default());
    }
    finish(platform, &upload_ref).await
}

fn next_rows(source: &mut Rows<BufReader<File>>) -> Result<Vec<Row>> {
    let mut rows = Vec::with_capacity(CHUNK_ROWS);
    while rows.len() < CHUNK_ROWS
        && let Some(row) = source.next_row()?
    {
        rows.push(row);
    }
    Ok(rows)
}

/// Notes that the file is being onboarded.
async fn begin(
    platform: &Platform,
    iso_id: &IsoId,
    file: &RowFile,
    resume: bool,
) -> Result<UploadRef> {
    let index = platform.vault.blind_index(iso_id, "bulk file", &file.digest).to_vec();
    let now = platform.clock.now();
    let upload_ref = upload_ref_of(platform, iso_id, &index, now).await?;
    let row = new_upload(&upload_ref, index, file.rows, now);
    let begin = move |conn: &mut dyn Conn| match bulk_upload::get(conn, &row.iso_id, &row.bulk_id)?
    {
        None => bulk_upload::insert(conn, &row),
        Some(known) if resume => bulk_upload::reopen(conn, &known),
        Some(known) => Err(Error::invalid(format!(
            "this file was started before, and {} of its {} rows were onboarded; add --resume \
             to continue",
            known.succeeded, known.rows
        ))),
    };
    platform.store.write(begin).await?;
    Ok(upload_ref)
}

async fn write_results(
    platform: &Platform,
    upload_ref: &UploadRef,
    (first_row, length): (i64, i64),
    results: &mut dyn Write,
) -> Result<()> {
    let upload_ref = upload_ref.clone();
    let page = (first_row - 1, length);
    let found = platform.store.read(move |conn| {
        bulk_upload::results(conn, &upload_ref.iso_id, &upload_ref.bulk_id, None, page)
    });
    for result in found.await? {
        let line = RowView::new(result)?.line()?;
        writeln!(results, "{line}").map_err(|error| {
            Error::unavailable("the results cannot be written; add --resume after fixing that")
                .because(error)
        })?;
    }
    Ok(())
}

async fn finish(platform: &Platform, upload_ref: &UploadRef) -> Result<Totals> {
    let (upload_ref, now) = (upload_ref.clone(), platform.clock.now());
    let finish = move |conn: &mut dyn Conn| {
        close(conn, &upload_ref, (BulkStatus::Done, None), now)?;
        bulk_upload::get(conn, &upload_ref.iso_id, &upload_ref.bulk_id)
    };
    let row = platform.store.write(finish).await?;
    let row = row.ok_or_else(|| Error::internal("the upload no longer exists"))?;
    Ok(Totals {
        bulk_id: row.bulk_id,
        rows: row.rows,
        succeeded: row.succeeded,
        failed: row.failed,
    })
}
