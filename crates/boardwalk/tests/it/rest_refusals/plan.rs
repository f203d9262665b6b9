//! Requests that a route would take, made from nothing but the index of a running site.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::{Map, Value, json};

/// An id that no row has, and a name that nothing has.
const NO_ID: &str = "999999999";
const NO_NAME: &str = "no-such-thing";
/// The same for variables that take small letters alone.
const NO_WORD: &str = "nothing";
/// The key of an item that no cart has.
const NO_KEY: &str = "00000000000000000000000000000000";
/// What is in collections that cannot be listed a hundred at a time, or at all.
const UNLISTED: &[(&str, &str)] = &[
    ("/boardwalk/v1/zip-codes", "10001"),
    ("/wc-admin/onboarding/plugins/scheduled-installs", "none"),
    ("/wc-analytics/leaderboards", "products"),
    // The list has comments alone, and the recorded shop has reviews.
    ("/wp/v2/comments", "1130"),
];

/// One operation of a route.
pub(super) struct Endpoint {
    pub(super) pattern: String,
    pub(super) methods: Vec<String>,
    pub(super) batchable: bool,
    args: Map<String, Value>,
}

/// All operations, and a path for each route.
pub(super) struct Routes {
    pub(super) endpoints: Vec<Endpoint>,
    /// By pattern.
    existing: BTreeMap<String, String>,
}

impl Routes {
    /// `get` reads a path as somebody who sees everything.
    pub(super) fn read(index: &Value, site: &str, get: &dyn Fn(&str) -> Value) -> Self {
        let mut endpoints = Vec::new();
        let mut existing = BTreeMap::new();
        let read: RefCell<BTreeMap<String, Vec<Known>>> = RefCell::default();
        let known = |collection: &str| {
            if let Some((_, item)) = UNLISTED.iter().find(|(path, _)| *path == collection) {
                return vec![((*item).to_owned(), (*item).to_owned())];
            }
            let path = format!("{collection}?per_page=100");
            let found = read.borrow().get(&path).cloned();
            found.unwrap_or_else(|| {
                let found = things(&get(&path));
                read.borrow_mut().insert(path, found.clone());
                found
            })
        };
        for (pattern, route) in index["routes"].as_object().unwrap() {
            existing.insert(pattern.clone(), fill(pattern, &known).0);
            for endpoint in route["endpoints"].as_array().unwrap() {
                let methods = endpoint["methods"].as_array().unwrap();
                let methods = methods.iter().map(|method| method.as_str().unwrap().to_owned());
                let args = endpoint["args"].as_object().cloned().unwrap_or_default();
                endpoints.push(Endpoint {
                    pattern: pattern.clone(),
                    methods: methods.collect(),
                    batchable: endpoint.get("allow_batch").is_some(),
                    args,
                });
            }
        }
        assert!(endpoints.len() > 20, "the index of {site} is nearly empty");
        Self { endpoints, existing }
    }

    /// Operations that add to a collection of which the items have a route.
    pub(super) fn creating(&self) -> impl Iterator<Item = &Endpoint> {
        let is_collection = |endpoint: &&Endpoint| {
            let item = format!("{}/(?P<", endpoint.pattern);
            self.existing.keys().any(|pattern| pattern.starts_with(&item))
        };
        self.endpoints.iter().filter(|endpoint| endpoint.is_post()).filter(is_collection)
    }

    /// Operations that change one item.
    pub(super) fn changing(&self) -> impl Iterator<Item = &Endpoint> {
        let changes = |endpoint: &&Endpoint| endpoint.pattern.ends_with(')');
        self.endpoints.iter().filter(|endpoint| endpoint.is_post()).filter(changes)
    }

    /// The route's path with things that exist, as far as the site shows any.
    pub(super) fn existing_path(&self, pattern: &str) -> String {
        self.existing[pattern].clone()
    }

    /// With things that exist, and with things that do not.
    pub(super) fn paths(&self, pattern: &str) -> Vec<String> {
        let mut paths = vec![self.existing_path(pattern), fill(pattern, &|_| Vec::new()).0];
        paths.dedup();
        paths
    }
}

impl Endpoint {
    fn is_post(&self) -> bool {
        self.methods.iter().any(|method| method == "POST")
    }

    /// What must be given, and a title where there may be one, so that there is something to do.
    pub(super) fn params(&self, site: &str) -> Map<String, Value> {
        let in_path = |name: &str| self.pattern.contains(&format!("(?P<{name}>"));
        let wanted = self.args.iter().filter(|(name, arg)| {
            !in_path(name)
                && (arg["required"] == json!(true) || matches!(&***name, "title" | "force"))
        });
        wanted.map(|(name, arg)| (name.clone(), plausible(name, arg, site))).collect()
    }
}

/// A value that the parameter's schema accepts.
fn plausible(name: &str, arg: &Value, site: &str) -> Value {
    if let Some(first) = arg["enum"].as_array().and_then(|choices| choices.first()) {
        return first.clone();
    }
    let kind = arg["type"].as_str().or_else(|| arg["type"][0].as_str());
    match (kind, arg["format"].as_str()) {
        (_, Some("email")) => json!("refused@site.example"),
        (_, Some("uri")) => json!(format!("{site}/")),
        (_, Some("uuid")) => json!("6f0a4c1e-7d0b-4d9e-8f6a-0a1b2c3d4e5f"),
        (_, Some("date-time")) => json!("2024-05-06T07:08:09"),
        (Some("integer" | "number"), _) => arg.get("minimum").cloned().unwrap_or_else(|| json!(1)),
        (Some("boolean"), _) => json!(true),
        (Some("array"), _) => json!([]),
        (Some("object"), _) => json!({}),
        _ if name == "password" => json!("refused and long enough"),
        _ if name == "url" => json!(format!("{site}/")),
        _ => json!("refused"),
    }
}

/// Things of a collection that are tried, the newest first, until one has what the path goes on to.
const CANDIDATES_MAX: usize = 30;

/// Id and name of a thing.
type Known = (String, String);

/// The pattern with its variables filled in: by things that `known` finds in the collection before
/// a variable, or by what nobody has. Also tells whether everything was found.
fn fill(pattern: &str, known: &dyn Fn(&str) -> Vec<Known>) -> (String, bool) {
    fill_from(String::new(), pattern, known)
}

fn fill_from(path: String, rest: &str, known: &dyn Fn(&str) -> Vec<Known>) -> (String, bool) {
    let Some((before, after)) = rest.split_once("(?P<") else { return (path + rest, true) };
    let path = path + before;
    let (group, after) = split_group(after);
    let (_, constraint) = group.split_once('>').unwrap();
    // Some numbers may be negative, as far as the pattern is concerned.
    let is_number = constraint.contains(r"\d") && !constraint.replace(r"[\d-]", "").contains('-');
    let mut best = None;
    for (id, name) in known(path.trim_end_matches('/')).into_iter().take(CANDIDATES_MAX) {
        let value = if is_number { id } else { name };
        if !fits(constraint, &value) {
            continue;
        }
        let filled = fill_from(format!("{path}{value}"), after, known);
        if filled.1 {
            return filled;
        }
        best.get_or_insert(filled);
    }
    best.unwrap_or_else(|| {
        let absent = match constraint {
            _ if is_number => NO_ID,
            _ if constraint.ends_with("{32}") => NO_KEY,
            _ if fits(constraint, NO_NAME) => NO_NAME,
            _ => NO_WORD,
        };
        let (filled, _) = fill_from(format!("{path}{absent}"), after, known);
        (filled, false)
    })
}

/// Whether a value can stand for a variable, as far as plain letters are wanted.
fn fits(constraint: &str, value: &str) -> bool {
    value.bytes().all(|byte| match constraint {
        "[a-z]+" => byte.is_ascii_lowercase(),
        "[a-z0-9]+" => byte.is_ascii_lowercase() || byte.is_ascii_digit(),
        _ => true,
    })
}

/// What is in a collection, the newest first: the oldest is often one that all depends on.
fn things(collection: &Value) -> Vec<Known> {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    match collection {
        Value::Array(items) => {
            let mut items: Vec<&Value> = items.iter().collect();
            items.sort_by_key(|item| std::cmp::Reverse(item["id"].as_i64()));
            let known = items.into_iter().filter_map(|item| {
                let id = item.get("id").map(text);
                let names = ["uuid", "slug", "code", "id"];
                let name = names.into_iter().find_map(|name| item.get(name)).map(text)?;
                Some((id.unwrap_or_else(|| NO_ID.to_owned()), name))
            });
            known.collect()
        }
        // Some collections are maps by name; an error object is none.
        Value::Object(members) if !members.contains_key("code") => {
            members.keys().map(|name| (NO_ID.to_owned(), name.clone())).collect()
        }
        _ => Vec::new(),
    }
}

/// Splits behind the parenthesis that closes the group.
fn split_group(inside: &str) -> (&str, &str) {
    let mut depth = 1;
    for (at, sign) in inside.char_indices() {
        depth += match sign {
            '(' => 1,
            ')' => -1,
            _ => 0,
        };
        if depth == 0 {
            return (&inside[..at], &inside[at + 1..]);
        }
    }
    panic!("{inside} does not end");
}

/// The parameters as a query string.
pub(super) fn query(params: &Map<String, Value>) -> String {
    let pairs = params.iter().map(|(name, value)| {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let escaped = text.bytes().fold(String::new(), |mut escaped, byte| {
            write!(escaped, "%{byte:02X}").unwrap();
            escaped
        });
        format!("{name}={escaped}")
    });
    let pairs: Vec<String> = pairs.collect();
    if pairs.is_empty() { String::new() } else { format!("?{}", pairs.join("&")) }
}
