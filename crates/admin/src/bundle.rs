//! Import of the sections of a bundle that belong to administration, in the transaction of the
//! whole. Their numbers and truth values are texts.

use std::collections::BTreeMap;

use db::Conn;
use frame::bundle::{ImportSection, import_sections, records};
use serde::Deserialize;
use serde_json::Value;
use types::{Error, Result, Timestamp};

use crate::rows::admin_note::{self, NoteActionRow, NoteKind, NoteRow, NoteStatus};

/// The sections in the order in which their records refer to each other.
const SECTIONS: &[(&str, ImportSection)] =
    &[("admin_notes", import_notes), ("admin_note_actions", import_actions)];

#[derive(Debug, Deserialize)]
struct BundleNote {
    note_id: String,
    name: String,
    #[serde(rename = "type")]
    kind: String,
    locale: String,
    title: String,
    content: String,
    content_data: Option<String>,
    status: String,
    source: String,
    date_created: String,
    date_reminder: Option<String>,
    is_snoozable: String,
    layout: String,
    image: Option<String>,
    is_deleted: String,
    is_read: String,
}

#[derive(Debug, Deserialize)]
struct BundleAction {
    action_id: String,
    note_id: String,
    name: String,
    label: String,
    query: String,
    status: String,
    actioned_text: String,
    nonce_action: Option<String>,
    nonce_name: Option<String>,
}

/// Imports the sections that this crate knows, and says how many records each had.
pub fn import(
    conn: &mut dyn Conn,
    sections: &BTreeMap<String, Value>,
) -> Result<BTreeMap<&'static str, usize>> {
    import_sections(conn, SECTIONS, sections)
}

fn import_notes(conn: &mut dyn Conn, section: &Value) -> Result<usize> {
    let notes: Vec<BundleNote> = records(section)?;
    for note in &notes {
        let at = |error: Error| {
            let message = format!("note {}: {error}", note.note_id);
            Error::new(error.kind(), message).because(error)
        };
        note.read().and_then(|row| admin_note::import(conn, &row)).map_err(at)?;
    }
    Ok(notes.len())
}

fn import_actions(conn: &mut dyn Conn, section: &Value) -> Result<usize> {
    let actions: Vec<BundleAction> = records(section)?;
    let count = actions.len();
    for action in actions {
        let row = NoteActionRow {
            note_id: whole(&action.note_id)?,
            action_id: whole(&action.action_id)?,
            name: action.name,
            label: action.label,
            query: action.query,
            status: action.status,
            actioned_text: action.actioned_text,
            nonce_action: action.nonce_action,
            nonce_name: action.nonce_name,
        };
        admin_note::import_action(conn, &row)?;
    }
    Ok(count)
}

impl BundleNote {
    fn read(&self) -> Result<NoteRow> {
        let unknown = |what: &str, name: &str| Error::invalid(format!("`{name}` is not a {what}"));
        Ok(NoteRow {
            note_id: whole(&self.note_id)?,
            name: self.name.clone(),
            kind: NoteKind::from_name(&self.kind).ok_or_else(|| unknown("type", &self.kind))?,
            locale: self.locale.clone(),
            title: self.title.clone(),
            content: self.content.clone(),
            content_data: self.content_data.clone().unwrap_or_else(|| String::from("{}")),
            status: NoteStatus::from_name(&self.status)
                .ok_or_else(|| unknown("status", &self.status))?,
            source: self.source.clone(),
            created: moment(&self.date_created)?,
            reminder: self.date_reminder.as_deref().map(moment).transpose()?,
            is_snoozable: whole(&self.is_snoozable)? != 0,
            layout: self.layout.clone(),
            image: self.image.clone().unwrap_or_default(),
            is_deleted: whole(&self.is_deleted)? != 0,
            is_read: whole(&self.is_read)? != 0,
        })
    }
}

fn whole(text: &str) -> Result<i64> {
    text.parse().map_err(|_| Error::invalid(format!("`{text}` is not an integer")))
}

/// A moment of UTC, written with a blank between the date and the time.
fn moment(text: &str) -> Result<Timestamp> {
    let written = format!("{}Z", text.replacen(' ', "T", 1));
    Timestamp::parse(&written).ok_or_else(|| Error::invalid(format!("`{text}` is not a time")))
}
