//! The conversation with the authority: an account, an order, a proof for each name, a certificate.
//! **Everything that it answers is bounded in bytes and time**, and goes over https only.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use frame::outbound::{Fetch, FetchError, Method, Outbound as _, Overlong};
use http_body_util::{BodyExt as _, Full};
use hyper::{Request, Response};
use instant_acme::{
    Account, AccountCredentials, AuthorizationStatus, BodyWrapper, BytesResponse, ChallengeType,
    HttpClient, Identifier, NewAccount, NewOrder, Order, OrderStatus, RetryPolicy,
};
use rcgen::{CertificateParams, CustomExtension, KeyPair};
use rustls::RootCertStore;
use rustls::sign::CertifiedKey;
use rustls_pki_types::pem::PemObject as _;
use rustls_pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use types::{Error, Result};
use url::Url;

use super::cache::{Cache, KeptCertificate};
use crate::outbound::Client;
use crate::tls::served::Served;
use crate::tls::settings::Acme;

/// Bytes of one answer of the authority; a chain of certificates has some thousand.
const ANSWER_BYTES_MAX: usize = 256 * 1024;
const ANSWER_TIME_MAX: Duration = Duration::from_secs(30);
/// How long the authority may take to check the names, and again to issue the certificate.
const PATIENCE: RetryPolicy = RetryPolicy::new().timeout(Duration::from_mins(2));
/// The authority has forgotten the account, or never knew it.
const NO_SUCH_ACCOUNT: &str = "urn:ietf:params:acme:error:accountDoesNotExist";

/// Why there is no certificate.
#[derive(Debug)]
pub(super) enum Failure {
    /// The authority was not asked anything: it can be tried again soon.
    Unreachable(Error),
    /// It said no, or checked a name and did not find us; it counts such attempts.
    Refused(Error),
}

impl Failure {
    pub(super) fn error(&self) -> &Error {
        match self {
            Self::Unreachable(error) | Self::Refused(error) => error,
        }
    }
}

/// What this server did wrong, or cannot do: asking again at once would not help.
impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Refused(error)
    }
}

impl From<instant_acme::Error> for Failure {
    fn from(error: instant_acme::Error) -> Self {
        let is_far =
            matches!(&error, instant_acme::Error::Other(cause) if cause.is::<FetchError>());
        let told = match &error {
            instant_acme::Error::Api(_) => "the certificate authority refused",
            _ if is_far => "the certificate authority cannot be reached",
            _ => "the conversation with the certificate authority failed",
        };
        let error = Error::unavailable(told).because(error);
        if is_far { Self::Unreachable(error) } else { Self::Refused(error) }
    }
}

type Outcome<T> = std::result::Result<T, Failure>;

/// Gets a certificate. The answers to the authority's questions are put into `served`.
pub(super) async fn order(acme: &Acme, cache: &Cache, served: &Served) -> Outcome<KeptCertificate> {
    let account = account(acme, cache).await?;
    match order_with(&account, acme, served).await {
        // The authority lost it, or another one answers under the same address now.
        Err(Failure::Refused(error)) if is_unknown_account(&error) => {
            let account = account_new(acme, cache).await?;
            order_with(&account, acme, served).await
        }
        outcome => outcome,
    }
}

fn is_unknown_account(error: &Error) -> bool {
    error.report().contains(NO_SUCH_ACCOUNT)
}

async fn order_with(account: &Account, acme: &Acme, served: &Served) -> Outcome<KeptCertificate> {
    let names: Vec<Identifier> = acme.domains.iter().cloned().map(Identifier::Dns).collect();
    let mut order = account.new_order(&NewOrder::new(&names)).await?;
    let proven = prove(&mut order, served).await;
    served.challenges_clear();
    proven?;
    let failed = |error| Error::internal("cannot make a certificate request").because(error);
    let key = KeyPair::generate().map_err(failed)?;
    let mut request = CertificateParams::new(acme.domains.clone()).map_err(failed)?;
    request.distinguished_name = rcgen::DistinguishedName::new();
    let request = request.serialize_request(&key).map_err(failed)?;
    order.finalize_csr(request.der()).await?;
    let chain = order.poll_certificate(&PATIENCE).await?;
    Ok(KeptCertificate::new(acme, chain, key.serialize_pem()))
}

/// Proves each name that the authority has no fresh proof of.
async fn prove(order: &mut Order, served: &Served) -> Outcome<()> {
    if order.state().status == OrderStatus::Ready {
        return Ok(());
    }
    let mut authorizations = order.authorizations();
    while let Some(authorization) = authorizations.next().await {
        let mut authorization = authorization?;
        if authorization.status == AuthorizationStatus::Valid {
            continue;
        }
        let mut challenge = authorization.challenge(ChallengeType::TlsAlpn01).ok_or_else(|| {
            Error::invalid("the authority does not check names on the https port (tls-alpn-01)")
        })?;
        let name = challenge.identifier().to_string();
        let answer = answer(&name, challenge.key_authorization().digest().as_ref(), served)?;
        served.challenge_put(&name, answer);
        challenge.set_ready().await?;
    }
    match order.poll_ready(&PATIENCE).await {
        Ok(OrderStatus::Ready) => Ok(()),
        Ok(_) | Err(instant_acme::Error::Api(_)) => Err(refusal(order).await),
        Err(error) => Err(error.into()),
    }
}

/// What the authority says it found under the names.
async fn refusal(order: &mut Order) -> Failure {
    let mut reasons = Vec::new();
    let mut authorizations = order.authorizations();
    while let Some(Ok(mut authorization)) = authorizations.next().await {
        let Ok(state) = authorization.refresh().await else { continue };
        let name = state.identifier().to_string();
        let problems = state.challenges.iter().filter_map(|challenge| challenge.error.as_ref());
        reasons.extend(problems.map(|problem| format!("{name}: {problem}")));
    }
    let cause = std::io::Error::other(reasons.join("; "));
    let told = "the certificate authority did not find this server under its names";
    Failure::Refused(Error::unavailable(told).because(cause))
}

/// The certificate that proves a name: nobody but the authority is ever shown it.
fn answer(name: &str, digest: &[u8], served: &Served) -> Result<CertifiedKey> {
    let failed = |error| Error::internal("cannot answer the authority").because(error);
    let mut params = CertificateParams::new([name.to_owned()]).map_err(failed)?;
    params.custom_extensions = vec![CustomExtension::new_acme_identifier(digest)];
    let key = KeyPair::generate().map_err(failed)?;
    let certificate = params.self_signed(&key).map_err(failed)?;
    // Its extension is critical, and none that a client would accept: no look into it may be made.
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let key = served.provider.key_provider.load_private_key(key);
    let key = key.map_err(|error| Error::internal("cannot use an own key").because(error))?;
    Ok(CertifiedKey::new(vec![certificate.der().clone()], key))
}

/// The account that is kept, with the contact of the settings, or a new one.
async fn account(acme: &Acme, cache: &Cache) -> Outcome<Account> {
    let Some(kept) = cache.account(acme)? else { return account_new(acme, cache).await };
    let unreadable = |error| Error::invalid("the account that is kept is damaged").because(error);
    let credentials: AccountCredentials =
        serde_json::from_value(kept.credentials.clone()).map_err(unreadable)?;
    let account = builder(acme)?.from_credentials(credentials).await?;
    if kept.contact != acme.contact {
        let contact = contact(acme);
        let contact: Vec<&str> = contact.iter().map(String::as_str).collect();
        account.update_contacts(&contact).await?;
        cache.account_put(acme, kept.credentials)?;
    }
    Ok(account)
}

async fn account_new(acme: &Acme, cache: &Cache) -> Outcome<Account> {
    let contact = contact(acme);
    let contact: Vec<&str> = contact.iter().map(String::as_str).collect();
    let wanted = NewAccount {
        contact: &contact,
        terms_of_service_agreed: acme.terms_agreed,
        only_return_existing: false,
    };
    let (account, credentials) =
        builder(acme)?.create(&wanted, acme.directory.clone(), None).await?;
    let unwritable = |error| Error::internal("cannot keep the account").because(error);
    cache.account_put(acme, serde_json::to_value(&credentials).map_err(unwritable)?)?;
    Ok(account)
}

fn contact(acme: &Acme) -> Option<String> {
    acme.contact.as_ref().map(|address| format!("mailto:{address}"))
}

fn builder(acme: &Acme) -> Result<instant_acme::AccountBuilder> {
    let roots = acme.ca_root.as_ref().map(|path| {
        let unreadable =
            || Error::invalid(format!("server.tls.acme.ca_root {} cannot be used", path.display()));
        let certificates = CertificateDer::pem_file_iter(path)
            .and_then(Iterator::collect::<std::result::Result<Vec<_>, _>>)
            .map_err(|error| unreadable().because(error))?;
        let mut roots = RootCertStore::empty();
        let (added, _) = roots.add_parsable_certificates(certificates);
        if added == 0 { Err(unreadable()) } else { Ok(roots) }
    });
    let client = Arc::new(Client::for_authority(roots.transpose()?));
    Ok(Account::builder_with_http(Box::new(Way(client))))
}

/// What the library waits for.
type Answering =
    Pin<Box<dyn Future<Output = std::result::Result<BytesResponse, instant_acme::Error>> + Send>>;

/// The way to the authority.
struct Way(Arc<Client>);

impl HttpClient for Way {
    fn request(&self, request: Request<BodyWrapper<Bytes>>) -> Answering {
        let client = Arc::clone(&self.0);
        Box::pin(async move {
            let sent = send(&client, request).await;
            sent.map_err(|error| instant_acme::Error::Other(Box::new(error)))
        })
    }
}

async fn send(
    client: &Client,
    request: Request<BodyWrapper<Bytes>>,
) -> std::result::Result<BytesResponse, FetchError> {
    let (head, body) = request.into_parts();
    let url = Url::parse(&head.uri.to_string()).map_err(|_| FetchError::InvalidRequest)?;
    if url.scheme() != "https" {
        return Err(FetchError::InvalidRequest);
    }
    let method = match head.method {
        hyper::Method::GET => Method::Get,
        hyper::Method::HEAD => Method::Head,
        hyper::Method::POST => Method::Post,
        _ => return Err(FetchError::InvalidRequest),
    };
    let text = |value: &hyper::header::HeaderValue| value.to_str().map(str::to_owned);
    let headers = head.headers.iter().map(|(name, value)| Ok((name.to_string(), text(value)?)));
    let headers: std::result::Result<Vec<_>, hyper::header::ToStrError> = headers.collect();
    let body = body.collect().await.map(|body| body.to_bytes().to_vec()).unwrap_or_default();
    let answer = client
        .fetch(Fetch {
            method,
            url,
            headers: headers.map_err(|_| FetchError::InvalidRequest)?,
            body,
            max_bytes: ANSWER_BYTES_MAX,
            overlong: Overlong::Refuse,
            timeout: ANSWER_TIME_MAX,
            max_redirects: 0,
        })
        .await?;
    let mut response = Response::builder().status(answer.status);
    for (name, value) in &answer.headers {
        response = response.header(name, value);
    }
    let response = response.body(Full::new(Bytes::from(answer.body)));
    Ok(BytesResponse::from(response.map_err(|_| FetchError::BadAnswer)?))
}
