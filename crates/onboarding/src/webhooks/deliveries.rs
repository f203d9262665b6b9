//! `/v1/webhooks/{webhookId}/…`: what was sent and what came of it, and sending again.

use contract::{Answer, Endpoint, Failure, Route};
use db::Conn;
use db::outbox::{self, IsoEvents};
use db::webhook_delivery::{self, AttemptRow, DeliveryRow, DeliveryState, NewDelivery};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use types::{Result, Scope, Timestamp};
use vault::Vault;

use super::follow::{delivery, kinds_of};
use super::manage::{load, no_such_webhook};
use super::send::TEST;
use crate::Cx;
use crate::audit;
use crate::fields::{DeliveryStatus, Moment};
use crate::id_source::random_text;
use crate::paging::{self, Page};
use crate::perform::{Outcome, perform};
use crate::rows::webhook_endpoint;
use crate::webhooks::events::EventView;

/// Events that one recovery looks at.
const RECOVERED_MAX: i64 = 1_000;

/// Something that was sent, or is to be.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeliveryView {
    /// Id of the delivery.
    delivery_id: String,
    /// Id of the event: what `webhook-id` says.
    event_id: String,
    /// Kind of the event.
    event_type: String,
    /// `waiting`, `delivered` or `failed`.
    status: &'static str,
    /// How often it was sent.
    attempts: i64,
    /// Status of the last answer; null when there was none.
    response_status: Option<i64>,
    /// When it is to be sent, at the earliest; null when that is over.
    next_attempt: Option<String>,
    /// When it was made.
    created: String,
    /// When it was delivered or given up.
    finished: Option<String>,
}

impl From<&DeliveryRow> for DeliveryView {
    fn from(row: &DeliveryRow) -> Self {
        let is_waiting = row.state == DeliveryState::Waiting;
        Self {
            delivery_id: row.delivery_id.to_string(),
            event_id: row.message_id.clone(),
            event_type: row.topic.clone(),
            status: row.state.as_str(),
            attempts: row.attempt,
            response_status: row.answer.status,
            next_attempt: is_waiting.then(|| row.due.to_string()),
            created: row.created.to_string(),
            finished: row.finished.map(|time| time.to_string()),
        }
    }
}

/// An attempt at a delivery.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct AttemptView {
    /// Counts from 1.
    attempt: i64,
    /// When it had ended.
    time: String,
    /// Status of the answer; null when there was none.
    response_status: Option<i64>,
    /// The beginning of the answer, or why there was none.
    response_body: String,
    /// How long it took.
    duration_ms: Option<i64>,
}

impl From<AttemptRow> for AttemptView {
    fn from(row: AttemptRow) -> Self {
        let millis =
            |time: std::time::Duration| i64::try_from(time.as_millis()).unwrap_or(i64::MAX);
        Self {
            attempt: row.attempt,
            time: row.at.to_string(),
            response_status: row.answer.status,
            response_body: row.answer.body,
            duration_ms: row.answer.duration.map(millis),
        }
    }
}

/// List what was sent to a webhook, the newest first.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeliveryList {
    /// Id of the webhook.
    webhook_id: String,
    status: Option<DeliveryStatus>,
    /// What `nextCursor` of the page before said.
    #[schemars(range(min = 1))]
    cursor: Option<i64>,
    /// How many deliveries.
    #[serde(default = "paging::page_default")]
    #[schemars(range(min = 1, max = 100))]
    limit: i64,
}

impl Endpoint<Cx> for DeliveryList {
    const ROUTE: Route =
        Route::get("/v1/webhooks/{webhookId}/deliveries").scope(Scope::WebhooksRead);
    type Reply = Page<DeliveryView>;

    async fn handle(self, cx: &Cx) -> std::result::Result<Answer<Self::Reply>, Failure> {
        let (iso_id, limit) = (cx.caller()?.iso_id().clone(), self.limit);
        let state = self.status.as_ref().and_then(|s| DeliveryState::from_name(s.as_str()));
        let states: Vec<DeliveryState> = state.into_iter().collect();
        let (webhook_id, cursor) = (self.webhook_id, self.cursor);
        let rows = cx.platform.store.list(move |conn| {
            let row = load(conn, &iso_id, &webhook_id)?;
            let to = webhook_endpoint::endpoint(&iso_id, &row.webhook_id);
            webhook_delivery::list_before(conn, &to, &states, cursor, limit + 1)
        });
        let rows = rows.await?;
        let found = rows.iter().map(|row| (row.delivery_id.to_string(), DeliveryView::from(row)));
        Ok(Answer::new(Page::of(found.collect(), limit)))
    }
}

/// Show a delivery with all attempts at it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeliveryGet {
    /// Id of the webhook.
    webhook_id: String,
    /// Id of the delivery.
    delivery_id: String,
}

/// A delivery with all attempts at it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DeliveryWithAttempts {
    #[serde(flatten)]
    delivery: DeliveryView,
    /// What was sent.
    body: Value,
    /// The attempts, the first one first.
    history: Vec<AttemptView>,
}

/// The delivery of that id to the ISO's webhook.
fn load_delivery(
    conn: &mut dyn Conn,
    iso_id: &types::IsoId,
    webhook_id: &str,
    delivery_id: &str,
) -> Result<DeliveryRow> {
    let row = load(conn, iso_id, webhook_id)?;
    let to = webhook_endpoint::endpoint(iso_id, &row.webhook_id);
    let found = match delivery_id.parse() {
        Ok(delivery_id) => webhook_delivery::get(conn, delivery_id)?,
        Err(_) => None,
    };
    found.filter(|delivery| delivery.endpoint == to).ok_or_else(no_such_webhook)
}

impl Endpoint<Cx> for DeliveryGet {
    const ROUTE: Route =
        Route::get("/v1/webhooks/{webhookId}/deliveries/{deliveryId}").scope(Scope::WebhooksRead);
    type Reply = DeliveryWithAttempts;

    async fn handle(self, cx: &Cx) -> std::result::Result<Answer<Self::Reply>, Failure> {
        let iso_id = cx.caller()?.iso_id().clone();
        let found = cx.platform.store.read(move |conn| {
            let row = load_delivery(conn, &iso_id, &self.webhook_id, &self.delivery_id)?;
            let attempts = webhook_delivery::attempts(conn, row.delivery_id)?;
            Ok((row, attempts))
        });
        let (row, attempts) = found.await?;
        Ok(Answer::new(DeliveryWithAttempts {
            delivery: DeliveryView::from(&row),
            body: serde_json::from_slice(&row.body).unwrap_or_default(),
            history: attempts.into_iter().map(AttemptView::from).collect(),
        }))
    }
}

/// Something that was put in line to be sent.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Enqueued {
    /// Id of the delivery.
    delivery_id: String,
}

/// Send a delivery again, whatever became of it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeliveryResend {
    /// Id of the webhook.
    webhook_id: String,
    /// Id of the delivery.
    delivery_id: String,
}

impl Endpoint<Cx> for DeliveryResend {
    const ROUTE: Route = Route::post("/v1/webhooks/{webhookId}/deliveries/{deliveryId}/resend")
        .scope(Scope::WebhooksWrite);
    type Reply = Enqueued;

    async fn handle(self, cx: &Cx) -> std::result::Result<Answer<Enqueued>, Failure> {
        let (iso_id, now) = (cx.caller()?.iso_id().clone(), cx.now);
        let entry = cx.entry("webhook.resend", "webhook", &*self.webhook_id)?;
        perform(cx, move |conn| {
            let row = load_delivery(conn, &iso_id, &self.webhook_id, &self.delivery_id)?;
            audit::append(conn, &entry.clone().related(&row.message_id))?;
            let again = NewDelivery {
                endpoint: row.endpoint,
                lane: row.lane,
                message_id: row.message_id,
                topic: row.topic,
                body: row.body,
                details: row.details,
                due: now,
                created: now,
            };
            enqueued(conn, &again)
        })
        .await
    }
}

fn enqueued(conn: &mut dyn Conn, delivery: &NewDelivery) -> Outcome<Answer<Enqueued>> {
    let delivery_id = webhook_delivery::enqueue(conn, delivery)?.to_string();
    Ok(Answer::new(Enqueued { delivery_id }))
}

/// Send a test event to a webhook.
///
/// It is sent once, and also to a webhook that is disabled. The delivery tells what came of it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WebhookTest {
    /// Id of the webhook.
    webhook_id: String,
}

impl Endpoint<Cx> for WebhookTest {
    const ROUTE: Route = Route::post("/v1/webhooks/{webhookId}/test").scope(Scope::WebhooksWrite);
    type Reply = Enqueued;

    async fn handle(self, cx: &Cx) -> std::result::Result<Answer<Enqueued>, Failure> {
        let (iso_id, now) = (cx.caller()?.iso_id().clone(), cx.now);
        let environment = cx.platform.environment.name();
        let message_id = format!("evt_test_{}", random_text(16)?);
        perform(cx, move |conn| {
            let row = load(conn, &iso_id, &self.webhook_id)?;
            let body = json!({
                "type": TEST, "timestamp": now.to_string(), "id": message_id, "sequence": 0,
                "environment": environment,
                "data": { "object": "webhook", "id": row.webhook_id, "version": row.version },
            });
            let test = NewDelivery {
                endpoint: webhook_endpoint::endpoint(&iso_id, &row.webhook_id),
                // A lane of its own: it waits for nothing, and nothing waits for it.
                lane: message_id.clone(),
                message_id: message_id.clone(),
                topic: TEST.to_owned(),
                body: body.to_string().into_bytes(),
                details: String::from("{}"),
                due: now,
                created: now,
            };
            enqueued(conn, &test)
        })
        .await
    }
}

/// Send what a webhook missed.
///
/// Every event since the moment that was not delivered and does not wait is sent again, also what
/// happened while the webhook was disabled. One call looks at 1,000 events; go on with `after` from
/// `next` until that is null.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WebhookRecover {
    /// Id of the webhook.
    webhook_id: String,
    /// Events of this moment or later.
    since: Moment,
    /// Number of the event after which to start.
    #[serde(default)]
    #[schemars(range(min = 0))]
    after: i64,
}

/// What a recovery put in line.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Recovered {
    /// How many events are sent again.
    enqueued: i64,
    /// What to send as `after` to go on; null at the end.
    next: Option<i64>,
}

impl Endpoint<Cx> for WebhookRecover {
    const ROUTE: Route =
        Route::post("/v1/webhooks/{webhookId}/recover").scope(Scope::WebhooksWrite);
    type Reply = Recovered;

    async fn handle(self, cx: &Cx) -> std::result::Result<Answer<Recovered>, Failure> {
        let iso_id = cx.caller()?.iso_id().clone();
        let since = self.since.time().unwrap_or_default();
        let entry = cx.entry("webhook.recover", "webhook", &*self.webhook_id)?;
        let entry = entry.changed("since", (), since.to_string());
        let (vault, now) = (std::sync::Arc::clone(&cx.platform.vault), cx.now);
        perform(cx, move |conn| {
            let row = load(conn, &iso_id, &self.webhook_id)?;
            let from = Missed { iso_id: &iso_id, since, after: self.after };
            let recovered = recover(conn, &vault, &row, &from, now)?;
            audit::append(conn, &entry)?;
            Ok(Answer::new(recovered))
        })
        .await
    }
}

/// Which events a recovery looks at.
struct Missed<'a> {
    iso_id: &'a types::IsoId,
    since: Timestamp,
    after: i64,
}

fn recover(
    conn: &mut dyn Conn,
    vault: &Vault,
    row: &webhook_endpoint::WebhookEndpointRow,
    from: &Missed<'_>,
    now: Timestamp,
) -> Result<Recovered> {
    let to = webhook_endpoint::endpoint(from.iso_id, &row.webhook_id);
    let kinds = kinds_of(row)?;
    let filter = IsoEvents {
        iso_id: from.iso_id.clone(),
        after: from.after,
        since: Some(from.since),
        kinds: Vec::new(),
        groups: Vec::new(),
    };
    let events = outbox::of_iso(conn, &filter, RECOVERED_MAX)?;
    let mut enqueued = 0;
    for event in events.iter().filter(|event| kinds.has(&event.kind)) {
        let message = EventView::new(vault, event)?;
        if !webhook_delivery::is_known(conn, &to, message.id())? {
            webhook_delivery::enqueue(conn, &delivery(vault, &to, event, now)?)?;
            enqueued += 1;
        }
    }
    let is_full = i64::try_from(events.len()).unwrap_or(i64::MAX) >= RECOVERED_MAX;
    let next = events.last().and_then(|event| event.iso_seq).filter(|_| is_full);
    Ok(Recovered { enqueued, next })
}
