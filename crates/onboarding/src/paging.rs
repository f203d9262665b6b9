//! Lists by pages: how many objects one answer has, and where the next page starts.

use contract::Failure;
use schemars::JsonSchema;
use serde::Serialize;
use types::Timestamp;

use crate::Code;
use crate::codes::refusal;

/// For `#[serde(default = "paging::page_default")]`; beside it goes
/// `#[schemars(range(min = 1, max = 100))]`.
pub(crate) const fn page_default() -> i64 {
    20
}

/// A page of a list.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "{T}Page")]
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

/// Where an object stands in lists by time: it stays there whatever happens to others.
pub(crate) fn cursor(created: Timestamp, id: &str) -> String {
    format!("{}.{id}", created.as_micros())
}

pub(crate) fn read_cursor(text: &str) -> Result<(Timestamp, String), Failure> {
    let is_of_id = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let read = || {
        let (micros, id) = text.split_once('.')?;
        let created = Timestamp::from_micros(micros.parse().ok()?);
        (!id.is_empty() && id.bytes().all(is_of_id)).then(|| (created, id.to_owned()))
    };
    read().ok_or_else(|| refusal("cursor", Code::InvalidValue, "Send the value of `nextCursor`."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_read_as_it_was_written() {
        for id in ["iso_x9pfdxn0e12znktn", "378066049529"] {
            let position = (Timestamp::from_micros(7), id.to_owned());
            assert_eq!(read_cursor(&cursor(position.0, id)).unwrap(), position);
        }
        for wrong in ["", "1", "1.", "x.iso_1", "1.iso 1", "1.\u{0}", "99999999999999999999.a"] {
            assert!(read_cursor(wrong).is_err(), "{wrong}");
        }
    }

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
