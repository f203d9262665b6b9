//! What handlers work with: the platform of an environment, and the context of one request.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, OnceLock, Weak};

use contract::card_data::Policy;
use db::Database;
use frame::Site;
use types::{Clock, Environment, Error, Result, Timestamp};
use vault::{MasterKey, Vault, WrappedKey};

use crate::caller::{Caller, DeviceCaller, KEY_TABLES, KeyCache, Origin, RecentRefusals};
use crate::id_source::IdSource;
use crate::idempotency::{Idempotency, Running};
use crate::master_keys::{MasterKeys, open_vault};
use crate::request_log::RequestLog;
use crate::settings::Settings;
use crate::simulation::Scenario;

/// Everything that the requests of one environment share.
#[derive(Debug)]
pub struct Platform {
    pub environment: Environment,
    pub store: Database,
    pub vault: Arc<Vault>,
    pub settings: Settings,
    pub clock: Clock,
    pub(crate) ids: IdSource,
    pub(crate) keys: KeyCache,
    pub(crate) running: Running,
    pub(crate) refusals: RecentRefusals,
    pub(crate) requests: RequestLog,
    /// Whether another master key counts, which is not here.
    pub(crate) key_is_replaced: AtomicBool,
    /// The site's data key as it was last seen in the database.
    pub(crate) site_key_seen: Mutex<Option<WrappedKey>>,
    site: OnceLock<Weak<Site>>,
}

impl Platform {
    /// Fails if the database belongs to another master key, before anything is read or written.
    /// Blocks; call it at start.
    pub fn new(
        environment: Environment,
        store: Database,
        master: &MasterKey,
        settings: Settings,
        clock: Clock,
    ) -> Result<Self> {
        let keys = MasterKeys { main: master.clone(), next: None };
        Self::with_keys(environment, store, keys, settings, clock)
    }

    /// The same with the master key that follows, if there is one already.
    pub fn with_keys(
        environment: Environment,
        store: Database,
        keys: MasterKeys,
        settings: Settings,
        clock: Clock,
    ) -> Result<Self> {
        let vault = store.write_blocking(move |conn| open_vault(environment, conn, &keys))?;
        let vault = Arc::new(vault);
        let ids = IdSource::new(vault.id_permutation());
        let (keys, running) = (KeyCache::new(store.watch(&KEY_TABLES)), Running::default());
        let (refusals, requests) = (RecentRefusals::default(), RequestLog::default());
        Ok(Self {
            environment,
            store,
            vault,
            settings,
            clock,
            ids,
            keys,
            running,
            refusals,
            requests,
            key_is_replaced: AtomicBool::new(false),
            site_key_seen: Mutex::new(None),
            site: OnceLock::new(),
        })
    }

    /// Called once, when the site of the environment is made: people and mail are its matter.
    pub fn attach_site(&self, site: &Arc<Site>) {
        // The site holds on to the platform by its jobs; held both ways, neither would ever go.
        let _ = self.site.set(Arc::downgrade(site));
    }

    /// The site of the environment, if it was made.
    pub(crate) fn site(&self) -> Option<Arc<Site>> {
        self.site.get().and_then(Weak::upgrade)
    }
}

/// One request.
#[derive(Clone, Debug)]
pub struct Cx {
    pub platform: Arc<Platform>,
    /// Who calls; `None` only on public routes.
    pub caller: Option<Caller>,
    /// The device that calls, on routes for devices.
    pub device: Option<DeviceCaller>,
    /// The user who calls, on routes for administrators.
    pub administrator: Option<i64>,
    pub now: Timestamp,
    pub request_options: RequestOptions,
    pub origin: Origin,
}

impl contract::Context for Cx {
    fn card_data_found(&self, paths: &[String]) -> Policy {
        let policy = self.platform.settings.card_data;
        tracing::warn!(
            environment = self.platform.environment.name(),
            iso.id = self.caller.as_ref().map(|caller| caller.iso_id().as_str()),
            fields = paths.join(", "),
            refused = policy == Policy::Refuse,
            "request has card data"
        );
        policy
    }
}

/// What the headers of a request ask for beyond its content. By default nothing.
#[derive(Clone, Debug, Default)]
pub struct RequestOptions {
    /// Check everything and store nothing.
    pub validate_only: bool,
    /// Answer a repetition like the first time.
    pub idempotency: Option<Idempotency>,
    /// Fail in a chosen way; empty in production.
    pub scenario: Scenario,
    /// Change only the version that this tag names.
    pub if_match: Option<String>,
}

impl Cx {
    /// The caller of a route that needs a scope.
    pub fn caller(&self) -> Result<&Caller> {
        let missing = || Error::internal("a route that needs a caller was reached without one");
        self.caller.as_ref().ok_or_else(missing)
    }
}
