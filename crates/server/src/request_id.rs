//! Names of requests, by which callers, log and audit log speak of the same one: those of a later
//! millisecond sort behind, and no two nodes give the same.

use std::future::Future;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

use types::Timestamp;

/// Seeded by the system once, since to ask it for each request costs more than all else here.
static SEED: LazyLock<RandomState> = LazyLock::new(RandomState::new);
static COUNT: AtomicU64 = AtomicU64::new(0);

tokio::task_local! {
    static CURRENT: String;
}

/// The request that is being handled here, for lines of the log.
pub fn current() -> Option<String> {
    CURRENT.try_with(Clone::clone).ok()
}

/// Handles a request under its name. A span of the log would cost more than most answers.
pub(crate) async fn handling<F: Future>(request_id: &str, handle: F) -> F::Output {
    CURRENT.scope(request_id.to_owned(), handle).await
}

pub(crate) fn next(now: Timestamp) -> String {
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let millis = u64::try_from(now.as_micros() / 1_000).unwrap_or_default();
    let mut noise = [0; 10];
    let (high, low) = noise.split_at_mut(2);
    high.copy_from_slice(SEED.hash_one((count, "high")).to_be_bytes().split_at(2).0);
    low.copy_from_slice(&SEED.hash_one(count).to_be_bytes());
    let id = uuid::Builder::from_unix_timestamp_millis(millis, &noise).into_uuid();
    format!("req_{}", id.simple())
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn no_two_are_the_same() {
        let at = |micros| Timestamp::from_micros(micros);
        let ids: HashSet<String> = (0..10_000).map(|_| next(at(0))).collect();
        assert_eq!(ids.len(), 10_000);
        assert!(ids.iter().all(|id| id.len() == 36 && id.starts_with("req_")));
        assert!(next(at(1_000)) < next(at(2_000)));
    }
}
