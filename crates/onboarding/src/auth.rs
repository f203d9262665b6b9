//! From an `Authorization` header to a caller.
//!
//! Whatever is wrong with a key, the client gets the same answer; the true reason is for the log.
//! Keys are looked up at most once a second each, so **a revocation takes effect within a second**
//! in every process.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use contract::Permission;
use store::api_key::ApiKeyRow;
use store::iso::IsoRow;
use types::{AddressRange, IsoId, KeyId, Result, Scope, ScopeSet, Timestamp};

use crate::Platform;
use crate::api_key::{ApiKey, KeyFault, parse_authorization};
use crate::devices::DeviceCaller;
use crate::dialect::ResponseStyle;
use vault::{DataKey, WrappedKey};

const CACHE_LIFE: Duration = Duration::from_millis(900);
/// Keys remembered at most. Beyond that the cache starts over.
const CACHE_KEYS_MAX: usize = 10_000;
/// How precisely the last use of a key is noted.
const LAST_USED_PRECISION: Duration = Duration::from_mins(1);

/// Who makes a request: an ISO, by one of its keys.
#[derive(Clone, Debug)]
pub struct Caller {
    entry: Arc<KeyEntry>,
}

#[derive(Debug)]
struct KeyEntry {
    key: ApiKeyRow,
    iso: IsoRow,
    scopes: ScopeSet,
    /// From where the key may be used; empty for everywhere.
    networks: Vec<AddressRange>,
    style: ResponseStyle,
    data_key: DataKey,
    /// Set by the request that notes the key's use, so that others need not.
    use_is_noted: AtomicBool,
}

impl KeyEntry {
    /// Who restricts a key to networks does not mean callers without an address.
    fn is_allowed_from(&self, address: Option<IpAddr>) -> bool {
        let within = |address: IpAddr| self.networks.iter().any(|range| range.contains(address));
        self.networks.is_empty() || address.is_some_and(|address| within(address.to_canonical()))
    }
}

impl Caller {
    pub(crate) fn scopes(&self) -> &ScopeSet {
        &self.entry.scopes
    }

    pub fn iso_id(&self) -> &IsoId {
        &self.entry.iso.iso_id
    }

    pub fn key_id(&self) -> &KeyId {
        &self.entry.key.key_id
    }

    pub fn style(&self) -> ResponseStyle {
        self.entry.style
    }

    pub(crate) fn data_key(&self) -> &DataKey {
        &self.entry.data_key
    }
}

/// A refused key: the reason for the log, and the style of the ISO it belongs to, if that is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    pub reason: Reason,
    pub style: ResponseStyle,
    /// The key and its ISO, if the secret was right.
    pub key: Option<(IsoId, KeyId)>,
}

/// Why a key was refused. **For the log only**, but for expired keys.
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
            Self::OtherAddress => "key may not be used from this address",
        }
    }
}

/// Recently seen keys.
#[derive(Debug, Default)]
pub(crate) struct KeyCache {
    by_id: Mutex<HashMap<String, Seen>>,
}

/// What a look-up found, and when.
#[derive(Clone, Debug)]
struct Seen {
    at: Instant,
    /// `None` when there is no such key.
    entry: Option<Arc<KeyEntry>>,
}

impl KeyCache {
    fn get(&self, key_id: &str) -> Option<Seen> {
        let by_id = self.by_id.lock().unwrap_or_else(PoisonError::into_inner);
        by_id.get(key_id).filter(|seen| seen.at.elapsed() < CACHE_LIFE).cloned()
    }

    fn put(&self, key_id: &str, entry: Option<Arc<KeyEntry>>) {
        let mut by_id = self.by_id.lock().unwrap_or_else(PoisonError::into_inner);
        if by_id.len() >= CACHE_KEYS_MAX {
            by_id.clear();
        }
        by_id.insert(key_id.to_owned(), Seen { at: Instant::now(), entry });
    }
}

/// Who makes a request that needs credentials.
#[derive(Clone, Debug)]
pub enum Visitor {
    Key(Caller),
    Device(DeviceCaller),
}

impl Platform {
    /// Who stands behind the header, if they may do what the permission says. An outer error is
    /// ours.
    pub async fn admit(
        &self,
        header: Option<&[u8]>,
        permission: Permission,
        address: Option<IpAddr>,
        now: Timestamp,
    ) -> Result<std::result::Result<Visitor, Refused>> {
        if let Permission::Scope(scope) = permission {
            let caller = self.authenticate(header, scope, address, now).await?;
            return Ok(caller.map(Visitor::Key));
        }
        let device = self.authenticate_device(header, permission, now).await?;
        Ok(device.map(Visitor::Device))
    }

    /// The caller behind the header, if its key has the scope. An outer error is ours.
    pub async fn authenticate(
        &self,
        header: Option<&[u8]>,
        scope: Scope,
        address: Option<IpAddr>,
        now: Timestamp,
    ) -> Result<std::result::Result<Caller, Refused>> {
        let unknown =
            |reason| Ok(Err(Refused { reason, style: ResponseStyle::default(), key: None }));
        let Some(header) = header else { return unknown(Reason::NoHeader) };
        let parsed = parse_authorization(header)
            .ok_or(Reason::NotAnApiKey)
            .and_then(|text| ApiKey::parse(text).map_err(Reason::from));
        let key = match parsed {
            Ok(key) if key.environment() != self.environment => {
                return unknown(Reason::OtherEnvironment);
            }
            Ok(key) => key,
            Err(reason) => return unknown(reason),
        };
        let entry = match self.keys.get(key.key_id()) {
            Some(seen) => seen.entry,
            None => self.load_key(key.key_id()).await?,
        };
        let matching = entry.filter(|entry| {
            let KeyEntry { key: row, iso, .. } = &**entry;
            key.matches(&self.vault, &iso.iso_id, &row.scopes, &row.hash)
        });
        let Some(entry) = matching else { return unknown(Reason::Unknown) };
        let reason = if entry.key.revoked.is_some() {
            Reason::Revoked
        } else if entry.key.expires.is_some_and(|expires| expires <= now) {
            Reason::Expired
        } else if !entry.is_allowed_from(address) {
            Reason::OtherAddress
        } else if !entry.scopes.allows(scope) {
            Reason::MissingScope
        } else {
            return Ok(Ok(Caller { entry }));
        };
        let key = Some((entry.iso.iso_id.clone(), entry.key.key_id.clone()));
        Ok(Err(Refused { reason, style: entry.style, key }))
    }

    async fn load_key(&self, key_id: &str) -> Result<Option<Arc<KeyEntry>>> {
        let wanted = KeyId::new(key_id);
        let found = self.store.read(move |conn| {
            let Some(key) = store::api_key::find(conn, &wanted)? else { return Ok(None) };
            let iso = store::iso::get(conn, &key.iso_id)?;
            Ok(iso.map(|iso| (key, iso)))
        });
        let entry = match found.await? {
            Some((key, iso)) => Some(Arc::new(self.open_entry(key, iso)?)),
            None => None,
        };
        self.keys.put(key_id, entry.clone());
        Ok(entry)
    }

    fn open_entry(&self, key: ApiKeyRow, iso: IsoRow) -> Result<KeyEntry> {
        let damaged = |message: String| types::Error::internal(message);
        let wrapped = WrappedKey(iso.data_key.clone());
        let networks = key.allowed_ips.split_ascii_whitespace().map(str::parse);
        Ok(KeyEntry {
            networks: networks.collect::<std::result::Result<_, String>>().map_err(damaged)?,
            scopes: key.scopes.parse().map_err(damaged)?,
            style: iso.response_style.parse().map_err(damaged)?,
            data_key: self.vault.data_key_open(&iso.iso_id, &wrapped)?,
            use_is_noted: AtomicBool::new(false),
            key,
            iso,
        })
    }

    /// Whether the last use of the caller's key should be noted again, by this request.
    pub fn last_use_is_stale(&self, caller: &Caller, now: Timestamp) -> bool {
        let noted = caller.entry.key.last_used;
        noted.is_none_or(|noted| now.since(noted) >= LAST_USED_PRECISION)
            && !caller.entry.use_is_noted.swap(true, Ordering::Relaxed)
    }

    /// Notes that the caller's key was used.
    pub async fn note_last_use(
        &self,
        caller: Caller,
        address: Option<IpAddr>,
        now: Timestamp,
    ) -> Result<()> {
        let ip = address.map(|address| address.to_string());
        let note = move |conn: &mut dyn store::Conn| {
            let (iso_id, key_id) = (caller.iso_id(), caller.key_id());
            store::api_key::set_last_used(conn, iso_id, key_id, now, ip.as_deref())
        };
        self.store.write(note).await
    }
}

impl From<KeyFault> for Reason {
    fn from(fault: KeyFault) -> Self {
        match fault {
            KeyFault::Malformed => Self::NotAnApiKey,
            KeyFault::Checksum => Self::Mistyped,
        }
    }
}
