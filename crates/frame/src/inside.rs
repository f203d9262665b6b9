//! Requests that the site makes to itself, in somebody's name and without a network: what webhooks
//! deliver is what their owner would see, and what the sandbox's simulated partners are sent.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use contract::rest::{Params, Refusal, Sources, Stop, Verb};
use db::Conn;
use serde_json::{Map, Value};
use site_rows::user::UserRow;
use types::{Environment, Error, Result, Role, Timestamp};

use crate::outbound::{Fetch, FetchError, Fetched, Method};
use crate::request::Client;
use crate::rest::Payload;
use crate::rest::invocation::Invocation;
use crate::rest::perform::{self, perform};
use crate::{Call, Identity, Options, Request, Site, User, Via, Visit};

impl Site {
    /// Sends a request to another host. **In the sandbox, one to its own REST interface stays in
    /// the process**: its simulated partners are there, and the way out refuses this machine. They
    /// are sent the very request, and nothing beside it.
    pub async fn send(
        self: &Arc<Self>,
        request: Fetch,
    ) -> std::result::Result<Fetched, FetchError> {
        match self.own_request(&request).await {
            Some(own) => {
                let response = self.answer(own).await;
                let body = match response.payload {
                    Payload::Bytes(bytes) => bytes,
                    Payload::Shared(bytes) => bytes.to_vec(),
                    Payload::Plain(document) | Payload::Gzip(document) => document.plain.clone(),
                    Payload::Empty | Payload::LeftOut => Vec::new(),
                };
                let (status, final_url) = (response.status, request.url);
                Ok(Fetched { status, headers: Vec::new(), body, final_url })
            }
            None => self.outbound().fetch(request).await,
        }
    }

    async fn own_request(&self, request: &Fetch) -> Option<Request> {
        if self.environment() != Environment::Sandbox || request.method != Method::Post {
            return None;
        }
        let home = self.address_for_emails(&*self.options().await.ok()?);
        let url = request.url.as_str();
        let root = format!("{home}/{}", self.settings().names.rest_root);
        let path = url.strip_prefix(&root).filter(|path| path.starts_with('/'))?;
        let names = request.headers.iter();
        Some(Request {
            method: String::from("POST"),
            path: path.to_owned(),
            url_path: request.url.path().to_owned(),
            query_text: String::new(),
            query: Map::new(),
            headers: Arc::new(
                names.map(|(name, text)| (name.to_lowercase(), text.clone())).collect(),
            ),
            body: request.body.clone(),
            upload: None,
            secure: url.starts_with("https:"),
            encrypted_here: false,
            host: request.url.host_str().unwrap_or_default().to_owned(),
            client: Client {
                address: IpAddr::V4(Ipv4Addr::LOCALHOST),
                throttled: false,
                local: false,
            },
        })
    }

    /// What the user sees at a REST path, such as `/wc/v3/orders/7`; nothing if they may not, or if
    /// there is nothing.
    pub fn seen_by(
        &self,
        conn: &mut dyn Conn,
        user: UserRow,
        path: &str,
        now: Timestamp,
    ) -> Result<Option<Value>> {
        let options = Options::read(conn)?;
        let identity = Identity::of(Arc::new(User::new(user)), Via::Nothing);
        let visit = self.visit_from_within(identity, options, now);
        let Ok(invocation) = Invocation::internal(self, Verb::Get, path, Map::new()) else {
            return Ok(None);
        };
        let performed = perform(self, &visit, &invocation, Some(conn))?;
        if performed.refused {
            return Ok(None);
        }
        Ok(Some(performed.reply.into_json().2))
    }

    /// Carries out a request with a JSON body in the user's name, as part of the transaction at
    /// hand, and returns what it answers. A refusal is an error, which undoes the transaction.
    pub fn done_by(
        &self,
        conn: &mut dyn Conn,
        user: UserRow,
        (verb, path): (Verb, &str),
        body: Value,
        now: Timestamp,
    ) -> Result<Value> {
        let options = Options::read(conn)?;
        let identity = Identity::of(Arc::new(User::new(user)), Via::Nothing);
        let visit = self.visit_from_within(identity, options, now);
        let no_route = || Error::internal(format!("{path} takes no {}", verb.name()));
        let found = self.table().find(verb, path).ok_or_else(no_route)?;
        let sources = Sources { json: Some(body), path: found.variables, ..Sources::default() };
        let (params, refused) = self.accept((verb, path), &found.endpoint.args, sources);
        let path = path.to_owned();
        let invocation =
            Invocation { verb, head_only: false, path, params, refused, embed: None, upload: None };
        let performed = perform(self, &visit, &invocation, Some(conn))?;
        let answer = performed.reply.into_json().2;
        if performed.refused {
            return Err(Error::invalid(format!("{} {}: {answer}", verb.name(), invocation.path)));
        }
        Ok(answer)
    }

    /// Runs a part of a crate above in the user's name, as a request with these parameters would.
    pub fn call_by<T>(
        &self,
        conn: &mut dyn Conn,
        user: UserRow,
        params: Params,
        now: Timestamp,
        run: impl FnOnce(&mut Call<'_>) -> std::result::Result<T, Stop>,
    ) -> Result<std::result::Result<T, Refusal>> {
        let options = Options::read(conn)?;
        let identity = Identity::of(Arc::new(User::new(user)), Via::Nothing);
        let visit = self.visit_from_within(identity, options, now);
        let mut call = Call::new(self, &visit, Verb::Get, false, params, Some(conn));
        match run(&mut call) {
            Ok(done) => Ok(Ok(done)),
            Err(Stop::Refused(refusal)) => Ok(Err(*refusal)),
            Err(Stop::Failed(error)) => Err(error),
        }
    }

    /// The circumstances of records that come from another shop, brought in by the operator.
    pub fn visit_of_import(&self, options: Options, now: Timestamp) -> Visit {
        let operator = UserRow { roles: vec![Role::Administrator], ..UserRow::default() };
        let identity = Identity::of(Arc::new(User::new(operator)), Via::Nothing);
        Visit { is_import: true, ..self.visit_from_within(identity, options, now) }
    }

    /// Whether a record could be made, or changed, at the REST path, as far as its fields tell.
    pub fn check_import(
        &self,
        verb: Verb,
        path: &str,
        body: Map<String, Value>,
    ) -> Option<Refusal> {
        match Invocation::internal(self, verb, path, body) {
            Ok(invocation) => invocation.refused,
            Err(refusal) => Some(refusal),
        }
    }

    /// Makes, or changes, a record at the REST path; what is refused may have left traces. Returns
    /// the record as it is shown.
    pub fn import(
        &self,
        conn: &mut dyn Conn,
        visit: &Visit,
        verb: Verb,
        (path, body): (&str, Map<String, Value>),
    ) -> Result<std::result::Result<Value, Refusal>> {
        let invocation = match Invocation::internal(self, verb, path, body) {
            Ok(Invocation { refused: Some(refusal), .. }) | Err(refusal) => {
                return Ok(Err(refusal));
            }
            Ok(invocation) => invocation,
        };
        match perform::run_alone(self, visit, invocation, conn) {
            Ok(reply) => Ok(Ok(reply.into_json().2)),
            Err(Stop::Refused(refusal)) => Ok(Err(*refusal)),
            Err(Stop::Failed(error)) => Err(error),
        }
    }
}
