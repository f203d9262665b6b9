//! From an `Authorization` header, or a session, to a caller.
//!
//! Whatever is wrong with a key, the client gets the same answer; the true reason is for the log.
//! Only a key that is right and lacks a scope is told so.
//! Keys that were looked up are kept for less than a second, and not at all once this process has
//! written to what they were read from: **a revocation holds for the next request here, and within
//! a second in every other process.**

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use contract::{Method, Permission};
use db::Conn;
use site_rows::iso::IsoRow;
use site_rows::user::UserRow;
use types::{IsoId, KeyId, Result, Role, Scope, ScopeSet, Timestamp, iso_scopes};
use vault::WrappedKey;

use crate::Platform;
use crate::caller::{Access, Caller, Credential, DeviceCaller, KeyEntry, Reason, Refused, Visitor};
use crate::keys::text::{ApiKey, KeyError, parse_authorization};
use crate::rows::api_key::ApiKeyRow;
use crate::rows::device;
use crate::rows::iso_account::{self, IsoAccount};
use crate::settings::IsoLimits;

/// How precisely the last use of a key is recorded.
const LAST_USED_PRECISION: Duration = Duration::from_mins(1);

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

    /// The device behind the header, and how far its clock is ahead. An outer error is ours.
    pub async fn authenticate_device(
        &self,
        header: Option<&[u8]>,
        permission: Permission,
        now: Timestamp,
    ) -> Result<std::result::Result<(DeviceCaller, Duration), Refused>> {
        let refused = |reason| Ok(Err(Refused::stranger(reason)));
        let Some(header) = header else { return refused(Reason::NoHeader) };
        let pairing = permission == Permission::Pairing;
        let scheme = if pairing { "pairing-code" } else { "device-token" };
        let Some(text) = credential(header, scheme) else { return refused(Reason::NotAnApiKey) };
        let found = if pairing {
            self.try_code(text).await?
        } else {
            let hash = self.token_hash(text);
            let find = move |conn: &mut dyn Conn| {
                let found = device::by_token(conn, &hash)?.map(DeviceCaller::Bound);
                with_account(conn, found)
            };
            self.store.read(find).await?
        };
        match found {
            None => refused(Reason::Unknown),
            Some((_, account)) if !account.is_active() => refused(Reason::InactiveIso),
            Some((DeviceCaller::Pairing(code), account))
                if code.expires <= now.plus(account.clock_ahead) =>
            {
                refused(Reason::Expired)
            }
            Some((caller, account)) => Ok(Ok((caller, account.clock_ahead))),
        }
    }

    /// The code that a device shows. **A code withstands a number of wrong tries in all**, whoever
    /// makes them: one that begins as it does and goes on otherwise counts, and a code that was
    /// tried too often is worth nothing any more.
    async fn try_code(&self, code: &str) -> Result<Option<(DeviceCaller, IsoAccount)>> {
        let (prefix, hash) = (self.code_prefix_hash(code), self.code_hash(code));
        let (known_prefix, known_hash) = (prefix.clone(), hash.clone());
        let candidates = self.store.read(move |conn| {
            Ok(device::pairing_candidates(conn, &known_prefix, &known_hash)?.len())
        });
        if candidates.await? == 0 {
            return Ok(None);
        }
        let try_once = move |conn: &mut dyn Conn| {
            let found = device::pairing_try(conn, &prefix, &hash)?.map(DeviceCaller::Pairing);
            with_account(conn, found)
        };
        self.store.write(try_once).await
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
        let key_id = key.key_id().to_owned();
        let entry = match self.keys.get(&key_id) {
            Ok(entry) => entry,
            Err(before) => {
                let entry = self.load_key(&key_id).await?;
                self.keys.put(key_id, entry.clone(), before);
                entry
            }
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
        } else if !entry.access.may_work(Permission::Scope(scope)) {
            Reason::InactiveIso
        } else if !entry.access.scopes.allows(scope) {
            Reason::MissingScope
        } else {
            let access = Arc::clone(&entry.access);
            return Ok(Ok(Caller { access, credential: Credential::Key(entry) }));
        };
        let key = Some((entry.access.iso.iso_id.clone(), entry.key.key_id.clone()));
        let lacks = (reason == Reason::MissingScope).then_some(Permission::Scope(scope));
        Ok(Err(Refused { reason, style: entry.access.style, key, inactive_iso: None, lacks }))
    }

    async fn load_key(&self, key_id: &str) -> Result<Option<Arc<KeyEntry>>> {
        let id = KeyId::new(key_id);
        let found = self.store.read(move |conn| {
            let Some(key) = crate::rows::api_key::find(conn, &id)? else { return Ok(None) };
            let iso = load_iso(conn, &key.iso_id)?;
            Ok(iso.map(|iso| (key, iso)))
        });
        let opened = found.await?.map(|(key, iso)| self.open_entry(key, iso)).transpose()?;
        Ok(opened.map(Arc::new))
    }

    fn open_entry(&self, key: ApiKeyRow, iso: (IsoRow, IsoAccount)) -> Result<KeyEntry> {
        let damaged = |message: String| types::Error::internal(message);
        let networks = key.allowed_ips.split_ascii_whitespace().map(str::parse);
        let networks = networks.collect::<std::result::Result<_, String>>().map_err(damaged)?;
        let access = Arc::new(self.open_access(iso, key.scopes.parse().map_err(damaged)?)?);
        Ok(KeyEntry { networks, use_is_recorded: AtomicBool::new(false), key, access })
    }

    /// Who goes on with work that was accepted from this actor, whatever became of their key or
    /// session since.
    pub(crate) async fn caller_before(&self, iso_id: &IsoId, actor: &str) -> Result<Caller> {
        let id = iso_id.clone();
        let found = self.store.read(move |conn| load_iso(conn, &id)).await?;
        let iso = found.ok_or_else(|| {
            types::Error::not_found(format!("ISO {iso_id} not found; run `boardwalk iso list`"))
        })?;
        let access = Arc::new(self.open_access(iso, ScopeSet::Full)?);
        Ok(Caller { access, credential: Credential::Before(actor.into()) })
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

    /// The caller that a signed-in user is, if their role allows what the permission says. Who is
    /// bound to an ISO acts for that one; an administrator of the site acts for the one that they
    /// name, and reads all of it in whatever state it is.
    pub async fn admit_user(
        &self,
        user: &UserRow,
        named: Option<&str>,
        (permission, method): (Permission, Method),
    ) -> Result<std::result::Result<Caller, Refused>> {
        let lacking = || {
            let refused = Refused::stranger(Reason::MissingScope);
            Ok(Err(Refused { lacks: Some(permission), ..refused }))
        };
        let Some(scopes) = iso_scopes(&user.roles) else { return lacking() };
        let is_administrator = user.roles.contains(&Role::Administrator);
        let iso_id = match (user.iso_id.as_deref(), named) {
            (Some(own), Some(other)) if own != other => return lacking(),
            (Some(own), _) => own,
            (None, Some(named)) if is_administrator => named,
            (None, _) => return lacking(),
        };
        let is_allowed = match permission {
            Permission::Scope(scope) => scopes.allows(scope),
            Permission::IsoAdministrator => scopes == ScopeSet::Full,
            _ => false,
        };
        if !is_allowed {
            return lacking();
        }
        let id = IsoId::new(iso_id);
        let found = self.store.read(move |conn| load_iso(conn, &id)).await?;
        let Some(iso) = found else { return Ok(Err(Refused::stranger(Reason::Unknown))) };
        let access = Arc::new(self.open_access(iso, scopes)?);
        let may_read = is_administrator && method == Method::Get;
        if !access.may_work(permission) && !may_read {
            let inactive_iso = access.inactive();
            return Ok(Err(Refused { inactive_iso, ..Refused::stranger(Reason::InactiveIso) }));
        }
        Ok(Ok(Caller { access, credential: Credential::Session(user.user_id) }))
    }

    /// Whether the last use of the caller's key should be recorded again, by this request.
    pub fn last_use_is_stale(&self, caller: &Caller, now: Timestamp) -> bool {
        let Credential::Key(entry) = &caller.credential else { return false };
        let last = entry.key.last_used;
        last.is_none_or(|last| now.since(last) >= LAST_USED_PRECISION)
            && !entry.use_is_recorded.swap(true, Ordering::Relaxed)
    }

    /// Records that the caller's key was used.
    pub async fn record_last_use(
        &self,
        caller: Caller,
        address: Option<IpAddr>,
        now: Timestamp,
    ) -> Result<()> {
        let ip = address.map(|address| address.to_string());
        let Credential::Key(entry) = caller.credential else { return Ok(()) };
        let record = move |conn: &mut dyn Conn| {
            let (iso_id, key_id) = (&entry.access.iso.iso_id, &entry.key.key_id);
            crate::rows::api_key::set_last_used(conn, iso_id, key_id, now, ip.as_deref())
        };
        self.store.write(record).await
    }
}

fn load_iso(conn: &mut dyn Conn, iso_id: &IsoId) -> Result<Option<(IsoRow, IsoAccount)>> {
    let Some(iso) = site_rows::iso::get(conn, iso_id)? else { return Ok(None) };
    Ok(Some((iso, iso_account::get(conn, iso_id)?)))
}

/// A device with the account of its ISO.
fn with_account(
    conn: &mut dyn Conn,
    caller: Option<DeviceCaller>,
) -> Result<Option<(DeviceCaller, IsoAccount)>> {
    let Some(caller) = caller else { return Ok(None) };
    let account = iso_account::get(conn, caller.iso_id())?;
    Ok(Some((caller, account)))
}

impl From<KeyError> for Reason {
    fn from(error: KeyError) -> Self {
        match error {
            KeyError::Malformed => Self::NotAnApiKey,
            KeyError::Checksum => Self::Mistyped,
        }
    }
}

/// What stands behind the scheme word, whose case does not matter.
fn credential<'a>(header: &'a [u8], scheme: &str) -> Option<&'a str> {
    let (word, rest) = std::str::from_utf8(header).ok()?.trim().split_once(' ')?;
    let rest = rest.trim();
    let is_plain = rest.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    (word.eq_ignore_ascii_case(scheme) && is_plain && !rest.is_empty()).then_some(rest)
}
