//! Lists by pages: how many items one answer has, and where the next page starts.

use schemars::JsonSchema;
use serde::Serialize;

/// Items of a page at most.
pub const PAGE_MAX: i64 = 100;
/// Items of a page unless something else is asked for.
pub const PAGE_DEFAULT: i64 = 20;

/// For `#[serde(default = "paging::page_default")]`; beside it goes
/// `#[schemars(range(min = 1, max = 100))]`.
pub(crate) fn page_default() -> i64 {
    PAGE_DEFAULT
}

/// A page of a list.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Listed<T> {
    /// The items.
    pub data: Vec<T>,
    /// What to send as the cursor to get the next page; null at the end of the list.
    pub next: Option<String>,
}

impl<T> Listed<T> {
    /// Of rows that were read, one more than the page has; the cursor is made of the page's last.
    pub(crate) fn of<R>(
        mut rows: Vec<R>,
        limit: i64,
        cursor: impl Fn(&R) -> String,
        view: impl Fn(R) -> T,
    ) -> Self {
        let limit = usize::try_from(limit).unwrap_or(0);
        let is_last = rows.len() <= limit;
        rows.truncate(limit);
        let next = rows.last().filter(|_| !is_last).map(cursor);
        Self { data: rows.into_iter().map(view).collect(), next }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_full_page_has_a_next_one() {
        let page = |rows: Vec<i64>| Listed::of(rows, 2, ToString::to_string, |row| row * 10);
        let shown = |page: Listed<i64>| (page.data, page.next);
        assert_eq!(shown(page(vec![])), (vec![], None));
        assert_eq!(shown(page(vec![1, 2])), (vec![10, 20], None));
        assert_eq!(shown(page(vec![1, 2, 3])), (vec![10, 20], Some(String::from("2"))));
    }
}
