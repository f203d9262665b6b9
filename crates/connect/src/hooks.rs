//! The webhooks of a store that tell us of changes: made there when the copy is complete, looked
//! after while it is followed, and removed when the store is disconnected. **What the store says it
//! has is what counts**: those that it disabled because it could not deliver are enabled, those
//! that somebody removed are made again, and those that there are twice are removed. A store that
//! does not let us make them is followed without.

use frame::outbound::Method;
use onboarding::connections::{Access, STORES_ROOT};
use serde_json::{Value, json};

use crate::checks;
use crate::source::{Item, Source, Trouble, id_of};
use crate::work::{Cursor, Halt, Work};

/// Attempts at making them, each with another look at those that there are.
const ATTEMPTS: usize = 3;
/// Webhooks of a page.
const PAGE: u32 = 100;

const PATH: &str = "wc/v3/webhooks";
const ACTIVE: &str = "active";
const TOPICS: [&str; 15] = [
    "order.created",
    "order.updated",
    "order.deleted",
    "order.restored",
    "product.created",
    "product.updated",
    "product.deleted",
    "product.restored",
    "customer.created",
    "customer.updated",
    "customer.deleted",
    "coupon.created",
    "coupon.updated",
    "coupon.deleted",
    "coupon.restored",
];

/// Whether some were never made.
pub(crate) fn are_missing(cursor: &Cursor) -> bool {
    cursor.webhooks.len() < TOPICS.len()
}

/// Makes those that are missing, and enables those that the store disabled.
pub(crate) async fn ensure(work: &mut Work, access: &Access) -> Result<(), Halt> {
    // Another key may be allowed what this one is not.
    if work.cursor.webhooks_refused == Some(work.row.version) {
        return Ok(());
    }
    let site = &work.stores.site;
    let own = site.address_for_emails(&*site.options().await?);
    let url = format!("{own}{}", ending(&work.row.connection_id));
    for _ in 0..ATTEMPTS {
        match put(work, access, &url).await {
            Err(Halt::Trouble(trouble)) if is_refused(&trouble) => {
                work.cursor.webhooks_refused = Some(work.row.version);
                checks::note_no_webhooks(work);
                return work.save().await;
            }
            // One may have been made nevertheless.
            Err(Halt::Trouble(trouble)) if trouble.code.is_of_page() => {}
            ended => return ended,
        }
    }
    // The store is followed without them until they can be made.
    Ok(())
}

/// How the address that our webhooks are sent to ends, whatever the address of this server was when
/// they were made. Numbers of webhooks say nothing: a store that was moved has others.
fn ending(connection: &str) -> String {
    format!("{STORES_ROOT}{connection}/events")
}

async fn put(work: &mut Work, access: &Access, url: &str) -> Result<(), Halt> {
    let mut ours = list(&work.source, &work.row.connection_id).await?;
    work.cursor.webhooks.retain(|known| ours.iter().any(|hook| id_of(hook) == *known));
    for topic in TOPICS {
        let wanted = json!({
            "name": format!("Boardwalk {topic}"), "topic": topic, "status": ACTIVE,
            "delivery_url": url, "secret": access.webhook_secret,
        });
        let place = ours.iter().position(|hook| text(hook, "topic") == topic);
        let known = place.map(|place| ours.remove(place));
        let id = match known {
            Some(hook) if text(&hook, "status") == ACTIVE && text(&hook, "delivery_url") == url => {
                id_of(&hook)
            }
            Some(hook) => {
                let path = format!("{PATH}/{}", id_of(&hook));
                id_of(&work.source.change(Method::Put, &path, "", Some(&wanted)).await?)
            }
            None => id_of(&work.source.change(Method::Post, PATH, "", Some(&wanted)).await?),
        };
        if !work.cursor.webhooks.contains(&id) {
            work.cursor.webhooks.push(id);
            work.save().await?;
        }
    }
    for twice in &ours {
        delete(&work.source, id_of(twice)).await?;
        work.cursor.webhooks.retain(|known| *known != id_of(twice));
    }
    Ok(())
}

/// Those of a connection.
async fn list(source: &Source, connection: &str) -> Result<Vec<Item>, Trouble> {
    let ending = ending(connection);
    let mut listed = source.all(PATH, PAGE).await?;
    listed.retain(|hook| text(hook, "delivery_url").ends_with(&ending));
    Ok(listed)
}

fn text<'h>(hook: &'h Item, name: &str) -> &'h str {
    hook.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// Whether the store will not have webhooks, at least not with this key.
fn is_refused(trouble: &Trouble) -> bool {
    matches!(trouble.status, 400 | 401 | 403 | 404 | 405 | 501)
}

async fn delete(source: &Source, id: i64) -> Result<(), Trouble> {
    let path = format!("{PATH}/{id}");
    match source.change(Method::Delete, &path, "force=true", None).await {
        Err(trouble) if trouble.status != 404 => Err(trouble),
        _ => Ok(()),
    }
}

/// Removes them. A store that does not answer keeps them, and disables them by itself since nobody
/// takes what they send.
pub(crate) async fn remove(source: &Source, connection: &str) {
    let removed = async {
        for hook in list(source, connection).await? {
            delete(source, id_of(&hook)).await?;
        }
        Ok::<(), Trouble>(())
    };
    if let Err(trouble) = removed.await {
        tracing::info!(code = trouble.code.name(), "webhooks of a store were not removed");
    }
}
