//! Packages: plugins and themes as they come, an archive with a manifest and checksums.
//!
//! A package is a zip. `plugin.json` or `theme.json` says what it is; `checksums.json` has the
//! SHA-256 of every other file, and is what `signature.json` signs. **Nothing is believed before
//! all of it has been read within bounds and every checksum is right**, and nothing is ever written
//! to a disk: the files of a package live in the storage, in the transaction that installs it.

pub mod author;
pub mod manifest;
mod unzip;

use std::collections::BTreeMap;
use std::io::{Cursor, Write as _};

use data_encoding::{BASE64, HEXLOWER};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use types::{Error, Result};
use vault::signature::{self, Signer};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

pub use self::manifest::{PluginManifest, ThemeManifest};
use crate::rows::package::PackageKind;

/// Bytes of an archive at most.
pub const ARCHIVE_BYTES_MAX: usize = 8 * 1024 * 1024;
/// The manifests, by what they declare.
const MANIFESTS: [(&str, PackageKind); 2] =
    [("plugin.json", PackageKind::Plugin), ("theme.json", PackageKind::Theme)];
const CHECKSUMS: &str = "checksums.json";
const SIGNATURE: &str = "signature.json";

/// The files of a package by their paths.
pub type Files = BTreeMap<String, Vec<u8>>;

/// What a package declares.
#[derive(Clone, Debug, PartialEq)]
pub enum Manifest {
    Plugin(Box<PluginManifest>),
    Theme(Box<ThemeManifest>),
}

impl Manifest {
    pub fn kind(&self) -> PackageKind {
        match self {
            Self::Plugin(_) => PackageKind::Plugin,
            Self::Theme(_) => PackageKind::Theme,
        }
    }

    pub fn slug(&self) -> &str {
        match self {
            Self::Plugin(plugin) => &plugin.slug,
            Self::Theme(theme) => &theme.slug,
        }
    }

    pub fn version(&self) -> &str {
        match self {
            Self::Plugin(plugin) => &plugin.version,
            Self::Theme(theme) => &theme.version,
        }
    }

    /// Reads and checks the manifest of a kind.
    pub fn read(kind: PackageKind, text: &[u8]) -> Result<Self> {
        let malformed = |error: serde_json::Error| {
            Error::invalid(format!("the package's manifest is invalid: {error}"))
        };
        match kind {
            PackageKind::Plugin => {
                let plugin: PluginManifest = serde_json::from_slice(text).map_err(malformed)?;
                plugin.check()?;
                Ok(Self::Plugin(Box::new(plugin)))
            }
            PackageKind::Theme => {
                let theme: ThemeManifest = serde_json::from_slice(text).map_err(malformed)?;
                theme.check()?;
                Ok(Self::Theme(Box::new(theme)))
            }
        }
    }
}

/// Whose packages are taken.
#[derive(Clone, Debug, Default)]
pub struct Trust {
    /// Public keys in base64. With any, a package must be signed by one of them.
    pub keys: Vec<String>,
}

/// A package whose every byte was looked at.
#[derive(Clone, Debug)]
pub struct Package {
    pub manifest: Manifest,
    /// All files but the checksums and the signature.
    pub files: Files,
    /// SHA-256 of the archive, in hex.
    pub digest: String,
    /// The public key that it is signed with, in base64.
    pub signer: Option<String>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Checksums {
    /// SHA-256 in hex, by path.
    sha256: BTreeMap<String, String>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Signature {
    /// Who signed, a public key of Ed25519 in base64.
    key: String,
    /// Of the bytes of the checksums, in base64.
    signature: String,
}

impl Package {
    /// Reads an archive, and refuses it unless everything about it is right.
    pub fn read(archive: &[u8], trust: &Trust) -> Result<Self> {
        let mut files = unzip::unzip(archive)?;
        let checksums = files.remove(CHECKSUMS).ok_or_else(|| missing(CHECKSUMS))?;
        let signature = files.remove(SIGNATURE);
        check_sums(&checksums, &files)?;
        let signer = signature.map(|file| check_signature(&checksums, &file)).transpose()?;
        check_trust(signer.as_deref(), trust)?;
        let mut found = MANIFESTS.iter().filter(|(name, _)| files.contains_key(*name));
        let (name, kind) = found.next().ok_or_else(|| missing("plugin.json or theme.json"))?;
        if found.next().is_some() {
            return Err(Error::invalid("a package must be a plugin or a theme, not both"));
        }
        let manifest = Manifest::read(*kind, files.get(*name).map_or(&[], Vec::as_slice))?;
        let named = match &manifest {
            Manifest::Plugin(plugin) => plugin.files(),
            Manifest::Theme(theme) => theme.files(),
        };
        if let Some(absent) = named.iter().find(|path| !files.contains_key(**path)) {
            return Err(missing(absent));
        }
        Ok(Self { manifest, files, digest: hex_sha256(archive), signer })
    }
}

fn missing(what: &str) -> Error {
    Error::invalid(format!("the package has no {what}"))
}

/// SHA-256 in hex.
pub fn hex_sha256(bytes: &[u8]) -> String {
    HEXLOWER.encode(&Sha256::digest(bytes))
}

/// Each file has its checksum, and each checksum its file.
fn check_sums(checksums: &[u8], files: &Files) -> Result<()> {
    let stated: Checksums = serde_json::from_slice(checksums).map_err(|error| {
        Error::invalid(format!("the package's {CHECKSUMS} is invalid: {error}"))
    })?;
    for (path, content) in files {
        let wanted = stated.sha256.get(path);
        let wanted = wanted.ok_or_else(|| Error::invalid(format!("{path} has no checksum")))?;
        if !wanted.eq_ignore_ascii_case(&hex_sha256(content)) {
            return Err(Error::invalid(format!("the checksum of {path} is wrong")));
        }
    }
    match stated.sha256.keys().find(|path| !files.contains_key(*path)) {
        Some(path) => Err(missing(path)),
        None => Ok(()),
    }
}

/// Returns who signed the checksums.
fn check_signature(checksums: &[u8], file: &[u8]) -> Result<String> {
    let wrong = || Error::invalid("the package's signature is invalid");
    let stated: Signature = serde_json::from_slice(file).map_err(|_| wrong())?;
    let key = BASE64.decode(stated.key.as_bytes()).map_err(|_| wrong())?;
    let bytes = BASE64.decode(stated.signature.as_bytes()).map_err(|_| wrong())?;
    if signature::is_signed_by(&key, checksums, &bytes) { Ok(stated.key) } else { Err(wrong()) }
}

fn check_trust(signer: Option<&str>, trust: &Trust) -> Result<()> {
    let is_known = |signer: &str| trust.keys.iter().any(|key| key == signer);
    match signer {
        _ if trust.keys.is_empty() => Ok(()),
        Some(signer) if is_known(signer) => Ok(()),
        Some(_) => {
            Err(Error::invalid("the package is signed with a key that this site does not trust"))
        }
        None => {
            Err(Error::invalid("the package is not signed, and this site requires signed packages"))
        }
    }
}

/// Makes an archive of the files, with checksums, and with a signature if somebody signs. The same
/// files make the same bytes.
pub fn pack(files: &Files, signer: Option<&Signer>) -> Result<Vec<u8>> {
    let sha256 = files.iter().map(|(path, content)| (path.clone(), hex_sha256(content)));
    let checksums = written(&Checksums { sha256: sha256.collect() })?;
    let mut all: Vec<(&str, Vec<u8>)> =
        files.iter().map(|(path, content)| (path.as_str(), content.clone())).collect();
    if let Some(signer) = signer {
        let signature = Signature {
            key: BASE64.encode(signer.public_key()),
            signature: BASE64.encode(&signer.sign(&checksums)),
        };
        all.push((SIGNATURE, written(&signature)?));
    }
    all.push((CHECKSUMS, checksums));
    let failed =
        |error: zip::result::ZipError| Error::internal("cannot write the package").because(error);
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Deflated)
        .last_modified_time(DateTime::default());
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (path, content) in all {
        archive.start_file(path, options).map_err(failed)?;
        archive.write_all(&content).map_err(|error| failed(error.into()))?;
    }
    archive.finish().map(Cursor::into_inner).map_err(failed)
}

fn written(value: &impl Serialize) -> Result<Vec<u8>> {
    serde_json::to_vec(value)
        .map_err(|error| Error::internal("cannot write the package").because(error))
}

#[cfg(test)]
mod tests;
