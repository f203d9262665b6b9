//! Administration of the site and its shop: what its people are told, and what they set up.
//!
//! [`notes`] tells the shop's people what happened. Setting up is [`profile`] (what the owner told),
//! [`tasks`] (what is left to do), [`options`] and [`features`]. What belongs to the shop is changed
//! through the shop's own routes, as the caller ([`site::Call::ask`]). This crate knows no HTTP and
//! no SQL, and none of its siblings: **what they do reaches it through the feed of changes**
//! ([`notes::follow`]).

pub mod bundle;
mod features;
mod isos;
mod legacy_settings;
pub mod notes;
mod notices;
mod options;
mod profile;
mod tasks;

use contract::rest::route::Route;
use site::{Action, Names};

/// The routes of administration.
pub fn routes(names: &Names) -> Vec<Route<Action>> {
    let modules = [
        notes::routes,
        isos::routes,
        notices::routes,
        features::routes,
        options::routes,
        legacy_settings::routes,
        profile::routes,
        tasks::routes,
    ];
    modules.into_iter().flat_map(|routes| routes(names)).collect()
}
