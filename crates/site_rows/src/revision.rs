//! Earlier texts of posts and pages. A revision takes its number from the counter of posts and is
//! never changed.

use db::{Conn, Record, SITE, statements};
use types::{Result, Timestamp};

use crate::post;

/// Revisions that are kept of one post; the oldest goes when there are more.
pub const REVISIONS_MAX: i64 = 100;

db::record! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct RevisionRow in "revisions", fixed(site_id = SITE), key(revision_id: i64) {
        post_id: i64,
        /// Who made the change.
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
    REVISION_INSERT = db::insert!(RevisionRow);
    REVISION_GET = db::select!(RevisionRow, "WHERE site_id = $1 AND revision_id = $2");
    REVISIONS_OF_POST = db::select!(
        RevisionRow,
        "WHERE site_id = $1 AND post_id = $2 ORDER BY revision_id DESC LIMIT $3"
    );
    REVISION_COUNT =
        "SELECT COUNT(*), COALESCE(MAX(revision_id), 0) FROM revisions
         WHERE site_id = $1 AND post_id = $2";
    REVISION_DELETE = "DELETE FROM revisions WHERE site_id = $1 AND revision_id = $2";
    REVISION_DELETE_OLDEST =
        "DELETE FROM revisions WHERE site_id = $1 AND revision_id =
           (SELECT MIN(oldest.revision_id) FROM revisions AS oldest
            WHERE oldest.site_id = $1 AND oldest.post_id = $2)";
}

/// Inserts the revision with the next number, whatever `revision_id` says, and returns that number.
pub fn insert(conn: &mut dyn Conn, revision: &RevisionRow) -> Result<i64> {
    let revision_id = post::take_id(conn)?;
    conn.insert_as(&REVISION_INSERT, revision, revision_id)?;
    if count(conn, revision.post_id)?.0 > REVISIONS_MAX {
        conn.execute(&REVISION_DELETE_OLDEST, &[SITE.into(), revision.post_id.into()])?;
    }
    Ok(revision_id)
}

pub fn get(conn: &mut dyn Conn, revision_id: i64) -> Result<Option<RevisionRow>> {
    conn.row(&REVISION_GET, &[SITE.into(), revision_id.into()], RevisionRow::read)
}

/// All revisions of a post, the latest first.
pub fn of_post(conn: &mut dyn Conn, post_id: i64) -> Result<Vec<RevisionRow>> {
    let params = [SITE.into(), post_id.into(), REVISIONS_MAX.into()];
    conn.rows(&REVISIONS_OF_POST, &params, RevisionRow::read)
}

/// How many revisions a post has, and the number of the latest.
pub fn count(conn: &mut dyn Conn, post_id: i64) -> Result<(i64, i64)> {
    let params = [SITE.into(), post_id.into()];
    let found = conn.row(&REVISION_COUNT, &params, |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(found.unwrap_or_default())
}

/// Returns whether there was such a revision.
pub fn delete(conn: &mut dyn Conn, revision_id: i64) -> Result<bool> {
    Ok(conn.execute(&REVISION_DELETE, &[SITE.into(), revision_id.into()])? == 1)
}
