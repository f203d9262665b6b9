//! Credentials that were right a moment ago, so that a busy client costs one look-up and not one
//! for each request. **A revocation holds for the very next request**: whatever writes to a table
//! that an entry was read from ends all entries, when it has been committed and before it is
//! answered. Of what another process writes, nothing is known here; so no entry lives for a second.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use db::Watch;

/// A revocation by another process takes effect within this time.
const LIFE: Duration = Duration::from_millis(900);
/// Entries at most. Beyond that the cache starts over.
const ENTRIES_MAX: usize = 10_000;

/// What credentials stand for, by the credentials.
#[derive(Debug)]
pub struct CredentialCache<K, V> {
    watch: Watch,
    entries: Mutex<HashMap<K, Entry<V>>>,
}

#[derive(Debug)]
struct Entry<V> {
    at: Instant,
    generation: u64,
    value: V,
}

/// The state of the tables before they were read for an entry.
#[derive(Clone, Copy, Debug)]
pub struct Before {
    at: Instant,
    generation: u64,
}

impl<K: Hash + Eq, V: Clone> CredentialCache<K, V> {
    /// For what is read from the tables of the watch, and from no others.
    pub fn new(watch: Watch) -> Self {
        Self { watch, entries: Mutex::default() }
    }

    /// What the credentials stand for, or what [`CredentialCache::put`] wants to be told after it
    /// was read.
    pub fn get(&self, key: &K) -> Result<V, Before> {
        let before = Before { at: Instant::now(), generation: self.watch.generation() };
        let entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let fresh = |entry: &&Entry<V>| {
            entry.generation == before.generation && before.at.duration_since(entry.at) < LIFE
        };
        entries.get(key).filter(fresh).map(|entry| entry.value.clone()).ok_or(before)
    }

    /// Keeps what was read after `before` was taken.
    pub fn put(&self, key: K, value: V, before: Before) {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        if entries.len() >= ENTRIES_MAX && !entries.contains_key(&key) {
            entries.clear();
        }
        let Before { at, generation } = before;
        entries.insert(key, Entry { at, generation, value });
    }
}
