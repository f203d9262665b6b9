//! Administration of the site and its shop: what its people are told, and what they set up.
//!
//! [`notes`] tells the shop's people what happened. This crate knows no HTTP and no SQL, and none
//! of its siblings: **what they do reaches it through the feed of changes** ([`notes::follow`]).

pub mod bundle;
mod isos;
pub mod notes;

use contract::rest::route::Route;
use site::{Action, Names};

/// The routes of administration.
pub fn routes(names: &Names) -> Vec<Route<Action>> {
    let mut routes = notes::routes(names);
    routes.extend(isos::routes(names));
    routes
}
