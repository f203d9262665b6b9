//! Files of records, however large: `boardwalk import orders`.
//!
//! A file is gone through twice. **The first time everything is checked and nothing is written**;
//! if anything is wrong, that is all that happens, unless bad rows are to be skipped. The second
//! time it is written, a batch and the note of how far it came in one transaction, so that an
//! import that was cut goes on where it was, without doing anything twice.
//!
//! It is written in three rounds, since a file may name what comes later in it: first what orders
//! refer to, then orders, then refunds, notes and reviews.
//!
//! What the check cannot see is refused in the first round at the latest (say, an SKU that another
//! product has): up to [`BATCH_MAX`] such records are one transaction, so that then, too, nothing
//! was written.

mod pipeline;
pub mod rows;

use std::collections::{BTreeMap, HashSet};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use serde::Serialize;
use serde_json::json;
use shop_rows::import::Progress;
use types::{Error, Result};

use self::pipeline::Chunk;
use self::rows::Row;
use super::{BATCH_MAX, Checked, Importer, Outcome, RecordError, RecordKind, Step};

/// Errors that are told in full; the others are counted.
pub const ERRORS_MAX: usize = 100;
/// Orders that are written in one transaction: short enough for others to write meanwhile.
const ORDERS_BATCH: usize = 2_000;
/// How long nothing is written after each batch: twice as long as who waits for a turn on SQLite
/// looks away.
const TURN_OF_OTHERS: Duration = Duration::from_millis(2);
/// Numbers of orders that are remembered while the file is checked, to find those of refunds.
const ORDER_IDS_MAX: usize = 4_000_000;
/// Rows of a file that are no orders.
const OTHERS_MAX: usize = 8_000_000;

/// What is being done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Checking; counted in bytes.
    Check,
    /// Writing; counted in records.
    Write,
}

/// How far it is.
#[derive(Clone, Copy, Debug)]
pub struct News {
    pub stage: Stage,
    pub done: u64,
    pub all: u64,
}

/// An error and its file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FileError {
    pub file: String,
    #[serde(flatten)]
    pub error: RecordError,
}

/// The result of an import.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Report {
    /// Records that were written, by kind.
    pub imported: BTreeMap<&'static str, u64>,
    /// Records that already existed.
    pub present: u64,
    /// The first [`ERRORS_MAX`] of them.
    #[serde(rename = "faults")]
    pub errors: Vec<FileError>,
    #[serde(rename = "fault_count")]
    pub error_count: u64,
    /// Whether the import resumed an interrupted one.
    pub resumed: bool,
    /// Whether errors cancelled the import.
    pub refused: bool,
}

/// A round of writing, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Round {
    /// What orders refer to.
    Others,
    Orders,
    /// What refers to orders.
    Followers,
    Finished,
}

impl Round {
    const ALL: [Self; 4] = [Self::Others, Self::Orders, Self::Followers, Self::Finished];

    fn of(kind: RecordKind) -> Self {
        match kind {
            RecordKind::Order => Self::Orders,
            RecordKind::Refund => Self::Followers,
            kind if kind.follows_orders() => Self::Followers,
            _ => Self::Others,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Others => "others",
            Self::Orders => "orders",
            Self::Followers => "followers",
            Self::Finished => "finished",
        }
    }
}

/// A file with what is known about it.
#[derive(Debug)]
struct Source {
    path: PathBuf,
    length: u64,
    /// What its import is known by.
    name: String,
    /// Where its import was cut: the round, and the last line that was written.
    reached: Option<(Round, u64)>,
    rows: u64,
    /// Lines of the first and the last round.
    others: Vec<u64>,
    followers: Vec<u64>,
}

/// Imports the files, and tells `watch` how far it is. With `resume`, an import that was cut goes
/// on. Blocks.
pub fn import(
    importer: &Importer,
    files: &[PathBuf],
    resume: bool,
    watch: &mut dyn FnMut(News),
) -> Result<Report> {
    let mut sources: Vec<Source> = Vec::new();
    for path in files {
        let source = Source::find(importer, path, resume)?;
        if sources.iter().all(|known| known.name != source.name) {
            sources.push(source);
        }
    }
    let mut run = Run { importer, watch, report: Report::default(), written: 0 };
    run.report.resumed = sources.iter().any(|source| source.reached.is_some());
    sources.retain(|source| source.reached.is_none_or(|(round, _)| round < Round::Finished));
    run.check(&mut sources)?;
    if run.report.error_count > 0 && !importer.manner.skip_bad {
        run.report.refused = true;
        return Ok(run.report);
    }
    // They are told again, with what else is wrong, when the rows are written.
    run.report.errors.clear();
    run.report.error_count = 0;
    importer.make_room(true)?;
    let written = run.write(&sources);
    let report = run.report;
    // What went wrong first is what is told.
    let given_back = importer.make_room(false);
    written.and(given_back).map(|()| report)
}

impl Source {
    fn find(importer: &Importer, path: &Path, resume: bool) -> Result<Self> {
        let (digest, length) = digest(path)?;
        let name = format!("file:{}:{digest}", importer.source);
        let reached = importer.reached(&name)?;
        let round = |progress: &Progress| {
            let found =
                Round::ALL.into_iter().find(|round| progress.details.contains(round.name()));
            (found.unwrap_or(Round::Others), u64::try_from(progress.done).unwrap_or_default())
        };
        let reached = reached.as_ref().map(round);
        if let (Some((round, line)), false) = (reached, resume)
            && round < Round::Finished
        {
            return Err(Error::conflict(format!(
                "an import of {} was interrupted at line {line}; use --resume to finish it",
                path.display()
            )));
        }
        Ok(Self {
            path: path.to_owned(),
            length,
            name,
            reached: reached.filter(|_| resume),
            rows: 0,
            others: Vec::new(),
            followers: Vec::new(),
        })
    }

    /// The last line of the round that is written already.
    fn done(&self, round: Round) -> u64 {
        match self.reached {
            Some((reached, _)) if reached > round => u64::MAX,
            Some((reached, line)) if reached == round => line,
            _ => 0,
        }
    }

    /// The lines of the round, in order; nothing means all that are not in another round.
    fn lines(&self, round: Round) -> Option<&[u64]> {
        match round {
            Round::Others => Some(&self.others),
            Round::Followers => Some(&self.followers),
            Round::Orders | Round::Finished => None,
        }
    }
}

fn digest(path: &Path) -> Result<(String, u64)> {
    let unreadable = |error: std::io::Error| {
        Error::invalid(format!("cannot read {}", path.display())).because(error)
    };
    let mut hasher = blake3::Hasher::new();
    let mut file = File::open(path).map_err(unreadable)?;
    let length = std::io::copy(&mut file, &mut hasher).map_err(unreadable)?;
    Ok((hasher.finalize().to_hex().to_string(), length))
}

/// What the check tells of a row.
struct Glance {
    line: u64,
    kind: RecordKind,
    id: i64,
    parent_id: i64,
}

struct Run<'r> {
    importer: &'r Importer,
    watch: &'r mut dyn FnMut(News),
    report: Report,
    written: u64,
}

impl Run<'_> {
    fn error(&mut self, path: &Path, errors: Vec<RecordError>) {
        self.report.error_count += u64::try_from(errors.len()).unwrap_or_default();
        let file = path.display().to_string();
        let room = ERRORS_MAX.saturating_sub(self.report.errors.len());
        let imported = errors.into_iter().take(room);
        self.report.errors.extend(imported.map(|error| FileError { file: file.clone(), error }));
    }

    /// Goes through all files without writing anything.
    fn check(&mut self, sources: &mut [Source]) -> Result<()> {
        let all = sources.iter().map(|source| source.length).sum();
        let (mut order_ids, mut refunds) = (HashSet::new(), Vec::new());
        let mut before = 0;
        let importer = self.importer;
        for source in sources.iter_mut() {
            // What was cut had passed the check, and rows to skip are found when they are written.
            let is_checked = source.reached.is_none() && !importer.manner.skip_bad;
            let glance = |row: Row| glance(importer, row, is_checked);
            let path = source.path.clone();
            pipeline::run(&path, &|_| true, &glance, &mut |chunk: Chunk<_>| {
                for glance in chunk.items {
                    source.rows += 1;
                    let glance = match glance {
                        Ok(glance) => glance,
                        Err(errors) => {
                            self.error(&path, errors);
                            continue;
                        }
                    };
                    source.note(&glance)?;
                    match glance.kind {
                        RecordKind::Order if order_ids.len() < ORDER_IDS_MAX => {
                            order_ids.insert(glance.id);
                        }
                        RecordKind::Refund if is_checked => refunds.push((path.clone(), glance)),
                        _ => {}
                    }
                }
                (self.watch)(News { stage: Stage::Check, done: before + chunk.bytes, all });
                Ok(())
            })?;
            before += source.length;
        }
        if order_ids.len() < ORDER_IDS_MAX {
            refunds.retain(|(_, refund)| !order_ids.contains(&refund.parent_id));
            self.check_refunds(&refunds)?;
        }
        Ok(())
    }

    /// Refunds whose orders are not in the files must have them here.
    fn check_refunds(&mut self, refunds: &[(PathBuf, Glance)]) -> Result<()> {
        let ids: Vec<i64> = refunds.iter().map(|(_, refund)| refund.parent_id).collect();
        let known = self.importer.known_orders(ids)?;
        for (path, refund) in refunds {
            if !known.contains(&refund.parent_id) {
                let message = format!("The refunded order {} was not found.", refund.parent_id);
                let field = Some(String::from("parent_id"));
                self.error(path, vec![RecordError { line: refund.line, field, message }]);
            }
        }
        Ok(())
    }

    fn write(&mut self, sources: &[Source]) -> Result<()> {
        for round in [Round::Others, Round::Orders, Round::Followers] {
            for source in sources {
                let has_rows = source.lines(round).is_none_or(|lines| !lines.is_empty());
                if has_rows && source.done(round) < u64::MAX {
                    self.write_round(sources, source, round)?;
                }
                if self.report.refused {
                    return Ok(());
                }
            }
        }
        for source in sources {
            let step = source.step(Round::Finished, 0);
            self.importer.write(Vec::new(), Some(step))?;
        }
        Ok(())
    }

    fn write_round(&mut self, sources: &[Source], source: &Source, round: Round) -> Result<()> {
        let all = sources.iter().map(|source| source.rows).sum();
        let (importer, path, done) = (self.importer, &source.path, source.done(round));
        let lines = source.lines(round);
        let wants =
            |line: u64| line > done && lines.is_none_or(|lines| lines.binary_search(&line).is_ok());
        let size = if round == Round::Others { BATCH_MAX } else { ORDERS_BATCH };
        let check = |row: Row| checked(importer, row, round);
        let mut batch: Vec<Checked> = Vec::new();
        let mut last = done;
        let run = pipeline::run(path, &wants, &check, &mut |chunk| {
            for row in chunk.items {
                match row {
                    Ok(Some(record)) => batch.push(record),
                    Ok(None) => {}
                    Err(errors) => self.error(path, errors),
                }
            }
            last = chunk.line;
            if batch.len() >= size {
                let step = source.step(round, last);
                self.write_batch(path, std::mem::take(&mut batch), step)?;
                (self.watch)(News { stage: Stage::Write, done: self.written.min(all), all });
            }
            // Any error ends the round; this one is no failure.
            if self.report.refused {
                Err(Error::conflict("a batch was rolled back"))
            } else {
                Ok(())
            }
        });
        if self.report.refused {
            return Ok(());
        }
        run?;
        self.write_batch(path, batch, source.step(round, last))?;
        (self.watch)(News { stage: Stage::Write, done: self.written.min(all), all });
        Ok(())
    }

    fn write_batch(&mut self, path: &Path, batch: Vec<Checked>, step: Step) -> Result<()> {
        self.written += u64::try_from(batch.len()).unwrap_or_default();
        let Outcome { written, present, errors, undone } =
            self.importer.write(batch, Some(step))?;
        // A server beside this may wait to write.
        thread::sleep(TURN_OF_OTHERS);
        for (kind, count) in written {
            *self.report.imported.entry(kind.name()).or_default() += count;
        }
        self.report.present += present;
        self.error(path, errors);
        self.report.refused |= undone;
        Ok(())
    }
}

impl Source {
    fn note(&mut self, glance: &Glance) -> Result<()> {
        let lines = match Round::of(glance.kind) {
            Round::Others => &mut self.others,
            Round::Followers => &mut self.followers,
            Round::Orders | Round::Finished => return Ok(()),
        };
        if lines.len() >= OTHERS_MAX {
            return Err(Error::invalid(format!(
                "{} has more than {OTHERS_MAX} records that are not orders; split it into several \
                 files",
                self.path.display()
            )));
        }
        lines.push(glance.line);
        Ok(())
    }

    fn step(&self, round: Round, line: u64) -> Step {
        Step {
            name: self.name.clone(),
            done: i64::try_from(line).unwrap_or(i64::MAX),
            details: json!({ "round": round.name() }).to_string(),
        }
    }
}

fn glance(
    importer: &Importer,
    row: Row,
    is_checked: bool,
) -> std::result::Result<Glance, Vec<RecordError>> {
    let record = row.record().map_err(|error| vec![error])?;
    let number = |name: &str| record.body.get(name).map(contract::rest::loose::to_int);
    let glance = Glance {
        line: record.line,
        kind: record.kind,
        id: number("id").unwrap_or_default(),
        parent_id: number("parent_id").unwrap_or_default(),
    };
    if is_checked {
        importer.check(record)?;
    }
    Ok(glance)
}

/// The record of the row, if it is one of the round.
fn checked(
    importer: &Importer,
    row: Row,
    round: Round,
) -> std::result::Result<Option<Checked>, Vec<RecordError>> {
    match row.record() {
        Ok(record) if Round::of(record.kind) == round => importer.check(record).map(Some),
        // A row that is no record at all is told of once.
        Err(error) if round == Round::Orders => Err(vec![error]),
        Ok(_) | Err(_) => Ok(None),
    }
}
