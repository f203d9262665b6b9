//! How much an ISO has of what it may have only so much of. **Counting stops at the bound**, so
//! that it costs no more than the quota is large.

use db::{Conn, Sql, Val, statements};
use types::{IsoId, Result, Timestamp};

statements! {
    QUOTA_MERCHANTS =
        "SELECT COUNT(*) FROM (SELECT 1 AS one FROM merchants
           WHERE iso_id = $1 AND status <> 'closed' AND status <> 'rejected' LIMIT $2) AS counted";
    QUOTA_STORES =
        "SELECT COUNT(*) FROM (SELECT 1 AS one FROM stores
           WHERE iso_id = $1 AND status <> 'closed' LIMIT $2) AS counted";
    QUOTA_TPNS =
        "SELECT COUNT(*) FROM (SELECT 1 AS one FROM tpns
           WHERE iso_id = $1 AND status <> 'retired' LIMIT $2) AS counted";
    QUOTA_ONBOARDINGS =
        "SELECT COUNT(*) FROM (SELECT 1 AS one FROM tpns
           WHERE iso_id = $1 AND created_us > $2 LIMIT $3) AS counted";
}

/// Whether the ISO has as many merchants at work as it may have.
pub fn merchants_are_full(conn: &mut dyn Conn, iso_id: &IsoId, max: i64) -> Result<bool> {
    is_full(conn, &QUOTA_MERCHANTS, &[iso_id.into(), max.into()], max)
}

/// Whether the ISO has as many stores at work as it may have.
pub fn stores_are_full(conn: &mut dyn Conn, iso_id: &IsoId, max: i64) -> Result<bool> {
    is_full(conn, &QUOTA_STORES, &[iso_id.into(), max.into()], max)
}

/// Whether the ISO has as many TPNs as it may have.
pub fn tpns_are_full(conn: &mut dyn Conn, iso_id: &IsoId, max: i64) -> Result<bool> {
    is_full(conn, &QUOTA_TPNS, &[iso_id.into(), max.into()], max)
}

/// Whether the ISO onboarded as often since that moment as it may. Each onboarding makes a TPN.
pub fn onboardings_are_full(
    conn: &mut dyn Conn,
    iso_id: &IsoId,
    since: Timestamp,
    max: i64,
) -> Result<bool> {
    is_full(conn, &QUOTA_ONBOARDINGS, &[iso_id.into(), since.into(), max.into()], max)
}

fn is_full(conn: &mut dyn Conn, count: &Sql, params: &[Val<'_>], max: i64) -> Result<bool> {
    let count: Option<i64> = conn.row(count, params, |row| row.get(0))?;
    Ok(count.unwrap_or(0) >= max)
}
