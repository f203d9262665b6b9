//! The units of a new shop: those of the country that it is in.

use db::Conn;
use frame::Options;
use frame::options;
use serde_json::json;

use super::tables;

const WEIGHT: &str = "woocommerce_weight_unit";
const LENGTH: &str = "woocommerce_dimension_unit";

/// Gives a new shop its units, unless somebody chose others before.
pub(crate) fn found(conn: &mut dyn Conn) -> types::Result<()> {
    let place = Options::read(conn)?.text("woocommerce_default_country");
    let country = place.split(':').next().unwrap_or_default();
    let Some(format) = tables::country(country).and_then(|country| country.format) else {
        return Ok(());
    };
    for (name, unit) in [(WEIGHT, format.weight), (LENGTH, format.dimension)] {
        if site_rows::option::get(conn, name)?.is_none() {
            options::set(conn, name, &json!(unit))?;
        }
    }
    Ok(())
}
