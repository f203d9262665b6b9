//! `/v1/webhooks`: making, showing, changing and removing webhooks, and rotating their secrets.

use std::time::Duration;

use contract::{Answer, Draft, Endpoint, Failure, IssueKind, Route};
use db::Conn;
use db::webhook_delivery;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use types::{Environment, Error, IsoId, Result, Scope, Secret};
use url::Url;
use vault::DataKey;

use super::{MASKED, SealedHeader, WEBHOOKS_MAX};
use crate::audit::{self, Entry};
use crate::codes::refusal;
use crate::fields::{
    EventPattern, HeaderName, HeaderText, Line, WebhookOptional, WebhookStatus, WebhookUrl,
};
use crate::id_source::random_text;
use crate::perform::{Outcome, perform, perform_once_shown};
use crate::rows::webhook_endpoint::{self, EndpointStatus, WebhookEndpointRow};
use crate::{Code, Cx, Platform, text};

/// Fields that are ours or the connection's, and so not for the ISO to set.
const RESERVED_HEADERS: &[&str] = &[
    "accept-encoding",
    "connection",
    "content-length",
    "content-type",
    "host",
    "transfer-encoding",
    "webhook-id",
    "webhook-signature",
    "webhook-timestamp",
];

/// A header field that goes along with every request.
#[derive(Debug, Deserialize, JsonSchema)]
struct HeaderChoice {
    name: HeaderName,
    value: HeaderText,
}

/// A header field, without its value.
#[derive(Debug, Serialize, JsonSchema)]
struct HeaderView {
    /// Name of the field.
    name: String,
    /// Always `***`.
    value: &'static str,
}

/// A webhook.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WebhookView {
    /// Id of the webhook.
    webhook_id: String,
    /// Where events are sent.
    url: String,
    /// What it is for.
    description: Option<String>,
    /// Kinds of events that are sent.
    events: Vec<String>,
    /// Header fields that go along; values are not shown.
    headers: Vec<HeaderView>,
    /// `enabled` or `disabled`.
    status: &'static str,
    /// Why it is disabled.
    disabled_reason: Option<String>,
    /// Grows by one with every change.
    version: i64,
    /// Since when nothing has been taken.
    failing_since: Option<String>,
    /// When something was taken last.
    last_success: Option<String>,
    /// Until when the secret before the last rotation signs as well.
    old_secret_until: Option<String>,
    /// When it was created.
    created: String,
    /// When it was changed last.
    updated: String,
}

/// A webhook with its secret.
#[derive(Debug, Serialize, JsonSchema)]
pub struct WebhookWithSecret {
    #[serde(flatten)]
    webhook: WebhookView,
    /// Signs the requests. Shown only now; a repetition of the request gets null.
    secret: Option<String>,
}

pub(super) fn no_such_webhook() -> Error {
    Error::not_found("Not found.")
}

/// The ISO's webhook of that id. What is no id at all is not looked up.
pub(super) fn load(
    conn: &mut dyn Conn,
    iso_id: &IsoId,
    webhook_id: &str,
) -> Result<WebhookEndpointRow> {
    let is_id = !webhook_id.is_empty() && webhook_id.bytes().all(|byte| byte.is_ascii_graphic());
    let found = if is_id { webhook_endpoint::get(conn, iso_id, webhook_id)? } else { None };
    found.ok_or_else(no_such_webhook)
}

fn view(data_key: &DataKey, row: &WebhookEndpointRow) -> Result<WebhookView> {
    let headers = super::open_headers(data_key, row)?.into_iter();
    let shown = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
    Ok(WebhookView {
        webhook_id: row.webhook_id.clone(),
        url: row.url.clone(),
        description: shown(&row.description),
        events: super::patterns_of(row)?,
        headers: headers.map(|h| HeaderView { name: h.name, value: MASKED }).collect(),
        status: row.status.as_str(),
        disabled_reason: shown(&row.disabled_reason),
        version: row.version,
        failing_since: row.failing_since.map(|time| time.to_string()),
        last_success: row.last_success.map(|time| time.to_string()),
        old_secret_until: row.old_secret.as_ref().map(|(_, until)| until.to_string()),
        created: row.created.to_string(),
        updated: row.updated.to_string(),
    })
}

fn sealed_headers(choices: &[HeaderChoice]) -> Vec<SealedHeader> {
    let sealed = |choice: &HeaderChoice| SealedHeader {
        name: choice.name.as_str().to_ascii_lowercase(),
        value: choice.value.secret().expose().clone(),
    };
    choices.iter().map(sealed).collect()
}

fn patterns_json(patterns: &[EventPattern]) -> String {
    patterns.iter().map(EventPattern::as_str).collect::<Value>().to_string()
}

/// What a schema cannot say about an address and header fields.
fn check_choices(draft: &mut Draft<'_>, platform: &Platform) {
    let url = draft.params.get("url").and_then(Value::as_str);
    if let Some(message) = url.and_then(|url| undeliverable(platform, url)) {
        draft.issues.add("url", IssueKind::rule(Code::InvalidFormat.name(), message));
    }
    let headers = draft.params.get("headers").and_then(Value::as_array);
    for (index, header) in headers.into_iter().flatten().enumerate() {
        let name = header.get("name").and_then(Value::as_str).unwrap_or_default();
        if RESERVED_HEADERS.iter().any(|reserved| reserved.eq_ignore_ascii_case(name)) {
            let message = "This field cannot be set.";
            let path = format!("headers[{index}].name");
            draft.issues.add(path, IssueKind::rule(Code::InvalidValue.name(), message));
        }
    }
}

/// Why nothing would ever be delivered to an address, as far as the address tells. Names are looked
/// up when something is delivered.
fn undeliverable(platform: &Platform, url: &str) -> Option<String> {
    let is_public = || url.starts_with("https:") && text::is_logo_url(url);
    if platform.environment == Environment::Production && !is_public() {
        return Some(String::from("Use an https URL of a public host."));
    }
    let (site, url) = (platform.site()?, Url::parse(url).ok()?);
    let refusal = site.may_ever_deliver(&url).err()?;
    Some(format!("Webhooks cannot be delivered to this URL: {refusal}."))
}

/// Create a webhook.
///
/// The answer holds the secret that signs the requests. It is not shown again.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct WebhookCreate {
    url: WebhookUrl,
    /// What it is for.
    description: Option<Line>,
    /// Kinds of events to send, such as `merchant.created` or `tpn.*`. Absent: all.
    #[schemars(length(min = 1, max = 50))]
    events: Option<Vec<EventPattern>>,
    /// Header fields that go along with every request. Their values are not shown again.
    #[schemars(length(max = 10))]
    headers: Option<Vec<HeaderChoice>>,
}

impl Endpoint<Cx> for WebhookCreate {
    const ROUTE: Route = Route::post("/v1/webhooks").scope(Scope::WebhooksWrite);
    type Reply = WebhookWithSecret;

    async fn check(draft: &mut Draft<'_>, cx: &Cx) -> Result<()> {
        check_choices(draft, &cx.platform);
        Ok(())
    }

    async fn handle(self, cx: &Cx) -> std::result::Result<Answer<Self::Reply>, Failure> {
        let caller = cx.caller()?.clone();
        let webhook_id = format!("whk_{}", random_text(16)?);
        let (secret, secret_sealed) = super::new_secret(caller.data_key(), &webhook_id)?;
        let headers = sealed_headers(&self.headers.unwrap_or_default());
        let events = self.events.map_or_else(|| String::from(r#"["*"]"#), |e| patterns_json(&e));
        let row = WebhookEndpointRow {
            iso_id: caller.iso_id().clone(),
            url: self.url.into_string(),
            description: self.description.map(Line::into_string).unwrap_or_default(),
            events,
            headers_sealed: super::seal_headers(caller.data_key(), &webhook_id, &headers)?,
            webhook_id,
            secret_sealed,
            old_secret: None,
            status: EndpointStatus::Enabled,
            disabled_reason: String::new(),
            version: 1,
            failing_since: None,
            last_success: None,
            created: cx.now,
            updated: cx.now,
        };
        let entry = cx.entry("webhook.create", "webhook", &*row.webhook_id)?;
        let entry = entry.versions(None, Some(1)).changed("events", (), &*row.events);
        perform_once_shown(cx, &["secret"], move |conn| {
            if webhook_endpoint::list(conn, &row.iso_id)?.len() >= WEBHOOKS_MAX {
                let message = format!("There are already {WEBHOOKS_MAX} webhooks; delete one.");
                return Err(refusal("", Code::LimitExceeded, message));
            }
            webhook_endpoint::insert(conn, &row)?;
            audit::append(conn, &entry)?;
            let webhook = view(caller.data_key(), &row)?;
            Ok(with_secret(webhook, &secret))
        })
        .await
    }
}

fn with_secret(webhook: WebhookView, secret: &Secret<String>) -> Answer<WebhookWithSecret> {
    Answer::new(WebhookWithSecret { webhook, secret: Some(secret.expose().clone()) })
}

/// List the webhooks.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct WebhookList {}

/// All webhooks of the ISO.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Webhooks {
    /// The webhooks, the oldest first.
    data: Vec<WebhookView>,
}

impl Endpoint<Cx> for WebhookList {
    const ROUTE: Route = Route::get("/v1/webhooks").scope(Scope::WebhooksRead);
    type Reply = Webhooks;

    async fn handle(self, cx: &Cx) -> std::result::Result<Answer<Webhooks>, Failure> {
        let caller = cx.caller()?;
        let iso_id = caller.iso_id().clone();
        let rows = cx.platform.store.read(move |conn| webhook_endpoint::list(conn, &iso_id));
        let rows = rows.await?;
        let data = rows.iter().map(|row| view(caller.data_key(), row)).collect::<Result<_>>()?;
        Ok(Answer::new(Webhooks { data }))
    }
}

/// Show a webhook.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WebhookGet {
    /// Id of the webhook.
    webhook_id: String,
}

impl Endpoint<Cx> for WebhookGet {
    const ROUTE: Route = Route::get("/v1/webhooks/{webhookId}").scope(Scope::WebhooksRead);
    type Reply = WebhookView;

    async fn handle(self, cx: &Cx) -> std::result::Result<Answer<WebhookView>, Failure> {
        let caller = cx.caller()?;
        let iso_id = caller.iso_id().clone();
        let row = cx.platform.store.read(move |conn| load(conn, &iso_id, &self.webhook_id));
        Ok(Answer::new(view(caller.data_key(), &row.await?)?))
    }
}

/// Change a webhook. What is absent stays as it is.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WebhookUpdate {
    /// Id of the webhook.
    webhook_id: String,
    url: Option<WebhookUrl>,
    /// What it is for.
    description: Option<Line>,
    /// Kinds of events to send.
    #[schemars(length(min = 1, max = 50))]
    events: Option<Vec<EventPattern>>,
    /// Header fields that go along with every request, all of them.
    #[schemars(length(max = 10))]
    headers: Option<Vec<HeaderChoice>>,
    status: Option<WebhookStatus>,
    /// Optional fields to empty.
    #[serde(default)]
    #[schemars(length(max = 20))]
    clear: Vec<WebhookOptional>,
    /// The version that the change is based on. Absent: whichever there is.
    #[schemars(range(min = 1))]
    expected_version: Option<i64>,
}

impl Endpoint<Cx> for WebhookUpdate {
    const ROUTE: Route = Route::patch("/v1/webhooks/{webhookId}").scope(Scope::WebhooksWrite);
    type Reply = WebhookView;

    async fn check(draft: &mut Draft<'_>, cx: &Cx) -> Result<()> {
        check_choices(draft, &cx.platform);
        Ok(())
    }

    async fn handle(self, cx: &Cx) -> std::result::Result<Answer<WebhookView>, Failure> {
        let (caller, now) = (cx.caller()?.clone(), cx.now);
        let entry = cx.entry("webhook.update", "webhook", &*self.webhook_id)?;
        perform(cx, move |conn| {
            let before = load(conn, caller.iso_id(), &self.webhook_id)?;
            self.check_version(&before)?;
            let (after, mut entry) = self.applied(&before, caller.data_key(), entry.clone())?;
            let after = WebhookEndpointRow { version: before.version + 1, updated: now, ..after };
            webhook_endpoint::update(conn, &after)?;
            entry = entry.versions(Some(before.version), Some(after.version));
            audit::append(conn, &entry)?;
            Ok(Answer::new(view(caller.data_key(), &after)?))
        })
        .await
    }
}

impl WebhookUpdate {
    fn check_version(&self, row: &WebhookEndpointRow) -> Outcome<()> {
        if self.expected_version.is_none_or(|expected| expected == row.version) {
            return Ok(());
        }
        let message =
            format!("The object was changed: its version is now {}. Read it again.", row.version);
        Err(refusal("expectedVersion", Code::ConflictingField, message))
    }

    fn clears(&self, name: &str) -> bool {
        self.clear.iter().any(|cleared| cleared.as_str() == name)
    }

    fn applied(
        &self,
        before: &WebhookEndpointRow,
        data_key: &DataKey,
        mut entry: Entry,
    ) -> Result<(WebhookEndpointRow, Entry)> {
        let mut after = before.clone();
        if let Some(url) = &self.url {
            url.as_str().clone_into(&mut after.url);
            // An address may hold a token of its owner.
            entry = entry.changed_unseen("url");
        }
        if self.description.is_some() || self.clears("description") {
            let description = self.description.as_ref().map_or("", Line::as_str);
            description.clone_into(&mut after.description);
            entry = entry.changed_unseen("description");
        }
        if let Some(events) = &self.events {
            after.events = patterns_json(events);
            entry = entry.changed("events", &*before.events, &*after.events);
        }
        if self.headers.is_some() || self.clears("headers") {
            let headers = sealed_headers(self.headers.as_deref().unwrap_or_default());
            after.headers_sealed = super::seal_headers(data_key, &before.webhook_id, &headers)?;
            entry = entry.changed_unseen("headers");
        }
        let status = self.status.as_ref();
        if let Some(status) = status.and_then(|s| EndpointStatus::from_name(s.as_str())) {
            after.status = status;
            after.disabled_reason.clear();
            // It gets its full time again.
            after.failing_since = None;
            entry = entry.changed("status", before.status.as_str(), status.as_str());
        }
        Ok((after, entry))
    }
}

/// Delete a webhook, with what waits to be sent to it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WebhookDelete {
    /// Id of the webhook.
    webhook_id: String,
}

/// A webhook that is gone.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WebhookDeleted {
    /// Id of the webhook.
    webhook_id: String,
    /// Always true.
    deleted: bool,
}

impl Endpoint<Cx> for WebhookDelete {
    const ROUTE: Route = Route::delete("/v1/webhooks/{webhookId}").scope(Scope::WebhooksWrite);
    type Reply = WebhookDeleted;

    async fn handle(self, cx: &Cx) -> std::result::Result<Answer<WebhookDeleted>, Failure> {
        let iso_id = cx.caller()?.iso_id().clone();
        let entry = cx.entry("webhook.delete", "webhook", &*self.webhook_id)?;
        perform(cx, move |conn| {
            let row = load(conn, &iso_id, &self.webhook_id)?;
            webhook_endpoint::delete(conn, &iso_id, &row.webhook_id)?;
            let endpoint = webhook_endpoint::endpoint(&iso_id, &row.webhook_id);
            webhook_delivery::forget(conn, &endpoint)?;
            audit::append(conn, &entry.clone().versions(Some(row.version), None))?;
            Ok(Answer::new(WebhookDeleted { webhook_id: row.webhook_id, deleted: true }))
        })
        .await
    }
}

/// Give a webhook a new secret.
///
/// Until the overlap ends, requests carry the signatures of both secrets, so that receivers can
/// change over one after the other.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WebhookRotate {
    /// Id of the webhook.
    webhook_id: String,
    /// Hours for which the old secret signs as well.
    #[serde(default = "overlap_default")]
    #[schemars(range(min = 0, max = 24))]
    overlap_hours: i64,
}

const fn overlap_default() -> i64 {
    24
}

impl Endpoint<Cx> for WebhookRotate {
    const ROUTE: Route = Route::post("/v1/webhooks/{webhookId}/rotate").scope(Scope::WebhooksWrite);
    type Reply = WebhookWithSecret;

    async fn handle(self, cx: &Cx) -> std::result::Result<Answer<Self::Reply>, Failure> {
        let (caller, now) = (cx.caller()?.clone(), cx.now);
        let entry = cx.entry("webhook.rotate", "webhook", &*self.webhook_id)?;
        let overlap = Duration::from_hours(u64::try_from(self.overlap_hours).unwrap_or(0));
        perform_once_shown(cx, &["secret"], move |conn| {
            let before = load(conn, caller.iso_id(), &self.webhook_id)?;
            let (secret, sealed) = super::new_secret(caller.data_key(), &before.webhook_id)?;
            let old = (before.secret_sealed.clone(), now.plus(overlap));
            let after = WebhookEndpointRow {
                secret_sealed: sealed,
                old_secret: Some(old).filter(|(_, until)| *until > now),
                version: before.version + 1,
                updated: now,
                ..before.clone()
            };
            webhook_endpoint::update(conn, &after)?;
            let entry = entry.clone().changed_unseen("secret");
            audit::append(conn, &entry.versions(Some(before.version), Some(after.version)))?;
            Ok(with_secret(view(caller.data_key(), &after)?, &secret))
        })
        .await
    }
}
