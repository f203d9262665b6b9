//! What is to happen to an object at a time to come. One of a kind per object.

use db::{Conn, Row, statements};
use types::{IsoId, Result, Timestamp};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DueWork {
    pub iso_id: IsoId,
    /// What is to happen.
    pub kind: String,
    pub object_id: String,
    pub due: Timestamp,
}

statements! {
    DUE_PUT =
        "INSERT INTO due_work (iso_id, kind, object_id, due_us) VALUES ($1, $2, $3, $4)
         ON CONFLICT (iso_id, kind, object_id) DO UPDATE SET due_us = excluded.due_us";
    DUE_LIST =
        "SELECT iso_id, kind, object_id, due_us FROM due_work
         WHERE due_us <= $1 ORDER BY due_us, iso_id LIMIT $2";
    DUE_LIST_OF_ISO =
        "SELECT iso_id, kind, object_id, due_us FROM due_work
         WHERE iso_id = $1 AND due_us <= $2 ORDER BY due_us LIMIT $3";
    DUE_TAKE = "DELETE FROM due_work WHERE iso_id = $1 AND kind = $2 AND object_id = $3";
}

/// Notes what is to happen; what was noted before of the same kind and object is replaced.
pub fn put(conn: &mut dyn Conn, work: &DueWork) -> Result<()> {
    let DueWork { iso_id, kind, object_id, due } = work;
    conn.execute_one(&DUE_PUT, &[iso_id.into(), kind.into(), object_id.into(), (*due).into()])
}

/// Up to `limit` things whose time has come, of one ISO or of all.
pub fn list(
    conn: &mut dyn Conn,
    iso_id: Option<&IsoId>,
    now: Timestamp,
    limit: i64,
) -> Result<Vec<DueWork>> {
    match iso_id {
        Some(iso_id) => {
            conn.rows(&DUE_LIST_OF_ISO, &[iso_id.into(), now.into(), limit.into()], DueWork::read)
        }
        None => conn.rows(&DUE_LIST, &[now.into(), limit.into()], DueWork::read),
    }
}

/// Takes the work off the list. False if somebody else did.
pub fn take(conn: &mut dyn Conn, work: &DueWork) -> Result<bool> {
    let DueWork { iso_id, kind, object_id, .. } = work;
    Ok(conn.execute(&DUE_TAKE, &[iso_id.into(), kind.into(), object_id.into()])? == 1)
}

impl DueWork {
    fn read(row: &dyn Row) -> Result<Self> {
        Ok(Self {
            iso_id: row.get(0)?,
            kind: row.get(1)?,
            object_id: row.get(2)?,
            due: row.get(3)?,
        })
    }
}
