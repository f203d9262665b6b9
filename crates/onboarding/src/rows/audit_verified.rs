//! How far each chain of the audit log is known to be whole. The caller seals a row; the store has
//! no key for it.

use db::{Conn, Record as _, statements};
use types::{IsoId, Result, Timestamp};

use crate::rows::audit::chain_name;

db::record! {
    /// Up to which entry a chain was found whole, and what its last full check found wrong.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct VerifiedRow in "audit_verified", key(
        /// Empty for what belongs to no ISO.
        iso_id: String,
    ) {
        /// 0 when nothing of it is known.
        seq: i64,
        hash: Vec<u8>,
        /// A JSON list.
        errors: String,
        made: Timestamp,
        seal: Vec<u8>,
    }
}

statements! {
    VERIFIED_GET = db::select!(VerifiedRow, "WHERE iso_id = $1");
    VERIFIED_SET = db::upsert!(VerifiedRow);
}

/// What is known of a chain; none when it was never checked.
pub fn get(conn: &mut dyn Conn, iso_id: Option<&IsoId>) -> Result<Option<VerifiedRow>> {
    conn.row(&VERIFIED_GET, &[chain_name(iso_id).into()], VerifiedRow::read)
}

pub fn set(conn: &mut dyn Conn, row: &VerifiedRow) -> Result<()> {
    conn.insert(&VERIFIED_SET, row).map(drop)
}
