//! Tokens that are good for one use and a short time: ways to sign in without a password, and
//! proofs of those who leave for another site and come back. **Only hashes of tokens are stored.**

use db::{Conn, Record, SITE, statements};
use types::{Result, Timestamp};

statements! {
    LOGIN_TOKEN_INSERT = db::insert!(LoginTokenRow);
    LOGIN_TOKEN_GET = db::select!(LoginTokenRow, "WHERE site_id = $1 AND token_hash = $2");
    LOGIN_TOKEN_BY_SESSION = db::select!(LoginTokenRow, "WHERE site_id = $1 AND session_hash = $2");
    LOGIN_TOKEN_NEWEST = db::select!(
        LoginTokenRow,
        "WHERE site_id = $1 AND session_hash = $2 AND state = $3 AND expires_us > $4
         ORDER BY created_us DESC, token_hash LIMIT 1"
    );
    LOGIN_TOKEN_MOVE =
        "UPDATE login_tokens SET state = $1, session_hash = $2, detail = $3, expires_us = $4
         WHERE site_id = $5 AND token_hash = $6 AND state = $7";
    LOGIN_TOKEN_COUNT =
        "SELECT COUNT(*) FROM login_tokens
         WHERE site_id = $1 AND user_id = $2 AND kind = $3 AND created_us > $4";
    LOGIN_TOKEN_DELETE_OF_USER = "DELETE FROM login_tokens WHERE site_id = $1 AND user_id = $2";
    LOGIN_TOKEN_PRUNE = "DELETE FROM login_tokens WHERE site_id = $1 AND expires_us < $2";
}

db::record! {
    /// A way to sign in.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct LoginTokenRow in "login_tokens", fixed(site_id = SITE), key(token_hash: Vec<u8>) {
        kind: String,
        state: String,
        /// Whom it signs in.
        user_id: i64,
        session_hash: Option<Vec<u8>>,
        /// JSON.
        detail: String,
        created: Timestamp,
        expires: Timestamp,
    }
}

pub fn insert(conn: &mut dyn Conn, token: &LoginTokenRow) -> Result<()> {
    conn.insert(&LOGIN_TOKEN_INSERT, token).map(drop)
}

/// The token with this hash, be it over or not.
pub fn get(conn: &mut dyn Conn, token_hash: &[u8]) -> Result<Option<LoginTokenRow>> {
    conn.row(&LOGIN_TOKEN_GET, &[SITE.into(), token_hash.into()], LoginTokenRow::read)
}

/// The token that a phone goes by this session.
pub fn by_session(conn: &mut dyn Conn, session_hash: &[u8]) -> Result<Option<LoginTokenRow>> {
    conn.row(&LOGIN_TOKEN_BY_SESSION, &[SITE.into(), session_hash.into()], LoginTokenRow::read)
}

/// The newest token of a session that is in this state and not over.
pub fn newest(
    conn: &mut dyn Conn,
    session_hash: &[u8],
    state: &str,
    now: Timestamp,
) -> Result<Option<LoginTokenRow>> {
    let values = [SITE.into(), session_hash.into(), state.into(), now.into()];
    conn.row(&LOGIN_TOKEN_NEWEST, &values, LoginTokenRow::read)
}

/// Stores the token as it is now, if it is still in the state it was read in. Returns whether it
/// was: **of two who use a token, one wins.**
pub fn advance(conn: &mut dyn Conn, token: &LoginTokenRow, from: &str) -> Result<bool> {
    let values = [
        (&token.state).into(),
        token.session_hash.as_deref().into(),
        (&token.detail).into(),
        token.expires.into(),
        SITE.into(),
        token.token_hash.as_slice().into(),
        from.into(),
    ];
    Ok(conn.execute(&LOGIN_TOKEN_MOVE, &values)? == 1)
}

/// Takes away what could still sign the user in.
pub(crate) fn delete_of_user(conn: &mut dyn Conn, user_id: i64) -> Result<()> {
    conn.execute(&LOGIN_TOKEN_DELETE_OF_USER, &[SITE.into(), user_id.into()]).map(drop)
}

/// How many tokens of a kind were made for the user since then.
pub fn count_since(conn: &mut dyn Conn, user_id: i64, kind: &str, since: Timestamp) -> Result<i64> {
    let values = [SITE.into(), user_id.into(), kind.into(), since.into()];
    let count = conn.row(&LOGIN_TOKEN_COUNT, &values, |row| row.get::<i64>(0))?;
    Ok(count.unwrap_or_default())
}

/// Forgets what was over before then.
pub fn prune(conn: &mut dyn Conn, before: Timestamp) -> Result<u64> {
    conn.execute(&LOGIN_TOKEN_PRUNE, &[SITE.into(), before.into()])
}
