//! How connected stores are followed.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Connected stores.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Seconds between two looks at a store for changes that no webhook told of.
    pub poll_seconds: u32,
    /// Hours between two comparisons of a copy with its store.
    pub reconcile_hours: u32,
    /// Stores that are worked on at once. Each is asked one request at a time.
    pub stores_at_once: usize,
    /// Copies that are open at once. Each holds its facts in memory.
    pub open_stores: usize,
    /// Records that a store is asked for at once; fewer when it is slow.
    pub page_items: u32,
    /// Orders that a store must have missed, by its own last weeks, before an alert says that it
    /// stopped selling. 0: never.
    pub alert_orders_expected: u32,
    /// Percentage of gross sales that must have been refunded within a week before an alert says
    /// that the refund rate jumped. 0: never.
    pub alert_refund_percent: u32,
    /// How many times the store's usual refund rate that must be.
    pub alert_refund_factor: u32,
    /// Records that a copy may have. A store with more is not copied further.
    pub records_max: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            poll_seconds: 60,
            reconcile_hours: 24,
            stores_at_once: 4,
            open_stores: 16,
            page_items: 100,
            alert_orders_expected: 5,
            alert_refund_percent: 10,
            alert_refund_factor: 3,
            records_max: 5_000_000,
        }
    }
}

impl Settings {
    pub(crate) fn poll(&self) -> Duration {
        Duration::from_secs(u64::from(self.poll_seconds.max(1)))
    }

    pub(crate) fn reconcile(&self) -> Duration {
        Duration::from_hours(u64::from(self.reconcile_hours.max(1)))
    }
}
