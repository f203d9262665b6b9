//! Signing in with a password that a person chose. **Guesses are slowed down before the password is
//! looked at**, by client address and by account, because such passwords can be guessed.

use std::sync::Arc;
use std::time::{Duration, Instant};

use db::Conn;
use types::{Error, Secret, Timestamp};

use super::{fold_account, magic_link};
use crate::{Client, Request, Site, User};

/// What came of signing in.
#[derive(Debug)]
pub enum SignIn {
    Welcome(Arc<User>),
    /// Unknown account or wrong password: which of them is not told.
    Wrong,
    Wait(Duration),
}

impl Site {
    /// Checks login name or e-mail address and password.
    pub async fn sign_in(
        &self,
        request: &Request,
        login: &str,
        given: Secret<String>,
    ) -> Result<SignIn, Error> {
        let (gate, client, account) = (self.gate(), request.client, fold_account(login));
        let now = Instant::now();
        if client.throttled {
            let by_address = gate.sign_ins_by_address.attempt(client.address, now);
            let counted =
                by_address.and_then(|()| gate.sign_ins_by_account.attempt(account.clone(), now));
            if let Err(wait) = counted {
                return Ok(SignIn::Wait(wait));
            }
        }
        let name = login.to_owned();
        let found =
            self.store().read(move |conn| match site_rows::user::find_by_login(conn, &name)? {
                None if name.contains('@') => site_rows::user::find_by_email(conn, &name),
                other => Ok(other),
            });
        let user = found.await?;
        let stored = user.as_ref().and_then(|user| user.password_hash.clone());
        let matches = self.hasher().matches(given, stored).await?;
        if let Some(user) = user.filter(|_| matches) {
            gate.sign_ins_by_address.forgive(&client.address);
            gate.sign_ins_by_account.forgive(&account);
            return Ok(SignIn::Welcome(Arc::new(User::new(user))));
        }
        Ok(SignIn::Wrong)
    }

    /// Checks the password of somebody who is signed in, before they change how that is done.
    /// Guesses count as on the sign-in page.
    pub async fn confirm_password(
        &self,
        client: Client,
        user_id: i64,
        given: Secret<String>,
    ) -> Result<SignIn, Error> {
        let found = self.store().read(move |conn| site_rows::user::get(conn, user_id)).await?;
        let Some(user) = found else { return Ok(SignIn::Wrong) };
        let (gate, account) = (self.gate(), fold_account(&user.login));
        let now = Instant::now();
        if client.throttled {
            let by_address = gate.sign_ins_by_address.attempt(client.address, now);
            let counted =
                by_address.and_then(|()| gate.sign_ins_by_account.attempt(account.clone(), now));
            if let Err(wait) = counted {
                return Ok(SignIn::Wait(wait));
            }
        }
        if !self.hasher().matches(given, user.password_hash.clone()).await? {
            return Ok(SignIn::Wrong);
        }
        gate.sign_ins_by_address.forgive(&client.address);
        gate.sign_ins_by_account.forgive(&account);
        Ok(SignIn::Welcome(Arc::new(User::new(user))))
    }

    /// Counts an attempt that is decided on elsewhere; tells how long to wait first.
    pub fn count_sign_in(&self, request: &Request) -> Result<(), Duration> {
        let client = request.client;
        if !client.throttled {
            return Ok(());
        }
        self.gate().sign_ins_by_address.attempt(client.address, Instant::now())
    }

    /// The attempt that was counted turned out right.
    pub fn forgive_sign_in(&self, request: &Request) {
        self.gate().sign_ins_by_address.forgive(&request.client.address);
    }

    /// Checks the token of a link that was sent by e-mail. Only with `use_up` it works no more.
    pub async fn sign_in_by_link(
        self: &Arc<Self>,
        request: &Request,
        token: &str,
        use_up: bool,
        now: Timestamp,
    ) -> Result<SignIn, Error> {
        let client = request.client;
        let by_address = &self.gate().sign_ins_by_address;
        if client.throttled
            && let Err(wait) = by_address.attempt(client.address, Instant::now())
        {
            return Ok(SignIn::Wait(wait));
        }
        let (site, token) = (Arc::clone(self), token.to_owned());
        let found = if use_up {
            let redeem =
                move |conn: &mut dyn Conn| magic_link::redeem(conn, site.vault(), &token, now);
            self.store().write(redeem).await?
        } else {
            let look =
                move |conn: &mut dyn Conn| magic_link::holder(conn, site.vault(), &token, now);
            self.store().read(look).await?
        };
        let Some(user) = found else { return Ok(SignIn::Wrong) };
        by_address.forgive(&client.address);
        Ok(SignIn::Welcome(Arc::new(user)))
    }
}
