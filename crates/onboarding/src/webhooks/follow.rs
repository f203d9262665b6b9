//! What the events of the feed mean for the webhooks of ISOs: each enabled one that wants the kind
//! gets the event, in the lane of its object.

use std::collections::HashMap;

use db::Conn;
use db::delivery_step::Step;
use db::outbox::SequencedEvent;
use db::webhook_delivery::{Endpoint, NewDelivery};
use serde_json::json;
use types::{Error, Result, Timestamp};
use vault::Vault;

use super::events::EventView;
use super::patterns_of;
use crate::Platform;
use crate::event_kinds::Kinds;
use crate::rows::webhook_endpoint::{self, EndpointStatus, WebhookEndpointRow};

/// The name under which the follower's place is kept.
const FOLLOWER: &str = "iso_webhooks";

/// Reads the next events; nothing when there are none.
pub fn next_step(platform: &Platform, conn: &mut dyn Conn, now: Timestamp) -> Result<Option<Step>> {
    let mut listeners_of: HashMap<String, Vec<(Endpoint, Kinds)>> = HashMap::new();
    Step::next(conn, FOLLOWER, &mut |conn, event| {
        let Some(iso_id) = &event.iso_id else { return Ok(Vec::new()) };
        if !listeners_of.contains_key(iso_id.as_str()) {
            let rows = webhook_endpoint::list(conn, iso_id)?;
            let enabled = rows.iter().filter(|row| row.status == EndpointStatus::Enabled);
            let listeners = enabled.map(listener).collect::<Result<Vec<_>>>()?;
            listeners_of.insert(iso_id.as_str().to_owned(), listeners);
        }
        let listeners = listeners_of.get(iso_id.as_str()).into_iter().flatten();
        let listening = listeners.filter(|(_, kinds)| kinds.has(&event.kind));
        let deliveries =
            listening.map(|(endpoint, _)| delivery(&platform.vault, endpoint, event, now));
        deliveries.collect()
    })
}

fn listener(row: &WebhookEndpointRow) -> Result<(Endpoint, Kinds)> {
    let endpoint = webhook_endpoint::endpoint(&row.iso_id, &row.webhook_id);
    Ok((endpoint, kinds_of(row)?))
}

/// The kinds of events that a webhook wants.
pub(super) fn kinds_of(row: &WebhookEndpointRow) -> Result<Kinds> {
    let patterns = patterns_of(row)?;
    Kinds::parse(patterns.iter().map(String::as_str))
        .ok_or_else(|| Error::internal("events of a webhook cannot be read"))
}

/// What tells an endpoint of an event.
pub(super) fn delivery(
    vault: &Vault,
    endpoint: &Endpoint,
    event: &SequencedEvent,
    now: Timestamp,
) -> Result<NewDelivery> {
    let view = EventView::new(vault, event)?;
    let body = serde_json::to_vec(&view)
        .map_err(|error| Error::internal("an event cannot be written as JSON").because(error))?;
    Ok(NewDelivery {
        endpoint: endpoint.clone(),
        lane: event.object_id.clone(),
        message_id: view.id().to_owned(),
        topic: event.kind.clone(),
        body,
        details: json!({ "sequence": event.iso_seq }).to_string(),
        due: now,
        created: now,
    })
}
