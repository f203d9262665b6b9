//! Connections to stores elsewhere: which store, by which key, and how far its copy is.
//!
//! Who works on a connection holds its lease, and writes only while it does. **Every change by its
//! owner takes the lease away**, so that work under way never overwrites what the owner decided.

use db::filter::{Clause, Direction, Filter};
use db::{Conn, Record as _, named, statements};
use types::{IsoId, MerchantId, Result, StoreId, Timestamp};

named! {
    /// The state of a connection.
    ConnectionStatus {
        /// The store's owner has not granted a key yet.
        #[default]
        Unauthorized = "unauthorized",
        /// The store was not asked yet.
        Connecting = "connecting",
        /// The store was checked; its owner says when the copy starts.
        Checked = "checked",
        /// The first copy is under way.
        Copying = "copying",
        Live = "live",
        Paused = "paused",
        /// The store refuses, or has not answered for a while; it is still tried.
        Failing = "failing",
        /// Its webhooks and its copy are being removed.
        Disconnected = "disconnected",
    }
}

db::record! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct ConnectionRow in "connections", key(iso_id: IsoId, connection_id: String) {
        merchant_id: Option<MerchantId>,
        store_id: Option<StoreId>,
        url: String,
        /// What the store calls itself, or empty.
        name: String,
        status: ConnectionStatus,
        version: i64,
        /// The key by which the store is asked, sealed with the ISO's data key.
        key_sealed: Option<Vec<u8>>,
        /// The key by which its reports are read here, and the secret of its webhooks, sealed.
        access_sealed: Vec<u8>,
        /// A JSON object.
        cursor: String,
        /// A JSON object.
        counts: String,
        /// What went wrong last, or empty.
        error_code: String,
        error_message: String,
        /// Attempts that failed one after the other.
        failures: i64,
        /// Records that the last comparison with the store found to differ.
        drift: i64,
        last_event: Option<Timestamp>,
        last_success: Option<Timestamp>,
        reconciled: Option<Timestamp>,
        /// When somebody has to look at it; none while there is nothing to do.
        due: Option<Timestamp>,
        /// Who works on it, or empty.
        lease: String,
        lease_until: Option<Timestamp>,
        created: Timestamp,
        updated: Timestamp,
        /// Code of the store's country, or empty.
        country: String,
        /// What was found when the store was first asked: a JSON list.
        checks: String,
        /// Whether the copy waits for its owner's word.
        is_held: bool,
    }
}

/// What a webhook of a store told of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hint {
    /// `order`, `product`, `customer` or `coupon`.
    pub resource: String,
    pub object_id: i64,
    /// When it was told last, once it is kept. Each further time is another one.
    pub received_us: i64,
}

statements! {
    STORE_CONNECTION_INSERT = db::insert!(ConnectionRow);
    STORE_CONNECTION_UPDATE = db::update!(ConnectionRow);
    STORE_CONNECTION_GET = db::select!(ConnectionRow, "WHERE iso_id = $1 AND connection_id = $2");
    STORE_CONNECTION_FIND = db::select!(ConnectionRow, "WHERE connection_id = $1");
    STORE_CONNECTION_TWIN =
        "SELECT connection_id FROM connections
         WHERE iso_id = $1 AND url = $2 AND connection_id <> $3 AND status <> 'disconnected'
         ORDER BY connection_id LIMIT 1";
    STORE_CONNECTION_COUNT = "SELECT COUNT(*) FROM connections WHERE iso_id = $1";
    STORE_CONNECTION_DELETE =
        "DELETE FROM connections WHERE iso_id = $1 AND connection_id = $2 AND lease = $3";
    STORE_CONNECTION_DUE = db::select!(
        ConnectionRow,
        "WHERE due_us <= $1 AND (lease_until_us IS NULL OR lease_until_us < $1)
         ORDER BY due_us, iso_id, connection_id LIMIT $2"
    );
    STORE_CONNECTION_IS_DUE =
        "SELECT 1 FROM connections
         WHERE due_us <= $1 AND (lease_until_us IS NULL OR lease_until_us < $1) LIMIT 1";
    STORE_CONNECTION_CLAIM =
        "UPDATE connections SET lease = $1, lease_until_us = $2
         WHERE iso_id = $3 AND connection_id = $4";
    STORE_CONNECTION_RENEW =
        "UPDATE connections SET lease_until_us = $1
         WHERE iso_id = $2 AND connection_id = $3 AND lease = $4";
    STORE_CONNECTION_PROGRESS =
        "UPDATE connections SET name = $1, status = $2, cursor = $3, counts = $4, error_code = $5,
           error_message = $6, failures = $7, drift = $8, last_success_us = $9,
           reconciled_us = $10, lease_until_us = $11, country = $12, checks = $13
         WHERE iso_id = $14 AND connection_id = $15 AND lease = $16";
    STORE_CONNECTION_RELEASE =
        "UPDATE connections SET lease = '', lease_until_us = NULL, due_us = CASE
           WHEN failures = 0 AND $1 > COALESCE(due_us, 0) AND EXISTS
             (SELECT 1 FROM connection_hints
              WHERE connection_hints.iso_id = $2 AND connection_hints.connection_id = $3
                AND received_us >= $4)
           THEN due_us ELSE $1 END
         WHERE iso_id = $2 AND connection_id = $3 AND lease = $5";
    STORE_CONNECTION_PUT_OFF =
        "UPDATE connections SET lease = '', lease_until_us = NULL, due_us = $1
         WHERE iso_id = $2 AND connection_id = $3 AND lease = $4";
    STORE_CONNECTION_WAKE =
        "UPDATE connections SET last_event_us = $1,
           due_us = CASE WHEN failures = 0 THEN $1 ELSE due_us END
         WHERE iso_id = $2 AND connection_id = $3 AND due_us IS NOT NULL";
    STORE_CONNECTION_FORGET_MERCHANTS =
        "UPDATE connections SET status = 'disconnected', due_us = $1, lease = '',
           lease_until_us = NULL, version = version + 1
         WHERE iso_id = $2 AND status <> 'disconnected'";
    HINT_PUT =
        "INSERT INTO connection_hints (iso_id, connection_id, resource, object_id, received_us)
         VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (iso_id, connection_id, resource, object_id)
         DO UPDATE SET received_us = CASE
           WHEN excluded.received_us > connection_hints.received_us THEN excluded.received_us
           ELSE connection_hints.received_us + 1 END";
    HINT_LIST =
        "SELECT resource, object_id, received_us FROM connection_hints
         WHERE iso_id = $1 AND connection_id = $2
         ORDER BY received_us, resource, object_id LIMIT $3";
    HINT_COUNT = "SELECT COUNT(*) FROM connection_hints WHERE iso_id = $1 AND connection_id = $2";
    HINT_DELETE =
        "DELETE FROM connection_hints
         WHERE iso_id = $1 AND connection_id = $2 AND resource = $3 AND object_id = $4
           AND received_us = $5";
    STORE_CONNECTION_DAY_CLEAR =
        "DELETE FROM connection_days WHERE iso_id = $1 AND connection_id = $2";
    STORE_CONNECTION_ALERT_CLEAR =
        "DELETE FROM connection_alerts WHERE connection_id = $1 AND iso_id = $2";
    HINT_CLEAR = "DELETE FROM connection_hints WHERE iso_id = $1 AND connection_id = $2";
}

pub fn insert(conn: &mut dyn Conn, connection: &ConnectionRow) -> Result<()> {
    conn.insert(&STORE_CONNECTION_INSERT, connection).map(drop)
}

/// The connection must exist.
pub fn update(conn: &mut dyn Conn, connection: &ConnectionRow) -> Result<()> {
    conn.update(&STORE_CONNECTION_UPDATE, connection)
}

pub fn get(conn: &mut dyn Conn, iso_id: &IsoId, id: &str) -> Result<Option<ConnectionRow>> {
    conn.row(&STORE_CONNECTION_GET, &[iso_id.into(), id.into()], ConnectionRow::read)
}

/// The connection of that id, whosever it is: for those who prove themselves to the store's copy.
pub fn find(conn: &mut dyn Conn, id: &str) -> Result<Option<ConnectionRow>> {
    conn.row(&STORE_CONNECTION_FIND, &[id.into()], ConnectionRow::read)
}

pub fn count(conn: &mut dyn Conn, iso_id: &IsoId) -> Result<i64> {
    Ok(conn.row(&STORE_CONNECTION_COUNT, &[iso_id.into()], |row| row.get(0))?.unwrap_or(0))
}

/// The newest of the ISO, behind a place in the list.
pub fn list(
    conn: &mut dyn Conn,
    iso_id: &IsoId,
    (merchant_id, status): (Option<&str>, Option<&str>),
    after: Option<&(Timestamp, String)>,
    limit: i64,
) -> Result<Vec<ConnectionRow>> {
    let mut filter = Filter::new("iso_id = ?", iso_id.as_str().to_owned());
    filter.and_value("merchant_id = ?", merchant_id.map(str::to_owned));
    filter.and_value("status = ?", status.map(str::to_owned));
    if let Some((created, id)) = after {
        let before = filter.clause("created_us < ?", *created);
        let same = filter.clause("created_us = ?", *created);
        let older = filter.clause("connection_id < ?", id.clone());
        let same = Clause::joined(vec![same, older], " AND ");
        filter.and(Clause::joined(vec![before, same], " OR "));
    }
    let order = vec![
        (Clause::fixed("created_us"), Direction::Descending),
        (Clause::fixed("connection_id"), Direction::Descending),
    ];
    let source = (ConnectionRow::COLUMNS, ConnectionRow::TABLE);
    filter.first(conn, source, order, limit, ConnectionRow::read)
}

/// Another connection of the ISO to the same store.
pub fn twin(conn: &mut dyn Conn, row: &ConnectionRow) -> Result<Option<String>> {
    let params = [(&row.iso_id).into(), (&row.url).into(), row.connection_id.as_str().into()];
    conn.row(&STORE_CONNECTION_TWIN, &params, |row| row.get(0))
}

/// Whether somebody has to look at a connection.
pub fn is_due(conn: &mut dyn Conn, now: Timestamp) -> Result<bool> {
    Ok(conn.row(&STORE_CONNECTION_IS_DUE, &[now.into()], |row| row.get::<i64>(0))?.is_some())
}

/// Takes up to `limit` connections that somebody has to look at.
pub fn claim(
    conn: &mut dyn Conn,
    lease: &str,
    (now, until): (Timestamp, Timestamp),
    limit: i64,
) -> Result<Vec<ConnectionRow>> {
    let mut due =
        conn.rows(&STORE_CONNECTION_DUE, &[now.into(), limit.into()], ConnectionRow::read)?;
    for row in &mut due {
        let id = row.connection_id.as_str();
        let params = [lease.into(), until.into(), (&row.iso_id).into(), id.into()];
        conn.execute_one(&STORE_CONNECTION_CLAIM, &params)?;
        lease.clone_into(&mut row.lease);
        row.lease_until = Some(until);
    }
    Ok(due)
}

/// Holds on to a connection. Returns whether it was still held.
pub fn renew(conn: &mut dyn Conn, row: &ConnectionRow, until: Timestamp) -> Result<bool> {
    let id = row.connection_id.as_str();
    let params = [until.into(), (&row.iso_id).into(), id.into(), row.lease.as_str().into()];
    Ok(conn.execute(&STORE_CONNECTION_RENEW, &params)? == 1)
}

/// Notes how far the work is. Returns whether the connection was still held; if it was not, nothing
/// is noted.
pub fn progress(conn: &mut dyn Conn, row: &ConnectionRow, until: Timestamp) -> Result<bool> {
    let params = [
        row.name.as_str().into(),
        row.status.into(),
        row.cursor.as_str().into(),
        row.counts.as_str().into(),
        row.error_code.as_str().into(),
        row.error_message.as_str().into(),
        row.failures.into(),
        row.drift.into(),
        row.last_success.into(),
        row.reconciled.into(),
        until.into(),
        row.country.as_str().into(),
        row.checks.as_str().into(),
        (&row.iso_id).into(),
        row.connection_id.as_str().into(),
        row.lease.as_str().into(),
    ];
    Ok(conn.execute(&STORE_CONNECTION_PROGRESS, &params)? == 1)
}

/// Lets go of a connection until it is due again. What webhooks told of since it was claimed is
/// looked at when they asked for it.
pub fn release(
    conn: &mut dyn Conn,
    row: &ConnectionRow,
    due: Timestamp,
    claimed: Timestamp,
) -> Result<()> {
    let (id, lease) = (row.connection_id.as_str(), row.lease.as_str());
    let params = [due.into(), (&row.iso_id).into(), id.into(), claimed.into(), lease.into()];
    conn.execute(&STORE_CONNECTION_RELEASE, &params).map(drop)
}

/// Lets go of a connection until then, whatever webhooks told of: a store that fails is left alone
/// for as long as it was decided.
pub fn put_off(conn: &mut dyn Conn, row: &ConnectionRow, due: Timestamp) -> Result<()> {
    let id = row.connection_id.as_str();
    let params = [due.into(), (&row.iso_id).into(), id.into(), row.lease.as_str().into()];
    conn.execute(&STORE_CONNECTION_PUT_OFF, &params).map(drop)
}

/// Removes a connection that is held, with what was noted about it.
pub fn remove(conn: &mut dyn Conn, row: &ConnectionRow) -> Result<bool> {
    let id = row.connection_id.as_str();
    let params = [(&row.iso_id).into(), id.into(), row.lease.as_str().into()];
    if conn.execute(&STORE_CONNECTION_DELETE, &params)? == 0 {
        return Ok(false);
    }
    let key = [(&row.iso_id).into(), id.into()];
    conn.execute(&HINT_CLEAR, &key)?;
    conn.execute(&STORE_CONNECTION_DAY_CLEAR, &key)?;
    conn.execute(&STORE_CONNECTION_ALERT_CLEAR, &[id.into(), (&row.iso_id).into()])?;
    Ok(true)
}

/// Whether whoever took the connection still holds it.
pub fn is_held_by(conn: &mut dyn Conn, row: &ConnectionRow) -> Result<bool> {
    let stored = get(conn, &row.iso_id, &row.connection_id)?;
    Ok(stored.is_some_and(|stored| stored.lease == row.lease))
}

/// Disconnects all stores of an ISO.
pub fn disconnect_all(conn: &mut dyn Conn, iso_id: &IsoId, now: Timestamp) -> Result<u64> {
    conn.execute(&STORE_CONNECTION_FORGET_MERCHANTS, &[now.into(), iso_id.into()])
}

/// Keeps what a webhook told of, and has somebody look at it now. At most `limit` are kept; what is
/// above is found by asking the store. A store that fails is looked at when it was decided, however
/// much it sends.
pub fn hint(
    conn: &mut dyn Conn,
    row: &ConnectionRow,
    hint: &Hint,
    now: Timestamp,
    limit: i64,
) -> Result<()> {
    let id = row.connection_id.as_str();
    let key = [(&row.iso_id).into(), id.into()];
    let waiting: i64 = conn.row(&HINT_COUNT, &key, |row| row.get(0))?.unwrap_or(0);
    if waiting < limit && hint.object_id > 0 {
        let (resource, object_id) = (hint.resource.as_str(), hint.object_id);
        let [iso_id, id] = key;
        let params = [iso_id, id, resource.into(), object_id.into(), now.into()];
        conn.execute_one(&HINT_PUT, &params)?;
    }
    let params = [now.into(), (&row.iso_id).into(), id.into()];
    conn.execute(&STORE_CONNECTION_WAKE, &params).map(drop)
}

/// Up to `limit` of what webhooks told of, the oldest first.
pub fn hints(conn: &mut dyn Conn, row: &ConnectionRow, limit: i64) -> Result<Vec<Hint>> {
    let params = [(&row.iso_id).into(), row.connection_id.as_str().into(), limit.into()];
    conn.rows(&HINT_LIST, &params, |row| {
        Ok(Hint { resource: row.get(0)?, object_id: row.get(1)?, received_us: row.get(2)? })
    })
}

/// Forgets what was looked at, but for what was told again meanwhile.
pub fn forget_hints(conn: &mut dyn Conn, row: &ConnectionRow, hints: &[Hint]) -> Result<()> {
    for Hint { resource, object_id, received_us } in hints {
        let (iso_id, id) = ((&row.iso_id).into(), row.connection_id.as_str().into());
        let params =
            [iso_id, id, resource.as_str().into(), (*object_id).into(), (*received_us).into()];
        conn.execute(&HINT_DELETE, &params)?;
    }
    Ok(())
}
