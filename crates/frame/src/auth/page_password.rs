//! Pages that have a password of their own, which everybody who may read them is told.
//!
//! A browser keeps marks of the passwords that were typed into it, in one cookie. A mark is a keyed
//! hash: **nobody but the site can make one, and only of a password that opens the page for which
//! it was typed**. So whoever guesses must do so by the form, where guesses are counted.

use std::time::{Duration, Instant};

use data_encoding::BASE64URL_NOPAD;
use subtle::ConstantTimeEq as _;

use crate::cookies::{self, Life};
use crate::{Request, Site, Visit};

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
    /// Whether the visitor may see what has this password: there is none, or they were told.
    pub fn is_open_to(&self, visit: &Visit, password: &str) -> bool {
        if password.is_empty() {
            return true;
        }
        let mark = self.mark_of(password);
        let mut known = self.marks(&visit.headers);
        known.any(|known| known.as_bytes().ct_eq(mark.as_bytes()).into())
    }

    /// Whether the visitor was told the password of something, so that answers to them are nobody
    /// else's.
    pub fn was_told_passwords(&self, visit: &Visit) -> bool {
        self.marks(&visit.headers).next().is_some()
    }

    /// Checks what was typed for the page, known by its address, that has this password. The client
    /// and the page are counted apart, as with sign-ins.
    pub fn unlock(
        &self,
        request: &Request,
        (page, password): (&str, &str),
        typed: &str,
    ) -> Unlocking {
        let (gate, client, now) = (self.gate(), request.client, Instant::now());
        if client.throttled {
            let by_address = gate.pages_by_address.attempt(client.address, now);
            let counted =
                by_address.and_then(|()| gate.pages_by_page.attempt(page.to_owned(), now));
            if let Err(wait) = counted {
                return Unlocking::Wait(wait);
            }
        }
        let is_right = bool::from(password.as_bytes().ct_eq(typed.as_bytes()));
        if password.is_empty() || !is_right {
            return Unlocking::Wrong;
        }
        gate.pages_by_address.forgive(&client.address);
        gate.pages_by_page.forgive(&page.to_owned());
        let mark = self.mark_of(password);
        let others = self.marks(&request.headers).filter(|known| *known != mark);
        let marks: Vec<&str> = std::iter::once(&*mark).chain(others).take(MARKS_MAX).collect();
        let value = marks.join(&SEPARATOR.to_string());
        let name = self.page_password_cookie();
        Unlocking::Open(cookies::set(&name, &value, Life::Lasting(LIFE), request.secure))
    }

    fn page_password_cookie(&self) -> String {
        format!("wp-postpass_{}", self.cookie_mark())
    }

    fn mark_of(&self, password: &str) -> String {
        let hash = self.vault().site_hash(PURPOSE, password, "");
        let bytes = hash.first_chunk::<MARK_BYTES>().copied().unwrap_or_default();
        BASE64URL_NOPAD.encode(&bytes)
    }

    fn marks<'h>(&self, headers: &'h [(String, String)]) -> impl Iterator<Item = &'h str> {
        let value = cookies::among(headers, &self.page_password_cookie()).unwrap_or_default();
        value.split(SEPARATOR).filter(|mark| !mark.is_empty()).take(MARKS_MAX)
    }
}
