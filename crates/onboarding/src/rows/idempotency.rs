//! Answers kept by idempotency key, so that a retry gets the first answer again.

use db::{Conn, Row, statements};
use types::{IsoId, Result, Timestamp};

/// A kept answer. The hashes are keyed; neither key nor body is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredAnswer {
    pub iso_id: IsoId,
    pub key_hash: Vec<u8>,
    pub body_hash: Vec<u8>,
    pub status: i64,
    /// The answer's body as it was sent.
    pub answer: String,
    /// Its own headers, as a JSON object.
    pub headers: String,
    pub created: Timestamp,
    pub expires: Timestamp,
}

statements! {
    ANSWER_INSERT =
        "INSERT INTO idempotency
           (iso_id, key_hash, body_hash, status, answer, headers, created_us, expires_us)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
         ON CONFLICT (iso_id, key_hash) DO UPDATE SET
           body_hash = excluded.body_hash, status = excluded.status, answer = excluded.answer,
           headers = excluded.headers, created_us = excluded.created_us,
           expires_us = excluded.expires_us
         WHERE idempotency.expires_us <= excluded.created_us";
    ANSWER_FIND =
        "SELECT iso_id, key_hash, body_hash, status, answer, headers, created_us, expires_us
         FROM idempotency WHERE iso_id = $1 AND key_hash = $2 AND expires_us > $3";
    ANSWER_PURGE =
        "DELETE FROM idempotency WHERE (iso_id, key_hash) IN
           (SELECT iso_id, key_hash FROM idempotency WHERE expires_us <= $1 LIMIT $2)";
}

/// Keeps an answer. Returns false if there is one for this key already; an expired one counts as
/// none.
pub fn insert(conn: &mut dyn Conn, answer: &StoredAnswer) -> Result<bool> {
    let inserted = conn.execute(
        &ANSWER_INSERT,
        &[
            (&answer.iso_id).into(),
            (&answer.key_hash).into(),
            (&answer.body_hash).into(),
            answer.status.into(),
            (&answer.answer).into(),
            (&answer.headers).into(),
            answer.created.into(),
            answer.expires.into(),
        ],
    )?;
    Ok(inserted == 1)
}

pub fn find(
    conn: &mut dyn Conn,
    iso_id: &IsoId,
    key_hash: &[u8],
    now: Timestamp,
) -> Result<Option<StoredAnswer>> {
    let read = |row: &dyn Row| {
        Ok(StoredAnswer {
            iso_id: row.get(0)?,
            key_hash: row.get(1)?,
            body_hash: row.get(2)?,
            status: row.get(3)?,
            answer: row.get(4)?,
            headers: row.get(5)?,
            created: row.get(6)?,
            expires: row.get(7)?,
        })
    };
    conn.row(&ANSWER_FIND, &[iso_id.into(), key_hash.into(), now.into()], read)
}

/// Forgets up to `limit` expired answers and returns how many there were.
pub fn purge(conn: &mut dyn Conn, now: Timestamp, limit: i64) -> Result<u64> {
    conn.execute(&ANSWER_PURGE, &[now.into(), limit.into()])
}
