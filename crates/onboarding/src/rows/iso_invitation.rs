//! Invitations of an ISO's people that wait for somebody to open the link. One for each e-mail
//! address and ISO; a new one takes the place of the one before.

use db::{Conn, Record as _, statements};
use types::{IsoId, Result, Timestamp};

db::record! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct IsoInvitation in "iso_invitations", key(iso_id: IsoId, invitation_id: String) {
        /// Keyed hash of the address.
        email_index: Vec<u8>,
        /// Keyed hash of the link's token.
        token_hash: Vec<u8>,
        role: String,
        merchant_id: Option<String>,
        store_id: Option<String>,
        /// Address and name, sealed with the ISO's data key.
        sealed: Vec<u8>,
        /// Who invited, as the audit log calls them.
        invited_by: String,
        created: Timestamp,
        expires: Timestamp,
    }
}

statements! {
    INVITATION_INSERT = db::insert!(IsoInvitation);
    INVITATION_UPDATE = db::update!(IsoInvitation);
    INVITATION_GET = db::select!(IsoInvitation, "WHERE iso_id = $1 AND invitation_id = $2");
    INVITATION_LIST = db::select!(
        IsoInvitation,
        "WHERE iso_id = $1 ORDER BY created_us DESC, invitation_id LIMIT $2"
    );
    INVITATION_COUNT = "SELECT COUNT(*) FROM iso_invitations WHERE iso_id = $1";
    INVITATION_FIND =
        db::select!(IsoInvitation, "WHERE token_hash = $1 AND expires_us > $2");
    INVITATION_TAKE = "DELETE FROM iso_invitations WHERE token_hash = $1 AND expires_us > $2";
    INVITATION_DELETE = "DELETE FROM iso_invitations WHERE iso_id = $1 AND invitation_id = $2";
    INVITATION_DELETE_OF =
        "DELETE FROM iso_invitations WHERE email_index = $1 AND iso_id = $2";
    INVITATION_DELETE_BY = "DELETE FROM iso_invitations WHERE iso_id = $1 AND invited_by = $2";
    INVITATION_PRUNE = "DELETE FROM iso_invitations WHERE expires_us <= $1";
}

/// Keeps an invitation; the link of an earlier one to the same address works no more.
pub fn put(conn: &mut dyn Conn, invitation: &IsoInvitation) -> Result<()> {
    let of = [invitation.email_index.as_slice().into(), (&invitation.iso_id).into()];
    conn.execute(&INVITATION_DELETE_OF, &of)?;
    conn.insert(&INVITATION_INSERT, invitation).map(drop)
}

pub fn update(conn: &mut dyn Conn, invitation: &IsoInvitation) -> Result<()> {
    conn.update(&INVITATION_UPDATE, invitation)
}

pub fn get(conn: &mut dyn Conn, iso_id: &IsoId, id: &str) -> Result<Option<IsoInvitation>> {
    conn.row(&INVITATION_GET, &[iso_id.into(), id.into()], IsoInvitation::read)
}

/// The newest of the ISO, expired ones included.
pub fn list(conn: &mut dyn Conn, iso_id: &IsoId, limit: i64) -> Result<Vec<IsoInvitation>> {
    conn.rows(&INVITATION_LIST, &[iso_id.into(), limit.into()], IsoInvitation::read)
}

pub fn count(conn: &mut dyn Conn, iso_id: &IsoId) -> Result<i64> {
    let count = conn.row(&INVITATION_COUNT, &[iso_id.into()], |row| row.get(0))?;
    Ok(count.unwrap_or(0))
}

/// The invitation that a link is for, unless it has expired.
pub fn find(
    conn: &mut dyn Conn,
    token_hash: &[u8],
    now: Timestamp,
) -> Result<Option<IsoInvitation>> {
    conn.row(&INVITATION_FIND, &[token_hash.into(), now.into()], IsoInvitation::read)
}

/// Uses a link up. False if somebody did already, or if it has expired.
pub fn take(conn: &mut dyn Conn, token_hash: &[u8], now: Timestamp) -> Result<bool> {
    Ok(conn.execute(&INVITATION_TAKE, &[token_hash.into(), now.into()])? == 1)
}

/// Returns whether there was one.
pub fn delete(conn: &mut dyn Conn, iso_id: &IsoId, id: &str) -> Result<bool> {
    Ok(conn.execute(&INVITATION_DELETE, &[iso_id.into(), id.into()])? == 1)
}

/// Withdraws what somebody has invited to, and returns how many there were.
pub fn delete_by(conn: &mut dyn Conn, iso_id: &IsoId, invited_by: &str) -> Result<u64> {
    conn.execute(&INVITATION_DELETE_BY, &[iso_id.into(), invited_by.into()])
}

/// Forgets those that expired before then, and returns how many there were.
pub fn prune(conn: &mut dyn Conn, before: Timestamp) -> Result<u64> {
    conn.execute(&INVITATION_PRUNE, &[before.into()])
}
