//! TLS by rustls, from PEM files. **A renewed certificate is used without a restart**: the files
//! are looked at once in a while, and a pair that does not fit leaves the one before in use.

use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, SystemTime};

use rustls::ServerConfig;
use rustls::crypto::CryptoProvider;
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use rustls_pki_types::pem::PemObject as _;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use tokio::sync::watch;
use tokio_rustls::TlsAcceptor;
use types::{Error, Result};

use crate::settings::Tls;

/// How soon a renewed certificate is noticed.
const LOOK: Duration = Duration::from_secs(2);

/// The certificate of the server, as the files had it last.
#[derive(Debug)]
pub(crate) struct Certificate {
    files: Tls,
    provider: Arc<CryptoProvider>,
    current: RwLock<Arc<CertifiedKey>>,
}

/// When each of the two files was written; nothing while it cannot be told.
type Written = [Option<SystemTime>; 2];

impl Certificate {
    pub(crate) fn read(files: &Tls) -> Result<Arc<Self>> {
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let current = RwLock::new(Arc::new(read_pair(files, &provider)?));
        Ok(Arc::new(Self { files: files.clone(), provider, current }))
    }

    pub(crate) fn acceptor(self: &Arc<Self>) -> Result<TlsAcceptor> {
        let resolver: Arc<dyn ResolvesServerCert> = Arc::<Self>::clone(self);
        let mut config = ServerConfig::builder_with_provider(Arc::clone(&self.provider))
            .with_safe_default_protocol_versions()
            .map_err(|error| Error::internal("no version of TLS can be used").because(error))?
            .with_no_client_auth()
            .with_cert_resolver(resolver);
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(TlsAcceptor::from(Arc::new(config)))
    }

    /// Follows the files until it is told to stop.
    pub(crate) async fn follow(self: Arc<Self>, mut stop: watch::Receiver<bool>) {
        let mut seen = self.written();
        while !*stop.borrow() {
            tokio::select! {
                () = tokio::time::sleep(LOOK) => {}
                _ = stop.changed() => break,
            }
            let own = Arc::clone(&self);
            let looked = tokio::task::spawn_blocking(move || own.look(seen)).await;
            seen = looked.unwrap_or(seen);
        }
    }

    /// Reads the files if they were written since; returns when that was.
    fn look(&self, seen: Written) -> Written {
        let written = self.written();
        if written == seen {
            return seen;
        }
        match read_pair(&self.files, &self.provider) {
            Ok(pair) => {
                *self.current.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(pair);
                tracing::info!("the renewed certificate is in use");
            }
            Err(error) => {
                let error = error.report();
                tracing::warn!(error, "the renewed certificate cannot be used; the old one is");
            }
        }
        written
    }

    fn written(&self) -> Written {
        let at = |path: &Path| path.metadata().and_then(|about| about.modified()).ok();
        [at(&self.files.certificate), at(&self.files.private_key)]
    }
}

impl ResolvesServerCert for Certificate {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner)))
    }
}

fn read_pair(files: &Tls, provider: &CryptoProvider) -> Result<CertifiedKey> {
    let unreadable = |what: &str, path: &Path, error: rustls_pki_types::pem::Error| {
        Error::invalid(format!("cannot read the {what} in {}", path.display())).because(error)
    };
    let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_file_iter(&files.certificate)
        .and_then(Iterator::collect)
        .map_err(|error| unreadable("certificate", &files.certificate, error))?;
    let key = PrivateKeyDer::from_pem_file(&files.private_key)
        .map_err(|error| unreadable("private key", &files.private_key, error))?;
    let misfit = "the certificate and the private key do not fit";
    let pair = CertifiedKey::from_der(chain, key, provider);
    pair.map_err(|error| Error::invalid(misfit).because(error))
}
