//! The certificate that is served, and what is known about it. Whoever renews it puts the next one
//! in ([`Served::replace`]); connections that begin from then on get it.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use rustls::ServerConfig;
use rustls::crypto::CryptoProvider;
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use tokio_rustls::TlsAcceptor;
use types::{Error, Result, Timestamp};
use x509_cert::Certificate;
use x509_cert::der::Decode as _;

/// What an authority that checks a name speaks instead of HTTP (RFC 8737).
pub(crate) const CHALLENGE_PROTOCOL: &[u8] = b"acme-tls/1";

const SECOND_US: i64 = 1_000_000;

/// From when to when a certificate is valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Validity {
    pub from: Timestamp,
    pub until: Timestamp,
}

impl Validity {
    /// Of the first certificate of a chain.
    pub(super) fn of(pair: &CertifiedKey) -> Result<Self> {
        let unreadable = || Error::invalid("the dates of the certificate cannot be read");
        let first = pair.cert.first().ok_or_else(unreadable)?;
        let parsed = Certificate::from_der(first).map_err(|error| unreadable().because(error))?;
        let dates = parsed.tbs_certificate.validity;
        let time = |time: x509_cert::time::Time| {
            let seconds = i64::try_from(time.to_unix_duration().as_secs()).unwrap_or(i64::MAX);
            Timestamp::from_micros(seconds.saturating_mul(SECOND_US))
        };
        Ok(Self { from: time(dates.not_before), until: time(dates.not_after) })
    }

    /// When two thirds of the time are over, so that there is time left for failures.
    pub(super) fn renewal(self) -> Timestamp {
        self.from.plus(self.until.since(self.from) / 3 * 2)
    }
}

/// What is served.
#[derive(Debug)]
pub(crate) struct Served {
    pub(super) provider: Arc<CryptoProvider>,
    current: RwLock<Current>,
    /// Answers for an authority that checks a name, by that name.
    challenges: RwLock<HashMap<String, Arc<CertifiedKey>>>,
    /// Whether such questions are expected at all.
    answers_challenges: bool,
}

#[derive(Clone, Debug)]
struct Current {
    pair: Arc<CertifiedKey>,
    /// Nothing for one that nobody vouches for.
    validity: Option<Validity>,
}

impl Served {
    pub(super) fn new(
        provider: Arc<CryptoProvider>,
        pair: CertifiedKey,
        validity: Option<Validity>,
        answers_challenges: bool,
    ) -> Arc<Self> {
        let current = RwLock::new(Current { pair: Arc::new(pair), validity });
        Arc::new(Self { provider, current, challenges: RwLock::default(), answers_challenges })
    }

    /// The certificate of the connections that begin from now on.
    pub(super) fn replace(&self, pair: CertifiedKey, validity: Validity) {
        let next = Current { pair: Arc::new(pair), validity: Some(validity) };
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = next;
    }

    /// Nothing while a certificate is served that nobody vouches for.
    pub(crate) fn validity(&self) -> Option<Validity> {
        self.current.read().unwrap_or_else(PoisonError::into_inner).validity
    }

    pub(super) fn challenge_put(&self, name: &str, answer: CertifiedKey) {
        let mut challenges = self.challenges.write().unwrap_or_else(PoisonError::into_inner);
        challenges.insert(name.to_owned(), Arc::new(answer));
    }

    pub(super) fn challenges_clear(&self) {
        self.challenges.write().unwrap_or_else(PoisonError::into_inner).clear();
    }

    pub(crate) fn acceptor(self: &Arc<Self>) -> Result<TlsAcceptor> {
        let resolver: Arc<dyn ResolvesServerCert> = Arc::<Self>::clone(self);
        let mut config = ServerConfig::builder_with_provider(Arc::clone(&self.provider))
            .with_safe_default_protocol_versions()
            .map_err(|error| Error::internal("no version of TLS can be used").because(error))?
            .with_no_client_auth()
            .with_cert_resolver(resolver);
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        if self.answers_challenges {
            config.alpn_protocols.push(CHALLENGE_PROTOCOL.to_vec());
        }
        Ok(TlsAcceptor::from(Arc::new(config)))
    }
}

impl ResolvesServerCert for Served {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let speaks_only_challenges = hello.alpn().is_some_and(|mut protocols| {
            protocols.next() == Some(CHALLENGE_PROTOCOL) && protocols.next().is_none()
        });
        if speaks_only_challenges {
            let challenges = self.challenges.read().unwrap_or_else(PoisonError::into_inner);
            return hello.server_name().and_then(|name| challenges.get(name)).cloned();
        }
        Some(Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner).pair))
    }
}
