//! The ids that a recording gave to what it created, and what this server gave instead.
//!
//! A request that creates something teaches the pair; from then on the recorded id stands for ours
//! in every request and every expectation of the same sequence.

use std::collections::BTreeMap;

use serde_json::Value;

use super::case::Plan;

/// The members that hold the id of a created thing.
const ID_MEMBERS: [&str; 3] = ["id", "export_id", "job_id"];

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Id {
    Number(i64),
    Text(String),
}

/// From recorded ids to the server's.
#[derive(Clone, Debug, Default)]
pub(super) struct Ids(BTreeMap<Id, Id>);

impl Ids {
    /// Takes note of ids that nobody will learn, so that one can ask who names them.
    pub(super) fn add_unknown(&mut self, recorded: &Value) {
        match recorded {
            Value::Object(members) => {
                let ids = ID_MEMBERS.iter().filter_map(|name| members.get(*name).and_then(id_of));
                self.0.extend(ids.map(|id| (id, Id::Text("unknown".to_owned()))));
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
                for name in ID_MEMBERS {
                    let pair = (left.get(name).and_then(id_of), right.get(name).and_then(id_of));
                    if let (Some(old), Some(new)) = pair {
                        self.learn_pair(plan, old, new);
                    }
                }
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

    fn learn_pair(&mut self, plan: &Plan, old: Id, new: Id) {
        let same_kind =
            matches!((&old, &new), (Id::Number(_), Id::Number(_)) | (Id::Text(_), Id::Text(_)));
        let alone = Self(BTreeMap::from([(old.clone(), Id::Text("unknown".to_owned()))]));
        if same_kind && old != new && !alone.are_named_in(plan) {
            self.0.insert(old, new);
        }
    }

    /// A text with its ids replaced: the whole of it, or words of an address.
    pub(super) fn text(&self, recorded: &str) -> String {
        if self.0.is_empty() {
            return recorded.to_owned();
        }
        if let Some(ours) = self.0.get(&Id::Text(recorded.to_owned())) {
            return ours.to_text();
        }
        let mut text = String::with_capacity(recorded.len());
        let mut rest = recorded;
        while !rest.is_empty() {
            let is_word = |character: char| character.is_ascii_alphanumeric() || character == '_';
            let (word, after) = rest.split_at(rest.find(|c| !is_word(c)).unwrap_or(rest.len()));
            let opened = text.ends_with(['/', '=']);
            let closed = after.is_empty() || after.starts_with(['/', '?', '&', '>', '"']);
            text.push_str(&if opened && closed { self.word(word) } else { word.to_owned() });
            let (between, next) = after.split_at(after.find(is_word).unwrap_or(after.len()));
            text.push_str(between);
            rest = next;
        }
        text
    }

    fn word(&self, word: &str) -> String {
        let number = word.parse().ok().and_then(|number| self.0.get(&Id::Number(number)));
        let ours = number.or_else(|| self.0.get(&Id::Text(word.to_owned())));
        ours.map_or_else(|| word.to_owned(), Id::to_text)
    }

    /// A JSON value with its numbers replaced.
    pub(super) fn value(&self, recorded: &Value) -> Value {
        match recorded {
            Value::Number(_) => {
                let ours = id_of(recorded).and_then(|id| self.0.get(&id));
                ours.map_or_else(|| recorded.clone(), Id::to_value)
            }
            Value::Array(items) => items.iter().map(|item| self.value(item)).collect(),
            Value::Object(members) => {
                members.iter().map(|(name, value)| (name.clone(), self.value(value))).collect()
            }
            _ => recorded.clone(),
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
