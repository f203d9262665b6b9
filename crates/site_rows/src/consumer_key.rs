//! Consumer keys of the commerce interface, and the nonces that requests signed with them used up.

use db::{Conn, Row, SITE, counter, statements};
use types::{Result, Timestamp};

const KEY_ID: &str = "consumer_key.id";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConsumerKeyRow {
    pub key_id: i64,
    pub user_id: i64,
    pub description: String,
    /// `read`, `write` or `read_write`.
    pub permissions: String,
    pub key_hash: Vec<u8>,
    pub secret_sealed: Vec<u8>,
    /// The end of the key, by which people recognise it.
    pub truncated_key: String,
    pub created: Timestamp,
    pub last_access: Option<Timestamp>,
}

statements! {
    CONSUMER_KEY_INSERT =
        "INSERT INTO consumer_keys
           (site_id, key_id, user_id, description, permissions, key_hash, secret_sealed,
            truncated_key, created_us, last_access_us)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)";
    CONSUMER_KEY_BY_HASH =
        "SELECT key_id, user_id, description, permissions, key_hash, secret_sealed, truncated_key,
            created_us, last_access_us
         FROM consumer_keys WHERE site_id = $1 AND key_hash = $2";
    CONSUMER_KEY_LIST =
        "SELECT key_id, user_id, description, permissions, key_hash, secret_sealed, truncated_key,
            created_us, last_access_us
         FROM consumer_keys WHERE site_id = $1 ORDER BY key_id";
    CONSUMER_KEY_LIST_OF_USER =
        "SELECT key_id, user_id, description, permissions, key_hash, secret_sealed, truncated_key,
            created_us, last_access_us
         FROM consumer_keys WHERE site_id = $1 AND user_id = $2 ORDER BY key_id";
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
    let key_id = counter::take(conn, KEY_ID, 1)? + 1;
    conn.execute_one(
        &CONSUMER_KEY_INSERT,
        &[
            SITE.into(),
            key_id.into(),
            key.user_id.into(),
            (&key.description).into(),
            (&key.permissions).into(),
            (&key.key_hash).into(),
            (&key.secret_sealed).into(),
            (&key.truncated_key).into(),
            key.created.into(),
            key.last_access.into(),
        ],
    )?;
    Ok(key_id)
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

impl ConsumerKeyRow {
    fn read(row: &dyn Row) -> Result<Self> {
        Ok(Self {
            key_id: row.get(0)?,
            user_id: row.get(1)?,
            description: row.get(2)?,
            permissions: row.get(3)?,
            key_hash: row.get(4)?,
            secret_sealed: row.get(5)?,
            truncated_key: row.get(6)?,
            created: row.get(7)?,
            last_access: row.get(8)?,
        })
    }
}
