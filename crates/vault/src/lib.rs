//! Encryption of what the database holds: one master key, from which everything else follows.
//!
//! A [`Vault`] is the master key bound to one environment. It opens the [`DataKey`] of an ISO, and
//! the data key seals single columns. A stolen database is worthless without the master key, and a
//! value moved to another row, column or ISO does not open. **Every sealed value names its place in
//! an [`Aad`]**, and **no key is ever printed or serialised**. Keys that live on are wiped when
//! dropped; the copies that a cipher makes on the stack for the time of one call are not chased.
//!
//! Sealed form, for columns and for wrapped data keys alike:
//! format (1 byte), key version (2), nonce (24), ciphertext, tag (16).
//!
//! Keys are replaced while everything goes on ([`ring`], [`wrap`]). A data key is stored as a ring
//! of its versions, the one to seal with first. The master key wraps; API key hashes, blind indexes
//! and ids follow from the **first** master key for ever, since they cannot be computed again: what
//! it derived is kept, wrapped by whichever master key came after.

use std::io::{Cursor, Write as _};
use std::sync::{Arc, PoisonError, RwLock};

use chacha20poly1305::{AeadInOut as _, Key, KeyInit as _, Tag, XChaCha20Poly1305, XNonce};
use types::{Environment, Error, IsoId, Result, Secret};
use zeroize::{Zeroize as _, Zeroizing};

mod id_permutation;
mod ring;
pub mod signature;
mod wrap;

pub use id_permutation::IdPermutation;
pub use ring::{DataKey, WrappedKey};
pub use wrap::Fingerprint;

use wrap::{Wrap, Wraps};

const KEY_LEN: usize = 32;
const NONCE_LEN: usize = 24;
const TAG_LEN: usize = 16;
const FORMAT: u8 = 1;
const HEADER_LEN: usize = 1 + size_of::<u16>() + NONCE_LEN;
const AAD_LEN_MAX: usize = 256;

// One context per purpose, never reused: BLAKE3 keeps the keys independent of each other.
const CONTEXT_WRAP: &str = "boardwalk 2026 vault data key wrapping v1";
const CONTEXT_BLIND_INDEX: &str = "boardwalk 2026 vault blind index v1";
const CONTEXT_API_KEY: &str = "boardwalk 2026 vault api key hash v1";
const CONTEXT_ID_PERMUTATION: &str = "boardwalk 2026 vault id permutation v1";
const CONTEXT_FINGERPRINT: &str = "boardwalk 2026 vault fingerprint v1";
const CONTEXT_SITE_DATA: &str = "boardwalk 2026 vault site data key v1";
const CONTEXT_SITE_HASH: &str = "boardwalk 2026 vault site hash v1";

/// The one secret an operator has to keep: 64 hex digits in its file.
#[derive(Clone, Debug)]
pub struct MasterKey(Secret<[u8; KEY_LEN]>);

impl MasterKey {
    pub fn generate() -> Result<Self> {
        random_key().map(Self)
    }

    /// Reads 64 hex digits; blanks and line ends around them are tolerated, as files have them.
    pub fn from_text(text: &str) -> Result<Self> {
        let malformed = || Error::invalid("the master key must be 64 hex digits");
        let digits = text.trim_ascii().as_bytes();
        if digits.len() != KEY_LEN * 2 {
            return Err(malformed());
        }
        let mut key = Zeroizing::new([0_u8; KEY_LEN]);
        let (pairs, _) = digits.as_chunks::<2>();
        for (byte, &[high, low]) in key.iter_mut().zip(pairs) {
            let high = hex_value(high).ok_or_else(malformed)?;
            let low = hex_value(low).ok_or_else(malformed)?;
            *byte = high << 4 | low;
        }
        Ok(Self(Secret::new(*key)))
    }

    pub fn to_text(&self) -> Secret<String> {
        let mut text = String::with_capacity(KEY_LEN * 2);
        for byte in self.0.expose() {
            for nibble in [byte >> 4, byte & 0x0f] {
                text.extend(char::from_digit(u32::from(nibble), 16));
            }
        }
        Secret::new(text)
    }
}

fn hex_value(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok())
}

/// The master key at work in one environment.
#[derive(Debug)]
pub struct Vault {
    environment: Environment,
    wraps: RwLock<Wraps>,
    derived: Derived,
    /// The site's first data key, which is derived and not random.
    site_first_key: Secret<[u8; KEY_LEN]>,
    site_data_key: RwLock<Arc<DataKey>>,
}

/// The keys that the first master key derived, which never change after.
#[derive(Debug)]
struct Derived {
    blind_index: Secret<[u8; KEY_LEN]>,
    api_key_hash: Secret<[u8; KEY_LEN]>,
    id_permutation: Secret<[u8; KEY_LEN]>,
    site_hash: Secret<[u8; KEY_LEN]>,
}

impl Vault {
    /// With the first master key of a database.
    pub fn new(master: &MasterKey, environment: Environment) -> Self {
        let derive = |context| derived_key(master, environment, context);
        let derived = Derived {
            blind_index: derive(CONTEXT_BLIND_INDEX),
            api_key_hash: derive(CONTEXT_API_KEY),
            id_permutation: derive(CONTEXT_ID_PERMUTATION),
            site_hash: derive(CONTEXT_SITE_HASH),
        };
        Self::with(master, environment, derived)
    }

    fn with(master: &MasterKey, environment: Environment, derived: Derived) -> Self {
        let site_first_key = derived_key(master, environment, CONTEXT_SITE_DATA);
        let site_data_key = DataKey::of(KeyVersion::FIRST, site_first_key.expose());
        Self {
            environment,
            wraps: RwLock::new(Wraps::new(Wrap::new(master, environment))),
            derived,
            site_first_key,
            site_data_key: RwLock::new(Arc::new(site_data_key)),
        }
    }

    pub fn environment(&self) -> Environment {
        self.environment
    }

    /// The first data key of an ISO, and the form in which to store it.
    pub fn data_key_create(&self, iso_id: &IsoId) -> Result<(DataKey, WrappedKey)> {
        let key = random_key()?;
        let wrapped = self.wrapping().wrap(&wrap_aad(iso_id), KeyVersion::FIRST, key.expose())?;
        Ok((DataKey::of(KeyVersion::FIRST, key.expose()), wrapped))
    }

    /// Fails if the key was wrapped for another ISO, environment or master key, or was damaged.
    pub fn data_key_open(&self, iso_id: &IsoId, wrapped: &WrappedKey) -> Result<DataKey> {
        self.wrapping().open(&wrap_aad(iso_id), wrapped).map_err(|cause| {
            Error::internal("the ISO's data key cannot be decrypted").because(cause)
        })
    }

    /// A stand-in for `value` by which equal values of one ISO are found while they are encrypted.
    ///
    /// The ISO is part of it, so the indexes of two ISOs cannot be matched with each other; the
    /// kind is part of it, so an e-mail address never meets a name. Normalise the value first.
    pub fn blind_index(&self, iso_id: &IsoId, kind: &str, value: &str) -> [u8; 16] {
        let hasher = hash_parts(&self.derived.blind_index, [iso_id.as_str(), kind, value]);
        let mut index = [0; 16];
        hasher.finalize_xof().fill(&mut index);
        index
    }

    /// The ids of this environment.
    pub fn id_permutation(&self) -> IdPermutation {
        IdPermutation::new(*self.derived.id_permutation.expose())
    }

    /// The hash of a key with whom it belongs to and what it may do, so that its row cannot be
    /// made to say something else.
    pub fn api_key_hash(&self, text: &str, iso_id: &IsoId, scopes: &str) -> [u8; 32] {
        let hasher = hash_parts(&self.derived.api_key_hash, [text, iso_id.as_str(), scopes]);
        *hasher.finalize().as_bytes()
    }

    /// Encrypts what belongs to the site rather than to an ISO, such as the secrets of consumer
    /// keys, which must be readable to check a signature.
    pub fn site_seal(&self, aad: &Aad<'_>, plaintext: &[u8]) -> Result<Vec<u8>> {
        self.site_key().seal(aad, plaintext)
    }

    pub fn site_open(&self, aad: &Aad<'_>, sealed: &[u8]) -> Result<Secret<Vec<u8>>> {
        self.site_key().open(aad, sealed)
    }

    /// A keyed hash of the site: application passwords, consumer keys, session tokens and nonces
    /// are stored or compared by it. The purpose keeps them apart.
    pub fn site_hash(&self, purpose: &str, value: &str, bound_to: &str) -> [u8; 32] {
        let hasher = hash_parts(&self.derived.site_hash, [purpose, value, bound_to]);
        *hasher.finalize().as_bytes()
    }

    /// The site's data key as it is at the moment.
    pub fn site_key(&self) -> Arc<DataKey> {
        Arc::clone(&self.site_data_key.read().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Hashes each part with its length, so that no two lists of parts are alike.
fn hash_parts(key: &Secret<[u8; KEY_LEN]>, parts: [&str; 3]) -> blake3::Hasher {
    let mut hasher = blake3::Hasher::new_keyed(key.expose());
    for part in parts {
        let len = u64::try_from(part.len()).unwrap_or(u64::MAX);
        hasher.update(&len.to_be_bytes()).update(part.as_bytes());
    }
    hasher
}

/// Counts the data keys of one ISO.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyVersion(u16);

impl KeyVersion {
    pub const FIRST: Self = Self(1);

    /// Under which version a value was sealed, to pick the data key that opens it.
    pub fn of_sealed(sealed: &[u8]) -> Option<Self> {
        match sealed {
            &[FORMAT, high, low, ..] => Some(Self(u16::from_be_bytes([high, low]))),
            _ => None,
        }
    }

    pub fn get(self) -> u16 {
        self.0
    }
}

/// Where a sealed value lives. It is authenticated with the value but not stored with it.
#[derive(Clone, Copy, Debug)]
pub struct Aad<'a> {
    /// What is described, such as `merchant`.
    pub kind: &'a str,
    /// Which one, such as its merchant id.
    pub id: &'a str,
    /// Which part of it, such as `email`.
    pub column: &'a str,
}

pub fn fill_random(bytes: &mut [u8]) -> Result<()> {
    getrandom::fill(bytes).map_err(|cause| {
        Error::internal("the operating system returned no random bytes").because(cause)
    })
}

fn random_key() -> Result<Secret<[u8; KEY_LEN]>> {
    let mut key = Zeroizing::new([0; KEY_LEN]);
    fill_random(&mut *key)?;
    Ok(Secret::new(*key))
}

fn derived_key(
    master: &MasterKey,
    environment: Environment,
    context: &'static str,
) -> Secret<[u8; KEY_LEN]> {
    let mut hasher = blake3::Hasher::new_derive_key(context);
    // The key has a fixed length, so the name behind it cannot be taken for a part of it.
    hasher.update(master.0.expose()).update(environment.name().as_bytes());
    let mut hash = hasher.finalize();
    let key = Secret::new(*hash.as_bytes());
    hash.zeroize();
    hasher.zeroize();
    key
}

fn cipher(key: &[u8; KEY_LEN]) -> XChaCha20Poly1305 {
    XChaCha20Poly1305::new(<&Key>::from(key))
}

fn wrap_aad(iso_id: &IsoId) -> Aad<'_> {
    Aad { kind: "iso", id: iso_id.as_str(), column: "data_key" }
}

fn seal_with(
    cipher: &XChaCha20Poly1305,
    version: KeyVersion,
    aad: &Aad<'_>,
    plaintext: &[u8],
) -> Result<Vec<u8>> {
    let aad = EncodedAad::new(version, aad)?;
    let mut nonce = [0; NONCE_LEN];
    fill_random(&mut nonce)?;
    let mut sealed = Vec::with_capacity(HEADER_LEN + plaintext.len() + TAG_LEN);
    sealed.push(FORMAT);
    sealed.extend_from_slice(&version.0.to_be_bytes());
    sealed.extend_from_slice(&nonce);
    debug_assert_eq!(sealed.len(), HEADER_LEN);
    sealed.extend_from_slice(plaintext);
    let (_, body) = sealed.split_at_mut(HEADER_LEN);
    let tag = cipher
        .encrypt_inout_detached(&XNonce::from(nonce), aad.as_bytes(), body.into())
        .map_err(|_| Error::internal("the value is too long to encrypt"))?;
    sealed.extend_from_slice(&tag);
    Ok(sealed)
}

fn open_with(
    cipher: &XChaCha20Poly1305,
    version: KeyVersion,
    aad: &Aad<'_>,
    sealed: &[u8],
) -> Result<Secret<Vec<u8>>> {
    if KeyVersion::of_sealed(sealed) != Some(version) {
        return Err(Error::internal("the stored value has another format or key version"));
    }
    let refused = || Error::internal("the stored value cannot be decrypted");
    let (header, rest) = sealed.split_first_chunk::<HEADER_LEN>().ok_or_else(refused)?;
    let (_, nonce) = header.split_last_chunk::<NONCE_LEN>().ok_or_else(refused)?;
    let (body, tag) = rest.split_last_chunk::<TAG_LEN>().ok_or_else(refused)?;
    let aad = EncodedAad::new(version, aad)?;
    let mut plaintext = body.to_vec();
    // The tag is checked before anything is decrypted: on failure the buffer is still ciphertext.
    cipher
        .decrypt_inout_detached(
            <&XNonce>::from(nonce),
            aad.as_bytes(),
            plaintext.as_mut_slice().into(),
            <&Tag>::from(tag),
        )
        .map_err(|_| refused())?;
    Ok(Secret::new(plaintext))
}

/// Format, key version, and each part of an [`Aad`] behind its length, so that no two places have
/// the same bytes. It lives on the stack because sealing happens several times per request.
struct EncodedAad(Cursor<[u8; AAD_LEN_MAX]>);

impl EncodedAad {
    fn new(version: KeyVersion, aad: &Aad<'_>) -> Result<Self> {
        let mut encoded = Self(Cursor::new([0; AAD_LEN_MAX]));
        let too_long = |cause| Error::internal("the place of a value is too long").because(cause);
        encoded.write(version, aad).map_err(|cause: std::io::Error| too_long(cause))?;
        Ok(encoded)
    }

    fn write(&mut self, version: KeyVersion, aad: &Aad<'_>) -> std::io::Result<()> {
        self.0.write_all(&[FORMAT])?;
        self.0.write_all(&version.0.to_be_bytes())?;
        for part in [aad.kind, aad.id, aad.column] {
            // A part too long for its length is too long for the buffer as well.
            let len = u16::try_from(part.len()).unwrap_or(u16::MAX);
            self.0.write_all(&len.to_be_bytes())?;
            self.0.write_all(part.as_bytes())?;
        }
        Ok(())
    }

    fn as_bytes(&self) -> &[u8] {
        let len = usize::try_from(self.0.position()).unwrap_or(AAD_LEN_MAX);
        self.0.get_ref().split_at(len).0
    }
}

#[cfg(test)]
mod tests;
