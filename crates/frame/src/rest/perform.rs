//! Carrying out one operation within a transaction: permission, run, and what is derived from its
//! reply: the `Allow` header, hints at links, chosen fields, embedded items.

use contract::rest::route::CompiledRoute;
use contract::rest::{Body, Fields, Links, Params, Refusal, Reply, Sources, Stop, Verb};
use serde_json::{Map, Value, json};
use store::Conn;
use types::Error;

use super::embed::{self, Embed};
use crate::action::{Action, Work};
use crate::call::Call;
use crate::{Site, Visit};

/// A request whose parameters have been looked at.
#[derive(Clone, Debug)]
pub struct Asked {
    pub verb: Verb,
    pub head_only: bool,
    /// The REST path; a route is there.
    pub path: String,
    pub params: Params,
    /// What is wrong with the parameters, if anything is.
    pub refused: Option<Refusal>,
    pub embed: Option<Embed>,
}

/// The reply in its last form, and whether it is a refusal.
#[derive(Debug)]
pub struct Performed {
    pub reply: Reply,
    pub refused: bool,
}

impl Asked {
    /// A request from within: its path may carry a query string.
    pub fn internal(
        site: &Site,
        verb: Verb,
        path: &str,
        form: Map<String, Value>,
    ) -> Result<Self, Refusal> {
        Self::from_within(site, verb, path, Sources { form, ..Sources::default() })
    }

    /// The same with a JSON body.
    pub fn with_json(
        site: &Site,
        verb: Verb,
        path: &str,
        json: Option<Value>,
    ) -> Result<Self, Refusal> {
        Self::from_within(site, verb, path, Sources { json, ..Sources::default() })
    }

    fn from_within(site: &Site, verb: Verb, path: &str, sources: Sources) -> Result<Self, Refusal> {
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        let path = super::tidy_path(path);
        let query = contract::rest::form::decode(query);
        let Some(found) = site.table().find(verb, &path) else { return Err(no_route()) };
        let sources = Sources { query, path: found.variables, ..sources };
        let (params, refused) = accept(&found.endpoint.args, sources);
        Ok(Self { verb, head_only: false, path, params, refused, embed: None })
    }
}

/// The parameters, checked; or as they are, with what is wrong.
pub(crate) fn accept(
    args: &contract::rest::CompiledArgs,
    sources: Sources,
) -> (Params, Option<Refusal>) {
    match contract::rest::accept(args, sources.clone()) {
        Ok(params) => (params, None),
        Err(refusal) => (Params::unchecked(sources), Some(refusal)),
    }
}

pub(crate) fn no_route() -> Refusal {
    Refusal::new(404, "rest_no_route", "No route matches this path and method.")
}

/// Carries out what is asked. An error is ours, and undoes everything.
pub(crate) fn perform<'c>(
    site: &'c Site,
    visit: &'c Visit,
    asked: &Asked,
    conn: Option<&'c mut dyn Conn>,
) -> Result<Performed, Error> {
    let Some(found) = site.table().find(asked.verb, &asked.path) else {
        return Ok(Performed { reply: Reply::from(&no_route()), refused: true });
    };
    let params = asked.params.clone();
    let mut call = Call::new(site, visit, asked.verb, asked.head_only, params, conn);
    let outcome = match &asked.refused {
        Some(refusal) => Err(Stop::from(refusal.clone())),
        None => run(&found.endpoint.operation, &mut call),
    };
    finish(outcome, found.route, &mut call, asked)
}

/// The operation by itself, without what only a client on the other side of a wire wants to know.
pub(crate) fn run_alone<'c>(
    site: &'c Site,
    visit: &'c Visit,
    asked: Asked,
    conn: &'c mut dyn Conn,
) -> Result<Reply, Stop> {
    let found = site.table().find(asked.verb, &asked.path).ok_or_else(no_route)?;
    let mut call = Call::new(site, visit, asked.verb, false, asked.params, Some(conn));
    run(&found.endpoint.operation, &mut call)
}

fn run(action: &Action, call: &mut Call<'_>) -> Result<Reply, Stop> {
    (action.permit)(call)?;
    match &action.work {
        Work::Memory(run) | Work::Read(run) | Work::Write(run) => run(call),
        Work::Later(_) => {
            let message = "This cannot be asked for from within another request.";
            Err(Refusal::new(400, "rest_not_here", message).into())
        }
    }
}

/// Turns an outcome into the reply that the caller will see.
pub(crate) fn finish(
    outcome: Result<Reply, Stop>,
    route: &CompiledRoute<Action>,
    call: &mut Call<'_>,
    asked: &Asked,
) -> Result<Performed, Error> {
    let (mut reply, refused) = match outcome {
        Ok(reply) => (reply, false),
        Err(Stop::Refused(refusal)) => (Reply::from(&*refusal), true),
        Err(Stop::Failed(error)) => return Err(error),
    };
    let allowed = allowed(route, call)?;
    if !allowed.is_empty() {
        reply.headers.push(("allow", allowed.join(", ")));
    }
    if matches!(reply.body, Body::Prepared(_)) {
        return Ok(Performed { reply, refused });
    }
    if let Body::Json(Value::Array(items)) = &mut reply.body {
        for item in items {
            add_hints(item.get_mut("_links"), call)?;
        }
    }
    let fields = Fields::read(&asked.params);
    if let (Some(fields), Body::Json(body), true) = (&fields, &mut reply.body, reply.status < 400) {
        *body = fields.filter(body.take());
        // A single item of the commerce family shows its links whether or not they were chosen.
        let chosen = fields.includes("_links") || fields.includes("_embedded");
        if !chosen && !call.site.settings().names.is_commerce(&asked.path) {
            reply.links = Links::default();
        }
    }
    if let Body::Json(body) = &mut reply.body {
        let mut links = std::mem::take(&mut reply.links).into_value();
        add_hints(links.as_mut(), call)?;
        if let (Value::Object(members), Some(links)) = (&mut *body, links) {
            members.insert(String::from("_links"), links);
        }
        if let Some(wanted) = &asked.embed {
            embed::embed(body, wanted, call)?;
        }
    }
    reply.links = Links::default();
    Ok(Performed { reply, refused })
}

/// The methods of the route whose permission the caller passes.
pub(crate) fn allowed(
    route: &CompiledRoute<Action>,
    call: &mut Call<'_>,
) -> Result<Vec<&'static str>, Error> {
    let mut names = Vec::new();
    for endpoint in &route.endpoints {
        match (endpoint.operation.permit)(call) {
            Ok(()) => {
                for verb in endpoint.verbs {
                    if !names.contains(&verb.name()) {
                        names.push(verb.name());
                    }
                }
            }
            Err(Stop::Refused(_)) => {}
            Err(Stop::Failed(error)) => return Err(error),
        }
    }
    Ok(names)
}

/// Says at each `self` link what the caller may do there.
fn add_hints(links: Option<&mut Value>, call: &mut Call<'_>) -> Result<(), Error> {
    let targets = links.and_then(|links| links.get_mut("self")).and_then(Value::as_array_mut);
    for target in targets.into_iter().flatten() {
        let href = target.get("href").and_then(Value::as_str);
        let Some(local) = href.and_then(|href| call.visit.local_path(href)) else { continue };
        let (path, query) = local.split_once('?').unwrap_or((local, ""));
        let path = super::tidy_path(path);
        let allow = call.allowed_at(&path, contract::rest::form::decode(query))?;
        if let (false, Some(members)) = (allow.is_empty(), target.as_object_mut()) {
            members.insert(String::from("targetHints"), json!({ "allow": allow }));
        }
    }
    Ok(())
}
