//! Carrying out one operation within a transaction: permission, run, and what is derived from its
//! reply: the `Allow` header, hints at links, chosen fields, embedded items.

use contract::rest::route::CompiledRoute;
use contract::rest::{Body, Fields, Links, Params, Refusal, Reply, Sources, Stop, Verb, form};
use db::Conn;
use serde_json::{Map, Value, json};
use types::Error;

use super::embed;
use super::invocation::{Invocation, no_route};
use crate::action::{Action, Work};
use crate::request::tidy_path;
use crate::site::Show;
use crate::{Call, Site, Visit};

/// The reply in its last form, and whether it is a refusal.
#[derive(Debug)]
pub struct Performed {
    pub reply: Reply,
    pub refused: bool,
}

/// What a write has done, with what makes the body of its reply if that was left.
pub(super) struct Written {
    performed: Performed,
    /// With the parameters as the operation has left them.
    show: Option<(Show, Params)>,
}

impl Written {
    pub(super) fn is_refused(&self) -> bool {
        self.performed.refused
    }

    /// The reply in its last form, after the transaction.
    pub(super) fn shown(self, site: &Site, visit: &Visit, verb: Verb) -> Performed {
        let Self { mut performed, show } = self;
        if let (Some((show, params)), Body::Json(links)) = (show, &mut performed.reply.body) {
            let call = Call::new(site, visit, verb, false, params, None);
            let mut body = show(&call);
            if let (Value::Object(members), Value::Object(links)) = (&mut body, links.take()) {
                members.extend(links);
            }
            performed.reply.body = Body::Json(body);
        }
        performed
    }
}

/// Carries out what is asked for. An error is ours, and undoes everything.
pub(crate) fn perform<'c>(
    site: &'c Site,
    visit: &'c Visit,
    invocation: &Invocation,
    conn: Option<&'c mut dyn Conn>,
) -> Result<Performed, Error> {
    let params = invocation.params.clone();
    let call = Call::new(site, visit, invocation.verb, invocation.head_only, params, conn);
    perform_in(call, invocation).map(|written| written.performed)
}

/// [`perform`] for a write, whose reply is shown when its transaction is over: then nobody waits
/// for it who wants to write as well.
pub(super) fn write<'c>(
    site: &'c Site,
    visit: &'c Visit,
    invocation: &Invocation,
    conn: &'c mut dyn Conn,
) -> Result<Written, Error> {
    let params = invocation.params.clone();
    let mut call = Call::new(site, visit, invocation.verb, false, params, Some(conn));
    // What is chosen of the body, or embedded into it, is looked for in it.
    if invocation.embed.is_none() && Fields::read(&invocation.params).is_none() {
        call.may_show_later();
    }
    perform_in(call, invocation)
}

fn perform_in(mut call: Call<'_>, invocation: &Invocation) -> Result<Written, Error> {
    let Some(found) = call.site.table().find(invocation.verb, &invocation.path) else {
        let performed = Performed { reply: Reply::from(&no_route()), refused: true };
        return Ok(Written { performed, show: None });
    };
    let outcome = match &invocation.refused {
        Some(refusal) => Err(Stop::from(refusal.clone())),
        None => run(&found.endpoint.operation, &mut call),
    };
    let show = call.take_show();
    let performed = finish(outcome, found.route, &mut call, invocation)?;
    let show = show.filter(|_| !performed.refused).map(|show| (show, call.params));
    Ok(Written { performed, show })
}

/// The operation by itself, without what only a client on the other side of a wire wants to know.
pub(crate) fn run_alone<'c>(
    site: &'c Site,
    visit: &'c Visit,
    invocation: Invocation,
    conn: &'c mut dyn Conn,
) -> Result<Reply, Stop> {
    let found = site.table().find(invocation.verb, &invocation.path).ok_or_else(no_route)?;
    let mut call = Call::new(site, visit, invocation.verb, false, invocation.params, Some(conn));
    run(&found.endpoint.operation, &mut call)
}

fn run(action: &Action, call: &mut Call<'_>) -> Result<Reply, Stop> {
    (action.permit)(call)?;
    match &action.work {
        Work::Memory(run) | Work::Read(run) | Work::Write(run) => run(call),
        Work::Computed(prepare) => prepare(call)?(),
        Work::Batch(batch) => batch.run_within(call),
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
    invocation: &Invocation,
) -> Result<Performed, Error> {
    let (mut reply, refused) = match outcome {
        Ok(reply) => (reply, false),
        Err(Stop::Refused(refusal)) => (Reply::from(&*refusal), true),
        Err(Stop::Failed(error)) => return Err(error),
    };
    reply.is_shortened = call.is_shortened();
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
    let fields = Fields::read(&invocation.params);
    if let (Some(fields), Body::Json(body), true) = (&fields, &mut reply.body, reply.status < 400) {
        let is_item = body.is_object();
        *body = fields.filter(body.take());
        // A single item of the commerce family shows its links whether or not they were chosen.
        let chosen = fields.includes("_links") || fields.includes("_embedded");
        if !chosen && !call.site.settings().names.is_commerce(&invocation.path) {
            reply.links = Links::default();
        }
        // Nothing left is an empty list, unless links are.
        if is_item && !body.is_object() && !reply.links.is_empty() {
            *body = Value::Object(Map::new());
        }
    }
    if let Body::Json(body) = &mut reply.body {
        let mut links = std::mem::take(&mut reply.links).into_value();
        add_hints(links.as_mut(), call)?;
        if let (Value::Object(members), Some(links)) = (&mut *body, links) {
            members.insert(String::from("_links"), links);
        }
        if let Some(wanted) = &invocation.embed {
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
        let path = tidy_path(path);
        let allow = call.allowed_at(&path, form::decode(query))?;
        if let (false, Some(members)) = (allow.is_empty(), target.as_object_mut()) {
            members.insert(String::from("targetHints"), json!({ "allow": allow }));
        }
    }
    Ok(())
}

impl Call<'_> {
    /// Carries out another operation within this one, as the same caller.
    pub fn dispatch(&mut self, invocation: &Invocation) -> Result<Performed, Error> {
        let (site, visit) = (self.site, self.visit);
        perform(site, visit, invocation, self.conn_if_any())
    }

    /// Asks another route for something within this operation, as the same caller, with the body
    /// as JSON unless it is empty. **What it
    /// refuses may have left traces**; who goes on after a refusal asks within [`Call::nested`].
    pub fn ask(&mut self, verb: Verb, path: &str, body: Map<String, Value>) -> Result<Value, Stop> {
        let (site, visit) = (self.site, self.visit);
        let json = (!body.is_empty()).then_some(Value::Object(body));
        let invocation = Invocation::with_json(site, verb, path, json)?;
        if let Some(refusal) = invocation.refused {
            return Err(refusal.into());
        }
        let reply = run_alone(site, visit, invocation, self.conn()?)?;
        Ok(reply.into_json().2)
    }

    /// The methods that the caller may use on the path, in the order of the route.
    pub fn allowed_at(
        &mut self,
        path: &str,
        query: Map<String, Value>,
    ) -> Result<Vec<&'static str>, Error> {
        let site = self.site;
        // Of a route that nobody is told of nobody is told what it allows.
        let found = site.table().route_at(path).filter(|(route, _)| !route.is_unlisted);
        let Some((route, variables)) = found else { return Ok(Vec::new()) };
        let sources = Sources { query, path: variables, ..Sources::default() };
        let params = Params::unchecked(sources);
        let (visit, verb) = (self.visit, self.verb);
        let conn = self.conn_if_any();
        let mut inner = Call::new(site, visit, verb, false, params, conn);
        allowed(route, &mut inner)
    }
}
