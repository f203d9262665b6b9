//! The way to other hosts: HTTP for addresses that users gave.
//!
//! Each request, and each redirect, passes the [`Guard`] and goes to an address that the guard
//! saw. The answer is bounded in bytes and time, and is never unpacked. **No header goes along to
//! another origin** but the few that tell nothing.
//!
//! There is no pool: requests are few, and to many hosts.

mod connect;
mod guard;

use bytes::Bytes;
use frame::outbound::{Fetch, FetchError, Fetched, Fetching, Method, Outbound, Overlong, Refusal};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper::header::{
    ACCEPT_ENCODING, CONNECTION, CONTENT_ENCODING, CONTENT_LENGTH, HOST, HeaderName, HeaderValue,
    LOCATION, TRANSFER_ENCODING, USER_AGENT,
};
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use rustls::RootCertStore;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use url::{Position, Url};

use self::connect::{Connector, SystemResolver, Trust};
pub use self::guard::{Guard, OutboundSettings};
pub use types::AddressRange;

/// Requests under way at once; more wait, within their time.
const FETCHES_MAX: usize = 64;
/// Redirects of one request, whatever it asks for.
const REDIRECTS_MAX: usize = 5;
/// Bytes of an answer's status line and header fields together.
const HEAD_BYTES_MAX: usize = 64 * 1024;
/// Header fields of an answer.
const HEAD_FIELDS_MAX: usize = 128;

const AGENT: &str = concat!("Boardwalk/", env!("CARGO_PKG_VERSION"));

/// Fields that tell another origin nothing that it should not know.
const PORTABLE_FIELDS: &[&str] = &["accept", "accept-language", "content-type", "user-agent"];
/// Fields that belong to the connection, and so to the client.
const OWN_FIELDS: &[HeaderName] =
    &[ACCEPT_ENCODING, CONNECTION, CONTENT_LENGTH, HOST, TRANSFER_ENCODING];

/// Fetches from the public internet.
#[derive(Debug)]
pub struct Client {
    connector: Connector,
    /// For hosts that the operator chose.
    anywhere: Connector,
    slots: Semaphore,
}

impl Client {
    pub fn new(guard: Guard) -> Self {
        Self::with(Connector::new(guard, Box::new(SystemResolver), Trust::System))
    }

    /// For an authority that the operator chose, believed by these roots if there are any. **Never
    /// for an address of a user.**
    pub(crate) fn for_authority(roots: Option<RootCertStore>) -> Self {
        let trust = roots.map_or(Trust::System, Trust::Roots);
        Self::with(Connector::new(Guard::anywhere(), Box::new(SystemResolver), trust))
    }

    fn with(connector: Connector) -> Self {
        let anywhere = Connector::new(Guard::anywhere(), Box::new(SystemResolver), Trust::System);
        Self { connector, anywhere, slots: Semaphore::new(FETCHES_MAX) }
    }

    async fn fetch_by(&self, connector: &Connector, request: Fetch) -> Result<Fetched, FetchError> {
        let limit = request.timeout;
        let ended = tokio::time::timeout(limit, self.follow(connector, request)).await;
        ended.unwrap_or(Err(FetchError::TimedOut))
    }

    /// Follows redirects until there is an answer.
    async fn follow(
        &self,
        connector: &Connector,
        mut request: Fetch,
    ) -> Result<Fetched, FetchError> {
        let _slot = self.slots.acquire().await.map_err(|_| FetchError::Unreachable)?;
        for _ in 0..=request.max_redirects.min(REDIRECTS_MAX) {
            // The connection lives as long as this set, and ends with it.
            let mut drivers = JoinSet::new();
            let response = send(connector, &request, &mut drivers).await?;
            let location = redirect_target(&request, &response)?;
            match location.filter(|_| request.max_redirects > 0) {
                Some(target) => redirect(&mut request, target, response.status().as_u16())?,
                None => return receive(request, response).await,
            }
        }
        Err(FetchError::TooManyRedirects)
    }
}

impl Outbound for Client {
    fn fetch(&self, request: Fetch) -> Fetching<'_> {
        Box::pin(self.fetch_by(&self.connector, request))
    }

    fn fetch_for_operator(&self, request: Fetch) -> Fetching<'_> {
        Box::pin(self.fetch_by(&self.anywhere, request))
    }

    fn may_ever_ask(&self, url: &Url) -> Result<(), Refusal> {
        self.connector.guard().may_ever_ask(url)
    }
}

async fn send(
    connector: &Connector,
    request: &Fetch,
    drivers: &mut JoinSet<()>,
) -> Result<Response<Incoming>, FetchError> {
    let message = message(request)?;
    let stream = connector.connect(&request.url).await?;
    let handshake = http1::Builder::new()
        .max_buf_size(HEAD_BYTES_MAX)
        .max_headers(HEAD_FIELDS_MAX)
        .handshake(TokioIo::new(stream));
    let (mut sender, connection) = handshake.await.map_err(bad_answer)?;
    drivers.spawn(async move {
        // Its failure is the failure of the request, which is told there.
        let _ = connection.await;
    });
    sender.send_request(message).await.map_err(bad_answer)
}

fn bad_answer(error: hyper::Error) -> FetchError {
    tracing::debug!(%error, "another host does not speak proper HTTP");
    FetchError::BadAnswer
}

fn message(request: &Fetch) -> Result<Request<Full<Bytes>>, FetchError> {
    let method = match request.method {
        Method::Get => hyper::Method::GET,
        Method::Head => hyper::Method::HEAD,
        Method::Post => hyper::Method::POST,
        Method::Put => hyper::Method::PUT,
        Method::Patch => hyper::Method::PATCH,
        Method::Delete => hyper::Method::DELETE,
    };
    let url = &request.url;
    let mut message = Request::builder()
        .method(method)
        .uri(&url[Position::BeforePath..Position::AfterQuery])
        .header(HOST, &url[Position::BeforeHost..Position::AfterPort])
        .header(USER_AGENT, AGENT)
        .header(ACCEPT_ENCODING, "identity")
        .header(CONNECTION, "close")
        .body(Full::new(Bytes::from(request.body.clone())))
        .map_err(|_| FetchError::InvalidRequest)?;
    for (name, value) in &request.headers {
        let name = HeaderName::try_from(name).map_err(|_| FetchError::InvalidRequest)?;
        let value = HeaderValue::try_from(value).map_err(|_| FetchError::InvalidRequest)?;
        if OWN_FIELDS.contains(&name) {
            return Err(FetchError::InvalidRequest);
        }
        message.headers_mut().insert(name, value);
    }
    Ok(message)
}

/// Where the answer sends us, if it does.
fn redirect_target(
    request: &Fetch,
    response: &Response<Incoming>,
) -> Result<Option<Url>, FetchError> {
    if !matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308) {
        return Ok(None);
    }
    let Some(location) = response.headers().get(LOCATION) else {
        return Ok(None);
    };
    let location = location.to_str().map_err(|_| FetchError::BadAnswer)?;
    request.url.join(location).map(Some).map_err(|_| FetchError::BadAnswer)
}

/// Makes the request the one that the redirect asks for. The target is checked when it is
/// connected to, like any other.
fn redirect(request: &mut Fetch, target: Url, status: u16) -> Result<(), FetchError> {
    let becomes_get = match request.method {
        Method::Get | Method::Head => false,
        Method::Post => matches!(status, 301..=303),
        Method::Put | Method::Patch | Method::Delete => status == 303,
    };
    if becomes_get {
        request.method = Method::Get;
        request.body.clear();
        request.headers.retain(|(name, _)| !name.eq_ignore_ascii_case("content-type"));
    }
    let is_portable = |name: &str| PORTABLE_FIELDS.iter().any(|f| f.eq_ignore_ascii_case(name));
    let carries = !request.body.is_empty() || request.headers.iter().any(|(n, _)| !is_portable(n));
    if carries && request.url.scheme() == "https" && target.scheme() == "http" {
        return Err(FetchError::Refused(Refusal::Downgrade));
    }
    if target.origin() != request.url.origin() {
        request.headers.retain(|(name, _)| is_portable(name));
    }
    request.url = target;
    Ok(())
}

async fn receive(request: Fetch, response: Response<Incoming>) -> Result<Fetched, FetchError> {
    let (head, mut incoming) = response.into_parts();
    let encoding = head.headers.get(CONTENT_ENCODING);
    if encoding.is_some_and(|encoding| !encoding.as_bytes().eq_ignore_ascii_case(b"identity")) {
        return Err(FetchError::BadAnswer);
    }
    let mut body = Vec::new();
    while let Some(frame) = incoming.frame().await {
        let Ok(data) = frame.map_err(bad_answer)?.into_data() else {
            continue;
        };
        let space = request.max_bytes.saturating_sub(body.len());
        body.extend_from_slice(data.get(..space).unwrap_or(&data));
        if data.len() > space {
            match request.overlong {
                Overlong::Refuse => return Err(FetchError::TooLarge),
                Overlong::Cut => break,
            }
        }
    }
    let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    let headers = head.headers.iter();
    Ok(Fetched {
        status: head.status.as_u16(),
        headers: headers.map(|(name, value)| (name.to_string(), text(value))).collect(),
        body,
        final_url: request.url,
    })
}

#[cfg(test)]
mod tests;
