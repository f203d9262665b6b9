//! What the sandbox's webhook catcher received, the newest of each ISO only.

use db::{Conn, Record as _, counter, statements};
use types::{IsoId, Result, Timestamp};

/// Kept of one ISO at most; the oldest goes first.
pub const KEPT_MAX: i64 = 1_000;

db::record! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct CaughtWebhook in "caught_webhooks", key(
        iso_id: IsoId,
        /// Grows with each that is caught.
        number: i64,
    ) {
        at: Timestamp,
        /// A JSON object.
        headers: String,
        body: String,
        /// What the sender was answered.
        status: i64,
    }
}

statements! {
    CAUGHT_INSERT = db::insert!(CaughtWebhook);
    CAUGHT_FORGET = "DELETE FROM caught_webhooks WHERE iso_id = $1 AND number <= $2";
    CAUGHT_LIST = db::select!(
        CaughtWebhook,
        "WHERE iso_id = $1 AND number < $2 ORDER BY number DESC LIMIT $3"
    );
    CAUGHT_CLEAR = "DELETE FROM caught_webhooks WHERE iso_id = $1";
}

/// Keeps what was received, whatever `number` says, and forgets the oldest beyond the bound.
pub fn keep(conn: &mut dyn Conn, caught: &CaughtWebhook) -> Result<()> {
    let iso_id = &caught.iso_id;
    let number = counter::take(conn, &format!("caught.{iso_id}"), 1)? + 1;
    conn.insert(&CAUGHT_INSERT, &CaughtWebhook { number, ..caught.clone() })?;
    conn.execute(&CAUGHT_FORGET, &[iso_id.into(), (number - KEPT_MAX).into()]).map(drop)
}

/// Up to `limit` with smaller numbers than `before`, the newest first.
pub fn list(
    conn: &mut dyn Conn,
    iso_id: &IsoId,
    before: Option<i64>,
    limit: i64,
) -> Result<Vec<CaughtWebhook>> {
    let params = [iso_id.into(), before.unwrap_or(i64::MAX).into(), limit.into()];
    conn.rows(&CAUGHT_LIST, &params, CaughtWebhook::read)
}

/// Forgets all of an ISO, and returns how many there were.
pub fn clear(conn: &mut dyn Conn, iso_id: &IsoId) -> Result<u64> {
    conn.execute(&CAUGHT_CLEAR, &[iso_id.into()])
}
