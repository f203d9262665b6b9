//! From the feed of changes to deliveries: a follower that reads events from where it stopped, and
//! enqueues what they mean for webhooks in one transaction with its place.
//!
//! What is delivered is rendered beforehand, on a snapshot, so that writers do not wait for it.

use std::collections::HashMap;

use serde_json::{Value, json};
use site::Site;
use store::outbox::{self, SequencedEvent};
use store::webhook::{self, WebhookRow};
use store::webhook_delivery::{self, Endpoint, NewDelivery};
use store::{Conn, user};
use types::{Result, Timestamp};

use super::send;
use super::topics::{DELETED, Topic};

/// The name under which the follower's place is kept.
const FOLLOWER: &str = "webhooks";
/// Events that one step looks at.
const EVENTS_MAX: i64 = 200;
/// Bytes of a rendered record; of a larger one, only the id is told.
const BODY_BYTES_MAX: usize = 4 * 1024 * 1024;

/// What the next events mean, to be written down at once.
#[derive(Clone, Debug)]
pub struct Step {
    from: i64,
    to: i64,
    deliveries: Vec<NewDelivery>,
}

impl Step {
    /// How many deliveries it adds.
    pub fn deliveries(&self) -> usize {
        self.deliveries.len()
    }
}

/// Reads the next events; nothing when there are none.
pub fn next_step(site: &Site, conn: &mut dyn Conn, now: Timestamp) -> Result<Option<Step>> {
    let from = outbox::position(conn, FOLLOWER)?;
    let events = outbox::after(conn, from, EVENTS_MAX)?;
    let Some(last) = events.last() else { return Ok(None) };
    let to = last.seq;
    let mut wanted: HashMap<&str, Vec<WebhookRow>> = HashMap::new();
    let mut deliveries = Vec::new();
    for event in &events {
        let Some(topic) = Topic::of_event(&event.kind) else { continue };
        if !wanted.contains_key(topic.name) {
            wanted.insert(topic.name, webhook::active_on(conn, topic.name)?);
        }
        for webhook in wanted.get(topic.name).into_iter().flatten() {
            deliveries.push(NewDelivery {
                endpoint: Endpoint::webhook(webhook.webhook_id),
                topic: topic.name.to_owned(),
                body: body(site, conn, webhook, (topic, event), now)?,
                details: json!({ "resource_id": event.object_id }).to_string(),
                due: now,
                created: now,
            });
        }
    }
    Ok(Some(Step { from, to, deliveries }))
}

/// Enqueues the deliveries of the step and moves on. A conflict when somebody else did meanwhile:
/// then nothing may stay of it.
pub fn take_step(conn: &mut dyn Conn, step: &Step) -> Result<()> {
    outbox::advance(conn, FOLLOWER, step.from, step.to)?;
    for delivery in &step.deliveries {
        webhook_delivery::enqueue(conn, delivery)?;
    }
    Ok(())
}

/// The record as the webhook's owner sees it now; its id alone when it is gone.
fn body(
    site: &Site,
    conn: &mut dyn Conn,
    webhook: &WebhookRow,
    (topic, event): (&Topic, &SequencedEvent),
    now: Timestamp,
) -> Result<Vec<u8>> {
    let id_alone = || {
        let id = event.object_id.parse::<i64>().map_or(json!(event.object_id), Value::from);
        json!({ "id": id }).to_string().into_bytes()
    };
    if topic.event == DELETED {
        return Ok(id_alone());
    }
    let Some(owner) = user::get(conn, webhook.user_id)? else { return Ok(id_alone()) };
    let namespace = send::namespace(&site.settings().names, &webhook.api_version);
    let path = format!("/{namespace}/{}s/{}", topic.resource, event.object_id);
    let seen = site.seen_by(conn, owner, &path, now)?;
    let body = seen.map(|seen| seen.to_string().into_bytes());
    Ok(body.filter(|body| body.len() <= BODY_BYTES_MAX).unwrap_or_else(id_alone))
}
