//! Which master key an environment has, and how it gets another one while it is served.
//!
//! A key is replaced in four steps: announce it, so that servers without it object; wrap everything
//! with it; make it count, in one transaction with what the first key derived; and look again for
//! what was wrapped with the old one meanwhile. Killed at any moment, the steps can be repeated.
//!
//! What is sealed stays as it is: data keys are replaced by a job of the server.

use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use data_encoding::HEXLOWER;
use db::{Conn, fact};
use serde::Serialize;
use site_rows::iso;
use types::{Error, Result, Timestamp};
use vault::{Fingerprint, Vault, WrappedKey};

use crate::Platform;
use crate::audit::{self, Entry};
use crate::master_keys::{DERIVED, FINGERPRINT, FORMER, KeyFacts, NEXT, NEXT_MISSING, SITE_KEY};

pub use crate::master_keys::MasterKeys;

/// How often a server looks at the facts below.
pub const LOOK: Duration = Duration::from_secs(2);
/// After so long every server has looked.
pub const SETTLED: Duration = Duration::from_secs(7);
/// ISOs whose data keys are wrapped in one transaction.
const ISOS_AT_ONCE: i64 = 200;

/// How the keys of an environment are, for people.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct KeyStatus {
    /// Of the master key that counts.
    pub master_key: String,
    /// Of the one that is about to.
    pub next_master_key: Option<String>,
    /// How many master keys counted before.
    pub former_master_keys: usize,
    /// The version of the site's data key.
    pub site_key_version: u16,
    /// The lowest version of an ISO's data key, and the highest; nothing if there are no ISOs.
    pub iso_key_versions: Option<(u16, u16)>,
}

/// For servers.
impl Platform {
    /// Looks at what the database says of its keys, and follows it. A key that is announced and
    /// not here is objected to.
    pub async fn keys_refresh(&self) -> Result<()> {
        let facts = self.store.read(KeyFacts::read).await?;
        self.vault.follow(&facts.fingerprint);
        let is_known = self.vault.accepts_text(&facts.fingerprint);
        let was_replaced = self.key_is_replaced.swap(!is_known, Ordering::Relaxed);
        if !is_known && !was_replaced {
            tracing::error!(
                environment = self.environment.name(),
                "the master key was replaced, and this server does not have the new one"
            );
        }
        if let Some((next, at)) = facts.next
            && !self.vault.accepts_text(&next)
        {
            tracing::warn!("a new master key is announced, and this server does not have it");
            // As of the announcement, whatever the clocks of the two machines say.
            let at = at.as_micros().to_string();
            self.store.write(move |conn| fact::put(conn, NEXT_MISSING, &at)).await?;
        }
        if let Some(site_key) = facts.site_key.filter(|_| is_known) {
            let mut seen = self.site_key_seen.lock().unwrap_or_else(PoisonError::into_inner);
            if seen.as_ref() != Some(&site_key) {
                self.vault.site_key_use(&site_key)?;
                *seen = Some(site_key);
            }
        }
        Ok(())
    }

    /// Whether another master key counts, which is not here.
    pub fn key_is_replaced(&self) -> bool {
        self.key_is_replaced.load(Ordering::Relaxed)
    }
}

/// The site's data key as it is stored; to be changed in the same transaction.
pub fn site_key(conn: &mut dyn Conn, vault: &Vault) -> Result<WrappedKey> {
    vault.site_key_wrapped(KeyFacts::read(conn)?.site_key.as_ref())
}

pub fn site_key_set(conn: &mut dyn Conn, key: &WrappedKey) -> Result<()> {
    fact::put(conn, SITE_KEY, &HEXLOWER.encode(&key.0))
}

/// Fails while a master key is being replaced: two changes of the same rows would undo each other.
pub fn check_no_master_key_announced(conn: &mut dyn Conn) -> Result<()> {
    match KeyFacts::read(conn)?.next {
        None => Ok(()),
        Some(_) => Err(Error::conflict(
            "the master key is being replaced; finish `boardwalk encryption rotate-master-key` \
             first",
        )),
    }
}

/// For the command line; these block.
impl Platform {
    pub fn key_status(&self) -> Result<KeyStatus> {
        let vault = Arc::clone(&self.vault);
        self.store.read_blocking(move |conn| {
            let facts = KeyFacts::read(conn)?;
            let versions: Vec<u16> = iso::list(conn)?
                .into_iter()
                .filter_map(|iso| WrappedKey(iso.data_key).version())
                .map(vault::KeyVersion::get)
                .collect();
            let of_site = vault.site_key_wrapped(facts.site_key.as_ref())?.version();
            Ok(KeyStatus {
                master_key: facts.fingerprint,
                next_master_key: facts.next.map(|(next, _)| next),
                former_master_keys: facts.former.split_whitespace().count(),
                site_key_version: of_site.map_or(1, vault::KeyVersion::get),
                iso_key_versions: versions
                    .iter()
                    .min()
                    .copied()
                    .zip(versions.iter().max().copied()),
            })
        })
    }

    /// Tells all servers that a master key is about to count. `is_busy` says why it cannot be
    /// replaced now, if that is so.
    pub fn master_key_announce(
        &self,
        by: Fingerprint,
        is_busy: impl Fn(&mut dyn Conn) -> Result<()> + Send + 'static,
    ) -> Result<Announced> {
        let at = self.clock.now();
        self.store.write_blocking(move |conn| {
            is_busy(conn)?;
            fact::put(conn, NEXT_MISSING, "")?;
            fact::put(conn, NEXT, &format!("{by} {}", at.as_micros()))
        })?;
        Ok(Announced { by, at })
    }

    /// Whether a server said that it does not have the key; if so, nothing is announced any more.
    pub fn master_key_is_missing(&self, announced: &Announced) -> Result<bool> {
        let at = announced.at.as_micros().to_string();
        self.store.write_blocking(move |conn| {
            let is_missing = fact::get(conn, NEXT_MISSING)?.is_some_and(|missing| missing == at);
            if is_missing {
                fact::put(conn, NEXT, "")?;
            }
            Ok(is_missing)
        })
    }

    /// Wraps the data keys of some ISOs behind this one; returns the last of them and how many
    /// they were, or nothing at the end.
    pub fn master_key_wrap_some(
        &self,
        announced: &Announced,
        after: &str,
    ) -> Result<Option<(String, usize)>> {
        let (vault, by, after) = (Arc::clone(&self.vault), announced.by, after.to_owned());
        self.store.write_blocking(move |conn| {
            let isos = iso::page(conn, &after, ISOS_AT_ONCE)?;
            for iso in &isos {
                let wrapped = WrappedKey(iso.data_key.clone());
                if let Some(new) = vault.data_key_rewrap(&iso.iso_id, &wrapped, by)? {
                    iso::data_key_set(conn, &iso.iso_id, &new.0)?;
                }
            }
            Ok(isos.last().map(|last| (last.iso_id.as_str().to_owned(), isos.len())))
        })
    }

    /// Makes the key count, with the rest of what the old one wrapped.
    pub fn master_key_finish(&self, announced: &Announced) -> Result<()> {
        let (vault, by) = (Arc::clone(&self.vault), announced.by);
        let now = self.clock.now();
        self.store.write_blocking(move |conn| {
            let facts = KeyFacts::read(conn)?;
            if facts.fingerprint == by.to_string() {
                return fact::put(conn, NEXT, "");
            }
            let site_key = vault.site_key_wrapped(facts.site_key.as_ref())?;
            let site_key = vault.site_key_rewrap(&site_key, by)?.unwrap_or(site_key);
            site_key_set(conn, &site_key)?;
            fact::put(conn, DERIVED, &HEXLOWER.encode(&vault.keep(by)?))?;
            let former = format!("{} {}", facts.former, facts.fingerprint);
            fact::put(conn, FORMER, former.trim())?;
            fact::put(conn, FINGERPRINT, &by.to_string())?;
            fact::put(conn, NEXT, "")?;
            let entry =
                Entry::by_system(None, now, "master_key.rotate", "master_key", by.to_string());
            audit::append(conn, &entry.changed("fingerprint", facts.fingerprint, by.to_string()))
        })?;
        self.vault.follow(&announced.by.to_string());
        Ok(())
    }

    pub fn iso_count(&self) -> Result<i64> {
        self.store.read_blocking(iso::count)
    }
}

/// A master key that is about to count.
#[derive(Clone, Copy, Debug)]
pub struct Announced {
    by: Fingerprint,
    at: Timestamp,
}
