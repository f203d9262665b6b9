//! The dialect of the site's REST interface: what `WordPress` clients expect of any route.
//!
//! Everything here is pure: no domain, no database, no HTTP library. The path through it:
//! [`form`] decodes query strings and forms; [`Args`] say which parameters an operation takes, in
//! the words of a [`Schema`]; [`Params`] are what a request gave, merged, checked and converted;
//! a [`Refusal`] is the error that the client sees. A [`route::Route`] joins a pattern with
//! operations; the [`Table`] of all routes finds the one that a request asks for, and describes
//! them in the index.

mod answers;
pub mod args;
pub mod check;
pub mod clean;
mod document;
pub mod fields;
pub mod form;
pub mod formats;
pub mod item;
pub mod links;
pub mod loose;
pub mod multipart;
mod node;
pub mod object;
pub mod openapi;
pub mod params;
pub mod refusal;
pub mod reply;
pub mod route;
pub mod schema;
pub mod table;

pub use args::{Args, CompiledArgs, Treatment};
pub use check::ParamError;
pub use fields::Fields;
pub use item::{CompiledItem, Item};
pub use links::Links;
pub use node::Node;
pub use params::{Params, Sources, accept};
pub use refusal::Refusal;
pub use reply::{Body, Reply, Stop};
pub use route::Verb;
pub use schema::Schema;
pub use table::{Found, Table};
