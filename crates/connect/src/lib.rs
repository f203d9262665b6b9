//! Connected stores: the records of stores elsewhere, copied here and kept up to date.
//!
//! A connection is a row of the environment's database (`onboarding::rows::connection`). The store
//! behind it is asked through its REST interface ([`source`]); its records go into a site with a
//! database of its own ([`stores`]), so that its ids stay what they are and everything that reads a
//! shop reads the copy as well. [`worker`] looks after all connections: the first copy ([`copy`],
//! [`backwards`]), then what changes ([`follow`], [`touched`]), told by webhooks ([`hooks`],
//! [`incoming`]) or found by asking; [`reconcile`] compares the two, [`days`] keeps what reports
//! over many stores need, and [`upkeep`] keeps copies small and fast. Before the copy [`checks`]
//! says what the store is like; afterwards [`alerts`] says when it is unlike itself. What a store
//! answers is read by [`answer`], within bounds.
//!
//! **The store is right.** What is here is a copy: it is written by nobody else, and may be deleted
//! and made again at any time.

mod alerts;
mod answer;
mod backwards;
mod checks;
mod copy;
mod days;
mod follow;
mod hooks;
pub mod incoming;
mod reconcile;
mod settings;
pub mod source;
pub mod stores;
mod touched;
mod trouble;
mod upkeep;
mod work;
pub mod worker;

pub use settings::Settings;
pub use stores::{Foundation, OpenStore, Stores};
