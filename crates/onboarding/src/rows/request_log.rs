//! What callers asked and what they were told, redacted, for as long as somebody may ask about it.

use std::sync::LazyLock;
use std::time::Duration;

use db::bulk::{self, BATCH_ROWS};
use db::{Conn, Row, Val, statements};
use types::{IsoId, Result, Timestamp};

/// A request with its answer. **Bodies are redacted before they get here.**
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestRow {
    pub iso_id: IsoId,
    pub request_id: String,
    pub at: Timestamp,
    /// Who asked, such as `key:3kT9xQ2a`.
    pub actor: String,
    pub address: Option<String>,
    pub method: String,
    pub path: String,
    pub status: i64,
    pub duration: Duration,
    /// The redacted body; empty when there was none.
    pub request: String,
    /// The redacted answer; empty when it was not kept.
    pub response: String,
}

macro_rules! request_insert {
    () => {
        "INSERT INTO request_log
           (iso_id, request_id, at_us, actor, address, method, path, status, duration_us, request,
            response)
         VALUES"
    };
}
const COLUMNS: usize = 11;

statements! {
    REQUEST_INSERT = concat!(request_insert!(), " ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)");
    REQUEST_GET =
        "SELECT iso_id, request_id, at_us, actor, address, method, path, status, duration_us,
           request, response
         FROM request_log WHERE iso_id = $1 AND request_id = $2";
    REQUEST_PRUNE =
        "DELETE FROM request_log WHERE (iso_id, request_id) IN
           (SELECT iso_id, request_id FROM request_log WHERE at_us < $1 LIMIT $2)";
}

static INSERT_BATCH: LazyLock<String> = LazyLock::new(|| bulk::text(request_insert!(), COLUMNS));

/// Keeps requests, many at once.
pub fn insert(conn: &mut dyn Conn, requests: &[RequestRow]) -> Result<()> {
    for part in requests.chunks(BATCH_ROWS) {
        let rows: Vec<[Val<'_>; COLUMNS]> = part.iter().map(RequestRow::params).collect();
        bulk::insert(conn, (&REQUEST_INSERT, &INSERT_BATCH), &rows)?;
    }
    Ok(())
}

pub fn get(conn: &mut dyn Conn, iso_id: &IsoId, request_id: &str) -> Result<Option<RequestRow>> {
    conn.row(&REQUEST_GET, &[iso_id.into(), request_id.into()], RequestRow::read)
}

/// Forgets up to `limit` requests of before that moment, and returns how many there were.
pub fn prune(conn: &mut dyn Conn, before: Timestamp, limit: i64) -> Result<u64> {
    conn.execute(&REQUEST_PRUNE, &[before.into(), limit.into()])
}

impl RequestRow {
    fn params(&self) -> [Val<'_>; COLUMNS] {
        let duration = i64::try_from(self.duration.as_micros()).unwrap_or(i64::MAX);
        [
            (&self.iso_id).into(),
            (&self.request_id).into(),
            self.at.into(),
            (&self.actor).into(),
            self.address.as_ref().into(),
            (&self.method).into(),
            (&self.path).into(),
            self.status.into(),
            duration.into(),
            (&self.request).into(),
            (&self.response).into(),
        ]
    }

    fn read(row: &dyn Row) -> Result<Self> {
        let duration: i64 = row.get(8)?;
        Ok(Self {
            iso_id: row.get(0)?,
            request_id: row.get(1)?,
            at: row.get(2)?,
            actor: row.get(3)?,
            address: row.get(4)?,
            method: row.get(5)?,
            path: row.get(6)?,
            status: row.get(7)?,
            duration: Duration::from_micros(duration.unsigned_abs()),
            request: row.get(9)?,
            response: row.get(10)?,
        })
    }
}
