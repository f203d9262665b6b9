//! Registrations of ISOs that wait for somebody to open the link they were sent. One for each
//! e-mail address; a new one takes the place of the one before.

use db::{Conn, Record as _, SITE, statements};
use types::{Result, Timestamp};

db::record! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct IsoRegistration in "iso_registrations", fixed(site_id = SITE), key(
        /// Keyed hash of the address.
        email_index: Vec<u8>,
    ) {
        /// Keyed hash of the link's token.
        token_hash: Vec<u8>,
        /// What was told, sealed.
        sealed: Vec<u8>,
        created: Timestamp,
        expires: Timestamp,
    }
}

statements! {
    REGISTRATION_PUT = db::upsert!(IsoRegistration);
    REGISTRATION_OF = db::select!(IsoRegistration, "WHERE site_id = $1 AND email_index = $2");
    REGISTRATION_FIND = db::select!(
        IsoRegistration,
        "WHERE token_hash = $1 AND site_id = $2 AND expires_us > $3"
    );
    REGISTRATION_TAKE =
        "DELETE FROM iso_registrations WHERE token_hash = $1 AND site_id = $2 AND expires_us > $3";
    REGISTRATION_COUNT = "SELECT COUNT(*) FROM iso_registrations WHERE site_id = $1";
    REGISTRATION_PRUNE = "DELETE FROM iso_registrations WHERE site_id = $1 AND expires_us <= $2";
}

/// Keeps a registration; the link of the one before is worth nothing any more.
pub fn put(conn: &mut dyn Conn, registration: &IsoRegistration) -> Result<()> {
    conn.insert(&REGISTRATION_PUT, registration).map(drop)
}

/// The registration of an address, whether it has expired or not.
pub fn of_email(conn: &mut dyn Conn, email_index: &[u8]) -> Result<Option<IsoRegistration>> {
    conn.row(&REGISTRATION_OF, &[SITE.into(), email_index.into()], IsoRegistration::read)
}

/// The registration that a link is for, unless it has expired.
pub fn find(
    conn: &mut dyn Conn,
    token_hash: &[u8],
    now: Timestamp,
) -> Result<Option<IsoRegistration>> {
    conn.row(
        &REGISTRATION_FIND,
        &[token_hash.into(), SITE.into(), now.into()],
        IsoRegistration::read,
    )
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
