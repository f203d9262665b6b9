//! TPNs (terminal profiles) and their processor profiles.

use types::{IsoId, MerchantId, Result, StoreId, TemplateId, Timestamp, Tpn};

use crate::conn::sql;
use crate::{Conn, Row, Sql};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TpnRow {
    pub iso_id: IsoId,
    pub tpn: Tpn,
    pub merchant_id: MerchantId,
    pub store_id: StoreId,
    pub status: String,
    pub version: i64,
    pub device_manufacturer: String,
    pub device_model: String,
    pub application_sign: String,
    pub routing_type: String,
    pub default_label: Option<String>,
    pub template: Option<(TemplateId, i64)>,
    pub tpn_bin: Option<String>,
    pub processor: String,
    pub created: Timestamp,
    pub updated: Timestamp,
}

/// A processor account on a TPN; `sealed` holds its credentials.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProfileRow {
    pub iso_id: IsoId,
    pub tpn: Tpn,
    pub profile_id: String,
    pub processor: String,
    pub status: String,
    pub tpn_bin: Option<String>,
    /// A JSON object.
    pub identifiers: String,
    pub identity_index: Vec<u8>,
    pub sealed: Vec<u8>,
    pub created: Timestamp,
}

sql!(
    TPN_INSERT,
    "INSERT INTO tpns
       (iso_id, tpn, merchant_id, store_id, status, version, device_manufacturer, device_model,
        application_sign, routing_type, default_label, template_id, template_version, tpn_bin,
        processor, created_us, updated_us)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)"
);
sql!(
    TPN_GET,
    "SELECT iso_id, tpn, merchant_id, store_id, status, version, device_manufacturer,
        device_model, application_sign, routing_type, default_label, template_id,
        template_version, tpn_bin, processor, created_us, updated_us
     FROM tpns WHERE iso_id = $1 AND tpn = $2"
);
sql!(
    PROFILE_INSERT,
    "INSERT INTO profiles
       (iso_id, tpn, profile_id, processor, status, tpn_bin, identifiers, identity_index, sealed,
        created_us)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)"
);
sql!(
    PROFILE_LIST,
    "SELECT iso_id, tpn, profile_id, processor, status, tpn_bin, identifiers, identity_index,
        sealed, created_us
     FROM profiles WHERE iso_id = $1 AND tpn = $2 ORDER BY profile_id"
);
sql!(
    PROFILE_BY_IDENTITY,
    "SELECT profiles.tpn FROM profiles
     JOIN tpns ON tpns.iso_id = profiles.iso_id AND tpns.tpn = profiles.tpn
     WHERE profiles.iso_id = $1 AND profiles.identity_index = $2 AND tpns.status <> 'retired'
     LIMIT 1"
);

pub(crate) const STATEMENTS: &[&Sql] =
    &[&TPN_INSERT, &TPN_GET, &PROFILE_INSERT, &PROFILE_LIST, &PROFILE_BY_IDENTITY];

impl TpnRow {
    fn read(row: &dyn Row) -> Result<Self> {
        let template_id: Option<TemplateId> = row.get(11)?;
        let template_version: Option<i64> = row.get(12)?;
        Ok(Self {
            iso_id: row.get(0)?,
            tpn: row.get(1)?,
            merchant_id: row.get(2)?,
            store_id: row.get(3)?,
            status: row.get(4)?,
            version: row.get(5)?,
            device_manufacturer: row.get(6)?,
            device_model: row.get(7)?,
            application_sign: row.get(8)?,
            routing_type: row.get(9)?,
            default_label: row.get(10)?,
            template: template_id.zip(template_version),
            tpn_bin: row.get(13)?,
            processor: row.get(14)?,
            created: row.get(15)?,
            updated: row.get(16)?,
        })
    }
}

impl ProfileRow {
    fn read(row: &dyn Row) -> Result<Self> {
        Ok(Self {
            iso_id: row.get(0)?,
            tpn: row.get(1)?,
            profile_id: row.get(2)?,
            processor: row.get(3)?,
            status: row.get(4)?,
            tpn_bin: row.get(5)?,
            identifiers: row.get(6)?,
            identity_index: row.get(7)?,
            sealed: row.get(8)?,
            created: row.get(9)?,
        })
    }
}

pub fn insert(conn: &mut dyn Conn, tpn: &TpnRow) -> Result<()> {
    conn.execute_one(
        &TPN_INSERT,
        &[
            (&tpn.iso_id).into(),
            (&tpn.tpn).into(),
            (&tpn.merchant_id).into(),
            (&tpn.store_id).into(),
            (&tpn.status).into(),
            tpn.version.into(),
            (&tpn.device_manufacturer).into(),
            (&tpn.device_model).into(),
            (&tpn.application_sign).into(),
            (&tpn.routing_type).into(),
            tpn.default_label.as_deref().into(),
            tpn.template.as_ref().map(|(id, _)| id).into(),
            tpn.template.as_ref().map(|(_, version)| *version).into(),
            tpn.tpn_bin.as_deref().into(),
            (&tpn.processor).into(),
            tpn.created.into(),
            tpn.updated.into(),
        ],
    )
}

pub fn get(conn: &mut dyn Conn, iso_id: &IsoId, tpn: &Tpn) -> Result<Option<TpnRow>> {
    conn.row(&TPN_GET, &[iso_id.into(), tpn.into()], TpnRow::read)
}

pub fn profile_insert(conn: &mut dyn Conn, profile: &ProfileRow) -> Result<()> {
    conn.execute_one(
        &PROFILE_INSERT,
        &[
            (&profile.iso_id).into(),
            (&profile.tpn).into(),
            (&profile.profile_id).into(),
            (&profile.processor).into(),
            (&profile.status).into(),
            profile.tpn_bin.as_deref().into(),
            (&profile.identifiers).into(),
            (&profile.identity_index).into(),
            (&profile.sealed).into(),
            profile.created.into(),
        ],
    )
}

pub fn profile_list(conn: &mut dyn Conn, iso_id: &IsoId, tpn: &Tpn) -> Result<Vec<ProfileRow>> {
    conn.rows(&PROFILE_LIST, &[iso_id.into(), tpn.into()], ProfileRow::read)
}

/// A live TPN of this ISO that has the same processor account.
pub fn profile_by_identity(
    conn: &mut dyn Conn,
    iso_id: &IsoId,
    identity_index: &[u8],
) -> Result<Option<Tpn>> {
    conn.row(&PROFILE_BY_IDENTITY, &[iso_id.into(), identity_index.into()], |row| row.get(0))
}
