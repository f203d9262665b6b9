//! Requests below the path of connected stores: reads of a copy, which the copy's own site answers,
//! and what the stores send us. Nobody else's paths begin like this.
//!
//! **A copy is opened only for who names its key**, so that a stranger who knows an id costs no
//! more than a look into the database. The copy itself checks the secret.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::Request;
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use axum::http::{Method, Response, StatusCode};
use connect::Stores;
use connect::incoming::{self, Received};
use data_encoding::BASE64;
use onboarding::connections::{STORES_ROOT, is_id};
use serde_json::json;
use tokio::sync::Semaphore;

use crate::intake::receive;
use crate::rest::RestService;

/// Whether a path may be one of a connected store.
pub(crate) fn is_below(path: &str) -> bool {
    path.starts_with(STORES_ROOT)
}

/// The answer to a request below the path of a connected store; the request itself if it is not.
pub(crate) async fn answer(
    rest: &Arc<RestService>,
    stores: &Arc<Stores>,
    request: Request,
) -> Result<Response<Body>, Box<Request>> {
    let path = request.uri().path().to_owned();
    let named = path.strip_prefix(STORES_ROOT).and_then(|rest| rest.split_once('/'));
    let Some((id, below)) = named.filter(|(id, _)| is_id(id)) else {
        return Err(Box::new(request));
    };
    let is_post = request.method() == Method::POST;
    if is_post && matches!(below, "events" | "key") {
        return Ok(take(rest, stores, (id, below), request).await);
    }
    if request.method() == Method::GET && below == "granted" {
        return Ok(text(StatusCode::OK, granted(request.uri().query())));
    }
    let opened = match stores.reader(id).await {
        Ok(None) => return Err(Box::new(request)),
        // What browsers ask before they send a key: the routes of a copy are those of the site.
        Ok(Some(_)) if request.method() == Method::OPTIONS => {
            return describe(rest, request, below).await;
        }
        Ok(Some(key)) if !names_key(&request, &key.consumer_key) => {
            return Ok(unauthorized(&rest.site.shop_code("cannot_view")));
        }
        Ok(Some(key)) => stores.open_for(id, &key).await,
        Err(error) => Err(error),
    };
    let store = match opened {
        Ok(store) => store,
        Err(error) if error.kind() == types::Kind::NotFound => return Err(Box::new(request)),
        Err(error) => {
            tracing::warn!(error = %error.report(), "the copy of a store cannot be opened");
            return Ok(text(StatusCode::SERVICE_UNAVAILABLE, "Try again later.\n"));
        }
    };
    let own = RestService {
        shared: Arc::clone(&rest.shared),
        site: Arc::clone(&store.site),
        facts: Some(Arc::clone(&store.facts)),
        // A copy takes no files.
        files: Semaphore::new(1),
    };
    match own.path_of(request.uri()) {
        Some(path) => Ok(Arc::new(own).answer(path, request).await),
        None => Err(Box::new(request)),
    }
}

/// What the owner of a store reads who was asked for a key, and comes back from their own site.
fn granted(query: Option<&str>) -> &'static str {
    let is_granted = |query: &str| {
        let mut pairs = form_urlencoded::parse(query.as_bytes());
        pairs.any(|(name, value)| name == "success" && value == "1")
    };
    if query.is_some_and(is_granted) {
        "Thank you. Access was granted, and your store is being connected. You can close this \
         window.\n"
    } else {
        "No access was granted, and your store is not connected. You can close this window.\n"
    }
}

/// Lets the site answer what routes there are.
async fn describe(
    rest: &Arc<RestService>,
    mut request: Request,
    below: &str,
) -> Result<Response<Body>, Box<Request>> {
    let query = request.uri().query().map(|query| format!("?{query}")).unwrap_or_default();
    let Ok(uri) = format!("/{below}{query}").parse() else { return Err(Box::new(request)) };
    match rest.path_of(&uri) {
        Some(path) => {
            *request.uri_mut() = uri;
            Ok(Arc::clone(rest).answer(path, request).await)
        }
        None => Err(Box::new(request)),
    }
}

/// Whether the request has this consumer key in one of the places where keys may be.
fn names_key(request: &Request, key: &str) -> bool {
    let query = request.uri().query().unwrap_or_default();
    let is_in_query = form_urlencoded::parse(query.as_bytes()).any(|(name, value)| {
        matches!(&*name, "consumer_key" | "oauth_consumer_key") && value == key
    });
    let header = request.headers().get(AUTHORIZATION).and_then(|value| value.to_str().ok());
    let (scheme, credentials) = header.and_then(|text| text.split_once(' ')).unwrap_or_default();
    let is_in_header = if scheme.eq_ignore_ascii_case("basic") {
        let pair = BASE64.decode(credentials.trim().as_bytes()).unwrap_or_default();
        pair.split(|byte| *byte == b':').next() == Some(key.as_bytes())
    } else {
        scheme.eq_ignore_ascii_case("oauth")
            && credentials.contains(&format!("oauth_consumer_key=\"{key}\""))
    };
    is_in_query || is_in_header
}

fn unauthorized(code: &str) -> Response<Body> {
    let error = json!({
        "code": code,
        "message": "Send the connection\u{2019}s key for reports.",
        "data": { "status": 401 },
    });
    let mut response = Response::new(Body::from(error.to_string()));
    *response.status_mut() = StatusCode::UNAUTHORIZED;
    let json = HeaderValue::from_static("application/json; charset=UTF-8");
    response.headers_mut().insert(CONTENT_TYPE, json);
    response
}

/// Takes what a store sends. A store that is told 503 sends it again.
async fn take(
    rest: &RestService,
    stores: &Arc<Stores>,
    (id, below): (&str, &str),
    request: Request,
) -> Response<Body> {
    let (parts, body) = request.into_parts();
    let limits = &rest.shared.settings.limits;
    let most = limits.rest_body_bytes;
    let bytes = if below == "key" { most.min(incoming::GRANT_BYTES_MAX) } else { most };
    let Ok(body) = receive(body, &parts.headers, bytes, limits).await else {
        return text(StatusCode::BAD_REQUEST, "The body is too large or incomplete.\n");
    };
    let header = |name: &str| {
        parts.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    };
    let proof = (header("x-wc-webhook-topic"), header("x-wc-webhook-signature"));
    let taken = match below {
        "events" => incoming::webhook(stores, id, proof, &body).await,
        _ => incoming::grant(stores, id, &body).await,
    };
    match taken {
        Ok(Received::Taken) => text(StatusCode::OK, "Taken.\n"),
        Ok(Received::NotFound) => text(StatusCode::NOT_FOUND, "Connection not found.\n"),
        Ok(Received::Refused) => text(StatusCode::FORBIDDEN, "The signature is not valid.\n"),
        Err(error) => {
            tracing::warn!(error = %error.report(), "what a store sent cannot be kept");
            text(StatusCode::SERVICE_UNAVAILABLE, "Try again later.\n")
        }
    }
}

fn text(status: StatusCode, text: &'static str) -> Response<Body> {
    let mut response = Response::new(Body::from(text));
    *response.status_mut() = status;
    let plain = HeaderValue::from_static("text/plain; charset=UTF-8");
    response.headers_mut().insert(CONTENT_TYPE, plain);
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(uri: &str, authorization: &str) -> bool {
        let request = Request::get(uri).header(AUTHORIZATION, authorization);
        names_key(&request.body(Body::empty()).unwrap(), "ck_1")
    }

    #[test]
    fn a_key_is_found_wherever_it_may_be() {
        let basic = |pair: &str| format!("Basic {}", BASE64.encode(pair.as_bytes()));
        assert!(names("/", &basic("ck_1:cs_1")));
        assert!(names("/?consumer_key=ck_1&consumer_secret=cs_1", ""));
        assert!(names("/?oauth_consumer_key=ck_1", ""));
        assert!(names("/", "OAuth oauth_nonce=\"a\", oauth_consumer_key=\"ck_1\""));
        assert!(!names("/", &basic("ck_2:ck_1")));
        assert!(!names("/?consumer_key=ck_12&search=ck_1", "Bearer ck_1"));
        assert!(!names("/", "Basic ck_1"));
    }
}
