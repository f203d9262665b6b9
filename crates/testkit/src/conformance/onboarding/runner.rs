//! Runs cases against a server and judges its answers.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::Value;

use crate::http::{Connection, Request, Response};

use super::case::{BodyPlan, Case, OneOrMany, Step};
use super::compare::{nearest_problems, shortened};
use super::tokens::Scope;
use super::{body, path};

const ANSWER_TIMEOUT: Duration = Duration::from_secs(15);
const PARALLEL_MAX: usize = 64;
const RETRIES_AFTER_429_MAX: u32 = 10;
const RETRY_WAIT_MAX: Duration = Duration::from_secs(70);
/// Refused keys are counted by the minute; a little more makes up for the clocks.
const PACE_WINDOW: Duration = Duration::from_secs(61);

/// What a server gave out for the run.
#[derive(Clone, Debug, Default)]
pub struct Keys {
    /// The API key of the ISO under test.
    pub key: String,
    /// The key of a second ISO in the same environment.
    pub other_key: Option<String>,
    /// The name of a template of the ISO under test.
    pub template: Option<String>,
    /// Further keys by name: `expired`, `revoked`, `other_env`, `no_scope`.
    pub extra: BTreeMap<String, String>,
}

/// Which kinds of cases may run; the others are skipped.
#[derive(Clone, Copy, Debug, Default)]
pub struct Features {
    /// The server runs a sandbox environment.
    pub sandbox: bool,
    /// Cases may send requests side by side.
    pub concurrency: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    Passed,
    /// The differences between the answers and the case.
    Failed(Vec<String>),
    /// The differences in a case that leaves the question open.
    Noted(Vec<String>),
    /// What the case needs and the run does not have.
    Skipped(String),
}

#[derive(Debug)]
pub struct Runner {
    base_url: String,
    known: BTreeMap<String, String>,
    able: BTreeSet<String>,
    pace: Option<Pace>,
}

impl Runner {
    pub fn new(base_url: &str, keys: Keys, features: Features) -> Self {
        let mut able: BTreeSet<String> =
            keys.extra.keys().map(|name| format!("key-{name}")).collect();
        let given = [
            ("other-key", keys.other_key.is_some()),
            ("template", keys.template.is_some()),
            ("sandbox", features.sandbox),
            ("concurrency", features.concurrency),
        ];
        able.extend(given.into_iter().filter(|(_, has)| *has).map(|(name, _)| name.to_owned()));
        Self { base_url: base_url.to_owned(), known: known_values(keys), able, pace: None }
    }

    /// Sends at most so many requests a minute that must be refused with 401, for a server whose
    /// throttle of wrong keys cannot be turned off.
    #[must_use]
    pub fn with_refusals_per_minute(mut self, refusals_max: usize) -> Self {
        self.pace = Some(Pace { refusals_max, times: Mutex::new(Vec::new()) });
        self
    }

    pub fn run(&self, case: &Case) -> Verdict {
        let mut lacking: Vec<&str> =
            case.needs.difference(&self.able).map(String::as_str).collect();
        if case.is_crowded() && !self.able.contains("concurrency") {
            lacking.push("concurrency");
        }
        if !lacking.is_empty() {
            return Verdict::Skipped(format!("needs {}", lacking.join(", ")));
        }
        let mut scope = Scope::new(self.known.clone());
        let mut sent = Vec::new();
        for (index, step) in case.steps.iter().enumerate() {
            let problems = self
                .step_problems(case, step, &mut scope, &mut sent)
                .unwrap_or_else(|error| vec![format!("{error:#}")]);
            if problems.is_empty() {
                continue;
            }
            let place = format!("step {} of {}", index + 1, case.steps.len());
            let told = problems.iter().map(|problem| format!("{place}: {problem}")).collect();
            return if case.doubt.is_some() { Verdict::Noted(told) } else { Verdict::Failed(told) };
        }
        Verdict::Passed
    }

    /// Runs many cases and returns their verdicts in the same order: ordinary ones in `jobs`
    /// threads, then one by one those that a throttle or a crowd could disturb.
    pub fn run_all(&self, cases: &[Case], jobs: usize) -> Vec<Verdict> {
        let alone = |case: &Case| case.is_crowded() || case.refuses_keys();
        let verdicts: Vec<Mutex<Option<Verdict>>> =
            cases.iter().map(|_| Mutex::new(None)).collect();
        let work: Vec<(&Case, &Mutex<Option<Verdict>>)> = cases.iter().zip(&verdicts).collect();
        let (single, plain): (Vec<_>, Vec<_>) = work.into_iter().partition(|(case, _)| alone(case));
        let run_one = |(case, slot): &(&Case, &Mutex<Option<Verdict>>)| {
            let verdict = self.run(case);
            *slot.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(verdict);
        };
        let next = AtomicUsize::new(0);
        thread::scope(|scope| {
            for _ in 0..jobs.max(1) {
                scope.spawn(|| {
                    while let Some(entry) = plain.get(next.fetch_add(1, Ordering::Relaxed)) {
                        run_one(entry);
                    }
                });
            }
        });
        single.iter().for_each(run_one);
        let taken = |slot: Mutex<Option<Verdict>>| slot.into_inner().ok().flatten();
        let never_ran = || Verdict::Failed(vec!["the case did not run".to_owned()]);
        verdicts.into_iter().map(|slot| taken(slot).unwrap_or_else(never_ran)).collect()
    }

    fn step_problems(
        &self,
        case: &Case,
        step: &Step,
        scope: &mut Scope,
        sent: &mut Vec<Vec<u8>>,
    ) -> Result<Vec<String>> {
        if let Some(count) = step.parallel {
            return self.parallel_problems(case, step, count, scope, sent);
        }
        let request = request(case, step, scope, sent)?;
        let answer = self.deliver(&request, &step.statuses())?;
        let choices = step.expect.as_ref().map(OneOrMany::as_slice).unwrap_or_default();
        let problems = nearest_problems(choices, &answer, scope)?;
        if problems.is_empty() {
            save(step, &answer, scope)?;
        }
        Ok(problems)
    }

    fn parallel_problems(
        &self,
        case: &Case,
        step: &Step,
        count: usize,
        scope: &mut Scope,
        sent: &mut Vec<Vec<u8>>,
    ) -> Result<Vec<String>> {
        ensure!(count <= PARALLEL_MAX, "at most {PARALLEL_MAX} requests at once");
        let mut requests = Vec::new();
        for _ in 0..if step.identical { 1 } else { count } {
            requests.push(request(case, step, scope, sent)?);
        }
        let answers = thread::scope(|threads| {
            let senders: Vec<_> = requests
                .iter()
                .cycle()
                .take(count)
                .map(|request| threads.spawn(|| self.deliver(request, &BTreeSet::new())))
                .collect();
            let joined = senders.into_iter().map(|sender| match sender.join() {
                Ok(answer) => answer,
                Err(_) => bail!("a sending thread panicked"),
            });
            joined.collect::<Result<Vec<Response>>>()
        })?;
        let mut problems = mix_problems(step, &answers, scope)?;
        problems.extend(distinct_problems(step, &answers)?);
        Ok(problems)
    }

    /// Sends a request, and again after a 429 that the case does not ask for.
    fn deliver(&self, request: &Request, wanted: &BTreeSet<u16>) -> Result<Response> {
        let mut attempt = 0;
        loop {
            attempt += 1;
            if let (Some(pace), true) = (&self.pace, wanted.contains(&401)) {
                pace.wait();
            }
            let answer = Connection::open_with_timeout(&self.base_url, ANSWER_TIMEOUT)?
                .send(&request.clone().header("Connection", "close"))?;
            let throttled = answer.status == 429 && !wanted.contains(&429);
            if !throttled || attempt > RETRIES_AFTER_429_MAX {
                return Ok(answer);
            }
            let asked_s = answer.header("Retry-After").and_then(|value| value.parse().ok());
            let own = Duration::from_millis(250) * attempt;
            thread::sleep(asked_s.map_or(own, Duration::from_secs).min(RETRY_WAIT_MAX));
        }
    }
}

/// The values that every case may use.
fn known_values(keys: Keys) -> BTreeMap<String, String> {
    let Keys { key, other_key, template, extra } = keys;
    let mut shorter = key.clone();
    let last = shorter.pop();
    let other_last = if last == Some('A') { 'B' } else { 'A' };
    let swap_case = |letter: char| {
        if letter.is_ascii_lowercase() {
            letter.to_ascii_uppercase()
        } else {
            letter.to_ascii_lowercase()
        }
    };
    let mut known = BTreeMap::from([
        // Well formed, but of no key that any server gave out.
        ("bad_key".to_owned(), format!("bw_live_KITWRONG_{}", "Z".repeat(46))),
        ("key_changed".to_owned(), format!("{shorter}{other_last}")),
        ("key_long".to_owned(), format!("{key}A")),
        ("key_swapcase".to_owned(), key.chars().map(swap_case).collect()),
        ("key_short".to_owned(), shorter),
        ("key".to_owned(), key),
    ]);
    known.extend(extra.into_iter().map(|(name, value)| (format!("key_{name}"), value)));
    known.extend(other_key.map(|value| ("other_key".to_owned(), value)));
    known.extend(template.map(|value| ("template".to_owned(), value)));
    known
}

fn request(
    case: &Case,
    step: &Step,
    scope: &mut Scope,
    sent: &mut Vec<Vec<u8>>,
) -> Result<Request> {
    let plan = &step.request;
    let body = match &plan.body {
        Some(body_plan) => body_bytes(body_plan, case, scope, sent)?,
        None => Vec::new(),
    };
    sent.push(body.clone());
    let mut request = Request::new(&plan.method, &scope.text(&plan.path)?).body(body);
    request.chunked = plan.chunked;
    if plan.auth != "none" {
        let name = match plan.auth.as_str() {
            "key" => "key".to_owned(),
            "bad" => "bad_key".to_owned(),
            "other_iso" => "other_key".to_owned(),
            further => format!("key_{further}"),
        };
        let value = scope.text(&format!("api-key ${{{name}}}"))?;
        request = request.header("Authorization", &value);
    }
    if !plan.headers.keys().any(|name| name.eq_ignore_ascii_case("Content-Type")) {
        request = request.header("Content-Type", "application/json");
    }
    for (name, value) in &plan.headers {
        if let Some(value) = value {
            request = request.header(name, &scope.text(value)?);
        }
    }
    Ok(request)
}

fn body_bytes(
    plan: &BodyPlan,
    case: &Case,
    scope: &mut Scope,
    sent: &[Vec<u8>],
) -> Result<Vec<u8>> {
    body::bytes(plan, &case.bases, scope, sent).context("the case makes no request body")
}

/// Each answer is claimed by the first kind it fits; none may be left over.
fn mix_problems(step: &Step, answers: &[Response], scope: &mut Scope) -> Result<Vec<String>> {
    let mut problems = Vec::new();
    let mut unclaimed: Vec<&Response> = answers.iter().collect();
    for kind in &step.expect_mix {
        let mut left = Vec::new();
        let before = unclaimed.len();
        for answer in unclaimed {
            if !nearest_problems(kind.expect.as_slice(), answer, scope)?.is_empty() {
                left.push(answer);
            }
        }
        let (low, high) = kind.count;
        let fitting = before - left.len();
        if !(low..=high).contains(&fitting) {
            let name = &kind.name;
            problems.push(format!("expected {low} to {high} answers {name:?}, got {fitting}"));
        }
        unclaimed = left;
    }
    for answer in unclaimed.iter().take(3) {
        let text = shortened(&answer.text());
        problems.push(format!("unexpected response: {} {text}", answer.status));
    }
    Ok(problems)
}

fn distinct_problems(step: &Step, answers: &[Response]) -> Result<Vec<String>> {
    let mut problems = Vec::new();
    for (place, wanted) in &step.distinct {
        let mut values = BTreeSet::new();
        for answer in answers.iter().filter(|answer| answer.status == 200) {
            values.insert(path::find(&answer.json()?, place)?.map(Value::to_string));
        }
        if values.len() != *wanted {
            let got = values.len();
            problems.push(format!("{place}: expected {wanted} different values, got {got}"));
        }
    }
    Ok(problems)
}

fn save(step: &Step, answer: &Response, scope: &mut Scope) -> Result<()> {
    for (name, source) in &step.save {
        let value = match source.strip_prefix("header:") {
            Some(header) => answer.header(header),
            None => path::find(&answer.json()?, source)?.and_then(Value::as_str).map(str::to_owned),
        };
        let value =
            value.with_context(|| format!("the response has no text at {source} to save"))?;
        scope.save(name, &value);
    }
    Ok(())
}

/// Spreads requests with refused keys, so that a server's throttle never sees too many.
#[derive(Debug)]
struct Pace {
    refusals_max: usize,
    times: Mutex<Vec<Instant>>,
}

impl Pace {
    /// Waits while holding the lock on purpose: those who come later wait for their turn.
    fn wait(&self) {
        let mut times = self.times.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        times.retain(|time| time.elapsed() < PACE_WINDOW);
        if times.len() >= self.refusals_max.max(1)
            && let Some(oldest) = times.first()
        {
            thread::sleep(PACE_WINDOW.saturating_sub(oldest.elapsed()));
        }
        times.push(Instant::now());
    }
}
