//! Merchants and the stores under them.

use types::{IsoId, MerchantId, Result, StoreId, Timestamp};

use crate::conn::sql;
use crate::{Conn, Row, Sql};

/// A merchant as stored; `sealed` holds the personal data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MerchantRow {
    pub iso_id: IsoId,
    pub merchant_id: MerchantId,
    pub status: String,
    pub version: i64,
    pub dba: String,
    pub dba_key: String,
    pub zip: String,
    pub city: String,
    pub state: String,
    pub ebt: Option<String>,
    pub iso_agent_reference: Option<String>,
    pub iso_merchant: Option<String>,
    pub logo_url: Option<String>,
    pub email_index: Vec<u8>,
    pub phone_index: Vec<u8>,
    pub sealed: Vec<u8>,
    pub created: Timestamp,
    pub updated: Timestamp,
}

/// A store as stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreRow {
    pub iso_id: IsoId,
    pub store_id: StoreId,
    pub merchant_id: MerchantId,
    pub status: String,
    pub version: i64,
    pub dba: String,
    pub dba_key: String,
    pub mcc: String,
    pub zip: String,
    pub city: String,
    pub state: String,
    pub ebt: Option<String>,
    pub email_index: Vec<u8>,
    pub phone_index: Vec<u8>,
    pub sealed: Vec<u8>,
    pub created: Timestamp,
    pub updated: Timestamp,
}

sql!(
    MERCHANT_INSERT,
    "INSERT INTO merchants
       (iso_id, merchant_id, status, version, dba, dba_key, zip, city, state, ebt,
        iso_agent_reference, iso_merchant, logo_url, email_index, phone_index, sealed,
        created_us, updated_us)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)
     ON CONFLICT (iso_id, dba_key) DO NOTHING"
);
sql!(
    MERCHANT_GET,
    "SELECT iso_id, merchant_id, status, version, dba, dba_key, zip, city, state, ebt,
        iso_agent_reference, iso_merchant, logo_url, email_index, phone_index, sealed,
        created_us, updated_us
     FROM merchants WHERE iso_id = $1 AND merchant_id = $2"
);
sql!(MERCHANT_BY_DBA, "SELECT merchant_id FROM merchants WHERE iso_id = $1 AND dba_key = $2");
sql!(
    MERCHANT_BY_EMAIL,
    "SELECT merchant_id FROM merchants WHERE iso_id = $1 AND email_index = $2 LIMIT 1"
);
sql!(MERCHANT_STATUS, "SELECT status FROM merchants WHERE iso_id = $1 AND merchant_id = $2");
sql!(
    STORE_INSERT,
    "INSERT INTO stores
       (iso_id, store_id, merchant_id, status, version, dba, dba_key, mcc, zip, city, state, ebt,
        email_index, phone_index, sealed, created_us, updated_us)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)
     ON CONFLICT (iso_id, dba_key) DO NOTHING"
);
sql!(
    STORE_GET,
    "SELECT iso_id, store_id, merchant_id, status, version, dba, dba_key, mcc, zip, city, state,
        ebt, email_index, phone_index, sealed, created_us, updated_us
     FROM stores WHERE iso_id = $1 AND store_id = $2"
);
sql!(STORE_BY_DBA, "SELECT store_id FROM stores WHERE iso_id = $1 AND dba_key = $2");
sql!(STORE_STATUS, "SELECT merchant_id, status FROM stores WHERE iso_id = $1 AND store_id = $2");

pub(crate) const STATEMENTS: &[&Sql] = &[
    &MERCHANT_INSERT,
    &MERCHANT_GET,
    &MERCHANT_BY_DBA,
    &MERCHANT_BY_EMAIL,
    &MERCHANT_STATUS,
    &STORE_INSERT,
    &STORE_GET,
    &STORE_BY_DBA,
    &STORE_STATUS,
];

impl MerchantRow {
    fn read(row: &dyn Row) -> Result<Self> {
        Ok(Self {
            iso_id: row.get(0)?,
            merchant_id: row.get(1)?,
            status: row.get(2)?,
            version: row.get(3)?,
            dba: row.get(4)?,
            dba_key: row.get(5)?,
            zip: row.get(6)?,
            city: row.get(7)?,
            state: row.get(8)?,
            ebt: row.get(9)?,
            iso_agent_reference: row.get(10)?,
            iso_merchant: row.get(11)?,
            logo_url: row.get(12)?,
            email_index: row.get(13)?,
            phone_index: row.get(14)?,
            sealed: row.get(15)?,
            created: row.get(16)?,
            updated: row.get(17)?,
        })
    }
}

impl StoreRow {
    fn read(row: &dyn Row) -> Result<Self> {
        Ok(Self {
            iso_id: row.get(0)?,
            store_id: row.get(1)?,
            merchant_id: row.get(2)?,
            status: row.get(3)?,
            version: row.get(4)?,
            dba: row.get(5)?,
            dba_key: row.get(6)?,
            mcc: row.get(7)?,
            zip: row.get(8)?,
            city: row.get(9)?,
            state: row.get(10)?,
            ebt: row.get(11)?,
            email_index: row.get(12)?,
            phone_index: row.get(13)?,
            sealed: row.get(14)?,
            created: row.get(15)?,
            updated: row.get(16)?,
        })
    }
}

/// Returns whether the dba was free. The unique index decides, so two writers cannot both win.
pub fn insert(conn: &mut dyn Conn, merchant: &MerchantRow) -> Result<bool> {
    let inserted = conn.execute(
        &MERCHANT_INSERT,
        &[
            (&merchant.iso_id).into(),
            (&merchant.merchant_id).into(),
            (&merchant.status).into(),
            merchant.version.into(),
            (&merchant.dba).into(),
            (&merchant.dba_key).into(),
            (&merchant.zip).into(),
            (&merchant.city).into(),
            (&merchant.state).into(),
            merchant.ebt.as_deref().into(),
            merchant.iso_agent_reference.as_deref().into(),
            merchant.iso_merchant.as_deref().into(),
            merchant.logo_url.as_deref().into(),
            (&merchant.email_index).into(),
            (&merchant.phone_index).into(),
            (&merchant.sealed).into(),
            merchant.created.into(),
            merchant.updated.into(),
        ],
    )?;
    Ok(inserted == 1)
}

pub fn get(
    conn: &mut dyn Conn,
    iso_id: &IsoId,
    merchant_id: &MerchantId,
) -> Result<Option<MerchantRow>> {
    conn.row(&MERCHANT_GET, &[iso_id.into(), merchant_id.into()], MerchantRow::read)
}

/// The merchant that bears this dba.
pub fn by_dba(conn: &mut dyn Conn, iso_id: &IsoId, dba_key: &str) -> Result<Option<MerchantId>> {
    conn.row(&MERCHANT_BY_DBA, &[iso_id.into(), dba_key.into()], |row| row.get(0))
}

/// A merchant with this e-mail address, by its blind index.
pub fn by_email(conn: &mut dyn Conn, iso_id: &IsoId, index: &[u8]) -> Result<Option<MerchantId>> {
    conn.row(&MERCHANT_BY_EMAIL, &[iso_id.into(), index.into()], |row| row.get(0))
}

pub fn status(conn: &mut dyn Conn, iso_id: &IsoId, id: &MerchantId) -> Result<Option<String>> {
    conn.row(&MERCHANT_STATUS, &[iso_id.into(), id.into()], |row| row.get(0))
}

/// Returns whether the dba was free.
pub fn store_insert(conn: &mut dyn Conn, store: &StoreRow) -> Result<bool> {
    let inserted = conn.execute(
        &STORE_INSERT,
        &[
            (&store.iso_id).into(),
            (&store.store_id).into(),
            (&store.merchant_id).into(),
            (&store.status).into(),
            store.version.into(),
            (&store.dba).into(),
            (&store.dba_key).into(),
            (&store.mcc).into(),
            (&store.zip).into(),
            (&store.city).into(),
            (&store.state).into(),
            store.ebt.as_deref().into(),
            (&store.email_index).into(),
            (&store.phone_index).into(),
            (&store.sealed).into(),
            store.created.into(),
            store.updated.into(),
        ],
    )?;
    Ok(inserted == 1)
}

pub fn store_get(conn: &mut dyn Conn, iso_id: &IsoId, id: &StoreId) -> Result<Option<StoreRow>> {
    conn.row(&STORE_GET, &[iso_id.into(), id.into()], StoreRow::read)
}

/// The store that bears this dba.
pub fn store_by_dba(conn: &mut dyn Conn, iso_id: &IsoId, dba_key: &str) -> Result<Option<StoreId>> {
    conn.row(&STORE_BY_DBA, &[iso_id.into(), dba_key.into()], |row| row.get(0))
}

/// The store's merchant and status.
pub fn store_status(
    conn: &mut dyn Conn,
    iso_id: &IsoId,
    id: &StoreId,
) -> Result<Option<(MerchantId, String)>> {
    let read = |row: &dyn Row| Ok((row.get(0)?, row.get(1)?));
    conn.row(&STORE_STATUS, &[iso_id.into(), id.into()], read)
}
