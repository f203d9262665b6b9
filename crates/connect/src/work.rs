//! A connection that is being worked on: its row, the store, its copy, and how far the work is.
//!
//! Records are written to the copy first, and then how far that is to the environment's database.
//! **What was cut in between is done again, which changes nothing.**

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use commerce::ingest::{BATCH_MAX, ImportPolicy, Importer, Outcome, Record, RecordKind};
use contract::rest::Verb;
use db::{Conn, fact, outbox};
use frame::Options;
use onboarding::rows::connection::{self, ConnectionRow, ConnectionStatus};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use site_rows::{post, user};
use types::{Error, Result, Timestamp};

use crate::source::{Code, Source, Trouble};
use crate::stores::{OpenStore, READER_ID, Stores};

/// For how long a connection is held without a sign of life: what a process that was killed worked
/// on is taken up again after that.
pub(crate) const LEASE: Duration = Duration::from_secs(15);
/// Records of one question to the copy.
const PAGE: usize = 100;
/// Events that get their numbers together.
const EVENTS_AT_ONCE: i64 = 10_000;
/// Records that could not be copied, of which the cursor tells.
const SKIPPED_MAX: usize = 100;
/// Letters of why one could not be copied.
const REASON_MAX: usize = 300;
/// After so long another connection gets its turn. What a turn began it goes on with in the next.
const TURN_MAX: Duration = Duration::from_secs(30);
/// A comparison of everything that helped nothing is not repeated so soon.
const VAIN_PAUSE: Duration = Duration::from_hours(1);
/// The fact of a copy that says which one it is.
const MARK: &str = "connection.copy";

/// Why the work on a connection does not go on.
#[derive(Debug)]
pub(crate) enum Halt {
    /// Somebody changed the connection, or holds it now.
    Lost,
    /// Others wait for their turn.
    TurnOver,
    Trouble(Trouble),
}

impl From<Trouble> for Halt {
    fn from(trouble: Trouble) -> Self {
        Self::Trouble(trouble)
    }
}

impl From<Error> for Halt {
    fn from(error: Error) -> Self {
        Self::Trouble(error.into())
    }
}

/// Which part of the work is next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Stage {
    #[default]
    Settings,
    Lists,
    Orders,
    Live,
}

/// How far the work is.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Cursor {
    pub(crate) stage: Stage,
    /// Which copy this tells of: the copy has the same mark.
    pub(crate) mark: Option<String>,
    /// Records that the first copy has so far.
    pub(crate) records: i64,
    /// A look for what changed that is not done.
    pub(crate) look: Option<Look>,
    /// A comparison with the store that is not done.
    pub(crate) comparison: Option<Comparison>,
    /// The list that is copied, and how many of its records were.
    pub(crate) list: usize,
    pub(crate) offset: i64,
    /// Orders are copied backwards: all that were created at this time or later are here, but for
    /// the first `offset` before it.
    pub(crate) before: Option<String>,
    /// Records of a page, if the store could not give as many as are wanted.
    pub(crate) size: Option<u32>,
    /// By the store's clock: what changed before this is here.
    pub(crate) since: Option<i64>,
    /// What the store could not give, or what is not fit for a copy.
    pub(crate) skipped: Vec<Skipped>,
    /// The store's webhooks that tell us of changes.
    pub(crate) webhooks: Vec<i64>,
    /// Whether anything changed since the sums by day were made, and when that was.
    pub(crate) days_stale: bool,
    pub(crate) days_at: Option<i64>,
    /// The store's day, and the sums by day, that alerts were last looked for in.
    pub(crate) alerts_seen: Option<(i64, i64)>,
    /// The version of the connection with which the store refused webhooks, so that it is not
    /// asked for them again.
    pub(crate) webhooks_refused: Option<i64>,
    /// By our clock: when the store was last asked for what changed, and when it was last looked at
    /// for what no change tells.
    pub(crate) polled: Option<i64>,
    /// The version of the connection then: whoever changes it wants the store to be looked at.
    pub(crate) version: i64,
    pub(crate) checked: Option<i64>,
    /// How far the store's clock was ahead of ours then.
    pub(crate) ahead: i64,
    /// Looks in a row that found fewer, or older, records there than here.
    pub(crate) suspicions: u32,
    /// When a comparison because of that ended, and when one did that helped nothing.
    pub(crate) compared: Option<i64>,
    pub(crate) vain: Option<i64>,
}

impl Cursor {
    pub(crate) fn of(row: &ConnectionRow) -> Self {
        serde_json::from_str(&row.cursor).unwrap_or_default()
    }
}

/// How far a look for what changed is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Look {
    /// By our clock: when it began.
    pub(crate) asked: i64,
    /// Parts that are done.
    pub(crate) step: usize,
}

/// How far a comparison with the store is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Comparison {
    /// Whether every order is looked at, instead of those of months whose sums differ.
    pub(crate) every: bool,
    /// Parts that are done, and of the orders, the time until which they are.
    pub(crate) step: usize,
    #[serde(default)]
    pub(crate) until: String,
    /// Records that differed so far.
    pub(crate) differed: i64,
    /// Turns in which the store could not give what was asked for.
    pub(crate) failures: i64,
}

/// A record that is not in the copy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Skipped {
    pub(crate) kind: String,
    pub(crate) id: i64,
    pub(crate) reason: String,
}

/// A connection that is being worked on.
#[derive(Debug)]
pub(crate) struct Work {
    pub(crate) stores: Arc<Stores>,
    pub(crate) row: ConnectionRow,
    pub(crate) cursor: Cursor,
    pub(crate) counts: BTreeMap<String, i64>,
    pub(crate) source: Arc<Source>,
    pub(crate) store: Arc<OpenStore>,
    /// Lists of terms that were read as a whole in this turn.
    pub(crate) has_read: HashSet<&'static str>,
    /// Records that webhooks told of since the last comparison began.
    pub(crate) heard_of: HashSet<(RecordKind, i64)>,
    started: Instant,
}

impl Work {
    pub(crate) fn new(
        stores: Arc<Stores>,
        row: ConnectionRow,
        (source, store): (Source, Arc<OpenStore>),
    ) -> Self {
        let cursor = Cursor::of(&row);
        let counts = serde_json::from_str(&row.counts).unwrap_or_default();
        let (source, started) = (Arc::new(source), Instant::now());
        let (has_read, heard_of) = (HashSet::new(), HashSet::new());
        Self { stores, row, cursor, counts, source, store, has_read, heard_of, started }
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.stores.platform.clock.now()
    }

    /// Records of a page.
    pub(crate) fn size(&self) -> u32 {
        self.cursor.size.unwrap_or(self.stores.settings.page_items).clamp(1, 100)
    }

    /// Whether a comparison of everything is not going to tell more than the last one.
    pub(crate) fn is_in_vain(&self) -> bool {
        self.is_recent(self.cursor.vain)
    }

    /// Whether it was less than [`VAIN_PAUSE`] ago.
    pub(crate) fn is_recent(&self, at: Option<i64>) -> bool {
        at.is_some_and(|at| self.now().since(Timestamp::from_micros(at)) < VAIN_PAUSE)
    }

    /// Notes how far the work is, and holds on to the connection.
    pub(crate) async fn save(&mut self) -> std::result::Result<(), Halt> {
        self.row.cursor = json!(self.cursor).to_string();
        self.row.counts = json!(self.counts).to_string();
        let (row, until) = (self.row.clone(), self.now().plus(LEASE));
        let save = move |conn: &mut dyn Conn| connection::progress(conn, &row, until);
        if self.stores.platform.store.write(save).await? { Ok(()) } else { Err(Halt::Lost) }
    }

    /// Notes how far the work is, and lets others have their turn after a while.
    pub(crate) async fn save_in_turn(&mut self) -> std::result::Result<(), Halt> {
        self.save().await?;
        if self.is_turn_over() { Err(Halt::TurnOver) } else { Ok(()) }
    }

    pub(crate) fn is_turn_over(&self) -> bool {
        self.started.elapsed() >= TURN_MAX
    }

    /// Gives the copy a mark that no other copy has.
    pub(crate) async fn mark_copy(&mut self) -> std::result::Result<(), Halt> {
        let mark = format!("{}-{}", self.row.lease, self.now().as_micros());
        self.cursor.mark = Some(mark.clone());
        let put = move |conn: &mut dyn Conn| fact::put(conn, MARK, &mark);
        Ok(self.store.site.store().write(put).await?)
    }

    /// Starts again if the copy is not the one that the cursor tells of, such as after its file was
    /// deleted or the environment's database was restored. The store keeps its webhooks.
    pub(crate) async fn check_copy(&mut self) -> std::result::Result<(), Halt> {
        if self.cursor.stage == Stage::Settings {
            return Ok(());
        }
        let mark = self.store.site.store().read(|conn| fact::get(conn, MARK)).await?;
        if mark.is_some() && mark == self.cursor.mark {
            return Ok(());
        }
        tracing::info!(connection = self.row.connection_id, "the copy of a store is made again");
        self.cursor = Cursor {
            ahead: self.cursor.ahead,
            webhooks: std::mem::take(&mut self.cursor.webhooks),
            // What another copy has and the store has not is found by comparing the two.
            comparison: mark.map(|_| Comparison::default()),
            ..Cursor::default()
        };
        self.counts.clear();
        self.save().await
    }

    pub(crate) fn set_status(&mut self, status: ConnectionStatus) {
        self.row.status = status;
    }

    pub(crate) fn skip(&mut self, kind: RecordKind, id: i64, reason: &str) {
        let reason = reason.chars().take(REASON_MAX).collect();
        let skipped = Skipped { kind: kind.name().to_owned(), id, reason };
        if !self.cursor.skipped.contains(&skipped) && self.cursor.skipped.len() < SKIPPED_MAX {
            self.cursor.skipped.push(skipped);
        }
        self.count_skipped();
    }

    fn count_skipped(&mut self) {
        let count = i64::try_from(self.cursor.skipped.len()).unwrap_or(i64::MAX);
        self.counts.insert(String::from("skipped"), count);
    }

    /// Notes that these records are not missing after all.
    pub(crate) fn unskip(&mut self, kind: RecordKind, ids: &HashSet<i64>) {
        let before = self.cursor.skipped.len();
        self.cursor.skipped.retain(|one| one.kind != kind.name() || !ids.contains(&one.id));
        if self.cursor.skipped.len() != before {
            self.count_skipped();
        }
    }

    /// Writes records to the copy. Those that are not fit for it are noted.
    pub(crate) async fn write(&mut self, records: Vec<Record>) -> std::result::Result<(), Halt> {
        if records.is_empty() {
            return Ok(());
        }
        if self.cursor.stage != Stage::Live {
            self.cursor.records += i64::try_from(records.len()).unwrap_or(i64::MAX);
            self.check_size(self.cursor.records)?;
        }
        let (site, name) = (Arc::clone(&self.store.site), self.row.connection_id.clone());
        let kind = records.first().map_or(RecordKind::Order, |record| record.kind);
        // What comes now was not skipped after all.
        let given: HashSet<i64> =
            records.iter().filter_map(|record| i64::try_from(record.line).ok()).collect();
        self.unskip(kind, &given);
        // Those of the copy's own are not the store's to write.
        let mut records = records;
        if kind == RecordKind::Customer {
            records.retain(|record| i64::try_from(record.line).is_ok_and(|id| id < READER_ID));
        }
        let written = self.blocking(move || {
            let policy = ImportPolicy { skip_bad: true, replace: true, same_ids: true };
            let importer = Importer::new(site, &name, policy)?;
            let mut all = Outcome::default();
            let mut records = records.into_iter().peekable();
            while records.peek().is_some() {
                all.add(importer.ingest(records.by_ref().take(BATCH_MAX))?);
                all.errors.truncate(SKIPPED_MAX);
            }
            Ok(all)
        });
        for error in written.await?.errors {
            let field = error.field.map(|field| format!("{field}: ")).unwrap_or_default();
            let id = i64::try_from(error.line).unwrap_or_default();
            self.skip(kind, id, &format!("{field}{}", error.message));
        }
        self.number_events().await
    }

    /// Whether a copy may have so many records.
    pub(crate) fn check_size(&self, records: i64) -> std::result::Result<(), Halt> {
        if records > i64::from(self.stores.settings.records_max) {
            return Err(Trouble::new(Code::TooManyRecords).into());
        }
        Ok(())
    }

    /// Deletes records of the copy.
    pub(crate) async fn delete(
        &mut self,
        kind: RecordKind,
        paths: Vec<String>,
    ) -> std::result::Result<(), Halt> {
        if paths.is_empty() {
            return Ok(());
        }
        tracing::debug!(kind = kind.name(), count = paths.len(), "records are deleted from a copy");
        let (site, now) = (Arc::clone(&self.store.site), self.now());
        let namespace = site.settings().names.commerce_v3.clone();
        let deleting = self.store.site.store().write(move |conn| {
            let visit = site.visit_of_import(Options::read(conn)?, now);
            for path in &paths {
                let path = format!("/{namespace}/{path}");
                let mut body = Map::from_iter([(String::from("force"), json!(true))]);
                if path.contains("/customers/") {
                    body.insert(String::from("reassign"), json!(0));
                }
                // What is not there needs not be deleted.
                let _ = site.import(conn, &visit, Verb::Delete, (&path, body))?;
            }
            Ok(())
        });
        deleting.await?;
        self.number_events().await
    }

    /// Those of the numbers that the copy does not know.
    pub(crate) async fn unknown(&self, kind: RecordKind, ids: HashSet<i64>) -> Result<Vec<i64>> {
        let mut ids: Vec<i64> = ids.into_iter().filter(|id| *id > 0).collect();
        ids.sort_unstable();
        let find = move |conn: &mut dyn Conn| {
            let mut unknown = ids.clone();
            if kind == RecordKind::Customer {
                let mut missing = Vec::new();
                for id in &ids {
                    if user::get(conn, *id)?.is_none() {
                        missing.push(*id);
                    }
                }
                return Ok(missing);
            }
            let taken = post::taken_ids(conn, &ids)?;
            unknown.retain(|id| !taken.contains(id));
            Ok(unknown)
        };
        self.store.site.store().read(find).await
    }

    /// A path as the copy has it: interfaces may have other names here than at the store.
    fn path_here(&self, path: &str) -> String {
        let names = &self.store.site.settings().names;
        let path = path.trim_start_matches('/');
        for (theirs, ours) in [("wc/v3/", &names.commerce_v3), ("wc-analytics/", &names.analytics)]
        {
            if let Some(below) = path.strip_prefix(theirs) {
                return format!("/{ours}/{below}");
            }
        }
        format!("/{path}")
    }

    /// What the copy answers to a question that is asked as the store is asked, and how many
    /// records there are of what it lists.
    pub(crate) async fn ask(&self, path: &str) -> Result<(Option<i64>, Value)> {
        let (site, path) = (&self.store.site, &*self.path_here(path));
        let options = site.store().read(Options::read).await?;
        let visit = Arc::new(site.visit_of_import(options, self.now()));
        let reply = site.ask_as(&visit, (Verb::Get, path), None).await;
        let (status, headers, body) = reply.into_json();
        if status >= 400 {
            return Err(Error::internal(format!("a copy answers {path} with {status}: {body}")));
        }
        let total = headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("x-wp-total"));
        Ok((total.and_then(|(_, total)| total.parse().ok()), body))
    }

    /// A page of a list of the copy.
    pub(crate) async fn page_here(
        &self,
        question: &str,
        offset: usize,
    ) -> Result<Vec<Map<String, Value>>> {
        let mark = if question.contains('?') { '&' } else { '?' };
        let page = format!("/{question}{mark}per_page={PAGE}&offset={offset}");
        let (_, answer) = self.ask(&page).await?;
        let items = answer.as_array().map(Vec::as_slice).unwrap_or_default();
        Ok(items.iter().filter_map(Value::as_object).cloned().collect())
    }

    /// A whole list of the copy.
    pub(crate) async fn list_here(&self, question: &str) -> Result<Vec<Map<String, Value>>> {
        let mut all: Vec<Map<String, Value>> = Vec::new();
        loop {
            let items = self.page_here(question, all.len()).await?;
            // Some lists have no pages.
            let is_again = all.first().is_some_and(|first| items.first() == Some(first));
            let is_last = is_again || items.len() < PAGE;
            all.extend(items.into_iter().filter(|_| !is_again));
            if is_last {
                return Ok(all);
            }
        }
    }

    /// Gives the events of what was written their numbers, so that reports follow.
    async fn number_events(&mut self) -> std::result::Result<(), Halt> {
        self.cursor.days_stale = true;
        let database = self.store.site.store();
        while database.read(outbox::has_unsequenced).await? {
            database.write_in_turn(|conn| outbox::sequence(conn, EVENTS_AT_ONCE)).await?;
        }
        self.store.facts.wake();
        Ok(())
    }

    /// Does what blocks.
    async fn blocking<T: Send + 'static>(
        &self,
        run: impl FnOnce() -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let ended = tokio::task::spawn_blocking(run).await;
        ended.map_err(|error| Error::internal("a part of a copy failed").because(error))?
    }

    /// Changes options of the copy.
    pub(crate) async fn set_options(
        &mut self,
        settings: Vec<(String, Value)>,
        options: Vec<(&'static str, Value)>,
    ) -> std::result::Result<(), Halt> {
        let (site, now) = (Arc::clone(&self.store.site), self.now());
        let namespace = site.settings().names.commerce_v3.clone();
        let writing = self.store.site.store().write(move |conn| {
            for (name, value) in &options {
                frame::options::set(conn, name, value)?;
            }
            let visit = site.visit_of_import(Options::read(conn)?, now);
            for (path, value) in &settings {
                let path = format!("/{namespace}/settings/{path}");
                let body = Map::from_iter([(String::from("value"), value.clone())]);
                // A setting that is not known here has no meaning here.
                conn.nested(&mut |conn| {
                    Ok(site.import(conn, &visit, Verb::Put, (&path, body.clone()))?.is_ok())
                })?;
            }
            Ok(())
        });
        writing.await?;
        self.store.site.note_write();
        self.number_events().await
    }
}
