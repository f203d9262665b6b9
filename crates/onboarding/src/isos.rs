//! ISOs: their accounts, how they register, what they may use, what their people may do and what
//! they are told of their keys.

pub mod account;
mod command;
pub(crate) mod emails;
mod key_warnings;
pub mod limits;
pub(crate) mod people;
pub(crate) mod record;
pub mod registration;

pub use command::IsoSummary;
pub use record::{Decision, IsoContact};
