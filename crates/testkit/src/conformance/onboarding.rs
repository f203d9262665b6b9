//! The conformance cases of `POST /v1/onboardmerchant` and what runs them.
//!
//! [`load`] reads the cases of a folder, [`Runner::run`] sends one of them to a server and returns
//! a [`Verdict`]. A case is data: its requests are built in `body` with fresh values from `tokens`,
//! and its answers are compared in `compare`. **Nothing here knows what a right answer is**; that
//! stands in the case files alone.

mod base64;
mod body;
mod case;
mod compare;
mod errors;
mod matcher;
mod path;
mod runner;
mod tokens;
mod unique;

pub use case::{Case, load};
pub use runner::{Features, Keys, Runner, Verdict};

use std::path::PathBuf;

/// The folder of the workspace that holds the recorded cases.
pub fn folder() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../conformance/onboarding"))
}

#[cfg(test)]
pub(super) mod stub;
#[cfg(test)]
mod tests;
