//! Texts that users typed and have not saved yet: one for each item and user, replaced by the next.
//! An autosave takes its number from the counter of posts.

use db::{Conn, Record, SITE, statements};
use types::{Result, Timestamp};

use crate::post;

/// Autosaves of one item that are read at once: one for each of so many users.
const READ_MAX: i64 = 100;

db::record! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct AutosaveRow in "autosaves", fixed(site_id = SITE), key(autosave_id: i64) {
        /// The item, which need not be a post.
        post_id: i64,
        author_id: i64,
        title: String,
        content: String,
        excerpt: String,
        /// The site's local time, written as if it were UTC.
        date: Timestamp,
        date_gmt: Timestamp,
    }
}

statements! {
    AUTOSAVE_INSERT = db::insert!(AutosaveRow);
    AUTOSAVE_UPDATE = db::update!(AutosaveRow);
    AUTOSAVES_OF_POST = db::select!(
        AutosaveRow,
        "WHERE site_id = $1 AND post_id = $2 ORDER BY date_gmt_us DESC, autosave_id DESC LIMIT $3"
    );
    AUTOSAVES_DELETE = "DELETE FROM autosaves WHERE site_id = $1 AND post_id = $2";
}

/// Keeps what a user typed instead of what they typed before, and returns the number of it.
pub fn put(conn: &mut dyn Conn, autosave: &AutosaveRow) -> Result<i64> {
    let mut known = of_post(conn, autosave.post_id)?.into_iter();
    if let Some(known) = known.find(|row| row.author_id == autosave.author_id) {
        let autosave_id = known.autosave_id;
        conn.update_existing(&AUTOSAVE_UPDATE, &AutosaveRow { autosave_id, ..autosave.clone() })?;
        return Ok(autosave_id);
    }
    let autosave_id = post::take_id(conn)?;
    conn.insert_as(&AUTOSAVE_INSERT, autosave, autosave_id)?;
    Ok(autosave_id)
}

/// The autosaves of an item, the latest first.
pub fn of_post(conn: &mut dyn Conn, post_id: i64) -> Result<Vec<AutosaveRow>> {
    let params = [SITE.into(), post_id.into(), READ_MAX.into()];
    conn.rows(&AUTOSAVES_OF_POST, &params, AutosaveRow::read)
}

/// Deletes the autosaves of an item that is deleted.
pub fn delete_of(conn: &mut dyn Conn, post_id: i64) -> Result<()> {
    conn.execute(&AUTOSAVES_DELETE, &[SITE.into(), post_id.into()]).map(drop)
}
