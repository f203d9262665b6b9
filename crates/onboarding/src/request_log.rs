//! The requests that wait to be written to the request log, and what is kept of their bodies: only
//! names of members, ids and codes.

use std::sync::{Mutex, PoisonError};

use serde_json::Value;

use crate::rows::request_log::RequestRow;

/// Requests that wait to be written at most; more are not kept.
const PENDING_MAX: usize = 8_192;
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

/// The requests that are not written yet.
#[derive(Debug, Default)]
pub(crate) struct RequestLog {
    pending: Mutex<Vec<RequestRow>>,
}

impl RequestLog {
    pub(crate) fn record(&self, request: RequestRow) {
        let mut pending = self.pending.lock().unwrap_or_else(PoisonError::into_inner);
        if pending.len() < PENDING_MAX {
            pending.push(request);
        }
    }

    pub(crate) fn take(&self) -> Vec<RequestRow> {
        std::mem::take(&mut *self.pending.lock().unwrap_or_else(PoisonError::into_inner))
    }
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
    value.as_str().is_some_and(contract::card_data::is_card_data)
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
