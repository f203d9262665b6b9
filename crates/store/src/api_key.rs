//! API keys: their keyed hashes, scopes and life.

use types::{IsoId, KeyId, Result, Timestamp};

use crate::conn::sql;
use crate::{Conn, Row, Sql};

/// A key as stored. **The key itself is nowhere.**
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiKeyRow {
    pub iso_id: IsoId,
    pub key_id: KeyId,
    pub hash: Vec<u8>,
    pub name: String,
    pub scopes: String,
    pub created: Timestamp,
    pub expires: Option<Timestamp>,
    pub revoked: Option<Timestamp>,
    pub last_used: Option<Timestamp>,
}

sql!(
    KEY_INSERT,
    "INSERT INTO api_keys
       (iso_id, key_id, hash, name, scopes, created_us, expires_us, revoked_us, last_used_us)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)"
);
sql!(
    KEY_FIND,
    "SELECT iso_id, key_id, hash, name, scopes, created_us, expires_us, revoked_us, last_used_us
     FROM api_keys WHERE key_id = $1"
);
sql!(
    KEY_LIST,
    "SELECT iso_id, key_id, hash, name, scopes, created_us, expires_us, revoked_us, last_used_us
     FROM api_keys ORDER BY iso_id, created_us, key_id"
);
sql!(
    KEY_LIST_OF_ISO,
    "SELECT iso_id, key_id, hash, name, scopes, created_us, expires_us, revoked_us, last_used_us
     FROM api_keys WHERE iso_id = $1 ORDER BY created_us, key_id"
);
sql!(
    KEY_REVOKE,
    "UPDATE api_keys SET revoked_us = $1
     WHERE iso_id = $2 AND key_id = $3 AND revoked_us IS NULL"
);
sql!(KEY_SET_EXPIRY, "UPDATE api_keys SET expires_us = $1 WHERE iso_id = $2 AND key_id = $3");
sql!(KEY_SET_LAST_USED, "UPDATE api_keys SET last_used_us = $1 WHERE iso_id = $2 AND key_id = $3");

pub(crate) const STATEMENTS: &[&Sql] = &[
    &KEY_INSERT,
    &KEY_FIND,
    &KEY_LIST,
    &KEY_LIST_OF_ISO,
    &KEY_REVOKE,
    &KEY_SET_EXPIRY,
    &KEY_SET_LAST_USED,
];

impl ApiKeyRow {
    fn read(row: &dyn Row) -> Result<Self> {
        Ok(Self {
            iso_id: row.get(0)?,
            key_id: row.get(1)?,
            hash: row.get(2)?,
            name: row.get(3)?,
            scopes: row.get(4)?,
            created: row.get(5)?,
            expires: row.get(6)?,
            revoked: row.get(7)?,
            last_used: row.get(8)?,
        })
    }
}

pub fn insert(conn: &mut dyn Conn, key: &ApiKeyRow) -> Result<()> {
    conn.execute_one(
        &KEY_INSERT,
        &[
            (&key.iso_id).into(),
            (&key.key_id).into(),
            (&key.hash).into(),
            (&key.name).into(),
            (&key.scopes).into(),
            key.created.into(),
            key.expires.into(),
            key.revoked.into(),
            key.last_used.into(),
        ],
    )
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

/// Notes the use of a key. The key may be gone by now; that is no fault.
pub fn set_last_used(conn: &mut dyn Conn, iso: &IsoId, key: &KeyId, at: Timestamp) -> Result<()> {
    conn.execute(&KEY_SET_LAST_USED, &[at.into(), iso.into(), key.into()]).map(drop)
}
