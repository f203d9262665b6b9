//! What the crate promises, checked on both engines.
//!
//! Each test is a function of a [`testkit::database::TestDatabase`], which
//! [`testkit::on_both_engines!`] runs on a SQLite file and on a PostgreSQL database of its own. Tests
//! about one engine only live in `one_engine`.

#[cfg(test)]
mod backup;
#[cfg(test)]
mod deliveries;
#[cfg(test)]
mod facts;
#[cfg(test)]
mod feed;
#[cfg(test)]
mod integrity;
#[cfg(test)]
mod jobs;
#[cfg(test)]
mod nodes;
#[cfg(test)]
mod one_engine;
#[cfg(test)]
#[cfg(target_os = "linux")]
mod power_loss;
#[cfg(test)]
mod queueing;
#[cfg(test)]
mod replicas;
#[cfg(test)]
mod schema;
#[cfg(test)]
mod support;
#[cfg(test)]
mod tallies;
#[cfg(test)]
mod transactions;
