//! Import of the commerce sections of a bundle, their ids kept, in the transaction of the whole.

use std::collections::BTreeMap;

use db::Conn;
use db::outbox::{self, Event};
use frame::bundle::{ImportSection, import_sections};
use serde_json::{Value, json};
use types::{Result, Timestamp};

/// The sections in the order in which their records refer to each other.
const SECTIONS: &[(&str, ImportSection)] = &[
    ("default_category_id", crate::taxonomies::default_category),
    ("categories", crate::taxonomies::categories),
    ("attributes", crate::attributes::attributes),
    ("products", crate::products::import_products),
    ("variations", crate::products::import_variations),
    ("reviews", crate::reviews::reviews),
    ("tax_classes", crate::taxes::import_classes),
    ("tax_rates", crate::taxes::import_rates),
    ("coupons", crate::coupons::import),
    ("orders", crate::orders::import_orders),
    ("refunds", crate::orders::import_refunds),
    ("customer_lookup", crate::customers::import_lookup),
    // Their orders come before them: they tell who has ever paid.
    ("users", crate::customers::import),
    ("download_permissions", crate::downloads::import_permissions),
    ("download_log", crate::downloads::import_log),
];

/// Imports the sections that this crate knows, and says how many records each had.
pub fn import(
    conn: &mut dyn Conn,
    sections: &BTreeMap<String, Value>,
    now: Timestamp,
) -> Result<BTreeMap<&'static str, usize>> {
    let totals = import_sections(conn, SECTIONS, sections)?;
    if totals.contains_key("orders") {
        crate::orders::number_entries(conn)?;
    }
    // Anything may have changed, so that one event says more than one for each record would.
    let payload = json!({ "sections": totals.keys().collect::<Vec<_>>() });
    outbox::append(conn, &Event::of_site(outbox::IMPORTED, 0, payload.to_string(), now))?;
    Ok(totals)
}
