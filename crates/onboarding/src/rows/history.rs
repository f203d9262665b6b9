//! What objects were before their changes: written in the transaction of the change.
//!
//! The newest version of an object is its own row; here are the older ones, each as the JSON of the
//! row that it was.

use db::{Conn, statements};
use types::{IsoId, Result, Timestamp};

/// A version that is no longer the newest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PastVersion<'a> {
    pub iso_id: &'a IsoId,
    /// Such as `merchant`.
    pub object: &'static str,
    pub object_id: &'a str,
    pub version: i64,
    /// Since when it was so.
    pub from: Timestamp,
    /// The row as JSON.
    pub record: String,
}

statements! {
    VERSION_KEEP =
        "INSERT INTO object_versions (iso_id, object, object_id, version, from_us, record)
         VALUES ($1, $2, $3, $4, $5, $6)";
    VERSION_AS_OF =
        "SELECT record FROM object_versions
         WHERE iso_id = $1 AND object = $2 AND object_id = $3 AND from_us <= $4
         ORDER BY version DESC LIMIT 1";
    VERSION_GET =
        "SELECT record FROM object_versions
         WHERE iso_id = $1 AND object = $2 AND object_id = $3 AND version = $4";
}

/// Keeps what an object was before the change under way.
pub fn keep(conn: &mut dyn Conn, past: &PastVersion<'_>) -> Result<()> {
    conn.execute_one(
        &VERSION_KEEP,
        &[
            past.iso_id.into(),
            past.object.into(),
            past.object_id.into(),
            past.version.into(),
            past.from.into(),
            (&past.record).into(),
        ],
    )
}

/// The past version that was in force at the time; none if the object was not there yet. **Ask
/// only for times before the newest version**, which is not in here.
pub fn as_of(
    conn: &mut dyn Conn,
    iso_id: &IsoId,
    object: &str,
    object_id: &str,
    at: Timestamp,
) -> Result<Option<String>> {
    let params = [iso_id.into(), object.into(), object_id.into(), at.into()];
    conn.row(&VERSION_AS_OF, &params, |row| row.get(0))
}

/// The past version of that number. **The newest version is not in here.**
pub fn version(
    conn: &mut dyn Conn,
    iso_id: &IsoId,
    (object, object_id): (&str, &str),
    version: i64,
) -> Result<Option<String>> {
    let params = [iso_id.into(), object.into(), object_id.into(), version.into()];
    conn.row(&VERSION_GET, &params, |row| row.get(0))
}
