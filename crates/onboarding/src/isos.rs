//! ISOs: their accounts, how they register, what they may use and what their people may do.

pub mod account;
mod command;
pub(crate) mod emails;
pub mod limits;
pub(crate) mod people;
pub(crate) mod record;
pub mod registration;

pub use command::IsoSummary;
pub use limits::IsoLimits;
pub use record::{Decision, IsoContact};
