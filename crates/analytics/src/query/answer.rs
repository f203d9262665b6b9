//! What a query comes to: a row of numbers for each bucket and group that has any.

use std::sync::Arc;

use types::Amount;

/// What the rows of a group have in common.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Key {
    /// There is one group.
    All,
    /// The id of a product, category, coupon, tax rate or customer.
    Id(i64),
    Variation {
        product_id: i64,
        /// 0 for none.
        variation_id: i64,
    },
    TaxCode {
        rate_id: i64,
        code: Arc<str>,
        percent: Amount,
    },
    Returning(bool),
    /// The id of a merchant or store; empty for none.
    Text(Arc<str>),
}

/// The numbers of one bucket and group, in the order of the query's measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnswerRow<'a> {
    pub bucket: usize,
    pub key: &'a Key,
    pub values: &'a [i64],
}

/// The rows of an answer by bucket, and within it by key. Without groups every bucket has a row,
/// be it of zeros; else those have one in which something was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    heads: Vec<(usize, Key)>,
    values: Vec<i64>,
    width: usize,
}

impl Answer {
    pub(crate) fn new(width: usize) -> Self {
        Self { heads: Vec::new(), values: Vec::new(), width }
    }

    /// Adds a row. Rows come in order; each has as many values as the query has measures.
    pub(crate) fn push(&mut self, bucket: usize, key: Key, values: impl Iterator<Item = i64>) {
        self.heads.push((bucket, key));
        self.values.extend(values);
    }

    pub fn len(&self) -> usize {
        self.heads.len()
    }

    pub fn is_empty(&self) -> bool {
        self.heads.is_empty()
    }

    pub fn row(&self, index: usize) -> Option<AnswerRow<'_>> {
        let (bucket, key) = self.heads.get(index)?;
        let start = index * self.width;
        let values = self.values.get(start..start + self.width)?;
        Some(AnswerRow { bucket: *bucket, key, values })
    }

    pub fn rows(&self) -> impl Iterator<Item = AnswerRow<'_>> {
        (0..self.heads.len()).filter_map(|index| self.row(index))
    }

    /// The rows of a bucket.
    pub fn rows_of(&self, bucket: usize) -> impl Iterator<Item = AnswerRow<'_>> {
        let start = self.heads.partition_point(|(own, _)| *own < bucket);
        let end = self.heads.partition_point(|(own, _)| *own <= bucket);
        (start..end).filter_map(|index| self.row(index))
    }

    /// The numbers of this bucket and key.
    pub fn get(&self, bucket: usize, key: &Key) -> Option<&[i64]> {
        let found = self.heads.binary_search_by(|(own_bucket, own_key)| {
            own_bucket.cmp(&bucket).then_with(|| own_key.cmp(key))
        });
        self.row(found.ok()?).map(|row| row.values)
    }

    /// The numbers of a bucket of an answer without groups.
    pub fn totals(&self, bucket: usize) -> &[i64] {
        self.get(bucket, &Key::All).unwrap_or_default()
    }
}
