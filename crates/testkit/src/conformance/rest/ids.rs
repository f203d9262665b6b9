//! The ids that a recording gave to what it created, and what this server gave instead.
//!
//! A request that creates something teaches the pair; from then on the recorded id stands for ours
//! in every request and every expectation of the same sequence.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use regex::{Captures, Regex, bytes};
use serde_json::Value;

use super::case::Plan;

/// The members that hold the id of a created thing.
const ID_MEMBERS: [&str; 10] = [
    "id",
    "export_id",
    "job_id",
    "order_id",
    "order_key",
    "order_number",
    "key",
    "wp_id",
    "customer_id",
    "menus",
];
/// What an answer may tell of an order that an earlier request made.
const ORDER_MEMBERS: [&str; 3] = ["order_id", "order_key", "order_number"];
/// Ids of seeded objects inside of words, such as `post-11007` or `#comment-22008`.
static NUMBER_IN_TEXT: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\d+").ok());
/// Seeded objects have ids of so many digits; shorter numbers in texts mean something else.
const SEEDED_DIGITS: std::ops::RangeInclusive<usize> = 4..=6;

type Members = serde_json::Map<String, Value>;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Id {
    Number(i64),
    Text(String),
}

/// From recorded ids to the server's.
#[derive(Clone, Debug, Default)]
pub(super) struct Ids {
    ours: BTreeMap<Id, Id>,
    /// The recorded ids that were known before the first request. They are never learned, and
    /// stand inside of words and lists, too.
    seeded: BTreeSet<i64>,
}

impl Ids {
    /// The ids that a server gave to what a seed made, by the recorded ones.
    pub(super) fn seeded(pairs: &BTreeMap<i64, i64>) -> Self {
        let ours = pairs.iter().map(|(old, new)| (Id::Number(*old), Id::Number(*new)));
        Self { ours: ours.collect(), seeded: pairs.keys().copied().collect() }
    }

    /// Takes note of ids that nobody will learn, so that one can ask who names them.
    pub(super) fn add_unknown(&mut self, recorded: &Value) {
        match recorded {
            Value::Object(members) => {
                let ids = ID_MEMBERS.iter().filter_map(|name| members.get(*name).and_then(id_of));
                self.ours.extend(ids.map(|id| (id, Id::Text("unknown".to_owned()))));
                members.values().for_each(|value| self.add_unknown(value));
            }
            Value::Array(items) => items.iter().for_each(|item| self.add_unknown(item)),
            _ => {}
        }
    }

    /// Whether a request names one of these ids.
    pub(super) fn are_named_in(&self, plan: &Plan) -> bool {
        let changes = |text: &str| self.text(text) != text;
        changes(&plan.path)
            || changes(&plan.query)
            || plan.body.as_ref().is_some_and(|body| self.value(body) != *body)
    }

    /// Learns from the answer to a request that may have created something. An id that the request
    /// itself names was there before, so another one in the answer is a difference.
    pub(super) fn learn(&mut self, plan: &Plan, recorded: &Value, got: &Value) {
        match (recorded, got) {
            (Value::Object(left), Value::Object(right)) => {
                self.learn_members(plan, &ID_MEMBERS, left, right);
                for (name, value) in left {
                    if let Some(other) = right.get(name) {
                        self.learn(plan, value, other);
                    }
                }
            }
            (Value::Array(left), Value::Array(right)) => {
                left.iter().zip(right).for_each(|(value, other)| self.learn(plan, value, other));
            }
            _ => {}
        }
    }

    /// Learns the number of an order from an answer that shows one.
    pub(super) fn learn_order(&mut self, plan: &Plan, recorded: &Value, got: &Value) {
        if let (Value::Object(left), Value::Object(right)) = (recorded, got) {
            self.learn_members(plan, &ORDER_MEMBERS, left, right);
        }
    }

    fn learn_members(&mut self, plan: &Plan, names: &[&str], left: &Members, right: &Members) {
        for name in names {
            let pair = (left.get(*name).and_then(id_of), right.get(*name).and_then(id_of));
            if let (Some(old), Some(new)) = pair {
                self.learn_pair(plan, old, new);
            }
        }
    }

    fn learn_pair(&mut self, plan: &Plan, old: Id, new: Id) {
        let stands_for_nothing = match &old {
            Id::Number(number) => *number == 0 || self.seeded.contains(number),
            Id::Text(text) => text.is_empty() || text == "0" || text.starts_with('$'),
        };
        if stands_for_nothing {
            return;
        }
        let same_kind =
            matches!((&old, &new), (Id::Number(_), Id::Number(_)) | (Id::Text(_), Id::Text(_)));
        let unknown = BTreeMap::from([(old.clone(), Id::Text("unknown".to_owned()))]);
        let alone = Self { ours: unknown, seeded: BTreeSet::new() };
        if same_kind && old != new && !alone.are_named_in(plan) {
            self.ours.insert(old, new);
        }
    }

    /// A text with its ids replaced: the whole of it, or words of an address.
    pub(super) fn text(&self, recorded: &str) -> String {
        if self.ours.is_empty() {
            return recorded.to_owned();
        }
        if let Some(ours) = self.ours.get(&Id::Text(recorded.to_owned())) {
            return ours.to_text();
        }
        let mut text = String::with_capacity(recorded.len());
        let mut rest = recorded;
        while !rest.is_empty() {
            let is_word = |character: char| character.is_ascii_alphanumeric() || character == '_';
            let (word, after) = rest.split_at(rest.find(|c| !is_word(c)).unwrap_or(rest.len()));
            let is_listed = !self.seeded.is_empty();
            let opened = text.ends_with(['/', '=']) || is_listed && text.ends_with([',', ':']);
            let closed = after.is_empty()
                || after.starts_with(['/', '?', '&', '>', '"'])
                || is_listed && after.starts_with(',');
            text.push_str(&if opened && closed { self.word(word) } else { word.to_owned() });
            let (between, next) = after.split_at(after.find(is_word).unwrap_or(after.len()));
            text.push_str(between);
            rest = next;
        }
        text
    }

    /// Whether an answer's text is the recorded one, with the server's ids in it.
    pub(super) fn fits(&self, recorded: &str, got: &str) -> bool {
        recorded == got || self.text(recorded) == got || self.inside_words(recorded) == got
    }

    fn inside_words(&self, recorded: &str) -> String {
        let text = self.text(recorded);
        match &*NUMBER_IN_TEXT {
            Some(number) if !self.seeded.is_empty() => {
                number.replace_all(&text, |found: &Captures<'_>| self.seeded_word(found)).into()
            }
            _ => text,
        }
    }

    fn seeded_word(&self, found: &Captures<'_>) -> String {
        let digits = found.get(0).map_or("", |found| found.as_str());
        if SEEDED_DIGITS.contains(&digits.len()) { self.word(digits) } else { digits.to_owned() }
    }

    fn word(&self, word: &str) -> String {
        let number = word.parse().ok().and_then(|number| self.ours.get(&Id::Number(number)));
        let ours = number.or_else(|| self.ours.get(&Id::Text(word.to_owned())));
        ours.map_or_else(|| word.to_owned(), Id::to_text)
    }

    /// A JSON value with its ids replaced.
    pub(super) fn value(&self, recorded: &Value) -> Value {
        match recorded {
            Value::Number(_) => {
                let ours = id_of(recorded).and_then(|id| self.ours.get(&id));
                ours.map_or_else(|| recorded.clone(), Id::to_value)
            }
            Value::String(text) => self.text(text).into(),
            Value::Array(items) => items.iter().map(|item| self.value(item)).collect(),
            Value::Object(members) => members
                .iter()
                .map(|(name, value)| (self.member_name(name), self.value(value)))
                .collect(),
            _ => recorded.clone(),
        }
    }

    /// The parts of a form with ids as whole values replaced.
    pub(super) fn in_parts(&self, form: Vec<u8>) -> Vec<u8> {
        static VALUE: LazyLock<Option<bytes::Regex>> =
            LazyLock::new(|| bytes::Regex::new(r"(?-u)(\r\n\r\n)(\d{4,6})(\r\n)").ok());
        let Some(value) = &*VALUE else { return form };
        let replaced = |found: &bytes::Captures<'_>| {
            let part = |number| found.get(number).map_or(&b""[..], |part| part.as_bytes());
            let id = self.word(&String::from_utf8_lossy(part(2)));
            [part(1), id.as_bytes(), part(3)].concat()
        };
        value.replace_all(&form, replaced).into_owned()
    }

    /// Some names end with the id of what they are about.
    fn member_name(&self, name: &str) -> String {
        match name.rsplit_once('_') {
            Some((start, id)) if !self.seeded.is_empty() && id.parse::<i64>().is_ok() => {
                format!("{start}_{}", self.word(id))
            }
            _ => name.to_owned(),
        }
    }
}

impl Id {
    fn to_text(&self) -> String {
        match self {
            Self::Number(number) => number.to_string(),
            Self::Text(text) => text.clone(),
        }
    }

    fn to_value(&self) -> Value {
        match self {
            Self::Number(number) => (*number).into(),
            Self::Text(text) => text.as_str().into(),
        }
    }
}

fn id_of(value: &Value) -> Option<Id> {
    match value {
        Value::Number(number) => number.as_i64().map(Id::Number),
        Value::String(text) => Some(Id::Text(text.clone())),
        _ => None,
    }
}
