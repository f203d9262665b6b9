//! What a route does: who may, and how. **Both are needed to make an [`Action`]**, so a route
//! without a permission does not compile.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use contract::rest::{Params, Reply, Stop};

use crate::{Call, Site, Visit};

pub type Outcome = Result<Reply, Stop>;
type Permit = Box<dyn Fn(&mut Call<'_>) -> Result<(), Stop> + Send + Sync>;
type Run = Box<dyn Fn(&mut Call<'_>) -> Outcome + Send + Sync>;
type RunLater = Box<dyn Fn(Later) -> Pin<Box<dyn Future<Output = Outcome> + Send>> + Send + Sync>;

/// What an operation waits for before it begins, outside of any transaction; nothing if it need not
/// wait. **It must end by itself**: nobody else limits it.
type Wait = Box<dyn Fn(&Site, &Visit, &Params) -> Option<Waiting> + Send + Sync>;
pub type Waiting = Pin<Box<dyn Future<Output = ()> + Send>>;

/// An operation of the REST interface.
pub struct Action {
    pub(crate) permit: Permit,
    pub(crate) work: Work,
    pub(crate) wait: Option<Wait>,
    /// Whether it is much work, of which one user has little at once.
    pub(crate) in_turns: bool,
}

impl Action {
    /// Says that the operation is much work: of one user few such run at once.
    #[must_use]
    pub fn in_turns(mut self) -> Self {
        self.in_turns = true;
        self
    }

    /// Lets the operation wait for something first.
    #[must_use]
    pub fn after(
        mut self,
        wait: impl Fn(&Site, &Visit, &Params) -> Option<Waiting> + Send + Sync + 'static,
    ) -> Self {
        self.wait = Some(Box::new(wait));
        self
    }
}

/// What an operation needs, and its doing.
pub(crate) enum Work {
    /// Neither storage nor network.
    Memory(Run),
    /// A snapshot of the storage.
    Read(Run),
    /// A transaction.
    Write(Run),
    /// The network; storage as it goes.
    Later(RunLater),
}

/// What an operation gets that runs outside of any transaction.
#[derive(Debug)]
pub struct Later {
    pub site: Arc<Site>,
    pub visit: Arc<Visit>,
    pub params: Params,
}

impl fmt::Debug for Action {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self.work {
            Work::Memory(_) => "Memory",
            Work::Read(_) => "Read",
            Work::Write(_) => "Write",
            Work::Later(_) => "Later",
        })
    }
}

/// An operation that needs no storage.
pub fn memory<P, R>(permit: P, run: R) -> Action
where
    P: Fn(&mut Call<'_>) -> Result<(), Stop> + Send + Sync + 'static,
    R: Fn(&mut Call<'_>) -> Outcome + Send + Sync + 'static,
{
    Action {
        permit: Box::new(permit),
        work: Work::Memory(Box::new(run)),
        wait: None,
        in_turns: false,
    }
}

/// An operation on a snapshot of the storage.
pub fn read<P, R>(permit: P, run: R) -> Action
where
    P: Fn(&mut Call<'_>) -> Result<(), Stop> + Send + Sync + 'static,
    R: Fn(&mut Call<'_>) -> Outcome + Send + Sync + 'static,
{
    Action {
        permit: Box::new(permit),
        work: Work::Read(Box::new(run)),
        wait: None,
        in_turns: false,
    }
}

/// An operation that changes something, as one transaction. What it refuses leaves no trace.
pub fn write<P, R>(permit: P, run: R) -> Action
where
    P: Fn(&mut Call<'_>) -> Result<(), Stop> + Send + Sync + 'static,
    R: Fn(&mut Call<'_>) -> Outcome + Send + Sync + 'static,
{
    Action {
        permit: Box::new(permit),
        work: Work::Write(Box::new(run)),
        wait: None,
        in_turns: false,
    }
}

/// An operation that waits for the network.
pub fn later<P, R, F>(permit: P, run: R) -> Action
where
    P: Fn(&mut Call<'_>) -> Result<(), Stop> + Send + Sync + 'static,
    R: Fn(Later) -> F + Send + Sync + 'static,
    F: Future<Output = Outcome> + Send + 'static,
{
    let run = move |later: Later| -> Pin<Box<dyn Future<Output = Outcome> + Send>> {
        Box::pin(run(later))
    };
    Action {
        permit: Box::new(permit),
        work: Work::Later(Box::new(run)),
        wait: None,
        in_turns: false,
    }
}

/// The permission of what is open to everybody.
pub fn anyone(_: &mut Call<'_>) -> Result<(), Stop> {
    Ok(())
}
