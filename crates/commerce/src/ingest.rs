//! Bulk import of records from another shop; demo data uses it, too.
//!
//! A [`Record`] is a kind and a body with the fields that the interface shows for it. It is checked
//! by the schemas of the interface, then written with others in one large transaction.
//!
//! - **A record's fields are kept**, including those that a client cannot write: dates, order
//!   totals, product sales, coupon uses. Missing fields are calculated. Importing has no side
//!   effects: an imported order takes nothing from the stock.
//! - **An id is kept if it is free.** Otherwise the record gets the next free id, and its original
//!   id is remembered for the [source](Importer::new), so that references to it are resolved. A
//!   record that already exists (the same e-mail address of a customer, the same coupon code, the
//!   same order key…) is skipped, or updated if [`ImportPolicy::replace`] is set. A reference to
//!   something that was never imported stays as it is.
//! - **Every record appends its event in the transaction of its batch**: `order.imported`,
//!   `refund.imported`, `product.imported`, `customer.imported`, `coupon.imported`,
//!   `term.imported`, `attribute.imported`, `tax_rate.imported`, `review.imported`; and
//!   `….updated` for updated records. Payloads are those of `….created`. Webhooks fire on
//!   `….created` only, so imports do not fire them. A bundle appends a single event
//!   `site.imported`, upon which followers of the feed read everything again.
//!
//! [`Importer::check`] needs no database and may run on several threads; [`Importer::write`] is
//! one transaction.

pub mod file;
mod kinds;
pub mod live;
mod orders;
mod others;
pub mod shop;

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use contract::rest::Refusal;
use contract::rest::refusal::Data;
use db::{Conn, bulk};
use frame::{Options, Site, Visit};
use serde_json::{Map, Value};
use shop_rows::import::{self, Progress};
use types::{Result, Timestamp};

pub use self::kinds::RecordKind;
use crate::orders::history::{ImportedOrder, Reader};

/// Records that one call of [`Importer::write`] takes at most.
pub const BATCH_MAX: usize = 10_000;

/// A record of another shop.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    pub kind: RecordKind,
    pub body: Map<String, Value>,
    /// Where it stands in what is being imported, for people: the number of its line.
    pub line: u64,
}

impl Record {
    /// A record that stands nowhere in particular. A body that is no object has no fields.
    pub fn new(kind: RecordKind, body: Value) -> Self {
        let body = match body {
            Value::Object(body) => body,
            _ => Map::new(),
        };
        Self { kind, body, line: 0 }
    }
}

/// A record whose fields are fine.
#[derive(Debug)]
pub struct Checked {
    line: u64,
    content: Content,
}

#[derive(Debug)]
enum Content {
    Order(Box<ImportedOrder>),
    Refund(Box<ImportedOrder>),
    Other(RecordKind, Map<String, Value>),
}

impl Checked {
    pub fn kind(&self) -> RecordKind {
        match &self.content {
            Content::Order(_) => RecordKind::Order,
            Content::Refund(_) => RecordKind::Refund,
            Content::Other(kind, _) => *kind,
        }
    }
}

/// An error in a record.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct RecordError {
    pub line: u64,
    /// The field, if it is about one.
    pub field: Option<String>,
    pub message: String,
}

/// How records that cannot simply be inserted are handled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ImportPolicy {
    /// Skip records with errors. Otherwise one of them rolls back its whole batch.
    pub skip_bad: bool,
    /// Update existing records.
    pub replace: bool,
    /// All records are of one shop, and nothing else is here: a record with the same number is the
    /// same record, whatever else has changed.
    pub same_ids: bool,
}

/// The import's progress after a batch.
#[derive(Clone, Debug)]
pub struct Step {
    /// Name of the import.
    pub name: String,
    pub done: i64,
    /// A JSON object.
    pub details: String,
}

/// The result of a batch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Records that were added, or replaced, by their kind.
    pub written: BTreeMap<RecordKind, u64>,
    /// Records that were there already and left alone.
    pub present: u64,
    pub errors: Vec<RecordError>,
    /// Whether the batch was undone because of its errors.
    pub undone: bool,
}

/// Brings records in.
#[derive(Debug)]
pub struct Importer {
    site: Arc<Site>,
    source: String,
    manner: ImportPolicy,
    reader: Reader,
}

impl Importer {
    /// `source` names where the records come from, such as the address of a shop: numbers that
    /// could not be kept are remembered for it. Blocks.
    pub fn new(site: Arc<Site>, source: &str, manner: ImportPolicy) -> Result<Self> {
        let options = site.store().read_blocking(Options::read)?;
        let reader = Reader::new(options, site.clock().now())?;
        Ok(Self { source: source.to_owned(), manner, reader, site })
    }

    /// Checks the fields of a record. Of several things that are wrong, all are told.
    pub fn check(&self, record: Record) -> std::result::Result<Checked, Vec<RecordError>> {
        let Record { kind, body, line } = record;
        let is_order = matches!(kind, RecordKind::Order | RecordKind::Refund);
        let prohibited = is_order.then(|| self.site.guard_record(kind.name(), &body)).flatten();
        if let Some(refusal) = prohibited {
            return Err(errors(line, &refusal));
        }
        let imported = match kind {
            RecordKind::Order => {
                self.reader.order(body).map(|imported| Content::Order(Box::new(imported)))
            }
            RecordKind::Refund => {
                self.reader.refund(body).map(|imported| Content::Refund(Box::new(imported)))
            }
            kind => others::check(&self.site, kind, body).map(|body| Content::Other(kind, body)),
        };
        match imported {
            Ok(content) => Ok(Checked { line, content }),
            Err(refusal) => Err(errors(line, &refusal)),
        }
    }

    /// Writes the records, and notes how far the import has come, in one transaction: first what
    /// others refer to, then orders, refunds, and what refers to them. Blocks.
    pub fn write(&self, records: Vec<Checked>, step: Option<Step>) -> Result<Outcome> {
        let (site, source, manner) = (Arc::clone(&self.site), self.source.clone(), self.manner);
        let now = self.site.clock().now();
        let attempted = self.site.store().attempt_blocking(move |conn| {
            let options = Options::read(conn)?;
            let visit = site.visit_of_import(options, now);
            let mut batch = Batch {
                site: &site,
                visit: &visit,
                source: &source,
                manner,
                now,
                outcome: Outcome::default(),
            };
            batch.write(conn, &records)?;
            let mut outcome = batch.outcome;
            outcome.undone = !manner.skip_bad && !outcome.errors.is_empty();
            if outcome.undone {
                outcome.written.clear();
                return Ok(Err(outcome));
            }
            if let Some(step) = &step {
                let Step { name, done, details } = step;
                let progress = Progress { done: *done, details: details.clone(), updated: now };
                import::put_progress(conn, name, &progress)?;
            }
            Ok(Ok(outcome))
        })?;
        Ok(attempted.unwrap_or_else(|undone| undone))
    }

    /// How far the import of this name came, if it was ever begun. Blocks.
    pub fn reached(&self, name: &str) -> Result<Option<Progress>> {
        let name = name.to_owned();
        self.site.store().read_blocking(move |conn| import::progress(conn, &name))
    }

    /// Those of the orders that are here, by the numbers that they had. Blocks.
    fn known_orders(&self, ids: Vec<i64>) -> Result<HashSet<i64>> {
        let source = self.source.clone();
        self.site.store().read_blocking(move |conn| orders::known(conn, &source, &ids))
    }

    /// Lets the database hold more of itself while very many records come, or no longer. Blocks.
    fn make_room(&self, is_wanted: bool) -> Result<()> {
        self.site.store().write_blocking(move |conn| bulk::make_room(conn, is_wanted))
    }

    /// Checks and writes records, [`BATCH_MAX`] at a time, until one batch is undone.
    pub fn ingest(&self, records: impl IntoIterator<Item = Record>) -> Result<Outcome> {
        let mut all = Outcome::default();
        let mut records = records.into_iter().peekable();
        while records.peek().is_some() && !all.undone {
            let mut checked = Vec::new();
            let mut wrong = Vec::new();
            for record in records.by_ref().take(BATCH_MAX) {
                match self.check(record) {
                    Ok(record) => checked.push(record),
                    Err(errors) => wrong.extend(errors),
                }
            }
            if !wrong.is_empty() && !self.manner.skip_bad {
                all.errors.extend(wrong);
                all.undone = true;
                break;
            }
            all.errors.extend(wrong);
            all.add(self.write(checked, None)?);
        }
        Ok(all)
    }
}

impl Outcome {
    /// Adds what became of another batch.
    pub fn add(&mut self, other: Self) {
        for (kind, count) in other.written {
            *self.written.entry(kind).or_default() += count;
        }
        self.present += other.present;
        self.errors.extend(other.errors);
        self.undone |= other.undone;
    }
}

/// A transaction under way.
struct Batch<'b> {
    site: &'b Site,
    visit: &'b Visit,
    source: &'b str,
    manner: ImportPolicy,
    now: Timestamp,
    outcome: Outcome,
}

impl Batch<'_> {
    fn write(&mut self, conn: &mut dyn Conn, records: &[Checked]) -> Result<()> {
        let (mut imported, mut refunds) = (Vec::new(), Vec::new());
        for record in records {
            match &record.content {
                Content::Order(order) => imported.push((record.line, order.as_ref())),
                Content::Refund(refund) => refunds.push((record.line, refund.as_ref())),
                Content::Other(kind, body) if !kind.follows_orders() => {
                    self.write_other(conn, record.line, *kind, body)?;
                }
                Content::Other(..) => {}
            }
        }
        self.write_orders(conn, &imported)?;
        self.write_refunds(conn, &refunds)?;
        for record in records {
            if let Content::Other(kind, body) = &record.content
                && kind.follows_orders()
            {
                self.write_other(conn, record.line, *kind, body)?;
            }
        }
        Ok(())
    }

    fn wrote(&mut self, kind: RecordKind, count: usize) {
        if count > 0 {
            let count = u64::try_from(count).unwrap_or(u64::MAX);
            *self.outcome.written.entry(kind).or_default() += count;
        }
    }

    /// Where numbers of records of the kind are remembered.
    fn space(&self, kind: RecordKind) -> (&str, &'static str) {
        (self.source, kind.name())
    }
}

/// The errors of a refusal, by field where it names fields.
fn errors(line: u64, refusal: &Refusal) -> Vec<RecordError> {
    let error = |field: Option<&str>, message: &str| RecordError {
        line,
        field: field.map(str::to_owned),
        message: message.to_owned(),
    };
    let params = match &refusal.data {
        Data::Members(members) => members.get("params"),
        Data::Instead(_) => None,
    };
    match params {
        Some(Value::Object(params)) => params
            .iter()
            .map(|(name, message)| error(Some(name), message.as_str().unwrap_or_default()))
            .collect(),
        Some(Value::Array(missing)) => {
            let names = missing.iter().filter_map(Value::as_str);
            names.map(|name| error(Some(name), "This field is required.")).collect()
        }
        _ => vec![error(None, &refusal.message)],
    }
}
