//! A certificate that the server gets and renews itself, by ACME (RFC 8555) with the proof on the
//! https port (tls-alpn-01, RFC 8737), which needs no other port and no other program.
//!
//! **The server starts and answers whether or not the authority does.** Until it has issued the
//! first certificate, one that nobody vouches for is served: whoever verifies is turned away as by
//! a closed port, and nothing is ever sent in plain text. A certificate that is kept in the data
//! folder is used at once, and asked for again when two thirds of its time are over. After a
//! failure the next attempt waits, twice as long each time.

mod authority;
mod cache;

use std::sync::Arc;
use std::time::Duration;

use rustls::client::verify_server_name;
use rustls::crypto::CryptoProvider;
use rustls::server::ParsedCertificate;
use rustls::sign::CertifiedKey;
use rustls_pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer, ServerName};
use tokio::sync::watch;
use tokio::time::Instant;
use types::{Clock, Error, Result};

use self::authority::Failure;
use self::cache::{Cache, KeptCertificate};
use super::Renewals;
use super::served::{Served, Validity};
use super::settings::Acme;

/// The longest sleep between two looks at the clock, which may have been set meanwhile.
const SLEEP_MAX: Duration = Duration::from_hours(1);
/// For one attempt, everything together.
const ATTEMPT_MAX: Duration = Duration::from_mins(10);
/// The first wait after an attempt that the authority did not hear of.
const WAIT_UNREACHABLE: Duration = Duration::from_secs(10);
/// The first wait after it said no. Public authorities allow some five such attempts an hour.
const WAIT_REFUSED: Duration = Duration::from_mins(5);
const WAIT_MAX: Duration = Duration::from_hours(6);

/// Keeps a certificate fresh.
#[derive(Debug)]
pub(super) struct Keeper {
    acme: Acme,
    cache: Cache,
    served: Arc<Served>,
    renewals: Arc<Renewals>,
}

impl Keeper {
    /// Begins with the certificate that is kept, or else with one that nobody vouches for.
    pub(super) fn new(
        acme: Acme,
        provider: Arc<CryptoProvider>,
        renewals: Arc<Renewals>,
    ) -> Result<Self> {
        let cache = Cache::new(&acme);
        let kept = match kept(&acme, &cache, &provider) {
            Ok(kept) => kept,
            Err(error) => {
                let error = error.report();
                tracing::warn!(error, "the kept certificate cannot be used; asking for another");
                None
            }
        };
        let served = if let Some((pair, validity)) = kept {
            Served::new(provider, pair, Some(validity), true)
        } else {
            tracing::warn!("serving a self-signed certificate until one is issued");
            let pair = self_signed(&acme.domains, &provider)?;
            Served::new(provider, pair, None, true)
        };
        Ok(Self { acme, cache, served, renewals })
    }

    pub(super) fn served(&self) -> &Arc<Served> {
        &self.served
    }

    /// Renews until it is told to stop.
    pub(super) async fn keep(self, mut stop: watch::Receiver<bool>) {
        let mut failures = 0;
        let mut rested = Instant::now();
        while !*stop.borrow() {
            let rest = rested.saturating_duration_since(Instant::now());
            let pause = rest.max(self.until_due());
            if !pause.is_zero() {
                tokio::select! {
                    () = tokio::time::sleep(pause.min(SLEEP_MAX)) => {}
                    _ = stop.changed() => break,
                }
                continue;
            }
            let attempt = tokio::select! {
                attempt = tokio::time::timeout(ATTEMPT_MAX, self.renew()) => attempt,
                _ = stop.changed() => break,
            };
            self.served.challenges_clear();
            let outcome = attempt.unwrap_or_else(|_| Err(overlong()));
            self.renewals.count(outcome.is_ok());
            // An order follows an order at once only if something is wrong, such as the clock.
            let outcome = outcome.and_then(|()| {
                if self.until_due().is_zero() {
                    let told = "the certificate is due for renewal already; is the clock right?";
                    Err(Failure::Refused(Error::invalid(told)))
                } else {
                    Ok(())
                }
            });
            let Err(failure) = outcome else {
                failures = 0;
                continue;
            };
            let wait = wait(&failure, failures);
            (failures, rested) = (failures + 1, Instant::now() + wait);
            let (error, wait_seconds) = (failure.error().report(), wait.as_secs());
            tracing::warn!(error, wait_seconds, "no certificate was issued; trying again");
        }
    }

    fn until_due(&self) -> Duration {
        let due = self.served.validity().map(Validity::renewal);
        due.map_or(Duration::ZERO, |due| due.since(Clock::System.now()))
    }

    async fn renew(&self) -> std::result::Result<(), Failure> {
        // A server that shares the folder may have been first.
        if let Ok(Some((pair, validity))) = kept(&self.acme, &self.cache, &self.served.provider)
            && self.served.validity().is_none_or(|current| current.until < validity.until)
        {
            self.served.replace(pair, validity);
            tracing::info!("the renewed certificate is in use");
            return Ok(());
        }
        let issued = authority::order(&self.acme, &self.cache, &self.served).await?;
        let (pair, validity) = usable(&issued, &self.acme, &self.served.provider)?;
        self.served.replace(pair, validity);
        tracing::info!(expires = %validity.until, "a certificate was issued and is in use");
        // Served already: a full disk costs the next start an order, and no caller an answer.
        Ok(self.cache.certificate_put(&issued)?)
    }
}

fn overlong() -> Failure {
    Failure::Unreachable(Error::unavailable("the certificate authority takes too long"))
}

/// Doubles with each failure in a row.
fn wait(failure: &Failure, failures: u32) -> Duration {
    let first = match failure {
        Failure::Unreachable(_) => WAIT_UNREACHABLE,
        Failure::Refused(_) => WAIT_REFUSED,
    };
    first.saturating_mul(2_u32.saturating_pow(failures)).min(WAIT_MAX)
}

/// The certificate in the data folder, whatever its age: an expired one tells clients more than
/// one that nobody vouches for.
fn kept(
    acme: &Acme,
    cache: &Cache,
    provider: &CryptoProvider,
) -> Result<Option<(CertifiedKey, Validity)>> {
    let Some(kept) = cache.certificate(acme)? else { return Ok(None) };
    usable(&kept, acme, provider).map(Some)
}

/// When the kept certificate ends, for whoever checks an installation.
pub(super) fn kept_validity(acme: &Acme, provider: &CryptoProvider) -> Result<Option<Validity>> {
    Ok(kept(acme, &Cache::new(acme), provider)?.map(|(_, validity)| validity))
}

/// What the authority sent must be a certificate for our key and for all names.
fn usable(
    kept: &KeptCertificate,
    acme: &Acme,
    provider: &CryptoProvider,
) -> Result<(CertifiedKey, Validity)> {
    let (pair, validity) = kept.pair(provider)?;
    let foreign = |error| Error::invalid("the certificate is not for the names").because(error);
    let first = pair.end_entity_cert().map_err(foreign)?;
    let parsed = ParsedCertificate::try_from(first).map_err(foreign)?;
    for domain in &acme.domains {
        let name = ServerName::try_from(domain.as_str())
            .map_err(|error| Error::internal("a host name was not checked").because(error))?;
        verify_server_name(&parsed, &name).map_err(foreign)?;
    }
    Ok((pair, validity))
}

fn self_signed(domains: &[String], provider: &CryptoProvider) -> Result<CertifiedKey> {
    let made = rcgen::generate_simple_self_signed(domains.to_vec());
    let failed = "cannot make a self-signed certificate";
    let made = made.map_err(|error| Error::internal(failed).because(error))?;
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()));
    let pair = CertifiedKey::from_der(vec![made.cert.der().clone()], key, provider);
    pair.map_err(|error| Error::internal(failed).because(error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_a_bound() {
        let far = Failure::Unreachable(Error::unavailable("away"));
        let refused = Failure::Refused(Error::unavailable("no"));
        let waits = |failure: &Failure| [0, 1, 2, 40].map(|count| wait(failure, count).as_secs());
        assert_eq!(waits(&far), [10, 20, 40, 21_600]);
        assert_eq!(waits(&refused), [300, 600, 1_200, 21_600]);
    }
}
