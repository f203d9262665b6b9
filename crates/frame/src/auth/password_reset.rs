//! Setting a forgotten password by a link that is sent to the account's own address. A link is
//! random, for one use and an hour; **only the hash of its token is stored**. Who asks for one is
//! answered before anything is looked up, so that **neither the answer nor its time tells whether
//! there is such an account**.

use std::sync::Arc;
use std::time::{Duration, Instant};

use db::Conn;
use site_rows::login_token::{self, LoginTokenRow};
use site_rows::{identity, session, user};
use types::{Error, Result, Secret, Timestamp};
use vault::Vault;

use super::login::SignIn;
use super::notices::{self, Notice};
use crate::mail;
use crate::{Request, Site, User};

/// The query parameter of the page that sets the password.
pub const PARAMETER: &str = "key";
/// The page that sets the password; the token goes behind it.
const PATH: &str = "/login?action=rp&key=";
const KIND: &str = "password_reset";
const FRESH: &str = "pending";
const USED: &str = "consumed";
const HASHING: &str = "password reset token";
/// For how long a link works.
const LIFE: Duration = Duration::from_hours(1);
const TOKEN_BYTES: usize = 24;
/// Links for one user within an hour.
const PER_HOUR_MAX: i64 = 3;
const HOUR_US: i64 = 60 * 60 * 1_000_000;

impl Site {
    /// Sends a link to the account with this name or address, if there is one. The error is how
    /// long to wait.
    pub fn request_password_reset(
        self: &Arc<Self>,
        request: &Request,
        login: &str,
        now: Timestamp,
    ) -> Result<(), Duration> {
        let client = request.client;
        if client.throttled {
            self.gate().sign_ins_by_address.attempt(client.address, Instant::now())?;
        }
        let (site, login) = (Arc::clone(self), login.to_owned());
        tokio::spawn(async move {
            if let Err(error) = site.send_password_reset(login, now).await {
                let error = error.report();
                tracing::warn!(error, "a link to reset a password could not be sent");
            }
        });
        Ok(())
    }

    async fn send_password_reset(self: Arc<Self>, login: String, now: Timestamp) -> Result<()> {
        let site = Arc::clone(&self);
        let send = move |conn: &mut dyn Conn| {
            let found = match user::find_by_login(conn, &login)? {
                None if login.contains('@') => user::find_by_email(conn, &login)?,
                other => other,
            };
            let Some(user) = found.filter(|_| mail::is_on(&site)) else { return Ok(()) };
            let since = Timestamp::from_micros(now.as_micros().saturating_sub(HOUR_US));
            if login_token::count_since(conn, user.user_id, KIND, since)? >= PER_HOUR_MAX
                || !mail::may_receive(conn, &user.email, now)?
            {
                return Ok(());
            }
            let token = make(conn, site.vault(), user.user_id, now)?;
            let paragraphs = [
                format!("Somebody asked to reset the password of {}.", user.login),
                String::from(
                    "Open the link within an hour to choose a new password. It works once. If it \
                     was not you, ignore this e-mail; nothing was changed.",
                ),
            ];
            let path = format!("{PATH}{}", token.expose());
            let written = ("Reset your password", &paragraphs[..]);
            notices::write_to(conn, &site, &user.email, written, ("Choose a password", &path), now)
        };
        self.store().write(send).await
    }

    /// Whose password the link sets. Looking does not use it up.
    pub async fn password_reset_holder(
        self: &Arc<Self>,
        request: &Request,
        token: &str,
        now: Timestamp,
    ) -> Result<SignIn> {
        let client = request.client;
        let by_address = &self.gate().sign_ins_by_address;
        if client.throttled
            && let Err(wait) = by_address.attempt(client.address, Instant::now())
        {
            return Ok(SignIn::Wait(wait));
        }
        let hash = hash(self.vault(), token);
        let found = self.store().read(move |conn| match find(conn, &hash, now)? {
            Some(row) => user::get(conn, row.user_id),
            None => Ok(None),
        });
        let Some(user) = found.await? else { return Ok(SignIn::Wrong) };
        by_address.forgive(&client.address);
        Ok(SignIn::Welcome(Arc::new(User::new(user))))
    }

    /// Sets the password by a link, **which works once, and ends every session of the user**. False
    /// if the link was used or has expired meanwhile.
    pub async fn reset_password(
        self: &Arc<Self>,
        token: &str,
        password: Secret<String>,
        now: Timestamp,
    ) -> Result<bool> {
        let password_hash = self.hasher().hash(password).await?;
        let (site, hash) = (Arc::clone(self), hash(self.vault(), token));
        let set = move |conn: &mut dyn Conn| {
            let Some(mut row) = find(conn, &hash, now)? else { return Ok(false) };
            USED.clone_into(&mut row.state);
            if !login_token::advance(conn, &row, FRESH)? {
                return Ok(false);
            }
            let missing = || Error::internal("a link belongs to nobody");
            let mut user = user::get(conn, row.user_id)?.ok_or_else(missing)?;
            user.password_hash = Some(password_hash.clone());
            user::update(conn, &user)?;
            session::delete_of_user(conn, user.user_id, None)?;
            identity::delete_of_user(conn, user.user_id)?;
            notices::tell(conn, &site, &user, Notice::PasswordReset, now)?;
            Ok(true)
        };
        self.store().write(set).await
    }
}

fn make(
    conn: &mut dyn Conn,
    vault: &Vault,
    user_id: i64,
    now: Timestamp,
) -> Result<Secret<String>> {
    let mut bytes = [0_u8; TOKEN_BYTES];
    vault::fill_random(&mut bytes)?;
    let token = data_encoding::BASE64URL_NOPAD.encode(&bytes);
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
    Ok(Secret::new(token))
}

/// The token, if it was not used and is not over.
fn find(conn: &mut dyn Conn, hash: &[u8], now: Timestamp) -> Result<Option<LoginTokenRow>> {
    let found = login_token::get(conn, hash)?;
    Ok(found.filter(|row| row.kind == KIND && row.state == FRESH && row.expires > now))
}

fn hash(vault: &Vault, token: &str) -> Vec<u8> {
    vault.site_hash(HASHING, token, "").to_vec()
}
