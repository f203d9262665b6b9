//! Earlier texts of posts and pages. A revision takes its number from the counter of posts and is
//! never changed.

use db::{Conn, Row, SITE, statements};
use types::{Result, Timestamp};

use crate::post;

/// Revisions that are kept of one post; the oldest goes when there are more.
pub const REVISIONS_MAX: i64 = 100;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RevisionRow {
    pub revision_id: i64,
    pub post_id: i64,
    /// Who made the change.
    pub author_id: i64,
    pub title: String,
    pub content: String,
    pub excerpt: String,
    /// The site's local time, written as if it were UTC.
    pub date: Timestamp,
    pub date_gmt: Timestamp,
}

macro_rules! revision_columns {
    () => {
        "revision_id, post_id, author_id, title, content, excerpt, date_us, date_gmt_us"
    };
}

statements! {
    REVISION_INSERT =
        "INSERT INTO revisions
           (site_id, revision_id, post_id, author_id, title, content, excerpt, date_us, date_gmt_us)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
    REVISION_GET = concat!(
        "SELECT ",
        revision_columns!(),
        " FROM revisions WHERE site_id = $1 AND revision_id = $2"
    );
    REVISIONS_OF_POST = concat!(
        "SELECT ",
        revision_columns!(),
        " FROM revisions WHERE site_id = $1 AND post_id = $2 ORDER BY revision_id DESC LIMIT $3"
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
    let params = [
        SITE.into(),
        revision_id.into(),
        revision.post_id.into(),
        revision.author_id.into(),
        (&revision.title).into(),
        (&revision.content).into(),
        (&revision.excerpt).into(),
        revision.date.into(),
        revision.date_gmt.into(),
    ];
    conn.execute_one(&REVISION_INSERT, &params)?;
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

impl RevisionRow {
    fn read(row: &dyn Row) -> Result<Self> {
        Ok(Self {
            revision_id: row.get(0)?,
            post_id: row.get(1)?,
            author_id: row.get(2)?,
            title: row.get(3)?,
            content: row.get(4)?,
            excerpt: row.get(5)?,
            date: row.get(6)?,
            date_gmt: row.get(7)?,
        })
    }
}
