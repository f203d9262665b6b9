//! Everything that is promised, once for each engine.

mod attributes;
mod coupons;
mod customers;
mod data;
mod demo;
mod downloads;
mod emails;
mod gateways;
#[path = "../../../frame/tests/support/harness.rs"]
#[expect(dead_code, reason = "the tests of the site use the rest of it")]
mod harness;
mod ingest;
mod order_emails;
mod orders;
mod orders_properties;
mod pictures;
mod products;
mod refunds;
mod reports;
mod reviews;
mod settings;
mod shipping_zones;
pub(super) mod support;
mod system_status;
mod taxes;
mod taxonomies;
mod variations;
mod webhooks;
