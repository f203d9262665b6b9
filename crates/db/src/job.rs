//! A closure on its way to a database thread, and its answer on the way back.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use tokio::sync::oneshot;
use types::{Error, Kind, Result};

use crate::Conn;
use crate::caller::{self, Interest, Waiter};

/// What a database thread sees of a waiting closure.
pub(crate) trait Job: Send {
    /// Runs the closure and keeps its result. Returns whether its changes shall stay. May be called
    /// again after the changes of an earlier call were undone.
    fn run(&mut self, conn: &mut dyn Conn) -> bool;

    /// Answers the caller. **Called only after the transaction ended**: `Ok` when what the closure
    /// saw and changed is durable.
    fn finish(self: Box<Self>, committed: Result<()>);

    /// Of whoever waits for a read, which may be stopped.
    fn interest(&self) -> Option<&Arc<Interest>>;

    fn isolation(&self) -> Isolation;
}

/// How a write is kept apart from others, where several run at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Isolation {
    /// As if nobody else wrote meanwhile.
    Serialisable,
    /// The same, and it changes rows that most of its like change.
    Contended,
    /// Each of its statements sees what was stored before that statement.
    ReadCommitted,
}

/// Where the result of a closure arrives.
pub(crate) type Answer<T> = oneshot::Receiver<Result<T>>;

struct Waiting<T, F> {
    closure: F,
    /// Only for reads: a write that has begun is finished.
    interest: Option<Arc<Interest>>,
    /// Whether nothing of it shall stay if the caller goes while it runs.
    ends_with_caller: bool,
    isolation: Isolation,
    keep: fn(&Result<T>) -> bool,
    has_begun: bool,
    result: Option<Result<T>>,
    answer: oneshot::Sender<Result<T>>,
}

/// Wraps a closure; the receiver gets its result.
pub(crate) fn job<T, F>(closure: F) -> (Box<dyn Job>, Answer<T>)
where
    T: Send + 'static,
    F: Fn(&mut dyn Conn) -> Result<T> + Send + 'static,
{
    boxed(waiting(closure, Result::is_ok, None, false))
}

/// Wraps a closure that takes turns with its like by a lock of its own.
pub(crate) fn job_in_turn<T, F>(closure: F) -> (Box<dyn Job>, Answer<T>)
where
    T: Send + 'static,
    F: Fn(&mut dyn Conn) -> Result<T> + Send + 'static,
{
    let (job, receiver) = waiting(closure, Result::is_ok, None, false);
    (Box::new(Waiting { isolation: Isolation::ReadCommitted, ..job }), receiver)
}

/// Wraps a closure that only reads; it is stopped when its waiter is dropped.
pub(crate) fn read_job<T, F>(closure: F) -> ((Box<dyn Job>, Answer<T>), Waiter)
where
    T: Send + 'static,
    F: Fn(&mut dyn Conn) -> Result<T> + Send + 'static,
{
    let interest = Arc::new(Interest::default());
    (boxed(waiting(closure, Result::is_ok, Some(Arc::clone(&interest)), false)), Waiter(interest))
}

/// Wraps a closure that may refuse; the changes of one that refused do not stay. Neither do those
/// of one whose caller has gone: who was told that it took too long shall not find it done.
pub(crate) fn attempt<T, E, F>(
    isolation: Isolation,
    closure: F,
) -> (Box<dyn Job>, Answer<std::result::Result<T, E>>)
where
    T: Send + 'static,
    E: Send + 'static,
    F: Fn(&mut dyn Conn) -> Result<std::result::Result<T, E>> + Send + 'static,
{
    let (job, receiver) = waiting(closure, |result| matches!(result, Ok(Ok(_))), None, true);
    (Box::new(Waiting { isolation, ..job }), receiver)
}

fn waiting<T, F>(
    closure: F,
    keep: fn(&Result<T>) -> bool,
    interest: Option<Arc<Interest>>,
    ends_with_caller: bool,
) -> (Waiting<T, F>, Answer<T>) {
    let (answer, receiver) = oneshot::channel();
    let (isolation, has_begun, result) = (Isolation::Serialisable, false, None);
    let job =
        Waiting { closure, interest, ends_with_caller, isolation, keep, has_begun, result, answer };
    (job, receiver)
}

fn boxed<T, F>((job, receiver): (Waiting<T, F>, Answer<T>)) -> (Box<dyn Job>, Answer<T>)
where
    T: Send + 'static,
    F: Fn(&mut dyn Conn) -> Result<T> + Send + 'static,
{
    (Box::new(job), receiver)
}

impl<T, F> Job for Waiting<T, F>
where
    T: Send + 'static,
    F: Fn(&mut dyn Conn) -> Result<T> + Send + 'static,
{
    fn run(&mut self, conn: &mut dyn Conn) -> bool {
        let goes_on = self.has_begun && !self.ends_with_caller;
        if self.answer.is_closed() && !goes_on {
            // Whoever asked has left before it began: they will ask again.
            self.result = Some(Err(caller::abandoned()));
            return false;
        }
        self.has_begun = true;
        // An assertion that fails ends this request; the thread and its other jobs live on.
        let mut run = || catch_unwind(AssertUnwindSafe(|| (self.closure)(conn)));
        let outcome = match &self.interest {
            Some(interest) => caller::during(interest, run),
            None => run(),
        };
        let result = outcome.unwrap_or_else(|panic| Err(from_panic(panic.as_ref())));
        let keep = (self.keep)(&result);
        self.result = Some(result);
        if keep && self.ends_with_caller && self.answer.is_closed() {
            self.result = Some(Err(caller::abandoned()));
            return false;
        }
        keep
    }

    fn finish(self: Box<Self>, committed: Result<()>) {
        let result = match (committed, self.result) {
            (Ok(()), Some(result)) => result,
            (Ok(()), None) => Err(Error::internal("a database job was answered before it ran")),
            (Err(error), _) => Err(error),
        };
        // The caller may have gone away; the transaction stands all the same.
        let _ = self.answer.send(result);
    }

    fn interest(&self) -> Option<&Arc<Interest>> {
        self.interest.as_ref()
    }

    fn isolation(&self) -> Isolation {
        self.isolation
    }
}

fn from_panic(panic: &(dyn std::any::Any + Send)) -> Error {
    let text = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("unknown");
    Error::new(Kind::Internal, "a check inside the database code failed").because(text.to_owned())
}
