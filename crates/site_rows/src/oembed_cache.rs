//! What other sites answered about embedding their pages, kept until it expires.

use db::{Conn, SITE, statements};
use types::{Result, Timestamp};

statements! {
    OEMBED_GET =
        "SELECT value FROM oembed_cache WHERE site_id = $1 AND key_hash = $2 AND expires_us > $3";
    OEMBED_PUT =
        "INSERT INTO oembed_cache (site_id, key_hash, value, expires_us) VALUES ($1, $2, $3, $4)
         ON CONFLICT (site_id, key_hash)
         DO UPDATE SET value = excluded.value, expires_us = excluded.expires_us";
    OEMBED_PRUNE = "DELETE FROM oembed_cache WHERE site_id = $1 AND expires_us <= $2";
}

/// The JSON that was kept under this key, unless it has expired.
pub fn get(conn: &mut dyn Conn, key_hash: &[u8], now: Timestamp) -> Result<Option<String>> {
    conn.row(&OEMBED_GET, &[SITE.into(), key_hash.into(), now.into()], |row| row.get(0))
}

/// Keeps a JSON text, in place of what was there.
pub fn put(conn: &mut dyn Conn, key_hash: &[u8], value: &str, expires: Timestamp) -> Result<()> {
    let params = [SITE.into(), key_hash.into(), value.into(), expires.into()];
    conn.execute_one(&OEMBED_PUT, &params)
}

/// Forgets what has expired and returns how much.
pub fn prune(conn: &mut dyn Conn, now: Timestamp) -> Result<u64> {
    conn.execute(&OEMBED_PRUNE, &[SITE.into(), now.into()])
}
