//! Lists of merchants and stores, the newest first, by any of their filters.

use db::filter::{Clause, Direction, Filter};
use db::{Conn, Record as _};
use types::{IsoId, Result, Timestamp};

use super::{MerchantRow, StoreRow};

/// A beginning with so many letters is one that few names have.
const RARE_LENGTH_MIN: usize = 3;

/// What to list. What is not asked for is not compared; an answer fits in every respect.
#[derive(Clone, Debug, Default)]
pub struct ListFilter {
    /// The beginning of the folded dba.
    pub dba: Option<String>,
    pub email_index: Option<Vec<u8>>,
    pub phone_index: Option<Vec<u8>>,
    pub zip: Option<String>,
    /// Of a store, or of any store of a merchant.
    pub mcc: Option<String>,
    /// Of any profile of any TPN.
    pub mid: Option<String>,
    pub status: Option<String>,
    pub merchant_id: Option<String>,
    pub store_id: Option<String>,
    pub iso_merchant: Option<String>,
    pub iso_agent_reference: Option<String>,
    pub external_reference: Option<String>,
    /// Created at this time or later.
    pub created_from: Option<Timestamp>,
    /// Created before this time.
    pub created_to: Option<Timestamp>,
    /// Older than the row that was created at this time with this id.
    pub after: Option<(Timestamp, String)>,
    /// Rows at most.
    pub limit: i64,
}

impl ListFilter {
    /// The conditions that all three kinds of object share.
    pub(crate) fn common(&self, iso_id: &IsoId, id_column: &'static str) -> Filter {
        // What few begin with is found by its index, not among all of the ISO; the blank keeps an
        // engine without statistics from it.
        let is_rare = self.dba.as_ref().is_some_and(|dba| dba.chars().count() >= RARE_LENGTH_MIN);
        let own = if is_rare { "iso_id || '' = ?" } else { "iso_id = ?" };
        let mut filter = Filter::new(own, iso_id.as_str().to_owned());
        filter.and_value("status = ?", self.status.clone());
        filter.and_value("merchant_id = ?", self.merchant_id.clone());
        filter.and_value("external_reference = ?", self.external_reference.clone());
        filter.and_value("created_us >= ?", self.created_from);
        filter.and_value("created_us < ?", self.created_to);
        if let Some((created, id)) = &self.after {
            let before = filter.clause("created_us < ?", *created);
            let same = filter.clause("created_us = ?", *created);
            let older = filter.clause(id_column, id.clone());
            let same = Clause::joined(vec![same, older], " AND ");
            filter.and(Clause::joined(vec![before, same], " OR "));
        }
        filter
    }

    fn of_shops(&self, iso_id: &IsoId, id_column: &'static str) -> Result<Filter> {
        let mut filter = self.common(iso_id, id_column);
        if let Some(dba) = &self.dba {
            filter.and_start("dba_key", dba)?;
        }
        filter.and_value("email_index = ?", self.email_index.clone());
        filter.and_value("phone_index = ?", self.phone_index.clone());
        filter.and_value("zip = ?", self.zip.clone());
        Ok(filter)
    }
}

fn newest_first(id: &'static str) -> Vec<(Clause, Direction)> {
    vec![
        (Clause::fixed("created_us"), Direction::Descending),
        (Clause::fixed(id), Direction::Descending),
    ]
}

/// Merchants; `store_id` finds the one of that store.
pub fn list(conn: &mut dyn Conn, iso_id: &IsoId, wanted: &ListFilter) -> Result<Vec<MerchantRow>> {
    let mut filter = wanted.of_shops(iso_id, "merchant_id < ?")?;
    filter.and_value("iso_merchant = ?", wanted.iso_merchant.clone());
    filter.and_value("iso_agent_reference = ?", wanted.iso_agent_reference.clone());
    filter.and_value(
        "EXISTS (SELECT 1 FROM stores WHERE stores.iso_id = merchants.iso_id
           AND stores.merchant_id = merchants.merchant_id AND stores.mcc = ?)",
        wanted.mcc.clone(),
    );
    filter.and_value(
        "EXISTS (SELECT 1 FROM stores WHERE stores.iso_id = merchants.iso_id
           AND stores.merchant_id = merchants.merchant_id AND stores.store_id = ?)",
        wanted.store_id.clone(),
    );
    filter.and_value(
        "merchant_id IN (SELECT tpns.merchant_id FROM profiles
           JOIN tpns ON tpns.iso_id = profiles.iso_id AND tpns.tpn = profiles.tpn
           WHERE profiles.iso_id = merchants.iso_id AND profiles.mid = ?)",
        wanted.mid.clone(),
    );
    let source = (MerchantRow::COLUMNS, MerchantRow::TABLE);
    filter.first(conn, source, newest_first("merchant_id"), wanted.limit, MerchantRow::read)
}

/// Stores; `iso_merchant` and `iso_agent_reference` are those of their merchants.
pub fn store_list(
    conn: &mut dyn Conn,
    iso_id: &IsoId,
    wanted: &ListFilter,
) -> Result<Vec<StoreRow>> {
    let mut filter = wanted.of_shops(iso_id, "store_id < ?")?;
    filter.and_value("mcc = ?", wanted.mcc.clone());
    filter.and_value("store_id = ?", wanted.store_id.clone());
    filter.and_value(
        "EXISTS (SELECT 1 FROM merchants WHERE merchants.iso_id = stores.iso_id
           AND merchants.merchant_id = stores.merchant_id AND merchants.iso_merchant = ?)",
        wanted.iso_merchant.clone(),
    );
    filter.and_value(
        "EXISTS (SELECT 1 FROM merchants WHERE merchants.iso_id = stores.iso_id
           AND merchants.merchant_id = stores.merchant_id AND merchants.iso_agent_reference = ?)",
        wanted.iso_agent_reference.clone(),
    );
    filter.and_value(
        "store_id IN (SELECT tpns.store_id FROM profiles
           JOIN tpns ON tpns.iso_id = profiles.iso_id AND tpns.tpn = profiles.tpn
           WHERE profiles.iso_id = stores.iso_id AND profiles.mid = ?)",
        wanted.mid.clone(),
    );
    let source = (StoreRow::COLUMNS, StoreRow::TABLE);
    filter.first(conn, source, newest_first("store_id"), wanted.limit, StoreRow::read)
}
