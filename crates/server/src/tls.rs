//! TLS by rustls, from PEM files.

use std::path::Path;
use std::sync::Arc;

use rustls::ServerConfig;
use rustls_pki_types::pem::PemObject as _;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::TlsAcceptor;
use types::{Error, Result};

use crate::settings::Tls;

pub(crate) fn acceptor(tls: &Tls) -> Result<TlsAcceptor> {
    let unreadable = |what: &str, path: &Path, error: rustls_pki_types::pem::Error| {
        Error::invalid(format!("cannot read the {what} in {}", path.display())).because(error)
    };
    let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_file_iter(&tls.certificate)
        .and_then(Iterator::collect)
        .map_err(|error| unreadable("certificate", &tls.certificate, error))?;
    let key = PrivateKeyDer::from_pem_file(&tls.private_key)
        .map_err(|error| unreadable("private key", &tls.private_key, error))?;
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, key))
        .map_err(|error| {
            Error::invalid("the certificate and the private key do not fit").because(error)
        })?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}
