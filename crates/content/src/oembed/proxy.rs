//! Asking a provider about an address, on behalf of an editor.
//!
//! The caller has looked whether the address is one of this site's own pages, and whether the
//! answer is in the cache under [`ProxyRequest::cache_key`]. **All that comes back was written by
//! strangers**; the `html` is made safe here, and the other fields are passed on as they are.

use std::time::Duration;

use frame::outbound::{Fetch, FetchError, Fetched, Outbound, Overlong};
use serde_json::{Map, Value};
use url::Url;

use super::endpoint::{Endpoint, Format};
use super::{discover, markup, media, providers, xml};

/// How long a cached answer is good for.
pub const CACHE_LIFE: Duration = Duration::from_hours(24);

/// Bytes of a provider's answer.
const ANSWER_BYTES_MAX: usize = 512 * 1024;
/// For one step. There are three at most: the page, its JSON and its XML; the server's own time
/// for an answer must hold them all.
const STEP_TIME_MAX: Duration = Duration::from_secs(3);
const ADDRESS_BYTES_MAX: usize = 2_048;

/// The size to ask for where the request names none.
const WIDTH_DEFAULT: u64 = 500;
const HEIGHT_DEFAULT: u64 = 750;

/// "Cannot do this format", by the oEmbed specification.
const STATUS_NOT_IMPLEMENTED: u16 = 501;

/// The parameters of a request to the proxy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProxyRequest {
    pub url: String,
    /// Of the answer; providers are asked for JSON first.
    pub format: Format,
    pub maxwidth: Option<u64>,
    pub maxheight: Option<u64>,
    /// Whether to look for an endpoint in the page itself.
    pub discover: bool,
}

impl ProxyRequest {
    /// What the cache knows the answer by: a digest of all parameters, in hex.
    pub fn cache_key(&self) -> String {
        let mut hasher = blake3::Hasher::new_derive_key("boardwalk 2026 oembed cache key v1");
        let size = |size: Option<u64>| size.map_or_else(String::new, |size| size.to_string());
        let parts = [
            self.url.as_str(),
            self.format.name(),
            &size(self.maxwidth),
            &size(self.maxheight),
            if self.discover { "1" } else { "0" },
        ];
        for part in parts {
            // No two requests come to the same bytes: the URL's own length goes first.
            hasher.update(part.len().to_string().as_bytes());
            hasher.update(b":");
            hasher.update(part.as_bytes());
        }
        hasher.finalize().to_hex().to_string()
    }

    fn width(&self) -> u64 {
        self.maxwidth.unwrap_or(WIDTH_DEFAULT)
    }

    fn height(&self) -> u64 {
        self.maxheight.unwrap_or(HEIGHT_DEFAULT)
    }
}

/// Why there is no answer; all are 404 `oembed_invalid_url`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProxyError {
    #[error("the URL is not a complete http or https address")]
    NotAnAddress,
    #[error("no provider is known for the URL")]
    NoProvider,
    #[error("{0}")]
    Fetch(#[from] FetchError),
    #[error("the provider answered with status {0}")]
    Status(u16),
    #[error("the provider's answer is no oEmbed")]
    BadAnswer,
}

/// Asks the provider for the address, and makes its answer safe. `secret` is for frames of
/// providers that nobody vouches for.
pub async fn proxy(
    request: &ProxyRequest,
    outbound: &dyn Outbound,
    secret: &str,
) -> Result<Map<String, Value>, ProxyError> {
    let page = page_address(&request.url).ok_or(ProxyError::NotAnAddress)?;
    match provider_answer(request, &page, outbound).await {
        Ok((mut answer, origin)) => {
            let html = markup::html(&answer, &page, origin, secret);
            answer.insert("html".to_owned(), html);
            Ok(answer)
        }
        Err(error) => media::describe(&page, request.width(), request.height()).ok_or(error),
    }
}

fn page_address(text: &str) -> Option<Url> {
    if text.len() > ADDRESS_BYTES_MAX {
        return None;
    }
    let address = Url::parse(text).ok()?;
    let is_web = matches!(address.scheme(), "http" | "https") && address.has_host();
    is_web.then_some(address)
}

async fn provider_answer(
    request: &ProxyRequest,
    page: &Url,
    outbound: &dyn Outbound,
) -> Result<(Map<String, Value>, markup::Origin), ProxyError> {
    let endpoint = match providers::find(page) {
        Some(endpoint) => endpoint,
        None if request.discover => discovered(page, outbound).await?,
        None => return Err(ProxyError::NoProvider),
    };
    let answer = match ask(request, &endpoint, Format::Json, outbound).await {
        Err(ProxyError::Status(STATUS_NOT_IMPLEMENTED)) => {
            ask(request, &endpoint, Format::Xml, outbound).await?
        }
        other => other?,
    };
    Ok((answer, endpoint.origin()))
}

/// The endpoint that the page names in its head.
async fn discovered(page: &Url, outbound: &dyn Outbound) -> Result<Endpoint, ProxyError> {
    let mut fetch = Fetch::get(page.clone(), discover::PAGE_BYTES_MAX, STEP_TIME_MAX);
    fetch.overlong = Overlong::Cut;
    fetch.headers.push(("accept".to_owned(), "text/html, application/xhtml+xml".to_owned()));
    let fetched = successful(outbound.fetch(fetch).await?)?;
    let kind = fetched.header("content-type").unwrap_or("text/html").to_ascii_lowercase();
    if !kind.contains("html") {
        return Err(ProxyError::NoProvider);
    }
    let found = discover::find(&fetched.body, &fetched.final_url);
    found.as_ref().map(Endpoint::discovered).ok_or(ProxyError::NoProvider)
}

async fn ask(
    request: &ProxyRequest,
    endpoint: &Endpoint,
    format: Format,
    outbound: &dyn Outbound,
) -> Result<Map<String, Value>, ProxyError> {
    let (width, height) = (request.width().to_string(), request.height().to_string());
    let parameters = [
        ("maxwidth", width.as_str()),
        ("maxheight", height.as_str()),
        ("url", request.url.as_str()),
        ("dnt", "1"),
        ("format", format.name()),
    ];
    let address = endpoint.address(format, &parameters).ok_or(ProxyError::BadAnswer)?;
    let fetch = Fetch::get(address, ANSWER_BYTES_MAX, STEP_TIME_MAX);
    let fetched = successful(outbound.fetch(fetch).await?)?;
    let answer = match format {
        Format::Json => serde_json::from_slice(&fetched.body).ok(),
        Format::Xml => xml::parse(&fetched.body),
    };
    answer.ok_or(ProxyError::BadAnswer)
}

fn successful(fetched: Fetched) -> Result<Fetched, ProxyError> {
    match fetched.status {
        200..=299 => Ok(fetched),
        status => Err(ProxyError::Status(status)),
    }
}

#[cfg(test)]
mod tests;
