//! How lists and tasks look. Some members never change: clients know them, and nothing uses them.

use contract::rest::{Item, Schema};
use frame::Call;
use serde_json::{Value, json};

use super::facts::Facts;
use super::is_list_hidden;
use super::state::{self, Mark};
use super::table::{List, Task};

/// Lists to which clients may add tasks of their own start so.
const EXTENSIBLE: &str = "extended";

/// A list of tasks, as [`list`] shows it.
pub(super) fn list_item() -> Item {
    let text = |about: &str| Schema::text().about(about);
    let flag = |about: &str| Schema::boolean().about(about);
    Item::new(
        "task_list",
        Schema::object([
            ("id", text("Task list ID.")),
            ("title", text("Title of the list.")),
            ("isHidden", flag("Whether the user hid the list.")),
            ("isVisible", flag("Whether the list is shown.")),
            ("isComplete", flag("Whether all tasks are complete.")),
            ("tasks", Schema::list(task_schema()).about("Tasks of the list.")),
            ("eventPrefix", text("What the names of its events begin with.")),
            ("displayProgressHeader", flag("Whether the list shows its progress.")),
            (
                "keepCompletedTaskList",
                text("Whether the list stays once it is complete.").choices(&["yes", "no"]),
            ),
        ]),
    )
}

/// A task, as [`body`] shows it.
pub(super) fn task_item() -> Item {
    Item::new("task", task_schema())
}

fn task_schema() -> Schema {
    let text = |about: &str| Schema::text().about(about);
    let flag = |about: &str| Schema::boolean().about(about);
    Schema::object([
        ("id", text("Task ID.")),
        ("parentId", text("ID of its list.")),
        ("title", text("Title of the task.")),
        ("badge", text("A word beside the title.")),
        ("canView", flag("Whether the user sees the task.")),
        ("content", text("What is to be done.")),
        ("additionalInfo", text("More about it.").or_null()),
        ("actionLabel", text("Label of the button.")),
        ("actionUrl", text("Where the task is done.").or_null()),
        ("isComplete", flag("Whether the task is complete.")),
        ("isInProgress", flag("Whether the task was begun.")),
        ("inProgressLabel", text("Label while it is in progress.")),
        ("time", text("How long the task takes.").or_null()),
        ("level", Schema::integer().about("Level of its heading.")),
        ("isActioned", flag("Whether the user went to it.")),
        ("isDismissed", flag("Whether the user dismissed it.")),
        ("isDismissable", flag("Whether it can be dismissed.")),
        ("isSnoozed", flag("Whether it is put off.")),
        ("isSnoozeable", flag("Whether it can be put off.")),
        ("isVisited", flag("Whether the user opened it.")),
        ("isDisabled", flag("Whether it cannot be opened.")),
        ("snoozedUntil", text("Until when it is put off.").or_null()),
        ("additionalData", Schema::map().about("What the task is about.").or_null()),
        ("eventPrefix", text("What the names of its events begin with.")),
        ("recordViewEvent", flag("Whether looking at it is an event.")),
    ])
}

/// A list with its tasks, and those that the client or a plugin sent along for it.
pub(super) fn list(call: &Call<'_>, facts: &Facts, list: &List, own: &[Value]) -> Value {
    let there = |task: &&Task| (task.is_visible)(facts) && !is_away(facts, task.id);
    let tasks: Vec<&Task> = list.tasks.iter().filter(there).collect();
    let is_hidden = is_list_hidden(&facts.options, list.hidden_with);
    let is_visible = !is_hidden && !list.is_secret && !tasks.is_empty();
    let is_done = |task: &Value| task.get("is_complete") == Some(&Value::Bool(true));
    let is_complete = tasks.iter().all(|task| (task.is_complete)(facts))
        && own.iter().filter(|task| is_of_plugin(task, list)).all(is_done);
    let shown = tasks.iter().filter(|task| is_visible || list.is_secret || task.is_always_there);
    let mut bodies: Vec<Value> = shown.map(|one| task(call, facts, list, one)).collect();
    if is_visible {
        let id_of =
            |task: &Value| task.get("id").and_then(Value::as_str).unwrap_or_default().to_owned();
        let is_extensible = list.id.starts_with(EXTENSIBLE);
        let is_taken = |task: &&Value| match task.get("plugin") {
            Some(_) => is_of_plugin(task, list),
            None => is_extensible,
        };
        let awake = own.iter().filter(is_taken).filter(|task| !is_away(facts, &id_of(task)));
        let wanted = awake.filter(|task| task.get("can_view") != Some(&Value::Bool(false)));
        bodies.extend(wanted.map(|task| made_up(facts, task)));
    }
    let keeps = facts.is_on("woocommerce_task_list_keep_completed");
    json!({
        "id": list.id,
        "title": list.title,
        "isHidden": is_hidden,
        "isVisible": is_visible,
        "isComplete": is_complete,
        "tasks": bodies,
        "eventPrefix": list.event_prefix,
        "displayProgressHeader": list.has_progress,
        "keepCompletedTaskList": if keeps { "yes" } else { "no" },
    })
}

/// Whether a plugin wants the task in this list.
fn is_of_plugin(task: &Value, list: &List) -> bool {
    let listed = task.get("list_id").and_then(Value::as_str);
    task.get("plugin").is_some() && listed == Some(list.id)
}

fn is_away(facts: &Facts, task: &str) -> bool {
    state::is_snoozed(&facts.options, task, facts.now)
}

/// A task of ours.
pub(super) fn task(call: &Call<'_>, facts: &Facts, list: &List, task: &Task) -> Value {
    let parts = Parts {
        id: task.id,
        parent: list.id,
        title: task.title,
        content: task.content,
        info: json!(""),
        label: task.label,
        url: task.page.map(|page| call.visit.page(page)),
        is_complete: (task.is_complete)(facts),
        in_progress: task.in_progress,
        time: json!(task.time),
        is_dismissable: task.is_optional,
        data: (task.data)(facts),
        event_prefix: list.event_prefix,
    };
    body(facts, parts)
}

/// A task of which no list knows, as the client describes it.
pub(super) fn made_up(facts: &Facts, described: &Value) -> Value {
    let text = |name: &str| described.get(name).and_then(Value::as_str).unwrap_or_default();
    let or_null = |name: &str| match described.get(name).and_then(Value::as_str) {
        Some(text) => json!(text),
        None => Value::Null,
    };
    let is = |name: &str| described.get(name) == Some(&Value::Bool(true));
    let label = Some(text("action_label")).filter(|label| !label.is_empty());
    let url = Some(text("action_url")).filter(|url| !url.is_empty());
    let parts = Parts {
        id: text("id"),
        parent: text("list_id"),
        title: text("title"),
        content: text("content"),
        info: or_null("additional_info"),
        label: label.unwrap_or(super::table::LABEL_USUAL),
        url: url.map(str::to_owned),
        is_complete: is("is_complete"),
        in_progress: super::table::IN_PROGRESS,
        time: or_null("time"),
        is_dismissable: is("is_dismissable"),
        data: Value::Null,
        event_prefix: "",
    };
    body(facts, parts)
}

struct Parts<'a> {
    id: &'a str,
    parent: &'a str,
    title: &'a str,
    content: &'a str,
    info: Value,
    label: &'a str,
    url: Option<String>,
    is_complete: bool,
    in_progress: &'a str,
    time: Value,
    is_dismissable: bool,
    data: Value,
    event_prefix: &'a str,
}

fn body(facts: &Facts, parts: Parts<'_>) -> Value {
    let id = parts.id;
    let is_dismissed = parts.is_dismissable && state::has(&facts.options, Mark::Dismissed, id);
    json!({
        "id": id,
        "parentId": parts.parent,
        "title": parts.title,
        "badge": "",
        "canView": true,
        "content": parts.content,
        "additionalInfo": parts.info,
        "actionLabel": parts.label,
        "actionUrl": parts.url,
        "isComplete": parts.is_complete,
        "isInProgress": false,
        "inProgressLabel": parts.in_progress,
        "time": parts.time,
        "level": 3,
        "isActioned": state::has(&facts.options, Mark::Actioned, id),
        "isDismissed": is_dismissed,
        "isDismissable": parts.is_dismissable,
        "isSnoozed": false,
        "isSnoozeable": false,
        "isVisited": facts.is_visited(id),
        "isDisabled": false,
        "snoozedUntil": null,
        "additionalData": parts.data,
        "eventPrefix": parts.event_prefix,
        "recordViewEvent": false,
    })
}
