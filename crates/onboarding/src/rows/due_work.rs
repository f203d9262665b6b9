//! What is to happen to an object at a time to come. One of a kind per object.

use db::{Conn, Record as _, statements};
use types::{IsoId, Result, Timestamp};

db::record! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct DueWork in "due_work", key(
        iso_id: IsoId,
        /// What is to happen.
        kind: String,
        object_id: String,
    ) {
        due: Timestamp,
    }
}

statements! {
    DUE_PUT = db::upsert!(DueWork);
    DUE_LIST = db::select!(DueWork, "WHERE due_us <= $1 ORDER BY due_us, iso_id LIMIT $2");
    DUE_LIST_OF_ISO =
        db::select!(DueWork, "WHERE iso_id = $1 AND due_us <= $2 ORDER BY due_us LIMIT $3");
    DUE_TAKE = "DELETE FROM due_work WHERE iso_id = $1 AND kind = $2 AND object_id = $3";
}

/// Notes what is to happen; what was noted before of the same kind and object is replaced.
pub fn put(conn: &mut dyn Conn, work: &DueWork) -> Result<()> {
    conn.insert(&DUE_PUT, work).map(drop)
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
    Ok(conn.execute(&DUE_TAKE, &work.key_values())? == 1)
}
