//! Notes on orders: what happened, what somebody wrote, and what the customer was told.

use db::{Conn, Record, SITE, counter, statements};
use types::{Result, Timestamp};

const NOTE_ID: &str = "order_note.id";

db::record! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct OrderNoteRow in "order_notes", fixed(site_id = SITE), key(note_id: i64) {
        order_id: i64,
        /// A name, not a user.
        author: String,
        text: String,
        /// Whether the customer was told.
        customer_note: bool,
        /// Whether a person wrote it rather than the program.
        added_by_user: bool,
        created: Timestamp,
    }
}

statements! {
    ORDER_NOTE_INSERT = db::insert!(OrderNoteRow);
    ORDER_NOTE_UPDATE = db::update!(OrderNoteRow);
    ORDER_NOTE_GET = db::select!(OrderNoteRow, "WHERE site_id = $1 AND note_id = $2");
    ORDER_NOTES_OF_ORDER = db::select!(
        OrderNoteRow,
        "WHERE site_id = $1 AND order_id = $2 ORDER BY created_us DESC, note_id DESC"
    );
    ORDER_NOTE_DELETE = "DELETE FROM order_notes WHERE site_id = $1 AND note_id = $2";
}

/// Inserts the note with the next id, whatever `note_id` says, and returns that id. A conflict when
/// there is no such order.
pub fn insert(conn: &mut dyn Conn, note: &OrderNoteRow) -> Result<i64> {
    conn.insert_next(&ORDER_NOTE_INSERT, note, NOTE_ID)
}

/// Inserts the note with the id that it comes with, and sees to it that the id is not given again.
pub fn insert_with_id(conn: &mut dyn Conn, note: &OrderNoteRow) -> Result<()> {
    counter::raise(conn, NOTE_ID, note.note_id)?;
    conn.insert(&ORDER_NOTE_INSERT, note).map(drop)
}

/// Returns whether there is such a note.
pub fn update(conn: &mut dyn Conn, note: &OrderNoteRow) -> Result<bool> {
    conn.update_existing(&ORDER_NOTE_UPDATE, note)
}

pub fn get(conn: &mut dyn Conn, note_id: i64) -> Result<Option<OrderNoteRow>> {
    conn.row(&ORDER_NOTE_GET, &[SITE.into(), note_id.into()], OrderNoteRow::read)
}

/// The notes on an order, the newest first.
pub fn list(conn: &mut dyn Conn, order_id: i64) -> Result<Vec<OrderNoteRow>> {
    conn.rows(&ORDER_NOTES_OF_ORDER, &[SITE.into(), order_id.into()], OrderNoteRow::read)
}

/// Returns whether there was such a note.
pub fn delete(conn: &mut dyn Conn, note_id: i64) -> Result<bool> {
    Ok(conn.execute(&ORDER_NOTE_DELETE, &[SITE.into(), note_id.into()])? == 1)
}
