//! Takes away what an ISO onboarded, a batch at a time, so that a rehearsal can start over. **For
//! the sandbox only**; nothing else deletes merchants, stores or TPNs.

use db::{Conn, statements};
use types::{IsoId, MerchantId, Result};

/// How much was taken away.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Removed {
    pub merchants: u64,
    pub stores: u64,
    pub tpns: u64,
    /// Past versions, roll-outs, answers of idempotency keys, onboarding links, and what was to
    /// happen later.
    pub others: u64,
}

statements! {
    RESET_MERCHANTS =
        "SELECT merchant_id FROM merchants WHERE iso_id = $1 ORDER BY merchant_id LIMIT $2";
    RESET_CODES =
        "DELETE FROM pairing_codes WHERE iso_id = $1 AND tpn IN
           (SELECT tpn FROM tpns WHERE iso_id = $1 AND merchant_id = $2)";
    RESET_DEVICES =
        "DELETE FROM devices WHERE iso_id = $1 AND tpn IN
           (SELECT tpn FROM tpns WHERE iso_id = $1 AND merchant_id = $2)";
    RESET_ROLLOUT_TPNS =
        "DELETE FROM rollout_tpns WHERE iso_id = $1 AND tpn IN
           (SELECT tpn FROM tpns WHERE iso_id = $1 AND merchant_id = $2)";
    RESET_SALES = "DELETE FROM sales WHERE iso_id = $1 AND merchant_id = $2";
    RESET_PROFILES =
        "DELETE FROM profiles WHERE iso_id = $1 AND tpn IN
           (SELECT tpn FROM tpns WHERE iso_id = $1 AND merchant_id = $2)";
    RESET_TPNS = "DELETE FROM tpns WHERE iso_id = $1 AND merchant_id = $2";
    RESET_STORES = "DELETE FROM stores WHERE iso_id = $1 AND merchant_id = $2";
    RESET_MERCHANT = "DELETE FROM merchants WHERE iso_id = $1 AND merchant_id = $2";
    RESET_VERSIONS =
        "DELETE FROM object_versions WHERE (iso_id, object, object_id, version) IN
           (SELECT iso_id, object, object_id, version FROM object_versions
            WHERE iso_id = $1 LIMIT $2)";
    RESET_ROLLOUTS =
        "DELETE FROM template_rollouts WHERE (iso_id, rollout_id) IN
           (SELECT iso_id, rollout_id FROM template_rollouts WHERE iso_id = $1 LIMIT $2)";
    RESET_ANSWERS =
        "DELETE FROM idempotency WHERE (iso_id, key_hash) IN
           (SELECT iso_id, key_hash FROM idempotency WHERE iso_id = $1 LIMIT $2)";
    RESET_LINKS =
        "DELETE FROM onboarding_links WHERE (iso_id, link_id) IN
           (SELECT iso_id, link_id FROM onboarding_links WHERE iso_id = $1 LIMIT $2)";
    RESET_DUE =
        "DELETE FROM due_work WHERE (iso_id, kind, object_id) IN
           (SELECT iso_id, kind, object_id FROM due_work WHERE iso_id = $1 LIMIT $2)";
}

/// Takes up to `limit` merchants away with everything below them, or, when none is left, as many of
/// what else was kept about them. Nothing when there is nothing left.
pub fn remove(conn: &mut dyn Conn, iso_id: &IsoId, limit: i64) -> Result<Removed> {
    let mut removed = Removed::default();
    let merchants: Vec<MerchantId> =
        conn.rows(&RESET_MERCHANTS, &[iso_id.into(), limit.into()], |row| row.get(0))?;
    for merchant_id in &merchants {
        let params = [iso_id.into(), merchant_id.into()];
        let below =
            [&RESET_CODES, &RESET_DEVICES, &RESET_ROLLOUT_TPNS, &RESET_SALES, &RESET_PROFILES];
        for statement in below {
            conn.execute(statement, &params)?;
        }
        removed.tpns += conn.execute(&RESET_TPNS, &params)?;
        removed.stores += conn.execute(&RESET_STORES, &params)?;
        removed.merchants += conn.execute(&RESET_MERCHANT, &params)?;
    }
    if merchants.is_empty() {
        let others = [&RESET_VERSIONS, &RESET_ROLLOUTS, &RESET_ANSWERS, &RESET_LINKS, &RESET_DUE];
        for statement in others {
            removed.others += conn.execute(statement, &[iso_id.into(), limit.into()])?;
        }
    }
    Ok(removed)
}
