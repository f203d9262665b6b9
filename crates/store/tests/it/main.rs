//! What the crate promises, checked on both engines.
//!
//! Each test is a function of a [`support::Database`]; `on_both_engines!` runs it on a SQLite file
//! and on a PostgreSQL database of its own. Tests about one engine only live in `one_engine`.

#[cfg(test)]
#[macro_use]
mod support;

#[cfg(test)]
mod backup;
#[cfg(test)]
mod bulk;
#[cfg(test)]
mod content;
#[cfg(test)]
mod customers;
#[cfg(test)]
mod deliveries;
#[cfg(test)]
mod downloads;
#[cfg(test)]
mod feed;
#[cfg(test)]
mod goods;
#[cfg(test)]
mod imports;
#[cfg(test)]
mod isos;
#[cfg(test)]
mod jobs;
#[cfg(test)]
mod lifecycle;
#[cfg(test)]
mod notes;
#[cfg(test)]
mod nouns;
#[cfg(test)]
mod one_engine;
#[cfg(test)]
mod order_lists;
#[cfg(test)]
mod order_sales;
#[cfg(test)]
mod orders;
#[cfg(test)]
mod packages;
#[cfg(test)]
mod platform;
#[cfg(test)]
mod post_lists;
#[cfg(test)]
#[cfg(target_os = "linux")]
mod power_loss;
#[cfg(test)]
mod product_lists;
#[cfg(test)]
mod products;
#[cfg(test)]
mod queueing;
#[cfg(test)]
mod report_files;
#[cfg(test)]
mod revisions;
#[cfg(test)]
mod sales;
#[cfg(test)]
mod schema;
#[cfg(test)]
mod setup;
#[cfg(test)]
mod shipping;
#[cfg(test)]
mod shop;
#[cfg(test)]
mod site;
#[cfg(test)]
mod statements;
#[cfg(test)]
mod term_lists;
#[cfg(test)]
mod transactions;
#[cfg(test)]
mod user_lists;
#[cfg(test)]
mod webhooks;
