//! `batch/v1`: several requests in one, at most 25, in one transaction.
//!
//! Each item has its own answer. One that is refused leaves no trace and does not keep the others
//! from being done, unless the caller wants all to be valid: then nothing is done at all.

use std::sync::Arc;

use contract::object;
use contract::rest::route::{CREATE, Route};
use contract::rest::{Args, Refusal, Reply, Schema, Stop, Verb};
use serde_json::{Map, Value};
use types::Error;

use crate::action::{Action, Work, anyone, write};
use crate::request::tidy_path;
use crate::rest::header_map;
use crate::rest::invocation::{Invocation, no_route};
use crate::rest::perform::{Performed, perform};
use crate::{Call, Site, Visit};

const ITEMS_MAX: u64 = 25;
/// Of headers that an item brings along.
const HEADERS_MAX: usize = 50;

pub(crate) fn route() -> Route<Action> {
    Route::at("", "/batch/v1")
        .on(CREATE, args(), write(anyone, |call| run(call, &[])))
        .succeeds_with(&[207])
        .shows(answer())
}

/// What a batch answers: a response for each request, in their order.
pub fn answer() -> Schema {
    let body = Schema::types(&["object", "array", "string", "number", "boolean", "null"])
        .about("What the request is answered with by itself.");
    let headers =
        Schema::types(&["object", "array"]).about("Headers by name; an empty list for none.");
    let response = Schema::object([
        ("body", body),
        ("status", Schema::integer().about("Status of the response.")),
        ("headers", headers),
    ]);
    let about = "A response for each request. Where all must be valid and one is not, nothing is \
                 done, and those that are valid have null.";
    Schema::object([
        ("failed", Schema::text().about("`validation`, if nothing was done.")),
        ("responses", Schema::list(response.or_null()).about(about)),
    ])
}

/// The parameters of a batch.
pub fn args() -> Args {
    Args::new()
        .arg(
            "validation",
            Schema::text().choices(&["require-all-validate", "normal"]).default("normal"),
        )
        .arg("requests", Schema::list(item()).max_items(ITEMS_MAX).required())
}

fn item() -> Schema {
    let header = Schema::types(&["string", "array"]).keyword("items", Schema::text().item());
    Schema::object([
        ("method", Schema::text().choices(&["POST", "PUT", "PATCH", "DELETE"]).default("POST")),
        ("path", Schema::text().required()),
        ("body", Schema::object::<&str>([]).any_additional()),
        ("headers", Schema::object::<&str>([]).additional(header)),
    ])
}

/// An item that can be carried out, or what is wrong with it.
type Prepared = Result<(Invocation, Visit), Refusal>;

/// Carries out the requests of a batch. What is inherited are headers that each of them has,
/// whatever it says itself.
pub fn run(call: &mut Call<'_>, inherited: &[(String, String)]) -> Result<Reply, Stop> {
    let requests = call.params.get("requests").and_then(Value::as_array).cloned();
    let items: Vec<Prepared> =
        requests.unwrap_or_default().iter().map(|item| prepare(call, item, inherited)).collect();
    let must_all_be_valid = call.params.text("validation") == Some("require-all-validate");
    if must_all_be_valid && items.iter().any(|item| error_of(item).is_some()) {
        let responses: Vec<Value> = items
            .iter()
            .map(|item| error_of(item).map_or(Value::Null, |f| enveloped(Reply::from(f))))
            .collect();
        return Ok(multi_status(object! { "failed": "validation", "responses": responses }));
    }
    let site = call.site;
    let mut responses = Vec::new();
    for item in items {
        let reply = match item {
            Err(refusal) => Reply::from(&refusal),
            Ok((invocation, visit)) => carry_out(site, &visit, &invocation, call)?.reply,
        };
        responses.push(enveloped(reply));
    }
    Ok(multi_status(object! { "responses": responses }))
}

fn multi_status(body: Value) -> Reply {
    Reply { status: 207, ..Reply::new(body) }
}

fn error_of(item: &Prepared) -> Option<&Refusal> {
    match item {
        Err(refusal) => Some(refusal),
        Ok((invocation, _)) => invocation.refused.as_ref(),
    }
}

/// Finds the item's route and checks its parameters.
fn prepare(call: &Call<'_>, item: &Value, inherited: &[(String, String)]) -> Prepared {
    let text = |name: &str| item.get(name).and_then(Value::as_str);
    let path = local_path(text("path").unwrap_or_default()).ok_or_else(|| {
        Refusal::new(400, "parse_path_failed", "The path of this request cannot be read.")
    })?;
    let verb = Verb::parse(text("method").unwrap_or("POST")).ok_or_else(no_route)?;
    let names = &call.site.settings().names;
    let route_path = tidy_path(path.split_once('?').map_or(&*path, |(path, _)| path));
    let found = call.site.table().find(verb, &route_path).ok_or_else(no_route)?;
    // What the shop changes in one transaction can be changed in this one as well.
    let operation = &found.endpoint.operation;
    let is_plain = operation.wait.is_none() && matches!(operation.work, Work::Write(_));
    let is_allowed = found.endpoint.batch || is_plain && names.is_commerce(&route_path);
    if !is_allowed {
        let message = "This route cannot be called in a batch.";
        return Err(Refusal::new(400, "rest_batch_not_allowed", message));
    }
    let body = item.get("body").and_then(Value::as_object).cloned().unwrap_or_default();
    let invocation = Invocation::internal(call.site, verb, &path, body)?;
    let headers = item.get("headers").and_then(Value::as_object).map(own_headers);
    let mut headers = headers.unwrap_or_default();
    headers.retain(|(name, _)| !inherited.iter().any(|(given, _)| given == name));
    headers.extend_from_slice(inherited);
    Ok((invocation, Visit { headers: Arc::new(headers), ..call.visit.clone() }))
}

/// Path and query of an item's address; hosts do not matter, but must be readable.
fn local_path(path: &str) -> Option<String> {
    let path = path.split_once('#').map_or(path, |(before, _)| before);
    if path.contains("://") {
        let url = url::Url::parse(path).ok()?;
        let query = url.query().map(|query| format!("?{query}")).unwrap_or_default();
        return Some(format!("{}{query}", url.path()));
    }
    Some(path.to_owned())
}

/// Only what is about the item itself: credentials are those of the whole batch.
fn own_headers(headers: &Map<String, Value>) -> Vec<(String, String)> {
    let text = |value: &Value| match value {
        Value::Array(items) => {
            items.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", ")
        }
        other => other.as_str().unwrap_or_default().to_owned(),
    };
    let pairs = headers.iter().map(|(name, value)| (name.to_ascii_lowercase(), text(value)));
    pairs.take(HEADERS_MAX).collect()
}

/// Carries out one item; what it refuses is undone.
fn carry_out(
    site: &Site,
    visit: &Visit,
    invocation: &Invocation,
    call: &mut Call<'_>,
) -> Result<Performed, Error> {
    let mut performed = None;
    call.conn()?.nested(&mut |conn| {
        let done = perform(site, visit, invocation, Some(conn))?;
        let keep = !done.refused;
        performed = Some(done);
        Ok(keep)
    })?;
    performed.ok_or_else(|| Error::internal("an item of a batch was not run"))
}

fn enveloped(reply: Reply) -> Value {
    let (status, headers, body) = reply.into_json();
    object! { "body": body, "status": status, "headers": header_map(&headers) }
}
