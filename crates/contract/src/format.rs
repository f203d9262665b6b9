//! Named text formats: one table row says how a format is checked, described and published.

use crate::IssueKind;

/// What a format makes of a text.
#[derive(Debug)]
pub enum Parsed {
    /// The text is fine as it is.
    Fine,
    /// The text is fine and is stored in another spelling.
    Replaced(String),
    /// The text has characters or an arrangement that the format does not allow.
    Refused,
    /// The text is well formed and still not acceptable.
    IssueKind(IssueKind),
}

/// A named kind of text, referred to by the schema keyword `format`.
#[derive(Debug)]
pub struct Format {
    pub name: &'static str,
    /// Completes the sentence "This field must be …".
    pub expected: &'static str,
    /// A regular expression for the published schema, when one can say it.
    pub pattern: Option<&'static str>,
    pub parse: fn(&str) -> Parsed,
}

/// The formats that a table's schemas may name.
#[derive(Clone, Copy, Debug)]
pub struct Formats(pub &'static [Format]);

impl Formats {
    pub fn find(&self, name: &str) -> Option<&'static Format> {
        self.0.iter().find(|format| format.name == name)
    }
}
