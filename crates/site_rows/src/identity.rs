//! Who users are at a provider of `OpenID` Connect, by a keyed hash of what the provider calls
//! them.

use db::{Conn, Record as _, SITE, statements};
use types::{Result, Timestamp};

db::record! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct IdentityRow in "user_identities", fixed(site_id = SITE),
        key(identity_hash: Vec<u8>) {
        issuer_hash: Vec<u8>,
        user_id: i64,
        linked: Timestamp,
    }
}

statements! {
    IDENTITY_INSERT = db::insert!(IdentityRow);
    IDENTITY_OF_USER =
        "SELECT 1 FROM user_identities
         WHERE site_id = $1 AND user_id = $2 AND issuer_hash = $3";
    IDENTITIES_DELETE = "DELETE FROM user_identities WHERE site_id = $1 AND user_id = $2";
    IDENTITY_GET = db::select!(IdentityRow, "WHERE site_id = $1 AND identity_hash = $2");
}

pub fn insert(conn: &mut dyn Conn, identity: &IdentityRow) -> Result<()> {
    conn.insert(&IDENTITY_INSERT, identity).map(drop)
}

pub fn get(conn: &mut dyn Conn, identity_hash: &[u8]) -> Result<Option<IdentityRow>> {
    conn.row(&IDENTITY_GET, &[SITE.into(), identity_hash.into()], IdentityRow::read)
}

/// Whether the user is somebody at this provider already.
pub fn has_one(conn: &mut dyn Conn, user_id: i64, issuer_hash: &[u8]) -> Result<bool> {
    let params = [SITE.into(), user_id.into(), issuer_hash.into()];
    Ok(conn.row(&IDENTITY_OF_USER, &params, |row| row.get::<i64>(0))?.is_some())
}

/// Forgets who the user is anywhere.
pub fn delete_of_user(conn: &mut dyn Conn, user_id: i64) -> Result<()> {
    conn.execute(&IDENTITIES_DELETE, &[SITE.into(), user_id.into()]).map(drop)
}
