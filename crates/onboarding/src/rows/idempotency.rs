//! Answers kept by idempotency key, so that a retry gets the first answer again.

use db::{Conn, Record as _, statements};
use types::{IsoId, Result, Timestamp};

db::record! {
    /// A kept answer. The hashes are keyed; neither key nor body is stored.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct StoredAnswer in "idempotency", key(iso_id: IsoId, key_hash: Vec<u8>) {
        body_hash: Vec<u8>,
        status: i64,
        /// The answer's body as it was sent.
        answer: String,
        /// Its own headers, as a JSON object.
        headers: String,
        created: Timestamp,
        expires: Timestamp,
    }
}

statements! {
    ANSWER_INSERT =
        db::upsert!(StoredAnswer, "WHERE idempotency.expires_us <= excluded.created_us");
    ANSWER_FIND =
        db::select!(StoredAnswer, "WHERE iso_id = $1 AND key_hash = $2 AND expires_us > $3");
    ANSWER_PURGE =
        "DELETE FROM idempotency WHERE (iso_id, key_hash) IN
           (SELECT iso_id, key_hash FROM idempotency WHERE expires_us <= $1 LIMIT $2)";
}

/// Keeps an answer. Returns false if there is one for this key already; an expired one counts as
/// none.
pub fn insert(conn: &mut dyn Conn, answer: &StoredAnswer) -> Result<bool> {
    Ok(conn.insert(&ANSWER_INSERT, answer)? == 1)
}

pub fn find(
    conn: &mut dyn Conn,
    iso_id: &IsoId,
    key_hash: &[u8],
    now: Timestamp,
) -> Result<Option<StoredAnswer>> {
    conn.row(&ANSWER_FIND, &[iso_id.into(), key_hash.into(), now.into()], StoredAnswer::read)
}

/// Forgets up to `limit` expired answers and returns how many there were.
pub fn purge(conn: &mut dyn Conn, now: Timestamp, limit: i64) -> Result<u64> {
    conn.execute(&ANSWER_PURGE, &[now.into(), limit.into()])
}
