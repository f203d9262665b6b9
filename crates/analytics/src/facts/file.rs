//! The file of the facts, by which a server that starts again need not read all records.
//!
//! Chunks lie one after the other, then a table with all else: dictionaries, positions, and the
//! length and checksum of each chunk; the last bytes say where the table begins and check it.
//! Chunks are read by as many threads as there are cores. **A file is written beside its extent and
//! renamed into it**, so it is whole or absent; one with a wrong byte anywhere, or of another
//! version, is refused, and costs no more than reading the records.

use std::fs::{self, File, OpenOptions};
use std::io::{BufWriter, Read, Seek, SeekFrom, Write};
use std::num::NonZero;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::sync::Arc;
use std::thread;

use types::{Error, Result};

use super::bytes::{Decoder, Encoder};
use super::chunk::Chunk;
use super::fact::{LineFact, OrderFact};
use super::writer::Writer;

/// The version of the format.
const FORMAT: &str = "boardwalk facts 3";
/// Bytes that a file begins with.
const MAGIC_LENGTH: usize = 16;
/// Where the table begins, how long it is, and its checksum.
const TRAILER: usize = 8 + 8 + 32;
/// Bytes of a file, so that a damaged length asks for no more.
const FILE_MAX: u64 = 1 << 40;
/// Threads that read chunks.
const THREADS_MAX: usize = 8;

/// What a file of this format and these columns begins with.
fn magic() -> [u8; MAGIC_LENGTH] {
    let mut hasher = blake3::Hasher::new();
    for name in [FORMAT].iter().chain(OrderFact::COLUMNS).chain(LineFact::COLUMNS) {
        hasher.update(name.as_bytes()).update(b"\n");
    }
    let mut magic = [0; MAGIC_LENGTH];
    hasher.finalize_xof().fill(&mut magic);
    magic
}

/// What a file held.
#[derive(Debug)]
pub(crate) struct Loaded {
    pub(crate) writer: Writer,
    /// What tells the event at the writer's position from any other.
    pub(crate) mark: Option<String>,
}

/// Where a chunk lies in the file.
#[derive(Clone, Copy, Debug)]
struct ChunkExtent {
    start: u64,
    len: u64,
    hash: [u8; 32],
}

pub(crate) fn write(path: &Path, writer: &Writer, mark: Option<&str>) -> Result<()> {
    let failed = |error| Error::internal("cannot write the fact file").because(error);
    let beside = path.with_extension("new");
    write_to(&beside, writer, mark).map_err(failed)?;
    fs::rename(&beside, path).map_err(failed)?;
    if let Some(folder) = path.parent() {
        File::open(folder).and_then(|folder| folder.sync_all()).map_err(failed)?;
    }
    Ok(())
}

fn write_to(path: &Path, writer: &Writer, mark: Option<&str>) -> std::io::Result<()> {
    let mut file = BufWriter::with_capacity(1 << 20, new_file(path)?);
    file.write_all(&magic())?;
    let mut start = length(MAGIC_LENGTH);
    let mut extents = Vec::new();
    for chunk in writer.chunks() {
        let mut encoder = Encoder::default();
        chunk.encode(&mut encoder);
        let bytes = encoder.finish();
        let (len, hash) = (length(bytes.len()), *blake3::hash(&bytes).as_bytes());
        file.write_all(&bytes)?;
        extents.push(ChunkExtent { start, len, hash });
        start += len;
    }
    let mut encoder = Encoder::default();
    encoder.text(mark.unwrap_or_default());
    encoder.length(extents.len());
    for extent in &extents {
        encoder.number(i64::try_from(extent.len).unwrap_or(i64::MAX));
        encoder.raw(&extent.hash);
    }
    writer.encode(&mut encoder);
    let table = encoder.finish();
    file.write_all(&table)?;
    file.write_all(&start.to_le_bytes())?;
    file.write_all(&length(table.len()).to_le_bytes())?;
    file.write_all(blake3::hash(&table).as_bytes())?;
    file.flush()?;
    file.get_ref().sync_all()
}

/// A file for its owner only, as the database is. One that a cut-off attempt left behind goes: it
/// may be for others, too.
fn new_file(path: &Path) -> std::io::Result<File> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
        _ => OpenOptions::new().write(true).create_new(true).mode(0o600).open(path),
    }
}

/// What the file holds; none when there is no file.
pub(crate) fn read(path: &Path) -> Result<Option<Loaded>> {
    let mut file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(damaged().because(error)),
    };
    let (table, table_start) = read_table(&mut file)?;
    let mut decoder = Decoder::new(&table);
    let head = (|| {
        let mark = decoder.text()?;
        let mut start = length(MAGIC_LENGTH);
        let count = decoder.length()?;
        let mut extents = Vec::new();
        for _ in 0..count {
            let len = u64::try_from(decoder.number()?).ok()?;
            let hash = decoder.raw(32)?.try_into().ok()?;
            extents.push(ChunkExtent { start, len, hash });
            start = start.checked_add(len)?;
        }
        (start == table_start).then_some((mark, extents))
    })();
    let (mark, extents) = head.ok_or_else(damaged)?;
    let chunks = read_chunks(path, &extents)?;
    let writer = Writer::decode(&mut decoder, chunks).ok_or_else(damaged)?;
    if !decoder.is_empty() {
        return Err(damaged());
    }
    Ok(Some(Loaded { writer, mark: Some(mark).filter(|mark| !mark.is_empty()) }))
}

fn read_table(file: &mut File) -> Result<(Vec<u8>, u64)> {
    let mut read = || -> std::io::Result<Option<(Vec<u8>, u64)>> {
        let total = file.metadata()?.len();
        let Some(end) = total.checked_sub(length(TRAILER)).filter(|_| total < FILE_MAX) else {
            return Ok(None);
        };
        let mut first = [0; MAGIC_LENGTH];
        file.read_exact(&mut first)?;
        let mut trailer = [0; TRAILER];
        file.seek(SeekFrom::Start(end))?;
        file.read_exact(&mut trailer)?;
        let (start, rest) = trailer.split_at(8);
        let (len, hash) = rest.split_at(8);
        let number = |bytes: &[u8]| bytes.try_into().map_or(u64::MAX, u64::from_le_bytes);
        let (start, len) = (number(start), number(len));
        if first != magic() || start.checked_add(len) != Some(end) {
            return Ok(None);
        }
        let mut table = vec![0; usize::try_from(len).unwrap_or_default()];
        file.seek(SeekFrom::Start(start))?;
        file.read_exact(&mut table)?;
        let is_right = blake3::hash(&table).as_bytes().as_slice() == hash;
        Ok(is_right.then_some((table, start)))
    };
    read().map_err(|error| damaged().because(error))?.ok_or_else(damaged)
}

/// Reads the chunks, each thread a run of them.
fn read_chunks(path: &Path, extents: &[ChunkExtent]) -> Result<Vec<Arc<Chunk>>> {
    let cores = thread::available_parallelism().map_or(1, NonZero::get).min(THREADS_MAX);
    let run = extents.len().div_ceil(cores).max(1);
    thread::scope(|scope| {
        let readers: Vec<_> = extents
            .chunks(run)
            .map(|extents| scope.spawn(move || read_run(path, extents)))
            .collect();
        let mut chunks = Vec::with_capacity(extents.len());
        for reader in readers {
            match reader.join() {
                Ok(read) => chunks.extend(read?),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        Ok(chunks)
    })
}

fn read_run(path: &Path, extents: &[ChunkExtent]) -> Result<Vec<Arc<Chunk>>> {
    let unread = |error| damaged().because(error);
    let mut file = File::open(path).map_err(unread)?;
    let first = extents.first().map(|extent| extent.start).unwrap_or_default();
    file.seek(SeekFrom::Start(first)).map_err(unread)?;
    let mut bytes = Vec::new();
    let mut chunks = Vec::with_capacity(extents.len());
    for extent in extents {
        bytes.clear();
        let read = (&file).take(extent.len).read_to_end(&mut bytes).map_err(unread)?;
        if length(read) != extent.len || *blake3::hash(&bytes).as_bytes() != extent.hash {
            return Err(damaged());
        }
        let mut decoder = Decoder::new(&bytes);
        let chunk =
            Chunk::decode(&mut decoder).filter(|_| decoder.is_empty()).ok_or_else(damaged)?;
        chunks.push(Arc::new(chunk));
    }
    Ok(chunks)
}

fn length(len: usize) -> u64 {
    u64::try_from(len).unwrap_or(u64::MAX)
}

fn damaged() -> Error {
    Error::internal("the fact file is damaged or has another version")
}
