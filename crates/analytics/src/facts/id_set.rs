//! Sets of the numbers of records.

use std::sync::Arc;

/// Numbers of records, without order and doubles.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct IdSet(Arc<[i64]>);

impl IdSet {
    pub fn contains(&self, id: i64) -> bool {
        self.0.binary_search(&id).is_ok()
    }

    /// The ids, ascending.
    pub fn ids(&self) -> &[i64] {
        &self.0
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }
}

impl FromIterator<i64> for IdSet {
    fn from_iter<I: IntoIterator<Item = i64>>(ids: I) -> Self {
        let mut ids: Vec<i64> = ids.into_iter().collect();
        ids.sort_unstable();
        ids.dedup();
        Self(ids.into())
    }
}
