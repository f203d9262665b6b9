//! ISOs: their accounts, how they register, what they may use, their people and how those are
//! invited, and what they are told of their keys.

pub mod account;
mod command;
pub(crate) mod emails;
pub mod invitations;
mod key_warnings;
pub mod limits;
pub mod members;
pub(crate) mod record;
pub mod registration;
pub mod usage;

pub use command::IsoSummary;
pub use record::{Decision, IsoContact};
