//! Sends cases to a server and judges its answers.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use types::{Clock, Timestamp};

use crate::http::{self, Request, Response};
use crate::openapi::Documents;

use super::case::{Case, Compare, Exchange, Expected, Plan, Step};
use super::compare::{self, Rules};
use super::ids::Ids;
use super::routes::Routes;
use super::undefined::Undefined;
use super::visitor::{self, Visitor};
use super::{REST_ROOT, SITE_TOKEN, facts, headers};

/// The address of the server, percent-encoded.
const ENCODED_SITE_TOKEN: &str = "{{site%}}";
const JSON: &str = "application/json";
/// `2026-01`.
const MONTH_CHARS: usize = 7;
/// How long the server's queue may take for what a recording shows as done.
const QUEUE_PATIENCE: Duration = Duration::from_mins(1);
const QUEUE_GLANCE: Duration = Duration::from_millis(200);

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
    /// From recorded ids to those that the server gave to what a seed made.
    seeded: BTreeMap<i64, i64>,
    /// The address of the server that took the seed; it is part of some texts.
    seeded_at: String,
    /// What the program says of its answers.
    documents: Option<Documents>,
}

impl Runner {
    /// For a server at this address, such as `http://127.0.0.1:8080`, which is asked for its index.
    pub fn new(site: &str, identities: Identities) -> Result<Self> {
        let site = site.trim_end_matches('/').to_owned();
        let routes = Routes::from_index(&index(&site)?)?;
        let (seeded, seeded_at) = (BTreeMap::new(), site.clone());
        Ok(Self { site, identities, routes, seeded, seeded_at, documents: None })
    }

    /// For a server whose shop was made by a [`Seed`](super::Seed), sent to this address.
    #[must_use]
    pub fn seeded(self, ids: BTreeMap<i64, i64>, address: &str) -> Self {
        let seeded_at = address.trim_end_matches('/').to_owned();
        Self { seeded: ids, seeded_at, ..self }
    }

    /// Holds every answer against these documents, too.
    #[must_use]
    pub fn documented(self, documents: Documents) -> Self {
        Self { documents: Some(documents), ..self }
    }

    /// Runs a case and returns a verdict per request, in their order.
    pub fn run(&self, case: &Case) -> Vec<Verdict> {
        let mut ids = Ids::seeded(&self.seeded);
        let mut visitors: BTreeMap<String, Visitor> = BTreeMap::new();
        let mut never_made = Ids::default();
        let mut verdicts = Vec::new();
        let mut queue_ran = false;
        for (index, step) in case.steps.iter().enumerate() {
            let exchange = match step {
                Step::Exchange(exchange) => exchange,
                Step::QueueRan => {
                    queue_ran = true;
                    continue;
                }
                Step::Aside => continue,
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
            let visitor = visitors.entry(exchange.request.client.clone()).or_default();
            if std::mem::take(&mut queue_ran) {
                self.await_queue(exchange, &ids, visitor);
            }
            let differences = self
                .differences(case, exchange, &mut ids, visitor)
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

    /// Asks until the answer has what the recorded one has, as a client that follows a job does:
    /// how long the server's queue takes depends on the machine.
    fn await_queue(&self, exchange: &Exchange, ids: &Ids, visitor: &Visitor) {
        let Exchange { request: plan, expect: Expected::Answer { body, .. } } = exchange else {
            return;
        };
        let until = Instant::now() + QUEUE_PATIENCE;
        while plan.method == "GET" && Instant::now() < until {
            let answer = self
                .request(plan, ids, visitor)
                .and_then(|request| http::send(&self.site, &request))
                .map(|answer| self.answer_body(&answer));
            if answer.is_ok_and(|got| compare::shape(body, &got).is_empty()) {
                return;
            }
            thread::sleep(QUEUE_GLANCE);
        }
    }

    fn differences(
        &self,
        case: &Case,
        exchange: &Exchange,
        ids: &mut Ids,
        visitor: &mut Visitor,
    ) -> Result<Vec<String>> {
        let Exchange { request: plan, expect } = exchange;
        let request = self.request(plan, ids, visitor)?;
        let answer = http::send(&self.site, &request)?;
        visitor.remember(&answer);
        let documents = self.documents.iter();
        let undocumented = documents.flat_map(|documents| documents.errors(&request, &answer));
        let undocumented: Vec<String> =
            undocumented.map(|error| format!("not as documented: {error}")).collect();
        if !undocumented.is_empty() {
            return Ok(undocumented);
        }
        let (status, headers, body, cookies, compare) = match expect {
            Expected::NoCrash if answer.status < 500 => return Ok(Vec::new()),
            Expected::NoCrash => {
                return Ok(vec![format!("status: {} where anything else will do", answer.status)]);
            }
            Expected::Answer { status, headers, body, cookies, compare } => {
                (*status, headers, body, cookies, *compare)
            }
        };
        let got = if plan.web { self.facts(&answer) } else { self.answer_body(&answer) };
        if answer.status != status {
            let (came, text) = (answer.status, compare::shown(&got));
            return Ok(vec![format!("status: want {status}, got {came} {text}")]);
        }
        let want = if plan.web { body.clone() } else { self.with_site(body) };
        match plan.method.as_str() {
            _ if !case.is_sequence => {}
            "POST" | "PUT" => ids.learn(plan, &want, &got),
            _ => ids.learn_order(plan, &want, &got),
        }
        let headers = headers.iter().map(|(name, value)| (name.clone(), self.in_text(value)));
        let mut found = headers::compare(ids, &headers.collect(), &answer);
        let set = visitor::cookie_names(&answer);
        let unset = cookies.iter().filter(|name| !set.contains(*name));
        found.extend(unset.map(|name| format!("cookie {name}: not set, got {set:?}")));
        let undefined = Undefined::of(&plan.path, &plan.query);
        let ties = compare == Compare::Ties;
        let rules = Rules { ids, undefined: &undefined, ties, now: now() };
        found.extend(match compare {
            Compare::Exact | Compare::Ties | Compare::Facts => compare::body(rules, &want, &got),
            Compare::Shape => compare::shape(&want, &got),
            Compare::Status => Vec::new(),
        });
        Ok(found)
    }

    fn facts(&self, answer: &Response) -> Value {
        let media_type = answer.header("Content-Type").unwrap_or_default();
        facts::facts(&media_type, &answer.text(), &self.site)
    }

    pub(super) fn request(&self, plan: &Plan, ids: &Ids, visitor: &Visitor) -> Result<Request> {
        let mut target = visitor.fill(&ids.text(&plan.path), &self.site);
        if !plan.query.is_empty() {
            let query = ids.text(&plan.query).replace(SITE_TOKEN, &encoded(&self.site));
            target = format!("{target}?{query}");
        }
        let mut request = Request::new(&plan.method, &target);
        for (name, value) in &plan.headers {
            request = request.header(name, &visitor.fill(value, &self.site));
        }
        if let Some(value) = self.authorization(&plan.auth)? {
            request = request.header("Authorization", &value);
        }
        if let Some(cookies) = visitor.cookie_header().filter(|_| plan.cookies) {
            request = request.header("Cookie", &cookies);
        }
        let Some(body) = &plan.body else { return Ok(request) };
        let (media_type, bytes) = self.body(plan, body, ids, visitor)?;
        if !plan.headers.keys().any(|name| name.eq_ignore_ascii_case("Content-Type")) {
            request = request.header("Content-Type", media_type);
        }
        Ok(request.body(bytes))
    }

    /// The bytes of a body and their media type, unless the headers name another one.
    fn body(
        &self,
        plan: &Plan,
        body: &Value,
        ids: &Ids,
        visitor: &Visitor,
    ) -> Result<(&'static str, Vec<u8>)> {
        let alone = body.as_object().filter(|members| members.len() == 1);
        let member = |name: &str| alone.and_then(|members| members.get(name)?.as_str());
        if let Some(text) = member("$raw") {
            return Ok((JSON, text.into()));
        }
        if let Some(text) = member("$base64") {
            let bytes = data_encoding::BASE64.decode(text.as_bytes())?;
            let is_parts = plan.headers.values().any(|value| value.starts_with("multipart/"));
            return Ok((JSON, if is_parts { ids.in_parts(bytes) } else { bytes }));
        }
        if let Some(form) = member("$form") {
            let field = |pair: &str| {
                let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
                match visitor.fill(value, &self.site) {
                    filled if filled != value => format!("{name}={}", encoded(&filled)),
                    _ => pair.to_owned(),
                }
            };
            let fields: Vec<String> = ids.text(form).split('&').map(field).collect();
            return Ok(("application/x-www-form-urlencoded", fields.join("&").into()));
        }
        let folder = Clock::System.now().to_string();
        let month = folder.get(..MONTH_CHARS).unwrap_or_default().replace('-', "/");
        let text = self.with_site(&ids.value(body)).to_string();
        let text = text.replace("/uploads/YYYY/MM/", &format!("/uploads/{month}/"));
        Ok((JSON, visitor.fill(&text, &self.site).into()))
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
        Ok(Some(format!("Basic {}", data_encoding::BASE64.encode(pair.as_bytes()))))
    }

    fn in_text(&self, recorded: &str) -> String {
        let text = recorded.replace(SITE_TOKEN, &self.site);
        text.replace(ENCODED_SITE_TOKEN, &encoded(&self.site))
    }

    /// A recorded value with the server's own address in it.
    fn with_site(&self, recorded: &Value) -> Value {
        map_texts(recorded, &|text| self.in_text(text))
    }

    /// The answer as JSON: nothing is null, and what is no JSON is a text. What the seed wrote with
    /// its server's address has that of this one.
    fn answer_body(&self, answer: &Response) -> Value {
        if answer.body.is_empty() {
            return Value::Null;
        }
        let body = answer.json().unwrap_or_else(|_| answer.text().into());
        if self.seeded_at == self.site {
            return body;
        }
        map_texts(&body, &|text| text.replace(&self.seeded_at, &self.site))
    }
}

/// A value whose texts and names are made anew.
fn map_texts(value: &Value, map: &dyn Fn(&str) -> String) -> Value {
    match value {
        Value::String(text) => map(text).into(),
        Value::Array(items) => items.iter().map(|item| map_texts(item, map)).collect(),
        Value::Object(members) => {
            let member = |(name, value): (&String, &Value)| (map(name), map_texts(value, map));
            members.iter().map(member).collect()
        }
        _ => value.clone(),
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

fn encoded(text: &str) -> String {
    form_urlencoded::byte_serialize(text.as_bytes()).collect()
}
