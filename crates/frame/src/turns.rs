//! Turns at work that keeps a processor and a database thread busy, such as a report. **Of one user
//! few such operations run at once**, so that somebody who asks for many keeps nobody else waiting.
//! The others of that user wait a while, and are then told to come back.

use std::collections::HashMap;
use std::num::NonZero;
use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use contract::rest::Refusal;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Operations of one user at once: as many as there are processors, but never fewer than two, and
/// always so few that others find a reader of the store.
const AT_ONCE: RangeInclusive<usize> = 2..=db::READERS - 1;
/// How long one waits for a turn.
const PATIENCE: Duration = Duration::from_secs(7);
/// When to come back, in seconds.
const COME_BACK_S: u64 = 2;
/// Users who are remembered; beyond that those who have nothing under way are forgotten.
const USERS_MAX: usize = 1_024;

/// Who has how many turns.
#[derive(Debug)]
pub(crate) struct Turns {
    at_once: usize,
    users: Mutex<HashMap<i64, Arc<Semaphore>>>,
}

impl Default for Turns {
    fn default() -> Self {
        let processors = thread::available_parallelism().map_or(1, NonZero::get);
        let at_once = processors.clamp(*AT_ONCE.start(), *AT_ONCE.end());
        Self { at_once, users: Mutex::default() }
    }
}

/// A turn; it ends when this goes.
#[derive(Debug)]
pub(crate) struct Turn {
    _permit: OwnedSemaphorePermit,
}

impl Turns {
    /// Waits for a turn of the user.
    pub(crate) async fn take(&self, user_id: i64) -> Result<Turn, Refusal> {
        let places = self.places_of(user_id);
        match tokio::time::timeout(PATIENCE, places.acquire_owned()).await {
            Ok(Ok(permit)) => Ok(Turn { _permit: permit }),
            _ => Err(too_many(self.at_once)),
        }
    }

    fn places_of(&self, user_id: i64) -> Arc<Semaphore> {
        let mut users = self.users.lock().unwrap_or_else(PoisonError::into_inner);
        if users.len() >= USERS_MAX {
            // Whoever waits or works holds on to theirs.
            users.retain(|_, places| Arc::strong_count(places) > 1);
        }
        let places = users.entry(user_id);
        Arc::clone(places.or_insert_with(|| Arc::new(Semaphore::new(self.at_once))))
    }
}

fn too_many(at_once: usize) -> Refusal {
    let message = format!(
        "{at_once} of your reports are already being generated; try again in {COME_BACK_S} seconds."
    );
    Refusal::new(429, "rest_too_many_at_once", message).with("retry_after", COME_BACK_S)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn one_user_has_few_turns_and_keeps_nobody_else_waiting() {
        let turns = Turns::default();
        let mut taken = Vec::new();
        for _ in 0..turns.at_once {
            taken.push(turns.take(1).await.unwrap());
        }
        let refused = turns.take(1).await.unwrap_err();
        assert_eq!((refused.status, &*refused.code), (429, "rest_too_many_at_once"));
        assert!(turns.take(2).await.is_ok(), "others have turns of their own");
        taken.pop();
        assert!(turns.take(1).await.is_ok(), "a turn that ended is free again");
    }

    #[tokio::test(start_paused = true)]
    async fn users_are_forgotten_but_not_while_they_work() {
        let turns = Turns::default();
        let mut held = Vec::new();
        for _ in 0..turns.at_once {
            held.push(turns.take(0).await.unwrap());
        }
        for user in 1..=i64::try_from(USERS_MAX).unwrap() {
            turns.take(user).await.unwrap();
        }
        assert!(turns.users.lock().unwrap().len() < USERS_MAX);
        assert!(turns.take(0).await.is_err());
        drop(held);
    }
}
