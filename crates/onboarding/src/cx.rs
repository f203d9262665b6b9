//! What handlers work with: the platform of an environment, and the context of one request.

use std::net::IpAddr;
use std::sync::{Arc, OnceLock, Weak};

use frame::Site;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::{Store, fact};
use types::{Clock, Environment, Error, Result, Timestamp};

use crate::audit::Noted;
use crate::auth::{Caller, KeyCache};
use crate::devices::DeviceCaller;
use crate::id_source::IdSource;
use crate::idempotency::{Idempotency, Running};
use crate::limits::IsoLimits;
use crate::onboard::Later;
use crate::requests::RequestLog;
use crate::sandbox::Scenario;
use vault::{MasterKey, Vault};

/// Choices where the published interface leaves one.
#[expect(clippy::struct_excessive_bools, reason = "each is a setting of its own")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Refuse members that the interface does not have, instead of ignoring them.
    pub strict_fields: bool,
    /// Allow only the letters A to Z in the names of persons.
    pub strict_names: bool,
    /// Refuse an id that stands beside details of the same object, instead of ignoring the details.
    pub strict_ids: bool,
    /// Refuse a second merchant with the same e-mail address.
    pub unique_email: bool,
    /// Refuse a processor account that is on another live TPN already.
    pub unique_profiles: bool,
    /// Let new merchants wait for a review before they are active.
    pub review_merchants: bool,
    /// Whether ISOs may register themselves: `closed`, after an administrator's `approval`, or
    /// `open` to everybody with an e-mail address.
    pub registration: Registration,
    /// What an ISO may use, unless it has limits of its own.
    pub limits: IsoLimits,
    /// Days for which requests can be looked up. 0: they are not kept at all.
    pub request_log_days: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            strict_fields: false,
            strict_names: false,
            strict_ids: true,
            unique_email: false,
            unique_profiles: false,
            review_merchants: false,
            registration: Registration::Closed,
            limits: IsoLimits::default(),
            request_log_days: 7,
        }
    }
}

/// Whether ISOs may register themselves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Registration {
    #[default]
    Closed,
    Approval,
    Open,
}

/// The fact by which a database knows its master key.
const MASTER_KEY_FINGERPRINT: &str = "master_key_fingerprint";

/// Everything that the requests of one environment share.
#[derive(Debug)]
pub struct Platform {
    pub environment: Environment,
    pub store: Store,
    pub vault: Arc<Vault>,
    pub settings: Settings,
    pub clock: Clock,
    pub(crate) ids: IdSource,
    pub(crate) keys: KeyCache,
    pub(crate) running: Running,
    pub(crate) refusals: Noted,
    pub(crate) requests: RequestLog,
    site: OnceLock<Weak<Site>>,
}

impl Platform {
    /// Fails if the database belongs to another master key, before anything is read or written.
    /// Blocks; call it at start.
    pub fn new(
        environment: Environment,
        store: Store,
        master: &MasterKey,
        settings: Settings,
        clock: Clock,
    ) -> Result<Self> {
        let vault = Arc::new(Vault::new(master, environment));
        let fingerprint = format!("{:016x}", u64::from_be_bytes(vault.fingerprint()));
        let ours = fingerprint.clone();
        let stored = store.write_blocking(move |conn| {
            fact::get_or_set(conn, MASTER_KEY_FINGERPRINT, &fingerprint)
        })?;
        if stored != ours {
            return Err(Error::invalid(format!(
                "the {environment} database was made with another master key; give the key that \
                 it was made with"
            )));
        }
        let ids = IdSource::new(vault.id_permutation());
        let (keys, running) = (KeyCache::default(), Running::default());
        let (refusals, requests) = (Noted::default(), RequestLog::default());
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
            site: OnceLock::new(),
        })
    }

    /// Told once, when the site of the environment is made: people and mail are its matter.
    pub fn meet(&self, site: &Arc<Site>) {
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
    pub wishes: Wishes,
    pub origin: Origin,
}

/// Where a request came from, for those who ask later.
#[derive(Clone, Debug, Default)]
pub struct Origin {
    pub request_id: String,
    /// Of the client, or as far as trusted proxies tell.
    pub address: Option<IpAddr>,
}

/// What the headers of a request ask for beyond its content. By default nothing.
#[derive(Clone, Debug, Default)]
pub struct Wishes {
    /// Check everything and store nothing.
    pub validate_only: bool,
    /// Answer a repetition like the first time.
    pub idempotency: Option<Idempotency>,
    /// Fail in a chosen way; empty in production.
    pub scenario: Scenario,
    /// Change only the version that this tag names.
    pub if_match: Option<String>,
    /// Leave what an onboarding would store to somebody else, who stores it with others.
    pub later: Option<Later>,
}

impl Cx {
    /// The caller of a route that needs a scope.
    pub fn caller(&self) -> Result<&Caller> {
        let missing = || Error::internal("a route that needs a caller was reached without one");
        self.caller.as_ref().ok_or_else(missing)
    }
}
