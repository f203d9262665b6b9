//! How much an ISO has of what it may have only so much of, and of what is paired with that.
//! **Counting stops at the bound**, so that it costs no more than the quota is large.

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
    QUOTA_DEVICES =
        "SELECT COUNT(*) FROM (SELECT 1 AS one FROM devices
           WHERE iso_id = $1 LIMIT $2) AS counted";
}

/// What an ISO has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub merchants: i64,
    pub stores: i64,
    pub tpns: i64,
    /// Onboardings since the moment that was asked for.
    pub onboardings: i64,
    pub devices: i64,
}

/// Counts each up to `max`.
pub fn counts(conn: &mut dyn Conn, iso_id: &IsoId, since: Timestamp, max: i64) -> Result<Counts> {
    let params = [iso_id.into(), max.into()];
    Ok(Counts {
        merchants: count(conn, &QUOTA_MERCHANTS, &params)?,
        stores: count(conn, &QUOTA_STORES, &params)?,
        tpns: count(conn, &QUOTA_TPNS, &params)?,
        onboardings: count(conn, &QUOTA_ONBOARDINGS, &[iso_id.into(), since.into(), max.into()])?,
        devices: count(conn, &QUOTA_DEVICES, &params)?,
    })
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

fn is_full(conn: &mut dyn Conn, counting: &Sql, params: &[Val<'_>], max: i64) -> Result<bool> {
    Ok(count(conn, counting, params)? >= max)
}

fn count(conn: &mut dyn Conn, counting: &Sql, params: &[Val<'_>]) -> Result<i64> {
    let count: Option<i64> = conn.row(counting, params, |row| row.get(0))?;
    Ok(count.unwrap_or(0))
}
