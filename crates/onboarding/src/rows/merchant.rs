//! Merchants and the stores under them.

mod list;

use db::{Conn, Record as _, Row, statements};
use serde::{Deserialize, Serialize};
use types::{IsoId, MerchantId, Result, StoreId, Timestamp};

use crate::rows::hex;

pub use list::{ListFilter, list, store_list};

db::record! {
    /// A merchant as stored; `sealed` holds the personal data.
    #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
    pub struct MerchantRow in "merchants", key(iso_id: IsoId, merchant_id: MerchantId) {
        status: String,
        status_reason: Option<String>,
        version: i64,
        dba: String,
        dba_key: String,
        zip: String,
        city: String,
        state: String,
        ebt: Option<String>,
        iso_agent_reference: Option<String>,
        iso_merchant: Option<String>,
        logo_url: Option<String>,
        external_reference: Option<String>,
        /// A JSON object.
        metadata: Option<String>,
        /// A JSON list of the fields that were asked for.
        requirements: Option<String>,
        #[serde(with = "hex")]
        email_index: Vec<u8>,
        #[serde(with = "hex")]
        phone_index: Vec<u8>,
        #[serde(with = "hex")]
        sealed: Vec<u8>,
        created: Timestamp,
        updated: Timestamp,
    }
}

db::record! {
    /// A store as stored.
    #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
    pub struct StoreRow in "stores", key(iso_id: IsoId, store_id: StoreId) {
        merchant_id: MerchantId,
        status: String,
        status_reason: Option<String>,
        version: i64,
        dba: String,
        dba_key: String,
        mcc: String,
        zip: String,
        city: String,
        state: String,
        ebt: Option<String>,
        external_reference: Option<String>,
        /// A JSON object.
        metadata: Option<String>,
        #[serde(with = "hex")]
        email_index: Vec<u8>,
        #[serde(with = "hex")]
        phone_index: Vec<u8>,
        #[serde(with = "hex")]
        sealed: Vec<u8>,
        created: Timestamp,
        updated: Timestamp,
    }
}

statements! {
    MERCHANT_INSERT = db::insert!(MerchantRow, "ON CONFLICT (iso_id, dba_key) DO NOTHING");
    MERCHANT_UPDATE = db::update!(MerchantRow);
    MERCHANT_GET = db::select!(MerchantRow, "WHERE iso_id = $1 AND merchant_id = $2");
    MERCHANT_BY_DBA = "SELECT merchant_id FROM merchants WHERE iso_id = $1 AND dba_key = $2";
    MERCHANT_BY_EMAIL =
        "SELECT merchant_id FROM merchants WHERE iso_id = $1 AND email_index = $2 LIMIT 1";
    MERCHANT_STATUS = "SELECT status FROM merchants WHERE iso_id = $1 AND merchant_id = $2";
    MERCHANT_LIKE = db::select!(
        MerchantRow,
        "WHERE iso_id = $1 AND merchant_id <> $2
           AND (email_index = $3 OR phone_index = $4 OR zip = $5
                OR (dba_key >= $6 AND dba_key < $7))
         ORDER BY created_us DESC, merchant_id DESC LIMIT $8"
    );
    STORE_INSERT = db::insert!(StoreRow, "ON CONFLICT (iso_id, dba_key) DO NOTHING");
    STORE_UPDATE = db::update!(StoreRow);
    STORE_GET = db::select!(StoreRow, "WHERE iso_id = $1 AND store_id = $2");
    // By the primary key, an engine without statistics would look at all stores of the ISO.
    STORES_OF_MERCHANT = db::select!(
        StoreRow,
        "WHERE iso_id || '' = $1 AND merchant_id = $2 ORDER BY store_id LIMIT $3"
    );
    STORE_BY_DBA = "SELECT store_id FROM stores WHERE iso_id = $1 AND dba_key = $2";
    STORE_STATUS = "SELECT merchant_id, status FROM stores WHERE iso_id = $1 AND store_id = $2";
}

/// Returns whether the dba was free. The unique index decides, so two writers cannot both win.
pub fn insert(conn: &mut dyn Conn, merchant: &MerchantRow) -> Result<bool> {
    Ok(conn.insert(&MERCHANT_INSERT, merchant)? == 1)
}

/// Puts the row in the place of the one with its id. A dba that another merchant bears is a
/// conflict; look before with [`by_dba`].
pub fn update(conn: &mut dyn Conn, merchant: &MerchantRow) -> Result<()> {
    conn.update(&MERCHANT_UPDATE, merchant)
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
    Ok(conn.insert(&STORE_INSERT, store)? == 1)
}

/// Puts the row in the place of the one with its id; see [`update`].
pub fn store_update(conn: &mut dyn Conn, store: &StoreRow) -> Result<()> {
    conn.update(&STORE_UPDATE, store)
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
