//! The texts of a record's statements, put together by the compiler.

use super::{ColumnName, Record};

/// Bytes of a statement's text at most; a longer one does not compile.
const LENGTH_MAX: usize = 4096;

/// A text that the compiler puts together.
#[derive(Clone, Copy, Debug)]
pub struct Text {
    bytes: [u8; LENGTH_MAX],
    len: usize,
    /// Names in the list that is being written.
    listed: usize,
}

#[expect(clippy::indexing_slicing, reason = "evaluated by the compiler, which refuses a bad index")]
impl Text {
    pub const fn columns<R: Record>() -> Self {
        Self::new().names(R::TABLE, R::KEY).names(R::TABLE, R::FIELDS)
    }

    pub const fn select<R: Record>(rest: &str) -> Self {
        let text = Self::new().push("SELECT ").names(R::TABLE, R::KEY).names(R::TABLE, R::FIELDS);
        text.push(" FROM ").push(R::TABLE).rest(rest)
    }

    pub const fn insert<R: Record>(rest: &str) -> Self {
        let text = Self::new().push("INSERT INTO ").push(R::TABLE).push(" (");
        let mut text = text.fixed_names(R::FIXED).names("", R::KEY);
        text = text.names("", R::FIELDS).names("", R::FOLDED).push(") VALUES (");
        let count = text.listed;
        let mut number = 1;
        while number <= count {
            text = text.push(if number > 1 { ", " } else { "" }).placeholder(number);
            number += 1;
        }
        text.push(")").rest(rest)
    }

    pub const fn upsert<R: Record>(rest: &str) -> Self {
        let mut text = Self::insert::<R>("ON CONFLICT (");
        text.listed = 0;
        text = text.fixed_names(R::FIXED).names("", R::KEY).push(") DO UPDATE SET ");
        text.listed = 0;
        text.excluded(R::FIELDS).excluded(R::FOLDED).rest(rest)
    }

    pub const fn update<R: Record>() -> Self {
        let text = Self::new().push("UPDATE ").push(R::TABLE).push(" SET ");
        let mut text = text.equations(", ", R::FIELDS, 1);
        text = text.equations(", ", R::FOLDED, R::FIELDS.len() + 1);
        let mut number = R::FIELDS.len() + R::FOLDED.len() + 1;
        text = text.push(" WHERE ");
        text.listed = 0;
        let mut index = 0;
        while index < R::FIXED.len() {
            text = text.equations(" AND ", &[(R::FIXED[index].0, "")], number);
            (index, number) = (index + 1, number + 1);
        }
        text.equations(" AND ", R::KEY, number)
    }

    pub const fn len(&self) -> usize {
        self.len
    }

    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Without the space that is left.
    pub const fn cut<const LEN: usize>(&self) -> [u8; LEN] {
        let mut bytes = [0; LEN];
        let mut index = 0;
        while index < LEN {
            bytes[index] = self.bytes[index];
            index += 1;
        }
        bytes
    }

    const fn new() -> Self {
        Self { bytes: [0; LENGTH_MAX], len: 0, listed: 0 }
    }

    const fn push(mut self, text: &str) -> Self {
        let text = text.as_bytes();
        let mut index = 0;
        while index < text.len() {
            self.bytes[self.len] = text[index];
            self.len += 1;
            index += 1;
        }
        self
    }

    const fn rest(self, rest: &str) -> Self {
        self.push(if rest.is_empty() { "" } else { " " }).push(rest)
    }

    /// The next name of a list.
    const fn name(mut self, separator: &str, table: &str, (name, suffix): ColumnName) -> Self {
        self = self.push(if self.listed > 0 { separator } else { "" });
        self.listed += 1;
        let text = self.push(table).push(if table.is_empty() { "" } else { "." });
        text.push(name).push(suffix)
    }

    const fn names(mut self, table: &str, names: &[ColumnName]) -> Self {
        let mut index = 0;
        while index < names.len() {
            self = self.name(", ", table, names[index]);
            index += 1;
        }
        self
    }

    const fn fixed_names(mut self, fixed: &[(&'static str, i64)]) -> Self {
        let mut index = 0;
        while index < fixed.len() {
            self = self.name(", ", "", (fixed[index].0, ""));
            index += 1;
        }
        self
    }

    /// `name = $n` for each name.
    const fn equations(mut self, separator: &str, names: &[ColumnName], first: usize) -> Self {
        let mut index = 0;
        while index < names.len() {
            self = self.name(separator, "", names[index]).push(" = ").placeholder(first + index);
            index += 1;
        }
        self
    }

    /// `name = excluded.name` for each name.
    const fn excluded(mut self, names: &[ColumnName]) -> Self {
        let mut index = 0;
        while index < names.len() {
            self = self.name(", ", "", names[index]).push(" = excluded.");
            self = self.push(names[index].0).push(names[index].1);
            index += 1;
        }
        self
    }

    /// `$1` and so on, up to three digits.
    const fn placeholder(self, number: usize) -> Self {
        const DIGITS: [&str; 10] = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"];
        let text = self.push("$");
        let text = if number >= 100 { text.push(DIGITS[number / 100]) } else { text };
        let text = if number >= 10 { text.push(DIGITS[number / 10 % 10]) } else { text };
        text.push(DIGITS[number % 10])
    }
}
