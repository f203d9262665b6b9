//! Sessions of browsers: a cookie with a random token, of which the hash is stored.

use std::sync::Arc;
use std::time::Duration;

use contract::rest::{Refusal, form};
use serde_json::Value;
use site_rows::session::{self as rows, SessionRow};
use types::{Error, Result, Secret, Timestamp};
use vault::Vault;

use super::Found;
use super::nonce::{self, Holder};
use crate::{Identity, Request, Site, User, Via, cookies};

/// A session lives this long.
pub const LIFE: Duration = Duration::from_hours(48);
/// A session that was to be kept.
pub const LIFE_KEPT: Duration = Duration::from_hours(14 * 24);

const TOKEN_BYTES: usize = 32;
const HASH_PURPOSE: &str = "session token";
const COOKIE_PURPOSE: &str = "session cookie";
const COOKIE_MARK_CHARS: usize = 32;
const USER_AGENT_MAX: usize = 255;

/// A session that has begun.
#[derive(Debug)]
pub struct Begun {
    pub token: Secret<String>,
    pub token_hash: Vec<u8>,
    pub life: Duration,
}

pub fn hash(vault: &Vault, token: &str) -> Vec<u8> {
    vault.site_hash(HASH_PURPOSE, token, "").to_vec()
}

impl Site {
    /// The cookies by which a browser keeps its session, all with the same token: our own, and the
    /// two by whose names existing clients see that they are signed in.
    pub fn session_cookies(&self) -> [String; 3] {
        let mark = self.cookie_mark();
        let own = self.environment().session_cookie().to_owned();
        [own, format!("wordpress_logged_in_{mark}"), format!("wordpress_{mark}")]
    }

    /// What ends the names of cookies that existing clients know, so that those of two sites on
    /// one host are not mixed up.
    pub(super) fn cookie_mark(&self) -> String {
        let hash = self.vault().site_hash(COOKIE_PURPOSE, "", "");
        data_encoding::HEXLOWER.encode(&hash).chars().take(COOKIE_MARK_CHARS).collect()
    }

    /// The token of this environment's session in the request's cookies.
    pub fn session_token<'r>(&self, request: &'r Request) -> Option<&'r str> {
        let [own, known, _] = self.session_cookies();
        cookies::get(request, &own).or_else(|| cookies::get(request, &known))
    }

    /// Begins a session for a user who has shown who they are.
    pub async fn begin_session(
        &self,
        user_id: i64,
        request: &Request,
        keep: bool,
        now: Timestamp,
    ) -> Result<Begun> {
        let mut bytes = [0_u8; TOKEN_BYTES];
        vault::fill_random(&mut bytes)?;
        let token = data_encoding::BASE64URL_NOPAD.encode(&bytes);
        let life = if keep { LIFE_KEPT } else { LIFE };
        let token_hash = hash(self.vault(), &token);
        let agent = request.header("user-agent").unwrap_or_default();
        let row = SessionRow {
            token_hash: token_hash.clone(),
            user_id,
            created: now,
            expires: now.plus(life),
            ip: request.client.address.to_string(),
            user_agent: agent.chars().take(USER_AGENT_MAX).collect(),
        };
        self.store().write(move |conn| rows::insert(conn, &row)).await?;
        Ok(Begun { token: Secret::new(token), token_hash, life })
    }

    /// The user of the request's session, if it has one that is alive.
    pub async fn session_user(
        &self,
        request: &Request,
        now: Timestamp,
    ) -> Result<Option<(Arc<User>, Vec<u8>)>> {
        let Some(token) = self.session_token(request) else { return Ok(None) };
        let hash = hash(self.vault(), token);
        let wanted = hash.clone();
        let user = self.store().read(move |conn| match rows::get(conn, &wanted, now)? {
            Some(session) => site_rows::user::get(conn, session.user_id),
            None => Ok(None),
        });
        Ok(user.await?.map(|user| (Arc::new(User::new(user)), hash)))
    }

    /// A cookie alone proves nothing about the page that sent the request: without a nonce the
    /// request goes on as if there were no session.
    pub(super) async fn session_of(
        &self,
        request: &Request,
        now: Timestamp,
    ) -> Result<Found, Error> {
        let Some(given) = nonce_of(request) else { return Ok(Found::Nothing) };
        let message = "The page has expired; reload it.";
        let stale = || Box::new(Refusal::new(403, "rest_cookie_invalid_nonce", message));
        let is_valid = |holder| nonce::is_valid(self.vault(), nonce::REST, holder, now, &given);
        let Some((user, token_hash)) = self.session_user(request, now).await? else {
            let valid = is_valid(Holder { user_id: 0, session: &[] });
            return Ok(if valid { Found::Nothing } else { Found::Unknown(stale()) });
        };
        let holder = Holder { user_id: user.id(), session: &token_hash };
        if !is_valid(holder) {
            return Ok(Found::Refused(stale()));
        }
        let fresh = nonce::make(self.vault(), nonce::REST, holder, now);
        let identity = Identity::of(user, Via::Session { token_hash });
        Ok(Found::Somebody(Box::new(Identity { fresh_nonce: Some(fresh), ..identity })))
    }
}

/// The nonce in the query string, the form or the header.
fn nonce_of(request: &Request) -> Option<String> {
    let in_form = || {
        let media_type = request.header("content-type")?;
        if !media_type.starts_with("application/x-www-form-urlencoded") {
            return None;
        }
        let fields = form::decode(&String::from_utf8_lossy(&request.body));
        fields.get("_wpnonce").and_then(Value::as_str).map(str::to_owned)
    };
    request
        .query_parameter("_wpnonce")
        .map(str::to_owned)
        .or_else(in_form)
        .or_else(|| request.header("x-wp-nonce").map(str::to_owned))
}
