//! Roll-outs of template versions, and how far each of their TPNs is.

use db::{Conn, Record as _, named, statements};
use types::{IsoId, Result, TemplateId, Timestamp, Tpn};

db::record! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct RolloutRow in "template_rollouts", key(iso_id: IsoId, rollout_id: String) {
        template_id: TemplateId,
        /// The version that the TPNs are given.
        version: i64,
        created_by: String,
        created: Timestamp,
        stopped: Option<Timestamp>,
        stop_reason: Option<String>,
    }
}

named! {
    /// How far a TPN of a roll-out is.
    RolloutState {
        /// The device has not asked for its parameters since.
        #[default]
        Pending = "pending",
        /// The device has the version.
        Downloaded = "downloaded",
        /// The roll-out was stopped before that, and the TPN has the version that it had before.
        Stopped = "stopped",
        /// The TPN was given something else before that, or retired.
        Replaced = "replaced",
    }
}

db::record! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct RolloutTpnRow in "rollout_tpns",
    key(iso_id: IsoId, rollout_id: String, tpn: Tpn) {
        state: RolloutState,
        previous_version: i64,
        /// When it got into this state.
        changed: Timestamp,
    }
}

statements! {
    ROLLOUT_INSERT = db::insert!(RolloutRow);
    ROLLOUT_UPDATE = db::update!(RolloutRow);
    ROLLOUT_GET = db::select!(RolloutRow, "WHERE iso_id = $1 AND rollout_id = $2");
    ROLLOUTS_OF_TEMPLATE = db::select!(
        RolloutRow,
        "WHERE iso_id = $1 AND template_id = $2
         ORDER BY created_us DESC, rollout_id DESC LIMIT $3"
    );
    ROLLOUT_COUNTS =
        "SELECT state, COUNT(*) FROM rollout_tpns WHERE iso_id = $1 AND rollout_id = $2
         GROUP BY state";
    ROLLOUT_TPN_INSERT = db::insert!(RolloutTpnRow);
    ROLLOUT_TPN_PENDING = db::select!(
        RolloutTpnRow,
        "WHERE iso_id = $1 AND tpn = $2 AND state = 'pending' LIMIT 1"
    );
    ROLLOUT_TPNS = db::select!(
        RolloutTpnRow,
        "WHERE iso_id = $1 AND rollout_id = $2 AND tpn > $3 ORDER BY tpn LIMIT $4"
    );
    ROLLOUT_TPNS_IN_STATE = db::select!(
        RolloutTpnRow,
        "WHERE iso_id = $1 AND rollout_id = $2 AND tpn > $3 AND state = $4 ORDER BY tpn LIMIT $5"
    );
    // Only what is pending changes.
    ROLLOUT_TPN_END =
        "UPDATE rollout_tpns SET state = $1, changed_us = $2
         WHERE iso_id = $3 AND rollout_id = $4 AND tpn = $5 AND state = 'pending'";
    ROLLOUT_TPN_REPLACE =
        "UPDATE rollout_tpns SET state = 'replaced', changed_us = $1
         WHERE iso_id = $2 AND tpn = $3 AND state = 'pending'";
}

pub fn insert(conn: &mut dyn Conn, rollout: &RolloutRow) -> Result<()> {
    conn.insert(&ROLLOUT_INSERT, rollout).map(drop)
}

pub fn update(conn: &mut dyn Conn, rollout: &RolloutRow) -> Result<()> {
    conn.update(&ROLLOUT_UPDATE, rollout)
}

pub fn get(conn: &mut dyn Conn, iso_id: &IsoId, rollout_id: &str) -> Result<Option<RolloutRow>> {
    conn.row(&ROLLOUT_GET, &[iso_id.into(), rollout_id.into()], RolloutRow::read)
}

/// Up to `limit` roll-outs of the template, the newest first.
pub fn of_template(
    conn: &mut dyn Conn,
    iso_id: &IsoId,
    template_id: &TemplateId,
    limit: i64,
) -> Result<Vec<RolloutRow>> {
    let params = [iso_id.into(), template_id.into(), limit.into()];
    conn.rows(&ROLLOUTS_OF_TEMPLATE, &params, RolloutRow::read)
}

/// How many TPNs of the roll-out are in which state.
pub fn counts(
    conn: &mut dyn Conn,
    iso_id: &IsoId,
    rollout_id: &str,
) -> Result<Vec<(RolloutState, i64)>> {
    let params = [iso_id.into(), rollout_id.into()];
    conn.rows(&ROLLOUT_COUNTS, &params, |row| Ok((row.get(0)?, row.get(1)?)))
}

pub fn tpn_insert(conn: &mut dyn Conn, tpn: &RolloutTpnRow) -> Result<()> {
    conn.insert(&ROLLOUT_TPN_INSERT, tpn).map(drop)
}

/// The roll-out in which the TPN is pending.
pub fn pending_of(conn: &mut dyn Conn, iso_id: &IsoId, tpn: &Tpn) -> Result<Option<RolloutTpnRow>> {
    conn.row(&ROLLOUT_TPN_PENDING, &[iso_id.into(), tpn.into()], RolloutTpnRow::read)
}

/// Up to `limit` TPNs of the roll-out that come after `after`, or of those in a state.
pub fn tpns(
    conn: &mut dyn Conn,
    (iso_id, rollout_id): (&IsoId, &str),
    state: Option<RolloutState>,
    after: &str,
    limit: i64,
) -> Result<Vec<RolloutTpnRow>> {
    let (iso, id) = (iso_id.into(), rollout_id.into());
    match state {
        None => {
            let params = [iso, id, after.into(), limit.into()];
            conn.rows(&ROLLOUT_TPNS, &params, RolloutTpnRow::read)
        }
        Some(state) => {
            let params = [iso, id, after.into(), state.into(), limit.into()];
            conn.rows(&ROLLOUT_TPNS_IN_STATE, &params, RolloutTpnRow::read)
        }
    }
}

/// Ends the waiting of a TPN in the roll-out. What is not pending any more stays as it is.
pub fn tpn_end(
    conn: &mut dyn Conn,
    row: &RolloutTpnRow,
    state: RolloutState,
    at: Timestamp,
) -> Result<()> {
    let key = [(&row.iso_id).into(), row.rollout_id.as_str().into(), (&row.tpn).into()];
    conn.execute(&ROLLOUT_TPN_END, &[&[state.into(), at.into()][..], &key].concat()).map(drop)
}

/// The TPN was given something else: it is pending nowhere any more.
pub fn replace(conn: &mut dyn Conn, iso_id: &IsoId, tpn: &Tpn, at: Timestamp) -> Result<()> {
    conn.execute(&ROLLOUT_TPN_REPLACE, &[at.into(), iso_id.into(), tpn.into()]).map(drop)
}
