//! Reads an archive that a stranger made. **Every file is read to its end within bounds, and
//! nothing that an archive says of itself is believed**: sizes are counted, not looked up.

use std::io::{Cursor, Read as _};

use types::{Error, Result};
use zip::{CompressionMethod, ZipArchive};

use super::{ARCHIVE_BYTES_MAX, Files};

/// Files of a package at most.
pub(super) const FILES_MAX: usize = 200;
/// Bytes of one file at most.
pub(super) const FILE_BYTES_MAX: u64 = 2 * 1024 * 1024;
/// Bytes of all files together at most.
pub(super) const FILES_BYTES_MAX: u64 = 16 * 1024 * 1024;
/// Bytes of a path at most.
const PATH_BYTES_MAX: usize = 200;

/// The bits of a file's mode that tell its type, and the type of a plain file.
const MODE_TYPE: u32 = 0o170_000;
const MODE_PLAIN: u32 = 0o100_000;

/// The files of an archive by their paths.
pub(super) fn unzip(archive: &[u8]) -> Result<Files> {
    if archive.len() > ARCHIVE_BYTES_MAX {
        return Err(Error::invalid(format!("a package must not exceed {ARCHIVE_BYTES_MAX} bytes")));
    }
    let broken =
        |error: zip::result::ZipError| Error::invalid("this is not a ZIP archive").because(error);
    let mut archive = ZipArchive::new(Cursor::new(archive)).map_err(broken)?;
    if archive.len() > FILES_MAX {
        return Err(Error::invalid(format!("a package must not have more than {FILES_MAX} files")));
    }
    if archive.has_duplicate_names() {
        return Err(Error::invalid("two files in the package have the same path"));
    }
    let mut files = Files::new();
    let mut left = FILES_BYTES_MAX;
    for index in 0..archive.len() {
        let file = archive.by_index(index).map_err(broken)?;
        let path = file.name().map_err(broken)?.into_owned();
        if file.is_dir() {
            check_path(path.trim_end_matches('/'))?;
            continue;
        }
        check_path(&path)?;
        let mode = file.unix_mode().unwrap_or(MODE_PLAIN) & MODE_TYPE;
        if file.is_symlink() || (mode != MODE_PLAIN && mode != 0) {
            return Err(Error::invalid(format!("{path} is a link; only files are allowed")));
        }
        let method = file.compression();
        if !matches!(method, CompressionMethod::Stored | CompressionMethod::Deflated) {
            return Err(Error::invalid(format!(
                "{path} uses an unsupported compression method; use stored or deflated"
            )));
        }
        let bound = left.min(FILE_BYTES_MAX);
        let mut content = Vec::new();
        // One byte more tells a file that is too large from one that just fits.
        let read = file.take(bound + 1).read_to_end(&mut content);
        let read =
            read.map_err(|error| Error::invalid(format!("cannot unpack {path}")).because(error))?;
        let read = u64::try_from(read).unwrap_or(u64::MAX);
        if read > bound {
            return Err(Error::invalid(format!(
                "{path} is too large: a file must not exceed {FILE_BYTES_MAX} bytes, and all \
                 files together {FILES_BYTES_MAX}"
            )));
        }
        left -= read;
        files.insert(path, content);
    }
    Ok(files)
}

/// Plain names with single slashes between: no way out of the package, on no system.
fn check_path(path: &str) -> Result<()> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let is_name = |name: &str| {
        !name.is_empty() && !name.chars().all(|c| c == '.') && name.chars().all(is_plain)
    };
    if path.len() <= PATH_BYTES_MAX && path.split('/').all(is_name) {
        return Ok(());
    }
    Err(Error::invalid(
        "a path in the package is not allowed; use letters, digits and -_. separated by single \
         slashes",
    ))
}
