//! What a page with a password of its own is known by, and what was tried to open it.

use std::time::Duration;

use subtle::ConstantTimeEq as _;

/// What may have a password of its own, known to nobody else by the same name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lock {
    pub(crate) page: String,
    pub(crate) password: String,
}

impl Lock {
    /// Of the thing of this kind and number; the password is empty for what is open to everybody.
    pub fn new(kind: &str, id: i64, password: &str) -> Self {
        Self { page: format!("{kind} {id}"), password: password.to_owned() }
    }

    /// Whether there is a password at all.
    pub fn is_set(&self) -> bool {
        !self.password.is_empty()
    }

    /// Compares without telling by the time it takes how much of a guess is right.
    pub(crate) fn fits(&self, typed: &str) -> bool {
        self.is_set() && bool::from(self.password.as_bytes().ct_eq(typed.as_bytes()))
    }
}

/// A password that a call brought, for which page, and what came of it.
#[derive(Clone, Debug)]
pub(crate) struct Guess {
    pub(crate) page: String,
    pub(crate) typed: String,
    pub(crate) outcome: Result<bool, Duration>,
}
