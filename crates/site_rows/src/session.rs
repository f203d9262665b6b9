//! Sessions of users who signed in with a browser.

use db::{Conn, Row, SITE, statements};
use types::{Result, Timestamp};

use crate::login_token;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionRow {
    pub token_hash: Vec<u8>,
    pub user_id: i64,
    pub created: Timestamp,
    pub expires: Timestamp,
    pub ip: String,
    pub user_agent: String,
}

statements! {
    SESSION_INSERT =
        "INSERT INTO sessions (site_id, token_hash, user_id, created_us, expires_us, ip, user_agent)
         VALUES ($1, $2, $3, $4, $5, $6, $7)";
    SESSION_GET =
        "SELECT token_hash, user_id, created_us, expires_us, ip, user_agent
         FROM sessions WHERE site_id = $1 AND token_hash = $2 AND expires_us > $3";
    SESSION_EXTEND = "UPDATE sessions SET expires_us = $1 WHERE site_id = $2 AND token_hash = $3";
    SESSION_DELETE = "DELETE FROM sessions WHERE site_id = $1 AND token_hash = $2";
    SESSION_DELETE_OF_USER = "DELETE FROM sessions WHERE site_id = $1 AND user_id = $2";
    SESSION_DELETE_OTHERS =
        "DELETE FROM sessions WHERE site_id = $1 AND user_id = $2 AND token_hash <> $3";
    SESSION_PRUNE = "DELETE FROM sessions WHERE site_id = $1 AND expires_us <= $2";
}

pub fn insert(conn: &mut dyn Conn, session: &SessionRow) -> Result<()> {
    conn.execute_one(
        &SESSION_INSERT,
        &[
            SITE.into(),
            (&session.token_hash).into(),
            session.user_id.into(),
            session.created.into(),
            session.expires.into(),
            (&session.ip).into(),
            (&session.user_agent).into(),
        ],
    )
}

/// The session unless it has expired.
pub fn get(conn: &mut dyn Conn, token_hash: &[u8], now: Timestamp) -> Result<Option<SessionRow>> {
    conn.row(&SESSION_GET, &[SITE.into(), token_hash.into(), now.into()], SessionRow::read)
}

/// Returns whether there is such a session.
pub fn extend(conn: &mut dyn Conn, token_hash: &[u8], expires: Timestamp) -> Result<bool> {
    Ok(conn.execute(&SESSION_EXTEND, &[expires.into(), SITE.into(), token_hash.into()])? == 1)
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

impl SessionRow {
    fn read(row: &dyn Row) -> Result<Self> {
        Ok(Self {
            token_hash: row.get(0)?,
            user_id: row.get(1)?,
            created: row.get(2)?,
            expires: row.get(3)?,
            ip: row.get(4)?,
            user_agent: row.get(5)?,
        })
    }
}
