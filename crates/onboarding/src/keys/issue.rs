//! Issuing, rotating and revoking keys: what the routes and the command line share.

use std::time::Duration;

use db::Conn;
use types::{AddressRange, Environment, Error, IsoId, KeyId, Result, ScopeSet, Secret, Timestamp};

use super::text::ApiKey;
use crate::Platform;
use crate::audit::{self, Entry};
use crate::rows::api_key::ApiKeyRow;
use crate::text;

/// How long a key lives unless something else is asked for.
pub const KEY_LIFE_DEFAULT: Duration = Duration::from_hours(365 * 24);
/// How long a key may live at most.
pub const KEY_LIFE_MAX: Duration = Duration::from_hours(730 * 24);
/// Live keys of one ISO at most.
pub const KEYS_MAX: usize = 10;
/// How long a rotated key may stay valid beside the new one at most.
pub const KEY_OVERLAP_MAX: Duration = Duration::from_hours(7 * 24);

/// A key that was just made. **The only time that its text exists.**
#[derive(Debug)]
pub struct NewKey {
    pub key_id: KeyId,
    pub text: Secret<String>,
    pub expires: Option<Timestamp>,
}

/// Who makes keys from the command line.
const SYSTEM: &str = "system";

/// What a new key is to be.
#[derive(Debug)]
pub(crate) struct NewKeyRow {
    pub(crate) iso_id: IsoId,
    pub(crate) name: String,
    pub(crate) scopes: ScopeSet,
    /// Networks with spaces between; empty for all.
    pub(crate) allowed_ips: String,
    pub(crate) created_by: String,
    pub(crate) created: Timestamp,
    pub(crate) expires: Option<Timestamp>,
}

/// How long a key shall live.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyLife {
    For(Duration),
    Forever,
}

/// The methods here block; they are for the command line and for start-up.
impl Platform {
    pub fn key_create(
        &self,
        iso_id: &IsoId,
        name: &str,
        scopes: ScopeSet,
        life: KeyLife,
    ) -> Result<NewKey> {
        self.key_create_for(iso_id, name, scopes, life, &[])
    }

    /// [`Platform::key_create`] for a key that may be used from these networks only; from all if
    /// there are none.
    pub fn key_create_for(
        &self,
        iso_id: &IsoId,
        name: &str,
        scopes: ScopeSet,
        life: KeyLife,
        allowed_ips: &[AddressRange],
    ) -> Result<NewKey> {
        let now = self.clock.now();
        let expires = expiry(life, self.environment, now)?;
        let networks: Vec<String> = allowed_ips.iter().map(ToString::to_string).collect();
        let (row, new_key) = self.new_key_row(NewKeyRow {
            iso_id: iso_id.clone(),
            name: text::checked_name(name)?,
            scopes,
            allowed_ips: networks.join(" "),
            created_by: SYSTEM.to_owned(),
            created: now,
            expires,
        })?;
        self.store.write_blocking(move |conn| {
            if site_rows::iso::get(conn, &row.iso_id)?.is_none() {
                return Err(Error::not_found(format!(
                    "ISO {} not found; run `boardwalk iso list`",
                    row.iso_id
                )));
            }
            refuse_too_many(conn, &row.iso_id, now)?;
            crate::rows::api_key::insert(conn, &row)?;
            let entry = key_entry(&row, now, "key.create").changed("scopes", (), &*row.scopes);
            audit::append(conn, &entry)
        })?;
        Ok(new_key)
    }

    /// A fresh key, and the row that is stored of it.
    pub(crate) fn new_key_row(&self, new: NewKeyRow) -> Result<(ApiKeyRow, NewKey)> {
        let key = ApiKey::generate(self.environment)?;
        let scopes = new.scopes.to_string();
        let row = ApiKeyRow {
            key_id: key.key_id().clone(),
            hash: key.hash(&self.vault, &new.iso_id, &scopes).to_vec(),
            iso_id: new.iso_id,
            name: new.name,
            scopes,
            created: new.created,
            expires: new.expires,
            revoked: None,
            last_used: None,
            last_ip: None,
            allowed_ips: new.allowed_ips,
            created_by: new.created_by,
            warned_days: None,
        };
        let expires = row.expires;
        Ok((row, NewKey { key_id: key.key_id().clone(), text: key.text().clone(), expires }))
    }

    pub fn key_list(&self) -> Result<Vec<ApiKeyRow>> {
        self.store.read_blocking(crate::rows::api_key::list)
    }

    /// Makes a new key like the old one; the old one ends itself after the overlap.
    pub fn key_rotate(&self, key_id: &KeyId, overlap: Duration) -> Result<NewKey> {
        if overlap > KEY_OVERLAP_MAX {
            return Err(Error::invalid("the overlap must not exceed 168h"));
        }
        let now = self.clock.now();
        let old = self.find_key(key_id)?;
        let (row, new_key) = self.new_key_row(like(&old, SYSTEM, now)?)?;
        let id = key_id.clone();
        self.store.write_blocking(move |conn| {
            // Read again: the key may have ended since.
            let live = crate::rows::api_key::find(conn, &id)?.filter(|key| is_live(key, now));
            let old = live
                .ok_or_else(|| Error::invalid(format!("the key {id} is revoked or has expired")))?;
            refuse_too_many(conn, &row.iso_id, now)?;
            replace_key(conn, &old, &row, overlap, now)?;
            let entry = key_entry(&old, now, "key.rotate").related(row.key_id.as_str());
            audit::append(conn, &entry)
        })?;
        Ok(new_key)
    }

    /// Ends a key at once; running servers notice within a second.
    pub fn key_revoke(&self, key_id: &KeyId) -> Result<()> {
        let now = self.clock.now();
        let key = self.find_key(key_id)?;
        let revoked = self.store.write_blocking(move |conn| {
            let revoked = crate::rows::api_key::revoke(conn, &key.iso_id, &key.key_id, now)?;
            if revoked {
                audit::append(conn, &key_entry(&key, now, "key.revoke"))?;
            }
            Ok(revoked)
        })?;
        if !revoked {
            return Err(Error::invalid(format!("the key {key_id} is already revoked")));
        }
        Ok(())
    }

    fn find_key(&self, key_id: &KeyId) -> Result<ApiKeyRow> {
        let id = key_id.clone();
        let key = self.store.read_blocking(move |conn| crate::rows::api_key::find(conn, &id))?;
        key.ok_or_else(|| {
            Error::not_found(format!("key {key_id} not found; run `boardwalk key list`"))
        })
    }
}

fn key_entry(key: &ApiKeyRow, now: Timestamp, action: &str) -> Entry {
    Entry::by_system(Some(&key.iso_id), now, action, "key", key.key_id.as_str())
}

fn refuse_too_many(conn: &mut dyn Conn, iso_id: &IsoId, now: Timestamp) -> Result<()> {
    if live_keys(conn, iso_id, now)? < KEYS_MAX {
        return Ok(());
    }
    Err(Error::invalid(format!("the ISO already has {KEYS_MAX} active keys; revoke one first")))
}

/// How many live keys the ISO has.
pub(crate) fn live_keys(conn: &mut dyn Conn, iso_id: &IsoId, now: Timestamp) -> Result<usize> {
    let keys = crate::rows::api_key::list_of_iso(conn, iso_id)?;
    Ok(keys.iter().filter(|key| is_live(key, now)).count())
}

/// Stores a key in place of another, which ends itself after the overlap.
pub(crate) fn replace_key(
    conn: &mut dyn Conn,
    old: &ApiKeyRow,
    new: &ApiKeyRow,
    overlap: Duration,
    now: Timestamp,
) -> Result<()> {
    crate::rows::api_key::insert(conn, new)?;
    let ends = now.plus(overlap);
    let ends = old.expires.map_or(ends, |expires| expires.min(ends));
    crate::rows::api_key::set_expiry(conn, &old.iso_id, &old.key_id, ends)
}

/// What a key like the old one is made of.
pub(crate) fn like(old: &ApiKeyRow, created_by: &str, now: Timestamp) -> Result<NewKeyRow> {
    Ok(NewKeyRow {
        iso_id: old.iso_id.clone(),
        name: old.name.clone(),
        scopes: scopes_of(old)?,
        allowed_ips: old.allowed_ips.clone(),
        created_by: created_by.to_owned(),
        created: now,
        expires: old.expires.map(|expires| now.plus(expires.since(old.created))),
    })
}

pub(crate) fn scopes_of(key: &ApiKeyRow) -> Result<ScopeSet> {
    key.scopes.parse().map_err(|message: String| Error::internal(message))
}

pub(crate) fn is_live(key: &ApiKeyRow, now: Timestamp) -> bool {
    key.revoked.is_none() && key.expires.is_none_or(|expires| now < expires)
}

fn expiry(life: KeyLife, environment: Environment, now: Timestamp) -> Result<Option<Timestamp>> {
    match life {
        KeyLife::For(life) if life > KEY_LIFE_MAX => {
            Err(Error::invalid("a key must expire within 730 days"))
        }
        KeyLife::For(Duration::ZERO) => Err(Error::invalid("a key's lifetime must not be zero")),
        KeyLife::For(life) => Ok(Some(now.plus(life))),
        KeyLife::Forever if environment == Environment::Sandbox => Ok(None),
        KeyLife::Forever => Err(Error::invalid("only sandbox keys can be valid forever")),
    }
}
