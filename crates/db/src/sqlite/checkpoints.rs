//! Copies what was committed from the log into the file, beside the writer: in its place, whoever
//! commits when the log has become long would wait for that, and everybody behind them.
//!
//! **Only a log that is copied to its end is begun anew**, which the writer does by itself at its
//! next commit. While it writes without a pause, the last of it is copied between two commits. If
//! that does not succeed for long, the writer copies as well. Nobody ever waits for who reads: as
//! long as somebody reads what was, the log grows.

use std::ffi::c_int;
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use rusqlite::hooks::Wal;
use rusqlite::wal::CheckpointMode;
use rusqlite::{Connection, OpenFlags};
use types::Result;

use super::{connect, failed, spawn};

/// Pages of a log that is worth copying: four megabytes.
const PAGES: c_int = 1_000;
/// Pages of a log to which the writer adds no more before it has copied what it can.
const PAGES_MAX: c_int = 16_000;

/// The thread that copies.
pub(super) struct Checkpoints {
    /// Dropped first, so that the thread ends.
    wake: Option<SyncSender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Checkpoints {
    /// Starts the thread, and lets the writer wake it.
    pub(super) fn start(path: &Path, writer: &mut Connection) -> Result<Self> {
        let own = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        // One more wish than the one that is being fulfilled is as good as many.
        let (wake, wishes) = sync_channel(1);
        let waker = wake.clone();
        let hook = move |log: &mut Wal, pages: c_int| {
            if pages >= PAGES_MAX {
                // What is committed stays so, whatever comes of this.
                let _ = log.checkpoint_v2(CheckpointMode::PASSIVE);
            }
            if pages >= PAGES {
                let _ = waker.try_send(());
            }
            Ok(())
        };
        writer.wal_hook(Some(hook)).map_err(failed)?;
        let thread = spawn("sqlite-log", move || copy(&own, &wishes))?;
        Ok(Self { wake: Some(wake), thread: Some(thread) })
    }

    /// Ends the thread, before the writer tidies up.
    pub(super) fn stop(mut self, writer: &mut Connection) {
        // The hook holds the other end as well.
        let nobody: Option<fn(&mut Wal, c_int) -> rusqlite::Result<()>> = None;
        let _ = writer.wal_hook(nobody);
        drop(self.wake.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn copy(own: &Connection, wishes: &Receiver<()>) {
    let mut has_failed = false;
    while wishes.recv().is_ok() {
        let copied = own.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()));
        if let (Err(error), false) = (&copied, has_failed) {
            let error = error.to_string();
            tracing::warn!(error, "the log of the database was not copied");
        }
        has_failed = copied.is_err();
    }
}
