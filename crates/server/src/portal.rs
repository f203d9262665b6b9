//! Hands out the files of the portal. They are the same for everybody and know nothing, so there is
//! nobody to authenticate and nothing to limit but the connection itself.

use axum::body::Body;
use axum::extract::Request;
use axum::http::header::{
    ACCEPT_ENCODING, ALLOW, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_LENGTH,
    CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, IF_NONE_MATCH, LOCATION, REFERRER_POLICY, VARY,
    X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Response, StatusCode, Uri};
use portal::{Asset, Found};

const PLAIN_TEXT: &str = "text/plain; charset=UTF-8";
/// The content behind such a name never changes.
const FOR_EVER: &str = "public, max-age=31536000, immutable";

/// The answer to a request below the portal's path; nothing if it is not.
pub(crate) fn answer(request: &Request) -> Option<Response<Body>> {
    let found = portal::find(request.uri().path())?;
    if let Some(target) = with_slash(request.uri()).filter(|_| portal::is_here()) {
        return Some(moved(&target));
    }
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        let mut response = text(StatusCode::METHOD_NOT_ALLOWED, "The portal can only be read.\n");
        response.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
        return Some(response);
    }
    let mut response = match found {
        Found::Asset(asset) => file(asset, request.headers()),
        Found::Nothing => text(StatusCode::NOT_FOUND, "There is no such file of the portal.\n"),
        Found::Absent => text(StatusCode::NOT_FOUND, portal::ABSENT),
    };
    if request.method() == Method::HEAD {
        *response.body_mut() = Body::empty();
    }
    Some(response)
}

/// Where the application is for who left out the slash: its own addresses are all below it.
fn with_slash(uri: &Uri) -> Option<String> {
    let is_bare = !uri.path().trim_start_matches('/').contains('/');
    let query = uri.query().map(|query| format!("?{query}")).unwrap_or_default();
    is_bare.then(|| format!("{}/{query}", uri.path()))
}

fn moved(target: &str) -> Response<Body> {
    let mut response = text(StatusCode::PERMANENT_REDIRECT, "");
    if let Ok(target) = HeaderValue::from_str(target) {
        response.headers_mut().insert(LOCATION, target);
    }
    response
}

fn file(asset: &'static Asset, asked: &HeaderMap) -> Response<Body> {
    let tag = format!("\"{}\"", asset.tag);
    let caching = if asset.is_immutable() { FOR_EVER } else { "no-cache" };
    let known = asked.get(IF_NONE_MATCH).and_then(|value| value.to_str().ok());
    let is_known = known.is_some_and(|known| known.split(',').any(|one| one.trim() == tag));
    let accepted = asked.get(ACCEPT_ENCODING).and_then(|value| value.to_str().ok());
    let is_compressed = accepted.is_some_and(|accepted| accepted.contains("gzip"));
    let bytes = if is_compressed { asset.gzip } else { asset.plain };
    let mut response = if is_known {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        response
    } else {
        let mut response = Response::new(Body::from(bytes));
        set(&mut response, CONTENT_TYPE, asset.media_type());
        response.headers_mut().insert(CONTENT_LENGTH, HeaderValue::from(bytes.len()));
        if is_compressed {
            set(&mut response, CONTENT_ENCODING, "gzip");
        }
        response
    };
    set(&mut response, VARY, "Accept-Encoding");
    set(&mut response, CACHE_CONTROL, caching);
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        response.headers_mut().insert(ETAG, tag);
    }
    guard(response)
}

fn text(status: StatusCode, text: &'static str) -> Response<Body> {
    let mut response = Response::new(Body::from(text));
    *response.status_mut() = status;
    set(&mut response, CONTENT_TYPE, PLAIN_TEXT);
    set(&mut response, CACHE_CONTROL, "no-store");
    guard(response)
}

fn guard(mut response: Response<Body>) -> Response<Body> {
    set(&mut response, CONTENT_SECURITY_POLICY, portal::POLICY);
    set(&mut response, X_CONTENT_TYPE_OPTIONS, "nosniff");
    set(&mut response, X_FRAME_OPTIONS, "DENY");
    set(&mut response, REFERRER_POLICY, "same-origin");
    response
}

fn set(response: &mut Response<Body>, name: HeaderName, value: &'static str) {
    response.headers_mut().insert(name, HeaderValue::from_static(value));
}
