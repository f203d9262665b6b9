//! TPNs (terminal profiles) and their processor profiles.

use db::filter::{Clause, Direction};
use db::{Conn, Row, Val, statements};
use serde::{Deserialize, Serialize};
use types::{IsoId, MerchantId, Result, StoreId, TemplateId, Timestamp, Tpn};

use crate::rows::hex;
use crate::rows::merchant::ListFilter;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TpnRow {
    pub iso_id: IsoId,
    pub tpn: Tpn,
    pub merchant_id: MerchantId,
    /// None while it waits in its merchant's pool.
    pub store_id: Option<StoreId>,
    pub status: String,
    pub status_reason: Option<String>,
    pub version: i64,
    pub device_manufacturer: String,
    pub device_model: String,
    pub application_sign: String,
    pub routing_type: String,
    pub default_label: Option<String>,
    pub template: Option<(TemplateId, i64)>,
    pub tpn_bin: Option<String>,
    pub processor: String,
    /// A JSON object of the parameters that the TPN has for itself.
    pub parameters: Option<String>,
    pub external_reference: Option<String>,
    /// A JSON object.
    pub metadata: Option<String>,
    pub created: Timestamp,
    pub updated: Timestamp,
}

/// A processor account on a TPN; `sealed` holds its credentials and **is never kept as history**.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProfileRow {
    pub iso_id: IsoId,
    pub tpn: Tpn,
    pub profile_id: String,
    pub processor: String,
    pub status: String,
    pub tpn_bin: Option<String>,
    /// The merchant number, where the processor has one.
    pub mid: Option<String>,
    /// A JSON object.
    pub identifiers: String,
    #[serde(with = "hex")]
    pub identity_index: Vec<u8>,
    #[serde(skip)]
    pub sealed: Vec<u8>,
    pub created: Timestamp,
}

/// The columns of a TPN beside its key, in the order of [`TpnRow::values`].
macro_rules! tpn_columns {
    () => {
        "merchant_id, store_id, status, status_reason, version, device_manufacturer, \
         device_model, application_sign, routing_type, default_label, template_id, \
         template_version, tpn_bin, processor, parameters, external_reference, metadata, \
         created_us, updated_us"
    };
}

const TPN_COLUMNS: &str = concat!("iso_id, tpn, ", tpn_columns!());

statements! {
    TPN_INSERT = concat!(
        "INSERT INTO tpns (iso_id, tpn, ",
        tpn_columns!(),
        ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, \
         $18, $19, $20, $21)"
    );
    TPN_UPDATE = concat!(
        "UPDATE tpns SET (",
        tpn_columns!(),
        ") = ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)
         WHERE iso_id = $20 AND tpn = $21"
    );
    TPN_GET = concat!(
        "SELECT iso_id, tpn, ",
        tpn_columns!(),
        " FROM tpns WHERE iso_id = $1 AND tpn = $2"
    );
    TPNS_OF_MERCHANT = concat!(
        "SELECT iso_id, tpn, ",
        tpn_columns!(),
        " FROM tpns WHERE iso_id = $1 AND merchant_id = $2 ORDER BY tpn LIMIT $3"
    );
    PROFILE_PUT =
        "INSERT INTO profiles
           (iso_id, tpn, profile_id, processor, status, tpn_bin, mid, identifiers, identity_index,
            sealed, created_us)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
         ON CONFLICT (iso_id, tpn, profile_id) DO UPDATE SET
           processor = excluded.processor, status = excluded.status, tpn_bin = excluded.tpn_bin,
           mid = excluded.mid, identifiers = excluded.identifiers,
           identity_index = excluded.identity_index, sealed = excluded.sealed";
    PROFILE_LIST =
        "SELECT iso_id, tpn, profile_id, processor, status, tpn_bin, mid, identifiers,
            identity_index, sealed, created_us
         FROM profiles WHERE iso_id = $1 AND tpn = $2 ORDER BY profile_id";
    PROFILE_BY_IDENTITY =
        "SELECT profiles.tpn FROM profiles
         JOIN tpns ON tpns.iso_id = profiles.iso_id AND tpns.tpn = profiles.tpn
         WHERE profiles.iso_id = $1 AND profiles.identity_index = $2 AND tpns.status <> 'retired'
           AND tpns.tpn <> $3
         LIMIT 1";
    PROFILES_SHRED =
        "UPDATE profiles SET sealed = $1, identity_index = $1 WHERE iso_id = $2 AND tpn = $3";
}

impl TpnRow {
    fn read(row: &dyn Row) -> Result<Self> {
        let template_id: Option<TemplateId> = row.get(12)?;
        let template_version: Option<i64> = row.get(13)?;
        Ok(Self {
            iso_id: row.get(0)?,
            tpn: row.get(1)?,
            merchant_id: row.get(2)?,
            store_id: row.get(3)?,
            status: row.get(4)?,
            status_reason: row.get(5)?,
            version: row.get(6)?,
            device_manufacturer: row.get(7)?,
            device_model: row.get(8)?,
            application_sign: row.get(9)?,
            routing_type: row.get(10)?,
            default_label: row.get(11)?,
            template: template_id.zip(template_version),
            tpn_bin: row.get(14)?,
            processor: row.get(15)?,
            parameters: row.get(16)?,
            external_reference: row.get(17)?,
            metadata: row.get(18)?,
            created: row.get(19)?,
            updated: row.get(20)?,
        })
    }

    fn key(&self) -> [Val<'_>; 2] {
        [(&self.iso_id).into(), (&self.tpn).into()]
    }

    fn values(&self) -> [Val<'_>; 19] {
        [
            (&self.merchant_id).into(),
            self.store_id.as_ref().into(),
            (&self.status).into(),
            self.status_reason.as_deref().into(),
            self.version.into(),
            (&self.device_manufacturer).into(),
            (&self.device_model).into(),
            (&self.application_sign).into(),
            (&self.routing_type).into(),
            self.default_label.as_deref().into(),
            self.template.as_ref().map(|(id, _)| id).into(),
            self.template.as_ref().map(|(_, version)| *version).into(),
            self.tpn_bin.as_deref().into(),
            (&self.processor).into(),
            self.parameters.as_deref().into(),
            self.external_reference.as_deref().into(),
            self.metadata.as_deref().into(),
            self.created.into(),
            self.updated.into(),
        ]
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
            mid: row.get(6)?,
            identifiers: row.get(7)?,
            identity_index: row.get(8)?,
            sealed: row.get(9)?,
            created: row.get(10)?,
        })
    }
}

pub fn insert(conn: &mut dyn Conn, tpn: &TpnRow) -> Result<()> {
    conn.execute_one(&TPN_INSERT, &[&tpn.key()[..], &tpn.values()].concat())
}

/// Puts the row in the place of the one with its number.
pub fn update(conn: &mut dyn Conn, tpn: &TpnRow) -> Result<()> {
    conn.execute_one(&TPN_UPDATE, &[&tpn.values()[..], &tpn.key()].concat())
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
    filter.first(conn, (TPN_COLUMNS, "tpns"), order, wanted.limit, TpnRow::read)
}

/// Stores a profile, in the place of the one with its id if there is one.
pub fn profile_put(conn: &mut dyn Conn, profile: &ProfileRow) -> Result<()> {
    conn.execute_one(
        &PROFILE_PUT,
        &[
            (&profile.iso_id).into(),
            (&profile.tpn).into(),
            (&profile.profile_id).into(),
            (&profile.processor).into(),
            (&profile.status).into(),
            profile.tpn_bin.as_deref().into(),
            profile.mid.as_deref().into(),
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
