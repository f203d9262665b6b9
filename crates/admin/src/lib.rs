//! Administration of the site and its shop: what its people are told, and what they set up.
//!
//! [`notes`] tells the shop's people what happened. Setting up is [`profile`] (what the owner
//! told), [`tasks`] (what is left to do), [`options`] and [`features`]. [`plugins`] and their
//! packages ([`package`], [`catalogue`]) add to the site without code; [`Settings`] says where they
//! come from. What belongs to the shop is changed through the shop's own routes, as the caller
//! ([`frame::Call::ask`]). This crate knows no HTTP, no SQL outside of [`rows`], and none of its
//! siblings: **what they do reaches it through the feed of changes** ([`notes::follow`]).

mod answers;
mod blueprint;
pub mod bundle;
pub mod catalogue;
pub mod catalogue_feed;
mod connect;
mod country;
mod email;
mod extension;
mod features;
mod installation;
mod isos;
mod launch;
mod legacy_settings;
mod marketing;
mod marketplace;
mod marketplace_routes;
mod mobile;
pub mod notes;
mod notices;
mod option_table;
mod options;
pub mod package;
mod payments;
pub mod plugins;
mod profile;
pub mod rows;
mod settings;
mod site_connection;
mod suggestions;
mod tasks;
mod telemetry;
#[cfg(test)]
mod testing;
mod themes;
mod upload;

use std::sync::Arc;

use contract::rest::route::Route;
use frame::jobs::JobKind;
use frame::{Action, Names, PageSource};
use types::Result;

use self::catalogue::Catalogue;
use self::catalogue_feed::FeedJob;
use self::marketplace::client::Market;
use self::plugins::job::{PluginJob, Task};

pub use self::option_table::DEFINITIONS as OPTIONS;
pub use self::options::names as option_names;
pub use self::settings::Settings;

/// Administration, with what its routes and jobs share.
#[derive(Debug)]
pub struct Admin {
    catalogue: Arc<Catalogue>,
    market: Arc<Market>,
    experiments: Arc<[String]>,
}

impl Admin {
    pub fn new(settings: &Settings) -> Result<Self> {
        let market = Arc::new(Market::new(settings.marketplace_url.as_deref())?);
        let catalogue = Arc::new(Catalogue::new(settings, Arc::clone(&market))?);
        Ok(Self { catalogue, market, experiments: settings.experiments.clone().into() })
    }

    /// The routes of administration.
    pub fn routes(&self, names: &Names) -> Vec<Route<Action>> {
        let plain = [
            notes::routes,
            isos::routes,
            notices::routes,
            options::routes,
            legacy_settings::routes,
            profile::routes,
            tasks::routes,
            mobile::routes,
            launch::routes,
            blueprint::routes,
            email::routes,
            catalogue_feed::routes,
            extension::routes,
            telemetry::routes,
            site_connection::routes,
        ];
        let of_packages = [
            plugins::routes,
            themes::routes,
            marketing::routes,
            suggestions::routes,
            payments::routes,
        ];
        let of_market = [marketplace_routes::routes, connect::routes];
        let plain = plain.into_iter().flat_map(|routes| routes(names));
        let of_packages = of_packages.into_iter().flat_map(|routes| routes(names, &self.catalogue));
        let of_market = of_market.into_iter().flat_map(|routes| routes(names, &self.market));
        let features = features::routes(names, &self.experiments);
        plain.chain(of_packages).chain(of_market).chain(features).collect()
    }

    /// Its kinds of background jobs.
    pub fn job_kinds(&self) -> Vec<Box<dyn JobKind>> {
        let plugin_job = |task: Task| -> Box<dyn JobKind> {
            Box::new(PluginJob { task, catalogue: Arc::clone(&self.catalogue) })
        };
        let feed: Box<dyn JobKind> = Box::new(FeedJob);
        Task::ALL.into_iter().map(plugin_job).chain([feed]).collect()
    }

    /// Its public pages.
    pub fn pages(&self, names: &Names) -> Box<dyn PageSource> {
        Box::new(plugins::PluginPages::new(names))
    }
}
