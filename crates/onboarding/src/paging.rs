//! Lists by pages: how many objects one answer has, and where the next page starts.

use schemars::JsonSchema;
use serde::Serialize;

/// For `#[serde(default = "paging::page_default")]`; beside it goes
/// `#[schemars(range(min = 1, max = 100))]`.
pub(crate) const fn page_default() -> i64 {
    20
}

/// A page of a list.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Page<T> {
    /// The objects.
    pub(crate) data: Vec<T>,
    /// Whether there are more behind them.
    pub(crate) has_more: bool,
    /// Send it as `cursor` to get those.
    pub(crate) next_cursor: Option<String>,
}

impl<T> Page<T> {
    /// Makes a page of up to `limit` objects from a list that has one more if there are more.
    pub(crate) fn of(mut found: Vec<(String, T)>, limit: i64) -> Self {
        let limit = usize::try_from(limit).unwrap_or_default();
        let has_more = found.len() > limit;
        found.truncate(limit);
        let last = found.last().map(|(cursor, _)| cursor.clone());
        let next_cursor = last.filter(|_| has_more);
        Self { data: found.into_iter().map(|(_, item)| item).collect(), has_more, next_cursor }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_full_page_has_a_next_one() {
        let page = |rows: &[i64]| {
            let page = Page::of(rows.iter().map(|row| (row.to_string(), *row)).collect(), 2);
            (page.data, page.has_more, page.next_cursor)
        };
        assert_eq!(page(&[]), (vec![], false, None));
        assert_eq!(page(&[1, 2]), (vec![1, 2], false, None));
        assert_eq!(page(&[1, 2, 3]), (vec![1, 2], true, Some(String::from("2"))));
    }
}
