//! Several creations, changes and deletions in one request. Each has its own result; one that is
//! refused leaves no trace and does not keep the others from being done.

use std::sync::Arc;

use contract::rest::{Params, Refusal, Reply, Sources, Stop};
use frame::Call;
use frame::action::{BatchItem, ItemOutcome};
use serde_json::{Map, Value, json};

use super::{Endpoint, Resource};

/// Items of all three kinds together.
pub const ITEMS_MAX: usize = 100;

/// The groups of a batch, in the order in which they are carried out.
const CREATE: &str = "create";
const UPDATE: &str = "update";
const DELETE: &str = "delete";

/// The items of a batch with their parameters.
pub(super) fn plan<R: Resource>(
    endpoint: &Endpoint<R>,
    call: &mut Call<'_>,
) -> Result<Vec<BatchItem>, Stop> {
    let group = |name: &str| match call.params.get(name) {
        Some(Value::Array(items)) => items.clone(),
        _ => Vec::new(),
    };
    let (creates, updates, deletes) = (group(CREATE), group(UPDATE), group(DELETE));
    if creates.len() + updates.len() + deletes.len() > ITEMS_MAX {
        let message = format!("A batch must have at most {ITEMS_MAX} items.");
        let code = "woocommerce_rest_request_entity_too_large";
        return Err(Refusal::new(413, code, message).into());
    }
    let creates = creates.iter().filter_map(Value::as_object).map(|item| {
        let mut whole = endpoint.defaults.clone();
        whole.extend(item.clone());
        (CREATE, whole)
    });
    let updates = updates.iter().filter_map(Value::as_object).cloned().map(|item| (UPDATE, item));
    let deletes = deletes.iter().filter_map(id_of).filter(|id| *id != 0);
    let deletes =
        deletes.map(|id| (DELETE, Map::from_iter([member("id", id), member("force", true)])));
    let path = call.params.path().clone();
    let item = |(group, form): (&'static str, Map<String, Value>)| {
        let params = Params::unchecked(Sources { form, path: path.clone(), ..Sources::default() });
        BatchItem { group, params }
    };
    Ok(creates.chain(updates).chain(deletes).map(item).collect())
}

/// Carries out an item, with the parameters of the item.
pub(super) fn run<R: Resource>(
    endpoint: &Arc<Endpoint<R>>,
    item: &BatchItem,
    call: &mut Call<'_>,
) -> Result<Value, Stop> {
    let operation = match item.group {
        CREATE => super::create,
        UPDATE => super::update,
        _ => super::delete,
    };
    let reply = operation(endpoint, call)?;
    Ok(hinted(call, reply)?)
}

/// The results, group by group; an empty group has none.
pub(super) fn gather(outcomes: Vec<(BatchItem, ItemOutcome)>) -> Reply {
    let mut results = Map::new();
    for (item, outcome) in outcomes {
        let id = item.params.get("id").and_then(id_of).unwrap_or_default();
        let result = outcome.unwrap_or_else(|refusal| json!({ "id": id, "error": refusal.body() }));
        let group = results.entry(item.group).or_insert_with(|| json!([]));
        if let Value::Array(group) = group {
            group.push(result);
        }
    }
    // An object without members is an empty list, as clients expect.
    Reply::new(if results.is_empty() { json!([]) } else { Value::Object(results) })
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
