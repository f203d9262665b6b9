//! A bounded queue of jobs that several database threads may take from.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use types::{Error, Result};

use crate::job::Job;

/// Jobs that may wait. Beyond that the caller is told to come back later.
const WAITING_MAX: usize = 8192;

#[derive(Default)]
pub(crate) struct Queue {
    state: Mutex<State>,
    arrived: Condvar,
}

#[derive(Default)]
struct State {
    jobs: VecDeque<Box<dyn Job>>,
    closed: bool,
}

impl Queue {
    pub(crate) fn push(&self, job: Box<dyn Job>) -> Result<()> {
        let mut state = self.lock();
        if state.closed {
            return Err(Error::unavailable("the storage is shutting down"));
        }
        if state.jobs.len() >= WAITING_MAX {
            return Err(Error::unavailable("too many requests are waiting for the storage"));
        }
        state.jobs.push_back(job);
        drop(state);
        self.arrived.notify_one();
        Ok(())
    }

    /// The next job; waits for one. `None` when the queue is closed and empty.
    pub(crate) fn pop(&self) -> Option<Box<dyn Job>> {
        let mut state = self.lock();
        loop {
            if let Some(job) = state.jobs.pop_front() {
                return Some(job);
            }
            if state.closed {
                return None;
            }
            state = self.arrived.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// The next job if one is waiting.
    pub(crate) fn try_pop(&self) -> Option<Box<dyn Job>> {
        self.lock().jobs.pop_front()
    }

    /// Lets the threads finish what is waiting and then end.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.arrived.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // No job runs while the lock is held, so a poisoned lock still guards a whole queue.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
