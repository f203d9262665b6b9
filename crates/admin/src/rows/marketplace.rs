//! The site's accounts with services elsewhere, what it bought there, and errors of a connection
//! that wait to be verified. **Tokens come in sealed.**

use db::{Conn, Record, SITE, statements};
use types::{Result, Timestamp};

db::record! {
    /// An account with a service.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct ConnectionRow in "service_connections", fixed(site_id = SITE), key(service: String) {
        token_sealed: Vec<u8>,
        /// The site's number there.
        remote_site_id: i64,
        remote_user_id: i64,
        /// Who connected it.
        user_id: i64,
        connected: Timestamp,
    }
}

db::record! {
    /// Something that was bought.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct SubscriptionRow in "marketplace_subscriptions",
        fixed(site_id = SITE), key(product_key: String) {
        product_id: i64,
        /// As the marketplace tells it, a JSON object.
        details: String,
        /// Whether this site makes use of it.
        is_connected: bool,
        /// Never, for what was bought for good.
        expires: Option<Timestamp>,
        fetched: Timestamp,
    }
}

db::record! {
    /// An error of a connection.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct ConnectionErrorRow in "connection_errors",
        fixed(site_id = SITE), key(nonce: String) {
        code: String,
        message: String,
        /// Whose token it was; zero for the site's own.
        user_id: i64,
        raised: Timestamp,
        verified: Option<Timestamp>,
    }
}

statements! {
    CONNECTION_PUT = db::insert!(
        ConnectionRow,
        "ON CONFLICT (site_id, service) DO UPDATE SET
           token_sealed = excluded.token_sealed, remote_site_id = excluded.remote_site_id,
           remote_user_id = excluded.remote_user_id, user_id = excluded.user_id,
           connected_us = excluded.connected_us"
    );
    CONNECTION_GET = db::select!(ConnectionRow, "WHERE site_id = $1 AND service = $2");
    CONNECTION_DELETE = "DELETE FROM service_connections WHERE site_id = $1 AND service = $2";
    SUBSCRIPTION_INSERT = db::insert!(
        SubscriptionRow,
        "ON CONFLICT (site_id, product_key) DO UPDATE SET
           product_id = excluded.product_id, details = excluded.details,
           is_connected = excluded.is_connected, expires_us = excluded.expires_us,
           fetched_us = excluded.fetched_us"
    );
    SUBSCRIPTIONS_ALL = db::select!(SubscriptionRow, "WHERE site_id = $1 ORDER BY product_key");
    SUBSCRIPTIONS_DELETE = "DELETE FROM marketplace_subscriptions WHERE site_id = $1";
    CONNECTION_ERROR_INSERT = db::insert!(ConnectionErrorRow);
    CONNECTION_ERROR_NEWEST = db::select!(
        ConnectionErrorRow,
        "WHERE site_id = $1 AND code = $2 ORDER BY raised_us DESC, nonce LIMIT 1"
    );
    CONNECTION_ERROR_VERIFY =
        "UPDATE connection_errors SET verified_us = $1
         WHERE site_id = $2 AND nonce = $3 AND raised_us >= $4 AND verified_us IS NULL";
    CONNECTION_ERRORS_VERIFIED = db::select!(
        ConnectionErrorRow,
        "WHERE site_id = $1 AND raised_us >= $2 AND verified_us IS NOT NULL
         ORDER BY raised_us DESC, nonce LIMIT $3"
    );
    CONNECTION_ERRORS_FORGET =
        "DELETE FROM connection_errors WHERE site_id = $1 AND raised_us < $2";
}

/// Keeps the account with a service, in the place of an earlier one.
pub fn connect(conn: &mut dyn Conn, connection: &ConnectionRow) -> Result<()> {
    conn.insert(&CONNECTION_PUT, connection).map(drop)
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
        conn.insert(&SUBSCRIPTION_INSERT, bought)?;
    }
    Ok(())
}

pub fn subscriptions(conn: &mut dyn Conn) -> Result<Vec<SubscriptionRow>> {
    conn.rows(&SUBSCRIPTIONS_ALL, &[SITE.into()], SubscriptionRow::read)
}

pub fn error_insert(conn: &mut dyn Conn, error: &ConnectionErrorRow) -> Result<()> {
    conn.insert(&CONNECTION_ERROR_INSERT, error).map(drop)
}

/// The latest error of a code.
pub fn error_newest(conn: &mut dyn Conn, code: &str) -> Result<Option<ConnectionErrorRow>> {
    conn.row(&CONNECTION_ERROR_NEWEST, &[SITE.into(), code.into()], ConnectionErrorRow::read)
}

/// Marks the error of a nonce as verified; `false` if there is none that waits and is young enough.
pub fn error_verify(
    conn: &mut dyn Conn,
    nonce: &str,
    since: Timestamp,
    now: Timestamp,
) -> Result<bool> {
    let params = [now.into(), SITE.into(), nonce.into(), since.into()];
    Ok(conn.execute(&CONNECTION_ERROR_VERIFY, &params)? == 1)
}

/// The latest errors that were verified.
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
