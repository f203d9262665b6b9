//! Notes to the shop's people: what happened, and what they can do about it.
//!
//! A note that somebody dismissed is marked as deleted and stays, so that it can be brought back,
//! and so that what was told once is known. Its actions are written with it and never change.

use db::filter::{Clause, Direction, Filter, Page};
use db::{Conn, Row, SITE, counter, named, statements};
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

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NoteRow {
    pub note_id: i64,
    /// What it is about; several notes may have the same.
    pub name: String,
    pub kind: NoteKind,
    pub locale: String,
    pub title: String,
    /// Text, or a little HTML.
    pub content: String,
    /// A JSON object.
    pub content_data: String,
    pub status: NoteStatus,
    /// Who raised it.
    pub source: String,
    pub created: Timestamp,
    /// When a snoozed note wakes.
    pub reminder: Option<Timestamp>,
    pub is_snoozable: bool,
    pub layout: String,
    pub image: String,
    pub is_deleted: bool,
    pub is_read: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NoteActionRow {
    pub note_id: i64,
    pub action_id: i64,
    pub name: String,
    pub label: String,
    /// Where it leads: an address, or a part of one.
    pub query: String,
    /// What becomes of the note; empty for nothing.
    pub status: String,
    pub actioned_text: String,
    pub nonce_action: Option<String>,
    pub nonce_name: Option<String>,
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

/// What [`NoteRow::read`] reads, in its order.
macro_rules! note_columns {
    () => {
        "note_id, name, kind, locale, title, content, content_data, status, source, created_us,
         reminder_us, is_snoozable, layout, image, is_deleted, is_read"
    };
}

/// What [`NoteActionRow::read`] reads, in its order.
macro_rules! action_columns {
    () => {
        "note_id, action_id, name, label, query, status, actioned_text, nonce_action, nonce_name"
    };
}

statements! {
    ADMIN_NOTE_PUT = concat!(
        "INSERT INTO admin_notes (site_id, ",
        note_columns!(),
        ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)
         ON CONFLICT (site_id, note_id) DO UPDATE SET
           name = excluded.name, kind = excluded.kind, locale = excluded.locale,
           title = excluded.title, content = excluded.content,
           content_data = excluded.content_data, status = excluded.status,
           source = excluded.source, created_us = excluded.created_us,
           reminder_us = excluded.reminder_us, is_snoozable = excluded.is_snoozable,
           layout = excluded.layout, image = excluded.image, is_deleted = excluded.is_deleted,
           is_read = excluded.is_read"
    );
    ADMIN_NOTE_ACTION_PUT = concat!(
        "INSERT INTO admin_note_actions (site_id, ",
        action_columns!(),
        ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
         ON CONFLICT (site_id, note_id, action_id) DO UPDATE SET
           name = excluded.name, label = excluded.label, query = excluded.query,
           status = excluded.status, actioned_text = excluded.actioned_text,
           nonce_action = excluded.nonce_action, nonce_name = excluded.nonce_name"
    );
    ADMIN_NOTE_GET = concat!(
        "SELECT ",
        note_columns!(),
        " FROM admin_notes WHERE site_id = $1 AND note_id = $2"
    );
    ADMIN_NOTES_NAMED = concat!(
        "SELECT ",
        note_columns!(),
        " FROM admin_notes WHERE site_id = $1 AND name = $2 ORDER BY note_id DESC LIMIT $3"
    );
    ADMIN_NOTE_OLDEST_NAMED = concat!(
        "SELECT ",
        note_columns!(),
        " FROM admin_notes WHERE site_id = $1 AND name = $2 ORDER BY note_id LIMIT 1"
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
    filter.page(conn, (note_columns!(), "admin_notes"), order, wanted.page, NoteRow::read)
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
    let selection = (action_columns!(), "admin_note_actions");
    let page = Page::default();
    Ok(filter.page(conn, selection, order, page, NoteActionRow::read)?.0)
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
    let params = [
        SITE.into(),
        note.note_id.into(),
        (&note.name).into(),
        note.kind.into(),
        (&note.locale).into(),
        (&note.title).into(),
        (&note.content).into(),
        (&note.content_data).into(),
        note.status.into(),
        (&note.source).into(),
        note.created.into(),
        note.reminder.into(),
        note.is_snoozable.into(),
        (&note.layout).into(),
        (&note.image).into(),
        note.is_deleted.into(),
        note.is_read.into(),
    ];
    conn.execute_one(&ADMIN_NOTE_PUT, &params)
}

fn put_action(conn: &mut dyn Conn, action: &NoteActionRow) -> Result<()> {
    let params = [
        SITE.into(),
        action.note_id.into(),
        action.action_id.into(),
        (&action.name).into(),
        (&action.label).into(),
        (&action.query).into(),
        (&action.status).into(),
        (&action.actioned_text).into(),
        action.nonce_action.as_ref().into(),
        action.nonce_name.as_ref().into(),
    ];
    conn.execute_one(&ADMIN_NOTE_ACTION_PUT, &params)
}

impl NoteRow {
    fn read(row: &dyn Row) -> Result<Self> {
        Ok(Self {
            note_id: row.get(0)?,
            name: row.get(1)?,
            kind: row.get(2)?,
            locale: row.get(3)?,
            title: row.get(4)?,
            content: row.get(5)?,
            content_data: row.get(6)?,
            status: row.get(7)?,
            source: row.get(8)?,
            created: row.get(9)?,
            reminder: row.get(10)?,
            is_snoozable: row.get(11)?,
            layout: row.get(12)?,
            image: row.get(13)?,
            is_deleted: row.get(14)?,
            is_read: row.get(15)?,
        })
    }
}

impl NoteActionRow {
    fn read(row: &dyn Row) -> Result<Self> {
        Ok(Self {
            note_id: row.get(0)?,
            action_id: row.get(1)?,
            name: row.get(2)?,
            label: row.get(3)?,
            query: row.get(4)?,
            status: row.get(5)?,
            actioned_text: row.get(6)?,
            nonce_action: row.get(7)?,
            nonce_name: row.get(8)?,
        })
    }
}
