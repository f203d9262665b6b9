//! Sale requests to terminals, and requests to pay back.

use db::{Conn, Record as _, statements};
use serde::{Deserialize, Serialize};
use types::{Amount, IsoId, MerchantId, Result, StoreId, Timestamp, Tpn};

db::record! {
    #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
    pub struct SaleRow in "sales", key(iso_id: IsoId, sale_id: String) {
        merchant_id: MerchantId,
        store_id: Option<StoreId>,
        tpn: Tpn,
        /// `sale` or `refund`.
        kind: String,
        order_id: i64,
        /// The sale that a refund pays back.
        refund_of: Option<String>,
        amount: Amount,
        currency: String,
        status: String,
        status_reason: Option<String>,
        /// What the device says the processor calls it.
        approval_code: Option<String>,
        version: i64,
        expires: Timestamp,
        created: Timestamp,
        updated: Timestamp,
    }
}

statements! {
    SALE_INSERT = db::insert!(SaleRow);
    SALE_UPDATE = db::update!(SaleRow);
    SALE_GET = db::select!(SaleRow, "WHERE iso_id = $1 AND sale_id = $2");
    SALE_NEXT = db::select!(
        SaleRow,
        "WHERE iso_id = $1 AND tpn = $2 AND status IN ('requested', 'shown') AND expires_us > $3
         ORDER BY created_us, sale_id LIMIT 1"
    );
    SALES_OF_TPN = db::select!(
        SaleRow,
        "WHERE iso_id = $1 AND tpn = $2 ORDER BY created_us DESC, sale_id DESC LIMIT $3"
    );
    SALES_OF_ORDER = db::select!(
        SaleRow,
        "WHERE iso_id = $1 AND order_id = $2 ORDER BY created_us, sale_id LIMIT $3"
    );
}

/// Sales of one order that are looked at.
const OF_ORDER_MAX: i64 = 1_000;

pub fn insert(conn: &mut dyn Conn, sale: &SaleRow) -> Result<()> {
    conn.insert(&SALE_INSERT, sale).map(drop)
}

pub fn update(conn: &mut dyn Conn, sale: &SaleRow) -> Result<()> {
    conn.update_existing(&SALE_UPDATE, sale).map(drop)
}

pub fn get(conn: &mut dyn Conn, iso_id: &IsoId, sale_id: &str) -> Result<Option<SaleRow>> {
    conn.row(&SALE_GET, &[iso_id.into(), sale_id.into()], SaleRow::read)
}

/// What the device of the TPN is to do next.
pub fn next(
    conn: &mut dyn Conn,
    iso_id: &IsoId,
    tpn: &Tpn,
    now: Timestamp,
) -> Result<Option<SaleRow>> {
    conn.row(&SALE_NEXT, &[iso_id.into(), tpn.into(), now.into()], SaleRow::read)
}

/// The newest requests to a TPN.
pub fn of_tpn(conn: &mut dyn Conn, iso_id: &IsoId, tpn: &Tpn, limit: i64) -> Result<Vec<SaleRow>> {
    conn.rows(&SALES_OF_TPN, &[iso_id.into(), tpn.into(), limit.into()], SaleRow::read)
}

/// The requests for an order, the oldest first.
pub fn of_order(conn: &mut dyn Conn, iso_id: &IsoId, order_id: i64) -> Result<Vec<SaleRow>> {
    let params = [iso_id.into(), order_id.into(), OF_ORDER_MAX.into()];
    conn.rows(&SALES_OF_ORDER, &params, SaleRow::read)
}
