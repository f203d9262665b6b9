//! Notes that the system raises: their form, and how one is written once or whenever it happens.

use contract::rest::clean;
use db::Conn;
use frame::bundle::ADDRESS_MARK;
use serde_json::Value;
use types::{Result, Timestamp};

use crate::rows::admin_note::{self, NoteActionRow, NoteKind, NoteRow, NoteStatus};

/// Who raises them.
const SOURCE: &str = "boardwalk";
const LOCALE: &str = "en_US";
const LAYOUT: &str = "plain";

/// Something to tell.
#[derive(Clone, Debug)]
pub struct NewNote<'a> {
    /// What it is about, such as `first-order`.
    pub name: &'a str,
    pub kind: NoteKind,
    pub title: String,
    pub content: String,
    /// An object for programs.
    pub data: Value,
    pub action: Option<NewAction>,
}

/// What people can do about a note.
#[derive(Clone, Debug)]
pub struct NewAction {
    pub name: &'static str,
    pub label: &'static str,
    query: String,
}

impl NewAction {
    /// Leads to a page of the site, by its path.
    pub fn page(name: &'static str, label: &'static str, path: &str) -> Self {
        Self { name, label, query: format!("{ADDRESS_MARK}{path}") }
    }

    /// Leads to what a background job made, while it is there, and whoever may have it.
    pub(super) fn result_of(name: &'static str, label: &'static str, job_id: i64) -> Self {
        Self { name, label, query: format!("{JOB_MARK}{job_id}") }
    }

    fn row(&self) -> NoteActionRow {
        NoteActionRow {
            name: self.name.to_owned(),
            label: self.label.to_owned(),
            query: self.query.clone(),
            status: NoteStatus::Actioned.as_str().to_owned(),
            ..NoteActionRow::default()
        }
    }
}

/// Before the number of the job whose result an action leads to. Such an address is a secret, which
/// is kept nowhere and made for each reader.
const JOB_MARK: &str = "{{job}}";

/// The job whose result the action leads to.
pub(super) fn job_of(action: &NoteActionRow) -> Option<i64> {
    action.query.strip_prefix(JOB_MARK)?.parse().ok()
}

/// Writes the note, in the transaction of what it tells of, and returns its number.
pub fn raise(conn: &mut dyn Conn, note: &NewNote<'_>, now: Timestamp) -> Result<i64> {
    let actions: Vec<NoteActionRow> = note.action.iter().map(NewAction::row).collect();
    admin_note::insert(conn, &row_of(note, now), &actions)
}

/// Writes the note unless one of its name was ever raised. Returns whether it did.
pub fn raise_once(conn: &mut dyn Conn, note: &NewNote<'_>, now: Timestamp) -> Result<bool> {
    if admin_note::oldest_named(conn, note.name)?.is_some() {
        return Ok(false);
    }
    raise(conn, note, now)?;
    Ok(true)
}

pub(super) fn row_of(note: &NewNote<'_>, now: Timestamp) -> NoteRow {
    NoteRow {
        name: note.name.to_owned(),
        kind: note.kind,
        locale: LOCALE.to_owned(),
        title: plain(&note.title),
        content: plain(&note.content),
        content_data: note.data.to_string(),
        source: SOURCE.to_owned(),
        created: now,
        layout: LAYOUT.to_owned(),
        ..NoteRow::default()
    }
}

/// Programs show notes as HTML, and what they tell of has names that people chose.
fn plain(text: &str) -> String {
    if text.contains('<') { clean::textarea_field(text) } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_bring_no_markup() {
        for (text, expected) in [
            ("Low stock: Fish & chips, 20%ad", "Low stock: Fish & chips, 20%ad"),
            ("Low stock: <b onclick=x()>Tea</b>", "Low stock: Tea"),
            ("a<script>alert(1)</script>", "a"),
            ("1 < 2", "1 &lt; 2"),
        ] {
            assert_eq!(plain(text), expected);
        }
    }
}
