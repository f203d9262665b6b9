//! Merchants and their stores: shown, listed, changed and moved from state to state.
//!
//! [`onboard`](crate::onboard) makes them; their TPNs are in [`terminals`](crate::terminals).
//! Another ISO's merchant is the same as none.

pub mod actions;
pub mod details;
pub mod duplicates;
pub mod get;
pub mod list;
pub mod patch;
pub mod requirements;
pub mod views;

pub use requirements::Review;
