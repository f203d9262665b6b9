//! What shipping costs: the zone of an address, and what each of its methods asks.

mod expression;

use db::Conn;
use frame::Options;
use serde_json::{Map, Value};
use shop_rows::shipping::{self, LocationRow, MethodRow};
use types::{Amount, Result};

use crate::common::amounts;
use crate::data::{ships_to, tables};
use crate::orders::{Address, Rate, covers_postcode};
use crate::shipping_methods::METHODS;

pub const FREE_SHIPPING: &str = "free_shipping";
pub const LOCAL_PICKUP: &str = "local_pickup";
const FLAT_RATE: &str = "flat_rate";

/// What is to be shipped.
#[derive(Clone, Debug, Default)]
pub struct Parcel {
    /// How many pieces there are.
    pub quantity: i64,
    /// What they cost without taxes, after discounts.
    pub cost: Amount,
    /// What buyers see that the goods cost, before and after discounts.
    pub shown_before: Amount,
    pub shown_after: Amount,
    /// Whether a coupon gives free shipping.
    pub has_free_coupon: bool,
    /// What it contains, in words.
    pub items: String,
}

/// Whether the shop ships anything at all, and knows how.
pub fn ships(conn: &mut dyn Conn, options: &Options) -> Result<bool> {
    if options.text("woocommerce_ship_to_countries") == "disabled" {
        return Ok(false);
    }
    let zones = shipping::zone_list(conn)?;
    let ids = zones.iter().map(|zone| zone.zone_id).chain([0]);
    for zone_id in ids {
        if shipping::methods_of(conn, zone_id)?.iter().any(|method| method.enabled) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The ways to ship the parcel to the address, in the order in which they are offered.
pub fn rates(
    conn: &mut dyn Conn,
    options: &Options,
    address: &Address,
    parcel: &Parcel,
) -> Result<Vec<Rate>> {
    if !address.country.is_empty() && !ships_to(options, &address.country) {
        return Ok(Vec::new());
    }
    let zone_id = zone_of(conn, address)?;
    let methods = shipping::methods_of(conn, zone_id)?;
    let decimals = amounts::decimals(options);
    let offered = methods.iter().filter(|method| method.enabled);
    Ok(offered.filter_map(|method| rate(method, parcel, decimals)).collect())
}

/// The first zone that the address is in; the rest of the world if it is in none.
fn zone_of(conn: &mut dyn Conn, address: &Address) -> Result<i64> {
    for zone in shipping::zone_list(conn)? {
        let locations = shipping::locations_of(conn, zone.zone_id)?;
        if contains(&locations, address) {
            return Ok(zone.zone_id);
        }
    }
    Ok(0)
}

/// Whether one of the regions is that of the address, and one of the postcodes, if there are any.
fn contains(locations: &[LocationRow], address: &Address) -> bool {
    let (codes, regions): (Vec<&LocationRow>, Vec<&LocationRow>) =
        locations.iter().partition(|location| location.kind == "postcode");
    let in_region = |location: &&LocationRow| match location.kind.as_str() {
        "country" => location.code == address.country,
        "state" => location.code == format!("{}:{}", address.country, address.state),
        "continent" => tables::continents()
            .iter()
            .filter(|continent| continent.code == location.code)
            .any(|continent| continent.countries().any(|country| country.code == address.country)),
        _ => false,
    };
    let region_fits = regions.is_empty() || regions.iter().any(in_region);
    let covers = |location: &&LocationRow| covers_postcode(&location.code, &address.postcode);
    region_fits && (codes.is_empty() || codes.iter().any(covers))
}

fn rate(method: &MethodRow, parcel: &Parcel, decimals: u32) -> Option<Rate> {
    let settings: Map<String, Value> = serde_json::from_str(&method.settings).unwrap_or_default();
    let text = |name: &str| settings.get(name).and_then(Value::as_str).unwrap_or_default();
    let known = METHODS.iter().find(|known| known.id == method.method_id)?;
    let title = if text("title").is_empty() { known.title } else { text("title") };
    let cost = |blank: Option<Amount>| match text("cost").trim() {
        "" => blank,
        cost => Some(expression::evaluate(cost, parcel).unwrap_or_default().rounded(decimals)),
    };
    let cost = match method.method_id.as_str() {
        FLAT_RATE => cost(None)?,
        LOCAL_PICKUP => cost(Some(Amount::ZERO))?,
        FREE_SHIPPING if is_free(&settings, parcel) => Amount::ZERO,
        _ => return None,
    };
    Some(Rate {
        method_id: method.method_id.clone(),
        instance_id: method.instance_id,
        title: title.to_owned(),
        cost: cost.max(Amount::ZERO),
        is_taxable: text("tax_status") != "none",
        items: parcel.items.clone(),
    })
}

fn is_free(settings: &Map<String, Value>, parcel: &Parcel) -> bool {
    let text = |name: &str| settings.get(name).and_then(Value::as_str).unwrap_or_default();
    let least = settings.get("min_amount").and_then(amounts::read).unwrap_or_default();
    let before_discounts = text("ignore_discounts") == "yes";
    let cost = if before_discounts { parcel.shown_before } else { parcel.shown_after };
    let reaches = cost >= least;
    match text("requires") {
        "coupon" => parcel.has_free_coupon,
        "min_amount" => reaches,
        "either" => reaches || parcel.has_free_coupon,
        "both" => reaches && parcel.has_free_coupon,
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(kind: &str, code: &str) -> LocationRow {
        LocationRow { kind: kind.to_owned(), code: code.to_owned() }
    }

    #[test]
    fn an_address_is_in_the_zone_of_its_region_and_postcode() {
        let address = Address {
            country: String::from("US"),
            state: String::from("CA"),
            postcode: String::from("94107"),
            ..Address::default()
        };
        for (locations, expected) in [
            (vec![], true),
            (vec![place("country", "US")], true),
            (vec![place("country", "DE"), place("state", "US:CA")], true),
            (vec![place("state", "US:NY")], false),
            (vec![place("continent", "NA")], true),
            (vec![place("continent", "EU")], false),
            (vec![place("country", "US"), place("postcode", "941*")], true),
            (vec![place("country", "US"), place("postcode", "100...200")], false),
            (vec![place("postcode", "94107")], true),
        ] {
            assert_eq!(contains(&locations, &address), expected, "{locations:?}");
        }
    }

    #[test]
    fn free_shipping_has_its_conditions() {
        let parcel = |after: &str, has_free_coupon| Parcel {
            shown_before: "50".parse().unwrap(),
            shown_after: after.parse().unwrap(),
            has_free_coupon,
            ..Parcel::default()
        };
        for (requires, ignores, after, coupon, expected) in [
            ("", "no", "0", false, true),
            ("coupon", "no", "99", false, false),
            ("coupon", "no", "0", true, true),
            ("min_amount", "no", "45", false, false),
            ("min_amount", "yes", "45", false, true),
            ("either", "no", "50", false, true),
            ("both", "no", "50", false, false),
        ] {
            let settings = serde_json::json!({
                "requires": requires, "min_amount": "50", "ignore_discounts": ignores,
            });
            let Value::Object(settings) = settings else { panic!("an object") };
            let found = is_free(&settings, &parcel(after, coupon));
            assert_eq!(found, expected, "{requires} {after} {coupon}");
        }
    }
}
