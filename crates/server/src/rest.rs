//! Hands requests of the site's REST interface to the site, and its answers to the connection.

use std::convert::Infallible;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant};

use analytics::Facts;
use axum::body::{Body, Bytes, HttpBody as _};
use axum::extract::Request;
use axum::http::header::{CONNECTION, CONTENT_LENGTH, HOST};
use axum::http::{HeaderValue, Method, StatusCode, Uri, request};
use contract::rest::form;
use contract::rest::reply::Prepared;
use frame::{Client, Payload, Site};
use futures_util::stream;
use tokio::sync::Semaphore;

use crate::answer::set;
use crate::client_address::{client_address, is_trusted};
use crate::intake::{BodyError, WRONG_HOST, drain, has_proper_host, receive};
use crate::listen::Peer;
use crate::live;
use crate::panics::catch_panic;
use crate::request_id;
use crate::shared::Shared;
use crate::uploads::{UploadError, receive_file};

type Response = axum::http::Response<Body>;

/// The REST interface of one environment.
#[derive(Debug)]
pub(crate) struct RestService {
    pub(crate) shared: Arc<Shared>,
    pub(crate) site: Arc<Site>,
    /// What the site's reports are about.
    pub(crate) facts: Option<Arc<Facts>>,
    /// Uploads of files that are received at once.
    pub(crate) files: Semaphore,
}

impl RestService {
    /// The REST path that the URL asks for, if it is one: below the root, below `index.php`, or as
    /// a query parameter anywhere.
    pub(crate) fn path_of(&self, uri: &Uri) -> Option<RestPath> {
        if let Some(query) = uri.query().filter(|query| query.contains("rest_route")) {
            match form::decode(query).get("rest_route") {
                Some(serde_json::Value::String(path)) if path.is_empty() => {}
                Some(serde_json::Value::String(path)) => {
                    return Some(RestPath::Path(path.clone()));
                }
                Some(_) => return Some(RestPath::NotText),
                None => {}
            }
        }
        let path = uri.path().trim_start_matches('/');
        self.below_root(path.strip_prefix("index.php/").unwrap_or(path))
    }

    /// The REST path of a URL that can mean nothing else: one below the root, without another path
    /// in its query.
    pub(crate) fn plain_path_of(&self, uri: &Uri) -> Option<RestPath> {
        if uri.query().is_some_and(|query| query.contains("rest_route")) {
            return None;
        }
        self.below_root(uri.path().strip_prefix('/')?)
    }

    fn below_root(&self, path: &str) -> Option<RestPath> {
        let rest = path.strip_prefix(&*self.site.settings().names.rest_root)?;
        let inside = rest.is_empty() || rest.starts_with('/');
        inside.then(|| RestPath::Path(form::percent_decode(rest)))
    }

    /// Answers a request whose REST path is known.
    pub(crate) async fn answer(self: Arc<Self>, path: RestPath, request: Request) -> Response {
        let started = Instant::now();
        let is_read = matches!(*request.method(), Method::GET | Method::HEAD | Method::OPTIONS);
        let wants_stream = live::wants_stream(request.headers());
        let request_id = request_id::next(self.site.clock().now());
        // What is long is boxed wherever it would be moved from one future into the next.
        let handled = AssertUnwindSafe(request_id::handling(
            &request_id,
            Box::pin(self.handle(path, request)),
        ));
        let answered = catch_panic(handled).await.unwrap_or_else(|message| {
            tracing::error!(panic = message, request.id = request_id, "request handler panicked");
            refusal(500, "internal_server_error", "Something went wrong on our side.")
        });
        let took = started.elapsed();
        let environment = self.site.environment();
        let op = answered.route.as_deref().unwrap_or("none");
        self.shared.metrics.count_request(environment, op, answered.status, took);
        // Reads that went well are many and alike; the metrics count them.
        macro_rules! tell {
            ($level:ident) => {
                tracing::$level!(
                    op,
                    environment = environment.name(),
                    status = answered.status,
                    duration_ms = took.as_secs_f64() * 1000.0,
                    request.id = request_id,
                    user.id = answered.user_id,
                    "request answered"
                )
            };
        }
        if is_read && answered.status < 400 {
            tell!(debug);
        } else {
            tell!(info);
        }
        let is_live = wants_stream && answered.status == 200 && op == self.live_path();
        let user = (environment, answered.user_id);
        let mut response = into_response(answered);
        if let (true, Some(facts)) = (is_live, &self.facts) {
            live::go_on(&mut response, facts.positions(), &self.shared, user);
        }
        let headers = response.headers_mut();
        set(headers, "x-request-id", request_id);
        let micros = took.as_micros();
        set(headers, "server-timing", format!("app;dur={}.{:03}", micros / 1000, micros % 1000));
        if self.shared.settings.tls.is_some() {
            set(headers, "strict-transport-security", "max-age=31536000");
        }
        response
    }

    fn live_path(&self) -> String {
        format!("/{}{}", self.site.settings().names.docs, analytics::live::PATH)
    }

    async fn handle(&self, path: RestPath, request: Request) -> frame::Response {
        let limits = &self.shared.settings.limits;
        let (parts, body) = request.into_parts();
        let bytes: usize = parts.headers.iter().map(|(n, v)| n.as_str().len() + v.len()).sum();
        if parts.headers.len() > limits.header_fields || bytes > limits.header_bytes {
            drain(body).await;
            return refusal(431, "rest_headers_too_large", "The headers are too large.");
        }
        if !has_proper_host(&parts) {
            drain(body).await;
            return refusal(400, "rest_invalid_host", WRONG_HOST);
        }
        let path = match path {
            RestPath::Path(path) => path,
            RestPath::NotText => {
                drain(body).await;
                let message = "rest_route must be a string.";
                return refusal(400, "rest_path_invalid_type", message);
            }
        };
        if let Some(bytes_max) = self.streamed_bytes(&path, &parts).await {
            return self.handle_upload(path, parts, body, bytes_max).await;
        }
        let upper = body.size_hint().upper();
        let file_bytes = self.file_bytes(&path, &parts, upper).await;
        // Held to the end: what is in a file is in memory until then.
        let _permit = if file_bytes.is_some() {
            let patience = Duration::from_millis(limits.answer_ms);
            let Ok(permit) = tokio::time::timeout(patience, self.files.acquire()).await else {
                drain(body).await;
                let message = "Too many files are being received; try again later.";
                return refusal(503, "rest_busy", message);
            };
            permit.ok()
        } else {
            None
        };
        let limits = file_bytes.map_or(*limits, |bytes| limits.for_file(bytes));
        let body = match receive(body, &parts.headers, limits.rest_body_bytes, &limits).await {
            Ok(body) => body,
            Err(error) => return body_refusal(error, bytes_of(limits.rest_body_bytes)),
        };
        let request = self.request(path, &parts, body.to_vec());
        self.answer_in_time(request, limits.answer_ms).await
    }

    async fn answer_in_time(&self, request: frame::Request, answer_ms: u64) -> frame::Response {
        let time = Duration::from_millis(answer_ms);
        let too_slow = if matches!(request.method.as_str(), "GET" | "HEAD" | "OPTIONS") {
            "The request timed out; try again."
        } else {
            "The request timed out. What had not been stored by then will not be; check what was \
             stored before you send it again."
        };
        let line = db::Caller::Address(request.client.address);
        let answered = Box::pin(self.site.answer(request));
        tokio::time::timeout(time, db::as_caller(line, answered))
            .await
            .unwrap_or_else(|_| refusal(503, "rest_too_slow", too_slow))
    }

    /// Bytes of the body, if the route writes files to disk as they come and the sender may send
    /// one. What is said to be JSON or a plain form is no file.
    async fn streamed_bytes(&self, path: &str, parts: &request::Parts) -> Option<u64> {
        let bytes_max = self.site.upload_bytes_max(path, parts.method.as_str())?;
        let head = self.request(path.to_owned(), parts, Vec::new());
        let kind = head.header("content-type").unwrap_or_default().to_ascii_lowercase();
        let is_form = kind.starts_with("application/x-www-form-urlencoded");
        let is_file = !head.is_json() && !is_form;
        (is_file && self.site.admits(&head).await).then_some(bytes_max)
    }

    /// Receives a file without holding it in memory, and then answers.
    async fn handle_upload(
        &self,
        path: String,
        parts: request::Parts,
        body: Body,
        bytes_max: u64,
    ) -> frame::Response {
        let limits = &self.shared.settings.limits;
        let patience = Duration::from_millis(limits.answer_ms);
        let Ok(Ok(_permit)) = tokio::time::timeout(patience, self.files.acquire()).await else {
            drain(body).await;
            return refusal(
                503,
                "rest_busy",
                "Too many files are being received; try again later.",
            );
        };
        let storage = Arc::clone(self.site.library().storage());
        let received = receive_file(storage, &parts.headers, body, bytes_max, limits.file_ms).await;
        let upload = match received {
            Ok(upload) => upload,
            Err(UploadError::Body(error)) => return body_refusal(error, bytes_max),
            Err(UploadError::Failed(error)) => {
                return frame::Response::of_refusal(&frame::rest::failed(&error));
            }
        };
        let mut request = self.request(path, &parts, Vec::new());
        request.upload = Some(Arc::new(upload));
        self.answer_in_time(request, limits.file_ms).await
    }

    /// What the route accepts, if the body may need more than every route does. Strangers may not
    /// hold what others wait for: they have the limit of every route.
    async fn file_bytes(
        &self,
        path: &str,
        parts: &request::Parts,
        upper: Option<u64>,
    ) -> Option<usize> {
        let usual = self.shared.settings.limits.rest_body_bytes;
        let upper = upper.and_then(|bytes| usize::try_from(bytes).ok());
        if upper.is_some_and(|bytes| bytes <= usual) {
            return None;
        }
        let bytes = self.site.body_bytes_max(path).filter(|own| *own > usual)?;
        let head = self.request(path.to_owned(), parts, Vec::new());
        self.site.knows_caller(&head).await.then_some(bytes)
    }

    /// The request in the site's own words.
    pub(crate) fn request(
        &self,
        path: String,
        parts: &request::Parts,
        body: Vec<u8>,
    ) -> frame::Request {
        let settings = &self.shared.settings;
        let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
        let pairs =
            parts.headers.iter().map(|(name, value)| (name.as_str().to_owned(), text(value)));
        let peer = parts.extensions.get::<Peer>().map(|peer| peer.address.ip());
        let peer = peer.unwrap_or(std::net::IpAddr::V4(std::net::Ipv4Addr::UNSPECIFIED));
        let client = client_address(peer, &parts.headers, &settings.trusted_proxies);
        let proxied = is_trusted(peer.to_canonical(), &settings.trusted_proxies)
            && parts.headers.get("x-forwarded-proto").is_some_and(|value| value == "https");
        let host = parts.headers.get(HOST).map(text);
        let host = host.or_else(|| parts.uri.authority().map(ToString::to_string));
        let query_text = parts.uri.query().unwrap_or_default().to_owned();
        frame::Request {
            method: parts.method.as_str().to_owned(),
            path,
            url_path: parts.uri.path().to_owned(),
            query: form::decode(&query_text),
            query_text,
            headers: Arc::new(pairs.collect()),
            body,
            upload: None,
            secure: settings.tls.is_some() || proxied,
            encrypted_here: settings.tls.is_some(),
            host: host.unwrap_or_default(),
            client: Client {
                address: client.network(),
                throttled: client.is_throttled(),
                local: client.is_local(),
            },
        }
    }
}

/// What stands where the REST path should be.
#[derive(Debug)]
pub(crate) enum RestPath {
    Path(String),
    NotText,
}

fn bytes_of(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}

fn body_refusal(error: BodyError, bytes_max: u64) -> frame::Response {
    match error {
        BodyError::TooLarge => {
            let message = format!("The body must not exceed {bytes_max} bytes.");
            refusal(413, "rest_body_too_large", &message)
        }
        BodyError::CutOff => refusal(400, "rest_body_cut_off", "The body is incomplete."),
        BodyError::TooSlow => {
            let message = "The body was not received in time.";
            let mut response = refusal(408, "rest_body_too_slow", message);
            response.headers.push((CONNECTION.as_str(), "close".into()));
            response
        }
    }
}

fn refusal(status: u16, code: &'static str, message: &str) -> frame::Response {
    let refusal = contract::rest::Refusal::new(status, code, message.to_owned());
    frame::Response::of_refusal(&refusal)
}

/// The length, the id, the time taken, the date, and one more.
const HEADERS_ADDED: usize = 5;

type Nothing = Result<Bytes, Infallible>;

/// One form of a document that was serialised before, sent without copying it.
struct Shelf {
    document: Arc<Prepared>,
    form: fn(&Prepared) -> &[u8],
}

impl AsRef<[u8]> for Shelf {
    fn as_ref(&self) -> &[u8] {
        (self.form)(&self.document)
    }
}

/// An answer that others may be sent as well.
struct Text(Arc<Vec<u8>>);

impl AsRef<[u8]> for Text {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

fn into_response(answered: frame::Response) -> Response {
    let is_left_out = matches!(answered.payload, Payload::LeftOut);
    let body = match answered.payload {
        Payload::Bytes(bytes) => Bytes::from(bytes),
        Payload::Plain(document) => {
            Bytes::from_owner(Shelf { document, form: |document| &document.plain })
        }
        Payload::Gzip(document) => {
            Bytes::from_owner(Shelf { document, form: |document| &document.gzip })
        }
        Payload::Shared(text) => Bytes::from_owner(Text(text)),
        Payload::Empty | Payload::LeftOut => Bytes::new(),
    };
    let length = body.len();
    // An empty body would be said to have no bytes; of this one nobody knows how many it has.
    let body =
        if is_left_out { Body::from_stream(stream::empty::<Nothing>()) } else { body.into() };
    let mut response = axum::http::Response::new(body);
    // Those that are added later have room as well.
    response.headers_mut().reserve(answered.headers.len() + HEADERS_ADDED);
    *response.status_mut() =
        StatusCode::from_u16(answered.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    if answered.status != 304 && !is_left_out {
        headers.insert(CONTENT_LENGTH, HeaderValue::from(length));
    }
    for (name, value) in answered.headers {
        set(headers, name, value);
    }
    response
}
