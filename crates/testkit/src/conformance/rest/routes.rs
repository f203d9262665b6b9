//! The routes that a server says it has, and which of them a recorded exchange needs.
//!
//! The server's own index decides whether a case can run: a route that is not listed there is not
//! built yet.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context as _, Result};
use regex::{Regex, RegexBuilder};
use serde_json::{Map, Value};

use super::REST_ROOT;
use super::case::{Exchange, Expected, Plan};

/// The answer to a path or a method that nobody serves.
const NO_ROUTE: &str = "rest_no_route";
/// Refusals that come before anybody looks at the route: its path is enough, whatever the method.
const REFUSED_UNSEEN: [&str; 2] = ["incorrect_password", "invalid_username"];
/// Every path that is served at all answers this method.
const ANY_METHOD: &str = "OPTIONS";
const BATCH_PATH: &str = "/batch/v1";
/// Where products are, and with them their pages.
const PRODUCTS: (&str, &str) = ("GET", "/wc/v3/products");
/// A batch that was looked at item by item.
const BATCH_STATUS: u16 = 207;

#[derive(Debug)]
pub struct Routes {
    by_pattern: BTreeMap<String, Route>,
}

#[derive(Debug)]
struct Route {
    path: Regex,
    methods: BTreeSet<String>,
}

impl Routes {
    /// Reads the answer to `GET {root}/`.
    pub fn from_index(index: &Value) -> Result<Self> {
        let listed = index.get("routes").and_then(Value::as_object);
        let listed = listed.context("the index has no object `routes`")?;
        let mut by_pattern = BTreeMap::new();
        for (pattern, entry) in listed {
            let path = RegexBuilder::new(&format!("^(?:{pattern})$"))
                .case_insensitive(true)
                .build()
                .with_context(|| format!("the route {pattern} is not a regular expression"))?;
            by_pattern.insert(pattern.clone(), Route { path, methods: methods(entry) });
        }
        Ok(Self { by_pattern })
    }

    /// What an exchange needs and the server does not have; the first such route.
    pub(super) fn missing(&self, exchange: &Exchange) -> Option<String> {
        let Exchange { request, expect } = exchange;
        if !request.path.starts_with(REST_ROOT) {
            return None;
        }
        let (status, body) = match expect {
            Expected::Answer { status, body, .. } => (*status, body),
            Expected::NoCrash => (0, &Value::Null),
        };
        let path = request.path.strip_prefix(REST_ROOT).unwrap_or(&request.path);
        let is_unseen = code(body).is_some_and(|code| REFUSED_UNSEEN.contains(&code));
        let method = if is_unseen { ANY_METHOD } else { &request.method };
        let own = needs_route(body).then_some((method, path));
        let items = if path == BATCH_PATH && status == BATCH_STATUS {
            batch_items(request, body)
        } else {
            Vec::new()
        };
        let mut needed = own.into_iter().chain(items).chain(page_owner(request));
        let unserved = needed.find(|(method, path)| !self.serve(method, path));
        match unserved {
            Some((method, path)) => Some(format!("{method} {path}")),
            None => self.unlisted(body),
        }
    }

    fn serve(&self, method: &str, path: &str) -> bool {
        let path = match path.trim_end_matches('/') {
            "" => "/",
            trimmed => trimmed,
        };
        let mut fitting = self.by_pattern.values().filter(|route| route.path.is_match(path));
        fitting.any(|route| match method {
            ANY_METHOD => true,
            "HEAD" => route.methods.contains("HEAD") || route.methods.contains("GET"),
            _ => route.methods.contains(method),
        })
    }

    /// A recorded index lists routes; the server's can be equal only once it has them all.
    fn unlisted(&self, recorded_body: &Value) -> Option<String> {
        let listed: &Map<String, Value> = recorded_body.get("routes")?.as_object()?;
        let lacks = |(pattern, entry): &(&String, &Value)| match self.by_pattern.get(*pattern) {
            Some(route) => !methods(entry).is_subset(&route.methods),
            None => true,
        };
        listed.iter().find(lacks).map(|(pattern, _)| format!("{pattern} in the index"))
    }
}

/// A request about a product's page needs somebody who has products.
fn page_owner(request: &Plan) -> Option<(&'static str, &'static str)> {
    request.query.contains("/product/").then_some(PRODUCTS)
}

/// A path that was recorded as nobody's needs no route.
fn needs_route(recorded_body: &Value) -> bool {
    code(recorded_body) != Some(NO_ROUTE)
}

/// The code of a recorded refusal.
fn code(recorded_body: &Value) -> Option<&str> {
    recorded_body.get("code").and_then(Value::as_str)
}

/// The items of a batch that were recorded as somebody's. An item that was not run (`null`) was
/// found valid, so it needs its route all the same.
fn batch_items<'plan>(request: &'plan Plan, recorded: &Value) -> Vec<(&'plan str, &'plan str)> {
    let list = |value: Option<&'plan Value>| value.and_then(Value::as_array);
    let items = list(request.body.as_ref().and_then(|body| body.get("requests")));
    let answers = recorded.get("responses").and_then(Value::as_array);
    let pairs = items.into_iter().flatten().zip(answers.into_iter().flatten());
    let served = pairs.filter(|(_, answer)| answer.get("body").is_none_or(needs_route));
    let item = |(item, _): (&'plan Value, &Value)| {
        let text = |name: &str| item.get(name).and_then(Value::as_str);
        let path = text("path").unwrap_or_default();
        (text("method").unwrap_or("POST"), path.split('?').next().unwrap_or(path))
    };
    served.map(item).collect()
}

fn methods(entry: &Value) -> BTreeSet<String> {
    let listed = entry.get("methods").and_then(Value::as_array);
    let names = listed.into_iter().flatten().filter_map(Value::as_str);
    names.map(str::to_owned).collect()
}
