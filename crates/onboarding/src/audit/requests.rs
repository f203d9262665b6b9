//! The request log: `GET /v1/requests/{requestId}` tells what was asked and answered, redacted.
//!
//! Requests are recorded in memory and written in batches beside the work, every moment
//! ([`Platform::requests_flush`]): the log costs no request a transaction of its own, and **who
//! loses power loses the last moment of it**, which is why nothing of record is here. Of bodies,
//! only names of members, ids and codes are kept.

use std::time::Duration;

use contract::{Answer, Endpoint, Failure, Route};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use types::{Error, Result, Scope, Timestamp};

use crate::rows::request_log::{self, RequestRow};
use crate::{Cx, Platform};

/// Requests written, or forgotten, in one transaction.
const BATCH: usize = 2_000;

impl Platform {
    /// Records a request with its answer. Cheap; it is written later.
    pub fn request_record(&self, request: RequestRow) {
        if self.keeps_requests() {
            self.requests.record(request);
        }
    }

    /// Whether requests are kept at all.
    pub fn keeps_requests(&self) -> bool {
        self.settings.request_log_days > 0
    }

    /// Writes what was recorded.
    pub async fn requests_flush(&self) -> Result<()> {
        for part in self.requests.take().chunks(BATCH) {
            let part = part.to_vec();
            self.store.write(move |conn| request_log::insert(conn, &part)).await?;
        }
        Ok(())
    }

    /// Forgets requests of long ago. Returns how many; call it again until there are none.
    pub async fn requests_prune(&self) -> Result<u64> {
        let kept = Duration::from_hours(24 * u64::from(self.settings.request_log_days));
        let kept = i64::try_from(kept.as_micros()).unwrap_or(i64::MAX);
        let before = Timestamp::from_micros(self.clock.now().as_micros().saturating_sub(kept));
        let limit = i64::try_from(BATCH).unwrap_or(i64::MAX);
        self.store.write(move |conn| request_log::prune(conn, before, limit)).await
    }
}

/// Show a request and what was answered to it.
///
/// Every answer names its request in `X-Request-Id`. Bodies are redacted: only names of members,
/// ids and codes are kept.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RequestGet {
    /// Id of the request.
    request_id: String,
}

/// A request with its answer.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RequestView {
    /// Id of the request.
    request_id: String,
    /// When it came.
    time: String,
    /// Who sent it.
    actor: String,
    /// From which address.
    ip: Option<String>,
    /// Method of the request.
    method: String,
    /// Path of the request.
    path: String,
    /// Status of the answer.
    status: i64,
    /// How long the server worked, in milliseconds.
    duration_ms: i64,
    /// What was sent, redacted.
    request: Value,
    /// What was answered, redacted. Null when it was not kept: that of a GET that succeeded.
    response: Value,
}

impl Endpoint<Cx> for RequestGet {
    const ROUTE: Route = Route::get("/v1/requests/{requestId}").scope(Scope::AuditRead);
    type Reply = RequestView;

    async fn handle(self, cx: &Cx) -> std::result::Result<Answer<RequestView>, Failure> {
        let not_found = || Error::not_found("Not found.");
        let iso_id = cx.caller()?.iso_id().clone();
        let is_id = !self.request_id.is_empty()
            && self.request_id.bytes().all(|byte| byte.is_ascii_graphic());
        if !is_id {
            return Err(not_found().into());
        }
        // What the caller was told a moment ago is to be found.
        cx.platform.requests_flush().await?;
        let found =
            cx.platform.store.read(move |conn| request_log::get(conn, &iso_id, &self.request_id));
        let row = found.await?.ok_or_else(not_found)?;
        let body = |text: &str| serde_json::from_str(text).unwrap_or_default();
        Ok(Answer::new(RequestView {
            time: row.at.to_string(),
            actor: row.actor,
            ip: row.address,
            method: row.method,
            path: row.path,
            status: row.status,
            duration_ms: i64::try_from(row.duration.as_millis()).unwrap_or(i64::MAX),
            request: body(&row.request),
            response: body(&row.response),
            request_id: row.request_id,
        }))
    }
}
