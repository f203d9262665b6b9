//! Links that sign their reader in: random, signed, for one use and a short time. **Only the hash
//! of a link's token is stored, and a token whose signature is wrong is not even looked up.** Who
//! opens a link is asked first: programs that look through mail open links, too, and press nothing.

use std::time::Duration;

use db::Conn;
use site_rows::login_token::{self, LoginTokenRow};
use site_rows::user;
use subtle::ConstantTimeEq as _;
use types::{Result, Secret, Timestamp};
use vault::Vault;

use crate::User;

/// How the store calls them.
const KIND: &str = "magic_link";
const FRESH: &str = "pending";
const USED: &str = "consumed";
const SIGNING: &str = "magic link signature";
const HASHING: &str = "magic link token";
/// The query parameter of the sign-in page that carries the token.
pub const PARAMETER: &str = "magic_link";
/// For how long a link works.
pub const LIFE: Duration = Duration::from_mins(15);
const TOKEN_BYTES: usize = 24;
const SIGNATURE_CHARS: usize = 32;
/// Links for one user within an hour.
pub const PER_HOUR_MAX: i64 = 5;
const HOUR_US: i64 = 60 * 60 * 1_000_000;

/// How many links the user was sent within the hour.
pub fn sent_lately(conn: &mut dyn Conn, user_id: i64, now: Timestamp) -> Result<i64> {
    let since = Timestamp::from_micros(now.as_micros().saturating_sub(HOUR_US));
    login_token::count_since(conn, user_id, KIND, since)
}

/// Makes a link for the user, and returns its path with the token.
pub fn make(
    conn: &mut dyn Conn,
    vault: &Vault,
    user_id: i64,
    now: Timestamp,
) -> Result<Secret<String>> {
    let mut bytes = [0_u8; TOKEN_BYTES];
    vault::fill_random(&mut bytes)?;
    let random = data_encoding::BASE64URL_NOPAD.encode(&bytes);
    let token = format!("{random}.{}", signature(vault, &random));
    let row = LoginTokenRow {
        token_hash: hash(vault, &token),
        kind: KIND.to_owned(),
        state: FRESH.to_owned(),
        user_id,
        session_hash: None,
        detail: String::from("{}"),
        created: now,
        expires: now.plus(LIFE),
    };
    login_token::insert(conn, &row)?;
    Ok(Secret::new(format!("/login?{PARAMETER}={token}")))
}

/// The token, if it is ours, was not used and is not over.
fn find(
    conn: &mut dyn Conn,
    vault: &Vault,
    token: &str,
    now: Timestamp,
) -> Result<Option<LoginTokenRow>> {
    let Some((random, signed)) = token.split_once('.') else { return Ok(None) };
    if !bool::from(signature(vault, random).as_bytes().ct_eq(signed.as_bytes())) {
        return Ok(None);
    }
    let found = login_token::get(conn, &hash(vault, token))?;
    Ok(found.filter(|row| row.kind == KIND && row.state == FRESH && row.expires > now))
}

/// The user whom the token would sign in. Looking does not use it up.
pub(super) fn holder(
    conn: &mut dyn Conn,
    vault: &Vault,
    token: &str,
    now: Timestamp,
) -> Result<Option<User>> {
    let Some(row) = find(conn, vault, token, now)? else { return Ok(None) };
    Ok(user::get(conn, row.user_id)?.map(User::new))
}

/// The user whom the token signs in. **It works once.**
pub(super) fn redeem(
    conn: &mut dyn Conn,
    vault: &Vault,
    token: &str,
    now: Timestamp,
) -> Result<Option<User>> {
    let Some(mut row) = find(conn, vault, token, now)? else { return Ok(None) };
    row.state = String::from(USED);
    if !login_token::advance(conn, &row, FRESH)? {
        return Ok(None);
    }
    Ok(user::get(conn, row.user_id)?.map(User::new))
}

fn signature(vault: &Vault, random: &str) -> String {
    let hash = vault.site_hash(SIGNING, random, "");
    data_encoding::HEXLOWER.encode(&hash).chars().take(SIGNATURE_CHARS).collect()
}

fn hash(vault: &Vault, token: &str) -> Vec<u8> {
    vault.site_hash(HASHING, token, "").to_vec()
}
