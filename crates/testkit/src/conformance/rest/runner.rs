//! Sends cases to a server and judges its answers.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use types::{Clock, Timestamp};

use crate::http::{self, Request, Response};

use super::case::{Case, Compare, Exchange, Expected, Plan, Step};
use super::compare::{self, Rules};
use super::ids::Ids;
use super::routes::Routes;
use super::undefined::Undefined;
use super::{REST_ROOT, SITE_TOKEN, headers};

/// By the name that the cases use: what Basic authentication sends, as `login:password`.
pub type Identities = BTreeMap<String, String>;

/// What became of one request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    Passed,
    /// The differences between the answer and the recorded one, a line each.
    Failed(Vec<String>),
    /// It was not sent: the server does not list this route, or the id it names belongs to
    /// something that such a request would have created.
    Waiting(String),
}

#[derive(Debug)]
pub struct Runner {
    site: String,
    identities: Identities,
    routes: Routes,
}

impl Runner {
    /// For a server at this address, such as `http://127.0.0.1:8080`, which is asked for its index.
    pub fn new(site: &str, identities: Identities) -> Result<Self> {
        let site = site.trim_end_matches('/').to_owned();
        let routes = Routes::from_index(&index(&site)?)?;
        Ok(Self { site, identities, routes })
    }

    /// Runs a case and returns a verdict per request, in their order.
    pub fn run(&self, case: &Case) -> Vec<Verdict> {
        let mut ids = Ids::default();
        let mut never_made = Ids::default();
        let mut verdicts = Vec::new();
        for (index, step) in case.steps.iter().enumerate() {
            let exchange = match step {
                Step::Exchange(exchange) => exchange,
                Step::Pause(duration) => {
                    thread::sleep(*duration);
                    continue;
                }
                Step::Download => continue,
            };
            let Plan { method, path, .. } = &exchange.request;
            let waits = self.routes.missing(exchange).or_else(|| {
                let names_one = never_made.are_named_in(&exchange.request);
                names_one.then(|| format!("what an earlier step makes, for {method} {path}"))
            });
            if let Some(reason) = waits {
                if let ("POST", Expected::Answer { body, .. }) = (method.as_str(), &exchange.expect)
                {
                    never_made.add_unknown(body);
                }
                verdicts.push(Verdict::Waiting(reason));
                continue;
            }
            let differences = self
                .differences(case, exchange, &mut ids)
                .unwrap_or_else(|error| vec![format!("no response: {error:#}")]);
            let place = if case.is_sequence {
                format!("step {} {method} {path}: ", index + 1)
            } else {
                String::new()
            };
            let lines: Vec<String> =
                differences.into_iter().map(|line| format!("{place}{line}")).collect();
            verdicts.push(if lines.is_empty() { Verdict::Passed } else { Verdict::Failed(lines) });
        }
        verdicts
    }

    /// Runs cases that disturb nobody in `jobs` threads; the verdicts come in the cases' order.
    pub fn run_all(&self, cases: &[&Case], jobs: usize) -> Vec<Vec<Verdict>> {
        let slots: Vec<Mutex<Vec<Verdict>>> = cases.iter().map(|_| Mutex::default()).collect();
        let work: Vec<_> = cases.iter().zip(&slots).collect();
        let next = AtomicUsize::new(0);
        thread::scope(|scope| {
            for _ in 0..jobs.max(1) {
                scope.spawn(|| {
                    while let Some((case, slot)) = work.get(next.fetch_add(1, Ordering::Relaxed)) {
                        let verdicts = self.run(case);
                        *slot.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = verdicts;
                    }
                });
            }
        });
        let taken = |slot: Mutex<Vec<Verdict>>| {
            slot.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner)
        };
        slots.into_iter().map(taken).collect()
    }

    fn differences(&self, case: &Case, exchange: &Exchange, ids: &mut Ids) -> Result<Vec<String>> {
        let answer = http::send(&self.site, &self.request(&exchange.request, ids)?)?;
        let (status, headers, body, compare) = match &exchange.expect {
            Expected::NoCrash if answer.status < 500 => return Ok(Vec::new()),
            Expected::NoCrash => {
                return Ok(vec![format!("status: {} where anything else will do", answer.status)]);
            }
            Expected::Answer { status, headers, body, compare } => {
                (*status, headers, body, *compare)
            }
        };
        let got = answer_body(&answer);
        if answer.status != status {
            let (came, text) = (answer.status, compare::shown(&got));
            return Ok(vec![format!("status: want {status}, got {came} {text}")]);
        }
        let want = self.with_site(body);
        if case.is_sequence && exchange.request.method == "POST" {
            ids.learn(&exchange.request, &want, &got);
        }
        let headers = headers
            .iter()
            .map(|(name, value)| (name.clone(), value.replace(SITE_TOKEN, &self.site)))
            .collect();
        let mut found = headers::compare(ids, &headers, &answer);
        let undefined = Undefined::of(&exchange.request.path, &exchange.request.query);
        let ties = compare == Compare::Ties;
        let rules = Rules { ids, undefined: &undefined, ties, now: now() };
        found.extend(match compare {
            Compare::Exact | Compare::Ties => compare::body(rules, &want, &got),
            Compare::Shape => compare::shape(&want, &got),
            Compare::Status => Vec::new(),
        });
        Ok(found)
    }

    fn request(&self, plan: &Plan, ids: &Ids) -> Result<Request> {
        let mut target = ids.text(&plan.path);
        if !plan.query.is_empty() {
            let site: String = form_urlencoded::byte_serialize(self.site.as_bytes()).collect();
            target = format!("{target}?{}", ids.text(&plan.query).replace(SITE_TOKEN, &site));
        }
        let mut request = Request::new(&plan.method, &target);
        for (name, value) in &plan.headers {
            request = request.header(name, value);
        }
        if let Some(value) = self.authorization(&plan.auth)? {
            request = request.header("Authorization", &value);
        }
        let Some(body) = &plan.body else { return Ok(request) };
        if !plan.headers.keys().any(|name| name.eq_ignore_ascii_case("Content-Type")) {
            request = request.header("Content-Type", "application/json");
        }
        Ok(request.body(match raw_text(body) {
            Some(text) => text.to_owned(),
            None => self.with_site(&ids.value(body)).to_string(),
        }))
    }

    fn authorization(&self, identity: &str) -> Result<Option<String>> {
        if let Some(raw) = identity.strip_prefix("raw:") {
            return Ok(Some(raw.to_owned()));
        }
        if identity == "none" {
            return Ok(None);
        }
        let pair = self.identities.get(identity);
        let pair = pair.with_context(|| format!("the run has no identity `{identity}`"))?;
        Ok(Some(format!("Basic {}", base64(pair.as_bytes()))))
    }

    /// A recorded value with the server's own address in it.
    fn with_site(&self, recorded: &Value) -> Value {
        match recorded {
            Value::String(text) => text.replace(SITE_TOKEN, &self.site).into(),
            Value::Array(items) => items.iter().map(|item| self.with_site(item)).collect(),
            Value::Object(members) => {
                let member = |(name, value): (&String, &Value)| {
                    (name.replace(SITE_TOKEN, &self.site), self.with_site(value))
                };
                members.iter().map(member).collect()
            }
            _ => recorded.clone(),
        }
    }
}

/// The index of a server: `GET {root}/`.
pub(super) fn index(site: &str) -> Result<Value> {
    let answer = http::get(site, &format!("{REST_ROOT}/"), &[])?;
    ensure!(answer.status == 200, "the index returned {}: {}", answer.status, answer.text());
    answer.json()
}

fn now() -> Timestamp {
    Clock::System.now()
}

/// The answer as JSON: nothing is null, and what is no JSON is a text.
fn answer_body(answer: &Response) -> Value {
    if answer.body.is_empty() {
        return Value::Null;
    }
    answer.json().unwrap_or_else(|_| answer.text().into())
}

/// A body that is to be sent as it stands.
fn raw_text(body: &Value) -> Option<&str> {
    let members = body.as_object().filter(|members| members.len() == 1)?;
    members.get("$raw").and_then(Value::as_str)
}

/// The standard alphabet, with padding.
fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let byte = |index: usize| u32::from(chunk.get(index).copied().unwrap_or(0));
        let bits = (byte(0) << 16) | (byte(1) << 8) | byte(2);
        for digit in 0..4_usize {
            let value = usize::try_from((bits >> (18 - 6 * digit)) & 63).unwrap_or(0);
            let letter = ALPHABET.get(value).copied().unwrap_or(b'=');
            text.push(if digit > chunk.len() { '=' } else { char::from(letter) });
        }
    }
    text
}
