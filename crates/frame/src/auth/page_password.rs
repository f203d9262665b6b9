//! Pages that have a password of their own, which everybody who may read them is told.
//!
//! A browser keeps marks of the passwords that were typed into it, in one cookie. A mark is a keyed
//! hash of the page and its password: **nobody but the site can make one, and it opens the page for
//! which it was typed alone**. Otherwise an author could try guesses at another's page with marks
//! of an own one. So whoever guesses must do so where guesses are counted: by the form, or by REST.

use std::time::{Duration, Instant};

use contract::rest::{Refusal, Stop};
use data_encoding::BASE64URL_NOPAD;
use subtle::ConstantTimeEq as _;

use crate::cookies::{self, Life};
use crate::lock::{Guess, Lock};
use crate::{Call, Client, Request, Site, Visit};

/// How long a browser remembers what was typed.
const LIFE: Duration = Duration::from_hours(10 * 24);
const PURPOSE: &str = "page password";
const MARK_BYTES: usize = 16;
/// Passwords that a browser remembers; the oldest goes first.
const MARKS_MAX: usize = 8;
const SEPARATOR: char = '.';

/// What came of a password.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unlocking {
    /// The cookie by which the browser shows that it was told.
    Open(String),
    Wrong,
    Wait(Duration),
}

impl Site {
    /// Whether the visitor may see what has this lock: there is no password, or they were told.
    pub fn is_open_to(&self, visit: &Visit, lock: &Lock) -> bool {
        if !lock.is_set() {
            return true;
        }
        let mark = self.mark_of(lock);
        let mut known = self.marks(&visit.headers);
        known.any(|known| known.as_bytes().ct_eq(mark.as_bytes()).into())
    }

    /// Whether the visitor was told the password of something, so that answers to them are nobody
    /// else's.
    pub fn was_told_passwords(&self, visit: &Visit) -> bool {
        self.marks(&visit.headers).next().is_some()
    }

    /// Checks what was typed for a page, and tells the browser's cookie if it is right.
    pub fn unlock(&self, request: &Request, lock: &Lock, typed: &str) -> Unlocking {
        match self.try_password(request.client, lock, typed) {
            Err(wait) => return Unlocking::Wait(wait),
            Ok(false) => return Unlocking::Wrong,
            Ok(true) => {}
        }
        let mark = self.mark_of(lock);
        let others = self.marks(&request.headers).filter(|known| *known != mark);
        let marks: Vec<&str> = std::iter::once(&*mark).chain(others).take(MARKS_MAX).collect();
        let value = marks.join(&SEPARATOR.to_string());
        let name = self.page_password_cookie();
        Unlocking::Open(cookies::set(&name, &value, Life::Lasting(LIFE), request.secure))
    }

    /// Whether this is the password, which is not looked at while the client waits. The client and
    /// the page are counted apart, as with sign-ins.
    fn try_password(&self, client: Client, lock: &Lock, typed: &str) -> Result<bool, Duration> {
        let (gate, now) = (self.gate(), Instant::now());
        if client.throttled {
            gate.pages_by_address.attempt(client.address, now)?;
            gate.pages_by_page.attempt(lock.page.clone(), now)?;
        }
        let is_right = lock.fits(typed);
        if is_right && client.throttled {
            gate.pages_by_address.forgive(&client.address);
            gate.pages_by_page.forgive(&lock.page);
        }
        Ok(is_right)
    }

    fn page_password_cookie(&self) -> String {
        format!("wp-postpass_{}", self.cookie_mark())
    }

    fn mark_of(&self, lock: &Lock) -> String {
        let hash = self.vault().site_hash(PURPOSE, &lock.password, &lock.page);
        let bytes = hash.first_chunk::<MARK_BYTES>().copied().unwrap_or_default();
        BASE64URL_NOPAD.encode(&bytes)
    }

    fn marks<'h>(&self, headers: &'h [(String, String)]) -> impl Iterator<Item = &'h str> {
        // The name of the cookie takes a hash, and most requests bring none.
        let has_cookies = headers.iter().any(|(name, _)| name == "cookie");
        let value = has_cookies.then(|| cookies::among(headers, &self.page_password_cookie()));
        let value = value.flatten().unwrap_or_default();
        value.split(SEPARATOR).filter(|mark| !mark.is_empty()).take(MARKS_MAX)
    }
}

impl Call<'_> {
    /// Whether this is the password of the page. **It counts as one guess however often the call
    /// asks**: permissions are asked for once more to tell which methods are allowed, and that
    /// would tell as well what a guess is worth.
    pub fn opens(&self, lock: &Lock, typed: &str) -> Result<bool, Stop> {
        let mut last = self.guess.borrow_mut();
        let known = last.as_ref().filter(|one| one.page == lock.page && one.typed == typed);
        let outcome = if let Some(guess) = known {
            guess.outcome
        } else {
            let outcome = self.site.try_password(self.visit.client, lock, typed);
            let (page, typed) = (lock.page.clone(), typed.to_owned());
            *last = Some(Guess { page, typed, outcome });
            outcome
        };
        outcome.map_err(|wait| too_many_passwords(wait).into())
    }
}

fn too_many_passwords(wait: Duration) -> Refusal {
    tracing::info!(reason = "too many attempts", "page not unlocked");
    let seconds = wait.as_secs().max(1);
    let message = format!("Too many wrong passwords; try again in {seconds} seconds.");
    Refusal::new(429, "too_many_attempts", message).with("retry_after", seconds)
}
