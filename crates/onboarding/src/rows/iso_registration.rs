//! Registrations of ISOs that wait for somebody to open the link they were sent. One for each
//! e-mail address; a new one takes the place of the one before.

use db::{Conn, Row, SITE, statements};
use types::{Result, Timestamp};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IsoRegistration {
    /// Keyed hash of the address.
    pub email_index: Vec<u8>,
    /// Keyed hash of the link's token.
    pub token_hash: Vec<u8>,
    /// What was told, sealed.
    pub sealed: Vec<u8>,
    pub created: Timestamp,
    pub expires: Timestamp,
}

statements! {
    REGISTRATION_PUT =
        "INSERT INTO iso_registrations
           (site_id, email_index, token_hash, sealed, created_us, expires_us)
         VALUES ($1, $2, $3, $4, $5, $6)
         ON CONFLICT (site_id, email_index) DO UPDATE SET token_hash = excluded.token_hash,
           sealed = excluded.sealed, created_us = excluded.created_us,
           expires_us = excluded.expires_us";
    REGISTRATION_OF =
        "SELECT email_index, token_hash, sealed, created_us, expires_us FROM iso_registrations
         WHERE site_id = $1 AND email_index = $2";
    REGISTRATION_FIND =
        "SELECT email_index, token_hash, sealed, created_us, expires_us FROM iso_registrations
         WHERE token_hash = $1 AND site_id = $2 AND expires_us > $3";
    REGISTRATION_TAKE =
        "DELETE FROM iso_registrations WHERE token_hash = $1 AND site_id = $2 AND expires_us > $3";
    REGISTRATION_COUNT = "SELECT COUNT(*) FROM iso_registrations WHERE site_id = $1";
    REGISTRATION_PRUNE = "DELETE FROM iso_registrations WHERE site_id = $1 AND expires_us <= $2";
}

/// Keeps a registration; the link of the one before is worth nothing any more.
pub fn put(conn: &mut dyn Conn, registration: &IsoRegistration) -> Result<()> {
    conn.execute_one(
        &REGISTRATION_PUT,
        &[
            SITE.into(),
            (&registration.email_index).into(),
            (&registration.token_hash).into(),
            (&registration.sealed).into(),
            registration.created.into(),
            registration.expires.into(),
        ],
    )
}

/// The registration of an address, whether it has expired or not.
pub fn of_email(conn: &mut dyn Conn, email_index: &[u8]) -> Result<Option<IsoRegistration>> {
    conn.row(&REGISTRATION_OF, &[SITE.into(), email_index.into()], read)
}

/// The registration that a link is for, unless it has expired.
pub fn find(
    conn: &mut dyn Conn,
    token_hash: &[u8],
    now: Timestamp,
) -> Result<Option<IsoRegistration>> {
    conn.row(&REGISTRATION_FIND, &[token_hash.into(), SITE.into(), now.into()], read)
}

/// Uses a link up. False if somebody did already, or if it has expired.
pub fn take(conn: &mut dyn Conn, token_hash: &[u8], now: Timestamp) -> Result<bool> {
    let params = [token_hash.into(), SITE.into(), now.into()];
    Ok(conn.execute(&REGISTRATION_TAKE, &params)? == 1)
}

/// How many wait.
pub fn count(conn: &mut dyn Conn) -> Result<i64> {
    let count = conn.row(&REGISTRATION_COUNT, &[SITE.into()], |row| row.get(0))?;
    Ok(count.unwrap_or(0))
}

/// Forgets those that have expired, and returns how many there were.
pub fn prune(conn: &mut dyn Conn, now: Timestamp) -> Result<u64> {
    conn.execute(&REGISTRATION_PRUNE, &[SITE.into(), now.into()])
}

fn read(row: &dyn Row) -> Result<IsoRegistration> {
    Ok(IsoRegistration {
        email_index: row.get(0)?,
        token_hash: row.get(1)?,
        sealed: row.get(2)?,
        created: row.get(3)?,
        expires: row.get(4)?,
    })
}
