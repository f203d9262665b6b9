//! What is remembered of credentials that were shown: how often they were wrong, and those that
//! were right a moment ago.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::Identity;
use crate::throttle::Refusals;

/// A revocation takes effect within this time, in every process.
const CACHE_LIFE: Duration = Duration::from_millis(900);
/// Credentials remembered at most. Beyond that the cache starts over.
const CACHE_MAX: usize = 10_000;

/// An account may be tried from this many addresses at their full rate.
const ACCOUNT_FACTOR: u32 = 5;
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
    seen: Mutex<HashMap<[u8; 32], (Instant, Identity)>>,
}

impl Gate {
    pub(crate) fn new(per_minute: u32) -> Self {
        Self {
            by_address: Refusals::new(per_minute),
            by_account: Refusals::new(per_minute),
            sign_ins_by_address: Refusals::new(per_minute),
            // Everybody can fail to sign in to an account; its owner must not wait long for that.
            sign_ins_by_account: Refusals::new(per_minute.saturating_mul(ACCOUNT_FACTOR))
                .waiting_at_most(ACCOUNT_WAIT_MAX),
            seen: Mutex::new(HashMap::new()),
        }
    }

    pub(crate) fn recall(&self, key: &[u8; 32]) -> Option<Identity> {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let (at, identity) = seen.get(key)?;
        (at.elapsed() < CACHE_LIFE).then(|| identity.clone())
    }

    pub(crate) fn remember(&self, key: [u8; 32], identity: &Identity) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.len() >= CACHE_MAX {
            seen.clear();
        }
        seen.insert(key, (Instant::now(), identity.clone()));
    }
}
