//! ISOs: their accounts, how they register, what they may use and what their people may do.

pub mod account;
pub(crate) mod emails;
pub mod limits;
pub(crate) mod people;
pub mod registration;

pub use account::{Decision, IsoSummary};
pub use limits::IsoLimits;
