//! What is remembered of credentials that were shown: how often they were wrong, and those that
//! were right a moment ago.

use std::net::IpAddr;
use std::time::Duration;

use db::{Database, Watch};

use crate::Identity;
use crate::credential_cache::CredentialCache;
use crate::throttle::Refusals;

/// What an identity by an application password is read from.
const IDENTITY_TABLES: [&str; 2] = ["users", "application_passwords"];
/// What the rights of a caller are read from.
const ACCOUNT_TABLES: [&str; 2] = ["users", "isos"];
/// An account may be tried from this many addresses at their full rate.
const ACCOUNT_FACTOR: u32 = 5;
/// Wrong codes of a second factor before the user waits: there are a million of them.
const CODES_PER_MINUTE: u32 = 5;
const ACCOUNT_WAIT_MAX: Duration = Duration::from_mins(1);

/// Counts of wrong guesses, and credentials that were right a moment ago.
#[derive(Debug)]
pub(crate) struct Gate {
    pub(crate) by_address: Refusals<IpAddr>,
    pub(crate) by_account: Refusals<String>,
    /// Attempts on the sign-in page, which are counted apart: those who guess elsewhere cannot
    /// keep a person from signing in.
    pub(crate) sign_ins_by_address: Refusals<IpAddr>,
    pub(crate) sign_ins_by_account: Refusals<String>,
    /// Passwords that were typed for pages, by client and by the page's address.
    pub(crate) pages_by_address: Refusals<IpAddr>,
    pub(crate) pages_by_page: Refusals<String>,
    /// Codes of second factors, by user. Only who knows the password gets that far, so that nobody
    /// else makes an owner wait.
    pub(crate) second_factors: Refusals<i64>,
    /// Changes of accounts, by whichever interface: they change what their owners may see.
    pub(crate) accounts: Watch,
    pub(crate) seen: CredentialCache<[u8; 32], Identity>,
}

impl Gate {
    pub(crate) fn new(per_minute: u32, store: &Database) -> Self {
        // Everybody can fail to open what is somebody else's, who must not wait long for that.
        let by_name = |name| {
            Refusals::new(per_minute.saturating_mul(ACCOUNT_FACTOR))
                .waiting_at_most(ACCOUNT_WAIT_MAX)
                .shared(name, store)
        };
        let by_address = |name| Refusals::new(per_minute).shared(name, store);
        // Whoever knows the password makes its owner wait; the count of a day stops them.
        let second_factors = Refusals::new(CODES_PER_MINUTE).waiting_at_most(ACCOUNT_WAIT_MAX);
        Self {
            by_address: by_address("rest-address"),
            by_account: Refusals::new(per_minute).shared("rest-account", store),
            sign_ins_by_address: by_address("sign-in-address"),
            sign_ins_by_account: by_name("sign-in-account"),
            pages_by_address: by_address("page-address"),
            pages_by_page: by_name("page"),
            second_factors: second_factors.shared("second-factor", store),
            accounts: store.watch(&ACCOUNT_TABLES),
            seen: CredentialCache::new(store.watch(&IDENTITY_TABLES)),
        }
    }
}
