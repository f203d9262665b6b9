//! The case files: JSON lines, one case per line, one file per area.
//!
//! A case is one request with its recorded answer, or a sequence of such steps on the same data. A
//! member that the format does not have is an error, so that no expectation is lost in silence.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail, ensure};
use serde::Deserialize;
use serde_json::Value;

/// The recorded background queue never took longer.
const PAUSE_MAX_S: f64 = 60.0;

/// All cases of a folder, by area.
#[derive(Clone, Debug)]
pub struct Suite {
    pub areas: Vec<Area>,
}

/// The cases of one file.
#[derive(Clone, Debug)]
pub struct Area {
    /// The name of the file without its ending.
    pub name: String,
    pub cases: Vec<Case>,
}

#[derive(Clone, Debug)]
pub struct Case {
    pub id: String,
    /// Wants freshly imported data and may change it.
    pub is_sequence: bool,
    pub steps: Vec<Step>,
}

#[derive(Clone, Debug)]
pub enum Step {
    Exchange(Box<Exchange>),
    /// The reference ran its background queue here; the request after it waits for the server's.
    QueueRan,
    /// What the recording shows besides answers (an exported file, a callback); tests of their own
    /// look at it.
    Aside,
}

/// One request and its recorded answer.
#[derive(Clone, Debug)]
pub struct Exchange {
    pub request: Plan,
    pub expect: Expected,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    pub method: String,
    pub path: String,
    #[serde(default)]
    pub query: String,
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    pub body: Option<Value>,
    /// An identity by name, `none`, or `raw:` and the text of the header.
    #[serde(default = "anonymous")]
    pub auth: String,
    /// Which of several visitors asks; each has cookies, a nonce and a cart of their own.
    #[serde(default)]
    pub client: String,
    /// Sends the cookies that this visitor was given.
    #[serde(default)]
    pub cookies: bool,
    /// Asks for a page, a feed or another document that is no JSON.
    #[serde(default)]
    pub web: bool,
}

/// What was recorded, and how closely an answer must follow it.
#[derive(Clone, Debug)]
pub enum Expected {
    /// The reference crashed: anything will do that is no failure of the server.
    NoCrash,
    Answer {
        status: u16,
        headers: BTreeMap<String, String>,
        body: Value,
        /// The names of cookies that must be set.
        cookies: Vec<String>,
        compare: Compare,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compare {
    /// Everything, in this order.
    Exact,
    /// Everything, but the rows of a list may come in any order.
    Ties,
    /// The names and types of the body.
    Shape,
    /// Not the body.
    Status,
    /// What is worth knowing of a document that is no JSON.
    Facts,
}

impl Suite {
    /// Reads every `AREA.jsonl` of the folder.
    pub fn load(folder: &Path) -> Result<Self> {
        let mut areas = Vec::new();
        let mut seen = BTreeSet::new();
        for path in json_lines_files(folder)? {
            let text = fs::read_to_string(&path)
                .with_context(|| format!("cannot read {}", path.display()))?;
            let area = Area::parse(&area_name(&path), &text)?;
            for case in &area.cases {
                ensure!(seen.insert(case.id.clone()), "there are two cases {}", case.id);
            }
            areas.push(area);
        }
        ensure!(!areas.is_empty(), "{} has no cases", folder.display());
        Ok(Self { areas })
    }

    /// All cases with the names of their areas.
    pub fn cases(&self) -> impl Iterator<Item = (&str, &Case)> {
        self.areas.iter().flat_map(|area| area.cases.iter().map(|case| (area.name.as_str(), case)))
    }
}

impl Area {
    pub(super) fn parse(name: &str, text: &str) -> Result<Self> {
        let mut cases = Vec::new();
        for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let case = serde_json::from_str(line).map_err(Into::into).and_then(Case::from_file);
            cases.push(case.with_context(|| format!("line {} of {name}", index + 1))?);
        }
        Ok(Self { name: name.to_owned(), cases })
    }
}

impl Case {
    /// The requests, with the number that each step has in the file.
    pub fn exchanges(&self) -> impl Iterator<Item = (usize, &Exchange)> {
        self.steps.iter().enumerate().filter_map(|(index, step)| match step {
            Step::Exchange(exchange) => Some((index + 1, &**exchange)),
            Step::QueueRan | Step::Aside => None,
        })
    }

    fn from_file(line: CaseLine) -> Result<Self> {
        let CaseLine { id, request, expect, steps, _note: _ } = line;
        let is_sequence = !steps.is_empty();
        let steps = match (request, expect) {
            (Some(request), Some(expect)) if !is_sequence => {
                vec![Step::exchange(request, expect)?]
            }
            (None, None) if is_sequence => {
                steps.into_iter().map(Step::from_file).collect::<Result<_>>()?
            }
            _ => bail!("{id} must have either a request with its response or steps"),
        };
        Ok(Self { id, is_sequence, steps })
    }
}

impl Step {
    fn from_file(line: StepLine) -> Result<Self> {
        match (line.request, line.expect, line.pause_s) {
            (Some(request), Some(expect), None) => Self::exchange(request, expect),
            (None, None, None) if line.download.is_some() || line.callback.is_some() => {
                Ok(Self::Aside)
            }
            (None, None, Some(pause_s)) => {
                ensure!((0.0..=PAUSE_MAX_S).contains(&pause_s), "a pause of {pause_s} s");
                Ok(Self::QueueRan)
            }
            _ => bail!("a step must have either a request with its response or a pause"),
        }
    }

    fn exchange(request: Plan, expect: ExpectLine) -> Result<Self> {
        Ok(Self::Exchange(Box::new(Exchange { request, expect: expect.checked()? })))
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CaseLine {
    id: String,
    request: Option<Plan>,
    expect: Option<ExpectLine>,
    #[serde(default)]
    steps: Vec<StepLine>,
    #[serde(rename = "note")]
    _note: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StepLine {
    request: Option<Plan>,
    expect: Option<ExpectLine>,
    pause_s: Option<f64>,
    /// What the recorder wanted to know.
    #[serde(rename = "note")]
    _note: Option<String>,
    /// What an exported file held.
    download: Option<Value>,
    /// What the server sent to another program.
    callback: Option<Value>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ExpectLine {
    status: Option<u16>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    #[serde(default)]
    body: Value,
    facts: Option<Value>,
    #[serde(default)]
    cookies: Vec<String>,
    compare: Option<String>,
    #[serde(default)]
    ties: bool,
}

impl ExpectLine {
    fn checked(self) -> Result<Expected> {
        let compare = match (self.compare.as_deref(), self.ties) {
            (Some("skip"), false) => return Ok(Expected::NoCrash),
            (None, false) => Compare::Exact,
            (None, true) => Compare::Ties,
            (Some("shape"), _) => Compare::Shape,
            (Some("status"), _) => Compare::Status,
            (Some("facts"), _) => Compare::Facts,
            (Some(other), _) => bail!("`{other}` is not a comparison"),
        };
        let status = self.status.context("the recorded response has no status")?;
        let Self { headers, cookies, .. } = self;
        let body = if compare == Compare::Facts { self.facts } else { Some(self.body) };
        let body = body.context("the recorded page has no facts")?;
        Ok(Expected::Answer { status, headers, body, cookies, compare })
    }
}

fn anonymous() -> String {
    "none".to_owned()
}

/// The `.jsonl` files of a folder, by name.
pub(super) fn json_lines_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries =
        fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let mut paths = Vec::new();
    for entry in entries {
        let path = entry?.path();
        if path.extension().is_some_and(|ending| ending == "jsonl") {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

pub(super) fn area_name(path: &Path) -> String {
    path.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}
