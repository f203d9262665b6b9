//! The case files as types. A member that no type knows is an error, so that a misspelt
//! expectation is never silently left unchecked.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, Result, ensure};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::errors::{ErrorWant, ErrorsMode};
use super::matcher::{DataWant, Matcher};

/// Named request bodies that cases start from.
pub(super) type Bases = Map<String, Value>;

/// One case: requests in order, each with the answers that will do.
#[derive(Clone, Debug)]
pub struct Case {
    pub id: String,
    /// The name of the file the case stands in.
    pub group: String,
    /// What the case is about.
    pub why: String,
    /// Why a wrong answer is only noted; a case without doubt fails the run.
    pub doubt: Option<String>,
    pub(super) needs: BTreeSet<String>,
    pub(super) steps: Vec<Step>,
    pub(super) bases: Arc<Bases>,
}

impl Case {
    /// Whether the case presents keys that must be refused, which servers throttle.
    pub fn refuses_keys(&self) -> bool {
        self.steps.iter().any(|step| step.statuses().contains(&401))
    }

    /// Whether the case sends requests side by side, so that it is best run alone.
    pub fn is_crowded(&self) -> bool {
        self.steps.iter().any(|step| step.parallel.is_some())
    }

    pub(super) fn parse(group: &str, value: Value, bases: &Arc<Bases>) -> Result<Self> {
        let steps_text = value.get("steps").map(Value::to_string).unwrap_or_default();
        let text: CaseText = serde_json::from_value(value)?;
        let mut needs = text.needs;
        if steps_text.contains(r#""other_iso""#) || steps_text.contains("${other_key}") {
            needs.insert("other-key".to_owned());
        }
        let open = text.doubt.unwrap_or_else(|| "left open".to_owned());
        let case = Self {
            id: text.id,
            group: group.to_owned(),
            why: text.why,
            doubt: if text.strict { None } else { Some(open) },
            needs,
            steps: text.steps,
            bases: Arc::clone(bases),
        };
        for step in &case.steps {
            let answers = step.expect.is_some();
            let mixed = step.parallel.is_some() && !step.expect_mix.is_empty();
            ensure!(answers != mixed, "a step needs either expect, or parallel and expect_mix");
        }
        Ok(case)
    }
}

/// Reads `bases.json` and all of `cases/*.json`, in the order of the file names.
pub fn load(folder: &Path) -> Result<Vec<Case>> {
    let bases: Arc<Bases> = Arc::new(read(&folder.join("bases.json"))?);
    let cases_folder = folder.join("cases");
    let mut files = Vec::new();
    for entry in fs::read_dir(&cases_folder)
        .with_context(|| format!("cannot read {}", cases_folder.display()))?
    {
        files.push(entry?.path());
    }
    files.retain(|file| file.extension().is_some_and(|extension| extension == "json"));
    files.sort_unstable();
    let mut cases = Vec::new();
    let mut ids = BTreeSet::new();
    for file in files {
        for case in load_file(&file, &bases)? {
            ensure!(ids.insert(case.id.clone()), "the case id {} is used twice", case.id);
            cases.push(case);
        }
    }
    ensure!(!cases.is_empty(), "there are no cases in {}", cases_folder.display());
    Ok(cases)
}

fn load_file(file: &Path, bases: &Arc<Bases>) -> Result<Vec<Case>> {
    let group = file.file_stem().unwrap_or_default().to_string_lossy();
    let mut cases = Vec::new();
    for value in read::<Vec<Value>>(&file.to_path_buf())? {
        let id = value.get("id").and_then(Value::as_str).unwrap_or("without id").to_owned();
        let case = Case::parse(&group, value, bases)
            .with_context(|| format!("{}: the case {id} is wrong", file.display()))?;
        cases.push(case);
    }
    Ok(cases)
}

fn read<T: for<'de> Deserialize<'de>>(file: &PathBuf) -> Result<T> {
    let text = fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
    serde_json::from_slice(&text).with_context(|| format!("cannot parse {}", file.display()))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CaseText {
    id: String,
    #[serde(default)]
    why: String,
    #[serde(default = "yes")]
    strict: bool,
    doubt: Option<String>,
    #[serde(default)]
    needs: BTreeSet<String>,
    steps: Vec<Step>,
}

fn yes() -> bool {
    true
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Step {
    pub(super) request: RequestPlan,
    /// What a single answer must be like; any one of several will do.
    pub(super) expect: Option<OneOrMany<Expect>>,
    /// How many times the request is sent at once.
    pub(super) parallel: Option<usize>,
    /// Whether all of them carry the same bytes instead of fresh tokens.
    #[serde(default)]
    pub(super) identical: bool,
    /// How many answers of which kind must come back.
    #[serde(default)]
    pub(super) expect_mix: Vec<AnswerKind>,
    /// Paths in the successful answers, with the number of different values there.
    #[serde(default)]
    pub(super) distinct: BTreeMap<String, usize>,
    /// Names for values of the answer: a path, or `header:NAME`.
    #[serde(default)]
    pub(super) save: BTreeMap<String, String>,
}

impl Step {
    /// All statuses that the step accepts from a single answer.
    pub(super) fn statuses(&self) -> BTreeSet<u16> {
        let choices = self.expect.as_ref().map(OneOrMany::as_slice).unwrap_or_default();
        choices.iter().flat_map(|choice| choice.status.as_slice()).copied().collect()
    }
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AnswerKind {
    pub(super) name: String,
    /// The least and the largest number of such answers.
    pub(super) count: (usize, usize),
    pub(super) expect: OneOrMany<Expect>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RequestPlan {
    #[serde(default = "post")]
    pub(super) method: String,
    #[serde(default = "default_path")]
    pub(super) path: String,
    /// `key`, `none`, `bad`, `other_iso`, or the name of a further key.
    #[serde(default = "own_key")]
    pub(super) auth: String,
    /// Further headers. A `Content-Type` of null leaves the usual one out.
    #[serde(default)]
    pub(super) headers: BTreeMap<String, Option<String>>,
    pub(super) body: Option<BodyPlan>,
    #[serde(default)]
    pub(super) chunked: bool,
}

fn post() -> String {
    "POST".to_owned()
}

fn default_path() -> String {
    "/v1/onboardmerchant".to_owned()
}

fn own_key() -> String {
    "key".to_owned()
}

/// How a body is made: from one source, which may then be patched and padded.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BodyPlan {
    pub(super) base: Option<String>,
    pub(super) json: Option<Value>,
    pub(super) raw: Option<String>,
    pub(super) raw_base64: Option<String>,
    /// The body of an earlier request, counted from 0.
    pub(super) resend: Option<usize>,
    #[serde(default)]
    pub(super) unset: Vec<String>,
    #[serde(default)]
    pub(super) set: Map<String, Value>,
    #[serde(default)]
    pub(super) reorder: bool,
    pub(super) pad_to: Option<usize>,
}

/// What an answer must be like.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Expect {
    pub(super) status: OneOrMany<u16>,
    /// Null means: any text.
    pub(super) message: Option<Matcher>,
    #[serde(default)]
    pub(super) data: DataWant,
    #[serde(default)]
    pub(super) errors: Vec<ErrorWant>,
    #[serde(default)]
    pub(super) errors_mode: ErrorsMode,
    #[serde(default)]
    pub(super) headers: BTreeMap<String, Matcher>,
    #[serde(default)]
    pub(super) body_excludes: Vec<String>,
    pub(super) body_members: Option<BTreeSet<String>>,
    #[serde(default)]
    pub(super) data_members_exact: bool,
    #[serde(default)]
    pub(super) body: BodyWant,
}

/// Whether the body of an answer is looked into.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum BodyWant {
    #[default]
    Object,
    None,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum OneOrMany<T> {
    Many(Vec<T>),
    One(T),
}

impl<T> OneOrMany<T> {
    pub(super) fn as_slice(&self) -> &[T] {
        match self {
            Self::Many(items) => items,
            Self::One(item) => std::slice::from_ref(item),
        }
    }
}
