//! What the master key wraps, and how one master key follows another.
//!
//! A vault wraps with one master key and accepts a second: **while a master key is replaced, what
//! is wrapped by either opens.** A [`Fingerprint`] tells them apart. The keys that the first master
//! key derived are kept, sealed, once it is not there any more ([`Vault::keep`]).

use std::fmt;
use std::sync::{Arc, PoisonError};

use chacha20poly1305::XChaCha20Poly1305;
use types::{Environment, Error, IsoId, Result, Secret};
use zeroize::Zeroizing;

use crate::ring::{DataKey, WrappedKey};
use crate::{
    Aad, CONTEXT_FINGERPRINT, CONTEXT_WRAP, Derived, KEY_LEN, KeyVersion, MasterKey, Vault, cipher,
    derived_key, open_with, random_key, seal_with, wrap_aad,
};

const KEPT_KEYS: usize = 4;

/// Tells master keys and environments apart without giving them away. A database keeps it, so that
/// a wrong key is noticed at the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fingerprint([u8; 8]);

impl Fingerprint {
    pub fn of(master: &MasterKey, environment: Environment) -> Self {
        let derived = derived_key(master, environment, CONTEXT_FINGERPRINT);
        Self(derived.expose().first_chunk().copied().unwrap_or_default())
    }
}

/// As a database keeps it.
impl fmt::Display for Fingerprint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:016x}", u64::from_be_bytes(self.0))
    }
}

/// A master key that wraps.
#[derive(Clone)]
pub(crate) struct Wrap {
    cipher: XChaCha20Poly1305,
    fingerprint: Fingerprint,
}

impl fmt::Debug for Wrap {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Wrap")
            .field("fingerprint", &self.fingerprint)
            .finish_non_exhaustive()
    }
}

impl Wrap {
    pub(crate) fn new(master: &MasterKey, environment: Environment) -> Self {
        let key = derived_key(master, environment, CONTEXT_WRAP);
        Self { cipher: cipher(key.expose()), fingerprint: Fingerprint::of(master, environment) }
    }

    fn wrap(&self, aad: &Aad<'_>, version: KeyVersion, key: &[u8]) -> Result<Vec<u8>> {
        seal_with(&self.cipher, version, aad, key)
    }
}

/// The master key to wrap with, and another that is accepted.
#[derive(Clone, Debug)]
pub(crate) struct Wraps {
    current: Wrap,
    other: Option<Wrap>,
}

impl Wraps {
    pub(crate) fn new(current: Wrap) -> Self {
        Self { current, other: None }
    }

    pub(crate) fn wrap(
        &self,
        aad: &Aad<'_>,
        version: KeyVersion,
        key: &[u8],
    ) -> Result<WrappedKey> {
        self.current.wrap(aad, version, key).map(WrappedKey)
    }

    fn all(&self) -> impl Iterator<Item = &Wrap> {
        std::iter::once(&self.current).chain(&self.other)
    }

    fn find(&self, fingerprint: Fingerprint) -> Option<&Wrap> {
        self.all().find(|wrap| wrap.fingerprint == fingerprint)
    }

    pub(crate) fn open(&self, aad: &Aad<'_>, wrapped: &WrappedKey) -> Result<DataKey> {
        let mut opened: Option<DataKey> = None;
        for part in parts(wrapped)? {
            let (version, key, _) = self.open_part(aad, part)?;
            match &mut opened {
                None => opened = Some(DataKey::of(version, &key)),
                Some(opened) => opened.push(version, &key),
            }
        }
        opened.ok_or_else(unreadable)
    }

    /// A part in clear, and who wrapped it.
    fn open_part(
        &self,
        aad: &Aad<'_>,
        part: &[u8],
    ) -> Result<(KeyVersion, Zeroizing<[u8; KEY_LEN]>, Fingerprint)> {
        let version = KeyVersion::of_sealed(part).ok_or_else(unreadable)?;
        let opened = self.all().find_map(|wrap| {
            let opened = open_with(&wrap.cipher, version, aad, part).ok()?;
            Some((opened, wrap.fingerprint))
        });
        let (key, by) = opened.ok_or_else(unreadable)?;
        let key = key.expose().as_slice().try_into().map_err(|_| unreadable())?;
        Ok((version, Zeroizing::new(key), by))
    }
}

fn parts(wrapped: &WrappedKey) -> Result<Vec<&[u8]>> {
    wrapped.parts().ok_or_else(unreadable)
}

fn unreadable() -> Error {
    Error::internal("a wrapped key cannot be opened by this master key")
}

/// Where the keys are kept that the first master key derived.
const KEPT: Aad<'_> = Aad { kind: "environment", id: "", column: "derived_keys" };

fn site_aad(environment: Environment) -> Aad<'static> {
    Aad { kind: "site", id: environment.name(), column: "data_key" }
}

impl Vault {
    /// With a master key that replaced another: `kept` holds what the first one derived.
    pub fn with_kept(master: &MasterKey, environment: Environment, kept: &[u8]) -> Result<Self> {
        let wrap = Wrap::new(master, environment);
        let damaged = || Error::internal("the kept keys cannot be opened by this master key");
        let opened = open_with(&wrap.cipher, KeyVersion::FIRST, &KEPT, kept)
            .map_err(|cause| damaged().because(cause))?;
        let (keys, rest) = opened.expose().as_chunks::<KEY_LEN>();
        let &[blind_index, api_key_hash, id_permutation, site_hash] = keys else {
            return Err(damaged());
        };
        if !rest.is_empty() {
            return Err(damaged());
        }
        let derived = Derived {
            blind_index: Secret::new(blind_index),
            api_key_hash: Secret::new(api_key_hash),
            id_permutation: Secret::new(id_permutation),
            site_hash: Secret::new(site_hash),
        };
        Ok(Self::with(master, environment, derived))
    }

    /// The master key to wrap with.
    pub fn fingerprint(&self) -> Fingerprint {
        self.wrapping().current.fingerprint
    }

    /// Whether what this master key wraps can be opened.
    pub fn accepts(&self, fingerprint: Fingerprint) -> bool {
        self.wrapping().find(fingerprint).is_some()
    }

    /// The same, for a fingerprint as a database keeps it.
    pub fn accepts_text(&self, fingerprint: &str) -> bool {
        self.wrapping().all().any(|wrap| wrap.fingerprint.to_string() == fingerprint)
    }

    /// Accepts what another master key wraps, beside the one in use.
    pub fn accept(&self, master: &MasterKey) {
        let wrap = Wrap::new(master, self.environment);
        let mut wraps = self.wraps.write().unwrap_or_else(PoisonError::into_inner);
        if wraps.current.fingerprint != wrap.fingerprint {
            wraps.other = Some(wrap);
        }
    }

    /// Wraps with the other master key from now on, if this is its fingerprint.
    pub fn follow(&self, fingerprint: &str) {
        let mut wraps = self.wraps.write().unwrap_or_else(PoisonError::into_inner);
        let is_other = |wrap: &Wrap| wrap.fingerprint.to_string() == fingerprint;
        if let Some(other) = wraps.other.take_if(|other| is_other(other)) {
            let before = std::mem::replace(&mut wraps.current, other);
            wraps.other = Some(before);
        }
    }

    /// What the first master key derived, sealed by the master key of this fingerprint.
    pub fn keep(&self, by: Fingerprint) -> Result<Vec<u8>> {
        let Derived { blind_index, api_key_hash, id_permutation, site_hash } = &self.derived;
        let keys = [blind_index, api_key_hash, id_permutation, site_hash];
        let mut plain = Zeroizing::new(Vec::with_capacity(KEY_LEN * KEPT_KEYS));
        for key in keys {
            plain.extend_from_slice(key.expose());
        }
        let wraps = self.wrapping();
        let wrap = wraps.find(by).ok_or_else(stranger)?;
        seal_with(&wrap.cipher, KeyVersion::FIRST, &KEPT, &plain)
    }

    /// An ISO's data key, wrapped by the master key of this fingerprint; nothing if it is already.
    pub fn data_key_rewrap(
        &self,
        iso_id: &IsoId,
        wrapped: &WrappedKey,
        by: Fingerprint,
    ) -> Result<Option<WrappedKey>> {
        self.rewrap(&wrap_aad(iso_id), wrapped, by)
    }

    /// An ISO's data key with a version that nobody seals with yet; as it is if it has one.
    pub fn data_key_next(&self, iso_id: &IsoId, wrapped: &WrappedKey) -> Result<WrappedKey> {
        self.next(&wrap_aad(iso_id), wrapped)
    }

    /// The site's data key as it is to be stored, in what was stored before if anything was.
    pub fn site_key_wrapped(&self, stored: Option<&WrappedKey>) -> Result<WrappedKey> {
        if let Some(stored) = stored {
            return Ok(stored.clone());
        }
        let aad = site_aad(self.environment);
        self.wrapping().wrap(&aad, KeyVersion::FIRST, self.site_first_key.expose())
    }

    pub fn site_key_rewrap(
        &self,
        wrapped: &WrappedKey,
        by: Fingerprint,
    ) -> Result<Option<WrappedKey>> {
        self.rewrap(&site_aad(self.environment), wrapped, by)
    }

    pub fn site_key_next(&self, wrapped: &WrappedKey) -> Result<WrappedKey> {
        self.next(&site_aad(self.environment), wrapped)
    }

    /// Uses the site's data key as it is stored from now on.
    pub fn site_key_use(&self, stored: &WrappedKey) -> Result<()> {
        let key = self.wrapping().open(&site_aad(self.environment), stored)?;
        let mut current = self.site_data_key.write().unwrap_or_else(PoisonError::into_inner);
        *current = Arc::new(key);
        Ok(())
    }

    pub(crate) fn wrapping(&self) -> Wraps {
        self.wraps.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn next(&self, aad: &Aad<'_>, wrapped: &WrappedKey) -> Result<WrappedKey> {
        if wrapped.has_next() {
            return Ok(wrapped.clone());
        }
        let exhausted = || Error::internal("no versions of this data key are left");
        let version = wrapped.next_version().ok_or_else(exhausted)?;
        let part = self.wrapping().wrap(aad, version, random_key()?.expose())?;
        Ok(wrapped.with(&part.0))
    }

    fn rewrap(
        &self,
        aad: &Aad<'_>,
        wrapped: &WrappedKey,
        by: Fingerprint,
    ) -> Result<Option<WrappedKey>> {
        let wraps = self.wrapping();
        let wrap = wraps.find(by).ok_or_else(stranger)?;
        let mut bytes = Vec::with_capacity(wrapped.0.len());
        let mut is_new = false;
        for part in parts(wrapped)? {
            let (version, key, before) = wraps.open_part(aad, part)?;
            if before == by {
                bytes.extend_from_slice(part);
            } else {
                bytes.extend_from_slice(&wrap.wrap(aad, version, key.as_slice())?);
                is_new = true;
            }
        }
        Ok(is_new.then_some(WrappedKey(bytes)))
    }
}

fn stranger() -> Error {
    Error::internal("the vault does not have this master key")
}
