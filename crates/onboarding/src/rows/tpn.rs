//! TPNs (terminal profiles) and their processor profiles.

use db::filter::{Clause, Direction};
use db::{Conn, Record as _, Val, statements};
use serde::{Deserialize, Serialize};
use types::{IsoId, MerchantId, Result, StoreId, TemplateId, Timestamp, Tpn};

use crate::rows::hex;
use crate::rows::merchant::ListFilter;

db::record! {
    #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
    pub struct TpnRow in "tpns", key(iso_id: IsoId, tpn: Tpn) {
        merchant_id: MerchantId,
        /// None while it waits in its merchant's pool.
        store_id: Option<StoreId>,
        status: String,
        status_reason: Option<String>,
        version: i64,
        device_manufacturer: String,
        device_model: String,
        application_sign: String,
        routing_type: String,
        default_label: Option<String>,
        tpn_bin: Option<String>,
        processor: String,
        /// A JSON object of the parameters that the TPN has for itself.
        parameters: Option<String>,
        external_reference: Option<String>,
        /// A JSON object.
        metadata: Option<String>,
        created: Timestamp,
        updated: Timestamp,
    }
    pairs {
        template: (TemplateId as "template_id", i64 as "template_version"),
    }
}

db::record! {
    /// A processor account on a TPN; `sealed` holds its credentials and **is never kept as
    /// history**.
    #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
    pub struct ProfileRow in "profiles", key(iso_id: IsoId, tpn: Tpn, profile_id: String) {
        processor: String,
        status: String,
        tpn_bin: Option<String>,
        /// The merchant number, where the processor has one.
        mid: Option<String>,
        /// A JSON object.
        identifiers: String,
        #[serde(with = "hex")]
        identity_index: Vec<u8>,
        #[serde(skip)]
        sealed: Vec<u8>,
        created: Timestamp,
    }
}

statements! {
    TPN_INSERT = db::insert!(TpnRow);
    TPN_UPDATE = db::update!(TpnRow);
    TPN_GET = db::select!(TpnRow, "WHERE iso_id = $1 AND tpn = $2");
    // By the primary key, an engine without statistics would look at all TPNs of the ISO.
    TPNS_OF_MERCHANT =
        db::select!(TpnRow, "WHERE iso_id || '' = $1 AND merchant_id = $2 ORDER BY tpn LIMIT $3");
    TPNS_OF_TEMPLATE = db::select!(
        TpnRow,
        "WHERE iso_id = $1 AND template_id = $2 AND tpn > $3 AND status <> 'retired'
         ORDER BY tpn LIMIT $4"
    );
    TPN_VERSIONS_OF_TEMPLATE =
        "SELECT template_version, COUNT(*) FROM tpns
         WHERE iso_id = $1 AND template_id = $2 AND status <> 'retired'
         GROUP BY template_version ORDER BY template_version DESC";
    TPN_STORES_OF_TEMPLATE =
        "SELECT store_id, COUNT(*) FROM tpns
         WHERE iso_id = $1 AND template_id = $2 AND store_id > $3 AND status <> 'retired'
         GROUP BY store_id ORDER BY store_id LIMIT $4";
    // It stays as old as it was.
    PROFILE_PUT = db::insert!(
        ProfileRow,
        "ON CONFLICT (iso_id, tpn, profile_id) DO UPDATE SET
           processor = excluded.processor, status = excluded.status, tpn_bin = excluded.tpn_bin,
           mid = excluded.mid, identifiers = excluded.identifiers,
           identity_index = excluded.identity_index, sealed = excluded.sealed"
    );
    PROFILE_LIST =
        db::select!(ProfileRow, "WHERE iso_id = $1 AND tpn = $2 ORDER BY profile_id");
    PROFILE_BY_IDENTITY =
        "SELECT profiles.tpn FROM profiles
         JOIN tpns ON tpns.iso_id = profiles.iso_id AND tpns.tpn = profiles.tpn
         WHERE profiles.iso_id = $1 AND profiles.identity_index = $2 AND tpns.status <> 'retired'
           AND tpns.tpn <> $3
         LIMIT 1";
    PROFILES_SHRED =
        "UPDATE profiles SET sealed = $1, identity_index = $1 WHERE iso_id = $2 AND tpn = $3";
}

pub fn insert(conn: &mut dyn Conn, tpn: &TpnRow) -> Result<()> {
    conn.insert(&TPN_INSERT, tpn).map(drop)
}

/// Puts the row in the place of the one with its number.
pub fn update(conn: &mut dyn Conn, tpn: &TpnRow) -> Result<()> {
    conn.update(&TPN_UPDATE, tpn)
}

pub fn get(conn: &mut dyn Conn, iso_id: &IsoId, tpn: &Tpn) -> Result<Option<TpnRow>> {
    conn.row(&TPN_GET, &[iso_id.into(), tpn.into()], TpnRow::read)
}

/// Up to `limit` TPNs of the merchant.
pub fn of_merchant(
    conn: &mut dyn Conn,
    iso_id: &IsoId,
    id: &MerchantId,
    limit: i64,
) -> Result<Vec<TpnRow>> {
    conn.rows(&TPNS_OF_MERCHANT, &[iso_id.into(), id.into(), limit.into()], TpnRow::read)
}

/// Whether the TPN is not retired.
pub fn is_in_use(row: &TpnRow) -> bool {
    row.status != "retired"
}

/// Up to `limit` TPNs that use the template and come after `after`, but for retired ones.
pub fn of_template(
    conn: &mut dyn Conn,
    iso_id: &IsoId,
    template_id: &TemplateId,
    after: &str,
    limit: i64,
) -> Result<Vec<TpnRow>> {
    let params = [iso_id.into(), template_id.into(), after.into(), limit.into()];
    conn.rows(&TPNS_OF_TEMPLATE, &params, TpnRow::read)
}

/// How many TPNs have which version of the template, the newest first, but for retired ones.
pub fn versions_of_template(
    conn: &mut dyn Conn,
    iso_id: &IsoId,
    template_id: &TemplateId,
) -> Result<Vec<(i64, i64)>> {
    let params = [iso_id.into(), template_id.into()];
    conn.rows(&TPN_VERSIONS_OF_TEMPLATE, &params, |row| Ok((row.get(0)?, row.get(1)?)))
}

/// Up to `limit` stores that come after `after`, each with how many of its TPNs use the template.
pub fn stores_of_template(
    conn: &mut dyn Conn,
    iso_id: &IsoId,
    template_id: &TemplateId,
    after: &str,
    limit: i64,
) -> Result<Vec<(StoreId, i64)>> {
    let params = [iso_id.into(), template_id.into(), after.into(), limit.into()];
    conn.rows(&TPN_STORES_OF_TEMPLATE, &params, |row| Ok((row.get(0)?, row.get(1)?)))
}

/// TPNs, the newest first. Of the filters only those count that a TPN can answer.
pub fn list(conn: &mut dyn Conn, iso_id: &IsoId, wanted: &ListFilter) -> Result<Vec<TpnRow>> {
    let mut filter = wanted.common(iso_id, "tpn < ?");
    filter.and_value("store_id = ?", wanted.store_id.clone());
    filter.and_value(
        "tpn IN (SELECT profiles.tpn FROM profiles
           WHERE profiles.iso_id = tpns.iso_id AND profiles.mid = ?)",
        wanted.mid.clone(),
    );
    let order = vec![
        (Clause::fixed("created_us"), Direction::Descending),
        (Clause::fixed("tpn"), Direction::Descending),
    ];
    filter.first(conn, (TpnRow::COLUMNS, TpnRow::TABLE), order, wanted.limit, TpnRow::read)
}

/// Stores a profile, in the place of the one with its id if there is one.
pub fn profile_put(conn: &mut dyn Conn, profile: &ProfileRow) -> Result<()> {
    conn.insert(&PROFILE_PUT, profile).map(drop)
}

pub fn profile_list(conn: &mut dyn Conn, iso_id: &IsoId, tpn: &Tpn) -> Result<Vec<ProfileRow>> {
    conn.rows(&PROFILE_LIST, &[iso_id.into(), tpn.into()], ProfileRow::read)
}

/// A live TPN of this ISO, but for the one that is named, that has the same processor account.
pub fn profile_by_identity(
    conn: &mut dyn Conn,
    iso_id: &IsoId,
    identity_index: &[u8],
    but: Option<&Tpn>,
) -> Result<Option<Tpn>> {
    let but = but.map_or("", Tpn::as_str);
    let params = [iso_id.into(), identity_index.into(), but.into()];
    conn.row(&PROFILE_BY_IDENTITY, &params, |row| row.get(0))
}

/// Forgets the credentials of a TPN for good.
pub fn profiles_shred(conn: &mut dyn Conn, iso_id: &IsoId, tpn: &Tpn) -> Result<u64> {
    conn.execute(&PROFILES_SHRED, &[Val::Bytes(&[]), iso_id.into(), tpn.into()])
}
