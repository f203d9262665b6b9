//! Turns at work that keeps a processor and a database thread busy, such as a report. **Of one user
//! few such operations run at once**, so that somebody who asks for many keeps nobody else waiting.
//! The others of that user wait a while, and are then told to come back.
//!
//! Where such work waits for other servers while it keeps a database thread, **few of all users run
//! at once**: a server that hangs must not take the threads that everything else needs.

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

/// Of all users at once, where work waits for other servers: most database threads stay free.
const WAITING_AT_ONCE: usize = 2;

/// Who has how many turns.
#[derive(Debug)]
pub(crate) struct Turns {
    at_once: usize,
    /// By user, and by whether the work keeps a database thread.
    users: Mutex<HashMap<(i64, bool), Arc<Semaphore>>>,
    /// Of all users, if work waits for other servers.
    of_all: Option<Arc<Semaphore>>,
}

impl Default for Turns {
    fn default() -> Self {
        let processors = thread::available_parallelism().map_or(1, NonZero::get);
        let at_once = processors.clamp(*AT_ONCE.start(), *AT_ONCE.end());
        Self { at_once, users: Mutex::default(), of_all: None }
    }
}

/// A turn; it ends when this goes.
#[derive(Debug)]
pub(crate) struct Turn {
    _own: OwnedSemaphorePermit,
    _of_all: Option<OwnedSemaphorePermit>,
}

impl Turns {
    /// Says that work which keeps a database thread waits for other servers.
    pub(crate) fn wait_for_others(&mut self) {
        self.of_all = Some(Arc::new(Semaphore::new(WAITING_AT_ONCE)));
    }

    /// Waits for a turn of the user, at work that keeps a database thread or does not.
    pub(crate) async fn take(&self, user_id: i64, keeps_thread: bool) -> Result<Turn, Refusal> {
        let places = self.places_of(user_id, keeps_thread);
        let taken = async {
            let own = places.acquire_owned().await.ok()?;
            let of_all = match &self.of_all {
                Some(places) if keeps_thread => {
                    Some(Arc::clone(places).acquire_owned().await.ok()?)
                }
                _ => None,
            };
            Some(Turn { _own: own, _of_all: of_all })
        };
        match tokio::time::timeout(PATIENCE, taken).await {
            Ok(Some(turn)) => Ok(turn),
            _ => Err(too_many()),
        }
    }

    fn places_of(&self, user_id: i64, keeps_thread: bool) -> Arc<Semaphore> {
        // Of few places, nobody has more than one.
        let is_one = keeps_thread && self.of_all.is_some();
        let count = if is_one { 1 } else { self.at_once };
        let mut users = self.users.lock().unwrap_or_else(PoisonError::into_inner);
        if users.len() >= USERS_MAX {
            // Whoever waits or works holds on to theirs.
            users.retain(|_, places| Arc::strong_count(places) > 1);
        }
        let places = users.entry((user_id, is_one));
        Arc::clone(places.or_insert_with(|| Arc::new(Semaphore::new(count))))
    }
}

fn too_many() -> Refusal {
    let message = format!(
        "Too many reports are being generated at the moment; try again in {COME_BACK_S} seconds."
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
            taken.push(turns.take(1, false).await.unwrap());
        }
        let refused = turns.take(1, false).await.unwrap_err();
        assert_eq!((refused.status, &*refused.code), (429, "rest_too_many_at_once"));
        assert!(turns.take(2, false).await.is_ok(), "others have turns of their own");
        taken.pop();
        assert!(turns.take(1, false).await.is_ok(), "a turn that ended is free again");
    }

    #[tokio::test(start_paused = true)]
    async fn work_that_waits_for_others_leaves_threads_free() {
        let mut turns = Turns::default();
        turns.wait_for_others();
        let mut taken = Vec::new();
        for user in 0..i64::try_from(WAITING_AT_ONCE).unwrap() {
            taken.push(turns.take(user, true).await.unwrap());
        }
        assert!(turns.take(100, true).await.is_err());
        assert!(turns.take(0, true).await.is_err(), "nobody has two of the few places");
        assert!(turns.take(100, false).await.is_ok(), "what keeps no thread goes on");
        taken.pop();
        assert!(turns.take(100, true).await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn users_are_forgotten_but_not_while_they_work() {
        let turns = Turns::default();
        let mut held = Vec::new();
        for _ in 0..turns.at_once {
            held.push(turns.take(0, false).await.unwrap());
        }
        for user in 1..=i64::try_from(USERS_MAX).unwrap() {
            turns.take(user, false).await.unwrap();
        }
        assert!(turns.users.lock().unwrap().len() < USERS_MAX);
        assert!(turns.take(0, false).await.is_err());
        drop(held);
    }
}
