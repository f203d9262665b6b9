//! Connecting to what was checked: a name is looked up once, and the connection goes to one of the
//! addresses that the guard saw. **Nothing asks the name service a second time.**

use std::fmt::Debug;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use frame::outbound::FetchError;
use rustls::{ClientConfig, RootCertStore};
use rustls_pki_types::ServerName;
use rustls_platform_verifier::BuilderVerifierExt as _;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use url::Host;

use super::guard::{Guard, Target};

/// Addresses of one host that are tried.
const ATTEMPTS_MAX: usize = 4;
/// For one of them. The next may be better, and the caller's time must hold several.
const ATTEMPT_TIME_MAX: Duration = Duration::from_secs(2);
/// Addresses that a name may have; one with more is not a web server.
const ADDRESSES_MAX: usize = 64;

pub(super) type Resolving<'a> = Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send + 'a>>;

/// The name service, or a test's idea of it.
pub(super) trait Resolve: Send + Sync + Debug {
    fn resolve<'a>(&'a self, host: &'a str) -> Resolving<'a>;
}

/// The name service of the machine.
#[derive(Debug)]
pub(super) struct SystemResolver;

impl Resolve for SystemResolver {
    fn resolve<'a>(&'a self, host: &'a str) -> Resolving<'a> {
        Box::pin(async move {
            let found = tokio::net::lookup_host((host, 0)).await?;
            Ok(found.map(|address| address.ip()).take(ADDRESSES_MAX + 1).collect())
        })
    }
}

/// A connection, with or without TLS.
pub(super) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

/// Whom to believe that they are who they say, in TLS.
pub(super) enum Trust {
    /// As the machine does.
    System,
    /// These roots only.
    Roots(RootCertStore),
}

/// Makes connections.
pub(super) struct Connector {
    guard: Guard,
    resolver: Box<dyn Resolve>,
    /// `None`: the machine has no certificates, so no host can be believed.
    tls: Option<TlsConnector>,
}

impl Debug for Connector {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = formatter.debug_struct("Connector");
        shown.field("guard", &self.guard).field("resolver", &self.resolver).finish_non_exhaustive()
    }
}

impl Connector {
    pub(super) fn guard(&self) -> &Guard {
        &self.guard
    }

    pub(super) fn new(guard: Guard, resolver: Box<dyn Resolve>, trust: Trust) -> Self {
        let tls = match tls_config(trust) {
            Ok(config) => Some(TlsConnector::from(Arc::new(config))),
            Err(error) => {
                tracing::warn!(%error, "no certificates to trust: https cannot be fetched");
                None
            }
        };
        Self { guard, resolver, tls }
    }

    /// Checks the target, and connects to one of the addresses that were checked.
    pub(super) async fn connect(&self, url: &url::Url) -> Result<Box<dyn Stream>, FetchError> {
        let target = self.guard.target(url).map_err(FetchError::Refused)?;
        let addresses = self.addresses(&target).await?;
        self.guard.admit(&target, &addresses).map_err(FetchError::Refused)?;
        let stream = reach(&addresses, target.port).await?;
        if !target.is_tls {
            return Ok(Box::new(stream));
        }
        let tls = self.tls.as_ref().ok_or(FetchError::Tls)?;
        let stream = tls.connect(server_name(&target.host)?, stream).await.map_err(|error| {
            tracing::debug!(%error, "another host's TLS is not acceptable");
            FetchError::Tls
        })?;
        Ok(Box::new(stream))
    }

    async fn addresses(&self, target: &Target) -> Result<Vec<IpAddr>, FetchError> {
        let name = match &target.host {
            Host::Ipv4(address) => return Ok(vec![IpAddr::V4(*address)]),
            Host::Ipv6(address) => return Ok(vec![IpAddr::V6(*address)]),
            Host::Domain(name) => name,
        };
        let found = self.resolver.resolve(name).await.map_err(|_| FetchError::NoSuchHost)?;
        if found.is_empty() || found.len() > ADDRESSES_MAX {
            return Err(FetchError::NoSuchHost);
        }
        Ok(found)
    }
}

fn tls_config(trust: Trust) -> Result<ClientConfig, rustls::Error> {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let builder =
        ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    let builder = match trust {
        Trust::System => builder.with_platform_verifier()?,
        Trust::Roots(roots) => builder.with_root_certificates(roots),
    };
    let mut config = builder.with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}

/// By name where there is one, whatever the address that was chosen for it.
fn server_name(host: &Host<String>) -> Result<ServerName<'static>, FetchError> {
    match host {
        Host::Domain(name) => {
            // A certificate never names the root's dot.
            let name = name.strip_suffix('.').unwrap_or(name).to_owned();
            ServerName::try_from(name).map_err(|_| FetchError::Tls)
        }
        Host::Ipv4(address) => Ok(ServerName::from(IpAddr::V4(*address))),
        Host::Ipv6(address) => Ok(ServerName::from(IpAddr::V6(*address))),
    }
}

async fn reach(addresses: &[IpAddr], port: u16) -> Result<TcpStream, FetchError> {
    for address in addresses.iter().take(ATTEMPTS_MAX) {
        let address = SocketAddr::new(address.to_canonical(), port);
        let attempt = tokio::time::timeout(ATTEMPT_TIME_MAX, TcpStream::connect(address)).await;
        if let Ok(Ok(stream)) = attempt {
            return Ok(stream);
        }
    }
    Err(FetchError::Unreachable)
}
