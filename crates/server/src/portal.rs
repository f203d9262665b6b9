//! Hands out the files of the portal. They are the same for everybody and know nothing, so there is
//! nobody to authenticate and nothing to limit but the connection itself. The files come from the
//! binary ([`Portal`]); **nothing here knows what is in them**.

use axum::body::Body;
use axum::extract::Request;
use axum::http::header::{
    ACCEPT_ENCODING, ALLOW, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_LENGTH,
    CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, IF_NONE_MATCH, LOCATION, REFERRER_POLICY, VARY,
    X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Response, StatusCode, Uri};

const PLAIN_TEXT: &str = "text/plain; charset=UTF-8";
/// The content behind such a name never changes.
const FOR_EVER: &str = "public, max-age=31536000, immutable";

/// The path below which the portal is.
const ROOT: &str = "/portal";
/// What a browser may do with the portal: run its own files, and talk to its own server.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
    img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'none'; \
    form-action 'self'; frame-ancestors 'none'";
/// What to show when the files are missing.
const ABSENT: &str = "This binary was built without the portal. Install Node and build \
    it with `cargo xtask build`.\n";
const PAGE: &str = "index.html";
/// Names below it carry a hash of their content.
const HASHED: &str = "assets/";

/// A file of the portal.
#[derive(Debug)]
pub struct Asset {
    /// Its path below the root.
    pub name: &'static str,
    /// Changes with its content.
    pub tag: &'static str,
    pub plain: &'static [u8],
    pub gzip: &'static [u8],
}

impl Asset {
    fn media_type(&self) -> &'static str {
        match self.name.rsplit_once('.').map_or("", |(_, extension)| extension) {
            "html" => "text/html; charset=UTF-8",
            "js" => "text/javascript; charset=UTF-8",
            "css" => "text/css; charset=UTF-8",
            "svg" => "image/svg+xml",
            "png" => "image/png",
            "woff2" => "font/woff2",
            "json" => "application/json",
            _ => "application/octet-stream",
        }
    }

    /// Whether the content behind this name never changes.
    fn is_immutable(&self) -> bool {
        self.name.starts_with(HASHED)
    }
}

/// The files of the portal, as the binary has them; none if it was built without.
#[derive(Clone, Copy, Debug, Default)]
pub struct Portal(pub &'static [Asset]);

/// What there is at a path of the server.
#[derive(Debug)]
enum Found {
    /// A file, or the application itself for every path that is a view of it.
    Asset(&'static Asset),
    /// A file that there is not; never a view, so that a mistake is seen.
    Nothing,
    /// The whole application is missing.
    Absent,
}

impl Portal {
    pub fn is_here(self) -> bool {
        !self.0.is_empty()
    }

    /// What is at `path`; nothing if the path is not the portal's.
    fn find(self, path: &str) -> Option<Found> {
        let name = path.strip_prefix(ROOT)?;
        let name = match name.strip_prefix('/') {
            Some(name) => name,
            None if name.is_empty() => name,
            None => return None,
        };
        if !self.is_here() {
            return Some(Found::Absent);
        }
        if let Some(asset) = self.named(name) {
            return Some(Found::Asset(asset));
        }
        if name.starts_with(HASHED) {
            return Some(Found::Nothing);
        }
        Some(self.named(PAGE).map_or(Found::Absent, Found::Asset))
    }

    fn named(self, name: &str) -> Option<&'static Asset> {
        self.0.iter().find(|asset| asset.name == name)
    }
}

/// The answer to a request below the portal's path; nothing if it is not.
pub(crate) fn answer(portal: Portal, request: &Request) -> Option<Response<Body>> {
    let found = portal.find(request.uri().path())?;
    if let Some(target) = with_slash(request.uri()).filter(|_| portal.is_here()) {
        return Some(moved(&target));
    }
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        let mut response =
            text(StatusCode::METHOD_NOT_ALLOWED, "The portal supports only GET and HEAD.\n");
        response.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
        return Some(response);
    }
    // The HTTP library leaves out the body for HEAD, and states its length before.
    Some(match found {
        Found::Asset(asset) => file(asset, request.headers()),
        Found::Nothing => text(StatusCode::NOT_FOUND, "File not found.\n"),
        Found::Absent => text(StatusCode::NOT_FOUND, ABSENT),
    })
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
    let is_known = known.is_some_and(|known| {
        known.split(',').any(|one| one.trim().trim_start_matches("W/") == tag)
    });
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
    set(&mut response, CONTENT_SECURITY_POLICY, POLICY);
    set(&mut response, X_CONTENT_TYPE_OPTIONS, "nosniff");
    set(&mut response, X_FRAME_OPTIONS, "DENY");
    set(&mut response, REFERRER_POLICY, "same-origin");
    response
}

fn set(response: &mut Response<Body>, name: HeaderName, value: &'static str) {
    response.headers_mut().insert(name, HeaderValue::from_static(value));
}

#[cfg(test)]
mod tests {
    use super::*;

    static FILES: [Asset; 2] = [
        Asset { name: "assets/app-1a2b.js", tag: "1", plain: b"let a;", gzip: b"" },
        Asset { name: "index.html", tag: "2", plain: b"<html>", gzip: b"" },
    ];

    #[test]
    fn only_paths_of_the_portal_are_answered() {
        for portal in [Portal::default(), Portal(&FILES)] {
            assert!(portal.find("/portal").is_some());
            assert!(portal.find("/portal/analytics/orders").is_some());
            for other in ["/portals", "/", "/docs"] {
                assert!(portal.find(other).is_none(), "{other}");
            }
        }
    }

    #[test]
    fn a_view_is_the_application_and_a_missing_file_is_nothing() {
        assert!(matches!(Portal::default().find("/portal/"), Some(Found::Absent)));
        let portal = Portal(&FILES);
        let Some(Found::Asset(page)) = portal.find("/portal/analytics") else { panic!("no page") };
        assert_eq!((page.name, page.is_immutable()), (PAGE, false));
        assert_eq!(page.media_type(), "text/html; charset=UTF-8");
        let script = portal.find("/portal/assets/app-1a2b.js");
        let Some(Found::Asset(script)) = script else { panic!("no script") };
        assert!(script.is_immutable());
        assert_eq!(script.media_type(), "text/javascript; charset=UTF-8");
        assert!(matches!(portal.find("/portal/assets/none.js"), Some(Found::Nothing)));
    }
}
