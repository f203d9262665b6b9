//! The one who keeps the facts up to date: follows the store's feed of changes on a thread of its
//! own, reads the records that changed, and publishes the next snapshot.
//!
//! At start the facts come from the file of the last run ([`facts::file`](crate::facts)) and the
//! events since then, or, when there is no such file or it does not fit the database, from the
//! records. **An event only says what to read again**, so it does no harm to see one twice, or to
//! read a record that has changed once more since.
//!
//! An event may also ask for facts to be made anew, or to be forgotten ([`import`]).

mod command;
mod import;
mod load;
mod rebuild;
mod update;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use db::{Database, outbox};
use types::Result;

use crate::facts::{Command, Facts, Writer, file};
use crate::record::Rules;

pub use command::{FeedHandle, start};
pub use import::{Portion, ask, ask_to_clear};

use load::Change;
use update::{Decisions, Update};

/// How long a change may wait until somebody looks for it.
const PAUSE: Duration = Duration::from_millis(100);
/// A turn that changed much is followed by a pause so many times as long, up to a limit: who writes
/// without end, such as an import, shall not wait for facts that are made again and again.
const PAUSE_FACTOR: u32 = 15;
const PAUSE_MAX: Duration = Duration::from_millis(500);
/// How long to wait after something went wrong.
const PAUSE_AFTER_ERROR: Duration = Duration::from_secs(1);
/// Events that are read together.
const EVENTS_AT_ONCE: i64 = 2_000;
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
    store: Database,
    facts: Arc<Facts>,
    writer: Writer,
    file: Option<PathBuf>,
    /// The version of the options that the writer knows.
    options: i64,
    /// By which the writer's facts were made; nothing until there are any.
    rules: Option<Rules>,
    last_download: i64,
    saved: Option<(Instant, i64)>,
}

impl Feed {
    /// Loads the facts and publishes them.
    pub fn open(store: Database, facts: Arc<Facts>, file: Option<PathBuf>) -> Result<Self> {
        let writer = Writer::default();
        let (options, rules, last_download, saved) = (-1, None, 0, None);
        let mut feed = Self { store, facts, writer, file, options, rules, last_download, saved };
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
        let mark = self.store.read_blocking(move |conn| update::mark(conn, position))?;
        if mark != loaded.mark || mark.is_none() {
            tracing::info!("the fact file is out of date; rebuilding it from the records");
            return Ok(false);
        }
        self.writer = loaded.writer;
        self.last_download = self.writer.last_download();
        // The catalogue is small, and read anew.
        self.read_catalog()?;
        self.saved = Some((Instant::now(), position));
        Ok(true)
    }

    /// Gives numbers to the events that wait for theirs. The records are read after that, so nobody
    /// needs to read them once more because of events that come with a number later: after a large
    /// import those tell of every record.
    fn number_events(&self) -> Result<()> {
        while !self.facts.is_stopping() && self.store.read_blocking(outbox::has_unsequenced)? {
            self.store.write_blocking(|conn| outbox::sequence(conn, EVENTS_AT_ONCE))?;
        }
        Ok(())
    }

    fn read_catalog(&mut self) -> Result<()> {
        let (catalog, products) = self
            .store
            .read_blocking(|conn| Ok((load::catalog(conn)?, load::all_categories(conn)?)))?;
        *self.writer.catalog_mut() = catalog;
        for (product_id, categories) in products {
            self.writer.catalog_mut().put(product_id, categories);
        }
        Ok(())
    }

    /// Reads the next events and what they tell of. Returns whether there may be more. What it
    /// finds is seen by nobody before [`Feed::publish`].
    fn step(&mut self) -> Result<bool> {
        let (position, options, download) =
            (self.writer.position(), self.options, self.last_download);
        let update = self.store.read_blocking(move |conn| {
            Update::read(conn, position, EVENTS_AT_ONCE, options, download)
        })?;
        let Some(update) = update else {
            tracing::warn!(position, "events are missing; rebuilding facts from the records");
            self.rebuild()?;
            return Ok(true);
        };
        let has_more = update.position > position;
        self.apply(update)?;
        Ok(has_more)
    }

    fn apply(&mut self, update: Update) -> Result<()> {
        let mut is_new_site = update.is_new_site;
        if let Some(Decisions { version, excluded, rules }) = update.options {
            self.options = version;
            self.writer.set_excluded(excluded);
            // A file of facts is not read unless it was made by the rules of now.
            is_new_site |= *self.rules.get_or_insert(rules) != rules;
        }
        if update.is_cleared {
            self.clear();
        }
        let Change { deleted, facts } = update.change;
        let new_customers = self.writer.new_customers(&facts);
        if !deleted.is_empty() {
            self.writer.apply(&deleted, &facts);
            self.writer.replace_downloads(&deleted, update.downloads_again);
        }
        self.number_again(&update.customers, &new_customers, &deleted)?;
        if update.is_new_catalog {
            self.read_catalog()?;
        }
        for (product_id, categories) in update.categories {
            self.writer.catalog_mut().put(product_id, categories);
        }
        if let Some(last) = update.downloads.last() {
            self.last_download = last.log_id;
            self.writer.add_downloads(update.downloads);
        }
        for portion in update.portions {
            self.make(portion)?;
        }
        self.writer.set_position(update.position);
        if is_new_site {
            self.rebuild()?;
        }
        Ok(())
    }

    /// Reads the orders of these customers again: who registers, goes or has another address takes
    /// over the orders of a guest, or leaves theirs to one. Somebody who is new may have orders
    /// that were nobody's until now. Those that were just `read` are known already.
    fn number_again(
        &mut self,
        customers: &BTreeSet<i64>,
        new: &BTreeSet<i64>,
        read: &BTreeSet<i64>,
    ) -> Result<()> {
        let mut orders = self.writer.orders_of(customers);
        if self.writer.has_nobodys_orders() {
            let named = customers | new;
            let named = self.store.read_blocking(move |conn| load::orders_naming(conn, &named))?;
            // Only those that are among the facts: what was cleared stays so.
            let (named, nobodys) = (&named - read, BTreeSet::from([0]));
            if !named.is_empty() {
                orders.extend(&named & &self.writer.orders_of(&nobodys));
            }
        }
        if orders.is_empty() {
            return Ok(());
        }
        let change = self.store.read_blocking(move |conn| load::orders(conn, &orders))?;
        self.writer.apply(&change.deleted, &change.facts);
        Ok(())
    }

    /// Shows everybody what is known now.
    fn publish(&mut self) {
        self.facts.publish(self.writer.snapshot());
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
        let before = (self.writer.position(), self.options, self.last_download);
        self.follow()?;
        let is_changed = before != (self.writer.position(), self.options, self.last_download);
        if is_changed {
            self.publish();
        }
        let is_due = self.saved.is_none_or(|(at, _)| at.elapsed() >= SAVE_EVERY);
        if is_due {
            self.save();
        }
        Ok(())
    }

    /// Writes the facts to their file, if they changed since the last time.
    pub fn save(&mut self) {
        let position = self.writer.position();
        let is_saved = self.saved.is_some_and(|(_, saved)| saved == position);
        self.saved = Some((Instant::now(), position));
        let Some(path) = self.file.as_ref().filter(|_| !is_saved) else { return };
        if let Err(error) = write_file(&self.store, &self.writer, path) {
            let error = error.report();
            tracing::warn!(error, "cannot write the fact file");
        }
    }
}
