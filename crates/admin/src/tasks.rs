//! Tasks: what is left to do until the store runs, in lists.
//!
//! A task is complete while the site is in the state that it asks for ([`table`], over
//! [`facts`]); what people did about a task is kept by [`state`]. Clients know tasks whose ids no
//! list has: such a task is made on the spot, and only what was done about it is kept. Being put
//! off is not shown in a task, as clients know it: **a task that was put off is not there** until
//! its time.

mod facts;
mod homepage;
mod samples;
mod state;
mod table;
mod view;

use std::time::Duration;

use contract::rest::args::Checker;
use contract::rest::route::{CREATE, EDIT, READ, Route};
use contract::rest::{Args, Refusal, Reply, Schema, Stop, Treatment};
use frame::action::{read, write};
use frame::{Action, Call, Names};
use serde_json::{Value, json};
use types::Capability;

use self::facts::Facts;
use self::state::Mark;
pub(crate) use self::state::{is_list_hidden, set_list_hidden};
use self::table::{LISTS, List};
use crate::plugins::lifecycle;

const SETUP: &str = "setup";
const BOARDWALK: &str = "boardwalk";
/// Tasks of its own that a client may send along.
const EXTENDED_MAX: usize = 50;
const HOUR: Duration = Duration::from_hours(1);
/// For how long a task can be put off.
const DURATIONS: &[(&str, Duration)] =
    &[("hour", HOUR), ("day", HOUR.saturating_mul(24)), ("week", HOUR.saturating_mul(24 * 7))];
const DURATION_USUAL: &str = "day";

const CANNOT_CREATE: &str = "woocommerce_rest_cannot_create";
const CANNOT_UPDATE: &str = "woocommerce_rest_cannot_update";

pub(crate) fn routes(names: &Names) -> Vec<Route<Action>> {
    let gateways = format!("/{}/payment_gateways", names.commerce_v3);
    macro_rules! with_facts {
        ($operation:path) => {{
            let gateways = gateways.clone();
            move |call: &mut Call<'_>| $operation(call, &gateways)
        }};
    }
    let base = "/onboarding/tasks";
    let at = |path: &str| Route::at(&names.admin, &format!("{base}{path}"));
    let action = |name: &str| at(&format!(r"/(?P<id>[a-z0-9_\-]+)/{name}"));
    let extended = Schema::typed("array").about("Additional tasks of the client.");
    let task_list = Schema::text().about("The task's list.");
    let duration = Schema::text().about("How long: hour, day or week.");
    let snooze_args = Args::new()
        .treated("duration", duration, Treatment::Checked(IS_DURATION))
        .arg("task_list_id", task_list);
    let mut routes = samples::routes(names);
    routes.extend(homepage::routes(names));
    let (of_list, of_task) = (view::list_item().document(), view::task_item().document());
    routes.push(
        at("")
            .on(READ, list_args(), read(may_use, with_facts!(list)))
            .shows_several(of_list.clone())
            .on(
                CREATE,
                list_args().treated("extended_tasks", extended, Treatment::None),
                read(may_use, with_facts!(list)),
            )
            .shows_several(of_list.clone()),
    );
    let on_lists = [
        action("hide").on(EDIT, Args::new(), write(may_hide, with_facts!(hide))),
        action("unhide").on(EDIT, Args::new(), write(may_hide, with_facts!(unhide))),
    ];
    routes.extend(on_lists.map(|route| route.shows_one(of_list.clone())));
    let on_tasks = [
        action("dismiss").on(EDIT, Args::new(), write(may_use, with_facts!(dismiss))),
        action("undo_dismiss").on(EDIT, Args::new(), write(may_use, with_facts!(undo_dismiss))),
        // The pattern is spelt otherwise here, as the index of the reference has it.
        at("/(?P<id>[a-z0-9_-]+)/snooze").on(
            CREATE,
            snooze_args,
            write(may_use, with_facts!(snooze)),
        ),
        action("action").on(EDIT, Args::new(), write(may_use, with_facts!(act))),
        action("undo_snooze").on(EDIT, Args::new(), write(may_use, with_facts!(undo_snooze))),
    ];
    routes.extend(on_tasks.map(|route| route.shows_one(of_task.clone())));
    routes
}

const IS_DURATION: Checker = |value, _| {
    let known = |name: &str| DURATIONS.iter().any(|(duration, _)| *duration == name);
    if value.as_str().is_some_and(known) { Ok(()) } else { Err(None) }
};

fn list_args() -> Args {
    let ids = LISTS.iter().map(|list| list.id);
    let (own, known): (Vec<&str>, Vec<&str>) = ids.partition(|id| *id == BOARDWALK);
    let id = Schema::any().choices(&known).own_choices(&own).keyword("type", "string");
    Args::new().arg("ids", Schema::list(id).about("Limit results to these lists."))
}

fn may_use(call: &mut Call<'_>) -> Result<(), Stop> {
    let message = "You are not allowed to manage tasks.";
    call.need(Capability::ManageWoocommerce, CANNOT_CREATE, message)
}

fn may_hide(call: &mut Call<'_>) -> Result<(), Stop> {
    let message = "You are not allowed to hide or show task lists.";
    call.need(Capability::ManageWoocommerce, CANNOT_UPDATE, message)
}

fn is_actioned(facts: &Facts, task: &str) -> bool {
    state::has(&facts.options, Mark::Actioned, task)
}

fn list(call: &mut Call<'_>, gateways: &str) -> Result<Reply, Stop> {
    let facts = Facts::read(call, gateways)?;
    let wanted = call.params.texts("ids");
    let mut own = client_tasks(call);
    own.extend(plugin_tasks(call)?);
    let lists =
        LISTS.iter().filter(|list| wanted.is_empty() || wanted.iter().any(|id| id == list.id));
    let bodies = lists.map(|list| view::list(call, &facts, list, &own));
    Ok(Reply::new(bodies.collect::<Vec<Value>>()))
}

/// What a client sends along, as far as it is tasks.
fn client_tasks(call: &Call<'_>) -> Vec<Value> {
    let given = call.params.get("extended_tasks").and_then(Value::as_array);
    let is_task = |task: &&Value| {
        ["id", "list_id"].into_iter().all(|name| task.get(name).is_some_and(Value::is_string))
    };
    given.into_iter().flatten().filter(is_task).take(EXTENDED_MAX).cloned().collect()
}

/// What active plugins want done, in our own list.
fn plugin_tasks(call: &mut Call<'_>) -> Result<Vec<Value>, Stop> {
    let mut tasks = Vec::new();
    for plugin in lifecycle::active(call.conn()?)? {
        for task in &plugin.manifest.contributes.tasks {
            let is_complete = task.done_with.as_deref().is_some_and(|name| plugin.has_value(name));
            tasks.push(json!({
                "id": task.id,
                "list_id": BOARDWALK,
                "plugin": plugin.row.slug,
                "title": task.title,
                "content": task.content,
                "action_label": task.action_label,
                "action_url": call.visit.page(&task.action_url),
                "time": task.time,
                "is_complete": is_complete,
                "is_dismissable": true,
            }));
        }
    }
    Ok(tasks)
}

fn id_of(call: &Call<'_>) -> String {
    let id = call.params.path().get("id").and_then(Value::as_str);
    id.unwrap_or_default().to_owned()
}

fn list_of(id: &str, code: &'static str) -> Result<&'static List, Refusal> {
    let message = "Task list not found.";
    LISTS.iter().find(|list| list.id == id).ok_or_else(|| Refusal::new(404, code, message))
}

fn hide(call: &mut Call<'_>, gateways: &str) -> Result<Reply, Stop> {
    let list = list_of(&id_of(call), "woocommerce_rest_invalid_task_list")?;
    show_or_hide(call, gateways, list, true)
}

fn unhide(call: &mut Call<'_>, gateways: &str) -> Result<Reply, Stop> {
    let list = list_of(&id_of(call), "woocommerce_tasks_invalid_task_list")?;
    show_or_hide(call, gateways, list, false)
}

fn show_or_hide(
    call: &mut Call<'_>,
    gateways: &str,
    list: &List,
    is_hidden: bool,
) -> Result<Reply, Stop> {
    set_list_hidden(call.conn()?, list.hidden_with, is_hidden)?;
    let facts = Facts::read(call, gateways)?;
    let own = plugin_tasks(call)?;
    Ok(Reply::new(view::list(call, &facts, list, &own)))
}

/// What is done about a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Deed {
    Dismiss(bool),
    Snooze(bool),
    Act,
}

fn dismiss(call: &mut Call<'_>, gateways: &str) -> Result<Reply, Stop> {
    act_on(call, gateways, Deed::Dismiss(true))
}

fn undo_dismiss(call: &mut Call<'_>, gateways: &str) -> Result<Reply, Stop> {
    act_on(call, gateways, Deed::Dismiss(false))
}

fn snooze(call: &mut Call<'_>, gateways: &str) -> Result<Reply, Stop> {
    act_on(call, gateways, Deed::Snooze(true))
}

fn undo_snooze(call: &mut Call<'_>, gateways: &str) -> Result<Reply, Stop> {
    act_on(call, gateways, Deed::Snooze(false))
}

fn act(call: &mut Call<'_>, gateways: &str) -> Result<Reply, Stop> {
    act_on(call, gateways, Deed::Act)
}

fn act_on(call: &mut Call<'_>, gateways: &str, deed: Deed) -> Result<Reply, Stop> {
    let id = id_of(call);
    let wanted_list = call.params.text("task_list_id").map(str::to_owned);
    let found = find(&id, wanted_list.as_deref());
    let is_optional = found.is_none_or(|(_, task)| task.is_optional);
    if deed != Deed::Act && !is_optional {
        let message = "This task cannot be dismissed or snoozed.";
        return Err(Refusal::new(404, "woocommerce_rest_invalid_task", message).into());
    }
    let now = call.now();
    match deed {
        Deed::Dismiss(is_dismissed) => {
            state::set(call.conn()?, Mark::Dismissed, &id, is_dismissed)?;
        }
        Deed::Snooze(true) => {
            let duration = call.params.text("duration").unwrap_or(DURATION_USUAL);
            let found = DURATIONS.iter().find(|(name, _)| *name == duration);
            let until = found.map(|(_, duration)| now.plus(*duration));
            state::snooze(call.conn()?, &id, until, now)?;
        }
        Deed::Snooze(false) => state::snooze(call.conn()?, &id, None, now)?,
        Deed::Act => state::set(call.conn()?, Mark::Actioned, &id, true)?,
    }
    let facts = Facts::read(call, gateways)?;
    if let Some((list, task)) = found {
        return Ok(Reply::new(view::task(call, &facts, list, task)));
    }
    let is_dismissable = matches!(deed, Deed::Dismiss(_));
    let described = json!({ "id": id, "is_dismissable": is_dismissable });
    Ok(Reply::new(view::made_up(&facts, &described)))
}

/// The first task of this id, in the named list if one is named.
fn find(id: &str, list_id: Option<&str>) -> Option<(&'static List, &'static table::Task)> {
    let lists = LISTS.iter().filter(|list| list_id.is_none_or(|wanted| wanted == list.id));
    let mut tasks = lists.flat_map(|list| list.tasks.iter().map(move |task| (list, task)));
    tasks.find(|(_, task)| task.id == id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_is_found_in_the_first_list_unless_another_is_named() {
        for (id, list, expected) in [
            ("payments", None, Some("setup")),
            ("payments", Some("extended"), Some("extended")),
            ("payments", Some("boardwalk"), None),
            ("first-merchant", None, Some("boardwalk")),
            ("bogus", None, None),
        ] {
            assert_eq!(find(id, list).map(|(list, _)| list.id), expected, "{id} {list:?}");
        }
    }

    #[test]
    fn only_our_own_tasks_can_be_put_off() {
        let tasks = LISTS.iter().flat_map(|list| list.tasks.iter().map(move |task| (list, task)));
        for (list, task) in tasks {
            assert_eq!(task.is_optional, list.id == BOARDWALK, "{} {}", list.id, task.id);
        }
    }
}
