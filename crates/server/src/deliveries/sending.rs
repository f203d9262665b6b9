//! What is being sent, and to whom how much more may be.

use std::collections::HashMap;

use store::webhook_delivery::Endpoint;
use tokio::task::JoinSet;

/// Deliveries under way at once.
const SENDING_MAX: usize = 64;
/// Of them, to one endpoint, so that one that hangs does not keep the others from theirs.
const SENDING_TO_ONE_MAX: usize = 4;

/// The deliveries under way.
#[derive(Debug, Default)]
pub(super) struct Sending {
    /// Each gives back the endpoint that it was sent to.
    pub(super) tasks: JoinSet<Endpoint>,
    by_endpoint: HashMap<Endpoint, usize>,
}

impl Sending {
    pub(super) fn start(
        &mut self,
        endpoint: Endpoint,
        delivered: impl Future<Output = ()> + Send + 'static,
    ) {
        *self.by_endpoint.entry(endpoint.clone()).or_default() += 1;
        self.tasks.spawn(async move {
            delivered.await;
            endpoint
        });
    }

    /// Waits until one of them ends; for ever when there are none.
    pub(super) async fn one_ends(&mut self) {
        let Some(ended) = self.tasks.join_next().await else {
            return std::future::pending().await;
        };
        match ended {
            Ok(endpoint) => {
                if let Some(count) = self.by_endpoint.get_mut(&endpoint) {
                    *count -= 1;
                }
                self.by_endpoint.retain(|_, count| *count > 0);
            }
            // Whose it was is not known; when all are done, nothing is under way any more.
            Err(_) if self.tasks.is_empty() => self.by_endpoint.clear(),
            Err(_) => {}
        }
    }

    /// How many deliveries each of these endpoints may be sent now, those first that come first.
    pub(super) fn shares(&self, endpoints: Vec<Endpoint>) -> Vec<(Endpoint, i64)> {
        let mut free = SENDING_MAX.saturating_sub(self.tasks.len());
        let mut shares = Vec::new();
        for endpoint in endpoints {
            let busy = self.by_endpoint.get(&endpoint).copied().unwrap_or(0);
            let share = SENDING_TO_ONE_MAX.saturating_sub(busy).min(free);
            free -= share;
            if share > 0 {
                shares.push((endpoint, i64::try_from(share).unwrap_or(0)));
            }
        }
        shares
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn one_that_hangs_leaves_room_for_others() {
        let (slow, quick) = (Endpoint::webhook(1), Endpoint::webhook(2));
        let mut sending = Sending::default();
        for _ in 0..3 {
            sending.start(slow.clone(), std::future::pending());
        }
        let both = || vec![slow.clone(), quick.clone()];
        assert_eq!(sending.shares(both()), [(slow.clone(), 1), (quick.clone(), 4)]);
        sending.start(slow.clone(), std::future::pending());
        assert_eq!(sending.shares(both()), [(quick.clone(), 4)]);
        sending.start(quick.clone(), std::future::ready(()));
        assert_eq!(sending.shares(both()), [(quick.clone(), 3)]);
        sending.one_ends().await;
        assert_eq!(sending.shares(both()), [(quick, 4)]);
    }

    #[tokio::test]
    async fn all_together_have_a_bound() {
        let mut sending = Sending::default();
        for number in 0..30 {
            sending.start(Endpoint::webhook(number), std::future::pending());
            sending.start(Endpoint::webhook(number), std::future::pending());
        }
        let all = (100..200).map(Endpoint::webhook).collect();
        let total: i64 = sending.shares(all).iter().map(|(_, share)| share).sum();
        assert_eq!(total, 4);
    }
}
