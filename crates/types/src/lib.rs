//! The words of the domain: ids, time, amounts, environments, scopes, roles, secrets and the one
//! [`Error`].
//!
//! This crate is the ground floor. Everything here is a plain value: **no IO, no async, no SQL, no
//! HTTP**. The one exception is [`Clock`], which is the only place in the workspace that reads the
//! time of day; everybody else is handed a [`Timestamp`].
//!
//! Start with [`Error`] and [`Environment`]; the rest explains itself.

pub mod address_range;
mod amount;
mod capability;
mod clock;
mod environment;
mod error;
mod ids;
mod iso_people;
pub mod luhn;
mod memo;
mod period;
pub mod processors;
pub mod reference;
mod role;
mod scope;
mod secret;

pub use address_range::{AddressRange, client_network};
pub use amount::Amount;
pub use capability::Capability;
pub use clock::{Clock, Timestamp};
pub use environment::Environment;
pub use error::{Error, Kind, Result};
pub use ids::{IsoId, KeyId, MerchantId, StoreId, TemplateId, Tpn};
pub use iso_people::iso_scopes;
pub use memo::Memo;
pub use period::Period;
pub use role::Role;
pub use scope::{FULL_ACCESS, Scope, ScopePreset, ScopeSet};
pub use secret::Secret;
