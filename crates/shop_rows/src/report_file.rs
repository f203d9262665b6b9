//! Files that reports were written into: parts by number, kept until they expire.

use db::{Conn, SITE, statements};
use types::{Result, Timestamp};

statements! {
    REPORT_FILE_PUT =
        "INSERT INTO report_files (site_id, export_id, part, content, expires_us)
         VALUES ($1, $2, $3, $4, $5)";
    REPORT_FILE_PART =
        "SELECT content FROM report_files WHERE site_id = $1 AND export_id = $2 AND part = $3";
    REPORT_FILE_DELETE = "DELETE FROM report_files WHERE site_id = $1 AND export_id = $2";
    REPORT_FILES_PRUNE =
        "DELETE FROM report_files WHERE site_id = $1 AND export_id IN (
           SELECT old.export_id FROM report_files AS old
           WHERE old.site_id = $2 AND old.expires_us < $3
           ORDER BY old.expires_us LIMIT $4)";
}

/// Adds a part of a file.
pub fn put(
    conn: &mut dyn Conn,
    (export_id, part): (&str, i64),
    content: &[u8],
    expires: Timestamp,
) -> Result<()> {
    let params = [SITE.into(), export_id.into(), part.into(), content.into(), expires.into()];
    conn.execute_one(&REPORT_FILE_PUT, &params)
}

pub fn part(conn: &mut dyn Conn, export_id: &str, part: i64) -> Result<Option<Vec<u8>>> {
    let params = [SITE.into(), export_id.into(), part.into()];
    conn.row(&REPORT_FILE_PART, &params, |row| row.get(0))
}

/// Deletes a file, and returns how many parts it had.
pub fn delete(conn: &mut dyn Conn, export_id: &str) -> Result<u64> {
    conn.execute(&REPORT_FILE_DELETE, &[SITE.into(), export_id.into()])
}

/// Deletes files of which up to `limit` parts have expired, and returns how many parts went.
pub fn prune(conn: &mut dyn Conn, now: Timestamp, limit: i64) -> Result<u64> {
    conn.execute(&REPORT_FILES_PRUNE, &[SITE.into(), SITE.into(), now.into(), limit.into()])
}
