//! `_embed`: fetching what an item's links point at and putting it beside them.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use contract::rest::Verb;
use serde_json::{Map, Value, json};
use types::Error;

use super::invocation::{Embed, Invocation};
use crate::Call;

/// Targets fetched at most for one answer. The links of a full page of posts stay below.
const TARGETS_MAX: usize = 1_000;
/// After this time nothing more is fetched: others wait for the same threads.
const TIME_MAX: Duration = Duration::from_millis(1_500);

/// The context in which an item is shown beside another.
const EMBED: &str = "embed";

/// What was fetched for this answer, and since when.
struct Fetched {
    by_href: HashMap<String, Value>,
    started: Instant,
}

/// Embeds into the object, or into each object of the list.
pub(super) fn embed(body: &mut Value, wanted: &Embed, call: &mut Call<'_>) -> Result<(), Error> {
    let mut fetched = Fetched { by_href: HashMap::new(), started: Instant::now() };
    match body {
        Value::Array(items) => {
            for item in items {
                embed_item(item, wanted, &mut fetched, call)?;
            }
        }
        item => embed_item(item, wanted, &mut fetched, call)?,
    }
    Ok(())
}

fn embed_item(
    item: &mut Value,
    wanted: &Embed,
    fetched: &mut Fetched,
    call: &mut Call<'_>,
) -> Result<(), Error> {
    let Some(links) = item.get("_links").and_then(Value::as_object).cloned() else { return Ok(()) };
    let mut embedded = Map::new();
    for (relation, targets) in &links {
        let targets = targets.as_array().map(Vec::as_slice).unwrap_or_default();
        if !wanted.wants(relation) {
            continue;
        }
        let mut list = Vec::new();
        let mut found = false;
        for target in targets {
            let href = target.get("href").and_then(Value::as_str).unwrap_or_default();
            let embeddable = target.get("embeddable") == Some(&Value::Bool(true));
            let value = if embeddable { fetch(href, fetched, call)? } else { None };
            let is_empty = |value: &Value| value.as_array().is_some_and(Vec::is_empty);
            found |= value.as_ref().is_some_and(|value| !is_empty(value));
            list.push(value.unwrap_or_else(|| json!([])));
        }
        if found {
            embedded.insert(relation.clone(), Value::Array(list));
        }
    }
    if let (false, Some(members)) = (embedded.is_empty(), item.as_object_mut()) {
        members.insert(String::from("_embedded"), Value::Object(embedded));
    }
    Ok(())
}

fn fetch(href: &str, fetched: &mut Fetched, call: &mut Call<'_>) -> Result<Option<Value>, Error> {
    if let Some(value) = fetched.by_href.get(href) {
        return Ok(Some(value.clone()));
    }
    let Some(local) = call.visit.local_path(href).map(str::to_owned) else { return Ok(None) };
    if fetched.by_href.len() >= TARGETS_MAX || fetched.started.elapsed() >= TIME_MAX {
        return Ok(None);
    }
    let body = match Invocation::internal(call.site, Verb::Get, &local, Map::new()) {
        // A link to what this site does not have is a hint for others; there is nothing to fetch.
        Err(_) => return Ok(None),
        Ok(mut invocation) => {
            set_defaults(&mut invocation, call);
            call.dispatch(&invocation)?.reply.into_json().2
        }
    };
    fetched.by_href.insert(href.to_owned(), body.clone());
    Ok(Some(body))
}

/// What is embedded is short where it can be, and a list as long as it may be.
fn set_defaults(invocation: &mut Invocation, call: &Call<'_>) {
    let found = call.site.table().find(Verb::Get, &invocation.path);
    let endpoint = found.as_ref().map(|found| found.endpoint);
    if !invocation.params.given("context") {
        let is_short = endpoint.is_none_or(|endpoint| endpoint.args.takes("context", EMBED));
        let context = if is_short { EMBED } else { "view" };
        invocation.params.set("context", json!(context));
    }
    if invocation.params.given("per_page") {
        return;
    }
    if let Some(most) = endpoint.and_then(|endpoint| endpoint.args.maximum("per_page")) {
        invocation.params.set("per_page", most);
    }
}
