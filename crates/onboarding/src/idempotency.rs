//! Safe retries: the same key and body get the first answer again.
//!
//! The answer is kept **in the transaction of the change that it tells of**, so that there is never
//! a change without its answer or an answer without its change. Two requests with one key race for
//! the row: the loser is undone and gets the winner's answer, in this process or in another.

use std::collections::{BTreeMap, HashSet};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde_json::Value;
use store::idempotency::{self, StoredAnswer};
use store::{Conn, Store};
use types::{Error, IsoId, Result, Timestamp};
use vault::Vault;

/// How long an answer is kept.
const KEPT_FOR: Duration = Duration::from_hours(7 * 24);
/// Length of a key at most.
pub const KEY_LENGTH_MAX: usize = 255;

/// The idempotency key of a request, with what it belongs to. Hashes only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Idempotency {
    key_hash: Vec<u8>,
    body_hash: Vec<u8>,
}

/// What is known about a key.
#[derive(Debug)]
pub enum Known {
    Nothing,
    /// The same request was answered; this is the answer.
    Answer(KeptAnswer),
    /// The key was used for another request.
    OtherRequest,
}

/// An answer as it was given the first time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptAnswer {
    pub status: u16,
    pub body: String,
    /// What the answer's own headers said, by name.
    pub headers: BTreeMap<String, String>,
}

impl Idempotency {
    /// Whether a header's value can be a key: 1 to 255 visible ASCII characters.
    pub fn is_key(value: &[u8]) -> bool {
        (1..=KEY_LENGTH_MAX).contains(&value.len()) && value.iter().all(u8::is_ascii_graphic)
    }

    /// The key of the ISO's request to `path` with these parameters. The order of members and
    /// white space do not matter, anything else does.
    pub fn new(vault: &Vault, iso_id: &IsoId, key: &str, path: &str, params: &Value) -> Self {
        let index = |kind, value: &str| vault.blind_index(iso_id, kind, value).to_vec();
        let mut request = format!("{path}\n");
        write_canonical(params, &mut request);
        Self { key_hash: index("idempotency-key", key), body_hash: index("request", &request) }
    }

    /// Keeps an answer, in the transaction of the change. False if the key has one already.
    pub(crate) fn keep(
        &self,
        conn: &mut dyn Conn,
        iso_id: &IsoId,
        answer: &KeptAnswer,
        now: Timestamp,
    ) -> Result<bool> {
        let headers = serde_json::to_string(&answer.headers)
            .map_err(|error| Error::internal("headers cannot be written as JSON").because(error))?;
        idempotency::insert(
            conn,
            &StoredAnswer {
                iso_id: iso_id.clone(),
                key_hash: self.key_hash.clone(),
                body_hash: self.body_hash.clone(),
                status: i64::from(answer.status),
                answer: answer.body.clone(),
                headers,
                created: now,
                expires: now.plus(KEPT_FOR),
            },
        )
    }

    /// What the ISO's key is known for.
    pub(crate) async fn known(
        &self,
        store: &Store,
        iso_id: &IsoId,
        now: Timestamp,
    ) -> Result<Known> {
        let (iso_id, key_hash) = (iso_id.clone(), self.key_hash.clone());
        let found = store.read(move |conn| idempotency::find(conn, &iso_id, &key_hash, now));
        Ok(match found.await? {
            None => Known::Nothing,
            Some(stored) if stored.body_hash != self.body_hash => Known::OtherRequest,
            Some(stored) => Known::Answer(KeptAnswer {
                status: u16::try_from(stored.status).unwrap_or(500),
                body: stored.answer,
                headers: serde_json::from_str(&stored.headers).unwrap_or_default(),
            }),
        })
    }
}

/// Object members in the order of their names, no white space.
fn write_canonical(value: &Value, text: &mut String) {
    match value {
        Value::Object(members) => {
            let mut sorted: Vec<_> = members.iter().collect();
            sorted.sort_by_key(|(name, _)| name.as_str());
            text.push('{');
            for (name, member) in sorted {
                text.push_str(&Value::from(name.as_str()).to_string());
                text.push(':');
                write_canonical(member, text);
                text.push(',');
            }
            text.push('}');
        }
        Value::Array(items) => {
            text.push('[');
            for item in items {
                write_canonical(item, text);
                text.push(',');
            }
            text.push(']');
        }
        scalar => text.push_str(&scalar.to_string()),
    }
}

/// The keys whose requests are under way in this process.
#[derive(Debug, Default)]
pub(crate) struct Running {
    keys: Mutex<HashSet<Vec<u8>>>,
}

/// Marks a key as running until dropped.
#[derive(Debug)]
pub struct RunningGuard<'a> {
    running: &'a Running,
    key: Vec<u8>,
}

impl Running {
    /// Takes the key for a request; `None` while another request of this process has it.
    pub(crate) fn start(&self, iso_id: &IsoId, request: &Idempotency) -> Option<RunningGuard<'_>> {
        let key = [iso_id.as_str().as_bytes(), &request.key_hash].concat();
        let mut keys = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        // Lazily: a guard made and dropped here would release the other request's key.
        keys.insert(key.clone()).then(|| RunningGuard { running: self, key })
    }
}

impl Drop for RunningGuard<'_> {
    fn drop(&mut self) {
        let mut keys = self.running.keys.lock().unwrap_or_else(PoisonError::into_inner);
        keys.remove(&self.key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn canonical(text: &str) -> String {
        let mut canonical = String::new();
        write_canonical(&serde_json::from_str(text).unwrap(), &mut canonical);
        canonical
    }

    #[test]
    fn only_order_and_white_space_are_forgiven() {
        let same = canonical(r#"{"a":1,"b":[{"c":"x","d":null}]}"#);
        assert_eq!(same, canonical(r#"{ "b": [ {"d":null, "c":"x"} ], "a": 1 }"#));
        for other in [
            r#"{"a":"1","b":[{"c":"x","d":null}]}"#,
            r#"{"a":1,"b":[{"c":"x"}]}"#,
            r#"{"a":1,"b":[{"c":"x","d":null},{}]}"#,
            r#"{"a":1,"b":{"c":"x","d":null}}"#,
        ] {
            assert_ne!(same, canonical(other), "{other}");
        }
    }

    #[test]
    fn keys_are_visible_ascii() {
        assert!(Idempotency::is_key(b"k") && Idempotency::is_key(&[b'~'; 255]));
        for wrong in [&b""[..], &[b'a'; 256], b"a b", "é".as_bytes(), b"a\t", b"\x7f"] {
            assert!(!Idempotency::is_key(wrong), "{wrong:?}");
        }
    }
}
