//! The site: users, authentication, options, content, documentation, and the frame in which the
//! operations of its REST interface run.
//!
//! A [`Request`] goes through [`frame`]: credentials ([`auth`]), route, parameters, permission,
//! operation. An operation is an [`Action`]: who may, and how; both are plain functions over a
//! [`Call`], which carries the parameters, the circumstances ([`Visit`]) and the transaction.
//! **The whole of a request runs in one transaction on a database thread**, with everything that it
//! sets off: embedded items, hints at links, the items of a batch. Only what waits for the network
//! runs outside.
//!
//! [`routes`] lists the interface's own routes. Crates above add theirs when a [`Site`] is made.
//! This crate knows no HTTP library and no SQL.

pub mod action;
pub mod auth;
mod batch;
pub mod bundle;
pub mod call;
pub mod content;
pub mod docs;
mod docs_routes;
mod file_source;
pub mod frame;
pub mod identity;
mod index;
mod inside;
pub mod jobs;
pub mod mail;
pub mod managers;
pub mod me;
pub mod moments;
pub mod names;
pub mod oembed;
mod oembed_routes;
pub mod openapi;
pub mod options;
pub mod outbound;
pub mod pages;
pub mod paging;
mod public_page;
mod reference_routes;
pub mod request;
pub mod routes;
pub mod settings;
pub mod signing;
mod site;
mod site_settings;
pub mod throttle;
mod turns;
pub mod users;
mod visit;
pub mod web;

pub use action::Action;
pub use call::Call;
pub use file_source::{FileFound, FileSource};
pub use frame::{Payload, Response};
pub use identity::{Identity, User, Via};
pub use names::Names;
pub use options::Options;
pub use public_page::{PageSource, PublicPage};
pub use request::{Client, Request};
pub use settings::Settings;
pub use site::{Parts, Site};
pub use visit::Visit;
