//! Files that lie in the storage, and whose rows are still to be written. **They are taken out
//! again unless somebody keeps them.**

use std::fs::File;
use std::io::Read as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use db::Conn;
use site_rows::media::{self, MediaFileRow, MediaRow};
use types::{Error, Result};

use crate::media::sizes::SizedFile;
use crate::media::storage::{FileStorage, Temporary, unavailable};

/// Bytes that are read at once.
const CHUNK_BYTES: usize = 64 * 1024;

/// A file with its smaller forms, in the storage, whose rows are still to be written.
#[derive(Debug)]
pub struct Placed {
    pub(super) storage: Arc<dyn FileStorage>,
    pub file: String,
    pub mime_type: &'static str,
    pub bytes: u64,
    /// Of a picture.
    pub measures: Option<(u32, u32)>,
    pub sizes: Vec<SizedFile>,
    pub(super) files: Vec<MediaFileRow>,
    pub(super) is_kept: AtomicBool,
}

impl Placed {
    /// Writes the rows of an item whose post is there.
    pub fn record(&self, conn: &mut dyn Conn, about: MediaRow) -> Result<MediaRow> {
        let (width, height) = self.measures.unwrap_or_default();
        let row = MediaRow {
            file: self.file.clone(),
            mime_type: self.mime_type.to_owned(),
            bytes: count(self.bytes),
            width: i64::from(width),
            height: i64::from(height),
            sizes: sizes_text(&self.sizes)?,
            ..about
        };
        let files = self.files.iter().map(|file| {
            let post_id = row.post_id;
            MediaFileRow { post_id, ..file.clone() }
        });
        media::insert(conn, &row, &files.collect::<Vec<_>>())?;
        Ok(row)
    }

    /// Writes the rows of the files alone, for something that is no item of the library.
    pub fn record_files(&self, conn: &mut dyn Conn, post_id: i64) -> Result<()> {
        let files = self.files.iter().map(|file| MediaFileRow { post_id, ..file.clone() });
        media::insert_files(conn, &files.collect::<Vec<_>>())
    }

    /// Says that the rows are written for good.
    pub fn keep(&self) {
        self.is_kept.store(true, Ordering::Relaxed);
    }

    /// The files that were put into the storage.
    pub fn files(&self) -> &[MediaFileRow] {
        &self.files
    }

    /// The name without folder and ending: the title of an item that was given none.
    pub fn stem(&self) -> &str {
        let name = self.file.rsplit('/').next().unwrap_or_default();
        name.rsplit_once('.').map_or(name, |(stem, _)| stem)
    }
}

impl Drop for Placed {
    fn drop(&mut self) {
        if self.is_kept.load(Ordering::Relaxed) {
            return;
        }
        for file in &self.files {
            if let Err(error) = self.storage.remove(&file.name) {
                tracing::warn!(error = error.report(), "a file stays until the next sweep");
            }
        }
    }
}

/// The sizes of a picture, as they are kept.
pub fn sizes_text(sizes: &[SizedFile]) -> Result<String> {
    serde_json::to_string(sizes)
        .map_err(|error| Error::internal("sizes are no JSON").because(error))
}

pub(super) fn count(bytes: u64) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}

/// A digest by which browsers know the content.
pub(super) fn tag(content: &Temporary) -> Result<String> {
    let mut file: File = content.open()?;
    let mut hasher = blake3::Hasher::new();
    let mut chunk = vec![0; CHUNK_BYTES];
    loop {
        let read = file.read(&mut chunk).map_err(unavailable)?;
        if read == 0 {
            let hash = hasher.finalize();
            let (start, _) = hash.as_bytes().split_at(16);
            return Ok(data_encoding::HEXLOWER.encode(start));
        }
        hasher.update(chunk.get(..read).unwrap_or_default());
    }
}
