//! Commerce records: products, customers, orders, refunds, coupons, taxes, and their routes.
//!
//! Most records are a [`Resource`]: a schema, its rights, and what it means to find, list, show,
//! create, update and delete one. [`resource::routes`] turns that into the collection, item and
//! batch routes of a namespace. A record that appears in several namespaces, or in older shapes,
//! is the same resource with other data.
//!
//! This crate knows no HTTP and no SQL. Start with [`resource`].

mod attributes;
pub mod bundle;
pub mod cards;
pub mod common;
pub mod coupons;
pub mod customers;
pub mod data;
pub mod demo;
pub mod downloads;
pub mod emails;
mod first_content;
pub mod gateways;
pub mod ingest;
mod layout_templates;
pub mod options;
pub mod orders;
pub mod payments;
pub mod pictures;
pub mod privacy;
pub mod products;
mod reports;
pub mod resource;
pub mod reviews;
mod routes;
mod setting_types;
mod settings;
mod shipping_methods;
pub mod shipping_rates;
mod shipping_zones;
mod system_status;
pub mod taxes;
pub mod taxonomies;
pub mod webhooks;

use frame::managers;

pub use first_content::begin;
pub use pictures::{PICTURE_SIZES, PLACEHOLDER_FILE};
pub use resource::{Resource, Rights};
pub use routes::{ROUTES, routes};

/// Makes what every new shop has. Called at each start.
pub fn found(conn: &mut dyn db::Conn) -> ::types::Result<()> {
    found_copy(conn)?;
    shop_rows::product::recount(conn)?;
    taxonomies::found(conn)
}

/// The same for the copy of a shop, whose records all come from elsewhere: nothing may be there
/// that has a number which one of them has.
pub fn found_copy(conn: &mut dyn db::Conn) -> ::types::Result<()> {
    if taxes::found(conn)? {
        data::units::found(conn)?;
    }
    Ok(())
}
