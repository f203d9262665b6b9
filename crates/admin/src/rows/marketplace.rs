//! The site's accounts with services elsewhere, what it bought there, and faults of a connection
//! that wait to be verified. **Tokens come in sealed.**

use db::{Conn, Row, SITE, statements};
use types::{Result, Timestamp};

/// An account with a service.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConnectionRow {
    pub service: String,
    pub token_sealed: Vec<u8>,
    /// The site's number there.
    pub remote_site_id: i64,
    pub remote_user_id: i64,
    /// Who connected it.
    pub user_id: i64,
    pub connected: Timestamp,
}

/// Something that was bought.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SubscriptionRow {
    pub product_key: String,
    pub product_id: i64,
    /// As the marketplace tells it, a JSON object.
    pub details: String,
    /// Whether this site makes use of it.
    pub is_connected: bool,
    /// Never, for what was bought for good.
    pub expires: Option<Timestamp>,
    pub fetched: Timestamp,
}

/// A fault of a connection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConnectionErrorRow {
    pub nonce: String,
    pub code: String,
    pub message: String,
    /// Whose token it was; zero for the site's own.
    pub user_id: i64,
    pub raised: Timestamp,
    pub verified: Option<Timestamp>,
}

statements! {
    CONNECTION_PUT =
        "INSERT INTO service_connections
           (site_id, service, token_sealed, remote_site_id, remote_user_id, user_id, connected_us)
         VALUES ($1, $2, $3, $4, $5, $6, $7)
         ON CONFLICT (site_id, service) DO UPDATE SET
           token_sealed = excluded.token_sealed, remote_site_id = excluded.remote_site_id,
           remote_user_id = excluded.remote_user_id, user_id = excluded.user_id,
           connected_us = excluded.connected_us";
    CONNECTION_GET =
        "SELECT service, token_sealed, remote_site_id, remote_user_id, user_id, connected_us
         FROM service_connections WHERE site_id = $1 AND service = $2";
    CONNECTION_DELETE = "DELETE FROM service_connections WHERE site_id = $1 AND service = $2";
    SUBSCRIPTION_INSERT =
        "INSERT INTO marketplace_subscriptions
           (site_id, product_key, product_id, details, is_connected, expires_us, fetched_us)
         VALUES ($1, $2, $3, $4, $5, $6, $7)
         ON CONFLICT (site_id, product_key) DO UPDATE SET
           product_id = excluded.product_id, details = excluded.details,
           is_connected = excluded.is_connected, expires_us = excluded.expires_us,
           fetched_us = excluded.fetched_us";
    SUBSCRIPTIONS_ALL =
        "SELECT product_key, product_id, details, is_connected, expires_us, fetched_us
         FROM marketplace_subscriptions WHERE site_id = $1 ORDER BY product_key";
    SUBSCRIPTIONS_DELETE = "DELETE FROM marketplace_subscriptions WHERE site_id = $1";
    CONNECTION_ERROR_INSERT =
        "INSERT INTO connection_errors
           (site_id, nonce, code, message, user_id, raised_us, verified_us)
         VALUES ($1, $2, $3, $4, $5, $6, $7)";
    CONNECTION_ERROR_NEWEST =
        "SELECT nonce, code, message, user_id, raised_us, verified_us
         FROM connection_errors WHERE site_id = $1 AND code = $2
         ORDER BY raised_us DESC, nonce LIMIT 1";
    CONNECTION_ERROR_VERIFY =
        "UPDATE connection_errors SET verified_us = $1
         WHERE site_id = $2 AND nonce = $3 AND raised_us >= $4 AND verified_us IS NULL";
    CONNECTION_ERRORS_VERIFIED =
        "SELECT nonce, code, message, user_id, raised_us, verified_us
         FROM connection_errors WHERE site_id = $1 AND raised_us >= $2 AND verified_us IS NOT NULL
         ORDER BY raised_us DESC, nonce LIMIT $3";
    CONNECTION_ERRORS_FORGET =
        "DELETE FROM connection_errors WHERE site_id = $1 AND raised_us < $2";
}

/// Keeps the account with a service, in the place of an earlier one.
pub fn connect(conn: &mut dyn Conn, connection: &ConnectionRow) -> Result<()> {
    let params = [
        SITE.into(),
        (&connection.service).into(),
        (&connection.token_sealed).into(),
        connection.remote_site_id.into(),
        connection.remote_user_id.into(),
        connection.user_id.into(),
        connection.connected.into(),
    ];
    conn.execute_one(&CONNECTION_PUT, &params)
}

pub fn connection(conn: &mut dyn Conn, service: &str) -> Result<Option<ConnectionRow>> {
    conn.row(&CONNECTION_GET, &[SITE.into(), service.into()], ConnectionRow::read)
}

/// Forgets the account, and returns whether there was one.
pub fn disconnect(conn: &mut dyn Conn, service: &str) -> Result<bool> {
    Ok(conn.execute(&CONNECTION_DELETE, &[SITE.into(), service.into()])? == 1)
}

/// Replaces all that was bought by what is bought now.
pub fn replace_subscriptions(conn: &mut dyn Conn, all: &[SubscriptionRow]) -> Result<()> {
    conn.execute(&SUBSCRIPTIONS_DELETE, &[SITE.into()])?;
    for bought in all {
        let params = [
            SITE.into(),
            (&bought.product_key).into(),
            bought.product_id.into(),
            (&bought.details).into(),
            bought.is_connected.into(),
            bought.expires.into(),
            bought.fetched.into(),
        ];
        conn.execute_one(&SUBSCRIPTION_INSERT, &params)?;
    }
    Ok(())
}

pub fn subscriptions(conn: &mut dyn Conn) -> Result<Vec<SubscriptionRow>> {
    conn.rows(&SUBSCRIPTIONS_ALL, &[SITE.into()], SubscriptionRow::read)
}

pub fn error_insert(conn: &mut dyn Conn, error: &ConnectionErrorRow) -> Result<()> {
    let params = [
        SITE.into(),
        (&error.nonce).into(),
        (&error.code).into(),
        (&error.message).into(),
        error.user_id.into(),
        error.raised.into(),
        error.verified.into(),
    ];
    conn.execute_one(&CONNECTION_ERROR_INSERT, &params)
}

/// The latest fault of a code.
pub fn error_newest(conn: &mut dyn Conn, code: &str) -> Result<Option<ConnectionErrorRow>> {
    conn.row(&CONNECTION_ERROR_NEWEST, &[SITE.into(), code.into()], ConnectionErrorRow::read)
}

/// Marks the fault of a nonce as verified; `false` if there is none that waits and is young enough.
pub fn error_verify(
    conn: &mut dyn Conn,
    nonce: &str,
    since: Timestamp,
    now: Timestamp,
) -> Result<bool> {
    let params = [now.into(), SITE.into(), nonce.into(), since.into()];
    Ok(conn.execute(&CONNECTION_ERROR_VERIFY, &params)? == 1)
}

/// The latest faults that were verified.
pub fn errors_verified(
    conn: &mut dyn Conn,
    since: Timestamp,
    limit: i64,
) -> Result<Vec<ConnectionErrorRow>> {
    let params = [SITE.into(), since.into(), limit.into()];
    conn.rows(&CONNECTION_ERRORS_VERIFIED, &params, ConnectionErrorRow::read)
}

pub fn errors_forget(conn: &mut dyn Conn, before: Timestamp) -> Result<u64> {
    conn.execute(&CONNECTION_ERRORS_FORGET, &[SITE.into(), before.into()])
}

impl ConnectionRow {
    fn read(row: &dyn Row) -> Result<Self> {
        Ok(Self {
            service: row.get(0)?,
            token_sealed: row.get(1)?,
            remote_site_id: row.get(2)?,
            remote_user_id: row.get(3)?,
            user_id: row.get(4)?,
            connected: row.get(5)?,
        })
    }
}

impl SubscriptionRow {
    fn read(row: &dyn Row) -> Result<Self> {
        Ok(Self {
            product_key: row.get(0)?,
            product_id: row.get(1)?,
            details: row.get(2)?,
            is_connected: row.get(3)?,
            expires: row.get(4)?,
            fetched: row.get(5)?,
        })
    }
}

impl ConnectionErrorRow {
    fn read(row: &dyn Row) -> Result<Self> {
        Ok(Self {
            nonce: row.get(0)?,
            code: row.get(1)?,
            message: row.get(2)?,
            user_id: row.get(3)?,
            raised: row.get(4)?,
            verified: row.get(5)?,
        })
    }
}
