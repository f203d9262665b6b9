//! A site for this crate's own tests: on a SQLite file in a folder, at a moment, over any network.

use std::path::Path;
use std::sync::Arc;

use db::{Database, Location};
use frame::outbound::Outbound;
use frame::{Parts, Settings, Site};
use types::{Clock, Environment, Timestamp};
use vault::{MasterKey, Vault};

use crate::OPTIONS;

pub(crate) fn site_at(folder: &Path, now: Timestamp, outbound: Arc<dyn Outbound>) -> Site {
    let environment = Environment::Sandbox;
    std::fs::create_dir_all(folder).unwrap();
    let location = Location::parse(None, folder, environment, 1).unwrap();
    let parts = Parts {
        environment,
        store: Database::open(&location, schema::MIGRATIONS).unwrap(),
        vault: Arc::new(Vault::new(&MasterKey::generate().unwrap(), environment)),
        clock: Clock::Fixed(now),
        settings: Settings::default(),
        outbound,
        wrong_credentials_per_minute: 100,
        options: &[OPTIONS],
        shop_code_prefix: "woocommerce_rest",
    };
    Site::new(parts, Vec::new()).unwrap()
}
