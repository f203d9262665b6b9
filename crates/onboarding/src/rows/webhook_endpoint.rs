//! Webhook endpoints of ISOs: who wants to be told of which events. What is sent waits in
//! [`db::webhook_delivery`].

use db::webhook_delivery::Endpoint;
use db::{Conn, Record as _, named, statements};
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

db::record! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct WebhookEndpointRow in "webhook_endpoints", key(iso_id: IsoId, webhook_id: String) {
        url: String,
        description: String,
        /// A JSON list of kinds of events.
        events: String,
        /// Header fields of the ISO's choice, sealed.
        headers_sealed: Vec<u8>,
        secret_sealed: Vec<u8>,
        status: EndpointStatus,
        /// Why it is disabled, or empty.
        disabled_reason: String,
        version: i64,
        /// Since when every attempt has failed.
        failing_since: Option<Timestamp>,
        last_success: Option<Timestamp>,
        created: Timestamp,
        updated: Timestamp,
    }
    pairs {
        /// The secret before this one, and until when it signs as well.
        old_secret: (Vec<u8> as "old_secret_sealed", Timestamp as "old_secret_until_us"),
    }
}

statements! {
    WEBHOOK_ENDPOINT_INSERT = db::insert!(WebhookEndpointRow);
    WEBHOOK_ENDPOINT_UPDATE = db::update!(WebhookEndpointRow);
    WEBHOOK_ENDPOINT_DELETE = "DELETE FROM webhook_endpoints WHERE iso_id = $1 AND webhook_id = $2";
    WEBHOOK_ENDPOINT_GET =
        db::select!(WebhookEndpointRow, "WHERE iso_id = $1 AND webhook_id = $2");
    WEBHOOK_ENDPOINT_LIST =
        db::select!(WebhookEndpointRow, "WHERE iso_id = $1 ORDER BY created_us, webhook_id");
    WEBHOOK_ENDPOINT_SUCCESS =
        "UPDATE webhook_endpoints SET last_success_us = $1, failing_since_us = NULL
         WHERE iso_id = $2 AND webhook_id = $3";
    WEBHOOK_ENDPOINT_FAILURE =
        "UPDATE webhook_endpoints SET failing_since_us = COALESCE(failing_since_us, $1)
         WHERE iso_id = $2 AND webhook_id = $3 RETURNING failing_since_us";
}

pub fn insert(conn: &mut dyn Conn, endpoint: &WebhookEndpointRow) -> Result<()> {
    conn.insert(&WEBHOOK_ENDPOINT_INSERT, endpoint).map(drop)
}

/// The endpoint must exist.
pub fn update(conn: &mut dyn Conn, endpoint: &WebhookEndpointRow) -> Result<()> {
    conn.update(&WEBHOOK_ENDPOINT_UPDATE, endpoint)
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

/// Notes that the endpoint took something. It may be gone by now; that is no error.
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
