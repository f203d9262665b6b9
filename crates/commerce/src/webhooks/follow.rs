//! What the events of the feed mean for webhooks: each active one of the topic is told, with the
//! record as its owner sees it.

use std::collections::HashMap;

use db::Conn;
use db::delivery_step::Step;
use db::outbox::SequencedEvent;
use db::webhook_delivery::NewDelivery;
use frame::Site;
use serde_json::{Value, json};
use shop_rows::webhook::{self, WebhookRow};
use site_rows::user;
use types::{Result, Timestamp};

use super::send;
use super::topics::{DELETED, Topic};

/// The name under which the follower's place is kept.
const FOLLOWER: &str = "webhooks";
/// Bytes of a rendered record; of a larger one, only the id is told.
const BODY_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Reads the next events; nothing when there are none.
pub fn next_step(site: &Site, conn: &mut dyn Conn, now: Timestamp) -> Result<Option<Step>> {
    let mut wanted: HashMap<&str, Vec<WebhookRow>> = HashMap::new();
    Step::next(conn, FOLLOWER, &mut |conn, event| {
        let Some(topic) = Topic::of_event(&event.kind) else { return Ok(Vec::new()) };
        if !wanted.contains_key(topic.name) {
            wanted.insert(topic.name, webhook::active_on(conn, topic.name)?);
        }
        let webhooks = wanted.get(topic.name).into_iter().flatten();
        let deliveries = webhooks.map(|webhook| {
            Ok(NewDelivery {
                endpoint: webhook::endpoint(webhook.webhook_id),
                topic: topic.name.to_owned(),
                body: body(site, conn, webhook, (topic, event), now)?,
                details: json!({ "resource_id": event.object_id }).to_string(),
                due: now,
                created: now,
                ..NewDelivery::default()
            })
        });
        deliveries.collect()
    })
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
