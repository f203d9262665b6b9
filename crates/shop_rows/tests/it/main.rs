//! The rows of the shop, checked on both engines.
//!
//! Each test is a function of a [`testkit::database::TestDatabase`], which
//! [`testkit::on_both_engines!`] runs on a SQLite file and on a PostgreSQL database of its own.

#[cfg(test)]
mod customer_sums;
#[cfg(test)]
mod customers;
#[cfg(test)]
mod downloads;
#[cfg(test)]
mod goods;
#[cfg(test)]
mod imports;
#[cfg(test)]
mod order_lists;
#[cfg(test)]
mod orders;
#[cfg(test)]
mod product_lists;
#[cfg(test)]
mod products;
#[cfg(test)]
mod report_files;
#[cfg(test)]
mod sales;
#[cfg(test)]
mod shipping;
#[cfg(test)]
mod shop;
#[cfg(test)]
mod support;
#[cfg(test)]
mod user_lists;
#[cfg(test)]
mod webhooks;
