//! Merchant onboarding: ISOs, API keys, templates, merchants, stores and TPNs.
//!
//! An ISO creates a merchant, a store under it and a TPN (a terminal profile bound to a device and
//! a payment processor) in one call or in stages. This crate knows the rules of that trade and the
//! dialect of its interface; it knows **no HTTP and no SQL outside of [`rows`]**.
//!
//! The path of an onboarding: [`auth`] turns the `Authorization` header into a [`Caller`];
//! [`onboard`] describes the request ([`fields`], [`terminals`]), checks what a schema
//! cannot say, seals personal data and credentials ([`vault`]) and stores everything in one
//! transaction; [`dialect`] says it in the words of the published interface. [`audit`] keeps who
//! did what; [`bulk`] onboards whole files; [`webhooks`] tell the ISO of events.
//!
//! Start with [`onboard::OnboardMerchant`].

mod ability;
pub mod activity;
pub mod audit;
pub mod auth;
pub mod bulk;
pub mod caller;
mod change;
mod codes;
pub mod connections;
mod cx;
mod device_models;
pub mod dialect;
pub mod encryption;
pub mod endpoints;
mod event_kinds;
pub mod fields;
mod formats;
mod id_source;
pub mod idempotency;
pub mod isos;
pub mod keys;
pub mod lifecycle;
pub mod links;
mod master_keys;
pub mod merchants;
pub mod onboard;
pub mod paging;
mod patch;
mod perform;
mod request_log;
pub mod rows;
pub mod sandbox;
mod settings;
mod simulation;
pub mod terminals;
pub mod text;
mod transition;
pub mod webhooks;

pub use ability::OnboardAbility;
pub use caller::{Caller, Origin};
pub use codes::{Code, CodeView};
pub use cx::{Cx, Platform, RequestOptions};
pub use settings::{IsoLimits, Registration, Settings};
