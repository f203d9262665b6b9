//! A live shop, asked page by page through the third version of its interface:
//! `boardwalk import woocommerce`.
//!
//! What others refer to comes first. **A page is written in one transaction with the note of how
//! far the import came**, with what belongs to its records (variations, terms, refunds), so that an
//! import that was cut goes on with the next page. The shop is asked politely: one request at a
//! time, and after a refusal or a cut connection not before some time has passed.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use frame::outbound::{Fetch, FetchError, Fetched, Method};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use types::{Error, Result, Timestamp};

use super::file::ERRORS_MAX;
pub use super::shop::Shop;
use super::shop::{self, LISTS, List};
use super::{Checked, Importer, Outcome, Record, RecordError, RecordKind, Step};

/// Records of one page: as many as shops give.
const PAGE_ITEMS: usize = 100;
/// Pages of one list.
const PAGES_MAX: u64 = 1_000_000;
/// How often one page is asked for.
const ATTEMPTS_MAX: u32 = 8;
/// The first pause before a page is asked for again; each further one is twice as long.
const PAUSE_MIN: Duration = Duration::from_millis(500);
const PAUSE_MAX: Duration = Duration::from_mins(1);

/// The way to the shop.
pub trait Road {
    fn fetch(&mut self, request: Fetch) -> std::result::Result<Fetched, FetchError>;
    fn pause(&mut self, time: Duration);
    fn now(&self) -> Timestamp;
}

/// How far it is.
#[derive(Clone, Copy, Debug)]
pub struct News {
    pub kind: RecordKind,
    pub page: u64,
    pub pages: u64,
}

/// What became of the shop's records.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Report {
    pub imported: BTreeMap<&'static str, u64>,
    pub present: u64,
    /// The first [`ERRORS_MAX`]; the line is the number of the record.
    #[serde(rename = "faults")]
    pub errors: Vec<LiveError>,
    #[serde(rename = "fault_count")]
    pub error_count: u64,
    pub resumed: bool,
}

/// A record that could not be imported.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LiveError {
    pub record: &'static str,
    pub id: u64,
    pub field: Option<String>,
    pub message: String,
}

/// How far an import is, stored so that it can resume.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Checkpoint {
    list: usize,
    /// The last page that was written.
    page: u64,
}

/// Brings in everything that the shop has. Records that this shop cannot take are told of and left
/// out: the others are no worse for them. With `resume`, an import that was cut goes on. Blocks.
pub fn import(
    importer: &Importer,
    shop: &Shop,
    resume: bool,
    road: &mut dyn Road,
    watch: &mut dyn FnMut(News),
) -> Result<Report> {
    let name = format!("live:{}:{}", importer.source, shop.since.map_or(0, Timestamp::as_micros));
    let reached = if resume { importer.reached(&name)? } else { None };
    let checkpoint = reached.as_ref().and_then(|found| serde_json::from_str(&found.details).ok());
    let mut run = Run {
        importer,
        asker: Asker { shop, road, nonce: 0 },
        watch,
        name,
        report: Report { resumed: checkpoint.is_some(), ..Report::default() },
    };
    let start: Checkpoint = checkpoint.unwrap_or_default();
    for (index, list) in LISTS.iter().enumerate().skip(start.list) {
        let page = if index == start.list { start.page } else { 0 };
        run.list(index, list, page)?;
    }
    run.write(Vec::new(), Checkpoint { list: LISTS.len(), page: 0 })?;
    Ok(run.report)
}

struct Run<'r> {
    importer: &'r Importer,
    asker: Asker<'r>,
    watch: &'r mut dyn FnMut(News),
    name: String,
    report: Report,
}

impl Run<'_> {
    fn list(&mut self, index: usize, list: &List, done: u64) -> Result<()> {
        for page in done + 1..=PAGES_MAX {
            let (items, pages) = match list.kind {
                RecordKind::Category => (shop::from_the_top(self.asker.all(list.path)?), 1),
                _ => self.asker.page(list, page)?,
            };
            let count = items.len();
            let records = self.with_below(list, items)?;
            let checked = self.check(records);
            self.write(checked, Checkpoint { list: index, page })?;
            (self.watch)(News { kind: list.kind, page, pages: pages.max(page) });
            if !list.is_sorted || page >= pages || count == 0 {
                return Ok(());
            }
        }
        Ok(())
    }

    /// The records of a page with what belongs to them.
    fn with_below(&mut self, list: &List, items: Vec<Map<String, Value>>) -> Result<Vec<Record>> {
        let mut records = Vec::new();
        for item in items {
            let id = item.get("id").and_then(Value::as_i64).unwrap_or_default();
            let below = list.below(&item);
            records.push(shop::record(list.kind, item));
            let Some((kind, path)) = below else { continue };
            let inner = self.asker.all(&path)?;
            records.extend(inner.into_iter().map(|body| List::inner(kind, id, body)));
        }
        Ok(records)
    }

    fn check(&mut self, records: Vec<Record>) -> Vec<Checked> {
        let mut checked = Vec::new();
        for record in records {
            let kind = record.kind;
            match self.importer.check(record) {
                Ok(record) => checked.push(record),
                Err(errors) => self.error(kind, errors),
            }
        }
        checked
    }

    fn error(&mut self, kind: RecordKind, errors: Vec<RecordError>) {
        self.report.error_count += u64::try_from(errors.len()).unwrap_or_default();
        let room = ERRORS_MAX.saturating_sub(self.report.errors.len());
        let imported = errors.into_iter().take(room).map(|error| LiveError {
            record: kind.name(),
            id: error.line,
            field: error.field,
            message: error.message,
        });
        self.report.errors.extend(imported);
    }

    fn write(&mut self, records: Vec<Checked>, checkpoint: Checkpoint) -> Result<()> {
        let kind = records.first().map_or(RecordKind::Order, Checked::kind);
        let done = i64::try_from(checkpoint.page).unwrap_or(i64::MAX);
        let details = json!(checkpoint).to_string();
        let step = Step { name: self.name.clone(), done, details };
        let Outcome { written, present, errors, .. } = self.importer.write(records, Some(step))?;
        for (kind, count) in written {
            *self.report.imported.entry(kind.name()).or_default() += count;
        }
        self.report.present += present;
        self.error(kind, errors);
        Ok(())
    }
}

/// Asks the shop.
struct Asker<'r> {
    shop: &'r Shop,
    road: &'r mut dyn Road,
    /// Numbers the requests, so that no two signatures are the same.
    nonce: u64,
}

impl Asker<'_> {
    /// A page of a list, and how many there are.
    fn page(&mut self, list: &List, page: u64) -> Result<(Vec<Map<String, Value>>, u64)> {
        let mut query = format!("per_page={PAGE_ITEMS}&page={page}");
        if list.is_sorted {
            query.push_str("&orderby=id&order=asc");
        }
        if let Some(since) = self.shop.since.filter(|_| list.tells_changes) {
            let since = frame::dates::written(since);
            let _ = write!(query, "&modified_after={since}&dates_are_gmt=true");
        }
        let answer = self.ask(list.path, &query)?;
        let pages = answer.header("x-wp-totalpages").and_then(|text| text.parse().ok());
        Ok((items(&answer)?, pages.unwrap_or(1)))
    }

    /// A list below a record, whole.
    fn all(&mut self, path: &str) -> Result<Vec<Map<String, Value>>> {
        let mut all = Vec::new();
        for page in 1..=PAGES_MAX {
            let answer = self.ask(path, &format!("per_page={PAGE_ITEMS}&page={page}"))?;
            let found = items(&answer)?;
            let is_last = found.len() < PAGE_ITEMS;
            all.extend(found);
            if is_last {
                break;
            }
        }
        Ok(all)
    }

    fn ask(&mut self, path: &str, query: &str) -> Result<Fetched> {
        let mut pause = PAUSE_MIN;
        let mut attempt = 1;
        loop {
            let request = self.request(path, query)?;
            let (why, wait) = match self.road.fetch(request) {
                Ok(answer) if answer.status == 200 => return Ok(answer),
                Ok(answer) if answer.status == 429 || answer.status >= 500 => {
                    let after = answer.header("retry-after").and_then(|text| text.parse().ok());
                    (format!("HTTP status {}", answer.status), after.map(Duration::from_secs))
                }
                Ok(answer) => return Err(refused(path, &answer)),
                Err(
                    error @ (FetchError::Unreachable
                    | FetchError::TimedOut
                    | FetchError::BadAnswer
                    | FetchError::NoSuchHost),
                ) => (error.to_string(), None),
                Err(error) => {
                    return Err(Error::invalid(format!("cannot connect to the store: {error}")));
                }
            };
            if attempt == ATTEMPTS_MAX {
                return Err(Error::unavailable(format!(
                    "the store did not return {path} in {ATTEMPTS_MAX} attempts ({why}); continue \
                     later with --resume"
                )));
            }
            self.road.pause(wait.unwrap_or(pause).min(PAUSE_MAX));
            pause = (pause * 2).min(PAUSE_MAX);
            attempt += 1;
        }
    }

    fn request(&mut self, path: &str, query: &str) -> Result<Fetch> {
        self.nonce += 1;
        let path = format!("wc/v3/{path}");
        self.shop.request(Method::Get, &path, query, (self.nonce, self.road.now()))
    }
}

fn refused(path: &str, answer: &Fetched) -> Error {
    let body: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
    let message = body.get("message").and_then(Value::as_str).unwrap_or("no reason given");
    Error::invalid(format!(
        "the store rejected {path} with {}: {message}; check the URL and the consumer key",
        answer.status
    ))
}

fn items(answer: &Fetched) -> Result<Vec<Map<String, Value>>> {
    let wrong = || Error::invalid("the store's response is not a list of records");
    let list: Vec<Map<String, Value>> =
        serde_json::from_slice(&answer.body).map_err(|error| wrong().because(error))?;
    Ok(list)
}
