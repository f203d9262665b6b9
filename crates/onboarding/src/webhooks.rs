//! Webhooks of an ISO: it is told of its events at addresses of its choice.
//!
//! Requests are signed as Standard Webhooks has it, so that receivers check them with libraries
//! that exist. [`follow`] turns events into deliveries, [`send`] makes requests of them and says
//! what an answer means; when, in which order and how often is the matter of the one delivery
//! engine. **Secrets and header values are sealed with the ISO's data key**, and shown at most
//! once.

mod deliveries;
pub mod events;
pub mod follow;
mod manage;
pub mod send;

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use types::{Error, Result, Secret, Timestamp};
use vault::{Aad, DataKey};

pub use deliveries::{DeliveryGet, DeliveryList, DeliveryResend, WebhookRecover, WebhookTest};
pub use manage::{
    WebhookCreate, WebhookDelete, WebhookGet, WebhookList, WebhookRotate, WebhookUpdate,
};

use crate::rows::webhook_endpoint::WebhookEndpointRow;

/// Webhooks of one ISO at most.
pub const WEBHOOKS_MAX: usize = 10;
/// Stands for a value that is not shown.
const MASKED: &str = "***";

/// How webhooks of ISOs are delivered.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct WebhookSettings {
    /// Seconds to wait after the first attempt, after the second, and so on. An attempt behind the
    /// last one is not made. Each wait is longer or shorter by up to a tenth.
    pub retry_seconds: Vec<u32>,
    /// Milliseconds that an attempt may take.
    pub timeout_ms: u32,
    /// Hours without any success after which a webhook is disabled.
    pub disable_after_hours: u32,
}

impl Default for WebhookSettings {
    fn default() -> Self {
        const MINUTE: u32 = 60;
        const HOUR: u32 = 60 * MINUTE;
        Self {
            retry_seconds: vec![
                5,
                MINUTE,
                5 * MINUTE,
                30 * MINUTE,
                2 * HOUR,
                5 * HOUR,
                10 * HOUR,
                14 * HOUR,
                20 * HOUR,
                24 * HOUR,
            ],
            timeout_ms: 15_000,
            disable_after_hours: 120,
        }
    }
}

impl WebhookSettings {
    pub fn timeout(&self) -> Duration {
        Duration::from_millis(u64::from(self.timeout_ms))
    }

    /// The wait after an attempt that failed; none when it was the last. The first attempt is 1.
    fn wait_after(&self, attempt: i64) -> Option<Duration> {
        let index = usize::try_from(attempt.saturating_sub(1).max(0)).ok()?;
        self.retry_seconds.get(index).map(|seconds| Duration::from_secs(u64::from(*seconds)))
    }
}

/// A header field of the ISO's choice, as it is sealed.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct SealedHeader {
    name: String,
    value: String,
}

fn secret_aad(webhook_id: &str) -> Aad<'_> {
    Aad { kind: "webhook_endpoint", id: webhook_id, column: "secret" }
}

fn headers_aad(webhook_id: &str) -> Aad<'_> {
    Aad { kind: "webhook_endpoint", id: webhook_id, column: "headers" }
}

/// A new secret: its text, to be shown once, and its sealed bytes.
fn new_secret(data_key: &DataKey, webhook_id: &str) -> Result<(Secret<String>, Vec<u8>)> {
    let (text, bytes) = frame::signing::new_secret()?;
    let sealed = data_key.seal(&secret_aad(webhook_id), bytes.expose())?;
    Ok((text, sealed))
}

fn seal_headers(data_key: &DataKey, webhook_id: &str, headers: &[SealedHeader]) -> Result<Vec<u8>> {
    let plain = serde_json::to_vec(headers)
        .map_err(|error| Error::internal("headers cannot be written as JSON").because(error))?;
    data_key.seal(&headers_aad(webhook_id), Secret::new(plain).expose())
}

fn open_headers(data_key: &DataKey, row: &WebhookEndpointRow) -> Result<Vec<SealedHeader>> {
    let plain = data_key.open(&headers_aad(&row.webhook_id), &row.headers_sealed)?;
    serde_json::from_slice(plain.expose())
        .map_err(|error| Error::internal("headers of a webhook cannot be read").because(error))
}

/// The secrets that sign at this moment, the newest first.
fn signing_secrets(
    data_key: &DataKey,
    row: &WebhookEndpointRow,
    now: Timestamp,
) -> Result<Vec<Secret<Vec<u8>>>> {
    let old = row.old_secret.as_ref().filter(|(_, until)| now < *until).map(|(old, _)| old);
    let sealed = std::iter::once(&row.secret_sealed).chain(old);
    sealed.map(|sealed| data_key.open(&secret_aad(&row.webhook_id), sealed)).collect()
}

fn patterns_of(row: &WebhookEndpointRow) -> Result<Vec<String>> {
    serde_json::from_str(&row.events)
        .map_err(|error| Error::internal("events of a webhook cannot be read").because(error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schedule_is_the_decided_one() {
        let settings = WebhookSettings::default();
        let waits: Vec<u64> =
            (1..).map_while(|attempt| settings.wait_after(attempt)).map(|w| w.as_secs()).collect();
        let hours = |hours: u64| hours * 3_600;
        let expected =
            [5, 60, 300, 1_800, hours(2), hours(5), hours(10), hours(14), hours(20), hours(24)];
        assert_eq!(waits, expected);
        assert_eq!(settings.wait_after(0), settings.wait_after(1));
        assert_eq!(settings.wait_after(i64::MAX), None);
    }
}
