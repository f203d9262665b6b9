//! Who makes a request, from where, and why somebody was refused.
//!
//! A [`Caller`] acts for an ISO, with one of its keys or with a session; a [`DeviceCaller`] for its
//! TPN. [`crate::auth`] finds out which of them stands behind a request.

mod refusals;

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use contract::Permission;
use frame::credential_cache::CredentialCache;
use site_rows::iso::IsoRow;
use types::{AddressRange, IsoId, KeyId, Scope, ScopeSet, Timestamp};
use vault::DataKey;

pub(crate) use self::refusals::RecentRefusals;

use crate::dialect::ResponseStyle;
use crate::lifecycle::IsoStatus;
use crate::rows::api_key::ApiKeyRow;
use crate::rows::device::{DeviceRow, PairingCode};
use crate::rows::iso_account::IsoAccount;
use crate::settings::IsoLimits;

/// Who makes a request for an ISO: a program with one of its keys, or a person with a session.
#[derive(Clone, Debug)]
pub struct Caller {
    pub(crate) access: Arc<Access>,
    pub(crate) credential: Credential,
}

/// What a caller may do, and with what.
#[derive(Debug)]
pub(crate) struct Access {
    pub(crate) iso: IsoRow,
    pub(crate) account: IsoAccount,
    pub(crate) limits: IsoLimits,
    pub(crate) scopes: ScopeSet,
    pub(crate) style: ResponseStyle,
    pub(crate) data_key: DataKey,
}

impl Access {
    /// What time it is for the ISO.
    pub(crate) fn time(&self, now: Timestamp) -> Timestamp {
        now.plus(self.account.clock_ahead)
    }

    /// Whoever is not active may still see why.
    pub(crate) fn may_work(&self, permission: Permission) -> bool {
        self.account.is_active() || permission == Permission::Scope(Scope::IsosRead)
    }

    /// Of an ISO that is not active: its state, and why.
    pub(crate) fn inactive(&self) -> Option<(IsoStatus, Option<String>)> {
        let status = IsoStatus::from_name(&self.account.status)?;
        Some((status, self.account.status_reason.clone()))
    }
}

/// How a caller showed who they are.
#[derive(Clone, Debug)]
pub(crate) enum Credential {
    Key(Arc<KeyEntry>),
    /// The user who signed in.
    Session(i64),
    /// Whoever it was when their work was accepted, which goes on now; or the operator.
    Before(Arc<str>),
}

#[derive(Debug)]
pub(crate) struct KeyEntry {
    pub(crate) key: ApiKeyRow,
    /// From where the key may be used; empty for everywhere.
    pub(crate) networks: Vec<AddressRange>,
    /// Set by the request that records the key's use, so that others need not.
    pub(crate) use_is_recorded: AtomicBool,
    pub(crate) access: Arc<Access>,
}

impl KeyEntry {
    /// Who restricts a key to networks does not mean callers without an address.
    pub(crate) fn is_allowed_from(&self, address: Option<IpAddr>) -> bool {
        let within = |address: IpAddr| self.networks.iter().any(|range| range.contains(address));
        self.networks.is_empty() || address.is_some_and(|address| within(address.to_canonical()))
    }
}

impl Caller {
    pub(crate) fn scopes(&self) -> &ScopeSet {
        &self.access.scopes
    }

    /// The key that the caller uses, if it is one.
    pub(crate) fn key(&self) -> Option<&KeyEntry> {
        match &self.credential {
            Credential::Key(entry) => Some(entry),
            Credential::Session(_) | Credential::Before(_) => None,
        }
    }

    pub fn iso_id(&self) -> &IsoId {
        &self.access.iso.iso_id
    }

    /// The caller in the audit log, in the log and in counts of requests.
    pub fn actor(&self) -> String {
        match &self.credential {
            Credential::Key(entry) => format!("key:{}", entry.key.key_id),
            Credential::Session(user_id) => format!("user:{user_id}"),
            Credential::Before(actor) => actor.to_string(),
        }
    }

    pub fn style(&self) -> ResponseStyle {
        self.access.style
    }

    /// What the ISO may use.
    pub fn limits(&self) -> IsoLimits {
        self.access.limits
    }

    /// How far the ISO's clock is ahead; never in production.
    pub fn clock_ahead(&self) -> Duration {
        self.access.account.clock_ahead
    }

    pub(crate) fn data_key(&self) -> &DataKey {
        &self.access.data_key
    }
}

/// A device that makes a request.
#[derive(Clone, Debug)]
pub enum DeviceCaller {
    /// One that was paired.
    Bound(DeviceRow),
    /// One that holds a code.
    Pairing(PairingCode),
}

impl DeviceCaller {
    pub fn iso_id(&self) -> &IsoId {
        match self {
            Self::Bound(device) => &device.iso_id,
            Self::Pairing(code) => &code.iso_id,
        }
    }

    /// What the audit log and the rate limits call it.
    pub fn actor(&self) -> String {
        match self {
            Self::Bound(device) => format!("device:{}", device.device_id),
            Self::Pairing(code) => format!("pairing:{}", code.tpn),
        }
    }
}

/// Where a request came from, for those who ask later.
#[derive(Clone, Debug, Default)]
pub struct Origin {
    pub request_id: String,
    /// Of the client, or as far as trusted proxies tell.
    pub address: Option<IpAddr>,
}

/// A refused key: the reason for the log, and the style of the ISO it belongs to, if that is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    pub reason: Reason,
    pub style: ResponseStyle,
    /// The key and its ISO, if the secret was right.
    pub key: Option<(IsoId, KeyId)>,
    /// The state of the ISO and why it is in it, if a signed-in user is refused because of that.
    /// **They are told**, unlike who holds a key.
    pub inactive_iso: Option<(IsoStatus, Option<String>)>,
    /// What a known key or a signed-in user may not do. **They are told**, since they can do
    /// something about it.
    pub lacks: Option<Permission>,
}

impl Refused {
    /// Of somebody of whom nothing is known.
    pub fn stranger(reason: Reason) -> Self {
        Self { reason, style: ResponseStyle::default(), key: None, inactive_iso: None, lacks: None }
    }
}

/// Why a key was refused. **For the log only**, but for expired keys and missing scopes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reason {
    NoHeader,
    NotAnApiKey,
    Mistyped,
    OtherEnvironment,
    Unknown,
    Expired,
    Revoked,
    MissingScope,
    OtherAddress,
    StaleNonce,
    InactiveIso,
}

impl Reason {
    pub const fn text(self) -> &'static str {
        match self {
            Self::NoHeader => "no authorization header",
            Self::NotAnApiKey => "not an api key",
            Self::Mistyped => "checksum of the key is wrong",
            Self::OtherEnvironment => "key of the other environment",
            Self::Unknown => "unknown key",
            Self::Expired => "expired key",
            Self::Revoked => "revoked key",
            Self::MissingScope => "key lacks the scope",
            Self::InactiveIso => "the ISO is not active",
            Self::StaleNonce => "nonce of the session is stale",
            Self::OtherAddress => "key may not be used from this address",
        }
    }
}

/// Recently seen keys by their id; `None` for an id that no key has.
pub(crate) type KeyCache = CredentialCache<String, Option<Arc<KeyEntry>>>;

/// What an entry of [`KeyCache`] is read from.
pub(crate) const KEY_TABLES: [&str; 3] = ["api_keys", "isos", "iso_accounts"];

/// Who makes a request that needs credentials.
#[derive(Clone, Debug)]
pub enum Visitor {
    Key(Caller),
    /// A device, and how far the clock of its ISO is ahead.
    Device(DeviceCaller, Duration),
    /// The user who is signed in.
    Administrator(i64),
}
