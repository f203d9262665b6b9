//! Consumer keys of the commerce interface, and the nonces that requests signed with them used up.

use db::{Conn, Record, SITE, statements};
use types::{Result, Timestamp};

const KEY_ID: &str = "consumer_key.id";

db::record! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct ConsumerKeyRow in "consumer_keys", fixed(site_id = SITE), key(key_id: i64) {
        user_id: i64,
        description: String,
        /// `read`, `write` or `read_write`.
        permissions: String,
        key_hash: Vec<u8>,
        secret_sealed: Vec<u8>,
        /// The end of the key, by which people recognise it.
        truncated_key: String,
        created: Timestamp,
        last_access: Option<Timestamp>,
    }
}

statements! {
    CONSUMER_KEY_INSERT = db::insert!(ConsumerKeyRow);
    CONSUMER_KEY_BY_HASH = db::select!(ConsumerKeyRow, "WHERE site_id = $1 AND key_hash = $2");
    CONSUMER_KEY_LIST = db::select!(ConsumerKeyRow, "WHERE site_id = $1 ORDER BY key_id");
    CONSUMER_KEY_LIST_OF_USER = db::select!(
        ConsumerKeyRow,
        "WHERE site_id = $1 AND user_id = $2 ORDER BY key_id"
    );
    CONSUMER_KEY_TOUCH =
        "UPDATE consumer_keys SET last_access_us = $1 WHERE site_id = $2 AND key_id = $3";
    CONSUMER_KEY_DELETE = "DELETE FROM consumer_keys WHERE site_id = $1 AND key_id = $2";
    NONCE_USE =
        "INSERT INTO oauth_nonces (site_id, key_id, nonce, timestamp_s) VALUES ($1, $2, $3, $4)
         ON CONFLICT (site_id, key_id, nonce) DO NOTHING";
    NONCE_PRUNE = "DELETE FROM oauth_nonces WHERE site_id = $1 AND timestamp_s < $2";
}

/// Inserts the key with the next id, whatever `key_id` says, and returns that id.
pub fn insert(conn: &mut dyn Conn, key: &ConsumerKeyRow) -> Result<i64> {
    conn.insert_next(&CONSUMER_KEY_INSERT, key, KEY_ID)
}

pub fn find_by_hash(conn: &mut dyn Conn, key_hash: &[u8]) -> Result<Option<ConsumerKeyRow>> {
    conn.row(&CONSUMER_KEY_BY_HASH, &[SITE.into(), key_hash.into()], ConsumerKeyRow::read)
}

/// The keys of one user or of all.
pub fn list(conn: &mut dyn Conn, user_id: Option<i64>) -> Result<Vec<ConsumerKeyRow>> {
    match user_id {
        None => conn.rows(&CONSUMER_KEY_LIST, &[SITE.into()], ConsumerKeyRow::read),
        Some(user_id) => {
            let params = [SITE.into(), user_id.into()];
            conn.rows(&CONSUMER_KEY_LIST_OF_USER, &params, ConsumerKeyRow::read)
        }
    }
}

/// Notes that the key was used. One that is gone meanwhile needs no note.
pub fn touch(conn: &mut dyn Conn, key_id: i64, now: Timestamp) -> Result<()> {
    conn.execute(&CONSUMER_KEY_TOUCH, &[now.into(), SITE.into(), key_id.into()]).map(drop)
}

/// Returns whether there was such a key.
pub fn delete(conn: &mut dyn Conn, key_id: i64) -> Result<bool> {
    Ok(conn.execute(&CONSUMER_KEY_DELETE, &[SITE.into(), key_id.into()])? == 1)
}

/// Uses up a nonce of the key. Returns `false` when it was used before: the request is a replay.
pub fn use_nonce(
    conn: &mut dyn Conn,
    key_id: i64,
    nonce: &str,
    timestamp_seconds: i64,
) -> Result<bool> {
    let params = [SITE.into(), key_id.into(), nonce.into(), timestamp_seconds.into()];
    Ok(conn.execute(&NONCE_USE, &params)? == 1)
}

/// Forgets nonces that were signed with an older timestamp, which nobody accepts any more. Returns
/// how many.
pub fn prune_nonces(conn: &mut dyn Conn, before_seconds: i64) -> Result<u64> {
    conn.execute(&NONCE_PRUNE, &[SITE.into(), before_seconds.into()])
}
