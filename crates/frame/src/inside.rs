//! Requests that the site makes to itself, in somebody's name and without a network: what webhooks
//! deliver is what their owner would see.

use std::sync::Arc;

use contract::rest::{Params, Refusal, Sources, Stop, Verb};
use db::Conn;
use serde_json::{Map, Value};
use site_rows::user::UserRow;
use types::{Error, Result, Role, Timestamp};

use crate::rest::invocation::Invocation;
use crate::rest::perform::{self, perform};
use crate::{Call, Identity, Options, Site, User, Via, Visit};

impl Site {
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
