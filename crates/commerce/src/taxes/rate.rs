//! A rate of a tax with the places at which it holds.

use db::Conn;
use shop_rows::tax_rate::{self, TaxRateRow};
use types::Result;

const POSTCODE: &str = "postcode";
const CITY: &str = "city";

#[derive(Clone, Debug, Default, PartialEq)]
pub struct TaxRate {
    pub row: TaxRateRow,
    /// In upper case; may have `*` and ranges in them. Empty for all.
    pub postcodes: Vec<String>,
    pub cities: Vec<String>,
}

impl TaxRate {
    pub fn get(conn: &mut dyn Conn, rate_id: i64) -> Result<Option<Self>> {
        let found = tax_rate::get(conn, rate_id)?.into_iter().collect();
        Ok(Self::with_locations(conn, found)?.pop())
    }

    /// The rates with their places, in the order of the rows.
    pub fn with_locations(conn: &mut dyn Conn, rows: Vec<TaxRateRow>) -> Result<Vec<Self>> {
        let ids: Vec<i64> = rows.iter().map(|row| row.rate_id).collect();
        let locations = tax_rate::locations_of(conn, &ids)?;
        let places = |rate_id: i64, kind: &str| {
            let own = locations.iter().filter(|place| place.rate_id == rate_id);
            own.filter(|place| place.kind == kind).map(|place| place.value.clone()).collect()
        };
        let rates = rows.into_iter().map(|row| Self {
            postcodes: places(row.rate_id, POSTCODE),
            cities: places(row.rate_id, CITY),
            row,
        });
        Ok(rates.collect())
    }

    pub fn store_locations(&self, conn: &mut dyn Conn) -> Result<()> {
        tax_rate::set_locations(conn, self.row.rate_id, POSTCODE, &self.postcodes)?;
        tax_rate::set_locations(conn, self.row.rate_id, CITY, &self.cities)
    }

    /// Inserts or replaces the rate of this id.
    pub fn put(&self, conn: &mut dyn Conn) -> Result<()> {
        if !tax_rate::update(conn, &self.row)? {
            tax_rate::insert_with_id(conn, &self.row)?;
        }
        self.store_locations(conn)
    }

    /// Places as rates have them: in upper case, and none for what means all of them.
    pub fn places(texts: impl IntoIterator<Item = impl AsRef<str>>) -> Vec<String> {
        let upper = |text: &str| text.trim().replace('…', "...").to_uppercase();
        let places = texts.into_iter().map(|text| upper(text.as_ref()));
        places.filter(|place| !place.is_empty() && place != "*").collect()
    }
}
