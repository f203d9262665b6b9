//! Several creations, changes and deletions in one request. Each has its own result; one that is
//! refused leaves no trace and does not keep the others from being done.

use contract::rest::{Params, Refusal, Reply, Sources, Stop};
use frame::Call;
use serde_json::{Map, Value, json};
use types::Error;

use super::{Endpoint, Resource};

/// Items of all three kinds together.
pub const ITEMS_MAX: usize = 100;

type Operation<R> = fn(&Endpoint<R>, &mut Call<'_>) -> Result<Reply, Stop>;

pub(super) fn run<R: Resource>(endpoint: &Endpoint<R>, call: &mut Call<'_>) -> Result<Reply, Stop> {
    let group = |name: &str| match call.params.get(name) {
        Some(Value::Array(items)) => items.clone(),
        _ => Vec::new(),
    };
    let (creates, updates, deletes) = (group("create"), group("update"), group("delete"));
    if creates.len() + updates.len() + deletes.len() > ITEMS_MAX {
        let message = format!("A batch must have at most {ITEMS_MAX} items.");
        let code = "woocommerce_rest_request_entity_too_large";
        return Err(Refusal::new(413, code, message).into());
    }
    let mut results = Map::new();
    let create = creates.iter().filter_map(Value::as_object).map(|item| {
        let mut whole = endpoint.defaults.clone();
        whole.extend(item.clone());
        whole
    });
    add(endpoint, call, &mut results, ("create", super::create), create.collect())?;
    let update = updates.iter().filter_map(Value::as_object).cloned();
    add(endpoint, call, &mut results, ("update", super::update), update.collect())?;
    let delete = deletes.iter().filter_map(id_of).filter(|id| *id != 0);
    let delete = delete.map(|id| Map::from_iter([member("id", id), member("force", true)]));
    add(endpoint, call, &mut results, ("delete", super::delete), delete.collect())?;
    // An object without members is an empty list, as clients expect.
    let body = if results.is_empty() { json!([]) } else { Value::Object(results) };
    Ok(Reply::new(body))
}

fn member(name: &str, value: impl Into<Value>) -> (String, Value) {
    (name.to_owned(), value.into())
}

fn id_of(value: &Value) -> Option<i64> {
    match value {
        Value::String(text) => text.trim().parse().ok(),
        other => other.as_i64(),
    }
}

/// Carries out a group and puts its results beside the others; an empty group has none.
fn add<R: Resource>(
    endpoint: &Endpoint<R>,
    call: &mut Call<'_>,
    results: &mut Map<String, Value>,
    (name, operation): (&str, Operation<R>),
    items: Vec<Map<String, Value>>,
) -> Result<(), Stop> {
    let mut list = Vec::new();
    for item in items {
        let id = item.get("id").and_then(id_of).unwrap_or_default();
        list.push(match one(endpoint, call, operation, item)? {
            Ok(body) => body,
            Err(refusal) => json!({ "id": id, "error": refusal.body() }),
        });
    }
    if !list.is_empty() {
        results.insert(name.to_owned(), Value::Array(list));
    }
    Ok(())
}

fn one<R: Resource>(
    endpoint: &Endpoint<R>,
    call: &mut Call<'_>,
    operation: Operation<R>,
    item: Map<String, Value>,
) -> Result<Result<Value, Refusal>, Stop> {
    let path = call.params.path().clone();
    let params = Params::unchecked(Sources { form: item, path, ..Sources::default() });
    let mut outcome = None;
    call.nested(params, &mut |call| {
        let (keep, result) = match operation(endpoint, call) {
            Ok(reply) => (true, Ok(hinted(call, reply)?)),
            Err(Stop::Refused(refusal)) => (false, Err(*refusal)),
            Err(Stop::Failed(error)) => return Err(error),
        };
        outcome = Some(result);
        Ok(keep)
    })?;
    let missing = || Error::internal("an item of a batch was not run");
    outcome.ok_or_else(|| missing().into())
}

/// The body, which says at its link to itself what the caller may do there.
fn hinted(call: &mut Call<'_>, reply: Reply) -> types::Result<Value> {
    const HINTS: &str = "targetHints";
    let mut body = reply.into_json().2;
    let target = body.pointer_mut("/_links/self/0").and_then(Value::as_object_mut);
    let Some(target) = target.filter(|target| !target.contains_key(HINTS)) else {
        return Ok(body);
    };
    let href = target.get("href").and_then(Value::as_str).unwrap_or_default();
    let Some(path) = call.visit.local_path(href).map(str::to_owned) else { return Ok(body) };
    let allow = call.allowed_at(&path, Map::new())?;
    if !allow.is_empty() {
        target.insert(HINTS.to_owned(), json!({ "allow": allow }));
    }
    Ok(body)
}
