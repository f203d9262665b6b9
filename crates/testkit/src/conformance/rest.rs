//! The recorded cases of the site's REST interface, and what replays them.
//!
//! [`Suite::load`] reads the cases of a folder, [`Runner::run`] sends one of them to a server and
//! gives a [`Verdict`] per request, [`Report`] adds them up and takes what a [`Deviations`] file
//! excuses. A request whose route the server does not list in its own index is **waiting: it is
//! counted, and never as passed.** [`index`] compares that index with the reference's.
//!
//! **Nothing here knows what a right answer is**; that stands in the case files alone.

mod case;
mod compare;
mod deviations;
mod facts;
mod headers;
mod ids;
pub mod index;
mod report;
mod routes;
mod runner;
mod seed;
mod undefined;
mod visitor;

pub use case::{Area, Case, Exchange, Expected, Plan, Step, Suite};
pub use deviations::Deviations;
pub use report::{Report, failing_known, waiting_pinned};
pub use routes::Routes;
pub use runner::{Identities, Runner, Verdict};
pub use seed::{Seed, Seeded};

use std::path::PathBuf;

/// The folder of the workspace that holds the recorded cases.
pub fn folder() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../conformance/rest"))
}

/// The folder with the cases of the store front, of media, comments, search and pages, whose shop
/// is made by a seed.
pub fn storefront_folder() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../conformance/storefront"))
}

/// The folder with the differences that are meant, and why.
pub fn deviations_folder() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../conformance/deviations"))
}

/// The file of deviations that excuses tests of the suite which the reference's makers publish.
pub const MAKERS_SUITE: &str = "api-core-tests";

/// Numbers that agree to so many decimals are equal.
const NUMBER_TOLERANCE: f64 = 0.000_000_5;

/// The address of the server under test, as the recorded texts spell it.
const SITE_TOKEN: &str = "{{site}}";

/// Where the recorded paths have the REST root.
const REST_ROOT: &str = "/wp-json";

#[cfg(test)]
mod tests;
