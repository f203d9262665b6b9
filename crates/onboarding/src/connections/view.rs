//! A connection as it is shown, with what is known of the store behind it.

use std::collections::BTreeMap;

use db::Conn;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use types::{MerchantId, Result, StoreId, Timestamp};

use super::{STORES_ROOT, StoreKey};
use crate::rows::connection::ConnectionRow;
use crate::rows::merchant;

const MICROS_PER_SECOND: i64 = 1_000_000;

/// The key by which programs read the copy.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ReportsKey {
    /// Consumer key, with read permission.
    consumer_key: String,
    /// Consumer secret.
    consumer_secret: String,
}

/// A record that is not in the copy.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct SkippedRecord {
    /// Kind of the record.
    kind: String,
    /// Its id at the store.
    id: i64,
    /// Why it could not be copied.
    reason: String,
}

/// What was found when the store was first asked.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct StoreCheck {
    /// What was checked: `tls`, `version`, `clock`, `read`, `webhooks` or `size`.
    pub check: String,
    /// `passed`, or `warning` if the store is copied nevertheless.
    pub result: String,
    /// What was found, and what to do about it.
    pub message: String,
}

/// Trading name of the merchant whose store it is.
pub(super) fn merchant_name(conn: &mut dyn Conn, row: &ConnectionRow) -> Result<Option<String>> {
    let Some(id) = &row.merchant_id else { return Ok(None) };
    Ok(merchant::get(conn, &row.iso_id, id)?.map(|merchant| merchant.dba))
}

/// A connection to a store.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConnectionView {
    /// Id of the connection.
    connection_id: String,
    /// The merchant whose store it is.
    merchant_id: Option<MerchantId>,
    /// Trading name of the merchant.
    merchant_name: Option<String>,
    /// The store that it belongs to.
    store_id: Option<StoreId>,
    /// URL of the connected store.
    url: String,
    /// What the store calls itself.
    name: Option<String>,
    /// Code of the country that the store names.
    country: Option<String>,
    /// `unauthorized` until the owner of the store has granted a key, then `connecting`, `copying`
    /// and `live`; `checked` if it waits for `active` before it is copied; `paused`, `failing` or
    /// `disconnected`.
    status: &'static str,
    /// Grows by one with every change by its owner.
    version: i64,
    /// Path of the REST interface that answers for the store here.
    rest_path: String,
    /// The key for that interface. Shown only now; else null.
    reports_key: Option<ReportsKey>,
    /// Where the owner of the store grants a key, if none was sent. Shown only now; else null.
    authorize_url: Option<String>,
    /// What was found when the store was first asked; empty until then.
    checks: Vec<StoreCheck>,
    /// Records of the copy, by kind; `ordersTotal` is how many orders the store has.
    counts: BTreeMap<String, i64>,
    /// Records that could not be copied, up to 100 of them.
    skipped: Vec<SkippedRecord>,
    /// What went wrong last, by its code; null if nothing did.
    error_code: Option<String>,
    /// What went wrong last, and what to do about it.
    error_message: Option<String>,
    /// Attempts that failed one after the other.
    failures: i64,
    /// Records that the last comparison with the store found to differ. They were fixed.
    drift: i64,
    /// When the store last sent a webhook.
    last_event: Option<String>,
    /// When the copy was last known to be complete.
    last_success: Option<String>,
    /// Seconds since then.
    lag_seconds: Option<i64>,
    /// When the copy was last compared with the store.
    reconciled: Option<String>,
    /// When it was created.
    created: String,
    /// When it was changed last by its owner.
    updated: String,
}

impl ConnectionView {
    pub(super) fn of(conn: &mut dyn Conn, row: &ConnectionRow, now: Timestamp) -> Result<Self> {
        let shown = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
        let time = |time: Option<Timestamp>| time.map(|time| time.to_string());
        let lag = |at: Timestamp| (now.as_micros() - at.as_micros()).max(0) / MICROS_PER_SECOND;
        Ok(Self {
            connection_id: row.connection_id.clone(),
            merchant_id: row.merchant_id.clone(),
            merchant_name: merchant_name(conn, row)?,
            store_id: row.store_id.clone(),
            url: row.url.clone(),
            name: shown(&row.name),
            country: shown(&row.country),
            status: row.status.as_str(),
            version: row.version,
            rest_path: format!("{STORES_ROOT}{}/wp-json", row.connection_id),
            reports_key: None,
            authorize_url: None,
            checks: serde_json::from_str(&row.checks).unwrap_or_default(),
            counts: serde_json::from_str(&row.counts).unwrap_or_default(),
            skipped: skipped(row),
            error_code: shown(&row.error_code),
            error_message: shown(&row.error_message),
            failures: row.failures,
            drift: row.drift,
            last_event: time(row.last_event),
            last_success: time(row.last_success),
            lag_seconds: row.last_success.map(lag),
            reconciled: time(row.reconciled),
            created: row.created.to_string(),
            updated: row.updated.to_string(),
        })
    }

    /// With what is shown only once.
    pub(super) fn with_access(self, key: &StoreKey, authorize_url: Option<String>) -> Self {
        let StoreKey { consumer_key, consumer_secret } = key.clone();
        let reports_key = Some(ReportsKey { consumer_key, consumer_secret });
        Self { reports_key, authorize_url, ..self }
    }
}

fn skipped(row: &ConnectionRow) -> Vec<SkippedRecord> {
    let mut cursor: Value = serde_json::from_str(&row.cursor).unwrap_or_default();
    let skipped = cursor.get_mut("skipped").map(Value::take).unwrap_or_default();
    serde_json::from_value(skipped).unwrap_or_default()
}
