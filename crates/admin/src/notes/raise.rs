//! Notes that the system raises: their form, and how one is written once or whenever it happens.

use serde_json::Value;
use store::Conn;
use store::admin_note::{self, NoteKind, NoteRow};
use types::{Result, Timestamp};

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
}

/// Writes the note, in the transaction of what it tells of, and returns its number.
pub fn raise(conn: &mut dyn Conn, note: &NewNote<'_>, now: Timestamp) -> Result<i64> {
    admin_note::insert(conn, &row_of(note, now), &[])
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
        title: note.title.clone(),
        content: note.content.clone(),
        content_data: note.data.to_string(),
        source: SOURCE.to_owned(),
        created: now,
        layout: LAYOUT.to_owned(),
        ..NoteRow::default()
    }
}
