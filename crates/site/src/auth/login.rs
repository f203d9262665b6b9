//! Signing in with a password that a person chose. **Guesses are slowed down before the password is
//! looked at**, by client address and by account, because such passwords can be guessed.

use std::sync::Arc;
use std::time::{Duration, Instant};

use types::{Error, Secret};

use super::{fold_account, password};
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
            let checked = gate
                .by_address
                .check(&client.address, now)
                .and(gate.by_account.check(&account, now));
            if let Err(wait) = checked {
                return Ok(SignIn::Wait(wait));
            }
        }
        let name = login.to_owned();
        let found = self.store().read(move |conn| {
            let user = match store::user::find_by_login(conn, &name)? {
                None if name.contains('@') => store::user::find_by_email(conn, &name)?,
                other => other,
            };
            // Hashing takes long; a reader's thread is a place where that blocks nobody's writes.
            let stored = user.as_ref().and_then(|user| user.password_hash.as_deref());
            let matches = password::matches(&given, stored);
            Ok(user.filter(|_| matches))
        });
        if let Some(user) = found.await? {
            return Ok(SignIn::Welcome(Arc::new(User::new(user))));
        }
        if client.throttled {
            gate.by_address.note(client.address, now);
            gate.by_account.note(account, now);
        }
        Ok(SignIn::Wrong)
    }
}
