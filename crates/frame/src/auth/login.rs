//! Signing in with a password that a person chose. **Guesses are slowed down before the password is
//! looked at**, by client address and by account, because such passwords can be guessed.

use std::sync::Arc;
use std::time::{Duration, Instant};

use types::{Error, Secret};

use super::fold_account;
use crate::{Request, Site, User};

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
}
