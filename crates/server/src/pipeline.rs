//! The path of a request through the onboarding interface.
//!
//! The order is fixed: path and method, then the key, then the rate limits, then the media type,
//! then the body. **Nothing of the body is looked at before the key has been accepted.**

mod admission;

use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Body;
use axum::extract::rejection::RawPathParamsRejection;
use axum::extract::{RawPathParams, Request};
use axum::http::{HeaderMap, Method, Response};
use axum::middleware::from_fn;
use axum::routing::{any, get};
use contract::{Compiled, FILE_KIND, Outcome, Permission};
use onboarding::audit::redacted;
use onboarding::caller::DeviceCaller;
use onboarding::caller::{Caller, Visitor};
use onboarding::{
    Code, Cx, Origin, Platform, RequestOptions, dialect, endpoints, onboard, sandbox,
};
use serde_json::{Map, Value};
use tokio::sync::Semaphore;
use types::{Environment, Timestamp};

use crate::answer::{Answer, Dialect, Envelope, ignored_fields};
use crate::client_address::Client;
use crate::intake::{
    WRONG_HOST, add_query, check_headers, check_media_type, drain, has_proper_host, read_file,
    read_params,
};
use crate::limits::{EnvironmentLimits, Standing};
use crate::listen::Peer;
use crate::panics::catch_panic;
use crate::request_options::{self, Kept, SimulatedFailures};
use crate::request_record::Exchange;
use crate::rest::RestService;
use crate::shared::Shared;
use crate::web::WebService;
use crate::{admin, compression, connected, request_id, request_record};

/// Files in memory at once, whatever the settings say.
const FILES_AT_ONCE_MAX: usize = 64;
const LIMITS_TIDY_EVERY: Duration = Duration::from_mins(1);

/// One environment, ready to answer.
struct Onboarding {
    shared: Arc<Shared>,
    platform: Arc<Platform>,
    limits: EnvironmentLimits,
    simulated: SimulatedFailures,
    /// Knows who is signed in.
    rest: Arc<RestService>,
    files: Semaphore,
}

/// The endpoints of one path by method.
type Methods = BTreeMap<&'static str, Compiled<Cx>>;

pub(crate) fn files_at_once(files: usize) -> Semaphore {
    Semaphore::new(files.clamp(1, FILES_AT_ONCE_MAX))
}

/// Routes every endpoint of the table; what is no route gets a 404 in the published shape.
pub(crate) fn router(
    shared: Arc<Shared>,
    (platform, facts): admin::Watched,
    rest: Arc<RestService>,
    stores: Option<Arc<connect::Stores>>,
) -> Router {
    let limits =
        EnvironmentLimits::new(&shared.settings.rate_limits, platform.environment, &platform.store);
    let simulated = SimulatedFailures::default();
    let files = files_at_once(shared.settings.limits.files);
    let service = Arc::new(Onboarding {
        shared,
        platform,
        limits,
        simulated,
        rest: Arc::clone(&rest),
        files,
    });
    tokio::spawn(tidy_limits(Arc::downgrade(&service)));
    let mut by_path: BTreeMap<&'static str, Methods> = BTreeMap::new();
    for endpoint in endpoints::table().into_endpoints() {
        let route = endpoint.route();
        let is_sandbox = service.platform.environment == Environment::Sandbox;
        if !is_sandbox && route.path.starts_with(sandbox::ROOT) {
            continue;
        }
        by_path.entry(route.path).or_default().insert(route.method.name(), endpoint);
    }
    let watched = vec![(Arc::clone(&service.platform), facts)];
    let ready = (Arc::clone(&service.shared), Arc::new(watched));
    let mut router = Router::new()
        .route("/healthz", get(|| async { "alive\n" }))
        .route("/readyz", get(move || admin::readiness(ready.0.clone(), ready.1.clone())));
    for (path, methods) in by_path {
        let (service, methods) = (Arc::clone(&service), Arc::new(methods));
        router = router.route(
            path,
            any(move |params: Result<RawPathParams, RawPathParamsRejection>, request: Request| {
                // A path that is not UTF-8 names nothing.
                let route = params.ok().map(|params| (methods, path_params(&params)));
                answer_request(service, route, request)
            }),
        );
    }
    let web = Arc::new(WebService { rest: Arc::clone(&rest) });
    let router = router.fallback(move |request: Request| {
        let parts = (Arc::clone(&service), Arc::clone(&rest), Arc::clone(&web));
        answer_other(parts, stores.clone(), request)
    });
    router.layer(from_fn(compression::packed))
}

/// What is no path of the onboarding interface: connected stores, the REST interface, files and
/// pages, in this order.
async fn answer_other(
    (service, rest, web): (Arc<Onboarding>, Arc<RestService>, Arc<WebService>),
    stores: Option<Arc<connect::Stores>>,
    request: Request,
) -> Response<Body> {
    let is_of_store = connected::is_below(request.uri().path());
    let request = match stores.as_ref().filter(|_| is_of_store) {
        None => request,
        Some(stores) => match Box::pin(connected::answer(&rest, stores, request)).await {
            Ok(answer) => return answer,
            Err(request) => *request,
        },
    };
    if let Some(path) = rest.path_of(request.uri()) {
        return Box::pin(rest.answer(path, request)).await;
    }
    if let Some(file) = crate::portal::answer(rest.shared.portal, &request) {
        return file;
    }
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    if let Some(file) = crate::feeds::answer(&rest.site, method, &path).await {
        return file;
    }
    match Box::pin(web.answer(request)).await {
        Ok(page) => page,
        Err(request) => Box::pin(answer_request(service, None, *request)).await,
    }
}

async fn tidy_limits(service: std::sync::Weak<Onboarding>) {
    loop {
        tokio::time::sleep(LIMITS_TIDY_EVERY).await;
        match service.upgrade() {
            Some(service) => service.limits.tidy(),
            None => return,
        }
    }
}

fn path_params(params: &RawPathParams) -> Map<String, Value> {
    params.iter().map(|(name, value)| (name.to_owned(), Value::from(value))).collect()
}

type Route = (Arc<Methods>, Map<String, Value>);

/// Gives the request its id, and its answer the headers that every answer carries.
async fn answer_request(
    service: Arc<Onboarding>,
    route: Option<Route>,
    request: Request,
) -> Response<Body> {
    let started = Instant::now();
    let now = service.platform.clock.now();
    let request_id = request_id::next(now);
    let mut visit = Visit {
        service: &service,
        now,
        standing: Standing::UNLIMITED,
        op: "none".into(),
        caller: None,
        device: None,
        administrator: None,
        peer: request.extensions().get::<Peer>().cloned(),
        client: None,
        origin: Origin { request_id: request_id.clone(), address: None },
        sent: String::new(),
    };
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let handled = AssertUnwindSafe(request_id::handling(&request_id, visit.handle(route, request)));
    let answer = match catch_panic(handled).await {
        Ok(answer) => answer,
        Err(message) => {
            tracing::error!(panic = message, request.id = request_id, "request handler panicked");
            let dialect = Dialect::default();
            dialect.refuse(Code::InternalError, "", "Something went wrong on our side.")
        }
    };
    let took = started.elapsed();
    let environment = service.platform.environment;
    service.shared.metrics.count_request(environment, &visit.op, answer.status, took);
    tracing::info!(
        op = &*visit.op,
        environment = environment.name(),
        status = answer.status,
        duration_ms = took.as_secs_f64() * 1000.0,
        request.id = request_id,
        iso.id = visit.caller.as_ref().map(|caller| caller.iso_id().as_str()),
        actor = visit.caller.as_ref().map(Caller::actor),
        "request answered"
    );
    let exchange = Exchange {
        caller: visit.caller.as_ref(),
        origin: &visit.origin,
        method: method.as_str(),
        path: &path,
        sent: visit.sent,
        answer: &answer,
        at: now,
        took,
    };
    request_record::record(&service.platform, exchange);
    answer.into_response(&Envelope {
        request_id: &request_id,
        standing: visit.standing,
        took,
        https: service.shared.settings.tls.is_some(),
    })
}

/// A request on its way, with what is learned about it for headers, log and metrics.
struct Visit<'a> {
    service: &'a Onboarding,
    now: Timestamp,
    standing: Standing,
    op: Arc<str>,
    caller: Option<Caller>,
    device: Option<DeviceCaller>,
    administrator: Option<i64>,
    peer: Option<Peer>,
    client: Option<Client>,
    origin: Origin,
    /// The body, redacted.
    sent: String,
}

impl Visit<'_> {
    async fn handle(&mut self, route: Option<Route>, request: Request) -> Answer {
        let (parts, body) = request.into_parts();
        let time = Duration::from_millis(self.service.shared.settings.limits.answer_ms);
        let late = |dialect: Dialect| dialect.not_now("The request timed out; try again.");
        self.client = self.client_of(&parts);
        let head = db::as_caller(self.line(), self.handle_head(route, &parts));
        let head = tokio::time::timeout(time, head).await;
        match head.unwrap_or_else(|_| Err(late(Dialect::default()))) {
            Err(answer) => {
                drain(body).await;
                answer
            }
            Ok(Accepted { endpoint, params, dialect }) => {
                let limits = &self.service.shared.settings.limits;
                let takes_file = !endpoint.get().route().files.is_empty();
                let time = if takes_file { Duration::from_millis(limits.file_ms) } else { time };
                let line = self.line();
                let run = self.run(&endpoint, params, dialect, &parts.headers, body);
                let run = db::as_caller(line, run);
                let answer = tokio::time::timeout(time, run).await;
                answer.unwrap_or_else(|_| late(dialect))
            }
        }
    }

    /// In whose line the request waits for the database: its ISO's, its user's, or as long as
    /// nobody knows whose it is, its address's.
    fn line(&self) -> db::Caller {
        let iso = self.caller.as_ref().map(Caller::iso_id);
        let iso = iso.or_else(|| self.device.as_ref().map(DeviceCaller::iso_id));
        match (iso, self.administrator, self.client) {
            (Some(iso), ..) => iso.as_str().into(),
            (None, Some(user_id), _) => frame::line_of_user(user_id),
            (None, None, Some(client)) => db::Caller::Address(client.network()),
            (None, None, None) => "".into(),
        }
    }

    /// Everything that is decided without the body.
    async fn handle_head(
        &mut self,
        route: Option<Route>,
        parts: &axum::http::request::Parts,
    ) -> Result<Accepted, Answer> {
        let dialect = Dialect::default();
        check_headers(&parts.headers, &self.service.shared.settings.limits)?;
        if !has_proper_host(parts) {
            return Err(dialect.refuse(Code::InvalidFormat, "header.Host", WRONG_HOST));
        }
        let Some((methods, params)) = route else {
            let message = "Unknown path; see GET /v1/openapi.json.";
            return Err(dialect.refuse(Code::RouteNotFound, "", message));
        };
        let endpoint = find_method(&methods, &parts.method)?;
        self.op = Arc::clone(&endpoint.get().name);
        let mut dialect = Dialect { message: failure_message(endpoint.get()), ..dialect };
        let contract::Route { permission, method, .. } = endpoint.get().route();
        if matches!(permission, Permission::Public | Permission::Link) {
            if method.has_body() {
                self.check_visitor(permission, dialect).await?;
            }
        } else {
            match self.authenticate(parts, (permission, method), dialect).await? {
                Visitor::Key(caller) => {
                    dialect.style = caller.style();
                    self.now = self.now.plus(caller.clock_ahead());
                    self.caller = Some(caller.clone());
                    let (actor, iso) = (caller.actor(), caller.iso_id().as_str());
                    let onboards = (permission == ONBOARD).then_some(iso);
                    self.check_rate(&actor, onboards, dialect).await?;
                    self.record_last_use(caller);
                }
                Visitor::Device(device, ahead) => {
                    self.now = self.now.plus(ahead);
                    self.check_rate(&device.actor(), None, dialect).await?;
                    self.device = Some(device);
                }
                Visitor::Administrator(user_id) => {
                    self.check_rate(&format!("user:{user_id}"), None, dialect).await?;
                    self.administrator = Some(user_id);
                }
            }
        }
        let mut params = params;
        if method.has_body() {
            let file = check_media_type(&parts.headers, &endpoint.get().route(), dialect)?;
            params.extend(file.map(|kind| (FILE_KIND.to_owned(), Value::from(kind.name))));
        } else {
            add_query(&mut params, parts.uri.query().unwrap_or_default());
        }
        Ok(Accepted { endpoint, params, dialect })
    }

    async fn run(
        &mut self,
        endpoint: &Endpoint,
        params: Map<String, Value>,
        dialect: Dialect,
        headers: &HeaderMap,
        body: Body,
    ) -> Answer {
        let endpoint = endpoint.get();
        let route = endpoint.route();
        let takes_file = !route.files.is_empty();
        let limits = &self.service.shared.settings.limits;
        // Held to the end: what is in a file is in memory until then.
        let _permit = if takes_file { self.service.files.acquire().await.ok() } else { None };
        let read = match (route.method.has_body(), takes_file) {
            (false, _) => Ok(params),
            (true, false) => read_params(params, (body, headers), limits, dialect).await,
            (true, true) => read_file(params, (body, headers), limits, dialect).await,
        };
        let params = match read {
            Ok(params) => Value::Object(params),
            Err(answer) => return answer,
        };
        if self.caller.is_some() && self.service.platform.keeps_requests() {
            self.sent = redacted(&params);
        }
        match self.run_with_options(endpoint, params, dialect, headers).await {
            Ok(answer) | Err(answer) => answer,
        }
    }

    /// Runs the endpoint with its request options: a dry run, a safe retry, a simulated failure.
    async fn run_with_options(
        &self,
        endpoint: &Compiled<Cx>,
        params: Value,
        dialect: Dialect,
        headers: &HeaderMap,
    ) -> Result<Answer, Answer> {
        let Onboarding { platform, simulated, .. } = self.service;
        let (caller, path) = (self.caller.as_ref(), endpoint.route().path);
        let request_options = if endpoint.route().method.has_body() {
            request_options::read(platform, caller, path, headers, &params, dialect)?
        } else {
            RequestOptions::default()
        };
        simulated.play(platform, caller, &params, &request_options.scenario, dialect).await?;
        let retry = request_options.idempotency.clone().zip(caller);
        let turn = match &retry {
            None => None,
            Some((request, caller)) => {
                let turn = request_options::take_turn(platform, caller, request, dialect).await?;
                let kept =
                    request_options::kept_answer(platform, caller, request, self.now, dialect)
                        .await;
                kept.map_or(Ok(Some(turn)), Err)?
            }
        };
        let cx = Cx {
            platform: Arc::clone(platform),
            caller: self.caller.clone(),
            device: self.device.clone(),
            administrator: self.administrator,
            now: self.now,
            request_options,
            origin: self.origin.clone(),
        };
        let outcome = endpoint.run(params, &cx).await;
        let kept = Kept::from(&outcome);
        if let (Kept::AnsweredAlready, Some((request, caller))) = (kept, &retry) {
            let answer =
                request_options::kept_answer(platform, caller, request, self.now, dialect).await;
            answer.map_or(Ok(()), Err)?;
        }
        let succeeded = outcome.result.is_ok();
        let answer = render(outcome, dialect);
        if let (Kept::Refusal, Some((request, _))) = (kept, retry) {
            request_options::keep_refusal(&cx, request, &answer).await;
        }
        if succeeded && cx.request_options.scenario.drop_after_commit {
            self.hang_up().await;
        }
        // Others with the same key may go on now.
        drop(turn);
        Ok(if endpoint.route().method.has_body() { answer } else { answer.unless_known(headers) })
    }

    /// Closes the connection instead of answering.
    async fn hang_up(&self) {
        if let Some(peer) = &self.peer {
            peer.hang_up.notify_one();
            std::future::pending::<()>().await;
        }
    }
}

fn render(outcome: Outcome, dialect: Dialect) -> Answer {
    let dialect =
        Dialect { message: outcome.failure_message.unwrap_or(dialect.message), ..dialect };
    let mut answer = match outcome.result {
        Ok(body) => Answer { status: 200, body, headers: Vec::new() },
        Err(failure) => dialect.failure(failure),
    };
    answer.headers.extend(outcome.headers);
    if !outcome.ignored.is_empty() {
        let paths = outcome.ignored.iter().map(|ignored| ignored.path.as_str());
        answer.headers.push(("x-ignored-fields", ignored_fields(paths)));
    }
    answer
}

const ONBOARD: Permission = Permission::Scope(types::Scope::OnboardWrite);

/// A request whose head is fine.
struct Accepted {
    endpoint: Endpoint,
    params: Map<String, Value>,
    dialect: Dialect,
}

/// An endpoint of a path, found by its method.
struct Endpoint {
    methods: Arc<Methods>,
    method: &'static str,
}

impl Endpoint {
    fn get(&self) -> &Compiled<Cx> {
        self.methods.get(self.method).expect("it was found by this method")
    }
}

/// HEAD is GET; the HTTP library leaves the body out.
fn find_method(methods: &Arc<Methods>, method: &Method) -> Result<Endpoint, Answer> {
    let name = if method == Method::HEAD { "GET" } else { method.as_str() };
    if let Some(name) = methods.keys().find(|known| **known == name) {
        return Ok(Endpoint { methods: Arc::clone(methods), method: name });
    }
    let allowed: Vec<&str> = methods.keys().copied().collect();
    Err(Dialect::default().wrong_method(&allowed.join(", ")))
}

fn failure_message(endpoint: &Compiled<Cx>) -> &'static str {
    match endpoint.route().permission {
        ONBOARD => onboard::FAILURE,
        _ => dialect::REQUEST_FAILED,
    }
}
