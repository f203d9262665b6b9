//! The one who keeps the facts up to date: follows the store's feed of changes on a thread of its
//! own, reads the records that changed, and publishes the next snapshot.
//!
//! At start the facts come from the file of the last run ([`facts::file`](crate::facts)) and the
//! events since then, or, when there is no such file or it does not fit the database, from the
//! records. **An event only says what to read again**, so it does no harm to see one twice, or to
//! read a record that has changed once more since.
//!
//! An event may also ask for facts to be made anew, or to be forgotten ([`import`]).

mod all_orders;
mod catalog;
mod cluster;
mod cluster_target;
mod command;
mod events;
mod fill;
mod follow;
mod import;
mod lease;
mod load;
mod make;
mod rebuild;
mod rechecks;
mod target;
mod update;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use db::{Database, outbox};
use types::Result;

use crate::current::{Command, Facts};
use crate::facts::{Writer, file};

pub use command::{FeedHandle, load, start};
pub use fill::{OnProgress, ROWS_AT_ONCE as CLUSTER_ROWS_AT_ONCE, plant_in_cluster, rebuild};
pub use import::{Portion, ask, ask_to_clear};

use follow::{Follower, Step};

/// How long a change may wait until somebody looks for it.
const PAUSE: Duration = Duration::from_millis(100);
/// A turn that changed much is followed by a pause so many times as long, up to a limit: who writes
/// without end, such as an import, shall not wait for facts that are made again and again.
const PAUSE_FACTOR: u32 = 15;
const PAUSE_MAX: Duration = Duration::from_millis(500);
/// How long to wait after something went wrong.
const PAUSE_AFTER_ERROR: Duration = Duration::from_secs(1);
/// How often the facts are written to their file, if they changed.
const SAVE_EVERY: Duration = Duration::from_mins(10);

/// Writes facts to a file from which a server on this store starts, as if they were made of all
/// that the store holds now. For measuring with more of them than anybody wants to store.
pub fn plant(store: &Database, writer: &mut Writer, path: &Path) -> Result<()> {
    writer.set_position(store.read_blocking(outbox::head)?);
    write_file(store, writer, path)
}

fn write_file(store: &Database, writer: &Writer, path: &Path) -> Result<()> {
    let position = writer.position();
    let mark = store.read_blocking(move |conn| update::mark(conn, position))?;
    file::write(path, writer, mark.as_deref())
}

/// The state of the thread.
#[derive(Debug)]
pub struct Feed {
    facts: Arc<Facts>,
    follower: Follower<Writer>,
    file: Option<PathBuf>,
    saved: Option<(Instant, i64)>,
    /// How often all facts were made anew.
    rebuilds: u64,
}

impl Feed {
    /// Loads the facts and publishes them.
    pub fn open(store: Database, facts: Arc<Facts>, file: Option<PathBuf>) -> Result<Self> {
        let follower = Follower::new(store, Writer::default());
        let mut feed = Self { facts, follower, file, saved: None, rebuilds: 0 };
        if !feed.load()? {
            feed.rebuild()?;
        }
        feed.catch_up()?;
        Ok(feed)
    }

    /// Takes the facts from the file. Returns whether that could be done.
    fn load(&mut self) -> Result<bool> {
        let Some(path) = &self.file else { return Ok(false) };
        let loaded = match file::read(path) {
            Ok(Some(loaded)) => loaded,
            Ok(None) => return Ok(false),
            Err(error) => {
                let error = error.report();
                tracing::warn!(error, "cannot use the fact file; rebuilding it from the records");
                return Ok(false);
            }
        };
        let position = loaded.writer.position();
        let mark = self.follower.store.read_blocking(move |conn| update::mark(conn, position))?;
        if mark != loaded.mark || mark.is_none() {
            tracing::info!("the fact file is out of date; rebuilding it from the records");
            return Ok(false);
        }
        self.follower.target = loaded.writer;
        self.follower.last_download = self.follower.target.last_download();
        // The catalogue is small, and read anew.
        self.follower.read_catalog()?;
        self.saved = Some((Instant::now(), position));
        Ok(true)
    }

    /// Reads the next events and what they tell of. Returns whether there may be more. What it
    /// finds is seen by nobody before [`Feed::publish`].
    fn step(&mut self) -> Result<bool> {
        Ok(match self.follower.step()? {
            Step::Done => false,
            Step::More => true,
            Step::Rebuild => {
                self.rebuild()?;
                true
            }
        })
    }

    /// Shows everybody what is known now.
    fn publish(&mut self) {
        self.facts.publish(self.follower.target.snapshot());
    }

    /// Catches up with the feed and publishes.
    pub fn catch_up(&mut self) -> Result<()> {
        self.follow()?;
        self.publish();
        Ok(())
    }

    /// Follows the feed to its end, or until the server ends.
    fn follow(&mut self) -> Result<()> {
        while self.step()? && !self.facts.is_stopping() {}
        Ok(())
    }

    /// Follows the feed until it is told to stop.
    fn run(mut self, commands: &Receiver<Command>) {
        self.facts.snapshot().find_returning();
        loop {
            let started = Instant::now();
            let pause = match self.turn() {
                Ok(()) => (started.elapsed() * PAUSE_FACTOR).clamp(PAUSE, PAUSE_MAX),
                // Something may be half done, so nothing is saved.
                Err(_) if self.facts.is_stopping() => return,
                Err(error) => {
                    let error = error.report();
                    tracing::warn!(error, "cannot update facts; retrying");
                    PAUSE_AFTER_ERROR
                }
            };
            match commands.recv_timeout(pause) {
                Ok(Command::Stop) | Err(RecvTimeoutError::Disconnected) => break,
                // To look at once is what comes next anyway.
                Ok(Command::Wake) | Err(RecvTimeoutError::Timeout) => {}
            }
        }
        self.save();
    }

    fn turn(&mut self) -> Result<()> {
        let before = self.state();
        self.follow()?;
        if self.state() != before {
            self.publish();
        }
        let is_due = self.saved.is_none_or(|(at, _)| at.elapsed() >= SAVE_EVERY);
        if is_due {
            self.save();
        }
        Ok(())
    }

    /// What tells facts from others.
    fn state(&self) -> (i64, i64, i64, u64) {
        let Follower { target, options, last_download, .. } = &self.follower;
        (target.position(), *options, *last_download, self.rebuilds)
    }

    /// Writes the facts to their file, if they changed since the last time.
    pub fn save(&mut self) {
        if self.follower.is_stale {
            return;
        }
        let position = self.follower.target.position();
        let is_saved = self.saved.is_some_and(|(_, saved)| saved == position);
        self.saved = Some((Instant::now(), position));
        let Some(path) = self.file.as_ref().filter(|_| !is_saved) else { return };
        if let Err(error) = write_file(&self.follower.store, &self.follower.target, path) {
            let error = error.report();
            tracing::warn!(error, "cannot write the fact file");
        }
    }
}
