//! What an endpoint **is**: a route, typed parameters, a reply and a handler, written down once.
//!
//! Everything a client can observe about an endpoint is derived from that one definition: routing,
//! coercion and validation with every issue listed, the error envelope, the OpenAPI document.
//! **The published schema is the enforced schema**: the walker interprets the very value that the
//! OpenAPI document prints.
//!
//! This crate knows no domain, no database and no HTTP library. The path through it:
//!
//! 1. [`Route`] and [`Endpoint`] say what an endpoint is; [`entries!`] lists those of a resource.
//! 2. [`Table::compile`] turns the list into compiled schemas and refuses a table with mistakes.
//! 3. [`json::parse`] reads a body within its limits.
//! 4. [`card_data`] finds what must not be stored.
//! 5. [`Compiled::run`] walks the parameters ([`walk`]), lets the endpoint check what a schema
//!    cannot say, and calls the handler.
//! 6. [`openapi`] folds the table into an OpenAPI 3.1 document.

pub mod card_data;
mod endpoint;
mod format;
mod issue;
pub mod json;
pub mod openapi;
pub mod rest;
mod route;
mod schema;
mod table;
pub mod walk;

pub use endpoint::{Answer, BoxFuture, Context, Draft, Endpoint, Entry, Failure, Header, Outcome};
pub use format::{Format, Formats, Parsed};
pub use issue::{Issue, IssueKind, Issues};
pub use route::{FILE_CONTENT, FILE_KIND, FileKind, Method, Permission, Route};
pub use schema::Schema;
pub use table::{Compiled, Table};
