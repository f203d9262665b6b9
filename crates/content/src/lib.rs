//! The site's content: posts and pages with their terms and revisions, users over REST, settings,
//! oEmbed, the documentation, and the pages that people see.
//!
//! A guest of the frame like the shop and its administration: [`routes`] are handed to a
//! [`frame::Site`] when it is made, [`found`] makes what every site has and [`begin`] what a new
//! one begins with, and [`web::page`] answers requests for pages. This crate knows no HTTP library
//! and no SQL.

mod abilities;
mod appearance;
pub mod bundle;
mod comments;
pub mod docs;
mod docs_routes;
mod me;
mod media;
pub mod oembed;
mod oembed_routes;
pub mod pages;
mod posts;
mod reference_routes;
mod search;
mod site_health;
mod site_settings;
mod surveys;
mod users;
pub mod web;

use contract::rest::route::Route;
use frame::options::Tables;
use frame::{Action, Names};

/// The options that content declares.
pub const OPTIONS: &[frame::options::Definition] = &[appearance::WIDGETS, surveys::ANSWERS];

pub use posts::{begin, find_by_path, found, is_any_due, publish_due};

/// The routes in the order in which the index lists them. The settings are those of the site and of
/// these tables of options.
pub fn routes(names: &Names, options: Tables) -> Vec<Route<Action>> {
    let mut routes = oembed_routes::routes(names);
    routes.extend(posts::routes(names));
    routes.extend(appearance::routes(names));
    routes.extend(media::routes(names));
    routes.extend(users::routes(names));
    routes.extend(comments::routes(names));
    routes.extend(search::routes(names));
    routes.extend(site_health::routes(names));
    routes.extend(abilities::routes(names));
    routes.extend(surveys::routes(names));
    routes.extend(site_settings::routes(names, options));
    routes.extend(docs_routes::routes(names));
    routes.extend(me::routes(names));
    routes.extend(reference_routes::routes(names));
    routes
}
