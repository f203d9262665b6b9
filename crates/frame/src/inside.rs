//! Requests that the site makes to itself, in somebody's name and without a network: what webhooks
//! deliver is what their owner would see.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use contract::rest::{Params, Refusal, Sources, Stop, Verb};
use serde_json::{Map, Value};
use store::Conn;
use store::user::UserRow;
use types::{Error, Result, Role, Timestamp};

use crate::frame::Hashes;
use crate::frame::perform::{self, Asked, accept, perform};
use crate::request::Client;
use crate::{Call, Identity, Options, Site, User, Via, Visit};

/// The address of a site that nobody has named.
const HOME_UNKNOWN: &str = "http://localhost";

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
        let Ok(asked) = Asked::internal(self, Verb::Get, path, Map::new()) else {
            return Ok(None);
        };
        let performed = perform(self, &visit, &asked, Some(conn))?;
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
        let (params, refused) = accept(&found.endpoint.args, sources);
        let path = path.to_owned();
        let asked = Asked { verb, head_only: false, path, params, refused, embed: None };
        let performed = perform(self, &visit, &asked, Some(conn))?;
        let answer = performed.reply.into_json().2;
        if performed.refused {
            return Err(Error::invalid(format!("{} {}: {answer}", verb.name(), asked.path)));
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
        match Asked::internal(self, verb, path, body) {
            Ok(asked) => asked.refused,
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
        let asked = match Asked::internal(self, verb, path, body) {
            Ok(Asked { refused: Some(refusal), .. }) | Err(refusal) => return Ok(Err(refusal)),
            Ok(asked) => asked,
        };
        match perform::run_alone(self, visit, asked, conn) {
            Ok(reply) => Ok(Ok(reply.into_json().2)),
            Err(Stop::Refused(refusal)) => Ok(Err(*refusal)),
            Err(Stop::Failed(error)) => Err(error),
        }
    }

    /// Address of the site as far as it is known without a request, without a slash at its end.
    pub fn own_address(&self, options: &Options) -> String {
        let own = options.text("siteurl");
        let known = self.settings().url.clone().or((!own.is_empty()).then_some(own));
        let home = known.unwrap_or_else(|| HOME_UNKNOWN.to_owned());
        home.trim_end_matches('/').to_owned()
    }

    /// Where people find the site, for letters: as the operator or the site itself says, else where
    /// this process serves it. **Never what a request claims**: a caller who names another host
    /// would have the site send its readers there.
    pub fn address_for_letters(&self, options: &Options) -> String {
        let is_told = self.settings().url.is_some() || !options.text("siteurl").is_empty();
        let here = self.neighbours().iter().find(|at| at.environment == self.environment());
        match here.filter(|_| !is_told) {
            Some(here) => here.url.clone(),
            None => self.own_address(options),
        }
    }

    fn visit_from_within(&self, identity: Identity, options: Options, now: Timestamp) -> Visit {
        let home = self.own_address(&options);
        Visit {
            identity,
            now,
            rest_url: format!("{home}/{}", self.settings().names.rest_root),
            secure: home.starts_with("https:"),
            home,
            client: Client {
                address: IpAddr::V4(Ipv4Addr::LOCALHOST),
                throttled: false,
                local: true,
            },
            headers: Vec::new(),
            options: Arc::new(options),
            application_passwords: false,
            hashes: Hashes::default(),
            is_import: false,
        }
    }
}
