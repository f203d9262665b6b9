//! On whose behalf the database works, and whether they still wait for it.
//!
//! Who serves a request says once whose it is, with [`as_caller`]; every closure that is handed to
//! a database meanwhile waits in that caller's line (see [`crate::queue`]). Work that nobody asked
//! for, such as background jobs, shares a line of its own.
//!
//! **A read whose caller has left is stopped**: the future that waits for it was dropped, because
//! the connection closed or its time was over. SQLite asks while it runs, PostgreSQL is told.

use std::cell::RefCell;
use std::future::Future;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use types::{Error, Result};

tokio::task_local! {
    static CALLER: Caller;
}

/// Whose closures wait in one line. Its name is made when a closure is handed over, which requests
/// that are answered from memory never do.
#[derive(Clone, Debug)]
pub enum Caller {
    Named(Arc<str>),
    /// One of a kind, such as a user.
    Numbered(&'static str, i64),
    Address(IpAddr),
}

impl Caller {
    fn line(&self) -> Arc<str> {
        match self {
            Self::Named(name) => Arc::clone(name),
            Self::Numbered(kind, number) => Arc::from(format!("{kind}:{number}")),
            Self::Address(address) => Arc::from(address.to_string()),
        }
    }
}

impl<T: Into<Arc<str>>> From<T> for Caller {
    fn from(name: T) -> Self {
        Self::Named(name.into())
    }
}

/// Runs a future whose closures wait in the line of `caller`: an ISO, a user or an address.
pub fn as_caller<F: Future>(
    caller: impl Into<Caller>,
    future: F,
) -> impl Future<Output = F::Output> {
    // Whoever awaits it holds a pointer, and not the whole of a request.
    CALLER.scope(caller.into(), Box::pin(future))
}

/// Whose closure is being handed over; empty for the server's own work.
pub(crate) fn current() -> Arc<str> {
    CALLER.try_with(Caller::line).unwrap_or_else(|_| Arc::from(""))
}

/// Interrupts the statement that a connection is running, from another thread.
pub(crate) trait Interrupt: Send + Sync {
    fn interrupt(&self);
}

/// Whether a caller still waits for the result of a read.
#[derive(Default)]
pub(crate) struct Interest {
    lost: AtomicBool,
    /// How to interrupt the engine while it runs the read.
    interrupt: Mutex<Option<Arc<dyn Interrupt>>>,
}

thread_local! {
    /// Of the read that this thread is running.
    static RUNNING: RefCell<Option<Arc<Interest>>> = const { RefCell::new(None) };
}

impl Interest {
    pub(crate) fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Acquire)
    }

    fn lose(&self) {
        self.lost.store(true, Ordering::Release);
        let interrupt = self.interrupt.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(interrupt) = interrupt {
            interrupt.interrupt();
        }
    }

    /// While a connection works for this caller.
    pub(crate) fn set_interrupt(&self, interrupt: Option<Arc<dyn Interrupt>>) {
        *self.interrupt.lock().unwrap_or_else(PoisonError::into_inner) = interrupt;
    }
}

/// Runs a read on this thread, during which [`is_abandoned`] speaks of its caller.
pub(crate) fn during<T>(interest: &Arc<Interest>, run: impl FnOnce() -> T) -> T {
    RUNNING.set(Some(Arc::clone(interest)));
    let result = run();
    RUNNING.set(None);
    result
}

/// Whether the caller of the read that this thread is running has left.
pub(crate) fn is_abandoned() -> bool {
    RUNNING.with_borrow(|running| running.as_ref().is_some_and(|interest| interest.is_lost()))
}

/// Fails when the caller of the read that this thread is running has left.
pub(crate) fn check_interest() -> Result<()> {
    if is_abandoned() { Err(abandoned()) } else { Ok(()) }
}

pub(crate) fn abandoned() -> Error {
    Error::unavailable("nobody waits for the result any more")
}

/// Held by the future that waits; when that is dropped, the interest is lost.
pub(crate) struct Waiter(pub(crate) Arc<Interest>);

impl Drop for Waiter {
    fn drop(&mut self) {
        self.0.lose();
    }
}
