//! Takes a request in: checks its headers and reads its body, both within their limits.

use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody as _};
use axum::http::header::{CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, HOST};
use axum::http::request::Parts;
use axum::http::uri::Authority;
use axum::http::{HeaderMap, Version};
use contract::{FILE_CONTENT, FileKind, Route};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use onboarding::{Code, dialect};
use serde_json::{Map, Value};

use crate::answer::{Answer, Dialect};
use crate::settings::Limits;

/// A body over the limit is read on up to this much, or twice its limit where that is more, so that
/// the client can read the answer.
const DRAINED_BYTES_MAX: usize = 1024 * 1024;
const DRAIN_TIME_MAX: Duration = Duration::from_secs(2);

/// Whether the request says properly whom it is for: RFC 9112 wants one `Host`, which must be one.
pub(crate) fn has_proper_host(parts: &Parts) -> bool {
    let mut stated = parts.headers.get_all(HOST).iter();
    let (first, second) = (stated.next(), stated.next());
    match first {
        Some(host) => second.is_none() && host.to_str().is_ok_and(is_host),
        // Newer versions state it elsewhere, older ones need not.
        None => parts.version != Version::HTTP_11 || parts.uri.authority().is_some(),
    }
}

fn is_host(text: &str) -> bool {
    // What nearly all say: a name, or an address of the fourth version.
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.');
    let (name, port) = text.split_once(':').unwrap_or((text, ""));
    if name.bytes().all(is_plain) && is_port(port) {
        return text.is_empty() || !name.is_empty();
    }
    let Ok(authority) = text.parse::<Authority>() else { return false };
    // What is before an @ is no host.
    let after = text.strip_prefix(authority.host()).unwrap_or(text);
    !authority.host().is_empty()
        && (after.is_empty() || after.strip_prefix(':').is_some_and(is_port))
}

/// Some ports are no numbers of two bytes.
fn is_port(port: &str) -> bool {
    port.is_empty() || port.parse::<u16>().is_ok()
}

pub(crate) const WRONG_HOST: &str = "Send exactly one valid Host header.";

pub(crate) fn check_headers(headers: &HeaderMap, limits: &Limits) -> Result<(), Answer> {
    let bytes: usize = headers.iter().map(|(name, value)| name.as_str().len() + value.len()).sum();
    if headers.len() <= limits.header_fields && bytes <= limits.header_bytes {
        return Ok(());
    }
    let message = format!(
        "The headers must not exceed {} fields and {} bytes.",
        limits.header_fields, limits.header_bytes
    );
    Err(Dialect::default().refuse(Code::HeadersTooLarge, "header", message))
}

/// The kind of file that the body is, where the route takes files; else it must be JSON.
pub(crate) fn check_media_type(
    headers: &HeaderMap,
    route: &Route,
    dialect: Dialect,
) -> Result<Option<&'static FileKind>, Answer> {
    let media_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let essence = media_type.and_then(|value| value.split(';').next()).unwrap_or_default().trim();
    let kind = route.file_kind(essence);
    let is_json = essence.eq_ignore_ascii_case("application/json");
    if kind.is_some() || (route.files.is_empty() && is_json) {
        return Ok(kind);
    }
    let mut known = route.files.iter().filter_map(|kind| kind.media_types.first().copied());
    let first = known.next().unwrap_or("application/json");
    let accepted = known.fold(first.to_owned(), |names, name| format!("{names} or {name}"));
    let message = format!("Send the body as {accepted}.");
    Err(dialect.refuse(Code::UnsupportedMediaType, "header.Content-Type", message))
}

pub(crate) fn add_query(params: &mut Map<String, Value>, query: &str) {
    for (name, value) in form_urlencoded::parse(query.as_bytes()) {
        // What the path says counts.
        params.entry(name.into_owned()).or_insert_with(|| Value::from(value.into_owned()));
    }
}

/// Why a body was not received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BodyError {
    TooLarge,
    CutOff,
    /// The rest of the body could be taken for the next request: the connection must end.
    TooSlow,
}

/// Reads a body of at most `bytes_max` within the time for it.
pub(crate) async fn receive(
    body: Body,
    headers: &HeaderMap,
    bytes_max: usize,
    limits: &Limits,
) -> Result<Bytes, BodyError> {
    let announced = headers.get(CONTENT_LENGTH);
    let announced = announced.and_then(|value| value.to_str().ok()?.parse::<usize>().ok());
    if announced.is_some_and(|length| length > bytes_max) {
        drain_up_to(body, bytes_max.saturating_mul(2).max(DRAINED_BYTES_MAX)).await;
        return Err(BodyError::TooLarge);
    }
    if body.is_end_stream() {
        return Ok(Bytes::new());
    }
    let mut limited = Limited::new(body, bytes_max);
    let time = Duration::from_millis(limits.read_ms);
    match tokio::time::timeout(time, (&mut limited).collect()).await {
        Ok(Ok(collected)) => Ok(collected.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(BodyError::TooLarge),
        Ok(Err(_)) => Err(BodyError::CutOff),
        Err(_) => Err(BodyError::TooSlow),
    }
}

/// [`receive`] with errors in the words of the onboarding interface.
async fn read_body(
    body: Body,
    headers: &HeaderMap,
    limits: &Limits,
    dialect: Dialect,
) -> Result<Bytes, Answer> {
    let received = receive(body, headers, limits.body_bytes, limits).await;
    received.map_err(|error| match error {
        BodyError::TooLarge => dialect.refuse_with(dialect::too_large(limits.body_bytes)),
        BodyError::CutOff => dialect.refuse(Code::MalformedJson, "", "The body is incomplete."),
        BodyError::TooSlow => {
            let message = "The body was not received in time.";
            let mut answer = dialect.refuse(Code::RequestTimeout, "body", message);
            answer.headers.push((CONNECTION.as_str(), String::from("close")));
            answer
        }
    })
}

/// Reads a JSON object; what the path says counts.
pub(crate) async fn read_params(
    path_params: Map<String, Value>,
    (body, headers): (Body, &HeaderMap),
    limits: &Limits,
    dialect: Dialect,
) -> Result<Map<String, Value>, Answer> {
    let bytes = read_body(body, headers, limits, dialect).await?;
    let read = dialect::read_object(&bytes);
    let mut params = read.map_err(|item| dialect.refuse_with(item))?;
    params.extend(path_params);
    Ok(params)
}

/// Reads a file, which has more room and more time.
pub(crate) async fn read_file(
    mut params: Map<String, Value>,
    (body, headers): (Body, &HeaderMap),
    limits: &Limits,
    dialect: Dialect,
) -> Result<Map<String, Value>, Answer> {
    let limits = Limits { body_bytes: limits.file_bytes, read_ms: limits.file_ms, ..*limits };
    let bytes = read_body(body, headers, &limits, dialect).await?;
    let text = String::from_utf8(bytes.to_vec())
        .map_err(|_| dialect.refuse(Code::MalformedRow, "body", "Send the file in UTF-8."))?;
    params.insert(FILE_CONTENT.to_owned(), Value::from(text));
    Ok(params)
}

/// Reads and forgets a body, within bounds. A connection that is closed while the client still
/// sends would lose the answer on its way.
pub(crate) async fn drain(body: Body) {
    drain_up_to(body, DRAINED_BYTES_MAX).await;
}

async fn drain_up_to(body: Body, bytes_max: usize) {
    let limited = Limited::new(body, bytes_max);
    let mut limited = std::pin::pin!(limited);
    let drained = async { while let Some(Ok(_)) = limited.frame().await {} };
    let _ = tokio::time::timeout(DRAIN_TIME_MAX, drained).await;
}

#[cfg(test)]
mod tests {
    use axum::http::Request;

    use super::*;

    #[test]
    fn a_request_says_whom_it_is_for() {
        for (hosts, version, expected) in [
            (&["shop.example"][..], Version::HTTP_11, true),
            (&["shop.example:8080"], Version::HTTP_11, true),
            (&["[::1]:8080"], Version::HTTP_11, true),
            (&["127.0.0.1"], Version::HTTP_11, true),
            (&[""], Version::HTTP_11, true),
            (&[], Version::HTTP_11, false),
            (&[], Version::HTTP_10, true),
            (&[], Version::HTTP_2, true),
            (&["a.example", "b.example"], Version::HTTP_11, false),
            (&["a b"], Version::HTTP_11, false),
            (&["[::1"], Version::HTTP_11, false),
            (&["evil.example:99999"], Version::HTTP_11, false),
            (&["me@evil.example"], Version::HTTP_11, false),
            (&[":80"], Version::HTTP_11, false),
            (&["a/b"], Version::HTTP_11, false),
        ] {
            let mut request = Request::builder().uri("/").version(version);
            for host in hosts {
                request = request.header(HOST, *host);
            }
            let (parts, ()) = request.body(()).unwrap().into_parts();
            assert_eq!(has_proper_host(&parts), expected, "{hosts:?} {version:?}");
        }
    }
}
