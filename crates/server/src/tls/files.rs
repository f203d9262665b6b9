//! A certificate from PEM files, which are looked at once in a while. **A pair that does not fit
//! leaves the one before in use.**

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use rustls::crypto::CryptoProvider;
use rustls::sign::CertifiedKey;
use rustls_pki_types::pem::PemObject as _;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use tokio::sync::watch;
use types::{Error, Result};

use super::served::{Served, Validity};
use super::settings::Files;

/// How soon a renewed certificate is noticed.
const LOOK: Duration = Duration::from_secs(2);

/// When each of the two files was written; nothing while it cannot be told.
type Written = [Option<SystemTime>; 2];

/// Follows the files until it is told to stop.
pub(super) async fn follow(files: Files, served: Arc<Served>, mut stop: watch::Receiver<bool>) {
    let mut seen = written(&files);
    while !*stop.borrow() {
        tokio::select! {
            () = tokio::time::sleep(LOOK) => {}
            _ = stop.changed() => break,
        }
        let (files, served) = (files.clone(), Arc::clone(&served));
        let looked = tokio::task::spawn_blocking(move || look(&files, &served, seen)).await;
        seen = looked.unwrap_or(seen);
    }
}

/// Reads the files if they were written since; returns when that was.
fn look(files: &Files, served: &Served, seen: Written) -> Written {
    let written = written(files);
    if written == seen {
        return seen;
    }
    match read(files, &served.provider) {
        Ok((pair, validity)) => {
            served.replace(pair, validity);
            tracing::info!("the renewed certificate is in use");
        }
        Err(error) => {
            let error = error.report();
            tracing::warn!(error, "the renewed certificate cannot be used; the old one is");
        }
    }
    written
}

fn written(files: &Files) -> Written {
    let at = |path: &Path| path.metadata().and_then(|about| about.modified()).ok();
    [at(&files.certificate), at(&files.private_key)]
}

pub(super) fn read(files: &Files, provider: &CryptoProvider) -> Result<(CertifiedKey, Validity)> {
    let unreadable = |what: &str, path: &Path, error: rustls_pki_types::pem::Error| {
        Error::invalid(format!("cannot read the {what} in {}", path.display())).because(error)
    };
    let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_file_iter(&files.certificate)
        .and_then(Iterator::collect)
        .map_err(|error| unreadable("certificate", &files.certificate, error))?;
    let key = PrivateKeyDer::from_pem_file(&files.private_key)
        .map_err(|error| unreadable("private key", &files.private_key, error))?;
    let misfit = "the certificate and the private key do not fit";
    let pair = CertifiedKey::from_der(chain, key, provider)
        .map_err(|error| Error::invalid(misfit).because(error))?;
    let validity = Validity::of(&pair)?;
    Ok((pair, validity))
}
