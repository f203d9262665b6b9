//! The request that delivers an event to a webhook, and what its outcome means for the webhook.

use std::time::Duration;

use db::Conn;
use db::outbox::{self, Event};
use db::webhook_delivery::DeliveryRow;
use frame::outbound::{Fetch, Method, Overlong};
use frame::signing;
use serde_json::json;
use site_rows::iso;
use types::{IsoId, Result, Timestamp};
use url::Url;
use vault::WrappedKey;

use super::{WebhookSettings, open_headers, signing_secrets};
use crate::Platform;
use crate::audit::{self, Entry};
use crate::event_kinds;
use crate::rows::webhook_endpoint::{self, EndpointStatus, WebhookEndpointRow};

/// Bytes of an answer that are kept.
const ANSWER_BYTES_MAX: usize = 4 * 1024;
/// A receiver that asks to be left alone is not left alone for longer.
const RETRY_AFTER_MAX: Duration = Duration::from_hours(24);
/// The kind of what is sent to try a webhook out.
pub(super) const TEST: &str = "webhook.test";

/// How an attempt went.
#[derive(Clone, Copy, Debug, Default)]
pub struct Attempted {
    pub succeeded: bool,
    /// None when there was no answer.
    pub status: Option<u16>,
    /// How long the receiver wants to be left alone.
    pub retry_after: Option<Duration>,
}

/// The request of a delivery, signed; nothing when the webhook does not want it any more.
pub fn request(
    platform: &Platform,
    conn: &mut dyn Conn,
    delivery: &DeliveryRow,
    settings: &WebhookSettings,
    now: Timestamp,
) -> Result<Option<Fetch>> {
    let Some((iso_id, webhook_id)) = webhook_endpoint::ids_of(&delivery.endpoint) else {
        return Ok(None);
    };
    let Some(row) = webhook_endpoint::get(conn, &iso_id, webhook_id)? else { return Ok(None) };
    let is_test = delivery.topic == TEST;
    if row.status != EndpointStatus::Enabled && !is_test {
        return Ok(None);
    }
    let Some(owner) = iso::get(conn, &iso_id)? else { return Ok(None) };
    let Ok(url) = Url::parse(&row.url) else { return Ok(None) };
    let data_key = platform.vault.data_key_open(&iso_id, &WrappedKey(owner.data_key))?;
    let keys = signing_secrets(&data_key, &row, now)?;
    let signed = signing::message_headers(&keys, &delivery.message_id, &delivery.body, now)?;
    let own = open_headers(&data_key, &row)?.into_iter().map(|header| (header.name, header.value));
    let json = (String::from("content-type"), String::from("application/json"));
    let fixed = std::iter::once(json).chain(signed);
    Ok(Some(Fetch {
        method: Method::Post,
        url,
        // Ours come last, so that nobody's choice replaces them.
        headers: own.chain(fixed).collect(),
        body: delivery.body.clone(),
        max_bytes: ANSWER_BYTES_MAX,
        overlong: Overlong::Cut,
        timeout: settings.timeout(),
        max_redirects: 0,
    }))
}

/// Whether an answer with this status took the delivery.
pub fn is_taken(status: u16) -> bool {
    matches!(status, 200..=299)
}

/// Records the result of an attempt, in the transaction that finishes it. Returns how long to wait
/// for the next one; nothing when it was the last. A test says nothing about the webhook and is
/// never repeated.
pub fn record(
    conn: &mut dyn Conn,
    delivery: &DeliveryRow,
    attempted: Attempted,
    settings: &WebhookSettings,
    now: Timestamp,
) -> Result<Option<Duration>> {
    let Some((iso_id, webhook_id)) = webhook_endpoint::ids_of(&delivery.endpoint) else {
        return Ok(None);
    };
    if delivery.topic == TEST {
        return Ok(None);
    }
    if attempted.succeeded {
        webhook_endpoint::note_success(conn, &iso_id, webhook_id, now)?;
        return Ok(None);
    }
    let since = webhook_endpoint::note_failure(conn, &iso_id, webhook_id, now)?;
    let Some(since) = since else { return Ok(None) };
    let patience = Duration::from_hours(u64::from(settings.disable_after_hours));
    let reason = match attempted.status {
        Some(410) => Some("The endpoint returned 410 Gone."),
        _ if now.since(since) >= patience => Some("All deliveries failed for too long."),
        _ => None,
    };
    if let Some(reason) = reason {
        disable(conn, &iso_id, webhook_id, reason, now)?;
        return Ok(None);
    }
    let requested = attempted.retry_after.filter(|_| matches!(attempted.status, Some(429 | 503)));
    let requested = requested.unwrap_or_default().min(RETRY_AFTER_MAX);
    Ok(settings.wait_after(delivery.attempt).map(|wait| wait.max(requested)))
}

/// Disables a webhook that does not work, tells the others of it, and writes it down.
fn disable(
    conn: &mut dyn Conn,
    iso_id: &IsoId,
    webhook_id: &str,
    reason: &str,
    now: Timestamp,
) -> Result<()> {
    let row = webhook_endpoint::get(conn, iso_id, webhook_id)?;
    let Some(row) = row.filter(|row| row.status == EndpointStatus::Enabled) else { return Ok(()) };
    let changed = WebhookEndpointRow {
        status: EndpointStatus::Disabled,
        disabled_reason: reason.to_owned(),
        version: row.version + 1,
        updated: now,
        ..row.clone()
    };
    webhook_endpoint::update(conn, &changed)?;
    let entry = Entry::by_system(Some(iso_id), now, "webhook.disable", "webhook", webhook_id)
        .versions(Some(row.version), Some(changed.version))
        .changed("status", row.status.as_str(), changed.status.as_str())
        .because(reason);
    audit::append(conn, &entry)?;
    outbox::append(conn, &disabled_event(&changed))
}

fn disabled_event(row: &WebhookEndpointRow) -> Event {
    let data = json!({
        "object": "webhook", "id": row.webhook_id, "status": row.status.as_str(),
        "version": row.version, "changed": ["status"], "reason": row.disabled_reason,
    });
    Event {
        iso_id: Some(row.iso_id.clone()),
        kind: event_kinds::ENDPOINT_DISABLED,
        object_id: row.webhook_id.clone(),
        payload: data.to_string(),
        created: row.updated,
    }
}
