//! Asking other hosts: what an operation may request of the network, and what comes back.
//!
//! The site knows no sockets. Whoever runs it hands in an [`Outbound`], and a test hands in one of
//! its own. **An implementation must refuse targets inside the operator's network**, for the first
//! address and for each redirect, because the addresses come from users.

use std::fmt::Debug;
use std::pin::Pin;
use std::time::Duration;

use url::Url;

/// What a fetch comes to, later.
pub type Fetching<'a> = Pin<Box<dyn Future<Output = Result<Fetched, FetchError>> + Send + 'a>>;

/// The way to other hosts.
pub trait Outbound: Send + Sync + Debug {
    /// Sends one request and follows its redirects. Any status counts as an answer.
    fn fetch(&self, request: Fetch) -> Fetching<'_>;

    /// The same for an address that the operator chose: it may be inside of their network.
    fn fetch_for_operator(&self, request: Fetch) -> Fetching<'_> {
        self.fetch(request)
    }

    /// Whether a target can ever be asked, as far as its address tells without looking anything up:
    /// for whoever keeps an address that is to be asked later.
    fn may_ever_ask(&self, _url: &Url) -> Result<(), Refusal> {
        Ok(())
    }
}

/// What the request wants done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    Get,
    Head,
    Post,
    Put,
    Patch,
    Delete,
}

impl Method {
    /// As it stands in a request.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Head => "HEAD",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
        }
    }
}

/// What to do with an answer that is longer than allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overlong {
    /// The whole is needed: fail with [`FetchError::TooLarge`].
    Refuse,
    /// The beginning is enough: return that much and hang up.
    Cut,
}

/// A request to another host, with all its bounds.
#[derive(Clone, Debug)]
pub struct Fetch {
    pub method: Method,
    pub url: Url,
    /// Names in any case. The client adds `Host`, the length and the encodings itself. Only a few
    /// harmless fields go along when a redirect leads to another origin.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
    /// Bytes of the answer's body.
    pub max_bytes: usize,
    pub overlong: Overlong,
    /// For everything together: look-up, connections, redirects, body.
    pub timeout: Duration,
    /// Zero: a redirect is returned as the answer that it is.
    pub max_redirects: usize,
}

impl Fetch {
    /// A GET that wants the whole answer.
    pub fn get(url: Url, max_bytes: usize, timeout: Duration) -> Self {
        Self {
            method: Method::Get,
            url,
            headers: Vec::new(),
            body: Vec::new(),
            max_bytes,
            overlong: Overlong::Refuse,
            timeout,
            max_redirects: REDIRECTS_USUAL,
        }
    }
}

/// Redirects that a fetch follows unless it says otherwise.
pub const REDIRECTS_USUAL: usize = 5;

/// An answer of another host. Nothing in it can be trusted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fetched {
    pub status: u16,
    /// Names in lower case; bytes of a value that are no UTF-8 are replaced.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
    /// Where the answer came from after the redirects.
    pub final_url: Url,
}

impl Fetched {
    /// The first field of this name; the name is given in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        let field = self.headers.iter().find(|(field, _)| field == name);
        field.map(|(_, value)| value.as_str())
    }
}

/// Why there is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FetchError {
    #[error("the URL is not allowed: {0}")]
    Refused(Refusal),
    #[error("a request header is malformed or cannot be set")]
    InvalidRequest,
    #[error("the host name cannot be resolved")]
    NoSuchHost,
    #[error("cannot connect to the host")]
    Unreachable,
    #[error("the host's TLS certificate or connection is not valid")]
    Tls,
    #[error("the response timed out")]
    TimedOut,
    #[error("the response is too large")]
    TooLarge,
    #[error("too many redirects")]
    TooManyRedirects,
    #[error("the response is not valid HTTP, or has an unsupported encoding")]
    BadAnswer,
}

/// Why a target must not be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("only http and https are supported")]
    Scheme,
    #[error("the URL contains a username or a password")]
    UserInfo,
    #[error("the URL has no host")]
    NoHost,
    #[error("use port 80, 443, 8080 or 8443")]
    Port,
    #[error("the host is not on the public internet")]
    Address,
    #[error("a redirect from https to http is not followed")]
    Downgrade,
}
