//! Hands requests for pages to the site, and its pages to the connection. What is no page is handed
//! back, for the interface whose paths these are.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::header::{CONNECTION, CONTENT_LENGTH};
use axum::http::request::Parts;
use axum::http::{HeaderValue, Method, StatusCode};
use content::web::{FORM_BYTES_MAX, WebAnswer};
use frame::media::shown::UPLOADS_PATH;
use frame::{FileFound, Site};
use futures_util::stream;
use storefront::pages::{may_be_page, page};
use types::Error;

use crate::answer::set;
use crate::compression;
use crate::intake::{BodyError, WRONG_HOST, drain, has_proper_host, receive};
use crate::panics::catch_panic;
use crate::request_id;
use crate::rest::RestService;
use crate::uploads;

type Response = axum::http::Response<Body>;

/// The pages of one environment.
#[derive(Debug)]
pub(crate) struct WebService {
    pub(crate) rest: Arc<RestService>,
}

impl WebService {
    /// The page that the request asks for, or the request, without its body.
    pub(crate) async fn answer(&self, request: Request) -> Result<Response, Box<Request>> {
        let limits = &self.rest.shared.settings.limits;
        let headers = request.headers();
        let bytes: usize = headers.iter().map(|(n, v)| n.as_str().len() + v.len()).sum();
        let fits = headers.len() <= limits.header_fields && bytes <= limits.header_bytes;
        if fits && request.uri().path().starts_with(UPLOADS_PATH) {
            let (parts, body) = request.into_parts();
            return match uploads::file(&self.rest.site, &parts).await {
                Some(response) => Ok(response),
                None => Err(Box::new(Request::from_parts(parts, body))),
            };
        }
        if !fits || !may_be_page(request.method().as_str(), request.uri().path()) {
            return Err(Box::new(request));
        }
        let started = Instant::now();
        let request_id = request_id::next(self.rest.site.clock().now());
        let is_head = request.method() == Method::HEAD;
        let (parts, body) = request.into_parts();
        if let Some(mut response) = self.file(&parts).await {
            set(response.headers_mut(), "x-request-id", request_id);
            return Ok(response);
        }
        let handled =
            AssertUnwindSafe(request_id::handling(&request_id, self.handle(&parts, body)));
        let answered = catch_panic(handled).await.unwrap_or_else(|message| {
            tracing::error!(panic = message, request.id = request_id, "request handler panicked");
            Some(WebAnswer::sentence(500, "Something went wrong on our side."))
        });
        let Some(answered) = answered else {
            return Err(Box::new(Request::from_parts(parts, Body::empty())));
        };
        let took = started.elapsed();
        self.note(&answered, took, &request_id);
        let mut response = into_response(answered, is_head);
        let headers = response.headers_mut();
        set(headers, "x-request-id", request_id);
        let micros = took.as_micros();
        set(headers, "server-timing", format!("app;dur={}.{:03}", micros / 1000, micros % 1000));
        if self.rest.shared.settings.tls.is_some() {
            set(headers, "strict-transport-security", "max-age=31536000");
        }
        Ok(response)
    }

    fn note(&self, answered: &WebAnswer, took: Duration, request_id: &str) {
        let environment = self.rest.site.environment();
        let metrics = &self.rest.shared.metrics;
        metrics.count_request(environment, answered.kind, answered.status, took);
        tracing::info!(
            op = answered.kind,
            environment = environment.name(),
            status = answered.status,
            duration_ms = took.as_secs_f64() * 1000.0,
            request.id = request_id,
            user.id = answered.user_id,
            "request answered"
        );
    }

    /// The file that the request asks for, if it is one of those that are downloaded by a link.
    async fn file(&self, parts: &Parts) -> Option<Response> {
        let is_read = parts.method == Method::GET || parts.method == Method::HEAD;
        let query = parts.uri.query().unwrap_or_default();
        let source = self.rest.site.file_source(parts.uri.path(), query).filter(|_| is_read)?;
        let found = self.rest.site.file(source, query.to_owned()).await;
        let answered = match found {
            Ok(Some(found)) => {
                return Some(download(&self.rest.site, source, found, &parts.method));
            }
            Ok(None) => {
                let message = "The file no longer exists, or the link is incomplete.";
                WebAnswer::sentence(404, message)
            }
            Err(error) => {
                tracing::warn!(error = error.report(), "a file could not be found");
                WebAnswer::sentence(503, "The file is temporarily unavailable; try again.")
            }
        };
        Some(into_response(answered, parts.method == Method::HEAD))
    }

    async fn handle(&self, parts: &Parts, body: Body) -> Option<WebAnswer> {
        let limits = &self.rest.shared.settings.limits;
        if !has_proper_host(parts) {
            drain(body).await;
            return Some(WebAnswer::sentence(400, WRONG_HOST));
        }
        let form = if parts.method == Method::POST {
            match receive(body, &parts.headers, FORM_BYTES_MAX, limits).await {
                Ok(form) => form.to_vec(),
                Err(error) => return Some(body_error(error)),
            }
        } else {
            drain(body).await;
            Vec::new()
        };
        let path = parts.uri.path().to_owned();
        let request = self.rest.request(path, parts, form);
        let time = Duration::from_millis(limits.answer_ms);
        let line = db::Caller::Address(request.client.address);
        let page = db::as_caller(line, page(&self.rest.site, request));
        tokio::time::timeout(time, page).await.unwrap_or_else(|_| {
            let mut late = WebAnswer::sentence(503, "The request timed out; try again.");
            late.headers.push(("retry-after", String::from("1")));
            Some(late)
        })
    }
}

/// A file, part after part. Who reads slowly holds no more than one part.
fn download(site: &Arc<Site>, source: usize, found: FileFound, method: &Method) -> Response {
    let FileFound { name, media_type, key, parts, bytes } = found;
    let next = move |(site, key, number): (Arc<Site>, String, i64)| async move {
        if number > parts {
            return None;
        }
        let read = site.file_part(source, key.clone(), number).await;
        let part = match read {
            Ok(Some(part)) => Ok(Bytes::from(part)),
            // The length that was promised is missed, so that the client notices.
            Ok(None) => Err(Error::unavailable("a part of the file is gone")),
            Err(error) => Err(error),
        };
        Some((part, (site, key, number + 1)))
    };
    let body = if *method == Method::HEAD {
        Body::empty()
    } else {
        compression::body_of(stream::unfold((Arc::clone(site), key, 1), next))
    };
    let mut response = axum::http::Response::new(body);
    let headers = response.headers_mut();
    headers.insert(CONTENT_LENGTH, HeaderValue::from(bytes));
    for (header, value) in [
        ("content-type", media_type.to_owned()),
        ("content-disposition", format!("attachment; filename=\"{name}\"")),
        ("cache-control", String::from("no-store")),
        ("referrer-policy", String::from("no-referrer")),
        ("x-content-type-options", String::from("nosniff")),
        ("x-robots-tag", String::from("noindex")),
    ] {
        set(headers, header, value);
    }
    response
}

fn body_error(error: BodyError) -> WebAnswer {
    match error {
        BodyError::TooLarge => {
            let message = format!("The form must not exceed {FORM_BYTES_MAX} bytes.");
            WebAnswer::sentence(413, &message)
        }
        BodyError::CutOff => WebAnswer::sentence(400, "The form is incomplete."),
        BodyError::TooSlow => {
            let mut answer = WebAnswer::sentence(408, "The form was not received in time.");
            answer.headers.push((CONNECTION.as_str(), String::from("close")));
            answer
        }
    }
}

fn into_response(answered: WebAnswer, is_head: bool) -> Response {
    let length = answered.body.len();
    let body = if is_head { Body::empty() } else { Body::from(answered.body) };
    let mut response = axum::http::Response::new(body);
    *response.status_mut() =
        StatusCode::from_u16(answered.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    headers.insert(CONTENT_LENGTH, HeaderValue::from(length));
    for (name, value) in answered.headers {
        set(headers, name, value);
    }
    response
}
