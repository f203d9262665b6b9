//! The server's index against the reference's: which routes are absent, and what is different
//! about those that both have. Routes of our own are welcome; prose (`description`, `title`) is.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use serde_json::{Map, Value};

use super::compare::shown;
use super::deviations::Deviations;
use super::{SITE_TOKEN, runner};

/// What the words of a description say is the product's own.
const PROSE: [&str; 2] = ["description", "title"];
/// Arguments of our own, on routes that the reference has as well: what is added harms no client.
const OWN_ARGUMENTS: [&str; 4] =
    ["merchant_includes", "store_includes", "tpn_includes", "currency"];
/// Choices of our own, by the argument that offers them.
const OWN_CHOICES: [(&str, &[&str]); 1] = [("segmentby", &["merchant", "store", "currency"])];
/// What an endpoint of the index has besides its methods and arguments.
const BATCH_MEMBER: &str = "allow_batch";

/// The reference's routes by pattern, and the head of its index.
#[derive(Clone, Debug)]
pub struct Reference {
    routes: BTreeMap<String, Value>,
    head: Value,
}

/// What a comparison found.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    /// Routes of the reference that the server does not list.
    pub absent: BTreeSet<String>,
    /// How many routes both have.
    pub compared: usize,
    /// A route, or the head, and a line about what is different.
    pub differences: Vec<(String, String)>,
}

impl Reference {
    /// Reads `routes-*.json` and `index-head.json` of a folder.
    pub fn load(folder: &Path) -> Result<Self> {
        let mut routes = BTreeMap::new();
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
            if name.is_some_and(|name| name.starts_with("routes-")) {
                let listed: BTreeMap<String, Value> = serde_json::from_value(read(&path)?)?;
                routes.extend(listed);
            }
        }
        ensure!(!routes.is_empty(), "{} names no routes", folder.display());
        Ok(Self { routes, head: read(&folder.join("index-head.json"))? })
    }

    /// The reference's routes as if a server had just these.
    #[cfg(test)]
    pub(super) fn as_index(&self) -> Value {
        let mut index = self.head.clone();
        index["routes"] = serde_json::json!(self.routes);
        serde_json::from_str(&index.to_string().replace(SITE_TOKEN, "")).unwrap()
    }

    #[cfg(test)]
    pub(super) fn from_routes(routes: Value) -> Self {
        Self { routes: serde_json::from_value(routes).unwrap(), head: Value::Null }
    }

    #[cfg(test)]
    pub(super) fn names(&self, pattern: &str) -> bool {
        self.routes.contains_key(pattern)
    }

    /// Compares the index of the server at this address.
    pub fn compare_site(&self, site: &str) -> Result<Findings> {
        let site = site.trim_end_matches('/');
        self.compare(&runner::index(site)?, site)
    }

    pub(super) fn compare(&self, index: &Value, site: &str) -> Result<Findings> {
        let listed = index.get("routes").and_then(Value::as_object);
        let listed = listed.context("the index has no object `routes`")?;
        let mut findings = Findings::default();
        for line in self.head_differences(index, site) {
            findings.differences.push(("index".to_owned(), line));
        }
        for (pattern, want) in &self.routes {
            let Some(got) = listed.get(pattern) else {
                findings.absent.insert(pattern.clone());
                continue;
            };
            findings.compared += 1;
            for line in route_differences(want, got) {
                findings.differences.push((format!("index{pattern}"), line));
            }
        }
        Ok(findings)
    }

    fn head_differences(&self, index: &Value, site: &str) -> Vec<String> {
        let mut found = Vec::new();
        for (name, want) in self.head.as_object().into_iter().flatten() {
            let got = index.get(name).unwrap_or(&Value::Null);
            if name == "namespaces" {
                let has = |one: &&Value| !got.as_array().is_some_and(|all| all.contains(one));
                let missing = want.as_array().into_iter().flatten().filter(has);
                found.extend(missing.map(|one| format!("namespaces: {one} is missing")));
                continue;
            }
            same(name, Some(&with_site(want, site)), Some(got), &mut found);
        }
        found
    }
}

impl Findings {
    /// What must be fixed, as text; nothing if all is well. `known_absent` is the list of absent
    /// routes: no other may be, and one that is there must leave the list.
    pub fn problems(
        &self,
        known_absent: &BTreeSet<String>,
        meant: &mut Deviations,
    ) -> Option<String> {
        let mut lines = Vec::new();
        for (case, line) in &self.differences {
            if meant.reason(case, line).is_none() {
                lines.push(format!("{case}: {line}"));
            }
        }
        let lost = self.absent.difference(known_absent);
        lines.extend(lost.map(|route| format!("{route} is not in the index")));
        let stale = known_absent.difference(&self.absent);
        lines.extend(stale.map(|route| format!("{route} is there: take it from the absent ones")));
        if lines.is_empty() { None } else { Some(lines.join("\n")) }
    }
}

/// The absent routes, as the repository has them: one per line.
pub fn absent_known(folder: &Path) -> Result<BTreeSet<String>> {
    let path = folder.join("absent-routes.txt");
    let text = fs::read_to_string(&path);
    let text = text.with_context(|| format!("cannot read {}", path.display()))?;
    Ok(text.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect())
}

/// The recorded addresses are texts that begin with the site's.
fn with_site(want: &Value, site: &str) -> Value {
    match want {
        Value::String(text) => text.replace(SITE_TOKEN, site).into(),
        Value::Object(members) => {
            members.iter().map(|(name, value)| (name.clone(), with_site(value, site))).collect()
        }
        other => other.clone(),
    }
}

/// Of many routes the reference tells only the methods; then nothing else is compared.
fn route_differences(want: &Value, got: &Value) -> Vec<String> {
    let mut found = Vec::new();
    same("methods", want.get("methods"), got.get("methods"), &mut found);
    let Some(endpoints) = want.get("endpoints").and_then(Value::as_array) else { return found };
    let ours =
        got.get("endpoints").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    if endpoints.len() != ours.len() {
        found.push(format!("want {} endpoints, got {}", endpoints.len(), ours.len()));
        return found;
    }
    for (want, got) in endpoints.iter().zip(ours) {
        let place = shown(want.get("methods").unwrap_or(&Value::Null));
        same(&format!("{place} methods"), want.get("methods"), got.get("methods"), &mut found);
        let (batch, our_batch) = (want.get(BATCH_MEMBER), got.get(BATCH_MEMBER));
        same(&format!("{place} {BATCH_MEMBER}"), batch, our_batch, &mut found);
        arguments(&place, want.get("args"), got.get("args"), &mut found);
    }
    found
}

fn arguments(place: &str, want: Option<&Value>, got: Option<&Value>, found: &mut Vec<String>) {
    // No arguments are an empty list in the reference's index.
    let none = Map::new();
    let (want, got) = (want.and_then(Value::as_object), got.and_then(Value::as_object));
    let (want, got) = (want.unwrap_or(&none), got.unwrap_or(&none));
    for (name, schema) in want {
        match got.get(name) {
            Some(ours) => {
                let ours = without_own_choices(name, ours);
                keywords(&format!("{place} {name}"), schema, &ours, found);
            }
            None => found.push(format!("{place} {name}: missing, want {}", shown(schema))),
        }
    }
    let is_own = |name: &str| OWN_ARGUMENTS.contains(&name);
    let more = got.iter().filter(|(name, _)| !want.contains_key(*name) && !is_own(name));
    for (name, schema) in more {
        found.push(format!("{place} {name}: not in the reference, got {}", shown(schema)));
    }
}

fn without_own_choices(argument: &str, schema: &Value) -> Value {
    let mut schema = schema.clone();
    let own = OWN_CHOICES.iter().find(|(name, _)| *name == argument);
    if let (Some((_, own)), Some(Value::Array(choices))) = (own, schema.get_mut("enum")) {
        choices.retain(|choice| !choice.as_str().is_some_and(|choice| own.contains(&choice)));
    }
    schema
}

/// Each keyword of an argument on its own, so that a difference says which it is.
fn keywords(place: &str, want: &Value, got: &Value, found: &mut Vec<String>) {
    let names = |schema: &Value| -> BTreeSet<String> {
        schema.as_object().into_iter().flatten().map(|(name, _)| name.clone()).collect()
    };
    let all: BTreeSet<String> = names(want).union(&names(got)).cloned().collect();
    for name in all.iter().filter(|name| !PROSE.contains(&name.as_str())) {
        same(&format!("{place}.{name}"), want.get(name), got.get(name), found);
    }
}

fn same(place: &str, want: Option<&Value>, got: Option<&Value>, found: &mut Vec<String>) {
    if want.map(without_prose) == got.map(without_prose) {
        return;
    }
    let tell = |value: Option<&Value>| value.map_or_else(|| "nothing".to_owned(), shown);
    found.push(format!("{place}: want {}, got {}", tell(want), tell(got)));
}

/// A nested schema without its prose. A property that happens to be called `title` stays: its value
/// is a schema, not a text.
fn without_prose(schema: &Value) -> Value {
    match schema {
        Value::Object(members) => {
            let is_prose = |name: &str, value: &Value| PROSE.contains(&name) && value.is_string();
            let kept = members.iter().filter(|(name, value)| !is_prose(name, value));
            kept.map(|(name, value)| (name.clone(), without_prose(value))).collect()
        }
        Value::Array(items) => items.iter().map(without_prose).collect(),
        other => other.clone(),
    }
}

fn read(path: &Path) -> Result<Value> {
    let text = fs::read_to_string(path);
    let text = text.with_context(|| format!("cannot read {}", path.display()))?;
    serde_json::from_str(&text).with_context(|| format!("{} is not JSON", path.display()))
}
