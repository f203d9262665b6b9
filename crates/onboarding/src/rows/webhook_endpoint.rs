//! Webhook endpoints of ISOs: who wants to be told of which events. What is sent waits in
//! [`db::webhook_delivery`].

use db::webhook_delivery::Endpoint;
use db::{Conn, Row, Val, named, statements};
use types::{IsoId, Result, Timestamp};

/// What deliveries to endpoints of ISOs call them.
pub const ENDPOINT_KIND: &str = "iso_webhook";

/// Where deliveries to the ISO's endpoint go.
pub fn endpoint(iso_id: &IsoId, webhook_id: &str) -> Endpoint {
    Endpoint { kind: ENDPOINT_KIND.to_owned(), id: format!("{iso_id}/{webhook_id}") }
}

/// Whose endpoint it is, and which.
pub fn ids_of(endpoint: &Endpoint) -> Option<(IsoId, &str)> {
    let id = (endpoint.kind == ENDPOINT_KIND).then_some(endpoint.id.as_str());
    id.and_then(|id| id.split_once('/')).map(|(iso_id, id)| (IsoId::new(iso_id), id))
}

named! {
    EndpointStatus {
        #[default]
        Enabled = "enabled",
        /// Gets nothing until somebody enables it again.
        Disabled = "disabled",
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebhookEndpointRow {
    pub iso_id: IsoId,
    pub webhook_id: String,
    pub url: String,
    pub description: String,
    /// A JSON list of kinds of events.
    pub events: String,
    /// Header fields of the ISO's choice, sealed.
    pub headers_sealed: Vec<u8>,
    pub secret_sealed: Vec<u8>,
    /// The secret before this one, and until when it signs as well.
    pub old_secret: Option<(Vec<u8>, Timestamp)>,
    pub status: EndpointStatus,
    /// Why it is disabled, or empty.
    pub disabled_reason: String,
    pub version: i64,
    /// Since when every attempt has failed.
    pub failing_since: Option<Timestamp>,
    pub last_success: Option<Timestamp>,
    pub created: Timestamp,
    pub updated: Timestamp,
}

/// What [`WebhookEndpointRow::read`] reads, in its order.
macro_rules! endpoint_columns {
    () => {
        "url, description, events, headers_sealed, secret_sealed, old_secret_sealed,
         old_secret_until_us, status, disabled_reason, version, failing_since_us, last_success_us,
         created_us, updated_us, iso_id, webhook_id"
    };
}

statements! {
    WEBHOOK_ENDPOINT_INSERT = concat!(
        "INSERT INTO webhook_endpoints (",
        endpoint_columns!(),
        ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)"
    );
    WEBHOOK_ENDPOINT_UPDATE =
        "UPDATE webhook_endpoints SET
           url = $1, description = $2, events = $3, headers_sealed = $4, secret_sealed = $5,
           old_secret_sealed = $6, old_secret_until_us = $7, status = $8, disabled_reason = $9,
           version = $10, failing_since_us = $11, last_success_us = $12, created_us = $13,
           updated_us = $14
         WHERE iso_id = $15 AND webhook_id = $16";
    WEBHOOK_ENDPOINT_DELETE = "DELETE FROM webhook_endpoints WHERE iso_id = $1 AND webhook_id = $2";
    WEBHOOK_ENDPOINT_GET = concat!(
        "SELECT ",
        endpoint_columns!(),
        " FROM webhook_endpoints WHERE iso_id = $1 AND webhook_id = $2"
    );
    WEBHOOK_ENDPOINT_LIST = concat!(
        "SELECT ",
        endpoint_columns!(),
        " FROM webhook_endpoints WHERE iso_id = $1 ORDER BY created_us, webhook_id"
    );
    WEBHOOK_ENDPOINT_SUCCESS =
        "UPDATE webhook_endpoints SET last_success_us = $1, failing_since_us = NULL
         WHERE iso_id = $2 AND webhook_id = $3";
    WEBHOOK_ENDPOINT_FAILURE =
        "UPDATE webhook_endpoints SET failing_since_us = COALESCE(failing_since_us, $1)
         WHERE iso_id = $2 AND webhook_id = $3 RETURNING failing_since_us";
}

pub fn insert(conn: &mut dyn Conn, endpoint: &WebhookEndpointRow) -> Result<()> {
    conn.execute_one(&WEBHOOK_ENDPOINT_INSERT, &endpoint.params())
}

/// The endpoint must exist.
pub fn update(conn: &mut dyn Conn, endpoint: &WebhookEndpointRow) -> Result<()> {
    conn.execute_one(&WEBHOOK_ENDPOINT_UPDATE, &endpoint.params())
}

/// Deletes the endpoint but not its deliveries; see [`db::webhook_delivery::forget`]. Returns
/// whether there was one.
pub fn delete(conn: &mut dyn Conn, iso_id: &IsoId, webhook_id: &str) -> Result<bool> {
    Ok(conn.execute(&WEBHOOK_ENDPOINT_DELETE, &[iso_id.into(), webhook_id.into()])? == 1)
}

pub fn get(
    conn: &mut dyn Conn,
    iso_id: &IsoId,
    webhook_id: &str,
) -> Result<Option<WebhookEndpointRow>> {
    let params = [iso_id.into(), webhook_id.into()];
    conn.row(&WEBHOOK_ENDPOINT_GET, &params, WebhookEndpointRow::read)
}

/// All endpoints of the ISO, the oldest first.
pub fn list(conn: &mut dyn Conn, iso_id: &IsoId) -> Result<Vec<WebhookEndpointRow>> {
    conn.rows(&WEBHOOK_ENDPOINT_LIST, &[iso_id.into()], WebhookEndpointRow::read)
}

/// Notes that the endpoint took something. It may be gone by now; that is no fault.
pub fn note_success(
    conn: &mut dyn Conn,
    iso_id: &IsoId,
    webhook_id: &str,
    now: Timestamp,
) -> Result<()> {
    let params = [now.into(), iso_id.into(), webhook_id.into()];
    conn.execute(&WEBHOOK_ENDPOINT_SUCCESS, &params).map(drop)
}

/// Notes that the endpoint took something not, and returns since when it has taken nothing; nothing
/// when it is gone.
pub fn note_failure(
    conn: &mut dyn Conn,
    iso_id: &IsoId,
    webhook_id: &str,
    now: Timestamp,
) -> Result<Option<Timestamp>> {
    let params = [now.into(), iso_id.into(), webhook_id.into()];
    conn.row(&WEBHOOK_ENDPOINT_FAILURE, &params, |row| row.get(0))
}

impl WebhookEndpointRow {
    fn params(&self) -> [Val<'_>; 16] {
        let (old_secret, old_until) = match &self.old_secret {
            Some((sealed, until)) => (Some(sealed), Some(*until)),
            None => (None, None),
        };
        [
            (&self.url).into(),
            (&self.description).into(),
            (&self.events).into(),
            (&self.headers_sealed).into(),
            (&self.secret_sealed).into(),
            old_secret.into(),
            old_until.into(),
            self.status.into(),
            (&self.disabled_reason).into(),
            self.version.into(),
            self.failing_since.into(),
            self.last_success.into(),
            self.created.into(),
            self.updated.into(),
            (&self.iso_id).into(),
            (&self.webhook_id).into(),
        ]
    }

    fn read(row: &dyn Row) -> Result<Self> {
        let old_secret: Option<Vec<u8>> = row.get(5)?;
        let old_until: Option<Timestamp> = row.get(6)?;
        Ok(Self {
            url: row.get(0)?,
            description: row.get(1)?,
            events: row.get(2)?,
            headers_sealed: row.get(3)?,
            secret_sealed: row.get(4)?,
            old_secret: old_secret.zip(old_until),
            status: row.get(7)?,
            disabled_reason: row.get(8)?,
            version: row.get(9)?,
            failing_since: row.get(10)?,
            last_success: row.get(11)?,
            created: row.get(12)?,
            updated: row.get(13)?,
            iso_id: row.get(14)?,
            webhook_id: row.get(15)?,
        })
    }
}
