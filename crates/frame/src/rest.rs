//! The path of a request through the REST interface, in the reference's order: JSONP, method
//! override, credentials, OPTIONS, route, body, parameters, permission, operation; then the headers
//! and wrappings of the answer. **An authentication error beats a missing route, and a wrong
//! parameter beats a missing right.**

mod batch;
mod body;
mod card_guard;
mod embed;
mod headers;
pub mod invocation;
mod passwords;
pub mod perform;
mod response;

use std::sync::Arc;

use contract::rest::route::CompiledRoute;
use contract::rest::table::Found;
use contract::rest::{Body, Refusal, Reply, Sources, Stop, Verb};
use serde_json::{Value, json};
use types::Error;

pub(crate) use self::response::header_map;
pub use self::response::{Payload, Response};

use self::invocation::{Embed, Invocation, no_route};
use self::perform::Performed;
use self::response::Wrapping;
use crate::action::{Later, Work};
use crate::request::tidy_path;
use crate::site::recent;
use crate::turns::Turn;
use crate::{Action, Call, Identity, Request, Site, Visit};

/// The line in which a user's requests wait for the database, by whichever interface they come.
pub fn line_of_user(user_id: i64) -> db::Caller {
    db::Caller::Numbered("user", user_id)
}

/// Forgets what a write may have changed, however it ends: whoever asked may go before it does.
struct Forgetting<'s>(&'s Site);

impl Drop for Forgetting<'_> {
    fn drop(&mut self) {
        self.0.note_write();
    }
}

impl Site {
    /// Answers a request of the REST interface, whatever it is.
    pub async fn answer(self: &Arc<Self>, mut request: Request) -> Response {
        request.path = tidy_path(&request.path);
        let wrapping = Wrapping::of(&request);
        if let Err(refusal) = wrapping.check(self.settings().jsonp) {
            let root = &self.settings().names.rest_root;
            let rest_url = format!("{}/{root}", self.home_of(&request));
            return Response::plain_refusal(&refusal, &rest_url);
        }
        let method = effective_method(&request);
        forget_cookies_of_links(&mut request, &method);
        let (visit, refused) = self.receive(&request, &method).await;
        let visit = Arc::new(visit);
        let mut is_shortened = false;
        let mut response = match refused {
            Some(refusal) => self.respond(&request, &visit, Reply::from(&refusal), &wrapping),
            None if !wrapping.allows(&visit.identity, &method) => {
                let refusal = response::jsonp_disabled();
                return Response::plain_refusal(&refusal, &visit.rest_url);
            }
            None => {
                let reply = self.recall_or_carry_out(&request, &method, &visit).await;
                is_shortened = reply.is_shortened;
                self.respond(&request, &visit, reply, &wrapping)
            }
        };
        if method == "HEAD" && request.method != "HEAD" {
            response.payload = Payload::Empty;
        } else if method == "HEAD" {
            // The length is that of the response to GET, or not stated where nobody knows it.
            if !is_shortened && response.status != 304 {
                let length = response.payload.len().to_string();
                response.headers.push(("content-length", length.into()));
            }
            response.payload = Payload::LeftOut;
        }
        response.route = self.table().route_of(&request.path).map(|route| route.pattern.clone());
        response.user_id = visit.identity.user.as_ref().map(|user| user.id());
        response
    }

    /// Bytes of a body that the route at the path accepts, if that is more than others do.
    pub fn body_bytes_max(&self, path: &str) -> Option<usize> {
        self.table().route_of(&tidy_path(path))?.body_bytes_max
    }

    /// Bytes of a file that is sent to the path, if it is written to disk as it comes.
    pub fn upload_bytes_max(&self, path: &str, method: &str) -> Option<u64> {
        if !method.eq_ignore_ascii_case("POST") {
            return None;
        }
        let route = self.table().route_of(&tidy_path(path))?;
        route.streams_body.then_some(self.settings().media.file_bytes)
    }

    /// Whether the head of a request, whose body is not read yet, shows somebody who may send it.
    pub async fn admits(self: &Arc<Self>, head: &Request) -> bool {
        let method = effective_method(head);
        let (visit, refused) = self.receive(head, &method).await;
        if refused.is_some() || visit.identity.user.is_none() {
            return false;
        }
        let (site, path, query) = (Arc::clone(self), tidy_path(&head.path), head.query.clone());
        let allowed = self.store().read(move |conn| {
            let params = contract::rest::Params::unchecked(Sources::default());
            let mut call = Call::new(&site, &visit, Verb::Get, false, params, Some(conn));
            call.allowed_at(&path, query.clone())
        });
        allowed.await.is_ok_and(|allowed| allowed.contains(&&*method))
    }

    /// Whether the head of a request, whose body is not read yet, shows who asks.
    pub async fn knows_caller(&self, head: &Request) -> bool {
        let found = self.authenticate(head, &head.method, self.clock().now()).await;
        matches!(found, Ok(Ok(identity)) if identity.user.is_some())
    }

    /// Finds out who asks. Without that, the rest is not looked at.
    async fn receive(&self, request: &Request, method: &str) -> (Visit, Option<Refusal>) {
        let now = self.clock().now();
        let (identity, refusal) = match self.authenticate(request, method, now).await {
            Ok(Ok(identity)) => (identity, None),
            Ok(Err(refusal)) => (Identity::ANONYMOUS, Some(refusal)),
            Err(error) => (Identity::ANONYMOUS, Some(failed(&error))),
        };
        match self.visit(request, identity, now).await {
            Ok(visit) => (visit, refusal),
            Err(error) => {
                let visit = self.visit_without_options(request, now);
                (visit, Some(refusal.unwrap_or_else(|| failed(&error))))
            }
        }
    }

    /// Answers from memory what was asked for a moment ago, and makes nothing ready then for what
    /// else might have to be done.
    async fn recall_or_carry_out(
        self: &Arc<Self>,
        request: &Request,
        method: &str,
        visit: &Arc<Visit>,
    ) -> Reply {
        // What a browser was told by a password is nobody else's answer.
        let is_kept = self.store().is_embedded() && !self.was_told_passwords(visit);
        let key = if is_kept { recent::key_of(request, method, visit) } else { None };
        let changes = self.changes();
        if let Some(reply) = key.as_ref().and_then(|key| self.recent().get(key, changes)) {
            return reply;
        }
        let carried_out = Box::pin(self.carry_out(request, method, visit));
        let reply = match &visit.identity.user {
            Some(user) => db::as_caller(line_of_user(user.id()), carried_out).await,
            None => carried_out.await,
        };
        match key {
            Some(key) => self.recent().keep(key, changes, reply),
            None => reply,
        }
    }

    async fn carry_out(
        self: &Arc<Self>,
        request: &Request,
        method: &str,
        visit: &Arc<Visit>,
    ) -> Reply {
        if method == "OPTIONS" {
            return self.describe(&request.path, visit).await;
        }
        let Some(verb) = Verb::parse(method) else { return Reply::from(&no_route()) };
        let Some(found) = self.table().find(verb, &request.path) else {
            return Reply::from(&no_route());
        };
        let (read, error) = match body::read(request, method) {
            Ok(read) => (read, None),
            Err(refusal) => (Sources::default(), Some(refusal)),
        };
        let sources =
            Sources { query: request.query.clone(), path: found.variables.clone(), ..read };
        let (params, refused) = self.accept((verb, &request.path), &found.endpoint.args, sources);
        let invocation = Invocation {
            verb,
            head_only: method == "HEAD",
            path: request.path.clone(),
            params,
            refused: error.or(refused),
            embed: Embed::read(request.query.get("_embed")),
            upload: request.upload.clone(),
        };
        if let (Some(wait), None) = (&found.endpoint.operation.wait, &invocation.refused)
            && let Some(waiting) = wait(self, visit, &invocation.params)
        {
            waiting.await;
        }
        let operation = &found.endpoint.operation;
        let turn = match visit.identity.user.as_ref() {
            Some(user) if operation.in_turns => {
                let keeps_thread = matches!(operation.work, Work::Read(_));
                self.turns().take(user.id(), keeps_thread).await
            }
            _ => return self.perform_any(found, invocation, visit, None).await,
        };
        match turn {
            Ok(turn) => self.perform_any(found, invocation, visit, Some(turn)).await,
            Err(refusal) => Reply::from(&refusal),
        }
    }

    /// Answers what a page asks the REST interface for, as the one whom the visit names. The path
    /// may carry a query string; `json` is the body.
    pub async fn ask_as(
        self: &Arc<Self>,
        visit: &Arc<Visit>,
        (verb, path): (Verb, &str),
        json: Option<Value>,
    ) -> Reply {
        let invocation = match Invocation::with_json(self, verb, path, json) {
            Ok(invocation) => invocation,
            Err(refusal) => return Reply::from(&refusal),
        };
        match self.table().find(verb, &invocation.path) {
            Some(found) => self.perform_any(found, invocation, visit, None).await,
            None => Reply::from(&no_route()),
        }
    }

    /// The turn ends with the operation, also when nobody waits for that any more.
    async fn perform_any(
        self: &Arc<Self>,
        found: Found<'_, Action>,
        invocation: Invocation,
        visit: &Arc<Visit>,
        turn: Option<Turn>,
    ) -> Reply {
        let performed = match &found.endpoint.operation.work {
            Work::Later(run) if invocation.refused.is_none() => {
                let (verb, upload) = (invocation.verb, invocation.upload.clone());
                let later = |params| {
                    let (site, visit) = (Arc::clone(self), Arc::clone(visit));
                    run(Later { site, visit, params, verb, upload })
                };
                self.perform_later(invocation, visit, later).await
            }
            Work::Memory(_) if is_memory_only(found.route) => {
                perform::perform(self, visit, &invocation, None)
            }
            Work::Computed(_) if invocation.refused.is_none() => {
                self.perform_computed(invocation, visit, turn).await
            }
            Work::Batch(_) if invocation.refused.is_none() => {
                self.perform_batch(invocation, visit).await
            }
            Work::Write(_) if invocation.refused.is_none() => {
                self.perform_writing(invocation, visit, turn).await
            }
            _ => {
                let has_pages = found.endpoint.args.has("per_page");
                self.perform_reading(has_pages, invocation, visit, turn).await
            }
        };
        performed.map_or_else(|error| Reply::from(&failed(&error)), |performed| performed.reply)
    }

    async fn perform_reading(
        self: &Arc<Self>,
        is_list: bool,
        invocation: Invocation,
        visit: &Arc<Visit>,
        turn: Option<Turn>,
    ) -> Result<Performed, Error> {
        let (site, visit) = (Arc::clone(self), Arc::clone(visit));
        let read = move |conn: &mut dyn db::Conn| {
            let _until_the_end = &turn;
            perform::perform(&site, &visit, &invocation, Some(conn))
        };
        if is_list { self.store().list(read).await } else { self.store().read(read).await }
    }

    /// Computes on a thread that others do not wait for, once all is read.
    async fn perform_computed(
        self: &Arc<Self>,
        invocation: Invocation,
        visit: &Arc<Visit>,
        turn: Option<Turn>,
    ) -> Result<Performed, Error> {
        let prepared = self.with_call(&invocation, visit, |action, call| {
            (action.permit)(call)?;
            match &action.work {
                Work::Computed(prepare) => prepare(call),
                _ => Err(Error::internal("a route computes nothing any more").into()),
            }
        });
        let outcome = match prepared.await? {
            Ok(compute) => {
                let computed = tokio::task::spawn_blocking(move || {
                    let _until_the_end = turn;
                    compute()
                });
                let failed = |error| Error::internal("a computation failed").because(error);
                computed.await.map_err(failed)?
            }
            Err(stop) => Err(stop),
        };
        self.finish_later(invocation, visit, outcome).await
    }

    /// What is refused leaves no trace.
    async fn perform_writing(
        self: &Arc<Self>,
        invocation: Invocation,
        visit: &Arc<Visit>,
        turn: Option<Turn>,
    ) -> Result<Performed, Error> {
        let site = Arc::clone(self);
        let visit = self.with_hashes(&invocation, visit).await?;
        let _noted = Forgetting(self);
        let (verb, its_visit) = (invocation.verb, Arc::clone(&visit));
        let attempted = self.store().attempt_contended(move |conn| {
            let _until_the_end = &turn;
            let written = perform::write(&site, &its_visit, &invocation, conn)?;
            Ok(if written.is_refused() { Err(written) } else { Ok(written) })
        });
        let written = attempted.await?.unwrap_or_else(|refused| refused);
        Ok(written.shown(self, &visit, verb))
    }

    async fn perform_later<F>(
        self: &Arc<Self>,
        invocation: Invocation,
        visit: &Arc<Visit>,
        run: impl FnOnce(contract::rest::Params) -> F,
    ) -> Result<Performed, Error>
    where
        F: Future<Output = Result<Reply, Stop>>,
    {
        let permitted =
            self.with_call(&invocation, visit, |action, call| (action.permit)(call)).await?;
        let outcome = match permitted {
            Ok(()) => run(invocation.params.clone()).await,
            Err(stop) => Err(stop),
        };
        self.recent().note_write();
        self.finish_later(invocation, visit, outcome).await
    }

    /// The reply to what was done outside of a transaction, in its last form.
    async fn finish_later(
        self: &Arc<Self>,
        invocation: Invocation,
        visit: &Arc<Visit>,
        outcome: Result<Reply, Stop>,
    ) -> Result<Performed, Error> {
        let (reply, refused) = match outcome {
            Ok(reply) => (reply, None),
            Err(Stop::Refused(refusal)) => (Reply::new(Value::Null), Some(*refusal)),
            Err(Stop::Failed(error)) => return Err(error),
        };
        let (site, visit) = (Arc::clone(self), Arc::clone(visit));
        let finish = move |conn: &mut dyn db::Conn| {
            let Some(found) = site.table().find(invocation.verb, &invocation.path) else {
                return Err(Error::internal("a route is gone"));
            };
            let params = invocation.params.clone();
            let mut call = Call::new(&site, &visit, invocation.verb, false, params, Some(conn));
            let outcome = match &refused {
                Some(refusal) => Err(Stop::from(refusal.clone())),
                None => Ok(reply.clone()),
            };
            perform::finish(outcome, found.route, &mut call, &invocation)
        };
        self.store().read(finish).await
    }

    /// Runs a closure with the call on a snapshot.
    async fn with_call<T: Send + 'static>(
        self: &Arc<Self>,
        invocation: &Invocation,
        visit: &Arc<Visit>,
        run: fn(&Action, &mut Call<'_>) -> T,
    ) -> Result<T, Error> {
        let (site, visit, invocation) = (Arc::clone(self), Arc::clone(visit), invocation.clone());
        let run = move |conn: &mut dyn db::Conn| {
            let Some(found) = site.table().find(invocation.verb, &invocation.path) else {
                return Err(Error::internal("a route is gone"));
            };
            let params = invocation.params.clone();
            let mut call = Call::new(&site, &visit, invocation.verb, false, params, Some(conn));
            Ok(run(&found.endpoint.operation, &mut call))
        };
        self.store().read(run).await
    }

    /// OPTIONS: the description of the first route at the path, whoever asks.
    async fn describe(self: &Arc<Self>, path: &str, visit: &Arc<Visit>) -> Reply {
        let Some(route) = self.table().route_of(path) else { return Reply::new(json!([])) };
        let mut reply = Reply::of(200, Body::Json(route.document(&visit.rest_url, true)));
        let (site, visit, path) = (Arc::clone(self), Arc::clone(visit), path.to_owned());
        let allowed = self.store().read(move |conn| {
            let Some((route, variables)) = site.table().route_at(&path) else {
                return Ok(Vec::new());
            };
            let sources = Sources { path: variables, ..Sources::default() };
            let params = contract::rest::Params::unchecked(sources);
            let mut call = Call::new(&site, &visit, Verb::Get, false, params, Some(conn));
            perform::allowed(route, &mut call)
        });
        match allowed.await {
            Ok(allowed) if allowed.is_empty() => {}
            Ok(allowed) => reply.headers.push(("allow", allowed.join(", "))),
            Err(error) => return Reply::from(&failed(&error)),
        }
        reply
    }
}

/// Whether no operation of the route needs storage, not even to see who may.
fn is_memory_only(route: &CompiledRoute<Action>) -> bool {
    route.endpoints.iter().all(|endpoint| matches!(endpoint.operation.work, Work::Memory(_)))
}

/// Our own failure, logged in full and told in general.
pub fn failed(error: &Error) -> Refusal {
    let refusal = Refusal::of_error(error);
    if refusal.status >= 500 {
        tracing::error!(error = %error.report(), "a request failed");
    }
    refusal
}

/// A link that means a write comes without cookies: browsers send them along from any site, and
/// nothing else shows that its visitor wants what the link does.
fn forget_cookies_of_links(request: &mut Request, method: &str) {
    let is_read = |method: &str| matches!(method, "GET" | "HEAD" | "OPTIONS");
    if !is_read(method) && is_read(&request.method.to_ascii_uppercase()) {
        Arc::make_mut(&mut request.headers).retain(|(name, _)| name != "cookie");
    }
}

/// The method that the request means: a query parameter or a header may say another one.
fn effective_method(request: &Request) -> String {
    let stated = request
        .query_parameter("_method")
        .or_else(|| request.header("x-http-method-override"))
        .unwrap_or(&request.method);
    stated.to_ascii_uppercase()
}
