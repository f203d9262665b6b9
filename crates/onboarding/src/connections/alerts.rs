//! Alerts about connected stores: raised and ended by who follows the stores, listed by
//! `/v1/portfolio/alerts`. **An alert is raised once and ended once**, each with an event in the
//! same transaction.

use contract::{Answer, Endpoint, Route};
use db::Conn;
use db::outbox::{self, Event};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use types::{Error, IsoId, MerchantId, Result, Scope, Timestamp};

use super::view::merchant_name;
use crate::fields::AlertState;
use crate::id_source::random_text;
use crate::paging::{Page, cursor, page_default, read_cursor};
use crate::perform::Outcome;
use crate::rows::connection::{self, ConnectionRow};
use crate::rows::connection_alert::{self, AlertFilter, AlertKind, AlertRow};
use crate::{Cx, event_kinds};

const ID_PREFIX: &str = "alr_";
const ID_LENGTH: usize = 16;
/// Alerts that ended so long ago are forgotten when another one is raised.
const KEPT_US: i64 = 400 * 86_400 * 1_000_000;

/// Something unusual about a store.
#[derive(Clone, Debug)]
pub struct NewAlert {
    pub kind: AlertKind,
    /// For people.
    pub message: String,
    /// For programs: a JSON object.
    pub details: Value,
}

/// Raises an alert about a store.
pub fn raise(
    conn: &mut dyn Conn,
    row: &ConnectionRow,
    alert: &NewAlert,
    now: Timestamp,
) -> Result<()> {
    let alert = AlertRow {
        iso_id: row.iso_id.clone(),
        alert_id: format!("{ID_PREFIX}{}", random_text(ID_LENGTH)?),
        connection_id: row.connection_id.clone(),
        kind: alert.kind,
        message: alert.message.clone(),
        details: alert.details.to_string(),
        raised: now,
        ended: None,
    };
    let past = Timestamp::from_micros(now.as_micros().saturating_sub(KEPT_US));
    connection_alert::forget(conn, row, past)?;
    connection_alert::insert(conn, &alert)?;
    tell(conn, row, &alert, event_kinds::CONNECTION_ALERT_RAISED, now)
}

/// Ends an alert about a store.
pub fn end(
    conn: &mut dyn Conn,
    row: &ConnectionRow,
    alert: &AlertRow,
    now: Timestamp,
) -> Result<()> {
    connection_alert::end(conn, alert, now)?;
    tell(conn, row, alert, event_kinds::CONNECTION_ALERT_ENDED, now)
}

fn tell(
    conn: &mut dyn Conn,
    row: &ConnectionRow,
    alert: &AlertRow,
    kind: &'static str,
    now: Timestamp,
) -> Result<()> {
    let payload = json!({
        "object": "connection", "id": row.connection_id, "merchantId": row.merchant_id,
        "status": row.status.as_str(), "version": row.version, "store": store_name(row),
        "alert": {
            "alertId": alert.alert_id, "kind": alert.kind.as_str(), "message": alert.message,
            "details": details(alert)?,
        },
        "changed": [],
    });
    let event = Event {
        iso_id: Some(row.iso_id.clone()),
        kind,
        object_id: row.connection_id.clone(),
        payload: payload.to_string(),
        created: now,
    };
    outbox::append(conn, &event)
}

fn store_name(row: &ConnectionRow) -> &str {
    if row.name.is_empty() { &row.url } else { &row.name }
}

/// What programs know about an alert.
pub fn details(alert: &AlertRow) -> Result<Map<String, Value>> {
    serde_json::from_str(&alert.details)
        .map_err(|error| Error::internal("an alert cannot be read").because(error))
}

/// An alert about a connected store.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AlertView {
    /// Id of the alert.
    alert_id: String,
    /// The connection of the store.
    connection_id: String,
    /// What the store calls itself, or its URL.
    store: String,
    /// The merchant whose store it is.
    merchant_id: Option<MerchantId>,
    /// Trading name of the merchant.
    merchant_name: Option<String>,
    /// `no_orders` if the store stopped selling, `refund_rate` if much more is refunded than usual.
    kind: &'static str,
    /// What is unusual.
    message: String,
    /// The numbers behind it.
    details: Map<String, Value>,
    /// When it was raised.
    raised: String,
    /// When it ended; null while it lasts.
    ended: Option<String>,
}

/// List alerts about connected stores, the newest first.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AlertList {
    /// Only those of this connection.
    #[schemars(length(max = 100))]
    connection_id: Option<String>,
    /// Only those that last, or that have ended.
    status: Option<AlertState>,
    /// Objects on the page.
    #[serde(default = "page_default")]
    #[schemars(range(min = 1, max = 100))]
    limit: i64,
    /// What `nextCursor` of the page before said.
    #[schemars(length(max = 100))]
    cursor: Option<String>,
}

impl Endpoint<Cx> for AlertList {
    const ROUTE: Route = Route::get("/v1/portfolio/alerts").scope(Scope::ReportsRead);
    type Reply = Page<AlertView>;

    async fn handle(self, cx: &Cx) -> Outcome<Answer<Self::Reply>> {
        let (iso_id, limit) = (cx.caller()?.iso_id().clone(), self.limit);
        let filter = AlertFilter {
            connection_id: self.connection_id,
            is_open: self.status.map(|status| status.as_str() == "open"),
            after: self.cursor.as_deref().map(read_cursor).transpose()?,
        };
        let found = cx.platform.store.list(move |conn| {
            // What is no id at all is not looked up.
            if filter.connection_id.as_deref().is_some_and(|id| !super::is_id(id)) {
                return Ok(Vec::new());
            }
            // One more tells whether there is another page.
            let alerts = connection_alert::list(conn, &iso_id, &filter, limit + 1)?;
            let mut views = Vec::new();
            for alert in alerts {
                let place = cursor(alert.raised, &alert.alert_id);
                views.extend(view(conn, &iso_id, alert)?.map(|view| (place, view)));
            }
            Ok(views)
        });
        Ok(Answer::new(Page::of(found.await?, limit)))
    }
}

/// Nothing if the connection was removed meanwhile.
fn view(conn: &mut dyn Conn, iso_id: &IsoId, alert: AlertRow) -> Result<Option<AlertView>> {
    let Some(row) = connection::get(conn, iso_id, &alert.connection_id)? else { return Ok(None) };
    Ok(Some(AlertView {
        store: store_name(&row).to_owned(),
        merchant_name: merchant_name(conn, &row)?,
        merchant_id: row.merchant_id,
        details: details(&alert)?,
        alert_id: alert.alert_id,
        connection_id: alert.connection_id,
        kind: alert.kind.as_str(),
        message: alert.message,
        raised: alert.raised.to_string(),
        ended: alert.ended.map(|time| time.to_string()),
    }))
}
