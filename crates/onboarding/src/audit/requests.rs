//! The request log: `GET /v1/requests/{requestId}` tells what was asked and answered, redacted.
//!
//! Requests are noted in memory and written in batches beside the work, every moment
//! ([`Platform::requests_flush`]): the log costs no request a transaction of its own, and **who
//! loses power loses the last moment of it**, which is why nothing of record is here. Of bodies,
//! only names of members, ids and codes are kept.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use contract::{Answer, Endpoint, Failure, Route};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use store::request_log::{self, RequestRow};
use types::{Error, Result, Scope, Timestamp};

use crate::{Cx, Platform};

/// Requests noted and not yet written at most; more are not kept.
const NOTED_MAX: usize = 8_192;
/// Requests written, or forgotten, in one transaction.
const BATCH: usize = 2_000;
/// Bytes of a redacted body that are kept.
const BODY_BYTES_MAX: usize = 8 * 1024;
/// Stands for a value that is not kept.
const MASKED: &str = "***";

/// Members whose values say nothing about a person and open nothing.
const KEPT_MEMBERS: &[&str] = &[
    "code",
    "cursor",
    "deliveryId",
    "events",
    "eventId",
    "expectedVersion",
    "isoId",
    "keyId",
    "limit",
    "merchantId",
    "message",
    "param",
    "processorName",
    "profileId",
    "scopes",
    "sequence",
    "status",
    "storeId",
    "templateId",
    "tpn",
    "version",
    "webhookId",
];

/// What was noted lately.
#[derive(Debug, Default)]
pub(crate) struct RequestLog {
    noted: Mutex<Vec<RequestRow>>,
}

/// A body with everything masked but for names, ids and codes. Empty when it is too long.
pub fn redacted(body: &Value) -> String {
    let mut text = mask(body, false).to_string();
    if text.len() > BODY_BYTES_MAX {
        text.clear();
    }
    text
}

fn mask(value: &Value, is_kept: bool) -> Value {
    match value {
        Value::Object(members) => {
            let masked = members.iter().map(|(name, member)| {
                (name.clone(), mask(member, KEPT_MEMBERS.contains(&name.as_str())))
            });
            Value::Object(masked.collect())
        }
        Value::Array(items) => items.iter().map(|item| mask(item, is_kept)).collect(),
        Value::Null | Value::Bool(_) => value.clone(),
        _ if is_kept && !looks_like_card_data(value) => value.clone(),
        _ => Value::from(MASKED),
    }
}

/// A caller may put anything anywhere.
fn looks_like_card_data(value: &Value) -> bool {
    value.as_str().is_some_and(crate::card_guard::looks_like_card_data)
}

impl Platform {
    /// Notes a request with its answer. Cheap; it is written later.
    pub fn request_note(&self, request: RequestRow) {
        if self.settings.request_log_days == 0 {
            return;
        }
        let mut noted = self.requests.noted.lock().unwrap_or_else(PoisonError::into_inner);
        if noted.len() < NOTED_MAX {
            noted.push(request);
        }
    }

    /// Whether requests are kept at all.
    pub fn keeps_requests(&self) -> bool {
        self.settings.request_log_days > 0
    }

    /// Writes what was noted.
    pub async fn requests_flush(&self) -> Result<()> {
        let noted = {
            let mut noted = self.requests.noted.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::take(&mut *noted)
        };
        for part in noted.chunks(BATCH) {
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
        let not_found = || Error::not_found("There is no such object.");
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_names_ids_and_codes_are_kept() {
        let body = json!({
            "merchantData": { "merchantId": "W0FVRY9CFY7E", "email": "maria@harbor.example" },
            "tpnData": { "tpnProcessor": { "processorName": "CKNX", "profile": [
                { "profileId": "01", "apiKey": "very secret", "n": 5, "b": true, "z": null },
            ] } },
            "tpn": "4111111111111111", "scopes": ["events.read"],
        });
        let expected = json!({
            "merchantData": { "merchantId": "W0FVRY9CFY7E", "email": "***" },
            "tpnData": { "tpnProcessor": { "processorName": "CKNX", "profile": [
                { "profileId": "01", "apiKey": "***", "n": "***", "b": true, "z": null },
            ] } },
            "tpn": "***", "scopes": ["events.read"],
        });
        assert_eq!(redacted(&body), expected.to_string());
        assert_eq!(redacted(&json!(vec!["x"; 4_000])), "", "too long");
    }
}
