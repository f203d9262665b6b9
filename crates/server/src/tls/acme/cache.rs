//! What is kept in the data folder between two runs: the account at the authority, and the last
//! certificate with its key. **Each is one file of mode 0600 that is replaced as a whole**, so that
//! a crash leaves the one before, and never a certificate with the key of another.

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rustls::crypto::CryptoProvider;
use rustls::sign::CertifiedKey;
use rustls_pki_types::pem::PemObject as _;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use types::{Error, Result};

use crate::tls::served::Validity;
use crate::tls::settings::Acme;

const ACCOUNT_FILE: &str = "account.json";
const CERTIFICATE_FILE: &str = "certificate.json";

/// The account, as the protocol's library wants it kept.
#[derive(Serialize, Deserialize)]
pub(super) struct KeptAccount {
    /// The authority that knows it.
    directory: String,
    pub(super) contact: Option<String>,
    pub(super) credentials: serde_json::Value,
}

/// A certificate with its key.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct KeptCertificate {
    directory: String,
    domains: Vec<String>,
    /// PEM, the certificate itself first.
    chain: String,
    /// PEM.
    private_key: String,
}

impl KeptCertificate {
    pub(super) fn new(acme: &Acme, chain: String, private_key: String) -> Self {
        let (directory, domains) = (acme.directory.clone(), acme.domains.clone());
        Self { directory, domains, chain, private_key }
    }

    /// What can be served, with its dates.
    pub(super) fn pair(&self, provider: &CryptoProvider) -> Result<(CertifiedKey, Validity)> {
        let unusable = |error| Error::invalid("the certificate is not usable PEM").because(error);
        let chain: Vec<CertificateDer<'static>> =
            CertificateDer::pem_slice_iter(self.chain.as_bytes())
                .collect::<std::result::Result<_, _>>()
                .map_err(unusable)?;
        let key = PrivateKeyDer::from_pem_slice(self.private_key.as_bytes()).map_err(unusable)?;
        let misfit = "the certificate and the private key do not fit";
        let pair = CertifiedKey::from_der(chain, key, provider)
            .map_err(|error| Error::invalid(misfit).because(error))?;
        let validity = Validity::of(&pair)?;
        Ok((pair, validity))
    }
}

/// The folder of an authority's files.
#[derive(Clone, Debug)]
pub(super) struct Cache {
    folder: PathBuf,
}

impl Cache {
    pub(super) fn new(acme: &Acme) -> Self {
        Self { folder: acme.folder.clone() }
    }

    /// The account at this authority, if there is one.
    pub(super) fn account(&self, acme: &Acme) -> Result<Option<KeptAccount>> {
        let kept: Option<KeptAccount> = self.read(ACCOUNT_FILE)?;
        Ok(kept.filter(|kept| kept.directory == acme.directory))
    }

    pub(super) fn account_put(&self, acme: &Acme, credentials: serde_json::Value) -> Result<()> {
        let (directory, contact) = (acme.directory.clone(), acme.contact.clone());
        self.write(ACCOUNT_FILE, &KeptAccount { directory, contact, credentials })
    }

    /// The last certificate, if it is of this authority and has exactly these names.
    pub(super) fn certificate(&self, acme: &Acme) -> Result<Option<KeptCertificate>> {
        let kept: Option<KeptCertificate> = self.read(CERTIFICATE_FILE)?;
        let fits = |kept: &KeptCertificate| {
            kept.directory == acme.directory && kept.domains == acme.domains
        };
        Ok(kept.filter(fits))
    }

    pub(super) fn certificate_put(&self, kept: &KeptCertificate) -> Result<()> {
        self.write(CERTIFICATE_FILE, kept)
    }

    fn read<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>> {
        let path = self.folder.join(name);
        let unreadable = |path: &Path| Error::invalid(format!("cannot read {}", path.display()));
        match fs::read(&path) {
            Ok(bytes) => serde_json::from_slice(&bytes)
                .map(Some)
                .map_err(|error| unreadable(&path).because(error)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(unreadable(&path).because(error)),
        }
    }

    fn write(&self, name: &str, content: &impl Serialize) -> Result<()> {
        let path = self.folder.join(name);
        let failed = |error: io::Error| {
            Error::unavailable(format!("cannot write {}", path.display())).because(error)
        };
        let text = serde_json::to_vec_pretty(content).map_err(|error| failed(error.into()))?;
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.folder).map_err(failed)?;
        // Servers that share the folder must not write into each other's file.
        let partial = self.folder.join(format!("{name}.{}", std::process::id()));
        let written = write_private(&partial, &text)
            .and_then(|()| fs::rename(&partial, &path))
            .and_then(|()| fs::File::open(&self.folder)?.sync_all());
        written.map_err(|error| {
            let _ = fs::remove_file(&partial);
            failed(error)
        })
    }
}

fn write_private(path: &Path, text: &[u8]) -> io::Result<()> {
    // One that a crash left behind may have another mode.
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut options = fs::OpenOptions::new();
    let mut file = options.write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(text)?;
    file.sync_all()
}
