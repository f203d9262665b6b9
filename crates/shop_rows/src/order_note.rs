//! Notes on orders: what happened, what somebody wrote, and what the customer was told.

use db::{Conn, Row, SITE, counter, statements};
use types::{Result, Timestamp};

const NOTE_ID: &str = "order_note.id";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderNoteRow {
    pub note_id: i64,
    pub order_id: i64,
    /// A name, not a user.
    pub author: String,
    pub text: String,
    /// Whether the customer was told.
    pub customer_note: bool,
    /// Whether a person wrote it rather than the program.
    pub added_by_user: bool,
    pub created: Timestamp,
}

/// What [`OrderNoteRow::read`] reads, in its order.
macro_rules! note_columns {
    () => {
        "note_id, order_id, author, text, customer_note, added_by_user, created_us"
    };
}

statements! {
    ORDER_NOTE_INSERT =
        "INSERT INTO order_notes
           (site_id, note_id, order_id, author, text, customer_note, added_by_user, created_us)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
    ORDER_NOTE_GET = concat!(
        "SELECT ",
        note_columns!(),
        " FROM order_notes WHERE site_id = $1 AND note_id = $2"
    );
    ORDER_NOTES_OF_ORDER = concat!(
        "SELECT ",
        note_columns!(),
        " FROM order_notes WHERE site_id = $1 AND order_id = $2
          ORDER BY created_us DESC, note_id DESC"
    );
    ORDER_NOTE_DELETE = "DELETE FROM order_notes WHERE site_id = $1 AND note_id = $2";
}

/// Inserts the note with the next id, whatever `note_id` says, and returns that id. A conflict when
/// there is no such order.
pub fn insert(conn: &mut dyn Conn, note: &OrderNoteRow) -> Result<i64> {
    let note_id = counter::take(conn, NOTE_ID, 1)? + 1;
    write(conn, note, note_id)?;
    Ok(note_id)
}

/// Inserts the note with the id that it comes with, and sees to it that the id is not given again.
pub fn insert_with_id(conn: &mut dyn Conn, note: &OrderNoteRow) -> Result<()> {
    counter::raise(conn, NOTE_ID, note.note_id)?;
    write(conn, note, note.note_id)
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

fn write(conn: &mut dyn Conn, note: &OrderNoteRow, note_id: i64) -> Result<()> {
    conn.execute_one(
        &ORDER_NOTE_INSERT,
        &[
            SITE.into(),
            note_id.into(),
            note.order_id.into(),
            (&note.author).into(),
            (&note.text).into(),
            note.customer_note.into(),
            note.added_by_user.into(),
            note.created.into(),
        ],
    )
}

impl OrderNoteRow {
    fn read(row: &dyn Row) -> Result<Self> {
        Ok(Self {
            note_id: row.get(0)?,
            order_id: row.get(1)?,
            author: row.get(2)?,
            text: row.get(3)?,
            customer_note: row.get(4)?,
            added_by_user: row.get(5)?,
            created: row.get(6)?,
        })
    }
}
