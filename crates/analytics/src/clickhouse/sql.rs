//! Small parts of statements: literals, lists, and tests whether a value is one of many.
//!
//! **Every text that goes into a statement goes through [`text`]**, and every number is one.

use std::fmt::Display;

use crate::facts::IdSet;

/// Ids that stand in a list. More of them are handed over as one array, which the server reads
/// several times as fast and which does not count as so many parts of a statement.
const LISTED_MAX: usize = 1_000;

pub(super) const TRUE: &str = "1";
pub(super) const FALSE: &str = "0";

/// A text as a literal.
pub(super) fn text(text: &str) -> String {
    let mut literal = String::with_capacity(text.len() + 2);
    literal.push('\'');
    for letter in text.chars() {
        match letter {
            '\\' | '\'' => literal.extend(['\\', letter]),
            '\0' => literal.push_str("\\0"),
            _ => literal.push(letter),
        }
    }
    literal.push('\'');
    literal
}

pub(super) fn joined<T: Display>(items: impl IntoIterator<Item = T>, between: &str) -> String {
    let mut all = String::new();
    for item in items {
        if !all.is_empty() {
            all.push_str(between);
        }
        all.push_str(&item.to_string());
    }
    all
}

/// A number as eight bytes of text that sort as numbers do. Something is added to all, for
/// otherwise small numbers would be shorter and those below 0 would sort last; it is enough for
/// moments within 140,000 years and for ids below itself.
pub(super) fn ordered(number: &str) -> String {
    const ADDED: i64 = 1 << 62;
    format!("reverse(reinterpretAsString({number} + {ADDED}))")
}

/// Whether all of them hold; of none, that is so.
pub(super) fn all(tests: impl IntoIterator<Item = String>) -> String {
    let all = joined(tests.into_iter().map(|test| format!("({test})")), " AND ");
    if all.is_empty() { TRUE.to_owned() } else { all }
}

/// Whether one of them holds; of none, that is never so.
pub(super) fn any(tests: impl IntoIterator<Item = String>) -> String {
    let any = joined(tests.into_iter().map(|test| format!("({test})")), " OR ");
    if any.is_empty() { FALSE.to_owned() } else { any }
}

pub(super) fn not(test: &str) -> String {
    format!("NOT ({test})")
}

/// Numbers as an array. It is read from a text, since numbers below 0 and very large ones in one
/// list have no type in common.
pub(super) fn numbers(numbers: &[i64]) -> String {
    format!("CAST('[{}]' AS Array(Int64))", joined(numbers, ","))
}

pub(super) fn is_id_among(value: &str, ids: &IdSet) -> String {
    is_number_among(value, ids.ids())
}

pub(super) fn is_number_among(value: &str, ids: &[i64]) -> String {
    if ids.is_empty() {
        return FALSE.to_owned();
    }
    if ids.len() <= LISTED_MAX {
        return format!("{value} IN ({})", joined(ids, ","));
    }
    format!("{value} IN (SELECT arrayJoin({}))", numbers(ids))
}

pub(super) fn is_text_among<T: AsRef<str>>(value: &str, texts: &[T]) -> String {
    if texts.is_empty() {
        return FALSE.to_owned();
    }
    format!("{value} IN ({})", joined(texts.iter().map(|own| text(own.as_ref())), ","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_cannot_leave_their_literal() {
        assert_eq!(text("a'b\\"), "'a\\'b\\\\'");
        assert_eq!(is_text_among("x", &["", "'"]), "x IN ('','\\'')");
        assert_eq!(is_text_among::<&str>("x", &[]), FALSE);
    }

    #[test]
    fn few_ids_are_listed_and_many_are_an_array() {
        let few: IdSet = [3, 1].into_iter().collect();
        assert_eq!(is_id_among("id", &few), "id IN (1,3)");
        let many: IdSet = (0..2_000).collect();
        assert!(is_id_among("id", &many).starts_with("id IN (SELECT arrayJoin(CAST('[0,1,"));
        assert_eq!(is_id_among("id", &IdSet::default()), FALSE);
    }

    #[test]
    fn no_test_is_the_neutral_one() {
        assert_eq!((all([]), any([])), (TRUE.to_owned(), FALSE.to_owned()));
        assert_eq!(not(&any(["a".to_owned(), "b".to_owned()])), "NOT ((a) OR (b))");
    }
}
