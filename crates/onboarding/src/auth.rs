//! From an `Authorization` header, or a session, to a caller.
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
use store::Conn;
use store::api_key::ApiKeyRow;
use store::iso::IsoRow;
use store::iso_account::{self, IsoAccount};
use store::user::UserRow;
use types::{AddressRange, IsoId, KeyId, Result, Role, Scope, ScopeSet, Timestamp};

use crate::Platform;
use crate::dialect::ResponseStyle;
use crate::isos::limits::IsoLimits;
use crate::isos::people;
use crate::keys::{ApiKey, KeyFault, parse_authorization};
use crate::terminals::devices::DeviceCaller;
use vault::{DataKey, WrappedKey};

const CACHE_LIFE: Duration = Duration::from_millis(900);
/// Keys remembered at most. Beyond that the cache starts over.
const CACHE_KEYS_MAX: usize = 10_000;
/// How precisely the last use of a key is noted.
const LAST_USED_PRECISION: Duration = Duration::from_mins(1);

/// Who makes a request for an ISO: a program with one of its keys, or a person with a session.
#[derive(Clone, Debug)]
pub struct Caller {
    access: Arc<Access>,
    shown: Shown,
}

/// What a caller may do, and with what.
#[derive(Debug)]
struct Access {
    iso: IsoRow,
    account: IsoAccount,
    limits: IsoLimits,
    scopes: ScopeSet,
    style: ResponseStyle,
    data_key: DataKey,
}

impl Access {
    /// What time it is for the ISO.
    fn time(&self, now: Timestamp) -> Timestamp {
        now.plus(self.account.clock_ahead)
    }

    /// Whoever is not active may still see why.
    fn may_work(&self, scope: Scope) -> bool {
        self.account.is_active() || scope == Scope::IsosRead
    }
}

/// How a caller showed who they are.
#[derive(Clone, Debug)]
enum Shown {
    Key(Arc<KeyEntry>),
    /// The user who signed in.
    Session(i64),
    /// Whoever it was when their work was accepted, which goes on now; or the operator.
    Before(Arc<str>),
}

#[derive(Debug)]
struct KeyEntry {
    key: ApiKeyRow,
    /// From where the key may be used; empty for everywhere.
    networks: Vec<AddressRange>,
    /// Set by the request that notes the key's use, so that others need not.
    use_is_noted: AtomicBool,
    access: Arc<Access>,
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
        &self.access.scopes
    }

    pub fn iso_id(&self) -> &IsoId {
        &self.access.iso.iso_id
    }

    /// The caller in the audit log, in the log and in counts of requests.
    pub fn actor(&self) -> String {
        match &self.shown {
            Shown::Key(entry) => format!("key:{}", entry.key.key_id),
            Shown::Session(user_id) => format!("user:{user_id}"),
            Shown::Before(actor) => actor.to_string(),
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

/// A refused key: the reason for the log, and the style of the ISO it belongs to, if that is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    pub reason: Reason,
    pub style: ResponseStyle,
    /// The key and its ISO, if the secret was right.
    pub key: Option<(IsoId, KeyId)>,
}

impl Refused {
    /// Of somebody of whom nothing is known.
    pub fn stranger(reason: Reason) -> Self {
        Self { reason, style: ResponseStyle::default(), key: None }
    }
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

    /// After a change that callers are to notice at once.
    pub(crate) fn forget(&self) {
        self.by_id.lock().unwrap_or_else(PoisonError::into_inner).clear();
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
    /// A device, and how far the clock of its ISO is ahead.
    Device(DeviceCaller, Duration),
    /// The user who is signed in.
    Administrator(i64),
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
        Ok(device.map(|(device, ahead)| Visitor::Device(device, ahead)))
    }

    /// The caller behind the header, if its key has the scope. An outer error is ours.
    pub async fn authenticate(
        &self,
        header: Option<&[u8]>,
        scope: Scope,
        address: Option<IpAddr>,
        now: Timestamp,
    ) -> Result<std::result::Result<Caller, Refused>> {
        let unknown = |reason| Ok(Err(Refused::stranger(reason)));
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
            let KeyEntry { key: row, access, .. } = &**entry;
            key.matches(&self.vault, &access.iso.iso_id, &row.scopes, &row.hash)
        });
        let Some(entry) = matching else { return unknown(Reason::Unknown) };
        let reason = if entry.key.revoked.is_some() {
            Reason::Revoked
        } else if entry.key.expires.is_some_and(|expires| expires <= entry.access.time(now)) {
            Reason::Expired
        } else if !entry.is_allowed_from(address) {
            Reason::OtherAddress
        } else if !entry.access.scopes.allows(scope) {
            Reason::MissingScope
        } else if !entry.access.may_work(scope) {
            Reason::InactiveIso
        } else {
            let access = Arc::clone(&entry.access);
            return Ok(Ok(Caller { access, shown: Shown::Key(entry) }));
        };
        let key = Some((entry.access.iso.iso_id.clone(), entry.key.key_id.clone()));
        Ok(Err(Refused { reason, style: entry.access.style, key }))
    }

    async fn load_key(&self, key_id: &str) -> Result<Option<Arc<KeyEntry>>> {
        let wanted = KeyId::new(key_id);
        let found = self.store.read(move |conn| {
            let Some(key) = store::api_key::find(conn, &wanted)? else { return Ok(None) };
            let iso = load_iso(conn, &key.iso_id)?;
            Ok(iso.map(|iso| (key, iso)))
        });
        let entry = match found.await? {
            Some((key, iso)) => Some(Arc::new(self.open_entry(key, iso)?)),
            None => None,
        };
        self.keys.put(key_id, entry.clone());
        Ok(entry)
    }

    fn open_entry(&self, key: ApiKeyRow, iso: (IsoRow, IsoAccount)) -> Result<KeyEntry> {
        let damaged = |message: String| types::Error::internal(message);
        let networks = key.allowed_ips.split_ascii_whitespace().map(str::parse);
        let networks = networks.collect::<std::result::Result<_, String>>().map_err(damaged)?;
        let access = Arc::new(self.open_access(iso, key.scopes.parse().map_err(damaged)?)?);
        Ok(KeyEntry { networks, use_is_noted: AtomicBool::new(false), key, access })
    }

    /// Who goes on with work that was accepted from this actor, whatever became of their key or
    /// session since.
    pub(crate) async fn caller_before(&self, iso_id: &IsoId, actor: &str) -> Result<Caller> {
        let wanted = iso_id.clone();
        let found = self.store.read(move |conn| load_iso(conn, &wanted)).await?;
        let iso = found.ok_or_else(|| {
            types::Error::not_found(format!(
                "there is no ISO {iso_id}; `boardwalk iso list` shows those that there are"
            ))
        })?;
        let access = Arc::new(self.open_access(iso, ScopeSet::Full)?);
        Ok(Caller { access, shown: Shown::Before(actor.into()) })
    }

    fn open_access(
        &self,
        (iso, account): (IsoRow, IsoAccount),
        scopes: ScopeSet,
    ) -> Result<Access> {
        let damaged = |message: String| types::Error::internal(message);
        let wrapped = WrappedKey(iso.data_key.clone());
        let data_key = self.vault.data_key_open(&iso.iso_id, &wrapped)?;
        let style = iso.response_style.parse().map_err(damaged)?;
        let limits = self.settings.limits.unless(IsoLimits::read(&account.limits)?);
        Ok(Access { iso, account, limits, scopes, style, data_key })
    }

    /// The caller that a signed-in user is, if they have the scope. Who is bound to an ISO acts for
    /// that one; an administrator of the site acts for the one that they name.
    pub async fn admit_user(
        &self,
        user: &UserRow,
        named: Option<&str>,
        scope: Scope,
    ) -> Result<std::result::Result<Caller, Refused>> {
        let refuse = |reason| Ok(Err(Refused::stranger(reason)));
        let Some(scopes) = people::scopes(&user.roles) else { return refuse(Reason::MissingScope) };
        let is_administrator = user.roles.contains(&Role::Administrator);
        let iso_id = match (user.iso_id.as_deref(), named) {
            (Some(own), Some(other)) if own != other => return refuse(Reason::MissingScope),
            (Some(own), _) => own,
            (None, Some(named)) if is_administrator => named,
            (None, _) => return refuse(Reason::MissingScope),
        };
        if !scopes.allows(scope) {
            return refuse(Reason::MissingScope);
        }
        let wanted = IsoId::new(iso_id);
        let found = self.store.read(move |conn| load_iso(conn, &wanted)).await?;
        let Some(iso) = found else { return refuse(Reason::Unknown) };
        let access = Arc::new(self.open_access(iso, scopes)?);
        if !access.may_work(scope) {
            return refuse(Reason::InactiveIso);
        }
        Ok(Ok(Caller { access, shown: Shown::Session(user.user_id) }))
    }

    /// Whether the last use of the caller's key should be noted again, by this request.
    pub fn last_use_is_stale(&self, caller: &Caller, now: Timestamp) -> bool {
        let Shown::Key(entry) = &caller.shown else { return false };
        let noted = entry.key.last_used;
        noted.is_none_or(|noted| now.since(noted) >= LAST_USED_PRECISION)
            && !entry.use_is_noted.swap(true, Ordering::Relaxed)
    }

    /// Notes that the caller's key was used.
    pub async fn note_last_use(
        &self,
        caller: Caller,
        address: Option<IpAddr>,
        now: Timestamp,
    ) -> Result<()> {
        let ip = address.map(|address| address.to_string());
        let Shown::Key(entry) = caller.shown else { return Ok(()) };
        let note = move |conn: &mut dyn Conn| {
            let (iso_id, key_id) = (&entry.access.iso.iso_id, &entry.key.key_id);
            store::api_key::set_last_used(conn, iso_id, key_id, now, ip.as_deref())
        };
        self.store.write(note).await
    }
}

fn load_iso(conn: &mut dyn Conn, iso_id: &IsoId) -> Result<Option<(IsoRow, IsoAccount)>> {
    let Some(iso) = store::iso::get(conn, iso_id)? else { return Ok(None) };
    Ok(Some((iso, iso_account::get(conn, iso_id)?)))
}

impl From<KeyFault> for Reason {
    fn from(fault: KeyFault) -> Self {
        match fault {
            KeyFault::Malformed => Self::NotAnApiKey,
            KeyFault::Checksum => Self::Mistyped,
        }
    }
}
