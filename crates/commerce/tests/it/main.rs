//! What commerce promises, asked for as clients ask: requests in, answers out, on a real store.
#![cfg(test)]

mod attributes;
mod coupons;
mod customers;
mod data;
mod demo;
mod downloads;
mod gateways;
mod ingest;
mod orders;
mod orders_properties;
mod products;
mod refunds;
mod reports;
mod reviews;
mod settings;
mod shipping_zones;
mod support;
mod system_status;
mod taxes;
mod taxonomies;
mod variations;
mod webhooks;
