//! Who users are at a provider of `OpenID` Connect, by a keyed hash of what the provider calls
//! them.

use db::{Conn, Record as _, SITE, statements};
use types::{Result, Timestamp};

db::record! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct IdentityRow in "user_identities", fixed(site_id = SITE),
        key(identity_hash: Vec<u8>) {
        user_id: i64,
        linked: Timestamp,
    }
}

statements! {
    IDENTITY_INSERT = db::insert!(IdentityRow);
    IDENTITY_GET = db::select!(IdentityRow, "WHERE site_id = $1 AND identity_hash = $2");
}

pub fn insert(conn: &mut dyn Conn, identity: &IdentityRow) -> Result<()> {
    conn.insert(&IDENTITY_INSERT, identity).map(drop)
}

pub fn get(conn: &mut dyn Conn, identity_hash: &[u8]) -> Result<Option<IdentityRow>> {
    conn.row(&IDENTITY_GET, &[SITE.into(), identity_hash.into()], IdentityRow::read)
}
