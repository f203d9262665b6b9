//! A map that holds no more than a number of bytes, and what the caches of a site hold of theirs.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;

/// What one entry takes besides what it holds: its place in the table, pointers and lengths.
const ENTRY_BYTES: usize = 128;

/// How full a cache is, for the operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheSize {
    pub name: &'static str,
    pub bytes: usize,
    pub bytes_max: usize,
}

/// Entries with the bytes that each of them holds. **Their sum never exceeds the bound**: when
/// there is no room for another, all are forgotten, since the caches of this kind are quickly
/// filled again.
#[derive(Debug)]
pub(crate) struct Bounded<K, V> {
    entries: HashMap<K, (V, usize)>,
    bytes: usize,
    bytes_max: usize,
}

impl<K: Hash + Eq, V> Bounded<K, V> {
    pub(crate) fn new(bytes_max: usize) -> Self {
        Self { entries: HashMap::new(), bytes: 0, bytes_max }
    }

    pub(crate) fn get<Q: Hash + Eq + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        self.entries.get(key).map(|(value, _)| value)
    }

    /// Whether an entry of so many bytes can be added without forgetting another one.
    pub(crate) fn has_room(&self, bytes: usize) -> bool {
        self.bytes.saturating_add(bytes).saturating_add(ENTRY_BYTES) <= self.bytes_max
    }

    /// Keeps a value that holds so many bytes with its key; not at all if it is larger than
    /// everything together may be.
    pub(crate) fn insert(&mut self, key: K, value: V, bytes: usize) {
        let bytes = bytes.saturating_add(ENTRY_BYTES);
        if bytes > self.bytes_max {
            return;
        }
        if let Some((_, old)) = self.entries.remove(&key) {
            self.bytes -= old;
        }
        if self.bytes + bytes > self.bytes_max {
            self.clear();
        }
        self.bytes += bytes;
        self.entries.insert(key, (value, bytes));
    }

    pub(crate) fn retain(&mut self, is_kept: impl Fn(&V) -> bool) {
        self.entries.retain(|_, (value, _)| is_kept(value));
        self.bytes = self.entries.values().map(|(_, bytes)| bytes).sum();
    }

    pub(crate) fn clear(&mut self) {
        self.entries = HashMap::new();
        self.bytes = 0;
    }

    pub(crate) fn size(&self, name: &'static str) -> CacheSize {
        CacheSize { name, bytes: self.bytes, bytes_max: self.bytes_max }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_never_holds_more_than_its_bound() {
        let mut map = Bounded::new(10_000);
        for number in 0..5_000_usize {
            map.insert(number % 700, number, number % 997);
            let held: usize = map.entries.values().map(|(_, bytes)| bytes).sum();
            assert!(held <= 10_000, "{held}");
            assert_eq!(map.size("x").bytes, held);
            assert_eq!(map.get(&(number % 700)), Some(&number));
        }
        map.retain(|value| *value > 4_990);
        assert_eq!(map.get(&(4_990 % 700)), None);
        let held: usize = map.entries.values().map(|(_, bytes)| bytes).sum();
        assert_eq!((map.size("x").bytes, map.entries.len() <= 9), (held, true));
        assert!(!map.has_room(10_000));
        map.insert(9_999, 1, 10_001);
        assert_eq!(map.get(&9_999), None, "it is too large");
        map.clear();
        assert_eq!(map.size("x"), CacheSize { name: "x", bytes: 0, bytes_max: 10_000 });
    }
}
