//! The webhook catcher: an address of the sandbox that takes webhooks and shows what it got, for
//! those who have no receiver yet.
//!
//! The address is recognised by its path, whose end proves that it was given to that ISO.
//! **What is sent there never leaves the server**, so that it works wherever the sandbox runs.

use contract::{Answer, Endpoint, Failure, Route};
use frame::Options;
use frame::outbound::{Fetch, Fetched};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use subtle::ConstantTimeEq as _;
use types::{Environment, IsoId, Result, Scope, Timestamp};
use url::Url;

use crate::paging;
use crate::perform::perform;
use crate::rows::caught_webhook::{self, CaughtWebhook};
use crate::{Cx, Platform};

const ROOT: &str = "/v1/sandbox/catcher/";
/// Characters of the proof at the address's end.
const PROOF_LENGTH: usize = 32;
/// Bytes of a body that are kept.
const BODY_BYTES_MAX: usize = 64 * 1024;
/// Where the sandbox is if nobody knows its address.
const SOMEWHERE: &str = "http://localhost";

impl Platform {
    fn catcher_path(&self, iso_id: &IsoId) -> String {
        let hash = self.vault.site_hash("webhook catcher", iso_id.as_str(), "");
        let proof = data_encoding::HEXLOWER.encode(&hash);
        let proof = proof.get(..PROOF_LENGTH).unwrap_or_default();
        format!("{ROOT}{iso_id}/{proof}")
    }

    /// The ISO whose catcher the address is. Production has none.
    fn catcher_of(&self, url: &Url) -> Option<IsoId> {
        if self.environment != Environment::Sandbox {
            return None;
        }
        let (iso_id, _) = url.path().strip_prefix(ROOT)?.split_once('/')?;
        let iso_id = IsoId::new(iso_id);
        let own = self.catcher_path(&iso_id);
        let is_own: bool = own.as_bytes().ct_eq(url.path().as_bytes()).into();
        is_own.then_some(iso_id)
    }

    /// Whether webhooks to this address are taken by a catcher and never leave the server.
    pub fn catches(&self, url: &Url) -> bool {
        self.catcher_of(url).is_some()
    }

    /// Takes a request that is for a catcher, and answers it. None if it is for somebody else, as
    /// all are in production.
    pub async fn catch_webhook(&self, request: &Fetch, now: Timestamp) -> Result<Option<Fetched>> {
        let Some(iso_id) = self.catcher_of(&request.url) else { return Ok(None) };
        let requested = request.url.query_pairs().find(|(name, _)| name == "status");
        let requested = requested.and_then(|(_, value)| value.parse::<u16>().ok());
        let status = requested.filter(|status| (200..600).contains(status)).unwrap_or(200);
        let headers: Map<String, Value> = request
            .headers
            .iter()
            .map(|(name, value)| (name.to_ascii_lowercase(), Value::from(value.as_str())))
            .collect();
        let body = request.body.get(..BODY_BYTES_MAX).unwrap_or(&request.body);
        let caught = CaughtWebhook {
            iso_id,
            number: 0,
            at: now,
            headers: Value::Object(headers).to_string(),
            body: String::from_utf8_lossy(body).into_owned(),
            status: i64::from(status),
        };
        self.store.write(move |conn| caught_webhook::keep(conn, &caught)).await?;
        let final_url = request.url.clone();
        Ok(Some(Fetched { status, headers: Vec::new(), body: Vec::new(), final_url }))
    }
}

/// Something that the catcher got.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CaughtView {
    /// Number of it; each is larger than the one before.
    number: i64,
    /// When it came.
    time: String,
    /// The headers, by names in small letters.
    headers: Value,
    /// The body as it came.
    body: String,
    /// What the sender was answered.
    status: i64,
}

impl From<CaughtWebhook> for CaughtView {
    fn from(caught: CaughtWebhook) -> Self {
        Self {
            number: caught.number,
            time: caught.at.to_string(),
            headers: serde_json::from_str(&caught.headers).unwrap_or_default(),
            body: caught.body,
            status: caught.status,
        }
    }
}

/// Show what the webhook catcher got, the newest first, and its address. Sandbox only.
///
/// Make a webhook with the address as its `url`. With `?status=503` behind it the catcher answers
/// that. It keeps the last 1,000.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct CaughtList {
    /// Those with smaller numbers only.
    #[schemars(range(min = 1))]
    cursor: Option<i64>,
    /// How many.
    #[serde(default = "paging::page_default")]
    #[schemars(range(min = 1, max = 100))]
    limit: i64,
}

/// What the catcher got.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CaughtPage {
    /// The address of the catcher.
    url: String,
    /// What it got.
    data: Vec<CaughtView>,
    /// Send it as `cursor` to see those before; null when there are none.
    next_cursor: Option<i64>,
}

impl Endpoint<Cx> for CaughtList {
    const ROUTE: Route = Route::get("/v1/sandbox/webhooks").scope(Scope::WebhooksRead);
    type Reply = CaughtPage;

    async fn handle(self, cx: &Cx) -> std::result::Result<Answer<CaughtPage>, Failure> {
        let iso_id = cx.caller()?.iso_id().clone();
        let path = cx.platform.catcher_path(&iso_id);
        let (cursor, limit) = (self.cursor, self.limit);
        let site = cx.platform.site();
        let found = cx.platform.store.read(move |conn| {
            let home = match &site {
                Some(site) => site.address_for_emails(&Options::read(conn)?),
                None => SOMEWHERE.to_owned(),
            };
            Ok((home, caught_webhook::list(conn, &iso_id, cursor, limit + 1)?))
        });
        let (home, mut rows) = found.await?;
        let shown = usize::try_from(limit).unwrap_or(usize::MAX);
        let has_more = rows.len() > shown;
        rows.truncate(shown);
        let next_cursor = rows.last().filter(|_| has_more).map(|row| row.number);
        let data = rows.into_iter().map(CaughtView::from).collect();
        Ok(Answer::new(CaughtPage { url: format!("{home}{path}"), data, next_cursor }))
    }
}

/// Forget what the webhook catcher got. Sandbox only.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct CaughtClear {}

/// How much was forgotten.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Cleared {
    /// How many.
    cleared: u64,
}

impl Endpoint<Cx> for CaughtClear {
    const ROUTE: Route = Route::delete("/v1/sandbox/webhooks").scope(Scope::WebhooksWrite);
    type Reply = Cleared;

    async fn handle(self, cx: &Cx) -> std::result::Result<Answer<Cleared>, Failure> {
        let iso_id = cx.caller()?.iso_id().clone();
        perform(cx, move |conn| {
            let cleared = caught_webhook::clear(conn, &iso_id)?;
            Ok(Answer::new(Cleared { cleared }))
        })
        .await
    }
}
