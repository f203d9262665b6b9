//! Answers in fewer bytes, for clients that can unpack them: gzip, Brotli or Zstandard, whichever
//! the client prefers.
//!
//! **A page with a form is sent as it is.** It holds a secret next to what the address says, and
//! the length of the packed bytes would tell whether the one resembles the other.

use std::convert::Infallible;
use std::task::{Context, Poll};

use axum::BoxError;
use axum::body::{Body, Bytes, HttpBody};
use axum::extract::Request;
use axum::http::header::{
    ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE,
    ETAG, VARY,
};
use axum::http::{HeaderMap, HeaderValue, Method, Response};
use axum::middleware::Next;
use futures_util::{Stream, StreamExt as _, stream};
use tower_http::CompressionLevel;
use tower_http::compression::Compression;
use tower_http::compression::predicate::Predicate;
use tower_service::Service;

/// Below this the packed answer is hardly shorter.
const BYTES_MIN: u64 = 1_024;
/// Of what the encoders can do: most of the gain for little of the time.
const LEVEL: CompressionLevel = CompressionLevel::Precise(4);
const CODINGS: [&str; 3] = ["gzip", "br", "zstd"];

/// What a request says about the form in which its response is sent.
#[derive(Debug)]
pub(crate) struct Accepted {
    is_head: bool,
    /// The codings that the client can unpack, as it says it.
    codings: HeaderMap,
}

impl Accepted {
    pub(crate) fn of(request: &Request) -> Self {
        let mut codings = HeaderMap::new();
        for value in request.headers().get_all(ACCEPT_ENCODING) {
            codings.append(ACCEPT_ENCODING, value.clone());
        }
        Self { is_head: request.method() == Method::HEAD, codings }
    }

    /// The response, packed if it gains by that and the client can unpack it.
    pub(crate) async fn pack(self, response: Response<Body>) -> Response<Body> {
        let response = self.encode(response).await;
        let headers = response.headers();
        let length =
            headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse().ok());
        let is_long = length.is_some_and(|bytes: u64| bytes >= BYTES_MIN);
        let is_packed = headers.contains_key(CONTENT_ENCODING);
        if self.is_head
            && is_long
            && !is_packed
            && accepts_any(&self.codings)
            && may_be_packed(headers)
        {
            return without_length(response);
        }
        let mut response = response;
        if is_packed && length.is_none() {
            weaken_tag(response.headers_mut());
        }
        response
    }

    async fn encode(&self, mut response: Response<Body>) -> Response<Body> {
        let headers = response.headers();
        let is_finished =
            headers.contains_key(CONTENT_ENCODING) || headers.contains_key(CONTENT_RANGE);
        if is_finished || !Worthwhile.should_compress(&response) {
            return response;
        }
        if self.codings.is_empty() {
            vary_by_coding(response.headers_mut());
            return response;
        }
        let packing = Compression::new(Finished(Some(response)));
        let mut packing = packing.quality(LEVEL).compress_when(Worthwhile);
        let mut asked = Request::new(Body::empty());
        asked.headers_mut().clone_from(&self.codings);
        let Ok(packed) = packing.call(asked).await;
        packed.map(Body::new)
    }
}

/// HEAD states no length that GET would not have.
fn without_length(response: Response<Body>) -> Response<Body> {
    let (mut parts, _) = response.into_parts();
    parts.headers.remove(CONTENT_LENGTH);
    vary_by_coding(&mut parts.headers);
    // An empty body would be said to have no bytes; of this one nobody knows how many it has.
    let nothing = stream::empty::<Result<Bytes, Infallible>>();
    Response::from_parts(parts, Body::from_stream(nothing))
}

/// Says that the response depends on what the client can unpack.
fn vary_by_coding(headers: &mut HeaderMap) {
    let said = headers.get_all(VARY).iter().filter_map(|value| value.to_str().ok());
    let mut said = said.flat_map(|value| value.split(','));
    if !said.any(|name| name.trim().eq_ignore_ascii_case(ACCEPT_ENCODING.as_str())) {
        headers.append(VARY, HeaderValue::from_static("accept-encoding"));
    }
}

/// For a router: its responses, packed on the way out.
pub(crate) async fn packed(request: Request, next: Next) -> Response<Body> {
    let accepted = Accepted::of(&request);
    accepted.pack(next.run(request).await).await
}

/// The service that the encoders ask for the response, which is there already.
struct Finished(Option<Response<Body>>);

impl Service<Request> for Finished {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = std::future::Ready<Result<Response<Body>, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Request) -> Self::Future {
        let response = self.0.take().expect("each is made for one call");
        std::future::ready(Ok(response))
    }
}

/// Tells which answers gain by it, and may be packed.
#[derive(Clone, Copy, Debug)]
struct Worthwhile;

impl Predicate for Worthwhile {
    fn should_compress<B: HttpBody>(&self, response: &Response<B>) -> bool {
        let bytes = response.body().size_hint();
        bytes.exact().is_none_or(|bytes| bytes >= BYTES_MIN) && may_be_packed(response.headers())
    }
}

fn may_be_packed(headers: &HeaderMap) -> bool {
    let text = |name| headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
    let media_type = text(CONTENT_TYPE).unwrap_or_default();
    let media_type = media_type.split(';').next().unwrap_or_default().trim();
    // A stream is read as it comes; what is packed already, such as pictures, gains nothing.
    let is_text = media_type.starts_with("text/") && media_type != "text/event-stream";
    let is_data = matches!(
        media_type,
        "application/json"
            | "application/problem+json"
            | "application/javascript"
            | "application/xml"
            | "application/rss+xml"
            | "application/atom+xml"
            | "application/yaml"
            | "application/x-ndjson"
            | "application/jsonl"
            | "image/svg+xml"
    );
    let is_private = text(CACHE_CONTROL).is_some_and(|value| value.contains("no-store"));
    (is_text || is_data) && !(media_type == "text/html" && is_private)
}

/// A body whose pieces come one after the other. **The encoders ask once more after the end**,
/// which not every stream bears.
pub(crate) fn body_of<S, E>(pieces: S) -> Body
where
    S: Stream<Item = Result<Bytes, E>> + Send + 'static,
    E: Into<BoxError>,
{
    Body::from_stream(pieces.fuse())
}

fn accepts_any(headers: &HeaderMap) -> bool {
    let values = headers.get_all(ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).any(|coding| {
        let mut parts = coding.split(';').map(str::trim);
        let name = parts.next().unwrap_or_default().to_ascii_lowercase();
        let is_refused = parts.any(|part| {
            part.strip_prefix("q=").is_some_and(|weight| weight.parse() == Ok(0.0_f32))
        });
        (name == "*" || CODINGS.contains(&name.as_str())) && !is_refused
    })
}

fn weaken_tag(headers: &mut HeaderMap) {
    let tag = headers.get(ETAG).and_then(|tag| tag.to_str().ok()).unwrap_or_default();
    if tag.starts_with('"')
        && let Ok(weak) = HeaderValue::try_from(format!("W/{tag}"))
    {
        headers.insert(ETAG, weak);
    }
}

#[cfg(test)]
mod tests {
    use axum::body::to_bytes;

    use super::*;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        let pairs = pairs.iter().map(|(name, value)| {
            let name = axum::http::HeaderName::from_static(name);
            (name, HeaderValue::from_static(value))
        });
        pairs.collect()
    }

    #[test]
    fn texts_are_packed_unless_they_hold_a_form() {
        for (media_type, caching, expected) in [
            ("application/json; charset=UTF-8", "no-store", true),
            ("application/json", "no-cache", true),
            ("text/html; charset=UTF-8", "no-cache", true),
            ("text/html; charset=UTF-8", "no-store", false),
            ("text/csv", "no-store", true),
            ("text/event-stream", "no-store", false),
            ("image/png", "no-cache", false),
            ("image/svg+xml", "no-cache", true),
            ("application/vnd.apache.parquet", "no-store", false),
        ] {
            let given = headers(&[("content-type", media_type), ("cache-control", caching)]);
            assert_eq!(may_be_packed(&given), expected, "{media_type} {caching}");
        }
    }

    #[tokio::test]
    async fn a_stream_is_packed_to_its_end() {
        let text = "the same line again and again\n".repeat(100);
        let length = text.len();
        let piece = Bytes::from(text);
        let answer = || {
            let pieces = stream::unfold(Some(piece.clone()), async |piece| {
                piece.map(|piece| (Ok::<_, Infallible>(piece), None))
            });
            let mut response = Response::new(body_of(pieces));
            let csv = HeaderValue::from_static("text/csv");
            response.headers_mut().insert(CONTENT_TYPE, csv);
            response.headers_mut().insert(CONTENT_LENGTH, HeaderValue::from(length));
            response
        };
        for coding in CODINGS {
            let request = axum::http::Request::get("/").header(ACCEPT_ENCODING, coding);
            let accepted = Accepted::of(&request.body(Body::empty()).unwrap());
            let response = accepted.pack(answer()).await;
            assert_eq!(response.headers()[CONTENT_ENCODING], coding);
            let packed = to_bytes(response.into_body(), usize::MAX).await.unwrap();
            assert!(!packed.is_empty() && packed.len() < length, "{coding}");
        }
    }

    #[test]
    fn a_coding_of_no_weight_is_refused() {
        for (value, expected) in [
            ("gzip", true),
            ("br;q=0.5, identity", true),
            ("*", true),
            ("gzip;q=0", false),
            ("zstd;q=0.000, gzip;q=0", false),
            ("deflate, identity", false),
            ("", false),
        ] {
            assert_eq!(accepts_any(&headers(&[("accept-encoding", value)])), expected, "{value}");
        }
    }
}
