//! The request that delivers something to a webhook, and what its outcome means for the webhook.

use db::Conn;
use db::outbox::{self, Event};
use db::webhook_delivery::{DeliveryRow, NewDelivery};
use frame::outbound::{Fetch, Method, Overlong};
use frame::{Names, Options, Site, signing};
use serde_json::json;
use shop_rows::webhook::{self, WebhookRow};
use types::{Result, Secret, Timestamp};
use url::Url;
use vault::{Aad, Vault};

use super::topics::Topic;
use super::{ACTIVE, DISABLED};
use crate::common::version::Version;

/// Failures in a row after which nothing is sent any more, until somebody starts the webhook again.
pub const FAILURES_MAX: i64 = 5;
/// Bytes of an answer that are kept.
const ANSWER_BYTES_MAX: usize = 8 * 1024;
/// For everything together.
const TIMEOUT: std::time::Duration = std::time::Duration::from_secs(10);
/// The topic of what a new webhook gets first.
const PING: &str = "ping";

/// The form of records that a webhook of this version gets.
pub(super) fn api_version(version: Version) -> &'static str {
    match version {
        Version::One => "wp_api_v1",
        Version::Two => "wp_api_v2",
        Version::Three | Version::Analytics => "wp_api_v3",
    }
}

pub(super) fn namespace<'n>(names: &'n Names, api_version: &str) -> &'n str {
    match api_version {
        "wp_api_v1" => &names.commerce_v1,
        "wp_api_v2" => &names.commerce_v2,
        _ => &names.commerce_v3,
    }
}

/// The address, if something can be delivered there as far as the text tells.
pub(super) fn address(text: &str) -> Option<Url> {
    // Parsers of addresses pass over line breaks; who reads the text later would not.
    let is_plain = !text.chars().any(char::is_control);
    let url = Url::parse(text).ok().filter(|_| is_plain)?;
    (matches!(url.scheme(), "http" | "https") && url.host().is_some()).then_some(url)
}

fn aad(webhook_id: &str) -> Aad<'_> {
    Aad { kind: "webhook", id: webhook_id, column: "secret" }
}

pub(super) fn seal(vault: &Vault, webhook_id: i64, secret: &str) -> Result<Vec<u8>> {
    vault.site_seal(&aad(&webhook_id.to_string()), secret.as_bytes())
}

fn open(vault: &Vault, webhook: &WebhookRow) -> Result<Secret<Vec<u8>>> {
    vault.site_open(&aad(&webhook.webhook_id.to_string()), &webhook.secret_sealed)
}

/// What tells a new webhook that it is there.
pub(super) fn ping(webhook_id: i64, now: Timestamp) -> NewDelivery {
    NewDelivery {
        endpoint: webhook::endpoint(webhook_id),
        topic: PING.to_owned(),
        body: format!("webhook_id={webhook_id}").into_bytes(),
        details: json!({}).to_string(),
        due: now,
        created: now,
        ..NewDelivery::default()
    }
}

/// The fields of the request but for the signature.
pub(super) fn headers(source: &str, delivery: &DeliveryRow) -> Vec<(String, String)> {
    let Some(topic) = Topic::parse(&delivery.topic) else {
        let media_type = "application/x-www-form-urlencoded";
        return vec![(String::from("Content-Type"), media_type.to_owned())];
    };
    let delivery_id = delivery.delivery_id.to_string();
    [
        ("Content-Type", "application/json"),
        ("X-WC-Webhook-Source", source),
        ("X-WC-Webhook-Topic", topic.name),
        ("X-WC-Webhook-Resource", topic.resource),
        ("X-WC-Webhook-Event", topic.event),
        ("X-WC-Webhook-ID", &*delivery.endpoint.id),
        ("X-WC-Webhook-Delivery-ID", &*delivery_id),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .into()
}

/// The request of a delivery; nothing when the webhook does not want it any more.
pub fn request(site: &Site, conn: &mut dyn Conn, delivery: &DeliveryRow) -> Result<Option<Fetch>> {
    let webhook_id = delivery.endpoint.id.parse().unwrap_or_default();
    let webhook = webhook::get(conn, webhook_id)?;
    let Some(webhook) = webhook.filter(|webhook| webhook.status == ACTIVE) else {
        return Ok(None);
    };
    let Ok(url) = Url::parse(&webhook.delivery_url) else { return Ok(None) };
    let source = format!("{}/", site.own_address(&Options::read(conn)?));
    let mut headers = headers(&source, delivery);
    if delivery.topic != PING {
        let secret = open(site.vault(), &webhook)?;
        let signature = signing::hmac_sha256_base64(secret.expose(), &delivery.body)?;
        headers.push((String::from("X-WC-Webhook-Signature"), signature));
    }
    Ok(Some(Fetch {
        method: Method::Post,
        url,
        headers,
        body: delivery.body.clone(),
        max_bytes: ANSWER_BYTES_MAX,
        overlong: Overlong::Cut,
        timeout: TIMEOUT,
        max_redirects: 0,
    }))
}

/// Whether an answer with this status took the delivery.
pub fn is_taken(status: u16) -> bool {
    matches!(status, 200..=302)
}

/// Notes what came of an attempt. Returns whether to go on trying; a webhook that failed too often
/// in a row is disabled. A ping tells nothing about the webhook and is never repeated.
pub fn note(
    conn: &mut dyn Conn,
    delivery: &DeliveryRow,
    succeeded: bool,
    now: Timestamp,
) -> Result<bool> {
    if delivery.topic == PING {
        return Ok(false);
    }
    let webhook_id = delivery.endpoint.id.parse().unwrap_or_default();
    let Some(failures) = webhook::count_delivery(conn, webhook_id, succeeded)? else {
        return Ok(false);
    };
    if succeeded || failures < FAILURES_MAX {
        return Ok(true);
    }
    if let Some(mut webhook) = webhook::get(conn, webhook_id)? {
        DISABLED.clone_into(&mut webhook.status);
        webhook.modified = now;
        webhook::update(conn, &webhook)?;
        let payload = json!({}).to_string();
        outbox::append(conn, &Event::of_site("webhook.disabled", webhook_id, payload, now))?;
    }
    Ok(false)
}
