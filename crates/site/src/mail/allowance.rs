//! How many letters one user may have sent to addresses of their choice. Counted by each process
//! for itself, like every rate.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use types::Timestamp;

/// Letters of one user in [`WINDOW`].
const LETTERS_MAX: u32 = 30;
const WINDOW: Duration = Duration::from_hours(1);
/// Users who are remembered; beyond that those whose window is over are forgotten.
const USERS_MAX: usize = 1_024;

/// What each user has sent.
#[derive(Debug, Default)]
pub(crate) struct Allowance {
    users: Mutex<HashMap<i64, Sent>>,
}

#[derive(Clone, Copy, Debug)]
struct Sent {
    since: Timestamp,
    letters: u32,
}

impl Allowance {
    /// Counts a letter of the user, or says how long to wait for the next one.
    pub(crate) fn take(&self, user_id: i64, now: Timestamp) -> Result<(), Duration> {
        let mut users = self.users.lock().unwrap_or_else(PoisonError::into_inner);
        let is_over = |sent: &Sent| now >= sent.since.plus(WINDOW);
        if users.len() >= USERS_MAX {
            users.retain(|_, sent| !is_over(sent));
        }
        let fresh = Sent { since: now, letters: 0 };
        let sent = users.entry(user_id).or_insert(fresh);
        if is_over(sent) {
            *sent = fresh;
        }
        if sent.letters >= LETTERS_MAX {
            return Err(sent.since.plus(WINDOW).since(now));
        }
        sent.letters += 1;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_sends_so_many_an_hour() {
        let allowance = Allowance::default();
        let start = Timestamp::parse("2026-11-15T12:00:00Z").unwrap();
        for number in 0..LETTERS_MAX {
            let at = start.plus(Duration::from_secs(u64::from(number)));
            assert_eq!(allowance.take(1, at), Ok(()), "{number}");
        }
        let later = start.plus(Duration::from_mins(50));
        assert_eq!(allowance.take(1, later), Err(Duration::from_mins(10)));
        assert_eq!(allowance.take(2, later), Ok(()), "others send theirs");
        assert_eq!(allowance.take(1, start.plus(WINDOW)), Ok(()));
    }
}
