//! Signing in at a company's provider of `OpenID` Connect: the browser goes there and comes back
//! with a code, for which the site gets a signed statement of who that is.
//!
//! **A code is worth nothing without the cookie of the browser that asked for it**: that holds,
//! sealed, what the provider must repeat (state and nonce) and what it must be shown (the
//! verifier).

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use data_encoding::BASE64URL_NOPAD;
use frame::Site;
use frame::auth::openid::ProvenIdentity;
use frame::cookies::{self, Life};
use frame::outbound::{Fetch, FetchError, Method};
use frame::pages::{Address, Link};
use openidconnect::core::{
    CoreAuthenticationFlow, CoreClient, CoreIdTokenClaims, CoreJwsSigningAlgorithm,
    CoreProviderMetadata, CoreUserInfoClaims,
};
use openidconnect::{
    AsyncHttpClient, AuthorizationCode, ClientId, ClientSecret, CsrfToken, EndUserEmail,
    EndpointMaybeSet, EndpointNotSet, EndpointSet, HttpRequest, HttpResponse, IssuerUrl, Nonce,
    OAuth2TokenResponse as _, PkceCodeChallenge, PkceCodeVerifier, RedirectUrl, Scope,
    TokenResponse as _,
};
use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq as _;
use types::{Environment, Error, Result};
use url::Url;
use vault::Aad;

use super::answer::WebAnswer;
use super::callback::encoded;
use super::page_path::{OPENID_ACTION, OPENID_PATH, Spelling};
use super::page_request::PageRequest;
use super::sign_in::{Keep, told_to_wait};

const KIND: &str = "page:login";
/// How long somebody may take at the provider.
const JOURNEY_LIFE: Duration = Duration::from_mins(15);
/// Whoever asks us to lead them there does not make us ask the provider each time.
const DESCRIPTION_LIFE: Duration = Duration::from_mins(1);
/// For each question to the provider.
const ANSWER_TIME: Duration = Duration::from_secs(8);
const ANSWER_BYTES_MAX: usize = 256 * 1024;
const PLACE: Aad<'_> = Aad { kind: "openid_journey", id: "", column: "cookie" };
/// Signatures by keys that the provider publishes; never by a secret that both have.
const SIGNATURES: [CoreJwsSigningAlgorithm; 6] = [
    CoreJwsSigningAlgorithm::RsaSsaPkcs1V15Sha256,
    CoreJwsSigningAlgorithm::RsaSsaPkcs1V15Sha384,
    CoreJwsSigningAlgorithm::RsaSsaPkcs1V15Sha512,
    CoreJwsSigningAlgorithm::RsaSsaPssSha256,
    CoreJwsSigningAlgorithm::EcdsaP256Sha256,
    CoreJwsSigningAlgorithm::EcdsaP384Sha384,
];

type Provider = CoreClient<
    EndpointSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointMaybeSet,
    EndpointMaybeSet,
>;

/// What the browser keeps, sealed, while it is away.
#[derive(Serialize, Deserialize)]
struct Journey {
    state: String,
    nonce: String,
    verifier: String,
    target: Option<String>,
    expires_us: i64,
}

impl PageRequest<'_> {
    /// What the provider is called, and the path that leads there.
    pub(super) fn provider_address(&self, target: Option<&str>) -> Option<(&str, String)> {
        let settings = &self.site.settings().openid;
        settings.provider()?;
        let back = target.map(|to| format!("&redirect_to={}", encoded(to))).unwrap_or_default();
        let path = format!("{}?action={OPENID_ACTION}{back}", Spelling::Neutral.sign_in());
        Some((&settings.name, path))
    }

    /// Sends the browser to the provider.
    pub(super) async fn go_to_provider(&self, target: Option<String>) -> Result<WebAnswer> {
        if self.site.settings().openid.provider().is_none() {
            return Ok(self.not_found());
        }
        let provider = match self.provider().await {
            Ok(provider) => provider,
            Err(reason) => return Ok(self.unusable(&reason)),
        };
        let (challenge, verifier) = PkceCodeChallenge::new_random_sha256();
        let flow = CoreAuthenticationFlow::AuthorizationCode;
        let (url, state, nonce) = provider
            .authorize_url(flow, CsrfToken::new_random, Nonce::new_random)
            .add_scope(Scope::new(String::from("email")))
            .set_pkce_challenge(challenge)
            .url();
        let journey = Journey {
            state: state.secret().clone(),
            nonce: nonce.secret().clone(),
            verifier: verifier.secret().clone(),
            target,
            expires_us: self.visit.now.plus(JOURNEY_LIFE).as_micros(),
        };
        let mut answer = WebAnswer::redirect(KIND, url.as_str());
        let (sealed, life) = (self.sealed(&journey)?, Life::Lasting(JOURNEY_LIFE));
        answer.headers.push(("set-cookie", self.journey_cookie(&sealed, life)));
        Ok(answer)
    }

    /// Takes the browser back. Whatever comes of it, its cookie was good once.
    pub(super) async fn return_from_provider(&self) -> Result<WebAnswer> {
        if self.site.settings().openid.provider().is_none() {
            return Ok(self.not_found());
        }
        let mut answer = self.returned().await?;
        answer.headers.push(("set-cookie", self.journey_cookie("", Life::Over)));
        Ok(answer)
    }

    async fn returned(&self) -> Result<WebAnswer> {
        if let Err(wait) = self.site.count_sign_in(self.request) {
            return told_to_wait(wait, |message| Ok(self.stopped(429, message)));
        }
        let query = self.query();
        let Some(journey) = self.journey(query.text("state")) else {
            let stale = "The sign-in took too long, or was started in another browser; try again.";
            return Ok(self.stopped(403, stale));
        };
        let code = query.text("code");
        if code.is_empty() {
            return Ok(self.stopped(403, "The provider did not sign you in; try again."));
        }
        let proven = match self.proven(code, &journey).await {
            Ok(proven) => proven,
            Err(reason) => return Ok(self.unusable(&reason)),
        };
        let Some(user) = self.site.user_by_identity(proven, self.visit.now).await? else {
            tracing::info!(reason = "no account of that company user", "sign-in refused");
            let unknown = "There is no account with your verified e-mail address. Ask an \
                           administrator of this site to invite you.";
            return Ok(self.stopped(403, unknown));
        };
        self.site.forgive_sign_in(self.request);
        let target = journey.target.as_deref().unwrap_or("/portal/");
        self.welcome(user.id(), &self.visit.page(target), Keep::Usual).await
    }

    /// The provider as it describes itself, or what is wrong with it.
    fn provider(&self) -> Asking<Provider> {
        let (site, back) = (Arc::clone(self.site), self.visit.page(OPENID_PATH));
        Box::pin(async move { discover(&Http { site }, back).await })
    }

    /// Whom the provider vouches for in exchange for the code.
    fn proven(&self, code: &str, journey: &Journey) -> Asking<ProvenIdentity> {
        let (site, back) = (Arc::clone(self.site), self.visit.page(OPENID_PATH));
        let code = AuthorizationCode::new(code.to_owned());
        let verifier = PkceCodeVerifier::new(journey.verifier.clone());
        let nonce = Nonce::new(journey.nonce.clone());
        Box::pin(async move {
            let http = Http { site };
            let provider = discover(&http, back).await?;
            exchange(&http, &provider, code, verifier, &nonce).await
        })
    }

    fn journey_cookie(&self, value: &str, life: Life) -> String {
        cookies::set(self.journey_cookie_name(), value, life, self.request.secure)
    }

    fn journey_cookie_name(&self) -> &'static str {
        match self.site.environment() {
            Environment::Sandbox => "boardwalk_sandbox_openid",
            Environment::Production => "boardwalk_openid",
        }
    }

    fn sealed(&self, journey: &Journey) -> Result<String> {
        let text = serde_json::to_vec(journey)
            .map_err(|error| Error::internal("cannot serialize a sign-in").because(error))?;
        Ok(BASE64URL_NOPAD.encode(&self.site.vault().site_seal(&PLACE, &text)?))
    }

    /// What the browser's cookie holds, if it is ours, not over, and about this state.
    fn journey(&self, state: &str) -> Option<Journey> {
        let cookie = cookies::get(self.request, self.journey_cookie_name())?;
        let sealed = BASE64URL_NOPAD.decode(cookie.as_bytes()).ok()?;
        let opened = self.site.vault().site_open(&PLACE, &sealed).ok()?;
        let journey: Journey = serde_json::from_slice(opened.expose()).ok()?;
        let is_same = bool::from(journey.state.as_bytes().ct_eq(state.as_bytes()));
        (is_same && journey.expires_us > self.visit.now.as_micros()).then_some(journey)
    }

    fn stopped(&self, status: u16, message: &str) -> WebAnswer {
        let again = Link { text: "Sign in", href: Address::new(Spelling::Neutral.sign_in()) };
        self.error((KIND, status), ("You are not signed in", message), Some(again))
    }

    /// The operator has to look at it: the log has the reason.
    fn unusable(&self, reason: &str) -> WebAnswer {
        tracing::warn!(reason, "cannot sign in with the OpenID provider");
        let message = "The provider cannot be used at the moment; sign in with your password, or \
                       try again later.";
        self.stopped(502, message)
    }
}

/// An address that the provider says belongs to the person.
fn verified(email: Option<&EndUserEmail>, is_verified: Option<bool>) -> Option<String> {
    email.filter(|_| is_verified == Some(true)).map(|email| email.as_str().to_owned())
}

/// An error with its causes, which its own text leaves out.
fn with_causes(error: &(dyn std::error::Error + 'static)) -> String {
    let all = std::iter::successors(Some(error), |error| error.source());
    all.map(ToString::to_string).collect::<Vec<String>>().join(": ")
}

async fn discover(http: &Http, back: String) -> Result<Provider, String> {
    let settings = &http.site.settings().openid;
    let back = RedirectUrl::new(back).map_err(|error| error.to_string())?;
    let metadata = described(http, settings.provider().unwrap_or_default()).await?;
    let secret = settings.client_secret.as_ref();
    let secret = secret.map(|secret| ClientSecret::new(secret.expose().clone()));
    let id = ClientId::new(settings.client_id.clone());
    Ok(CoreClient::from_provider_metadata(metadata, id, secret).set_redirect_uri(back))
}

/// What the provider said of itself a moment ago, or now.
async fn described(http: &Http, issuer: &str) -> Result<CoreProviderMetadata, String> {
    static LATEST: Mutex<Option<(Instant, String, CoreProviderMetadata)>> = Mutex::new(None);
    if let Some((at, of, metadata)) = &*LATEST.lock().unwrap_or_else(PoisonError::into_inner)
        && of == issuer
        && at.elapsed() < DESCRIPTION_LIFE
    {
        return Ok(metadata.clone());
    }
    let url = IssuerUrl::new(issuer.to_owned()).map_err(|error| error.to_string())?;
    let metadata = CoreProviderMetadata::discover_async(url, http).await;
    let metadata = metadata.map_err(|error| with_causes(&error))?;
    let latest = (Instant::now(), issuer.to_owned(), metadata.clone());
    *LATEST.lock().unwrap_or_else(PoisonError::into_inner) = Some(latest);
    Ok(metadata)
}

async fn exchange(
    http: &Http,
    provider: &Provider,
    code: AuthorizationCode,
    verifier: PkceCodeVerifier,
    nonce: &Nonce,
) -> Result<ProvenIdentity, String> {
    let question = provider.exchange_code(code).map_err(|error| error.to_string())?;
    let tokens = question.set_pkce_verifier(verifier).request_async(http).await;
    let tokens = tokens.map_err(|error| with_causes(&error))?;
    let token = tokens.id_token().ok_or("the provider sent no ID token")?;
    let verifier = provider.id_token_verifier().set_allowed_algs(SIGNATURES);
    let claims: &CoreIdTokenClaims =
        token.claims(&verifier, nonce).map_err(|error| with_causes(&error))?;
    let mut verified_email = verified(claims.email(), claims.email_verified());
    let question =
        provider.user_info(tokens.access_token().clone(), Some(claims.subject().clone()));
    // Strict providers tell who it is, and the rest when they are asked.
    if let (None, Ok(question)) = (&verified_email, question) {
        let told: CoreUserInfoClaims =
            question.request_async(http).await.map_err(|error| with_causes(&error))?;
        verified_email = verified(told.email(), told.email_verified());
    }
    Ok(ProvenIdentity {
        issuer: claims.issuer().as_str().to_owned(),
        subject: claims.subject().as_str().to_owned(),
        verified_email,
    })
}

/// What is yet to be heard from the provider, or what is wrong with it.
type Asking<T> = Pin<Box<dyn Future<Output = Result<T, String>> + Send>>;

/// The way to the provider. Redirects are not followed: it is to name its addresses itself.
struct Http {
    site: Arc<Site>,
}

impl<'c> AsyncHttpClient<'c> for Http {
    type Error = FetchError;
    type Future = Pin<Box<dyn Future<Output = Result<HttpResponse, FetchError>> + Send + 'c>>;

    fn call(&'c self, request: HttpRequest) -> Self::Future {
        Box::pin(ask(&self.site, request))
    }
}

async fn ask(site: &Site, request: HttpRequest) -> Result<HttpResponse, FetchError> {
    let (parts, body) = request.into_parts();
    let url = Url::parse(&parts.uri.to_string()).map_err(|_| FetchError::InvalidRequest)?;
    let is_post = parts.method.as_str() == "POST";
    let text = |value: &[u8]| String::from_utf8_lossy(value).into_owned();
    let headers = parts.headers.iter();
    let fetch = Fetch {
        method: if is_post { Method::Post } else { Method::Get },
        headers: headers.map(|(name, value)| (name.to_string(), text(value.as_bytes()))).collect(),
        body,
        max_redirects: 0,
        ..Fetch::get(url, ANSWER_BYTES_MAX, ANSWER_TIME)
    };
    let fetched = site.outbound().fetch_for_operator(fetch).await?;
    let mut response = openidconnect::http::Response::builder().status(fetched.status);
    for (name, value) in &fetched.headers {
        response = response.header(name, value);
    }
    response.body(fetched.body).map_err(|_| FetchError::BadAnswer)
}
