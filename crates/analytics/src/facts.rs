//! Facts: what orders come to in reports, resident in memory as typed columns.
//!
//! [`derive`](crate::derive) makes an [`OrderFact`] of each record; the [`Writer`] keeps them in
//! chunks and hands out [`Snapshot`]s; [`query`](crate::query) reads those. [`Facts`] is what the
//! rest of the house holds: the snapshot of now.

mod catalog;
pub(crate) mod chunk;
pub(crate) mod column;
pub(crate) mod dictionary;
mod fact;
pub(crate) mod snapshot;
mod writer;

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use tokio::sync::watch;

pub use catalog::Catalog;
pub use fact::{CouponFact, DownloadFact, LineFact, OrderFact, TaxFact};
pub use snapshot::Snapshot;
pub use writer::Writer;

/// The facts of one site as everybody sees them now.
#[derive(Debug)]
pub struct Facts {
    /// Locked only to take or replace the pointer, never while anything is read.
    current: RwLock<Arc<Snapshot>>,
    /// The last event that is in the facts; nothing until they were loaded.
    position: watch::Sender<Option<i64>>,
}

impl Default for Facts {
    fn default() -> Self {
        Self { current: RwLock::default(), position: watch::Sender::new(None) }
    }
}

impl Facts {
    /// The facts of now. They stay as they are for as long as somebody holds them.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Whether the facts were loaded.
    pub fn are_ready(&self) -> bool {
        self.position.borrow().is_some()
    }

    /// Shows everybody the next snapshot.
    pub fn publish(&self, snapshot: Snapshot) {
        let position = snapshot.position();
        let next = Arc::new(snapshot);
        let last = std::mem::replace(
            &mut *self.current.write().unwrap_or_else(PoisonError::into_inner),
            next,
        );
        // What nobody reads any more is freed here and not under the lock.
        drop(last);
        self.position.send_replace(Some(position));
    }

    /// Waits until the event with this number is in the facts. Returns whether it is; after
    /// `patience` that may be no.
    pub async fn wait_until(&self, position: i64, patience: Duration) -> bool {
        let mut positions = self.position.subscribe();
        let reached = positions.wait_for(|now| now.is_some_and(|now| now >= position));
        matches!(tokio::time::timeout(patience, reached).await, Ok(Ok(_)))
    }
}
