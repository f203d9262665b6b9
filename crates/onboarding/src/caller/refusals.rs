//! Refused keys, of which equal ones are recorded once a minute: somebody who guesses keys must not
//! fill the audit log.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use types::KeyId;

use super::{Reason, Refused};

const RECORDED_EVERY: Duration = Duration::from_mins(1);
/// Refusals remembered at most. Beyond that all are forgotten.
const REMEMBERED_MAX: usize = 10_000;

type RefusalKey = (Option<KeyId>, Option<IpAddr>, Reason);

/// What was recorded lately.
#[derive(Debug, Default)]
pub(crate) struct RecentRefusals {
    last: Mutex<HashMap<RefusalKey, Instant>>,
}

impl RecentRefusals {
    /// Whether the refusal is to be recorded; it counts as recorded then.
    pub(crate) fn is_new(&self, refused: &Refused, address: Option<IpAddr>) -> bool {
        let key_id = refused.key.as_ref().map(|(_, key_id)| key_id.clone());
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if last.len() >= REMEMBERED_MAX {
            last.clear();
        }
        let now = Instant::now();
        let before = last.get(&(key_id.clone(), address, refused.reason));
        if before.is_some_and(|at| now.duration_since(*at) < RECORDED_EVERY) {
            return false;
        }
        last.insert((key_id, address, refused.reason), now);
        true
    }
}
