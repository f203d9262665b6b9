//! API keys: their keyed hashes, scopes and life.

use db::{Conn, Record as _, statements};
use types::{IsoId, KeyId, Result, Timestamp};

db::record! {
    /// A key as stored. **The key itself is nowhere.**
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct ApiKeyRow in "api_keys", key(iso_id: IsoId, key_id: KeyId) {
        hash: Vec<u8>,
        name: String,
        scopes: String,
        created: Timestamp,
        expires: Option<Timestamp>,
        revoked: Option<Timestamp>,
        last_used: Option<Timestamp>,
        last_ip: Option<String>,
        /// Networks with blanks between; empty for all.
        allowed_ips: String,
        /// A key, or the system itself.
        created_by: String,
        /// How many days before its end the ISO was told of that last.
        warned_days: Option<i64>,
    }
}

statements! {
    KEY_INSERT = db::insert!(ApiKeyRow);
    KEY_FIND = db::select!(ApiKeyRow, "WHERE key_id = $1");
    KEY_LIST = db::select!(ApiKeyRow, "ORDER BY iso_id, created_us, key_id");
    KEY_LIST_OF_ISO = db::select!(ApiKeyRow, "WHERE iso_id = $1 ORDER BY created_us, key_id");
    KEY_EXPIRING = db::select!(
        ApiKeyRow,
        "WHERE revoked_us IS NULL AND expires_us > $1 AND expires_us <= $2
         ORDER BY expires_us, key_id LIMIT $3"
    );
    KEY_REVOKE =
        "UPDATE api_keys SET revoked_us = $1
         WHERE iso_id = $2 AND key_id = $3 AND revoked_us IS NULL";
    // Who sets an end knows of it, and need not be told.
    KEY_SET_EXPIRY =
        "UPDATE api_keys SET expires_us = $1, warned_days = 0 WHERE iso_id = $2 AND key_id = $3";
    KEY_SET_LAST_USED =
        "UPDATE api_keys SET last_used_us = $1, last_ip = $2 WHERE iso_id = $3 AND key_id = $4";
    KEY_SET_WARNED = "UPDATE api_keys SET warned_days = $1 WHERE iso_id = $2 AND key_id = $3";
}

pub fn insert(conn: &mut dyn Conn, key: &ApiKeyRow) -> Result<()> {
    conn.insert(&KEY_INSERT, key).map(drop)
}

/// Finds a key by its public part. The ISO is not known yet at that moment.
pub fn find(conn: &mut dyn Conn, key_id: &KeyId) -> Result<Option<ApiKeyRow>> {
    conn.row(&KEY_FIND, &[key_id.into()], ApiKeyRow::read)
}

pub fn list(conn: &mut dyn Conn) -> Result<Vec<ApiKeyRow>> {
    conn.rows(&KEY_LIST, &[], ApiKeyRow::read)
}

pub fn list_of_iso(conn: &mut dyn Conn, iso_id: &IsoId) -> Result<Vec<ApiKeyRow>> {
    conn.rows(&KEY_LIST_OF_ISO, &[iso_id.into()], ApiKeyRow::read)
}

/// Returns whether the key was live until now.
pub fn revoke(conn: &mut dyn Conn, iso: &IsoId, key: &KeyId, at: Timestamp) -> Result<bool> {
    Ok(conn.execute(&KEY_REVOKE, &[at.into(), iso.into(), key.into()])? == 1)
}

pub fn set_expiry(conn: &mut dyn Conn, iso: &IsoId, key: &KeyId, at: Timestamp) -> Result<()> {
    conn.execute_one(&KEY_SET_EXPIRY, &[at.into(), iso.into(), key.into()])
}

/// Notes the use of a key. The key may be gone by now; that is no error.
pub fn set_last_used(
    conn: &mut dyn Conn,
    iso: &IsoId,
    key: &KeyId,
    at: Timestamp,
    ip: Option<&str>,
) -> Result<()> {
    let params = [at.into(), ip.into(), iso.into(), key.into()];
    conn.execute(&KEY_SET_LAST_USED, &params).map(drop)
}

/// The first `limit` live keys that end after `now` and not after `until`, those first that end
/// first.
pub fn expiring(
    conn: &mut dyn Conn,
    now: Timestamp,
    until: Timestamp,
    limit: i64,
) -> Result<Vec<ApiKeyRow>> {
    conn.rows(&KEY_EXPIRING, &[now.into(), until.into(), limit.into()], ApiKeyRow::read)
}

/// Notes that the ISO was told, so many days before the key's end.
pub fn set_warned(conn: &mut dyn Conn, iso: &IsoId, key: &KeyId, days: i64) -> Result<()> {
    conn.execute_one(&KEY_SET_WARNED, &[days.into(), iso.into(), key.into()])
}
