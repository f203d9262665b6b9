//! Notes to the shop's people: what happened, and what they can do about it.
//!
//! A note that somebody dismissed is marked as deleted and stays, so that it can be brought back,
//! and so that what was told once is known. Its actions are written with it and never change.

use db::filter::{Clause, Direction, Filter, Page};
use db::{Conn, Record, SITE, counter, named, statements};
use types::{Result, Timestamp};

const NOTE_ID: &str = "admin_note.id";
const ACTION_ID: &str = "admin_note_action.id";

named! {
    NoteKind {
        Error = "error",
        Warning = "warning",
        Update = "update",
        #[default]
        Info = "info",
        Marketing = "marketing",
        Survey = "survey",
    }
}

named! {
    NoteStatus {
        /// Not shown yet.
        Pending = "pending",
        Actioned = "actioned",
        #[default]
        Unactioned = "unactioned",
        Snoozed = "snoozed",
        Sent = "sent",
    }
}

db::record! {
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct NoteRow in "admin_notes", fixed(site_id = SITE), key(note_id: i64) {
        /// What it is about; several notes may have the same.
        name: String,
        kind: NoteKind,
        locale: String,
        title: String,
        /// Text, or a little HTML.
        content: String,
        /// A JSON object.
        content_data: String,
        status: NoteStatus,
        /// Who raised it.
        source: String,
        created: Timestamp,
        /// When a snoozed note wakes.
        reminder: Option<Timestamp>,
        is_snoozable: bool,
        layout: String,
        image: String,
        is_deleted: bool,
        is_read: bool,
    }
}

db::record! {
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct NoteActionRow in "admin_note_actions",
        fixed(site_id = SITE), key(note_id: i64, action_id: i64) {
        name: String,
        label: String,
        /// Where it leads: an address, or a part of one.
        query: String,
        /// What becomes of the note; empty for nothing.
        status: String,
        actioned_text: String,
        nonce_action: Option<String>,
        nonce_name: Option<String>,
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NoteSort {
    Id,
    #[default]
    Created,
    Kind,
    Title,
    Status,
}

/// Which notes to list; empty lists mean all. Deleted ones are never listed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NoteFilter {
    pub kinds: Vec<NoteKind>,
    pub statuses: Vec<NoteStatus>,
    pub sources: Vec<String>,
    pub is_read: Option<bool>,
    pub sort: NoteSort,
    pub direction: Direction,
    pub page: Page,
}

statements! {
    ADMIN_NOTE_PUT = db::insert!(
        NoteRow,
        "ON CONFLICT (site_id, note_id) DO UPDATE SET
           name = excluded.name, kind = excluded.kind, locale = excluded.locale,
           title = excluded.title, content = excluded.content,
           content_data = excluded.content_data, status = excluded.status,
           source = excluded.source, created_us = excluded.created_us,
           reminder_us = excluded.reminder_us, is_snoozable = excluded.is_snoozable,
           layout = excluded.layout, image = excluded.image, is_deleted = excluded.is_deleted,
           is_read = excluded.is_read"
    );
    ADMIN_NOTE_ACTION_PUT = db::insert!(
        NoteActionRow,
        "ON CONFLICT (site_id, note_id, action_id) DO UPDATE SET
           name = excluded.name, label = excluded.label, query = excluded.query,
           status = excluded.status, actioned_text = excluded.actioned_text,
           nonce_action = excluded.nonce_action, nonce_name = excluded.nonce_name"
    );
    ADMIN_NOTE_GET = db::select!(NoteRow, "WHERE site_id = $1 AND note_id = $2");
    ADMIN_NOTES_NAMED = db::select!(
        NoteRow,
        "WHERE site_id = $1 AND name = $2 ORDER BY note_id DESC LIMIT $3"
    );
    ADMIN_NOTE_OLDEST_NAMED = db::select!(
        NoteRow,
        "WHERE site_id = $1 AND name = $2 ORDER BY note_id LIMIT 1"
    );
    ADMIN_NOTES_AWAKEN =
        "UPDATE admin_notes SET status = 'unactioned', reminder_us = NULL
         WHERE site_id = $1 AND status = 'snoozed' AND reminder_us <= $2";
    ADMIN_SURVEYS_RETIRE =
        "UPDATE admin_notes SET is_deleted = 1
         WHERE site_id = $1 AND kind = 'survey' AND status = 'actioned' AND is_deleted = 0";
    ADMIN_NOTES_ANY_DUE =
        "SELECT 1 FROM admin_notes
         WHERE site_id = $1 AND ((status = 'snoozed' AND reminder_us <= $2)
           OR (kind = 'survey' AND status = 'actioned' AND is_deleted = 0)) LIMIT 1";
}

/// Inserts the note and its actions with the next ids, whatever theirs say, and returns the note's.
pub fn insert(conn: &mut dyn Conn, note: &NoteRow, actions: &[NoteActionRow]) -> Result<i64> {
    let note_id = counter::take(conn, NOTE_ID, 1)? + 1;
    put(conn, &NoteRow { note_id, ..note.clone() })?;
    for action in actions {
        let action_id = counter::take(conn, ACTION_ID, 1)? + 1;
        put_action(conn, &NoteActionRow { note_id, action_id, ..action.clone() })?;
    }
    Ok(note_id)
}

/// Writes the note under the id that it comes with, and sees to it that the id is not given again.
pub fn import(conn: &mut dyn Conn, note: &NoteRow) -> Result<()> {
    counter::raise(conn, NOTE_ID, note.note_id)?;
    put(conn, note)
}

/// As [`import`], for an action.
pub fn import_action(conn: &mut dyn Conn, action: &NoteActionRow) -> Result<()> {
    counter::raise(conn, ACTION_ID, action.action_id)?;
    put_action(conn, action)
}

/// Writes a note that is there already.
pub fn update(conn: &mut dyn Conn, note: &NoteRow) -> Result<()> {
    put(conn, note)
}

/// Deleted or not.
pub fn get(conn: &mut dyn Conn, note_id: i64) -> Result<Option<NoteRow>> {
    conn.row(&ADMIN_NOTE_GET, &[SITE.into(), note_id.into()], NoteRow::read)
}

/// The newest notes of a name, deleted or not.
pub fn named(conn: &mut dyn Conn, name: &str, limit: i64) -> Result<Vec<NoteRow>> {
    conn.rows(&ADMIN_NOTES_NAMED, &[SITE.into(), name.into(), limit.into()], NoteRow::read)
}

/// The oldest note of a name, deleted or not.
pub fn oldest_named(conn: &mut dyn Conn, name: &str) -> Result<Option<NoteRow>> {
    conn.row(&ADMIN_NOTE_OLDEST_NAMED, &[SITE.into(), name.into()], NoteRow::read)
}

/// A page of notes, and how many there are. Those that tie come by their ids.
pub fn list(conn: &mut dyn Conn, wanted: &NoteFilter) -> Result<(Vec<NoteRow>, i64)> {
    let mut filter = Filter::new("site_id = ?", SITE);
    filter.and_value("is_deleted = ?", Some(false));
    filter.and_list("kind IN (?)", &wanted.kinds)?;
    filter.and_list("status IN (?)", &wanted.statuses)?;
    filter.and_list("source IN (?)", &wanted.sources)?;
    filter.and_value("is_read = ?", wanted.is_read);
    let key = match wanted.sort {
        NoteSort::Id => "note_id",
        NoteSort::Created => "created_us",
        NoteSort::Kind => "kind",
        NoteSort::Title => "title",
        NoteSort::Status => "status",
    };
    let order = vec![
        (Clause::fixed(key), wanted.direction),
        (Clause::fixed("note_id"), Direction::Ascending),
    ];
    filter.records(conn, order, wanted.page)
}

/// The actions of these notes, by note and id.
pub fn actions_of(conn: &mut dyn Conn, note_ids: &[i64]) -> Result<Vec<NoteActionRow>> {
    if note_ids.is_empty() {
        return Ok(Vec::new());
    }
    let mut filter = Filter::new("site_id = ?", SITE);
    filter.and_list("note_id IN (?)", note_ids)?;
    let keys = ["note_id", "action_id"];
    let order = keys.map(|key| (Clause::fixed(key), Direction::Ascending)).into();
    Ok(filter.records(conn, order, Page::default())?.0)
}

/// Whether [`settle`] would change anything.
pub fn is_any_due(conn: &mut dyn Conn, now: Timestamp) -> Result<bool> {
    let due =
        conn.row(&ADMIN_NOTES_ANY_DUE, &[SITE.into(), now.into()], |row| row.get::<i64>(0))?;
    Ok(due.is_some())
}

/// Wakes the snoozed notes whose time has come, and puts away surveys that were answered. Returns
/// how many notes changed.
pub fn settle(conn: &mut dyn Conn, now: Timestamp) -> Result<u64> {
    let woken = conn.execute(&ADMIN_NOTES_AWAKEN, &[SITE.into(), now.into()])?;
    Ok(woken + conn.execute(&ADMIN_SURVEYS_RETIRE, &[SITE.into()])?)
}

fn put(conn: &mut dyn Conn, note: &NoteRow) -> Result<()> {
    conn.insert(&ADMIN_NOTE_PUT, note).map(drop)
}

fn put_action(conn: &mut dyn Conn, action: &NoteActionRow) -> Result<()> {
    conn.insert(&ADMIN_NOTE_ACTION_PUT, action).map(drop)
}
