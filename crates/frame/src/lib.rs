//! The frame in which the operations of the REST interface run, and what all of them need: users
//! and authentication, options, background jobs, mail, requests to other hosts.
//!
//! A [`Request`] goes through [`rest`]: credentials ([`auth`]), route, parameters, permission,
//! operation. An operation is an [`Action`]: who may, and how; both are plain functions over a
//! [`Call`], which carries the parameters, the circumstances ([`Visit`]) and the transaction.
//! **The whole of a request runs in one transaction on a database thread**, with everything that it
//! sets off: embedded items, hints at links, the items of a batch. Only what waits for the network
//! runs outside.
//!
//! The crates above are guests: they hand in their routes, pages, files, kinds of jobs and tables
//! of options when a [`Site`] is made, and this crate knows none of them. **No option and no route
//! of a guest is named here.** It knows no HTTP library and no SQL.

pub mod appearance;
pub mod auth;
pub mod batch;
mod bounded;
pub mod bundle;
pub mod compatible;
pub mod cookies;
pub mod credential_cache;
pub mod dates;
pub mod discussion;
mod documents;
pub mod first_content;
pub mod identity;
pub mod index;
mod inside;
pub mod jobs;
pub mod library;
pub mod lock;
pub mod mail;
pub mod managers;
pub mod media;
pub mod moments;
pub mod names;
pub mod openapi;
pub mod options;
pub mod outbound;
pub mod pages;
pub mod paging;
pub mod password;
pub mod request;
pub mod rest;
pub mod routes;
pub mod settings;
pub mod signing;
mod site;
pub mod text;
pub mod throttle;
pub mod tree;
mod turns;
pub mod users;
mod visits;

pub use bounded::CacheSize;
pub use identity::{Identity, User, Via};
pub use names::Names;
pub use options::Options;
pub use request::{Client, Request};
pub use rest::{Payload, Response, line_of_user};
pub use settings::Settings;
pub use site::{
    AbilityCategory, AbilityRun, Action, Call, ContentChange, ContentSource, FileFound, FileSource,
    Neighbour, PageSource, Parts, PublicPage, Site, SiteAbility, TermArchive, Visit, action,
};
