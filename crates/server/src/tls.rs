//! TLS by rustls. A certificate comes from PEM files that somebody else renews ([`files`]), or is
//! got and renewed by the server itself ([`acme`]). **A renewed certificate is used without a
//! restart**, and one that cannot be used leaves the one before in use.

mod acme;
mod files;
mod served;
mod settings;

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use rustls::crypto::CryptoProvider;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;
use types::Result;

pub(crate) use self::served::CHALLENGE_PROTOCOL;
use self::served::Served;
pub use self::served::Validity;
pub use self::settings::{Acme, Files, Source, Tls};

/// What accepts connections, and what is known about its certificate.
#[derive(Clone)]
pub(crate) struct Speaker {
    pub(crate) acceptor: TlsAcceptor,
    pub(crate) known: Known,
}

/// What the metrics tell of the certificate.
#[derive(Clone, Debug)]
pub(crate) struct Known {
    served: Arc<Served>,
    /// Nothing if somebody else renews it.
    pub(crate) renewals: Option<Arc<Renewals>>,
}

impl Known {
    /// Seconds since 1970; zero while a certificate is served that nobody vouches for.
    pub(crate) fn expires_seconds(&self) -> i64 {
        self.served.validity().map_or(0, |validity| validity.until.as_micros() / 1_000_000)
    }
}

/// How attempts to renew ended.
#[derive(Debug, Default)]
pub(crate) struct Renewals {
    issued: AtomicU64,
    failed: AtomicU64,
    /// 1 after success, -1 after a failure, 0 before the first attempt.
    last: AtomicI64,
}

impl Renewals {
    fn count(&self, is_issued: bool) {
        let counter = if is_issued { &self.issued } else { &self.failed };
        counter.fetch_add(1, Ordering::Relaxed);
        self.last.store(if is_issued { 1 } else { -1 }, Ordering::Relaxed);
    }

    /// Those that succeeded, and those that failed.
    pub(crate) fn counts(&self) -> (u64, u64) {
        (self.issued.load(Ordering::Relaxed), self.failed.load(Ordering::Relaxed))
    }

    /// Whether the last attempt succeeded; nothing before the first.
    pub(crate) fn last(&self) -> Option<bool> {
        match self.last.load(Ordering::Relaxed) {
            0 => None,
            last => Some(last > 0),
        }
    }
}

/// What speaks TLS with the certificate of the settings, which is followed from now on.
pub(crate) fn start(
    tls: &Tls,
    keepers: &mut JoinSet<()>,
    stop: &watch::Receiver<bool>,
) -> Result<Speaker> {
    let (served, renewals) = match tls.source()? {
        Source::Files(files) => {
            let provider = provider();
            let (pair, validity) = files::read(&files, &provider)?;
            let served = Served::new(provider, pair, Some(validity), false);
            keepers.spawn(files::follow(files, Arc::clone(&served), stop.clone()));
            (served, None)
        }
        Source::Acme(acme) => {
            let renewals = Arc::new(Renewals::default());
            let keeper = acme::Keeper::new(acme, provider(), Arc::clone(&renewals))?;
            let served = Arc::clone(keeper.served());
            keepers.spawn(keeper.keep(stop.clone()));
            (served, Some(renewals))
        }
    };
    Ok(Speaker { acceptor: served.acceptor()?, known: Known { served, renewals } })
}

/// From when to when the certificate is valid that a server would begin with; nothing if it would
/// have to ask for one first.
pub fn validity(tls: &Tls) -> Result<Option<Validity>> {
    match tls.source()? {
        Source::Files(files) => {
            files::read(&files, &provider()).map(|(_, validity)| Some(validity))
        }
        Source::Acme(acme) => acme::kept_validity(&acme, &provider()),
    }
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::aws_lc_rs::default_provider())
}
