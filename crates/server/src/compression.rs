//! Answers in fewer bytes, for clients that can unpack them: gzip, Brotli or Zstandard, whichever
//! the client prefers.
//!
//! **A page with a form is sent as it is.** It holds a secret next to what the address says, and
//! the length of the packed bytes would tell whether the one resembles the other.

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::Request;
use axum::http::header::{
    ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, ETAG, VARY,
};
use axum::http::{HeaderMap, HeaderValue, Method, Response};
use axum::middleware::{Next, from_fn};
use axum::{BoxError, Router};
use futures_util::{Stream, StreamExt as _, stream};
use tower_http::CompressionLevel;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::Predicate;

/// Below this the packed answer is hardly shorter.
const BYTES_MIN: u64 = 1_024;
/// Of what the encoders can do: most of the gain for little of the time.
const LEVEL: CompressionLevel = CompressionLevel::Precise(4);
const CODINGS: [&str; 3] = ["gzip", "br", "zstd"];

/// The router with answers that are packed on the way out.
pub(crate) fn compressed(router: Router) -> Router {
    let layer = CompressionLayer::new().quality(LEVEL).compress_when(Worthwhile);
    router.layer(layer).layer(from_fn(finish))
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

/// What the encoders leave to do: HEAD states no length that GET would not have, and another form
/// of the same has a tag that says no more than that.
async fn finish(request: Request, next: Next) -> Response<Body> {
    let is_head = request.method() == Method::HEAD;
    let accepts_any = accepts_any(request.headers());
    let mut response = next.run(request).await;
    let headers = response.headers();
    let length = headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse().ok());
    let is_long = length.is_some_and(|bytes: u64| bytes >= BYTES_MIN);
    let is_packed = headers.contains_key(CONTENT_ENCODING);
    if is_head && accepts_any && is_long && !is_packed && may_be_packed(headers) {
        let (mut parts, _) = response.into_parts();
        parts.headers.remove(CONTENT_LENGTH);
        parts.headers.append(VARY, HeaderValue::from_static("accept-encoding"));
        // An empty body would be said to have no bytes; of this one nobody knows how many it has.
        let nothing = stream::empty::<Result<Bytes, std::convert::Infallible>>();
        return Response::from_parts(parts, Body::from_stream(nothing));
    }
    if is_packed && length.is_none() {
        weaken_tag(response.headers_mut());
    }
    response
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
    use axum::routing::get;
    use tower_service::Service as _;

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
        let answer = async move || {
            let pieces = stream::unfold(Some(piece), async |piece| {
                piece.map(|piece| (Ok::<_, std::convert::Infallible>(piece), None))
            });
            let mut response = Response::new(body_of(pieces));
            let csv = HeaderValue::from_static("text/csv");
            response.headers_mut().insert(CONTENT_TYPE, csv);
            response.headers_mut().insert(CONTENT_LENGTH, HeaderValue::from(length));
            response
        };
        for coding in CODINGS {
            let mut router = compressed(Router::new().route("/", get(answer.clone())));
            let request = Request::get("/").header(ACCEPT_ENCODING, coding);
            let request = request.body(Body::empty()).unwrap();
            let response = router.call(request).await.unwrap();
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
