//! What is kept about tasks: which lists are hidden, which tasks were dismissed, acted on or put
//! off. Each is an option of the site, and **read generously**, since others may write them too.

use db::Conn;
use frame::{Options, options};
use serde_json::{Map, Value, json};
use types::{Result, Timestamp};

const HIDDEN_LISTS: &str = "woocommerce_task_list_hidden_lists";
const DISMISSED: &str = "woocommerce_task_list_dismissed_tasks";
const ACTIONED: &str = "woocommerce_task_list_tracked_completed_actions";
const SNOOZED: &str = "woocommerce_task_list_remind_me_later_tasks";
const LAYOUT: &str = "woocommerce_default_homepage_layout";
/// Names that one option keeps; the oldest go first.
const NAMES_MAX: usize = 200;
const MICROS_OF_MILLI: i64 = 1_000;

/// One of the marks that a task can bear.
#[derive(Clone, Copy, Debug)]
pub(super) enum Mark {
    Dismissed,
    Actioned,
}

impl Mark {
    fn option(self) -> &'static str {
        match self {
            Self::Dismissed => DISMISSED,
            Self::Actioned => ACTIONED,
        }
    }
}

/// Whether somebody hid the list of tasks.
pub(crate) fn is_list_hidden(options: &Options, list: &str) -> bool {
    names(options, HIDDEN_LISTS).iter().any(|name| name == list)
}

/// Hides the list of tasks, or shows it again.
pub(crate) fn set_list_hidden(conn: &mut dyn Conn, list: &str, is_hidden: bool) -> Result<()> {
    set_name(conn, HIDDEN_LISTS, list, is_hidden)?;
    if is_hidden && list == super::SETUP {
        options::set(conn, LAYOUT, &json!("two_columns"))?;
    }
    Ok(())
}

pub(super) fn has(options: &Options, mark: Mark, task: &str) -> bool {
    names(options, mark.option()).iter().any(|name| name == task)
}

pub(super) fn set(conn: &mut dyn Conn, mark: Mark, task: &str, is_set: bool) -> Result<()> {
    set_name(conn, mark.option(), task, is_set)
}

/// Whether the task is put off at the moment.
pub(super) fn is_snoozed(options: &Options, task: &str, now: Timestamp) -> bool {
    let until = options.get(SNOOZED).get(task).and_then(Value::as_i64);
    until.is_some_and(|until| until.saturating_mul(MICROS_OF_MILLI) > now.as_micros())
}

/// Puts the task off until then, or wakes it. Those that woke by themselves are forgotten.
pub(super) fn snooze(
    conn: &mut dyn Conn,
    task: &str,
    until: Option<Timestamp>,
    now: Timestamp,
) -> Result<()> {
    let stored = Options::read(conn)?.get(SNOOZED);
    let is_ahead = |until: &Value| {
        until.as_i64().is_some_and(|at| at.saturating_mul(MICROS_OF_MILLI) > now.as_micros())
    };
    let stored = stored.as_object().cloned().unwrap_or_default().into_iter();
    let mut ahead: Map<String, Value> =
        stored.filter(|(name, until)| name != task && is_ahead(until)).collect();
    if let Some(until) = until.filter(|_| ahead.len() < NAMES_MAX) {
        ahead.insert(task.to_owned(), json!(until.as_micros() / MICROS_OF_MILLI));
    }
    options::set(conn, SNOOZED, &Value::Object(ahead))
}

fn names(options: &Options, option: &str) -> Vec<String> {
    let value = options.get(option);
    let names = value.as_array().into_iter().flatten();
    names.filter_map(Value::as_str).map(str::to_owned).collect()
}

fn set_name(conn: &mut dyn Conn, option: &str, name: &str, is_set: bool) -> Result<()> {
    let mut kept = names(&Options::read(conn)?, option);
    kept.retain(|other| other != name);
    if is_set {
        kept.push(name.to_owned());
    }
    let excess = kept.len().saturating_sub(NAMES_MAX);
    options::set(conn, option, &json!(kept.split_off(excess)))
}
