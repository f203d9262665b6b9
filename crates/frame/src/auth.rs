//! From a request to an identity: a browser session, a consumer key or an application password,
//! tried in this order. The first that names a user wins.
//!
//! On paths of the commerce family, credentials that nobody knows count as none; elsewhere they are
//! refused, also on routes that are open to all. Both are what existing clients were built against.
//!
//! **An address that showed too many wrong credentials waits, and while it waits none that it shows
//! are looked at**: the right ones are refused like the others. An account is different, since
//! everybody can name it: who shows its right credentials is served however many others failed.
//! Sessions do not wait. Passwords that people choose are for the sign-in page alone, see
//! [`login`].

pub mod application_password;
pub mod basic;
pub mod consumer_key;
pub mod login;
pub mod magic_link;
pub mod nonce;
pub mod notices;
pub mod oauth;
pub mod openid;
pub mod page_password;
pub mod password_reset;
pub mod second_factor;
pub mod session;

use std::time::{Duration, Instant};

use contract::rest::Refusal;
use types::{Environment, Error, Timestamp};

use crate::{Client, Identity, Request, Site};

/// What a way of authentication found.
pub(crate) enum Found {
    /// No credentials of this kind.
    Nothing,
    Somebody(Box<Identity>),
    Refused(Box<Refusal>),
    /// Credentials of this kind that nobody has.
    Unknown(Box<Refusal>),
}

impl Site {
    /// Whether application passwords are usable: over TLS, on the machine itself, and in the
    /// sandbox.
    pub(crate) fn takes_application_passwords(&self, request: &Request) -> bool {
        request.secure || request.client.local || self.environment() == Environment::Sandbox
    }

    /// The user of a session who sent this request from one of our own pages, which the nonce
    /// proves. Nobody if there is no nonce; a refusal if it is stale.
    pub async fn session_visitor(
        &self,
        request: &Request,
        now: Timestamp,
    ) -> Result<Result<Option<Identity>, Refusal>, Error> {
        Ok(match self.session_of(request, now).await? {
            Found::Somebody(identity) => Ok(Some(*identity)),
            Found::Nothing => Ok(None),
            Found::Refused(refusal) | Found::Unknown(refusal) => Err(*refusal),
        })
    }

    /// Who makes the request. The outer error is ours.
    pub(crate) async fn authenticate(
        &self,
        request: &Request,
        method: &str,
        now: Timestamp,
    ) -> Result<Result<Identity, Refusal>, Error> {
        // A nonce without a session is looked at only if nothing else says who asks.
        let mut stale_nonce = None;
        match self.session_of(request, now).await? {
            Found::Somebody(identity) => return Ok(Ok(*identity)),
            Found::Refused(refusal) => return Ok(Err(*refusal)),
            Found::Unknown(refusal) => stale_nonce = Some(*refusal),
            Found::Nothing => {}
        }
        if shows_credentials(request)
            && let Err(refusal) = self.check_client(request.client)
        {
            return Ok(Err(refusal));
        }
        let commerce = self.settings().names.is_commerce(&request.path);
        if commerce {
            match self.consumer_key_of(request, method, now).await? {
                Found::Somebody(identity) => return Ok(Ok(*identity)),
                Found::Refused(refusal) => {
                    return Ok(Err(self.count_refusal(request, "", *refusal)));
                }
                Found::Unknown(refusal) => {
                    let refusal = self.count_refusal(request, "", *refusal);
                    if refusal.status == 429 {
                        return Ok(Err(refusal));
                    }
                }
                Found::Nothing => {}
            }
        }
        match self.application_password_of(request, now).await? {
            Found::Nothing => Ok(stale_nonce.map_or(Ok(Identity::ANONYMOUS), Err)),
            Found::Somebody(identity) => Ok(Ok(*identity)),
            Found::Refused(refusal) | Found::Unknown(refusal) => {
                let account = basic::of(request).map(|basic| basic.login).unwrap_or_default();
                let refusal = self.count_refusal(request, &account, *refusal);
                // A client that guesses is told to wait, whatever it asks for.
                let tolerated = commerce && refusal.status != 429;
                Ok(if tolerated { Ok(Identity::ANONYMOUS) } else { Err(refusal) })
            }
        }
    }

    /// Refuses a client that waits, before what it shows is looked at.
    pub(crate) fn check_client(&self, client: Client) -> Result<(), Refusal> {
        if !client.throttled {
            return Ok(());
        }
        let checked = self.gate().by_address.check(&client.address, Instant::now());
        checked.map_err(too_many_guesses)
    }

    /// Counts something wrong that a client has shown.
    pub(crate) fn count_guess(&self, client: Client) {
        if client.throttled {
            self.gate().by_address.note(client.address, Instant::now());
        }
    }

    /// Counts wrong credentials; beyond the limit the refusal is to wait.
    fn count_refusal(&self, request: &Request, account: &str, refusal: Refusal) -> Refusal {
        let client = request.client;
        let environment = self.environment().name();
        tracing::info!(reason = &*refusal.code, environment, "credentials refused");
        if !client.throttled {
            return refusal;
        }
        let now = Instant::now();
        let gate = self.gate();
        let account = fold_account(account);
        let checked =
            gate.by_address.check(&client.address, now).and(gate.by_account.check(&account, now));
        if let Err(wait) = checked {
            return too_many_guesses(wait);
        }
        gate.by_address.note(client.address, now);
        if !account.is_empty() {
            gate.by_account.note(account, now);
        }
        refusal
    }
}

/// Whether the request brings a secret that could be a guess.
fn shows_credentials(request: &Request) -> bool {
    request.header("authorization").is_some()
        || request.query_parameter("consumer_key").is_some()
        || !matches!(oauth::read(request), Ok(None))
}

/// Accounts are counted without regard to case; longer names than any account has are one.
pub(crate) fn fold_account(account: &str) -> String {
    account.chars().take(100).flat_map(char::to_lowercase).collect()
}

pub fn too_many_guesses(wait: Duration) -> Refusal {
    let seconds = wait.as_secs().max(1);
    let message = format!("Too many failed sign-in attempts; try again in {seconds} seconds.");
    Refusal::new(429, "too_many_attempts", message).with("retry_after", seconds)
}
