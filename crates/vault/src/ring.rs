//! A data key with its older versions, and how they are stored.
//!
//! A [`WrappedKey`] is one part or several, each a version of the key in sealed form and all of the
//! same length. **The first part is the version to seal with**; the others open what was sealed
//! before, or what another server will seal soon. A new version is added behind the first, so that
//! every server learns it, and moves to the front later. Old versions stay: whoever was slow may
//! still have sealed with one.

use chacha20poly1305::XChaCha20Poly1305;
use types::{Error, Result, Secret};

use crate::{Aad, FORMAT, HEADER_LEN, KEY_LEN, KeyVersion, TAG_LEN, cipher, open_with, seal_with};

/// Bytes of a part.
const PART_LEN: usize = HEADER_LEN + KEY_LEN + TAG_LEN;
/// Versions that are kept. What was sealed with an older one has been sealed again many times.
const VERSIONS_MAX: usize = 16;

/// Encrypts the columns of one ISO, or of the site. Opening a wrapped key costs little, yet is
/// worth keeping.
#[derive(Debug)]
pub struct DataKey {
    /// The one to seal with first.
    versions: Vec<(KeyVersion, XChaCha20Poly1305)>,
}

impl DataKey {
    pub(crate) fn of(version: KeyVersion, key: &[u8; KEY_LEN]) -> Self {
        Self { versions: vec![(version, cipher(key))] }
    }

    pub(crate) fn push(&mut self, version: KeyVersion, key: &[u8; KEY_LEN]) {
        self.versions.push((version, cipher(key)));
    }

    /// The version that it seals with.
    pub fn version(&self) -> KeyVersion {
        self.versions.first().map_or(KeyVersion::FIRST, |(version, _)| *version)
    }

    /// Encrypts with a fresh random nonce; 192 bits of it never meet again by chance.
    pub fn seal(&self, aad: &Aad<'_>, plaintext: &[u8]) -> Result<Vec<u8>> {
        let none = || Error::internal("a data key has no version");
        let (version, cipher) = self.versions.first().ok_or_else(none)?;
        seal_with(cipher, *version, aad, plaintext)
    }

    /// Fails if the value was changed, moved to another place, or sealed under another key.
    pub fn open(&self, aad: &Aad<'_>, sealed: &[u8]) -> Result<Secret<Vec<u8>>> {
        let unknown = || Error::internal("the stored value has another format or key version");
        let version = KeyVersion::of_sealed(sealed).ok_or_else(unknown)?;
        let found = self.versions.iter().find(|(known, _)| *known == version);
        let (version, cipher) = found.ok_or_else(unknown)?;
        open_with(cipher, *version, aad, sealed)
    }

    /// The value under the version to seal with; nothing if it is under that one already, or is no
    /// sealed value at all, as after an erasure.
    pub fn reseal(&self, aad: &Aad<'_>, sealed: &[u8]) -> Result<Option<Vec<u8>>> {
        match KeyVersion::of_sealed(sealed) {
            None => Ok(None),
            Some(version) if version == self.version() => Ok(None),
            Some(_) => self.seal(aad, self.open(aad, sealed)?.expose()).map(Some),
        }
    }
}

/// A data key as it is stored: encrypted, and readable only for its owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrappedKey(pub Vec<u8>);

impl WrappedKey {
    /// The parts, or nothing if the length is not that of whole parts.
    pub(crate) fn parts(&self) -> Option<Vec<&[u8]>> {
        let (parts, rest) = self.0.as_chunks::<PART_LEN>();
        let is_whole = rest.is_empty() && !parts.is_empty();
        is_whole.then(|| parts.iter().map(<[u8; PART_LEN]>::as_slice).collect())
    }

    fn versions(&self) -> Vec<KeyVersion> {
        let parts = self.parts().unwrap_or_default();
        parts.into_iter().filter_map(KeyVersion::of_sealed).collect()
    }

    /// The version to seal with.
    pub fn version(&self) -> Option<KeyVersion> {
        self.versions().first().copied()
    }

    /// Whether there is a version that nobody seals with yet.
    pub fn has_next(&self) -> bool {
        let versions = self.versions();
        versions.iter().max() != versions.first()
    }

    /// The version after all that there are; nothing when none are left.
    pub(crate) fn next_version(&self) -> Option<KeyVersion> {
        let newest = self.versions().into_iter().max()?;
        newest.get().checked_add(1).map(KeyVersion)
    }

    /// With one more version, behind the one to seal with.
    pub(crate) fn with(&self, part: &[u8]) -> Self {
        let (first, rest) = self.0.split_at(PART_LEN.min(self.0.len()));
        Self([first, part, rest].concat())
    }

    /// With the newest version to seal with, and the others behind it from new to old.
    #[must_use]
    pub fn activated(&self) -> Self {
        let mut parts = self.parts().unwrap_or_default();
        parts.sort_by_key(|part| std::cmp::Reverse(KeyVersion::of_sealed(part)));
        parts.truncate(VERSIONS_MAX);
        Self(parts.concat())
    }
}

const _: () = assert!(FORMAT == 1, "the length of a part depends on the format");
