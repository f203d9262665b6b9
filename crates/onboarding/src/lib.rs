//! Merchant onboarding: ISOs, API keys, templates, merchants, stores and TPNs.
//!
//! An ISO creates a merchant, a store under it and a TPN (a terminal profile bound to a device and
//! a payment processor) in one call or in stages. This crate knows the rules of that trade and the
//! dialect of its interface; it knows **no HTTP, and no SQL outside of [`rows`]**.
//!
//! The path of an onboarding: [`auth`] turns the `Authorization` header into a [`Caller`];
//! [`onboard`] describes the request ([`fields`], [`processor`], [`device`]), checks what a schema
//! cannot say, seals personal data and credentials ([`vault`]) and stores everything in one
//! transaction; [`dialect`] says it in the words of the published interface. [`audit`] keeps who
//! did what; [`bulk`] onboards whole files; [`events`] and [`webhooks`] tell the ISO.
//!
//! Start with [`onboard::OnboardMerchant`].

pub mod actions;
pub mod api_key;
pub mod audit;
pub mod auth;
pub mod bulk;
pub mod card_guard;
mod change;
mod codes;
mod cx;
pub mod device;
pub mod devices;
pub mod dialect;
mod due;
pub mod duplicates;
pub mod endpoints;
pub mod events;
pub mod fields;
mod formats;
mod id_source;
pub mod idempotency;
pub mod iso;
pub mod isos;
pub mod keys;
pub mod lifecycle;
pub mod limits;
pub mod list;
pub mod onboard;
pub mod paging;
pub mod parameters;
pub mod patch;
mod people;
mod perform;
pub mod processor;
pub mod profiles;
pub mod read;
pub mod registration;
pub mod requests;
pub mod requirements;
pub mod rows;
pub mod sandbox;
pub mod templates;
pub mod text;
mod transition;
pub mod views;
pub mod webhooks;

pub use auth::Caller;
pub use codes::{Code, CodeView};
pub use cx::{Cx, Origin, Platform, Registration, Settings, Wishes};
