//! The verdicts of a run added up: a table of the areas, and what is wrong.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};

use super::case::Case;
use super::deviations::Deviations;
use super::runner::Verdict;

const DIFFERENCES_SHOWN_MAX: usize = 12;
const CASES_SHOWN_MAX: usize = 40;

/// Counts requests, not cases: a sequence has many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Tally {
    passed: usize,
    failed: usize,
    /// Differs from the recorded answer as a deviation says, and no further.
    deviating: usize,
    waiting: usize,
}

#[derive(Debug)]
pub struct Report {
    deviations: Deviations,
    areas: BTreeMap<String, Tally>,
    /// Cases with the differences that nothing excuses.
    failures: Vec<(String, Vec<String>)>,
    /// The differences that are meant, with their reasons.
    meant: Vec<String>,
    /// Cases that are known to differ: no failure, but one that passes is told.
    known: BTreeSet<String>,
}

impl Report {
    pub fn new(deviations: Deviations) -> Self {
        let (areas, known) = (BTreeMap::new(), BTreeSet::new());
        Self { deviations, areas, failures: Vec::new(), meant: Vec::new(), known }
    }

    /// With cases that are known to fail, because what they need is not complete. **The list may
    /// only shrink**: a case of it that passes is a problem until the list is shorter.
    #[must_use]
    pub fn knowing(self, known: BTreeSet<String>) -> Self {
        Self { known, ..self }
    }

    pub fn add(&mut self, area: &str, case: &Case, verdicts: Vec<Verdict>) {
        let mut tally = Tally::default();
        let mut open = Vec::new();
        if verdicts.len() != case.exchanges().count() {
            tally.failed += 1;
            open.push("not every request of the case was judged".to_owned());
        }
        for verdict in verdicts {
            match verdict {
                Verdict::Passed => tally.passed += 1,
                Verdict::Waiting(_) => tally.waiting += 1,
                Verdict::Failed(lines) => {
                    let unexcused = self.unexcused(&case.id, lines);
                    if unexcused.is_empty() {
                        tally.deviating += 1;
                    } else {
                        tally.failed += 1;
                        open.extend(unexcused);
                    }
                }
            }
        }
        self.areas.entry(area.to_owned()).or_default().add(tally);
        if !open.is_empty() {
            self.failures.push((case.id.clone(), open));
        }
    }

    fn unexcused(&mut self, case: &str, lines: Vec<String>) -> Vec<String> {
        let mut open = Vec::new();
        for line in lines {
            match self.deviations.reason(case, &line) {
                Some(reason) => self.meant.push(format!("{case}: {line} (meant: {reason})")),
                None => open.push(line),
            }
        }
        open
    }

    /// How many requests of each area wait for their routes; areas where none does are left out.
    pub fn waiting(&self) -> BTreeMap<String, usize> {
        let waiting = self.areas.iter().filter(|(_, tally)| tally.waiting > 0);
        waiting.map(|(name, tally)| (name.clone(), tally.waiting)).collect()
    }

    /// The table of the areas, and every difference that is meant.
    pub fn table(&self) -> String {
        let mut text = String::new();
        for line in &self.meant {
            let _ = writeln!(text, "deviates {line}");
        }
        let head = ["area", "passed", "failed", "deviating", "waiting"];
        let [area, passed, failed, deviating, waiting] = head;
        let _ = writeln!(text, "{area:32}{passed:>10}{failed:>10}{deviating:>10}{waiting:>10}");
        let mut total = Tally::default();
        for (name, tally) in &self.areas {
            total.add(*tally);
            let _ = writeln!(text, "{name:32}{tally}");
        }
        let _ = writeln!(text, "{:32}{total}", "all");
        text
    }

    /// What must be fixed, as text; nothing if all is well. `pinned` is how many requests may
    /// wait: never more, and fewer only once the file says so.
    pub fn problems(&self, pinned: &BTreeMap<String, usize>) -> Option<String> {
        let mut text = String::new();
        let is_new = |(case, _): &&(String, Vec<String>)| !self.known.contains(case);
        let new: Vec<&(String, Vec<String>)> = self.failures.iter().filter(is_new).collect();
        for (case, lines) in new.iter().take(CASES_SHOWN_MAX) {
            let _ = writeln!(text, "FAIL {case}");
            for line in lines.iter().take(DIFFERENCES_SHOWN_MAX) {
                let _ = writeln!(text, "     {line}");
            }
            if let Some(more) = lines.len().checked_sub(DIFFERENCES_SHOWN_MAX + 1) {
                let _ = writeln!(text, "     and {} more differences", more + 1);
            }
        }
        if let Some(more) = new.len().checked_sub(CASES_SHOWN_MAX + 1) {
            let _ = writeln!(text, "and {} more cases fail", more + 1);
        }
        let fails = |case: &&String| self.failures.iter().any(|(failed, _)| failed == *case);
        for case in self.known.iter().filter(|case| !fails(case)) {
            let _ = writeln!(text, "passes now, or is no more: take it from failing.txt: {case}");
        }
        for entry in self.deviations.unused() {
            let _ = writeln!(text, "a deviation excuses nothing, remove it: {entry}");
        }
        let waiting = self.waiting();
        if waiting != *pinned {
            let _ = writeln!(text, "waiting requests: {waiting:?}, but pinned: {pinned:?}");
            let may_shrink = waiting
                .iter()
                .all(|(area, count)| pinned.get(area).is_some_and(|allowed| count <= allowed));
            text.push_str(if may_shrink {
                "fewer wait than pinned: write the smaller numbers to waiting.json\n"
            } else {
                "the number may only shrink: a route has been lost from the index\n"
            });
        }
        if text.is_empty() { None } else { Some(text) }
    }
}

impl Tally {
    fn add(&mut self, other: Tally) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.deviating += other.deviating;
        self.waiting += other.waiting;
    }
}

impl std::fmt::Display for Tally {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Tally { passed, failed, deviating, waiting } = self;
        write!(formatter, "{passed:>10}{failed:>10}{deviating:>10}{waiting:>10}")
    }
}

/// The numbers of waiting requests by area, as the repository has them.
pub fn waiting_pinned(folder: &Path) -> Result<BTreeMap<String, usize>> {
    let path = folder.join("waiting.json");
    let text = fs::read_to_string(&path);
    let text = text.with_context(|| format!("cannot read {}", path.display()))?;
    serde_json::from_str(&text).with_context(|| format!("{} is not a table", path.display()))
}

/// The cases that are known to fail, a line each, as the repository has them.
pub fn failing_known(folder: &Path) -> Result<BTreeSet<String>> {
    let path = folder.join("failing.txt");
    let text = fs::read_to_string(&path);
    let text = text.with_context(|| format!("cannot read {}", path.display()))?;
    Ok(text.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect())
}
