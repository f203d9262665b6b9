//! The exchange rates that an ISO gave for reports over its connected stores.

use db::{Conn, Record as _, statements};
use types::{IsoId, Result, Timestamp};

db::record! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct RatesRow in "portfolio_rates", key(iso_id: IsoId) {
        version: i64,
        /// A JSON list.
        rates: String,
        updated: Timestamp,
    }
}

statements! {
    PORTFOLIO_RATES_GET = db::select!(RatesRow, "WHERE iso_id = $1");
    PORTFOLIO_RATES_PUT = db::upsert!(RatesRow);
}

pub fn get(conn: &mut dyn Conn, iso_id: &IsoId) -> Result<Option<RatesRow>> {
    conn.row(&PORTFOLIO_RATES_GET, &[iso_id.into()], RatesRow::read)
}

pub fn put(conn: &mut dyn Conn, row: &RatesRow) -> Result<()> {
    conn.insert(&PORTFOLIO_RATES_PUT, row).map(drop)
}
