//! Alerts about connected stores: what was unusual, and when that began and ended.

use db::filter::{Clause, Direction, Filter};
use db::{Conn, Record as _, named, statements};
use types::{IsoId, Result, Timestamp};

use super::connection::ConnectionRow;

named! {
    /// What is unusual about a store.
    AlertKind {
        /// There are no orders, although several were to be expected.
        #[default]
        NoOrders = "no_orders",
        /// Much more is refunded than usual.
        RefundRate = "refund_rate",
    }
}

db::record! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct AlertRow in "connection_alerts", key(iso_id: IsoId, alert_id: String) {
        connection_id: String,
        kind: AlertKind,
        /// For people.
        message: String,
        /// A JSON object.
        details: String,
        raised: Timestamp,
        ended: Option<Timestamp>,
    }
}

/// Which alerts are listed.
#[derive(Clone, Debug, Default)]
pub struct AlertFilter {
    pub connection_id: Option<String>,
    pub is_open: Option<bool>,
    /// Those behind this one.
    pub after: Option<(Timestamp, String)>,
}

statements! {
    ALERT_INSERT = db::insert!(AlertRow);
    ALERT_OPEN =
        db::select!(AlertRow, "WHERE connection_id = $1 AND iso_id = $2 AND ended_us IS NULL");
    ALERT_SINCE =
        "SELECT 1 FROM connection_alerts
         WHERE connection_id = $1 AND iso_id = $2 AND raised_us > $3 AND kind = $4 LIMIT 1";
    ALERT_END = "UPDATE connection_alerts SET ended_us = $1 WHERE iso_id = $2 AND alert_id = $3";
    ALERT_FORGET =
        "DELETE FROM connection_alerts WHERE connection_id = $1 AND iso_id = $2 AND ended_us < $3";
}

pub fn insert(conn: &mut dyn Conn, alert: &AlertRow) -> Result<()> {
    conn.insert(&ALERT_INSERT, alert).map(drop)
}

/// The alerts of a store that have not ended.
pub fn open(conn: &mut dyn Conn, row: &ConnectionRow) -> Result<Vec<AlertRow>> {
    let params = [row.connection_id.as_str().into(), (&row.iso_id).into()];
    conn.rows(&ALERT_OPEN, &params, AlertRow::read)
}

/// Whether one of this kind was raised about a store after a time.
pub fn is_since(
    conn: &mut dyn Conn,
    row: &ConnectionRow,
    kind: AlertKind,
    after: Timestamp,
) -> Result<bool> {
    let params = [
        row.connection_id.as_str().into(),
        (&row.iso_id).into(),
        after.into(),
        kind.as_str().into(),
    ];
    Ok(conn.row(&ALERT_SINCE, &params, |row| row.get::<i64>(0))?.is_some())
}

pub fn end(conn: &mut dyn Conn, alert: &AlertRow, now: Timestamp) -> Result<()> {
    let params = [now.into(), (&alert.iso_id).into(), alert.alert_id.as_str().into()];
    conn.execute_one(&ALERT_END, &params)
}

/// Forgets alerts of a store that ended before a time.
pub fn forget(conn: &mut dyn Conn, row: &ConnectionRow, before: Timestamp) -> Result<()> {
    let params = [row.connection_id.as_str().into(), (&row.iso_id).into(), before.into()];
    conn.execute(&ALERT_FORGET, &params).map(drop)
}

/// The newest of the ISO.
pub fn list(
    conn: &mut dyn Conn,
    iso_id: &IsoId,
    wanted: &AlertFilter,
    limit: i64,
) -> Result<Vec<AlertRow>> {
    let mut filter = Filter::new("iso_id = ?", iso_id.as_str().to_owned());
    filter.and_value("connection_id = ?", wanted.connection_id.clone());
    if let Some(is_open) = wanted.is_open {
        let state = if is_open { "ended_us IS NULL" } else { "ended_us IS NOT NULL" };
        filter.and(Clause::fixed(state));
    }
    if let Some((raised, id)) = &wanted.after {
        let before = filter.clause("raised_us < ?", *raised);
        let same = filter.clause("raised_us = ?", *raised);
        let older = filter.clause("alert_id < ?", id.clone());
        let same = Clause::joined(vec![same, older], " AND ");
        filter.and(Clause::joined(vec![before, same], " OR "));
    }
    let order = vec![
        (Clause::fixed("raised_us"), Direction::Descending),
        (Clause::fixed("alert_id"), Direction::Descending),
    ];
    filter.first(conn, (AlertRow::COLUMNS, AlertRow::TABLE), order, limit, AlertRow::read)
}
