//! Merchants and the stores under them.

mod list;

use db::{Conn, Row, Val, statements};
use serde::{Deserialize, Serialize};
use types::{IsoId, MerchantId, Result, StoreId, Timestamp};

use crate::rows::hex;

pub use list::{ListFilter, list, store_list};

/// A merchant as stored; `sealed` holds the personal data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MerchantRow {
    pub iso_id: IsoId,
    pub merchant_id: MerchantId,
    pub status: String,
    pub status_reason: Option<String>,
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
    pub external_reference: Option<String>,
    /// A JSON object.
    pub metadata: Option<String>,
    /// A JSON list of the fields that were asked for.
    pub requirements: Option<String>,
    #[serde(with = "hex")]
    pub email_index: Vec<u8>,
    #[serde(with = "hex")]
    pub phone_index: Vec<u8>,
    #[serde(with = "hex")]
    pub sealed: Vec<u8>,
    pub created: Timestamp,
    pub updated: Timestamp,
}

/// A store as stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoreRow {
    pub iso_id: IsoId,
    pub store_id: StoreId,
    pub merchant_id: MerchantId,
    pub status: String,
    pub status_reason: Option<String>,
    pub version: i64,
    pub dba: String,
    pub dba_key: String,
    pub mcc: String,
    pub zip: String,
    pub city: String,
    pub state: String,
    pub ebt: Option<String>,
    pub external_reference: Option<String>,
    /// A JSON object.
    pub metadata: Option<String>,
    #[serde(with = "hex")]
    pub email_index: Vec<u8>,
    #[serde(with = "hex")]
    pub phone_index: Vec<u8>,
    #[serde(with = "hex")]
    pub sealed: Vec<u8>,
    pub created: Timestamp,
    pub updated: Timestamp,
}

/// The columns of a merchant beside its key, in the order of [`MerchantRow::values`].
macro_rules! merchant_columns {
    () => {
        "status, status_reason, version, dba, dba_key, zip, city, state, ebt, \
         iso_agent_reference, iso_merchant, logo_url, external_reference, metadata, requirements, \
         email_index, phone_index, sealed, created_us, updated_us"
    };
}

/// The columns of a store beside its key, in the order of [`StoreRow::values`].
macro_rules! store_columns {
    () => {
        "merchant_id, status, status_reason, version, dba, dba_key, mcc, zip, city, state, ebt, \
         external_reference, metadata, email_index, phone_index, sealed, created_us, updated_us"
    };
}

/// All columns, in the order in which rows are read.
pub(crate) const MERCHANT_COLUMNS: &str = concat!("iso_id, merchant_id, ", merchant_columns!());
pub(crate) const STORE_COLUMNS: &str = concat!("iso_id, store_id, ", store_columns!());

statements! {
    MERCHANT_INSERT = concat!(
        "INSERT INTO merchants (iso_id, merchant_id, ",
        merchant_columns!(),
        ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, \
         $18, $19, $20, $21, $22)
         ON CONFLICT (iso_id, dba_key) DO NOTHING"
    );
    MERCHANT_UPDATE = concat!(
        "UPDATE merchants SET (",
        merchant_columns!(),
        ") = ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, \
         $19, $20)
         WHERE iso_id = $21 AND merchant_id = $22"
    );
    MERCHANT_GET = concat!(
        "SELECT iso_id, merchant_id, ",
        merchant_columns!(),
        " FROM merchants WHERE iso_id = $1 AND merchant_id = $2"
    );
    MERCHANT_BY_DBA = "SELECT merchant_id FROM merchants WHERE iso_id = $1 AND dba_key = $2";
    MERCHANT_BY_EMAIL =
        "SELECT merchant_id FROM merchants WHERE iso_id = $1 AND email_index = $2 LIMIT 1";
    MERCHANT_STATUS = "SELECT status FROM merchants WHERE iso_id = $1 AND merchant_id = $2";
    MERCHANT_LIKE = concat!(
        "SELECT iso_id, merchant_id, ",
        merchant_columns!(),
        " FROM merchants
         WHERE iso_id = $1 AND merchant_id <> $2
           AND (email_index = $3 OR phone_index = $4 OR zip = $5
                OR (dba_key >= $6 AND dba_key < $7))
         ORDER BY created_us DESC, merchant_id DESC LIMIT $8"
    );
    STORE_INSERT = concat!(
        "INSERT INTO stores (iso_id, store_id, ",
        store_columns!(),
        ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, \
         $18, $19, $20)
         ON CONFLICT (iso_id, dba_key) DO NOTHING"
    );
    STORE_UPDATE = concat!(
        "UPDATE stores SET (",
        store_columns!(),
        ") = ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)
         WHERE iso_id = $19 AND store_id = $20"
    );
    STORE_GET = concat!(
        "SELECT iso_id, store_id, ",
        store_columns!(),
        " FROM stores WHERE iso_id = $1 AND store_id = $2"
    );
    STORES_OF_MERCHANT = concat!(
        "SELECT iso_id, store_id, ",
        store_columns!(),
        " FROM stores WHERE iso_id = $1 AND merchant_id = $2 ORDER BY store_id LIMIT $3"
    );
    STORE_BY_DBA = "SELECT store_id FROM stores WHERE iso_id = $1 AND dba_key = $2";
    STORE_STATUS = "SELECT merchant_id, status FROM stores WHERE iso_id = $1 AND store_id = $2";
}

impl MerchantRow {
    pub(crate) fn read(row: &dyn Row) -> Result<Self> {
        Ok(Self {
            iso_id: row.get(0)?,
            merchant_id: row.get(1)?,
            status: row.get(2)?,
            status_reason: row.get(3)?,
            version: row.get(4)?,
            dba: row.get(5)?,
            dba_key: row.get(6)?,
            zip: row.get(7)?,
            city: row.get(8)?,
            state: row.get(9)?,
            ebt: row.get(10)?,
            iso_agent_reference: row.get(11)?,
            iso_merchant: row.get(12)?,
            logo_url: row.get(13)?,
            external_reference: row.get(14)?,
            metadata: row.get(15)?,
            requirements: row.get(16)?,
            email_index: row.get(17)?,
            phone_index: row.get(18)?,
            sealed: row.get(19)?,
            created: row.get(20)?,
            updated: row.get(21)?,
        })
    }

    fn key(&self) -> [Val<'_>; 2] {
        [(&self.iso_id).into(), (&self.merchant_id).into()]
    }

    fn values(&self) -> [Val<'_>; 20] {
        [
            (&self.status).into(),
            self.status_reason.as_deref().into(),
            self.version.into(),
            (&self.dba).into(),
            (&self.dba_key).into(),
            (&self.zip).into(),
            (&self.city).into(),
            (&self.state).into(),
            self.ebt.as_deref().into(),
            self.iso_agent_reference.as_deref().into(),
            self.iso_merchant.as_deref().into(),
            self.logo_url.as_deref().into(),
            self.external_reference.as_deref().into(),
            self.metadata.as_deref().into(),
            self.requirements.as_deref().into(),
            (&self.email_index).into(),
            (&self.phone_index).into(),
            (&self.sealed).into(),
            self.created.into(),
            self.updated.into(),
        ]
    }
}

impl StoreRow {
    pub(crate) fn read(row: &dyn Row) -> Result<Self> {
        Ok(Self {
            iso_id: row.get(0)?,
            store_id: row.get(1)?,
            merchant_id: row.get(2)?,
            status: row.get(3)?,
            status_reason: row.get(4)?,
            version: row.get(5)?,
            dba: row.get(6)?,
            dba_key: row.get(7)?,
            mcc: row.get(8)?,
            zip: row.get(9)?,
            city: row.get(10)?,
            state: row.get(11)?,
            ebt: row.get(12)?,
            external_reference: row.get(13)?,
            metadata: row.get(14)?,
            email_index: row.get(15)?,
            phone_index: row.get(16)?,
            sealed: row.get(17)?,
            created: row.get(18)?,
            updated: row.get(19)?,
        })
    }

    fn key(&self) -> [Val<'_>; 2] {
        [(&self.iso_id).into(), (&self.store_id).into()]
    }

    fn values(&self) -> [Val<'_>; 18] {
        [
            (&self.merchant_id).into(),
            (&self.status).into(),
            self.status_reason.as_deref().into(),
            self.version.into(),
            (&self.dba).into(),
            (&self.dba_key).into(),
            (&self.mcc).into(),
            (&self.zip).into(),
            (&self.city).into(),
            (&self.state).into(),
            self.ebt.as_deref().into(),
            self.external_reference.as_deref().into(),
            self.metadata.as_deref().into(),
            (&self.email_index).into(),
            (&self.phone_index).into(),
            (&self.sealed).into(),
            self.created.into(),
            self.updated.into(),
        ]
    }
}

/// Returns whether the dba was free. The unique index decides, so two writers cannot both win.
pub fn insert(conn: &mut dyn Conn, merchant: &MerchantRow) -> Result<bool> {
    let values = [&merchant.key()[..], &merchant.values()].concat();
    Ok(conn.execute(&MERCHANT_INSERT, &values)? == 1)
}

/// Puts the row in the place of the one with its id. A dba that another merchant bears is a
/// conflict; look before with [`by_dba`].
pub fn update(conn: &mut dyn Conn, merchant: &MerchantRow) -> Result<()> {
    conn.execute_one(&MERCHANT_UPDATE, &[&merchant.values()[..], &merchant.key()].concat())
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

/// Up to `limit` other merchants, the newest first, with the same e-mail address, phone number or
/// ZIP code, or whose folded dba begins with `dba_start`.
pub fn like(
    conn: &mut dyn Conn,
    merchant: &MerchantRow,
    dba_start: &str,
    limit: i64,
) -> Result<Vec<MerchantRow>> {
    // Nothing that begins with the text sorts behind it with the last character appended.
    let dba_end = format!("{dba_start}{}", char::MAX);
    conn.rows(
        &MERCHANT_LIKE,
        &[
            (&merchant.iso_id).into(),
            (&merchant.merchant_id).into(),
            (&merchant.email_index).into(),
            (&merchant.phone_index).into(),
            (&merchant.zip).into(),
            dba_start.into(),
            (&dba_end).into(),
            limit.into(),
        ],
        MerchantRow::read,
    )
}

/// Returns whether the dba was free.
pub fn store_insert(conn: &mut dyn Conn, store: &StoreRow) -> Result<bool> {
    let values = [&store.key()[..], &store.values()].concat();
    Ok(conn.execute(&STORE_INSERT, &values)? == 1)
}

/// Puts the row in the place of the one with its id; see [`update`].
pub fn store_update(conn: &mut dyn Conn, store: &StoreRow) -> Result<()> {
    conn.execute_one(&STORE_UPDATE, &[&store.values()[..], &store.key()].concat())
}

pub fn store_get(conn: &mut dyn Conn, iso_id: &IsoId, id: &StoreId) -> Result<Option<StoreRow>> {
    conn.row(&STORE_GET, &[iso_id.into(), id.into()], StoreRow::read)
}

/// Up to `limit` stores of the merchant.
pub fn stores_of(
    conn: &mut dyn Conn,
    iso_id: &IsoId,
    id: &MerchantId,
    limit: i64,
) -> Result<Vec<StoreRow>> {
    conn.rows(&STORES_OF_MERCHANT, &[iso_id.into(), id.into(), limit.into()], StoreRow::read)
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
