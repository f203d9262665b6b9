//! Sessions of users who signed in with a browser.

use db::{Conn, Record, SITE, statements};
use types::{Result, Timestamp};

use crate::login_token;

db::record! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct SessionRow in "sessions", fixed(site_id = SITE), key(token_hash: Vec<u8>) {
        user_id: i64,
        created: Timestamp,
        expires: Timestamp,
        ip: String,
        user_agent: String,
    }
}

statements! {
    SESSION_INSERT = db::insert!(SessionRow);
    SESSION_GET = db::select!(
        SessionRow,
        "WHERE site_id = $1 AND token_hash = $2 AND expires_us > $3"
    );
    SESSIONS_OF_USER = db::select!(
        SessionRow,
        "WHERE user_id = $1 AND site_id = $2 AND expires_us > $3
         ORDER BY created_us DESC, token_hash LIMIT $4"
    );
    SESSION_DELETE = "DELETE FROM sessions WHERE site_id = $1 AND token_hash = $2";
    SESSION_DELETE_OF_USER = "DELETE FROM sessions WHERE site_id = $1 AND user_id = $2";
    SESSION_DELETE_OTHERS =
        "DELETE FROM sessions WHERE site_id = $1 AND user_id = $2 AND token_hash <> $3";
    SESSION_PRUNE = "DELETE FROM sessions WHERE site_id = $1 AND expires_us <= $2";
}

pub fn insert(conn: &mut dyn Conn, session: &SessionRow) -> Result<()> {
    conn.insert(&SESSION_INSERT, session).map(drop)
}

/// The session unless it has expired.
pub fn get(conn: &mut dyn Conn, token_hash: &[u8], now: Timestamp) -> Result<Option<SessionRow>> {
    conn.row(&SESSION_GET, &[SITE.into(), token_hash.into(), now.into()], SessionRow::read)
}

/// Up to `limit` sessions of the user that are alive, the newest first.
pub fn of_user(
    conn: &mut dyn Conn,
    user_id: i64,
    now: Timestamp,
    limit: i64,
) -> Result<Vec<SessionRow>> {
    let values = [user_id.into(), SITE.into(), now.into(), limit.into()];
    conn.rows(&SESSIONS_OF_USER, &values, SessionRow::read)
}

/// Returns whether there was such a session.
pub fn delete(conn: &mut dyn Conn, token_hash: &[u8]) -> Result<bool> {
    Ok(conn.execute(&SESSION_DELETE, &[SITE.into(), token_hash.into()])? == 1)
}

/// Ends the user's sessions but the one to keep, and returns how many. Links and codes that wait to
/// begin one end as well.
pub fn delete_of_user(conn: &mut dyn Conn, user_id: i64, except: Option<&[u8]>) -> Result<u64> {
    login_token::delete_of_user(conn, user_id)?;
    match except {
        None => conn.execute(&SESSION_DELETE_OF_USER, &[SITE.into(), user_id.into()]),
        Some(kept) => {
            conn.execute(&SESSION_DELETE_OTHERS, &[SITE.into(), user_id.into(), kept.into()])
        }
    }
}

/// Forgets expired sessions and returns how many.
pub fn prune(conn: &mut dyn Conn, now: Timestamp) -> Result<u64> {
    conn.execute(&SESSION_PRUNE, &[SITE.into(), now.into()])
}
