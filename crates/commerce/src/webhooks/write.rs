//! Making and changing webhooks. A new one is told by a ping that it is there.

use std::borrow::Cow;

use contract::rest::{Refusal, Stop, clean};
use db::webhook_delivery;
use frame::Call;
use shop_rows::webhook::{self, WebhookRow};

use super::topics::Topic;
use super::{ACTIVE, STATUSES, send};
use crate::common::moments;
use crate::common::version::Version;

/// Characters of a name at most.
const NAME_LENGTH_MAX: usize = 200;
/// Characters of an address at most.
const URL_LENGTH_MAX: usize = 2_000;
/// Characters of a secret at most.
const SECRET_LENGTH_MAX: usize = 500;

pub(super) fn create(version: Version, call: &mut Call<'_>) -> Result<WebhookRow, Stop> {
    let now = call.now();
    let name = format!("Webhook of {}", frame::dates::written(moments::now(call)));
    let mut webhook = WebhookRow {
        name,
        status: ACTIVE.to_owned(),
        user_id: call.user_id(),
        api_version: send::api_version(version).to_owned(),
        created: now,
        modified: now,
        pending: true,
        ..WebhookRow::default()
    };
    apply(call, &mut webhook)?;
    if webhook.topic.is_empty() {
        return Err(invalid_topic());
    }
    set_url(call, &mut webhook)?;
    webhook.webhook_id = webhook::insert(call.conn()?, &webhook)?;
    // The secret is sealed for its place, so the place must be known first.
    let given = call.params.text("secret").filter(|secret| !secret.is_empty());
    let secret = match given {
        Some(given) => given.to_owned(),
        None => frame::auth::application_password::generate()?.expose().clone(),
    };
    set_secret(call, &mut webhook, &secret)?;
    webhook::update(call.conn()?, &webhook)?;
    if webhook.status == ACTIVE {
        webhook_delivery::enqueue(call.conn()?, &send::ping(webhook.webhook_id, now))?;
    }
    Ok(webhook)
}

/// Returns the webhook as it is afterwards.
pub(super) fn update(call: &mut Call<'_>, before: &WebhookRow) -> Result<WebhookRow, Stop> {
    let mut webhook = before.clone();
    apply(call, &mut webhook)?;
    if call.params.text("delivery_url").is_some_and(|url| !url.is_empty()) {
        set_url(call, &mut webhook)?;
    }
    let secret = call.params.text("secret").filter(|secret| !secret.is_empty());
    if let Some(secret) = secret.map(str::to_owned) {
        set_secret(call, &mut webhook, &secret)?;
    }
    if webhook.status == ACTIVE && before.status != ACTIVE {
        // Whoever starts it again has fixed what was broken.
        webhook.failure_count = 0;
    }
    if webhook != *before {
        webhook.modified = call.now();
        webhook::update(call.conn()?, &webhook)?;
    }
    Ok(webhook)
}

fn refused(what: &str, message: impl Into<Cow<'static, str>>) -> Stop {
    Refusal::new(400, format!("woocommerce_rest_shop_webhook_invalid_{what}"), message).into()
}

fn invalid_topic() -> Stop {
    refused("topic", "A topic is required, such as order.created.")
}

/// Name, status and topic, as far as the request has them.
fn apply(call: &Call<'_>, webhook: &mut WebhookRow) -> Result<(), Stop> {
    let given = |name: &str| call.params.text(name).filter(|text| !text.is_empty());
    if let Some(name) = given("name") {
        webhook.name = clean::text_field(name).chars().take(NAME_LENGTH_MAX).collect();
    }
    if let Some(status) = given("status") {
        if !STATUSES.contains(&status) {
            return Err(refused("status", "The status must be active, paused or disabled."));
        }
        status.clone_into(&mut webhook.status);
    }
    if let Some(topic) = given("topic") {
        let topic = Topic::parse(topic).ok_or_else(invalid_topic)?;
        topic.name.clone_into(&mut webhook.topic);
    }
    Ok(())
}

fn set_url(call: &Call<'_>, webhook: &mut WebhookRow) -> Result<(), Stop> {
    let url = call.params.text("delivery_url").unwrap_or_default().trim();
    let parsed = send::address(url).filter(|_| url.chars().count() <= URL_LENGTH_MAX);
    let Some(parsed) = parsed else {
        let message = "The delivery URL must start with http:// or https://.";
        return Err(refused("delivery_url", message));
    };
    // Who is told now need not wonder for days why nothing arrives.
    call.site.may_ever_deliver(&parsed).map_err(|refusal| {
        let rule = format!("Webhooks cannot be delivered to this URL: {refusal}.");
        refused("delivery_url", rule)
    })?;
    url.clone_into(&mut webhook.delivery_url);
    Ok(())
}

fn set_secret(call: &Call<'_>, webhook: &mut WebhookRow, secret: &str) -> Result<(), Stop> {
    if secret.chars().count() > SECRET_LENGTH_MAX {
        return Err(refused("secret", "A secret must have at most 500 characters."));
    }
    webhook.secret_sealed = send::seal(call.site.vault(), webhook.webhook_id, secret)?;
    Ok(())
}
