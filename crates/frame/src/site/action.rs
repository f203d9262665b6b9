//! What a route does: who may, and how. **Both are needed to make an [`Action`]**, so a route
//! without a permission does not compile.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use contract::rest::{Params, Refusal, Reply, Stop, Verb};
use serde_json::Value;

use crate::media::Upload;
use crate::{Call, Site, Visit};

pub type Outcome = Result<Reply, Stop>;
type Permit = Box<dyn Fn(&mut Call<'_>) -> Result<(), Stop> + Send + Sync>;
/// Looks, in a transaction of its own, whether what an operation is for is there at all.
pub(crate) type HashingIf = Box<dyn Fn(&mut Call<'_>) -> Result<bool, Stop> + Send + Sync>;
type Run = Box<dyn Fn(&mut Call<'_>) -> Outcome + Send + Sync>;
/// What is left to do of an operation once it has read all that it needs.
pub type Computation = Box<dyn FnOnce() -> Outcome + Send>;
type Prepare = Box<dyn Fn(&mut Call<'_>) -> Result<Computation, Stop> + Send + Sync>;
type RunLater = Box<dyn Fn(Later) -> Pin<Box<dyn Future<Output = Outcome> + Send>> + Send + Sync>;

/// What an operation waits for before it begins, outside of any transaction; nothing if it need not
/// wait. **It must end by itself**: nobody else limits it.
type Wait = Box<dyn Fn(&Arc<Site>, &Arc<Visit>, &Params) -> Option<Waiting> + Send + Sync>;
pub type Waiting = Pin<Box<dyn Future<Output = ()> + Send>>;

/// An operation of the REST interface.
pub struct Action {
    pub(crate) permit: Permit,
    pub(crate) work: Work,
    pub(crate) wait: Option<Wait>,
    /// Whether it is much work, of which one user has little at once.
    pub(crate) in_turns: bool,
    /// Whether a password that a stranger sends along is worth hashing.
    pub(crate) hashing_if: Option<HashingIf>,
}

impl Action {
    /// Says that the operation is much work: of one user few such run at once.
    #[must_use]
    pub fn in_turns(mut self) -> Self {
        self.in_turns = true;
        self
    }

    /// Lets a stranger's password be hashed for the operation, which takes long, only if `check`
    /// finds that there is something to do.
    #[must_use]
    pub fn hashing_if(
        mut self,
        check: impl Fn(&mut Call<'_>) -> Result<bool, Stop> + Send + Sync + 'static,
    ) -> Self {
        self.hashing_if = Some(Box::new(check));
        self
    }

    /// Lets the operation wait for something first.
    #[must_use]
    pub fn after(
        mut self,
        wait: impl Fn(&Arc<Site>, &Arc<Visit>, &Params) -> Option<Waiting> + Send + Sync + 'static,
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
    /// A snapshot of the storage, and then the processor alone.
    Computed(Prepare),
    /// A transaction.
    Write(Run),
    /// Several changes, each a transaction of its own.
    Batch(Batch),
    /// The network; storage as it goes.
    Later(RunLater),
}

/// An item of a batch: the group that it is listed in, and its parameters.
#[derive(Clone, Debug)]
pub struct BatchItem {
    pub group: &'static str,
    pub params: Params,
}

/// What became of an item: its body, or why it was refused.
pub type ItemOutcome = Result<Value, Refusal>;

type Plan = Box<dyn Fn(&mut Call<'_>) -> Result<Vec<BatchItem>, Stop> + Send + Sync>;
type RunItem = Box<dyn Fn(&BatchItem, &mut Call<'_>) -> Result<Value, Stop> + Send + Sync>;
type Gather = Box<dyn Fn(Vec<(BatchItem, ItemOutcome)>) -> Reply + Send + Sync>;

/// How a batch is carried out.
pub(crate) struct Batch {
    /// What its items are.
    pub(crate) plan: Plan,
    pub(crate) run: RunItem,
    /// The reply to all of them.
    pub(crate) gather: Gather,
}

/// What an operation gets that runs outside of any transaction.
#[derive(Debug)]
pub struct Later {
    pub site: Arc<Site>,
    pub visit: Arc<Visit>,
    pub params: Params,
    pub verb: Verb,
    /// The body, if it was written to disk as it came.
    pub upload: Option<Arc<Upload>>,
}

impl Later {
    /// Carries out a part of the operation in one transaction. What it refuses leaves no trace.
    pub async fn attempt<T: Send + 'static>(
        &self,
        run: impl Fn(&mut Call<'_>) -> Result<T, Stop> + Send + 'static,
    ) -> Result<T, Stop> {
        let (site, visit) = (Arc::clone(&self.site), Arc::clone(&self.visit));
        let (verb, params) = (self.verb, self.params.clone());
        let attempted = self.site.store().attempt(move |conn| {
            let mut call = Call::new(&site, &visit, verb, false, params.clone(), Some(conn));
            match run(&mut call) {
                Ok(done) => Ok(Ok(done)),
                Err(Stop::Refused(refusal)) => Ok(Err(refusal)),
                Err(Stop::Failed(error)) => Err(error),
            }
        });
        attempted.await?.map_err(Stop::Refused)
    }

    /// The same on a snapshot, which nothing changes.
    pub async fn look<T: Send + 'static>(
        &self,
        run: impl Fn(&mut Call<'_>) -> Result<T, Stop> + Send + 'static,
    ) -> Result<T, Stop> {
        let (site, visit) = (Arc::clone(&self.site), Arc::clone(&self.visit));
        let (verb, params) = (self.verb, self.params.clone());
        let looked = self.site.store().read(move |conn| {
            let mut call = Call::new(&site, &visit, verb, false, params.clone(), Some(conn));
            match run(&mut call) {
                Ok(done) => Ok(Ok(done)),
                Err(Stop::Refused(refusal)) => Ok(Err(refusal)),
                Err(Stop::Failed(error)) => Err(error),
            }
        });
        looked.await?.map_err(Stop::Refused)
    }
}

impl fmt::Debug for Action {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self.work {
            Work::Memory(_) => "Memory",
            Work::Read(_) => "Read",
            Work::Computed(_) => "Computed",
            Work::Write(_) => "Write",
            Work::Batch(_) => "Batch",
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
        hashing_if: None,
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
        hashing_if: None,
    }
}

/// An operation on a snapshot of the storage that has much left to compute once it has read what it
/// needs, and lets others read meanwhile.
pub fn computed<P, R>(permit: P, prepare: R) -> Action
where
    P: Fn(&mut Call<'_>) -> Result<(), Stop> + Send + Sync + 'static,
    R: Fn(&mut Call<'_>) -> Result<Computation, Stop> + Send + Sync + 'static,
{
    Action {
        permit: Box::new(permit),
        work: Work::Computed(Box::new(prepare)),
        wait: None,
        in_turns: false,
        hashing_if: None,
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
        hashing_if: None,
    }
}

/// An operation of several changes: what they are, how one of them is made, and the reply to all.
pub fn batch<P, L, R, G>(permit: P, plan: L, run: R, gather: G) -> Action
where
    P: Fn(&mut Call<'_>) -> Result<(), Stop> + Send + Sync + 'static,
    L: Fn(&mut Call<'_>) -> Result<Vec<BatchItem>, Stop> + Send + Sync + 'static,
    R: Fn(&BatchItem, &mut Call<'_>) -> Result<Value, Stop> + Send + Sync + 'static,
    G: Fn(Vec<(BatchItem, ItemOutcome)>) -> Reply + Send + Sync + 'static,
{
    let batch = Batch { plan: Box::new(plan), run: Box::new(run), gather: Box::new(gather) };
    Action {
        permit: Box::new(permit),
        work: Work::Batch(batch),
        wait: None,
        in_turns: false,
        hashing_if: None,
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
        hashing_if: None,
    }
}

/// The permission of what is open to everybody.
pub fn anyone(_: &mut Call<'_>) -> Result<(), Stop> {
    Ok(())
}
