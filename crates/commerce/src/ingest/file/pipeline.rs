//! The rows of a file through several threads and out again in their order: one reads, some look
//! at the rows, and the caller takes what they made of them.

use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use types::{Error, Result};

use super::rows::{Row, Rows};

/// Rows that go through together.
const CHUNK_ROWS: usize = 250;
/// Chunks that wait before a thread.
const CHUNKS_WAITING: usize = 2;
/// Chunks that wait after one: two threads have the next batch of orders ready by the time that one
/// is written.
const CHUNKS_READY: usize = 4;
/// Threads that look at rows.
const WORKERS_MAX: usize = 4;

/// Some rows, or what was made of them.
#[derive(Debug)]
pub(super) struct Chunk<T> {
    pub(super) items: Vec<T>,
    /// The line at which the last row begins.
    pub(super) line: u64,
    /// Bytes of the file up to there.
    pub(super) bytes: u64,
}

/// Hands the rows that `wants` their line to `work`, on several threads, and what it makes of them
/// to `take`, in the order of the file, until the file ends or `take` fails.
pub(super) fn run<T: Send>(
    path: &Path,
    wants: &(dyn Fn(u64) -> bool + Sync),
    work: &(dyn Fn(Row) -> T + Sync),
    take: &mut dyn FnMut(Chunk<T>) -> Result<()>,
) -> Result<()> {
    let mut rows = Rows::open(path)?;
    let workers = thread::available_parallelism().map_or(1, usize::from).clamp(1, WORKERS_MAX);
    thread::scope(|scope| {
        let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
        for _ in 0..workers {
            let (input, rows): (SyncSender<Chunk<Row>>, Receiver<_>) = sync_channel(CHUNKS_WAITING);
            let (made, output) = sync_channel(CHUNKS_READY);
            scope.spawn(move || {
                for Chunk { items, line, bytes } in rows {
                    let items = items.into_iter().map(work).collect();
                    if made.send(Chunk { items, line, bytes }).is_err() {
                        break;
                    }
                }
            });
            inputs.push(input);
            outputs.push(output);
        }
        let reading = scope.spawn(move || {
            for input in inputs.iter().cycle() {
                let Some(chunk) = next_chunk(&mut rows, wants)? else { break };
                if input.send(chunk).is_err() {
                    break;
                }
            }
            Ok(())
        });
        let mut taken = Ok(());
        for output in outputs.iter().cycle() {
            // The thread whose turn it is has ended: so has the file.
            let Ok(chunk) = output.recv() else { break };
            taken = take(chunk);
            if taken.is_err() {
                break;
            }
        }
        drop(outputs);
        let read = reading.join().map_err(|_| Error::internal("cannot read the file"))?;
        taken.and(read)
    })
}

fn next_chunk(rows: &mut Rows, wants: &(dyn Fn(u64) -> bool + Sync)) -> Result<Option<Chunk<Row>>> {
    let mut items = Vec::new();
    let mut line = 0;
    while items.len() < CHUNK_ROWS {
        let Some(row) = rows.next()? else { break };
        if wants(row.line) {
            line = row.line;
            items.push(row);
        }
    }
    let bytes = rows.bytes;
    Ok((!items.is_empty()).then_some(Chunk { items, line, bytes }))
}
