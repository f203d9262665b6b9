//! Classes and rates of taxes of a bundle. Its numbers are texts.

use db::Conn;
use frame::bundle::records;
use serde::Deserialize;
use serde_json::Value;
use shop_rows::tax_class::{self, TaxClassRow};
use shop_rows::tax_rate::TaxRateRow;
use types::{Amount, Error, Result};

use super::TaxRate;

#[derive(Debug, Deserialize)]
struct BundleClass {
    name: String,
    slug: String,
}

#[derive(Debug, Deserialize)]
struct BundleRate {
    tax_rate_id: String,
    tax_rate_country: String,
    tax_rate_state: String,
    tax_rate: String,
    tax_rate_name: String,
    tax_rate_priority: String,
    tax_rate_compound: String,
    tax_rate_shipping: String,
    tax_rate_order: String,
    tax_rate_class: String,
    #[serde(default)]
    locations: Vec<BundleLocation>,
}

#[derive(Debug, Deserialize)]
struct BundleLocation {
    location_code: String,
    location_type: String,
}

/// The bundle's classes take the place of those that the shop has.
pub(crate) fn import_classes(conn: &mut dyn Conn, section: &Value) -> Result<usize> {
    let classes: Vec<BundleClass> = records(section)?;
    super::found(conn)?;
    for known in tax_class::all(conn)? {
        tax_class::delete(conn, &known.slug)?;
    }
    let count = classes.len();
    for (position, BundleClass { name, slug }) in (1..).zip(classes) {
        tax_class::insert(conn, &TaxClassRow { slug, name, position })?;
    }
    Ok(count)
}

/// Imports the rates, their ids kept. One that is there already becomes what the bundle says.
pub(crate) fn import_rates(conn: &mut dyn Conn, section: &Value) -> Result<usize> {
    let rates: Vec<BundleRate> = records(section)?;
    for rate in &rates {
        let at = |error: Error| {
            let message = format!("rate {}: {error}", rate.tax_rate_id);
            Error::new(error.kind(), message).because(error)
        };
        rate.read().and_then(|rate| rate.put(conn)).map_err(at)?;
    }
    Ok(rates.len())
}

impl BundleRate {
    fn read(&self) -> Result<TaxRate> {
        let whole = |text: &str| -> Result<i64> {
            text.parse().map_err(|_| Error::invalid(format!("`{text}` is not an integer")))
        };
        let rate = match self.tax_rate.as_str() {
            "" => None,
            text => Some(text.parse::<Amount>().map_err(Error::invalid)?),
        };
        let places = |kind: &str| {
            let own = self.locations.iter().filter(|place| place.location_type == kind);
            TaxRate::places(own.map(|place| &place.location_code))
        };
        let row = TaxRateRow {
            rate_id: whole(&self.tax_rate_id)?,
            country: self.tax_rate_country.clone(),
            state: self.tax_rate_state.clone(),
            rate,
            name: self.tax_rate_name.clone(),
            priority: whole(&self.tax_rate_priority)?,
            compound: whole(&self.tax_rate_compound)? != 0,
            shipping: whole(&self.tax_rate_shipping)? != 0,
            position: whole(&self.tax_rate_order)?,
            class: self.tax_rate_class.clone(),
        };
        Ok(TaxRate { row, postcodes: places("postcode"), cities: places("city") })
    }
}
